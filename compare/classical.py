"""Forecasts and intervals of statsforecast, beside which the models of foretell-classical are tested, and its accuracy.

It needs an environment with statsforecast 2.1.1, and a folder with both files of M4 Hourly:

python compare/classical.py FOLDER                              writes the fixture of the tests
python compare/classical.py FOLDER --score AutoETS AutoTheta    prints sMAPE and seconds on M4 Hourly, on one thread
python compare/classical.py FOLDER --score AutoETS --mean-of 24 --season 7    the same on the means of days, with weeks
"""

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np
from statsforecast import ets, models
from statsforecast.utils import AirPassengers

OUT = Path("crates/classical/tests/fixtures/classical.json")
H = 30
INTERMITTENT = ["CrostonClassic", "CrostonOptimized", "CrostonSBA", "ADIDA", "IMAPA", ("TSB", {"alpha_d": 0.2, "alpha_p": 0.3})]
THETA = ["AutoTheta", "Theta", "OptimizedTheta", "DynamicTheta", "DynamicOptimizedTheta"]
ETS = ["ANN", "AAN", "ANA", "AAA", "MNN", "MAN", "MNA", "MAA", "MNM", "MAM", "ZZZ"]
ARIMA = [((1, 0, 1), (0, 0, 0)), ((0, 1, 1), (0, 1, 1)), ((2, 1, 0), (1, 0, 0)), ((1, 0, 0), (0, 1, 1)), ((2, 0, 2), (0, 0, 0))]
# Names of statsforecast's classes that are others here.
CLASSES = {"ETS": "AutoETS"}


def damped_forecast(x, m, trend, season, phi, h, f):
    """statsforecast counts the first step of a damped trend twice: from the second step on its forecasts are one step off."""
    has_trend = trend != ets._ets.Component.Nothing
    seasons = x[1 + has_trend:]
    for step in range(h):
        f[step] = x[0] + (x[1] * sum(phi ** (i + 1) for i in range(step + 1)) if has_trend else 0.0)
        if season == ets._ets.Component.Additive:
            f[step] += seasons[m - 1 - step % m]
        elif season == ets._ets.Component.Multiplicative:
            f[step] *= seasons[m - 1 - step % m]


ets.etsforecast = damped_forecast


def read(path):
    with open(path) as file:
        return [[float(value) for value in row[1:] if value] for row in list(csv.reader(file))[1:]]


def series(hourly):
    """What the models forecast: as 32 bits hold it, as that is what a panel has."""
    draw = np.random.default_rng(3)
    t = np.arange(150)
    walk = np.cumsum(draw.normal(0.2, 1, 150))
    rows = read(hourly / "M4-Hourly-train.csv")
    known = {
        "passengers": (AirPassengers, 12),
        "walk": (walk, 1),
        "level": (50 + draw.normal(0, 3, 60), 1),
        "trend": (5 + 0.3 * t[:90] + draw.normal(0, 2, 90), 1),
        "week": (3 * np.sin(2 * np.pi * t / 7) + 0.05 * t + draw.normal(0, 1, 150), 7),
        "waves": (10 + 4 * np.sin(2 * np.pi * t / 7) + walk, 7),
        "short": (20 + draw.normal(0, 2, 16) + np.tile([4, 0, -3, -1], 4), 4),
        "spare parts": (draw.poisson(2, 120) * (draw.random(120) < 0.2), 1),
        "rare": ((draw.random(90) < 0.1) * draw.integers(1, 9, 90), 1),
        "hourly 1": (rows[0][-400:], 24),
        "hourly 30": (rows[30][-400:], 24),
    }
    return {name: (np.asarray(y, dtype=np.float32).astype(np.float64), m) for name, (y, m) in known.items()}


