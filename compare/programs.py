"""Programs that use neuralforecast, run by it and with their imports changed to foretell: python compare/programs.py [WORDS OF NAMES]

Both packages are installed. Each program of `compare/programs/` runs in a process of its own by each package, and shows what it has by
`show(name, value, ...)`; a function without arguments is called, so that what it raises is shown. What both show is compared: the columns of
tables, their types, index, ids, times, order of rows and missing values; shapes and types of arrays; other values by their texts; of errors,
whether both raise one, and whether what catches neuralforecast's catches foretell's too. Forecasts themselves differ, as trainings do. The exit
code is 1 if something differs that `ON_PURPOSE` does not name.
"""

import argparse
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")
PACKAGES = ("neuralforecast", "foretell")

#: Errors that neuralforecast's own code does not raise on purpose: foretell raises others in their place.
BY_CHANCE = ("AssertionError", "AttributeError", "IndexError", "RuntimeError")
LEVELS = "a model of quantiles has those of its training, others are an error"
DOUBLE = "single precision"
#: What is shown of a program that ends before its end.
ENDED = "the program itself"
#: What differs on purpose: a program, the beginning of the names of what is shown, and why.
ON_PURPOSE = [
    ("auto", "trials", "other order of columns"),
    ("auto", "best", "the whole configuration"),
    ("categories", "features", "neuralforecast refuses this alias of pandas"),
    ("conformal", "decimals", "the level as given, which neuralforecast rounds for distributions"),
    ("conformal", "none", "neuralforecast keeps the levels that were asked for last"),
    ("conformal", "a level", "no percentage"),
    ("cross_validation", "after refit", "what follows df"),
    ("datasets", "before", "neuralforecast forecasts by weights that nothing trained"),
    ("datasets", "loss", "a loss's text has its levels"),
    ("datasets", "hparams", "further arguments"),
    ("hint", "cross-validation", DOUBLE),
    ("hint", "forecasts", DOUBLE),
    ("hint", "MinTraceOLS", DOUBLE),
    ("hint", "MinTraceWLS", DOUBLE),
    ("hint", "Identity", DOUBLE),
    ("integers", "in sample", "the target's type in df"),
    ("integers", "text times", "are read"),
    ("integers", "extra columns", "are passed over"),
    ("integers", "doubled rows", "neuralforecast takes rows as they come"),
    ("integers", "target of texts", "texts of numbers are read"),
    ("multivariate", "no number of series", "it is counted"),
    ("multivariate", "another number", "neuralforecast trains on fewer series"),
    ("multivariate", "paths", DOUBLE),
    ("polars_frames", "pandas' alias", "is read"),
    ("probabilistic", "levels of", LEVELS),
    ("probabilistic", "quantiles of", LEVELS),
    ("probabilistic", "implicit", DOUBLE),
    ("reconciled", "pandas, in sample", "the target's type in df"),
    ("reconciled", "polars, in sample", "the target's type in df"),
    ("save_load", "loaded", "neuralforecast loads models in the order of their files' names"),
    ("save_load", "models", "neuralforecast loads models in the order of their files' names"),
    ("save_load", "with data", "neuralforecast loads models in the order of their files' names"),
    ("save_load", "afterwards", "neuralforecast loads models in the order of their files' names"),
    ("save_load", "wrong index", "neuralforecast saves nothing then"),
    ("tables", "in sample", "the target's type in df"),
    ("tables", "times of timestamp[us][pyarrow]", "the type that they have in df"),
    ("tables", "future of timestamp[us][pyarrow]", "the type that they have in df"),
    ("tables", "cross-validation of times of timestamp[us][pyarrow]", "are read"),
    ("tables", "dates", "are read"),
    ("tables", "periods", "are read"),
    ("tables", "weekly of days", "the times follow days"),
    ("trainer", "metrics", "losses of steps and epochs are one"),
    ("trainer", "unknown", "neuralforecast hands it on to the trainer, which refuses it in fit"),
    ("trainer", "zero horizon", "neuralforecast refuses it when it trains"),
]


