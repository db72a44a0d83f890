"""Training on ETTh1: `foretell fit` as a whole command beside `NeuralForecast.fit`, by ratio.

    cargo build --release
    python compare/fit.py ETTh1.csv [MODEL ...] [--threads 2] [--steps 300]

Seven series of 8640 rows, h 24, input_size 96, window scaler `standard`, 128 windows a step. foretell's time is that of
the process, from reading the CSV file to the written directory; neuralforecast's is that of `fit` alone, without imports and
without reading. The sides take turns. Memory is the peak of foretell's resident set,
by GNU time.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time

import torch
from accuracy import H, INPUT_SIZE, ROWS, panel
from common import QUIET
from neuralforecast import NeuralForecast, models

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("csv")
parser.add_argument("models", nargs="*", default=["NLinear", "DLinear", "MLP", "NBEATS", "NBEATSx", "NHITS", "RNN", "LSTM", "GRU"])
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--foretell", default="target/release/foretell")
args = parser.parse_args()
torch.set_num_threads(args.threads)

df = panel(args.csv)
folder = tempfile.mkdtemp()
short = os.path.join(folder, "ETTh1.csv")
with open(args.csv) as whole, open(short, "w") as part:
    part.writelines(line for line, _ in zip(whole, range(ROWS + 1)))


def ours(name):
    settings = dict(max_steps=args.steps, scaler_type="standard", windows_batch_size=128)
    command = [args.foretell, "fit", "--data", short, "--wide", "--model", name, "--h", str(H), "--input-size", str(INPUT_SIZE)]
    command += [f"--set={key}={value}" for key, value in settings.items()]
    command += ["--threads", str(args.threads), "--log", "none", "--out", os.path.join(folder, name)]
    start, peak = time.perf_counter(), os.path.join(folder, "peak")
    # A child's own count would begin with the memory of this process.
    subprocess.run(["/usr/bin/time", "-f", "%M", "-o", peak, *command], check=True)
    return time.perf_counter() - start, float(open(peak).read()) / 1024


def theirs(name):
    model = getattr(models, name)(
        h=H, input_size=INPUT_SIZE, max_steps=args.steps, scaler_type="standard", windows_batch_size=128, **QUIET
    )
    nf = NeuralForecast([model], freq="h")
    start = time.perf_counter()
    nf.fit(df)
    return time.perf_counter() - start


print("| model | foretell, s | neuralforecast, s | ratio | foretell, MB |\n|---|---|---|---|---|")
for name in args.models:
    (seconds, memory), there = ours(name), theirs(name)
    print(f"| {name} | {seconds:.2f} | {there:.2f} | {there / seconds:.1f} | {memory:.0f} |", flush=True)
shutil.rmtree(folder)
