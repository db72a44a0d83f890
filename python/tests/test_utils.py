"""Helpers against neuralforecast's (fixtures/neuralforecast.json, written by compare/python_api.py)."""

import inspect
import json
import pathlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from foretell import utils
from foretell.utils import PredictionIntervals

FACTS = json.loads((pathlib.Path(__file__).parent / "fixtures" / "neuralforecast.json").read_text())


def same(df, told):
    assert list(df.columns) == list(told)
    for column, values in told.items():
        found = [str(v)[:10] if column == "ds" else v for v in df[column].tolist()]
        assert found == values, column


def test_example_data_are_neuralforecasts():
    same(utils.AirPassengersDF, FACTS["df"])
    same(utils.AirPassengersPanel, FACTS["panel"])
    same(utils.AirPassengersStatic, FACTS["static"])
    assert utils.AirPassengers.dtype == np.float32 and utils.AirPassengers[:3].tolist() == [112, 118, 132]
    assert utils.AirPassengersPanel is utils.AirPassengersPanel
    assert utils.snaive.isna().sum() == 24
    with pytest.raises(AttributeError, match="AirPassenger"):
        utils.AirPassenger


@pytest.mark.parametrize("name", [name for name in FACTS["utils"] if name not in ("TimeFeature",)])
def test_arguments_are_neuralforecasts(name):
    assert list(inspect.signature(getattr(utils, name)).parameters) == [p for p in FACTS["utils"][name] if p != "args"]


def test_generated_series_are_neuralforecasts():
    same(utils.generate_series(3, n_temporal_features=2, equal_ends=True, min_length=5, max_length=9), FACTS["generated"])
    df, static = utils.generate_series(4, freq="M", n_static_features=2)
    assert df["unique_id"].nunique() == len(static) == 4 and df["ds"].dt.is_month_end.all()
    assert static[["static_0", "static_1"]].stack().between(0, 1).all()
    with pytest.raises(ValueError, match="freq must be 'D' or 'M'; found 'h'"):
        utils.generate_series(1, freq="h")


@pytest.mark.parametrize("freq", FACTS["calendar"])
def test_calendar_columns_are_neuralforecasts(freq):
    df = pd.DataFrame({"ds": pd.date_range("2024-02-27 22:00", periods=6, freq="h")}, index=range(3, 9))
    found, columns = utils.augment_calendar_df(df, freq)
    told = FACTS["calendar"][freq]
    assert columns == list(told)
    for column, values in told.items():
        np.testing.assert_allclose(found[column], values, rtol=1e-12)
    assert list(df.columns) == ["ds"] and found.index.equals(df.index)


def test_weeks_and_new_names_of_frequencies():
    df = pd.DataFrame({"ds": pd.to_datetime(["2024-01-01", "2020-12-31"])})
    found, columns = utils.augment_calendar_df(df, "W")
    assert columns == ["monthday", "yearweek"] and found["yearweek"].tolist() == [-0.5, 0.5]
    assert utils.augment_calendar_df(df, "h")[1] == utils.augment_calendar_df(df, "H")[1]
    assert repr(utils.time_features_from_frequency_str("ME")) == "[MonthOfYear()]"
    with pytest.raises(ValueError, match="Frequency not supported: .* found 'Y'"):
        utils.augment_calendar_df(df, "Y")


def test_levels_and_quantiles():
    assert utils.level_to_quantiles([80, 90, 80]) == [0.05, 0.1, 0.9, 0.95]
    assert utils.quantiles_to_level([0.05, 0.1, 0.5, 0.9, 0.95]) == [0, 80, 90]


