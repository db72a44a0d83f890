"""The forecaster: training, forecasts, cross-validation, files."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import integer_panel

from foretell import NeuralForecast
from foretell.losses import DistributionLoss, MQLoss
from foretell.models import DLinear, NHITS, NLinear, SeasonalNaive, TFT, Ensemble
from foretell.utils import PredictionIntervals


def nlinear(**arguments):
    return NLinear(**{"h": 12, "input_size": 24, "max_steps": 5, **arguments})


def test_training_forecasts_and_files(panel, tmp_path):
    nf = NeuralForecast([nlinear(), nlinear(loss=MQLoss(level=[80]), alias="Bands")], freq="ME")
    assert nf.fit(panel) is None
    forecast = nf.predict()
    assert forecast.columns.tolist() == ["unique_id", "ds", "NLinear", "Bands-median", "Bands-lo-80", "Bands-hi-80"]
    nf.save(tmp_path / "models", save_dataset=False)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        nf.save(tmp_path / "models")
    nf.save(str(tmp_path / "models") + "/", overwrite=True, save_dataset=False)
    again = NeuralForecast.load(tmp_path / "models")
    assert [repr(model) for model in again.models] == ["NLinear", "Bands"]
    assert (again.h, again.freq, again.models[0].max_steps) == (12, "ME", 5)
    pd.testing.assert_frame_equal(again.predict(panel), forecast)
    with pytest.raises(FileNotFoundError):
        NeuralForecast.load(tmp_path / "nothing")


def test_without_steps_nothing_is_trained_which_is_told(panel):
    nf = NeuralForecast([nlinear(max_steps=0)], freq="ME")
    with pytest.warns(UserWarning, match="NLinear is not trained, as max_steps = 0"):
        scored = nf.cross_validation(panel, n_windows=2, step_size=12)
    assert scored.groupby("unique_id")["cutoff"].nunique().tolist() == [2, 2]
    assert np.isfinite(scored["NLinear"]).all()


def test_masked_rows_keep_their_values_beside_forecasts(panel):
    masked = panel.assign(available_mask=np.where(np.arange(len(panel)) % 7 > 0, 1.0, 0.0))
    nf = NeuralForecast([nlinear()], freq="ME")
    for df in (masked, pl.from_pandas(masked)):
        scored = nf.cross_validation(df, n_windows=2, step_size=12)
        scored = scored if isinstance(scored, pd.DataFrame) else scored.to_pandas()
        beside = scored.merge(panel[["unique_id", "ds", "y"]], on=["unique_id", "ds"])
        assert len(beside) == len(scored) and (beside["y_x"] == beside["y_y"]).all()


def test_what_the_last_of_several_trainings_knows_is_forecast_in_sample(panel):
    nf = NeuralForecast([nlinear()], freq="ME")
    for refit, known in [(False, 24), (True, 12), (2, 24)]:
        nf.cross_validation(panel, n_windows=2, step_size=12, refit=refit)
        assert nf.models[0].test_size == known


def test_a_second_training_goes_on_unless_it_begins_anew(panel):
    def forecast(**arguments):
        nf.fit(panel, **arguments)
        return nf.predict()["NLinear"].to_numpy()

    nf = NeuralForecast([nlinear()], freq="ME")
    first, second, anew = forecast(), forecast(), forecast(use_init_models=True)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, anew)


def test_attributes_of_the_training(panel):
    nf = NeuralForecast([nlinear()], freq="ME")
    assert not nf._fitted
    with pytest.raises(ValueError, match="pass a DataFrame"):
        nf.predict()
    nf.fit(panel)
    assert nf.uids.tolist() == ["Airline1", "Airline2"]
    assert isinstance(nf.last_dates, pd.DatetimeIndex) and nf.last_dates.name == "ds"
    assert nf.last_dates.tolist() == [pd.Timestamp("1960-12-31")] * 2
    assert isinstance(nf.ds, np.ndarray) and pd.DatetimeIndex(nf.ds).tolist() == panel["ds"].tolist()


def test_columns_known_ahead(panel, statics):
    model = TFT(
        h=12, input_size=24, hidden_size=8, max_steps=2, futr_exog_list=["trend"], hist_exog_list=["y_[lag12]"],
        stat_exog_list=["airline1"],
    )  # fmt: skip
    train, test = panel[panel["ds"] < panel["ds"].values[-12]], panel[panel["ds"] >= panel["ds"].values[-12]]
    nf = NeuralForecast([model], freq="ME")
    nf.fit(train, static_df=statics, val_size=12)
    assert len(nf.predict(futr_df=test)) == 24
    with pytest.raises(ValueError, match="require the following future exogenous features: {'trend'}"):
        nf.predict()
    with pytest.raises(ValueError, match="missing from `futr_df`: {'trend'}"):
        nf.predict(futr_df=test.drop(columns="trend"))
    with pytest.raises(ValueError, match=r"get_missing_future\(futr_df\)"):
        nf.predict(futr_df=test.iloc[:-1])
    missing = nf.get_missing_future(test.iloc[:-1])
    assert missing.to_numpy().tolist() == [["Airline2", pd.Timestamp("1960-12-31")]]
    with pytest.warns(UserWarning, match="Dropped 240 unused rows"):
        nf.predict(futr_df=panel.drop_duplicates().iloc[24:])
    future = nf.make_future_dataframe()
    assert future.to_numpy().tolist() == test[["unique_id", "ds"]].to_numpy().tolist()
    assert nf.make_future_dataframe(panel, h=1)["ds"].tolist() == [pd.Timestamp("1961-01-31")] * 2


def test_levels_and_quantiles(panel):
    models = [nlinear(), DLinear(h=12, input_size=24, max_steps=5, loss=DistributionLoss("Normal"))]
    nf = NeuralForecast(models, freq="ME")
    nf.fit(panel, prediction_intervals=PredictionIntervals(n_windows=9))
    by_level, by_quantile = nf.predict(level=[80]), nf.predict(quantiles=[0.9, 0.1, 0.5])
    # As in neuralforecast, conformal quantiles are named otherwise than those of a distribution.
    for model, mark in [("NLinear", "-"), ("DLinear", "_")]:
        own = [column for column in by_quantile if column.startswith(model)]
        assert own == [model, *(f"{model}{mark}ql{quantile}" for quantile in (0.1, 0.5, 0.9))]
        assert np.allclose(by_quantile[f"{model}{mark}ql0.1"], by_level[f"{model}-lo-80"], rtol=1e-6)
        assert np.allclose(by_quantile[f"{model}{mark}ql0.9"], by_level[f"{model}-hi-80"], rtol=1e-6)
        assert np.allclose(by_quantile[f"{model}{mark}ql0.5"], by_level[model], rtol=1e-4)
    assert "NLinear-ql0.9" not in nf.predict(quantiles=[0.1]).columns
    with pytest.raises(ValueError, match="can't set both level and quantiles"):
        nf.predict(level=[80], quantiles=[0.1])
    with pytest.raises(ValueError, match="above 0 and below 1"):
        nf.predict(quantiles=[1.5])


def test_cross_validation(panel):
    nf = NeuralForecast([nlinear()], freq="ME")
    result = nf.cross_validation(panel, n_windows=3, step_size=2)
    assert result.columns.tolist() == ["unique_id", "ds", "cutoff", "NLinear", "y"]
    assert len(result) == 2 * 3 * 12
    cutoffs = result["cutoff"].drop_duplicates().dt.strftime("%Y-%m").tolist()
    assert cutoffs == ["1959-08", "1959-10", "1959-12"]
    truth = result.merge(panel[["unique_id", "ds", "y"]], on=["unique_id", "ds"])
    assert (truth["y_x"] == truth["y_y"]).all()
    # What was not seen is not forecast as if it had been.
    assert nf.predict_insample(step_size=12)["ds"].max() < pd.Timestamp("1959-09-01")
    same = nf.cross_validation(panel, n_windows=None, test_size=16, step_size=2, use_init_models=True)
    pd.testing.assert_frame_equal(result, same)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("scale", [1, 1 / 3])
def test_what_came_true_is_that_of_the_table(panel, kind, scale):
    # Whole numbers beyond single precision, and fractions.
    truth = (panel["y"] + 2**40) if scale == 1 else panel["y"] * scale
    df = panel[["unique_id", "ds"]].assign(y=truth.astype("int64") if scale == 1 else truth)
    df["unique_id"] = df["unique_id"].astype("category") if kind == "pandas" else df["unique_id"]
    # The rows of a table need not be in order.
    df = df.sample(frac=1, random_state=1)
    of_kind = {"pandas": lambda: df, "polars": lambda: pl.from_pandas(df), "pyarrow": lambda: pa.Table.from_pandas(df, preserve_index=False)}[kind]()
    nf = NeuralForecast([SeasonalNaive(h=12, season_length=12)], freq="ME")
    nf.fit(of_kind)
    for table in (nf.cross_validation(of_kind, n_windows=2), nf.cross_validation(n_windows=2, use_fitted=True), nf.predict_insample()):
        assert type(table) is type(of_kind)
        found = table if kind == "pandas" else table.to_pandas()
        assert found["y"].dtype == df["y"].dtype and found.columns[-1] == "y"
        expected = found[["unique_id", "ds"]].merge(df, on=["unique_id", "ds"], how="left")["y"]
        assert found["y"].tolist() == expected.tolist() and len(found) >= 48


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n_windows": None}, "must define `n_windows` or `test_size`"),
        ({"test_size": 24}, "but not both"),
        ({"n_windows": None, "test_size": 15, "step_size": 2}, "divisible by `step_size`"),
        ({"use_fitted": True}, "requires a model previously fitted"),
        ({"prediction_intervals": PredictionIntervals()}, "set the level or quantiles"),
        ({"prediction_intervals": PredictionIntervals(), "level": [80]}, "only supported with refit=True"),
        ({"h": 6}, "must be greater than the horizon"),
        ({"val_size": 3}, "val_size must be 0 or at least h = 12"),
    ],
)
def test_arguments_of_cross_validation_that_contradict_each_other(panel, arguments, message):
    with pytest.raises(ValueError, match=message):
        NeuralForecast([nlinear()], freq="ME").cross_validation(panel, **arguments)


def test_cross_validation_anew_for_each_window_and_of_trained_models(panel):
    nf = NeuralForecast([nlinear()], freq="ME")
    result = nf.cross_validation(
        panel, n_windows=2, step_size=12, refit=True, prediction_intervals=PredictionIntervals(n_windows=4), level=[80]
    )
    assert result.columns.tolist() == ["unique_id", "ds", "cutoff", "NLinear", "NLinear-lo-80", "NLinear-hi-80", "y"]
    nf = NeuralForecast([nlinear()], freq="ME")
    nf.fit(panel)
    before = nf.predict()
    assert len(nf.cross_validation(panel, n_windows=2, use_fitted=True)) == 48
    pd.testing.assert_frame_equal(nf.predict(), before)


def test_validation_rows_of_their_own(panel):
    last = panel["ds"] >= panel["ds"].values[-12]
    one, other = (NeuralForecast([nlinear(early_stop_patience_steps=1, val_check_steps=1)], freq="ME") for _ in range(2))
    one.fit(panel, val_size=12)
    other.fit(panel[~last], val_df=panel[last])
    pd.testing.assert_frame_equal(one.predict(panel), other.predict(panel))
    # As in neuralforecast, what follows the rows that were validated on is forecast without df.
    pd.testing.assert_frame_equal(other.predict(), one.predict())
    with pytest.raises(ValueError, match="val_df and val_size cannot be set together"):
        one.fit(panel, val_df=panel, val_size=12)
    with pytest.raises(ValueError, match="equal length"):
        one.fit(panel[~last], val_df=panel[last].iloc[:-1])
    with pytest.raises(ValueError, match="early stopping"):
        one.fit(panel)


def test_rows_to_validate_on_may_come_later(panel):
    last, before = panel["ds"] >= panel["ds"].values[-12], panel["ds"] < panel["ds"].values[-24]
    models = [nlinear(early_stop_patience_steps=1, val_check_steps=1)]
    one, other = NeuralForecast(models, freq="ME"), NeuralForecast(models, freq="ME")
    with pytest.warns(UserWarning, match="forecasts without df are of what follows df"):
        one.fit(panel[before], val_df=panel[last])
    # Rows count as steps: the times of a year earlier are the same.
    other.fit(panel[before], val_df=panel[last].assign(ds=panel[last]["ds"] - pd.offsets.MonthEnd(12)))
    pd.testing.assert_frame_equal(one.predict(panel[before]), other.predict(panel[before]))
    assert one.predict()["ds"].min() == panel["ds"].values[-24] and other.predict()["ds"].min() == panel["ds"].values[-12]
    with pytest.raises(ValueError, match="Airline2"):
        one.fit(panel[before], val_df=panel[last & (panel["unique_id"] == "Airline1")])


def test_levels_of_forecasts_of_the_history(panel):
    nf = NeuralForecast([nlinear(loss=DistributionLoss("Normal", level=[90]))], freq="ME")
    with pytest.raises(ValueError, match="must be fitted first"):
        nf.predict_insample()
    nf.fit(panel)
    by_level, by_quantile = (nf.predict_insample(step_size=12, **asked) for asked in [{"level": [80]}, {"quantiles": [0.1]}])
    assert by_level.columns.tolist() == ["unique_id", "ds", "cutoff", "NLinear", "NLinear-lo-80", "NLinear-hi-80", "y"]
    assert np.allclose(by_level["NLinear-lo-80"], by_quantile["NLinear_ql0.1"], rtol=1e-6)
    nf.models[0].set_test_size(24)
    assert nf.predict_insample(step_size=12)["ds"].max() == pd.Timestamp("1958-12-31")
    nf = NeuralForecast([nlinear()], freq="ME")
    nf.fit(panel, prediction_intervals=PredictionIntervals())
    with pytest.raises(NotImplementedError, match="conformal prediction intervals"):
        nf.predict_insample(level=[80])


def test_cross_validation_beyond_the_horizon(panel):
    nf = NeuralForecast([nlinear()], freq="ME")
    result = nf.cross_validation(panel, n_windows=2, step_size=6, h=18)
    assert len(result) == 2 * 2 * 18 and result["cutoff"].max() == pd.Timestamp("1959-06-30")
    last = result[result["cutoff"] == result["cutoff"].max()]
    forecast = nf.predict(panel[panel["ds"] <= "1959-06-30"], h=18)
    assert np.allclose(last["NLinear"], forecast["NLinear"], rtol=1e-5)
    with pytest.raises(NotImplementedError, match="leave h out"):
        nf.cross_validation(panel, h=18, use_fitted=True)


def test_some_of_the_models_are_saved(panel, tmp_path):
    nf = NeuralForecast([nlinear(), SeasonalNaive(h=12, season_length=12), nlinear(alias="Other", random_seed=2), Ensemble("mean")], freq="ME")
    nf.fit(panel)
    nf.save(tmp_path / "models", model_index=[2, 0])
    again = NeuralForecast.load(tmp_path / "models")
    assert sorted(map(repr, again.models)) == ["NLinear", "Other"]
    expected = nf.predict()
    for name in ["NLinear", "Other"]:
        assert np.allclose(again.predict()[name], expected[name], rtol=1e-5)
    with pytest.raises(ValueError, match="of no ensemble"):
        nf.save(tmp_path / "models", model_index=[3], overwrite=True)


def test_directories_elsewhere(panel):
    pytest.importorskip("fsspec")
    nf = NeuralForecast([nlinear()], freq="ME")
    nf.fit(panel)
    for _ in range(2):
        nf.save("memory://models/first", overwrite=True)
    pd.testing.assert_frame_equal(NeuralForecast.load("memory://models/first/").predict(), nf.predict())
    with pytest.raises(FileExistsError, match="overwrite=True"):
        nf.save("memory://models/first")
    with pytest.raises(FileNotFoundError):
        NeuralForecast.load("memory://models/second")


def test_files_of_parquet(panel, tmp_path):
    pytest.importorskip("pyarrow")
    panel.assign(region=panel["unique_id"]).to_parquet(tmp_path, partition_cols=["region"], index=False)
    one, other = NeuralForecast([nlinear()], freq="ME"), NeuralForecast([nlinear()], freq="ME")
    one.fit(panel)
    other.fit(sorted(tmp_path.iterdir()))
    assert np.array_equal(one.predict()["NLinear"], other.predict().column("NLinear"))


def test_forecasts_beyond_the_horizon(panel):
    nf = NeuralForecast([nlinear()], freq="ME")
    nf.fit(panel)
    pd.testing.assert_frame_equal(nf.predict(h=18).groupby("unique_id").head(12).reset_index(drop=True), nf.predict())
    with pytest.raises(ValueError, match="must be greater than the horizon"):
        nf.predict(h=6)


def test_forecasters_are_pickled_and_copied(panel):
    nf = NeuralForecast([nlinear()], freq="ME", local_scaler_type="standard")
    nf.fit(panel)
    for again in [pickle.loads(pickle.dumps(nf)), copy.deepcopy(nf)]:
        pd.testing.assert_frame_equal(again.predict(), nf.predict())
        assert repr(again.models) == "[NLinear]"
    before = pickle.loads(pickle.dumps(NeuralForecast([nlinear()], freq="ME")))
    before.fit(panel)


def test_models_of_other_kinds_beside_each_other():
    models = [SeasonalNaive(h=5, season_length=5), NLinear(h=5, input_size=10, max_steps=2), Ensemble("mean")]
    nf = NeuralForecast(models, freq=1)
    nf.fit(integer_panel())
    forecast = nf.predict()
    assert forecast.columns.tolist() == ["unique_id", "ds", "SeasonalNaive", "NLinear", "EnsembleMean"]
    assert np.allclose(forecast["EnsembleMean"], (forecast["SeasonalNaive"] + forecast["NLinear"]) / 2, rtol=1e-5)
    assert forecast["SeasonalNaive"].tolist() == [10.0 * series + step for series in range(3) for step in range(5)]


def test_wrong_forecasters_are_refused():
    with pytest.raises(ValueError, match="same horizon"):
        NeuralForecast([nlinear(h=3), nlinear(h=4)], freq=1)
    with pytest.raises(ValueError, match="scaler_type must be one of standard"):
        NeuralForecast([nlinear()], freq=1, local_scaler_type="gauss")
    with pytest.raises(ValueError, match="unknown frequency `fortnight`"):
        NeuralForecast([nlinear()], freq="fortnight").fit(integer_panel())
    with pytest.raises(ValueError, match="requires at least 200 training timestamp"):
        NeuralForecast([NHITS(h=3, input_size=200)], freq=1).fit(integer_panel())


@pytest.mark.parametrize("scaler", [None, "standard", "minmax", "boxcox"])
def test_saved_series_are_forecast_without_any_data(panel, statics, tmp_path, scaler):
    panel["half"] = np.where(panel["ds"].dt.month < 7, "first", "second")
    model = NHITS(
        h=12, input_size=24, max_steps=2, futr_exog_list=["half"], hist_exog_list=["y_[lag12]"],
        stat_exog_list=["airline1"], cat_exog_list=["half"],
    )  # fmt: skip
    train, test = panel[panel["ds"] < panel["ds"].values[-12]], panel[panel["ds"] >= panel["ds"].values[-12]]
    nf = NeuralForecast([model], freq="ME", local_scaler_type=scaler)
    nf.fit(train, static_df=statics)
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models")
    expected = nf.predict(futr_df=test)
    found = again.predict(futr_df=test)
    assert found["unique_id"].tolist() == expected["unique_id"].tolist()
    assert found["ds"].tolist() == expected["ds"].tolist()
    assert np.allclose(found["NHITS"], expected["NHITS"], rtol=1e-4)
    assert again.uids.tolist() == nf.uids.tolist() and again.last_dates.tolist() == nf.last_dates.tolist()


@pytest.mark.parametrize("scaler", ["standard", "robust", "robust-iqr", "minmax", "boxcox"])
def test_scalers_are_read(panel, statics, scaler):
    nf = NeuralForecast([nlinear()], freq="ME", local_scaler_type=scaler)
    assert nf.scalers_ == {} and nf.static_scalers_ == {}
    nf.fit(panel)
    y = panel["y"].to_numpy("f8")
    read = nf.scalers_["y"]
    assert read.stats_.shape == (2, 2) and nf.static_scalers_ == {}
    groups = SimpleNamespace(data=y, indptr=np.array([0, 144, 288]))
    scaled = read.transform(groups)
    for rows in slice(0, 144), slice(144, 288):
        match scaler:
            case "standard":
                assert np.allclose([scaled[rows].mean(), scaled[rows].std()], [0, 1], atol=1e-5)
            case "robust":
                assert np.isclose(np.median(abs(scaled[rows])), 1, atol=1e-5) and abs(np.median(scaled[rows])) < 1e-5
            case "robust-iqr":
                assert np.isclose(np.diff(np.quantile(scaled[rows], [0.25, 0.75])), 1, atol=1e-5)
            case "minmax":
                assert (scaled[rows].min(), scaled[rows].max()) == (0, 1)
            case "boxcox":
                # A power of nearly any size leaves the order as it is.
                assert (scaled[rows].argsort() == y[rows].argsort()).all()
    assert np.allclose(read.inverse_transform(SimpleNamespace(data=scaled, indptr=groups.indptr)), y, rtol=1e-3)
    with pytest.raises(ValueError, match="expected 2 series, .* found 1"):
        read.transform(SimpleNamespace(data=y, indptr=[0, 288]))
    nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=1, stat_exog_list=["airline1"])], freq="ME", local_static_scaler_type="minmax")
    nf.fit(panel, static_df=statics)
    assert nf.static_scalers_["airline1"].stats_.tolist() == [[0.0, 1.0]] and nf.scalers_ == {}


def test_errors_of_calibration_are_read(panel, tmp_path):
    nf = NeuralForecast([nlinear(), nlinear(alias="other", random_seed=2)], freq="ME")
    assert nf._cs_df is None
    nf.fit(panel)
    assert nf._cs_df is None
    nf.fit(panel, prediction_intervals=PredictionIntervals(n_windows=3))
    errors = nf._cs_df
    assert errors.columns.tolist() == ["unique_id", "ds", "cutoff", "NLinear", "other"]
    assert len(errors) == 2 * 3 * nf.h and (errors[["NLinear", "other"]] >= 0).all(axis=None)
    assert (errors["cutoff"] < errors["ds"]).all() and errors["ds"].max() == panel["ds"].max()
    nf.save(tmp_path / "models", save_dataset=False)
    pd.testing.assert_frame_equal(NeuralForecast.load(tmp_path / "models")._cs_df, errors, check_dtype=False)


def test_what_was_learned_of_series_comes_in_the_order_of_integer_ids():
    nf = NeuralForecast([nlinear(h=2, input_size=4)], freq=1, local_scaler_type="minmax")
    nf.fit(integer_panel(12), prediction_intervals=PredictionIntervals())
    assert nf.uids.tolist() == list(range(12))
    assert nf.scalers_["y"].stats_.tolist() == [[10.0 * series, 4.0] for series in range(12)]
    errors = nf._cs_df
    assert errors["unique_id"].drop_duplicates().tolist() == list(range(12)) and errors["unique_id"].dtype == "int64"


def test_models_with_the_same_settings_are_numbered(panel):
    nf = NeuralForecast([nlinear(), nlinear()], freq="ME")
    with pytest.warns(UserWarning, match="NLinear and NLinear1 have the same hyper-parameters"):
        nf.fit(panel)
    forecast = nf.predict()
    assert forecast.columns.tolist() == ["unique_id", "ds", "NLinear", "NLinear1"]
    assert forecast["NLinear"].tolist() == forecast["NLinear1"].tolist()


def test_integer_ids_and_times_are_saved(tmp_path):
    nf = NeuralForecast([NLinear(h=5, input_size=10, max_steps=2)], freq=1)
    nf.fit(integer_panel(12))
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models")
    pd.testing.assert_frame_equal(again.predict(), nf.predict())
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(again)).predict(), nf.predict())
    nf.save(tmp_path / "models", overwrite=True, save_dataset=False)
    with pytest.raises(ValueError, match="pass a DataFrame"):
        NeuralForecast.load(tmp_path / "models").predict()


def test_series_that_end_early(panel):
    short = panel.drop(panel.index[-3:])
    with pytest.warns(UserWarning, match=r"ends before 1960-12-31.*`end=drop`.*`end=masked`.*`end=common`"):
        nf = NeuralForecast([nlinear()], freq="ME")
        nf.fit(short)
        nf.predict()
    nf = NeuralForecast([nlinear()], freq="ME", end="drop")
    nf.fit(short)
    assert nf.predict()["unique_id"].unique().tolist() == ["Airline1"]


def test_levels_in_a_cross_validation_without_refit(panel):
    with pytest.warns(UserWarning, match="with prediction_intervals and refit only"):
        result = NeuralForecast([nlinear()], freq="ME").cross_validation(panel, level=[80])
    assert result.columns.tolist() == ["unique_id", "ds", "cutoff", "NLinear", "y"]
    bands = nlinear(loss=DistributionLoss("Normal", level=[80]))
    result = NeuralForecast([bands], freq="ME").cross_validation(panel, level=[80])
    assert "NLinear-lo-80" in result.columns
