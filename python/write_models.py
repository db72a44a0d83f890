"""Write the classes of foretell/models/ from what the engine says of its models, with neuralforecast's signatures:

    foretell models --json | python python/write_models.py

Classes are written out, not made at run time, so that editors, type checkers and `inspect.signature` see them.
"""

import json
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).parent
WIDTH = 118

# File: what it holds, and the models in it.
FILES = {
    "linear": ("Linear models, perceptrons and models of a basis.",
               "NLinear DLinear RLinear MLP NBEATS NBEATSx NHITS TiDE DeepNPTS KAN"),
    "recurrent": ("Recurrent and convolutional models.", "RNN LSTM GRU LSTMAttention DilatedRNN xLSTM TCN BiTCN DeepAR"),
    "transformer": ("Transformers and models of the spectrum.",
                    "Autoformer FEDformer VanillaTransformer Informer TFT PatchTST TimesNet TimeLLM"),
    "multivariate": ("Models that forecast all series of a panel together.",
                     "iTransformer TimeXer MLPMultivariate TSMixer TSMixerx XLinear RMoK StemGNN TimeMixer SOFTS SOFTSSharp"),
    "classical": ("Classical models, FLAIR, Prophet and Foretell0: each series by itself.",
                  "Naive SeasonalNaive HistoricAverage WindowAverage SeasonalWindowAverage RandomWalkWithDrift AutoETS ETS Holt "
                  "HoltWinters AutoARIMA ARIMA AutoCES MSTL MFLES AutoTheta Theta OptimizedTheta DynamicTheta DynamicOptimizedTheta "
                  "CrostonClassic CrostonOptimized CrostonSBA ADIDA IMAPA TSB FLAIR Prophet Foretell0"),
}  # fmt: skip

# What type checkers read alone.
OPTIONS = ["", "if TYPE_CHECKING:", "    from typing_extensions import Unpack", "", "    from foretell._calls import TrainerOptions"]

# The types of arguments whose default does not tell.
TYPES = {
    "h": "int", "input_size": "int", "n_series": "int | None", "loss": "Loss", "valid_loss": "Loss | None", "alias": "str | None",
    "cat_exog_list": "Sequence[str] | None", "categorical_cardinalities": "dict[str, int] | None", "cat_emb_dim": "str | int",
    "training_data_availability_threshold": "float | Sequence[float]", "scaler_type": "str | None", "random_seed": "int",
    "learning_rate": "float", "windows_batch_size": "int | None", "inference_windows_batch_size": "int | None",
    "valid_batch_size": "int | None", "optimizer": "type[Any] | str | None", "lr_scheduler": "type[Any] | str | None",
    "optimizer_kwargs": "dict[str, Any] | None", "lr_scheduler_kwargs": "dict[str, Any] | None",
    "dataloader_kwargs": "dict[str, Any] | None", "gradient_clip_val": "float | None", "gradient_clip_algorithm": "str | None",
    "inference_input_size": "int | None", "context_size": "int | None", "encoder_activation": "str | None",
    "decoder_activation": "str | None", "n_polynomials": "int | None", "hidden_size": "int | Sequence[int]",
    "season_length": "int | Sequence[int] | None", "window_size": "int | None", "damped": "bool | None", "phi": "float | None",
    "d": "int | None", "D": "int | None", "changepoints": "Sequence[str] | None", "holidays_mode": "str | None",
    "llm": "str | None", "prompt_prefix": "str | None", "llm_checksum": "str | None", "cap": "str | None", "floor": "str | None", "country_holidays": "str | None", "holidays": "Sequence[dict[str, Any]]",
    "seasonalities": "Sequence[dict[str, Any]]", "regressors": "Sequence[dict[str, Any]]",
    "yearly_seasonality": "str | bool | int", "weekly_seasonality": "str | bool | int", "daily_seasonality": "str | bool | int",
    "futr_exog_list": "Sequence[str] | None", "hist_exog_list": "Sequence[str] | None", "stat_exog_list": "Sequence[str] | None",
}  # fmt: skip


