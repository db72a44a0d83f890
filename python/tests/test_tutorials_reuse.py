"""What neuralforecast's tutorials of trained models do, with the import changed: transfer learning, saving and loading, further training,
forecasts of the history, other frames."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast
from foretell.losses import MQLoss
from foretell.models import MLP, NHITS, AutoETS, RNN
from foretell.utils import AirPassengersDF, AirPassengersPanel, PredictionIntervals

H = 12
QUIET = dict(accelerator="cpu", enable_progress_bar=False, logger=False)


def small(**arguments):
    return {"h": H, "input_size": 2 * H, "max_steps": 20, "scaler_type": "standard", **QUIET, **arguments}


def nhits(**arguments):
    return NHITS(**small(mlp_units=3 * [[8, 8]], **arguments))


def test_transfer_learning(tmp_path):
    # Trained on many series of one source, saved, loaded, and used on a series that it never saw.
    rng = np.random.default_rng(1)
    months = pd.date_range("1990-01-31", periods=72, freq="ME")
    season = 10 * np.sin(np.arange(72) * np.pi / 6)
    many = pd.concat([
        pd.DataFrame({"unique_id": f"M{i}", "ds": months, "y": 50 * i + season * (1 + i) + rng.normal(size=72)}) for i in range(6)
    ])  # fmt: skip
    nf = NeuralForecast([nhits(max_steps=100)], freq="ME")
    nf.fit(many)
    nf.save(tmp_path / "monthly", save_dataset=False)
    loaded = NeuralForecast.load(tmp_path / "monthly")
    forecasts = loaded.predict(df=AirPassengersDF)
    pd.testing.assert_frame_equal(forecasts, nf.predict(df=AirPassengersDF))
    assert forecasts["ds"].iloc[0] == pd.Timestamp("1961-01-31") and len(forecasts) == H
    # Windows are scaled by their own history, so forecasts are on the scale of the new series.
    assert forecasts["NHITS"].between(200, 900).all()
    # What was trained is unchanged by a forecast of others.
    assert len(nf.predict()) == 6 * H


def test_fine_tuning_goes_on_from_the_weights():
    nf = NeuralForecast([nhits(max_steps=60)], freq="ME")
    nf.fit(AirPassengersPanel)
    first = nf.predict(df=AirPassengersDF)
    nf.fit(AirPassengersDF)
    tuned = nf.predict(df=AirPassengersDF)
    fresh = NeuralForecast([nhits(max_steps=60)], freq="ME")
    fresh.fit(AirPassengersDF)
    assert not np.allclose(first["NHITS"], tuned["NHITS"]) and not np.allclose(fresh.predict()["NHITS"], tuned["NHITS"])
    nf.fit(AirPassengersDF, use_init_models=True)
    np.testing.assert_array_equal(nf.predict()["NHITS"], fresh.predict()["NHITS"])


def test_save_and_load(tmp_path):
    models = [nhits(alias="wide", loss=MQLoss(level=[80])), RNN(**small(encoder_hidden_size=4, decoder_hidden_size=4)), AutoETS(h=H)]
    nf = NeuralForecast(models, freq="ME")
    with pytest.raises(ValueError, match="fit the models before saving"):
        nf.save(tmp_path / "models")
    nf.fit(AirPassengersPanel)
    nf.save(tmp_path / "models")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        nf.save(tmp_path / "models")
    nf.save(tmp_path / "models", overwrite=True)
    loaded = NeuralForecast.load(tmp_path / "models")
    assert sorted(map(repr, loaded.models)) == ["AutoETS", "RNN", "wide"] and loaded.h == H
    ours, theirs = nf.predict(df=AirPassengersPanel), loaded.predict(df=AirPassengersPanel)
    pd.testing.assert_frame_equal(theirs[ours.columns], ours)
    wide = next(model for model in loaded.models if model.alias == "wide")
    assert isinstance(wide, NHITS) and wide.input_size == 24 and wide.max_steps == 20 and wide.loss == MQLoss(level=[80])
    with pytest.raises(FileNotFoundError):
        NeuralForecast.load(tmp_path / "nothing")


def test_trained_models_pickle_and_copy():
    nf = NeuralForecast([MLP(**small(hidden_size=8))], freq="ME")
    nf.fit(AirPassengersPanel)
    expected = nf.predict()
    for twin in [pickle.loads(pickle.dumps(nf)), copy.deepcopy(nf)]:
        pd.testing.assert_frame_equal(twin.predict(), expected)


def test_forecasts_of_the_history():
    nf = NeuralForecast([MLP(**small(hidden_size=8))], freq="ME")
    nf.fit(AirPassengersPanel)
    insample = nf.predict_insample(step_size=H)
    assert list(insample.columns) == ["unique_id", "ds", "cutoff", "MLP", "y"]
    truth = insample.merge(AirPassengersPanel, on=["unique_id", "ds"], suffixes=("", "_true"))
    assert (truth["y"] == truth["y_true"]).all() and truth["MLP"].notna().all()


def test_trained_models_are_validated_without_training():
    nf = NeuralForecast([MLP(**small(hidden_size=8))], freq="ME")
    nf.fit(AirPassengersPanel[AirPassengersPanel["ds"] < "1959-01-01"])
    last = nf.cross_validation(AirPassengersPanel, n_windows=2, step_size=H, use_fitted=True)
    known = AirPassengersPanel[AirPassengersPanel["ds"] < "1960-01-01"]
    alone = nf.predict(df=known)
    merged = last[last["cutoff"] == last["cutoff"].max()].merge(alone, on=["unique_id", "ds"], suffixes=("", "_alone"))
    assert len(merged) == 2 * H
    np.testing.assert_allclose(merged["MLP"], merged["MLP_alone"], rtol=1e-5)


def test_longer_horizons_than_the_models():
    nf = NeuralForecast([MLP(**small(hidden_size=8))], freq="ME")
    nf.fit(AirPassengersPanel, prediction_intervals=None)
    longer = nf.predict(h=2 * H)
    assert len(longer) == 2 * 2 * H
    head = longer.groupby("unique_id").head(H).reset_index(drop=True)
    np.testing.assert_allclose(head["MLP"], nf.predict()["MLP"], rtol=1e-5)
    with pytest.raises(ValueError, match="must be greater than the horizon"):
        nf.predict(h=3)
    nf.fit(AirPassengersPanel, prediction_intervals=PredictionIntervals())
    with pytest.raises(ValueError, match="Forecast with prediction intervals is not supported"):
        nf.predict(h=2 * H)


def test_frames_of_polars_and_pyarrow_come_back_as_they_went_in():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    nf = NeuralForecast([MLP(**small(hidden_size=8))], freq="ME")
    nf.fit(AirPassengersPanel)
    expected = nf.predict()
    columns = AirPassengersPanel[["unique_id", "ds", "y"]]
    forecasts = nf.predict(df=pl.DataFrame({name: columns[name].to_numpy() for name in columns}, schema_overrides={"ds": pl.Datetime("us")}))
    assert isinstance(forecasts, pl.DataFrame) and forecasts.columns == list(expected.columns)
    np.testing.assert_allclose(forecasts["MLP"].to_numpy(), expected["MLP"], rtol=1e-6)
    table = nf.predict(df=pa.Table.from_pandas(columns, preserve_index=False))
    assert isinstance(table, pa.Table) and table.num_rows == 2 * H
    np.testing.assert_allclose(table["MLP"].to_numpy(), expected["MLP"], rtol=1e-6)


def test_names_of_columns_are_the_users():
    df = AirPassengersPanel.rename(columns={"unique_id": "airline", "ds": "month", "y": "passengers"})
    nf = NeuralForecast([MLP(**small(hidden_size=8))], freq="ME")
    nf.fit(df, id_col="airline", time_col="month", target_col="passengers")
    assert list(nf.predict().columns) == ["airline", "month", "MLP"]
    cv = nf.cross_validation(df, id_col="airline", time_col="month", target_col="passengers")
    assert list(cv.columns) == ["airline", "month", "cutoff", "MLP", "passengers"]
