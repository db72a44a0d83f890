"""A model by itself, without ``NeuralForecast`` or taken out of one, and a dataset of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foretell._numbers import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foretell._model import Model
    from foretell.tsdataset import TimeSeriesDataset


def fitted_alone(model: Model, dataset: TimeSeriesDataset, val_size: int, test_size: int) -> tuple[Any, dict[str, float]]:
    """A forecaster of this model, trained without the last ``test_size`` steps of each series, and the losses of its training."""
    df = dataset.df
    if test_size > 0:
        df = df[df["ds"] < dataset.max_size - test_size]
    forecaster = model.trained_by([model], freq=1)
    forecaster.fit(df, static_df=dataset.static_df, val_size=val_size)
    return forecaster, metrics(*forecaster._trained().losses[0])


def predicted_alone(
    forecaster: Any, dataset: TimeSeriesDataset, test_size: int, step_size: int, quantiles: list[float] | None, h: int | None
) -> NDArray[Any]:
    """Forecasts of a dataset: of its last ``test_size`` steps, or of what follows it; ``[series * windows * h, outputs]``."""
    if test_size > 0:
        forecasts = forecaster.cross_validation(
            dataset.df, static_df=dataset.static_df, n_windows=None, test_size=test_size, step_size=step_size, use_fitted=True,
            quantiles=quantiles,
        )
    else:
        forecasts = forecaster.predict(df=dataset.df, static_df=dataset.static_df, quantiles=quantiles, h=h)
    values: NDArray[Any] = forecasts.drop(columns=["unique_id", "ds", "cutoff", "y"], errors="ignore").to_numpy()
    return values


def decomposed_alone(model: Model, dataset: TimeSeriesDataset, test_size: int, step_size: int) -> NDArray[Any]:
    """The parts of forecasts of a dataset, which add up to them: of its last ``test_size`` steps, or of what follows it; ``[series *
    windows, parts, h]``.

    Raises:
        RuntimeError: Before a fit.
        ValueError: If the model has no parts.
    """
    import numpy as np

    if model._alone is not None:
        forecaster, place, df, static_df = model._alone, 0, dataset.df, dataset.static_df
    elif model._within is not None:
        # A forecaster of a user knows ids, times and the names of columns.
        forecaster, place = model._within
        names = dict(zip(["unique_id", "ds", "y"], forecaster._names().all))
        df, static_df = (None if table is None else table.rename(columns=names) for table in dataset.given)
    else:
        raise RuntimeError(f"{model!r} is not trained: call fit(dataset) before, or forecast by NeuralForecast")
    id_col, time_col, target_col = forecaster._names().all
    steps = dataset.df["ds"].to_numpy()
    windows = []
    for left in range(test_size, model.h - 1, -step_size) if test_size else [0]:
        end = dataset.max_size - left
        ahead = df[(steps >= end) & (steps < end + model.h)].drop(columns=target_col)
        futr_df = ahead if getattr(model, "futr_exog_list", None) else None
        parts = forecaster._decomposed(place, df[steps < end], static_df, futr_df, None).sort_values([id_col, time_col])
        values = parts.drop(columns=[id_col, time_col]).to_numpy()
        windows.append(values.reshape(dataset.n_groups, model.h, -1).swapaxes(1, 2))
    found = np.stack(windows, axis=1)
    return found.reshape(-1, *found.shape[2:])
