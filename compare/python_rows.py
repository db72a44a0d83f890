"""How long foretell's Python package takes to read a table: pandas, polars and pyarrow, with ids of each kind.

    python compare/python_rows.py [--rows 10000000] [--series 10000] [--repeats 3] [--kinds pandas-str pandas-category polars-str]

The package must be importable: install the wheel that `cargo xtask python --profile dist` builds, since the profile of the tests leaves the
readers of tables unoptimised. Rows are hourly, in the order of series and times, with values in double precision. It prints a table in
Markdown: the seconds of the best reading, and the share of them that turns a table into the engine's columns, which is nothing where tables
are Arrow's.
"""

import argparse
import time

import numpy as np

KINDS = [
    "pandas-str", "pandas-object", "pandas-category", "pandas-int", "polars-str", "polars-categorical", "polars-int", "pyarrow-str",
    "pyarrow-dictionary", "pyarrow-int",
]  # fmt: skip


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    return parser.parse_args()


def table(kind, n_series, length):
    library, ids = kind.split("-")
    codes = np.repeat(np.arange(n_series, dtype="i8"), length)
    names = np.array([f"id_{series:06d}" for series in range(n_series)], dtype=object)
    ds = np.tile((np.datetime64("2020-01-01", "h") + np.arange(length)).astype("M8[ns]"), n_series)
    y = np.random.default_rng(1).normal(size=n_series * length)
    if library == "pandas":
        import pandas as pd

        column = codes if ids == "int" else pd.Categorical.from_codes(codes, names) if ids == "category" else pd.Series(names[codes], dtype=ids)
        return pd.DataFrame({"unique_id": column, "ds": ds, "y": y})
    if library == "polars":
        import polars as pl

        frame = pl.DataFrame({"unique_id": codes if ids == "int" else pl.Series(names[codes].tolist()), "ds": ds, "y": y})
        return frame.with_columns(pl.col("unique_id").cast(pl.Categorical)) if ids == "categorical" else frame
    import pyarrow as pa

    column = pa.DictionaryArray.from_arrays(codes.astype("i4"), pa.array(names.tolist()))
    column = pa.array(codes) if ids == "int" else column.dictionary_decode() if ids == "str" else column
    return pa.table({"unique_id": column, "ds": ds, "y": y})


def seconds(df, threads):
    """Those of the whole reading, and of what comes before the engine's."""
    from foretell import _foretell, _frames

    start = time.perf_counter()
    columns = _frames.to_engine(df, "unique_id", "ds")
    turned = time.perf_counter() - start
    panel = _foretell.Panel(columns, "h", "unique_id", "ds", "y", [], [], None, threads)
    whole = time.perf_counter() - start
    assert panel.n_series * panel.max_len == len(df)
    return whole, turned


def main():
    args = parse()
    print("| table | seconds | of these to columns |\n|---|---|---|", flush=True)
    for kind in args.kinds:
        df = table(kind, args.series, args.rows // args.series)
        whole, turned = min(seconds(df, args.threads) for _ in range(args.repeats))
        print(f"| {kind} | {whole:.3f} | {turned:.3f} |", flush=True)


if __name__ == "__main__":
    main()
