"""Tables of users, to the engine and back: pandas, polars, pyarrow, and whatever speaks Arrow's C interface.

What comes back is of the kind that went in. None of these libraries is imported unless a table of it came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from sys import byteorder
from typing import Any

from foretell import _arrow_texts, _foretell
from foretell.errors import ColumnError


@dataclass(frozen=True)
class Kind:
    """What tables look like: the module they are of, the types of ids and times, or None where any will do, and the ids by their texts
    where these do not say what they are."""

    module: str
    id_type: Any
    time_type: Any
    ids: Mapping[str, Any] = field(default_factory=dict)


def is_distributed(df: Any) -> bool:
    """Whether a table is one of Spark, Dask or Ray."""
    return type(df).__module__.partition(".")[0] in ("pyspark", "dask", "dask_expr", "ray")


def is_files(df: Any) -> bool:
    """Whether a table is a list of files."""
    return isinstance(df, (list, tuple)) and bool(df) and all(isinstance(path, (str, PathLike)) for path in df)


def gathered(df: Any) -> Any:
    """A table whose rows are on this machine: of Spark, Dask and Ray, of files and of a reader of batches one of
    pyarrow, any other as it is."""
    if is_files(df):
        return of_files(df)
    # A reader of batches, as DuckDB's arrow() is, gives its rows once.
    if type(df).__module__.startswith("pyarrow") and hasattr(df, "read_all"):
        return df.read_all()
    if not is_distributed(df):
        return df
    from foretell._workers import workers_of

    return workers_of(df).gathered(df)


def scattered(table: Any, like: Any) -> Any:
    """A table of pyarrow as one of Spark, Dask or Ray, if another table is one; else as it is."""
    if not is_distributed(like):
        return table
    from foretell._workers import workers_of

    return workers_of(like).scattered(table)


def arrow(df: Any) -> Any:
    """A table as one of pyarrow."""
    import pyarrow as pa

    if isinstance(df, pa.RecordBatch):
        return pa.Table.from_batches([df])
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
    match library(df):
        case "pandas":
            return _with_texts_for_names(df)
        case "polars" if hasattr(df, "collect"):
            return df.collect()
        case "pyarrow" if not hasattr(df, "join"):
            # A batch.
            return arrow(df)
        case "arrow" if _names(df) is None:
            return _read_once(df)
    return df


def _with_texts_for_names(df: Any) -> Any:
    """A table of pandas whose columns have texts for names: 0 is "0".

    Raises:
        ValueError: If its columns have names of several levels.
    """
    if getattr(df.columns, "nlevels", 1) > 1:
        raise ValueError(f"expected columns with one name each, found names of several levels such as {df.columns[0]!r}: flatten df.columns")
    names = df.columns.tolist()
    if all(isinstance(name, str) for name in names):
        return df
    return df.set_axis(list(map(str, names)), axis=1)


def _read_once(df: Any) -> Any:
    """An object that speaks Arrow's C interface and nothing else, as a table of pyarrow."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ValueError(
            f"expected a table that tells the names of its columns (columns, column_names or schema.names); found {type(df)}; install "
            "pyarrow, which reads them"
        ) from None
    try:
        return pa.table(df)
    except pa.ArrowInvalid as error:
        raise ValueError(f"expected a table with columns, found {type(df)}: {error}") from None


def library(df: Any) -> str:
    """``"pandas"``, ``"polars"``, ``"pyarrow"`` or ``"arrow"``.

    Raises:
        ValueError: If it is none of them, or one column.
    """
    name = type(df).__module__.partition(".")[0]
    if name in ("pandas", "polars", "pyarrow"):
        # Of the class: lazy tables of polars warn of work for their own.
        if hasattr(type(df), "columns") or hasattr(type(df), "column_names"):
            return name
    elif hasattr(df, "__arrow_c_stream__"):
        return "arrow"
    is_column = name == "pandas" and hasattr(df, "rename_axis")
    hint = '; of one with its times in the index give series.rename_axis("ds").reset_index(name="y").assign(unique_id="series")' if is_column else ""
    if isinstance(df, (str, PathLike)):
        hint = f": read the file before, as pandas.read_csv({str(df)!r}) does, or give a list of files of Parquet"
    raise ValueError(
        f"expected a DataFrame of pandas or polars, a table of pyarrow, or an object with __arrow_c_stream__; got: {type(df)}{hint}"
    )


