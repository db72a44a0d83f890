"""Forecasts of all series of a hierarchy that hierarchicalforecast sums up, reconciles and scores, with pandas and polars."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
from hierarchicalforecast.core import HierarchicalReconciliation
from hierarchicalforecast.evaluation import evaluate
from hierarchicalforecast.methods import ERM, BottomUp, MiddleOut, MinTrace, OptimalCombination, TopDown
from hierarchicalforecast.utils import aggregate, aggregate_temporal
from utilsforecast.losses import mase, mse, quantile_loss, scaled_crps

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MQLoss
from neuralforecast.models import MLP, NHITS
from neuralforecast.utils import PredictionIntervals

H, ROWS = 6, 72
SPEC = [["country"], ["country", "state"], ["country", "state", "shop"]]
times = pd.date_range("2015-01-01", periods=ROWS, freq="MS")
rng = np.random.default_rng(0)
shops = [("A", "north", "n1"), ("A", "north", "n2"), ("A", "south", "s1"), ("A", "south", "s2"), ("A", "south", "s3")]
parts = [
    pd.DataFrame({"country": c, "state": s, "shop": n, "ds": times, "y": 50 + 9 * i + 8 * np.sin(np.arange(ROWS) / 2) + rng.normal(size=ROWS)})
    for i, (c, s, n) in enumerate(shops)
]
bottom = pd.concat(parts, ignore_index=True)
models = dict(input_size=12, max_steps=5)


def fitted(df, freq, loss=None, intervals=None):
    extra = {} if loss is None else {"loss": loss}
    nf = NeuralForecast(models=[NHITS(h=H, **models, **extra), MLP(h=H, hidden_size=8, **models, **extra)], freq=freq)
    nf.fit(df, prediction_intervals=intervals)
    return nf


def in_sample(nf, names=("NHITS", "MLP")):
    df = nf.predict_insample(step_size=H)
    columns = ["unique_id", "ds", "y", *names]
    return df[columns] if isinstance(df, pd.DataFrame) else df.select(columns)


reconcilers = [
    BottomUp(), TopDown(method="average_proportions"), TopDown(method="forecast_proportions"), MiddleOut(middle_level="country/state", top_down_method="average_proportions"),
    MinTrace(method="ols"), MinTrace(method="wls_struct"), MinTrace(method="wls_var"), MinTrace(method="mint_shrink"),
    OptimalCombination(method="ols"), ERM(method="closed"),
]
for kind, freq in (("pandas", "MS"), ("polars", "1mo")):
    Y_df, S_df, tags = aggregate(bottom if kind == "pandas" else pl.from_pandas(bottom), SPEC)
    last = np.sort(np.unique(np.asarray(Y_df["ds"])))[-H:]
    if kind == "pandas":
        train, test = Y_df[Y_df["ds"] < last[0]], Y_df[Y_df["ds"] >= last[0]]
    else:
        train, test = Y_df.filter(pl.col("ds") < last[0]), Y_df.filter(pl.col("ds") >= last[0])
    nf = fitted(train, freq)
    forecasts = nf.predict()
    show(kind + ", forecasts", forecasts)
    show(kind + ", in sample", in_sample(nf))
    hrec = HierarchicalReconciliation(reconcilers=reconcilers)
    reconciled = hrec.reconcile(Y_hat_df=forecasts, Y_df=in_sample(nf), S_df=S_df, tags=tags)
    show(kind + ", reconciled", reconciled)
    joined = reconciled.merge(test, on=["unique_id", "ds"]) if kind == "pandas" else reconciled.join(test, on=["unique_id", "ds"])
    scores = evaluate(df=joined, metrics=[mse, partial(mase, seasonality=12)], tags=tags, train_df=train, benchmark=None)
    show(kind + ", scores", scores[["level", "metric"]] if kind == "pandas" else scores.select("level", "metric"))
    show(kind + ", columns of scores", list(scores.columns))
    # Intervals by normality and by the errors of the past.
    levels = [80, 90]
    calibrated = fitted(train, freq, intervals=PredictionIntervals(n_windows=3))
    with_levels = calibrated.predict(level=levels)
    show(kind + ", calibrated", with_levels)
    for method in ("normality", "bootstrap", "permbu"):
        some = HierarchicalReconciliation(reconcilers=[BottomUp(), MinTrace(method="mint_shrink")])
        probable = some.reconcile(
            Y_hat_df=with_levels, Y_df=in_sample(calibrated), S_df=S_df, tags=tags, level=levels, intervals_method=method, seed=0
        )
        show(kind + ", by " + method, probable)
    joined = probable.merge(test, on=["unique_id", "ds"]) if kind == "pandas" else probable.join(test, on=["unique_id", "ds"])
    scores = evaluate(df=joined, metrics=[scaled_crps, quantile_loss], tags=tags, train_df=train, level=levels, models=["NHITS", "NHITS/BottomUp"])
    show(kind + ", scores of levels", list(scores.columns), len(scores))
    # Quantiles of the models themselves.
    quantiles = fitted(train, freq, loss=MQLoss(level=levels)).predict()
    show(kind + ", quantiles", quantiles)
    renamed = {name: name.replace("-median", "") for name in quantiles.columns}
    quantiles = quantiles.rename(columns=renamed) if kind == "pandas" else quantiles.rename(renamed)
    show(kind + ", quantiles, bottom up", HierarchicalReconciliation([BottomUp()]).reconcile(
        Y_hat_df=quantiles, S_df=S_df, tags=tags, level=levels, intervals_method="normality"))
    # Cross-validation, window by window.
    cv = nf.cross_validation(Y_df, n_windows=2, step_size=H)
    show(kind + ", cross-validation", cv)
    for place, cutoff in enumerate(sorted(set(cv["cutoff"].to_list()))):
        window = cv[cv["cutoff"] == cutoff].drop(columns=["cutoff", "y"]) if kind == "pandas" else cv.filter(pl.col("cutoff") == cutoff).drop("cutoff", "y")
        show(f"{kind}, window {place}", HierarchicalReconciliation([BottomUp(), MinTrace(method="ols")]).reconcile(Y_hat_df=window, S_df=S_df, tags=tags))
