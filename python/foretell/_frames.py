"""Tables of users, to the engine and back: pandas, polars, pyarrow, and whatever speaks Arrow's C interface.

What comes back is of the kind that went in. None of these libraries is imported unless a table of it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from foretell import _foretell
from foretell.errors import ColumnError


@dataclass(frozen=True)
class Kind:
    """What tables look like: the module they are of, and the types of ids and times, or None where any will do."""

    module: str
    id_type: Any
    time_type: Any


def is_distributed(df: Any) -> bool:
    """Whether a table is one of Spark, Dask or Ray."""
    return type(df).__module__.partition(".")[0] in ("pyspark", "dask", "dask_expr", "ray")


def gathered(df: Any) -> Any:
    """A table whose rows are on this machine: of Spark, Dask and Ray, of files and of a reader of batches one of
    pyarrow, any other as it is."""
    if isinstance(df, (list, tuple)) and df and all(isinstance(path, (str, PathLike)) for path in df):
        return of_files(df)
    # A reader of batches, as DuckDB's arrow() is, gives its rows once.
    if type(df).__module__.startswith("pyarrow") and hasattr(df, "read_all"):
        return df.read_all()
    if not is_distributed(df):
        return df
    from foretell import _distributed

    return _distributed.workers_of(df).gathered(df)


def scattered(table: Any, like: Any) -> Any:
    """A table of pyarrow as one of Spark, Dask or Ray, if another table is one; else as it is."""
    if not is_distributed(like):
        return table
    from foretell import _distributed

    return _distributed.workers_of(like).scattered(table)


def arrow(df: Any) -> Any:
    """A table as one of pyarrow."""
    import pyarrow as pa

    df = native(df)
    return pa.Table.from_pandas(df, preserve_index=False) if library(df) == "pandas" else pa.table(df)


def pandas(df: Any) -> Any:
    """A table as a frame of pandas."""
    return df if library(df) == "pandas" else arrow(df).to_pandas()


def native(df: Any) -> Any:
    """The table behind narwhals' or polars' lazy one, or that of rows which lie elsewhere."""
    df = gathered(df)
    if type(df).__module__.startswith("narwhals"):
        df = df.to_native()
    return df.collect() if library(df) == "polars" and hasattr(df, "collect") else df


def library(df: Any) -> str:
    """``"pandas"``, ``"polars"``, ``"pyarrow"`` or ``"arrow"``.

    Raises:
        TypeError: If it is none of them.
    """
    name = type(df).__module__.partition(".")[0]
    if name in ("pandas", "polars", "pyarrow"):
        return name
    if hasattr(df, "__arrow_c_stream__"):
        return "arrow"
    raise ValueError(
        f"expected a DataFrame of pandas or polars, a table of pyarrow, or an object with __arrow_c_stream__; got: {type(df)}"
    )


def columns(df: Any) -> list[str]:
    """The names of a table's columns."""
    for names in (getattr(df, "column_names", None), getattr(df, "columns", None)):
        # Ray's is a method.
        names = names() if callable(names) else names
        if names is not None and all(isinstance(name, str) for name in names):
            return list(names)
    return list(getattr(getattr(df, "schema", None), "names", None) or map(str, df.columns))


def require(df: Any, names: Sequence[str], table: str) -> None:
    """Checks that a table has columns.

    Raises:
        ColumnError: If it lacks one.
    """
    found = columns(df)
    missing = [name for name in names if name not in found]
    if missing:
        raise ColumnError(f"{table} has no column {', '.join(missing)}; it has {', '.join(found)}")


def select(df: Any, names: Sequence[str]) -> Any:
    """The columns of these names that a table has."""
    found = set(columns(df))
    names = [name for name in dict.fromkeys(names) if name in found]
    match library(df):
        case "pandas":
            return df[names]
        case "polars" | "pyarrow":
            return df.select(names)
        case _:
            return df


def kind_of(df: Any, id_col: str, time_col: str) -> Kind:
    """What a table looks like."""
    match library(df):
        case "pandas":
            return Kind("pandas", df[id_col].dtype, df[time_col].dtype)
        case "polars":
            return Kind("polars", df.schema[id_col], df.schema[time_col])
        case "pyarrow":
            return Kind("pyarrow", df.schema.field(id_col).type, df.schema.field(time_col).type)
        case _:
            return Kind("arrow", None, None)


def to_engine(df: Any, id_col: str, time_col: str | None, labels: Sequence[str] = ()) -> Any:
    """A table as the engine reads it; the columns of ``labels`` hold categories. Only of pandas anything is copied."""
    return _pandas_table(df, id_col, time_col, labels) if library(df) == "pandas" else df


