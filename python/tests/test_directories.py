"""Directories that neuralforecast wrote forecast the same: the fixtures of the crate foretell."""

import copy
import json
import pathlib
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from foretell import NeuralForecast
from foretell.losses import DistributionLoss
from foretell.models import HINT, NHITS, Ensemble, Foretell0, Pretrained, RandomWalkWithDrift, SeasonalNaive
from foretell.utils import PredictionIntervals

ROOT = pathlib.Path(__file__).parents[2] / "crates/foretell/tests/fixtures/checkpoints"
CASES = [
    "ahead", "categorical", "conformal-error", "dlinear-monthly-mq", "dlinear-yearly", "fusion", "local-exog",
    "local-robust-iqr", "losses", "multivariate", "nbeats", "nbeatsx-exogenous", "nhits-integers-mq", "nlinear-daily",
    "nlinear-standard", "recurrent-direct", "recurrent-steps", "scalers", "several",
]  # fmt: skip


def table(case, name, read):
    path = ROOT / case / name
    return read(path) if path.exists() else None


def read_pandas(path):
    df = pd.read_csv(path, dtype={"unique_id": str})
    time = df.columns[1]
    return df if df[time].dtype == "int64" or "static" in path.name else df.assign(**{time: pd.to_datetime(df[time])})


@pytest.mark.filterwarnings("ignore:.* before .*, the last time of the data")
@pytest.mark.parametrize("case", CASES)
def test_directories_of_neuralforecast(case):
    nf = NeuralForecast.load(ROOT / case / "model", raw_quantiles=True)
    expected = pd.read_csv(ROOT / case / "expected.csv")
    frames = [table(case, f"{name}.csv", read_pandas) for name in ("panel", "static", "futr")]
    forecasts = [nf.predict(frames[0], static_df=frames[1], futr_df=frames[2])]
    frames = [None if frame is None else pl.from_pandas(frame) for frame in frames]
    forecasts.append(nf.predict(frames[0], static_df=frames[1], futr_df=frames[2]).to_pandas())
    if nf._data is not None:
        future = table(case, "futr.csv", read_pandas)
        forecasts.append(nf.predict(futr_df=future))
    for forecast in forecasts:
        # Those of neuralforecast are in the order of its files.
        assert sorted(forecast.columns) == sorted(expected.columns)
        assert len(forecast) == len(expected)
        for column in expected.columns[2:]:
            scale = np.abs(expected[column]).max()
            assert np.allclose(forecast[column], expected[column], atol=2e-4 * scale, rtol=0), column


def test_folders_of_pretrained_networks_forecast(tmp_path):
    """A small network with random weights: what is tried is the way to it."""
    folder = ROOT.parents[2].parent / "pretrained/tests/fixtures/fracast"
    df = pd.DataFrame({"unique_id": "a", "ds": range(120), "y": np.sin(np.arange(120.0) / 3)})
    nf = NeuralForecast([Pretrained(h=4, folder=folder), Foretell0(h=4)], freq=1)
    nf.fit(df)
    forecast = nf.predict()
    assert list(forecast.columns) == ["unique_id", "ds", "fracast", "Foretell0"]
    assert np.isfinite(forecast[["fracast", "Foretell0"]].to_numpy()).all()
    nf.save(tmp_path / "saved")
    pd.testing.assert_frame_equal(NeuralForecast.load(tmp_path / "saved").predict(), forecast)
    alone = NeuralForecast.load(folder)
    assert alone.freq is None
    with_days = df.assign(ds=pd.date_range("2024", periods=120))
    short, own = alone.predict(with_days, h=5), alone.predict(with_days)
    assert (len(short), len(own)) == (5, 12)
    pd.testing.assert_frame_equal(short, own.head(5))
    named = NeuralForecast.load("Foretell0").predict(df, h=4)
    np.testing.assert_array_equal(named["Foretell0"], forecast["Foretell0"])
    with pytest.raises((ValueError, FileNotFoundError), match="no-such-folder"):
        NeuralForecast([Pretrained(h=4, folder=tmp_path / "no-such-folder")], freq=1).fit(df)


