"""Exceptions of the package beside Python's own."""

from __future__ import annotations

from typing import TypeVar

ErrorT = TypeVar("ErrorT", bound=Exception)


class ColumnError(KeyError, ValueError):
    """A column that is not there: a ``KeyError``, as pandas raises, and a ``ValueError``, as neuralforecast does."""

    def __str__(self) -> str:
        # That of a KeyError is in quotes.
        return str(self.args[0]) if self.args else ""


class NothingStoredError(ValueError, AttributeError):
    """An attribute of the series of a training before there are any: a ``ValueError``, and an ``AttributeError``, so that ``hasattr`` is
    False."""


def saying(error: ErrorT, text: str) -> ErrorT:
    """The same error with another text, and with the facts that programs read of it (``code``, ``row``, ...)."""
    said = type(error)(text)
    facts = dict(vars(error))
    if "message" in facts:
        facts["message"] = text
    advice = facts.get("advice")
    if advice is not None and str(error).endswith(advice):
        # The end of the text, behind as many semicolons as before.
        facts["advice"] = text.split("; ", str(error).removesuffix(advice).count("; "))[-1]
    vars(said).update(facts)
    return said
