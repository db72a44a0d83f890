"""Models: neuralforecast's constructors, and what the engine is told."""

import copy
import inspect
import json
import pathlib
import pickle

import numpy as np
import pandas as pd
import pytest

import foretell
from foretell import _registry, models
from foretell.losses import GMM, MAE, DistributionLoss, HuberMQLoss, MQLoss, sCRPS
from foretell.utils import AirPassengersDF

FACTS = json.loads((pathlib.Path(__file__).parent / "fixtures" / "neuralforecast.json").read_text())
#: A wrapper of a network.
WRAPPERS = {"HINT"}


CRATES = pathlib.Path(__file__).parents[2] / "crates"
#: What models of folders of weights need: the folder, and sizes that fit it.
FOLDERS = {
    "Pretrained": {"folder": str(CRATES / "pretrained/tests/fixtures/fracast")},
    "TimeLLM": {"llm": str(CRATES / "language/tests/gpt2"), "d_llm": 32, "d_ff": 32},
}


def made(name, **arguments):
    """A model with the least arguments that it needs."""
    arguments = {**FOLDERS.get(name, {}), **arguments}
    cls = _registry.MODELS[name]
    needed = {"h": 4, "input_size": 16}
    required = {
        parameter.name
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }
    return cls(**{key: value for key, value in needed.items() if key in required}, **arguments)


def test_all_of_neuralforecasts_models_are_there():
    assert set(FACTS["models"]) <= set(models.__all__)
    assert set(FACTS["models"]) - WRAPPERS <= set(_registry.MODELS)


