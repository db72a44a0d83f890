"""Calibrated intervals by levels and by quantiles."""

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MAE, DistributionLoss
from neuralforecast.models import NHITS, NLinear
from neuralforecast.utils import AirPassengersPanel, PredictionIntervals

models = [
    NHITS(h=12, input_size=24, max_steps=5, loss=MAE()),
    NLinear(h=12, input_size=24, max_steps=5, loss=DistributionLoss("Normal", level=[90]), scaler_type="standard"),
]
for method in ("conformal_distribution", "conformal_error"):
    nf = NeuralForecast(models=models, freq="ME")
    nf.fit(AirPassengersPanel, prediction_intervals=PredictionIntervals(n_windows=2, method=method))
    show("levels " + method, nf.predict(level=[90, 80]))
    show("decimals " + method, nf.predict(level=[97.5, 50]))
    show("quantiles " + method, nf.predict(quantiles=[0.05, 0.5, 0.95]))
    show("none " + method, nf.predict())
show("both", lambda: nf.predict(level=[80], quantiles=[0.1]))
show("a level of 100", lambda: nf.predict(level=[100]))
show("a level below 0", lambda: nf.predict(level=[-1]))
show("further ahead", lambda: nf.predict(level=[80], h=24))
show("in sample", lambda: nf.predict_insample(level=[80]))
show("one window", lambda: PredictionIntervals(n_windows=1))
show("another method", lambda: PredictionIntervals(method="bootstrap"))
plain = NeuralForecast(models=[NHITS(h=12, input_size=24, max_steps=2)], freq="ME")
plain.fit(AirPassengersPanel)
show("not calibrated", lambda: plain.predict(level=[80]))
