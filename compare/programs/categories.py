"""Columns of categories, calendar columns, and parts of forecasts."""

import numpy as np
import pandas as pd

from neuralforecast import NeuralForecast
from neuralforecast.models import MLP, NBEATSx, NHITS, TFT
from neuralforecast.utils import AirPassengersPanel, augment_calendar_df, time_features_from_frequency_str

df, calendar_cols = augment_calendar_df(df=AirPassengersPanel, freq="M")
show("calendar", df, calendar_cols)
show("features", lambda: [str(feature) for feature in time_features_from_frequency_str("h")])
df["season"] = np.where(df["ds"].dt.month.isin([12, 1, 2]), "winter", "other")
static = pd.DataFrame({"unique_id": ["Airline1", "Airline2"], "kind": ["low", "full"]})
models = [
    MLP(h=12, input_size=24, hidden_size=8, max_steps=2, futr_exog_list=["season", "month"], cat_exog_list=["season"], categorical_cardinalities={"season": 2}),
    NHITS(h=12, input_size=24, max_steps=2, stat_exog_list=["kind"], cat_exog_list=["kind"], categorical_cardinalities={"kind": 2}),
    TFT(h=12, input_size=24, hidden_size=8, max_steps=2, futr_exog_list=["month"]),
    NHITS(h=12, input_size=24, max_steps=2, futr_exog_list=["season"], cat_exog_list=["season"], categorical_cardinalities={"season": 2}, cat_emb_dim=3),
]
nf = NeuralForecast(models=models, freq="ME")
nf.fit(df, static_df=static)
future = nf.make_future_dataframe()
future, _ = augment_calendar_df(future, "M")
future["season"] = np.where(future["ds"].dt.month.isin([12, 1, 2]), "winter", "other")
show("forecasts", nf.predict(futr_df=future))
show("a new category", nf.predict(futr_df=future.assign(season="spring")))
show("not embedded", lambda: NeuralForecast(models=[MLP(h=12, input_size=24, max_steps=2, futr_exog_list=["season"])], freq="ME").fit(df))
show("not listed", lambda: MLP(h=12, input_size=24, cat_exog_list=["season"], categorical_cardinalities={"season": 2}))
show("too few", lambda: NeuralForecast(models=[MLP(h=12, input_size=24, max_steps=2, futr_exog_list=["season"], cat_exog_list=["season"], categorical_cardinalities={"season": 1})], freq="ME").fit(df))
stacks = NeuralForecast(models=[NBEATSx(h=12, input_size=24, max_steps=2, stack_types=["identity", "trend", "seasonality"], mlp_units=3 * [[8, 8]])], freq="ME")
stacks.fit(df.drop(columns="season"))
show("stacks", stacks.predict())
