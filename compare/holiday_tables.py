"""Writes crates/holidays/tables/holidays.deflate: the public holidays of all countries, 1990 to 2050.

    pip install holidays==0.109 && python compare/holiday_tables.py

The layout is in crates/holidays/src/table.rs.
"""

import collections
import warnings
import zlib
from pathlib import Path

import holidays

OUT = Path("crates/holidays/tables/holidays.deflate")
YEARS = range(1990, 2051)


def by_name(country):
    """The dates of each holiday, both in order of time. A date of two holidays is one of each."""
    found = collections.defaultdict(list)
    for date, names in sorted(holidays.country_holidays(country, years=YEARS, language="en_US").items()):
        for name in dict.fromkeys(names.split("; ")):
            found[name].append(date)
    return found


def sequence(dates):
    cells, year, day = [], YEARS[0] - 1, 0
    for date in dates:
        years, now = date.year - year, 32 * date.month + date.day
        cells.append(f"{'' if years == 1 else years}{'' if now == day else format(now - day, '+d')}")
        year, day = date.year, now
    return ",".join(cells)


def main():
    warnings.simplefilter("ignore")  # Some calendars end before 2050.
    countries = {country: by_name(country) for country in sorted(holidays.list_supported_countries(False))}
    counts = collections.Counter(name for found in countries.values() for name in found)
    names = {name: number for number, (name, _) in enumerate(counts.most_common())}
    sequences, lines = {}, []
    for country, found in countries.items():
        lines.append(country)
        for name, dates in found.items():
            number = sequences.setdefault(sequence(dates), len(sequences))
            lines.append(f"{names[name]} {number}")
    text = "\n\n".join("\n".join(part) for part in (names, sequences, lines))
    deflate = zlib.compressobj(9, wbits=-15)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_bytes(deflate.compress(text.encode()) + deflate.flush())


if __name__ == "__main__":
    main()
