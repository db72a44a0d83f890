"""foretell's Python package beside neuralforecast: time to import, fit, predict and cross-validate, and peak memory.

    python compare/python_side.py --foretell PYTHON --neuralforecast PYTHON [--series 100 10000] [--models NHITS MLP] [--steps 100]
        [--minutes 12]

Both arguments are interpreters whose environments have the packages; the first needs pandas beside foretell. Each measurement is a
process of its own, and the two packages take turns, so that a busy machine slows both. The panel is monthly, 120 steps a series, a season
with noise; models forecast 12 steps from 24 with their other hyper-parameters unchanged. No model is begun that would probably not be
measured within the minutes; a line says which are left out. It prints a table in Markdown for each number of series: seconds of either, and how many times foretell is faster (or smaller). `predict one` is the forecast of one series by trained models, the median of
nine; memory is the most that the process held.
"""

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import time

H, INPUT_SIZE, ROWS = 12, 24, 120
MODELS = ["MLP", "NLinear", "DLinear", "NBEATS", "NHITS", "TiDE", "LSTM", "TCN", "BiTCN", "PatchTST"]
FIGURES = ["import", "fit", "predict", "predict one", "cross-validate", "MB"]
QUIET = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False, "enable_model_summary": False}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--foretell", help="interpreter with foretell")
    parser.add_argument("--neuralforecast", help="interpreter with neuralforecast")
    parser.add_argument("--series", type=int, nargs="+", default=[100, 10000])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--one", nargs=2, metavar=("PACKAGE", "MODEL"), help="measure in this process, as JSON")
    return parser.parse_args()


def panel(n_series):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(1)
    step = np.arange(ROWS)
    y = 10 + 5 * np.sin(step * np.pi / 6)[None, :] + rng.normal(size=(n_series, ROWS)) + rng.normal(size=(n_series, 1))
    ids = np.repeat([f"s{i:06d}" for i in range(n_series)], ROWS)
    months = pd.date_range("2010-01-31", periods=ROWS, freq="ME")
    return pd.DataFrame({"unique_id": ids, "ds": np.tile(months, n_series), "y": y.ravel().astype("float32")})


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(package, model, n_series, steps):
    df = panel(n_series)
    one = df[df["unique_id"] == "s000000"]
    found, start = {}, time.perf_counter()
    if package == "foretell":
        from foretell import NeuralForecast, models
    else:
        import logging

        from neuralforecast import NeuralForecast, models

        logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    found["import"] = time.perf_counter() - start

    def forecaster():
        return NeuralForecast([getattr(models, model)(h=H, input_size=INPUT_SIZE, max_steps=steps, **QUIET)], freq="ME")

    nf = forecaster()
    found["fit"] = timed(lambda: nf.fit(df))
    found["predict"] = timed(nf.predict)
    found["predict one"] = statistics.median(timed(lambda: nf.predict(df=one)) for _ in range(9))
    found["cross-validate"] = timed(lambda: forecaster().cross_validation(df, n_windows=3, step_size=H))
    found["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def run(python, package, model, n_series, steps):
    command = [python, "-W", "ignore", __file__, "--one", package, model, "--series", str(n_series), "--steps", str(steps)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{package}, {model}, {n_series} series: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def table(n_series, steps, measured):
    print(f"\n{n_series} series, {steps} steps of training; neuralforecast / foretell = ratio\n")
    print(f"| model | {' | '.join(FIGURES)} |\n|---{'|---' * len(FIGURES)}|")
    for model, (ours, theirs) in measured.items():
        cells = [f"{theirs[figure]:.3g} / {ours[figure]:.3g} = {theirs[figure] / ours[figure]:.3g}" for figure in FIGURES]
        print(f"| {model} | {' | '.join(cells)} |")
    ratios = [[theirs[figure] / ours[figure] for figure in FIGURES] for ours, theirs in measured.values()]
    means = [math.exp(statistics.fmean(map(math.log, column))) for column in zip(*ratios, strict=True)]
    print(f"| geometric mean | {' | '.join(f'{mean:.3g}' for mean in means)} |", flush=True)


def main():
    args = parse()
    if args.one:
        print(json.dumps(measure(*args.one, args.series[0], args.steps)))
        return
    measured = {n_series: {} for n_series in args.series}
    start, longest, left = time.monotonic(), 0.0, list(args.models)
    while left and (time.monotonic() - start + longest) / 60 < args.minutes:
        model, begun = left.pop(0), time.monotonic()
        for n_series in args.series:
            ours = run(args.foretell, "foretell", model, n_series, args.steps)
            measured[n_series][model] = ours, run(args.neuralforecast, "neuralforecast", model, n_series, args.steps)
        longest = max(longest, time.monotonic() - begun)
        print(f"{model}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    for n_series, of_models in measured.items():
        table(n_series, args.steps, of_models)
    if left:
        print(f"\nLeft out after {args.minutes:g} minutes: {', '.join(left)}")


if __name__ == "__main__":
    main()
