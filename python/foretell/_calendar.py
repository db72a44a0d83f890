"""Columns of the calendar, between -0.5 and 0.5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pandas as pd


class TimeFeature:
    """A part of times, scaled to [-0.5, 0.5]: call it with a ``pandas.DatetimeIndex``."""

    #: The index's attribute, its least value, and the distance to its greatest.
    _part: ClassVar[str] = ""
    _least: ClassVar[int] = 0
    _span: ClassVar[int] = 1

    def __call__(self, index: pd.DatetimeIndex) -> Any:
        part = index.isocalendar().week.to_numpy() if self._part == "week" else getattr(index, self._part)
        return (part - self._least) / self._span - 0.5

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SecondOfMinute(TimeFeature):
    """The second of the minute."""

    _part, _span = "second", 59


class MinuteOfHour(TimeFeature):
    """The minute of the hour."""

    _part, _span = "minute", 59


class HourOfDay(TimeFeature):
    """The hour of the day."""

    _part, _span = "hour", 23


class DayOfWeek(TimeFeature):
    """The day of the week, Monday first."""

    _part, _span = "day_of_week", 6


class DayOfMonth(TimeFeature):
    """The day of the month."""

    _part, _least, _span = "day", 1, 30


class DayOfYear(TimeFeature):
    """The day of the year."""

    _part, _least, _span = "day_of_year", 1, 365


class MonthOfYear(TimeFeature):
    """The month of the year."""

    _part, _least, _span = "month", 1, 11


class WeekOfYear(TimeFeature):
    """The ISO week of the year."""

    _part, _least, _span = "week", 1, 52


#: Columns by their features, from the finest to the coarsest.
_COLUMNS: dict[str, type[TimeFeature]] = {
    "minutesecond": SecondOfMinute,
    "hourminute": MinuteOfHour,
    "dayhour": HourOfDay,
    "weekday": DayOfWeek,
    "monthday": DayOfMonth,
    "yearday": DayOfYear,
}

#: Columns of a frequency; those of pandas 2.2 and above beside the older ones.
_BY_FREQ: dict[str, list[str]] = {
    **dict.fromkeys(["Q", "QE", "QS", "M", "ME", "MS"], ["month"]),
    "W": ["monthday", "yearweek"],
    **dict.fromkeys(["D", "B"], list(_COLUMNS)[3:]),
    **dict.fromkeys(["H", "h"], list(_COLUMNS)[2:]),
    **dict.fromkeys(["T", "min"], list(_COLUMNS)[1:]),
    **dict.fromkeys(["S", "s"], list(_COLUMNS)),
}
_FEATURES = {**_COLUMNS, "month": MonthOfYear, "yearweek": WeekOfYear}


def _columns_of(freq: str) -> list[str]:
    if freq not in _BY_FREQ:
        raise ValueError(f"Frequency not supported: expected one of {', '.join(_BY_FREQ)}; found {freq!r}")
    return _BY_FREQ[freq]


def time_features_from_frequency_str(freq_str: str) -> list[TimeFeature]:
    """The features that tell times of a frequency apart: "h" has hours, days of the week, month and year.

    Raises:
        ValueError: If there are none for it.
    """
    return [_FEATURES[column]() for column in _columns_of(freq_str)]


def augment_calendar_df(df: pd.DataFrame, freq: str = "H") -> tuple[pd.DataFrame, list[str]]:
    """A copy of a frame with columns of the calendar, computed from its column ``ds``.

    Args:
        df: The frame, of pandas.
        freq: What the columns are chosen by: "Q", "M", "MS", "W", "D", "B", "H", "T" (minutes) or "S", in pandas' newer spelling, too.

    Returns:
        The frame and the names of the new columns.
    """
    import pandas as pd

    times = pd.DatetimeIndex(pd.to_datetime(df["ds"].to_numpy()))
    names = _columns_of(freq)
    return df.assign(**{name: _FEATURES[name]()(times) for name in names}), list(names)
