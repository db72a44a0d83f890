"""What all losses have: their arguments, their form in a configuration, and weighted means of arrays."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: A loss as a configuration has it: its name, or ``{name: {argument: value}}``.
LossSpec = str | dict[str, dict[str, Any]]


class Loss:
    """A loss by its arguments. The engine computes it; nothing here needs PyTorch.

    Attributes:
        horizon_weight: The weight of each step of the horizon, or None for equal ones.
        outputsize_multiplier: The numbers that a model gives for each step.
        output_names: What the forecast's columns append to the model's name.
        is_distribution_output: Whether the model's outputs are the parameters of a distribution.
        quantiles: The quantiles that are forecast; empty for losses of a single forecast.
    """

    is_distribution_output: ClassVar[bool] = False

    def __init__(
        self,
        horizon_weight: Sequence[float] | None = None,
        outputsize_multiplier: int | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        self.horizon_weight = None if horizon_weight is None else flat_numbers(horizon_weight)
        self.outputsize_multiplier = outputsize_multiplier
        self.output_names = None if output_names is None else list(output_names)
        self.quantiles: list[float] = []
        self._arguments: dict[str, Any] = {}

    def _record(self, **arguments: Any) -> None:
        """Keeps the arguments that the configuration is to have: those with a default only where they differ from it."""
        if self.horizon_weight is not None:
            arguments["horizon_weight"] = self.horizon_weight
        self._arguments = arguments

    def to_spec(self) -> LossSpec:
        """The loss as the engine's configuration takes it: ``"MAE"`` or ``{"HuberLoss": {"delta": 2.0}}``."""
        name = type(self).__name__
        if LOSSES.get(name) is not type(self):
            raise TypeError(
                f"the engine does not know the loss {name}: expected one of {', '.join(LOSSES)}. A loss that is written in Python "
                "cannot train; docs/own-model.md says how to write one in Rust"
            )
        return {name: dict(self._arguments)} if self._arguments else name

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Losses of ours are those of this package; a user's subclass is none that the engine could compute.
        if cls.__module__.startswith(__package__ or "") and not cls.__name__.startswith(("_", "Base")):
            LOSSES[cls.__name__] = cls

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._arguments.items())})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(self))

    def __call__(self, *args: Any, **kwargs: Any) -> float:
        """The loss of arrays; a mean over all values that the mask and the weights of the horizon let count."""
        raise NotImplementedError(
            f"{type(self).__name__} is computed by the engine alone; cross_validation and foretell.losses.numpy score forecasts"
        )

    def _weights(self, like: NDArray[Any], mask: ArrayLike | None) -> NDArray[Any]:
        """What each value of ``[batch, horizon, ...]`` counts: its mask times the weight of its step."""
        import numpy as np

        weights: NDArray[Any] = np.ones(like.shape) if mask is None else np.broadcast_to(np.asarray(mask, float), like.shape)
        if self.horizon_weight is None:
            return weights
        if like.shape[1] != len(self.horizon_weight):
            raise ValueError(
                f"horizon_weight has {len(self.horizon_weight)} weights, the values have {like.shape[1]} steps (axis 1): "
                "give one weight a step"
            )
        weights = weights * np.reshape(self.horizon_weight, (1, -1) + (1,) * (like.ndim - 2))
        return weights


#: All losses by name, in the order of their definition.
LOSSES: dict[str, type[Loss]] = {}


def flat_numbers(values: Any) -> list[float]:
    """A list, array or tensor of numbers as one flat list of them."""
    if hasattr(values, "flatten"):
        values = values.flatten()
    return [float(value) for value in values]


def weighted_mean(losses: NDArray[Any], weights: NDArray[Any]) -> float:
    """The mean by weights; what has none does not count, whatever it is, and without any weight the mean is 0."""
    import numpy as np

    total = float(weights.sum())
    return float((np.where(weights != 0, losses, 0.0) * weights).sum() / total) if total else 0.0


def divided(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """``a / b``, and 0 where ``b`` is 0."""
    import numpy as np

    return np.where(b == 0, 0.0, a / np.where(b == 0, 1.0, b))


def quantiles_of_level(level: Sequence[float]) -> tuple[list[float], list[str]]:
    """The median and the ends of central intervals of these percentages, with the suffixes of their columns."""
    levels = unique(level, "level")
    bounds = [((50 - x / 2) / 100, f"-lo-{x}") for x in levels] + [((50 + x / 2) / 100, f"-hi-{x}") for x in levels]
    bounds.sort(key=lambda bound: bound[0])
    return [0.5] + [q for q, _ in bounds], ["-median"] + [name for _, name in bounds]


def names_of_quantiles(quantiles: Sequence[float]) -> tuple[list[float], list[str]]:
    """Quantiles with the suffixes of their columns, by the level of the central interval that they end."""
    found = unique(quantiles, "quantile")
    return found, [quantile_name(q) for q in found]


def quantile_name(q: float) -> str:
    if q == 0.5:
        return "-median"
    side = "lo" if q < 0.5 else "hi"
    return f"-{side}-{round(100 - 200 * min(q, 1 - q), 2)}"


def unique(values: Sequence[float], what: str) -> list[float]:
    """Each value once, as Python's number, in the order in which they come; a warning tells of those that come twice."""
    plain = [value.item() if hasattr(value, "item") else value for value in values]
    for value in plain:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
            raise ValueError(f"level and quantiles are lists of numbers; found {value!r}")
    found = list(dict.fromkeys(plain))
    if len(found) < len(plain):
        warnings.warn(f"Duplicate {what}s detected: {plain}; each counts once: {found}", stacklevel=5)
    return found


def loss_from_spec(spec: LossSpec) -> Loss:
    """The loss that a configuration names, ``to_spec`` turned round.

    Raises:
        ValueError: If there is no such loss or it has no such argument.
    """
    name, arguments = (spec, {}) if isinstance(spec, str) else next(iter(spec.items()))
    if name not in LOSSES:
        raise ValueError(f"there is no loss {name}: expected one of {', '.join(LOSSES)}")
    try:
        return LOSSES[name](**arguments)
    except TypeError as error:
        raise ValueError(f"the arguments of the loss {name}: {error}") from None


def as_loss(value: Any, argument: str) -> Loss:
    """What a user gave as a loss: a loss of ours, or one as a configuration names it.

    Raises:
        TypeError: If it is something else, such as a module of PyTorch.
    """
    if isinstance(value, Loss):
        value.to_spec()
        return value
    if isinstance(value, str) or isinstance(value, Mapping) and len(value) == 1:
        return loss_from_spec(value if isinstance(value, str) else dict(value))
    kind = type(value)
    if kind.__module__.startswith("neuralforecast"):
        raise TypeError(
            f"{argument} is neuralforecast's {kind.__name__}: import it from foretell.losses.pytorch instead"
        )
    if hasattr(value, "forward") and hasattr(value, "parameters"):
        raise TypeError(
            f"{argument} is the PyTorch module {kind.__name__}, which foretell cannot train with: expected a loss of foretell.losses "
            f"({', '.join(LOSSES)}). docs/own-model.md says how to write models and losses in Rust"
        )
    raise TypeError(f"{argument} is {value!r}: expected a loss of foretell.losses, such as MAE()")
