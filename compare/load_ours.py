"""Load a model directory that foretell wrote, predict, and compare with the forecast that foretell wrote.

    foretell predict --model DIR --data PANEL.csv --out EXPECTED.csv
    python compare/load_ours.py DIR PANEL.csv EXPECTED.csv [--futr FUTR.csv] [--static STATIC.csv] [--wide]

Prints the largest difference relative to the scale of each series; exits with 1 if it is above 1e-4.
"""

import argparse
import sys

from common import QUIET, distance, read_table
from neuralforecast import NeuralForecast

TOLERANCE = 1e-4

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("model")
arguments.add_argument("panel")
arguments.add_argument("expected")
arguments.add_argument("--futr")
arguments.add_argument("--static")
arguments.add_argument("--wide", action="store_true", help="the panel has one time column and one column a series")
args = arguments.parse_args()

nf = NeuralForecast.load(args.model)
for model in nf.models:  # the directory says nothing of how noisy the trainer should be
    model.trainer_kwargs |= QUIET
names = dict(id_col=nf.id_col, time_col=nf.time_col)
panel = read_table(args.panel, wide=args.wide, **names).rename(columns={"y": nf.target_col} if args.wide else {})
futr, static = (path and read_table(path, **names) for path in (args.futr, args.static))

theirs = nf.predict(panel, static_df=static, futr_df=futr)
gap, column = distance(read_table(args.expected, **names), theirs, **names)
print(f"{len(theirs)} rows, {len(theirs.columns) - 2} columns: largest relative difference {gap:.2e} (in {column})")
sys.exit(int(gap > TOLERANCE))
