"""Tables in and out: every kind comes back as it went in, with the same forecasts."""

import datetime
import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import integer_panel

from foretell import ColumnError, NeuralForecast, _data, _foretell, _frames
from foretell.models import NHITS, SeasonalNaive
from foretell.utils import PredictionIntervals


def forecast(df, freq="ME", **names):
    nf = NeuralForecast([SeasonalNaive(h=3, season_length=12)], freq=freq)
    nf.fit(df, **names)
    return nf.predict()


class ArrowOnly:
    """A table of a library that no one knows, with Arrow's interface."""

    def __init__(self, table):
        self.columns, self._table = table.column_names, table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "kind, back",
    [
        (lambda df: df, pd.DataFrame),
        (pl.from_pandas, pl.DataFrame),
        (lambda df: pl.from_pandas(df).lazy(), pl.DataFrame),
        (pa.Table.from_pandas, pa.Table),
        (lambda df: pa.Table.from_pandas(df).to_reader(), pa.Table),
        (lambda df: ArrowOnly(pa.Table.from_pandas(df)), pa.Table),
    ],
)
def test_what_comes_out_is_of_the_kind_that_went_in(panel, kind, back):
    result = forecast(kind(panel))
    assert isinstance(result, back)
    as_pandas = result if back is pd.DataFrame else result.to_pandas()
    last_year = panel.groupby("unique_id").tail(12).groupby("unique_id").head(3)
    assert as_pandas.columns.tolist() == ["unique_id", "ds", "SeasonalNaive"]
    assert as_pandas["unique_id"].tolist() == last_year["unique_id"].tolist()
    assert as_pandas["SeasonalNaive"].tolist() == last_year["y"].tolist()
    months = ["1961-01-31", "1961-02-28", "1961-03-31"]
    assert as_pandas["ds"].dt.strftime("%Y-%m-%d").tolist() == months * 2


@pytest.mark.parametrize("id_type", ["object", "str", "category", "string"])
@pytest.mark.parametrize("time_type", ["datetime64[ns]", "datetime64[us]", "datetime64[s]", "datetime64[ns, Europe/Berlin]"])
def test_pandas_types_of_ids_and_times_come_back(id_type, time_type):
    times = pd.date_range("2024-01-01", periods=60, freq="h")
    times = times.tz_localize("Europe/Berlin") if "Berlin" in time_type else times
    df = pd.DataFrame({"unique_id": ["b"] * 60, "ds": times, "y": np.arange(60.0)})
    df = df.astype({"unique_id": id_type, "ds": time_type})
    result = forecast(df, freq="h")
    assert result.dtypes[["unique_id", "ds"]].tolist() == df.dtypes[["unique_id", "ds"]].tolist()
    assert result["ds"].iloc[0] == df["ds"].iloc[-1] + pd.Timedelta("1h")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "Int64", "Float64", "bool", "object", "double[pyarrow]"])
def test_pandas_types_of_values(dtype):
    df = integer_panel(1).assign(y=lambda df: (df["ds"] % 2).astype(dtype))
    nf = NeuralForecast([SeasonalNaive(h=2, season_length=2)], freq=1)
    nf.fit(df)
    assert nf.predict()["SeasonalNaive"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("time_type", [pl.Date, pl.Datetime("ms"), pl.Datetime("ns")])
def test_polars_types_come_back(time_type):
    times = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 3, 1), "1d", eager=True).cast(time_type)
    df = pl.DataFrame({"unique_id": ["a"] * len(times), "ds": times, "y": np.arange(len(times)) * 1.0})
    df = df.with_columns(pl.col("unique_id").cast(pl.Categorical))
    for freq in ["1d", "D"]:
        assert forecast(df, freq=freq).schema["ds"] == time_type
    assert forecast(df, freq="1d").schema["unique_id"] == pl.Categorical


def test_integer_ids_are_in_the_order_of_numbers():
    result = forecast(integer_panel(12), freq=1)
    assert result["unique_id"].tolist() == [series for series in range(12) for _ in range(3)]
    assert result["unique_id"].dtype == "int64" and result["ds"].dtype == "int64"
    assert result["ds"].tolist()[:3] == [40, 41, 42]


