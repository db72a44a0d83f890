"""Automatic models: neuralforecast's constructors and spaces, and searches with a loss that is known."""

import copy
import inspect
import json
import pathlib
import pickle
import random

import pandas as pd
import pytest

from foretell import NeuralForecast, auto, models, tune
from foretell.auto._ray import for_ray
from foretell.losses import MAE, MSE, DistributionLoss

FACTS = json.loads((pathlib.Path(__file__).parent / "fixtures" / "neuralforecast.json").read_text())
#: It wraps any network, and has no default space.
WRAPPER = "AutoHINT"
AUTOS = [name for name in FACTS["auto"] if name.startswith("Auto") and name != WRAPPER]


def told(value):
    """A domain as the fixture has ray.tune's."""
    if isinstance(value, tune.Choice):
        return ["choice", value.categories]
    if isinstance(value, tune.RandInt):
        return ["randint", value.lower, value.upper]
    if isinstance(value, tune.Float) and value.q:
        return ["quniform", value.lower, value.upper, value.q]
    if isinstance(value, tune.Float):
        return ["loguniform" if value.log else "uniform", value.lower, value.upper]
    return value


@pytest.mark.parametrize("name", AUTOS)
def test_default_spaces_are_neuralforecasts(name):
    space = getattr(auto, name).get_default_config(h=12, backend="ray", n_series=2)
    expected = FACTS["spaces"][name]
    # neuralforecast leaves the place of n_series empty in spaces for Ray.
    assert {key: told(value) for key, value in space.items() if key != "n_series"} == {
        key: value for key, value in expected.items() if key != "n_series"
    }
    assert ("n_series" in space) == ("n_series" in expected)


@pytest.mark.parametrize("name", [*AUTOS, WRAPPER])
def test_arguments_are_neuralforecasts(name):
    assert list(inspect.signature(getattr(auto, name)).parameters) == list(FACTS["auto"][name])


@pytest.mark.parametrize("name", AUTOS)
def test_default_spaces_make_models_for_both_backends(name):
    cls = getattr(auto, name)
    sizes = {"n_series": 2} if cls._model.MULTIVARIATE else {}
    for backend in ["ray", "optuna"]:
        model = cls(h=16, backend=backend, config=cls.get_default_config(16, backend, **sizes), num_samples=1, **sizes)
        best = model.search(lambda model, val_size: {"loss": 1.0, "train_loss": 1.0})
        assert isinstance(best, cls._model) and best.h == 16 and best.input_size >= 16
        json.dumps(best.to_spec())
        assert repr(best) == name and model.to_spec() == best.to_spec()


def search(config=None, loss=lambda model: abs(model.max_steps - 30), **arguments):
    """A search among models of one layer, whose loss is that of a function of the model."""
    config = config or {"input_size": 8, "max_steps": tune.choice([10, 20, 30, 40])}
    model = auto.AutoNLinear(4, config=config, **{"num_samples": 12, **arguments})
    model.search(lambda trial, val_size: {"loss": loss(trial), "train_loss": 0.5})
    return model


def test_the_best_configuration_is_kept():
    model = search()
    assert model.model.max_steps == 30 and model.model.loss == MAE()
    assert len(model.results) == 12
    best = model.results.get_best_result()
    assert best.config["max_steps"] == 30 and best.metrics == {"loss": 0, "train_loss": 0.5}
    # A configuration makes the model, as Ray's with neuralforecast.
    assert models.NLinear(**best.config).to_spec() == {**model.model.to_spec(), "alias": None}
    assert model.results.get_best_result(metric="loss", mode="min") is best and best.metrics_dataframe["loss"].tolist() == [0]
    assert model.results.get_best_result(mode="max").value == max(trial.value for trial in model.results)
    with pytest.raises(ValueError, match="one of loss, train_loss"):
        model.results.get_best_result(metric="mae")
    assert model.results.best_trial is best and model.results.best_params["max_steps"] == 30 and model.results.best_value == 0
    assert model.results.get_dataframe()["loss"].min() == 0
    assert set(model.results.trials_dataframe()["params_max_steps"]) <= {10, 20, 30, 40}


def test_equal_seeds_try_the_same():
    tried = [[trial.config for trial in search(search_alg=auto.RandomSearch(seed)).results] for seed in [1, 1, 2]]
    assert tried[0] == tried[1] != tried[2]


def test_steps_are_held_out():
    sizes = []
    model = auto.AutoNLinear(4, num_samples=1)
    for val_size in [0, 7]:
        model.search(lambda model, held_out: sizes.append(held_out) or {"loss": 1.0, "train_loss": 1.0}, val_size)
    assert sizes == [4, 7]
    assert not model.refit_with_val
    assert auto.AutoNLinear(4, config={"input_size": 8, "early_stop_patience_steps": 2}).refit_with_val


