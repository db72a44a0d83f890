"""Reconciliation by hierarchicalforecast and by neuralforecast's HINT, beside which foretell-hierarchy is tested."""

import json

import numpy as np
import pandas as pd
from common import fixtures
from hierarchicalforecast.methods import BottomUp, MiddleOut, MinTrace, TopDown
from hierarchicalforecast.utils import aggregate
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


if __name__ == "__main__":
    main()