def test_columns_of_other_names(panel):
    renamed = panel.rename(columns={"unique_id": "shop", "ds": "month", "y": "sales"})
    result = forecast(renamed, id_col="shop", time_col="month", target_col="sales")
    assert result.columns.tolist() == ["shop", "month", "SeasonalNaive"]
    with pytest.raises(ColumnError, match="df has no column unique_id, ds, y; it has shop, month, sales"):
        forecast(renamed)
    with pytest.raises(KeyError):
        forecast(renamed)


@pytest.mark.parametrize("freq", ["ME", "M", "1mo", pd.offsets.MonthEnd()])
def test_frequencies(panel, freq):
    if freq == "1mo":
        panel["ds"] = panel["ds"] + pd.offsets.MonthBegin()
    assert len(forecast(panel, freq=freq)) == 6


def test_a_frequency_that_the_times_do_not_follow_gives_way(panel):
    with pytest.warns(UserWarning, match="freq is MS, but the times follow ME"):
        result = forecast(panel, freq="MS")
    assert result["ds"].tolist()[:2] == [pd.Timestamp("1961-01-31"), pd.Timestamp("1961-02-28")]


def test_mistakes_are_told_with_their_place(panel):
    panel.loc[5, "y"] = np.nan
    with pytest.raises(ValueError, match="row 5, column `y`"):
        forecast(panel)
    with pytest.raises(ValueError, match="expected a DataFrame of pandas or polars"):
        forecast([1, 2, 3])


def test_pandas_needs_no_pyarrow(panel, monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    # Without it pandas has texts as objects.
    panel = panel.astype({"unique_id": pd.StringDtype("python")})
    monkeypatch.setattr(builtins, "__import__", without)
    assert len(forecast(panel)) == 6


def arrow_texts(values):
    return pd.Series(values, dtype="string[pyarrow]")


def test_texts_of_arrow_are_read_from_parts_of_arrays(panel):
    parts = pd.concat([part.astype({"unique_id": "string[pyarrow]"}) for part in (panel.iloc[:100], panel.iloc[100:])])
    assert parts["unique_id"].array.__arrow_array__().num_chunks == 2
    expected = forecast(panel)
    for df in (parts, parts.iloc[10:].reset_index(drop=True)):
        found = forecast(df)
        assert found["unique_id"].dtype == df["unique_id"].dtype
        assert found["unique_id"].tolist() == expected["unique_id"].tolist()
        assert found.iloc[:, 2].tolist() == expected.iloc[:, 2].tolist()


def test_texts_of_arrow_may_lack_and_be_times(panel):
    ids, times = panel["unique_id"].tolist(), panel["ds"].dt.strftime("%Y-%m-%d").tolist()
    df = panel.assign(unique_id=arrow_texts(ids), ds=arrow_texts(times))
    assert forecast(df).iloc[:, 2].tolist() == forecast(panel).iloc[:, 2].tolist()
    df.loc[7, "unique_id"] = pd.NA
    with pytest.raises(ValueError, match="row 7, column `unique_id`"):
        forecast(df)


def test_names_of_columns_are_of_each_table_alone(panel):
    first = forecast(panel)
    first.columns.name = "mine"
    second = forecast(panel)
    assert second.columns.name is None and second.columns.tolist() == ["unique_id", "ds", "SeasonalNaive"]


def daily(ids=("a", "b"), n=40, start="2020-01-01", freq="D"):
    """A week's pattern for each id, with the number of the row as ``x``."""
    times = pd.date_range(start, periods=n, freq=freq)
    return pd.concat([pd.DataFrame({"unique_id": [id] * n, "ds": times, "y": np.arange(n) % 7 + 10.0, "x": np.arange(n)}) for id in ids], ignore_index=True)


def network(**columns):
    return NHITS(h=3, input_size=6, max_steps=1, mlp_units=[[8, 8]] * 3, **columns)


def weekly(df, freq="D", **names):
    nf = NeuralForecast([SeasonalNaive(h=3, season_length=7)], freq=freq)
    nf.fit(df, **names)
    return nf


def values(table, column):
    column = table[column]
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


KINDS = {
    "pandas": lambda df: df,
    "polars": pl.from_pandas,
    "pyarrow": lambda df: pa.Table.from_pandas(df, preserve_index=False),
}


@pytest.mark.parametrize("dtype", ["bool", "boolean", "category", "object", "bool[pyarrow]"])
def test_truth_values_as_ids_in_pandas(dtype):
    df = daily((False, True)).astype({"unique_id": dtype})
    nf = weekly(df)
    for table in (nf.predict(), nf.make_future_dataframe(), nf.cross_validation(df)):
        assert table["unique_id"].tolist() == [False] * 3 + [True] * 3
        assert table["unique_id"].dtype == df["unique_id"].dtype
    assert nf.uids.tolist() == [False, True]
    assert nf.predict().merge(df, on="unique_id")["unique_id"].value_counts().tolist() == [120, 120]


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_truth_values_as_ids_in_arrow(kind):
    df = KINDS[kind](daily((False, True)))
    nf = weekly(df)
    for table in (nf.predict(), nf.make_future_dataframe(), nf.cross_validation(df)):
        assert values(table, "unique_id") == [False] * 3 + [True] * 3
        assert type(table) is type(df)


def test_truth_values_as_ids_are_evaluated():
    from foretell import evaluate

    for kind in KINDS.values():
        df = kind(daily((False, True)))
        assert set(values(evaluate(weekly(df).cross_validation(df), ["mae"], by="series"), "unique_id")) == {False, True}


def test_dates_as_ids_in_polars():
    df = daily((datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)))
    found = weekly(pl.from_pandas(df)).predict()["unique_id"]
    assert found.dtype == pl.Date and found.to_list() == df["unique_id"].unique().repeat(3).tolist()


