"""What arguments may be, and in which words a wrong one is told."""

import re

import pandas as pd
import pytest

import foretell
from foretell import NeuralForecast
from foretell.errors import saying
from foretell.losses import IQLoss
from foretell.models import NHITS, NLinear
from foretell.utils import AirPassengersPanel, PredictionIntervals

DATA = AirPassengersPanel[["unique_id", "ds", "y"]]
CALL = re.escape("`fit(df, prediction_intervals=PredictionIntervals(n_windows=10))`")


def nlinear(**arguments):
    return NLinear(**{"h": 12, "input_size": 24, "max_steps": 2, **arguments})


@pytest.fixture(scope="module")
def nf():
    forecaster = NeuralForecast([nlinear()], freq="ME")
    forecaster.fit(DATA)
    return forecaster


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("predict", {"levels": [80]}, r"predict\(\) got an unexpected keyword argument 'levels': did you mean 'level'\?"),
        ("predict", {"num_worker": 2}, "did you mean 'num_workers'"),
        ("predict", {"xyz": 2}, "unexpected keyword argument 'xyz': expected one of df, static_df, futr_df"),
        ("cross_validation", {"n_window": 3}, "did you mean 'n_windows'"),
        ("simulate", {"paths": 3}, "did you mean 'n_paths'"),
        ("explain", {"horizon": [1]}, "did you mean 'horizons'"),
    ],
)
def test_misspelt_arguments_are_refused(nf, method, arguments, message):
    with pytest.raises(TypeError, match=message):
        getattr(nf, method)(**arguments)


def test_arguments_of_the_data_loader_are_passed_over(nf):
    expected = nf.predict()
    pd.testing.assert_frame_equal(nf.predict(num_workers=2, pin_memory=True, random_seed=3), expected)
    assert len(nf.cross_validation(DATA, use_fitted=True, batch_size=8, shuffle=False)) == 24


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda nf: nf.fit(DATA, val_size=-4), "val_size must be a whole number of at least 0; found -4"),
        (lambda nf: nf.cross_validation(DATA, refit=-1), "refit must be .* at least 0; found -1"),
        (lambda nf: nf.cross_validation(DATA, n_windows=0), "n_windows must be .* at least 1; found 0"),
        (lambda nf: nf.cross_validation(DATA, step_size=0), "step_size must be .* at least 1; found 0"),
        (lambda nf: nf.cross_validation(DATA, n_windows=None, test_size=6), "test_size must be at least the steps of a forecast, h = 12; found 6"),
        (lambda nf: nf.predict_insample(step_size=-1), "step_size must be .* at least 1; found -1"),
        (lambda nf: nf.simulate(seed=-1), "seed must be .* at least 0; found -1"),
        (lambda nf: nf.make_future_dataframe(h=-1), "h must be .* at least 1; found -1"),
        (lambda nf: nf.make_future_dataframe(h=0), "h must be .* at least 1; found 0"),
        (lambda nf: NeuralForecast([nlinear()], freq="ME", threads=-1), "threads must be .* at least 0; found -1"),
        (lambda nf: PredictionIntervals(n_windows=2.5), "n_windows must be a whole number; found 2.5"),
        (lambda nf: PredictionIntervals(step_size=1.5), "step_size must be a whole number; found 1.5"),
        (lambda nf: nf.predict(level=[80]), rf"calibrate them, with the training \({CALL}\), or train with a loss"),
        (lambda nf: nf.fit(pd.concat([DATA, DATA.tail(1)])), re.escape("`df.groupby([id_col, time_col], as_index=False).sum()`")),
        (lambda nf: foretell.evaluate(DATA, ["mae"]), "^df has no column of forecasts"),
    ],
)
def test_wrong_values_are_told_by_the_name_of_their_argument(nf, call, message):
    with pytest.raises(ValueError, match=message):
        call(nf)