def columns(df: Any) -> list[str]:
    """The names of a table's columns."""
    names = _names(df)
    return columns(native(df)) if names is None else names


def _names(df: Any) -> list[str] | None:
    """The names of the columns, or None if the table does not tell them."""
    if type(df).__module__.startswith("pandas.") and hasattr(type(df), "columns"):
        # It looks for what it has not among its columns first.
        own: list[Any] = df.columns.tolist()
        return own if all(isinstance(name, str) for name in own) else list(map(str, own))
    for names in (getattr(df, "column_names", None), getattr(df, "columns", None)):
        # Ray's is a method.
        names = names() if callable(names) else names
        if names is not None and all(isinstance(name, str) for name in names):
            return list(names)
    names = getattr(getattr(df, "schema", None), "names", None) or getattr(df, "columns", None)
    if names is None and isinstance(df, _foretell.Frame):
        return df.names
    return None if names is None else list(map(str, names))


def require(df: Any, names: Sequence[str], table: str, found: Sequence[str] | None = None, *, takes_ids: bool = True) -> None:
    """Checks that a table has columns, each once; ``found`` are those that it has, and ``takes_ids`` says whether the caller takes ``id_col``.

    Raises:
        ColumnError: If it lacks one.
        ValueError: If two have the same name.
    """
    found = columns(df) if found is None else found
    missing = [name for name in names if name not in found]
    if missing:
        index = [name for name in missing if name in (getattr(getattr(df, "index", None), "names", None) or [])]
        hint = f"; {' and '.join(index)} is in its index: give {table}.reset_index()" if index else ""
        if missing == ["unique_id"] and table == "df" and library(df) == "pandas":
            other = "id_col names another one, and " if takes_ids else ""
            hint = hint or f'; {other}of one series alone give df.assign(unique_id="series")'
        raise ColumnError(f"{table} has no column {', '.join(missing)}; it has {', '.join(found)}{hint}")
    check_once(found, names, table)


def check_once(found: Sequence[str], names: Sequence[str], table: str) -> None:
    """Checks that no two columns of a table have one of these names, of all that it has.

    Raises:
        ValueError: If they do.
    """
    if len(set(found)) == len(found):
        return
    for name in names:
        if (times := found.count(name)) > 1:
            raise ValueError(f"{table}: expected one column `{name}`, found {times}; rename or drop the others")


def select(df: Any, names: Sequence[str]) -> Any:
    """The columns of these names that a table has."""
    found = columns(df)
    names = [name for name in dict.fromkeys(names) if name in set(found)]
    match library(df):
        case "pandas":
            return df[names]
        case "polars":
            # Not `select`, which asks the engine of lazy tables: that takes longer than a forecast.
            return df.clone() if names == found else _polars_frame([df.get_column(name) for name in names])
        case "pyarrow":
            return df.select(names)
        case _:
            return df


def _polars_frame(columns: Sequence[Any]) -> Any:
    """Columns of polars as a table."""
    import polars as pl

    return pl.DataFrame(columns)


def taken(df: Any, names: Sequence[str]) -> dict[str, Any] | None:
    """The columns of these names that a table of pandas has, None of another library: pandas makes each anew that is asked for."""
    return {name: df[name] for name in names} if library(df) == "pandas" else None


def kind_of(df: Any, id_col: str, time_col: str, of_pandas: Mapping[str, Any] | None = None) -> Kind:
    """What a table looks like; ``of_pandas`` are its columns that were `taken`."""
    match library(df):
        case "pandas":
            of_pandas = df if of_pandas is None else of_pandas
            ids = of_pandas[id_col]
            return Kind("pandas", ids.dtype, of_pandas[time_col].dtype, _ids_by_text(ids))
        case "polars":
            return Kind("polars", df.schema[id_col], df.schema[time_col])
        case "pyarrow":
            return Kind("pyarrow", df.schema.field(id_col).type, df.schema.field(time_col).type)
        case _:
            return Kind("arrow", None, None)


