"""Arguments of PyTorch Lightning's trainer, which users of neuralforecast pass to models."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

#: Where, how loudly and with which files a training runs: nothing of it changes the weights.
WITHOUT_MEANING = frozenset({
    "accelerator", "barebones", "benchmark", "callbacks", "check_val_every_n_epoch", "default_root_dir", "detect_anomaly",
    "deterministic", "devices", "enable_autolog_hparams", "enable_checkpointing", "enable_model_summary", "enable_progress_bar",
    "inference_mode", "limit_predict_batches", "limit_test_batches", "log_every_n_steps", "logger", "model_registry", "num_nodes",
    "num_sanity_val_steps", "plugins", "profiler", "reload_dataloaders_every_n_epochs", "strategy", "sync_batchnorm",
    "use_distributed_sampler", "val_check_interval",
})  # fmt: skip

#: What would change the result, with the values that change nothing and what to do otherwise.
CHANGES_RESULTS: dict[str, tuple[tuple[Any, ...], str]] = {
    "fast_dev_run": ((None, False, 0), "set max_steps=1 instead"),
    "limit_train_batches": ((None, 1.0), "lower max_steps instead"),
    "limit_val_batches": ((None, 1.0), "lower val_size instead"),
    "max_epochs": ((None,), "set max_steps instead"),
    "max_time": ((None,), "set max_steps or early_stop_patience_steps instead"),
    "min_epochs": ((None,), "set max_steps without early_stop_patience_steps instead"),
    "min_steps": ((None,), "set max_steps without early_stop_patience_steps instead"),
    "overfit_batches": ((None, 0, 0.0), "fit on fewer series instead"),
}

#: Callbacks of Lightning and of Ray that watch a training and change nothing of it.
_WATCHING_CALLBACKS = frozenset({
    "DeviceStatsMonitor", "LearningRateMonitor", "ModelCheckpoint", "ModelSummary", "OnExceptionCheckpoint",
    "ProgressBar", "RichModelSummary", "RichProgressBar", "ThroughputMonitor", "TQDMProgressBar", "TuneReportCallback",
    "TuneReportCheckpointCallback",
})  # fmt: skip

PRECISIONS: dict[Any, str | None] = {
    None: None, 32: None, "32": None, "32-true": None, "f32": None,
    "bf16": "bf16", "bf16-mixed": "bf16", "bf16-true": "bf16",
    16: "f16", "16": "f16", "16-mixed": "f16", "16-true": "f16", "f16": "f16",
}  # fmt: skip


class TrainerArguments(NamedTuple):
    """What the engine makes of a trainer's arguments."""

    precision: str | None
    threads: int | None


def read_trainer_arguments(given: dict[str, Any], model: str, hyper_parameters: list[str]) -> TrainerArguments:
    """Reads what was given beside a model's hyper-parameters.

    Raises:
        TypeError: If there is no such argument; the error names the nearest.
        ValueError: If it would change the result and the engine has nothing like it.
    """
    for name, value in given.items():
        if name in CHANGES_RESULTS:
            harmless, instead = CHANGES_RESULTS[name]
            if value not in harmless:
                raise ValueError(f"{model}: {name}={value!r} would change the result, and foretell has no such setting: {instead}")
        elif name not in WITHOUT_MEANING and name not in ("precision", "threads"):
            raise TypeError(unknown_argument(name, model, hyper_parameters))
    _check_callbacks(given.get("callbacks"), model)
    if given.get("logger") not in (None, True, False, []):
        warnings.warn(
            f"{model}: logger is not used: the engine trains without Lightning; after a fit the model's train_trajectories and "
            "valid_trajectories have the losses",
            stacklevel=_FRAMES,
        )
    precision = given.get("precision")
    if precision not in PRECISIONS:
        raise ValueError(f'{model}: precision must be 32, "bf16-mixed" or "16-mixed"; found {precision!r}')
    threads = given.get("threads")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 0):
        raise ValueError(f"{model}: threads must be a number of threads, or 0 for all of the machine; found {threads!r}")
    return TrainerArguments(PRECISIONS[precision], threads)


#: From a warning to the call of a model's constructor.
_FRAMES = 5


