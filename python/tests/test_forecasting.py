"""The forecast that needs no model named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

import foretell
from foretell import AutoForecaster, NeuralForecast, _frames
from foretell.models import MLP, AutoETS
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
    parts = auto.explain()
    assert list(parts.columns[2:]) == ["Auto:baseline", "Auto:AutoETS", "Auto:limits"]
    np.testing.assert_allclose(parts.iloc[:, 2:].sum(axis=1), levels["Auto"], rtol=1e-4)
    auto.save(tmp_path / "model")
    with pytest.raises(ValueError, match="holds an automatic forecast: AutoForecaster.load reads it"):
        NeuralForecast.load(tmp_path / "model")
    with pytest.raises(ValueError, match="AutoETSS"):
        foretell.forecast(AirPassengersDF, h=12, models=["AutoETSS"])
    with pytest.raises(RuntimeError, match="call fit"):
        AutoForecaster(12).predict()


def test_a_series_without_a_value_stops_no_other_one() -> None:
    df = pd.concat([AirPassengersDF, AirPassengersDF.assign(unique_id=2.0, y=np.nan)])
    auto = AutoForecaster(12, "ME", models=["AutoETS"])
    with pytest.warns(UserWarning, match="left out series of which no value is known: 2"):
        auto.fit(df)
    pd.testing.assert_frame_equal(auto.predict(), foretell.forecast(AirPassengersDF, h=12, freq="ME", models=["AutoETS"]))


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
    with pytest.raises(ValueError, match="the columns that make the id give `a/b/c`"):
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


def _as(library: str, table: pd.DataFrame) -> Any:
    if library == "pandas":
        return table
    module = pytest.importorskip(library)
    return module.from_pandas(table) if library == "polars" else module.Table.from_pandas(table, preserve_index=False)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_all_calls_join_ids_of_several_columns(library: str, tmp_path: Path) -> None:
    past = _by_store_and_item().reset_index(drop=True)
    past["promo"] = [t % 5 == 0 for t in range(36)] * 2
    joined = past.assign(unique_id=past["store"] + "/" + past["item"].astype(str)).drop(columns=["store", "item"])
    parts: Any = {"id_col": ["store", "item"]}
    of_stores, of_items = pd.DataFrame({"store": ["N"], "size": [3.0]}), pd.DataFrame({"item": [2, 1], "size": [5.0, 4.0]})
    of_ids = pd.DataFrame({"unique_id": ["N/1", "N/2"], "size": [4.0, 5.0]})

    def trained(df: Any, static: Any, **names: Any) -> NeuralForecast:
        networks = [MLP(h=3, input_size=6, max_steps=3, hidden_size=8, stat_exog_list=["size"], futr_exog_list=["promo"]), AutoETS(h=3)]
        nf = NeuralForecast(networks, "ME")
        nf.fit(_as(library, df), _as(library, static), **names)
        return nf

    nf, expected = trained(past, of_items, **parts), trained(joined, of_ids)
    following = expected.make_future_dataframe()
    following = following if library == "pandas" else following.to_pandas()
    following["promo"] = 1.0
    cells = following["unique_id"].str.split("/", expand=True)
    apart = following.drop(columns="unique_id").assign(store=cells[0], item=cells[1].astype(int))
    wanted = _frames.lists(expected.predict(futr_df=_as(library, following)))
    assert set(wanted["unique_id"]) == {"N/1", "N/2"}
    assert _frames.lists(nf.predict(futr_df=_as(library, apart))) == wanted
    assert _frames.lists(nf.predict(_as(library, past), static_df=_as(library, of_items), futr_df=_as(library, apart))) == wanted
    assert _frames.n_rows(nf.get_missing_future(_as(library, apart))) == 0
    # A table of stores is of all their items.
    trained(past, of_stores, **parts)
    nf.save(tmp_path / "models")
    loaded = NeuralForecast.load(tmp_path / "models")
    assert (loaded.id_col, loaded._id_parts) == ("unique_id", ("store", "item"))
    assert _frames.lists(loaded.predict(_as(library, past), static_df=_as(library, of_items), futr_df=_as(library, apart))) == wanted
    saved = json.loads((tmp_path / "models" / "configuration.json").read_text())
    assert "store,item" in json.dumps(saved)
    scores = nf.cross_validation(_as(library, past), _as(library, of_items), n_windows=2, step_size=3, **parts)
    of_rows = {(row["unique_id"], row["ds"]): row["y"] for row in joined.to_dict("records")}
    columns = _frames.lists(scores)
    assert [of_rows[key] for key in zip(columns["unique_id"], map(pd.Timestamp, columns["ds"]))] == columns["y"]
    # Scores of tables that have the columns, with the figures of numpy.
    table = pd.DataFrame({name: columns[name] for name in ("unique_id", "ds", "cutoff", "AutoETS")})
    cells = table["unique_id"].str.split("/", expand=True)
    of_parts = table.drop(columns="unique_id").assign(store=cells[0], item=cells[1].astype(int))
    told = _frames.lists(foretell.evaluate(_as(library, of_parts), "mae", actual_df=_as(library, past), **parts))
    errors = np.abs(np.array(columns["y"]) - np.array(columns["AutoETS"])).reshape(2, -1).mean(axis=1)
    assert told["unique_id"] == ["N/1", "N/2"]
    np.testing.assert_allclose(told["AutoETS"], errors, rtol=1e-6)
    lags = _frames.lists(foretell.features.compute(_as(library, past), "lag:1", **parts))
    assert lags["unique_id"] == joined["unique_id"].tolist() and lags["lag_1"][1:36] == joined["y"].tolist()[:35]
    page = foretell.report(_as(library, past), _as(library, of_parts), **parts)
    assert page is not None and "N/2" in page


def test_sums_of_columns_that_make_ids_are_reconciled() -> None:
    apart = pd.DataFrame({"store": ["N", "N"], "item": ["1", "2"], "ds": 1, "M": [-4.0, 6.0]})
    whole = pd.DataFrame({"store": ["N"], "item": ["all"], "ds": 1, "M": [2.0]})
    S = pd.DataFrame({"unique_id": ["N/all", "N/1", "N/2"], "N/1": [1.0, 1, 0], "N/2": [1.0, 0, 1]})
    df = pd.concat([whole, apart], ignore_index=True)
    found = foretell.hierarchy.reconcile(df, S, "BottomUp", id_col=["store", "item"])
    assert found.set_index("unique_id")["M"].to_dict() == {"N/all": 2.0, "N/1": -4.0, "N/2": 6.0}
    found = foretell.hierarchy.reconcile(df, S, "BottomUp", non_negative=True, id_col=["store", "item"])
    assert found.set_index("unique_id")["M"].to_dict() == {"N/all": 6.0, "N/1": 0.0, "N/2": 6.0}
    positive = df.assign(M=[1.0, 9.0, 1.0])
    with pytest.warns(UserWarning, match="forecasts of 1 series fell below 0 where they were made to add up: N/2; .*non_negative"):
        foretell.hierarchy.reconcile(positive, S, "MinTraceOLS", id_col=["store", "item"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_saved_forecaster_is_loaded_with_all_that_it_has(library: str, tmp_path: Path) -> None:
    df = _as(library, AirPassengersDF.rename(columns={"unique_id": "shop", "y": "sales"}).astype({"shop": int}).reset_index(drop=True))
    auto = AutoForecaster(4, models="AutoETS, SeasonalNaive", id_col="shop", target_col="sales", non_negative=True).fit(df)
    auto.save(tmp_path / "model")
    again = AutoForecaster.load(tmp_path / "model")
    assert type(again.predict()) is type(df)
    assert _frames.lists(again.predict(level=[80])) == _frames.lists(auto.predict(level=[80]))
    assert _frames.lists(again.predict(df)) == _frames.lists(auto.predict()) and _frames.lists(again.explain()) == _frames.lists(auto.explain())
    assert again.summary == auto.summary and again.settings.given["non_negative"]
    assert not AutoForecaster.load(tmp_path / "model", non_negative=False).settings.given["non_negative"]
    assert _frames.lists(again.fit(df).predict()) == _frames.lists(auto.predict())
    with pytest.raises(FileExistsError):
        auto.save(tmp_path / "model")
    auto.save(tmp_path / "model", overwrite=True, save_dataset=False)
    with pytest.raises(ValueError, match="saved without their series: give df"):
        AutoForecaster.load(tmp_path / "model").predict()
    nf = NeuralForecast([AutoETS(h=4)], freq="ME")
    nf.fit(AirPassengersDF)
    nf.save(tmp_path / "other")
    with pytest.raises(ValueError, match="holds AutoETS, no automatic forecast: NeuralForecast.load reads it"):
        AutoForecaster.load(tmp_path / "other")


def test_a_loaded_forecaster_is_fitted_to_data_of_another_frequency(tmp_path: Path) -> None:
    def told(auto: AutoForecaster, df: pd.DataFrame) -> list[Any]:
        return auto.fit(df).predict()["ds"].tolist()

    months = AirPassengersDF
    days = months.assign(ds=pd.date_range("2024-01-01", periods=144, freq="D"))
    steps = months.assign(ds=range(144))
    AutoForecaster(3, "ME", models="SeasonalNaive").fit(months).save(tmp_path / "model")

    def loaded(**given: Any) -> AutoForecaster:
        return AutoForecaster.load(tmp_path / "model", **given)

    assert told(loaded(), days) == [pd.Timestamp("2024-05-24"), pd.Timestamp("2024-05-25"), pd.Timestamp("2024-05-26")]
    assert told(loaded(), months) == loaded().predict()["ds"].tolist()
    assert told(loaded(), steps) == [144, 145, 146]
    # Where the times tell no frequency, that of the last fit holds; where one is given, it does.
    assert told(loaded(), months.tail(1)) == loaded().predict()["ds"].tolist()
    assert loaded(freq="D").freq == "D"


def test_only_times_without_a_frequency_are_read_again_with_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    AutoForecaster(3, "ME", models="SeasonalNaive").fit(AirPassengersDF).save(tmp_path / "model")
    auto, read, freqs = AutoForecaster.load(tmp_path / "model"), AutoForecaster._read, []

    def watched(self: AutoForecaster, df: Any, static_df: Any, reading: Any, **settings: Any) -> Any:
        freqs.append(reading.freq)
        return read(self, df, static_df, reading, **settings)

    monkeypatch.setattr(AutoForecaster, "_read", watched)
    with pytest.raises(ValueError, match="no column"):
        auto.fit(AirPassengersDF.drop(columns="y"))
    assert freqs == [None]
    auto.fit(AirPassengersDF.tail(1))
    assert freqs == [None, None, "ME"]


def test_columns_are_computed_for_the_models(tmp_path: Path) -> None:
    days = pd.date_range("2022-01-01", periods=912, freq="D")
    df = pd.DataFrame({"unique_id": "a", "ds": days, "y": [100.0 + 5 * (t % 7) + t * 7919 % 4 for t in range(912)]})
    free = foretell.features.compute(df, "holidays:US", freq="D")
    df.loc[free.iloc[:, -1].to_numpy() > 0, "y"] = 20.0
    # Of the next days the fifth is the fourth of July.
    past = df[df["ds"] < "2024-06-30"]
    auto = AutoForecaster(7, "D", models=["AutoARIMA"], features="holidays:US").fit(past)
    told = auto.predict()
    assert told["Auto"].iloc[4] < 40 < 90 < told["Auto"].iloc[3]
    pd.testing.assert_frame_equal(told, foretell.forecast(past, 7, "D", models=["AutoARIMA"], features="holidays:US"))
    auto.save(tmp_path / "models")
    loaded = AutoForecaster.load(tmp_path / "models")
    pd.testing.assert_frame_equal(loaded.predict(), told)
    assert loaded.fit(past).predict()["Auto"].iloc[4] < 40
    with pytest.warns(UserWarning, match="forecast with holidays:US until they are fitted again"):
        AutoForecaster.load(tmp_path / "models", features="weekday")


def test_arguments_that_there_are_not_are_told_with_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"forecast\(\) got an unexpected keyword argument 'levels': did you mean 'level'"):
        foretell.forecast(AirPassengersDF, h=3, levels=[80])
    with pytest.raises(TypeError, match="unexpected keyword argument 'baselines': expected one of df, h, freq"):
        foretell.forecast(AirPassengersDF, h=3, baselines=1)
    with pytest.raises(TypeError, match=r"AutoForecaster\(\) .* 'interger': did you mean 'integer'"):
        AutoForecaster(3, interger=True)
    with pytest.raises(TypeError, match=r"level must be a list of numbers, such as \[80\]; found 80"):
        foretell.forecast(AirPassengersDF, h=3, models="AutoETS", level=80)
    told = foretell.forecast(AirPassengersDF, h=3, models="AutoETS", level=np.array([80, 90]))
    assert list(told.columns[3:]) == ["Auto-lo-90", "Auto-lo-80", "Auto-hi-80", "Auto-hi-90"]


def test_advice_about_tables_leads_to_a_forecast() -> None:
    def made(df, **given):
        return foretell.forecast(df, h=3, freq="ME", models=["SeasonalNaive"], **given)

    expected = made(AirPassengersDF)["Auto"].tolist()
    with pytest.raises(ValueError, match=r'of one series alone give df.assign\(unique_id="series"\)'):
        made(AirPassengersDF.drop(columns="unique_id"))
    assert made(AirPassengersDF.assign(unique_id="series"))["Auto"].tolist() == expected
    series = AirPassengersDF.set_index("ds")["y"]
    with pytest.raises(ValueError, match="Series'>; of one with its times in the index give series.rename_axis"):
        made(series)
    assert made(series.rename_axis("ds").reset_index(name="y").assign(unique_id="series"))["Auto"].tolist() == expected
    with_region = AirPassengersDF.assign(region="x")
    with pytest.raises(ValueError, match="rename the column unique_id, which is one of these"):
        made(with_region, id_col=["region", "unique_id"])
    assert made(with_region.rename(columns={"unique_id": "line"}), id_col=["region", "line"])["Auto"].tolist() == expected
    # Rows that fill_gaps adds have no values.
    holes = AirPassengersDF.assign(y=AirPassengersDF["y"].where(AirPassengersDF.index != 40))
    with pytest.raises(ValueError, match=r"fill it in \(`df.groupby\(id_col\)\['y'\].ffill\(\)` does so; drop leading rows where the first value is missing\)"):
        made(holes)
    assert len(made(holes.assign(y=holes.groupby("unique_id")["y"].ffill()))) == 3


def test_a_future_that_lacks_rows_is_told_by_the_first_of_them() -> None:
    df = AirPassengersDF.assign(promo=AirPassengersDF.index % 3)
    future = df.tail(3).drop(columns="y")
    with pytest.warns(UserWarning), pytest.raises(ValueError, match=r"futr_df lacks 3 of the 3 rows that follow the series, .* unique_id 1.0, ds 1961-01-31"):
        foretell.forecast(df, h=3, freq="ME", models=["AutoARIMA"], futr_df=future)


def test_static_columns_of_numbers_are_read_without_being_named() -> None:
    statics = pd.DataFrame({"unique_id": [1.0], "size": [3.0], "region": ["x"], "open": [True], "since": [pd.Timestamp("1990-01-01")], "half": [np.nan]})
    with pytest.warns(UserWarning, match="static columns: size, open; stat_exog_list names others; what is not all known numbers is left out, .*: region, since, half"):
        foretell.forecast(AirPassengersDF, h=3, freq="ME", models=["SeasonalNaive"], static_df=statics)
    with pytest.warns(UserWarning, match="static_df is not read: stat_exog_list names none"):
        AutoForecaster(3, "ME", models=["SeasonalNaive"]).fit(AirPassengersDF, statics)
    auto = AutoForecaster(3, "ME", models=["SeasonalNaive"], stat_exog_list=["size"]).fit(AirPassengersDF, statics)
    pd.testing.assert_frame_equal(auto.predict(AirPassengersDF, static_df=statics), auto.predict())
    with pytest.raises(ValueError, match="static_df is missing: the models read the static columns size"):
        auto.predict(AirPassengersDF)
    # Neither is a forecast given the names of columns, nor is a second table.
    without = AirPassengersDF.drop(columns="unique_id")
    with pytest.raises(ValueError, match="; of one series alone give df.assign") as error:
        auto.predict(without, static_df=statics)
    assert "id_col" not in str(error.value)
    with pytest.raises(ValueError, match="static_df has no column unique_id") as error:
        auto.predict(AirPassengersDF, static_df=statics.drop(columns="unique_id"))
    assert "assign" not in str(error.value)


def test_saved_models_of_ids_that_unique_id_is_a_part_of_are_loaded(tmp_path: Path) -> None:
    df = AirPassengersDF.assign(region="x")
    auto = AutoForecaster(3, "ME", models="SeasonalNaive", id_col=["region", "line"]).fit(df.rename(columns={"unique_id": "line"}))
    auto.save(tmp_path / "model")
    # As earlier versions and the command wrote them.
    path = tmp_path / "model" / "configuration.json"
    saved = json.loads(path.read_text().replace("region,line", "region,unique_id"))
    del saved["foretell_crc32"]
    path.write_text(json.dumps(saved))
    again = AutoForecaster.load(tmp_path / "model")
    assert list(again.leaderboard()["model"]) == list(auto.leaderboard()["model"])
    # A table with both columns, and one of ids that were joined before, as forecasts are.
    expected = _frames.lists(auto.predict())
    assert expected["unique_id"][0] == "x/1"
    for told in (df, df.drop(columns="region").assign(unique_id="x/1")):
        assert _frames.lists(again.predict(told)) == expected
