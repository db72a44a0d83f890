"""Forecasts of steps that add up to those of their sums: hours and days."""

import numpy as np
import pandas as pd
import pytest

import foretell
from foretell import NeuralForecast
from foretell.models import NHITS, AutoETS, SeasonalNaive, Temporal


def hours(days=28):
    """Hours whose days depend on the weekday, which only days show to a season of 24."""
    k = np.arange(24 * days)
    ds = pd.date_range("2024-01-01", periods=len(k), freq="h")
    return pd.DataFrame({"unique_id": "a", "ds": ds, "y": 200.0 + k % 24 + 20 * (k // 24 % 7)})


def test_models_are_reconciled_over_time_and_kept(tmp_path):
    alone = 320.0 + np.arange(24)
    for method, expected in [("BottomUp", alone), ("MinTraceWLS", alone - 60), ("MinTraceVar", alone - 120)]:
        nf = NeuralForecast([Temporal(SeasonalNaive(h=24, season_length=24), ["24h"], method)], freq="h")
        nf.fit(hours())
        found = nf.predict()
        np.testing.assert_allclose(found["SeasonalNaive"], expected, atol=1e-2, err_msg=method)
    nf.save(str(tmp_path / "model"))
    again = NeuralForecast.load(str(tmp_path / "model"))
    (model,) = again.models
    assert (type(model), model.periods, model.method, model.h, repr(model)) == (Temporal, ["24h"], "MinTraceVar", 24, "SeasonalNaive")
    np.testing.assert_array_equal(again.predict(hours())["SeasonalNaive"], found["SeasonalNaive"])
    again.fit(hours())
    np.testing.assert_allclose(again.predict()["SeasonalNaive"], alone - 120, atol=1e-2)


def test_cross_validation_is_of_what_is_reconciled():
    daily = Temporal(SeasonalNaive(h=24, season_length=24, alias="daily"), [24])
    scores = NeuralForecast([daily, SeasonalNaive(h=24, season_length=24)], freq="h").cross_validation(hours(), n_windows=2, step_size=24)
    error = scores.groupby("cutoff")[["daily", "SeasonalNaive"]].agg(lambda column: (column - scores.loc[column.index, "y"]).abs().mean())
    # Days follow a week: the reconciled hours are right, those of the day before 20 off.
    np.testing.assert_allclose(error, [[0, 20], [0, 20]], atol=1e-2)


def test_what_cannot_be_reconciled_is_refused():
    with pytest.raises(TypeError, match="without steps of training"):
        Temporal(NHITS(h=24, input_size=48), ["24h"])
    with pytest.raises(ValueError, match="periods must be a list"):
        Temporal(AutoETS(h=24), "24h")
    with pytest.raises(ValueError, match="method must be one of BottomUp"):
        Temporal(AutoETS(h=24), ["24h"], "TopDown")
    with pytest.raises(ValueError, match="36 steps are no whole number of periods of 24; forecast 48"):
        NeuralForecast([Temporal(AutoETS(h=36), ["D"])], freq="h").fit(hours())


def tables():
    halves = pd.DataFrame({"unique_id": "a", "ds": pd.date_range("2024-01-01", periods=4, freq="12h"), "M": [1.0, 3, 2, 2]})
    days = pd.DataFrame({"unique_id": "a", "ds": pd.date_range("2024-01-01", periods=2, freq="D"), "M": [8.0, 4]})
    return halves, days


def test_tables_are_reconciled_over_time():
    halves, days = tables()
    found = foretell.reconcile(halves, temporal={"D": days})
    # The first day's gap of 4: the sum, of variance 2, gives way by half of it, each half day by a quarter.
    np.testing.assert_allclose(found["M"], [2, 4, 2, 2])
    assert list(found.columns) == ["unique_id", "ds", "M"] and list(found["ds"]) == list(halves["ds"])
    past = pd.DataFrame({"unique_id": "a", "ds": pd.date_range("2023-12-01", periods=2), "y": 3.0, "M": 0.0})
    exact = past.assign(y=0.0)
    weighed = foretell.reconcile(halves, residuals_df=past, temporal={"D": days}, temporal_residuals={"D": exact})
    np.testing.assert_allclose(weighed["M"], [3, 5, 2, 2])
    added = foretell.reconcile(halves, temporal={"D": days}, temporal_method="BottomUp")
    np.testing.assert_allclose(added["M"], halves["M"])


def test_days_have_the_hours_of_the_clocks():
    # The second day has 23 hours, of which each takes one of half of the gap of 46.
    ds = pd.date_range("2024-03-30", "2024-04-01", freq="h", inclusive="left", tz="Europe/Berlin")
    hourly = pd.DataFrame({"unique_id": "a", "ds": ds, "M": 1.0})
    daily = pd.DataFrame({"unique_id": "a", "ds": pd.to_datetime(["2024-03-30", "2024-03-31"]).tz_localize("Europe/Berlin"), "M": [24.0, 69]})
    found = foretell.reconcile(hourly, temporal={"D": daily})
    np.testing.assert_allclose(found["M"], [1] * 24 + [2] * 23)


def test_tables_are_reconciled_over_time_and_across():
    halves, days = tables()
    every = pd.concat([halves, halves.assign(unique_id="b"), halves.assign(unique_id="total", M=0.0)])
    of_days = pd.concat([days, days.assign(unique_id="b", M=4.0), days.assign(unique_id="total", M=0.0)])
    S = pd.DataFrame({"unique_id": ["total", "a", "b"], "a": [1, 1, 0], "b": [1, 0, 1]})
    found = foretell.reconcile(every, S, "BottomUp", temporal={"D": of_days}).pivot(index="ds", columns="unique_id", values="M")
    np.testing.assert_allclose(found["a"], [2, 4, 2, 2])
    np.testing.assert_allclose(found["total"], found["a"] + found["b"])


def test_tables_that_do_not_fit_are_refused():
    halves, days = tables()
    with pytest.raises(ValueError, match="stands for no period of `D`"):
        foretell.reconcile(halves, temporal={"D": days.assign(ds=days["ds"] + pd.Timedelta(hours=6))})
    with pytest.raises(ValueError, match="give its summing matrix S"):
        foretell.reconcile(halves)
    with pytest.raises(ValueError, match="temporal_residuals has the periods W"):
        foretell.reconcile(halves, temporal={"D": days}, temporal_residuals={"W": days})
