"""Models of neuralforecast 3.2, which are also the fixtures of the engine's own tests."""

import pathlib

import numpy as np
import pandas as pd
import pytest

from foretell import NeuralForecast
from foretell.migrate import main, migrate

PICKLES = pathlib.Path(__file__).parents[2] / "crates" / "foretell" / "tests" / "fixtures" / "pickles"
OLD = PICKLES / "directory" / "model"


def expected(path):
    """Forecasts that neuralforecast 3.2 made of the panel."""
    return pd.read_csv(path, parse_dates=["ds"])


def check(directory, told):
    panel = pd.read_csv(PICKLES / "panel.csv", parse_dates=["ds"])
    forecasts = NeuralForecast.load(directory).predict(df=panel)
    told = forecasts[["unique_id", "ds"]].merge(told, on=["unique_id", "ds"], how="left")
    # Quantiles are sorted here and cross there, so only single forecasts are compared.
    columns = [column for column in told.columns if column not in ("unique_id", "ds") and "-" not in column]
    assert columns and set(columns) <= set(forecasts.columns)
    for column in columns:
        np.testing.assert_allclose(forecasts[column], told[column], rtol=1e-4, err_msg=column)


def test_a_directory_of_neuralforecast_3_2_forecasts_the_same(tmp_path, capsys):
    written = migrate(OLD, tmp_path / "new")
    assert written == str(tmp_path / "new") and "Migrated" in capsys.readouterr().out
    check(written, expected(PICKLES / "directory" / "expected.csv"))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        migrate(OLD, tmp_path / "new")
    migrate(OLD, tmp_path / "new", overwrite=True, verbose=False)
    assert migrate(written, verbose=False) == written


def test_old_directories_are_loaded_where_pickles_are_allowed():
    with pytest.raises(ValueError, match="was written by neuralforecast 3.2 or older"):
        NeuralForecast.load(OLD)
    with pytest.warns(UserWarning, match="is read without .*dataset.pkl"):
        nf = NeuralForecast.load(OLD, allow_pickle=True)
    panel = pd.read_csv(PICKLES / "panel.csv", parse_dates=["ds"])
    told = expected(PICKLES / "directory" / "expected.csv")
    np.testing.assert_allclose(nf.predict(df=panel)["MLP"], told["MLP"], rtol=1e-4)


def test_a_checkpoint_by_the_command(tmp_path, capsys):
    assert main([str(PICKLES / "lightning" / "MLP.ckpt"), "--dst", str(tmp_path / "mlp"), "--freq", "D", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    check(tmp_path / "mlp", expected(PICKLES / "lightning" / "MLP.csv"))


def test_errors_say_what_to_do(tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match="there is no directory or file"):
        migrate(tmp_path / "nothing")
    with pytest.raises(ValueError, match="give another dst"):
        migrate(OLD, OLD / "new")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: ")
