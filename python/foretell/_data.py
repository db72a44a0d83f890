"""The data of a forecaster: the user's tables, and the panel that the engine made of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from foretell import _checks, _foretell, _frames
from foretell.errors import ColumnError

#: Columns with a meaning of their own, which are read where they are.
SPECIAL = ("available_mask", "sample_weight")


@dataclass
class Names:
    """The names of the columns of ids, times and the target."""

    id_col: str
    time_col: str
    target_col: str

    @property
    def all(self) -> list[str]:
        return [self.id_col, self.time_col, self.target_col]


@dataclass
class Reading:
    """What the engine reads of a table beside ids, times and the target."""

    freq: str | None
    columns: Sequence[str]
    categories: Sequence[str]
    threads: int = 0
    end: str | None = None


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

    def table(self, frame: _foretell.Frame) -> Any:
        """A table of the engine in the user's kind."""
        return _frames.from_engine(frame, self.kind)


def read(df: Any, static_df: Any, names: Names, reading: Reading) -> Data:
    """Reads tables.

    Raises:
        ColumnError: If a column is not there.
        ValueError: If a row is wrong; the error names it.
    """
    df = _frames.native(df)
    _frames.require(df, names.all, "df")
    df = _frames.select(df, [*names.all, *SPECIAL, *reading.columns, *reading.categories])
    static_df = None if static_df is None else _frames.native(static_df)
    if static_df is not None:
        _frames.require(static_df, [names.id_col], "static_df")
    kind = _frames.kind_of(df, names.id_col, names.time_col)
    try:
        panel = read_panel(df, static_df, names, reading)
    except ValueError as error:
        # neuralforecast takes the rows as they come, whatever freq says.
        followed = re.search(r"its times follow `([^`]+)`: set that frequency", str(error))
        if followed is None:
            raise
        warnings.warn(f"freq is {reading.freq}, but the times follow {followed.group(1)}, which is used instead", stacklevel=4)
        reading = replace(reading, freq=followed.group(1))
        panel = read_panel(df, static_df, names, reading)
    return Data(df, static_df, names, reading, kind, panel)


def stored(panel: _foretell.Panel, names: Names, reading: Reading) -> Data:
    """The series that were saved with models, as a table of pandas, or of what is installed."""
    return Data(None, None, names, reading, kind_of_loaded(), panel)


def kind_of_loaded() -> _frames.Kind:
    """What tables are of that no user gave."""
    library = next((name for name in ("pandas", "polars") if find_spec(name)), "arrow")
    return _frames.Kind(library, None, None)


def read_panel(df: Any, static_df: Any, names: Names, reading: Reading) -> _foretell.Panel:
    """The panel of tables that were checked."""
    statics = None if static_df is None else _frames.to_engine(static_df, names.id_col, None, reading.categories)
    try:
        return _foretell.Panel(
            _frames.to_engine(df, names.id_col, names.time_col, reading.categories), reading.freq,
            names.id_col, names.time_col, names.target_col, list(reading.columns), list(reading.categories), statics, reading.threads,
            reading.end,
        )  # fmt: skip
    except (ColumnError, ValueError) as error:
        raise _checks.reworded(error, "df") from None


def freq_word(freq: Any) -> str | None:
    """A frequency as the engine reads it: an alias of pandas or polars, an integer, or an offset object of pandas."""
    if freq is None:
        return None
    return str(getattr(freq, "freqstr", freq))
