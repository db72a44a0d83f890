"""Write Parquet and Arrow files as pandas users do, for the reader: python compare/tables.py"""

import common
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


def panel(zone):
    """Three days of hours over the end of summer time, two series, of which one is shuffled."""
    hours = pd.date_range("2024-10-26 00:00", periods=72, freq="h", tz=zone)
    frames = []
    for i, shop in enumerate(["north", "süd"]):
        step = range(72)
        frames.append(pd.DataFrame({
            "shop": shop,
            "time": hours,
            "sales": [10 * i + t % 24 + 0.25 for t in step],
            "visits": [t * t for t in step],
            "open": [t % 24 > 7 for t in step],
        }))
    frames[1] = frames[1].sample(frac=1, random_state=1)
    return pd.concat(frames, ignore_index=True).astype({"shop": "category", "visits": "int32"})


def main():
    to = common.fixtures("data")
    berlin = panel("Europe/Berlin")
    berlin.to_parquet(to / "pandas.parquet", index=False)
    civil = panel(None)
    civil["sales"] = civil["sales"].astype("float32")
    schema = pa.schema([
        ("shop", pa.large_string()), ("time", pa.timestamp("ms")), ("sales", pa.float32()),
        ("visits", pa.int64()), ("open", pa.bool_()),
    ])
    table = pa.Table.from_pandas(civil, schema=schema, preserve_index=False, safe=False)
    pq.write_table(table, to / "arrow.parquet", compression="zstd", row_group_size=50, data_page_version="2.0")
    days = civil.assign(time=civil["time"].dt.date).drop_duplicates(["shop", "time"])
    days.to_parquet(to / "dates.parquet", index=False, compression=None)
    for codec in ["gzip", "brotli", "lz4"]:
        days.to_parquet(to / f"dates_{codec}.parquet", index=False, compression=codec)
    days.reset_index(drop=True).to_feather(to / "dates.feather", compression="lz4")
    table = pa.Table.from_pandas(days, preserve_index=False)
    zstd = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(to / "dates.arrows", table.schema, options=zstd) as stream:
        stream.write_table(table)
    hole = civil.assign(sales=civil["sales"].where(civil.index != 5))
    hole.to_parquet(to / "hole.parquet", index=False, compression="gzip")


if __name__ == "__main__":
    main()
