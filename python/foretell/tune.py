"""What hyper-parameters are drawn from, under the names of ``ray.tune``: ``{"max_steps": choice([500, 1000])}``.

Objects of ``ray.tune`` itself do as well where Ray is installed; nothing here needs it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["choice", "grid_search", "loguniform", "qloguniform", "qrandint", "quniform", "randint", "uniform", "Domain"]


class Domain:
    """What values are drawn from."""

    def sample(self, rng: random.Random | None = None) -> Any:
        """A value, drawn by ``rng``."""
        raise NotImplementedError

    def suggest(self, name: str, trial: Any) -> Any:
        """A value that a trial of Optuna suggests under this name."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.lower()}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = object.__hash__


class Choice(Domain):
    """One of several values, each as likely."""

    def __init__(self, categories: Sequence[Any]) -> None:
        self.categories = list(categories)
        if not self.categories:
            raise ValueError("choice needs at least one value")

    def sample(self, rng: random.Random | None = None) -> Any:
        return (rng or random.Random()).choice(self.categories)

    def suggest(self, name: str, trial: Any) -> Any:
        return trial.suggest_categorical(name, self.categories)


class GridSearch(Choice):
    """Several values, each of which is tried with everything else."""


class RandInt(Domain):
    """A whole number from ``lower`` to below ``upper``; a multiple of ``q`` if it is above 1, then up to ``upper`` itself."""

    def __init__(self, lower: int, upper: int, q: int = 1) -> None:
        self.lower, self.upper, self.q = int(lower), int(upper), int(q)
        _check_order(lower, upper)

    def sample(self, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        if self.q == 1:
            return rng.randrange(self.lower, self.upper)
        return int(_rounded(rng.uniform(self.lower, self.upper), self.q, self.lower, self.upper))

    def suggest(self, name: str, trial: Any) -> Any:
        # Optuna's upper end belongs to the range.
        return trial.suggest_int(name, self.lower, self.upper - (self.q == 1), step=self.q)


class Float(Domain):
    """A number between two, by its logarithm if ``log``, rounded to multiples of ``q`` if there is one."""

    def __init__(self, lower: float, upper: float, log: bool = False, q: float | None = None) -> None:
        self.lower, self.upper, self.log, self.q = lower, upper, log, q
        _check_order(lower, upper)
        if log and lower <= 0:
            raise ValueError(f"a logarithm needs numbers above 0; found lower={lower}")

    def sample(self, rng: random.Random | None = None) -> float:
        rng = rng or random.Random()
        if self.log:
            value = math.exp(rng.uniform(math.log(self.lower), math.log(self.upper)))
        else:
            value = rng.uniform(self.lower, self.upper)
        return value if self.q is None else _rounded(value, self.q, self.lower, self.upper)

    def suggest(self, name: str, trial: Any) -> Any:
        # Optuna has no steps in logarithms.
        return trial.suggest_float(name, self.lower, self.upper, log=self.log, step=None if self.log else self.q)


def _check_order(lower: float, upper: float) -> None:
    if not lower < upper:
        raise ValueError(f"lower must be below upper; found {lower} and {upper}")


def _rounded(value: float, q: float, lower: float, upper: float) -> float:
    return min(max(round(value / q) * q, lower), upper)


def choice(categories: Sequence[Any]) -> Domain:
    """One of these values, each as likely."""
    return Choice(categories)


def grid_search(values: Sequence[Any]) -> Domain:
    """Each of these values, with everything else that is drawn."""
    return GridSearch(values)


def randint(lower: int, upper: int) -> Domain:
    """A whole number from ``lower`` to below ``upper``."""
    return RandInt(lower, upper)


def qrandint(lower: int, upper: int, q: int = 1) -> Domain:
    """A multiple of ``q`` from ``lower`` to ``upper``."""
    return RandInt(lower, upper, q)


def uniform(lower: float, upper: float) -> Domain:
    """A number between two."""
    return Float(lower, upper)


def quniform(lower: float, upper: float, q: float) -> Domain:
    """A multiple of ``q`` between two numbers."""
    return Float(lower, upper, q=q)


def loguniform(lower: float, upper: float) -> Domain:
    """A number between two, whose logarithm is uniform."""
    return Float(lower, upper, log=True)


def qloguniform(lower: float, upper: float, q: float) -> Domain:
    """A multiple of ``q`` between two numbers, whose logarithm is uniform."""
    return Float(lower, upper, log=True, q=q)


def as_domain(value: Any) -> Domain | None:
    """A domain of ours, one for an object of ``ray.tune``, or None for what is not drawn.

    Raises:
        TypeError: If it is a domain of ``ray.tune`` that has no counterpart here.
    """
    if isinstance(value, Domain):
        return value
    if isinstance(value, Mapping) and set(value) == {"grid_search"}:
        return GridSearch(value["grid_search"])
    if not (hasattr(value, "sample") and hasattr(value, "sampler")):
        return None
    if hasattr(value, "categories"):
        return Choice(value.categories)
    sampler, q = value.sampler, None
    if type(sampler).__name__ == "Quantized":
        sampler, q = sampler.get_sampler(), sampler.q
    kind, law = type(value).__name__, type(sampler).__name__.strip("_")
    if kind == "Integer" and law == "Uniform":
        return RandInt(value.lower, value.upper, q or 1)
    if kind == "Float" and law in ("Uniform", "LogUniform"):
        return Float(value.lower, value.upper, law == "LogUniform", q)
    raise TypeError(f"a search space has {value!r}, {law} of Ray: use choice, randint, uniform or loguniform of foretell.tune")


def grids(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All combinations of the values of grids in a space: one empty one if there are none."""
    combinations: list[dict[str, Any]] = [{}]
    for name, value in config.items():
        domain = as_domain(value)
        if isinstance(domain, GridSearch):
            combinations = [{**found, name: item} for found in combinations for item in domain.categories]
    return combinations


def drawn(value: Any, rng: random.Random) -> Any:
    """A value of a space, with all that is drawn in it drawn, in lists and mappings, too."""
    domain = as_domain(value)
    if domain is not None:
        return domain.sample(rng)
    if isinstance(value, Mapping):
        return {key: drawn(item, rng) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [drawn(item, rng) for item in value]
    return value
