"""Helpers under the names of neuralforecast's ``utils``: example data, calendar columns, intervals and sample paths.

``AirPassengers``, ``AirPassengersDF``, ``AirPassengersPanel`` and ``AirPassengersStatic`` are made when they are first asked for: numpy and
pandas are imported then and not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from foretell import _airline
from foretell._calendar import (
    DayOfMonth,
    DayOfWeek,
    DayOfYear,
    HourOfDay,
    MinuteOfHour,
    MonthOfYear,
    SecondOfMinute,
    TimeFeature,
    WeekOfYear,
    augment_calendar_df,
    time_features_from_frequency_str,
)
from foretell._generate import generate_series
from foretell._intervals import (
    PredictionIntervals,
    add_conformal_distribution_intervals,
    add_conformal_error_intervals,
    get_prediction_interval_method,
    level_to_quantiles,
    quantiles_to_level,
)
from foretell._simulation import (
    DEFAULT_QUANTILE_GRID,
    VALID_SIMULATION_METHODS,
    estimate_ar1_rho,
    extract_y_hist,
    gaussian_copula_sample,
    interp_2d,
    sample_from_quantiles,
    schaake_shuffle_sample,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    AirPassengers: NDArray[Any]
    AirPassengersDF: pd.DataFrame
    AirPassengersPanel: pd.DataFrame
    AirPassengersStatic: pd.DataFrame
    snaive: pd.Series[Any]

__all__ = [
    "DEFAULT_QUANTILE_GRID",
    "VALID_SIMULATION_METHODS",
    "AirPassengers",
    "AirPassengersDF",
    "AirPassengersPanel",
    "AirPassengersStatic",
    "DayOfMonth",
    "DayOfWeek",
    "DayOfYear",
    "HourOfDay",
    "MinuteOfHour",
    "MonthOfYear",
    "PredictionIntervals",
    "SecondOfMinute",
    "TimeFeature",
    "WeekOfYear",
    "add_conformal_distribution_intervals",
    "add_conformal_error_intervals",
    "airline1_dummy",
    "airline2_dummy",
    "augment_calendar_df",
    "estimate_ar1_rho",
    "extract_y_hist",
    "gaussian_copula_sample",
    "generate_series",
    "get_indexer_raise_missing",
    "get_prediction_interval_method",
    "interp_2d",
    "level_to_quantiles",
    "quantiles_to_level",
    "sample_from_quantiles",
    "schaake_shuffle_sample",
    "snaive",
    "time_features_from_frequency_str",
]

airline1_dummy = [0, 1]
airline2_dummy = [1, 0]

_MADE: dict[str, Callable[[], Any]] = {
    "AirPassengers": _airline.passengers,
    "AirPassengersDF": _airline.frame,
    "AirPassengersPanel": _airline.panel,
    "AirPassengersStatic": _airline.static,
    "snaive": lambda: _airline.panel().groupby("unique_id")["y"].shift(12),
}


def __getattr__(name: str) -> Any:
    if name not in _MADE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = _MADE[name]()
    return value


def get_indexer_raise_missing(idx: pd.Index[Any], vals: list[str]) -> NDArray[Any]:
    """The positions of values in an index.

    Raises:
        ValueError: If some are not there; the error names them.
    """
    positions: NDArray[Any] = idx.get_indexer(vals)
    missing = [value for value, position in zip(vals, positions, strict=True) if position == -1]
    if missing:
        raise ValueError(f"The following values are missing from the index: {missing}")
    return positions
