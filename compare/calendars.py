"""Write where pandas' calendars lead, for ours: python compare/calendars.py"""

import json

import common
import pandas as pd
from pandas.tseries.offsets import BusinessHour, CustomBusinessDay, FY5253, FY5253Quarter

# On grids and off them: leap days, ends of months and years, weekends, times of day.
TIMES = ["2019-12-31 00:00", "2020-02-29 00:00", "2020-05-31 12:30", "2021-01-02 09:00", "2021-02-14 23:00",
         "2022-07-01 10:00", "2023-09-29 17:00", "2024-02-03 16:30", "1969-06-15 00:00", "2100-03-01 08:59"]
STEPS = [1, 2, 5, 13, 70, -1, -2, -7, -30]
WORDS = ["BMS", "BME", "BQS-JAN", "BQS-FEB", "BQE-DEC", "BQE-NOV", "BYS-JAN", "BYS-APR", "BYE-DEC", "BYE-JUN", "SMS-15",
         "SMS-10", "SME-15", "SME-20", "bh", "B", "ME", "QE-OCT", "YS-MAR", "W-WED"]
HOLIDAYS = ["2019-12-25", "2019-12-26", "2020-01-01", "2020-02-28", "2021-01-01", "2024-02-02", "2024-02-05", "2024-02-10"]


def offsets():
    for word in WORDS:
        yield word, pd.tseries.frequencies.to_offset(word)
    yield "bh-08:00-18:00", BusinessHour(start="08:00", end="18:00")
    yield "bh-09:00-12:00,13:00-17:00", BusinessHour(start=["09:00", "13:00"], end=["12:00", "17:00"])
    yield "C-1111110", CustomBusinessDay(weekmask="1111110")
    yield "C-1111100," + ",".join(HOLIDAYS[:-1]), CustomBusinessDay(holidays=HOLIDAYS)
    yield "C-0101010", CustomBusinessDay(weekmask="Tue Thu Sat")
    for variation, letter in [("nearest", "N"), ("last", "L")]:
        for month, weekday, names in [(1, 5, "JAN-SAT"), (12, 6, "DEC-SUN"), (8, 0, "AUG-MON")]:
            year = {"startingMonth": month, "weekday": weekday, "variation": variation}
            yield f"RE-{letter}-{names}", FY5253(**year)
            yield f"REQ-{letter}-{names}-4", FY5253Quarter(qtr_with_extra_week=4, **year)
            yield f"REQ-{letter}-{names}-1", FY5253Quarter(qtr_with_extra_week=1, **year)


def main():
    cases = {}
    for word, offset in offsets():
        landings = {}
        for time in TIMES:
            landings[time] = [str(pd.Timestamp(time) + n * offset) for n in STEPS]
        cases[word] = landings
    path = common.fixtures("calendar") / "calendars.json"
    path.write_text(json.dumps({"steps": STEPS, "cases": cases}, separators=(",", ":")).replace("},", "},\n") + "\n")


if __name__ == "__main__":
    main()
