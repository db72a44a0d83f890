"""Forecasts of arrays: to the last bit those of tables with the same values."""

import threading

import numpy as np
import pandas as pd
import pytest
from conftest import integer_panel
from foretell import NeuralForecast
from foretell.losses import DistributionLoss, IQLoss, MQLoss
from foretell.models import (
    MLP,
    NHITS,
    AutoETS,
    Naive,
    NLinear,
    Prophet,
    SeasonalNaive,
    TSMixer,
)
from foretell.utils import PredictionIntervals

H = 6
SIZES = {"h": H, "input_size": 12, "max_steps": 2}


def matrix(df, column="y"):
    """A column as ``[series, rows]``, of series as many rows long."""
    rows = df.groupby("unique_id", observed=True, sort=False).size()
    assert rows.nunique() == 1
    return df[column].to_numpy().reshape(len(rows), -1)


def check(found, expected):
    """Whether arrays are the columns of a table of `predict`, in its order."""
    columns = [name for name in expected.columns if name not in ("unique_id", "ds")]
    assert list(found) == columns
    for name in columns:
        array = expected[name].to_numpy()
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name].ravel(), array)


def fitted(df, *models, freq="ME", **settings):
    fit = {name: settings.pop(name) for name in ("static_df", "prediction_intervals") if name in settings}
    nf = NeuralForecast(list(models), freq=freq, threads=1, **settings)
    nf.fit(df, **fit)
    return nf


@pytest.fixture
def plain(panel):
    return panel[["unique_id", "ds", "y"]]


def test_networks_and_classical_models_forecast_as_of_tables(plain):
    nf = fitted(plain, NLinear(**SIZES), NHITS(**SIZES), Naive(h=H), SeasonalNaive(h=H, season_length=12), AutoETS(h=H, season_length=12))
    p = nf.prepared(like=plain)
    assert (p.h, p.input_size, p.ids) == (H, None, ["Airline1", "Airline2"])
    other = plain.assign(y=plain["y"].to_numpy()[::-1].copy())
    expected = nf.predict(other)
    found = p(matrix(other))
    check(found, expected)
    assert list(found) == p.columns and found["NLinear"].shape == (2, H)
    # Fewer rows end at the same times.
    check(p(matrix(other)[:, -40:]), nf.predict(other.groupby("unique_id").tail(40)))
    check(p(matrix(other).astype("f4")), nf.predict(other.astype({"y": "f4"})))
    check(p(matrix(other).round().astype("i4")), nf.predict(other.assign(y=other["y"].round().astype("i4"))))


def test_one_series_has_one_axis(plain):
    nf = fitted(plain, NLinear(**SIZES))
    one = plain[plain["unique_id"] == "Airline2"]
    p = nf.prepared(like=one)
    y = one["y"].to_numpy()
    assert p.input_size == 12
    for found in (p(y), p(y.tolist()), p(one["y"]), p(np.asfortranarray(y[None])[0])):
        assert found["NLinear"].shape == (H,)
        check(found, nf.predict(one))
    assert p(y[None])["NLinear"].shape == (1, H)


def test_values_beyond_single_precision_and_scalers(plain):
    wide = plain.assign(y=20_000_000 + plain["y"] / 100)
    for settings in ({}, {"local_scaler_type": "robust"}, {"non_negative": True, "integer": True}):
        nf = fitted(wide, NLinear(**SIZES), Naive(h=H), **settings)
        check(nf.prepared(like=wide)(matrix(wide)), nf.predict(wide))


def test_times_matter_where_models_read_them(plain):
    nf = fitted(plain, NLinear(**SIZES), Prophet(h=H), features="month", end="own")
    p = nf.prepared(like=plain)
    check(p(matrix(plain)), nf.predict(plain))
    later = plain.assign(ds=plain["ds"] + pd.offsets.MonthEnd(5))
    expected = nf.predict(later)
    last = later["ds"].max()
    for given in (last, last.to_pydatetime(), last.to_datetime64(), str(last), [last, last]):
        check(p(matrix(plain), last=given), expected)
    with pytest.raises(AssertionError):
        check(p(matrix(plain)), expected)
    with pytest.raises(ValueError, match="last must be a time that steps of"):
        p(matrix(plain), last="1960-12-30")
    with pytest.raises(ValueError, match="one for each of the 2 series"):
        p(matrix(plain), last=[last])
    with pytest.raises(TypeError, match="must be a timestamp"):
        p(matrix(plain), last=5)
    with pytest.raises(TypeError, match="must have no zone"):
        p(matrix(plain), last=last.tz_localize("UTC"))


