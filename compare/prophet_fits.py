"""Fits of the package prophet (1.5), beside which foretell-prophet is tested, and its speed.

    python compare/prophet_fits.py fixtures       writes crates/prophet/tests/fixtures/fits.json
    python compare/prophet_fits.py data OUT.csv   writes 100 series of 1100 days
    python compare/prophet_fits.py speed OUT.csv  fits these, one after the other, and prints the seconds

It needs an environment of its own: pip install prophet==1.5.0 holidays==0.109
"""

import json
import logging
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from prophet import Prophet

OUT = Path("crates/prophet/tests/fixtures/fits.json")
SAMPLES = 20_000
AIRLINE = """112 118 132 129 121 135 148 148 136 119 104 118 115 126 141 135 125 149 170 170 158 133 114 140
145 150 178 163 172 178 199 199 184 162 146 166 171 180 193 181 183 218 230 242 209 191 172 194
196 196 236 235 229 243 264 272 237 211 180 201 204 188 235 227 234 264 302 293 259 229 203 229
242 233 267 269 270 315 364 347 312 274 237 278 284 277 317 313 318 374 413 405 355 306 271 306
315 301 356 348 355 422 465 467 404 347 305 336 340 318 362 348 363 435 491 505 404 359 310 337
360 342 406 396 420 472 548 559 463 407 362 405 417 391 419 461 472 535 622 606 508 461 390 432"""


def days(count, seed):
    """A line that bends twice, a year, a week, and noise."""
    draw = np.random.default_rng(seed)
    t = np.arange(count)
    trend = 50 + 0.02 * t + 0.05 * np.maximum(t - 0.35 * count, 0) - 0.08 * np.maximum(t - 0.6 * count, 0)
    year, week = 8 * np.sin(2 * np.pi * t / 365.25 + seed), 3 * np.cos(2 * np.pi * t / 7 + seed)
    return np.round(trend + year + week + draw.normal(0, 1.5, count), 2)


def datasets():
    """By name: frequency, first time, rows to forecast, values (None: unknown), columns over history and horizon."""
    draw = np.random.default_rng(3)
    daily = days(1100, 1)
    t = np.arange(1190)
    price = np.round(10 + draw.normal(0, 1, 1190), 3)
    promotion = (draw.uniform(size=1190) < 0.1).astype(float)
    summer = (np.sin(2 * np.pi * t / 365.25) > 0).astype(float)
    daily = np.round(daily - 1.5 * (price[:1100] - 10) + 4 * promotion[:1100], 2)
    holes = [None if i % 37 == 5 else y for i, y in enumerate(daily)]
    hour = np.arange(1000)
    hourly = 20 + 0.002 * hour + 5 * np.sin(2 * np.pi * hour / 24) + 2 * np.sin(2 * np.pi * hour / 168)
    hourly = np.round(hourly + draw.normal(0, 0.8, 1000), 2)
    s = np.arange(500) / 500
    logistic = np.round(20 + 80 / (1 + np.exp(-8 * (s - 0.4))) + draw.normal(0, 2, 500), 2)
    columns = {"price": price, "promotion": promotion, "summer": summer}
    airline = [float(x) for x in AIRLINE.split()]
    return {
        "days": ("D", "2015-01-01", 90, list(daily), columns),
        "days_with_holes": ("D", "2015-01-01", 90, holes, {}),
        "airline": ("MS", "1949-01-01", 24, airline, {}),
        "hours": ("h", "2020-03-01", 72, list(hourly), {}),
        "growing": ("D", "2018-06-01", 60, list(logistic), {"cap": np.full(560, 110.0), "floor": np.full(560, 15.0)}),
    }


HOLIDAYS = [
    {"holiday": name, "ds": f"{year}-{day}", "lower_window": low, "upper_window": high, "prior_scale": scale}
    for year in range(2015, 2019)
    for name, day, low, high, scale in [("fair", "05-01", -1, 2, 5.0), ("winter", "12-24", 0, 2, 10.0)]
]
OWN = {"name": "monthly", "period": 30.5, "fourier_order": 3}
SUMMER = {"name": "summer_weeks", "period": 7.0, "fourier_order": 2, "condition_name": "summer", "prior_scale": 5.0}

