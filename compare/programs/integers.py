"""Steps of whole numbers, other names of columns, ids of numbers, and frequencies of several kinds."""

import numpy as np
import pandas as pd

from neuralforecast import NeuralForecast
from neuralforecast.models import MLP
from neuralforecast.utils import AirPassengersDF, generate_series


def fitted(df, freq, **names):
    nf = NeuralForecast(models=[MLP(h=6, input_size=12, hidden_size=8, max_steps=2)], freq=freq)
    nf.fit(df, **names)
    return nf


steps = pd.DataFrame({"unique_id": np.repeat([10, 9, 1], 50), "ds": np.tile(np.arange(50), 3), "y": np.sin(np.arange(150.0))})
show("steps", fitted(steps, 1).predict())
show("every second", fitted(steps.assign(ds=steps["ds"] * 2), 2).predict())
small = steps.astype({"ds": "int32", "unique_id": "int32", "y": "float32"})
show("small types", fitted(small, 1).predict())
show("whole numbers", fitted(steps.assign(y=(steps["y"] * 10).astype(int)), 1).predict())
renamed = steps.rename(columns={"unique_id": "store", "ds": "week", "y": "sales"})
nf = fitted(renamed, 1, id_col="store", time_col="week", target_col="sales")
show("renamed", nf.predict())
show("names", nf.id_col, nf.time_col, nf.target_col)
show("future of renamed", nf.make_future_dataframe())
show("cross-validation of renamed", nf.cross_validation(renamed, n_windows=2, id_col="store", time_col="week", target_col="sales"))
show("in sample of renamed", nf.predict_insample(step_size=6))
show("without the names", lambda: fitted(renamed, 1))
for freq in ("D", "h", "MS", "W-MON", "QS", "YS", "B", "15min"):
    times = pd.date_range("2001-01-01", periods=60, freq=freq)
    df = pd.DataFrame({"unique_id": "a", "ds": times, "y": np.cos(np.arange(60.0))})
    show("times of " + freq, fitted(df, freq).predict())
zone = pd.DataFrame({"unique_id": "a", "ds": pd.date_range("2020-03-20", periods=60, freq="D", tz="Europe/Berlin"), "y": np.cos(np.arange(60.0))})
show("zone", fitted(zone, "D").predict())
show("generated", fitted(generate_series(3, min_length=50, max_length=60), "D").predict())
show("text times", lambda: fitted(AirPassengersDF.assign(ds=AirPassengersDF["ds"].astype(str)), "ME").predict())
show("object ids", fitted(AirPassengersDF.assign(unique_id="x"), "ME").predict())
show("string ids", fitted(AirPassengersDF.assign(unique_id=pd.array(["x"] * len(AirPassengersDF), dtype="string")), "ME").predict())
show("no such freq", lambda: fitted(AirPassengersDF, "X").predict())
show("other index", fitted(AirPassengersDF.set_index(pd.Index(np.arange(500, 500 + len(AirPassengersDF)))), "ME").predict())
show("ids as index", lambda: fitted(AirPassengersDF.set_index("unique_id"), "ME").predict())
show("extra columns", lambda: fitted(AirPassengersDF.assign(note="text", other=1), "ME").predict())
show("doubled rows", lambda: fitted(pd.concat([AirPassengersDF, AirPassengersDF.tail(1)]), "ME").predict())
show("no target", lambda: fitted(AirPassengersDF.drop(columns="y"), "ME"))
show("target of texts", lambda: fitted(AirPassengersDF.assign(y=AirPassengersDF["y"].astype(str)), "ME"))