def _pandas_table(df: Any, id_col: str, time_col: str | None, labels: Sequence[str]) -> _foretell.Table:
    import pandas as pd

    table = _foretell.Table()
    for name in df.columns:
        column = df[name]
        if isinstance(column.dtype, pd.PeriodDtype):
            column = column.dt.to_timestamp()
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            _add_times(table, name, column)
        elif pd.api.types.is_bool_dtype(column.dtype) and name in labels:
            _add_texts(table, name, column)
        elif pd.api.types.is_integer_dtype(column.dtype) and not column.isna().any():
            table.numbers(name, "i8", column.to_numpy(dtype="i8").tobytes())
        elif pd.api.types.is_numeric_dtype(column.dtype):
            _add_floats(table, name, column)
        elif name in (id_col, time_col) or name in labels or not _add_numbers_of_objects(table, name, column):
            _add_texts(table, name, column)
    return table


def _add_floats(table: _foretell.Table, name: str, column: Any) -> None:
    is_single = str(column.dtype).lower().startswith(("float32", "float[pyarrow]"))
    kind = "f4" if is_single else "f8"
    table.numbers(name, kind, column.to_numpy(dtype=kind, na_value=float("nan")).tobytes())


def _add_numbers_of_objects(table: _foretell.Table, name: str, column: Any) -> bool:
    """Adds a column of objects that are numbers all the same, as Decimal or numbers among None."""
    if column.dtype != object:
        return False
    try:
        numbers = column.astype("f8")
    except (TypeError, ValueError):
        return False
    _add_floats(table, name, numbers)
    return True


def _add_times(table: _foretell.Table, name: str, column: Any) -> None:
    import pandas as pd

    index = pd.DatetimeIndex(column)
    unit = getattr(index, "unit", "ns")
    zone = None if index.tz is None else str(index.tz)
    table.times(name, unit, zone, index.asi8.tobytes())


def _add_texts(table: _foretell.Table, name: str, column: Any) -> None:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, texts = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, texts = pd.factorize(column)
    table.texts(name, codes.astype("i4").tobytes(), [str(text) for text in texts])


def from_engine(frame: _foretell.Frame, kind: Kind) -> Any:
    """A table of the engine in the kind of a user's."""
    match kind.module:
        case "pandas":
            return _to_pandas(frame, kind)
        case "polars":
            return _to_polars(frame, kind)
        case _:
            return _to_pyarrow(frame, kind)


def _to_pandas(frame: _foretell.Frame, kind: Kind) -> Any:
    import numpy as np
    import pandas as pd

    names = frame.names
    ids, counts = frame.ids()
    repeated = _ids_of_pandas(ids, kind).repeat(np.frombuffer(counts, "i8"))
    data = {names[0]: repeated}
    for name in names[1:]:
        if name == names[1] or name == "cutoff":
            data[name] = _times_of_pandas(np.frombuffer(frame.column(name), "i8"), frame.has_timestamps, frame.zone, kind)
        else:
            numbers = "i8" if name in frame.integers else "f8" if frame.is_wide(name) else "f4"
            data[name] = np.frombuffer(frame.column(name), numbers)
    return pd.DataFrame(data)


def _ids_of_pandas(ids: Sequence[Any], kind: Kind) -> Any:
    import pandas as pd

    if kind.id_type is None:
        return pd.Index(ids)
    index = pd.Index(ids, dtype="i8" if ids and isinstance(ids[0], int) else object)
    if isinstance(kind.id_type, pd.CategoricalDtype):
        # Texts that are no categories would become NaN: numbers among these are numbers again first.
        index = index.astype(kind.id_type.categories.dtype)
    return index.astype(kind.id_type)


def _times_of_pandas(times: Any, has_timestamps: bool, zone: str | None, kind: Kind) -> Any:
    import pandas as pd

    if not has_timestamps:
        return pd.Index(times, dtype=kind.time_type)
    index = pd.DatetimeIndex(times.view("M8[us]"))
    if zone is not None:
        index = index.tz_localize("UTC").tz_convert(zone)
    if isinstance(kind.time_type, pd.PeriodDtype):
        return index.to_period(kind.time_type.freq)
    if kind.time_type is None:
        return _in_units_of_pandas(index)
    return index.astype(kind.time_type) if pd.api.types.is_datetime64_any_dtype(kind.time_type) else index


def _in_units_of_pandas(index: Any) -> Any:
    """Times in the unit that pandas makes of its own: nanoseconds before pandas 3, for years that these reach."""
    import pandas as pd

    try:
        return index.as_unit(pd.date_range("2000-01-01", periods=1).unit)
    except pd.errors.OutOfBoundsDatetime:
        return index


def _to_polars(frame: _foretell.Frame, kind: Kind) -> Any:
    import polars as pl

    names = frame.names
    if kind.id_type is None:
        return pl.DataFrame(frame)
    times = [name for name in names[1:] if name == names[1] or name == "cutoff"]
    is_time = frame.has_timestamps == kind.time_type.is_temporal()
    casts = [pl.col(names[0]).cast(kind.id_type), *(pl.col(name).cast(kind.time_type) for name in times if is_time)]
    return pl.DataFrame(frame).with_columns(casts)


