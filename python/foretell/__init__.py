"""Forecasts of many time series by neural and classical models, with the interface of neuralforecast.

    >>> from foretell import NeuralForecast
    >>> from foretell.models import NHITS
    >>> from foretell.utils import AirPassengersDF
    >>> nf = NeuralForecast([NHITS(h=12, input_size=24)], freq="ME")
    >>> nf.fit(AirPassengersDF)
    >>> forecast = nf.predict()
"""

from typing import Any

from foretell._foretell import __version__
from foretell._registering import register_loss, register_lr_scheduler, register_optimizer
from foretell.core import DistributedConfig, NeuralForecast
from foretell.errors import ColumnError
from foretell.evaluation import evaluate
from foretell.forecasting import AutoForecaster, forecast
from foretell.hierarchy import reconcile
from foretell.reporting import report

__all__ = [
    "AutoForecaster",
    "ColumnError",
    "DistributedConfig",
    "NeuralForecast",
    "__version__",
    "evaluate",
    "forecast",
    "reconcile",
    "register_loss",
    "register_lr_scheduler",
    "register_optimizer",
    "report",
]


def __getattr__(name: str) -> Any:
    # Few programs compute features, and all others are faster without the module.
    if name == "features":
        from importlib import import_module

        return import_module("foretell.features")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
