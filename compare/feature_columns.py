"""Write features as pandas computes them, for ours: python compare/feature_columns.py

It needs pandas alone. A feature of the target sees the rows before each row: `shift(1)`. Where pandas has no value yet there is
none here, and ours has the last known value or zero.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

PATH = Path(__file__).parent.parent / "crates/features/tests/fixtures/columns.json"
ROWS = 400
STARTS = {"D": "2019-11-20", "h": "2024-02-27 21:00", "MS": "1999-11-01", "B": "2023-12-20"}


def past_columns(y):
    past = y.shift(1)
    yield "lag_1", past
    yield "lag_7", y.shift(7)
    yield "diff_1", past.diff(1)
    yield "diff_7", past.diff(7)
    for window in (3, 28, 100):
        rolling = past.rolling(window)
        yield f"roll_mean_{window}", rolling.mean()
        yield f"roll_std_{window}", rolling.std()
        yield f"roll_min_{window}", rolling.min()
        yield f"roll_max_{window}", rolling.max()
    for window in (5, 28, 150):
        for level in (0, 0.1, 0.5, 0.9, 1):
            yield f"roll_quantile_{window}_{level}", past.rolling(window).quantile(level)
    yield "ewm_0.3", past.ewm(alpha=0.3, adjust=False).mean()


def date_columns(times):
    for name, of in (("weekday", "day_of_week"), ("dayofyear", "day_of_year")):
        yield name, getattr(times, of)
    for name in ("hour", "day", "month", "quarter", "year", "is_month_start", "is_month_end",
                 "is_quarter_start", "is_quarter_end", "is_year_start", "is_year_end"):
        yield name, getattr(times, name)
    yield "week", times.isocalendar().week
    yield "is_weekend", times.day_of_week >= 5


def main():
    draws = np.random.default_rng(7)
    y = pd.Series(np.round(100 + draws.normal(0, 10, ROWS).cumsum(), 2).astype("float32"), dtype="float64")
    shown = lambda values: [None if pd.isna(value) else round(float(value), 5) for value in values]
    past = {name: shown(values) for name, values in past_columns(y)}
    dates = {}
    for freq, start in STARTS.items():
        # Without a frequency: pandas takes the ends of business months for those of months where there is one.
        times = pd.DatetimeIndex(pd.date_range(start, periods=ROWS, freq=freq).to_numpy())
        dates[freq] = {"start": start, "columns": {name: [int(value) for value in values]
                                                   for name, values in date_columns(times)}}
    PATH.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"y": shown(y), "past": past, "dates": dates}, separators=(",", ":"))
    PATH.write_text(text.replace("],", "],\n") + "\n")


if __name__ == "__main__":
    main()
