"""Models by name, and what may stand in a list of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foretell import _trainer, models
from foretell._model import Model, defaults_of
from foretell.models.ensemble import Ensemble

#: The models that the engine has, by name.
MODELS: dict[str, type[Model]] = {
    cls.__name__: cls
    for cls in vars(models).values()
    if isinstance(cls, type) and issubclass(cls, Model) and cls.__module__.startswith("foretell.models.")
}


def as_models(given: Iterable[Any]) -> list[Any]:
    """The models of a list, checked.

    Raises:
        TypeError: If something else stands there, such as a module of PyTorch or a model of neuralforecast.
    """
    if not isinstance(given, Iterable) or isinstance(given, (str, Mapping)):
        raise TypeError(f"models must be a list of models such as NHITS(h=12, input_size=24); found {given!r}")
    found = list(given)
    for position, model in enumerate(found):
        if not isinstance(model, (Model, Ensemble, models.HINT, models.Temporal)) and not hasattr(model, "search_space"):
            raise TypeError(f"models[{position}] {what_it_is(model)}")
    return found


def what_it_is(value: Any) -> str:
    """Why something is no model, and what to do."""
    kind = type(value)
    if isinstance(value, type):
        return f"is the class {value.__name__}: make a model of it, as in {value.__name__}(h=12, input_size=24)"
    if kind.__module__.startswith("neuralforecast"):
        return f"is neuralforecast's {kind.__name__}: import it from foretell.models instead"
    if hasattr(value, "forward") and hasattr(value, "parameters"):
        return (
            f"is the PyTorch module {kind.__name__}, which foretell cannot train: docs/own-model.md says how to write a model in Rust, "
            "which then trains and forecasts like those of foretell.models"
        )
    return f"is {value!r}: expected a model of foretell.models, such as NHITS(h=12, input_size=24)"


def model_from_spec(name: str, hyper_parameters: Mapping[str, Any], trainer: Mapping[str, Any] | None = None) -> Any:
    """The model that the engine describes by its name and hyper-parameters, for example one that was loaded, with arguments of a trainer.

    Raises:
        ValueError: If there is no such model.
    """
    if name == models.Temporal.__name__:
        steps = hyper_parameters["model"]
        model = model_from_spec(steps["model"], steps["hyper_parameters"], trainer)
        return models.Temporal(model, hyper_parameters["temporal"], hyper_parameters["temporal_method"])
    if name not in MODELS:
        raise ValueError(f"there is no model {name}: expected one of {', '.join(MODELS)}")
    cls = MODELS[name]
    known = {"h", "input_size", "n_series", "folder", *defaults_of(cls)}
    return cls(**{key: value for key, value in hyper_parameters.items() if key in known}, **_trainer.known(trainer or {}))
