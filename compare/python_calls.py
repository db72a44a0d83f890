"""How long one call of foretell's Python package takes, from tables and from arrays, and how many calls several threads make.

    python compare/python_calls.py [--packages FOLDER ...] [--turns 3] [--series 1000] [--threads 8]

The interpreter needs numpy, pandas and polars. Each folder holds a package `foretell`; without any the installed one is measured. Several
take turns, each turn a process of its own, so that a busy machine slows all. NLinear forecasts 12 steps from the last 24 of monthly series of
120, on one thread. It prints a table in Markdown: the best call of all turns in microseconds, of one series and of many, where `engine`
is the engine's forecast of a panel that is made already; and how many times as many calls threads make as one thread, in the median of the
turns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import warnings

ROWS, H, INPUT_SIZE = 120, 12, 24
ONE, MANY, RATES = "one series", "many series, each", "calls by threads"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", default=[], metavar="FOLDER")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--turn", action="store_true", help="measure in this process, as JSON")
    return parser.parse_args()


def panel(n_series):
    import numpy as np
    import pandas as pd

    noise = np.random.default_rng(1).normal(size=(n_series, ROWS))
    y = 10 + 5 * np.sin(np.arange(ROWS) * np.pi / 6)[None, :] + noise
    ids = np.repeat([f"s{series:06d}" for series in range(n_series)], ROWS).astype(object)
    months = pd.date_range("2010-01-31", periods=ROWS, freq="ME")
    return pd.DataFrame({"unique_id": ids, "ds": np.tile(months, n_series), "y": y.ravel()})


def best(call, calls):
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


def rate(call, threads, seconds=1.0):
    """Calls a second."""
    calls, end = [0] * threads, time.perf_counter() + seconds

    def work(thread):
        while time.perf_counter() < end:
            call()
            calls[thread] += 1

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(calls) / seconds


def measure(n_series, threads):
    import polars as pl
    from foretell import NeuralForecast, models

    warnings.simplefilter("ignore")
    nf = NeuralForecast([models.NLinear(h=H, input_size=INPUT_SIZE, max_steps=5)], freq="ME", threads=1)
    many, one = panel(n_series), panel(1)
    nf.fit(panel(20))

    def calls(df):
        found = {"pandas": lambda: nf.predict(df), "polars": lambda table=pl.from_pandas(df): nf.predict(table)}
        if hasattr(nf, "prepared"):
            p, y = nf.prepared(like=df), df["y"].to_numpy().reshape(df["unique_id"].nunique(), -1)
            found["prepared"] = lambda: p(y)
        data = nf._given(nf._engine, df, None)
        found["engine"] = lambda: nf._engine.predict(data.panel, None, H)
        return found

    return {
        ONE: {name: best(call, 1000) for name, call in calls(one).items()},
        MANY: {name: best(call, 10) / n_series for name, call in calls(many).items()},
        RATES: {name: rate(call, threads) / rate(call, 1) for name, call in calls(one).items()},
    }


def main():
    args = parse()
    if args.turn:
        print(json.dumps(measure(args.series, args.threads)))
        return
    packages = args.packages or [None]
    turns = {package: [] for package in packages}
    command = [sys.executable, __file__, "--turn", "--series", str(args.series), "--threads", str(args.threads)]
    for _ in range(args.turns):
        for package in packages:
            env = os.environ if package is None else {**os.environ, "PYTHONPATH": package}
            done = subprocess.run(command, capture_output=True, text=True, env=env)
            if done.returncode:
                sys.exit(done.stderr[-2000:])
            turns[package].append(json.loads(done.stdout.splitlines()[-1]))
    ways = ["pandas", "polars", "prepared", "engine"]
    print(f"| package | | {' | '.join(ways)} |\n|---|---{'|---' * len(ways)}|")
    for package, measured in turns.items():
        for row, of_turns in ((ONE, min), (MANY, min), (RATES, statistics.median)):
            digits = 2 if row == RATES else 1
            found = [[turn[row][way] for turn in measured if way in turn[row]] for way in ways]
            cells = [f"{of_turns(values):.{digits}f}" if values else "" for values in found]
            print(f"| {package or 'installed'} | {row} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
