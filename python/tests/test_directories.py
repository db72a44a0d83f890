"""Directories that neuralforecast wrote forecast the same: the fixtures of the crate foretell."""

import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pytest

from foretell import NeuralForecast

ROOT = pathlib.Path(__file__).parents[2] / "crates/foretell/tests/fixtures/checkpoints"
CASES = [
    "ahead", "categorical", "conformal-error", "dlinear-monthly-mq", "dlinear-yearly", "fusion", "local-exog",
    "local-robust-iqr", "losses", "multivariate", "nbeats", "nbeatsx-exogenous", "nhits-integers-mq", "nlinear-daily",
    "nlinear-standard", "recurrent-direct", "recurrent-steps", "scalers", "several",
]  # fmt: skip


def table(case, name, read):
    path = ROOT / case / name
    return read(path) if path.exists() else None


def read_pandas(path):
    df = pd.read_csv(path, dtype={"unique_id": str})
    time = df.columns[1]
    return df if df[time].dtype == "int64" or "static" in path.name else df.assign(**{time: pd.to_datetime(df[time])})


@pytest.mark.filterwarnings("ignore:.* before .*, the last time of the data")
@pytest.mark.parametrize("case", CASES)
def test_directories_of_neuralforecast(case):
    nf = NeuralForecast.load(ROOT / case / "model", raw_quantiles=True)
    expected = pd.read_csv(ROOT / case / "expected.csv")
    frames = [table(case, f"{name}.csv", read_pandas) for name in ("panel", "static", "futr")]
    forecasts = [nf.predict(frames[0], static_df=frames[1], futr_df=frames[2])]
    frames = [None if frame is None else pl.from_pandas(frame) for frame in frames]
    forecasts.append(nf.predict(frames[0], static_df=frames[1], futr_df=frames[2]).to_pandas())
    if nf._data is not None:
        future = table(case, "futr.csv", read_pandas)
        forecasts.append(nf.predict(futr_df=future))
    for forecast in forecasts:
        # Those of neuralforecast are in the order of its files.
        assert sorted(forecast.columns) == sorted(expected.columns)
        assert len(forecast) == len(expected)
        for column in expected.columns[2:]:
            scale = np.abs(expected[column]).max()
            assert np.allclose(forecast[column], expected[column], atol=2e-4 * scale, rtol=0), column