def models_of(name, m, y):
    """Names and hyper-parameters of the models that are tried on a series."""
    season = {"season_length": m}
    if name in ("spare parts", "rare"):
        yield from (model if isinstance(model, tuple) else (model, {}) for model in INTERMITTENT)
        return
    yield from [("HistoricAverage", {}), ("RandomWalkWithDrift", {}), ("WindowAverage", {"window_size": 5})]
    yield "SeasonalWindowAverage", {**season, "window_size": 2}
    yield from ((model, season) for model in THETA)
    for form in ETS:
        if (m > 1 or form[2] in "NZ") and (y.min() > 0 or "M" not in form):
            yield ("AutoETS" if form == "ZZZ" else "ETS"), {**season, "model": form}
            if form in ("AAN", "AAA") and len(y) > 30:
                yield "ETS", {**season, "model": form, "damped": True}
    if m > 1 and name != "short":
        yield "MSTL", {"season_length": [m]}
    if name == "hourly 1":
        yield "MSTL", {"season_length": [24, 168]}
    if name.startswith("hourly"):
        return
    for order, seasonal in ARIMA:
        # Series with a trend have no level, around which models without differences would vary.
        has_level = order[1] or seasonal[1] or name not in ("walk", "trend")
        if has_level and name != "short" and (m > 1 or seasonal == (0, 0, 0)):
            yield "ARIMA", {**season, "order": order, "seasonal_order": seasonal}
    yield "AutoARIMA", season


def rounded(values):
    """Nine digits, which tell 32 bits apart."""
    return [float(f"{value:.9g}") for value in np.asarray(values, float)]


def arima_numbers(form):
    """What foretell-classical would have learned: orders, whether there is a constant, the mean of the differences, the variance, the
    criterion, and the coefficients."""
    p, q, season_p, season_q, period, d, season_d = (int(order) for order in form["arma"])
    coefficients = dict(form["coef"])
    level = coefficients.pop("intercept", None)
    drift = coefficients.pop("drift", None)
    mean = level if level is not None else (drift or 0.0) * (period if season_d else 1)
    criterion = form["aicc"]
    return rounded([1, p, d, q, season_p, season_d, season_q, level is not None or drift is not None, mean, form["sigma2"], criterion,
                    *coefficients.values()])


def forecast(name, model, settings, y):
    try:
        fitted = getattr(models, CLASSES.get(model, model))(**settings).fit(y)
    except ValueError as error:
        print("left out:", name, model, settings, error)
        return None
    by_itself = not getattr(fitted, "only_conformal_intervals", False)
    values = fitted.predict(H, level=[80]) if by_itself else fitted.predict(H)
    case = {"series": name, "model": model, "settings": settings, "mean": rounded(values["mean"])}
    if by_itself:
        case |= {"low": rounded(values["lo-80"]), "high": rounded(values["hi-80"])}
    form = getattr(fitted, "model_", None)
    if isinstance(form, dict):
        if "components" in form:
            case["form"] = form["components"]
        if "arma" in form:
            case |= {"form": "ARIMA", "learned": arima_numbers(form)}
    return case


def score(folder, names, count, hours, season):
    """The mean sMAPE over every fourth series, of means of this many hours, and the seconds of all forecasts after a first one."""
    data = [list(map(np.asarray, (before, after))) for before, after in
            zip(read(folder / "M4-Hourly-train.csv"), read(folder / "M4-Hourly-test.csv"))][::4][:count]
    means = lambda y: y[len(y) % hours:].reshape(-1, hours).mean(axis=1)
    data, h = [(means(before), means(after)) for before, after in data], 48 // hours
    for name in names:
        settings = {} if name in ("HistoricAverage", "RandomWalkWithDrift") else {"season_length": season}
        new = lambda: getattr(models, name)(**settings)
        new().forecast(data[0][0][-100:], h)
        begin, errors = time.perf_counter(), []
        for before, after in data:
            mean = new().forecast(before, h)["mean"]
            errors.append(np.mean(2 * np.abs(mean - after) / (np.abs(mean) + np.abs(after))))
        print(f"{name}: sMAPE {np.mean(errors):.5f}, {time.perf_counter() - begin:.2f} s, {len(data)} series", flush=True)


def write(folder):
    known = series(folder)
    cases = [forecast(name, model, settings, y) for name, (y, m) in known.items() for model, settings in models_of(name, m, y)]
    cases = [case for case in cases if case]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"h": H, "series": {name: rounded(y) for name, (y, _) in known.items()}, "cases": cases}))
    print(len(cases), "cases")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--score", nargs="+", metavar="MODEL")
    options.add_argument("--series", type=int, default=100)
    options.add_argument("--mean-of", type=int, default=1, metavar="HOURS")
    options.add_argument("--season", type=int, default=24)
    options = options.parse_args()
    if options.score:
        score(options.folder, options.score, options.series, options.mean_of, options.season)
    else:
        write(options.folder)


if __name__ == "__main__":
    main()