def _ids_by_text(column: Any) -> dict[str, Any]:
    """The ids of a column of pandas by their texts, if they are neither texts nor numbers that texts become again.

    Raises:
        ValueError: If two ids have the same text.
    """
    import pandas as pd

    dtype = column.dtype
    if _arrow_texts.are_arrow(dtype):
        return {}
    if dtype == object and (_only_text(column.to_numpy()) is not None or pd.api.types.infer_dtype(column, skipna=True) == "string"):
        return {}
    if isinstance(dtype, pd.CategoricalDtype):
        values = dtype.categories
    elif pd.api.types.is_bool_dtype(dtype) or _is_beyond_int64(column):
        values = column.dropna().unique()
    elif dtype == object:
        values = column
    else:
        return {}
    if pd.api.types.infer_dtype(values, skipna=True) in ("string", "empty") or pd.api.types.is_signed_integer_dtype(values.dtype):
        return {}
    values = pd.Index(values).dropna().unique().tolist()
    by_text = {str(value): value for value in values}
    if len(by_text) < len(values):
        twice = next(str(value) for value in values if by_text[str(value)] is not value)
        raise ValueError(f"column `{column.name}`: ids are told apart by their texts; found two of different types with the text {twice!r}")
    return by_text


def _is_beyond_int64(column: Any) -> bool:
    """Whether a column of pandas has whole numbers that 64 bits with a sign do not hold."""
    import pandas as pd

    return bool(pd.api.types.is_unsigned_integer_dtype(column.dtype) and len(column) and column.max() > 2**63 - 1)


def _only_text(values: Any) -> str | None:
    """The text that all objects of an array are, as of the ids of one series; None if they differ or are no texts."""
    # Of several series the last one's id differs, so that the rest is looked at of one alone.
    if not len(values) or type(values[0]) is not str or type(values[-1]) is not str or values[0] != values[-1]:
        return None
    text: str = values[0]
    try:
        return text if (values == text).all() else None
    except TypeError:
        # What is missing has no truth.
        return None


