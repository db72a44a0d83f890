"""Columns that are computed from the target and the times, as ``NeuralForecast(features=)`` computes them for its models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell import _data, _foretell
from foretell._data import Names, Reading

if TYPE_CHECKING:
    from foretell._calls import TableT

__all__ = ["compute", "names"]


def names() -> dict[str, str]:
    """The features, each by an example of its word, and what it is."""
    return {example: meaning for _, example, meaning, _ in _foretell.feature_names()}


def compute(
    df: TableT, features: str, freq: Any = None, *, threads: int = 0, id_col: str | Sequence[str] = "unique_id", time_col: str = "ds", target_col: str = "y"
) -> TableT:
    """Computes features of each row. Those of the target (lags, moving windows, ...) see the rows before it alone, and are missing where
    there are not enough of these; those of the times (calendar, Fourier terms, holidays, ...) are known ahead.

    Args:
        df: A row per id and time.
        features: Words with commas between them, such as ``"lag:1,7,roll_mean:28,weekday"``; `names` has them all.
        freq: Step of the times, as for `NeuralForecast`; None to infer it.
        threads: Threads to compute on; 0 for all of the machine.
        id_col: The column of ids, or several that make them together, which are joined by ``/`` and stand in ``unique_id`` of what comes back.
        time_col: The column of times.
        target_col: The column that features are of.

    Returns:
        A table of the kind of ``df`` with the columns of ids, times and features; those of the target are missing (NaN) in rows with too
        few rows before them.

    Raises:
        ColumnError: If a column is not there.
        ValueError: If there is no such feature, or a row is wrong.
    """
    data = _data.read(df, None, Names(id_col, time_col, target_col), Reading(_data.freq_word(freq), [], [], threads))
    found: TableT = data.table(_foretell.compute_features(data.panel, features, threads))
    return found
