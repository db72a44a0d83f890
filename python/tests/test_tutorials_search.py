"""What neuralforecast's tutorial of hyper-parameters does, with the import changed."""

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast, tune
from foretell.auto import AutoMLP, AutoNHITS, AutoTSMixer
from foretell.losses.pytorch import MAE, MQLoss
from foretell.models import MLP, SeasonalNaive
from foretell.utils import AirPassengersDF, AirPassengersPanel

H = 12


def space(**more):
    """A small space, one of whose rates learns nothing."""
    return {
        "input_size": tune.choice([12, 24]), "hidden_size": 8, "max_steps": 40, "learning_rate": tune.choice([1e-7, 1e-2]),
        "scaler_type": "standard", "enable_progress_bar": False, **more,
    }  # fmt: skip


def test_the_best_of_several_configurations_forecasts():
    model = AutoMLP(h=H, config=space(), num_samples=6)
    nf = NeuralForecast([model, SeasonalNaive(h=H, season_length=12)], freq="ME")
    nf.fit(AirPassengersDF, val_size=H)
    assert list(nf.predict().columns) == ["unique_id", "ds", "AutoMLP", "SeasonalNaive"]
    found = nf.models[0]
    assert len(found.results) == 6 and found.results.best_params["learning_rate"] == 1e-2
    assert isinstance(found.model, MLP) and found.model.learning_rate == 1e-2
    losses = found.results.get_dataframe()["loss"]
    assert losses.notna().all() and losses.min() == found.results.best_value
    # The configuration by itself, trained on the same rows, forecasts the same.
    best = {name: value for name, value in found.results.best_params.items() if name != "enable_progress_bar"}
    alone = NeuralForecast([MLP(h=H, **best), SeasonalNaive(h=H, season_length=12)], freq="ME")
    alone.fit(AirPassengersDF, val_size=H)
    np.testing.assert_allclose(nf.predict()["AutoMLP"], alone.predict()["MLP"], rtol=1e-5)


def test_a_function_of_a_trial_and_quantiles():
    def config(trial):
        return space(learning_rate=trial.suggest_float("learning_rate", 1e-3, 1e-2, log=True), input_size=12)

    nf = NeuralForecast([AutoMLP(h=H, config=config, backend="optuna", loss=MQLoss(level=[80]), num_samples=2, alias="tuned")], freq="ME")
    nf.fit(AirPassengersPanel)
    assert sorted(nf.predict().columns[2:]) == ["tuned-hi-80", "tuned-lo-80", "tuned-median"]


def test_cross_validation_searches_before_its_windows():
    # The last year is wild: a search that saw it would prefer the configuration that was made for it.
    nf = NeuralForecast([AutoMLP(h=H, config=space(), num_samples=3, loss=MAE())], freq="ME")
    cv = nf.cross_validation(AirPassengersPanel, n_windows=2, step_size=H)
    before = [trial.value for trial in nf.models[0].results]
    wild = AirPassengersPanel.assign(y=AirPassengersPanel["y"].where(AirPassengersPanel["ds"] < "1959-01-01", 1e4))
    again = NeuralForecast([AutoMLP(h=H, config=space(), num_samples=3, loss=MAE())], freq="ME")
    again.cross_validation(wild, n_windows=2, step_size=H)
    np.testing.assert_allclose([trial.value for trial in again.models[0].results], before, rtol=1e-6)
    assert list(cv.columns) == ["unique_id", "ds", "cutoff", "AutoMLP", "y"] and len(cv) == 2 * 2 * H


def test_early_stopping_is_kept_for_the_last_training():
    config = space(early_stop_patience_steps=2, val_check_steps=5, max_steps=60)
    nf = NeuralForecast([AutoMLP(h=H, config=config, num_samples=2)], freq="ME")
    with pytest.raises(ValueError, match="val_size>0"):
        nf.fit(AirPassengersDF)
    nf.fit(AirPassengersDF, val_size=H)
    assert nf.models[0].refit_with_val and len(nf.predict()) == H


def test_multivariate_models_and_default_spaces(tmp_path):
    config = AutoTSMixer.get_default_config(h=H, backend="ray", n_series=2)
    config.update(max_steps=2, ff_dim=4, n_block=1, input_size=24)
    hits = AutoNHITS.get_default_config(h=H, backend="ray")
    hits.update(max_steps=2, input_size=24, mlp_units=3 * [[8, 8]], windows_batch_size=16)
    nf = NeuralForecast([AutoTSMixer(h=H, n_series=2, config=config, num_samples=1), AutoNHITS(h=H, config=hits, num_samples=1)], freq="ME")
    nf.fit(AirPassengersPanel)
    forecasts = nf.predict()
    nf.save(tmp_path / "tuned")
    loaded = NeuralForecast.load(tmp_path / "tuned")
    assert sorted(map(repr, loaded.models)) == ["AutoNHITS", "AutoTSMixer"]
    pd.testing.assert_frame_equal(loaded.predict(df=AirPassengersPanel)[forecasts.columns], nf.predict(df=AirPassengersPanel))
