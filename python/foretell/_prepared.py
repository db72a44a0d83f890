"""Trained models for arrays of numpy: forecasts without tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from foretell import _ahead, _checks, _foretell, _levels
from foretell._data import Data
from foretell.errors import saying
from foretell.utils import PredictionIntervals

#: Most levels and quantiles whose columns are kept.
_MOST_ASKED = 64

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Course:
    """The settings that all forecasts share: models, horizon, intervals, whether quantiles are left unsorted, and whether forecasts beside
    levels are of double precision."""

    models: Sequence[Any]
    h: int
    intervals: PredictionIntervals | None
    raw_quantiles: bool
    is_double: bool


@dataclass(frozen=True)
class _Asked:
    """Levels or quantiles as the engine takes them, the columns that come out, and whether these are of double precision."""

    levels: _levels.Levels
    columns: frozenset[str]
    is_double: bool


class Prepared:
    """Trained models that forecast arrays of numpy: to the last bit what `NeuralForecast.predict` forecasts of tables with the same values,
    without the time that tables take. `NeuralForecast.prepared` makes it.

    It keeps the models as they were then, and what is known of the series beside their rows: their ids, the times that they end at,
    their static columns. Several threads may call it at once; they compute at once.

    Attributes:
        h: Steps that are forecast where no others are asked for.
        input_size: The last rows that the networks read; None if a model reads all.
        columns: The names of the columns that come out without levels and quantiles.
        ids: The ids of the series, in the order of their rows.
        hist: The columns beside the target that are read over the rows of `y`.
        futr: Those of them that are read over the steps ahead, too.
    """

    def __init__(self, fitted: _foretell.Fitted, data: Data, course: Course) -> None:
        self._course, self._fitted = course, fitted
        self.hist: list[str] = fitted.columns
        self.futr: list[str] = fitted.future_columns
        labels = [name for name in self.hist if name in fitted.categories]
        if labels:
            raise NotImplementedError(f"columns of categories are no arrays of numbers: {', '.join(labels)}; predict takes them in tables")
        self._engine = fitted.prepared(data.panel, course.raw_quantiles)
        if self._engine.n_series != data.panel.n_series:
            raise ValueError(
                f"the models forecast a hierarchy of {self._engine.n_series} series, and `like` has {data.panel.n_series} of them: "
                "give all, sums among them, so that arrays have a row for each"
            )
        self.h = course.h
        sizes = [getattr(model, "input_size", None) for model in course.models]
        read = [size for size in sizes if isinstance(size, int) and size > 0]
        self.input_size: int | None = max(read) if read and len(read) == len(sizes) else None
        self.ids: list[Any] = data.panel.future(0).ids()[0]
        self._named = list(zip(fitted.names, (model for model in course.models if not hasattr(model, "combine"))))
        self._kept: dict[Any, _Asked] = {}
        own = self._asked(None, None)
        self.columns = [name for name in fitted.forecast_columns() if name in own.columns]

    def __call__(
        self, y: Any, hist: Mapping[str, Any] | None = None, futr: Mapping[str, Any] | None = None, *,
        level: Sequence[float] | None = None, quantiles: Sequence[float] | None = None, h: int | None = None, last: Any = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Forecasts what follows the rows of series.

        Args:
            y: The target, ``[rows]`` of one series or ``[series, rows]``: an array of numbers or what numpy makes one of, without missing
                values. The series are those of `ids`, in their order; any other number of series is forecast as series that the models
                do not know, which end as the first of `ids` does.
            hist: The columns of `hist` over these rows, by name: arrays of the shape of ``y``.
            futr: The columns of `futr` over the steps ahead, by name: ``[h]`` or ``[series, h]``; or over the rows and the steps,
                ``[series, rows + h]``, so that ``hist`` need not have them.
            level: Percentages of central intervals, as for `NeuralForecast.predict`.
            quantiles: Quantiles in place of levels.
            h: Steps, at least those that the models forecast.
            last: The time of the last rows: one for all series, or one for each. None for those that the series of `prepared` ended at.

        Returns:
            The forecasts by the names of their columns: arrays ``[h]`` where ``y`` is of one axis, else ``[series, h]``.

        Raises:
            TypeError: If something is no array of numbers.
            ValueError: If a shape does not fit, a value is missing or infinite, or the models cannot forecast these series.
        """
        values = _numbers("y", y)
        if values.ndim not in (1, 2) or not values.size:
            raise ValueError(f"y must be [rows] of one series or [series, rows], with a row at least; found the shape {values.shape}")
        is_one = values.ndim == 1
        n_series, rows = (1, len(values)) if is_one else values.shape
        if n_series != self._engine.n_series and not self._engine.takes_any:
            raise ValueError(
                f"y must have a row for each of the {self._engine.n_series} series of `ids`, as the models read static columns or all series "
                f"together; found {n_series}: make another by prepared(like=...) with these series"
            )
        asked = self._asked(level, quantiles)
        h = self.h if h is None else _ahead.horizon(self._course.models, self.h, h, self._course.intervals)
        past: list[tuple[str, bytes]] = []
        ahead: list[tuple[str, bytes]] = []
        if self.hist or hist or futr:
            past, ahead = self._exogenous(hist or {}, futr or {}, (n_series, rows, h))
        times = None if last is None else self._times(last, n_series)
        try:
            found = self._engine.forecast(
                values.astype("f8", "C").tobytes(), n_series, past, ahead, h, asked.levels.level, asked.levels.quantiles, times
            )
        except ValueError as error:
            raise _reworded(error) from None
        forecasts: dict[str, Any] = {}
        for name, kind, data in found:
            if name in asked.columns:
                column: Any = np.frombuffer(data, kind)
                if asked.is_double and kind == "f4":
                    column = column.astype("f8")
                forecasts[name] = column if is_one else column.reshape(n_series, h)
        return forecasts

    def __repr__(self) -> str:
        return f"Prepared(h={self.h}, input_size={self.input_size}, columns={self.columns}, series={self._engine.n_series})"

    def _asked(self, level: Sequence[float] | None, quantiles: Sequence[float] | None) -> _Asked:
        """What is asked for, which is settled once for each."""
        key = None if level is None else tuple(level), None if quantiles is None else tuple(quantiles)
        if key not in self._kept:
            levels = _levels.asked(level, quantiles)
            columns = self._fitted.forecast_columns(levels.level, levels.quantiles)
            asked = _Asked(levels, frozenset(levels.names(columns, self._named)), self._course.is_double and bool(levels))
            if len(self._kept) >= _MOST_ASKED:
                self._kept.clear()
            self._kept[key] = asked
            return asked
        return self._kept[key]

    def _exogenous(
        self, hist: Mapping[str, Any], futr: Mapping[str, Any], shape: tuple[int, int, int]
    ) -> tuple[list[tuple[str, bytes]], list[tuple[str, bytes]]]:
        """The columns that the models read, over the rows and over the steps ahead."""
        n_series, rows, h = shape
        for given, known, argument in ((hist, self.hist, "hist"), (futr, self.futr, "futr")):
            if unread := [name for name in given if name not in known]:
                raise ValueError(f"{argument}: the models read no column {', '.join(unread)}; they read {', '.join(known) or 'none'}")
        past = {name: _matrix(f"hist[{name!r}]", values, n_series, [rows]) for name, values in hist.items()}
        ahead = {}
        for name in self.futr:
            if name not in futr:
                raise ValueError(f"futr: column {name} is missing; give its values over the {h} steps ahead, [series, {h}]")
            values = _matrix(f"futr[{name!r}]", futr[name], n_series, [h, rows + h])
            ahead[name] = values[:, -h:]
            if values.shape[1] > h:
                past.setdefault(name, values[:, :rows])
        if missing := [name for name in self.hist if name not in past]:
            raise ValueError(f"hist: column {', '.join(missing)} is missing; give its values over the rows of y, [series, {rows}]")
        return _bytes(past), _bytes(ahead)

    def _times(self, last: Any, n_series: int) -> list[int]:
        """Times as the engine counts them, one for each series."""
        is_one = isinstance(last, (str, datetime)) or np.ndim(last) == 0
        times = [self._time(last)] * n_series if is_one else [self._time(time) for time in last]
        if len(times) != n_series:
            raise ValueError(f"last must be one time, or one for each of the {n_series} series of y; found {len(times)}")
        return times

    def _time(self, time: Any) -> int:
        if not self._engine.has_timestamps:
            return _checks.count("last", time, -(2**63))
        if isinstance(time, (int, np.integer, float)):
            raise TypeError(f"last must be a timestamp, as the times of the series are; found {time!r}")
        if self._engine.zone is not None:
            if getattr(time, "tzinfo", None) is None:
                raise TypeError(f"last must have a zone, as the times of the series have ({self._engine.zone}); found {time!r}")
            return int((time - _EPOCH) // timedelta(microseconds=1))
        if getattr(time, "tzinfo", None) is not None:
            raise TypeError(f"last must have no zone, as the times of the series have none; found {time!r}")
        return int(np.datetime64(time, "us").astype("i8"))


def _numbers(name: str, values: Any) -> Any:
    """An array of numbers.

    Raises:
        TypeError: If it holds something else.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be an array of numbers; found one of {array.dtype}")
    return array


def _matrix(name: str, values: Any, n_series: int, steps: Sequence[int]) -> Any:
    """An array ``[series, steps]`` in single precision, which may have any of these numbers of steps.

    Raises:
        TypeError: If it holds no numbers.
        ValueError: If its shape is another.
    """
    array = _numbers(name, values)
    matrix = array[None] if array.ndim == 1 and n_series == 1 else array
    if matrix.ndim != 2 or len(matrix) != n_series or matrix.shape[1] not in steps:
        shapes = " or ".join(str((n_series, number)) for number in steps)
        raise ValueError(f"{name} must have the shape {shapes}; found {array.shape}")
    return matrix.astype("f4", "C")


def _bytes(columns: Mapping[str, Any]) -> list[tuple[str, bytes]]:
    return [(name, column.tobytes()) for name, column in columns.items()]


def _reworded(error: ValueError) -> ValueError:
    """An error of the engine without the remedies that arrays do not have."""
    text = str(error)
    if " is missing" in text:
        text = f"{text.partition(' is missing')[0]} is missing; arrays hold a number in every row: predict takes available_mask in tables"
    return saying(error, text)
