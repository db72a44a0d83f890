"""Losses against what neuralforecast says of itself (fixtures/neuralforecast.json, written by compare/python_api.py)."""

import copy
import inspect
import json
import pathlib
import pickle

import numpy as np
import pytest

import foretell.losses
import foretell.losses.numpy as by_numpy
import foretell.losses.pytorch as losses
from foretell import NeuralForecast
from foretell.models import NLinear
from foretell.tsdataset import TimeSeriesDataset

FACTS = json.loads((pathlib.Path(__file__).parent / "fixtures" / "neuralforecast.json").read_text())
VALUES = FACTS["loss_values"]


def made(text):
    return eval(text, vars(losses))


@pytest.mark.parametrize("name", FACTS["losses"])
def test_signatures_are_neuralforecasts(name):
    parameters = inspect.signature(getattr(losses, name)).parameters
    expected = FACTS["losses"][name]
    assert list(parameters) == list(expected)
    for parameter in parameters.values():
        told = expected[parameter.name]
        assert parameter.kind.name == told["kind"]
        assert (parameter.default is inspect.Parameter.empty) == ("required" in told)
        if "value" in told:
            assert parameter.default == told["value"], parameter.name


@pytest.mark.parametrize("text", VALUES["losses"])
def test_outputs_are_neuralforecasts(text):
    loss, told = made(text), VALUES["losses"][text]
    assert loss.outputsize_multiplier == told["outputsize_multiplier"]
    assert loss.output_names == told["output_names"]


@pytest.mark.parametrize("text", [text for text, told in VALUES["losses"].items() if "plain" in told])
def test_values_are_neuralforecasts(text):
    loss, told = made(text), VALUES["losses"][text]
    arrays = {"y": VALUES["y"], "y_hat": told["y_hat"], "y_insample": VALUES["insample"]}
    assert loss(**arrays) == pytest.approx(told["plain"], rel=1e-6)
    if "masked" in told:
        assert loss(**arrays, mask=VALUES["mask"]) == pytest.approx(told["masked"], rel=1e-6)


def test_steps_count_by_their_weights_and_masked_ones_not_at_all():
    y, y_hat = np.zeros((1, 3, 1)), np.array([[[1.0], [2.0], [np.nan]]])
    mask = np.array([[[1], [1], [0]]])
    assert losses.MAE()(y, y_hat, mask) == 1.5
    assert losses.MAE(horizon_weight=[3, 1, 5])(y, y_hat, mask) == 1.25
    assert losses.MQLoss(quantiles=[0.5], horizon_weight=[3, 1, 5])(y, y_hat[..., None], mask=mask) == 0.625
    with pytest.raises(ValueError, match="horizon_weight has 2 weights, the values have 3 steps"):
        losses.MSE(horizon_weight=[1, 1])(y, y_hat)


def test_the_losses_that_differ_on_purpose_follow_the_engine():
    y, y_hat = np.array([[[0.0], [3.0]]]), np.array([[[1.0], [13.0]]])
    assert losses.TukeyLoss(c=2, normalize=False)(y, y_hat) == pytest.approx(4 / 6 * (1 - 0.75**3 + 1) / 2)
    insample = np.array([[1.0, 3.0]])
    inside = 1 - (1 - (1 / 1.01 / 4.685) ** 2) ** 3
    assert losses.TukeyLoss()(y, y_hat, insample) == pytest.approx(4.685**2 / 6 * (inside + 1) / 2)
    with pytest.raises(ValueError, match="give y_insample"):
        losses.TukeyLoss()(y, y_hat)
    assert losses.relMSE()(y, y_hat, y + 10) == pytest.approx(50.5 / 100, rel=1e-6)
    assert losses.Accuracy()(y, np.array([[[0.0], [4.0]]])) == 0.5
    # Pinball losses 0.5 and 5 of the median, doubled, summed over two steps, as a share of 3.
    assert losses.sCRPS(quantiles=[0.5])(y, y_hat[..., None]) == pytest.approx(2 * 5.5 / 3, rel=1e-5)


@pytest.mark.parametrize("text", VALUES["losses"])
def test_a_loss_goes_into_a_configuration_and_back(text):
    loss = made(text)
    spec = json.loads(json.dumps(loss.to_spec()))
    assert losses.loss_from_spec(spec) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss == copy.deepcopy(loss)
    assert eval(repr(loss), vars(losses)) == loss