def to_engine(
    df: Any, id_col: str, time_col: str | None, labels: Sequence[str] = (), only: Sequence[str] | None = None,
    of_pandas: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """A table as the engine reads it, or those of its columns that are in ``only``; the columns of ``labels`` hold categories, and ``of_pandas``
    are those that were `taken`. Only of pandas, and of truth values, anything is copied."""
    if only is not None and library(df) != "pandas":
        df = select(df, only)
    match library(df):
        case "pandas":
            return _pandas_table(df, id_col, time_col, labels, only) if of_pandas is None else _table(of_pandas, id_col, time_col, labels)
        case "polars":
            return _numbers_of_truths_in_polars(df, [id_col, *labels])
        case "pyarrow":
            return _numbers_of_truths_in_pyarrow(df, [id_col, *labels])
        case _:
            return df


def _numbers_of_truths_in_polars(df: Any, labels: Sequence[str]) -> Any:
    """A table of polars whose truth values are 0 and 1, but for ids and categories."""
    import polars as pl

    truths = [name for name, dtype in df.schema.items() if dtype == pl.Boolean and name not in labels]
    return df.with_columns(pl.col(truths).cast(pl.Int8)) if truths else df


def _numbers_of_truths_in_pyarrow(df: Any, labels: Sequence[str]) -> Any:
    """The same of pyarrow."""
    import pyarrow as pa

    for place, column in enumerate(df.schema):
        if pa.types.is_boolean(column.type) and column.name not in labels:
            df = df.set_column(place, column.name, df.column(place).cast(pa.int8()))
    return df


def _pandas_table(df: Any, id_col: str, time_col: str | None, labels: Sequence[str], only: Sequence[str] | None) -> _foretell.Table:
    found = columns(df)
    names = found if only is None else [name for name in found if name in set(only)]
    check_once(found, names, "the table")
    return _table({name: df[name] for name in names}, id_col, time_col, labels)


def _table(columns: Mapping[str, Any], id_col: str, time_col: str | None, labels: Sequence[str]) -> _foretell.Table:
    """Columns of pandas as the engine reads them."""
    table = _foretell.Table()
    for name, column in columns.items():
        if _arrow_texts.are_arrow(column.dtype):
            table.array(name, _arrow_texts.array_of(column))
        elif not _add_numpy(table, name, column):
            _add_column(table, name, column, [id_col, *labels], name == id_col, name == time_col)
    return table


def _add_numpy(table: _foretell.Table, name: str, column: Any) -> bool:
    """Adds a column of pandas that is an array of numbers or times of numpy, in which nothing needs to be looked for; tells whether it is."""
    dtype = column.dtype
    # Types of pandas' own have a kind, too, and no such text.
    text = getattr(dtype, "str", "")
    if text in _NUMBERS:
        table.numbers(name, text[1:], column.values.tobytes())
    elif text in _TIMES:
        # Not `to_numpy`, which takes five times as long for times.
        table.times(name, text[4:-1], None, column.values.tobytes())
    else:
        return False
    return True


#: What numpy calls types whose bytes the engine reads, in the order of this machine.
_ORDER = "<" if byteorder == "little" else ">"
_NUMBERS = frozenset(f"{_ORDER}{kind}" for kind in ("f4", "f8", "i4", "i8"))
_TIMES = frozenset(f"{_ORDER}M8[{unit}]" for unit in ("s", "ms", "us", "ns"))


def _add_column(table: _foretell.Table, name: str, column: Any, labels: Sequence[str], is_id: bool, is_time: bool) -> None:
    """Adds any other column of pandas; those of ``labels``, and ids and times, may be texts."""
    import pandas as pd

    if is_id and column.dtype == object and (text := _only_text(column.to_numpy())) is not None:
        table.texts(name, bytes(4 * len(column)), [text])
        return
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if is_time and pd.api.types.is_timedelta64_dtype(column.dtype):
        first = f'pandas.Timestamp("2024-01-01") + df["{name}"]'
        raise ValueError(f"time_col: column `{name}` holds durations, not times: add them to the first time, as in {first}")
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        _add_times(table, name, column)
    elif name in labels and (pd.api.types.is_bool_dtype(column.dtype) or _is_beyond_int64(column)):
        _add_texts(table, name, column)
    elif pd.api.types.is_integer_dtype(column.dtype) and not column.isna().any() and not _is_beyond_int64(column):
        table.numbers(name, "i8", column.to_numpy(dtype="i8").tobytes())
    elif pd.api.types.is_complex_dtype(column.dtype):
        raise ValueError(f'column `{name}` holds complex numbers: give a part of them, as df["{name}"].abs()')
    elif pd.api.types.is_numeric_dtype(column.dtype):
        _add_floats(table, name, column)
    elif is_id and _are_integers(column):
        # In the order of numbers.
        table.numbers(name, "i8", column.to_numpy(dtype="i8").tobytes())
    elif is_id or is_time or name in labels or not _add_numbers_of_objects(table, name, column):
        _add_texts(table, name, column)


def _are_integers(column: Any) -> bool:
    """Whether a column of objects of pandas has integers alone, which 64 bits hold."""
    import pandas as pd

    if column.dtype != object or not len(column) or not hasattr(column.iloc[0], "__index__"):
        return False
    return bool(pd.api.types.infer_dtype(column, skipna=False) == "integer" and -(2**63) <= column.min() and column.max() < 2**63)


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
        # An array of objects by itself: of a column pandas looks for the type of its values first.
        codes, texts = pd.factorize(column.to_numpy() if column.dtype == object else column)
    table.texts(name, codes.astype("i4").tobytes(), [str(text) for text in texts])


def from_engine(frame: _foretell.Frame, kind: Kind, double: bool = False) -> Any:
    """A table of the engine in the kind of a user's, whose numbers are all of double precision if asked for."""
    match kind.module:
        case "pandas":
            return _to_pandas(frame, kind, double)
        case "polars":
            return _to_polars(frame, kind, double)
        case _:
            return _to_pyarrow(frame, kind, double)


def in_order_of_ids(table: Any, id_col: str, kind: Kind) -> Any:
    """A table whose series come in the order of the categories of their ids, if these are categories, or of their numbers, as in neuralforecast:
    the engine has texts in the order of their letters."""
    places = _places_in_order_of_ids(table, id_col, kind)
    if places is None:
        return table
    match kind.module:
        case "pandas":
            return table.iloc[places].reset_index(drop=True)
        case "polars":
            return table[places]
        case _:
            return table.take(places)


def _places_in_order_of_ids(table: Any, id_col: str, kind: Kind) -> Any:
    """The places of the rows of a table in the order of the categories of their ids, or of ids with a decimal point, which the engine has as
    texts; None if they stand in it, or ids are neither."""
    match kind.module:
        case "pandas" | "polars" if str(kind.id_type).lower().startswith(("float", "double")):
            codes = table[id_col].to_numpy()
        case "pyarrow" if str(kind.id_type) in ("halffloat", "float", "double"):
            codes = table.column(id_col).to_numpy()
        case "pandas" if hasattr(kind.id_type, "categories"):
            codes = table[id_col].cat.codes.to_numpy()
        case "polars" if str(kind.id_type).startswith("Enum"):
            codes = table[id_col].to_physical().to_numpy()
        case _:
            return None
    return codes.argsort(kind="stable") if (codes[1:] < codes[:-1]).any() else None


def places_of_series(ends: _foretell.Frame, kind: Kind) -> Sequence[int]:
    """The places of the engine's series, of each of which a table has a row, in the order in which users see them."""
    table = from_engine(ends, kind)
    places = _places_in_order_of_ids(table, ends.names[0], kind)
    return range(n_rows(table)) if places is None else list(places)


def followed(df: Any, later: Any, labels: Sequence[str]) -> Any:
    """The rows of a table and those of another, of whatever library, behind them, in its columns. Ids, times and categories, which
    ``labels`` are, have its types; numbers are of a type that holds those of both.

    Raises:
        ColumnError: If the other lacks a column.
    """
    names = columns(df)
    require(later, names, "val_df")
    match library(df):
        case "pandas":
            import pandas as pd

            later = pandas(later)[names]
            differing = [name for name in names if df[name].dtype != later[name].dtype]
            promoted = [name for name in differing if name not in labels and _are_numbers(df[name]) and _are_numbers(later[name])]
            # Beside numbers, truth values would become objects.
            truths = {name: later[name].dtype for name in promoted if pd.api.types.is_bool_dtype(df[name].dtype)}
            numbers = [name for name in promoted if not pd.api.types.is_bool_dtype(later[name].dtype)]
            later = later.astype({name: df[name].dtype for name in differing if name not in numbers})
            return pd.concat([df.astype(truths), later], ignore_index=True)
        case "polars":
            import polars as pl

            def is_number(kind: Any) -> bool:
                return bool(kind.is_numeric() or kind == pl.Boolean)

            later = (later if library(later) == "polars" else pl.from_arrow(arrow(later))).select(names)
            kinds = later.schema
            cast = {name: kind for name, kind in df.schema.items() if name in labels or not (is_number(kind) and is_number(kinds[name]))}
            return pl.concat([df, later.cast(cast)], how="vertical_relaxed")
        case _:
            return _followed_in_pyarrow(arrow(df), arrow(later).select(names), labels)


def _are_numbers(column: Any) -> bool:
    """Whether a column of pandas holds numbers or truth values."""
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column.dtype))


