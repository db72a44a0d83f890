"""Accuracy and speed of neuralforecast on ETTh1, beside seasonal naive, as JSON.

    python compare/accuracy.py ETTh1.csv [--seeds 1 2 3] [--models NLinear DLinear MLP NBEATS NBEATSx NHITS] [--threads 2]

Ten rolling windows of 24 hours, step 24, at the end of the first 8640 rows of the seven series; models are
trained once, on what precedes the first window (300 steps, learning rate 1e-3, window scaler `standard`; 128 windows
a step, 32 of all seven series for multivariate models).

MAE, RMSE and sMAPE (mean of 2|e| / (|y| + |forecast|), 0 to 2) are over all forecasts of all series alike.
MASE divides each series' MAE by the MAE of seasonal naive (24) within its training rows; then the mean over series.
`fit_s_per_step` is the whole fit divided by its steps, `fit_cpu_s_per_step` the same in processor time of all
threads (it does not grow when others use the machine), `step_ms` the median from the end of one step to the next.
"""

import argparse
import json
import statistics
import time

import numpy as np
import pandas as pd
import torch
from common import QUIET
from neuralforecast import NeuralForecast, models
from pytorch_lightning import Callback

ROWS, H, INPUT_SIZE, SEASON, WINDOWS, STEPS = 8640, 24, 96, 24, 10, 300


class Clock(Callback):
    """When each training step ended."""

    def __init__(self):
        self.ends = []

    def on_train_batch_end(self, *_):
        self.ends.append(time.perf_counter())

    def step_ms(self):
        return 1000 * statistics.median(np.diff(self.ends))


def panel(path):
    wide = pd.read_csv(path, parse_dates=["date"]).head(ROWS).rename(columns={"date": "ds"})
    return wide.melt("ds", var_name="unique_id", value_name="y").sort_values(["unique_id", "ds"], ignore_index=True)


def scores(truth, forecast, scale):
    """Metrics of one column; `scale` is each series' seasonal-naive error in training."""
    y, error = truth["y"], (truth["y"] - forecast).abs()
    size = y.abs() + forecast.abs()
    return dict(
        mae=error.mean(),
        rmse=np.sqrt((error**2).mean()),
        smape=(2 * error / size.where(size > 0)).fillna(0).mean(),
        mase=(error.groupby(truth["unique_id"]).mean() / scale).mean(),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--models", nargs="+", default=["NLinear", "DLinear", "MLP", "NBEATS", "NBEATSx", "NHITS"])
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    df = panel(args.csv)
    test = H * WINDOWS
    train = df.groupby("unique_id").head(ROWS - test)
    scale = train.groupby("unique_id")["y"].apply(lambda y: y.diff(SEASON).abs().mean())
    results = []
    for seed in args.seeds:
        for name in args.models:
            kind = getattr(models, name)
            windows = dict(windows_batch_size=32, n_series=7) if kind.MULTIVARIATE else dict(windows_batch_size=128)
            model = kind(
                h=H,
                input_size=INPUT_SIZE,
                max_steps=STEPS,
                learning_rate=1e-3,
                scaler_type="standard",
                **windows,
                random_seed=seed,
                callbacks=[Clock()],
                **QUIET,
            )
            nf = NeuralForecast([model], freq="h")
            start, start_cpu = time.perf_counter(), time.process_time()
            nf.fit(train)
            fit, fit_cpu = time.perf_counter() - start, time.process_time() - start_cpu
            clock = nf.models[0].trainer_kwargs["callbacks"][0]  # NeuralForecast trains a copy of the model
            # Trained already, on exactly the rows before the first window: forecast only.
            cv = nf.cross_validation(df, n_windows=None, test_size=test, step_size=H, use_fitted=True)
            speed = dict(fit_s_per_step=fit / STEPS, fit_cpu_s_per_step=fit_cpu / STEPS, step_ms=clock.step_ms())
            results.append(dict(model=name, seed=seed, **scores(cv, cv[name], scale), **speed))

    # H equals the season, so the naive forecast of a window is the day before it.
    last = df.assign(naive=df.groupby("unique_id")["y"].shift(SEASON)).groupby("unique_id").tail(test)
    results.append(dict(model="SeasonalNaive", **scores(last, last["naive"], scale)))
    print(json.dumps([{k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in r.items()} for r in results], indent=1))


if __name__ == "__main__":
    main()
