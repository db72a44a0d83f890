"""Attention by foretell-flash and by PyTorch's scaled_dot_product_attention in turns.

    python benches/torch_attention.py [--rounds 5] [--threads 1 2]

Builds `benches/benches/attention_server.rs`, which answers each line that it gets with one measurement. The sides take
turns; times are the least of a round, and of all rounds; rates are those of the products (4 FLOP a score and number of a head forward, 14 forward and backward, the scores being
made twice), `share` is their share of the rate of foretell-gemm's product 2048x512x512 in the same run. `standard` is foretell's
own way without tiles.
"""

import argparse
import subprocess
import time

import torch
import torch.nn.functional as F

SERVE = ["cargo", "bench", "--quiet", "-p", "foretell-benches", "--bench", "attention_server", "--", "serve"]
LONG = [(1, 8, steps, 64) for steps in (512, 1024, 2048, 4096)]
SHORT = [(128, 16, 12, 8), (128, 4, 96, 32)]
FLOP = dict(forward=4, both=14)


def torch_seconds(batch, heads, steps, dim, both):
    """Heads as a model has them: views of packed projections."""
    packed = [torch.randn(batch, steps, heads * dim, requires_grad=both) for _ in range(3)]
    grad = torch.randn(batch, steps, heads * dim)

    def run():
        q, k, v = (x.unflatten(2, (heads, dim)).transpose(1, 2) for x in packed)
        out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        if both:
            out.backward(grad)
            for x in packed:
                x.grad = None

    least, begin, runs = float("inf"), time.perf_counter(), 0
    while runs < 5 or time.perf_counter() - begin < 0.3:
        start = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - start)
        runs += 1
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--serve", nargs="+", default=SERVE, help="the command that answers lines")
    args = parser.parse_args()
    with subprocess.Popen(args.serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def ask(*words):
            server.stdin.write(" ".join(map(str, words)) + "\n")
            server.stdin.flush()
            return [float(word) for word in server.stdout.readline().split()]

        print("| threads | windows x heads x steps x dim | pass | foretell ms | PyTorch ms | ratio | standard ms | ratio | GFLOP/s | share of gemm | scratch |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        for threads in args.threads:
            torch.set_num_threads(threads)
            for shape in SHORT + LONG:
                for which in ("forward", "both"):
                    batch, heads, steps, dim = shape
                    ours, theirs, standard, product, scratch = [], [], [], [], 0
                    for _ in range(args.rounds):
                        seconds, scratch = ask(threads, *shape, which, "fastest")
                        ours.append(seconds)
                        theirs.append(torch_seconds(*shape, which == "both"))
                        standard.append(ask(threads, *shape, which, "standard")[0])
                        product.append(ask("product", threads)[0])
                    a, b, c = min(ours), min(theirs), min(standard)
                    rate = FLOP[which] * batch * heads * steps * steps * dim / a / 1e9
                    print(
                        f"| {threads} | {'x'.join(map(str, shape))} | {which} | {1e3 * a:.3f} | {1e3 * b:.3f} | {b / a:.2f} | {1e3 * c:.3f} | {c / a:.2f} "
                        f"| {rate:.0f} | {rate / max(product):.2f} | {scratch / 1024:.0f} KB |",
                        flush=True,
                    )
        server.stdin.close()


if __name__ == "__main__":
    main()
