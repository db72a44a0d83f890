"""Which networks leave as ONNX, and whether ONNX Runtime forecasts as foretell does: the tables of docs/onnx.md.

    pip install numpy onnx onnxruntime
    python compare/onnx_check.py target/debug/foretell            # exits with 1 if a forecast differs by more than 1e-5
    python compare/onnx_check.py target/debug/foretell NHITS TFT  # these models alone

Each network is trained for two steps on a small panel, with all kinds of columns that it reads. `foretell predict --insample` forecasts
from every cutoff, those with less history than the network reads among them; the exported graph forecasts the same windows in batches
of 1, 3 and all. The difference is relative to the largest value of the forecasts.
"""

import csv
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

H, INPUT_SIZE, ROWS, SERIES, STEP = 6, 24, 80, 3, 7
WORST = 1e-5
IDS = [f"s{i}" for i in range(SERIES)]
SCALERS = ["identity", "standard", "robust", "minmax", "minmax1", "invariant", "revin"]
POINTS = ["MAE", "MSE", "RMSE", "MAPE", "SMAPE", "HuberLoss", "TukeyLoss", "FreDF", "IQLoss", "HuberIQLoss"]
DISTRIBUTIONS = ["Normal", "StudentT", "Poisson", "NegativeBinomial", "Tweedie", "ISQF"]
LEVELS = dict(level=[80, 95])
LOSSES = [(name, name) for name in POINTS]
LOSSES += [(name, {name: arguments}) for name, arguments in [
    ("MASE", dict(seasonality=7)), ("relMSE", {}), ("QuantileLoss", dict(q=0.8)), ("HuberQLoss", dict(q=0.8)), ("MQLoss", LEVELS),
    ("HuberMQLoss", LEVELS), ("GMM", LEVELS), ("PMM", LEVELS), ("NBMM", LEVELS)
]]
LOSSES += [(f"DistributionLoss of {name}", {"DistributionLoss": dict(distribution=name, **LEVELS)}) for name in DISTRIBUTIONS]


def write_panel(folder):
    """Three series with a column of the past, one that is known ahead, one of categories, and a static one."""
    draw = random.Random(1)
    rows, panel = [], {}
    for i, name in enumerate(IDS):
        y = [20.0 + 5 * i + 4 * math.sin(t / 3.5 + i) + draw.gauss(0, 1) for t in range(ROWS)]
        past = [draw.gauss(3, 2) for _ in range(ROWS)]
        ahead = [float(t % 7) + i for t in range(ROWS)]
        panel[name] = dict(y=y, past=past, ahead=ahead, size=2.0 + i)
        rows += [[name, t, y[t], past[t], ahead[t]] for t in range(ROWS)]
    for path, header, table in [
        ("panel.csv", ["unique_id", "ds", "y", "past", "ahead"], rows),
        ("static.csv", ["unique_id", "size"], [[name, panel[name]["size"]] for name in IDS]),
    ]:
        with open(folder / path, "w", newline="") as file:
            csv.writer(file).writerows([header, *table])
    return panel


