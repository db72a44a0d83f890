"""PyTorch's dense layer in f32 and bfloat16 on one thread, for the shapes of `benches/benches/bf16.rs`.

    python benches/torch_bf16.py [ROUNDS]

Prints the least processor time of a call in microseconds: in f32, in bfloat16, and in bfloat16 with input and result in
f32, which is what foretell's product does.
"""

import sys
import time

import torch
from torch.nn.functional import linear

SHAPES = [
    (1, 512, 512),
    (32, 128, 128),
    (128, 96, 512),
    (256, 96, 512),
    (256, 512, 512),
    (1024, 128, 128),
    (1024, 512, 512),
    (2048, 2048, 2048),
]


def microseconds(call, rounds):
    times = []
    for _ in range(rounds):
        start = time.thread_time_ns()
        call()
        times.append(time.thread_time_ns() - start)
    return min(times) / 1e3


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    torch.set_num_threads(1)
    print(f"{'shape':>16} {'f32':>10} {'bf16':>10} {'from f32':>10}")
    with torch.inference_mode():
        for m, k, n in SHAPES:
            x, w = torch.randn(m, k), torch.randn(n, k)
            half_x, half_w = x.bfloat16(), w.bfloat16()
            count = max(5, rounds * 512**3 * 2 // max(m * k * n, 512**3 * 2))
            calls = [
                lambda: linear(x, w),
                lambda: linear(half_x, half_w),
                lambda: linear(x.bfloat16(), half_w).float(),
            ]
            figures = [microseconds(call, count) for call in calls]
            print(f"{f'{m}x{k}x{n}':>16} " + " ".join(f"{figure:10.1f}" for figure in figures))


if __name__ == "__main__":
    main()
