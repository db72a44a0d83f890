"""Columns of the past, of the future and static ones, with a scaler of series; what is missing of the future."""

from neuralforecast import NeuralForecast
from neuralforecast.models import NHITS, TFT, BiTCN
from neuralforecast.utils import AirPassengersPanel, AirPassengersStatic

train = AirPassengersPanel[AirPassengersPanel.ds < AirPassengersPanel["ds"].values[-12]]
test = AirPassengersPanel[AirPassengersPanel.ds >= AirPassengersPanel["ds"].values[-12]].reset_index(drop=True)
models = [
    NHITS(h=12, input_size=24, futr_exog_list=["trend"], hist_exog_list=["y_[lag12]"], stat_exog_list=["airline1"], max_steps=5),
    TFT(h=12, input_size=24, hidden_size=8, futr_exog_list=["trend"], stat_exog_list=["airline1", "airline2"], max_steps=2),
    BiTCN(h=12, input_size=24, hidden_size=8, futr_exog_list=["trend"], max_steps=2, scaler_type="robust"),
]
nf = NeuralForecast(models=models, freq="ME", local_scaler_type="standard")
nf.fit(df=train, static_df=AirPassengersStatic)
show("forecasts", nf.predict(futr_df=test))
show("h", nf.h, nf.freq, nf.id_col, nf.time_col, nf.target_col)
show("no future", lambda: nf.predict())
show("part of the future", lambda: nf.predict(futr_df=test.iloc[:-1]))
show("without its column", lambda: nf.predict(futr_df=test.drop(columns="trend")))
show("missing values", lambda: nf.predict(futr_df=test.assign(trend=test["trend"].where(test.index > 2))))
show("future frame", nf.make_future_dataframe())
show("missing future", nf.get_missing_future(test.iloc[3:]))
show("other order", nf.predict(futr_df=test.sample(frac=1, random_state=0)))
show("other data", nf.predict(df=train[train["unique_id"] == "Airline2"], static_df=AirPassengersStatic, futr_df=test))
show("without static", lambda: nf.fit(df=train))
show("models", [str(model) for model in nf.models], nf.models[0].futr_exog_list, nf.models[0].hparams["h"], nf.models[0].input_size)
