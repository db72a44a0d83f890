"""Hierarchies by HINT, and forecasts that hierarchicalforecast reconciles."""

import numpy as np
import pandas as pd

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import GMM, DistributionLoss
from neuralforecast.models import HINT, NHITS
from neuralforecast.utils import AirPassengersPanel

bottom = AirPassengersPanel[["unique_id", "ds", "y"]]
total = bottom.groupby("ds", as_index=False)["y"].sum().assign(unique_id="Total")
Y_df = pd.concat([total, bottom])
Y_df["unique_id"] = Y_df["unique_id"].astype("category").cat.set_categories(["Total", "Airline1", "Airline2"])
Y_df = Y_df.sort_values(["unique_id", "ds"]).reset_index(drop=True)
S = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
nhits = NHITS(h=12, input_size=24, loss=GMM(n_components=2, level=[80, 90]), max_steps=5, scaler_type="robust")
model = HINT(h=12, S=S, model=nhits, reconciliation="BottomUp")
nf = NeuralForecast(models=[model], freq="ME")
show("cross-validation", nf.cross_validation(df=Y_df, val_size=12, n_windows=1))
nf.fit(Y_df, val_size=12)
show("forecasts", nf.predict())
for reconciliation in ("MinTraceOLS", "MinTraceWLS", "Identity"):
    normal = NHITS(h=12, input_size=24, loss=DistributionLoss("Normal", level=[80]), max_steps=2)
    one = NeuralForecast(models=[HINT(h=12, S=S, model=normal, reconciliation=reconciliation)], freq="ME")
    one.fit(Y_df)
    show(reconciliation, one.predict())
show("another method", lambda: HINT(h=12, S=S, model=nhits, reconciliation="ERM"))
show("another horizon", lambda: HINT(h=6, S=S, model=nhits, reconciliation="BottomUp"))
show("a point", lambda: HINT(h=12, S=S, model=NHITS(h=12, input_size=24), reconciliation="BottomUp"))
