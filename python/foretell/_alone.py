"""A model that is fitted by itself, without ``NeuralForecast``, on a dataset of steps."""

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