def test_networks_leave_as_onnx(tmp_path):
    df = pd.DataFrame({"unique_id": "a", "ds": range(40), "y": np.sin(np.arange(40.0))})
    nf = NeuralForecast([NHITS(h=4, input_size=8, max_steps=1), SeasonalNaive(h=4, season_length=4)], freq=1)
    nf.fit(df)
    nf.export_onnx(tmp_path / "one.onnx")
    nf.export_onnx(tmp_path / "named.onnx", model="NHITS")
    assert (tmp_path / "one.onnx").read_bytes() == (tmp_path / "named.onnx").read_bytes()
    assert b"insample_y" in (tmp_path / "one.onnx").read_bytes()
    with pytest.raises(ValueError, match="SeasonalNaive is to be exported, and the networks are NHITS"):
        nf.export_onnx(tmp_path / "none.onnx", model="SeasonalNaive")


def settled(**settings):
    """A forecaster with a setting of each kind."""
    network = NHITS(h=12, input_size=24, max_steps=2, stat_exog_list=["airline1"])
    models = [network, SeasonalNaive(h=12, season_length=12), Ensemble("median")]
    return NeuralForecast(
        models, freq="ME", local_scaler_type="standard", local_static_scaler_type="minmax", features="lag:7", non_negative=True,
        integer=True, end="common", **settings,
    )  # fmt: skip


def test_loaded_forecasters_keep_their_settings(panel, statics, tmp_path):
    nf = settled()
    nf.fit(panel, static_df=statics)
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models")
    assert again.settings == nf.settings and again.local_scaler_type == "standard"
    assert [repr(model) for model in again.models] == ["NHITS", "SeasonalNaive", "EnsembleMedian"]
    pd.testing.assert_frame_equal(again.predict(), nf.predict())
    for found, expected in [(again.scalers_, nf.scalers_), (again.static_scalers_, nf.static_scalers_)]:
        assert found.keys() <= expected.keys() and len(found) > 0
        assert all(np.array_equal(found[name].stats_, expected[name].stats_) for name in found)
    for forecaster in (nf, again):
        forecaster.fit(panel, static_df=statics)
    pd.testing.assert_frame_equal(again.predict(), nf.predict())
    scored = again.cross_validation(panel, static_df=statics, n_windows=2)
    assert scored.columns.tolist()[3:] == ["NHITS", "SeasonalNaive", "EnsembleMedian", "y"]
    assert (scored["NHITS"] == scored["NHITS"].round()).all()


def test_settings_of_a_directory_give_way_to_those_of_a_call(panel, statics, tmp_path):
    nf = settled()
    nf.fit(panel, static_df=statics)
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models", integer=False, raw_quantiles=True)
    assert again.settings.given["non_negative"] and not again.settings.given["integer"] and again.settings.raw_quantiles
    whole, broken = nf.predict()["NHITS"], again.predict()["NHITS"]
    assert (whole == whole.round()).all() and not (broken == broken.round()).all()
    assert (broken.round() == whole).mean() > 0.9
    again.save(tmp_path / "broken")
    assert not NeuralForecast.load(tmp_path / "broken").settings.given["integer"]
    # A misspelt one is none.
    with pytest.raises(TypeError, match="integr"):
        NeuralForecast.load(tmp_path / "models", integr=False)


def test_forecasts_of_a_directory_are_bounded_by_the_call_alone(tmp_path):
    falling = pd.DataFrame({"unique_id": "a", "ds": range(1, 31), "y": np.arange(30, 0, -1.0)})
    nf = NeuralForecast([RandomWalkWithDrift(h=12)], freq=1, non_negative=True)
    nf.fit(falling)
    nf.save(tmp_path / "models")
    bounded = NeuralForecast.load(tmp_path / "models").predict()["RandomWalkWithDrift"]
    free = NeuralForecast.load(tmp_path / "models", non_negative=False).predict()["RandomWalkWithDrift"]
    assert (free < -5).any() and np.allclose(free.clip(lower=0), bounded, atol=1e-4)


