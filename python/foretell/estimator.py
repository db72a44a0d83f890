"""One series at a time, in the manner of scikit-learn, which is not needed for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell._model import Model
from foretell._registry import as_models, model_from_spec
from foretell.core import NeuralForecast

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["SeriesForecaster"]


class SeriesForecaster:
    """A model of one series: ``SeriesForecaster(NHITS(h=12, input_size=24)).fit(y).predict()``.

    Args:
        model: Any model of ``foretell.models`` or ``foretell.auto``. It is not changed.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {"model": self.model}

    def set_params(self, **params: Any) -> SeriesForecaster:
        """Sets them."""
        unknown = sorted(set(params) - {"model"})
        if unknown:
            raise ValueError(f"SeriesForecaster has no parameter {', '.join(unknown)}; it has model")
        self.model = params.get("model", self.model)
        return self

    def fit(self, y: ArrayLike, X: ArrayLike | None = None, val_size: int = 0) -> SeriesForecaster:
        """Trains the model.

        Args:
            y: The values of the series, ``[steps]``, oldest first.
            X: What is known ahead, ``[steps, columns]``; a model that is told no columns reads all of them.
            val_size: Steps at the end to validate on.

        Raises:
            ValueError: If the shapes do not fit together.
        """
        import numpy as np

        values = np.asarray(y, float)
        if values.ndim != 1:
            raise ValueError(f"y must be one series, [steps]; found the shape {values.shape}")
        self.n_features_in_ = 0 if X is None else np.asarray(X).reshape(len(np.asarray(X)), -1).shape[1]
        rows = self._rows(0, len(values), X)
        (model,) = as_models([self._reading(self.model)])
        self.forecaster_ = NeuralForecast([model], freq=1)
        self.forecaster_.fit(rows.assign(y=values), val_size=val_size)
        self.n_steps_ = len(values)
        return self

    def predict(self, X: ArrayLike | None = None, level: Sequence[float] | None = None, h: int | None = None) -> NDArray[Any]:
        """Forecasts what follows the series.

        Args:
            X: What is known of these steps, ``[h, columns]``, if the model reads such columns.
            level: Percentages of central intervals, of models that have them.
            h: Steps, at least those of the model.

        Returns:
            ``[h]``, or ``[h, outputs]`` of a model of several outputs or with intervals.

        Raises:
            RuntimeError: Before a fit.
        """
        if not hasattr(self, "forecaster_"):
            raise RuntimeError("SeriesForecaster is not trained: call fit(y) before")
        steps = h or self.forecaster_.h
        future = None if X is None else self._rows(self.n_steps_, steps, X)
        forecasts = self.forecaster_.predict(futr_df=future, level=level, h=h)
        outputs: NDArray[Any] = forecasts.drop(columns=["unique_id", "ds"]).to_numpy()
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _rows(self, start: int, steps: int, X: ArrayLike | None) -> Any:
        """A frame of steps with the columns ``x0``, ``x1``, ..."""
        import numpy as np
        import pandas as pd

        frame = pd.DataFrame({"unique_id": "y", "ds": np.arange(start, start + steps)})
        if X is None:
            return frame
        columns = np.asarray(X, float).reshape(len(np.asarray(X)), -1)
        if columns.shape != (steps, self.n_features_in_):
            raise ValueError(f"X must be [steps, columns] = {(steps, self.n_features_in_)}; found {columns.shape}")
        return frame.assign(**{f"x{i}": columns[:, i] for i in range(columns.shape[1])})

    def _reading(self, model: Any) -> Any:
        """The model, told of the columns of ``X`` unless it was told of some."""
        if not isinstance(model, Model) or self.n_features_in_ == 0 or model.hparams.get("futr_exog_list"):
            return model
        names = [f"x{i}" for i in range(self.n_features_in_)]
        return model_from_spec(model._engine_class.__name__, {**model.hparams, "futr_exog_list": names})
