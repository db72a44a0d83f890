"""Training steps and forecasts of foretell beside PyTorch's, in one run, by ratio.

    cargo build --release
    python compare/step.py [MODEL ...] [--threads 2] [--batch 128] [--rounds 5]

Both sides train neuralforecast's model with its default hyper-parameters on random windows: forward, loss (by default
MAE; DeepAR's is that of Student's t), backward, Adam; no data loading, no Lightning. Windows of multivariate models hold
7 series. The sides take turns, each in a process of its own, and the medians over the rounds are compared, so that a
machine that slows down slows both. Of DeepAR the step alone is compared: its forecasts are means of sampled paths.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

N_SERIES = 7


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
    model = getattr(neuralforecast.models, name)
    sizes = {"n_series": N_SERIES} if model.MULTIVARIATE else {}
    model = model(h=args.h, input_size=args.input_size, max_steps=1, **sizes)
    # What a model that forecasts step by step reads in training, and what it is trained on: see compare/models.py.
    length, model.h = (model.input_size + model.h_train - 1, model.h_train) if model.RECURRENT else (model.input_size, model.h)
    n_series = model.n_series if model.MULTIVARIATE else 1
    random = torch.Generator().manual_seed(0)
    windows = {
        "insample_y": torch.randn(args.batch, length, n_series, generator=random),
        "insample_mask": torch.ones(args.batch, length, n_series),
        "hist_exog": None,
        "futr_exog": None,
        "stat_exog": None,
    }
    target = torch.randn(args.batch, model.h, n_series, generator=random)
    ones = torch.ones(args.batch, model.h, n_series)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def loss():
        output = model(windows)
        if not model.loss.is_distribution_output:
            return (output - target).abs().mean()
        scaled = model.loss.scale_decouple(output=model.loss.domain_map(output), loc=0 * ones, scale=ones)
        return model.loss(y=target, distr_args=scaled, mask=ones)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    model.train()
    figures = {"step_ms": 1e3 * median_seconds(step, 1.5)}
    if model.RECURRENT:
        return figures
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
        for figure in theirs[0]:
            a, b = (statistics.median(side[figure] for side in sides) for sides in (ours, theirs))
            print(f"| {name} | {figure} | {a:.4g} | {b:.4g} | {b / a:.2f} |", flush=True)
        last = ours[-1]
        print(f"| {name} | pool_misses_per_step, held_bytes, peak_rss_mb | {last['pool_misses_per_step']}, {last['held_bytes']}, {last['peak_rss_mb']:.1f} | | |")


if __name__ == "__main__":
    main()