def test_prediction_intervals_are_checked():
    assert repr(PredictionIntervals()) == "PredictionIntervals(n_windows=2, method='conformal_distribution', step_size=1)"
    for arguments, message in [
        ({"n_windows": 1}, "at least two windows; found n_windows=1"),
        ({"method": "bootstrap"}, "method must be one of .*found 'bootstrap'"),
        ({"step_size": 0}, "step_size must be at least 1; found 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            PredictionIntervals(**arguments)


def test_conformal_bounds():
    # Two series, two windows, a horizon of one: errors 1 and 3 of the first, 2 and 2 of the second.
    errors = pd.DataFrame({"m": [1.0, 3.0, 2.0, 2.0]})
    forecasts = np.array([[10.0], [20.0]])
    sizes = {"cs_n_windows": 2, "n_series": 2, "horizon": 1}
    by_error = utils.get_prediction_interval_method("conformal_error")
    bounds, names = by_error(forecasts, errors, "m", level=[50], **sizes)
    assert names == ["m-lo-50", "m-hi-50"]
    np.testing.assert_allclose(bounds, [[10, 7.5, 12.5], [20, 18, 22]])
    bounds, names = by_error(forecasts, errors, "m", quantiles=[0.25, 0.5, 0.75], **sizes)
    assert names == ["m-ql0.25", "m-ql0.5", "m-ql0.75"]
    np.testing.assert_allclose(bounds[:, 1:], [[7.5, 10, 12.5], [18, 20, 22]])
    by_distribution = utils.get_prediction_interval_method("conformal_distribution")
    bounds, names = by_distribution(forecasts, errors, "m", level=[100], **sizes)
    np.testing.assert_allclose(bounds, [[10, 7, 13], [20, 18, 22]])
    with pytest.raises(ValueError, match="give either level or quantiles"):
        by_distribution(forecasts, errors, "m", **sizes)
    with pytest.raises(ValueError, match="method other not supported: expected one of"):
        utils.get_prediction_interval_method("other")


def quantile_forecasts(n_series, horizon):
    """Standard uniform marginals, shifted by the step."""
    grid = np.array(utils.DEFAULT_QUANTILE_GRID)
    return grid, np.broadcast_to(grid + np.arange(horizon)[:, None], (n_series, horizon, len(grid)))


@pytest.mark.parametrize("method", sorted(utils.VALID_SIMULATION_METHODS))
def test_paths_have_the_marginals_and_the_dependence_of_the_history(method):
    rng = np.random.default_rng(0)
    steady, jumping = np.cumsum(np.cumsum(rng.normal(size=300))), rng.normal(size=300)
    grid, values = quantile_forecasts(2, 4)
    paths = utils.sample_from_quantiles(grid, values, [steady, jumping], 2000, seed=1, method=method)
    assert paths.shape == (2, 2000, 4)
    assert np.abs(paths.mean(axis=1) - 0.5 - np.arange(4)).max() < 0.03
    assert np.abs(np.quantile(paths, 0.9, axis=1) - 0.9 - np.arange(4)).max() < 0.03
    joined = [np.corrcoef(series[:, 0], series[:, 1])[0, 1] for series in paths]
    assert joined[0] > 0.9 and joined[0] > joined[1] + 0.3
    again = utils.sample_from_quantiles(grid, values, [steady, jumping], 2000, seed=1, method=method)
    np.testing.assert_array_equal(paths, again)


def test_samplers_refuse_what_they_cannot_do():
    grid, values = quantile_forecasts(1, 4)
    with pytest.raises(ValueError, match="Series 0: history length 3 is shorter than horizon 4"):
        utils.schaake_shuffle_sample(grid, values, [[1.0, np.nan, 2.0, 3.0]], 5)
    with pytest.raises(ValueError, match="Unknown simulation method 'other'"):
        utils.sample_from_quantiles(grid, values, [[1.0]], 5, method="other")


def test_the_correlation_of_differences():
    assert utils.estimate_ar1_rho([1.0, 2.0]) == 0.0 == utils.estimate_ar1_rho([5.0] * 9)
    assert utils.estimate_ar1_rho([0.0, 1.0, 0.0, np.nan, 1.0, 0.0, 1.0]) == -0.99


def test_interpolation_goes_on_beyond_the_ends():
    found = utils.interp_2d(np.array([[0.1, 0.5, 2.5]]), np.array([0.0, 1.0, 2.0]), np.array([[0.0, 10.0, 30.0]]))
    np.testing.assert_allclose(found, [[1.0, 5.0, 40.0]])


def test_histories_of_a_dataset():
    class Dataset:
        temporal, y_idx, indptr = np.array([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0]]), 0, [0, 2, 3]

    assert [list(y) for y in utils.extract_y_hist(Dataset)] == [[1.0, 2.0], [3.0]]


def test_missing_names_of_an_index():
    index = pd.Index(["a", "b", "c"])
    assert list(utils.get_indexer_raise_missing(index, ["c", "a"])) == [2, 0]
    with pytest.raises(ValueError, match=r"missing from the index: \['d'\]"):
        utils.get_indexer_raise_missing(index, ["a", "d"])


def test_neither_numpy_nor_pandas_is_imported_before_it_is_needed():
    code = (
        "import sys, foretell.models, foretell.losses, foretell.losses.numpy, foretell.utils, foretell._registry; "
        "foretell.models.NHITS(12, 24).to_spec(); print(sorted({'numpy', 'pandas', 'torch', 'ray'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
