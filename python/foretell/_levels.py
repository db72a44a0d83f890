"""Levels and quantiles that are asked for, and how their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from foretell import _foretell

#: The engine knows levels. The ends of one so narrow are the median, to more digits than a forecast has.
MEDIAN = 0.000001


@dataclass
class Levels:
    """What is asked for: the levels for the engine, and the quantile that each end of them is, if quantiles are asked for."""

    level: list[float] = field(default_factory=list)
    ends: dict[str, float] = field(default_factory=dict)

    def named(self, frame: _foretell.Frame) -> _foretell.Frame:
        """The table with its columns named by their quantiles (``NHITS-ql0.9``), without those that nobody asked for."""
        return frame.renamed({name: self._name(name) for name in frame.names}) if self.ends else frame

    def names(self, columns: Sequence[str]) -> list[str]:
        """The names that `named` gives to columns."""
        return [name for name in map(self._name, columns) if name is not None]

    def _name(self, column: str) -> str | None:
        model, sign, number = _end(column)
        if not sign or not self.ends:
            return column
        quantile = self.ends.get(f"{sign}-{number}")
        return None if quantile is None else f"{model}-ql{quantile}"


def _end(name: str) -> tuple[str, str, str]:
    parts = name.rsplit("-", 2)
    if len(parts) == 3 and parts[1] in ("lo", "hi"):
        return parts[0], parts[1], parts[2]
    return name, "", ""


def asked(level: Sequence[float] | None, quantiles: Sequence[float] | None) -> Levels:
    """Reads ``level`` and ``quantiles``, of which only one may be given.

    Raises:
        ValueError: If both are given, or one is out of range.
    """
    if level is not None and quantiles is not None:
        raise ValueError("You can't set both level and quantiles.")
    if level is not None:
        return Levels(sorted({float(percent) for percent in level}))
    ends = {}
    for quantile in sorted(set(quantiles or ())):
        if not 0 < quantile < 1:
            raise ValueError(f"a quantile is above 0 and below 1; found {quantile}")
        percent = round(abs(100 - 200 * quantile), 6) or MEDIAN
        ends[f"{'lo' if quantile <= 0.5 else 'hi'}-{_number(percent)}"] = quantile
    return Levels(sorted({float(end.partition("-")[2]) for end in ends}), ends)


def _number(percent: float) -> str:
    return f"{percent:.6f}".rstrip("0").rstrip(".")
