"""Training that continues after a load: with the same data and others, other intervals, other names of columns, and anew."""

import tempfile

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MQLoss
from neuralforecast.models import MLP, NHITS
from neuralforecast.utils import AirPassengersPanel, AirPassengersStatic, PredictionIntervals

panel = AirPassengersPanel[["unique_id", "ds", "y", "trend"]]
models = [
    NHITS(h=12, input_size=24, max_steps=3, stat_exog_list=["airline1"]),
    MLP(h=12, input_size=24, hidden_size=8, max_steps=3, loss=MQLoss(level=[80])),
]
nf = NeuralForecast(models=models, freq="ME", local_scaler_type="standard")
nf.fit(panel, static_df=AirPassengersStatic, prediction_intervals=PredictionIntervals(n_windows=2))
folder = tempfile.mkdtemp()
nf.save(folder + "/models", overwrite=True)


def loaded(**settings):
    return NeuralForecast.load(folder + "/models", **settings)


back = loaded()
show("columns of levels", sorted(back.predict(level=[80]).columns))
show("settings", back.local_scaler_type, back.h, back.freq, back.id_col, back.time_col, back.target_col)
show("is calibrated", back.prediction_intervals is not None)
back.fit(panel, static_df=AirPassengersStatic)
show("without intervals", back.prediction_intervals is None, sorted(back.predict().columns))
back.fit(panel, static_df=AirPassengersStatic, val_size=12, prediction_intervals=PredictionIntervals(n_windows=3, method="conformal_error"))
show("other intervals", back.prediction_intervals.n_windows, back.prediction_intervals.method, sorted(back.predict(level=[80]).columns))
back.fit(val_size=12)
show("stored data", sorted(back.predict().columns), len(back.predict()))
renamed = panel.rename(columns={"unique_id": "line", "ds": "month", "y": "passengers"})
statics = AirPassengersStatic.rename(columns={"unique_id": "line"})
back.fit(renamed, static_df=statics, id_col="line", time_col="month", target_col="passengers")
show("other names", sorted(back.predict().columns), back.id_col, back.time_col, back.target_col)
anew = loaded()
anew.fit(panel, static_df=AirPassengersStatic, use_init_models=True)
show("anew", sorted(anew.predict().columns))
one = panel[panel["unique_id"] == "Airline1"]
again = loaded()
again.fit(one, static_df=AirPassengersStatic[AirPassengersStatic["unique_id"] == "Airline1"])
show("one series", again.predict()[["unique_id", "ds"]])
show("cross-validation", sorted(again.cross_validation(panel, static_df=AirPassengersStatic, n_windows=2).columns))
show("fitted", sorted(again.cross_validation(panel, static_df=AirPassengersStatic, n_windows=2, use_fitted=True).columns))
show("lack of data", lambda: NeuralForecast.load(folder + "/nothing").fit(panel))