def test_forecasters_that_earlier_versions_pickled_have_their_settings():
    nf = NeuralForecast([SeasonalNaive(h=2, season_length=12)], freq="ME", integer=True, threads=1)
    older = {"local_scaler_type": None, "local_static_scaler_type": None, **nf.settings.given}
    settings = type(nf.settings).__new__(type(nf.settings))
    settings.__setstate__(older)
    assert settings == nf.settings and settings.threads == 1 and settings.given["integer"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda nf: pickle.loads(pickle.dumps(nf))], ids=["deepcopy", "pickle"])
def test_loaded_forecasters_with_columns_are_copied(panel, statics, tmp_path, copied):
    panel["half"] = np.where(panel["ds"].dt.month < 7, "first", "second")
    columns = {"hist_exog_list": ["half", "y_[lag12]"], "stat_exog_list": ["airline1"], "cat_exog_list": ["half"]}
    nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=2, **columns)], freq="ME", local_scaler_type="standard")
    nf.fit(panel, static_df=statics)
    nf.save(tmp_path / "models")
    again = copied(NeuralForecast.load(tmp_path / "models"))
    pd.testing.assert_frame_equal(again.predict(), nf.predict())
    pd.testing.assert_frame_equal(again.predict(panel, static_df=statics), nf.predict())
    # A copy of a copy has its series, too.
    assert copied(again).uids.tolist() == ["Airline1", "Airline2"]


def test_other_static_columns_for_the_series_of_the_training(panel, statics, tmp_path):
    nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=2, stat_exog_list=["airline1"])], freq="ME")
    nf.fit(panel, static_df=statics)
    others = statics.assign(airline1=statics["airline1"] + 5)
    found = nf.predict(static_df=others)
    assert not found.equals(nf.predict())
    pd.testing.assert_frame_equal(found, nf.predict(panel, static_df=others))
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models")
    with pytest.warns(UserWarning, match="static_df is not used.*give df, too"):
        pd.testing.assert_frame_equal(again.predict(static_df=others), nf.predict())


def test_models_beside_series_that_do_not_follow_the_frequency_are_loaded_without_them(panel, tmp_path):
    nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=2)], freq="ME")
    nf.fit(panel)
    nf.save(tmp_path / "models")
    # neuralforecast trains on rows of the ends of months as of their beginnings.
    path = tmp_path / "models" / "configuration.json"
    configuration = json.loads(path.read_text())
    configuration["configuration"]["freq"] = "MS"
    del configuration["foretell_crc32"]
    path.write_text(json.dumps(configuration))
    with pytest.warns(UserWarning, match="by the frequency `MS` .* give the series to forecast"):
        again = NeuralForecast.load(tmp_path / "models")
    with pytest.raises(ValueError, match="pass a DataFrame"):
        again.predict()
    found = again.predict(panel.assign(ds=panel["ds"].dt.to_period("M").dt.to_timestamp()))
    np.testing.assert_allclose(found["NHITS"], nf.predict()["NHITS"], rtol=1e-5)


def test_what_code_asks_of_a_forecaster_before_and_after_a_fit(panel, tmp_path):
    nf = NeuralForecast([NHITS(h=2, input_size=4, max_steps=1)], freq=1)
    assert not hasattr(nf, "uids") and getattr(nf, "last_dates", None) is None
    nf.fit(panel.assign(ds=panel.groupby("unique_id").cumcount()))
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models", map_location="cpu")
    assert again.freq == 1 and (again.last_dates + again.freq).tolist() == [144, 144]


