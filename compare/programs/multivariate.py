"""Models of all series together, and simulated paths."""

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MQLoss
from neuralforecast.models import NHITS, SOFTS, MLPMultivariate, StemGNN, TSMixerx, iTransformer
from neuralforecast.utils import AirPassengersPanel, AirPassengersStatic

df = AirPassengersPanel
models = [
    TSMixerx(h=12, input_size=24, n_series=2, ff_dim=4, stat_exog_list=["airline1"], futr_exog_list=["trend"], max_steps=2),
    iTransformer(h=12, input_size=24, n_series=2, hidden_size=8, n_heads=2, d_ff=8, max_steps=2),
    SOFTS(h=12, input_size=24, n_series=2, hidden_size=8, d_core=8, d_ff=8, max_steps=2),
    StemGNN(h=12, input_size=24, n_series=2, max_steps=2),
    MLPMultivariate(h=12, input_size=24, n_series=2, hidden_size=8, loss=MQLoss(level=[80]), max_steps=2),
]
nf = NeuralForecast(models=models, freq="ME")
nf.fit(df, static_df=AirPassengersStatic)
futr_df = nf.make_future_dataframe().assign(trend=145)
show("forecasts", nf.predict(futr_df=futr_df))
show("cross-validation", nf.cross_validation(df, static_df=AirPassengersStatic, n_windows=2, step_size=12))
show("one series", lambda: nf.predict(df=df[df["unique_id"] == "Airline1"], static_df=AirPassengersStatic, futr_df=futr_df))
show("no number of series", lambda: iTransformer(h=12, input_size=24, max_steps=2))
show("another number", lambda: NeuralForecast(models=[iTransformer(h=12, input_size=24, n_series=3, max_steps=2)], freq="ME").fit(df))
paths = NeuralForecast(models=[NHITS(h=12, input_size=24, max_steps=3, loss=MQLoss(level=[80, 90]))], freq="ME")
paths.fit(df)
show("paths", paths.simulate(n_paths=5, seed=1))
show("paths of ranks", paths.simulate(n_paths=4, seed=1, method="schaake_shuffle"))
show("another method", lambda: paths.simulate(method="bootstrap"))
point = NeuralForecast(models=[NHITS(h=12, input_size=24, max_steps=3)], freq="ME")
point.fit(df)
show("paths of a point", lambda: point.simulate(n_paths=3))
