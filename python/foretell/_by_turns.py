"""Tables that the memory of this machine does not hold: their rows go to the engine by files, which it reads one after another.

Rows of Spark, Dask and Ray come from the workers some at a time, in any order, and each goes to the file of its stretch of neighbouring
ids: so a series is whole in one file, and the series are in the order of those of one table. The files are gone when the engine has
read them; the numbers are then in files of its own, from which the system brings into memory what a training looks at.
"""

from __future__ import annotations

import os
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from foretell import _checks, _data, _foretell, _frames, _frequencies
from foretell._distributed import counted, distinct, with_ids
from foretell._parts import plain
from foretell._workers import Workers, workers_of

#: Rows that a file has, but for one that a single series fills; and files at most, all of which are open at a time: half of those that macOS
#: lets a program open where nothing else is said.
_ROWS, _FILES = 1 << 20, 128


def read(df: Any, static_df: Any, names: _data.Names, reading: _data.Reading, scratch: str | os.PathLike[str]) -> _data.Data:
    """The series of a table of Spark, Dask or Ray, or of files of Parquet, which are on disk: in files without names in ``scratch``.

    Raises:
        ColumnError: If a column is not there.
        ValueError: If a row is wrong.
    """
    static_df = None if static_df is None else _data.statics(static_df, names)
    with _of_files(df, names) if _frames.is_files(df) else _of_workers(df, names, reading, scratch) as (files, schema, times):
        _frames.require(None, names.all if not names.id_parts else [*names.id_parts, *names.all[1:]], "df", schema.names)
        reading = replace(reading, freq=_frequencies.by_times(reading.freq, times))
        columns = names.of_engine
        try:
            panel = _foretell.Panel.by_turns(
                files, os.fspath(scratch), reading.freq, columns["id_col"], columns["time_col"], columns["target_col"],
                list(reading.columns), list(reading.categories), _data.statics_to_engine(static_df, names, reading), reading.threads, reading.end,
            )  # fmt: skip
        except ValueError as error:
            raise _checks.reworded(error, "df", "pyarrow") from None
    kind = _frames.Kind("pyarrow", None, None)
    if names.id_col in schema.names:
        kind = _frames.kind_of(schema.empty_table(), names.id_col, names.time_col)
    return _data.Data(None, static_df, names, reading, kind, panel)


@contextmanager
def _of_files(paths: Sequence[Any], names: _data.Names) -> Iterator[tuple[list[str], pa.Schema, Any]]:
    """Files that are there."""
    import pyarrow.dataset as ds

    sets = [ds.dataset(str(path), format="parquet") for path in paths]

    def times() -> Iterable[Any]:
        parts = (batch.column(0).unique().to_pylist() for one in sets for batch in one.to_batches(columns=[names.time_col]))
        return dict.fromkeys(time for part in parts for time in part)

    yield [os.fspath(path) for path in paths], sets[0].schema, times


@contextmanager
def _of_workers(df: Any, names: _data.Names, reading: _data.Reading, scratch: Any) -> Iterator[tuple[list[str], pa.Schema, Any]]:
    """Files of the rows of a table of workers, which are gone afterwards."""
    workers = workers_of(df)
    df = with_ids(workers.read(df), names.id_parts, "df", workers)
    own = _data.Names(names.id_col, names.time_col, names.target_col)
    schema = workers.schema(df)
    _frames.require(None, own.all, "df", schema.names)
    wanted = [name for name in dict.fromkeys(_data.read_ones(own, reading)) if name in schema.names]
    schema = pa.schema([schema.field(name) for name in wanted])
    df = workers.only(df, wanted)
    bounds = _bounds(_rows_by_id(df, own.id_col, workers))

    def times() -> Iterable[Any]:
        of_times = workers.only(df, [own.time_col])
        found = workers.gathered(workers.each(of_times, distinct, workers.schema(of_times)))
        return dict.fromkeys(found.column(own.time_col).to_pylist())

    with tempfile.TemporaryDirectory(prefix="foretell-", dir=scratch) as home:
        paths = [os.path.join(home, f"{place:03}.arrows") for place in range(len(bounds) + 1)]
        with ExitStack() as stack:
            writers: dict[int, Any] = {}
            for piece in workers.pieces(df):
                table = _frames.to_engine(plain(piece).select(wanted).cast(schema), own.id_col, own.time_col, reading.categories)
                for place, rows in _by_file(table, own.id_col, bounds):
                    if place not in writers:
                        writers[place] = stack.enter_context(pa.ipc.new_stream(paths[place], rows.schema))
                    writers[place].write_table(rows)
        yield [paths[place] for place in sorted(writers)], schema, times


def _rows_by_id(df: Any, id_col: str, workers: Workers) -> list[tuple[str, int]]:
    """The ids in the order of the engine's panels, and their rows."""
    ids = workers.only(df, [id_col])
    schema = pa.schema([("id", pa.string()), ("rows", pa.int64())])
    found = workers.gathered(workers.each(ids, counted, schema))
    rows: dict[str, int] = {}
    for name, count in zip(found.column("id").to_pylist(), found.column("rows").to_pylist(), strict=True):
        rows[name] = rows.get(name, 0) + count
    return sorted(rows.items())


def _bounds(rows_by_id: list[tuple[str, int]]) -> list[str]:
    """The first ids of all files but the first."""
    each = max(_ROWS, -(-sum(rows for _, rows in rows_by_id) // _FILES))
    bounds, filled = [], 0
    for name, rows in rows_by_id:
        if filled and filled + rows > each:
            bounds.append(name)
            filled = 0
        filled += rows
    return bounds


def _by_file(table: pa.Table, id_col: str, bounds: list[str]) -> Iterator[tuple[int, pa.Table]]:
    """The rows by the places of their files."""
    if not bounds:
        yield 0, table
        return
    ids = table.column(id_col).combine_chunks().dictionary_encode()
    places = pa.array([bisect_right(bounds, str(name)) for name in ids.dictionary.to_pylist()], pa.int32()).take(ids.indices)
    for place in places.unique().to_pylist():
        yield place, table.filter(pc.equal(places, place))