def test_a_fit_after_load_has_the_intervals_that_it_is_asked_for(panel, tmp_path):
    models = [NHITS(h=12, input_size=24, max_steps=2, dropout_prob_theta=0.3), SeasonalNaive(h=12, season_length=12)]
    nf = NeuralForecast(models, freq="ME")
    nf.fit(panel, prediction_intervals="dropout:30")
    assert nf.predict(level=[80]).columns.tolist()[2:5] == ["NHITS", "NHITS-lo-80", "NHITS-hi-80"]
    nf.save(tmp_path / "models")

    def loaded():
        return NeuralForecast.load(tmp_path / "models")

    assert loaded().prediction_intervals == "dropout:30"
    assert loaded().interval_sources == nf.interval_sources == {"NHITS": "dropout:30", "SeasonalNaive": "own"}
    pd.testing.assert_frame_equal(loaded().predict(level=[80]), nf.predict(level=[80]))
    again, without, calibrated = loaded(), loaded(), loaded()
    again.fit(panel, prediction_intervals=again.prediction_intervals)
    assert "NHITS-lo-80" in again.predict(level=[80])
    scored = again.cross_validation(panel, use_fitted=True, level=[80])
    assert (scored["NHITS-lo-80"] < scored["NHITS-hi-80"]).all()
    with pytest.raises(ValueError, match="keeps the intervals that the models were trained with: leave prediction_intervals out"):
        again.cross_validation(panel, use_fitted=True, level=[80], prediction_intervals="spread")
    with pytest.warns(UserWarning, match="no intervals by dropout:30 any more: for these give prediction_intervals='dropout:30'"):
        without.fit(panel)
    assert without.prediction_intervals is None
    with pytest.warns(UserWarning, match="NHITS"):
        assert "NHITS-lo-80" not in without.predict(level=[80])
    calibrated.fit(panel, prediction_intervals=PredictionIntervals(n_windows=2))
    anew = loaded()
    with pytest.warns(UserWarning, match="Deleting previously"):
        anew.fit(panel, prediction_intervals=PredictionIntervals(n_windows=2), use_init_models=True)
    for forecaster in (calibrated, anew):
        assert forecaster.interval_sources["NHITS"] == "2:conformal_distribution:1"
        errors, ends = forecaster._cs_df, forecaster.predict(level=[80])
        assert "NHITS" in errors and "NHITS-hi-80" in ends
        # The ends are as far from the forecast on either side, which those of samples are not.
        np.testing.assert_allclose(ends["NHITS-hi-80"] + ends["NHITS-lo-80"], 2 * ends["NHITS"], rtol=1e-5)


def test_a_fit_after_load_has_the_scalers_features_and_baselines_of_the_call(panel, tmp_path):
    models = [SeasonalNaive(h=12, season_length=12), NHITS(h=12, input_size=24, max_steps=2), RandomWalkWithDrift(h=12), Ensemble("mean")]
    nf = NeuralForecast(models, freq="ME", local_scaler_type="standard", baselines=1)
    nf.fit(panel, prediction_intervals="spread")

    def mean_of(forecast, *names):
        return np.allclose(forecast["EnsembleMean"], forecast[list(names)].mean(axis=1), rtol=1e-5)

    assert mean_of(nf.predict(), "SeasonalNaive", "NHITS") and "EnsembleMean-lo-80" in nf.predict(level=[80])
    nf.save(tmp_path / "models")
    again = NeuralForecast.load(tmp_path / "models")
    assert again.settings.given["baselines"] == 1 and again.prediction_intervals == "spread"
    assert again.interval_sources == {"SeasonalNaive": "own", "NHITS": None, "RandomWalkWithDrift": "own", "EnsembleMean": "spread"}
    with pytest.warns(UserWarning, match="spread"):
        again.fit(panel)
    assert mean_of(again.predict(), "SeasonalNaive", "NHITS") and len(again.scalers_) > 0
    all_of_them = NeuralForecast.load(tmp_path / "models", baselines=0, local_scaler_type=None)
    all_of_them.fit(panel, prediction_intervals="spread")
    assert mean_of(all_of_them.predict(), "SeasonalNaive", "NHITS", "RandomWalkWithDrift")
    assert "EnsembleMean-hi-80" in all_of_them.predict(level=[80])
    all_of_them.save(tmp_path / "unscaled")
    unscaled = NeuralForecast.load(tmp_path / "unscaled")
    assert unscaled.local_scaler_type is None
    pd.testing.assert_frame_equal(unscaled.predict(), all_of_them.predict())


