"""Transfer learning: trained on some series, forecasting others; further training, and training anew."""

import pandas as pd

from neuralforecast import NeuralForecast
from neuralforecast.models import MLP, NHITS
from neuralforecast.utils import AirPassengersDF, AirPassengersPanel, generate_series

source = generate_series(12, freq="D", min_length=60, max_length=80, seed=1)
stacks = dict(stack_types=3 * ["identity"], n_blocks=3 * [1], mlp_units=[[16, 16]], n_pool_kernel_size=3 * [1], interpolation_mode="nearest")
nf = NeuralForecast(models=[NHITS(h=12, input_size=24, max_steps=5, **stacks), MLP(h=12, input_size=24, hidden_size=8, max_steps=5)], freq="ME")
daily = NeuralForecast(models=nf.models, freq="D")
daily.fit(df=source)
show("source", daily.predict())
nf.fit(df=AirPassengersPanel)
show("target", nf.predict(df=AirPassengersDF))
show("several", nf.predict(df=AirPassengersPanel))
nf.fit(df=AirPassengersPanel)
show("further", nf.predict())
nf.fit(df=AirPassengersPanel, use_init_models=True, val_size=12, verbose=False)
show("anew", nf.predict(verbose=False))
show("validation", nf.models[0].val_size, nf.models[0].test_size)
nf.fit()
show("stored data", nf.predict())
show("short", lambda: nf.predict(df=AirPassengersDF.tail(6)))
show("short training", lambda: nf.fit(df=AirPassengersDF.tail(20)))
show("rows of the future", nf.predict(df=AirPassengersPanel.groupby("unique_id").head(100)))
show("ids of categories", source.dtypes["unique_id"])
with_new = pd.concat([AirPassengersDF.assign(unique_id="new"), AirPassengersDF.assign(unique_id="other")])
show("unsorted", nf.predict(df=with_new.sample(frac=1, random_state=3)))
