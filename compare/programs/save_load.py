"""Saving and loading: with and without the data, some of the models, over what is there."""

import tempfile
import os

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MQLoss
from neuralforecast.models import MLP, NHITS, RNN
from neuralforecast.utils import AirPassengersPanel

folder = tempfile.mkdtemp()
models = [
    NHITS(h=12, input_size=24, max_steps=3),
    NHITS(h=12, input_size=36, max_steps=3),
    RNN(h=12, input_size=24, encoder_hidden_size=8, decoder_hidden_size=8, max_steps=2, alias="my_rnn"),
    MLP(h=12, input_size=24, hidden_size=8, max_steps=3, loss=MQLoss(level=[80])),
]
nf = NeuralForecast(models=models, freq="ME", local_scaler_type="robust")
show("not fitted", lambda: nf.save(folder + "/none"))
show("not fitted, forecasts", lambda: nf.predict())
nf.fit(AirPassengersPanel)
before = nf.predict()
show("forecasts", before)
nf.save(folder + "/all", model_index=None, overwrite=False, save_dataset=True)
show("files", sorted(name.split("_")[0] for name in os.listdir(folder + "/all")))
show("again", lambda: nf.save(folder + "/all"))
nf.save(folder + "/all", overwrite=True)
back = NeuralForecast.load(path=folder + "/all")
show("loaded", back.predict())
show("models", [str(model) for model in back.models], back.h, back.freq)
show("same numbers", bool(abs(back.predict()["my_rnn"] - before["my_rnn"]).max() < 1e-3))
nf.save(folder + "/some", model_index=[0, 3], save_dataset=False)
some = NeuralForecast.load(folder + "/some")
show("without data", lambda: some.predict())
show("with data", some.predict(df=AirPassengersPanel))
show("wrong index", lambda: nf.save(folder + "/wrong", model_index=[7]))
show("nothing there", lambda: NeuralForecast.load(folder + "/nothing"))
show("trained on", lambda: back.fit(AirPassengersPanel))
show("afterwards", back.predict())