# Those of arguments that other models have, too, as other types.
TYPES_OF_MODELS = {("MFLES", "changepoints"): "bool", ("MFLES", "n_changepoints"): "float", ("MFLES", "multiplicative"): "bool | None",
                   ("MFLES", "robust"): "bool | None", ("MFLES", "fourier_order"): "int | None",
                   ("Foretell0", "windows_batch_size"): "int"}  # fmt: skip


def type_of(name, value, cls):
    if name == "hidden_size" and cls != "KAN":
        return "int"
    if (cls, name) in TYPES_OF_MODELS:
        return TYPES_OF_MODELS[cls, name]
    if name in TYPES:
        return TYPES[name]
    if isinstance(value, bool) or value is None:
        return "bool" if value is not None else "Any"
    if isinstance(value, list):
        return f"Sequence[{type_of('', value[0], cls)}]"
    return type(value).__name__


def text_of(name, value):
    """A default as Python text; a loss is the call that makes it."""
    if name in ("loss", "valid_loss") and value is not None:
        if isinstance(value, str):
            return f"{value}()"
        (loss, arguments), = value.items()
        return f"{loss}({', '.join(f'{k}={v!r}' for k, v in arguments.items() if (k, v) != ('level', [80, 90]))})"
    return repr(value).replace("'", '"')


def arguments_of(model, signature):
    """[(name, default text or None, type)] in neuralforecast's order, then those of the engine alone, behind a star."""
    engine = model["hyper_parameters"]
    named, extra = [], []
    for name, told in (signature or {}).items():
        if name == "trainer_kwargs":
            continue
        value = engine.get(name, told.get("value"))
        required = "required" in told and name != "n_series"
        named.append((name, None if required else text_of(name, value), type_of(name, value, model["name"])))
    for name in model["required"]:
        if name not in (signature or {}):
            named.append((name, None, TYPES[name]))
    reads = model["exogenous"]
    for name, value in engine.items():
        unread = name.endswith("_exog_list") and not reads[name[:4].rstrip("_")]
        if name not in (signature or {}) and not unread:
            extra.append((name, text_of(name, value), type_of(name, value, model["name"])))
    return (named, extra) if model["kind"] != "classical" else (named + extra, [])


def filled(text, indent, hanging=0):
    return textwrap.fill(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + hanging),
                         break_long_words=False, break_on_hyphens=False)


def docstring(model, arguments, common):
    network = model["kind"] != "classical"
    lines = [f'    """{model["name"]} ({model["paper"]}).', ""]
    if network:
        lines += ["    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.", ""]
    if model["differences"]:
        lines += [filled("Otherwise than in neuralforecast: " + " ".join(model["differences"]), 4), ""]
    own = [name for name, _, _ in arguments if name in model["meanings"] and (not network or name not in common)]
    if own or not network:
        lines.append("    Args:")
    if not network:
        lines.append("        h: Steps to forecast.")
    lines += [filled(f"{name}: {model['meanings'][name]}".replace("null", "None"), 8, 4) for name in own if name != "h"]
    while lines[-1] == "":
        lines.pop()
    return "\n".join([*lines, '    """'])


def class_text(model, signature, common):
    named, extra = arguments_of(model, signature)
    network = model["kind"] != "classical"
    base = "Network" if network else "LocalModel"
    reads = " ".join(kind for kind, it in model["exogenous"].items() if it)
    keywords = [f'reads="{reads}"'] if reads else []
    keywords += ["multivariate=True"] if model["kind"].startswith("multivariate") else []
    keywords += ["recurrent=True"] if "step by step" in model["kind"] else []
    words = [f"{name}: {kind}" + ("" if default is None else f" = {default}") for name, default, kind in named]
    if extra:
        words += ["*", *(f"{name}: {kind} = {default}" for name, default, kind in extra)]
    words = ["self", *words, "**trainer_kwargs: Unpack[TrainerOptions]"] if network else ["self", *words]
    signature_text = textwrap.fill(", ".join(word.replace(" ", "\0") for word in words) + ",", WIDTH, initial_indent=" " * 8,
                                   subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False)
    if network:
        signature_text = signature_text.removesuffix(",")
    return "\n".join([
        f"class {model['name']}({', '.join([base, *keywords])}):",
        docstring(model, named + extra, common),
        "",
        "    def __init__(",
        signature_text.replace("\0", " "),
        "    ) -> None:",
        "        self._take(locals())",
    ])


