"""One series in the manner of scikit-learn."""

import copy

import numpy as np
import pytest

from foretell.auto import AutoMLP
from foretell.estimator import SeriesForecaster
from foretell.losses import MQLoss
from foretell.models import MLP, NLinear, SeasonalNaive
from foretell.tune import choice
from foretell.utils import AirPassengers

SMALL = {"h": 6, "input_size": 12, "max_steps": 30, "hidden_size": 8, "scaler_type": "standard"}


def test_a_series_is_forecast():
    forecaster = SeriesForecaster(SeasonalNaive(h=12, season_length=12))
    assert forecaster.fit(AirPassengers) is forecaster
    np.testing.assert_allclose(forecaster.predict(), AirPassengers[-12:])
    assert forecaster.predict(h=18).shape == (18,)
    assert SeriesForecaster(MLP(**SMALL, loss=MQLoss(level=[80]))).fit(list(AirPassengers)).predict().shape == (6, 3)


def test_what_is_known_ahead_is_read():
    sign = np.where(np.arange(126) % 7 < 3, 1.0, -1.0)
    y, future = 10 + 5 * sign[:120], sign[120:]
    forecaster = SeriesForecaster(MLP(**{**SMALL, "max_steps": 300, "learning_rate": 0.01})).fit(y, X=sign[:120])
    forecasts = forecaster.predict(X=future)
    assert np.abs(forecasts - (10 + 5 * future)).mean() < 2
    assert forecaster.model.hparams.futr_exog_list is None
    with pytest.raises(ValueError, match=r"X must be \[steps, columns\] = \(6, 1\); found \(3, 1\)"):
        forecaster.predict(X=future[:3])
    with pytest.raises(ValueError, match="NLinear reads no future columns"):
        SeriesForecaster(NLinear(h=6, input_size=12)).fit(y, X=sign[:120])


def test_parameters_and_errors():
    forecaster = SeriesForecaster(SeasonalNaive(h=6))
    with pytest.raises(RuntimeError, match=r"call fit\(y\) before"):
        forecaster.predict()
    with pytest.raises(ValueError, match=r"y must be one series, \[steps\]; found the shape \(2, 2\)"):
        forecaster.fit([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="no parameter horizon; it has model"):
        forecaster.set_params(horizon=3)
    other = SeasonalNaive(h=3)
    assert forecaster.set_params(model=other).get_params() == {"model": other}
    twin = copy.deepcopy(forecaster.fit(AirPassengers))
    np.testing.assert_array_equal(twin.predict(), forecaster.predict())


def test_a_search():
    config = {key: value for key, value in SMALL.items() if key != "h"} | {"learning_rate": choice([1e-3, 1e-2])}
    forecaster = SeriesForecaster(AutoMLP(6, config=config, num_samples=2)).fit(AirPassengers)
    assert forecaster.predict().shape == (6,) and len(forecaster.forecaster_.models[0].results) == 2


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base")
    forecaster = SeriesForecaster(SeasonalNaive(h=6)).fit(AirPassengers)
    twin = base.clone(forecaster)
    assert repr(twin.model) == "SeasonalNaive" and not hasattr(twin, "forecaster_")
