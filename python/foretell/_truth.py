"""What came true beside forecasts, with the digits and the type that it has in the user's table: the engine computes in single precision."""

from __future__ import annotations

from typing import Any

from foretell._data import Data
from foretell._frames import library


def with_truth(table: Any, data: Data) -> Any:
    """A table of forecasts of the history of some series, its target that of the table which they were read from, where its rows are
    found there."""
    if data.df is None or library(table) != library(data.df):
        return table
    match library(table):
        case "pandas":
            return _of_pandas(table, data.df, *data.names.all)
        case "polars":
            return _of_polars(table, data.df, *data.names.all)
        case "pyarrow":
            return _of_pyarrow(table, data.df, *data.names.all)
        case _:
            return table


def _of_pandas(table: Any, df: Any, id_col: str, time_col: str, target_col: str) -> Any:
    keys = [id_col, time_col]
    # The engine has all digits of single precision, but no values of masked rows.
    if df[target_col].dtype == "float32" and not table[target_col].isna().any():
        return table.astype({target_col: "float32"})
    if df[time_col].dtype != table[time_col].dtype:
        df = _with_times_as_in(table, df, time_col)
    if any(df[key].dtype != table[key].dtype for key in keys):
        return table
    rows = df.loc[df[time_col] >= table[time_col].min(), [*keys, target_col]]
    found = table[keys].merge(rows, on=keys, how="left")[target_col]
    if len(found) != len(table) or found.isna().sum() > table[target_col].isna().sum():
        return table
    return table.assign(**{target_col: found.array})


def _with_times_as_in(table: Any, df: Any, time_col: str) -> Any:
    """A table of pandas whose times, where they are texts or dates, are of the type that they have in another."""
    import pandas as pd

    try:
        return df.assign(**{time_col: pd.to_datetime(df[time_col]).astype(table[time_col].dtype)})
    except (TypeError, ValueError, pd.errors.ParserError):
        return df


def _of_polars(table: Any, df: Any, id_col: str, time_col: str, target_col: str) -> Any:
    import polars as pl

    keys, place = [id_col, time_col], "__row"
    known = table[target_col].is_not_null() & table[target_col].is_not_nan()
    if df.schema[target_col] == pl.Float32 and known.all():
        return table.with_columns(pl.col(target_col).cast(pl.Float32))
    if any(df.schema[key] != table.schema[key] for key in keys):
        return table
    rows = df.filter(pl.col(time_col) >= table[time_col].min()).select(*keys, target_col)
    found = table.select(keys).with_row_index(place).join(rows, on=keys, how="left").sort(place)[target_col]
    if len(found) != len(table) or (found.is_null() & known).any():
        return table
    return table.with_columns(found)


def _of_pyarrow(table: Any, df: Any, id_col: str, time_col: str, target_col: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    keys, place = [id_col, time_col], "__row"
    own, target = table.schema, df.schema.field(target_col).type
    is_known = pc.invert(pc.is_nan(pc.fill_null(table.column(target_col), float("nan"))))
    if target == pa.float32() and pc.all(is_known).as_py():
        return table.set_column(table.column_names.index(target_col), target_col, table.column(target_col).cast(target))
    if any(df.schema.field(key).type != own.field(key).type for key in keys):
        return table
    columns = {key: _plain(pa, table.column(key)) for key in keys}
    places = pa.table({**columns, place: pa.array(range(len(table)))})
    rows = pa.table({**{key: _plain(pa, df.column(key)) for key in keys}, target_col: df.column(target_col)})
    rows = rows.filter(pc.greater_equal(rows.column(time_col), pc.min(places.column(time_col))))
    found = places.join(rows, keys, join_type="left outer").sort_by(place).column(target_col)
    if len(found) != len(table) or pc.any(pc.and_(pc.is_null(found), is_known)).as_py():
        return table
    return table.set_column(table.column_names.index(target_col), pa.field(target_col, target), found)


def _plain(pa: Any, column: Any) -> Any:
    """A column without a dictionary, as tables are joined by it."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
