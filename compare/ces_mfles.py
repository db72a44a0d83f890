"""Forecasts of statsforecast's AutoCES and MFLES, beside which those of foretell-classical are tested.

It needs an environment with statsforecast 2.1.1 and scikit-learn, and the fixture of compare/classical.py, whose series it takes:

python compare/ces_mfles.py    writes the fixture of the tests
"""

import json
from pathlib import Path

import numpy as np
from statsforecast import models

FOLDER = Path("crates/classical/tests/fixtures")
OUT = FOLDER / "ces_mfles.json"
H = 24
# Seasons of the series of compare/classical.py.
KNOWN = {"passengers": 12, "walk": 1, "level": 1, "trend": 1, "week": 7, "waves": 7, "short": 4, "hourly 1": 24, "hourly 30": 24}


def series():
    """What the models forecast: as 32 bits hold it, as that is what a panel has; with the steps of a season."""
    known = json.loads((FOLDER / "classical.json").read_text())["series"]
    yield from ((name, known[name], m) for name, m in KNOWN.items())
    draw = np.random.default_rng(11)
    t = np.arange(720)
    yield "years", 30 + np.cumsum(draw.normal(0.5, 1, 45)), 1
    yield "quarters", 200 * np.exp(0.01 * t[:64]) * (1 + 0.1 * np.sin(np.pi * t[:64] / 2)) * draw.normal(1, 0.02, 64), 4
    yield "months", 50 - 0.1 * t[:110] + 6 * np.sin(2 * np.pi * t[:110] / 12) + draw.normal(0, 1.5, 110), 12
    yield "below zero", 4 * np.cos(2 * np.pi * t[:90] / 12) + draw.normal(0, 1, 90), 12
    yield "weeks", 100 + 20 * np.sin(2 * np.pi * t[:190] / 52) + draw.normal(0, 4, 190), 52
    yield "a break", np.concatenate([draw.normal(20, 1, 60), draw.normal(35, 1, 60)]) + 2 * np.sin(2 * np.pi * t[:120] / 7), 7
    day, week = 10 * np.sin(2 * np.pi * t / 24), 5 * np.sin(2 * np.pi * t / 168)
    yield "two seasons", 60 + day + week + draw.normal(0, 2, 720), 24


def models_of(name, m):
    """Names and hyper-parameters of the models that are tried on a series."""
    yield "AutoCES", {"season_length": m}
    if m > 1:
        yield from (("AutoCES", {"season_length": m, "model": form}) for form in "NSPF")
    season = {"season_length": m}
    yield "MFLES", season
    if name == "two seasons":
        yield "MFLES", {"season_length": [24, 168]}
    if name in ("passengers", "months", "walk"):
        yield "MFLES", season | {"changepoints": False}
        yield "MFLES", season | {"smoother": True}
        yield "MFLES", season | {"multiplicative": False, "moving_medians": m > 1}
        yield "MFLES", season | {"robust": True, "ma": 3, "max_rounds": 20, "trend_penalty": False}


def rounded(values):
    """Nine digits, which tell 32 bits apart."""
    return [float(f"{value:.9g}") for value in np.asarray(values, float)]


def forecast(name, model, settings, y):
    # MFLES has no season where none is named, not where it has one step.
    named = {key: value for key, value in settings.items() if model != "MFLES" or value != 1 or key != "season_length"}
    fitted = getattr(models, model)(**named).fit(y)
    case = {"series": name, "model": model, "settings": settings, "mean": rounded(fitted.predict(H)["mean"])}
    form = getattr(fitted, "model_", {})
    if model == "AutoCES":
        # What foretell-classical would have learned, and the width of the interval of the first step.
        parameters = [value if np.isfinite(value) else 0.0 for value in map(form["par"].get, ("alpha_0", "alpha_1", "beta_0", "beta_1"))]
        case["learned"] = rounded(["NSPF".index(form["seasontype"]), *parameters, form["aicc"]])
        case["low"] = []
        case["deviation"] = rounded([np.sqrt(form["sigma2"])])[0]
    return case


def main():
    known = {name: (np.asarray(y, dtype=np.float32).astype(np.float64), m) for name, y, m in series()}
    cases = [forecast(name, model, settings, y) for name, (y, m) in known.items() for model, settings in models_of(name, m)]
    new = {name: rounded(y) for name, (y, _) in known.items() if name not in KNOWN}
    OUT.write_text(json.dumps({"h": H, "series": new, "cases": cases}))
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
