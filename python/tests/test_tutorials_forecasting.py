"""What neuralforecast's tutorials of forecasting do, with the import changed: getting started, exogenous columns, cross-validation,
intervals."""

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast
from foretell.losses.numpy import mae, mse
from foretell.losses.pytorch import MAE, DistributionLoss, HuberMQLoss, MQLoss
from foretell.models import LSTM, MLP, NBEATS, NHITS, TFT, AutoETS, Ensemble, PatchTST, SeasonalNaive, TSMixerx
from foretell.utils import (
    AirPassengersDF,
    AirPassengersPanel,
    AirPassengersStatic,
    PredictionIntervals,
    augment_calendar_df,
    generate_series,
)

H = 12
QUIET = dict(accelerator="cpu", enable_progress_bar=False, logger=False, enable_checkpointing=False)
LAST_YEAR = AirPassengersPanel["ds"] >= "1960-01-01"
TRAIN, TEST = AirPassengersPanel[~LAST_YEAR].reset_index(drop=True), AirPassengersPanel[LAST_YEAR].reset_index(drop=True)


def small(**arguments):
    """Arguments of a network that trains in a moment."""
    return {"h": H, "input_size": 2 * H, "max_steps": 30, "scaler_type": "standard", **QUIET, **arguments}


def test_getting_started():
    models = [
        LSTM(**small(encoder_hidden_size=8, decoder_hidden_size=8, loss=DistributionLoss("Normal", level=[80]))),
        NHITS(**small(n_freq_downsample=[2, 1, 1], mlp_units=3 * [[16, 16]])),
    ]
    nf = NeuralForecast(models=models, freq="ME")
    nf.fit(df=AirPassengersDF)
    forecasts = nf.predict()
    assert list(forecasts.columns) == ["unique_id", "ds", "LSTM", "LSTM-median", "LSTM-lo-80", "LSTM-hi-80", "NHITS"]
    assert forecasts["ds"].tolist() == pd.date_range("1961-01-31", periods=H, freq="ME").tolist()
    assert forecasts["unique_id"].unique().tolist() == [1.0]
    assert (forecasts["LSTM-lo-80"] < forecasts["LSTM-hi-80"]).all()
    # What a network learns in a moment is better than the mean of the last years.
    assert forecasts["NHITS"].between(250, 800).all()


def test_training_that_stops_early():
    model = NHITS(**small(max_steps=200, early_stop_patience_steps=2, val_check_steps=10, mlp_units=3 * [[8, 8]]))
    nf = NeuralForecast(models=[model], freq="ME")
    with pytest.raises(ValueError, match="val_size>0"):
        nf.fit(df=AirPassengersDF)
    nf.fit(df=AirPassengersDF, val_size=H)
    assert len(nf.predict()) == H


def test_exogenous_columns_of_all_kinds():
    model = NHITS(**small(
        futr_exog_list=["trend"], hist_exog_list=["y_[lag12]"], stat_exog_list=["airline1"], mlp_units=3 * [[16, 16]]
    ))  # fmt: skip
    nf = NeuralForecast(models=[model, TFT(**small(hidden_size=8, n_head=2, max_steps=5, futr_exog_list=["trend"]))], freq="ME")
    nf.fit(df=TRAIN, static_df=AirPassengersStatic)
    with pytest.raises(ValueError, match="trend"):
        nf.predict()
    with pytest.raises(ValueError, match="missing combinations of ids and times in `futr_df`"):
        nf.predict(futr_df=TEST.iloc[:-1])
    forecasts = nf.predict(futr_df=TEST[["unique_id", "ds", "trend"]])
    merged = TEST.merge(forecasts, on=["unique_id", "ds"])
    assert len(merged) == 2 * H and merged[["NHITS", "TFT"]].notna().all(axis=None)
    assert nf.models[0].futr_exog_list == ["trend"] and nf.models[0].hist_exog_list == ["y_[lag12]"]
    # The future is read: another one gives other forecasts.
    other = nf.predict(futr_df=TEST.assign(trend=TEST["trend"] + 100))
    assert not np.allclose(other["NHITS"], forecasts["NHITS"])


def test_the_frame_of_the_future_is_made():
    nf = NeuralForecast(models=[NHITS(**small(max_steps=1, futr_exog_list=["month"], mlp_units=3 * [[8, 8]]))], freq="ME")
    df, columns = augment_calendar_df(AirPassengersPanel, "ME")
    assert columns == ["month"]
    nf.fit(df=df)
    future = nf.make_future_dataframe()
    assert list(future.columns) == ["unique_id", "ds"] and len(future) == 2 * H
    assert len(nf.get_missing_future(future.iloc[3:])) == 3
    assert len(nf.predict(futr_df=augment_calendar_df(future, "ME")[0])) == 2 * H


