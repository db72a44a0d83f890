"""Constructors whose lists are one longer and one shorter, in neuralforecast and foretell: python compare/list_arguments.py [MODEL ...]

Both packages are installed. Each class of neuralforecast is made with every argument that takes a list: of its usual length, one longer, one shorter,
empty, as a tuple and as an array; of lists of lists the inner ones as well. Lists that shape a network (those that a class has by default), and with
`--train` all, are trained for a step and forecast from. A line of the table says how far each package came; where both forecast, whether foretell's
model has tensors of the same names and shapes, and whether it forecasts the same from the directory that neuralforecast saved; of HINT, whose lists
are those of its network and its matrix, and of TimeLLM, which neuralforecast does not save, whether both forecast the same columns. The exit code is 1
if a list that neuralforecast reads is refused, or read otherwise, without a reason below. TimeLLM needs `pip install transformers`.
"""

import argparse
import contextlib
import inspect
import io
import json
import logging
import os
import pathlib
import shutil
import sys
import tempfile
import traceback
import warnings

warnings.filterwarnings("ignore")
# The scripts here have names of modules.
sys.path[:] = [place for place in sys.path if pathlib.Path(place or ".").resolve() != pathlib.Path(__file__).parent.resolve()]

import neuralforecast  # noqa: E402
import neuralforecast.losses.pytorch as their_losses  # noqa: E402
import neuralforecast.models as their_models  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import torch  # noqa: E402
from safetensors import safe_open  # noqa: E402

import foretell  # noqa: E402
import foretell.losses.pytorch as our_losses  # noqa: E402
import foretell.models as our_models  # noqa: E402

for name in list(logging.root.manager.loggerDict):
    if "lightning" in name:
        logging.getLogger(name).setLevel(logging.ERROR)

H, INPUT, SERIES, ROWS = 4, 16, 2, 60
QUIET = dict(accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False)

#: Sizes that train in a moment; a class takes those that it knows.
SMALL = dict(
    hidden_size=8, encoder_hidden_size=8, decoder_hidden_size=8, linear_hidden_size=8, conv_hidden_size=8, ff_dim=8, d_ff=8, d_core=8,
    context_size=2, temporal_decoder_dim=8, decoder_output_dim=4, n_heads=2, n_head=2, encoder_layers=1, n_block=1, e_layers=1,
    patch_len=4, stride=2, moving_avg_window=3, factor=2, top_k=2, down_sampling_layers=1, down_sampling_window=2,
)  # fmt: skip
#: Lists by argument: of the usual length, where that is not the default of the class.
LISTS = {
    "mlp_units": [[8, 8], [8, 8], [8, 8]],
    "hist_exog_list": ["h1", "h2"],
    "futr_exog_list": ["f1", "f2"],
    "stat_exog_list": ["s1", "s2"],
    "cat_exog_list": ["c1", "c2"],
    "training_data_availability_threshold": [0.5, 0.5],
    "optimizer_kwargs.betas": [0.9, 0.99],
    "lr_scheduler_kwargs.milestones": [1, 2],
    "loss.horizon_weight": [1.0, 2.0, 3.0, 4.0],
    "loss.quantiles": [0.1, 0.5, 0.9],
    "loss.level": [80, 90],
}
#: What else an argument needs.
WITH = {
    "cat_exog_list": lambda cls: dict(hist_exog_list=["c1"], futr_exog_list=["c2"], categorical_cardinalities={"c1": 3, "c2": 2}),
    "KAN.hidden_size": lambda cls: dict(n_hidden_layers=2),
}
LISTS_OF_CLASSES = {"KAN.hidden_size": [8, 4]}
#: What a class needs beside its sizes.
OF_CLASSES = {"TimeLLM": dict(llm=str(pathlib.Path(__file__).parents[1] / "crates/language/tests/gpt2"), d_llm=32)}
#: Classes that neuralforecast does not save.
UNSAVED = ("HINT", "TimeLLM")
#: The network in HINT, and the matrix, whose first series is the sum of the others.
NETWORK_OF_HINT = their_models.NHITS
S = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
#: What foretell refuses as a model is made, by argument and variants: why.
ON_PURPOSE = {
    ("optimizer_kwargs.betas", "longer"): "two numbers: neuralforecast passes over a third one",
    ("optimizer_kwargs.betas", "shorter empty"): "neuralforecast refuses it when it trains",
    ("loss.horizon_weight", "longer shorter empty"): "neuralforecast refuses it when it trains",
    ("loss.quantiles", "empty"): "neuralforecast refuses it when it trains",
    ("hist_exog_list", "longer"): "a column twice, which neuralforecast reads twice",
    ("futr_exog_list", "longer"): "a column twice, which neuralforecast reads twice",
    ("stat_exog_list", "longer"): "a column twice, which neuralforecast reads twice",
    ("cat_exog_list", "longer"): "a column twice, which neuralforecast refuses when it trains",
    ("S", "inner longer"): "a column that is no series at the bottom, which neuralforecast multiplies by",
    ("S", "inner shorter"): "a series that sums up nothing, which neuralforecast forecasts as 0",
    ("cat_exog_list", "shorter empty"): "a number of categories of a column that is none of them, which neuralforecast passes over",
}


