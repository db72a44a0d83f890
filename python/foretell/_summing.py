"""Summing matrices: which series are sums of which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def summing_matrix(S: Any, ids: Sequence[Any]) -> tuple[list[str], list[str], list[float]]:
    """The ids of a matrix' rows and of its columns, and its entries row by row.

    Args:
        S: An array, or a table with a column or an index of ids.
        ids: Those of the data, in order, for a matrix that names none.

    Raises:
        ValueError: If it has another number of rows, or a column is the sum of no series alone.
    """
    named, columns, matrix = _named(S)
    rows = [str(id) for id in (ids if named is None else named)]
    if len(rows) != len(matrix):
        raise ValueError(f"S has {len(matrix)} rows, but the data have {len(rows)} series: give S a row for each")
    if columns is None:
        columns = [_part(rows, matrix, place) for place in range(len(matrix[0]))]
    return rows, columns, [float(entry) for row in matrix for entry in row]


def _named(S: Any) -> tuple[list[Any] | None, list[str] | None, list[list[float]]]:
    """The ids of the rows and the columns, where a matrix has any, and the entries."""
    if not hasattr(S, "columns"):
        return None, None, [list(row) for row in S]
    names = [str(name) for name in S.columns]
    table = {name: list(S[column]) for name, column in zip(names, S.columns, strict=True)}
    texts = [name for name in names if any(isinstance(value, str) for value in table[name])] or [name for name in names if name == "unique_id"]
    rows = table[texts[0]] if texts else list(S.index)
    columns = [name for name in names if name not in texts]
    return rows, columns, [[float(table[name][place]) for name in columns] for place in range(len(rows))]


def _part(rows: Sequence[str], matrix: Sequence[Sequence[float]], column: int) -> str:
    """The id of the series that alone a column stands for."""
    for id, row in zip(reversed(rows), reversed(matrix), strict=True):
        if [place for place, entry in enumerate(row) if entry] == [column]:
            return id
    raise ValueError(f"column {column} of S is no series by itself: S needs a row with a single 1 in it")
