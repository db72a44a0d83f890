"""Models and data sets by themselves."""

import numpy as np

from neuralforecast.losses.numpy import mae, mape, rmse, smape
from neuralforecast.losses.pytorch import MAE, MQLoss
from neuralforecast.models import LSTM, MLP, NHITS, TSMixer
from neuralforecast.tsdataset import TimeSeriesDataset
from neuralforecast.utils import AirPassengersDF, AirPassengersPanel, AirPassengersStatic

train = AirPassengersDF[AirPassengersDF.ds <= "1959-12-31"]
dataset, indices, dates, ds = TimeSeriesDataset.from_df(train)
show("dataset", dataset.n_groups, dataset.max_size, dataset.min_size, list(dataset.temporal_cols), list(dataset.indptr))
show("indices", list(indices), list(dates), len(ds), type(ds).__name__)
model = NHITS(h=12, input_size=24, max_steps=3)
show("before", lambda: MLP(h=12, input_size=24, max_steps=2).predict(dataset=dataset))
model.fit(dataset=dataset)
forecast = model.predict(dataset=dataset)
show("forecast", forecast.shape, forecast.dtype, type(forecast).__name__)
quantiles = MLP(h=12, input_size=24, hidden_size=8, max_steps=2, loss=MQLoss(level=[80]))
quantiles.fit(dataset, val_size=12)
show("quantiles", quantiles.predict(dataset).shape)
several, *_ = TimeSeriesDataset.from_df(AirPassengersPanel[["unique_id", "ds", "y", "trend"]], static_df=AirPassengersStatic)
show("several", several.n_groups, list(several.temporal_cols), list(several.static_cols), tuple(several.static.shape))
model.fit(several, test_size=24)
show("test", model.predict(several, step_size=12).shape)
show("test, each step", model.predict(several, step_size=1).shape)
mixer = TSMixer(h=12, input_size=24, n_series=2, ff_dim=4, max_steps=2)
mixer.fit(several)
show("multivariate", mixer.predict(several).shape)
lstm = LSTM(h=12, input_size=24, encoder_hidden_size=8, decoder_hidden_size=8, max_steps=2)
lstm.fit(several)
show("recurrent", lstm.predict(several).shape)
y, y_hat = np.arange(1.0, 13.0), np.arange(1.0, 13.0) + 1
show("scores", [round(float(score(y, y_hat)), 6) for score in (mae, mape, rmse, smape)])
show("loss", MAE().outputsize_multiplier, MAE().output_names, repr(MAE()), repr(MQLoss(level=[80])))
show("repr", repr(model), repr(NHITS(h=12, input_size=24, alias="mine")))
show("hparams", model.hparams["max_steps"], model.hparams.h, sorted(model.hparams)[:5])
