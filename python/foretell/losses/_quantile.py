"""Losses of quantiles: one, several, or whichever is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell.losses._base import Loss, names_of_quantiles, quantiles_of_level, weighted_mean
from foretell.losses._point import BasePointLoss, _arrays, huber

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class QuantileLoss(BasePointLoss):
    """The pinball loss of one quantile, ``max(q (y - ŷ), (q - 1) (y - ŷ))`` (Koenker and Bassett 1978).

    Args:
        q: The quantile, between 0 and 1.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(self, q: float, horizon_weight: Sequence[float] | None = None) -> None:
        super().__init__(horizon_weight, 1, [f"_ql{q}"])
        self.q, self.quantiles = q, [q]
        self._record(q=q)

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; steps of mask 0 do not count."""
        import numpy as np

        y, y_hat = _arrays(y, y_hat)
        losses = np.maximum(self.q * (y - y_hat), (self.q - 1) * (y - y_hat))
        return weighted_mean(losses, self._weights(y, mask))


class HuberQLoss(BasePointLoss):
    """Huber's loss of one quantile: errors below count ``q``, those above ``1 - q``.

    Args:
        q: The quantile, between 0 and 1.
        delta: The error where the square becomes a line, above 0.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(self, q: float, delta: float = 1.0, horizon_weight: Sequence[float] | None = None) -> None:
        super().__init__(horizon_weight, 1, [f"_q{q}_d{delta}"])
        self.q, self.delta, self.quantiles = q, delta, [q]
        self._record(q=q, **{} if delta == 1.0 else {"delta": delta})

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat`` for ``y``, both ``[batch, horizon, series]``; steps of mask 0 do not count."""
        import numpy as np

        y, y_hat = _arrays(y, y_hat)
        losses = np.where(y_hat > y, 1 - self.q, self.q) * huber(y_hat - y, self.delta)
        return weighted_mean(losses, self._weights(y, mask))


class _Quantiles(BasePointLoss):
    """A loss of several quantiles, given by the levels of central intervals or by themselves."""

    def __init__(
        self, level: Sequence[float], quantiles: Sequence[float] | None, horizon_weight: Sequence[float] | None
    ) -> None:
        found, names = quantiles_of_level(level) if quantiles is None else names_of_quantiles(quantiles)
        super().__init__(horizon_weight, len(found), names)
        self.quantiles = found
        self.level = list(level) if quantiles is None else None

    def _given(self) -> dict[str, Any]:
        """The argument by which the quantiles were given, unless it is the default."""
        if self.level is None:
            return {"quantiles": self.quantiles}
        return {} if self.level == [80, 90] else {"level": self.level}

    def _of_errors(self, errors: NDArray[Any]) -> NDArray[Any]:
        """The loss of ``ŷ - y``, whose last axis are the quantiles."""
        raise NotImplementedError

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The loss of ``y_hat``, ``[batch, horizon, series, quantiles]`` (or without series), for ``y``, ``[batch, horizon,
        series]``: the sum over the quantiles, the mean over all else."""
        import numpy as np

        y, y_hat = _arrays(y, y_hat)
        if y_hat.ndim == 3 and y_hat.shape[-1] == len(self.quantiles) and y.shape[-1] == 1:
            y_hat = y_hat[:, :, None, :]
        losses = self._of_errors(y_hat - np.expand_dims(y, -1)).sum(axis=-1)
        return weighted_mean(losses, self._weights(y, mask))