def main():
    models = {model["name"]: model for model in json.load(sys.stdin)}
    signatures = json.loads((HERE / "tests" / "fixtures" / "neuralforecast.json").read_text())["models"]
    networks = [set(model["hyper_parameters"]) for model in models.values() if model["kind"] != "classical"]
    common = set.intersection(*networks) | {"cat_exog_list", "categorical_cardinalities", "cat_emb_dim", "input_size", "h",
                                            "lr_scheduler", "lr_scheduler_kwargs", "dataloader_kwargs", "exclude_insample_y"}
    common |= {f"{kind}_exog_list" for kind in ("futr", "hist", "stat")}
    listed = [name for _, names in FILES.values() for name in names.split()]
    if set(listed) != set(models):
        sys.exit(f"FILES lists other models than the engine has: {set(listed) ^ set(models)}")
    for file, (meaning, names) in FILES.items():
        base = "LocalModel" if file == "classical" else "Network"
        body = "\n\n\n".join(class_text(models[name], signatures.get(name), common) for name in names.split())
        losses = sorted({loss for loss in ("MAE", "DistributionLoss") if f"{loss}(" in body})
        imports = ["from collections.abc import Sequence"] if "Sequence[" in body else []
        imports += ["from typing import Any"] if "Any" in body else []
        ours = [f"from foretell._model import {base}"]
        ours += [f"from foretell.losses.pytorch import {', '.join(sorted(['Loss', *losses]))}"] if losses else []
        ours += OPTIONS if "Unpack[" in body else []
        imports = [line.replace("import Any", "import TYPE_CHECKING, Any") if "Unpack[" in body else line for line in imports]
        text = "\n".join([f'"""{meaning}\n\nWritten by python/write_models.py: change that and run it.\n"""', "",
                          "from __future__ import annotations", "", *imports, "", *ours, "", "", body, ""])
        (HERE / "foretell" / "models" / f"{file}.py").write_text(text)
    write_index()


def write_index():
    """The package's own file: every model, and what else there is."""
    everything = {f"foretell.models.{file}": names.split() for file, (_, names) in FILES.items()}
    everything["foretell._model"] = ["LocalModel", "Model", "Network"]
    everything["foretell.models.hint"] = ["HINT"]
    everything["foretell.models.temporal"] = ["Temporal"]
    everything["foretell.models.pretrained"] = ["Pretrained"]
    everything["foretell.models.ensemble"] = ["Ensemble"]
    imports = [wrapped(f"from {module} import ", sorted(names)) for module, names in sorted(everything.items())]
    exported = [f'    "{name}",' for names in everything.values() for name in names]
    # A module a model, as neuralforecast has them: the name in small letters, but for one.
    modules = [f'    "{"dilated_rnn" if name == "DilatedRNN" else name.lower()}": {file},'
               for file, (_, names) in FILES.items() if file != "classical" for name in names.split()]
    text = ['"""Models, with the names, arguments and defaults of neuralforecast, and more.', "",
            'Written by python/write_models.py: change that and run it.', '"""', "", "import sys", "",
            f"from foretell.models import {', '.join(file for file in FILES if file != 'classical')}", *imports, "",
            "__all__ = [", *exported, "]", "",
            "# In neuralforecast each model has a module of its own: `from foretell.models.nhits import NHITS` works, too.",
            "for _name, _module in {", *modules, "}.items():", '    sys.modules[f"{__name__}.{_name}"] = _module', ""]
    (HERE / "foretell" / "models" / "__init__.py").write_text("\n".join(text))


def wrapped(start, names):
    """An import on one line, or one name a line."""
    line = start + ", ".join(names)
    return line if len(line) <= WIDTH else "\n".join([start + "(", *(f"    {name}," for name in names), ")"])


if __name__ == "__main__":
    main()
