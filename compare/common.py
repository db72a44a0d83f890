"""What every script here shares: where fixtures go, and a quiet, deterministic neuralforecast."""

import json
import logging
import os
import pathlib
import warnings
import zlib

# Lightning reports seeds, hardware and tips on every model; none of it belongs in our output.
warnings.filterwarnings("ignore")
os.environ.setdefault("PYTHONWARNINGS", "ignore")

import neuralforecast  # noqa: E402, F401  (importing it sets the log levels that are lowered below)
import pandas as pd  # noqa: E402
import torch  # noqa: E402

for name in list(logging.root.manager.loggerDict):
    if "lightning" in name:
        logging.getLogger(name).setLevel(logging.ERROR)

CRATES = pathlib.Path(__file__).resolve().parent.parent / "crates"

# Trainer arguments of a fit that prints nothing and writes no log directory.
QUIET = dict(
    accelerator="cpu",
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)


def one_thread():
    """The same sums in the same order on every machine with the same instruction set."""
    torch.set_num_threads(1)


def fixtures(crate):
    """The fixture folder of one crate; made if absent."""
    path = CRATES / crate / "tests" / "fixtures"
    path.mkdir(parents=True, exist_ok=True)
    return path


def numbers(tensor):
    """A tensor as {"shape", "data"}, row-major; nine significant digits name every float32."""
    data = [float(f"{value:.9g}") for value in tensor.detach().flatten().tolist()]
    return {"shape": list(tensor.shape), "data": data}


def lines(cases):
    """Cases as JSON, one a line: a change of one case is one line of a diff. No NaN, no infinity: they are not JSON."""
    return "[\n" + ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases) + "\n]"


def write_cases(folder, table, make, names=()):
    """The file `<name>.json` of each entry of a table, or of those that are named; files of no entry are removed."""
    assert set(names) <= set(table), f"no cases of {', '.join(sorted(set(names) - set(table)))}"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.json"):
        if old.stem not in table:
            old.unlink()
    for name in names or table:
        cases = make(name)
        (folder / f"{name}.json").write_text(lines(cases) + "\n")
        print(f"{folder.name}/{name}: {len(cases)} cases")


def canonical(data):
    """The same safetensors bytes with a sorted header: the library writes its metadata in random order."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    tensors = sorted((item for item in header.items() if item[0] != "__metadata__"), key=lambda item: item[1]["data_offsets"])
    metadata = dict(sorted(header.get("__metadata__", {}).items()))
    text = json.dumps({"__metadata__": metadata, **dict(tensors)}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[end:]


def seed(*key):
    """A seed that depends only on `key`, so that adding a case leaves the others unchanged."""
    return zlib.crc32("/".join(map(str, key)).encode())


def generator(*key):
    return torch.Generator().manual_seed(seed(*key))


def read_table(path, id_col, time_col, wide=False):
    """A CSV file as neuralforecast wants it: ids as text, times as integers or dates."""
    table = pd.read_csv(path)
    if wide:  # one time column, then a column for each series
        table = table.melt(table.columns[0], var_name=id_col, value_name="y").dropna().rename(columns={table.columns[0]: time_col})
    table[id_col] = table[id_col].astype(str)
    if time_col in table and not pd.api.types.is_integer_dtype(table[time_col]):
        table[time_col] = pd.to_datetime(table[time_col])
    return table


def distance(ours, theirs, id_col, time_col):
    """The largest difference of two forecasts in units of each series' largest value, and where it is."""
    assert set(ours.columns) == set(theirs.columns), f"columns differ: {sorted(ours.columns)} and {sorted(theirs.columns)}"
    both = theirs.merge(ours, on=[id_col, time_col], how="outer", suffixes=("", " ours"), indicator=True)
    lonely = both[both["_merge"] != "both"]
    assert lonely.empty, f"rows of only one side:\n{lonely}"
    columns = [c for c in theirs.columns if c not in (id_col, time_col)]
    scale = both[columns].abs().max(axis=1).groupby(both[id_col]).transform("max")
    gaps = pd.DataFrame({c: (both[c] - both[f"{c} ours"]).abs() / scale for c in columns})
    assert gaps.notna().all(axis=None), "a forecast is not a number"
    return gaps.max().max(), gaps.max().idxmax()