@pytest.mark.parametrize("ids", [(2, 10), (datetime.date(2020, 1, 2), datetime.date(2020, 1, 10)), ("a", 10), (2**70, 2**71)])
def test_objects_as_ids_come_back(ids):
    df = daily(ids).astype({"unique_id": object})
    nf = weekly(df)
    found = nf.predict()["unique_id"]
    assert set(found) == set(ids) and found.dtype == object and len(found) == 6
    assert {type(id) for id in found} == {type(id) for id in ids}
    assert len(nf.predict().merge(df, on="unique_id")) == 240
    if all(isinstance(id, int) for id in ids):
        assert found.tolist() == [ids[0]] * 3 + [ids[1]] * 3


def test_ids_that_differ_in_type_alone_are_refused():
    with pytest.raises(ValueError, match="column `unique_id`: .* two of different types with the text '1'"):
        weekly(daily((1, "1")).astype({"unique_id": object}))


@pytest.mark.filterwarnings("ignore:values that single precision")
@pytest.mark.parametrize("column", ["y", "x"])
def test_large_whole_numbers_are_not_negative(column):
    df = daily()
    df[column] = np.arange(80).astype("uint64") + np.uint64(2**63)
    model = network(scaler_type="standard", hist_exog_list=["x"])
    assert _frames.to_engine(df, "unique_id", "ds").column_names == ["unique_id", "ds", "y", "x"]
    as_polars, as_pandas = ([NeuralForecast([model], freq="D") for _ in range(2)])
    as_polars.fit(pl.from_pandas(df))
    as_pandas.fit(df)
    assert as_pandas.predict()["NHITS"].tolist() == as_polars.predict()["NHITS"].to_list()
    if column == "y":
        assert (weekly(df).predict()["SeasonalNaive"] > 9e18).all()


def test_large_whole_numbers_as_ids():
    df = daily((2**63, 2**64 - 1)).astype({"unique_id": "uint64"})
    found = weekly(df).predict()["unique_id"]
    assert set(found) == {2**63, 2**64 - 1} and found.dtype == "uint64"
    assert found.tolist() == weekly(pl.from_pandas(df)).predict()["unique_id"].to_list()


