"""One model on one side of a comparison, measured in this process, as JSON: what `cargo xtask compare` runs in turns with foretell.

    python compare/measure.py torch NHITS [--threads 2] [--batch 128] [--precision bf16]
    python compare/measure.py onnx NHITS
    python compare/measure.py neuralforecast NHITS --data ETTh1.csv [--steps 300] [--seed 1] [--set hidden_size=16 ...]

`torch`: neuralforecast's model with its default hyper-parameters on random windows: a training step (forward, loss, by default
MAE, DeepAR's that of Student's t, backward, Adam; no data loading, no Lightning), the forward pass of the batch and of one
window, and the memory that model and steps added at their peak. Windows of multivariate models hold 7 series. Of DeepAR the step
alone is measured: its forecasts are means of sampled paths.

`onnx`: the same model exported, in ONNX Runtime: the batch and one window, each the better of one thread and of `--threads`.

`neuralforecast`: training on ETTh1 and its accuracy; `--set` changes hyper-parameters of the model, as foretell's does. Ten rolling windows of `--h` hours, as far apart, at the end of the first 8640
rows of the seven series; the model is trained once, on what precedes the first window (learning rate 1e-3, window scaler
`standard`, `--batch` windows a step, at most 32 of all seven series for multivariate models). MAE, RMSE and sMAPE (mean of 2|e| / (|y| +
|forecast|), 0 to 2) are over all forecasts alike; MASE divides each series' MAE by that of seasonal naive (24) within its training
rows, then the mean over the series. `fit_s` is the time of `fit` alone, without imports and reading.

What cannot be measured is `{"missing": reason}`.
"""

import argparse
import json
import logging
import os
import statistics
import tempfile
import time
import warnings

N_SERIES = 7
ROWS, H, INPUT_SIZE, SEASON, WINDOWS = 8640, 24, 96, 24, 10


class Missing(Exception):
    """What this side cannot do, and why."""


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("model")
    parser.add_argument("--h", type=int, default=H)
    parser.add_argument("--input-size", type=int, default=INPUT_SIZE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32", help="of PyTorch's steps and forecasts")
    parser.add_argument("--data", help="ETTh1.csv")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="NAME=VALUE", help="a value is JSON or a string")
    return parser.parse_args()


def setting(text):
    name, value = text.split("=", 1)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def median_seconds(run, seconds):
    """The median time of a run, after warm-up, over about this many seconds and at least seven runs."""
    for _ in range(3):
        run()
    times, start = [], time.perf_counter()
    while len(times) < 7 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def resident_mb(key):
    """Resident memory of this process, now (`VmRSS`) or at its peak (`VmHWM`)."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(key))


def forget_peak():
    """From here on `VmHWM` is the peak since now."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def model_class(name):
    import neuralforecast.models

    found = getattr(neuralforecast.models, name, None)
    if found is None:
        raise Missing(f"neuralforecast has no {name}")
    return found


def windows_of(model, length, batch):
    import torch

    n_series = model.n_series if model.MULTIVARIATE else 1
    random = torch.Generator().manual_seed(0)
    windows = {
        "insample_y": torch.randn(batch, length, n_series, generator=random),
        "insample_mask": torch.ones(batch, length, n_series),
        "hist_exog": None,
        "futr_exog": None,
        "stat_exog": None,
    }
    return windows, torch.randn(batch, model.h, n_series, generator=random)


def build(args):
    kind = model_class(args.model)
    sizes = {"n_series": N_SERIES} if kind.MULTIVARIATE else {}
    return kind(h=args.h, input_size=args.input_size, max_steps=1, **sizes)


def torch_side(args):
    import torch

    model_class(args.model)
    torch.set_num_threads(args.threads)
    forget_peak()
    before = resident_mb("VmRSS")
    model = build(args)
    # What a model that forecasts step by step reads in training, and what it is trained on: see compare/models.py.
    length, model.h = (model.input_size + model.h_train - 1, model.h_train) if model.RECURRENT else (model.input_size, model.h)
    windows, target = windows_of(model, length, args.batch)
    ones = torch.ones_like(target)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def in_precision():
        return torch.autocast("cpu", torch.bfloat16, enabled=args.precision == "bf16")

    def loss():
        output = model(windows)
        if not model.loss.is_distribution_output:
            return (output - target).abs().mean()
        scaled = model.loss.scale_decouple(output=model.loss.domain_map(output), loc=0 * ones, scale=ones)
        return model.loss(y=target, distr_args=scaled, mask=ones)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with in_precision():
            value = loss()
        value.backward()
        optimizer.step()

    model.train()
    figures = {"step_ms": 1e3 * median_seconds(step, 1.5), "step_peak_mb": resident_mb("VmHWM") - before}
    if model.RECURRENT:
        return figures
    model.eval()
    one = {key: None if value is None else value[:1] for key, value in windows.items()}
    with torch.no_grad(), in_precision():
        figures["forward_batch_ms"] = 1e3 * median_seconds(lambda: model(windows), 0.5)
        figures["forward_one_us"] = 1e6 * median_seconds(lambda: model(one), 0.5)
    return figures


