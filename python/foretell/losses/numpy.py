"""Scores of arrays as functions, as neuralforecast's ``losses.numpy`` has them.

``y`` and ``y_hat`` are arrays of one shape, ``weights`` is None or of that shape, and ``axis`` is what the mean is taken over: None
for everything. NaN errors do not count in ``mae``, ``mse``, ``rmse`` and ``quantile_loss``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["mae", "mse", "rmse", "mape", "smape", "mase", "rmae", "quantile_loss", "mqloss"]


def _check(y: NDArray[Any], weights: NDArray[Any] | None) -> None:
    if weights is None:
        return
    if weights.shape != y.shape:
        raise ValueError(f"weights have the shape {weights.shape}, y has {y.shape}: give one weight a value")
    if not weights.sum() > 0:
        raise ValueError("the weights add up to 0: at least one must be above it")


def _known_mean(losses: NDArray[Any], weights: NDArray[Any] | None, axis: int | None) -> Any:
    """The mean of what is not NaN."""
    import numpy as np

    if weights is None:
        return np.nanmean(losses, axis=axis)
    known = ~np.isnan(losses)
    return np.average(losses[known], weights=weights[known], axis=axis)


def _shares(errors: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    return np.where(scale == 0, 0.0, errors / np.where(scale == 0, 1.0, scale))


def mae(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None = None, axis: int | None = None) -> Any:
    """The mean of absolute errors."""
    _check(y, weights)
    return _known_mean(abs(y - y_hat), weights, axis)


def mse(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None = None, axis: int | None = None) -> Any:
    """The mean of squared errors."""
    _check(y, weights)
    return _known_mean((y - y_hat) ** 2, weights, axis)


def rmse(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None = None, axis: int | None = None) -> Any:
    """The root of the mean of squared errors."""
    return mse(y, y_hat, weights, axis) ** 0.5


def mape(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None = None, axis: int | None = None) -> Any:
    """The mean of absolute errors as shares of ``|y|``; where that is 0 the error counts as 0. 0.1 is 10 %."""
    import numpy as np

    _check(y, weights)
    return np.average(_shares(abs(y - y_hat), abs(y)), weights=weights, axis=axis)


def smape(y: NDArray[Any], y_hat: NDArray[Any], weights: NDArray[Any] | None = None, axis: int | None = None) -> Any:
    """Twice the mean of absolute errors as shares of ``|y| + |y_hat|``, from 0 to 2."""
    import numpy as np

    _check(y, weights)
    return 2 * np.average(_shares(abs(y - y_hat), abs(y) + abs(y_hat)), weights=weights, axis=axis)


def mase(
    y: NDArray[Any],
    y_hat: NDArray[Any],
    y_train: NDArray[Any],
    seasonality: int,
    weights: NDArray[Any] | None = None,
    axis: int | None = None,
) -> Any:
    """The mean of absolute errors in units of the seasonal naive forecast's error in ``y_train`` (Hyndman and Koehler 2006).

    Args:
        y: The values.
        y_hat: Their forecasts.
        y_train: The history; steps are its first axis.
        seasonality: The steps of a season.
        weights: What each error counts.
        axis: What the means are taken over.
    """
    import numpy as np

    errors = np.average(abs(y - y_hat), weights=weights, axis=axis)
    return errors / np.average(abs(y_train[:-seasonality] - y_train[seasonality:]), axis=axis)


def rmae(
    y: NDArray[Any],
    y_hat1: NDArray[Any],
    y_hat2: NDArray[Any],
    weights: NDArray[Any] | None = None,
    axis: int | None = None,
) -> Any:
    """The absolute error of the forecast ``y_hat1`` in units of that of ``y_hat2``."""
    return mae(y, y_hat1, weights, axis) / mae(y, y_hat2, weights, axis)


def quantile_loss(
    y: NDArray[Any],
    y_hat: NDArray[Any],
    q: float = 0.5,
    weights: NDArray[Any] | None = None,
    axis: int | None = None,
) -> Any:
    """The mean pinball loss of the quantile ``q`` (Koenker and Bassett 1978)."""
    import numpy as np

    _check(y, weights)
    return _known_mean(np.maximum(q * (y - y_hat), (q - 1) * (y - y_hat)), weights, axis)


def mqloss(
    y: NDArray[Any],
    y_hat: NDArray[Any],
    quantiles: NDArray[Any],
    weights: NDArray[Any] | None = None,
    axis: int | None = None,
) -> Any:
    """The mean pinball loss of several quantiles, which are the last axis of ``y_hat``."""
    import numpy as np

    _check(y, weights)
    q = np.asarray(quantiles)
    errors = y_hat - np.expand_dims(y, -1)
    losses = np.maximum(-q * errors, (1 - q) * errors)
    repeated = None if weights is None else np.repeat(np.expand_dims(weights, -1), len(q), axis=-1)
    return np.average(losses, weights=repeated, axis=axis)