@pytest.mark.parametrize(
    "freq",
    [
        pd.offsets.CustomBusinessDay(holidays=["2020-02-27"]),
        pd.offsets.CustomBusinessDay(holidays=["2020-02-27"], weekmask="Mon Tue Thu Fri Sat"),
        pd.offsets.CustomBusinessDay(2, holidays=["2020-01-01"]),
        pd.offsets.CustomBusinessHour(start="08:00", end="12:00", holidays=["2020-01-15", "2020-01-16"]),
        pd.offsets.BusinessHour(start=["08:00", "13:00"], end=["12:00", "17:00"]),
        pd.DateOffset(days=1),
        pd.DateOffset(days=7),
        pd.DateOffset(2, weeks=1),
        pd.DateOffset(hours=6),
        pd.DateOffset(hours=1, minutes=30),
        pd.DateOffset(seconds=1),
        pd.DateOffset(months=1),
        pd.DateOffset(months=3),
        pd.DateOffset(years=1),
        pd.DateOffset(),
    ],
)
def test_offsets_of_pandas_step_as_in_pandas(freq):
    df = daily(("a",), freq=freq)
    last = pd.date_range(df["ds"].iloc[-1], periods=4, freq=freq)[1:]
    with warnings.catch_warnings():
        # No other frequency is guessed.
        warnings.simplefilter("error", UserWarning)
        assert weekly(df, freq=freq).predict()["ds"].tolist() == last.tolist()
        assert weekly(pl.from_pandas(df), freq=freq).predict()["ds"].to_list() == last.to_pydatetime().tolist()


def test_long_lists_of_holidays_do_not_fill_messages():
    freq = pd.offsets.CustomBusinessDay(holidays=pd.date_range("2000-01-03", periods=500, freq="7D"))
    df = daily(freq=freq)
    with pytest.raises(ValueError, match=r"by the frequency `C-1111100,2000-01-03,2000-01-10,2000-01-17,\.\.\. \(500 holidays\)`") as raised:
        weekly(df.drop(index=5), freq=freq)
    assert len(str(raised.value)) < 1000
    with pytest.warns(UserWarning, match=r"freq is C-1111100,.*\(500 holidays\), but the times follow D"):
        weekly(daily(), freq=freq)


def test_months_of_offsets_end_where_the_times_do():
    df = daily(("a",), freq=pd.offsets.MonthEnd())
    months = ["2023-05-31", "2023-06-30", "2023-07-31"]
    for ds in (df["ds"], df["ds"].dt.strftime("%Y-%m-%d"), df["ds"].dt.date, df["ds"].dt.to_period("M").dt.to_timestamp("M")):
        found = weekly(df.assign(ds=ds), freq=pd.DateOffset(months=1)).predict()["ds"]
        assert pd.to_datetime(found).dt.strftime("%Y-%m-%d").tolist() == months
    with pytest.raises(ValueError, match=r"freq: expected, for DateOffset\(months=1\), times that are all first days .*2020-01-15.*MS"):
        weekly(df.assign(ds=df["ds"].where(df.index != 0, pd.Timestamp("2020-01-15"))), freq=pd.DateOffset(months=1))
    for odd in (pd.DateOffset(day=1), pd.DateOffset(months=1, days=1), pd.DateOffset(days=-1)):
        with pytest.raises(ValueError, match="freq: expected a DateOffset forward by months and years, or by weeks"):
            weekly(df, freq=odd)


