"""The forecast that needs no model named."""

from __future__ import annotations

import pytest

pd = pytest.importorskip("pandas")

import foretell
from foretell import AutoForecaster
from foretell.utils import AirPassengersDF


def test_a_table_is_forecast_with_quantiles() -> None:
    table = foretell.forecast(AirPassengersDF, h=12, freq="ME", models=["AutoETS", "MSTL"])
    assert list(table.columns[:3]) == ["unique_id", "ds", "Auto"]
    assert [name for name in table.columns if "_ql" in name] == [f"Auto_ql0.{tenth}" for tenth in range(1, 10)]
    assert len(table) == 12 and (table["Auto_ql0.1"] < table["Auto_ql0.9"]).all()
    assert table["Auto"].between(300, 800).all()


def test_the_board_says_how_good_each_model_is(tmp_path) -> None:
    auto = AutoForecaster(12, "ME", models=["AutoETS"]).fit(AirPassengersDF)
    board = auto.leaderboard()
    assert {"Auto", "SeasonalNaive", "AutoETS"} == set(board["model"])
    assert board["mase"].notna().all() and auto.seasons == [12]
    assert "seasonal naive" in auto.summary
    levels = auto.predict(level=[80])
    assert "Auto-lo-80" in levels.columns
    auto.save(tmp_path / "model")
    with pytest.raises(ValueError, match="AutoETSS"):
        foretell.forecast(AirPassengersDF, h=12, models=["AutoETSS"])
    with pytest.raises(RuntimeError, match="call fit"):
        AutoForecaster(12).predict()


def test_columns_of_both_tables_are_known_ahead() -> None:
    months = pd.date_range("2020-01-01", periods=60, freq="MS")
    df = pd.DataFrame({"unique_id": "a", "ds": months, "promo": [float(t % 5 == 0) for t in range(60)]})
    df["y"] = 100 + 40 * df["promo"] + [t % 3 for t in range(60)]
    past, future = df[:54], df[54:].drop(columns="y").assign(note="free")
    models = ["AutoARIMA"]
    with pytest.warns(UserWarning, match="known ahead: promo, what both tables have"):
        told = foretell.forecast(past, h=6, freq="MS", models=models, futr_df=future)
    named = foretell.forecast(past, h=6, freq="MS", models=models, futr_df=future, futr_exog_list=["promo"])
    pd.testing.assert_frame_equal(told, named)
    assert told["Auto"].iloc[1] > told["Auto"].iloc[0] + 20
    with pytest.raises(ValueError, match="no column that df has"):
        foretell.forecast(past, h=6, freq="MS", models=models, futr_df=future[["unique_id", "ds", "note"]])