def reason_for(name, variant):
    return next((why for (of, names), why in ON_PURPOSE.items() if of == name and (variant == names or variant in names.split())), None)


def panel(with_sum=False):
    """Series, static columns and the rows that follow; with the sum of the series, whose id is the first."""
    rng = np.random.default_rng(1)
    steps = np.arange(ROWS)
    parts = []
    for number in range(SERIES):
        columns = {name: np.cos(steps / (3 + place)) for place, name in enumerate(("h1", "h2", "f1", "f2"))}
        y = 20 + 5 * number + 3 * np.sin(steps / 2) + rng.normal(size=ROWS)
        parts.append(pd.DataFrame({"unique_id": f"s{number}", "ds": steps + 1, "y": y, **columns, "c1": steps % 3, "c2": steps % 2}))
    static = pd.DataFrame({"unique_id": [f"s{n}" for n in range(SERIES)], "s1": [0.0, 1.0], "s2": [1.0, 0.5]})
    if with_sum:
        parts.insert(0, parts[0].assign(unique_id="all", y=sum(part["y"] for part in parts)))
        static = pd.concat([pd.DataFrame({"unique_id": ["all"], "s1": [2.0], "s2": [0.0]}), static], ignore_index=True)
    df = pd.concat(parts, ignore_index=True).astype({"c1": "object", "c2": "object"})
    last = df["ds"] > ROWS - H
    return df[~last].reset_index(drop=True), static, df[last].drop(columns=["y"]).reset_index(drop=True)


def variants(value):
    """A list by the names of what is done to it."""
    found = {"usual": value, "longer": [*value, value[-1]], "shorter": value[:-1], "empty": [], "tuple": tuple(value)}
    if isinstance(value[0], str):
        found["unknown name"] = [*value, "absent"]
    if isinstance(value[0], list):
        found["inner longer"] = [[*inner, inner[-1]] for inner in value]
        found["inner shorter"] = [inner[:-1] for inner in value]
        found["last inner longer"] = [*value[:-1], [*value[-1], value[-1][-1]]]
        found["inner tuples"] = [tuple(inner) for inner in value]
    elif not isinstance(value[0], str):
        found["array"] = np.array(value)
    return found


def lists_of(cls):
    """The arguments of a class that take lists."""
    if cls.__name__ == "HINT":
        return {"S": S, **lists_of(NETWORK_OF_HINT)}
    found = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        default = parameter.default
        if f"{cls.__name__}.{name}" in LISTS_OF_CLASSES:
            found[name] = LISTS_OF_CLASSES[f"{cls.__name__}.{name}"]
        elif name in LISTS:
            found[name] = LISTS[name]
        elif isinstance(default, (list, tuple)):
            found[name] = list(default)
    return found | {name: value for name, value in LISTS.items() if "." in name}