@pytest.mark.parametrize("intervals", [10, {"n_windows": 4}])
def test_intervals_are_an_object(nf, intervals):
    for train in (nf.fit, nf.cross_validation):
        with pytest.raises(TypeError, match=r"must be a PredictionIntervals, such as PredictionIntervals\(n_windows=10\); found"):
            train(DATA, prediction_intervals=intervals)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_steps": -1}, "max_steps must be a whole number of at least 0, like its default 1000, found -1"),
        ({"random_seed": None}, "random_seed must be a whole number of at least 0, like its default 1, found None"),
        ({"learning_rate": "0.1"}, 'learning_rate must be a number, like its default 0.001, found "0.1"'),
        ({"start_padding_enabled": "yes"}, 'start_padding_enabled must be True or False, like its default False, found "yes"'),
    ],
)
def test_wrong_hyper_parameters_are_told_in_words(arguments, message):
    with pytest.raises(ValueError, match=f"^NLinear: hyper-parameter {message}$"):
        NeuralForecast([nlinear(**arguments)], freq="ME").fit(DATA)


def test_errors_have_their_facts_as_attributes():
    with pytest.raises(ValueError) as error:
        NeuralForecast([nlinear(max_steps=-1)], freq="ME").fit(DATA)
    facts = error.value
    assert (facts.code, facts.setting, facts.message) == ("hyper_parameter_value", "max_steps", str(facts))
    assert (facts.file, facts.row, facts.column, facts.series, facts.advice) == (None,) * 5


def test_errors_of_tables_keep_their_facts_in_other_words():
    with pytest.raises(ValueError) as error:
        NeuralForecast([nlinear()], freq="ME").fit(DATA.drop(index=5))
    facts = error.value
    assert (facts.code, facts.series, facts.message) == ("gap", "Airline1", str(facts))


def test_the_advice_of_an_error_in_other_words_is_its_end():
    error = ValueError("the record batches: none; give it; or not")
    error.message, error.advice, error.code = str(error), "give it; or not", "none"
    said = saying(error, "df: none; give it as train_df; or not")
    assert (said.message, said.advice, said.code) == (str(said), "give it as train_df; or not", "none")
    assert vars(saying(ValueError("no facts"), "none")) == {}


def test_warnings_of_intervals_are_pythons_words():
    nf = NeuralForecast([nlinear(), nlinear(loss=IQLoss(), alias="Quantiles")], freq="ME")
    nf.fit(DATA)
    with pytest.warns(UserWarning, match=rf"calibrate them, with the training \({CALL}\), or train"):
        nf.predict(level=[80])


def test_one_metric_needs_no_list(nf):
    scored = nf.cross_validation(DATA, use_fitted=True)
    pd.testing.assert_frame_equal(foretell.evaluate(scored, "mae"), foretell.evaluate(scored, ["mae"]))


@pytest.mark.parametrize(("name", "hint"), [("feature_importances", "feature_importances()"), ("save", "save(path")])
def test_what_a_model_does_not_have_is_said_with_what_does(nf, name, hint):
    with pytest.raises(AttributeError, match=re.escape(f"'NLinear' object has no attribute '{name}': NeuralForecast.{hint}")):
        getattr(nf.models[0], name)
    with pytest.raises(AttributeError, match="no attribute 'stpes'$"):
        nf.models[0].stpes


def test_models_have_the_losses_of_their_training():
    nf = NeuralForecast([NHITS(h=12, input_size=24, max_steps=3)], freq="ME")
    nf.fit(DATA, val_size=12)
    model = nf.models[0]
    assert model.val_size == 12 and set(model.metrics) == {"train_loss", "ptl/val_loss", "valid_loss"}
    assert model.metrics["train_loss"] == pytest.approx(model.train_trajectories[-1][1])
    # As tensors of one element are read.
    assert model.metrics["valid_loss"].cpu().item() == float(model.metrics["ptl/val_loss"])
