"""Exceptions of the package beside Python's own."""

from __future__ import annotations


class ColumnError(KeyError, ValueError):
    """A column that is not there: a ``KeyError``, as pandas raises, and a ``ValueError``, as neuralforecast does."""

    def __str__(self) -> str:
        # That of a KeyError is in quotes.
        return str(self.args[0]) if self.args else ""


class NothingStoredError(ValueError, AttributeError):
    """An attribute of the series of a training before there are any: a ``ValueError``, and an ``AttributeError``, so that ``hasattr`` is
    False."""
