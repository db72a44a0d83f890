"""Accuracy of neuralforecast on M4 Hourly (414 series, h 48), as JSON.

    python compare/m4.py FOLDER [--seeds 1 2 3] [--models NHITS LSTM] [--threads 2]

FOLDER holds M4-Hourly-train.csv and M4-Hourly-test.csv. The competition's own measures: sMAPE (0 to 2), and MASE with a
season of 24, each a mean over series of means over the 48 hours.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
import torch
from common import QUIET
from neuralforecast import NeuralForecast, models

H, INPUT_SIZE, SEASON, STEPS = 48, 96, 24, 300


def long(path):
    """One row per series, ragged, to one row per series and hour; hours are numbered from 1."""
    wide = pd.read_csv(path).rename(columns={"V1": "unique_id"})
    rows = wide.melt("unique_id", value_name="y").dropna()
    rows["ds"] = rows.pop("variable").str[1:].astype(int) - 1
    return rows.sort_values(["unique_id", "ds"], ignore_index=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--models", nargs="+", default=["NHITS", "LSTM"])
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    train, test = (long(args.folder / f"M4-Hourly-{part}.csv") for part in ("train", "test"))
    test["ds"] += test["unique_id"].map(train.groupby("unique_id")["ds"].max())
    scale = train.groupby("unique_id")["y"].apply(lambda y: y.diff(SEASON).abs().mean())

    def score(name, seed, forecast):
        both = test.merge(forecast, on=["unique_id", "ds"])
        assert len(both) == len(test)
        error, size = (both["y"] - both[name]).abs(), both["y"].abs() + both[name].abs()
        by_series = lambda x: x.groupby(both["unique_id"]).mean()
        mase = (by_series(error) / scale).mean()
        return dict(model=name, seed=seed, smape=float(by_series(2 * error / size).mean()), mase=float(mase))

    results = []
    for name in args.models:
        for seed in args.seeds:
            model = getattr(models, name)(
                h=H, input_size=INPUT_SIZE, max_steps=STEPS, learning_rate=1e-3, scaler_type="standard",
                windows_batch_size=128, random_seed=seed, **QUIET,
            )
            nf = NeuralForecast([model], freq=1)
            nf.fit(train)
            results.append(score(name, seed, nf.predict()))
            print(json.dumps(results[-1]), flush=True)
    naive = train.groupby("unique_id").tail(SEASON)
    naive = pd.concat([naive.assign(ds=naive["ds"] + SEASON * k) for k in (1, 2)])
    print(json.dumps(score("SeasonalNaive", 0, naive.rename(columns={"y": "SeasonalNaive"}))))


if __name__ == "__main__":
    main()
