"""Load a model directory that foretell wrote, predict, and compare with the forecast that foretell wrote.

    foretell predict --model DIR --data PANEL.csv --raw-quantiles --out EXPECTED.csv
    python compare/load_ours.py DIR PANEL.csv EXPECTED.csv [--futr FUTR.csv] [--static STATIC.csv] [--wide]
    python compare/load_ours.py --losses FORETELL

Prints the largest difference relative to the scale of each series; exits with 1 if it is above 1e-4. Means and
quantiles of distributions, which neuralforecast samples, may differ by 5 % of the quantiles' range, or by 1 for
counts; a Tweedie distribution, which we sample too, needs a num_samples of 50000 for that. Informer samples keys; it is
given those that foretell samples.

With --losses the program FORETELL trains a small model with each loss first.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import draws
import numpy as np
import pandas as pd
from common import QUIET, distance, read_table
from neuralforecast import NeuralForecast
from neuralforecast.models import Informer

TOLERANCE = 1e-4
SAMPLES, SAMPLING_ERROR = 50_000, 0.05
# Of these neuralforecast samples numbers that are no counts.
CONTINUOUS = ("Normal", "StudentT", "Tweedie", "GMM", "ISQF")

# Each is trained with `--losses`.
LOSSES = [
    *[{name: {}} for name in ("MAE", "MSE", "RMSE", "MAPE", "SMAPE", "TukeyLoss", "FreDF", "HuberLoss", "HuberMQLoss")],
    {"MASE": {"seasonality": 7}},
    {"QuantileLoss": {"q": 0.3}},
    {"HuberQLoss": {"q": 0.3}},
    {"MQLoss": {"level": [80]}},
    {"IQLoss": {"cos_embedding_dim": 8}},
    {"IQLoss": {"cos_embedding_dim": 8, "concentration0": 2.0, "concentration1": 3.0}},
    {"HuberIQLoss": {"cos_embedding_dim": 8, "delta": 0.5}},
    *[{"DistributionLoss": {"distribution": name, "level": [80]}} for name in ("Normal", "StudentT", "Poisson", "NegativeBinomial")],
    # Only so does neuralforecast forecast with it: docs/differences.md.
    {"DistributionLoss": {"distribution": "Tweedie", "rho": 1.5, "level": [80], "num_samples": SAMPLES, "softplus": True}},
    {"DistributionLoss": {"distribution": "ISQF", "level": [80]}},
    {"DistributionLoss": {"distribution": "ISQF", "quantiles": [0.1, 0.3, 0.9], "num_pieces": 2}},
    *[{name: {"n_components": 2, "level": [80]}} for name in ("GMM", "PMM", "NBMM")],
]


def sampled_columns(model, ours, theirs, keys):
    """The columns of a distribution, which must be within what samples leave."""
    columns = [f"{model}{suffix}" for suffix in model.loss.output_names[: 1 + len(model.loss.quantiles)]]
    both = theirs.merge(ours, on=keys, suffixes=("", " ours"))
    room = SAMPLING_ERROR * (both[columns].max(axis=1) - both[columns].min(axis=1))
    if getattr(model.loss, "distribution", type(model.loss).__name__) not in CONTINUOUS:
        room = room.clip(lower=1.0)  # the next count
    for column in columns:
        gap = (both[column] - both[f"{column} ours"]).abs()
        assert (gap <= room).all(), f"{column}: {gap.max()} apart, samples may be {room[gap.idxmax()]}"
    return columns


def compare(directory, panel, expected, futr=None, static=None, level=None, wide=False):
    """Whether neuralforecast says of the panel what is expected; it is printed how far they are apart."""
    nf = NeuralForecast.load(str(directory))
    for model in nf.models:  # the directory says nothing of how noisy the trainer should be
        model.trainer_kwargs |= QUIET
        model.loss.num_samples = model.n_samples = SAMPLES  # the latter of models that forecast step by step
    names = dict(id_col=nf.id_col, time_col=nf.time_col)
    panel = read_table(panel, wide=wide, **names).rename(columns={"y": nf.target_col} if wide else {})
    futr, static = (path and read_table(path, **names) for path in (futr, static))

    level = level and [int(level) if level == int(level) else level for level in level]
    theirs = nf.predict(panel, static_df=static, futr_df=futr, level=level)
    ours = read_table(expected, **names)

    sampled = []
    for model in nf.models:
        if model.loss.is_distribution_output:
            sampled += sampled_columns(model, ours, theirs, list(names.values()))
    print(f"{len(sampled)} sampled columns are within their error")

    if len(sampled) == len(theirs.columns) - 2:  # nothing that is not sampled
        return True
    gap, column = distance(ours.drop(columns=sampled), theirs.drop(columns=sampled), **names)
    print(f"{len(theirs)} rows, {len(theirs.columns) - 2 - len(sampled)} columns: largest relative difference {gap:.2e} (in {column})")
    return gap <= TOLERANCE


def compare_losses(program):
    """Trains a model with each loss, and compares its forecasts; whether all agree."""
    agree = True
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        random, steps = np.random.default_rng(1), np.arange(60)
        series = {name: random.poisson(size * (3 + 2 * np.sin(steps * 0.9))) for name, size in dict(a=2, b=7, c=20).items()}
        panel = pd.concat([pd.DataFrame(dict(unique_id=name, ds=steps, y=y)) for name, y in series.items()])
        panel.to_csv(home / "panel.csv", index=False)
        for i, loss in enumerate(LOSSES):
            print(json.dumps(loss), end=": ", flush=True)
            run = lambda *arguments: subprocess.run([program, *map(str, arguments), "--data", home / "panel.csv", "--quiet"], check=True)
            sizes = ["--h", 4, "--input-size", 12, "--set", "hidden_size=8", "--set", "max_steps=40", "--set", "scaler_type=standard"]
            run("fit", "--model", "MLP", *sizes, "--set", f"loss={json.dumps(loss)}", "--out", home / f"{i}")
            run("predict", "--model", home / f"{i}", "--raw-quantiles", "--out", home / "ours.csv")
            agree &= compare(home / f"{i}", home / "panel.csv", home / "ours.csv")
    return agree


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for place in ("directory", "panel", "expected"):
        arguments.add_argument(place, nargs="?")
    arguments.add_argument("--losses", metavar="FORETELL", help="the program that trains a model with each loss")
    arguments.add_argument("--futr")
    arguments.add_argument("--static")
    arguments.add_argument("--level", nargs="+", type=float, help="the levels of the intervals, if the forecast has them")
    arguments.add_argument("--wide", action="store_true", help="the panel has one time column and one column a series")
    args = vars(arguments.parse_args())
    draws.forecasting(Informer)
    program = args.pop("losses")
    if program is None and args["expected"] is None:
        arguments.error("name DIR, PANEL.csv and EXPECTED.csv, or --losses FORETELL")
    sys.exit(not (compare(**args) if program is None else compare_losses(program)))


if __name__ == "__main__":
    main()