def onnx_side(args):
    import onnx  # noqa: F401  (the exporter needs it)
    import onnxruntime
    import torch

    model = build(args).eval()
    if model.RECURRENT:
        raise Missing(f"a forecast of {args.model} is a loop over steps, which is not exported")

    class Exported(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, y, mask):
            none = dict.fromkeys(["hist_exog", "futr_exog", "stat_exog"])
            output = self.model({"insample_y": y, "insample_mask": mask, **none})
            return output[0] if isinstance(output, tuple) else output

    def seconds(batch):
        windows, _ = windows_of(model, model.input_size, batch)
        inputs = {"y": windows["insample_y"], "mask": windows["insample_mask"]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            try:
                names = dict(input_names=list(inputs), opset_version=17, dynamo=False)
                torch.onnx.export(Exported(), tuple(inputs.values()), path, **names)
            except Exception as error:
                raise Missing(f"PyTorch does not export {args.model}: {str(error).splitlines()[0]}") from error
            times = []
            for threads in sorted({1, args.threads}):
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
                session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
                feed = {each.name: inputs[each.name].numpy() for each in session.get_inputs()}
                times.append(median_seconds(lambda: session.run(None, feed), 0.5))
        return min(times)

    return {"forward_batch_ms": 1e3 * seconds(args.batch), "forward_one_us": 1e6 * seconds(1)}


def panel(path):
    """The rows of ETTh1 that are used, as neuralforecast wants them."""
    import pandas as pd

    wide = pd.read_csv(path, parse_dates=["date"]).head(ROWS).rename(columns={"date": "ds"})
    return wide.melt("ds", var_name="unique_id", value_name="y").sort_values(["unique_id", "ds"], ignore_index=True)


def neuralforecast_side(args):
    import numpy as np
    import torch
    from common import QUIET
    from neuralforecast import NeuralForecast

    if not args.data:
        raise Missing("the data: --data ETTh1.csv")
    torch.set_num_threads(args.threads)
    kind = model_class(args.model)
    df, test = panel(args.data), args.h * WINDOWS
    train = df.groupby("unique_id").head(ROWS - test)
    if kind.MULTIVARIATE:
        windows = dict(windows_batch_size=min(args.batch, 32), n_series=N_SERIES)
    else:
        windows = dict(windows_batch_size=args.batch)
    settings = dict(max_steps=args.steps, learning_rate=1e-3, scaler_type="standard", random_seed=args.seed) | dict(args.set)
    nf = NeuralForecast([kind(h=args.h, input_size=args.input_size, **windows, **settings, **QUIET)], freq="h")
    start = time.perf_counter()
    nf.fit(train)
    figures = {"fit_s": time.perf_counter() - start, "fit_peak_mb": resident_mb("VmHWM")}
    # Trained already, on exactly the rows before the first window: forecast only.
    found = nf.cross_validation(df, n_windows=None, test_size=test, step_size=args.h, use_fitted=True)
    found["error"] = (found["y"] - found[args.model]).abs()
    size = found["y"].abs() + found[args.model].abs()
    windows = found.groupby(["unique_id", "cutoff"])["error"]
    known = {(name, cutoff): df[(df["unique_id"] == name) & (df["ds"] <= cutoff)]["y"] for name, cutoff in windows.groups}
    scale = pd.Series({window: y.diff(SEASON).abs().mean() for window, y in known.items()})
    figures |= dict(
        mae=windows.mean().mean(),
        rmse=windows.apply(lambda error: np.sqrt((error**2).mean())).mean(),
        smape=(found["error"] / size.where(size > 0)).fillna(0).mean(),
        mase=(windows.mean() / scale).mean(),
    )
    return {key: float(value) for key, value in figures.items()}


SIDES = {"torch": torch_side, "onnx": onnx_side, "neuralforecast": neuralforecast_side}


def main():
    args = parse()
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning_fabric").setLevel(logging.ERROR)
    try:
        figures = SIDES[args.side](args)
    except ModuleNotFoundError as error:
        figures = {"missing": f"the Python package {error.name}"}
    except Missing as error:
        figures = {"missing": str(error)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