def test_grids_are_gone_through_for_each_draw():
    config = {"input_size": 8, "max_steps": tune.grid_search([10, 20]), "learning_rate": tune.grid_search([0.1, 0.2, 0.3])}
    model = search(config, num_samples=2)
    found = [(trial.config["max_steps"], trial.config["learning_rate"]) for trial in model.results]
    assert found == 2 * [(a, b) for a in [10, 20] for b in [0.1, 0.2, 0.3]]


def test_configurations_that_cannot_be_trained_are_passed_over():
    def loss(model):
        if model.max_steps < 25:
            raise (ValueError if model.max_steps == 10 else RuntimeError)("the series are too short")
        return float("nan") if model.max_steps == 40 else 2.0

    model = search(loss=loss)
    assert model.model.max_steps == 30 and model.results.errors
    assert set(model.results.trials_dataframe()["state"]) == {"COMPLETE", "FAIL"}
    with pytest.raises(RuntimeError, match="none of 12 configurations could be trained; the last one: too short"):
        search(loss=lambda model: (_ for _ in ()).throw(ValueError("too short")))


def test_a_function_of_a_trial():
    def config(trial):
        depth = trial.suggest_int("depth", 1, 3)
        return {
            "input_size": 4 * depth,
            "max_steps": trial.suggest_categorical("max_steps", [10, 30]),
            "learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-1, log=True),
        }

    model = search(config, backend="optuna", loss=lambda model: model.max_steps + model.input_size, num_samples=40)
    assert (model.model.max_steps, model.model.input_size) == (10, 4)
    assert all(1e-4 <= trial.config["learning_rate"] <= 1e-1 for trial in model.results)


def test_the_look_at_a_function_is_no_trial():
    numbers = []

    def config(trial):
        numbers.append(trial.number)
        return {"input_size": 8}

    search(config, backend="optuna", loss=lambda model: 0.0, num_samples=2)
    assert numbers == [-1, 0, 1]


def test_callbacks_see_every_trial_and_time_may_run_out():
    seen = []
    search(callbacks=[lambda results, trial: seen.append((len(results), trial.number)), object()])
    assert seen == [(i + 1, i) for i in range(12)]
    assert len(search(time_budget=-1.0).results) == 1


def test_multiples_of_the_horizon_become_sizes():
    model = search({**auto.AutoNLinear.default_config, "max_steps": 30}, num_samples=30)
    assert {trial.config["input_size"] for trial in model.results} == {4, 8, 12, 16, 20}


def test_multivariate_models_have_the_number_of_series():
    for backend, config in [("ray", {"input_size": 8}), ("optuna", lambda trial: {"input_size": 8}), ("ray", None)]:
        model = auto.AutoTSMixer(4, n_series=3, config=config, backend=backend, num_samples=1)
        assert model.search(lambda model, val_size: {"loss": 0.0, "train_loss": 0.0}).n_series == 3
    assert model.MULTIVARIATE


def test_any_model_may_be_searched_for():
    model = auto.BaseAuto(models.MLP, 4, MSE(), None, {"input_size": 8, "hidden_size": tune.choice([8, 16])}, alias="mine")
    assert repr(model.search(lambda model, val_size: {"loss": model.hidden_size, "train_loss": 0.0})) == "mine"
    assert model.model.hidden_size == 8 and model.model.loss == model.model.valid_loss == MSE()
    assert auto.AutoDeepAR(4).loss == DistributionLoss("StudentT")


def test_columns_are_told_before_and_after():
    model = auto.AutoNHITS(4, config={"input_size": 8, "futr_exog_list": ["price"]}, num_samples=1)
    assert model.futr_exog_list == ["price"] and model.hist_exog_list == []
    model.search(lambda model, val_size: {"loss": 0.0, "train_loss": 0.0})
    assert model.futr_exog_list == ["price"] and model.to_spec()["exog"]["futr"] == ["price"]


@pytest.mark.parametrize("arguments, error, message", [
    ({"config": lambda trial: {}}, ValueError, "provide a dict as `config` when using `backend='ray'`"),
    ({"config": {}, "backend": "optuna"}, ValueError, "provide a function .* when using `backend='optuna'`"),
    ({"backend": "grid"}, ValueError, "Unknown backend grid"),
    ({"config": {"h": 3, "input_size": 8}}, ValueError, "use `h` init argument instead of `config\\['h'\\]`"),
    ({"config": {"loss": MAE(), "input_size": 8}}, ValueError, "use `loss` init argument"),
    ({"config": {"max_steps": 8}}, ValueError, r"missing required parameter\(s\) for NLinear: \['input_size'\]"),
    ({"cpus": 2}, TypeError, r"pass `ray_options=RayOptions\(cpus=...\)`"),
    ({"loss": 3}, TypeError, "expected a loss of foretell.losses"),
])  # fmt: skip
def test_errors_say_what_to_do(arguments, error, message):
    arguments = {"config": {"input_size": 8}, **arguments}
    with pytest.raises(error, match=message):
        auto.AutoNLinear(4, **arguments)


