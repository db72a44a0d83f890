"""The memory of the machine that trains on a table of Dask: its rows gathered, or on disk, or fitted by the workers.

    python compare/engine_memory.py gathered | disk | workers [--series 4000] [--rows 5000] [--scratch /var/tmp]

Two workers are processes of their own, so that what is told is of the caller alone: memory of its own (without files that are mapped) at
its peak, beside that before the call. Models are the same either way, which the last number shows, a checksum.
"""

import argparse
import hashlib
import threading
import time

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client

from foretell import NeuralForecast
from foretell.models import NLinear, SeasonalNaive, Theta

def some_series(first, count, rows):
    """Rows of some series."""
    rng = np.random.default_rng(first)
    return pd.DataFrame({
        "unique_id": np.repeat(np.arange(first, first + count), rows),
        "ds": np.tile(np.datetime64("2000-01-01T00", "us") + np.arange(rows) * np.timedelta64(1, "h"), count),
        "y": rng.normal(50, 5, count * rows).round(2),
    })  # fmt: skip

def own_mb(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key)) / 1024

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=["gathered", "disk", "workers"])
    parser.add_argument("--series", type=int, default=4000)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--scratch", default="/var/tmp")
    args = parser.parse_args()
    parts = 40
    each = args.series // parts
    with Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None):
        df = dd.from_map(some_series, [each * part for part in range(parts)], count=each, rows=args.rows)
        models = [Theta(h=24), SeasonalNaive(h=24)] if args.way == "workers" else [NLinear(h=24, input_size=96, max_steps=50)]
        nf = NeuralForecast(models, freq="h", threads=2)
        before, peak, done = own_mb("RssAnon:"), [0.0], threading.Event()

        def watch():
            while not done.wait(0.02):
                peak[0] = max(peak[0], own_mb("RssAnon:"))

        watcher = threading.Thread(target=watch)
        watcher.start()
        begun = time.perf_counter()
        nf.fit(df, scratch=args.scratch if args.way == "disk" else None, by_workers=args.way == "workers")
        seconds = time.perf_counter() - begun
        done.set()
        watcher.join()
    learned = hashlib.sha256(nf._trained().to_bytes()).hexdigest()[:8]
    print(f"{args.way}: {before:.0f} MB before, {peak[0] - before:.0f} MB more at the peak, {seconds:.1f} s, {learned}")

if __name__ == "__main__":
    main()