def _check_callbacks(given: Any, model: str) -> None:
    """Warns of callbacks, which nothing calls.

    Raises:
        ValueError: If one is not known to change nothing.
    """
    callbacks = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    for callback in callbacks:
        name = type(callback).__name__
        if name not in _WATCHING_CALLBACKS or type(callback).__module__.partition(".")[0] not in ("lightning", "pytorch_lightning", "ray"):
            instead = _INSTEAD_OF_CALLBACKS.get(name, "leave it out")
            raise ValueError(f"{model}: callbacks has a {name}, which could change the result, and the engine calls none: {instead}")
    if callbacks:
        names = ", ".join(type(callback).__name__ for callback in callbacks)
        warnings.warn(
            f"{model}: callbacks are not used ({names}): the engine trains without Lightning; NeuralForecast.fit(verbose=True) shows "
            "progress, and checkpoint= keeps the state of a training",
            stacklevel=_FRAMES + 1,
        )


_INSTEAD_OF_CALLBACKS = {
    "EarlyStopping": "set early_stop_patience_steps and val_check_steps instead",
    "GradientAccumulationScheduler": "set accumulate_grad_batches instead",
    "Timer": "set max_steps or early_stop_patience_steps instead",
    "LearningRateFinder": "set learning_rate instead",
    "BatchSizeFinder": "set batch_size and windows_batch_size instead",
}


#: The words of Lightning for precisions; "f16" and "f32" are the engine's.
_OF_LIGHTNING = (16, 32, "16", "32", "16-true", "16-mixed", "bf16", "bf16-true", "bf16-mixed", "32-true")


def saved(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a trainer that a file keeps: plain values, and none that is of this machine's memory alone."""
    plain = {name: value for name, value in given.items() if value is None or isinstance(value, (bool, int, float, str))}
    return {name: value for name, value in plain.items() if name != "threads" and (name != "precision" or value in _OF_LIGHTNING)}


def known(loaded: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a file that are heeded here or change nothing."""
    names = (name for name in loaded if name in WITHOUT_MEANING or name == "precision" and loaded[name] in PRECISIONS)
    return {name: loaded[name] for name in names if name not in ("callbacks", "logger") or isinstance(loaded[name], bool)}


def unknown_argument(name: str, model: str, hyper_parameters: list[str]) -> str:
    known = [*hyper_parameters, "precision", "threads"]
    near = difflib.get_close_matches(name, [*known, *WITHOUT_MEANING, *CHANGES_RESULTS], 1)
    advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    return f"{model} has no argument {name}; {advice}"


#: The classes of PyTorch that the engine has a counterpart of, by the argument that they are given for, and what they are subclasses of.
CLASSES: dict[str, tuple[str, tuple[str, ...]]] = {
    "optimizer": ("torch.optim.Optimizer", ("Adam", "AdamW", "SGD", "RMSprop", "RAdam", "NAdam", "Adamax", "Adagrad", "Adadelta")),
    "lr_scheduler": (
        "torch.optim.lr_scheduler.LRScheduler",
        (
            "StepLR", "MultiStepLR", "ExponentialLR", "ConstantLR", "LinearLR", "PolynomialLR", "CosineAnnealingLR",
            "CosineAnnealingWarmRestarts", "OneCycleLR", "ReduceLROnPlateau", "CosineWarmup",
        ),  # fmt: skip
    ),
}


def class_name(value: Any, argument: str) -> str:
    """The name of an optimiser's or scheduler's class, which may be given by its name.

    Raises:
        TypeError: If the engine has none of that name, or it is an instance.
    """
    base, known = CLASSES[argument]
    name = value if isinstance(value, str) else getattr(value, "__name__", None)
    if name not in known:
        found = repr(value) if name is None else name
        raise TypeError(
            f"{argument} is not a valid subclass of {base} for foretell: expected one of {', '.join(known)}, as a class or a name; found "
            f"{found}. Arguments go into {argument}_kwargs"
        )
    return str(name)


def heeded(settings: dict[str, Any], warns: bool) -> dict[str, Any]:
    """Settings without the arguments of optimisers and schedulers that neuralforecast ignores; warnings tell which, if they are to."""
    found = dict(settings)
    for argument, ignored, instead in [
        ("optimizer", "lr", "ignoring learning rate passed in optimizer_kwargs, using the model's learning rate"),
        ("lr_scheduler", "optimizer", "ignoring optimizer passed in lr_scheduler_kwargs, using the model's optimizer"),
    ]:
        name = f"{argument}_kwargs"
        if not found.get(name):
            continue
        if found.get(argument) is None:
            if warns:
                warnings.warn(f"ignoring {name} as the {argument} is not specified", stacklevel=5)
            del found[name]
        elif ignored in found[name]:
            if warns:
                warnings.warn(instead, stacklevel=5)
            found[name] = {key: value for key, value in found[name].items() if key != ignored}
    return found
