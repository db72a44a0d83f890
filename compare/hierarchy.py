"""Reconciliation by hierarchicalforecast and by neuralforecast's HINT, beside which foretell-hierarchy is tested."""

import json

import numpy as np
import pandas as pd
from common import fixtures
from hierarchicalforecast.methods import BottomUp, MiddleOut, MinTrace, TopDown
from hierarchicalforecast.utils import aggregate, aggregate_temporal
from neuralforecast.models.hint import get_bottomup_P, get_mintrace_ols_P, get_mintrace_wls_P

LEVELS = ["country", "state", "city"]
TIMES, HORIZON = 30, 4


def bottom():
    """Cities of two countries, in no order, with a state that has a single city."""
    places = [("N", "x", "p"), ("S", "z", "r"), ("N", "y", "q"), ("N", "x", "s"), ("S", "z", "t"), ("S", "z", "u"), ("N", "x", "v")]
    draw = np.random.default_rng(3)
    rows = []
    for number, place in enumerate(places):
        y = 20 + 5 * number + draw.normal(0, 1 + number, TIMES)
        rows += [dict(zip(LEVELS, place), ds=t, y=value) for t, value in enumerate(y)]
    return pd.DataFrame(rows)


def main():
    data = bottom()
    spec = [LEVELS[: depth + 1] for depth in range(len(LEVELS))]
    all_series, s_frame, _ = aggregate(data.assign(total="Total"), [["total"], *[["total", *part] for part in spec]])
    ids, columns = s_frame["unique_id"].tolist(), [c for c in s_frame.columns if c != "unique_id"]
    S = s_frame[columns].to_numpy(float)
    # Our ids have no constant label in front.
    name = lambda unique_id: unique_id.removeprefix("Total/")
    y = all_series.pivot(index="unique_id", columns="ds", values="y").loc[ids].to_numpy(float)
    draw = np.random.default_rng(4)
    common = draw.normal(0, 2, TIMES)
    spread = 0.3 * np.sqrt(S.sum(axis=1))[:, None]
    fitted = y - spread * (common + draw.normal(0, 2, y.shape)) - 0.5
    forecast = y[:, -HORIZON:] + draw.normal(0, 3, (len(ids), HORIZON))
    methods = {
        "BottomUp": BottomUp(),
        "TopDown": TopDown("proportion_averages"),
        "MiddleOut": MiddleOut("country", "proportion_averages"),
        "MinTraceOLS": MinTrace("ols"),
        "MinTraceWLS": MinTrace("wls_struct"),
        "MinTraceVar": MinTrace("wls_var"),
        "MinTraceShrink": MinTrace("mint_shrink"),
    }
    # The rows of each level.
    tags = {level: np.flatnonzero([name(i).count("/") == depth and i != "Total" for i in ids]) for depth, level in enumerate(LEVELS)}
    reconciled = {}
    for method, reconciler in methods.items():
        known = dict(y_insample=y, y_hat_insample=fitted) if method in ("MinTraceVar", "MinTraceShrink") else {}
        if method in ("TopDown", "MiddleOut"):
            known = dict(y_insample=y)
        if method == "MiddleOut":
            found = reconciler.fit_predict(S=S, y_hat=forecast, tags=tags, **known)
        else:
            found = reconciler.fit(S=S, y_hat=forecast, **known).predict(S=S, y_hat=forecast)
        reconciled[method] = np.asarray(found["mean"]).tolist()
    fixture = {
        "labels": data.drop_duplicates(LEVELS)[LEVELS].to_numpy().tolist(),
        "ids": [name(unique_id) for unique_id in ids],
        "columns": [name(unique_id) for unique_id in columns],
        "matrix": S.tolist(),
        "y": y.tolist(),
        "residuals": (y - fitted).tolist(),
        "forecast": forecast.tolist(),
        "reconciled": reconciled,
        "hint": {
            "BottomUp": get_bottomup_P(S).tolist(),
            "MinTraceOLS": get_mintrace_ols_P(S).tolist(),
            "MinTraceWLS": get_mintrace_wls_P(S).tolist(),
        },
    }
    (fixtures("hierarchy") / "reconciled.json").write_text(json.dumps(fixture) + "\n")


def temporal():
    """Twelve hours, with sums of six and of three of them, beside which forecasts of foretell-auto are reconciled over time."""
    h, periods = 12, (6, 3)
    hours = pd.DataFrame({"unique_id": "a", "ds": pd.date_range("2024-01-01", periods=h, freq="h"), "y": 1.0})
    _, s_frame, tags = aggregate_temporal(hours, spec={**{f"sum of {n}": n for n in periods}, "hour": 1})
    S = s_frame.drop(columns="temporal_id").to_numpy(float)
    ids = s_frame["temporal_id"].tolist()
    draw = np.random.default_rng(5)
    steps = 20 + draw.normal(0, 3, h)
    sums = [steps.reshape(-1, n).sum(axis=1) + draw.normal(0, n, h // n) for n in periods]
    y_hat = np.concatenate([*sums, steps])[:, None]
    variances = [30.0, 20.0, 4.0]
    # Two errors of the same size, of which the mean square is the variance of the level.
    of_rows = np.concatenate([np.full(len(tags[level]), v) for level, v in zip(tags, variances)])
    residuals = np.sqrt(of_rows)[:, None] * np.ones((1, 2))
    assert [ids.index(i) for level in tags for i in tags[level]] == list(range(len(ids)))
    methods = {"MinTraceOLS": MinTrace("ols"), "MinTraceWLS": MinTrace("wls_struct"), "MinTraceVar": MinTrace("wls_var")}
    found = {"BottomUp": steps.tolist()}
    for name, method in methods.items():
        known = dict(y_insample=residuals, y_hat_insample=np.zeros_like(residuals)) if name == "MinTraceVar" else {}
        fitted = method.fit(S=S, y_hat=y_hat, **known).predict(S=S, y_hat=y_hat)
        found[name] = np.asarray(fitted["mean"])[-h:, 0].tolist()
    fixture = dict(periods=periods, steps=steps.tolist(), sums=np.concatenate(sums).tolist(), variances=variances, reconciled=found)
    (fixtures("auto") / "temporal.json").write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
    temporal()