class MQLoss(_Quantiles):
    """The pinball losses of several quantiles, added up.

    Args:
        level: The percentages of central intervals; the median comes with them.
        quantiles: The quantiles themselves, instead of ``level``.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(
        self,
        level: Sequence[float] = [80, 90],
        quantiles: Sequence[float] | None = None,
        horizon_weight: Sequence[float] | None = None,
    ) -> None:
        super().__init__(level, quantiles, horizon_weight)
        self._record(**self._given())

    def _of_errors(self, errors: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        q = np.asarray(self.quantiles)
        losses: NDArray[Any] = np.maximum(-q * errors, (1 - q) * errors)
        return losses


class HuberMQLoss(_Quantiles):
    """Huber's losses of several quantiles, added up.

    Args:
        level: The percentages of central intervals; the median comes with them.
        quantiles: The quantiles themselves, instead of ``level``.
        delta: The weighted error where the square becomes a line, above 0.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(
        self,
        level: Sequence[float] = [80, 90],
        quantiles: Sequence[float] | None = None,
        delta: float = 1.0,
        horizon_weight: Sequence[float] | None = None,
    ) -> None:
        super().__init__(level, quantiles, horizon_weight)
        self.delta = delta
        self._record(**self._given(), **{} if delta == 1.0 else {"delta": delta})

    def _of_errors(self, errors: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        q = np.asarray(self.quantiles)
        return huber(np.where(errors > 0, 1 - q, q) * errors, self.delta)


class sCRPS(_Quantiles):
    """The pinball losses of several quantiles as a share of the values' size (Rangapuram et al. 2021). It validates and does not
    train.

    Args:
        level: The percentages of central intervals; the median comes with them.
        quantiles: The quantiles themselves, instead of ``level``.
    """

    def __init__(self, level: Sequence[float] = [80, 90], quantiles: Sequence[float] | None = None) -> None:
        super().__init__(level, quantiles, None)
        # neuralforecast leaves both open: the loss is not one that a model has outputs for.
        self.outputsize_multiplier = self.output_names = None
        self._record(**self._given())

    def __call__(
        self, y: ArrayLike, y_hat: ArrayLike, y_insample: ArrayLike | None = None, mask: ArrayLike | None = None
    ) -> float:
        """The score of ``y_hat``, ``[batch, horizon, series, quantiles]``, for ``y``, ``[batch, horizon, series]``."""
        values, known = _arrays(y, 1.0 if mask is None else mask)
        mqloss = MQLoss(quantiles=self.quantiles)(y, y_hat, mask=mask)
        known = known * (values == values)
        return float(2 * mqloss * known.sum() / (abs(values * known).sum() + 1e-5))


class _Implicit(Loss):
    """What both implicit quantile losses have: the embedding of the quantile and the distribution that it is drawn from."""

    def __init__(
        self, cos_embedding_dim: int, concentration0: float, concentration1: float, horizon_weight: Sequence[float] | None
    ) -> None:
        super().__init__(horizon_weight, 1, ["_ql0.5"])
        self.q, self.quantiles = 0.5, [0.5]
        self.cos_embedding_dim = cos_embedding_dim
        self.concentration0, self.concentration1 = concentration0, concentration1

    def update_quantile(self, q: Sequence[float] = (0.5,)) -> None:
        """Sets the quantile that forecasts are of, the first of ``q``."""
        self.q, self.quantiles = q[0], [q[0]]
        self.output_names = [f"_ql{q[0]}"]

    def _given(self) -> dict[str, Any]:
        defaults = {"cos_embedding_dim": 64, "concentration0": 1.0, "concentration1": 1.0}
        return {name: getattr(self, name) for name, default in defaults.items() if getattr(self, name) != default}


class IQLoss(_Implicit):
    """The pinball loss of quantiles that are drawn anew for each step of training, and given to the model (Gouttes et al. 2021). Any
    quantile can be forecast afterwards.

    Args:
        cos_embedding_dim: The cosines that a quantile is told by.
        concentration0: The first parameter of the beta distribution that quantiles are drawn from.
        concentration1: Its second.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(
        self,
        cos_embedding_dim: int = 64,
        concentration0: float = 1.0,
        concentration1: float = 1.0,
        horizon_weight: Sequence[float] | None = None,
    ) -> None:
        super().__init__(cos_embedding_dim, concentration0, concentration1, horizon_weight)
        self._record(**self._given())


class HuberIQLoss(_Implicit):
    """Huber's loss of quantiles that are drawn anew for each step of training, and given to the model.

    Args:
        cos_embedding_dim: The cosines that a quantile is told by.
        concentration0: The first parameter of the beta distribution that quantiles are drawn from.
        concentration1: Its second.
        delta: The error where the square becomes a line, above 0.
        horizon_weight: The weight of each step, ``h`` numbers of at least 0; None for equal ones.
    """

    def __init__(
        self,
        cos_embedding_dim: int = 64,
        concentration0: float = 1.0,
        concentration1: float = 1.0,
        delta: float = 1.0,
        horizon_weight: Sequence[float] | None = None,
    ) -> None:
        super().__init__(cos_embedding_dim, concentration0, concentration1, horizon_weight)
        self.output_names = [f"_q0.5_d{delta}"]
        self.delta = delta
        self._record(**self._given(), **{} if delta == 1.0 else {"delta": delta})


class QuantileLayer:
    """neuralforecast's layer of PyTorch that tells a model the quantile of `IQLoss`. The engine has it within the model, trains it and saves
    it with the model under neuralforecast's names; so there is none to build.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self, num_output: int, cos_embedding_dim: int = 128) -> None:
        raise NotImplementedError(
            f"a layer of PyTorch cannot be used here: models with IQLoss(cos_embedding_dim={cos_embedding_dim}) or HuberIQLoss have it"
        )