def _followed_in_pyarrow(df: Any, later: Any, labels: Sequence[str]) -> Any:
    """The same of pyarrow."""
    import pyarrow as pa

    for place, (name, one, other) in enumerate(zip(df.column_names, df.schema.types, later.schema.types)):
        is_number = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in (one, other)]
        if name not in labels and pa.types.is_boolean(one) and is_number[1]:
            df = df.set_column(place, name, df.column(place).cast(pa.int8()))
        elif name in labels or not all(is_number):
            later = later.set_column(place, name, later.column(place).cast(one))
    return pa.concat_tables([df, later], promote_options="permissive")


def _to_pandas(frame: _foretell.Frame, kind: Kind, double: bool) -> Any:
    import numpy as np
    import pandas as pd

    names = frame.names
    integers = frame.integers
    data = [repeated_ids(frame, kind)]
    for name in names[1:]:
        if name == names[1] or name == "cutoff":
            data.append(_times_of_pandas(np.frombuffer(frame.column(name), "i8"), frame.has_timestamps, frame.zone, kind))
        else:
            numbers = "i8" if name in integers else "f8" if frame.is_wide(name) else "f4"
            column = np.frombuffer(frame.column(name), numbers)
            data.append(column.astype("f8") if double and numbers == "f4" else column)
    known = _names_of_pandas(tuple(names))
    # The arrays are no one else's.
    if known is None:
        return pd.DataFrame(dict(zip(names, data)), copy=False)
    table = pd.DataFrame(dict(enumerate(data)), copy=False)
    table.columns = known.view()
    return table


@lru_cache(maxsize=32)
def _names_of_pandas(names: tuple[str, ...]) -> Any:
    """The names of columns as an index of pandas 3, which looks for their type, and so takes two thirds longer for a small table; None
    where an index holds objects, which someone may write to."""
    import pandas as pd

    index = pd.Index(names)
    return None if index.dtype == object else index


