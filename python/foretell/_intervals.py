"""Conformal prediction intervals, levels and quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("conformal_distribution", "conformal_error")


class PredictionIntervals:
    """How conformal intervals are calibrated: by errors of forecasts of the last windows, made by models that are trained without them.

    Args:
        n_windows: The number of windows, at least 2.
        method: "conformal_distribution": quantiles of the forecast plus and minus the errors; "conformal_error": the forecast plus and
            minus quantiles of the errors.
        step_size: Steps from one window to the next.
    """

    def __init__(self, n_windows: int = 2, method: str = "conformal_distribution", step_size: int = 1) -> None:
        for name, value in [("n_windows", n_windows), ("step_size", step_size)]:
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise ValueError(f"{name} must be a whole number; found {value!r}")
        if n_windows < 2:
            raise ValueError(f"conformal intervals need at least two windows; found n_windows={n_windows}")
        if method not in METHODS:
            raise ValueError(f"method must be one of {list(METHODS)}; found {method!r}")
        if step_size < 1:
            raise ValueError(f"step_size must be at least 1; found {step_size}")
        self.n_windows, self.method, self.step_size = int(n_windows), method, int(step_size)

    def __repr__(self) -> str:
        return f"PredictionIntervals(n_windows={self.n_windows}, method='{self.method}', step_size={self.step_size})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PredictionIntervals) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(self))


def level_to_quantiles(level: Sequence[float]) -> list[float]:
    """The ends of central intervals of these percentages as quantiles, upwards: 80 gives 0.1 and 0.9."""
    return sorted({q for percent in level for q in ((50 - percent / 2) / 100, (50 + percent / 2) / 100)})


def quantiles_to_level(quantiles: Sequence[float]) -> list[int | float]:
    """The percentages of the central intervals that quantiles end, upwards: 0.1 and 0.9 give 80."""
    return sorted({int(round(100 - 200 * (q if q < 0.5 else 1 - q), 2)) for q in quantiles})


def _cuts(model: str, level: Sequence[float] | None, quantiles: Sequence[float] | None) -> tuple[list[float], list[str]]:
    """The quantiles of lower bounds downwards from the last level, then of upper ones, with their columns."""
    if quantiles is not None:
        return list(quantiles), [f"{model}-ql{q}" for q in quantiles]
    if level is None:
        raise ValueError("give either level or quantiles")
    lower = [((100 - x) / 200, f"{model}-lo-{x}") for x in reversed(level)]
    upper = [(1 - (100 - x) / 200, f"{model}-hi-{x}") for x in level]
    pairs = lower + upper
    return [q for q, _ in pairs], [name for _, name in pairs]


def _scores(cs_df: Any, model: str, n_series: int, n_windows: int, horizon: int) -> NDArray[Any]:
    """The absolute errors of calibration, ``[windows, series, horizon]``."""
    scores: NDArray[Any] = cs_df[model].to_numpy().reshape(n_series, n_windows, horizon).transpose(1, 0, 2)
    return scores


def add_conformal_distribution_intervals(
    model_fcsts: NDArray[Any],
    cs_df: Any,
    model: str,
    cs_n_windows: int,
    n_series: int,
    horizon: int,
    level: Sequence[float] | None = None,
    quantiles: Sequence[float] | None = None,
) -> tuple[NDArray[Any], list[str]]:
    """Forecasts with quantiles of the forecast plus and minus the errors of calibration.

    Args:
        model_fcsts: Forecasts, ``[series * horizon, 1]``.
        cs_df: A frame with a column of absolute errors named as the model, series by series and in each window by window.
        model: The model's column.
        cs_n_windows: Windows of calibration.
        n_series: The number of series.
        horizon: Steps of a forecast.
        level: Percentages of central intervals.
        quantiles: Quantiles, instead of ``level``.

    Returns:
        The forecasts with a column for each bound, and the names of these columns.
    """
    import numpy as np

    cuts, names = _cuts(model, level, quantiles)
    errors = _scores(cs_df, model, n_series, cs_n_windows, horizon)
    mean = model_fcsts.reshape(1, n_series, -1)
    bounds = np.quantile(np.concatenate([mean - errors, mean + errors]), cuts, axis=0).reshape(len(cuts), -1).T
    return np.hstack([model_fcsts, bounds]), names


def add_conformal_error_intervals(
    model_fcsts: NDArray[Any],
    cs_df: Any,
    model: str,
    cs_n_windows: int,
    n_series: int,
    horizon: int,
    level: Sequence[float] | None = None,
    quantiles: Sequence[float] | None = None,
) -> tuple[NDArray[Any], list[str]]:
    """Forecasts plus and minus quantiles of the errors of calibration; arguments and result as of
    :func:`add_conformal_distribution_intervals`."""
    import numpy as np

    cuts, names = _cuts(model, level, quantiles)
    errors = np.quantile(_scores(cs_df, model, n_series, cs_n_windows, horizon), cuts, axis=0).reshape(len(cuts), -1)
    mean = model_fcsts.ravel()
    bounds = [mean - errors[-1 - i] if q < 0.5 else mean + errors[i] * (q > 0.5) for i, q in enumerate(cuts)]
    return np.hstack([model_fcsts, np.stack(bounds, axis=1)]), names


def get_prediction_interval_method(method: str) -> Callable[..., tuple[NDArray[Any], list[str]]]:
    """The function that computes intervals by this method.

    Raises:
        ValueError: If there is no such method.
    """
    functions = dict(zip(METHODS, (add_conformal_distribution_intervals, add_conformal_error_intervals), strict=True))
    if method not in functions:
        raise ValueError(f"prediction intervals method {method} not supported: expected one of {', '.join(METHODS)}")
    return functions[method]