def run(foretell, *args):
    """Standard output; the message of an error is raised."""
    done = subprocess.run([foretell, *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[-1])
    return done.stdout


def padded(values, cutoff, size, ahead=0):
    """The values of the steps up to a cutoff and `ahead` steps more, zeros before the first."""
    steps = range(cutoff + 1 - size, cutoff + 1 + ahead)
    return [values[t] if t >= 0 else 0.0 for t in steps]


def feed_of(session, panel, cutoffs):
    """The inputs of the graph: a window for each cutoff, of one series or of all."""
    texts = session.get_modelmeta().custom_metadata_map
    size = int(texts["input_size"])
    several = len(session.get_inputs()[0].shape) == 3

    def one(name, cutoff):
        series, known = panel[name], [float(t >= 0) for t in range(cutoff + 1 - size, cutoff + 1)]
        inputs = dict(insample_y=padded(series["y"], cutoff, size), insample_mask=known)
        columns = lambda key, ahead: np.stack([padded(series[c], cutoff, size, ahead) for c in texts[key].split("\n")], 1)
        if "hist_exog_list" in texts:
            inputs["hist_exog"] = columns("hist_exog_list", 0)
        if "futr_exog_list" in texts:
            inputs["futr_exog"] = columns("futr_exog_list", H)
        if "stat_exog_list" in texts:
            inputs["stat_exog"] = [series["size"]]
        return inputs

    windows = []
    for name, cutoff in cutoffs:
        parts = [one(each, cutoff) for each in (IDS if several else [name])]
        windows.append({key: np.stack([part[key] for part in parts]) if several else parts[0][key] for key in parts[0]})
    feed = {key: np.stack([window[key] for window in windows]).astype(np.float32) for key in windows[0]}
    return {each.name: feed[each.name] for each in session.get_inputs()}, several


def check(foretell, folder, model, settings, columns):
    """The largest relative difference, or the reason why there is no graph."""
    out, graph = folder / "model", folder / "model.onnx"
    args = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    if model == "TimeLLM":
        return "it reads a folder of a language model, and its prompts are words that follow from the values"
    run(foretell, "fit", "--data", folder / "panel.csv", "--model", model, "--h", H, "--input-size", INPUT_SIZE, "--freq", 1,
        "--quiet", "--out", out, "--overwrite", *columns, *args)
    try:
        run(foretell, "export", out, "--onnx", graph, "--quiet")
    except RuntimeError as error:
        return str(error)
    onnx.checker.check_model(str(graph), full_check=True)
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    static = ["--static", folder / "static.csv"] if "--static" in columns else []
    forecasts = folder / "forecasts.csv"
    run(foretell, "predict", "--model", out, "--data", folder / "panel.csv", *static, "--insample", "--step-size", STEP,
        "--raw-quantiles", "--quiet", "--out", forecasts)
    names = session.get_modelmeta().custom_metadata_map["columns"].split("\n")
    expected = {}
    with open(forecasts) as file:
        for row in csv.DictReader(file):
            key = (row["unique_id"], int(row["cutoff"]))
            expected.setdefault(key, []).append([float(row[name]) for name in names])
    cutoffs = [key for key, steps in expected.items() if len(steps) == H and key[1] + H < ROWS]
    several = len(session.get_inputs()[0].shape) == 3
    if several:
        cutoffs = [key for key in cutoffs if key[0] == IDS[0]]
    worst = 0.0
    # Of a StemGNN the windows of a batch share one graph of series, so that only the same batch has the same forecasts.
    for batch in (len(cutoffs),) if model == "StemGNN" else (1, 3, len(cutoffs)):
        # The shortest history first, and the longest.
        chosen = cutoffs if batch == len(cutoffs) else (cutoffs[-1:] + cutoffs)[:batch]
        feed, _ = feed_of(session, panel, chosen)
        found = session.run(None, feed)[0]
        wanted = [[expected[each, cutoff] for each in IDS] if several else expected[name, cutoff] for name, cutoff in chosen]
        wanted = np.array(wanted)
        assert found.shape == wanted.shape, (found.shape, wanted.shape)
        difference = np.abs(found - wanted).max() / np.abs(wanted).max()
        worst = max(worst, float("inf") if np.isnan(difference) else float(difference))
    return worst


def columns_of(entry):
    columns = []
    if entry["exogenous"]["hist"]:
        columns += ["--hist-exog", "past"]
    if entry["exogenous"]["futr"]:
        columns += ["--futr-exog", "ahead"]
    if entry["exogenous"]["stat"]:
        columns += ["--static", folder / "static.csv", "--stat-exog", "size"]
    return columns


if __name__ == "__main__":
    foretell, wanted = sys.argv[1], sys.argv[2:]
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        panel = write_panel(folder)
        entries = {entry["name"]: entry for entry in json.loads(run(foretell, "models", "--json"))}
        networks = [name for name, entry in entries.items() if "max_steps" in entry["hyper_parameters"]]
        base = dict(max_steps=2, scaler_type="standard")

        def row(title, model, settings, columns):
            try:
                outcome = check(foretell, folder, model, settings, columns)
            except Exception as error:
                outcome = float("nan")
                print(f"{title}: {type(error).__name__}: {error}", file=sys.stderr)
            if isinstance(outcome, str):
                text = "not exported: " + outcome.removeprefix("error: ")
            else:
                text = f"{outcome:.1e}"
                if not outcome <= WORST:
                    failed.append(title)
            print(f"| {title} | {text} |", flush=True)

        print("| model | largest relative difference |\n|---|---|")
        for name in wanted or networks:
            row(name, name, base, columns_of(entries[name]))
        if not wanted:
            for name in ["RNN", "LSTM", "GRU"]:
                row(f"{name}, recurrent", name, dict(base, recurrent="true"), [])
            row("NHITS without the target's history", "NHITS", dict(base, exclude_insample_y="true"), columns_of(entries["NHITS"]))
            print("\n| scaler | largest relative difference |\n|---|---|")
            for scaler in SCALERS:
                row(scaler, "NHITS", dict(max_steps=2, scaler_type=scaler), columns_of(entries["NHITS"]))
            print("\n| loss | largest relative difference |\n|---|---|")
            for title, loss in LOSSES:
                for model in ["MLP", "TSMixerx"]:
                    row(f"{title}, {model}", model, dict(base, loss=json.dumps(loss)), columns_of(entries[model]))
    if failed:
        sys.exit(f"more than {WORST}: {', '.join(failed)}")
