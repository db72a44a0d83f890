"""Types of columns: nullable ones, texts and numbers of Arrow, categories, zones, dates, columns of the past and static ones of each."""

import datetime

import numpy as np
import pandas as pd

from neuralforecast import NeuralForecast
from neuralforecast.models import MLP, NHITS


def panel(**types):
    times = pd.date_range("2022-01-01", periods=60, freq="D")
    parts = [pd.DataFrame({"unique_id": name, "ds": times, "y": 10 * n + np.sin(np.arange(60.0))}) for n, name in enumerate(("b", "a"), 1)]
    df = pd.concat(parts, ignore_index=True)
    df["promo"], df["price"] = np.arange(120) % 2 == 0, np.cos(np.arange(120.0))
    return df.astype(types)


def model(**columns):
    return NHITS(h=6, input_size=12, max_steps=2, **columns)


def fitted(df, freq="D", models=None, **given):
    nf = NeuralForecast(models=models or [model()], freq=freq)
    nf.fit(df, **given)
    return nf


for dtype in ("string", "string[pyarrow]", "category", "object", "large_string[pyarrow]"):
    show("ids of " + dtype, lambda dtype=dtype: fitted(panel(unique_id=dtype if "large" not in dtype else "string[pyarrow]")).predict())
for dtype in ("Float64", "Float32", "float32", "Int64", "int8", "float64[pyarrow]", "int32[pyarrow]", "bool"):
    df = panel()
    df["y"] = df["y"].round().astype(dtype) if dtype != "bool" else df["y"] > 15
    nf = fitted(df)
    show("target of " + dtype, nf.predict())
    show("cross-validation of " + dtype, lambda df=df: NeuralForecast([model()], "D").cross_validation(df, n_windows=2))
    show("in sample of " + dtype, lambda nf=nf: nf.predict_insample(step_size=6))
for dtype in ("datetime64[s]", "datetime64[us]", "datetime64[ns, UTC]", "datetime64[ns, America/New_York]", "timestamp[us][pyarrow]"):
    show("times of " + dtype, lambda dtype=dtype: fitted(panel(ds=dtype)).predict())
    show("future of " + dtype, lambda dtype=dtype: fitted(panel(ds=dtype)).make_future_dataframe())
    show("cross-validation of times of " + dtype, lambda dtype=dtype: NeuralForecast([model()], "D").cross_validation(panel(ds=dtype), n_windows=2))
show("dates", lambda: fitted(panel().assign(ds=lambda df: df["ds"].dt.date)).predict())
show("periods", lambda: fitted(panel().assign(ds=lambda df: df["ds"].dt.to_period("D"))).predict())
for dtype in ("bool", "boolean", "Int64", "Float64", "bool[pyarrow]", "float64[pyarrow]", "int8"):
    df = panel(promo=dtype)
    nf = fitted(df, models=[model(hist_exog_list=["promo"], futr_exog_list=["price"])])
    future = nf.make_future_dataframe().assign(price=1.0)
    show("column of " + dtype, lambda nf=nf, future=future: nf.predict(futr_df=future))
    show("other column of " + dtype, lambda df=df, future=future: NeuralForecast([model(hist_exog_list=["promo"])], "D").cross_validation(df, n_windows=2))
static = pd.DataFrame({"unique_id": ["a", "b"], "size": [1.0, 2.0], "open": [True, False], "region": ["x", "y"], "count": pd.array([1, 2], dtype="Int64")})
for names in (["size"], ["open"], ["count"], ["region"], ["size", "open", "count"]):
    show("static " + ", ".join(names), lambda names=names: fitted(panel(), models=[model(stat_exog_list=names)], static_df=static[["unique_id", *names]]).predict())
regions = static[["unique_id", "region"]]
of_regions = dict(stat_exog_list=["region"], cat_exog_list=["region"], categorical_cardinalities={"region": 2})
show("static categories", lambda: fitted(panel(), models=[model(**of_regions)], static_df=regions).predict())
sizes = static[["unique_id", "size"]]
show("static of fewer series", lambda: fitted(panel(), models=[model(stat_exog_list=["size"])], static_df=sizes.head(1)).predict())
show("static of more series", lambda: fitted(panel(), models=[model(stat_exog_list=["size"])], static_df=pd.concat([sizes, sizes.assign(unique_id=["c", "d"])])).predict())
show("missing target", lambda: fitted(panel().assign(y=lambda df: df["y"].where(df.index != 30))).predict())
show("missing column", lambda: fitted(panel().assign(price=lambda df: df["price"].where(df.index != 30)), models=[model(hist_exog_list=["price"])]).predict())
show("one series without ids", lambda: fitted(panel().query("unique_id == 'a'").drop(columns="unique_id")).predict())
show("times as index", lambda: fitted(panel().set_index("ds")).predict())
show("both as index", lambda: fitted(panel().set_index(["unique_id", "ds"])).predict())
show("unsorted", fitted(panel().sample(frac=1, random_state=1)).predict())
show("short series", lambda: fitted(pd.concat([panel(), panel().head(5).assign(unique_id="c")])).predict())
show("h of forecasts", lambda: fitted(panel()).predict(h=12))
show("less than h", lambda: fitted(panel()).predict(h=3))
show("other data", fitted(panel()).predict(df=panel().tail(60).assign(unique_id="z")))
show("in order of data", fitted(panel()).predict()["unique_id"].tolist())
show("no rows", lambda: fitted(panel().head(0)))
show("infinite", lambda: fitted(panel().assign(y=lambda df: df["y"].where(df.index != 30, np.inf))).predict())
show("weekly of days", lambda: fitted(panel(), freq="W").predict())
show("a list", lambda: fitted([1, 2, 3]))
show("steps that begin anywhere", fitted(panel().assign(ds=lambda df: df.groupby("unique_id").cumcount() + 100 * (df["unique_id"] == "a")), freq=1).predict())
show("dates of datetime", lambda: fitted(panel().assign(ds=[datetime.datetime(2022, 1, 1) + datetime.timedelta(days=int(d) % 60) for d in range(120)])).predict())
show("large values", fitted(panel().assign(y=lambda df: df["y"] * 1e12)).predict())
show("models of two horizons", lambda: NeuralForecast([model(), MLP(h=7, input_size=12)], "D"))
