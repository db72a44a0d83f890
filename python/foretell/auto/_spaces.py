"""Default search spaces: the engine's, which are neuralforecast's."""

from __future__ import annotations

import json
from typing import Any

from foretell import _foretell
from foretell.tune import Domain, choice, loguniform, quniform, randint, uniform

Space = dict[str, Any]

_SIZES = ("input_size", "inference_input_size")


def space_of(model: str, n_series: bool) -> Space:
    """The default space of a model before the horizon is known: sizes of the history as multiples of it.

    It has places for the horizon and the loss, and for the number of series where the model forecasts several together.
    """
    space: Space = {"h": None, **({"n_series": None} if n_series else {})}
    for name, words in _foretell.search_space(model):
        if name in _SIZES:
            space[f"{name}_multiplier"] = [_times(value) for value in json.loads(words)]
        elif name != "step_size":
            space[name] = _domain(words)
    return {**space, "loss": None}


def _times(value: str | int) -> int:
    """How many horizons ``"4h"`` is; a number stands for itself, as -1 in neuralforecast."""
    return int(str(value).removesuffix("h") or 1)


def _domain(words: str) -> Domain:
    """What values in the engine's words are drawn from, as ``loguniform:0.0001:0.1`` or ``[16,32]``."""
    if words.startswith("["):
        return choice(json.loads(words))
    kind, *texts = words.split(":")
    low, high, *step = map(float, texts)
    match kind, step:
        case "quniform", [1.0]:
            return randint(int(low), int(high) + 1)
        case "quniform", [step_size]:
            return quniform(low, high, step_size)
        case "loguniform", _:
            return loguniform(low, high)
        case _:
            return uniform(low, high)


def default_space(space: Space, h: int, n_series: int | None = None) -> Space:
    """A model's default space for a horizon: sizes of the history as multiples of it, windows side by side or a horizon apart.

    ``n_series`` is filled in where the space has a place for it.
    """
    found = with_sizes(space, h)
    if "inference_input_size_multiplier" not in space:
        found["step_size"] = choice([1, h])
    if "n_series" in found:
        found["n_series"] = n_series
    return found


def with_sizes(space: Space, h: int) -> Space:
    """A space whose multiples of the horizon have become sizes; a size that it has already stays."""
    found = dict(space)
    for name in _SIZES:
        multipliers = found.pop(f"{name}_multiplier", None)
        if multipliers is not None and name not in found:
            found[name] = choice([h * m for m in multipliers]) if isinstance(multipliers, (list, tuple)) else h * multipliers
    return found
