"""The forecaster: models, and their training."""

from __future__ import annotations

import copy
import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell import _ahead, _checks, _data, _engine, _files, _foretell, _frames, _levels
from foretell._data import Data, Names, Reading
from foretell._model import Model
from foretell._numbers import metrics
from foretell._registry import as_models, model_from_spec
from foretell._trained import Trained
from foretell._truth import with_truth
from foretell._windows import windows
from foretell.errors import ColumnError
from foretell.models.ensemble import Ensemble
from foretell.utils import PredictionIntervals

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from foretell._calls import LoaderOptions, TableT


class DistributedConfig:
    """How neuralforecast trains on several machines with Spark; `NeuralForecast.fit` refuses it, as one machine trains."""

    def __init__(self, partitions_path: str, num_nodes: int, devices: int) -> None:
        self.partitions_path, self.num_nodes, self.devices = partitions_path, num_nodes, devices


class NeuralForecast(Trained):
    """Models that are trained on the same series and forecast them.

    Args:
        models: Models of ``foretell.models``, all of one horizon.
        freq: Step of the times: an alias of pandas or polars, an offset of pandas, or an integer. None to infer it.
        local_scaler_type: Scales each series by its own statistics: "standard", "robust", "robust-iqr", "minmax" or "boxcox".
        local_static_scaler_type: Scales each static column in the same ways.
        threads: Threads to compute on; 0 for all of the machine. The result does not depend on it.
        precision: "bf16" or "f16" rounds the operands of products in training; weights and forecasts stay in single precision.
        restore_best: Whether early stopping goes back to the weights of the best check.
        keep_optimizer: Whether networks keep what their optimiser has learned of the gradients, so that a further `fit` continues with it; it is
            saved with them.
        raw_quantiles: Whether quantiles of a step, which may cross, stay as the models gave them; else they are sorted.
        end: What becomes of series that end before others: "common" continues them with zeros, "masked" with rows that are not known,
            "drop" leaves them out, "own" says that each has an end of its own; None changes nothing, with a warning.
        features: Columns that are computed from the target and the times, such as "lag:7,weekday".
        non_negative: Whether forecasts below 0 become 0.
        integer: Whether forecasts are rounded to whole numbers.
        baselines: The last this many models of the list are forecast and scored beside the others, and are members of no ensemble.
        max_memory: Most bytes that training and forecasts may take; None for three quarters of the machine's.
        low_memory: Whether networks are trained in the least memory in place of the least time: two arenas of gradients, activations that
            are computed again in the backward pass and kept in bfloat16. Weights differ from those without by as much as bfloat16 changes them.
    """

    #: The columns that features computed for loaded weights, where others are set: such weights are not trained further.
    _computed: Sequence[str] = ()

    def __init__(
        self, models: Sequence[Any], freq: str | int | Any, local_scaler_type: str | None = None,
        local_static_scaler_type: str | None = None, *, threads: int = 0, precision: str | None = None, restore_best: bool = True,
        keep_optimizer: bool = False, raw_quantiles: bool = False, end: str | None = None, features: str | None = None,
        non_negative: bool = False, integer: bool = False, max_memory: int | None = None, low_memory: bool = False, baselines: int = 0,
    ) -> None:  # fmt: skip
        self.models_init = as_models(models)
        self.models = copy.deepcopy(self.models_init)
        horizons = {model.h for model in self.models if not _engine.is_ensemble(model)}
        if len(horizons) != 1:
            raise ValueError(f"all models should have the same horizon; found {sorted(horizons) or 'no models'}")
        self.h: int = horizons.pop()
        self.freq = freq
        self.settings = _engine.Settings(
            local_scaler_type, local_static_scaler_type, threads=threads, precision=precision, restore_best=restore_best, keep_optimizer=keep_optimizer,
            raw_quantiles=raw_quantiles, end=end, features=features, non_negative=non_negative, integer=integer, max_memory=max_memory,
            low_memory=low_memory, baselines=baselines,
        )  # fmt: skip
        self.id_col, self.time_col, self.target_col = "unique_id", "ds", "y"
        self.prediction_intervals: PredictionIntervals | str | None = None
        self._engine: _foretell.Fitted | None = None
        self._start: _foretell.Fitted | None = None
        self._forgotten: _foretell.Fitted | None = None
        self._data: Data | None = None

    @property
    def local_scaler_type(self) -> str | None:
        return self.settings.local_scaler_type

    @property
    def local_static_scaler_type(self) -> str | None:
        return self.settings.local_static_scaler_type

    # Training.

    def fit(
        self, df: Any = None, static_df: Any = None, val_size: int | None = 0, val_df: Any = None, use_init_models: bool = False,
        verbose: bool = False, id_col: str | Sequence[str] = "unique_id", time_col: str = "ds", target_col: str = "y",
        distributed_config: DistributedConfig | None = None, prediction_intervals: PredictionIntervals | str | None = None, *,
        freeze: Sequence[str] = (), checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int = 500,
        teacher: NeuralForecast | None = None, lessons: int = 20_000, mixtures: int = 0, scratch: str | os.PathLike[str] | None = None,
        by_workers: bool = False,
    ) -> None:  # fmt: skip
        """Trains the models; those that were trained before continue from where they are.

        Ctrl-C ends the training and keeps what was trained until then.

        Args:
            df: Series: a row per id and time, with the target and further columns; or a list of files of Parquet, or of directories of
                them. None for those of the last training. The rows of a table of Spark, Dask or Ray are gathered on this machine, which trains,
                but with ``scratch`` or ``by_workers``.
            static_df: A row per id, with static columns.
            val_size: Steps at the end of each series to validate on: 0, or at least ``h``.
            val_df: Rows to validate on, as many for each series of ``df``, in place of ``val_size``; they are taken for those that follow,
                whatever their times are. Where their times do follow, forecasts without ``df`` begin behind them.
            use_init_models: Whether models that were trained before begin anew.
            verbose: Whether progress is shown, if tqdm is installed.
            id_col: The column of ids, or several that make them together, which are joined by ``/`` and stand in ``unique_id`` of what comes back.
            time_col: The column of times.
            target_col: The column to forecast.
            distributed_config: Must be None: one machine trains.
            prediction_intervals: How to calibrate intervals of models that forecast one number; they are trained twice then. Or "dropout",
                "dropout:200" for the quantiles of 200 forecasts of networks with dropout, or "spread" for that of the members of
                ensembles. None for no intervals, also of models that had some before.
            freeze: Parameters of models that were trained before which stay unchanged, by their names or the beginnings of names up to a
                point: ``["blocks.0"]`` are those of a first block.
            checkpoint: A directory that keeps the state of the training. The same call again, after a kill or Ctrl-C, continues from there
                and ends with the weights that it would have ended with; when all is trained the state is removed.
            checkpoint_every: Steps from one state to the next.
            teacher: Trained models whose forecasts the only model, a network of the same horizon, learns in place of what came true
                (distillation): those of their ensemble if they have one, else their mean; quantiles, if the network's loss has some.
            lessons: The most cutoffs that the teacher forecasts from, evenly spread.
            mixtures: Further series beside each, mixed of two stretches of series, that the teacher forecasts as well.
            scratch: A directory of this machine for rows that its memory does not hold, of a table of Spark, Dask or Ray or of files of
                Parquet: they are read one part after another, and stay in files without names while the forecaster has them.
            by_workers: Whether the workers of a table of Spark, Dask or Ray fit the models, each some of the series, to the bytes of one
                machine's fit: models that learn of each series by itself, as classical ones and Prophet do, which begin anew. The rows
                stay where they are: what asks for those of the training (forecasts without ``df``, `predict_insample`,
                `make_future_dataframe` without one, `save` but with ``save_dataset=False``) is refused.

        Raises:
            ColumnError: If a column is not there.
            ValueError: If a row is wrong, a series is too short, or arguments contradict each other; if models have no parameter of
                ``freeze``, ``checkpoint`` is of another training, or models learn of all series and ``by_workers`` is set.
        """
        val_size = _checks.count("val_size", val_size or 0)
        _checks.check_intervals(prediction_intervals)
        _checks.warn_of_left_intervals(self.prediction_intervals, prediction_intervals)
        if df is None and self._data is None:
            raise ValueError("You must pass a DataFrame or have one stored.")
        if distributed_config is not None:
            raise NotImplementedError(
                "one machine trains networks, also on the rows of tables of Spark, Dask and Ray, which come here: leave distributed_config out"
            )
        if by_workers:
            of_all = {
                "static_df": static_df is not None, "val_size": val_size > 0, "val_df": val_df is not None, "verbose": verbose,
                "prediction_intervals": prediction_intervals is not None, "freeze": bool(freeze), "checkpoint": checkpoint is not None,
                "teacher": teacher is not None, "scratch": scratch is not None,
            }  # fmt: skip
            self._fit_by_workers(df, Names(id_col, time_col, target_col), use_init_models, [name for name, given in of_all.items() if given])
            return
        if scratch is not None:
            self._check_scratch(df, teacher)
        static_df, val_df = map(_frames.gathered, (static_df, val_df))
        df = _frames.gathered(df) if scratch is None else df
        if val_df is not None and val_size:
            raise ValueError(
                "val_df and val_size cannot be set together. Set val_size=0 (default) when providing val_df."
            )
        if val_df is None and not val_size and any(getattr(m, "early_stop_patience_steps", -1) > 0 for m in self.models):
            raise ValueError("Set val_size>0 or provide a val_df if early stopping is enabled.")
        if 0 < val_size < self.h:
            raise ValueError(f"val_size must be either 0 or greater than or equal to the horizon: {self.h}")
        names = self._data.names if df is None and self._data else Names(id_col, time_col, target_col)
        val_size = self._search(None if scratch is not None else df, static_df, names, val_size, 0, use_init_models, val_df)
        course = _engine.Course.of(freeze, checkpoint, checkpoint_every)
        if course.freeze and self._engine is None:
            raise ValueError("freeze: new weights are to be trained; fit the models or load trained ones before")
        forecaster = self._forecaster(names, val_size, prediction_intervals, df, course)
        taught = None
        if teacher is not None:
            engine = teacher._trained("You must fit the teacher first.")
            taught = (engine, _checks.count("lessons", lessons, 1), _checks.count("mixtures", mixtures))
        data = self._read(df, static_df, names, forecaster, teacher, scratch)
        validation = self._validation(val_df, data)
        _checks.check_lengths(self.models, data.panel.min_len - val_size)
        with self._bar(verbose) as bar:
            try:
                fitted, stopped = forecaster.fit(data.panel, bar.listener, validation, taught)
            except ValueError as error:
                raise data.reworded(error, "df") from None
        self._keep(fitted, data, val_size, 0, prediction_intervals, forecaster)
        if val_df is not None:
            # Whatever is wrong with it, the models are there.
            self._data = self._followed(data, val_df)
        if stopped is not None:
            raise stopped

    def _followed(self, data: Data, val_df: Any) -> Data:
        """The series with the rows that were validated on, as forecasts without ``df`` begin behind both."""
        try:
            return _data.followed(data, val_df, "val_df")
        except (ColumnError, _data.UnfollowedError) as error:
            text = f"forecasts without df are of what follows df, as the rows of val_df cannot stand behind it: {error}"
            warnings.warn(text, stacklevel=3)
            return data

    def _fit_by_workers(self, df: Any, names: Names, use_init_models: bool, of_all: Sequence[str]) -> None:
        """Has the workers of a table fit the models, without the arguments ``of_all``, which have no meaning there."""
        if not _frames.is_distributed(df):
            raise ValueError("by_workers is for tables of Spark, Dask and Ray, whose workers fit the models: leave by_workers out")
        if of_all:
            raise ValueError(f"{', '.join(of_all)}: workers have some of the series each, and none of this; leave it out, or by_workers")
        if self.freq is None:
            raise ValueError("freq: workers would infer one each, of some of the series; give NeuralForecast the freq, or leave by_workers out")
        if self._has_hierarchy():
            raise ValueError(
                "the models have a hierarchy, which needs all series at once, and workers have some each: leave by_workers out, or make a new NeuralForecast"
            )
        self._begin(use_init_models)
        is_alone = not any(_engine.is_searched(model) or _engine.is_coherent(model) for model in self.models)
        forecaster = _engine.forecaster(self.models, self.settings, names, 0, None, None) if is_alone else None
        if forecaster is None or not forecaster.fits_by_parts:
            raise ValueError(
                "workers fit models that learn of each series by itself, as classical ones and Prophet do, without scalers of series, categories, "
                "`end`, searches and weighted ensembles: leave by_workers out, and one machine trains on all rows"
            )
        from foretell import _distributed

        self._keep(_distributed.fit(self, df, names, forecaster.columns), None, 0, 0, None, forecaster, names)

    def _check_scratch(self, df: Any, teacher: NeuralForecast | None) -> None:
        if not _frames.is_distributed(df) and not _frames.is_files(df):
            raise ValueError("scratch is for tables of Spark, Dask and Ray and for lists of files of Parquet; df is in memory already: leave scratch out")
        if teacher is not None or any(_engine.is_searched(model) or _engine.is_coherent(model) for model in self.models):
            raise ValueError("searches for hyper-parameters, hierarchies and teachers need all rows in memory: leave scratch out")
        if self._has_hierarchy():
            raise ValueError("the models have a hierarchy, which needs all rows in memory: leave scratch out, or make a new NeuralForecast")

    def _has_hierarchy(self) -> bool:
        """Whether trained models, such as loaded ones, keep a hierarchy: no model of the list need name it."""
        kept = self._engine or self._forgotten
        return kept is not None and kept.has_hierarchy

    def _forecaster(
        self, names: Names, val_size: int, intervals: PredictionIntervals | str | None, df: Any, course: _engine.Course
    ) -> _foretell.Forecaster:
        # A training that was interrupted, and whose state is kept, is named by the weights that it began with.
        goes_on = course.has_state and self._engine is not None and self._engine.interruption is not None
        self._start = self._start if goes_on else self._engine
        # Models that were searched for may differ from those of the last search.
        start = None if any(map(_engine.is_searched, self.models)) else self._start
        return _engine.forecaster(self.models, self.settings, names, val_size, intervals, start, self._hierarchy(df, names), course, self._forgotten)

    def _hierarchy(self, df: Any, names: Names) -> Any:
        if not any(map(_engine.is_coherent, self.models)):
            return None
        df = self._stored().df if df is None else names.joined(df, "df")
        return _engine.hierarchy(self.models, _frames.ordered(_frames.native(df), names.id_col))

    def _search(
        self, df: Any, static_df: Any, names: Names, val_size: int, test_size: int, use_init_models: bool, val_df: Any = None
    ) -> int:
        """Has models find their hyper-parameters without the last ``test_size`` steps, and tells how many to validate the training on."""
        self._begin(use_init_models)
        _checks.check_cardinalities(self.models)
        if df is not None and not self.settings.features:
            _checks.check_columns(self.models, _frames.native(df), static_df)
        searched = [model for model in self.models if _engine.is_searched(model)]

        def fit(model: Any, held_out: int) -> dict[str, float]:
            forecaster = _engine.forecaster([model], self.settings, names, 0 if val_df is not None else held_out, None, None)
            data = self._read(df, static_df, names, forecaster)
            panel = data.panel.without_last(test_size) if test_size else data.panel
            fitted, stopped = forecaster.fit(panel, validation=self._validation(val_df, data))
            if stopped is not None:
                raise stopped
            train_loss, valid_loss = fitted.losses[0]
            return {name: loss for name, loss in [("loss", valid_loss), ("train_loss", train_loss)] if loss is not None}

        if searched and df is not None:
            # What is wrong whatever the configuration is told before the first of them.
            _data.read(df, None, names, Reading(_data.freq_word(self.freq), [], [], self.settings.threads, self.settings.end))
        for model in searched:
            model.search(fit, val_size)
        if val_df is not None:
            return 0
        with_validation = not searched or len(searched) < len(self.models) or any(model.refit_with_val for model in searched)
        return (val_size or (self.h if searched and searched[0].refit_with_val else 0)) if with_validation else 0

    def _bar(self, verbose: bool) -> _engine.Bar:
        wanted = (getattr(model, "trainer_kwargs", {}).get("enable_progress_bar") for model in self.models)
        return _engine.Bar(verbose or any(wanted))

    def _begin(self, use_init_models: bool) -> None:
        """Forgets what was trained, if it is not to be trained further.

        Raises:
            ValueError: If it is, and the features are others than those that it reads.
        """
        if use_init_models:
            _checks.warn_of_new_models(self._fitted)
            self._reset_models()
        elif self._computed:
            raise ValueError(
                f"features: the trained models read {', '.join(self._computed)}, so the features stay as they were; "
                "use_init_models=True trains anew, with others"
            )

    def _reset_models(self) -> None:
        self.models = copy.deepcopy(self.models_init)
        # Loaded models may have a hierarchy that no model of the list names; others are let go before the training.
        self._forgotten = (self._engine or self._forgotten) if self._has_hierarchy() else None
        self._engine = self._start = None
        self._computed = ()

    def _read(
        self, df: Any, static_df: Any, names: Names, forecaster: _foretell.Forecaster, teacher: NeuralForecast | None = None,
        scratch: str | os.PathLike[str] | None = None,
    ) -> Data:  # fmt: skip
        columns, categories, reads_statics = forecaster.columns, forecaster.categories, self._reads_statics()
        if teacher is not None:
            engine = teacher._trained()
            columns = list(dict.fromkeys([*columns, *engine.columns]))
            categories = list(dict.fromkeys([*categories, *engine.categories]))
            reads_statics = reads_statics or teacher._reads_statics()
        reading = Reading(_data.freq_word(self.freq), columns, categories, self.settings.threads, self.settings.end)
        static_df = static_df if reads_statics else None
        if scratch is not None:
            from foretell import _by_turns

            return _by_turns.read(df, static_df, names, reading, scratch)
        if df is not None:
            return _data.read(df, static_df, names, reading)
        stored = self._stored()
        if stored.df is None or stored.reading == reading:
            return stored
        return _data.read(stored.df, stored.static_df, names, reading)

    def _keep(
        self, fitted: _foretell.Fitted, data: Data | None, val_size: int, test_size: int, intervals: PredictionIntervals | str | None,
        forecaster: _foretell.Forecaster, names: Names | None = None,
    ) -> None:  # fmt: skip
        self._engine, self._data, self._forgotten = fitted, data, None
        for model in self.models:
            model.test_size = test_size
        losses = {of_model["model"]: of_model for of_model in forecaster.losses}
        for (name, model), (train_loss, valid_loss) in zip(_engine.named(fitted, self.models), fitted.losses):
            model.metrics = metrics(train_loss, valid_loss)
            model.val_size = val_size
            if name in losses:
                model.train_trajectories, model.valid_trajectories = losses[name]["train"], losses[name]["valid"]
        self._tell_models()
        self.prediction_intervals = intervals
        self._name_columns(data.names if data is not None else names or self._names())

    def _name_columns(self, names: Names) -> None:
        self.id_col, self.time_col, self.target_col = names.all
        self._id_parts = names.id_parts

    def _validation(self, val_df: Any, data: Data) -> _foretell.Panel | None:
        """The rows to validate on, as models read them."""
        if val_df is None:
            return None
        validation = _data.read(val_df, None, data.names, data.reading, "val_df").panel
        if validation.min_len != validation.max_len:
            raise ValueError(
                "All series in val_df must be of equal length. Found series lengths ranging from "
                f"{validation.min_len} to {validation.max_len}"
            )
        return validation

    def cross_validation(
        self, df: TableT | None = None, static_df: Any = None, n_windows: int | None = 1, step_size: int = 1, val_size: int | None = 0,
        test_size: int | None = None, use_init_models: bool = False, use_fitted: bool = False, verbose: bool = False,
        refit: bool | int = False, id_col: str | Sequence[str] = "unique_id", time_col: str = "ds", target_col: str = "y",
        prediction_intervals: PredictionIntervals | str | None = None, level: Sequence[float] | None = None,
        quantiles: Sequence[float] | None = None, h: int | None = None, *, checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 500, **data_kwargs: Unpack[LoaderOptions],
    ) -> TableT:  # fmt: skip
        """Trains the models without the last rows of each series, and forecasts these.

        Args:
            df: Series as for `fit`; None for those of the last training. With ``use_fitted`` those of a table of Spark, Dask or Ray are
                forecast by its workers.
            static_df: Their static columns.
            n_windows: Forecasts of each series. None with ``test_size``.
            step_size: Steps from one to the next.
            val_size: Steps before them to validate on.
            test_size: Steps to forecast in all, in place of ``n_windows``.
            use_init_models: Whether models that were trained before begin anew.
            use_fitted: Whether the models stay unchanged, without training.
            verbose: Whether progress is shown, if tqdm is installed.
            refit: Whether the models are trained for each window, or before every n-th for a number n; each time from the start.
            id_col: The column of ids, or several that make them together, which are joined by ``/`` and stand in ``unique_id`` of what comes back.
            time_col: The column of times.
            target_col: The column to forecast.
            prediction_intervals: How to calibrate intervals; with ``refit``. Or where they come from otherwise, as of `fit`.
            level: Percentages of central intervals.
            quantiles: Quantiles in place of levels.
            h: Steps of each forecast, at least those of the models; None for these.
            checkpoint: A directory that keeps the state of the trainings, as for `fit`.
            checkpoint_every: Steps from one state to the next.
            **data_kwargs: Arguments of PyTorch's DataLoader, accepted and not used; any other is a TypeError.

        Returns:
            A table with the columns of ids, times and cutoffs, those of the models, and the target.
        """
        _checks.check_data_arguments(self.cross_validation, data_kwargs)
        _checks.check_intervals(prediction_intervals)
        h = _ahead.horizon(self.models, self.h, h, None if isinstance(prediction_intervals, str) else prediction_intervals)
        val_size, refit = _checks.count("val_size", val_size or 0), _checks.count("refit", int(refit) if isinstance(refit, bool) else refit)
        n_windows, test_size = windows(h, n_windows, step_size, test_size)
        levels = _levels.asked(level, quantiles)
        names = self._data.names if df is None and self._data else Names(id_col, time_col, target_col)
        if use_fitted:
            if h != self.h:
                raise NotImplementedError("`use_fitted=True` forecasts the models' own horizon: leave h out")
            fitted_ones: TableT = self._validate_fitted(df, static_df, n_windows, step_size, refit, use_init_models, prediction_intervals, levels)
            return fitted_ones
        _checks.warn_of_left_intervals(self.prediction_intervals, prediction_intervals)
        given, df, static_df = df, _frames.gathered(df), _frames.gathered(static_df)
        if prediction_intervals is not None and not levels:
            raise ValueError("When passing prediction_intervals you need to set the level or quantiles argument.")
        if prediction_intervals is not None and not isinstance(prediction_intervals, str) and not refit:
            raise ValueError("Passing prediction_intervals is only supported with refit=True.")
        if df is None and refit:
            raise ValueError("Must specify `df` with `refit!=False`.")
        levels = levels if refit or prediction_intervals is not None else self._own_levels(levels)
        val_size = self._search(df, static_df, names, val_size, test_size, use_init_models)
        course = _engine.Course.of((), checkpoint, checkpoint_every)
        forecaster = self._forecaster(names, val_size, prediction_intervals, df, course)
        data = self._read(df, static_df, names, forecaster)
        if refit:
            _checks.check_lengths(self.models, data.panel.min_len - test_size - val_size)
        with self._bar(verbose) as bar:
            frame, fitted, stopped = forecaster.cross_validate(
                data.panel, n_windows, step_size, refit, levels.level, bar.listener, h, levels.quantiles, self.settings.raw_quantiles
            )
        # The last training of several knows the windows before it.
        known = (n_windows - 1) // refit * refit * step_size if refit else 0
        self._keep(fitted, data, val_size, test_size - known, prediction_intervals, forecaster)
        if stopped is not None:
            raise stopped
        table = data.table(levels.named(frame, _engine.named(fitted, self.models)), self._in_double(levels))
        found: TableT = _frames.scattered(with_truth(table, data), given)
        return found

    def _own_levels(self, levels: _levels.Levels) -> _levels.Levels:
        """Levels that models have by themselves; none, with a warning, if no model has any."""
        if not levels or any(map(_engine.has_intervals, self.models)):
            return levels
        warnings.warn("models of one number have intervals with prediction_intervals and refit only", stacklevel=3)
        return _levels.Levels()

    def _validate_fitted(
        self, df: Any, static_df: Any, n_windows: int, step_size: int, refit: int, use_init_models: bool,
        intervals: PredictionIntervals | str | None, levels: _levels.Levels,
    ) -> Any:  # fmt: skip
        fitted = self._trained("`use_fitted=True` requires a model previously fitted with `fit`.")
        if refit:
            raise ValueError("`use_fitted=True` is only supported with `refit=False`.")
        if use_init_models:
            raise ValueError(
                "`use_fitted=True` cannot be combined with `use_init_models=True`; "
                "`use_init_models` discards the fitted weights that `use_fitted` relies on."
            )
        if isinstance(intervals, str):
            raise ValueError("`use_fitted=True` keeps the intervals that the models were trained with: leave prediction_intervals out")
        if intervals is not None or self._calibrated is not None:
            raise ValueError("`use_fitted=True` is not supported with `prediction_intervals` (calibration requires retraining).")
        levels = levels if isinstance(self.prediction_intervals, str) else self._own_levels(levels)
        if _frames.is_distributed(df):
            from foretell import _distributed

            return _distributed.validate(self, fitted, df, static_df, n_windows, step_size, levels)
        data = self._given(fitted, df, static_df)
        frame = fitted.validate(data.panel, n_windows, step_size, levels.level, levels.quantiles, self.settings.raw_quantiles)
        return with_truth(data.table(levels.named(frame, _engine.named(fitted, self.models))), data)

    # Files.

    @staticmethod
    def load(
        path: str | os.PathLike[str], verbose: bool = False, allow_pickle: bool = False, trust_remote: bool = False, **kwargs: Any
    ) -> NeuralForecast:
        """Reads a directory that `save` wrote, here or in neuralforecast.

        Args:
            path: The directory, as for `save`.
            verbose: Accepted and not used.
            allow_pickle: Whether directories of neuralforecast 3.2 and older are read, too. Nothing in them is executed.
            trust_remote: Accepted and not used: nothing in a directory is executed.
            map_location: Accepted and not used, as arguments that say how PyTorch reads files: ``weights_only``.
            **kwargs: Settings of the forecaster, such as ``threads`` and ``raw_quantiles``. ``end``, ``non_negative`` and ``integer`` hold in
                place of those that were saved at once; scalers and baselines at the next `fit`, other features at one with ``use_init_models``.

        Raises:
            FileNotFoundError: If there is none.
            ValueError: If it holds something else.
        """
        with _files.local(os.fspath(path)) as directory:
            if allow_pickle and os.path.isfile(os.path.join(directory, "configuration.pkl")):
                fitted, panel = _engine.imported(directory), None
            else:
                fitted, panel = _foretell.Fitted.load(directory, _checks.count("threads", kwargs.get("threads", 0)))
        specs = json.loads(fitted.models)
        if any(spec["model"] == "Auto" for spec in specs):
            reader = "AutoForecaster.load" if len(specs) == 1 else "beside other models the command `foretell predict` alone"
            raise ValueError(f"{path} holds an automatic forecast: {reader} reads it")
        kwargs = {name: value for name, value in kwargs.items() if name not in ("map_location", "weights_only")}
        forecaster = NeuralForecast._of(fitted, **kwargs)
        if panel is not None:
            names = Names.of_trained(fitted)
            forecaster._data = _data.stored(panel, names, Reading(fitted.freq, fitted.columns, fitted.categories), fitted.tables)
        return forecaster

    @staticmethod
    def _of(fitted: _foretell.Fitted, **settings: Any) -> NeuralForecast:
        """Models that the engine has, with these settings in place of their own."""
        fitted = _engine.keeping(fitted, settings)
        specs, saved, computed = json.loads(fitted.models), _engine.settings_of(fitted), _engine.computed_columns(fitted)

        def made(without: Sequence[str]) -> list[Any]:
            each = zip(specs, json.loads(fitted.trainer_arguments))
            own = [model_from_spec(spec["model"], _engine.without_columns(spec["hyper_parameters"], without), trainer) for spec, trainer in each]
            return [*own, *map(Ensemble.of_column, fitted.ensembles)]

        freq = int(fitted.freq) if fitted.freq is not None and fitted.freq.isdecimal() else fitted.freq
        forecaster = NeuralForecast(made([]), freq, **{**saved, **settings})
        forecaster._engine = fitted
        if computed:
            # What begins anew is given the columns of its features then.
            forecaster.models_init = made(computed)
            forecaster._computed = computed if _engine.differ(saved["features"], forecaster.settings.features) else ()
        forecaster._tell_models()
        forecaster._name_columns(Names.of_trained(fitted))
        forecaster.prediction_intervals = _engine.intervals_of(fitted.intervals)
        return forecaster

    # Smaller models.

    def prune(
        self, df: Any = None, static_df: Any = None, *, sparsity: float, structured: bool = False, by: str = "layer", steps: int | None = None,
        learning_rate: float | None = None, n_windows: int = 3, season: int | None = None, verbose: bool = False,
    ) -> tuple[NeuralForecast, list[dict[str, Any]]]:  # fmt: skip
        """Makes the networks smaller by the magnitude of their weights, and trains what is left.

        Args:
            df: Series to train on, as for `predict`; None for those of the training.
            static_df: Their static columns.
            sparsity: The share of the weights that become zero, or of the hidden units that are removed: at least 0 and below 1.
            structured: Whether whole hidden units are removed, so that products get smaller and forecasts faster; single weights that are
                zero take as long as others.
            by: Which single weights are compared: those of a "layer", each of which loses the same share, or all of the "network".
            steps: Steps of training on what is left; None for a quarter of each network's ``max_steps``.
            learning_rate: The rate of these steps; None for that of each network.
            n_windows: Horizons at the end of each series that are not trained on, and that are forecast before and after. Models that were
                trained on these rows before look better on them than they are.
            season: Steps of a season, for the MASE; None for the usual ones of the frequency.
            verbose: Whether progress is shown, if tqdm is installed.

        Returns:
            A forecaster of the smaller models, which are networks like any other; and of each network two dictionaries, before and after:
            its errors, parameters, bytes, and the times of forecasts, as the command ``foretell prune --json`` has them.

        Raises:
            ValueError: If no model is a network, or units are to be removed of one that has none.
        """
        fitted = self._trained("You must fit the models before pruning them.")
        data = self._given(fitted, df, static_df)
        count = _checks.count
        asked = {
            "sparsity": float(sparsity), "structured": structured, "by": by, "steps": None if steps is None else count("steps", steps),
            "learning_rate": learning_rate, "n_windows": count("n_windows", n_windows, 1),
            "season": None if season is None else count("season", season, 1), **self.settings.of_steps,
        }  # fmt: skip
        with self._bar(verbose) as bar:
            pruned, scores = fitted.prune(data.panel, json.dumps(asked), bar.listener)
        smaller = NeuralForecast._of(pruned, **self.settings.given)
        smaller._data = self._data
        return smaller, json.loads(scores)


Model.trained_by = NeuralForecast
