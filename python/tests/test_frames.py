"""Tables in and out: every kind comes back as it went in, with the same forecasts."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import integer_panel

from foretell import ColumnError, NeuralForecast
from foretell.models import SeasonalNaive


def forecast(df, freq="ME", **names):
    nf = NeuralForecast([SeasonalNaive(h=3, season_length=12)], freq=freq)
    nf.fit(df, **names)
    return nf.predict()


class ArrowOnly:
    """A table of a library that nobody knows, with Arrow's interface."""

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

    monkeypatch.setattr(builtins, "__import__", without)
    assert len(forecast(panel)) == 6