def reason_for(program, name):
    """Why what a program shows by this name differs, if it does on purpose; that a program ends early never is."""
    if name == ENDED:
        return None
    return next((why for of, begin, why in ON_PURPOSE if of == program and name.startswith(begin)), None)


def table(value, kind):
    """A table without its forecasts: of columns of floats it is told which rows are missing."""
    import pandas as pd

    plain = value if kind == "pandas" else value.to_pandas()
    floats = [name for name in plain if pd.api.types.is_float_dtype(plain[name].dtype)]
    keys = plain.drop(columns=floats).astype(str).to_numpy().tolist()
    types_of = [str(dtype) for dtype in (value.dtypes if kind == "pandas" else value.schema.values())]
    told = {"kind": kind, "columns": [repr(name) for name in value.columns], "types": types_of, "rows": keys, "missing": {}}
    told["missing"] = {str(name): int(plain[name].isna().sum()) for name in floats if plain[name].isna().any()}
    if kind == "pandas":
        told["index"] = [type(value.index).__name__, str(value.index.dtype), str(value.index.name), str(list(value.index[:3]))]
    return told


def described(value):
    """A value as JSON, without what differs from training to training."""
    import numpy as np
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return table(value, "pandas")
    if type(value).__module__.startswith("polars") and hasattr(value, "columns"):
        return table(value, "polars")
    if isinstance(value, pd.Series):
        return {"kind": "series", "type": str(value.dtype), "name": str(value.name), "values": [str(entry) for entry in value]}
    if isinstance(value, np.ndarray):
        values = None if value.dtype.kind == "f" else [str(entry) for entry in value.ravel()]
        return {"kind": "array", "type": str(value.dtype), "shape": list(value.shape), "values": values}
    if isinstance(value, (list, tuple)):
        return [described(entry) for entry in value]
    if isinstance(value, np.generic):
        return str(value.item())
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def entry_of(name, *values):
    return {"name": name, "values": list(values), "warnings": []}


def run(path, package):
    """Runs a program by a package; what it shows."""
    source = re.sub(r"\bneuralforecast\b", package, path.read_text())
    shown, told = [], []

    def show(name, *values):
        entry = entry_of(name)
        for value in values:
            try:
                entry["values"].append(described(value() if isinstance(value, types.FunctionType) else value))
            except Exception as error:  # noqa: BLE001  what is raised is what is told
                text = (str(error).strip().splitlines() or [""])[0]
                entry["values"].append({"raised": [kind.__name__ for kind in type(error).__mro__[:-1]], "message": text[:300]})
        entry["warnings"] = sorted({f"{warning.category.__name__}: {str(warning.message).splitlines()[0][:200]}" for warning in told})
        told.clear()
        shown.append(entry)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            exec(compile(source, path.name, "exec"), {"__name__": "__main__", "show": show})
        except BaseException as error:  # noqa: BLE001
            import traceback

            line = [entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename == path.name]
            show(ENDED, f"ended in line {line[-1:]}: {type(error).__name__}: {error}"[:600])
    return shown


def shown_by(package, paths, minutes):
    """What programs show, by their names: each runs in a process of its own, all forked from one that has imported the package."""
    command = [sys.executable, str(Path(__file__).resolve()), *(str(path.resolve()) for path in paths), "--by", package, "--minutes", str(minutes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    said = [json.loads(line.removeprefix("result ")) for line in done.stdout.splitlines() if line.startswith("result ")]
    return {entry["program"]: entry["shown"] for entry in said}


def run_all(paths, package, minutes):
    """Runs programs by a package; prints what each shows as JSON."""
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).parent.resolve()]
    for module in ("", ".auto", ".models", ".losses.pytorch", ".utils"):
        importlib.import_module(package + module)
    for path in paths:
        with tempfile.TemporaryDirectory() as home:
            file = Path(home, "shown.json")
            child = os.fork()
            if not child:
                os.chdir(home)
                signal.alarm(int(60 * minutes))
                with open(os.devnull, "w") as nothing:
                    os.dup2(nothing.fileno(), 1)
                file.write_text(json.dumps(run(path, package)))
                os._exit(0)
            _, status = os.waitpid(child, 0)
            shown = json.loads(file.read_text()) if file.exists() else [entry_of(ENDED, f"ended with status {status}")]
            print("result " + json.dumps({"program": path.stem, "shown": shown}), flush=True)


