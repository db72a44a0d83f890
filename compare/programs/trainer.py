"""Arguments of the trainer, optimisers, schedules, seeds and several models of one class."""

import torch

from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import MAE, MSE, SMAPE, HuberLoss
from neuralforecast.models import LSTM, DLinear, NBEATS, NHITS, NLinear, TiDE
from neuralforecast.utils import AirPassengersPanel

df = AirPassengersPanel
trainer = dict(accelerator="cpu", devices=1, enable_progress_bar=False, logger=False, enable_checkpointing=False, enable_model_summary=False)
models = [
    NHITS(h=12, input_size=24, max_steps=3, loss=HuberLoss(delta=0.5), valid_loss=MSE(), optimizer=torch.optim.AdamW, optimizer_kwargs={"weight_decay": 0.01}, **trainer),
    NBEATS(h=12, input_size=36, max_steps=3, num_lr_decays=-1, lr_scheduler=torch.optim.lr_scheduler.StepLR, lr_scheduler_kwargs={"step_size": 2}, **trainer),
    NLinear(h=12, input_size=24, max_steps=3, loss=SMAPE(), gradient_clip_val=1.0, **trainer),
    NLinear(h=12, input_size=12, max_steps=3, random_seed=7, **trainer),
    DLinear(h=12, input_size=24, max_steps=3, start_padding_enabled=True, windows_batch_size=64, batch_size=2, **trainer),
    TiDE(h=12, input_size=24, max_steps=3, hidden_size=8, temporal_decoder_dim=8, step_size=2, drop_last_loader=True, dataloader_kwargs={"num_workers": 0}, **trainer),
]
nf = NeuralForecast(models=models, freq="ME")
nf.fit(df, val_size=12)
show("forecasts", nf.predict())
show("names", [str(model) for model in nf.models])
show("metrics", sorted(nf.models[0].metrics), float(nf.models[0].metrics["train_loss"]) > 0)
show("cross-validation", nf.cross_validation(df, n_windows=2, step_size=6, val_size=12))
show("horizons", lambda: NeuralForecast(models=[NHITS(h=12, input_size=24), NLinear(h=6, input_size=24)], freq="ME"))
show("max_epochs", lambda: NHITS(h=12, input_size=24, max_epochs=3))
show("no horizon", lambda: NHITS(input_size=24))
show("unknown", lambda: NHITS(h=12, input_size=24, hidden_layers=3).h)
show("exogenous", lambda: DLinear(h=12, input_size=24, futr_exog_list=["trend"]))
show("unknown column", lambda: NeuralForecast(models=[NHITS(h=12, input_size=24, hist_exog_list=["nothing"], max_steps=2)], freq="ME").fit(df))
show("further ahead", nf.predict(h=24))
show("not as far", lambda: nf.predict(h=6))
show("seed", NHITS(h=12, input_size=24).random_seed, NHITS(h=12, input_size=24).max_steps, LSTM(h=12, input_size=-1).input_size)
show("zero horizon", lambda: NHITS(h=0, input_size=24))
show("no models", lambda: NeuralForecast(models=[], freq="ME"))
show("loss of a class", lambda: NHITS(h=12, input_size=24, loss=MAE))
