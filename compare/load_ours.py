"""Load a model directory that foretell wrote, predict, and compare with the forecast that foretell wrote.

    foretell predict --model DIR --data PANEL.csv --raw-quantiles --out EXPECTED.csv
    python compare/load_ours.py DIR PANEL.csv EXPECTED.csv [--futr FUTR.csv] [--static STATIC.csv] [--wide]

Prints the largest difference relative to the scale of each series; exits with 1 if it is above 1e-4. Means and
quantiles of distributions, which neuralforecast samples, may differ by 5 % of the quantiles' range, or by 1 for
counts; a Tweedie distribution, which we sample too, needs a num_samples of 50000 for that. Informer samples keys; it is
given those that foretell samples.
"""

import argparse
import sys

import draws
from common import QUIET, distance, read_table
from neuralforecast import NeuralForecast
from neuralforecast.models import Informer

TOLERANCE = 1e-4
SAMPLES, SAMPLING_ERROR = 50_000, 0.05

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("model")
arguments.add_argument("panel")
arguments.add_argument("expected")
arguments.add_argument("--futr")
arguments.add_argument("--static")
arguments.add_argument("--level", nargs="+", type=float, help="the levels of the intervals, if the forecast has them")
arguments.add_argument("--wide", action="store_true", help="the panel has one time column and one column a series")
args = arguments.parse_args()

draws.forecasting(Informer)
nf = NeuralForecast.load(args.model)
for model in nf.models:  # the directory says nothing of how noisy the trainer should be
    model.trainer_kwargs |= QUIET
    model.loss.num_samples = model.n_samples = SAMPLES  # the latter of models that forecast step by step
names = dict(id_col=nf.id_col, time_col=nf.time_col)
panel = read_table(args.panel, wide=args.wide, **names).rename(columns={"y": nf.target_col} if args.wide else {})
futr, static = (path and read_table(path, **names) for path in (args.futr, args.static))

level = args.level and [int(level) if level == int(level) else level for level in args.level]
theirs = nf.predict(panel, static_df=static, futr_df=futr, level=level)
ours = read_table(args.expected, **names)

sampled = []
for model in nf.models:
    if model.loss.is_distribution_output:
        columns = [f"{model}{suffix}" for suffix in model.loss.output_names[: 1 + len(model.loss.quantiles)]]
        both = theirs.merge(ours, on=list(names.values()), suffixes=("", " ours"))
        room = SAMPLING_ERROR * (both[columns].max(axis=1) - both[columns].min(axis=1))
        kind = getattr(model.loss, "distribution", type(model.loss).__name__)
        if kind not in ("Normal", "StudentT", "Tweedie", "GMM"):
            room = room.clip(lower=1.0)  # the next count
        for column in columns:
            gap = (both[column] - both[f"{column} ours"]).abs()
            assert (gap <= room).all(), f"{column}: {gap.max()} apart, samples may be {room[gap.idxmax()]}"
        sampled += columns
print(f"{len(sampled)} sampled columns are within their error")

if len(sampled) == len(theirs.columns) - 2:  # nothing that is not sampled
    sys.exit(0)
gap, column = distance(ours.drop(columns=sampled), theirs.drop(columns=sampled), **names)
print(f"{len(theirs)} rows, {len(theirs.columns) - 2 - len(sampled)} columns: largest relative difference {gap:.2e} (in {column})")
sys.exit(int(gap > TOLERANCE))
