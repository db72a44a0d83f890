"""Which rows of a table another one lacks, whatever libraries and types the two are of."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Any

from foretell import _foretell, _frames
from foretell._frames import library


def anti_join(expected: Any, given: Any, on: list[str]) -> Any:
    """The ids and times of a table of the engine that the table ``futr_df`` lacks.

    Raises:
        ColumnError: If ``futr_df`` has no ids or times.
        ValueError: If its times cannot be read, or have a zone where those of the series have none.
    """
    _frames.require(given, on, "futr_df")
    given = _frames.select(given, on)
    if _are_alike(expected, given, on):
        return _joined(expected, given, on)
    known = set(_keys(expected, given, on))
    keep = [place for place, key in enumerate(_keys(expected, expected, on)) if key not in known]
    return _taken(expected, keep, on)


def _are_alike(expected: Any, given: Any, on: list[str]) -> bool:
    """Whether a library joins the tables: they are of the same one, and of the same types."""
    if library(expected) != library(given):
        return False
    match library(expected):
        case "pandas":
            same = [expected[name].dtype == given[name].dtype for name in on]
            # Units of times may differ, zones not.
            return same[0] and (same[1] or all(str(df[on[1]].dtype).startswith("datetime64") and df[on[1]].dt.tz is None for df in (expected, given)))
        case "polars":
            return all(expected.schema[name] == given.schema[name] for name in on)
        case _:
            import pyarrow as pa

            types = [(expected.schema.field(name).type, given.schema.field(name).type) for name in on]
            return all(one == other and not pa.types.is_dictionary(one) for one, other in types)


def _joined(expected: Any, given: Any, on: list[str]) -> Any:
    match library(expected):
        case "pandas":
            merged = expected.merge(given.drop_duplicates(), on=on, how="left", indicator=True)
            return merged.loc[merged["_merge"] == "left_only", on].reset_index(drop=True)
        case "polars":
            return expected.join(given, on=on, how="anti", maintain_order="left")
        case _:
            return expected.join(given, keys=on, join_type="left anti")


def _taken(df: Any, places: Sequence[int], on: list[str]) -> Any:
    """Some rows of a table."""
    match library(df):
        case "pandas":
            return df.iloc[places][on].reset_index(drop=True)
        case "polars":
            return df[places]
        case _:
            import pyarrow as pa

            return df.take(pa.array(places, pa.int64()))


def _keys(expected: Any, df: Any, on: list[str]) -> Iterator[tuple[str, int]]:
    """The ids and times of rows as the engine compares them: texts, and numbers or microseconds."""
    ids, times = (_frames.lists(_frames.select(df, on))[name] for name in on)
    first = next(iter(_frames.lists(_frames.select(expected, on))[on[1]]), 0)
    numbers = numbers_of_times(times, on[1], not isinstance(first, int), _has_zone(first))
    return zip(map(str, ids), (numbers[time] for time in times))


def numbers_of_times(times: Iterable[Any], column: str, are_timestamps: bool, with_zone: bool, table: str = "futr_df") -> dict[Any, int]:
    """The number that the engine takes each time for: itself, or microseconds since 1970.

    Raises:
        ValueError: If one cannot be read, or has a zone where others have none.
    """
    distinct = list(dict.fromkeys(times))
    texts = [time for time in distinct if isinstance(time, str)]
    found, zone = _of_texts(texts, column, are_timestamps, table) if texts else ({}, False)
    zone = zone or any(map(_has_zone, distinct))
    for time in distinct:
        if not isinstance(time, str):
            found[time] = _number(time, column, are_timestamps, table)
    if are_timestamps and distinct and zone != with_zone:
        wanted, has = ("with a zone", "without one") if with_zone else ("without a zone", "with one")
        raise ValueError(
            f"{table}, column `{column}`: expected times {wanted}, as df has them; found times {has}, such as {distinct[0]}; "
            "give both the same zone, or none"
        )
    return found


def _has_zone(time: Any) -> bool:
    return getattr(time, "tzinfo", None) is not None


def _number(time: Any, column: str, are_timestamps: bool, table: str) -> int:
    if hasattr(time, "to_timestamp"):
        # A period of pandas stands for its start.
        time = time.to_timestamp()
    # What is missing in pandas is a datetime, too, that differs from itself.
    is_time = isinstance(time, date) and time == time
    if is_time and are_timestamps:
        moment = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc if _has_zone(moment) else None)
        return int((moment - epoch) // timedelta(microseconds=1))
    if not are_timestamps and isinstance(time, (int, float)) and time == int(time):
        return int(time)
    wanted = "a time such as 2024-12-31" if are_timestamps else "an integer"
    raise ValueError(f"{table}, column `{column}`: expected {wanted}, as df has there; found {time!r}; give both tables the same type of times")


def _of_texts(texts: list[str], column: str, are_timestamps: bool, table: str) -> tuple[dict[Any, int], bool]:
    """The numbers of times that are written, and whether a zone is with them: the engine reads them as those of series of one row."""
    rows = _foretell.Table()
    places = array("i", range(len(texts))).tobytes()
    rows.texts("id", places, [f"{place:09}" for place in range(len(texts))])
    rows.texts(column, places, texts)
    rows.numbers("value", "i4", bytes(4 * len(texts)))
    try:
        frame = _foretell.Panel(rows, "us" if are_timestamps else "1", "id", column, "value", [], []).rows()
    except ValueError as error:
        reason = str(error).partition(f"column `{column}`: ")[2] or str(error)
        raise ValueError(f"{table}, column `{column}`: {reason}") from None
    return dict(zip(texts, memoryview(frame.column(column)).cast("q"))), frame.zone is not None