# A case is a name, a data set, and hyper-parameters as foretell has them.
CASES = [
    ("defaults", "days", {}),
    ("few_rows", "airline", {"n_changepoints": 10, "yearly_seasonality": 4}),
    ("multiplicative", "airline", {"seasonality_mode": "multiplicative"}),
    ("hours", "hours", {"changepoint_prior_scale": 0.01}),
    ("flat", "hours", {"growth": "flat", "daily_seasonality": 6}),
    ("no_changepoints", "days_with_holes", {"n_changepoints": 0, "scaling": "minmax"}),
    ("given_changepoints", "days_with_holes",
     {"changepoints": ["2015-10-01", "2016-03-15", "2017-01-02"], "changepoint_prior_scale": 0.5}),
    ("everything", "days", {"holidays": HOLIDAYS, "seasonalities": [OWN, SUMMER], "holidays_mode": "multiplicative",
                            "futr_exog_list": ["price", "promotion"],
                            "regressors": [{"name": "promotion", "mode": "multiplicative", "prior_scale": 2.0}]}),
    ("logistic", "growing", {"growth": "logistic", "cap": "cap", "floor": "floor", "yearly_seasonality": False}),
    ("logistic_without_floor", "growing",
     {"growth": "logistic", "cap": "cap", "weekly_seasonality": False, "scaling": "minmax"}),
]


def fitted(freq, start, h, values, columns, settings):
    """The package's model, the rows it was fitted to, and those of the horizon as well."""
    settings = dict(settings)
    own, names = settings.pop("seasonalities", []), settings.pop("futr_exog_list", [])
    options = {each["name"]: each for each in settings.pop("regressors", [])}
    bounds = [settings.pop(bound) for bound in ("cap", "floor") if bound in settings]
    conditions = [each["condition_name"] for each in own if "condition_name" in each]
    if "holidays" in settings:
        settings["holidays"] = pd.DataFrame(settings["holidays"])
        settings["holidays"]["ds"] = pd.to_datetime(settings["holidays"]["ds"])
    np.random.seed(1)
    model = Prophet(**settings, uncertainty_samples=SAMPLES)
    for each in own:
        model.add_seasonality(**each)
    for name in names:
        model.add_regressor(name, **{key: value for key, value in options.get(name, {}).items() if key != "name"})
    rows = pd.DataFrame({"ds": pd.date_range(start, periods=len(values) + h, freq=freq)})
    for name in [*bounds, *conditions, *names]:
        rows[name] = columns[name].astype(bool) if name in conditions else columns[name]
    history = rows.iloc[: len(values)].assign(y=pd.Series(values, dtype=float))
    # Of the package's optimisers Newton's comes nearest to the largest posterior. The default, L-BFGS, stops at kinks of the
    # prior: forecasts of `multiplicative` by both are 0.7 % of the data's scale apart.
    model.fit(history, algorithm="Newton")
    return model, rows


def case(name, dataset, settings):
    freq, start, h, values, columns = datasets()[dataset]
    model, rows = fitted(freq, start, h, values, columns, settings)
    forecast = model.predict(rows)
    # Every 20th row of the history, and every third of the horizon.
    places = [*range(0, len(values), 20), *range(len(values), len(values) + h, 3)]
    columns = {"forecast": "yhat", "trend": "trend", "lower": "yhat_lower", "upper": "yhat_upper"}
    components = list(model.seasonalities) + list(model.extra_regressors)
    components += ["holidays"] if "holidays" in forecast else []
    columns |= {component: component for component in components}
    found = {key: [float(f"{x:.8g}") for x in forecast[column].iloc[places]] for key, column in columns.items()}
    log_posterior = float(model.stan_fit.optimized_params_dict["lp__"])
    return {"name": name, "dataset": dataset, "settings": settings, "log_posterior": log_posterior,
            "components": components, "rows": places, "found": found}


def fixtures():
    OUT.parent.mkdir(parents=True, exist_ok=True)
    sets = {name: {"freq": freq, "start": start, "h": h, "y": values,
                   "columns": {column: list(map(float, cells)) for column, cells in columns.items()}}
            for name, (freq, start, h, values, columns) in datasets().items()}
    cases = [json.dumps(case(*each)) for each in CASES]
    sets = [f"{json.dumps(name)}: {json.dumps(data)}" for name, data in sets.items()]
    OUT.write_text('{"datasets": {\n%s\n}, "cases": [\n%s\n]}\n' % (",\n".join(sets), ",\n".join(cases)))


def data(path):
    ds = pd.date_range("2015-01-01", periods=1100)
    frames = [pd.DataFrame({"unique_id": f"s{i:03}", "ds": ds, "y": days(1100, i)}) for i in range(100)]
    pd.concat(frames).to_csv(path, index=False)


def speed(path):
    table = pd.read_csv(path, parse_dates=["ds"])
    series = [rows[["ds", "y"]].reset_index(drop=True) for _, rows in table.groupby("unique_id")]
    Prophet().fit(series[0])
    start = time.perf_counter()
    for rows in series:
        Prophet().fit(rows)
    print(f"{len(series)} series fitted in {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    for name in ("prophet", "cmdstanpy"):
        logging.getLogger(name).setLevel(logging.ERROR)
    {"fixtures": fixtures, "data": data, "speed": speed}[sys.argv[1]](*sys.argv[2:])
