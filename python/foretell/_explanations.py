"""What the inputs of networks contribute to their forecasts, in the arrays in which neuralforecast has it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foretell import _foretell
from foretell._data import Data
from foretell._model import Network
from foretell.common.enums import ExplainerEnum

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The methods whose contributions add up to a forecast.
ADDITIVE = (ExplainerEnum.IntegratedGradients.value, ExplainerEnum.ShapleyValueSampling.value)


class Attributions(np.ndarray[Any, np.dtype[np.float32]]):
    """An array with the few methods of tensors of PyTorch that are called on explanations. What is taken out of it is one, too: a number
    has no dimensions, as a tensor's has none."""

    def cpu(self) -> Attributions:
        return self

    detach = cpu

    def numpy(self) -> NDArray[Any]:
        return np.asarray(self)

    def sum(self, axis: Any = None, *args: Any, dim: Any = None, **kwargs: Any) -> Any:
        return super().sum(axis if dim is None else dim, *args, **_in_numpy(kwargs))

    def mean(self, axis: Any = None, *args: Any, dim: Any = None, **kwargs: Any) -> Any:
        return super().mean(axis if dim is None else dim, *args, **_in_numpy(kwargs))

    def abs(self) -> Attributions:
        return np.abs(self).view(type(self))

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return found if isinstance(found, np.ndarray) else np.asarray(found).view(type(self))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array).view(type(self))

    def __float__(self) -> float:
        return float(self.item())


def _in_numpy(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of PyTorch by their names in numpy."""
    return {"keepdims" if name == "keepdim" else name: value for name, value in arguments.items()}


def explainable(models: Sequence[Any], explainer: str, verbose: bool) -> list[int]:
    """The places of the models that are explained.

    Raises:
        ValueError: If there is no such method, or none is.
    """
    methods = [method.value for method in ExplainerEnum]
    if explainer not in methods:
        raise ValueError(f"Explainer {explainer} is not supported. Supported explainers are: {', '.join(methods)}.")
    found, skipped = [], []
    for place, model in enumerate(models):
        reason = _why_not(model, explainer)
        if reason is None:
            found.append(place)
            continue
        skipped.append(f"{model!r}: {reason}")
        if verbose:
            warnings.warn(f"Skipping {model!r}: {reason}.", stacklevel=4)
    if not found:
        raise ValueError(f"No models support explanations with the current configuration. The following models were skipped: {skipped}.")
    return found


def _why_not(model: Any, explainer: str) -> str | None:
    model = getattr(model, "model", None) or model
    if not isinstance(model, Network):
        return "it is no network"
    if model.loss.is_distribution_output:
        return f"the parameters of {type(model.loss).__name__} have no explanations: train it with a loss of points or quantiles"
    if model.RECURRENT and explainer == ExplainerEnum.IntegratedGradients:
        return "as in neuralforecast, IntegratedGradients leaves out recurrent models: set recurrent=False, or take another explainer"
    return None


def explain(
    fitted: _foretell.Fitted, models: Sequence[Any], data: Data, future: Any, explainer: str, h: int,
    horizons: Sequence[int], outputs: Sequence[int], series: Sequence[int] | None,
) -> dict[str, dict[str, Attributions | None]]:  # fmt: skip
    """For each of the models, which are those of ``fitted``, the arrays "insample", "futr_exog", "hist_exog", "stat_exog" and
    "baseline_predictions"."""
    explained = {}
    for name, asked in zip(fitted.names, models):
        model = getattr(asked, "model", None) or asked
        frames = [fitted.explain(data.panel, future, [name], explainer, output, h) for output in outputs]
        parts = _arrays(frames, name, model, data.names.target_col, data.panel.n_series, h)
        if explainer not in ADDITIVE:
            parts["baseline_predictions"] = None
        explained[repr(asked)] = {
            kind: None if values is None else _chosen(values, horizons, series if model.MULTIVARIATE else None)
            for kind, values in parts.items()
        }
    return explained


def _chosen(values: NDArray[Any], horizons: Sequence[int], series: Sequence[int] | None) -> Attributions:
    values = values[:, list(horizons)]
    return (values if series is None else values[:, :, list(series)]).view(Attributions)


def _arrays(
    frames: list[_foretell.Frame], name: str, model: Network, target: str, n_series: int, h: int
) -> dict[str, NDArray[Any] | None]:
    """The columns of a model, an explanation per output, as arrays ``[windows, horizon, series, outputs, ...]``: windows of one series
    each, or one of all, whose inputs have an axis of the series that they are of."""
    prefix = f"{name}:"
    inputs = [column.removeprefix(prefix) for column in frames[0].names if column.startswith(prefix)][1:]
    read = [[np.frombuffer(frame.column(prefix + column), "f4") for column in ["baseline", *inputs]] for frame in frames]
    # [series, horizon, columns, outputs]
    table = np.array(read).transpose(2, 1, 0).reshape(n_series, h, len(inputs) + 1, len(frames))
    baseline, values = table[:, :, 0], table[:, :, 1:]
    joint = model.MULTIVARIATE
    n_inputs = n_series if joint else 1
    # [series, horizon, outputs, series of the inputs, columns of one]
    values = np.moveaxis(values.reshape(n_series, h, n_inputs, -1, len(frames)), 4, 2)
    if joint:
        values = values[:, :, :, _order(frames[0])]
        inputs = [column.partition("/")[2] for column in inputs[: len(inputs) // n_series]]
    hist, futr, stat = model.hist_exog_list, model.futr_exog_list, model.stat_exog_list
    history = sum(column.startswith(f"{target}@") for column in inputs[: len(inputs) - len(stat)]) if target not in hist + futr else model.input_size
    own = len(inputs) - len(stat) - history
    # Models that forecast step by step see columns one step ahead of the target.
    direct = own == len(hist) * history + len(futr) * (history + model.h)
    n_hist = len(hist) * (history if direct else history + h - 1)
    ends = np.cumsum([history, n_hist, own - n_hist])
    insample, past, ahead, static = np.split(values, ends, axis=4)

    def columns(part: NDArray[Any], names: list[str]) -> NDArray[Any] | None:
        if not names:
            return None
        by_step = part.reshape(*part.shape[:4], -1, len(names))
        return arranged(by_step.transpose(0, 1, 2, 5, 4, 3))

    def arranged(part: NDArray[Any]) -> NDArray[Any]:
        """A part whose first axis is that of series, and whose last one that of the series of its inputs."""
        return np.moveaxis(part, 0, 1)[None] if joint else part[:, :, None, ..., 0]

    steps = arranged(insample.transpose(0, 1, 2, 4, 3))
    if model.RECURRENT and not joint:
        # Among what it reads neuralforecast counts its own forecasts, whose contributions are those of the inputs here.
        steps = np.pad(steps, [*[(0, 0)] * 4, (0, model.input_size + h - history)])
    stats = np.moveaxis(static, 0, 1)[None] if joint else static[:, :, None, :, 0]
    return {
        # Which values are known is no input that contributes.
        "insample": np.stack([steps, np.zeros_like(steps)], axis=-1),
        "futr_exog": columns(ahead, futr),
        "hist_exog": columns(past, hist),
        "stat_exog": stats if stat else None,
        "baseline_predictions": np.moveaxis(baseline, 0, 1)[None] if joint else baseline[:, :, None],
    }


def _order(frame: _foretell.Frame) -> list[int]:
    """The places among the inputs, whose series come in the order of their ids as texts, of the series of the rows."""
    ids = [str(id) for id in frame.ids()[0]]
    texts = sorted(ids)
    return [texts.index(id) for id in ids]
