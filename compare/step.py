"""Training steps and forecasts of foretell beside PyTorch's, in one run, by ratio.

    cargo build --release
    python compare/step.py [MODEL ...] [--threads 2] [--batch 128] [--rounds 5]

Both sides train neuralforecast's model with its default hyper-parameters on random windows: forward,
MAE, backward, Adam; no data loading, no Lightning. The sides take turns, each in a process of its own,
and the medians over the rounds are compared, so that a machine that slows down slows both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

FIGURES = ("step_ms", "forward_batch_ms", "forward_one_us")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["NLinear", "DLinear", "MLP", "NBEATS", "NBEATSx", "NHITS"])
    parser.add_argument("--h", type=int, default=24)
    parser.add_argument("--input-size", type=int, default=96)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--foretell", default="target/release/foretell")
    parser.add_argument("--torch", action="store_true", help="measure one model in this process and print JSON")
    return parser.parse_args()


def median_seconds(run, seconds):
    """The median time of a run, after warm-up, over about so many seconds and at least seven runs."""
    for _ in range(3):
        run()
    times, start = [], time.perf_counter()
    while len(times) < 7 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def torch_side(name, args):
    import logging

    import torch

    logging.getLogger("lightning_fabric").setLevel(logging.ERROR)
    import neuralforecast.models

    torch.set_num_threads(args.threads)
    model = getattr(neuralforecast.models, name)(h=args.h, input_size=args.input_size, max_steps=1)
    random = torch.Generator().manual_seed(0)
    windows = {
        "insample_y": torch.randn(args.batch, args.input_size, 1, generator=random),
        "insample_mask": torch.ones(args.batch, args.input_size, 1),
        "hist_exog": None,
        "futr_exog": None,
        "stat_exog": None,
    }
    target = torch.randn(args.batch, args.h, 1, generator=random)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad(set_to_none=True)
        (model(windows) - target).abs().mean().backward()
        optimizer.step()

    model.train()
    figures = {"step_ms": 1e3 * median_seconds(step, 1.5)}
    model.eval()
    one = {key: None if value is None else value[:1] for key, value in windows.items()}
    with torch.no_grad():
        figures["forward_batch_ms"] = 1e3 * median_seconds(lambda: model(windows), 0.5)
        figures["forward_one_us"] = 1e6 * median_seconds(lambda: model(one), 0.5)
    return figures


def run(command, args):
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(result.stdout.splitlines()[-1])


def main():
    args = parse()
    if args.torch:
        print(json.dumps(torch_side(args.models[0], args)))
        return
    sizes = ["--h", str(args.h), "--input-size", str(args.input_size)]
    sizes += ["--batch", str(args.batch), "--threads", str(args.threads)]
    print(f"{args.threads} threads, batch {args.batch}, h {args.h}, input_size {args.input_size}; medians of {args.rounds} rounds")
    print("| model | figure | foretell | PyTorch | ratio |\n|---|---|---|---|---|")
    for name in args.models:
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(run([args.foretell, "bench", "--model", name, *sizes, "--json"], args))
            theirs.append(run([sys.executable, __file__, name, *sizes, "--torch"], args))
        for figure in FIGURES:
            a, b = (statistics.median(side[figure] for side in sides) for sides in (ours, theirs))
            print(f"| {name} | {figure} | {a:.4g} | {b:.4g} | {b / a:.2f} |", flush=True)
        last = ours[-1]
        print(f"| {name} | pool_misses_per_step, held_bytes, peak_rss_mb | {last['pool_misses_per_step']}, {last['held_bytes']}, {last['peak_rss_mb']:.1f} | | |")


if __name__ == "__main__":
    main()
