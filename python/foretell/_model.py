"""What all models have: their hyper-parameters as attributes, and their form for the engine."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from foretell import _foretell
from foretell._alone import decomposed_alone, fitted_alone, predicted_alone
from foretell._overridden import OVERRIDDEN, check_overridden, refusal
from foretell._trainer import class_name, heeded, read_trainer_arguments, saved
from foretell.losses._base import Loss, as_loss
from foretell.losses._quantile import HuberMQLoss, MQLoss, sCRPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foretell.tsdataset import TimeSeriesDataset


#: What neuralforecast's models have that are modules of PyTorch, and what has it here.
_ELSEWHERE = {
    "feature_importances": "NeuralForecast.feature_importances() has the weights of its variable selections and of its attention",
    "attention_weights": 'NeuralForecast.feature_importances() has them as "attention"',
    "feature_importance_correlations": "NeuralForecast.feature_importances() has the weights that are correlated",
    "decompose_forecast": "NeuralForecast.decompose() takes the forecasts of all models apart",
    "save": "NeuralForecast.save(path, model_index=[place]) writes some of the models",
    "load": "NeuralForecast.load(path) reads them",
    "trainer": "the engine trains without Lightning; train_trajectories and valid_trajectories have the losses",
    **dict.fromkeys(
        ("state_dict", "load_state_dict", "parameters", "forward"),
        "the weights are the engine's, no module's of PyTorch; NeuralForecast.save writes them as neuralforecast reads them",
    ),
}


class HyperParameters(dict[str, Any]):
    """A model's arguments; ``hparams.max_steps`` and ``hparams["max_steps"]`` are the same."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Model:
    """A model before training: its name, its horizon and its hyper-parameters. ``NeuralForecast`` trains it.

    Attributes:
        h: Steps that it forecasts.
        alias: The name of its column in forecasts, or None for the class's.
        hparams: All arguments by name.
        trainer_kwargs: Those that were given beside the hyper-parameters.
    """

    EXOGENOUS_FUTR: ClassVar[bool] = False
    EXOGENOUS_HIST: ClassVar[bool] = False
    EXOGENOUS_STAT: ClassVar[bool] = False
    EXOGENOUS_CAT: ClassVar[bool] = False
    MULTIVARIATE: ClassVar[bool] = False
    RECURRENT: bool = False

    #: What trains models: `NeuralForecast`, which stands above them and says so.
    trained_by: ClassVar[Callable[..., Any]]
    #: The class that the engine knows the model by; subclasses of a user inherit it.
    _engine_class: ClassVar[type[Model]]

    h: int
    alias: str | None
    hparams: HyperParameters
    trainer_kwargs: dict[str, Any]
    random_seed: int
    metrics: dict[str, float]
    val_size: int = 0
    test_size: int = 0
    #: The losses of the training and of its checks, each with the number of steps taken.
    train_trajectories: Sequence[tuple[int, float]] = ()
    valid_trajectories: Sequence[tuple[int, float]] = ()
    #: The forecaster of this model alone, of its own `fit`.
    _alone: Any = None
    #: The forecaster that it was trained in, and its place there.
    _within: tuple[Any, int] | None = None
    _precision: str | None = None
    _threads: int | None = None

    def __init_subclass__(cls, *, reads: str = "", multivariate: bool = False, recurrent: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("foretell.models"):
            cls._engine_class = cls
            cls.MULTIVARIATE, cls.RECURRENT = multivariate, recurrent
            for kind in reads.split():
                setattr(cls, f"EXOGENOUS_{kind.upper()}", True)
        else:
            check_overridden(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OVERRIDDEN:
            raise refusal(f"this {type(self).__name__}", name)
        super().__setattr__(name, value)

    def _take(self, arguments: dict[str, Any]) -> None:
        """Keeps what a constructor was called with, its ``locals()``."""
        check_overridden(type(self))
        arguments = {name: value for name, value in arguments.items() if name not in ("self", "__class__")}
        self.trainer_kwargs = arguments.pop("trainer_kwargs", {})
        known = read_trainer_arguments(self.trainer_kwargs, type(self).__name__, list(arguments))
        self._precision, self._threads = known.precision, known.threads
        for name in ("loss", "valid_loss"):
            if arguments.get(name) is not None:
                arguments[name] = as_loss(arguments[name], name)
        for name in ("optimizer", "lr_scheduler"):
            if arguments.get(name) is not None:
                arguments[name] = class_name(arguments[name], name)
        # Samplers of search spaces give numbers of numpy, and whole numbers as floats.
        defaults = {"h": 0, "input_size": 0, "n_series": 0, **defaults_of(self._engine_class)}
        arguments = {name: whole(plain(value), defaults.get(name)) for name, value in arguments.items()}
        if isinstance(arguments["h"], bool) or not isinstance(arguments["h"], int) or arguments["h"] < 1:
            raise ValueError(f"h must be a whole number of steps of at least 1; found {arguments['h']!r}")
        self.hparams = HyperParameters(arguments)
        for name, value in arguments.items():
            if name not in ("optimizer_kwargs", "lr_scheduler_kwargs"):
                setattr(self, name, value)

    def to_spec(self) -> dict[str, Any]:
        """The model as the engine takes it, in values of JSON.

        ``{"model", "alias", "h", "settings", "exog", "trainer", "precision", "threads"}``: ``settings`` are the hyper-parameters that differ from
        their defaults, losses as a configuration has them; ``exog`` the columns that the model reads, by kind; ``trainer`` what neuralforecast's trainer is to have of it; ``precision`` "bf16",
        "f16" or None; ``threads`` a number or None.
        """
        return self._spec(warns=True)

    def _spec(self, warns: bool) -> dict[str, Any]:
        defaults = defaults_of(self._engine_class)
        settings = {
            name: value.to_spec() if isinstance(value, Loss) else value
            for name, value in self.hparams.items()
            if name not in ("h", "alias", "dataloader_kwargs") and (name not in defaults or value != defaults[name])
        }
        if isinstance(self, Network):
            settings["input_size"] = self.input_size
        return {
            "model": self._engine_class.__name__,
            "alias": self._column_name(),
            "h": self.h,
            "settings": heeded(settings, warns),
            "exog": {kind: list(self.hparams.get(f"{kind}_exog_list") or []) for kind in ("futr", "hist", "stat")},
            "trainer": saved(self.trainer_kwargs),
            "precision": self._precision,
            "threads": self._threads,
        }

    def _check(self) -> None:
        """Whether the engine takes the hyper-parameters.

        Raises:
            TypeError: If one is no value that a file can hold.
            ValueError: If one is out of range, or they contradict each other.
        """
        spec = self._spec(warns=False)
        for name, value in spec["settings"].items():
            try:
                json.dumps(value)
            except TypeError:
                raise TypeError(
                    f"{type(self).__name__}: {name} must be a number, a text, True, False, None, or a list or dictionary of such; "
                    f"found {value!r}"
                ) from None
        _foretell.check_model(json.dumps([{name: spec[name] for name in ("model", "alias", "h", "settings", "exog")}]))

    def _column_name(self) -> str | None:
        """The name of its column, where that is not the engine's own for the model: its alias, or that of a user's subclass."""
        if self.alias is not None:
            return str(self.alias)
        return None if type(self) is self._engine_class else type(self).__name__

    def fit(
        self, dataset: TimeSeriesDataset, val_size: int = 0, test_size: int = 0, random_seed: int | None = None,
        distributed_config: None = None,
    ) -> Model:  # fmt: skip
        """Trains this model by itself, on the steps of a dataset. ``NeuralForecast`` trains several, and knows their times.

        Args:
            dataset: The series.
            val_size: Steps before the last ``test_size`` to validate on.
            test_size: Steps at the end of each series that are not looked at, for ``predict``.
            random_seed: The seed, in place of the model's own.
            distributed_config: Must be None.

        Returns:
            The model itself; its ``metrics`` are the losses "train_loss" and "ptl/val_loss" (also "valid_loss").
        """
        if random_seed is not None and "random_seed" in self.hparams:
            self.hparams["random_seed"] = self.random_seed = random_seed
        self.val_size, self.test_size = val_size, test_size
        self._alone, self.metrics = fitted_alone(self, dataset, val_size, test_size)
        self._within = None
        return self

    def predict(
        self, dataset: TimeSeriesDataset, test_size: int | None = None, step_size: int = 1, random_seed: int | None = None,
        quantiles: list[float] | None = None, h: int | None = None, **data_kwargs: Any,
    ) -> NDArray[Any]:  # fmt: skip
        """Forecasts what follows each series of a dataset, or its last steps if ``fit`` did not look at them.

        Args:
            dataset: The series.
            test_size: The number of steps at their ends; None for those of ``fit``, 0 for what follows.
            step_size: Steps from one forecast of these to the next.
            random_seed: Accepted and not used: forecasts are the same each time.
            quantiles: Quantiles to forecast.
            h: Steps, at least those of the model.
            **data_kwargs: Arguments of PyTorch's DataLoader, accepted and not used; any other is a TypeError.

        Returns:
            ``[series * windows * h, outputs]``.

        Raises:
            RuntimeError: Before a fit.
        """
        from foretell._checks import check_data_arguments

        check_data_arguments(self.predict, data_kwargs)
        if self._alone is None:
            raise RuntimeError(f"{self!r} is not trained: call fit(dataset) before, or forecast by NeuralForecast")
        return predicted_alone(self._alone, dataset, self.test_size if test_size is None else test_size, step_size, quantiles, h)

    def decompose(
        self, dataset: TimeSeriesDataset, step_size: int = 1, random_seed: int | None = None, **data_kwargs: Any
    ) -> NDArray[Any]:
        """Takes apart the forecasts of what follows each series of a dataset, or of its last steps if ``fit`` did not look at them.
        ``NeuralForecast.decompose`` names the parts.

        Args:
            dataset: The series; of a model that was trained in a ``NeuralForecast``, with ids and times as there.
            step_size: Steps from one forecast of the last steps to the next.
            random_seed: Accepted and not used: forecasts are the same each time.
            **data_kwargs: Arguments of PyTorch's DataLoader, accepted and not used; any other is a TypeError.

        Returns:
            ``[series * windows, parts, h]``: of NBEATS, NBEATSx and NHITS a level and what each block adds. The parts add up to the forecast.

        Raises:
            RuntimeError: Before a fit.
            ValueError: If the model has no parts.
        """
        from foretell._checks import check_data_arguments

        check_data_arguments(self.decompose, data_kwargs)
        return decomposed_alone(self, dataset, self.test_size, step_size)

    def __getstate__(self) -> dict[str, Any]:
        # A copy of a model is a model to train: the forecaster that it was trained in tells its own models that they are.
        return {name: value for name, value in self.__dict__.items() if name != "_within"}

    def get_test_size(self) -> int:
        """The steps at the end of each series that are forecast by ``predict``."""
        return self.test_size

    def set_test_size(self, test_size: int) -> None:
        """Sets them."""
        self.test_size = test_size

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            hint = f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def __repr__(self) -> str:
        """The name of its column: its alias, or the class's name."""
        return str(self.alias or type(self).__name__)


class Network(Model):
    """A neural network.

    Arguments that all networks have beside their own; the defaults are in each signature.

    Args:
        h: Steps to forecast.
        input_size: Steps of history that the model sees; below 1 for ``3 * h``.
        futr_exog_list: Columns known for past and future.
        hist_exog_list: Columns known for the past only.
        stat_exog_list: Columns of the static table.
        cat_exog_list: The columns among these that hold categories, which are embedded instead of scaled.
        categorical_cardinalities: The most categories that each of them may have; None for those of the training data.
        cat_emb_dim: The numbers that a category becomes: "fastai", "sqrt" or "half" by a rule, or one number for all columns.
        exclude_insample_y: Whether the target's own history is hidden from the model.
        loss: What training makes small.
        valid_loss: What is computed on the validation windows; None for ``loss``.
        max_steps: Steps of training, a batch of windows each; 0 keeps the weights that there are.
        learning_rate: The optimiser's rate at the first step.
        num_lr_decays: Times that the rate is halved, evenly spread over ``max_steps``; -1 for none.
        early_stop_patience_steps: Checks without a better validation loss after which training ends; -1 for none.
        val_monitor: "ptl/val_loss" or "valid_loss", which are the same.
        val_check_steps: Steps of training between two checks on the validation windows.
        batch_size: Series that a batch's windows are drawn from.
        valid_batch_size: Series checked or forecast at a time; None for ``batch_size``.
        windows_batch_size: Windows of a batch.
        inference_windows_batch_size: Windows forecast at a time; -1 for all.
        start_padding_enabled: Whether series are padded with zeros at their start.
        training_data_availability_threshold: The least share of a training window's steps that hold values: one number, or
            [history, horizon].
        step_size: Steps from one training window of a series to the next.
        scaler_type: How each window is scaled by its history: "identity", "standard", "robust", "minmax", "minmax1", "invariant",
            "revin"; None for "identity".
        random_seed: The seed of first weights, draws of windows, dropout and sample paths.
        drop_last_loader: Whether training passes over the last batch of series where it is not full.
        alias: The name of the model's column in forecasts.
        optimizer: The name of a class of ``torch.optim`` that the engine has ("Adam", "AdamW", "SGD", "RMSprop", "RAdam", "NAdam",
            "Adamax", "Adagrad" or "Adadelta"), or PyTorch's class of that name; None for Adam.
        optimizer_kwargs: Its arguments without the rate.
        lr_scheduler: The name of a class of ``torch.optim.lr_scheduler`` that the engine has, such as "StepLR", or "CosineWarmup", or
            PyTorch's class.
        lr_scheduler_kwargs: Its arguments.
        dataloader_kwargs: Accepted and not used.
        gradient_clip_val: The bound that gradients are clipped to; None for none.
        gradient_clip_algorithm: "norm" or "value".
        **trainer_kwargs: Arguments of Lightning's trainer. Those that say where and how loudly to train are accepted and not used;
            those that would change the result are an error. ``precision="bf16-mixed"`` trains in bfloat16; ``threads`` limits threads.
    """

    loss: Loss
    valid_loss: Loss
    input_size: int
    max_steps: int
    learning_rate: float
    futr_exog_list: list[str]
    hist_exog_list: list[str]
    stat_exog_list: list[str]
    cat_exog_list: list[str]

    def _take(self, arguments: dict[str, Any]) -> None:
        super()._take(arguments)
        given = self.hparams
        self._name_columns()
        self._check_columns()
        if given["val_monitor"] not in ("ptl/val_loss", "valid_loss"):
            raise ValueError(
                f'val_monitor must be "ptl/val_loss" or "valid_loss", which are the same; found val_monitor={given["val_monitor"]!r}'
            )
        valid_loss = given.get("valid_loss")
        if valid_loss is not None and valid_loss.is_distribution_output and self.loss.is_distribution_output:
            # As in neuralforecast, whatever distribution it is.
            given["valid_loss"] = valid_loss = None
        if valid_loss is None:
            self.valid_loss = self.loss
        if isinstance(self.input_size, int) and self.input_size < 1:
            self.input_size = 3 * self.h
        if "recurrent" in given:
            self.RECURRENT = bool(given["recurrent"])
        self.n_series = given.get("n_series") if self.MULTIVARIATE else 1
        self.valid_batch_size = given.get("valid_batch_size") or given["batch_size"]
        self.optimizer_kwargs = given.get("optimizer_kwargs") or {}
        self.lr_scheduler_kwargs = given.get("lr_scheduler_kwargs") or {}
        self._check_quantiles()
        self._check()

    def _check_quantiles(self) -> None:
        """Whether it is validated on the quantiles that it forecasts.

        Raises:
            ValueError: If these are others.
        """
        loss, valid_loss = self.loss, self.valid_loss
        if not loss.quantiles or not isinstance(valid_loss, (MQLoss, HuberMQLoss, sCRPS)):
            return
        if sorted(loss.quantiles) != sorted(valid_loss.quantiles):
            raise ValueError(
                f"{type(self).__name__}: the quantiles {loss.quantiles} of loss={loss!r} do not match those of valid_loss={valid_loss!r}, "
                f"{valid_loss.quantiles}: give both the same level or quantiles"
            )

    def _name_columns(self) -> None:
        """Makes texts of the names of columns, as those of tables of pandas are read: 0 is "0"."""
        for name in ("futr_exog_list", "hist_exog_list", "stat_exog_list", "cat_exog_list"):
            columns = self.hparams.get(name)
            if isinstance(columns, list):
                self.hparams[name] = [str(column) if isinstance(column, int) else column for column in columns]
        cardinalities = self.hparams.get("categorical_cardinalities")
        if cardinalities:
            self.hparams["categorical_cardinalities"] = {str(column): most for column, most in cardinalities.items()}

    def _check_columns(self) -> None:
        for kind, meaning in [("futr", "future"), ("hist", "historic"), ("stat", "static"), ("cat", "categorical")]:
            columns = list(self.hparams.get(f"{kind}_exog_list") or [])
            if columns and not getattr(self, f"EXOGENOUS_{kind.upper()}"):
                raise ValueError(
                    f"{type(self).__name__} reads no {meaning} columns, but {kind}_exog_list has {', '.join(map(str, columns))}: "
                    f"leave {kind}_exog_list out, or choose a model that reads them (docs/models.md)"
                )
            setattr(self, f"{kind}_exog_list", columns)
        known = {*self.futr_exog_list, *self.hist_exog_list, *self.stat_exog_list}
        unknown = [column for column in self.cat_exog_list if column not in known]
        if unknown:
            raise ValueError(
                f"Categorical features {unknown} must also be listed in `hist_exog_list`, `futr_exog_list` or `stat_exog_list`: "
                "cat_exog_list says which of these columns hold categories"
            )


    @property
    def futr_exog_size(self) -> int:
        """The numbers that a step's future columns become: one each, those of an embedding for categories."""
        return self._width("futr")

    @property
    def hist_exog_size(self) -> int:
        """The numbers that a step's historic columns become."""
        return self._width("hist")

    @property
    def stat_exog_size(self) -> int:
        """The numbers that a series' static columns become."""
        return self._width("stat")

    def _width(self, kind: str) -> int:
        cardinalities = self.hparams.get("categorical_cardinalities") or {}
        columns: list[str] = getattr(self, f"{kind}_exog_list")
        rule = self.hparams.get("cat_emb_dim", 1)
        return sum(embedding_width(rule, cardinalities.get(c)) if c in self.cat_exog_list else 1 for c in columns)


class LocalModel(Model):
    """A model that learns each series by itself, without gradients. It needs no ``input_size``: it reads the whole series."""

    futr_exog_list: list[str]

    def _take(self, arguments: dict[str, Any]) -> None:
        super()._take(arguments)
        self.futr_exog_list = list(self.hparams.get("futr_exog_list") or [])
        self._check()


_DEFAULTS: dict[type, dict[str, Any]] = {}


def defaults_of(cls: type[Model]) -> dict[str, Any]:
    """The defaults of a model's constructor by the arguments' names."""
    if cls not in _DEFAULTS:
        parameters = inspect.signature(cls).parameters.values()
        _DEFAULTS[cls] = {
            parameter.name: plain(parameter.default)
            for parameter in parameters
            if parameter.default is not inspect.Parameter.empty
        }
    return _DEFAULTS[cls]


def embedding_width(rule: str | int, cardinality: int | None) -> int:
    """The numbers that a category of one of ``cardinality`` becomes.

    Raises:
        ValueError: If the rule needs this number and it is not said.
    """
    if isinstance(rule, int):
        return rule
    if cardinality is None:
        raise ValueError("how many numbers a category becomes is known after training: give categorical_cardinalities, or cat_emb_dim a number")
    rules: dict[str, int] = {"fastai": math.ceil(1.6 * cardinality**0.56), "sqrt": math.ceil(cardinality**0.5), "half": (cardinality + 1) // 2}
    return min(50, rules[rule])


def plain(value: Any) -> Any:
    """A value as Python's own types: numbers of numpy as numbers, tuples, arrays and indices as lists."""
    if isinstance(value, (str, bytes, Loss)):
        return value
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist()) if not isinstance(value, (int, float)) else value
    return value


def whole(value: Any, default: Any) -> Any:
    """A float as the integer that it is, where the default is an integer."""
    is_count = isinstance(default, int) and not isinstance(default, bool)
    return int(value) if is_count and isinstance(value, float) and value.is_integer() else value
