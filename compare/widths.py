"""How wide intervals of AutoETS and AutoTheta are on hours, beside those of statsforecast: the figures of docs/classical.md.

It needs the program foretell in the PATH and an environment with statsforecast 2.1.1 and statsmodels, and a folder with ETTh1.csv,
M4-Hourly-train.csv and M4-Hourly-test.csv:

python -P compare/widths.py FOLDER     # -P, as numba would import coverage.py beside this file

The last column has statsforecast's AutoTheta again, with errors that do not have the season put back into them.
"""

import inspect
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import statsforecast.models as models
import statsforecast.theta as theta
from statsforecast.models import AutoETS, AutoTheta

H, SEASON, LEVEL = 48, 24, 80


def series(folder):
    """Seven columns of ETTh1 at three ends, every ninth series of M4, and series that a covariate drives."""
    ett = pd.read_csv(folder / "ETTh1.csv")
    for end in (9000, 13000, 17420):
        yield from ((f"ETTh1 {name} {end}", ett[name].to_numpy(float)[end - 1500 : end]) for name in ett.columns[1:])
    train, test = (pd.read_csv(folder / f"M4-Hourly-{part}.csv") for part in ("train", "test"))
    for row in range(0, len(train), 9):
        y = np.concatenate([table.iloc[row, 1:].dropna().to_numpy(float) for table in (train, test)])
        yield f"M4 {train.iloc[row, 0]}", y[-748:]
    draw, hour = np.random.default_rng(2), np.arange(748)
    for number in range(12):
        covariate = np.zeros(len(hour))
        for k in hour[1:]:
            covariate[k] = 0.9 * covariate[k - 1] + draw.normal()
        season = 1 + 0.3 * np.sin(2 * np.pi * hour / SEASON) + 0.15 * np.sin(4 * np.pi * hour / SEASON + 1)
        level = 50 * np.exp(np.cumsum(draw.normal(0, 0.01, len(hour)))) if number % 2 else 50
        yield f"simulated {number}", level * season * np.exp(0.05 * covariate + draw.normal(0, 0.03, len(hour)))


def of_foretell(panel):
    with tempfile.TemporaryDirectory() as home:
        data, out = Path(home, "data.csv"), Path(home, "out.csv")
        times = pd.date_range("2024-01-01", periods=1500, freq="h")
        pd.concat(pd.DataFrame({"unique_id": name, "ds": times[: len(y)], "y": y}) for name, y in panel.items()).to_csv(data, index=False)
        command = ["foretell", "cross-validate", "--data", data, "--model", "AutoETS,AutoTheta", "--h", str(H), "--n-windows", "1",
                   "--level", str(LEVEL), "--log", "none", "--out", out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {name: rows for name, rows in pd.read_csv(out).groupby("unique_id")}


def of_statsforecast(model, y):
    fitted = model.fit(y[:-H])
    found = fitted.predict(H, level=[LEVEL])
    return found[f"lo-{LEVEL}"], found[f"hi-{LEVEL}"], fitted.model_


def without_season_in_errors():
    """AutoTheta as it would be if its errors stayed those of the values without their season."""
    text = inspect.getsource(theta.auto_theta)
    for sign in "*+":
        line = f'model["residuals"] = model["residuals"] {sign} y_decompose'
        assert line in text
        text = text.replace(line, "pass")
    exec(compile(text, "theta.py", "exec"), vars(theta))
    models.auto_theta = theta.auto_theta


def main():
    panel = dict(series(Path(sys.argv[1])))
    ours, rows = of_foretell(panel), []
    for name, y in panel.items():
        row = {"series": name}
        for model in (AutoETS(season_length=SEASON), AutoTheta(season_length=SEASON)):
            low, high, learned = of_statsforecast(model, y)
            own, called = ours[name], type(model).__name__
            width = own[f"{called}-hi-{LEVEL}"].to_numpy() - own[f"{called}-lo-{LEVEL}"].to_numpy()
            holds = lambda low, high: float(np.mean((low <= y[-H:]) & (y[-H:] <= high)))
            row |= {called: width.mean() / (high - low).mean(), f"{called} holds": holds(low, high),
                    f"{called} holds here": holds(own[f"{called}-lo-{LEVEL}"].to_numpy(), own[f"{called}-hi-{LEVEL}"].to_numpy())}
            row |= {"form": learned["method"]} if called == "AutoETS" else {"season": learned.get("decomposition_type", "none"), "width": width.mean()}
        rows.append(row)
    without_season_in_errors()
    for row, y in zip(rows, panel.values()):
        low, high, _ = of_statsforecast(AutoTheta(season_length=SEASON), y)
        row["AutoTheta, errors without season"] = row.pop("width") / (high - low).mean()
    table = pd.DataFrame(rows)
    with pd.option_context("display.max_rows", None, "display.width", 250, "display.max_columns", None):
        print(table.round(3).to_string(index=False))
        print(table.groupby("form")[["AutoETS", "AutoETS holds", "AutoETS holds here"]].agg(["count", "min", "median", "max"]).round(2))
        figures = ["AutoTheta", "AutoTheta holds", "AutoTheta holds here", "AutoTheta, errors without season"]
        print(table.groupby([table["series"].str.split().str[0], "season"])[figures].agg(["count", "min", "median", "mean", "max"]).round(3).T)


if __name__ == "__main__":
    main()
