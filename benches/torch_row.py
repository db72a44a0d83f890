"""A product of one row, 1x512x512, by foretell and by PyTorch in turns; one thread each.

    python benches/torch_row.py [ROUNDS]

Builds the suite `targets`, which serves one median a line, and prints both medians and the median of
the rounds' ratios.
"""

import statistics
import subprocess
import sys
import time

import torch

SERVE = ["cargo", "bench", "--quiet", "-p", "foretell-benches", "--bench", "targets", "--", "serve"]


def torch_nanoseconds(x, w, repeats=200, samples=20):
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(repeats):
            torch.nn.functional.linear(x, w)
        times.append((time.perf_counter() - start) / repeats * 1e9)
    return statistics.median(times)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    torch.set_num_threads(1)
    x, w = torch.randn(1, 512), torch.randn(512, 512)
    with torch.inference_mode(), subprocess.Popen(
        SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        pairs = []
        for _ in range(rounds):
            server.stdin.write("\n")
            server.stdin.flush()
            pairs.append((float(server.stdout.readline()), torch_nanoseconds(x, w)))
        server.stdin.close()
    ours, theirs = (statistics.median(times) for times in zip(*pairs))
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    print(f"foretell {ours:.0f} ns, PyTorch {theirs:.0f} ns, {ratio:.2f} times as fast")


if __name__ == "__main__":
    main()