def test_times_of_zones_and_integers(plain):
    hours = pd.date_range("2024-03-30", periods=60, freq="h", tz="Europe/Berlin")
    hourly = pd.DataFrame({"unique_id": "a", "ds": hours, "y": np.arange(60.0) % 24})
    nf = fitted(hourly, NHITS(**SIZES), freq="h", features="hour")
    p, y = nf.prepared(like=hourly), hourly["y"].to_numpy()
    check(p(y), nf.predict(hourly))
    later = hourly.assign(ds=hours + pd.Timedelta(hours=7))
    check(p(y, last=later["ds"].iloc[-1]), nf.predict(later))
    with pytest.raises(TypeError, match="must have a zone"):
        p(y, last="2024-04-05")
    numbers = integer_panel()
    nf = fitted(numbers, NLinear(**SIZES), freq=1)
    check(nf.prepared(like=numbers)(matrix(numbers), last=100), nf.predict(numbers))


def test_integer_ids_come_in_their_order():
    df = integer_panel(n_series=12)
    nf = fitted(df, NLinear(**SIZES), freq=1)
    p = nf.prepared()
    assert p.ids == list(range(12))
    check(p(matrix(df)), nf.predict(df))


@pytest.mark.parametrize("loss", [MQLoss(level=[80]), DistributionLoss("Normal", level=[80]), IQLoss()])
def test_losses_with_quantiles(plain, loss):
    nf = fitted(plain, MLP(**SIZES, loss=loss))
    p = nf.prepared(like=plain)
    check(p(matrix(plain)), nf.predict(plain))
    assert p.columns == list(p(matrix(plain)))
    for asked in ({"level": [80]}, {"quantiles": [0.1, 0.9]}):
        check(p(matrix(plain), **asked), nf.predict(plain, **asked))
    with pytest.raises(ValueError, match="both level and quantiles"):
        p(matrix(plain), level=[80], quantiles=[0.5])


def test_truth_values_are_numbers(plain):
    nf = fitted(plain.assign(open=plain.index % 2 == 0), NHITS(**SIZES, hist_exog_list=["open"]))
    p, values = nf.prepared(), np.arange(len(plain)) % 2 == 0
    found = [p(matrix(plain), hist={"open": values.astype(kind).reshape(2, -1)})["NHITS"] for kind in ("bool", "f4")]
    np.testing.assert_array_equal(*found)


def test_calibrated_intervals(plain):
    nf = fitted(plain, NLinear(**SIZES), prediction_intervals=PredictionIntervals(n_windows=2))
    p = nf.prepared(like=plain)
    check(p(matrix(plain), level=[90, 80]), nf.predict(plain, level=[80, 90]))
    assert p(matrix(plain), level=[80])["NLinear"].dtype == np.float64
    nf.fit(plain)
    # It keeps the models as they were.
    assert p(matrix(plain), level=[70])["NLinear"].dtype == np.float64
    with pytest.raises(ValueError, match="prediction intervals"):
        p(matrix(plain), h=2 * H)


def test_further_columns_and_static_ones(panel, statics):
    model = NHITS(**SIZES, futr_exog_list=["trend"], hist_exog_list=["y_[lag12]"], stat_exog_list=["airline1"])
    nf = fitted(panel, model, static_df=statics)
    p = nf.prepared(like=panel, static_df=statics)
    assert (sorted(p.hist), p.futr) == (["trend", "y_[lag12]"], ["trend"])
    future = nf.make_future_dataframe(panel).assign(trend=np.arange(2.0 * H))
    expected = nf.predict(panel, static_df=statics, futr_df=future)
    y, lag, past, ahead = matrix(panel), matrix(panel, "y_[lag12]"), matrix(panel, "trend"), matrix(future, "trend")
    check(p(y, hist={"y_[lag12]": lag, "trend": past}, futr={"trend": ahead}), expected)
    check(p(y, hist={"y_[lag12]": lag}, futr={"trend": np.hstack([past, ahead])}), expected)
    for hist, futr, message in [
        ({"y_[lag12]": lag}, {"trend": ahead}, "hist: column trend is missing"),
        ({"y_[lag12]": lag, "trend": past}, None, "futr: column trend is missing; give its values over the 6 steps"),
        ({"y_[lag12]": lag, "trend": past[:, 1:]}, {"trend": ahead}, r"hist\['trend'\] must have the shape \(2, 144\); found \(2, 143\)"),
        ({"y_[lag12]": lag}, {"trend": ahead[:, 1:]}, r"futr\['trend'\] must have the shape \(2, 6\) or \(2, 150\)"),
        ({"lag": lag}, {"trend": ahead}, "hist: the models read no column lag"),
        ({"y_[lag12]": lag * np.nan, "trend": past}, {"trend": ahead}, "Airline1.*column `y_.lag12.`"),
    ]:
        with pytest.raises(ValueError, match=message):
            p(y, hist=hist, futr=futr)
    with pytest.raises(ValueError, match="a row for each of the 2 series"):
        p(y[0], hist={"y_[lag12]": lag[0]}, futr={"trend": np.hstack([past, ahead])[0]})


