"""The data of a forecaster: the user's tables, and the panel that the engine made of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any

from foretell import _checks, _foretell, _frames, _frequencies, _ids, _missing
from foretell._frames import library
from foretell.errors import ColumnError, saying

#: Columns with a meaning of their own, which are read where they are.
SPECIAL = ("available_mask", "sample_weight")


@dataclass
class Names:
    """The names of the columns of ids, times and the target.

    Several columns may make the ids together: tables are given ids in ``unique_id``, which the engine joins.
    """

    id_col: Any
    time_col: str
    target_col: str
    id_parts: tuple[str, ...] = ()
    #: Whether a user gave them, who may rename columns; else models have them.
    are_given: InitVar[bool] = True

    def __post_init__(self, are_given: bool) -> None:
        if isinstance(self.id_col, (list, tuple)) and self.id_col:
            parts = tuple(_checks.column_name("id_col", part) for part in self.id_col)
            if any("," in part for part in parts):
                raise ValueError(f"id_col: a comma stands between the columns that make ids together; rename those of {list(parts)} that hold one")
            if are_given and len(parts) > 1 and "unique_id" in parts:
                raise ValueError("id_col: ids that columns make together stand in unique_id: rename the column unique_id, which is one of these")
            self.id_col, self.id_parts = (parts[0], ()) if len(parts) == 1 else ("unique_id", parts)
        for argument in ("id_col", "time_col", "target_col"):
            setattr(self, argument, _checks.column_name(argument, getattr(self, argument)))

    @staticmethod
    def of_trained(fitted: _foretell.Fitted) -> Names:
        """Those that models were trained with."""
        ids, time_col, target_col = fitted.id_time_target
        return Names(ids.split(",") if "," in ids else ids, time_col, target_col, are_given=False)

    @property
    def all(self) -> list[str]:
        return [self.id_col, self.time_col, self.target_col]

    @property
    def of_engine(self) -> dict[str, str]:
        """The names as the engine keeps them: of several columns that make ids all, so that the command reads files that have these."""
        return {"id_col": ",".join(self.id_parts) or self.id_col, "time_col": self.time_col, "target_col": self.target_col}

    def joined(self, df: Any, table: str) -> Any:
        """A table with the column of ids; ``table`` is the argument that errors name."""
        return _ids.joined(df, self.id_parts, table)


@dataclass
class Reading:
    """What the engine reads of a table beside ids, times and the target."""

    freq: str | None
    columns: Sequence[str]
    categories: Sequence[str]
    threads: int = 0
    end: str | None = None
    #: Whether series of which no value is known are left out; else they are errors.
    leave_out: bool = False


@dataclass
class Data:
    """Series: tables of the user's kind, none of those that were loaded with models, and a panel of the engine's.

    Pickled without the panel, which is read again.
    """

    df: Any
    static_df: Any
    names: Names
    reading: Reading
    kind: _frames.Kind
    panel: _foretell.Panel

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "panel"}
        if self.df is None:
            if self.reading.columns or self.reading.categories:
                raise TypeError("series that were loaded with models are not pickled with their further columns: call fit or save instead")
            state["df"] = self.table(self.panel.rows())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.panel = read_panel(self.df, self.static_df, self.names, self.reading)

    def table(self, frame: _foretell.Frame, double: bool = False) -> Any:
        """A table of the engine in the user's kind, its series in the order of their ids there, whose numbers are all of double precision if
        asked for."""
        return _frames.in_order_of_ids(_frames.from_engine(frame, self.kind, double), frame.names[0], self.kind)

    def reworded(self, error: Exception, table: str) -> Exception:
        """An error of the engine that read this data, or ``table`` beside it, with the name of the table that is wrong."""
        named = re.search(r"column `([^`]*)`: ", str(error))
        statics = [] if self.static_df is None else _frames.columns(self.static_df)
        is_static = named is not None and named.group(1) in set(statics) - {*self.names.all, *self.reading.columns}
        return _of_statics(error) if is_static else _checks.reworded(error, table, self.kind.module)


def read(df: Any, static_df: Any, names: Names, reading: Reading, table: str = "df", is_kept: bool = True) -> Data:
    """Reads tables; ``table`` is the argument that errors name. With ``is_kept`` the result holds only the columns that are read, and
    the call is a training, which takes the names of columns.

    Raises:
        ColumnError: If a column is not there.
        ValueError: If a row is wrong; the error names it.
    """
    df = _frames.native(names.joined(df, table))
    found = _frames.columns(df)
    _frames.require(df, names.all, table, found, takes_ids=is_kept)
    wanted = read_ones(names, reading)
    _frames.check_once(found, wanted, table)
    if is_kept:
        df = _frames.select(df, wanted)
    static_df = None if static_df is None else statics(static_df, names)
    reading = replace(reading, freq=_frequencies.by_times(reading.freq, lambda: _times(df, names.time_col, table)))
    read_names = set(wanted)
    of_pandas = _frames.taken(df, [name for name in found if name in read_names])
    kind = _frames.kind_of(df, names.id_col, names.time_col, of_pandas)
    try:
        panel = read_panel(df, static_df, names, reading, table, of_pandas)
    except ColumnError as error:
        # The engine was given the columns that are read alone.
        raise ColumnError(re.sub(r"; it has [^;]*;", f"; it has {', '.join(found)};", str(error), count=1)) from None
    except ValueError as error:
        # neuralforecast takes the rows as they come, whatever freq says.
        stepped = _frequencies.of_nanoseconds(df, names.time_col, reading.freq, table) if "finer than a microsecond" in str(error) else None
        if stepped is not None:
            return read(stepped, static_df, names, reading, table, is_kept)
        followed = re.search(r"its times follow `([^`]+)`: set that frequency", str(error))
        if followed is None:
            raise
        warnings.warn(f"freq is {_frequencies.shown(reading.freq)}, but the times follow {followed.group(1)}, which is used instead", stacklevel=4)
        reading = replace(reading, freq=followed.group(1))
        panel = read_panel(df, static_df, names, reading, table, of_pandas)
    return Data(df, static_df, names, reading, kind, panel)


class UnfollowedError(ValueError):
    """Rows that do not continue the series of a training."""


def followed(data: Data, later: Any, table: str) -> Data:
    """The series with the rows of another table behind theirs; ``table`` is the argument that errors name.

    Raises:
        ColumnError: If it lacks a column.
        UnfollowedError: If the rows do not continue the series.
    """
    if data.df is None:
        raise UnfollowedError("the series were loaded with models")
    labels = [data.names.id_col, data.names.time_col, *data.names.id_parts, *data.reading.categories]
    df = _frames.followed(data.df, _frames.native(data.names.joined(later, table)), labels)
    try:
        panel = read_panel(df, data.static_df, data.names, data.reading, table)
    except ValueError as error:
        # The engine has read either table by itself.
        raise UnfollowedError(str(error)) from None
    return replace(data, df=df, panel=panel)


def statics(static_df: Any, names: Names) -> Any:
    """A static table that was checked.

    Raises:
        ColumnError: If it has no ids.
        ValueError: If a column comes twice.
    """
    static_df = _frames.native(static_df)
    if not _ids.is_by_part(_frames.columns(static_df), names.id_parts):
        static_df = names.joined(static_df, "static_df")
        _frames.require(static_df, [names.id_col], "static_df")
    found = _frames.columns(static_df)
    _frames.check_once(found, found, "static_df")
    return static_df


def statics_to_engine(static_df: Any, names: Names, reading: Reading) -> Any:
    """A static table as the engine reads it."""
    return None if static_df is None else _frames.to_engine(static_df, names.id_col, None, [*names.id_parts, *reading.categories])


def read_ones(names: Names, reading: Reading) -> list[str]:
    """The columns that are read of a table, if it has them."""
    return [*names.all, *SPECIAL, *reading.columns, *reading.categories]


def stored(panel: _foretell.Panel, names: Names, reading: Reading, tables: str | None) -> Data:
    """The series that were saved with models, as a table of the library that they came in, of pandas, or of what is installed."""
    return Data(None, None, names, reading, kind_of_loaded(tables), panel)


def kind_of_loaded(tables: str | None = None) -> _frames.Kind:
    """What tables are of that no user gave: of the library that data of a training were of, if it is installed."""
    library = next((name for name in (tables, "pandas", "polars") if name and find_spec(name)), "arrow")
    return _frames.Kind(library, None, None)


def read_panel(
    df: Any, static_df: Any, names: Names, reading: Reading, table: str = "df", of_pandas: Mapping[str, Any] | None = None
) -> _foretell.Panel:
    """The panel of tables that were checked; ``of_pandas`` are the columns that were taken of one of pandas."""
    try:
        return _panel(df, static_df, names, reading, of_pandas)
    except (ColumnError, ValueError) as error:
        if static_df is not None and _is_read_alone(df, names, reading):
            raise _of_statics(error) from None
        text = str(error).replace(str(reading.freq), _frequencies.shown(reading.freq))
        raise _checks.reworded(saying(error, text), table, library(df)) from None


def _panel(df: Any, static_df: Any, names: Names, reading: Reading, of_pandas: Mapping[str, Any] | None = None) -> _foretell.Panel:
    columns = names.of_engine
    if "unique_id" in names.id_parts:
        # The ids were joined there, and this part is no longer a column of its own.
        columns["id_col"] = names.id_col
    return _foretell.Panel(
        _frames.to_engine(df, names.id_col, names.time_col, reading.categories, read_ones(names, reading), of_pandas), reading.freq,
        columns["id_col"], columns["time_col"], columns["target_col"], list(reading.columns), list(reading.categories), statics_to_engine(static_df, names, reading),
        reading.threads, reading.end, reading.leave_out,
    )  # fmt: skip


def _is_read_alone(df: Any, names: Names, reading: Reading) -> bool:
    """Whether the engine reads the rows without the static table, so that an error is of the latter."""
    has = set(_frames.columns(df))
    try:
        _panel(df, None, names, replace(reading, categories=[name for name in reading.categories if name in has]))
    except ValueError:
        return False
    return True


def _of_statics(error: Exception) -> Exception:
    """An error of the static table, whose series have no rows to fill in."""
    text = str(_checks.reworded(error, "static_df")).replace("of the panel's series", "of the series of df")
    text = re.sub(r"is missing; fill it in .*", "is missing; write one value for each series", text)
    return saying(error, text)


def _times(df: Any, time_col: str, table: str) -> Iterable[datetime]:
    """The times of a table, each once."""
    values = dict.fromkeys(_frames.lists(_frames.select(df, [time_col]))[time_col])
    if any(isinstance(value, str) for value in values):
        numbers = _missing.numbers_of_times(values, time_col, True, False, table).values()
        return [datetime(1970, 1, 1) + timedelta(microseconds=number) for number in numbers]
    return [value.to_timestamp() if hasattr(value, "to_timestamp") else value for value in values if hasattr(value, "day")]


def freq_word(freq: Any) -> str | None:
    """A frequency as the engine reads it: an alias of pandas or polars, an integer, or an offset object of pandas."""
    return _frequencies.word(freq)
