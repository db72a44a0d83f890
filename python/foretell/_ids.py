"""Ids that several columns make together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foretell import _frames
from foretell._frames import library

#: What stands between the parts, as where the command joins them.
SEPARATOR = "/"


def parts_of(id_col: str | Sequence[str]) -> list[str]:
    """The columns that make the ids together; none where one has them."""
    return [] if isinstance(id_col, str) or not isinstance(id_col, (list, tuple)) else list(id_col)


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
    if "unique_id" in found and not set(parts) & set(found):
        return df
    _frames.require(df, parts, table, found)
    rest = [name for name in found if name not in parts and name != "unique_id"]
    match library(df):
        case "pandas":
            cells = [df[part] for part in parts]
            _check_known({part: bool(column.isna().any()) for part, column in zip(parts, cells)}, table)
            texts = [column.astype(str) for column in cells]
            ids = texts[0].str.cat(texts[1:], sep=SEPARATOR)
            _check_distinct(len(df[parts].drop_duplicates()), ids.nunique(), parts, table)
            answer = df[rest].copy()
            answer.insert(0, "unique_id", ids)
            return answer
        case "polars":
            import polars as pl

            _check_known({part: bool(df.get_column(part).null_count()) for part in parts}, table)
            ids = pl.concat_str([pl.col(part).cast(pl.String) for part in parts], separator=SEPARATOR)
            answer = df.select(ids.alias("unique_id"), *rest)
            _check_distinct(df.select(parts).n_unique(), answer.get_column("unique_id").n_unique(), parts, table)
            return answer
        case _:
            import pyarrow as pa
            import pyarrow.compute as pc

            arrow = _frames.arrow(df)
            _check_known({part: bool(arrow.column(part).null_count) for part in parts}, table)
            texts = [arrow.column(part).cast(pa.string()) for part in parts]
            ids = pc.binary_join_element_wise(*texts, SEPARATOR)
            _check_distinct(arrow.select(parts).group_by(parts).aggregate([]).num_rows, len(ids.unique()), parts, table)
            return arrow.select(rest).add_column(0, "unique_id", ids)


def _check_known(missing: dict[str, bool], table: str) -> None:
    for part, is_missing in missing.items():
        if is_missing:
            raise ValueError(f"{table}, column `{part}`: a part of an id is missing; write one in each row")


def _check_distinct(series: int, ids: int, parts: Sequence[str], table: str) -> None:
    if ids < series:
        names = " and ".join(parts)
        raise ValueError(f"{table}: {names} make {ids} ids of {series} series, since some hold a {SEPARATOR}; write another character in them")