def test_features_of_a_directory_are_those_of_the_next_training_anew(panel, tmp_path):
    panel = panel[["unique_id", "ds", "y"]]

    def trained(features):
        nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=2)], freq="ME", features=features)
        nf.fit(panel)
        return nf

    nf = trained("lag:7, month")
    nf.save(tmp_path / "models")
    for features in (None, "lag:14", "lag:7,month"):
        again = NeuralForecast.load(tmp_path / "models", features=features)
        pd.testing.assert_frame_equal(again.predict(), nf.predict())
        if features != "lag:7,month":
            for train in (again.fit, again.cross_validation):
                with pytest.raises(ValueError, match="the trained models read lag_7, month, so the features stay as they were; use_init_models=True"):
                    train(panel)
        with pytest.warns(UserWarning, match="Deleting previously"):
            again.fit(panel, use_init_models=True)
        pd.testing.assert_frame_equal(again.predict(), trained(features).predict())
        again.fit(panel)


@pytest.mark.parametrize("text", ["dropout:0", "dropout:1", "dropout:99999"])
def test_intervals_by_dropout_are_of_some_forecasts(panel, text):
    with pytest.raises(ValueError, match=f"by dropout are of 2 to 10000 forecasts; found '{text}'"):
        NeuralForecast([SeasonalNaive(h=2)], freq="ME").fit(panel, prediction_intervals=text)


@pytest.mark.parametrize("text", ["dropuot", "3:conformal_error:1", "spread:2"])
def test_intervals_by_a_text_are_those_that_there_are(panel, text):
    with pytest.raises(ValueError, match='must be a PredictionIntervals, "dropout", "dropout:200" or "spread"'):
        NeuralForecast([SeasonalNaive(h=2)], freq="ME").fit(panel, prediction_intervals=text)


def test_forecasts_of_a_loaded_hierarchy_add_up_after_any_fit(panel, tmp_path):
    parts = panel[["unique_id", "ds", "y"]]
    total = parts.groupby("ds", as_index=False)["y"].sum().assign(unique_id="Total")
    df = pd.concat([parts, total])[["unique_id", "ds", "y"]]
    network = NHITS(h=12, input_size=24, max_steps=2, loss=DistributionLoss("Normal", level=[80]), scaler_type="robust")
    sums = pd.DataFrame({"unique_id": ["Total", "Airline1", "Airline2"], "Airline1": [1, 1, 0], "Airline2": [1, 0, 1]})
    nf = NeuralForecast([HINT(h=12, S=sums, model=network, reconciliation="MinTraceWLS")], freq="ME")
    nf.fit(df)
    nf.save(tmp_path / "models")

    def add_up(forecaster):
        wide = forecaster.predict().pivot(index="ds", columns="unique_id", values="HINT")
        return np.allclose(wide["Airline1"] + wide["Airline2"], wide["Total"], rtol=1e-4)

    assert add_up(nf)
    for given in ({}, {"use_init_models": True}):
        again = NeuralForecast.load(tmp_path / "models")
        assert add_up(again)
        again.fit(df, **given)
        assert add_up(again), given
    files = tmp_path / "rows.parquet"
    df.to_parquet(files)
    with pytest.raises(ValueError, match="the models have a hierarchy, which needs all rows in memory: leave scratch out"):
        NeuralForecast.load(tmp_path / "models").fit([files], scratch=tmp_path)
