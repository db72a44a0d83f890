"""Which share of values lies in 80 % intervals of classical models, by panel.

It needs the program foretell in the PATH and an environment with pandas and statsmodels, whose data sets it forecasts; with the folder of
both files of M4 Hourly also hours:

python compare/coverage.py [FOLDER] [--models AutoETS,AutoTheta,AutoARIMA] [--calibrated]

--calibrated takes intervals from forecasts of the end of each history (fit --intervals), the windows in the last column of PANELS.
"""

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import fertility, macrodata

# Name, season, steps, windows of the calibration.
PANELS = [("fertility", 1, 6, 10), ("fertility, 14 years", 1, 6, 5), ("simulated years", 1, 6, 5), ("macrodata, quarters", 4, 8, 10),
          ("simulated quarters", 4, 8, 8), ("simulated months", 12, 18, 10), ("M4 Hourly, every eighth", 24, 48, 10)]


def fertility_of_countries():
    table = fertility.load_pandas().data
    years = table[[column for column in table.columns if column.isdigit()]].apply(pd.to_numeric, errors="coerce")
    known = (row[~np.isnan(row)] for row in years.to_numpy(float))
    return [row for row in known if len(row) >= 40]


def walk(draw, n):
    """A level that wanders, half of the time with a drift, and noise."""
    drift = draw.normal(0.5, 1) * draw.choice([0, 1])
    return 100 + np.cumsum(drift + draw.normal(0, 2, n)) + draw.normal(0, draw.uniform(0, 4), n)


def fading_trend(draw, n):
    slope, level, values = draw.normal(1, 1), 100.0, []
    for _ in range(n):
        slope = 0.9 * slope + draw.normal(0, 0.5)
        level += slope + draw.normal(0, 1.5)
        values.append(level + draw.normal(0, 1))
    return np.array(values)


def with_season(draw, n, season):
    steps = draw.normal(0, 6, season)
    return walk(draw, n) + np.resize(steps, n)


def hours(folder):
    read = lambda name: [[float(value) for value in row[1:] if value] for row in list(csv.reader(open(folder / name)))[1:]]
    return [np.array(before + after) for before, after in zip(read("M4-Hourly-train.csv"), read("M4-Hourly-test.csv"))][::8]


def panels(folder):
    draw, countries, macro = np.random.default_rng(7), fertility_of_countries(), macrodata.load_pandas().data
    yield "fertility", countries
    yield "fertility, 14 years", [y[-20:] for y in countries]
    length = lambda least, most: int(draw.integers(least, most))
    yield "simulated years", [(walk if i % 2 else fading_trend)(draw, length(19, 40)) for i in range(300)]
    yield "macrodata, quarters", [macro[name].to_numpy() for name in macro.columns if name not in ("year", "quarter")]
    yield "simulated quarters", [with_season(draw, length(36, 80), 4) for _ in range(200)]
    yield "simulated months", [with_season(draw, length(72, 140), 12) for _ in range(100)]
    if folder:
        yield "M4 Hourly, every eighth", hours(folder)


def shares(series, models, season, h, intervals):
    """The share of each model."""
    with tempfile.TemporaryDirectory() as place:
        data, model, out = (str(Path(place) / name) for name in ("data.csv", "model", "out.csv"))
        rows = lambda cut: [(f"s{i:04d}", t, y) for i, values in enumerate(series) for t, y in list(enumerate(values))[cut(len(values))]]
        pd.DataFrame(rows(lambda n: slice(0, n - h)), columns=["unique_id", "ds", "y"]).to_csv(data, index=False)
        after = pd.DataFrame(rows(lambda n: slice(n - h, n)), columns=["unique_id", "ds", "y"])
        run = lambda *words: subprocess.run(["foretell", *words], check=True, capture_output=True)
        run("fit", "--data", data, "--freq", "1", "--model", models, "--set", f"season_length={season}", "--h", str(h), "--out", model,
            *intervals)
        run("predict", "--model", model, "--data", data, "--level", "80", "--out", out)
        found = pd.read_csv(out).merge(after, on=["unique_id", "ds"])
    return [found.y.between(found[f"{name}-lo-80"], found[f"{name}-hi-80"]).mean() for name in models.split(",")]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path, nargs="?")
    options.add_argument("--models", default="AutoETS,AutoTheta,AutoARIMA")
    options.add_argument("--calibrated", action="store_true")
    options = options.parse_args()
    known = {name: rest for name, *rest in PANELS}
    for name, series in panels(options.folder):
        season, h, windows = known[name]
        intervals = ["--intervals", str(windows)] if options.calibrated else []
        told = ", ".join(f"{share:.2f}" for share in shares(series, options.models, season, h, intervals))
        print(f"{name}: {len(series)} series, {h} steps, {options.models}: {told}", flush=True)


if __name__ == "__main__":
    main()
