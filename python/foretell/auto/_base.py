"""Automatic models: networks whose hyper-parameters are searched for."""

from __future__ import annotations

import copy
import inspect
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from foretell._model import Model
from foretell.auto._options import OptunaOptions, RayOptions, warn_of_unused
from foretell.auto._ray import is_running, is_wanted, run_as_tasks, run_by_ray
from foretell.auto._search import (
    INJECTED, RandomSearch, RandomTrial, Results, Trial, function_configs, random_configs, run, searcher_configs,
)  # fmt: skip
from foretell.auto._spaces import Space, default_space, space_of, with_sizes
from foretell.losses import MAE, Loss
from foretell.losses._base import as_loss
from foretell.tune import as_domain, grids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foretell.tsdataset import TimeSeriesDataset

#: Trains a model with the last steps of each series held out: its losses, ``{"loss", "train_loss"}``.
Fit = Callable[[Model, int], dict[str, float]]


class _UnmadeError(Exception):
    """What a function of a trial raised in place of a configuration, which no study passes over."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class BaseAuto:
    """A model whose hyper-parameters are searched for, by the loss on the last steps of each series, before it is trained.

    Args:
        cls_model: The model's class.
        h: Steps to forecast.
        loss: What training makes small.
        valid_loss: What configurations are compared by; None for ``loss``.
        config: With ``backend="ray"`` a dictionary of hyper-parameters, of which those that are searched for are domains of
            ``foretell.tune`` or ``ray.tune``; with ``backend="optuna"`` a function from a trial of Optuna to hyper-parameters. It must
            have all that the model needs but ``h`` and the losses.
        search_alg: How configurations are proposed: None for a random search; a searcher of Ray; a sampler of Optuna.
        num_samples: Configurations to try.
        time_budget: Seconds after which no further one begins.
        refit_with_val: Whether the best configuration is trained with steps held out, too; always so where it stops early.
        verbose: Whether each trial is told of.
        alias: The name of the column.
        backend: "ray" or "optuna", which is only the form of ``config``: neither needs to be installed.
        callbacks: Functions of the results and a trial, called after each.
        ray_options: Accepted.
        optuna_options: Options of Optuna, where it is installed.
        cpus: Refused, as neuralforecast does.
        gpus: Refused, as neuralforecast does.

    Attributes:
        results: All trials, after a fit.
        model: The best configuration's model, after a fit.
    """

    #: The domains by name before the horizon is known; empty where there is no default.
    default_config: ClassVar[Space] = {}

    results: Any = None
    model: Any = None

    def __init__(
        self,
        cls_model: type[Model],
        h: int,
        loss: Loss,
        valid_loss: Loss | None,
        config: Any,
        search_alg: Any = None,
        num_samples: int = 10,
        time_budget: float | None = None,
        refit_with_val: bool = False,
        verbose: bool = False,
        alias: str | None = None,
        backend: str = "ray",
        callbacks: list[Any] | None = None,
        ray_options: RayOptions | None = None,
        optuna_options: OptunaOptions | None = None,
        cpus: int | None = None,
        gpus: float | None = None,
    ) -> None:
        for name, value in (("cpus", cpus), ("gpus", gpus)):
            if value is not None:
                raise TypeError(
                    f"`{name}` is no longer supported: pass `ray_options=RayOptions({name}=...)`. Trials use all threads in any case"
                )
        self.ray_options = replace(ray_options) if ray_options is not None else RayOptions()
        self.optuna_options = replace(optuna_options) if optuna_options is not None else OptunaOptions()
        self.cpus, self.gpus = self.ray_options.cpus, self.ray_options.gpus
        self.cls_model, self.h, self.backend, self.alias = cls_model, h, backend, alias
        self.loss = as_loss(loss, "loss")
        self.valid_loss = self.loss if valid_loss is None else as_loss(valid_loss, "valid_loss")
        self.config = self._checked(config)
        warn_of_unused(backend, self.ray_options, self.optuna_options)
        self.search_alg = RandomSearch() if search_alg is None else search_alg
        self.num_samples, self.time_budget, self.verbose = num_samples, time_budget, verbose
        self.refit_with_val = refit_with_val or self.early_stop_patience_steps > 0
        self.callbacks = callbacks
        self.EXOGENOUS_FUTR, self.EXOGENOUS_HIST = cls_model.EXOGENOUS_FUTR, cls_model.EXOGENOUS_HIST
        self.EXOGENOUS_STAT, self.MULTIVARIATE = cls_model.EXOGENOUS_STAT, cls_model.MULTIVARIATE
        self.RECURRENT = cls_model.RECURRENT

    def _checked(self, config: Any) -> Any:
        """The search space, with sizes in place of multiples of the horizon, once it is known to be one."""
        if self.backend == "ray":
            if not isinstance(config, Mapping):
                raise ValueError("You have to provide a dict as `config` when using `backend='ray'`")
            config = {k: v for k, v in with_sizes(dict(config), self.h).items() if v is not None or k not in INJECTED}
            names = config
        elif self.backend == "optuna":
            if not callable(config):
                raise ValueError(
                    "You have to provide a function that takes a trial and returns a dict as `config` when using `backend='optuna'`"
                )
            # A function may look at the number of its trial; this is none of the search.
            names = config(RandomTrial(-1, random.Random(0)))
        else:
            raise ValueError(f"Unknown backend {self.backend}. The supported backends are 'ray' and 'optuna'.")
        for name in INJECTED:
            if names.get(name) is not None:
                raise ValueError(f"Please use `{name}` init argument instead of `config['{name}']`.")
        self.early_stop_patience_steps = 1 if "early_stop_patience_steps" in names else -1
        needed = inspect.signature(self.cls_model).parameters.values()
        missing = [
            parameter.name
            for parameter in needed
            if parameter.default is inspect.Parameter.empty
            and parameter.kind is not inspect.Parameter.VAR_KEYWORD
            and parameter.name not in INJECTED
            and parameter.name not in with_sizes(dict(names), self.h)
        ]
        if missing:
            raise ValueError(
                f"`config` is missing required parameter(s) for {self.cls_model.__name__}: {missing}. They have no default: give each as a "
                "value or as something to search for"
            )
        return config

    def __repr__(self) -> str:
        """The name of its column: its alias, or the class's name."""
        return self.alias or type(self).__name__

    def search_space(self) -> Any:
        """What is searched: the dictionary of domains or the function of a trial."""
        return self.config

    def make(self, config: Mapping[str, Any]) -> Model:
        """The model of a configuration, named as this one."""
        given = {name: value for name, value in with_sizes(dict(config), self.h).items() if name not in INJECTED}
        losses = {"loss": self.loss, "valid_loss": self.valid_loss}
        arguments = {"h": self.h, **losses, "alias": repr(self), **given}
        return cast(Callable[..., Model], self.cls_model)(**copy.deepcopy(arguments))

    def search(self, fit: Fit, val_size: int = 0) -> Model:
        """Tries configurations and keeps the best as ``model``, untrained, and all as ``results``.

        Args:
            fit: Trains a model with this many steps of each series held out, and tells its losses, ``{"loss", "train_loss"}``.
            val_size: Steps to hold out; 0 for the horizon.

        Raises:
            RuntimeError: If no configuration could be trained.
        """
        held_out = val_size if val_size > 0 else self.h

        def evaluate(config: dict[str, Any], threads: int | None = None) -> dict[str, float]:
            model = self.make(config)
            model._threads = model._threads or threads
            return fit(model, held_out)

        if self.backend == "optuna" and is_optuna_sampler(self.search_alg):
            self.results = self._optuna_tune_model(evaluate)
            best = self.results.best_trial.user_attrs["ALL_PARAMS"]
        else:
            self.results = self._tune_model(evaluate)
            best = self.results.get_best_result().config
            if self.backend == "ray":
                for trial in self.results:
                    if isinstance(trial, Trial):
                        trial.config = {**trial.config, "h": self.h, "loss": self.loss, "valid_loss": self.valid_loss}
        model: Model = self._best_model(best)
        self.model = model
        return model

    def _best_model(self, config: Mapping[str, Any]) -> Any:
        """The model that is trained in the end."""
        return self.make(config)

    def _tune_model(self, evaluate: Callable[..., dict[str, float]]) -> Any:
        if self.backend == "ray" and is_wanted(self.ray_options):
            return run_by_ray(evaluate, self.config, self.num_samples, self.search_alg, self.time_budget, self.ray_options)
        so_far: list[Results] = []

        def after(results: Results, trial: Trial) -> None:
            so_far[:] = [results]
            if self.verbose:
                print(f"{self!r}: {trial!r}" + (f" failed: {trial.error}" if trial.error else ""))
            for callback in self.callbacks or []:
                if callable(callback):
                    callback(results, trial)

        search = copy.deepcopy(self.search_alg)
        seed = getattr(search, "random_state", 1)
        seed = seed if isinstance(seed, int) else 1
        proposals: Iterator[dict[str, Any]]
        samples = self.num_samples
        if self.backend == "optuna":
            proposals = function_configs(self.config, seed)
        elif hasattr(search, "set_search_properties") and hasattr(search, "suggest"):
            proposals = searcher_configs(search, self.config, lambda: so_far[0] if so_far else None)
        else:
            proposals = random_configs(self.config, seed)
            samples *= len(grids(self.config))
            if self.backend == "ray" and is_running():
                return run_as_tasks(proposals, evaluate, samples, self.time_budget, after, self.ray_options.cpus or 1)
        return run(proposals, evaluate, samples, self.time_budget, after)

    def _optuna_tune_model(self, evaluate: Callable[[dict[str, Any]], dict[str, float]]) -> Any:
        """A study of Optuna, by the sampler that was given. Configurations that cannot be trained, or diverge, are failed trials of it; an error
        of the function that makes them ends it.

        Raises:
            RuntimeError: If every trial failed; the last error is its cause.
        """
        import optuna

        last: Exception | None = None

        def objective(trial: Any) -> float:
            nonlocal last
            try:
                config = self.config(trial)
            except (ValueError, RuntimeError) as error:
                raise _UnmadeError(error) from None
            try:
                metrics = evaluate(config)
            except (ValueError, RuntimeError) as error:
                last = error
                raise
            trial.set_user_attr("ALL_PARAMS", {k: v for k, v in config.items() if k not in INJECTED})
            trial.set_user_attr("METRICS", metrics)
            return metrics["loss"]

        made: dict[str, Any] = {"sampler": copy.deepcopy(self.search_alg), "direction": "minimize"}
        told: dict[str, Any] = {
            "n_trials": self.num_samples,
            "show_progress_bar": self.verbose,
            "callbacks": self.callbacks,
            "timeout": self.time_budget,
        }
        for name, ours, theirs in [
            ("create_study_kwargs", made, self.optuna_options.create_study_kwargs),
            ("study_kwargs", told, self.optuna_options.study_kwargs),
        ]:
            overridden = sorted(set(ours) & set(theirs or {}))
            if overridden:
                warnings.warn(f"`optuna_options.{name}` overrides default values for {overridden}.", stacklevel=4)
            ours.update(theirs or {})
        study = optuna.create_study(**made)
        try:
            study.optimize(objective, **{"catch": (ValueError, RuntimeError), **told})
        except _UnmadeError as unmade:
            raise unmade.error from None
        if not any(trial.values for trial in study.trials):
            reason = "its loss is no number" if last is None else last
            raise RuntimeError(f"none of {len(study.trials)} configurations could be trained; the last one: {reason}") from last
        return study

    def fit(
        self, dataset: TimeSeriesDataset, val_size: int = 0, test_size: int = 0, random_seed: int | None = None,
        distributed_config: None = None,
    ) -> BaseAuto:  # fmt: skip
        """Searches on the steps of a dataset, by itself, and trains the best model. ``NeuralForecast`` does so for several, and knows
        their times.

        Args:
            dataset: The series.
            val_size: Steps before the last ``test_size`` that configurations are compared on; 0 for the horizon.
            test_size: Steps at the end of each series that are not looked at.
            random_seed: Accepted and not used: the search's seed is that of ``search_alg``.
            distributed_config: Must be None.
        """

        def fit(model: Model, held_out: int) -> dict[str, float]:
            metrics = model.fit(dataset, held_out, test_size).metrics
            return {"loss": metrics["ptl/val_loss"], "train_loss": metrics.get("train_loss", float("nan"))}

        best = self.search(fit, val_size)
        best.fit(dataset, (val_size or self.h) if self.refit_with_val else 0, test_size)
        return self

    def predict(self, dataset: TimeSeriesDataset, step_size: int = 1, h: int | None = None, **data_kwargs: Any) -> NDArray[Any]:
        """Forecasts of the best model, as of :meth:`foretell.models.Model.predict`."""
        if self.model is None:
            raise RuntimeError(f"{self!r} has no model before a fit, which searches for its hyper-parameters")
        forecasts: NDArray[Any] = self.model.predict(dataset, step_size=step_size, h=h, **data_kwargs)
        return forecasts

    @property
    def futr_exog_list(self) -> list[str]:
        """The future columns that the best model reads, or those that every configuration does."""
        return self._columns("futr")

    @property
    def hist_exog_list(self) -> list[str]:
        """The historic columns that the best model reads, or those that every configuration does."""
        return self._columns("hist")

    @property
    def stat_exog_list(self) -> list[str]:
        """The static columns that the best model reads, or those that every configuration does."""
        return self._columns("stat")

    def _columns(self, kind: str) -> list[str]:
        name = f"{kind}_exog_list"
        if self.model is not None:
            return list(getattr(self.model, name))
        given = self.config.get(name) if isinstance(self.config, Mapping) else None
        return list(given) if isinstance(given, (list, tuple)) else []

    def to_spec(self) -> dict[str, Any]:
        """The best configuration as the engine takes it.

        Raises:
            RuntimeError: Before a search.
        """
        if self.model is None:
            raise RuntimeError(f"{self!r} has no model before a fit, which searches for its hyper-parameters")
        spec: dict[str, Any] = self.model.to_spec()
        return spec

    @classmethod
    def get_default_config(cls, h: int, backend: str, n_series: int | None = None) -> Any:
        """The default search space for a horizon: a dictionary of domains for "ray", a function of a trial for "optuna"."""
        if not cls.default_config:
            raise ValueError(f"{cls.__name__} has no default configuration: give config")
        space = default_space(cls.default_config, h, n_series)
        return space if backend == "ray" else cls._ray_config_to_optuna(space)

    @staticmethod
    def _ray_config_to_optuna(ray_config: Mapping[str, Any]) -> Callable[[Any], dict[str, Any]]:
        """A dictionary of domains as a function of a trial."""

        def config(trial: Any) -> dict[str, Any]:
            return {name: suggested(name, value, trial) for name, value in ray_config.items()}

        return config


