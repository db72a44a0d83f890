"""Ids that several columns make together: the engine joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foretell import _checks, _foretell, _frames
from foretell._frames import library


def is_by_part(columns: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a table has some of the columns that make ids, and not all: its rows are of all series that agree in these."""
    return "unique_id" not in columns and 0 < len(set(parts) & set(columns)) < len(parts)


def joined(df: Any, parts: Sequence[str], table: str) -> Any:
    """A table with ids in ``unique_id``, which these columns make together: they are left out. One with joined ids, and none of the columns,
    is left as it is, as is no table.

    Raises:
        ColumnError: If some of the columns are missing.
        ValueError: If a part of an id is missing, or two series would have one id.
    """
    if df is None or not parts:
        return df
    df = _frames.native(df)
    found = _frames.columns(df)
    if "unique_id" in found and not ({*parts} - {"unique_id"}) & {*found}:
        return df
    _frames.require(df, parts, table, found)
    try:
        ids = _foretell.joined_ids(_frames.to_engine(df, parts[0], None, parts[1:], parts), list(parts))
    except ValueError as error:
        raise _checks.reworded(error, table, library(df)) from None
    rest = [name for name in found if name not in parts and name != "unique_id"]
    match library(df):
        case "pandas":
            answer = df[rest].copy()
            answer.insert(0, "unique_id", _frames.repeated_ids(ids))
            return answer
        case "polars":
            import polars as pl

            return df.select(pl.DataFrame(ids).get_column("unique_id"), *rest)
        case _:
            import pyarrow as pa

            return _frames.arrow(df).select(rest).add_column(0, "unique_id", pa.table(ids).column("unique_id"))
