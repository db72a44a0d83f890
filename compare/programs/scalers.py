"""Scalers of series and windows, static columns, early stopping, and training on what has gaps."""

from neuralforecast import NeuralForecast
from neuralforecast.models import MLP, NHITS, PatchTST
from neuralforecast.utils import AirPassengersPanel, AirPassengersStatic

df = AirPassengersPanel[["unique_id", "ds", "y", "trend"]]
for kind in ("standard", "robust", "robust-iqr", "minmax", "boxcox"):
    nf = NeuralForecast(models=[MLP(h=12, input_size=24, hidden_size=8, max_steps=3)], freq="ME", local_scaler_type=kind)
    nf.fit(df)
    show(kind, nf.predict())
    show("in sample " + kind, nf.predict_insample(step_size=12))
show("another scaler", lambda: NeuralForecast(models=[MLP(h=12, input_size=24)], freq="ME", local_scaler_type="log"))
show("another of windows", lambda: MLP(h=12, input_size=24, scaler_type="log"))
nf = NeuralForecast(
    models=[MLP(h=12, input_size=24, hidden_size=8, stat_exog_list=["airline1"], max_steps=3)], freq="ME", local_static_scaler_type="standard"
)
nf.fit(df, static_df=AirPassengersStatic)
show("static", nf.predict())
show("scalers", sorted(nf.scalers_), sorted(nf.static_scalers_ or []))
early = NHITS(h=12, input_size=24, max_steps=20, early_stop_patience_steps=2, val_check_steps=5, learning_rate=1e-3)
nf = NeuralForecast(models=[early, PatchTST(h=12, input_size=24, hidden_size=8, n_heads=2, linear_hidden_size=8, max_steps=2)], freq="ME")
show("nothing to validate on", lambda: nf.fit(df))
show("too little", lambda: nf.fit(df, val_size=6))
nf.fit(df, val_size=12)
show("early", nf.predict())
show("losses", len(nf.models[0].valid_trajectories) > 0, len(nf.models[0].train_trajectories) > 0, type(nf.models[0].train_trajectories[0]).__name__)
val_df = df.groupby("unique_id").tail(12)
nf.fit(df[~df.index.isin(val_df.index)], val_df=val_df)
show("validation frame", nf.predict())
show("both", lambda: nf.fit(df, val_df=val_df, val_size=12))
holes = df.assign(y=df["y"].where(df.index % 50 != 7))
show("missing values", lambda: nf.fit(holes, val_size=12))
masked = holes.fillna({"y": 0.0}).assign(available_mask=(holes["y"].notna()).astype(int))
nf.fit(masked, val_size=12)
show("masked", nf.predict())
weights = df.assign(sample_weight=1.0)
nf.fit(weights, val_size=12)
show("weighted", nf.predict())
show("weights below 0", lambda: nf.fit(weights.assign(sample_weight=-1.0), val_size=12))
