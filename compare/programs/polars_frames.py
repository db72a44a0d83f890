"""Tables of polars in, and out."""

import polars as pl

from neuralforecast import NeuralForecast
from neuralforecast.models import MLP, NHITS
from neuralforecast.utils import AirPassengersPanel, AirPassengersStatic, PredictionIntervals

panel = pl.from_pandas(AirPassengersPanel[["unique_id", "ds", "y", "trend"]]).with_columns(pl.col("ds").cast(pl.Datetime("us")))
static = pl.from_pandas(AirPassengersStatic)
nf = NeuralForecast(
    models=[NHITS(h=12, input_size=24, max_steps=3, futr_exog_list=["trend"], stat_exog_list=["airline1"]), MLP(h=12, input_size=24, max_steps=2, hidden_size=8)],
    freq="1mo",
)
nf.fit(panel, static_df=static, prediction_intervals=PredictionIntervals())
future = nf.make_future_dataframe()
show("future", future)
futr_df = future.with_columns(trend=pl.lit(145.0))
show("forecasts", nf.predict(futr_df=futr_df))
show("levels", nf.predict(futr_df=futr_df, level=[80]))
show("in sample", nf.predict_insample(step_size=12))
show("cross-validation", nf.cross_validation(panel, static_df=static, n_windows=2, step_size=12))
dates = panel.with_columns(pl.col("ds").cast(pl.Date), pl.col("unique_id").cast(pl.Categorical))
other = NeuralForecast(models=[MLP(h=12, input_size=24, max_steps=2, hidden_size=8)], freq="1mo")
other.fit(dates)
show("dates", other.predict())
integers = panel.with_columns(pl.col("ds").rank("dense").over("unique_id").cast(pl.Int64), pl.col("unique_id").str.replace("Airline", "").cast(pl.Int64))
steps = NeuralForecast(models=[MLP(h=12, input_size=24, max_steps=2, hidden_size=8)], freq=1)
steps.fit(integers)
show("integers", steps.predict())
show("pandas' alias", lambda: NeuralForecast(models=[MLP(h=12, input_size=24, max_steps=2)], freq="ME").fit(panel))
show("ids and times", sorted(nf.uids.to_list()), type(nf.last_dates).__name__, type(nf.uids).__name__)