def differences(theirs, ours):
    """What differs of two values, as sentences."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if "raised" in theirs and "raised" in ours:
            if theirs["raised"][0] in ours["raised"] or theirs["raised"][0] in BY_CHANCE:
                return []
            return [f"raises {ours['raised'][0]}, not {theirs['raised'][0]} ({theirs['message'][:120]} / {ours['message'][:120]})"]
        if "raised" in theirs or "raised" in ours:
            who, error = ("neuralforecast", theirs) if "raised" in theirs else ("foretell", ours)
            return [f"{who} alone raises {error['raised'][0]}: {error['message']}"]
        found = []
        for key in sorted(theirs.keys() | ours.keys()):
            one, other = theirs.get(key), ours.get(key)
            if one != other and key == "rows" and one is not None and other is not None:
                places = [place for place, (a, b) in enumerate(zip(one, other)) if a != b]
                at = f", from row {places[0]}: {one[places[0]]} / {other[places[0]]}" if places else ""
                found.append(f"rows: {len(one)} / {len(other)}{at}")
            elif one != other:
                found.append(f"{key}: {one} / {other}")
        return found
    if isinstance(theirs, dict) and "raised" in theirs:
        return [f"neuralforecast alone raises {theirs['raised'][0]}: {theirs['message']}"]
    if isinstance(ours, dict) and "raised" in ours:
        return [f"foretell alone raises {ours['raised'][0]}: {ours['message']}"]
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return [text for one, other in zip(theirs, ours) for text in differences(one, other)]
    return [] if theirs == ours else [f"{theirs} / {ours}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--minutes", type=float, default=20, help="for one program by one package")
    parser.add_argument("--warnings", action="store_true", help="tell which warnings each gives")
    parser.add_argument("--keep", type=Path, help="a folder for what neuralforecast shows, which later runs read in place of running it")
    parser.add_argument("--by", choices=PACKAGES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    paths = [path for path in sorted(PROGRAMS.glob("*.py")) if not given.words or any(word in path.stem for word in given.words)]
    if given.by:
        run_all([Path(word) for word in given.words], given.by, given.minutes)
        return
    wrong = 0
    known = {path: given.keep / f"{path.stem}.json" for path in paths} if given.keep else {}
    stale = [path for path in paths if path not in known or not known[path].exists() or known[path].stat().st_mtime < path.stat().st_mtime]
    by_theirs = shown_by("neuralforecast", stale, given.minutes) if stale else {}
    for path, file in known.items():
        if path in stale:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(by_theirs[path.stem]))
        by_theirs[path.stem] = json.loads(file.read_text())
    by_ours = shown_by("foretell", paths, given.minutes)
    for path in paths:
        theirs, ours = ({entry["name"]: entry for entry in one} for one in (by_theirs[path.stem], by_ours[path.stem]))
        found = []
        for name in [*theirs, *(name for name in ours if name not in theirs)]:
            one, other = theirs.get(name), ours.get(name)
            if one is None or other is None:
                who = "neuralforecast" if other is None else "foretell"
                found.append((name, [f"shown by {who} alone: {str((one or other)['values'])[:600]}"]))
                continue
            told = differences(one["values"], other["values"])
            if given.warnings and one["warnings"] != other["warnings"]:
                told += [f"{who} warns: {text}" for who, entry in (("neuralforecast", one), ("foretell", other)) for text in entry["warnings"]]
            if told:
                found.append((name, told))
        print(f"{path.stem}: {len(theirs)} shown, {len(theirs) - len(found)} alike", flush=True)
        for name, told in found:
            reason = reason_for(path.stem, name)
            wrong += reason is None
            print(f"    {name}:{'' if reason is None else f' on purpose ({reason})'}")
            for text in told:
                print(f"        {text[:700]}")
        sys.stdout.flush()
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
