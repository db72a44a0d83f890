"""Forecasts of the history."""

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import DistributionLoss, MQLoss
from neuralforecast.models import DLinear, NHITS, TSMixer
from neuralforecast.utils import AirPassengersPanel

df = AirPassengersPanel[["unique_id", "ds", "y"]]
nf = NeuralForecast(models=[NHITS(h=12, input_size=24, max_steps=3), DLinear(h=12, input_size=24, max_steps=3)], freq="ME")
show("not fitted", lambda: nf.predict_insample())
nf.fit(df, val_size=12)
by_horizons = nf.predict_insample(step_size=12)
show("by horizons", by_horizons)
show("every step", nf.predict_insample(step_size=1))
show("step of 5", nf.predict_insample(step_size=5))
show("two rows a step", int(by_horizons.groupby(["unique_id", "ds"]).size().max()))
many = NeuralForecast(
    models=[
        NHITS(h=6, input_size=12, max_steps=3, loss=MQLoss(level=[80])),
        DLinear(h=6, input_size=12, max_steps=3, loss=DistributionLoss("Normal", level=[90]), scaler_type="standard"),
    ],
    freq="ME",
)
many.fit(df)
show("quantiles", many.predict_insample(step_size=6))
show("levels", lambda: many.predict_insample(step_size=6, level=[50]))
after = NeuralForecast(models=[NHITS(h=12, input_size=24, max_steps=3)], freq="ME")
after.cross_validation(df, n_windows=2, step_size=12)
show("after cross-validation", after.predict_insample(step_size=12))
all_series = NeuralForecast(models=[TSMixer(h=12, input_size=24, n_series=2, ff_dim=4, max_steps=2)], freq="ME")
all_series.fit(df)
show("multivariate", lambda: all_series.predict_insample(step_size=12))