@pytest.mark.parametrize("name", sorted(set(FACTS["models"]) - WRAPPERS))
def test_signatures_begin_with_neuralforecasts(name):
    parameters = dict(inspect.signature(getattr(models, name)).parameters)
    told = FACTS["models"][name]
    positional = [p for p in parameters if parameters[p].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert positional == [p for p in told if p != "trainer_kwargs"]
    assert parameters["trainer_kwargs"].kind is inspect.Parameter.VAR_KEYWORD
    for parameter in positional:
        default = parameters[parameter].default
        if "value" in told[parameter]:
            assert default == told[parameter]["value"], parameter
        elif "class" in told[parameter]:
            assert type(default).__name__ == told[parameter]["class"]
        else:
            # The number of series is counted where it is not given.
            assert (default is inspect.Parameter.empty) == (parameter != "n_series")


@pytest.mark.parametrize("name", _registry.MODELS)
def test_defaults_are_left_to_the_engine(name):
    spec = json.loads(json.dumps(made(name).to_spec()))
    assert spec["model"] == name and spec["h"] == 4 and spec["alias"] is None
    assert set(spec["settings"]) <= {"input_size", *FOLDERS.get(name, {})}
    assert spec["exog"] == {"futr": [], "hist": [], "stat": []}


@pytest.mark.parametrize("name", _registry.MODELS)
def test_models_pickle_and_copy(name):
    model = made(name, alias="mine")
    for twin in [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]:
        assert twin.to_spec() == model.to_spec() and repr(twin) == str(twin) == "mine"


def test_settings_are_plain_values_of_json():
    model = models.NHITS(
        h=np.int64(12), input_size=24.0, mlp_units=((32, 32),) * 3, learning_rate=np.float32(0.5), max_steps=700.0,
        loss=MQLoss(level=[80]), valid_loss=HuberMQLoss(level=[80]), futr_exog_list=("price",), n_blocks=np.array([1, 2, 1]),
        scaler_type=None, optimizer="AdamW", optimizer_kwargs={"weight_decay": 0.1},
    )  # fmt: skip
    assert json.loads(json.dumps(model.to_spec())) == {
        "model": "NHITS",
        "alias": None,
        "h": 12,
        "settings": {
            "input_size": 24,
            "futr_exog_list": ["price"],
            "mlp_units": [[32, 32]] * 3,
            "n_blocks": [1, 2, 1],
            "loss": {"MQLoss": {"level": [80]}},
            "valid_loss": {"HuberMQLoss": {"level": [80]}},
            "max_steps": 700,
            "learning_rate": 0.5,
            "scaler_type": None,
            "optimizer": "AdamW",
            "optimizer_kwargs": {"weight_decay": 0.1},
        },
        "exog": {"futr": ["price"], "hist": [], "stat": []},
        "trainer": {},
        "precision": None,
        "threads": None,
    }


def test_attributes_that_users_read():
    model = models.LSTM(12, hist_exog_list=["visits"], recurrent=True, batch_size=16)
    assert (model.h, model.input_size, model.max_steps, model.RECURRENT, model.MULTIVARIATE) == (12, 36, 1000, True, False)
    assert model.hist_exog_list == ["visits"] and model.futr_exog_list == [] and model.stat_exog_list == []
    assert model.loss == MAE() == model.valid_loss
    assert model.hparams.batch_size == model.hparams["batch_size"] == model.valid_batch_size == 16
    assert model.EXOGENOUS_FUTR and not models.PatchTST.EXOGENOUS_FUTR
    assert models.TSMixer(4, 8, 3).n_series == 3 and models.TSMixer.MULTIVARIATE and model.n_series == 1
    assert models.DeepAR(4).loss.distribution == "StudentT" and models.DeepAR.RECURRENT


def test_widths_of_columns():
    lists = {"hist_exog_list": ["city", "visits"], "futr_exog_list": ["day"], "cat_exog_list": ["city", "day"]}
    cardinalities = {"city": 4, "day": 7}
    for rule, hist, futr in [(5, 6, 5), ("fastai", 5, 5), ("sqrt", 3, 3), ("half", 3, 4)]:
        model = models.MLP(4, 8, **lists, categorical_cardinalities=cardinalities, cat_emb_dim=rule)
        assert (model.hist_exog_size, model.futr_exog_size, model.stat_exog_size) == (hist, futr, 0)
    with pytest.raises(ValueError, match="give categorical_cardinalities, or cat_emb_dim a number"):
        models.MLP(4, 8, **lists).hist_exog_size


def test_each_model_has_a_module_of_its_name():
    from foretell.common._base_auto import BaseAuto
    from foretell.common.enums import TimeSeriesDatasetEnum
    from foretell.models.dilated_rnn import DilatedRNN
    from foretell.models.nhits import NHITS

    assert NHITS is models.NHITS and DilatedRNN is models.DilatedRNN and BaseAuto.__module__ == "foretell.auto._base"
    assert TimeSeriesDatasetEnum.Datetime == "ds"


def test_the_trainers_arguments():
    quiet = dict(
        accelerator="gpu", devices=1, logger=False, callbacks=[], enable_progress_bar=False, enable_checkpointing=False,
        enable_model_summary=False, num_sanity_val_steps=0, max_epochs=None,
    )  # fmt: skip
    model = models.MLP(4, 8, **quiet)
    plain = models.MLP(4, 8).to_spec()
    # They are kept for neuralforecast, and change nothing here.
    assert {**model.to_spec(), "trainer": {}} == plain and model.to_spec()["trainer"]["accelerator"] == "gpu"
    assert model.trainer_kwargs == quiet
    assert models.MLP(4, 8, precision="bf16-mixed").to_spec()["precision"] == "bf16"
    assert models.MLP(4, 8, precision=16).to_spec()["precision"] == "f16"
    assert models.MLP(4, 8, threads=2).to_spec()["threads"] == 2
    assert models.MLP(4, 8, accumulate_grad_batches=4).to_spec()["settings"]["accumulate_grad_batches"] == 4
    assert models.MLP(4, 8, gradient_clip_val=1.0).to_spec()["settings"]["gradient_clip_val"] == 1.0


@pytest.mark.parametrize("argument", [
    {"max_epochs": 3}, {"limit_train_batches": 0.5}, {"fast_dev_run": True}, {"min_steps": 5},
])  # fmt: skip
def test_what_would_change_the_result_is_an_error(argument):
    with pytest.raises(ValueError, match="would change the result.* instead"):
        models.MLP(4, 8, **argument)


def test_errors_say_what_to_do():
    with pytest.raises(TypeError, match="NHITS has no argument max_step; did you mean max_steps?"):
        models.NHITS(4, 8, max_step=3)
    with pytest.raises(ValueError, match='precision must be 32, "bf16-mixed" or "16-mixed"; found 64'):
        models.NHITS(4, 8, precision=64)
    with pytest.raises(ValueError, match="PatchTST reads no future columns, but futr_exog_list has price: leave"):
        models.PatchTST(4, 8, futr_exog_list=["price"])
    with pytest.raises(ValueError, match="h must be a whole number of steps of at least 1; found 0"):
        models.NHITS(0, 8)
    with pytest.raises(TypeError, match="optimizer is not a valid subclass of torch.optim.Optimizer for foretell: expected one of Adam, "):
        models.NHITS(4, 8, optimizer=object())
    with pytest.raises(TypeError, match="lr_scheduler is not a valid subclass of .*; found Module"):
        models.NHITS(4, 8, lr_scheduler="Module")
    with pytest.raises(ValueError, match="found val_monitor='train_loss'"):
        models.NHITS(4, 8, val_monitor="train_loss")
    with pytest.raises(ValueError, match=r"Categorical features \['city'\] must also be listed in"):
        models.MLP(4, 8, cat_exog_list=["city"])


def test_classes_of_optimisers_go_by_their_names():
    class AdamW:
        pass

    settings = models.NHITS(4, 8, optimizer=AdamW, lr_scheduler="StepLR", lr_scheduler_kwargs={"step_size": 9}).to_spec()["settings"]
    assert settings["optimizer"] == "AdamW" and settings["lr_scheduler"] == "StepLR"


@pytest.mark.parametrize("arguments, message, left", [
    ({"optimizer_kwargs": {"lr": 1}}, "ignoring optimizer_kwargs as the optimizer is not specified", {}),
    ({"lr_scheduler_kwargs": {"gamma": 1}}, "ignoring lr_scheduler_kwargs as the lr_scheduler is not specified", {}),
    (
        {"optimizer": "SGD", "optimizer_kwargs": {"lr": 1, "momentum": 0.5}}, "ignoring learning rate passed in optimizer_kwargs",
        {"optimizer": "SGD", "optimizer_kwargs": {"momentum": 0.5}},
    ),
    (
        {"lr_scheduler": "StepLR", "lr_scheduler_kwargs": {"optimizer": 1, "step_size": 9}}, "ignoring optimizer passed in lr_scheduler_kwargs",
        {"lr_scheduler": "StepLR", "lr_scheduler_kwargs": {"step_size": 9}},
    ),
])  # fmt: skip
def test_arguments_that_neuralforecast_ignores_are_ignored_with_a_warning(arguments, message, left):
    model = models.MLP(4, 8, **arguments)
    with pytest.warns(UserWarning, match=message):
        settings = model.to_spec()["settings"]
    assert settings == {"input_size": 8, **left}


def test_what_is_no_model_is_refused():
    class Module:
        def forward(self): ...

        def parameters(self): ...

    model, ensemble = models.Naive(h=4), models.Ensemble("weighted", n_windows=2)
    assert _registry.as_models((model, ensemble)) == [model, ensemble]
    for given, message in [
        ([Module()], r"models\[0\] is the PyTorch module Module, .*docs/own-model.md"),
        ([model, models.NHITS], r"models\[1\] is the class NHITS: make a model of it"),
        ([3], r"models\[0\] is 3: expected a model of foretell.models"),
        ("NHITS", "models must be a list of models"),
        (model, "models must be a list of models"),
    ]:
        with pytest.raises(TypeError, match=message):
            _registry.as_models(given)


@pytest.mark.parametrize("name", ["register_loss", "register_optimizer", "register_lr_scheduler"])
def test_what_users_register_in_neuralforecast_is_refused_when_it_is_called(name):
    with pytest.raises(NotImplementedError, match="docs/own-model.md"):

        @getattr(foretell, name)
        class Own:
            pass


def test_quantiles_of_validation_are_those_of_the_loss():
    sets = [
        (DistributionLoss("Normal", level=[80, 90]), DistributionLoss("Normal", level=[50]), True),
        (GMM(n_components=5, level=[80, 90]), sCRPS(level=[80, 90]), True),
        (MQLoss(level=[80, 90]), MQLoss(level=[90, 80]), True),
        (MQLoss(level=[80, 90]), MQLoss(level=[50]), False),
        (GMM(n_components=5, level=[80, 90]), sCRPS(level=[50]), False),
    ]
    for loss, valid_loss, fits in sets:
        if fits:
            model = models.NHITS(12, 24, loss=loss, valid_loss=valid_loss)
            # In neuralforecast a distribution is validated by itself, whatever is given.
            assert (model.valid_loss is loss) == valid_loss.is_distribution_output
        else:
            with pytest.raises(ValueError, match="quantiles .* do not match those of valid_loss"):
                models.NHITS(12, 24, loss=loss, valid_loss=valid_loss)


def test_ensembles():
    assert models.Ensemble().to_spec() == {"ensemble": "mean"} and repr(models.Ensemble()) == "EnsembleMean"
    assert models.Ensemble("weighted").to_spec() == {"ensemble": "weighted:3"}
    with pytest.raises(ValueError, match="combine must be one of mean, median, weighted; found 'max'"):
        models.Ensemble("max")
    with pytest.raises(ValueError, match="at least 2 windows"):
        models.Ensemble("weighted", n_windows=1)


def test_subclasses_are_the_models_that_they_extend():
    class Mine(models.NLinear):
        def __init__(self, h):
            super().__init__(h, 2 * h)

    assert Mine(3).to_spec()["model"] == "NLinear" and repr(Mine(3)) == "Mine"


@pytest.mark.parametrize("name", _registry.MODELS)
def test_the_engine_has_the_same_defaults(name):
    engine = pytest.importorskip("foretell._foretell")
    told = json.loads(engine.hyper_parameters(name, 4, 16))
    model = made(name)
    folders = FOLDERS.get(name, {})
    again = _registry.model_from_spec(name, {**told, **{key: None for key in ("futr_exog_list",) if not told.get(key)}, **folders})
    assert again.to_spec()["settings"].keys() <= {"input_size", "n_series", "futr_exog_list", *folders}
    assert again.h == model.h


@pytest.mark.parametrize("optimizer", ["NAdam", "Adamax", "Adagrad", "Adadelta"])
def test_further_optimisers_and_schedules_reach_the_engine(optimizer):
    for scheduler, arguments in (("ExponentialLR", {"gamma": 0.9}), ("MultiStepLR", {"milestones": [4, 8]}), ("LinearLR", None)):
        model = models.NLinear(h=2, input_size=4, optimizer=optimizer, lr_scheduler=scheduler, lr_scheduler_kwargs=arguments)
        settings = model.to_spec()["settings"]
        assert (settings["optimizer"], settings["lr_scheduler"]) == (optimizer, scheduler)


@pytest.mark.parametrize(("name", "longer"), [("mlp_units", [[8, 8, 8], [8, 8]]), ("n_blocks", [1, 1, 1, 1])])
def test_lists_that_are_longer_are_read_as_far_as_neuralforecast_reads_them(name, longer):
    small = {"h": 4, "input_size": 8, "max_steps": 1, "mlp_units": [[8, 8], [8, 8]], "n_blocks": [1, 1, 1]}

    def forecast(arguments):
        nf = foretell.NeuralForecast([models.NHITS(**arguments)], freq="ME")
        nf.fit(AirPassengersDF)
        return nf.predict()

    with pytest.warns(UserWarning, match=f"{name} has .* as in neuralforecast the first"):
        found = forecast({**small, name: longer})
    pd.testing.assert_frame_equal(found, forecast(small))
    with pytest.raises(ValueError, match=r"a list of \[inputs, outputs\]"):
        models.NHITS(**{**small, "mlp_units": [[8, 8], [8]]})