def with_future(kind, of_df=lambda df: df):
    nf = NeuralForecast([network(futr_exog_list=["x"])], freq="D")
    nf.fit(kind(of_df(daily())))
    return nf


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_tables_of_two_libraries_go_together(kind, other):
    nf = with_future(KINDS[kind])
    future = daily(n=3, start="2020-02-10")
    found, same = nf.predict(futr_df=KINDS[other](future)), nf.predict(futr_df=KINDS[kind](future))
    assert type(found) is type(KINDS[kind](future))
    assert values(found, "NHITS") == values(same, "NHITS")
    missing = nf.get_missing_future(KINDS[other](future.iloc[[0, 1, 3]]))
    assert type(missing) is type(KINDS[kind](future))
    assert values(missing, "unique_id") == ["a", "b", "b"]
    assert [time.day for time in values(missing, "ds")] == [12, 11, 12]
    with pytest.raises(ValueError, match="missing combinations of ids and times in `futr_df`"):
        nf.predict(futr_df=KINDS[other](future.iloc[:5]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_tables_to_train_may_be_of_two_libraries(kind, other):
    model = network(hist_exog_list=["x"], stat_exog_list=["s"])
    statics = pd.DataFrame({"unique_id": ["a", "b"], "s": [1.0, 2.0]})
    found = []
    for beside in (KINDS[kind], KINDS[other]):
        nf = NeuralForecast([model], freq="D")
        nf.fit(KINDS[kind](daily()), static_df=beside(statics), val_df=beside(daily(n=6, start="2020-02-10")))
        found.append(values(nf.predict(), "NHITS"))
    assert found[0] == found[1]


TIMES = {
    "times": lambda df: df,
    "nanoseconds": lambda df: df.astype({"ds": "datetime64[ns]"}),
    "texts": lambda df: df.assign(ds=df["ds"].dt.strftime("%Y-%m-%d")),
    "dates": lambda df: df.assign(ds=df["ds"].dt.date),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("known", TIMES)
def test_times_are_the_same_however_they_are_written(kind, known):
    nf = with_future(KINDS[kind], TIMES[known])
    future = daily(n=3, start="2020-02-10")
    expected = with_future(KINDS["pandas"]).predict(futr_df=future)["NHITS"].tolist()
    for written in TIMES.values():
        assert values(nf.predict(futr_df=KINDS[kind](written(future))), "NHITS") == expected
        late = written(daily(n=3, start="2020-02-11"))
        assert [time.day for time in values(nf.get_missing_future(KINDS[kind](late)), "ds")] == [10, 10]


def test_whole_numbers_as_times_of_two_libraries():
    df = daily().assign(ds=lambda df: df["x"])
    nf = NeuralForecast([network(futr_exog_list=["x"])], freq=1)
    nf.fit(df)
    future = pd.DataFrame({"unique_id": ["a"] * 3 + ["b"] * 3, "ds": [40, 41, 42] * 2, "x": range(6)})
    expected = nf.predict(futr_df=future)["NHITS"].tolist()
    for other in (pl.from_pandas(future), future.astype({"ds": "int8"}), future.assign(ds=future["ds"].astype(str))):
        assert nf.predict(futr_df=other)["NHITS"].tolist() == expected
    with pytest.raises(ValueError, match="futr_df, column `ds`: expected an integer, as df has there; found Timestamp"):
        nf.predict(futr_df=daily(n=3))


@pytest.mark.parametrize("kind", KINDS)
def test_a_future_of_other_types_is_told_in_words(kind):
    nf = with_future(KINDS[kind])
    future = daily(n=3, start="2020-02-10")
    with pytest.raises(ValueError, match="futr_df, column `ds`: expected times without a zone, as df has them; found times with one"):
        nf.predict(futr_df=KINDS[kind](future.assign(ds=future["ds"].dt.tz_localize("UTC"))))
    with pytest.raises(ValueError, match="missing combinations of ids and times in `futr_df`"):
        nf.predict(futr_df=KINDS[kind](future.assign(unique_id=[1] * 3 + [2] * 3)))
    with pytest.raises(ValueError, match='futr_df, column `ds`: "soon" is not a time'):
        nf.predict(futr_df=KINDS[kind](future.assign(ds="soon")))
    with pytest.raises(ValueError, match="futr_df, column `ds`: expected a time such as 2024-12-31, as df has there; found 1"):
        nf.predict(futr_df=KINDS[kind](future.assign(ds=[1, 2, 3] * 2)))
    with pytest.raises(ColumnError, match="futr_df has no column ds"):
        nf.get_missing_future(KINDS[kind](future.drop(columns="ds")))


def test_ids_of_a_future_are_the_same_however_they_are_typed():
    future = daily((1, 2), n=3, start="2020-02-10")
    nf = NeuralForecast([network(futr_exog_list=["x"])], freq="D")
    nf.fit(daily((1, 2)))
    expected = nf.predict(futr_df=future)["NHITS"].tolist()
    for dtype in ("str", "category", "int8", "object"):
        assert nf.predict(futr_df=future.astype({"unique_id": dtype}))["NHITS"].tolist() == expected


class StreamOnly:
    """A table that has Arrow's interface, and nothing that tells its columns."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_a_table_that_does_not_tell_its_columns():
    df = KINDS["pyarrow"](daily())
    assert weekly(StreamOnly(df)).predict().equals(weekly(df).predict())
    found = with_future(lambda df: StreamOnly(pa.Table.from_pandas(df))).predict(futr_df=StreamOnly(KINDS["pyarrow"](daily(n=3, start="2020-02-10"))))
    assert found.num_rows == 6
    with pytest.raises(ColumnError, match="df has no column y; it has unique_id, ds, x"):
        weekly(StreamOnly(df.drop_columns("y")))
    assert weekly(df.combine_chunks().to_batches()[0]).predict().equals(weekly(df).predict())


@pytest.mark.parametrize("nonsense", [pd.Series([1.0]), pl.Series([1.0]), pa.array([1.0]), np.zeros((2, 3)), {"y": [1]}, "y"])
def test_what_is_no_table_is_told_in_words(nonsense):
    with pytest.raises(ValueError, match="expected a DataFrame of pandas or polars, .*; got: "):
        weekly(nonsense)


def test_features_are_there_without_an_import_of_their_own():
    script = "import foretell, pandas; df = pandas.DataFrame({'unique_id': 'a', 'ds': range(9), 'y': 1.0}); print(list(foretell.features.compute(df, 'lag:7')))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "['unique_id', 'ds', 'lag_7']"


def test_two_columns_of_a_name_are_told():
    df = daily()
    twice = pd.concat([df, df[["y"]]], axis=1)
    for table in (twice, pa.Table.from_arrays([pa.array(df[name]) for name in [*df, "y"]], names=[*df, "y"])):
        with pytest.raises(ValueError, match="df: expected one column `y`, found 2"):
            weekly(table)
    assert len(weekly(pd.concat([df, df[["x"]]], axis=1)).predict()) == 6
    with pytest.raises(ValueError, match="df: expected one column `x`, found 2"):
        with_future(KINDS["pandas"], lambda df: pd.concat([df, df[["x"]]], axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_truth_values_are_numbers(kind):
    df = daily().assign(y=lambda df: df["y"] > 12, x=lambda df: df["x"] % 2 == 0)
    assert values(weekly(KINDS[kind](df)).predict(), "SeasonalNaive") == [1.0, 1.0, 0.0] * 2
    nf = NeuralForecast([network(futr_exog_list=["x"])], freq="D")
    nf.fit(KINDS[kind](df))
    future = daily(n=3, start="2020-02-10").assign(x=[True, False, True] * 2)
    as_numbers = nf.predict(futr_df=future.astype({"x": "float64"}))
    assert values(nf.predict(futr_df=KINDS[kind](future)), "NHITS") == values(as_numbers, "NHITS")


def broken():
    return daily().assign(y=lambda df: df["y"].where(df.index != 5))


def reading(columns=("x",)):
    return _data.Reading("D", list(columns), [])


def test_mistakes_of_static_tables_are_told_as_theirs():
    names = _data.Names("unique_id", "ds", "y")
    for statics, told in [
        ({"unique_id": ["a", "b", "b"], "s": [1, 2, 3]}, "static_df, row 2: series `b` appears twice"),
        ({"unique_id": ["a"], "s": [1]}, "static_df lacks 1 of the series of df: `b`"),
        ({"id": ["a"], "s": [1]}, "static_df has no column unique_id; it has id, s"),
    ]:
        with pytest.raises(ValueError, match=told):
            _data.read(daily(), pd.DataFrame(statics), names, reading())
    with pytest.raises(ValueError, match=": df, row 5, column `y`.*missing; fill it in"):
        _data.read(broken(), pd.DataFrame({"unique_id": ["a", "b"], "s": [1, 2]}), names, reading())
    data = _data.read(daily(), pd.DataFrame({"unique_id": ["a", "b"], "s": [1, np.nan]}), names, reading())
    models = json.dumps([network(stat_exog_list=["s"]).to_spec()])
    with pytest.raises(ValueError) as raised:
        _foretell.Forecaster(models, json.dumps(vars(names))).fit(data.panel)
    assert str(data.reworded(raised.value, "df")) == (
        "Found missing values in ['s']: static_df, row 1, column `s`: \"NaN\" is missing; write one value for each series"
    )


def test_columns_that_are_missing_are_told_with_their_table():
    names = _data.Names("unique_id", "ds", "y")
    with pytest.raises(ColumnError, match="val_df has no column `x`; it has unique_id, ds, y; add the column"):
        _data.read(daily().drop(columns="x"), None, names, reading(), "val_df")
    with pytest.raises(ValueError, match=": val_df, row 5, column `y`"):
        _data.read(broken(), None, names, reading(), "val_df")


def test_steps_that_pandas_read_as_nanoseconds_are_steps_of_the_frequency():
    """As a tutorial of neuralforecast reads the steps of M4."""
    steps = np.tile(np.arange(1, 61), 2)
    df = pd.DataFrame({"unique_id": np.repeat(["a", "b"], 60), "ds": pd.to_datetime(steps).astype("datetime64[ns]"), "y": np.sin(steps)})
    nf = NeuralForecast([NHITS(h=6, input_size=12, max_steps=2)], freq="ME")
    with pytest.warns(UserWarning, match="whole numbers that were read as nanoseconds, from 1 to 60; .* steps of freq='ME' from 1970-01-31"):
        nf.fit(df)
    months = df.assign(ds=pd.date_range("1970-02-28", periods=60, freq="ME").to_numpy()[steps - 1])
    same = NeuralForecast([NHITS(h=6, input_size=12, max_steps=2)], freq="ME")
    same.fit(months)
    pd.testing.assert_frame_equal(nf.predict().astype({"ds": "datetime64[us]"}), same.predict().astype({"ds": "datetime64[us]"}))
    assert nf.predict(months)["ds"].iloc[0] == pd.Timestamp("1975-02-28")
    # Followed, the advice keeps the numbers.
    numbers = NeuralForecast([NHITS(h=6, input_size=12, max_steps=2)], freq=1)
    numbers.fit(df.assign(ds=steps))
    assert numbers.predict()["ds"].tolist()[:6] == list(range(61, 67))
    # Times with a zone are no such steps.
    with_zone = df.assign(ds=df["ds"].dt.tz_localize("UTC"))
    for other in (df.assign(ds=df["ds"] + pd.Timedelta("1s")), df.assign(ds=df["ds"] - pd.Timedelta("30ns")), with_zone):
        with pytest.raises(ValueError, match="finer than a microsecond"):
            nf.fit(other)


@pytest.mark.parametrize("made", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_ids_with_a_decimal_point_come_in_the_order_of_numbers(made):
    df = pd.concat(integer_panel(1).assign(unique_id=id) for id in (10.0, 2.0, 1.5))
    nf = NeuralForecast([NHITS(h=3, input_size=6, max_steps=1)], freq=1, local_scaler_type="standard")
    nf.fit(made(df), prediction_intervals=PredictionIntervals(n_windows=2))
    for table in (nf.predict(), nf._cs_df):
        assert list(dict.fromkeys(_frames.lists(table)["unique_id"])) == [1.5, 2.0, 10.0]


def test_advice_for_missing_values_is_of_the_table_that_has_them():
    df = integer_panel(1)
    later = df.tail(5).assign(ds=df["ds"].tail(5) + 5, y=[1.0, float("nan"), 2.0, 3.0, 4.0])
    nf = NeuralForecast([SeasonalNaive(h=3, season_length=5)], freq=1)
    with pytest.raises(ValueError, match=r"`val_df.groupby\(id_col\)\['y'\].ffill\(\)` does so; drop leading rows where the first value is missing\)"):
        nf.fit(df, val_df=later)
    for other in (pl.from_pandas(later), pa.Table.from_pandas(later)):
        with pytest.raises(ValueError, match="is missing; fill it in, or add a column"):
            nf.fit(other)