def test_categories_of_rows_are_refused_and_static_ones_are_not(panel, statics):
    panel = panel.assign(season=panel["ds"].dt.quarter.astype(str))
    statics = statics.assign(region=["north", "south"])
    lists = {"hist_exog_list": ["season"], "cat_exog_list": ["season"]}
    nf = fitted(panel, NHITS(**SIZES, **lists, stat_exog_list=["airline1"]), static_df=statics)
    with pytest.raises(NotImplementedError, match="columns of categories are no arrays of numbers: season"):
        nf.prepared(like=panel, static_df=statics)
    nf = fitted(panel, NHITS(**SIZES, stat_exog_list=["region"], cat_exog_list=["region"]), static_df=statics)
    p = nf.prepared(like=panel, static_df=statics)
    check(p(matrix(panel)), nf.predict(panel, static_df=statics))


def test_other_numbers_of_series_and_steps(plain):
    nf = fitted(plain, NLinear(**SIZES))
    p = nf.prepared(like=plain)
    five = np.vstack([matrix(plain)] * 3)[:5]
    rows = [plain[plain["unique_id"] == id].assign(unique_id=f"new{number}") for number, id in enumerate(["Airline1", "Airline2"] * 2 + ["Airline1"])]
    check(p(five), nf.predict(pd.concat(rows)))
    check(p(matrix(plain), h=2 * H), nf.predict(plain, h=2 * H))
    with pytest.raises(ValueError, match="must be greater than the horizon"):
        p(matrix(plain), h=2)
    together = fitted(plain, TSMixer(**SIZES, n_series=2)).prepared(like=plain)
    assert together(matrix(plain))["TSMixer"].shape == (2, H)
    with pytest.raises(ValueError, match="all series together; found 5"):
        together(five)


def test_mistakes(plain):
    p = fitted(plain, NLinear(**SIZES)).prepared(like=plain)
    y = matrix(plain).copy()
    for wrong, error, message in [
        (y[None], ValueError, r"\[series, rows\], with a row at least; found the shape \(1, 2, 144\)"),
        (y[:, :0], ValueError, r"found the shape \(2, 0\)"),
        (y.astype(str), TypeError, "y must be an array of numbers"),
        (y * np.inf, ValueError, "inf"),
    ]:
        with pytest.raises(error, match=message):
            p(wrong)
    y[1, 3] = np.nan
    with pytest.raises(ValueError, match="Airline2.*column `y`: .*is missing; arrays hold a number in every row"):
        p(y)
    with pytest.raises(ValueError, match="fit the model before"):
        NeuralForecast([NLinear(**SIZES)], freq="ME").prepared()


def test_threads_forecast_at_once(plain):
    nf = fitted(plain, NLinear(**SIZES), NHITS(**SIZES))
    p, wrong = nf.prepared(like=plain), []
    arrays = [matrix(plain) * (1 + number / 8) for number in range(8)]
    expected = [p(array) for array in arrays]

    def work(number):
        for turn in range(20):
            level = None if turn % 2 else []
            found = p(arrays[number], level=level)
            if any((found[name] != column).any() for name, column in expected[number].items()):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_it_keeps_the_models_as_they_were_and_says_what_it_is(plain):
    nf = fitted(plain, NLinear(**SIZES))
    p = nf.prepared(like=plain)
    before = p(matrix(plain))["NLinear"]
    nf.fit(plain)
    np.testing.assert_array_equal(p(matrix(plain))["NLinear"], before)
    assert repr(p) == "Prepared(h=6, input_size=12, columns=['NLinear'], series=2)"
