"""Searches for hyper-parameters, by functions of trials."""

from neuralforecast import NeuralForecast
from neuralforecast.auto import AutoLSTM, AutoMLP, AutoNHITS
from neuralforecast.losses.pytorch import MAE, MQLoss
from neuralforecast.utils import AirPassengersDF

TRAINER = dict(accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False)


def config_nhits(trial):
    return {
        "max_steps": 3,
        "input_size": trial.suggest_categorical("input_size", (24, 36)),
        "learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
        "scaler_type": trial.suggest_categorical("scaler_type", ["robust", "standard"]),
        **TRAINER,
    }


def config_mlp(trial):
    return {"max_steps": 3, "input_size": 24, "hidden_size": trial.suggest_int("hidden_size", 8, 16, step=8), **TRAINER}


models = [
    AutoNHITS(h=12, loss=MAE(), config=config_nhits, backend="optuna", num_samples=2),
    AutoMLP(h=12, loss=MQLoss(level=[80]), config=config_mlp, backend="optuna", num_samples=2, alias="tuned"),
]
nf = NeuralForecast(models=models, freq="ME")
nf.fit(df=AirPassengersDF, val_size=24)
show("forecasts", nf.predict())
results = nf.models[0].results.trials_dataframe()
show("trials", len(results), [name for name in results.columns if name in ("number", "value", "params_input_size", "params_learning_rate", "state")])
show("best", sorted(nf.models[0].results.best_trial.params))
show("cross-validation", nf.cross_validation(AirPassengersDF, n_windows=2, val_size=12))
show("default space", sorted(AutoLSTM.get_default_config(h=12, backend="ray")))
show("default optuna", callable(AutoNHITS.get_default_config(h=12, backend="optuna")))
show("no such backend", lambda: AutoNHITS(h=12, backend="grid"))
show("dictionary and optuna", lambda: AutoNHITS(h=12, config={"max_steps": 2}, backend="optuna"))