def test_configurations_are_spelt_as_the_engine_reads_them():
    assert losses.MAE().to_spec() == "MAE"
    assert losses.MQLoss(level=(80, np.int64(95))).to_spec() == {"MQLoss": {"level": [80, 95]}}
    assert losses.HuberLoss(2.0).to_spec() == {"HuberLoss": {"delta": 2.0}}
    assert losses.MAE(horizon_weight=np.array([[1.0, 2.0]])).to_spec() == {"MAE": {"horizon_weight": [1.0, 2.0]}}
    assert losses.DistributionLoss("Tweedie", rho=1.5).to_spec() == {"DistributionLoss": {"distribution": "Tweedie", "rho": 1.5}}
    assert losses.HuberIQLoss(delta=2.0).to_spec() == {"HuberIQLoss": {"delta": 2.0}}


def test_losses_that_the_engine_lacks_are_refused_with_what_to_do():
    class Mine(losses.BasePointLoss):
        pass

    class Module:
        def forward(self): ...

        def parameters(self): ...

    with pytest.raises(TypeError, match="the engine does not know the loss Mine: .*docs/own-model.md"):
        losses.as_loss(Mine(), "loss")
    with pytest.raises(TypeError, match="valid_loss is the PyTorch module Module, .*docs/own-model.md"):
        losses.as_loss(Module(), "valid_loss")
    with pytest.raises(TypeError, match="loss is 3: expected a loss of foretell.losses"):
        losses.as_loss(3, "loss")
    with pytest.raises(ValueError, match="there is no distribution 'Gamma'"):
        losses.DistributionLoss("Gamma")
    with pytest.raises(ValueError, match="the arguments of the loss HuberLoss: .*detla"):
        losses.as_loss({"HuberLoss": {"detla": 1.0}}, "loss")


def test_both_modules_are_the_same():
    assert foretell.losses.MQLoss is losses.MQLoss


