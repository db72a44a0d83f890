"""From a forecaster's settings to the engine's."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foretell import _checks, _foretell
from foretell._calls import ForecasterOptions, KeptOptions
from foretell._data import Names
from foretell.utils import PredictionIntervals

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Scalers of whole series and of static columns.
SCALERS = _foretell.local_scalers()


#: Names of settings.
NAMES = ForecasterOptions.__optional_keys__ | {"local_scaler_type", "local_static_scaler_type"}


class Settings:
    """What holds for all models of a forecaster: the engine reads what was given by its name, the attributes are what is read here as well."""

    def __init__(
        self, local_scaler_type: str | None = None, local_static_scaler_type: str | None = None, **given: Unpack[ForecasterOptions]
    ) -> None:
        scalers = {"local_scaler_type": local_scaler_type, "local_static_scaler_type": local_static_scaler_type}
        for name in given.keys() - NAMES:
            raise TypeError(f"{name} is no setting of forecasters; they are {', '.join(sorted(NAMES))}")
        for name, value in scalers.items():
            if value is not None and value not in SCALERS:
                raise ValueError(f"{name.removeprefix('local_')} must be one of {', '.join(SCALERS)}; found {value!r}")
        self.local_scaler_type, self.local_static_scaler_type = local_scaler_type, local_static_scaler_type
        self.threads = _checks.count("threads", given.get("threads", 0))
        self.precision, self.low_memory = given.get("precision"), given.get("low_memory", False)
        self.end, self.features, self.raw_quantiles = given.get("end"), given.get("features"), given.get("raw_quantiles", False)
        memory = given.get("max_memory")
        counts = {
            "threads": self.threads, "baselines": _checks.count("baselines", given.get("baselines", 0)),
            "max_memory": None if memory is None else _checks.count("max_memory", memory),
        }  # fmt: skip
        self.given: dict[str, Any] = {**given, **scalers, **counts}

    def __eq__(self, other: object) -> bool:
        return self.given == other.given if isinstance(other, Settings) else NotImplemented

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A forecaster that was pickled by an earlier version has a setting in each attribute.
        self.__dict__.update(state if "given" in state else vars(Settings(**state)))

    @property
    def of_steps(self) -> dict[str, Any]:
        """Those that say how the steps of every training are computed."""
        return {"precision": self.precision, "low_memory": self.low_memory}

    def on(self, threads: int) -> Settings:
        """The same on this many threads."""
        return Settings(**{**self.given, "threads": threads})


def settings_of(fitted: _foretell.Fitted) -> dict[str, Any]:
    """The settings that trained models keep."""
    return {name: value for name, value in json.loads(fitted.settings).items() if name in NAMES}


def keeping(fitted: _foretell.Fitted, settings: dict[str, Any]) -> _foretell.Fitted:
    """Trained models with those of the settings that models keep, as far as some are given, in place of their own."""
    asked = {name: value for name, value in settings.items() if name in KeptOptions.__optional_keys__}
    return fitted.keep(json.dumps(asked)) if asked else fitted


#: The lists of a model that features add columns to.
_OF_FEATURES = ("hist_exog_list", "futr_exog_list")


def computed_columns(fitted: _foretell.Fitted) -> list[str]:
    """The columns that trained models read and that features compute."""
    if not settings_of(fitted).get("features"):
        return []
    of_data = set(fitted.columns)

    def read(hyper_parameters: dict[str, Any]) -> list[str]:
        # A model of temporal sums holds another.
        within = hyper_parameters["model"]["hyper_parameters"] if isinstance(hyper_parameters.get("model"), dict) else hyper_parameters
        return [name for key in _OF_FEATURES for name in within.get(key) or []]

    names = (name for spec in json.loads(fitted.models) for name in read(spec["hyper_parameters"]))
    return [name for name in dict.fromkeys(names) if name not in of_data]


def differ(one: str | None, other: str | None) -> bool:
    """Whether two texts name different features, whatever spaces are between them."""
    return "".join((one or "").split()) != "".join((other or "").split())


def without_columns(value: Any, names: Sequence[str]) -> Any:
    """The hyper-parameters of a model without these of the columns that it reads."""
    if not isinstance(value, dict):
        return value
    return {
        key: [name for name in own if name not in names] if key in _OF_FEATURES and own else without_columns(own, names)
        for key, own in value.items()
    }  # fmt: skip


@dataclass(frozen=True)
class Course:
    """What holds for one training: the parameters that stay unchanged, and where its state is kept, and after how many steps each time."""

    freeze: Sequence[str] = ()
    checkpoint: tuple[str, int] | None = None

    @staticmethod
    def of(freeze: Sequence[str] | str, checkpoint: str | os.PathLike[str] | None, every: int) -> Course:
        """That of these arguments of a training.

        Raises:
            ValueError: If a state is to be kept every 0 steps.
        """
        every = _checks.count("checkpoint_every", every, 1)
        names = (freeze,) if isinstance(freeze, str) else tuple(freeze)
        return Course(names, None if checkpoint is None else (os.fspath(checkpoint), every))

    @property
    def has_state(self) -> bool:
        """Whether the state of a training is kept already."""
        return self.checkpoint is not None and any(Path(self.checkpoint[0]).glob("training-*"))


def is_ensemble(model: Any) -> bool:
    """Whether it combines the forecasts of the other models of its list."""
    return hasattr(model, "combine")


def has_intervals(model: Any) -> bool:
    """Whether it forecasts intervals without conformal ones: by its loss, or as most classical models do."""
    loss = getattr(model, "loss", None)
    return loss is None or getattr(loss, "outputsize_multiplier", 1) > 1 or hasattr(loss, "update_quantile")


def named(fitted: _foretell.Fitted, models: Sequence[Any]) -> list[tuple[str, Any]]:
    """The models of a list, without ensembles, with the names of their columns."""
    return list(zip(fitted.names, (model for model in models if not is_ensemble(model))))


def is_searched(model: Any) -> bool:
    """Whether its hyper-parameters are searched for before it is trained."""
    return hasattr(model, "search_space")


def is_coherent(model: Any) -> bool:
    """Whether its forecasts add up by a hierarchy of its own."""
    return hasattr(model, "hierarchy")


def places(models: Sequence[Any], chosen: Sequence[int]) -> list[int]:
    """The places among the engine's models, which are those of a list without ensembles, of some of a list.

    Raises:
        ValueError: If one is an ensemble, which combines all models.
    """
    for place in chosen:
        if not 0 <= place < len(models) or is_ensemble(models[place]):
            raise ValueError(f"expected places of models from 0 to {len(models) - 1}, and of no ensemble, which is of all; found {place}")
    members = [place for place, model in enumerate(models) if not is_ensemble(model)]
    return [members.index(place) for place in chosen]


def hierarchy(models: Sequence[Any], ids: Sequence[Any]) -> tuple[list[str], list[str], list[float], str] | None:
    """The hierarchy that the forecasts of all models add up by, whose rows are these ids where it names none; None for no such.

    Raises:
        ValueError: If models differ in it.
    """
    found = [model.hierarchy(ids) if is_coherent(model) else None for model in models]
    if any(one != found[0] for one in found):
        raise ValueError("models of different hierarchies, or with and without one, cannot be trained together: give each its own NeuralForecast")
    return found[0]


def forecaster(
    models: Sequence[Any], settings: Settings, names: Names, val_size: int, intervals: PredictionIntervals | str | None,
    start: _foretell.Fitted | None, hierarchy: tuple[list[str], list[str], list[float], str] | None = None,
    course: Course = Course(), like: _foretell.Fitted | None = None,
) -> _foretell.Forecaster:  # fmt: skip
    """The engine's forecaster, which trains once; without a hierarchy of its models forecasts add up as those of ``like`` do."""
    specs = [model.to_spec() for model in models if not is_ensemble(model)]
    precisions = {spec.pop("precision", None) for spec in specs} - {None}
    if len(precisions) > 1:
        raise ValueError(f"models that are trained together have one precision; found {', '.join(sorted(precisions))}")
    threads = [spec.pop("threads", None) or 0 for spec in specs]
    training = {
        **names.of_engine, **settings.given, **vars(course), "val_size": int(val_size),
        "intervals": None if intervals is None else intervals_text(intervals),
        "threads": settings.threads or max(threads, default=0), "precision": settings.precision or next(iter(precisions), None),
        "ensembles": [model.to_spec()["ensemble"] for model in models if is_ensemble(model)],
    }  # fmt: skip
    return _foretell.Forecaster(json.dumps(specs), json.dumps(training), start, hierarchy, like)


