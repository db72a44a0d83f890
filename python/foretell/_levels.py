"""Levels and quantiles that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foretell import _foretell


@dataclass(frozen=True)
class Levels:
    """What is asked for: percentages of central intervals, or quantiles in their place; nothing for the models' own columns."""

    level: Sequence[float] = ()
    quantiles: Sequence[float] = ()

    def __bool__(self) -> bool:
        return bool(self.level or self.quantiles)

    def named(self, frame: _foretell.Frame, models: Sequence[tuple[str, Any]]) -> _foretell.Frame:
        """A table of the engine with neuralforecast's columns; ``models`` are those of the table with their names."""
        medians = self._medians(models)
        return frame.renamed(dict.fromkeys(medians)) if medians else frame

    def names(self, columns: Sequence[str], models: Sequence[tuple[str, Any]]) -> list[str]:
        """Those of these columns that `named` leaves in a table."""
        medians = self._medians(models)
        return [name for name in columns if name not in medians]

    def _medians(self, models: Sequence[tuple[str, Any]]) -> list[str]:
        """The medians of implicit quantiles, which the engine adds to the others, where no one asked for them."""
        if not self or 0.5 in self.quantiles:
            return []
        return [f"{name}_ql0.5" for name, model in models if hasattr(getattr(model, "loss", None), "update_quantile")]


def asked(level: Sequence[float] | None, quantiles: Sequence[float] | None) -> Levels:
    """Reads ``level`` and ``quantiles``, of which only one may be given.

    Raises:
        ValueError: If both are given, or one is out of range.
    """
    if level is not None and quantiles is not None:
        raise ValueError("You can't set both level and quantiles.")
    for name, example, given in (("level", 80, level), ("quantiles", 0.9, quantiles)):
        if given is not None and (isinstance(given, str) or not hasattr(given, "__iter__")):
            raise TypeError(f"{name} must be a list of numbers, such as [{example}]; found {given!r}")
    for quantile in () if quantiles is None else quantiles:
        if not 0 < quantile < 1:
            raise ValueError(f"a quantile is above 0 and below 1; found {quantile}")
    level, quantiles = (sorted({float(number) for number in (() if given is None else given)}) for given in (level, quantiles))
    return Levels(level, quantiles)