@pytest.mark.parametrize("case", FACTS["numpy_values"]["expected"])
def test_functions_on_arrays_are_neuralforecasts(case):
    given = {name: np.array(value) for name, value in FACTS["numpy_values"].items() if name != "expected"}
    y, y_hat, other = given["y"], given["y_hat"], given["other"]
    weights = given["weights"] if "weights=True" in case else None
    axis = 1 if case.endswith("axis=1") else None
    results = {name: getattr(by_numpy, name)(y, y_hat, weights, axis) for name in ["mae", "mse", "rmse", "mape", "smape"]}
    if axis is None:
        results["mase"] = by_numpy.mase(y, y_hat, other, 2, weights)
    results["rmae"] = by_numpy.rmae(y, y_hat, other, weights, axis)
    results["quantile_loss"] = by_numpy.quantile_loss(y, y_hat, 0.3, weights, axis)
    results["mqloss"] = by_numpy.mqloss(y, given["several"], given["quantiles"], weights, axis)
    expected = FACTS["numpy_values"]["expected"][case]
    for name, value in expected.items():
        np.testing.assert_allclose(results[name], value, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", FACTS["numpy_losses"])
def test_functions_have_neuralforecasts_arguments(name):
    assert list(inspect.signature(getattr(by_numpy, name)).parameters) == list(FACTS["numpy_losses"][name])


def test_levels_and_quantiles_that_come_twice_count_once():
    with pytest.warns(UserWarning, match="Duplicate levels detected"):
        assert len(losses.MQLoss(level=[80, 80]).quantiles) == 3
    with pytest.warns(UserWarning, match="Duplicate quantiles detected"):
        assert losses.MQLoss(quantiles=[0.1, 0.1, 0.5]).quantiles == [0.1, 0.5]


def test_a_layer_of_pytorch_is_refused_with_what_to_do():
    with pytest.raises(NotImplementedError, match=r"models with IQLoss\(cos_embedding_dim=64\)"):
        losses.QuantileLayer(10, 64)


def test_implicit_quantiles_are_chosen_afterwards():
    loss = losses.IQLoss()
    loss.update_quantile([0.7])
    assert loss.q == 0.7 and loss.output_names == ["_ql0.7"]


@pytest.mark.parametrize("text", [text for text in VALUES["losses"] if not text.startswith(("Accuracy", "sCRPS"))])
def test_the_engine_reads_them(text):
    from foretell import _foretell
    from foretell.models import NLinear

    model = NLinear(4, 8, loss=made(text), valid_loss=made(text))
    names = {"id_col": "unique_id", "time_col": "ds", "target_col": "y"}
    _foretell.Forecaster(json.dumps([model.to_spec()]), json.dumps(names))


def fitted(panel, loss, **settings):
    nf = NeuralForecast([NLinear(h=12, input_size=24, max_steps=1, loss=loss)], freq="ME", **settings)
    nf.fit(panel)
    return nf


#: Columns that neuralforecast 3.3 gives for quantiles=[0.3, 0.9], quantiles=[0.5] and level=[80].
ASKED = [
    ("DistributionLoss('Normal')", ["", "_ql0.3", "_ql0.9"], ["", "_ql0.5"], ["", "-lo-80", "-hi-80"]),
    ("GMM()", ["", "_ql0.3", "_ql0.9"], ["", "_ql0.5"], ["", "-lo-80", "-hi-80"]),
    ("IQLoss()", ["_ql0.3", "_ql0.9"], ["_ql0.5"], ["-lo-80", "-hi-80"]),
    ("HuberIQLoss()", ["_ql0.3", "_ql0.9"], ["_ql0.5"], ["-lo-80", "-hi-80"]),
]


@pytest.mark.parametrize("text, quantiles, median, level", ASKED)
def test_columns_of_quantiles_are_named_as_in_neuralforecast(panel, text, quantiles, median, level):
    nf = fitted(panel, made(text))
    for asked, suffixes in [({"quantiles": [0.9, 0.3]}, quantiles), ({"quantiles": [0.5]}, median), ({"level": [80]}, level)]:
        names = [f"NLinear{suffix}" for suffix in suffixes]
        assert nf.predict(**asked).columns.tolist()[2:] == names
        for validation in (nf.predict_insample(**asked), nf.cross_validation(panel, use_fitted=True, **asked)):
            assert validation.columns.tolist()[3:] == [*names, "y"]


def test_quantiles_of_cross_validations_are_those_asked_for(panel):
    nf = fitted(panel, losses.IQLoss())
    assert nf.cross_validation(panel, quantiles=[0.3]).columns.tolist()[3:] == ["NLinear_ql0.3", "y"]
    nf = fitted(panel, losses.MAE())
    with pytest.warns(UserWarning, match="with prediction_intervals and refit only"):
        assert nf.cross_validation(panel, use_fitted=True, level=[80]).columns.tolist()[3:] == ["NLinear", "y"]


FORECASTS = {
    "predict": lambda nf, panel: nf.predict(panel),
    "predict_insample": lambda nf, panel: nf.predict_insample(step_size=12),
    "cross_validation": lambda nf, panel: nf.cross_validation(panel, n_windows=2, use_init_models=True),
    "refit": lambda nf, panel: nf.cross_validation(panel, n_windows=2, refit=True, use_init_models=True),
    "use_fitted": lambda nf, panel: nf.cross_validation(panel, n_windows=2, use_fitted=True),
}


@pytest.mark.filterwarnings("ignore:Deleting previously fitted models")
@pytest.mark.parametrize("asked", FORECASTS)
def test_raw_quantiles_cross_in_all_forecasts(panel, asked):
    loss = losses.MQLoss(level=[20, 40, 60, 80])
    forecasts = [FORECASTS[asked](fitted(panel, loss, raw_quantiles=raw), panel) for raw in (False, True)]
    columns = [name for name in forecasts[0].columns if "-" in name]
    order = sorted(columns, key=lambda name: {"lo": -1, "hi": 1}.get(name.split("-")[1], 0) * float((name + "-0").split("-")[2]))
    tidy, raw = (frame[order].to_numpy() for frame in forecasts)
    assert (np.diff(tidy, axis=1) >= 0).all() and (np.diff(raw, axis=1) < 0).any()
    np.testing.assert_allclose(np.sort(raw, axis=1), tidy, rtol=1e-6)


def test_models_by_themselves_forecast_the_quantiles_of_known_steps(panel):
    dataset = TimeSeriesDataset.from_df(panel[["unique_id", "ds", "y"]])[0]
    model = NLinear(h=12, input_size=24, max_steps=1, loss=losses.IQLoss()).fit(dataset, test_size=12)
    assert model.predict(dataset).shape == (24, 1)
    assert model.predict(dataset, quantiles=[0.1, 0.9]).shape == (24, 2)
    with pytest.raises(TypeError, match="did you mean 'quantiles'"):
        model.predict(dataset, quantile=[0.1])