def arguments(cls, losses, name, value, torch_too):
    """Arguments of a constructor, with a list in place of one."""
    if cls.__name__ == "HINT":
        return of_hint(losses, name, value, torch_too)
    known = inspect.signature(cls).parameters
    given = {key: size for key, size in SMALL.items() if key in known}
    given |= {key: size for key, size in LISTS.items() if key == "mlp_units" and key in known}
    given |= dict(h=H, input_size=INPUT, max_steps=1, batch_size=2, windows_batch_size=4, random_seed=3, **QUIET)
    if "n_series" in known:
        given["n_series"] = SERIES
    given |= OF_CLASSES.get(cls.__name__, {})
    # Of one output, as TimeLLM and such have no other.
    owner, _, inner = name.partition(".")
    for key in (name, f"{cls.__name__}.{name}"):
        given |= WITH[key](cls) if key in WITH else {}
    if inner == "horizon_weight":
        weight = torch.tensor(value) if torch_too and not isinstance(value, tuple) else value
        given["loss"] = losses.MAE(horizon_weight=weight)
    elif owner == "loss":
        given["loss"] = losses.MQLoss(**{inner: value})
    elif owner == "optimizer_kwargs":
        given |= dict(optimizer=torch.optim.Adam, optimizer_kwargs={inner: value})
    elif owner == "lr_scheduler_kwargs":
        given |= dict(lr_scheduler=torch.optim.lr_scheduler.MultiStepLR, lr_scheduler_kwargs={inner: value})
    else:
        given[name] = value
    return given


def of_hint(losses, name, value, torch_too):
    """Arguments of HINT, with a list in place of one of its network's, or of its matrix."""
    of_network = arguments(NETWORK_OF_HINT, losses, *(("max_steps", 1) if name == "S" else (name, value)), torch_too)
    of_loss = {name.partition(".")[2]: value} if name.startswith("loss.") else dict(level=[80])
    if name == "loss.horizon_weight" and torch_too and not isinstance(value, tuple):
        of_loss = dict(horizon_weight=torch.tensor(value))
    of_network["loss"] = losses.DistributionLoss("Normal", **of_loss)
    models = their_models if torch_too else our_models
    network = getattr(models, NETWORK_OF_HINT.__name__)(**of_network)
    return dict(h=H, S=np.array(value if name == "S" else S), model=network, reconciliation="BottomUp")


class Outcome:
    """How far a package came, and what it has to show."""

    def __init__(self):
        self.stage, self.message, self.told, self.forecast, self.shapes = "made", "", [], None, {}

    def __str__(self):
        return self.stage if not self.message else f"not {self.stage}"


def run(package, models, losses, cls, name, value, home, train):
    outcome = Outcome()
    df, static, future = panel(cls.__name__ == "HINT")
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model = getattr(models, cls.__name__)(**arguments(cls, losses, name, value, package is neuralforecast))
            if not train:
                outcome.stage = "read"
                return outcome
            outcome.stage = "trained"
            nf = package.NeuralForecast([model], freq=1)
            nf.fit(df, static_df=static)
            outcome.stage = "forecast"
            outcome.forecast = nf.predict(futr_df=future)
            if cls.__name__ in UNSAVED:
                outcome.stage = "read"
                return outcome
            outcome.stage = "saved"
            shutil.rmtree(home, ignore_errors=True)
            nf.save(str(home), save_dataset=False, overwrite=True)
            outcome.shapes = shapes(home)
            outcome.stage = "read"
        except Exception as error:  # noqa: BLE001  what a package refuses, and how, is what is told
            outcome.message = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            if os.environ.get("TRACE"):
                traceback.print_exc()
        finally:
            outcome.told = warned(told)
    return outcome


def warned(told):
    return sorted({str(warning.message).splitlines()[0] for warning in told if issubclass(warning.category, UserWarning)})


