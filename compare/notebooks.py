"""Run the notebooks of neuralforecast's documentation with their imports changed: python compare/notebooks.py FOLDER [words of names]

FOLDER holds the notebooks (`nbs/docs` of a checkout of neuralforecast), foretell and what they import is installed (matplotlib, ray, optuna,
utilsforecast, PyTorch, ...). Each runs in a process of its own, in an empty directory; a line says how many of its cells ran and which did
not, and why. What a notebook downloads is replaced by a small table of the same columns, and trainings take at most 3 steps: whether the
programs run is looked at, not how well they forecast; `--steps` and `--trials` say how many otherwise. `--package neuralforecast` runs the same cells by neuralforecast, for comparison.
"""

import argparse
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

#: The most steps of a training and trials of a search; `--steps` and `--trials` change them.
STEPS = int(os.environ.get("NOTEBOOK_STEPS", 3))
TRIALS = int(os.environ.get("NOTEBOOK_TRIALS", 2))


def table(ids, times, first=0, **columns):
    """Rows of some series: a season of 24 steps, and further columns by functions of the step."""
    steps = np.arange(first, first + len(times))
    parts = []
    for number, name in enumerate(ids):
        y = 100 + 10 * number + 20 * np.sin(2 * np.pi * steps / 24) + steps % 7
        others = {column: value(steps) for column, value in columns.items()}
        parts.append(pd.DataFrame({"unique_id": name, "ds": times, "y": y, **others}))
    return pd.concat(parts, ignore_index=True)


def m4_hourly(first=0, n=700):
    return table([f"H{i}" for i in range(1, 13)], np.arange(first + 1, first + n + 1), first)


