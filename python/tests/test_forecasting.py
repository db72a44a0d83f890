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


def _by_store_and_item():
    past = pd.concat(AirPassengersDF.assign(store="N", item=item)[["store", "item", "ds", "y"]].tail(36) for item in (1, 2))
    return past.assign(y=past["y"] * past["item"])


def test_columns_that_make_the_ids_together_are_joined() -> None:
    past = _by_store_and_item()
    usual = past.assign(unique_id=past["store"] + "/" + past["item"].astype(str)).drop(columns=["store", "item"])
    expected = foretell.forecast(usual, h=3, freq="ME", models=["AutoETS"])
    for told in (past, usual):
        table = foretell.forecast(told, h=3, freq="ME", models=["AutoETS"], id_col=["store", "item"])
        assert table["unique_id"].unique().tolist() == ["N/1", "N/2"]
        assert table["Auto"].tolist() == expected["Auto"].tolist()
    with pytest.raises(ValueError, match="df has no column item; it has store"):
        foretell.forecast(past.drop(columns="item"), h=3, freq="ME", models=["AutoETS"], id_col=["store", "item"])
    with pytest.raises(ValueError, match="make 1 ids of 2 series"):
        alike = past.assign(store=past["item"].map({1: "a/b", 2: "a"}), item=past["item"].map({1: "c", 2: "b/c"}))
        foretell.forecast(alike, h=3, freq="ME", models=["AutoETS"], id_col=["store", "item"])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_tables_join_ids_as_pandas_does(library: str) -> None:
    from foretell._ids import joined

    module = pytest.importorskip(library)
    past = _by_store_and_item().reset_index(drop=True)
    table = module.from_pandas(past) if library == "polars" else module.Table.from_pandas(past, preserve_index=False)
    told = joined(table, ["store", "item"], "df").to_pandas()
    pd.testing.assert_frame_equal(told, joined(past, ["store", "item"], "df"), check_dtype=False)
