"""Losses of a single forecast: errors, absolute, squared, relative or robust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell.losses._base import Loss, divided, weighted_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class BasePointLoss(Loss):
    """A loss that compares one number with another, step by step."""


class _OneOutput(BasePointLoss):
    """A loss whose model gives one number for each step, the forecast itself."""

    def __init__(self, horizon_weight: Sequence[float] | None = None) -> None:
        super().__init__(horizon_weight, 1, [""])
        self._record()


def _arrays(*values: ArrayLike) -> tuple[NDArray[Any], ...]:
    import numpy as np

    return tuple(np.asarray(value, float) for value in values)


class MAE(_OneOutput):
    """The mean of absolute errors.

    Args:
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, mask: ArrayLike | None = None, y_insample: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; steps of mask 0 do not count."""
        y, y_hat = _arrays(y, y_hat)
        return weighted_mean(abs(y - y_hat), self._weights(y, mask))


class MSE(_OneOutput):
    """The mean of squared errors.

    Args:
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; steps of mask 0 do not count."""
        y, y_hat = _arrays(y, y_hat)
        return weighted_mean((y - y_hat) ** 2, self._weights(y, mask))


class RMSE(_OneOutput):
    """The root of the mean of squared errors.

    Args:
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, mask: ArrayLike | None = None, y_insample: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; steps of mask 0 do not count."""
        y, y_hat = _arrays(y, y_hat)
        return math.sqrt(weighted_mean((y - y_hat) ** 2, self._weights(y, mask)))


class MAPE(_OneOutput):
    """The mean of absolute errors as shares of the true value; where that is 0 the error counts as 0.

    Args:
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; 0.1 is 10 %."""
        y, y_hat = _arrays(y, y_hat)
        return weighted_mean(divided(abs(y - y_hat), abs(y)), self._weights(y, mask))


class SMAPE(_OneOutput):
    """Twice the mean of absolute errors as shares of ``|y| + |y_hat|``, so from 0 to 2.

    Args:
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, mask: ArrayLike | None = None, y_insample: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; steps of mask 0 do not count."""
        y, y_hat = _arrays(y, y_hat)
        return 2 * weighted_mean(divided(abs(y - y_hat), abs(y) + abs(y_hat)), self._weights(y, mask))


class MASE(BasePointLoss):
    """The mean of absolute errors in units of the seasonal naive forecast's error in the window's history (Hyndman and Koehler 2006).

    Args:
        seasonality: The steps of a season, less than the model's ``input_size``.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(self, seasonality: int, horizon_weight: Sequence[float] | None = None) -> None:
        super().__init__(horizon_weight, 1, [""])
        self.seasonality = seasonality
        self._record(seasonality=seasonality)

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``, after the history ``y_insample``, ``[batch, steps]``
        of one series or ``[batch, steps, series]``."""
        import numpy as np

        y, y_hat, insample = _arrays(y, y_hat, y_insample)
        scale = abs(insample[:, self.seasonality :] - insample[:, : -self.seasonality]).mean(axis=1, keepdims=True)
        scale = scale.reshape(scale.shape + (1,) * (y.ndim - scale.ndim))
        return weighted_mean(divided(abs(y - y_hat), np.broadcast_to(scale, y.shape)), self._weights(y, mask))


class relMSE(BasePointLoss):
    """The squared error as a share of the naive forecast's. In training the naive forecast is a window's last known value.

    Args:
        y_train: Not used; it is accepted because neuralforecast has it.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(self, y_train: None = None, horizon_weight: Sequence[float] | None = None) -> None:
        super().__init__(horizon_weight, 1, [""])
        if y_train is not None:
            raise ValueError("relMSE has no use for y_train: leave it out")
        self._record()

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_benchmark: ArrayLike, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y`` in units of that of ``y_benchmark``, all ``[batch, horizon, series]``."""
        y, y_hat, y_benchmark = _arrays(y, y_hat, y_benchmark)
        weights = self._weights(y, mask)
        return weighted_mean((y - y_hat) ** 2, weights) / (weighted_mean((y - y_benchmark) ** 2, weights) + 1e-5)


class FreDF(BasePointLoss):
    """The squared error, and the absolute error of the Fourier transform over the horizon.

    Args:
        alpha: The share of the transform's error, from 0 to 1.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(self, alpha: float = 0.5, horizon_weight: Sequence[float] | None = None) -> None:
        super().__init__(horizon_weight, 1, [""])
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha must be from 0 to 1; found {alpha}")
        self.alpha = alpha
        self._record(**{} if alpha == 0.5 else {"alpha": alpha})

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, mask: ArrayLike | None = None, y_insample: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; errors of steps of mask 0 count as 0."""
        import numpy as np

        y, y_hat = _arrays(y, y_hat)
        weights = self._weights(y, mask)
        errors = np.where(weights != 0, y - y_hat, 0.0)
        frequencies = float(abs(np.fft.rfft(errors, axis=1)).mean())
        return (1 - self.alpha) * weighted_mean(errors**2, weights) + self.alpha * frequencies


def huber(errors: NDArray[Any], delta: float) -> NDArray[Any]:
    """``e² / 2`` up to ``delta``, beyond it ``delta (|e| - delta / 2)`` (Huber 1964)."""
    import numpy as np

    size = abs(errors)
    return np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))


class HuberLoss(BasePointLoss):
    """Half the squared error up to ``delta``, beyond it the absolute error (Huber 1964).

    Args:
        delta: The error where one becomes the other, above 0.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(self, delta: float = 1.0, horizon_weight: Sequence[float] | None = None) -> None:
        super().__init__(horizon_weight, 1, [""])
        self.delta = delta
        self._record(**{} if delta == 1.0 else {"delta": delta})

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; steps of mask 0 do not count."""
        y, y_hat = _arrays(y, y_hat)
        return weighted_mean(huber(y - y_hat, self.delta), self._weights(y, mask))


class TukeyLoss(BasePointLoss):
    """Tukey's biweight, ``c²/6 (1 - (1 - (r/c)²)³)``, in which all errors beyond ``c`` count alike.

    neuralforecast's formula is largest where the forecast is right; docs/differences.md has the details.

    Args:
        c: The residual beyond which all count alike, above 0.
        normalize: Whether residuals are divided by the deviation of the window's history plus 0.01.
    """

    def __init__(self, c: float = 4.685, normalize: bool = True) -> None:
        super().__init__(None, 1, [""])
        self.c, self.normalize = c, normalize
        self._record(**({} if c == 4.685 else {"c": c}), **({} if normalize else {"normalize": False}))

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; with ``normalize`` after the history ``y_insample``,
        ``[batch, steps]`` or ``[batch, steps, series]``."""
        import numpy as np

        y, y_hat = _arrays(y, y_hat)
        residuals = abs(y - y_hat)
        if self.normalize:
            if y_insample is None:
                raise ValueError("TukeyLoss(normalize=True) divides by the deviation of the history: give y_insample")
            deviation = np.asarray(y_insample, float).std(axis=1, keepdims=True) + 0.01
            residuals = residuals / deviation.reshape(deviation.shape + (1,) * (y.ndim - deviation.ndim))
        inside = 1 - (1 - np.minimum(residuals / self.c, 1.0) ** 2) ** 3
        return weighted_mean(self.c**2 / 6 * inside, self._weights(y, mask))


class Accuracy(BasePointLoss):
    """Whether the forecast is the value. It validates and does not train; more is better."""

    def __init__(self) -> None:
        super().__init__(None, 1, None)

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The share of steps of ``[batch, horizon, series]`` whose forecast is the value."""
        y, y_hat = _arrays(y, y_hat)
        return weighted_mean((y == y_hat).astype(float), self._weights(y, mask))