def _to_pyarrow(frame: _foretell.Frame, kind: Kind) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        return frame
    table = pa.table(frame)
    if kind.module == "pyarrow":
        for place, name in enumerate(table.column_names):
            wanted = kind.id_type if place == 0 else kind.time_type if place == 1 or name == "cutoff" else None
            if wanted is not None and _can_cast(pa, table.schema.field(place).type, wanted):
                table = table.set_column(place, name, table.column(place).cast(wanted))
    return table


def from_columns(
    columns: dict[str, list[Any]], kind: Kind, id_col: str, time_col: str, has_timestamps: bool, zone: str | None
) -> Any:
    """Columns of the engine as a table of a user's kind; those of these names are ids and times."""
    ids, times = columns.get(id_col), columns.get(time_col)
    if kind.module == "pandas":
        import numpy as np
        import pandas as pd

        typed: dict[str, Any] = {}
        if ids is not None:
            typed[id_col] = _ids_of_pandas(ids, kind)
        if times is not None:
            typed[time_col] = _times_of_pandas(np.array(times, "i8"), has_timestamps, zone, kind)
        return pd.DataFrame({**columns, **typed})
    if kind.module == "polars":
        import polars as pl

        table = pl.DataFrame(columns)
        if ids is not None and kind.id_type is not None:
            table = table.with_columns(pl.col(id_col).cast(kind.id_type))
        if times is not None and has_timestamps:
            column = pl.col(time_col).cast(pl.Datetime("us", zone))
            table = table.with_columns(column.cast(kind.time_type) if kind.time_type is not None else column)
        return table
    try:
        import pyarrow as pa
    except ImportError:
        return columns
    table = pa.table(columns)
    if ids is not None and kind.id_type is not None and not pa.types.is_dictionary(kind.id_type):
        table = table.set_column(table.column_names.index(id_col), id_col, table.column(id_col).cast(kind.id_type))
    if times is not None and has_timestamps:
        table = table.set_column(table.column_names.index(time_col), time_col, table.column(time_col).cast(pa.timestamp("us", zone)))
    return table


def _can_cast(pa: Any, found: Any, wanted: Any) -> bool:
    """Whether times are cast to times, and anything else to anything else."""
    return bool(pa.types.is_temporal(found) == pa.types.is_temporal(wanted))


def lists(df: Any) -> dict[str, list[Any]]:
    """The columns of a table, in their order."""
    match library(df):
        case "pandas":
            return {name: df[name].tolist() for name in df.columns}
        case "polars":
            columns: dict[str, list[Any]] = df.to_dict(as_series=False)
            return columns
        case _:
            columns = arrow(df).to_pydict()
            return columns


def distinct(df: Any, column: str) -> list[Any]:
    """The values of a column that are known, each once and in order."""
    match library(df):
        case "pandas":
            return sorted(df[column].dropna().unique().tolist())
        case "polars":
            return sorted(df.get_column(column).drop_nulls().unique().to_list())
        case "pyarrow":
            return sorted(df.column(column).drop_null().unique().to_pylist())
        case _:
            return []


def ordered(df: Any, column: str) -> list[Any]:
    """The values of a column, each once, in the order of its categories if it has any."""
    found = distinct(df, column)
    categories = getattr(df[column].dtype, "categories", None) if library(df) == "pandas" else None
    return found if categories is None else [value for value in categories if value in set(found)]


def anti_join(expected: Any, given: Any, on: list[str]) -> Any:
    """The rows of a table whose ids and times another one lacks."""
    match library(expected):
        case "pandas":
            merged = expected.merge(given[on].drop_duplicates(), on=on, how="left", indicator=True)
            return merged.loc[merged["_merge"] == "left_only", on].reset_index(drop=True)
        case "polars":
            return expected.join(given.select(on), on=on, how="anti", maintain_order="left")
        case _:
            return expected.join(given.select(on), keys=on, join_type="left anti")


def with_whole(df: Any, column: str) -> Any:
    """A table of the engine's with one of its columns as whole numbers."""
    match library(df):
        case "pandas":
            return df.astype({column: "int64"})
        case "polars":
            import polars as pl

            return df.with_columns(pl.col(column).cast(pl.Int64))
        case "pyarrow":
            return df.set_column(df.column_names.index(column), column, df.column(column).cast("int64"))
        case _:
            return df


def of_files(paths: Sequence[Any]) -> Any:
    """The rows of files of Parquet, or of directories of them, as a table of pyarrow; ``NAME=VALUE`` in paths is a column."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    parts = [ds.dataset(str(path), format="parquet", partitioning="hive").to_table() for path in paths]
    return pa.concat_tables(parts, promote_options="permissive")


def n_rows(df: Any) -> int:
    """Rows of a table."""
    rows = getattr(df, "num_rows", None)
    return int(rows) if rows is not None else len(df)