def repeated_ids(frame: _foretell.Frame, kind: Kind = Kind("pandas", None, None)) -> Any:
    """The ids of all rows of a table of the engine, for pandas."""
    import numpy as np

    ids, counts = frame.ids()
    rows = np.frombuffer(counts, "i8")
    if _arrow_texts.are_arrow(kind.id_type) and _arrow_texts.can_repeat():
        return _arrow_texts.repeated(ids, rows, kind.id_type)
    return _ids_of_pandas(ids, kind).repeat(rows)


def _ids_of_pandas(ids: Sequence[Any], kind: Kind) -> Any:
    import pandas as pd

    if kind.id_type is None:
        return pd.Index(ids)
    if kind.ids:
        return pd.Index([kind.ids.get(str(id), id) for id in ids], dtype=object).astype(kind.id_type)
    index = pd.Index(ids, dtype="i8" if ids and isinstance(ids[0], int) else object)
    if index.dtype == kind.id_type:
        return index
    if isinstance(kind.id_type, pd.CategoricalDtype):
        # Texts that are no categories would become NaN: numbers among these are numbers again first.
        index = index.astype(kind.id_type.categories.dtype)
    return index.astype(kind.id_type)


#: Microseconds since 1970 whose nanoseconds 64 bits hold, at most.
_NANOSECONDS = 2**63 // 1000


def _times_of_pandas(times: Any, has_timestamps: bool, zone: str | None, kind: Kind) -> Any:
    import pandas as pd

    if not has_timestamps:
        return pd.Index(times, dtype=kind.time_type)
    unit = getattr(kind.time_type, "str", "")
    if unit == f"{_ORDER}M8[us]":
        return times.view("M8[us]")
    if unit in _TIMES and len(times) and -_NANOSECONDS < times.min() and times.max() < _NANOSECONDS:
        return times.view("M8[us]").astype(kind.time_type)
    index = pd.DatetimeIndex(times.view("M8[us]"))
    if zone is not None:
        index = index.tz_localize("UTC").tz_convert(zone)
    if isinstance(kind.time_type, pd.PeriodDtype):
        return index.to_period(kind.time_type.freq)
    if kind.time_type is None:
        return _in_units_of_pandas(index)
    return index.astype(kind.time_type) if pd.api.types.is_datetime64_any_dtype(kind.time_type) else _in_units_of_pandas(index)


def _in_units_of_pandas(index: Any) -> Any:
    """Times in the unit that pandas makes of its own: nanoseconds before pandas 3, for years that these reach."""
    import pandas as pd

    try:
        return index.as_unit(pd.date_range("2000-01-01", periods=1).unit)
    except pd.errors.OutOfBoundsDatetime:
        return index


def _to_polars(frame: _foretell.Frame, kind: Kind, double: bool) -> Any:
    import polars as pl

    names = frame.names
    table = pl.DataFrame(frame)
    if double:
        table = table.with_columns(pl.col(pl.Float32).cast(pl.Float64))
    if kind.id_type is None:
        return table
    if table.schema[names[0]] != kind.id_type:
        table = table.with_columns(_ids_of_polars(names[0], kind))
    if frame.has_timestamps == kind.time_type.is_temporal():
        for place, name in enumerate(names):
            # Column by column, without the engine of lazy tables, which takes longer than a forecast.
            if (name == names[1] or (place and name == "cutoff")) and table.schema[name] != kind.time_type:
                table.replace_column(place, table.get_column(name).cast(kind.time_type))
    return table


def _ids_of_polars(name: str, kind: Kind) -> Any:
    """The column of ids in the type of a user's."""
    import polars as pl

    column = pl.col(name)
    # polars makes neither of texts by a cast.
    if kind.id_type == pl.Boolean:
        return column == "True"
    return column.str.to_date() if kind.id_type == pl.Date else column.cast(kind.id_type)


def _to_pyarrow(frame: _foretell.Frame, kind: Kind, double: bool) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        return frame
    table = pa.table(frame)
    if double:
        single = [place for place, column in enumerate(table.schema) if column.type == pa.float32()]
        for place in single:
            table = table.set_column(place, table.column_names[place], table.column(place).cast(pa.float64()))
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
            table = table.with_columns(_ids_of_polars(id_col, kind))
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


def index(column: Any) -> Any:
    """A column of pandas as an index of its name, one of another library as it is."""
    if type(column).__module__.split(".")[0] != "pandas":
        return column
    import pandas as pd

    return pd.Index(column, name=column.name)


def n_rows(df: Any) -> int:
    """Rows of a table."""
    rows = getattr(df, "num_rows", None)
    return int(rows) if rows is not None else len(df)
