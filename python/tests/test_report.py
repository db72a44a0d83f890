"""Reports on forecasts, as pages of HTML."""

import polars as pl
import pytest

import foretell
from foretell import ColumnError, NeuralForecast
from foretell.losses import MQLoss
from foretell.models import TFT, NLinear, SeasonalNaive
from foretell.utils import AirPassengersPanel

DATA = AirPassengersPanel[["unique_id", "ds", "y"]]


@pytest.fixture(scope="module")
def forecaster():
    models = [
        NLinear(h=12, input_size=24, max_steps=5, loss=MQLoss(level=[80]), learning_rate=0.0123),
        SeasonalNaive(h=12, season_length=12),
    ]
    nf = NeuralForecast(models, freq="ME")
    nf.fit(DATA)
    return nf


@pytest.fixture(scope="module")
def validation(forecaster):
    return forecaster.cross_validation(DATA, n_windows=2, step_size=12, use_fitted=True)


def test_a_report_tells_what_was_forecast_and_how_well(forecaster, validation):
    words = {"title": "Air <passengers>", "unit": "boxes", "freq": "ME"}
    page = foretell.report(DATA, forecaster.predict(), scores=validation, forecaster=forecaster, **words)
    assert page.startswith("<!DOCTYPE html>") and "<title>Air &lt;passengers&gt;</title>" in page
    # The models, their settings, the baseline beside them and a metric of intervals.
    for told in ("NLinear", "SeasonalNaive", "Airline1", "0.0123", "coverage", "a table of pandas", " boxes"):
        assert told in page, told
    assert "have come true" not in page


def test_a_report_takes_scores_by_whatever_they_are(validation):
    scores = [foretell.evaluate(validation, ["mae", "mase"], by, train_df=DATA) for by in ("all", "step", "cutoff", "series")]
    page = foretell.report(DATA, validation, scores=scores, baseline="NLinear", freq="ME")
    mae = scores[0].set_index("metric").loc["mae", "SeasonalNaive"]
    assert f"{mae:.2f}" in page
    with pytest.raises(ValueError, match="found some by unique_id, cutoff"):
        foretell.report(DATA, validation, scores=foretell.evaluate(validation, ["mae"], "window"), freq="ME")
    with pytest.raises(ValueError, match="baseline Naive: the scored models are NLinear, SeasonalNaive"):
        foretell.report(DATA, validation, scores=scores, baseline="Naive", freq="ME")


def test_a_report_of_polars_is_written_to_a_file(forecaster, validation, tmp_path):
    data, rows = pl.from_pandas(DATA), pl.from_pandas(validation)
    path = tmp_path / "report.html"
    assert foretell.report(data, rows, path, freq="ME") is None
    assert "a table of polars" in path.read_text(encoding="utf-8")
    # Nothing has come true of forecasts of the future.
    assert "None of the forecasts has come true" in str(foretell.report(data, pl.from_pandas(forecaster.predict()), freq="ME"))


def test_tables_without_forecasts_are_refused(validation):
    with pytest.raises(ColumnError, match="forecast_df has no column ds"):
        foretell.report(DATA, validation.drop(columns="ds"), freq="ME")
    with pytest.raises(ValueError, match="a column for each model beside y"):
        foretell.report(DATA, DATA, freq="ME")


def test_weights_behind_forecasts_are_told():
    nf = NeuralForecast([TFT(h=12, input_size=24, hidden_size=8, max_steps=2, hist_exog_list=["y_[lag12]"])], freq="ME")
    nf.fit(AirPassengersPanel)
    weights = nf.feature_importances()
    past = weights[0]["past"]
    assert weights[0]["model"] == "TFT" and past["steps"] == list(range(-23, 1))
    assert sum(column[-1] for column in past["columns"].values()) == pytest.approx(1.0, abs=1e-5)
    page = str(foretell.report(DATA, nf.predict(), importances=weights, freq="ME"))
    assert "y_[lag12]" in page and "observed_target" in page
    with pytest.raises(ValueError, match="importances: expected"):
        foretell.report(DATA, nf.predict(), importances=[{"a": 1}], freq="ME")


def test_models_without_weights_say_so(forecaster):
    with pytest.raises(ValueError, match="TFT"):
        forecaster.feature_importances()