def suggested(name: str, value: Any, trial: Any) -> Any:
    domain = as_domain(value)
    return value if domain is None else domain.suggest(name, trial)


def is_optuna_sampler(value: Any) -> bool:
    """Whether something is a sampler of Optuna, which is then installed."""
    return hasattr(value, "sample_independent") and hasattr(value, "infer_relative_search_space")


class AutoModel(BaseAuto):
    """An automatic model of one class, whose name is its own behind "Auto"."""

    _model: ClassVar[type[Model]]

    def __init_subclass__(cls, *, model: type[Model] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if model is not None:
            cls._model, cls.default_config = model, space_of(model.__name__, model.MULTIVARIATE)

    def __init__(
        self,
        h: int,
        loss: Loss = MAE(),
        valid_loss: Loss | None = None,
        config: Any = None,
        search_alg: Any = None,
        num_samples: int = 10,
        time_budget: float | None = None,
        refit_with_val: bool = False,
        cpus: int | None = None,
        gpus: float | None = None,
        verbose: bool = False,
        alias: str | None = None,
        backend: str = "ray",
        callbacks: list[Any] | None = None,
        ray_options: RayOptions | None = None,
        optuna_options: OptunaOptions | None = None,
    ) -> None:
        if config is None:
            config = self.get_default_config(h, backend)
        super().__init__(
            self._model, h, loss, valid_loss, config, search_alg, num_samples, time_budget, refit_with_val, verbose, alias, backend,
            callbacks, ray_options, optuna_options, cpus, gpus,
        )  # fmt: skip


class AutoMultivariate(AutoModel):
    """An automatic model of all series together."""

    def __init__(
        self,
        h: int,
        n_series: int | None = None,
        loss: Loss = MAE(),
        valid_loss: Loss | None = None,
        config: Any = None,
        search_alg: Any = None,
        num_samples: int = 10,
        time_budget: float | None = None,
        refit_with_val: bool = False,
        cpus: int | None = None,
        gpus: float | None = None,
        verbose: bool = False,
        alias: str | None = None,
        backend: str = "ray",
        callbacks: list[Any] | None = None,
        ray_options: RayOptions | None = None,
        optuna_options: OptunaOptions | None = None,
    ) -> None:
        self.n_series = n_series
        if config is None:
            config = self.get_default_config(h, backend, n_series)
        elif isinstance(config, Mapping):
            config = {**config, "n_series": n_series}
        elif callable(config):
            config = _with_n_series(config, n_series)
        super().__init__(
            h, loss, valid_loss, config, search_alg, num_samples, time_budget, refit_with_val, cpus, gpus, verbose, alias, backend,
            callbacks, ray_options, optuna_options,
        )  # fmt: skip


def _with_n_series(config: Callable[[Any], dict[str, Any]], n_series: int | None) -> Callable[[Any], dict[str, Any]]:
    def complete(trial: Any) -> dict[str, Any]:
        return {"n_series": n_series, **config(trial)}

    return complete