def imported(directory: str) -> _foretell.Fitted:
    """The models of a directory of neuralforecast 3.2 or older; a warning tells what was left out."""
    fitted, left_out = _foretell.import_models(directory)
    if left_out:
        warnings.warn(f"{directory} is read without {'; '.join(left_out)}", stacklevel=3)
    return fitted


def intervals_text(intervals: PredictionIntervals | str) -> str:
    return intervals if isinstance(intervals, str) else f"{intervals.n_windows}:{intervals.method}:{intervals.step_size}"


def intervals_of(text: str | None) -> PredictionIntervals | str | None:
    """The intervals that `intervals_text` wrote."""
    if text is None or text.startswith(("dropout", "spread")):
        return text
    n_windows, method, step_size = text.split(":")
    return PredictionIntervals(int(n_windows), method, int(step_size))


class Bar:
    """A bar of progress for each model, if it is asked for and tqdm is installed."""

    def __init__(self, wanted: bool) -> None:
        self._bars: dict[str, Any] = {}
        self._tqdm: Any = None
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._tqdm = tqdm

    @property
    def listener(self) -> Callable[[str, int, int, float, float | None], None] | None:
        """What the engine calls now and then during a training."""
        return None if self._tqdm is None else self._show

    def _show(self, model: str, step: int, max_steps: int, train_loss: float, valid_loss: float | None) -> None:
        if model not in self._bars:
            self._bars[model] = self._tqdm(total=max_steps, desc=model)
        bar = self._bars[model]
        bar.update(step - bar.n)
        losses = {"train_loss": train_loss} if valid_loss is None else {"train_loss": train_loss, "valid_loss": valid_loss}
        bar.set_postfix(losses, refresh=False)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *failure: object) -> None:
        for bar in self._bars.values():
            bar.close()