def test_cross_validation():
    nf = NeuralForecast([NHITS(**small(mlp_units=3 * [[16, 16]])), SeasonalNaive(h=H, season_length=12)], freq="ME")
    cv = nf.cross_validation(AirPassengersPanel, n_windows=3, step_size=H)
    assert list(cv.columns) == ["unique_id", "ds", "cutoff", "NHITS", "SeasonalNaive", "y"]
    assert cv.groupby("unique_id")["cutoff"].nunique().tolist() == [3, 3] and len(cv) == 2 * 3 * H
    truth = cv.merge(AirPassengersPanel, on=["unique_id", "ds"], suffixes=("", "_true"))
    assert (truth["y"] == truth["y_true"]).all()
    naive = AirPassengersPanel.assign(ds=AirPassengersPanel["ds"] + pd.offsets.MonthEnd(12))
    same = cv[cv["cutoff"] == cv["cutoff"].max()].merge(naive, on=["unique_id", "ds"], suffixes=("", "_naive"))
    np.testing.assert_allclose(same["SeasonalNaive"], same["y_naive"])
    assert mae(cv["y"].to_numpy(), cv["NHITS"].to_numpy()) < 100 < mse(cv["y"].to_numpy(), cv["NHITS"].to_numpy())
    # The same windows by their length.
    again = nf.cross_validation(AirPassengersPanel, n_windows=None, test_size=3 * H, step_size=H, use_init_models=True)
    pd.testing.assert_frame_equal(again, cv)


def test_scores_of_utilsforecast():
    evaluation = pytest.importorskip("utilsforecast.evaluation")
    losses = pytest.importorskip("utilsforecast.losses")
    nf = NeuralForecast([MLP(**small(hidden_size=8)), AutoETS(h=H)], freq="ME")
    cv = nf.cross_validation(AirPassengersPanel, n_windows=2, step_size=H)
    scores = evaluation.evaluate(cv.drop(columns="cutoff"), metrics=[losses.mae, losses.smape], models=["MLP", "AutoETS"])
    assert len(scores) == 4 and scores[["MLP", "AutoETS"]].notna().all(axis=None)


@pytest.mark.parametrize("loss", [MQLoss(level=[80, 90]), HuberMQLoss(level=[80, 90])])
def test_intervals_of_quantiles(loss):
    nf = NeuralForecast([NHITS(**small(loss=loss, mlp_units=3 * [[16, 16]]))], freq="ME")
    nf.fit(AirPassengersPanel)
    forecasts = nf.predict()
    names = [f"NHITS{suffix}" for suffix in loss.output_names]
    assert sorted(forecasts.columns[2:]) == sorted(names)
    ordered = ["NHITS-lo-90", "NHITS-lo-80", "NHITS-median", "NHITS-hi-80", "NHITS-hi-90"]
    assert (np.diff(forecasts[ordered], axis=1) >= 0).all()


def test_conformal_intervals():
    nf = NeuralForecast([NHITS(**small(mlp_units=3 * [[8, 8]], loss=MAE())), AutoETS(h=H)], freq="ME")
    intervals = PredictionIntervals(n_windows=3, method="conformal_error")
    nf.fit(AirPassengersPanel, prediction_intervals=intervals)
    forecasts = nf.predict(level=[50, 90])
    for model in ["NHITS", "AutoETS"]:
        ordered = [f"{model}-lo-90", f"{model}-lo-50", model, f"{model}-hi-50", f"{model}-hi-90"]
        assert (np.diff(forecasts[ordered], axis=1) >= 0).all()
    by_quantiles = nf.predict(quantiles=[0.05, 0.95])
    np.testing.assert_allclose(by_quantiles["NHITS-ql0.05"], forecasts["NHITS-lo-90"])


def test_multivariate_models_and_ensembles():
    models = [
        TSMixerx(h=H, input_size=24, n_series=2, ff_dim=4, max_steps=10, **QUIET),
        PatchTST(**small(hidden_size=8, n_heads=2, linear_hidden_size=8, encoder_layers=1, max_steps=5)),
        Ensemble("mean"),
    ]
    nf = NeuralForecast(models, freq="ME")
    nf.fit(AirPassengersPanel)
    forecasts = nf.predict()
    np.testing.assert_allclose(forecasts["EnsembleMean"], forecasts[["TSMixerx", "PatchTST"]].mean(axis=1), rtol=1e-5)


def test_daily_series_of_different_lengths_by_step_numbers():
    series = generate_series(5, min_length=40, max_length=60)
    steps = series.assign(ds=series.groupby("unique_id", observed=True).cumcount())
    found = {}
    for freq, df in [("D", series), (1, steps)]:
        nf = NeuralForecast([NBEATS(h=7, input_size=14, max_steps=5, mlp_units=3 * [[8, 8]], **QUIET)], freq=freq)
        nf.fit(df)
        found[freq] = nf.predict()
    # Times are names of steps: what they are changes no forecast.
    np.testing.assert_allclose(found["D"]["NBEATS"], found[1]["NBEATS"], rtol=1e-5)
    # generate_series has ids of pandas' categorical type.
    assert found["D"]["unique_id"].dtype == series["unique_id"].dtype
    assert found["D"]["unique_id"].unique().tolist() == [0, 1, 2, 3, 4]
    assert found[1]["ds"].iloc[0] == steps[steps["unique_id"] == 0]["ds"].max() + 1
