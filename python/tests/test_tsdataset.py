"""Models that are fitted by themselves on a dataset, as code that goes around neuralforecast's core does."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest

from foretell import NeuralForecast
from foretell.auto import AutoMLP
from foretell.models import MLP, NHITS, SeasonalNaive
from foretell.tsdataset import TimeSeriesDataset
from foretell.tune import choice
from foretell.utils import AirPassengersDF, AirPassengersPanel, AirPassengersStatic

H = 12
SMALL = {"h": H, "input_size": 24, "max_steps": 10, "hidden_size": 8, "scaler_type": "standard"}


def test_a_dataset_tells_of_its_series():
    df = pd.DataFrame({
        "unique_id": [10, 2, 2, 10, 10], "ds": pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-02", "2024-01-01", "2024-01-03"]),
        "y": [5.0, 1.0, 2.0, 4.0, 6.0], "price": [0.0, 1.0, 2.0, 3.0, 4.0],
    })  # fmt: skip
    dataset, uids, last, times = TimeSeriesDataset.from_df(df)
    assert uids.tolist() == [2, 10] and last.tolist() == pd.to_datetime(["2024-01-02", "2024-01-03"]).tolist()
    assert len(dataset) == dataset.n_groups == 2 and (dataset.min_size, dataset.max_size) == (2, 3)
    assert dataset.indptr.tolist() == [0, 2, 5] and list(dataset.temporal_cols) == ["y", "price", "available_mask"] and len(times) == 5
    assert dataset.df["y"].tolist() == [1, 2, 4, 5, 6]
    # All series end at the same step.
    assert dataset.df["ds"].tolist() == [1, 2, 0, 1, 2]
    assert repr(dataset) == "TimeSeriesDataset(n_data=5, n_groups=2)"
    assert dataset.static_cols is None and dataset.static is None
    dataset, *_ = TimeSeriesDataset.from_df(df, pd.DataFrame({"unique_id": [10, 2, 3], "size": [7, 5, 1], "age": [0.5, 2, 3]}))
    assert dataset.static_cols.tolist() == ["size", "age"] and dataset.static.tolist() == [[5, 2], [7, 0.5]]
    assert TimeSeriesDataset.from_df(df, pd.DataFrame({"unique_id": [10, 2], "kind": ["x", "y"]}))[0].static is None


def test_a_model_by_itself_forecasts_as_within_a_forecaster():
    dataset, *_ = TimeSeriesDataset.from_df(AirPassengersPanel, AirPassengersStatic)
    model = MLP(**SMALL, stat_exog_list=["airline1"])
    with pytest.raises(RuntimeError, match="MLP is not trained: call fit"):
        model.predict(dataset)
    assert model.fit(dataset, val_size=H) is model
    assert set(model.metrics) == {"train_loss", "ptl/val_loss", "valid_loss"}
    forecasts = model.predict(dataset)
    assert forecasts.shape == (2 * H, 1)
    nf = NeuralForecast([MLP(**SMALL, stat_exog_list=["airline1"])], freq="ME")
    nf.fit(AirPassengersPanel, static_df=AirPassengersStatic, val_size=H)
    np.testing.assert_allclose(forecasts[:, 0], nf.predict()["MLP"], rtol=1e-5)


def test_steps_that_training_does_not_see():
    dataset, *_ = TimeSeriesDataset.from_df(AirPassengersDF)
    model = SeasonalNaive(h=H, season_length=12).fit(dataset, test_size=2 * H)
    assert model.get_test_size() == 2 * H
    y = AirPassengersDF["y"].to_numpy()
    np.testing.assert_allclose(model.predict(dataset, step_size=H)[:, 0], np.concatenate([y[-36:-24], y[-24:-12]]))
    np.testing.assert_allclose(model.predict(dataset, test_size=0)[:, 0], y[-12:])
    assert len(NHITS(**{k: v for k, v in SMALL.items() if k != "hidden_size"}).fit(dataset, test_size=H).predict(dataset)) == H


@pytest.mark.parametrize("ids", [["Airline1", "Airline2"], [10, 9]])
def test_forecasts_of_a_model_in_a_forecaster_are_taken_apart(ids):
    data = AirPassengersPanel.assign(unit=AirPassengersPanel["unique_id"].map(dict(zip(["Airline1", "Airline2"], ids)))).drop(columns="unique_id")
    sizes = {"h": H, "input_size": 24, "max_steps": 3, "mlp_units": 3 * [[8, 8]], "scaler_type": "standard"}
    nf = NeuralForecast([NHITS(**sizes), NHITS(**sizes, alias="NHITS1", futr_exog_list=["trend"]), SeasonalNaive(h=H, season_length=12)], freq="ME")
    nf.fit(data, id_col="unit")
    dataset, uids, *_ = TimeSeriesDataset.from_df(data, id_col="unit")
    parts = nf.models[0].decompose(dataset=dataset)
    # A level and a part of each block.
    assert parts.shape == (2, 4, H)
    forecasts = nf.predict(futr_df=nf.make_future_dataframe().assign(trend=145.0)).set_index("unit")
    for place, name in enumerate(uids):
        np.testing.assert_allclose(parts[place].sum(axis=0), forecasts.loc[name, "NHITS"], rtol=1e-4)
    with pytest.raises(ValueError, match="SeasonalNaive"):
        nf.models[2].decompose(dataset)
    # A copy is a model to train, and no forecaster is copied with it.
    with pytest.raises(RuntimeError, match="NHITS is not trained"):
        copy.deepcopy(nf.models[0]).decompose(dataset)


def test_parts_of_steps_that_training_does_not_see():
    dataset, *_ = TimeSeriesDataset.from_df(AirPassengersPanel)
    sizes = {"h": H, "input_size": 24, "max_steps": 3, "mlp_units": 3 * [[8, 8]]}
    model = NHITS(**sizes, futr_exog_list=["trend"]).fit(dataset, test_size=2 * H)
    parts, forecasts = model.decompose(dataset, step_size=H), model.predict(dataset, step_size=H)
    assert parts.shape == (4, 4, H)
    np.testing.assert_allclose(parts.sum(axis=1).ravel(), forecasts[:, 0], rtol=1e-4)


def test_a_seed_of_a_fit():
    dataset, *_ = TimeSeriesDataset.from_df(AirPassengersDF)
    first, again = (MLP(**SMALL).fit(dataset, random_seed=7).predict(dataset) for _ in range(2))
    other = MLP(**SMALL).fit(dataset).predict(dataset)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_an_automatic_model_by_itself():
    dataset, *_ = TimeSeriesDataset.from_df(AirPassengersDF)
    config = {key: value for key, value in SMALL.items() if key != "h"} | {"learning_rate": choice([1e-6, 1e-2]), "max_steps": 40}
    model = AutoMLP(H, config=config, num_samples=6)
    with pytest.raises(RuntimeError, match="AutoMLP has no model before a fit"):
        model.predict(dataset)
    model.fit(dataset, test_size=H)
    assert model.model.learning_rate == model.results.best_params["learning_rate"] == 1e-2
    forecasts = model.predict(dataset)
    assert np.abs(forecasts[:, 0] - AirPassengersDF["y"].to_numpy()[-H:]).mean() < 200


@pytest.mark.parametrize("kind", [lambda df: df, pl.from_pandas])
def test_the_series_of_a_training_are_a_dataset(kind, tmp_path):
    nf = NeuralForecast([MLP(**SMALL, hist_exog_list=["y_[lag12]"])], freq="ME")
    assert nf.dataset is None
    nf.fit(kind(AirPassengersPanel))
    dataset = nf.dataset
    assert (dataset.n_groups, dataset.max_size, list(dataset.temporal_cols)) == (2, 144, ["y", "y_[lag12]", "available_mask"])
    # The model within the forecaster was trained on the same series.
    alone = MLP(**SMALL, hist_exog_list=["y_[lag12]"])
    alone.fit(dataset)
    np.testing.assert_allclose(np.ravel(alone.predict(dataset)), nf.predict()["MLP"].to_numpy(), rtol=1e-5)
    nf.save(str(tmp_path / "model"))
    assert NeuralForecast.load(str(tmp_path / "model")).dataset.n_groups == 2