def test_what_is_missing_says_so():
    for arguments, message in [({"config": {}}, "config needs reconciliation"), ({"config": {}, "backend": "optuna"}, "leave backend")]:
        with pytest.raises(ValueError, match=message):
            auto.AutoHINT(models.NLinear, 4, DistributionLoss("Normal"), None, [[1]], **arguments)
    with pytest.raises(RuntimeError, match="AutoNLinear has no model before a fit"):
        auto.AutoNLinear(4).to_spec()
    with pytest.warns(UserWarning, match="on `optuna_options` are ignored when `backend='ray'`"):
        auto.AutoNLinear(4, optuna_options=auto.OptunaOptions(study_kwargs={}))


def test_models_copy_and_pickle():
    model = search()
    for twin in [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]:
        assert twin.model.to_spec() == model.model.to_spec() and len(twin.results) == 12


def test_domains_hold_to_their_bounds():
    rng = random.Random(1)
    draws = {name: [domain.sample(rng) for _ in range(2000)] for name, domain in {
        "choice": tune.choice(["a", "b"]), "randint": tune.randint(2, 5), "qrandint": tune.qrandint(10, 30, 10),
        "uniform": tune.uniform(-1.0, 1.0), "quniform": tune.quniform(500, 1500, 100), "loguniform": tune.loguniform(1e-4, 1.0),
        "qloguniform": tune.qloguniform(0.5, 8.0, 0.5),
    }.items()}  # fmt: skip
    assert set(draws["choice"]) == {"a", "b"}
    assert set(draws["randint"]) == {2, 3, 4}
    assert set(draws["qrandint"]) == {10, 20, 30}
    assert set(draws["quniform"]) == {500 + 100 * i for i in range(11)}
    assert -1 <= min(draws["uniform"]) < -0.9 and 0.9 < max(draws["uniform"]) <= 1
    # Half of the logarithms lie below the middle one.
    assert 0.45 < sum(value < 1e-2 for value in draws["loguniform"]) / 2000 < 0.55
    assert all(value % 0.5 == 0 and 0.5 <= value <= 8 for value in draws["qloguniform"])
    for wrong, message in [
        (lambda: tune.uniform(1, 1), "lower must be below upper"),
        (lambda: tune.loguniform(0, 1), "a logarithm needs numbers above 0"),
        (lambda: tune.choice([]), "at least one value"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()


def test_values_within_lists_and_mappings_are_drawn_too():
    found = tune.drawn({"mlp_units": [[tune.choice([8]), 16]], "optimizer_kwargs": {"weight_decay": tune.choice([0.5])}}, random.Random(1))
    assert found == {"mlp_units": [[8, 16]], "optimizer_kwargs": {"weight_decay": 0.5}}


def test_spaces_of_ray_are_understood():
    ray_tune = pytest.importorskip("ray.tune")
    spaces = {
        "choice": ray_tune.choice([1, 2]), "randint": ray_tune.randint(1, 20), "quniform": ray_tune.quniform(500, 1500, 100),
        "loguniform": ray_tune.loguniform(1e-4, 1e-1), "uniform": ray_tune.uniform(0, 1), "qrandint": ray_tune.qrandint(2, 8, 2),
    }  # fmt: skip
    ours = {
        "choice": tune.choice([1, 2]), "randint": tune.randint(1, 20), "quniform": tune.quniform(500, 1500, 100),
        "loguniform": tune.loguniform(1e-4, 1e-1), "uniform": tune.uniform(0, 1), "qrandint": tune.qrandint(2, 8, 2),
    }  # fmt: skip
    assert {name: tune.as_domain(value) for name, value in spaces.items()} == ours
    assert {name: tune.as_domain(for_ray(value)) for name, value in ours.items()} == ours
    assert for_ray(tune.grid_search([1])) == {"grid_search": [1]} and for_ray("as it is") == "as it is"
    assert search({"input_size": 8, "max_steps": ray_tune.grid_search([10, 30])}, num_samples=1).model.max_steps == 30
    with pytest.raises(TypeError, match="use choice, randint, uniform or loguniform"):
        tune.as_domain(ray_tune.randn(0, 1))


def test_samplers_of_optuna_make_a_study():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    config = auto.AutoNLinear.get_default_config(4, "optuna")
    model = search(config, backend="optuna", search_alg=optuna.samplers.TPESampler(seed=1), loss=lambda model: model.learning_rate)
    assert isinstance(model.results, optuna.Study) and len(model.results.trials) == 12
    assert model.model.learning_rate == model.results.best_value == min(model.results.trials_dataframe()["value"])


def test_samplers_of_optuna_pass_over_what_cannot_be_trained():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)

    def sampled(loss):
        config = lambda trial: {"input_size": 8, "max_steps": trial.suggest_categorical("max_steps", [10, 20, 30])}  # noqa: E731
        return search(config, backend="optuna", search_alg=optuna.samplers.RandomSampler(seed=1), loss=loss)

    def loss(model):
        if model.max_steps < 25:
            raise (ValueError if model.max_steps == 10 else RuntimeError)("the series are too short")
        return 2.0

    found = sampled(loss)
    assert found.model.max_steps == 30 and set(found.results.trials_dataframe()["state"]) == {"COMPLETE", "FAIL"}
    with pytest.raises(RuntimeError, match="none of 12 configurations could be trained; the last one: too short"):
        sampled(lambda model: (_ for _ in ()).throw(ValueError("too short")))
    with pytest.raises(RuntimeError, match="the last one: its loss is no number"):
        sampled(lambda model: float("nan"))


def test_samplers_of_optuna_stop_at_what_is_wrong_with_all_configurations():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    calls = []

    def config(trial):
        calls.append(trial.number)
        if trial.number >= 0 and not whole:
            raise ValueError("no such choice")
        return {"input_size": 8, "max_steps": trial.suggest_categorical("max_steps", [1, 2])}

    def model():
        calls.clear()
        return auto.AutoNLinear(4, config=config, backend="optuna", search_alg=optuna.samplers.RandomSampler(seed=1), num_samples=5)

    whole = False
    searched = model()
    with pytest.raises(ValueError, match="^no such choice$"):
        searched.search(lambda trial, val_size: {"loss": 1.0})
    assert calls == [-1, 0]
    whole = True
    df = pd.DataFrame({"unique_id": "a", "ds": range(60), "y": [float(row % 7) for row in range(60)]})
    holed = df.assign(y=df["y"].where(df["ds"] != 30))
    nf = NeuralForecast([model()], freq=1)
    with pytest.raises(ValueError, match="Found missing values in .*'y'"):
        nf.fit(holed)
    assert calls == [-1]
    nf.fit(df)
    assert len(nf.predict()) == 4


def test_searchers_of_ray_propose_and_are_told():
    search_of_ray = pytest.importorskip("ray.tune.search.optuna")
    ray_tune = pytest.importorskip("ray.tune")
    config = {"input_size": 8, "learning_rate": ray_tune.uniform(0.0, 1.0)}
    found = search(config, search_alg=search_of_ray.OptunaSearch(seed=1), loss=lambda model: abs(model.learning_rate - 0.5), num_samples=30)
    assert len(found.results) == 30 and found.results.best_value < 0.05


def test_a_searcher_is_told_the_losses_of_its_proposals():
    class Searcher:
        def __init__(self):
            self.told, self.steps = [], iter([10, 20, 30])

        def set_search_properties(self, metric, mode, config):
            self.told.append((metric, mode, sorted(config)))

        def suggest(self, trial_id):
            steps = next(self.steps, None)
            self.told.append(trial_id)
            return None if steps is None else {"max_steps": steps}

        def on_trial_complete(self, trial_id, result):
            self.told.append((trial_id, result["loss"]))

        def __deepcopy__(self, memo):
            return self

    searcher = Searcher()
    assert search(search_alg=searcher).model.max_steps == 30
    assert searcher.told == [
        ("loss", "min", ["input_size", "max_steps"]), "trial_0", ("trial_0", 20), "trial_1", ("trial_1", 10), "trial_2", ("trial_2", 0),
        "trial_3",
    ]  # fmt: skip


def test_ray_runs_the_trials_where_its_options_ask_for_it(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    from ray import tune as ray_tune

    monkeypatch.setenv("RAY_AIR_NEW_OUTPUT", "0")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        options = auto.RayOptions(run_config=ray_tune.RunConfig(storage_path=str(tmp_path), name="trials", verbose=0))
        model = search(ray_options=options, num_samples=4, config={"input_size": 8, "max_steps": tune.grid_search([20, 30])})
    finally:
        ray.shutdown()
    assert model.model.max_steps == 30 and len(model.results) == 8 and (tmp_path / "trials").is_dir()
