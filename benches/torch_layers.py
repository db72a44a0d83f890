"""Recurrent layers and sums by foretell and by PyTorch in turns; two threads each.

    python benches/torch_layers.py [ROUNDS]

Builds the suite `layers`, which serves one time a line, and prints a table of medians and of the median of the rounds' ratios.
"""

import statistics
import subprocess
import sys
import time

import torch

SERVE = ["cargo", "bench", "--quiet", "-p", "foretell-benches", "--bench", "layers", "--", "serve"]
STEPS, BATCH, INPUTS, HIDDEN, ROWS = 96, 32, 32, 128, 1 << 20


def rows():
    x = torch.randn(STEPS, BATCH, INPUTS)
    for kind in ("RNN", "LSTM", "GRU"):
        layer = getattr(torch.nn, kind)(INPUTS, HIDDEN)

        def forward(layer=layer):
            with torch.inference_mode():
                layer(x)

        def both(layer=layer):
            layer.zero_grad(set_to_none=False)
            layer(x)[0].sum().backward()

        yield f"{kind} forward", forward
        yield f"{kind} forward and back", both
    table = torch.randn(ROWS, 16)
    yield "sum of one column of 16", lambda: table[:, 0].sum()
    yield "sums of all 16 columns", lambda: table.sum(0)
    yield "sum of all numbers", lambda: table.sum()


def seconds(run, samples=5, least=0.005):
    run()
    start = time.perf_counter()
    run()
    repeats = max(1, round(least / (time.perf_counter() - start)))
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        times.append((time.perf_counter() - start) / repeats)
    return statistics.median(times)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    torch.set_num_threads(2)
    print("| what | foretell, ms | PyTorch, ms | times as fast |\n|---|---|---|---|")
    with subprocess.Popen(SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        for name, run in rows():
            pairs = []
            for _ in range(rounds):
                server.stdin.write(f"{name}\n")
                server.stdin.flush()
                pairs.append((float(server.stdout.readline()), seconds(run)))
            ours, theirs = (statistics.median(times) * 1e3 for times in zip(*pairs))
            ratio = statistics.median(theirs / ours for ours, theirs in pairs)
            print(f"| {name} | {ours:.3f} | {theirs:.3f} | {ratio:.2f} |", flush=True)
        server.stdin.close()


if __name__ == "__main__":
    main()