def shapes(home):
    """The tensors of a directory's only model, by their names; those that are one tensor under several names by each of them."""
    (file,) = pathlib.Path(home).glob("*_0.safetensors")
    with safe_open(file, "np") as tensors:
        found = {name: tuple(tensors.get_slice(name).get_shape()) for name in tensors.keys() if not name.startswith("__")}
        for name, others in json.loads(tensors.metadata().get("shared") or "{}").items():
            found |= {other: found[name] for other in others}
    return found


def beside(theirs, home):
    """How far foretell's forecast from neuralforecast's directory is from neuralforecast's own, in units of its range; or why there is none."""
    df, static, future = panel()
    try:
        forecast = foretell.NeuralForecast.load(str(home), raw_quantiles=True).predict(df, static_df=static, futr_df=future)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    columns = list(theirs.columns[2:])
    if list(forecast.columns[2:]) != columns:
        return f"columns {list(forecast.columns[2:])}, not {columns}"
    mine, other = forecast[columns].to_numpy(float), theirs[columns].to_numpy(float)
    return float(np.abs(mine - other).max() / max(np.ptp(other), 1e-3))


def compared(theirs, ours, home, cls):
    """What a line says, and whether it is as it should be."""
    if theirs.stage != "read" and ours.stage != "read":
        return "both refuse", True
    if theirs.stage != "read":
        return "foretell alone reads", True
    if ours.stage != "read":
        return "neuralforecast alone reads", False
    if theirs.forecast is None:
        return "same", True
    if list(theirs.forecast) != list(ours.forecast):
        return f"columns {list(ours.forecast)}, not {list(theirs.forecast)}", False
    if cls.__name__ in UNSAVED:
        return "same", True
    trained = {name: shape for name, shape in theirs.shapes.items() if not name.startswith(("loss.", "valid_loss."))}
    other = {name for name in trained | ours.shapes if trained.get(name) != ours.shapes.get(name)}
    other = {name for name in other if not name.startswith(("loss.", "valid_loss."))}
    if other:
        return f"other tensors: {', '.join(sorted(other)[:3])} of {len(other)}", False
    distance = beside(theirs.forecast, home)
    if isinstance(distance, str):
        return f"not loaded: {distance}", False
    return ("same", True) if distance < 1e-3 else (f"forecasts differ by {distance:.2g} of their range", cls.__name__ == "Informer")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--arguments", nargs="*", default=[], help="these alone")
    parser.add_argument("--train", action="store_true", help="with every list")
    given = parser.parse_args()
    torch.set_num_threads(1)
    wrong, lines = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for model in their_models.__all__:
            cls = getattr(their_models, model)
            if given.models and model not in given.models:
                continue
            for name, value in lists_of(cls).items():
                train = given.train or name not in LISTS or name == "mlp_units"
                if given.arguments and name not in given.arguments:
                    continue
                for variant, changed in variants(value).items():
                    home = pathlib.Path(folder) / "theirs"
                    theirs = run(neuralforecast, their_models, their_losses, cls, name, changed, home, train)
                    ours = run(foretell, our_models, our_losses, cls, name, changed, pathlib.Path(folder) / "ours", train)
                    said, right = compared(theirs, ours, home, cls)
                    reason = reason_for(name, variant)
                    wrong += not right and reason is None
                    lines += 1
                    mark = " " if right else "." if reason else "!"
                    why = f" ({reason})" if reason and not right else ""
                    print(f"{mark} {model:<18} {name:<36} {variant:<18} {said}{why}", flush=True)
                    if said != "same":
                        for who, outcome in (("neuralforecast", theirs), ("foretell", ours)):
                            if outcome.message:
                                print(f"      {who}: {outcome}: {outcome.message[:300]}")
                    for line in ours.told:
                        print(f"      foretell warns: {line[:200]}")
    print(f"{lines} lists, {wrong} otherwise without a reason")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
