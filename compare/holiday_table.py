"""Write the table of public holidays: python compare/holiday_table.py

The days are those of the PyPI package `holidays` (MIT licence), 1990 to 2050, with English names where it has them. It is
installed apart from the other scripts' requirements: pip install holidays==0.109

`crates/features/data/holidays.bin` is, with numbers as LEB128:

    number of names, then each name: its bytes in UTF-8, their number before them
    number of countries, then each country: two letters, the bytes of what follows for it, and
        for each holiday: the place of its name, 2 * days + (1 if it is the same day of each year), the first day, counted from
        1990-01-01, and, unless it is the same day of each year, for each further day its distance from the one before, less
        365, with the sign in the lowest bit
"""

import datetime
import warnings
from pathlib import Path

import holidays

FIRST, LAST = 1990, 2050
PATH = Path(__file__).parent.parent / "crates/features/data/holidays.bin"


def number(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value):
    return number(2 * value if value >= 0 else -2 * value - 1)


def days_by_name(country):
    languages = getattr(holidays, country).supported_languages
    language = "en_US" if "en_US" in languages else None
    days = {}
    for day, names in holidays.country_holidays(country, years=range(FIRST, LAST + 1), language=language).items():
        if FIRST <= day.year <= LAST:
            for name in names.split("; "):
                # The days of calendars that follow the moon are computed.
                days.setdefault(name.removesuffix(" (estimated)"), set()).add(day)
    return {name: sorted(found) for name, found in sorted(days.items())}


def encoded(days):
    first = days[0]
    leap = (first.month, first.day) == (2, 29)
    yearly = not leap and days == [first.replace(year=first.year + i) for i in range(len(days))
                                   if first.year + i <= LAST]
    out = number(2 * len(days) + yearly) + number((first - datetime.date(FIRST, 1, 1)).days)
    if not yearly:
        for before, day in zip(days, days[1:]):
            out += signed((day - before).days - 365)
    return out


def main():
    warnings.simplefilter("ignore")
    countries = sorted(code for code in holidays.list_supported_countries() if len(code) == 2)
    tables = {country: days_by_name(country) for country in countries}
    tables = {country: table for country, table in tables.items() if table}
    counts = {}
    for table in tables.values():
        for name in table:
            counts[name] = counts.get(name, 0) + 1
    # Names of many countries take one byte.
    names = sorted(counts, key=lambda name: (-counts[name], name))
    place = {name: i for i, name in enumerate(names)}
    out = number(len(names)) + b"".join(number(len(name.encode())) + name.encode() for name in names)
    out += number(len(tables))
    for country, table in tables.items():
        own = b"".join(number(place[name]) + encoded(days) for name, days in table.items())
        out += country.encode() + number(len(own)) + own
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_bytes(out)
    print(f"{len(tables)} countries, {len(names)} names, {len(out)} bytes, holidays {holidays.__version__}")


if __name__ == "__main__":
    main()