EPF = {"gen_forecast": lambda t: 50.0 + t % 24, "system_load": lambda t: 80.0 + t % 12, "week_day": lambda t: t // 24 % 7}


def prices(future):
    first, n = (600, 24) if future else (0, 600)
    rows = table(["BE", "FR"], pd.date_range("2016-10-22", periods=624, freq="h")[first:first + n], first, **EPF)
    return rows.drop(columns="y") if future else rows


def demand():
    rows = table([f"FOODS_{i}" for i in range(1, 9)], pd.date_range("2015-01-01", periods=300, freq="D"))
    rows["y"] = (rows["y"] // 20 % 5).astype(float)
    return rows.rename(columns={"unique_id": "item_id", "ds": "timestamp", "y": "demand"})


#: What notebooks download, by the ends of the names.
DOWNLOADS = {
    "m4-hourly.parquet": m4_hourly,
    "M4-Hourly.csv": m4_hourly,
    "M4-Hourly-test.csv": lambda: m4_hourly(700, 48),
    "EPF_FR_BE.csv": lambda: prices(future=False),
    "EPF_FR_BE_futr.csv": lambda: prices(future=True),
    "EPF_FR_BE_static.csv": lambda: pd.DataFrame({"unique_id": ["BE", "FR"], "market_0": [1, 0], "market_1": [0, 1]}),
    "ERCOT-clean.csv": lambda: table(["ERCOT"], pd.date_range("2022-01-01", "2022-10-01", freq="h")),
    "train/target.parquet": demand,
    "air_passengers.csv": lambda: table([1], pd.date_range("1949-01-01", periods=144, freq="MS")),
}


def downloaded(otherwise):
    """A reader of tables that has the stand-ins for what is to be downloaded."""

    def read(path, *args, **kwargs):
        found = [make for end, make in DOWNLOADS.items() if str(path).endswith(end)]
        if not str(path).startswith("http") or not found:
            return otherwise(path, *args, **kwargs)
        return found[0]()

    return read


def ett_m2(directory, group):
    rows = table(["HUFL", "HULL", "LUFL", "LULL", "MUFL", "MULL", "OT"], pd.date_range("2016-07-01", periods=3500, freq="15min"))
    others = rows.assign(**{f"ex_{i}": np.cos(rows["y"] / i) for i in range(1, 5)}).drop(columns="y")
    return rows, others, None


def engines(directory, group, clip_rul):
    sensors = {f"s_{i}": lambda t, i=i: np.cos(t / i) for i in (2, 3, 4, 7, 8, 9, 11, 12, 13, 14, 15, 17, 20, 21)}
    return tuple(table(range(1, 7), np.arange(1, n + 1), first, **sensors) for first, n in ((0, 150), (150, 40)))


def tourism(directory, group):
    states, purposes = ["A", "B", "C"], ["Hol", "Bus"]
    bottom = [state + purpose for state in states for purpose in purposes]
    tags = {"Country": np.array(["TotalAll"]), "Country/State": np.array([s + "All" for s in states]),
            "Country/State/Region/Purpose": np.array(bottom)}
    tags |= {"Country/State/Region": tags["Country/State"], "Country/Purpose": tags["Country"]}
    sums = np.vstack([np.ones(6), np.kron(np.eye(3), np.ones(2)), np.eye(6)])
    names = [*tags["Country"], *tags["Country/State"], *bottom]
    times = pd.date_range("1998-01-01", periods=228, freq="MS")
    wide = table(bottom, times).pivot(index="ds", columns="unique_id", values="y")[bottom] @ sums.T
    wide.columns = names
    rows = wide.melt(ignore_index=False, var_name="unique_id", value_name="y").reset_index()
    return rows[["unique_id", "ds", "y"]], pd.DataFrame(sums, index=names, columns=bottom), tags


def monthly(*args, **kwargs):
    return table([f"M{i}" for i in range(1, 9)], np.arange(1, 151)), None, None


def stand_in_for_downloads():
    pd.read_csv, pd.read_parquet = downloaded(pd.read_csv), downloaded(pd.read_parquet)
    loaders = {"long_horizon": ("LongHorizon", ett_m2), "phm2008": ("PHM2008", engines), "hierarchical": ("HierarchicalData", tourism),
               "m4": ("M4", monthly), "m3": ("M3", monthly)}
    sys.modules["datasetsforecast"] = types.ModuleType("datasetsforecast")
    for module, (name, load) in loaders.items():
        made = types.ModuleType(f"datasetsforecast.{module}")
        setattr(made, name, type(name, (), {"load": staticmethod(load)}))
        sys.modules[made.__name__] = made


def as_program(source, package):
    """The source of a cell without what is IPython's, for another package, and with short trainings."""
    lines = [line for line in source.splitlines() if not re.match(r"\s*[%!]", line)]
    source = re.sub(r"\bneuralforecast\b(?!-)", package, "\n".join(lines))
    source = re.sub(r"\b(max_steps\"?'?\s*[=:]\s*)([\d_]+)", lambda m: m[1] + str(min(STEPS, int(m[2]))), source)
    source = re.sub(r"\b(MAX_STEPS = )\d+", rf"\g<1>{STEPS}", source)
    return re.sub(r"\b(num_samples=)(\d+)(?=[,)])", lambda m: m[1] + str(min(TRIALS, int(m[2]))), source)


def shorten_trainings(package):
    """Models that say nothing of steps have few, and those of searches as well."""
    models = importlib.import_module(f"{package}.models")
    for model in {value for value in vars(models).values() if isinstance(value, type) and "max_steps" in arguments_of(value)}:
        made = model.__init__

        def begin(self, *args, _made=made, **kwargs):
            kwargs["max_steps"] = min(kwargs.get("max_steps", STEPS), STEPS)
            kwargs["val_check_steps"] = min(kwargs.get("val_check_steps", STEPS), kwargs["max_steps"])
            _made(self, *args, **kwargs)

        if "__init__" in vars(model):
            begin.__signature__ = inspect.signature(made)
            model.__init__ = begin


def arguments_of(model):
    try:
        return inspect.signature(model).parameters
    except (TypeError, ValueError):
        return ()


def cells_of(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def run_cells(path, package, home):
    """Runs a notebook's cells one after the other, those after one that fails, too; prints what came of each as JSON."""
    import matplotlib

    # The scripts here have names of modules.
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).parent.resolve()]
    warnings.filterwarnings("ignore")
    matplotlib.use("Agg")
    os.chdir(home)
    stand_in_for_downloads()
    names = {"__name__": "__main__", "display": lambda *tables: None}
    programs = [as_program(cell, package) for cell in cells_of(path)]
    programs = [program for program in programs if program.strip()]
    shorten_trainings(package)
    failures = []
    for number, program in enumerate(programs):
        try:
            exec(compile(program, f"cell {number + 1}", "exec"), names)
        except BaseException as error:  # noqa: BLE001  what a cell raises is what is told
            message = str(error).strip().splitlines() or [""]
            failures.append([number + 1, f"{type(error).__name__}: {message[0][:240]}"])
    print("\nresult " + json.dumps({"cells": len(programs), "failures": failures}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--package", default="foretell")
    parser.add_argument("--minutes", type=float, default=5, help="for one notebook")
    parser.add_argument("--steps", type=int, default=STEPS, help="the most of a training: some programs need more than three for what they show")
    parser.add_argument("--trials", type=int, default=TRIALS, help="the most of a search")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        run_cells(given.folder, given.package, given.words[0])
        return
    notebooks = sorted(path for path in given.folder.rglob("*.ipynb") if all(word in path.name for word in given.words))
    notebooks = [path for path in notebooks if any("import NeuralForecast" in cell for cell in cells_of(path))]
    for path in notebooks:
        with tempfile.TemporaryDirectory() as home:
            command = [sys.executable, __file__, path.resolve(), home, "--one", "--package", given.package]
            try:
                short = {"NOTEBOOK_STEPS": str(given.steps), "NOTEBOOK_TRIALS": str(given.trials)}
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=60 * given.minutes, check=False, env={**os.environ, **short}
                )
            except subprocess.TimeoutExpired:
                print(f"{path.stem}: not done within {given.minutes:g} minutes", flush=True)
                continue
        said = [line for line in done.stdout.splitlines() if line.startswith("result ")]
        if not said:
            print(f"{path.stem}: ended without a result, {done.stderr.strip()[-300:]}", flush=True)
            continue
        result = json.loads(said[-1].removeprefix("result "))
        ran = result["cells"] - len(result["failures"])
        print(f"{path.stem}: {ran} of {result['cells']} cells", flush=True)
        for number, failure in result["failures"]:
            print(f"    cell {number}: {failure}", flush=True)


if __name__ == "__main__":
    main()
