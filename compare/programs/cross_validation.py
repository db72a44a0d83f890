"""Cross-validation with and without refitting, by windows and by lengths, and what it refuses."""

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MQLoss
from neuralforecast.models import LSTM, NHITS, NLinear
from neuralforecast.utils import AirPassengersPanel, PredictionIntervals

Y_df = AirPassengersPanel
nf = NeuralForecast(
    models=[NHITS(h=12, input_size=24, max_steps=5), LSTM(h=12, input_size=24, encoder_hidden_size=8, decoder_hidden_size=8, max_steps=2)],
    freq="ME",
)
cv = nf.cross_validation(df=Y_df, n_windows=3, step_size=4)
show("three windows", cv)
show("cutoffs", cv["cutoff"].unique())
show("one window", nf.cross_validation(Y_df))
show("test size", nf.cross_validation(Y_df, n_windows=None, test_size=24, step_size=12, val_size=12))
show("afterwards", nf.predict())
show("both", lambda: nf.cross_validation(Y_df, n_windows=2, test_size=24))
show("neither", lambda: nf.cross_validation(Y_df, n_windows=None))
show("no multiple", lambda: nf.cross_validation(Y_df, n_windows=None, test_size=25, step_size=12))
show("short validation", lambda: nf.cross_validation(Y_df, val_size=3))
one = NeuralForecast(models=[NLinear(h=6, input_size=12, max_steps=3, alias="mine")], freq="ME")
show("refit", one.cross_validation(Y_df, n_windows=3, step_size=6, refit=True))
show("refit every second", one.cross_validation(Y_df, n_windows=3, step_size=6, refit=2))
show("after refit", lambda: one.predict())
intervals = PredictionIntervals(n_windows=2)
show("calibrated", one.cross_validation(Y_df, n_windows=2, step_size=6, refit=True, prediction_intervals=intervals, level=[80, 90]))
show("by quantiles", one.cross_validation(Y_df, n_windows=2, refit=True, prediction_intervals=intervals, quantiles=[0.1, 0.5]))
show("without refit", lambda: one.cross_validation(Y_df, prediction_intervals=intervals, level=[80]))
show("without level", lambda: one.cross_validation(Y_df, prediction_intervals=intervals, refit=True))
many = NeuralForecast(models=[NLinear(h=6, input_size=12, max_steps=3, loss=MQLoss(level=[80]))], freq="ME")
show("quantiles", many.cross_validation(Y_df, n_windows=2, use_init_models=True))
show("fitted", many.cross_validation(Y_df, n_windows=2, step_size=2, use_fitted=True))
