"""Frequencies as the engine reads them: from aliases, integers and the offset objects of pandas."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

#: The parts of a ``DateOffset`` that always last as long, in microseconds.
_MICROS = {
    "weeks": 604_800_000_000,
    "days": 86_400_000_000,
    "hours": 3_600_000_000,
    "minutes": 60_000_000,
    "seconds": 1_000_000,
    "milliseconds": 1_000,
    "microseconds": 1,
}

#: The engine's words for such lengths, the longest first.
_WORDS = (("h", _MICROS["hours"]), ("min", _MICROS["minutes"]), ("s", _MICROS["seconds"]), ("ms", 1_000), ("us", 1))

#: The parts that last as long as the calendar says, in months.
_MONTHS = {"months": 1, "years": 12}

_KNOWN = (
    "frequencies are integers, aliases such as D, B, h, 15min, W-SUN, MS (first days of months), ME (last days), QS, QE, YS and YE, "
    "and offsets of pandas that step as one of them"
)


def word(freq: Any) -> str | None:
    """A frequency as the engine reads it, but for months of a ``DateOffset``, which `by_times` makes a frequency of.

    Raises:
        ValueError: If a ``DateOffset`` does not step evenly.
    """
    if freq is None:
        return None
    name = type(freq).__name__
    if name == "DateOffset":
        return _of_date_offset(freq)
    if name == "CustomBusinessDay" and not freq.offset:
        return f"{_multiple(freq.n)}C-{_days(freq)}"
    if name in ("BusinessHour", "CustomBusinessHour") and not freq.offset:
        days = f"/{_days(freq)}" if name.startswith("Custom") else ""
        return f"{_multiple(freq.n)}bh-{_hours(freq)}{days}"
    return str(getattr(freq, "freqstr", freq))


def shown(freq: str | None) -> str:
    """A frequency as messages tell it: without a long list of holidays."""
    days, *holidays = str(freq).split(",")
    is_long = len(holidays) > 3 and "-" in days
    return f"{','.join([days, *holidays[:3]])},... ({len(holidays)} holidays)" if is_long else str(freq)


def by_times(freq: str | None, times: Callable[[], Iterable[datetime]]) -> str | None:
    """A frequency whose months begin or end where the times do; others unchanged.

    Raises:
        ValueError: If the times are neither first days of months nor last ones.
    """
    found = re.fullmatch(r"DateOffset\(months=(\d+)\)", freq or "")
    if found is None:
        return freq
    known = list(times())
    multiple = _multiple(int(found.group(1)))
    if known and all(time.day == 1 for time in known):
        return f"{multiple}MS"
    if known and all((time + timedelta(days=1)).day == 1 for time in known):
        return f"{multiple}ME"
    example = next((time for time in known if time.day != 1), None)
    raise ValueError(
        f"freq: expected, for {freq}, times that are all first days of months or all last days; found {example}; move the times there, "
        f"or give another frequency: {_KNOWN}"
    )


def _of_date_offset(freq: Any) -> str:
    parts = dict(freq.kwds) or {"days": 1}
    if freq.n > 0 and not freq.normalize:
        if set(parts) <= set(_MONTHS):
            months = freq.n * sum(_MONTHS[name] * count for name, count in parts.items())
            if months > 0:
                return f"DateOffset(months={months})"
        if set(parts) <= set(_MICROS):
            micros = freq.n * sum(_MICROS[name] * count for name, count in parts.items())
            if micros > 0:
                return _of_micros(int(micros), set(parts) <= {"weeks", "days"})
    raise ValueError(
        f"freq: expected a DateOffset forward by months and years, or by weeks, days, hours, minutes and seconds; found {freq!r}; {_KNOWN}"
    )


def _of_micros(micros: int, in_days: bool) -> str:
    """So much time: days go by the calendar of a zone, hours by the clock."""
    if in_days:
        return f"{_multiple(micros // _MICROS['days'])}D"
    unit, length = next((unit, length) for unit, length in _WORDS if micros % length == 0)
    return f"{_multiple(micros // length)}{unit}"


def _multiple(count: int) -> str:
    return "" if count == 1 else str(count)


def _days(freq: Any) -> str:
    """The open days of a week, from Monday on, and the holidays of a custom offset."""
    week = "".join("1" if is_open else "0" for is_open in freq.calendar.weekmask)
    return ",".join([week, *(str(holiday) for holiday in freq.calendar.holidays)])


def _hours(freq: Any) -> str:
    """The opening hours; those until midnight end at 24:00."""
    spans = ((f"{start:%H:%M}", f"{end:%H:%M}") for start, end in zip(freq.start, freq.end))
    return ",".join(f"{start}-{'24:00' if end == '00:00' else end}" for start, end in spans)


#: Whole numbers below this may be steps that were read as nanoseconds since 1970; no data have times so near to each other.
_MOST_STEPS = 1_000_000


def of_nanoseconds(df: Any, time_col: str, freq: str | None, table: str) -> Any:
    """A table of pandas whose times are steps 1, 2, 3, ... which `pandas.to_datetime` took for nanoseconds, with times of the frequency in their
    place, as neuralforecast trains on such rows; None if it is no such table."""
    if not type(df).__module__.startswith("pandas") or freq is None or freq.isdecimal():
        return None
    import numpy as np
    import pandas as pd

    column = df[time_col]
    # Types of pandas' own, as of times with a zone, have such a text, too.
    if not isinstance(column.dtype, np.dtype) or column.dtype.str[1:] != "M8[ns]" or column.isna().any():
        return None
    steps = column.to_numpy().view("i8")
    if steps.min() < 0 or steps.max() >= _MOST_STEPS:
        return None
    try:
        times = pd.date_range("1970-01-01", periods=int(steps.max()) + 1, freq=freq).as_unit("ns")
    except (ValueError, OverflowError):
        return None
    warnings.warn(
        f"{table}, column `{time_col}`: the times are whole numbers that were read as nanoseconds, from {steps.min()} to {steps.max()}; they are taken "
        f"for steps of freq={freq!r} from {times[0].date()}: leave pandas.to_datetime out and give freq=1 to keep the numbers",
        stacklevel=5,
    )
    return df.assign(**{time_col: times[steps]})
