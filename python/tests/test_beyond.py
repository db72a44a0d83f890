"""What foretell has beyond neuralforecast, by the same objects."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from utilsforecast.evaluation import evaluate as utilsforecast_evaluate
from utilsforecast.losses import mae, mase, smape

import foretell
from foretell import NeuralForecast, features
from foretell.losses import MQLoss
from foretell.models import DLinear, MLP, NHITS, NLinear, SeasonalNaive
from foretell.utils import AirPassengersPanel

DATA = AirPassengersPanel[["unique_id", "ds", "y"]]


def small(**arguments):
    return {"h": 12, "input_size": 24, "max_steps": 5, **arguments}


@pytest.fixture(scope="module")
def validation():
    nf = NeuralForecast([NLinear(**small()), SeasonalNaive(h=12, season_length=12)], freq="ME")
    return nf.cross_validation(DATA, n_windows=3, step_size=12)


def test_scores_are_those_of_utilsforecast(validation):
    found = foretell.evaluate(validation, ["mae", "smape", "mase"], by="series", train_df=DATA, seasonality=12)
    assert list(found.columns) == ["unique_id", "metric", "NLinear", "SeasonalNaive"]
    # Without cutoffs it takes a series for one window, whose history is one: so do windows that are scored one by one.
    window = validation[validation["cutoff"] == validation["cutoff"].min()].drop(columns="cutoff")
    history = DATA[DATA["ds"] < window["ds"].min()]
    one = foretell.evaluate(window, ["mae", "smape", "mase"], train_df=history, seasonality=12)
    expected = utilsforecast_evaluate(window, [mae, smape, lambda *a, **k: mase(*a, seasonality=12, **k)][:2], train_df=history)
    for metric in ("mae", "smape"):
        left, right = (table[table["metric"] == metric].set_index("unique_id") for table in (one, expected))
        np.testing.assert_allclose(left[["NLinear", "SeasonalNaive"]], right.loc[left.index, ["NLinear", "SeasonalNaive"]], rtol=1e-6)
    of_mase = mase(window, ["NLinear", "SeasonalNaive"], 12, history).set_index("unique_id")
    left = one[one["metric"] == "mase"].set_index("unique_id")
    np.testing.assert_allclose(left[["NLinear", "SeasonalNaive"]], of_mase.loc[left.index], rtol=1e-6)


@pytest.mark.parametrize(("by", "keys", "rows"), [("all", [], 1), ("cutoff", ["cutoff"], 3), ("step", ["step"], 12), ("window", ["unique_id", "cutoff"], 6)])
def test_scores_are_of_what_they_are_asked_for(validation, by, keys, rows):
    found = foretell.evaluate(validation, ["mae"], by)
    assert list(found.columns) == [*keys, "metric", "NLinear", "SeasonalNaive"] and len(found) == rows
    if "cutoff" in keys:
        assert set(found["cutoff"]) == set(validation["cutoff"]) and found["cutoff"].dtype == validation["cutoff"].dtype
    if by == "all":
        expected = (validation["y"] - validation["NLinear"]).abs().groupby([validation["unique_id"], validation["cutoff"]]).mean().mean()
        assert found["NLinear"].item() == pytest.approx(expected, rel=1e-6)
    of_polars = foretell.evaluate(pl.from_pandas(validation), ["mae"], by)
    assert isinstance(of_polars, pl.DataFrame)
    np.testing.assert_allclose(of_polars["NLinear"].to_numpy(), found["NLinear"], rtol=1e-6)


def test_columns_hold_what_they_hold_on_the_command_line():
    names = ["A", "A_ql0.1", "A_ql0.9", "A-loc", "B-median", "B-lo-80.0", "B-hi-80.0", "C", "C-sample-0", "C:trend", "T", "T-q-10", "T-q-90"]
    table = DATA.groupby("unique_id").tail(6).assign(**{name: 400.0 + 10 * place for place, name in enumerate(names)})
    found = foretell.evaluate(table, by="all").set_index("metric")
    assert list(found.columns) == ["A", "B", "C", "T"]
    assert found.loc["coverage_level80"].notna().tolist() == [True, True, False, True]
    page = foretell.report(DATA, table, freq="ME")
    assert "A_ql0.1" not in page and "C-sample-0" not in page and "T-q-10" not in page


def test_quantiles_without_a_model_are_those_of_the_forecast_beside_them():
    days = pd.date_range("2024-01-01", periods=4)
    actual = pd.DataFrame({"unique_id": "a", "ds": days, "y": [1.0, 2.0, 3.0, 9.0]})
    table = pd.DataFrame({"unique_id": "a", "ds": days, "mean": 2.0, "0.1": 0.0, "0.9": 4.0})
    found = foretell.evaluate(table, ["mae", "coverage"], "all", actual_df=actual).set_index("metric")
    assert list(found.columns) == ["mean"]
    assert found["mean"].to_dict() == {"mae": 2.25, "coverage_level80": 0.75}


def test_scores_of_what_has_not_come_true_are_refused(validation):
    with pytest.warns(UserWarning, match="have not come true"):
        foretell.evaluate(validation.drop(columns="y"), ["mae"], actual_df=DATA[DATA["ds"] < "1960-06-01"])
    with pytest.raises(ValueError, match="by: expected all, series"):
        foretell.evaluate(validation, ["mae"], "month")
    with pytest.raises(ValueError, match="mad"):
        foretell.evaluate(validation, ["mad"])


def test_features_are_a_table():
    table = features.compute(DATA, "lag:1,month", "ME")
    assert len(table) == len(DATA) and table.columns[:2].tolist() == ["unique_id", "ds"]
    lag = table.columns[2]
    of_one = table["unique_id"] == "Airline1"
    expected = DATA.loc[DATA["unique_id"] == "Airline1", "y"].to_numpy()[:-1]
    np.testing.assert_array_equal(table.loc[of_one, lag].to_numpy()[1:], expected.astype("f4"))
    assert any(example.startswith("lag") for example in features.names())
    with pytest.raises(ValueError, match="lagg"):
        features.compute(DATA, "lagg:1", "ME")


def test_anomalies_are_marked():
    data = DATA[DATA["unique_id"] == "Airline1"].reset_index(drop=True)
    data.loc[100, "y"] = 5000.0
    nf = NeuralForecast([SeasonalNaive(h=12, season_length=12)], freq="ME")
    nf.fit(data)
    marked = nf.anomalies(level=99.9)
    found = marked.loc[marked["SeasonalNaive-anomaly"] == 1, "ds"].tolist()
    # The month, and that of which it was the forecast.
    assert found == [data["ds"][100], data["ds"][112]]
    assert (marked["SeasonalNaive-score"] > 0).sum() >= 2


def test_parts_add_up_to_the_forecast():
    nf = NeuralForecast([DLinear(**small()), NHITS(**small(mlp_units=3 * [[16, 16]]))], freq="ME")
    nf.fit(DATA)
    parts, forecast = nf.decompose(), nf.predict()
    assert {"DLinear:trend", "DLinear:seasonality", "NHITS:level", "NHITS:block_1"} <= set(parts.columns)
    for model in ("DLinear", "NHITS"):
        columns = [name for name in parts.columns if name.startswith(f"{model}:")]
        np.testing.assert_allclose(parts[columns].sum(axis=1), forecast[model], rtol=1e-4)
    parts, forecast = nf.decompose(h=30), nf.predict(h=30)
    assert len(parts) == len(forecast)
    np.testing.assert_allclose(parts[["DLinear:trend", "DLinear:seasonality"]].sum(axis=1), forecast["DLinear"], rtol=1e-4)


def test_reconciled_forecasts_add_up():
    S = pd.DataFrame({"unique_id": ["total", "a", "b"], "a": [1.0, 1.0, 0.0], "b": [1.0, 0.0, 1.0]})
    ids, times = np.repeat(["total", "a", "b"], 2), np.tile(pd.to_datetime(["2024-01-01", "2024-01-02"]), 3)
    forecast = pd.DataFrame({"unique_id": ids, "ds": times, "M": [10.0, 20.0, 3.0, 5.0, 4.0, 6.0]})
    found = foretell.reconcile(forecast, S).set_index(["unique_id", "ds"])["M"].unstack(0)
    np.testing.assert_allclose(found["total"], found["a"] + found["b"], rtol=1e-5)
    # The total counts as the two series that it sums up: theirs is a quarter each of what is missing.
    np.testing.assert_allclose(found["a"], [3.75, 7.25], rtol=1e-5)
    # By least squares each of three errors is a third.
    alike = foretell.reconcile(forecast, S, "MinTraceOLS").set_index(["unique_id", "ds"])["M"].unstack(0)
    np.testing.assert_allclose(alike["a"], [4.0, 8.0], rtol=1e-5)
    bottom = foretell.reconcile(pl.from_pandas(forecast), S, "BottomUp")
    assert bottom.filter(pl.col("unique_id") == "total")["M"].to_list() == [7.0, 11.0]
    with pytest.raises(ValueError, match="MinTraceShrink"):
        foretell.reconcile(forecast, S, "MinTraceShrink")


def test_further_training_goes_on_with_the_optimiser(tmp_path):
    def forecasts(keep_optimizer):
        nf = NeuralForecast([NLinear(**small())], freq="ME", keep_optimizer=keep_optimizer)
        nf.fit(DATA)
        nf.fit(DATA)
        return nf.predict()["NLinear"]

    assert not forecasts(True).equals(forecasts(False))
    nf = NeuralForecast([NLinear(**small())], freq="ME", keep_optimizer=True)
    nf.fit(DATA)
    nf.save(str(tmp_path / "model"))
    again = NeuralForecast.load(str(tmp_path / "model"), keep_optimizer=True)
    again.fit(DATA)
    np.testing.assert_array_equal(again.predict()["NLinear"], forecasts(True))


def test_quantiles_have_their_scores():
    nf = NeuralForecast([NLinear(**small(loss=MQLoss(level=[80])))], freq="ME")
    table = nf.cross_validation(DATA, n_windows=1)
    found = foretell.evaluate(table, by="all", train_df=DATA).set_index("metric")["NLinear"]
    inside = table["y"].between(table["NLinear-lo-80"], table["NLinear-hi-80"]).mean()
    assert found["coverage_level80"] == pytest.approx(inside)
    assert {"mae", "rmse", "bias", "smape", "mase"} <= set(found.index)


def test_losses_of_the_training_are_kept():
    nf = NeuralForecast([NLinear(**small(val_check_steps=2)), SeasonalNaive(h=12, season_length=12)], freq="ME")
    assert list(nf.models[0].train_trajectories) == []
    nf.fit(DATA, val_size=12)
    train, valid = nf.models[0].train_trajectories, nf.models[0].valid_trajectories
    assert [step for step, _ in train] == [1, 2, 3, 4, 5]
    assert [step for step, _ in valid][:2] == [2, 4] and all(loss > 0 for _, loss in valid)


def test_a_network_learns_what_others_forecast():
    teacher = NeuralForecast([SeasonalNaive(h=12, season_length=12)], freq="ME")
    student = NeuralForecast([MLP(h=12, input_size=24, max_steps=100, hidden_size=32, scaler_type="standard")], freq="ME")
    with pytest.raises(ValueError, match="fit the teacher first"):
        student.fit(DATA, teacher=teacher)
    teacher.fit(DATA)
    student.fit(DATA, teacher=teacher)
    found, expected = student.predict()["MLP"].to_numpy(), teacher.predict(DATA)["SeasonalNaive"].to_numpy()
    # Far nearer to the teacher than the last value, which no seasonal forecast is.
    last = DATA.groupby("unique_id", observed=True)["y"].last().repeat(12).to_numpy()
    assert np.abs(found - expected).mean() < 0.5 * np.abs(last - expected).mean()
    with pytest.raises(ValueError, match="whole number"):
        student.fit(DATA, teacher=teacher, lessons=0)
    with pytest.raises(ValueError, match="not validated"):
        student.fit(DATA, teacher=teacher, val_size=12)


def test_networks_get_smaller():
    nf = NeuralForecast([MLP(h=12, input_size=24, max_steps=20, hidden_size=32), SeasonalNaive(h=12, season_length=12)], freq="ME")
    with pytest.raises(Exception, match="fit the models before pruning"):
        nf.prune(sparsity=0.5)
    nf.fit(DATA)
    before = nf.predict()
    small, scores = nf.prune(sparsity=0.5, structured=True, steps=2)
    assert [score["pruned"] for score in scores] == [False, True]
    assert scores[1]["parameters"] < scores[0]["parameters"]
    assert (small.models[0].hidden_size, nf.models[0].hidden_size) == (16, 32)
    assert list(small.predict().columns) == list(before.columns)
    assert nf.predict().equals(before), "the models before are unchanged"
    zeros, scores = nf.prune(DATA, sparsity=0.8, by="network", steps=0, n_windows=1)
    assert scores[1]["nonzero_parameters"] < 0.4 * scores[0]["nonzero_parameters"]
    assert not zeros.predict()["MLP"].equals(before["MLP"])
    with pytest.raises(ValueError, match="layer or network"):
        nf.prune(sparsity=0.5, by="matrix")
    with pytest.raises(ValueError, match="sparsity"):
        nf.prune(sparsity=1.0)


def test_little_memory_trains_nearly_the_same_network():
    def forecast(**settings):
        nf = NeuralForecast([MLP(h=12, input_size=24, max_steps=20, hidden_size=32)], freq="ME", **settings)
        nf.fit(DATA)
        return nf.predict()["MLP"].to_numpy()

    usual, low = forecast(), forecast(low_memory=True)
    assert np.array_equal(low, forecast(low_memory=True, threads=1))
    assert not np.array_equal(usual, low)
    assert np.abs(usual - low).max() < 0.05 * np.abs(usual).max()
