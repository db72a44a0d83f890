"""What trained models are asked for: forecasts, paths, explanations, files."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell import _ahead, _checks, _data, _engine, _files, _foretell, _frames, _levels, _missing
from foretell._data import Data, Names, Reading
from foretell._scaling import LocalScaler
from foretell._truth import with_truth
from foretell.errors import NothingStoredError
from foretell.utils import VALID_SIMULATION_METHODS, PredictionIntervals

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from foretell._calls import LoaderOptions, TableT
    from foretell._prepared import Prepared
    from foretell.tsdataset import TimeSeriesDataset


class Trained:
    """The half of ``NeuralForecast`` that forecasts: the models, what they were trained on, and what they learned."""

    models: list[Any]
    h: int
    freq: Any
    settings: _engine.Settings
    id_col: str
    time_col: str
    target_col: str
    _id_parts: tuple[str, ...] = ()
    prediction_intervals: PredictionIntervals | str | None
    _engine: _foretell.Fitted | None
    _forgotten: _foretell.Fitted | None = None
    _data: Data | None

    # What the last training was given and left.

    @property
    def _calibrated(self) -> PredictionIntervals | None:
        """How intervals were calibrated; None for those by dropout and spread, which are computed with each forecast."""
        return None if isinstance(self.prediction_intervals, str) else self.prediction_intervals

    @property
    def _fitted(self) -> bool:
        return self._engine is not None

    @property
    def uids(self) -> Any:
        """The ids of the series of the last training, a column of the user's kind."""
        return self._last_rows()[self.id_col]

    @property
    def last_dates(self) -> Any:
        """The last time of each of them; of pandas an index, as neuralforecast has it."""
        return _frames.index(self._last_rows()[self.time_col])

    @property
    def ds(self) -> Any:
        """The times of all their rows, series by series; of pandas and polars an array of numpy."""
        data = self._stored()
        times = data.table(data.panel.rows())[self.time_col]
        return times.to_numpy() if hasattr(times, "to_numpy") else times

    @property
    def dataset(self) -> TimeSeriesDataset | None:
        """The series of the last training as models take them that are fitted by themselves (pandas is needed); None before one."""
        from foretell.tsdataset import TimeSeriesDataset

        if self._data is None:
            return None
        data = self._data
        df = data.table(data.panel.rows()) if data.df is None else _frames.pandas(data.df)
        static_df = None if data.static_df is None else _frames.pandas(data.static_df)
        return TimeSeriesDataset.from_df(df, static_df, *data.names.all)[0]

    @property
    def categorical_vocab_(self) -> dict[str, dict[Any, int]]:
        """The numbers of the categories of each column that holds some, from 1; of loaded models as texts."""
        data = self._data
        if self._engine is None:
            return {}
        if data is None or data.df is None:
            return {column: {value: place for place, value in enumerate(values, 1)} for column, values in self._engine.vocabulary}
        vocabulary = {}
        for column in self._engine.categories:
            is_static = data.static_df is not None and column in _frames.columns(data.static_df)
            values = _frames.distinct(data.static_df if is_static else data.df, column)
            vocabulary[column] = {value: place for place, value in enumerate(values, 1)}
        return vocabulary

    @property
    def scalers_(self) -> dict[str, LocalScaler]:
        """The scaler of the target and of each column of rows, with ``local_scaler_type``: `stats_` has a row a series (numpy is needed)."""
        return self._scalers()[0]

    @property
    def static_scalers_(self) -> dict[str, LocalScaler]:
        """The scaler of each static column, with ``local_static_scaler_type`` (numpy is needed)."""
        return self._scalers()[1]

    def _scalers(self) -> tuple[dict[str, LocalScaler], dict[str, LocalScaler]]:
        types = self.settings.local_scaler_type, self.settings.local_static_scaler_type
        if self._engine is None or self._data is None or types == (None, None):
            return {}, {}
        held_out = getattr(self.models[0], "test_size", 0)
        of_rows, of_statics = self._engine.local_statistics(self._data.panel, held_out)
        places = _frames.places_of_series(self._data.panel.future(0), self._data.kind)
        return (
            {column: LocalScaler.of(str(types[0]), [pairs[place] for place in places]) for column, pairs in of_rows.items()},
            {column: LocalScaler.of(str(types[1]), pairs) for column, pairs in of_statics.items()},
        )

    @property
    def interval_sources(self) -> dict[str, str | None]:
        """Where the intervals of each column of a forecast come from: ``10:conformal_error:1`` of errors of the past (windows, method and
        step), ``dropout:200``, ``own`` of a model that forecasts them by itself, ``spread`` of an ensemble, ``members`` of one that combines
        those of its members; None for a column without intervals."""
        return {} if self._engine is None else dict(self._engine.interval_sources)

    @property
    def _cs_df(self) -> Any:
        """The absolute errors that intervals were calibrated by, a row per id, time and cutoff; None without calibration."""
        panel = None if self._data is None else self._data.panel
        errors = None if self._engine is None else self._engine.calibration_errors(panel)
        if self._engine is None or errors is None:
            return None
        return _frames.from_engine(errors, _data.kind_of_loaded(self._engine.tables)) if self._data is None else self._data.table(errors)

    def _names(self) -> Names:
        return Names(self._id_parts or self.id_col, self.time_col, self.target_col, are_given=False)

    def _last_rows(self) -> Any:
        data = self._stored()
        return data.table(data.panel.future(0))

    def _stored(self) -> Data:
        if self._data is None:
            raise NothingStoredError("You must pass a DataFrame or have one stored.")
        return self._data

    def _trained(self, message: str = "You must fit the model before predicting.") -> _foretell.Fitted:
        if self._engine is None:
            raise ValueError(message)
        return self._engine

    # Forecasts.

    def predict(
        self, df: TableT | None = None, static_df: Any = None, futr_df: Any = None, verbose: bool = False, engine: Any = None,
        level: Sequence[float] | None = None, quantiles: Sequence[float] | None = None, h: int | None = None,
        num_partitions: int | None = None, **data_kwargs: Unpack[LoaderOptions],
    ) -> TableT:  # fmt: skip
        """Forecasts what follows each series.

        Args:
            df: Series to forecast, which need not be those of the training; None for these. Those of a table of Spark, Dask or Ray are
                forecast by its workers.
            static_df: Their static columns.
            futr_df: The future values of columns that are known ahead.
            verbose: Accepted and not used.
            engine: What fugue makes an engine of, such as a session of Spark; None for that of ``df``.
            level: Percentages of central intervals, as columns such as ``NHITS-lo-80`` and ``NHITS-hi-80``.
            quantiles: Quantiles in place of levels, as columns such as ``NHITS_ql0.9``, ``NHITS-ql0.9`` where they are calibrated.
            h: Steps, at least those that the models forecast.
            num_partitions: Parts of a table of Spark, Dask or Ray, at most; None for as many as run at a time.
            **data_kwargs: Arguments of PyTorch's DataLoader, accepted and not used; any other is a TypeError.

        Returns:
            A table of the kind of ``df`` with a row per id and time, and a column per output of each model; a lazy one of Spark, Dask and
            Ray, whose rows come in any order.
        """
        _checks.check_data_arguments(self.predict, data_kwargs)
        if df is None and self._data is None:
            raise ValueError("You must pass a DataFrame or have one stored.")
        fitted = self._trained()
        h = _ahead.horizon(self.models, self.h, h, self._calibrated)
        levels = _levels.asked(level, quantiles)
        if _frames.is_distributed(df):
            from foretell import _distributed

            lazy: TableT = _distributed.predict(self, fitted, df, static_df, futr_df, h, level, quantiles, engine, num_partitions)
            return lazy
        data = self._given(fitted, df, static_df)
        future = _ahead.future_rows(fitted, data, futr_df, h, self.h, df is not None)
        try:
            frame = fitted.predict(data.panel, future, h, levels.level, self.settings.raw_quantiles, levels.quantiles)
        except ValueError as error:
            raise data.reworded(error, "futr_df") from None
        if levels:
            frame = levels.named(frame, _engine.named(fitted, self.models))
        found: TableT = data.table(frame, self._in_double(levels))
        return found

    def prepared(self, like: Any = None, static_df: Any = None) -> Prepared:
        """The models for forecasts of arrays, without tables (numpy is needed): for series that are forecast again and again.

            p = nf.prepared(like=df)
            p(y)["NHITS"]
            p(y, futr={"price": prices}, level=[80])

        Args:
            like: A table as for `predict`: its series, the times that they end at, its columns; the values are not used. None for the
                series of the training.
            static_df: Their static columns.

        Returns:
            A function of arrays, `foretell._prepared.Prepared`, which forecasts to the last bit what `predict` does.

        Raises:
            ColumnError: If a column is not there.
            ValueError: If models have a hierarchy of other series.
            NotImplementedError: If models read rows of categories.
        """
        from foretell._prepared import Course, Prepared

        fitted = self._trained()
        data = self._given(fitted, _frames.gathered(like), static_df)
        course = Course(self.models, self.h, self._calibrated, self.settings.raw_quantiles, self._in_double(_levels.Levels([50.0])))
        return Prepared(fitted, data, course)

    def _in_double(self, levels: _levels.Levels) -> bool:
        """Whether forecasts come in double precision: in neuralforecast all do beside calibrated intervals, which are of the errors of
        values in double precision."""
        return bool(levels) and self._calibrated is not None and not all(map(_engine.has_intervals, self.models))

    def _given(self, fitted: _foretell.Fitted, df: Any, static_df: Any) -> Data:
        """The series of tables, or those of the training, with other static columns if these are given."""
        if df is not None:
            return self._read_for(fitted, df, static_df)
        stored = self._stored()
        if static_df is None or not self._reads_statics():
            return stored
        if stored.df is None:
            warnings.warn("static_df is not used: the series were loaded with their static columns; give df, too", stacklevel=3)
            return stored
        return self._read_for(fitted, stored.df, static_df)

    def _read_for(self, fitted: _foretell.Fitted, df: Any, static_df: Any) -> Data:
        """The series of other tables, for trained models."""
        reading = Reading(fitted.freq, fitted.columns, fitted.categories, self.settings.threads, self.settings.end)
        static_df = static_df if self._reads_statics() else None
        read = dict.fromkeys(name for model in self.models for name in getattr(model, "stat_exog_list", None) or [])
        _checks.check_statics(list(read), static_df)
        return _data.read(df, static_df, self._names(), reading, is_kept=False)

    def _reads_statics(self) -> bool:
        return any(getattr(model, "stat_exog_list", None) for model in self.models)

    def make_future_dataframe(self, df: TableT | None = None, h: int | None = None) -> TableT:
        """The ids and times of the ``h`` steps that follow each series of ``df``, or of the training's."""
        fitted = self._trained("You must fit the model first.")
        h = self.h if h is None else _checks.count("h", h, 1)
        if df is None:
            data = self._stored()
        else:
            data = _data.read(df, None, self._names(), Reading(fitted.freq, [], []), is_kept=False)
        found: TableT = data.table(data.panel.future(h))
        return found

    def get_missing_future(self, futr_df: Any, df: TableT | None = None, h: int | None = None) -> TableT:
        """The rows of `make_future_dataframe` that a table lacks."""
        expected = self.make_future_dataframe(df, h)
        found: TableT = _missing.anti_join(expected, self._names().joined(_frames.native(futr_df), "futr_df"), [self.id_col, self.time_col])
        return found

    def predict_insample(
        self, step_size: int = 1, level: Sequence[float] | None = None, quantiles: Sequence[float] | None = None
    ) -> Any:
        """Forecasts the rows of the training, from a cutoff every ``step_size`` steps; without those that it did not see.

        Args:
            step_size: Steps from one cutoff to the next.
            level: Percentages of central intervals, of models whose loss has them.
            quantiles: Quantiles in place of levels.

        Returns:
            A table with the columns of ids, times and cutoffs, those of the models, and the target.
        """
        fitted = self._trained("The models must be fitted first with `fit` or `cross_validation`.")
        step_size = _checks.count("step_size", step_size, 1)
        levels = _levels.asked(level, quantiles)
        if levels and self._calibrated is not None:
            raise NotImplementedError(
                "One or more models has been trained with conformal prediction intervals. They are not supported for insample predictions, "
                f"whose rows calibrated them. Set {'level' if quantiles is None else 'quantiles'}=None"
            )
        for model in self.models:
            if getattr(model, "MULTIVARIATE", False):
                raise NotImplementedError(
                    f"Model {model} is multivariate. Insample predictions are not supported for multivariate models."
                )
        if self._data is None:
            raise NothingStoredError(
                "predict_insample forecasts the rows of the training, which are not stored: call fit, or load models that were saved with "
                "save_dataset=True; cross_validation(df, use_fitted=True) forecasts the last rows of a table"
            )
        data, test_size = self._stored(), getattr(self.models[0], "test_size", 0)
        frame = fitted.predict_insample(
            data.panel, step_size, test_size, levels.level, levels.quantiles, self.settings.raw_quantiles
        )
        return with_truth(data.table(levels.named(frame, _engine.named(fitted, self.models))), data)

    def simulate(
        self, df: TableT | None = None, static_df: Any = None, futr_df: Any = None, n_paths: int = 100, quantiles: Sequence[float] | None = None,
        seed: int | None = None, method: str = "gaussian_copula", verbose: bool = False, engine: Any = None,
        h: int | None = None, **data_kwargs: Unpack[LoaderOptions],
    ) -> TableT:  # fmt: skip
        """Draws paths of what follows each series: quantiles say how likely a value is at a step, paths also how steps go together.

        Args:
            df: Series as for `predict`.
            static_df: Their static columns.
            futr_df: The future values of columns that are known ahead.
            n_paths: Paths of each series.
            quantiles: The quantiles that a distribution or a calibrated model is known by; None for the hundredths.
            seed: The seed of all draws; None for 1.
            method: "gaussian_copula", "schaake_shuffle", or "ancestral" of recurrent networks of a distribution.
            verbose: Accepted and not used.
            engine: Accepted and not used: the rows of tables of Spark, Dask and Ray are gathered here.
            h: Steps of each path, as of `predict`; None for the models' own horizon.
            **data_kwargs: Arguments of PyTorch's DataLoader, accepted and not used; any other is a TypeError.

        Returns:
            A table of the kind of ``df`` with a row per path, id and time, path by path, which ``sample_id`` numbers, and a column per model.

        Raises:
            ValueError: If a model forecasts one number and was not calibrated (``prediction_intervals``), or has no such paths.
        """
        _checks.check_data_arguments(self.simulate, data_kwargs)
        fitted = self._trained("You must fit the model before simulating.")
        if not isinstance(n_paths, int) or n_paths < 1:
            raise ValueError(f"`n_paths` must be a positive integer, got {n_paths!r}.")
        if method not in (methods := sorted([*VALID_SIMULATION_METHODS, "ancestral"])):
            raise ValueError(f"Unknown simulation method '{method}'. Valid methods: {methods}")
        seed = 1 if seed is None else _checks.count("seed", seed)
        given, df, static_df = df, _frames.gathered(df), _frames.gathered(static_df)
        data = self._given(fitted, df, static_df)
        h = _ahead.horizon(self.models, self.h, h, self._calibrated)
        future = _ahead.future_rows(fitted, data, futr_df, h, self.h, df is not None)
        frame = fitted.simulate(data.panel, future, n_paths, seed, method, list(quantiles or []), h)
        found: TableT = _frames.scattered(_frames.with_whole(data.table(frame), "sample_id"), given)
        return found

    def explain(
        self, horizons: list[int] | None = None, outputs: list[int] | None = [0], series: list[int] | None = None,
        explainer: str = "IntegratedGradients", df: TableT | None = None, static_df: Any = None, futr_df: Any = None, h: int | None = None,
        verbose: bool = True, engine: Any = None, level: Sequence[float] | None = None, quantiles: Sequence[float] | None = None,
        **data_kwargs: Unpack[LoaderOptions],
    ) -> tuple[TableT, dict[str, Any]]:  # fmt: skip
        """What each input of the networks contributes to their forecasts, in units of the target.

        Args:
            horizons: The steps that are explained, counted from 0; None for all.
            outputs: Which outputs of the models' losses are explained; None for the first.
            series: Which of the series that a multivariate model forecasts together; None for all.
            explainer: "IntegratedGradients", "ShapleyValueSampling" or "InputXGradient".
            df: Series as for `predict`; the rows of tables of Spark, Dask and Ray are gathered here.
            static_df: Their static columns.
            futr_df: The future values of columns that are known ahead.
            h: Steps, at least those that the models forecast. Of a network that forecasts its horizon at once, later steps are explained as
                they are forecast, horizon by horizon, by the window before each: its last values are then forecasts.
            verbose: Whether models that are not explained are warned of.
            engine: Accepted and not used.
            level: Percentages of central intervals of the forecasts.
            quantiles: Quantiles in place of levels.
            **data_kwargs: Arguments of PyTorch's DataLoader, accepted and not used; any other is a TypeError.

        Returns:
            The forecasts of the models that are explained, and for each of these arrays (numpy is needed), ``[series, steps, 1, outputs,
            ...]`` of univariate models: "insample" ``[..., input_size, 2]``, the second of which is 0, "futr_exog" ``[..., columns,
            input_size + h]``, "hist_exog" ``[..., columns, input_size]``, "stat_exog" ``[..., columns]``, and "baseline_predictions",
            the forecast from zeros, which those of integrated gradients and Shapley values add up to the forecast with. Of multivariate
            models they are ``[1, steps, series, outputs, ...]``, with an axis of the series that an input is of at their end, before the
            2 and before the static columns.

        Raises:
            ValueError: If no model is explained, or there is no such step, output or series.
        """
        from foretell import _explanations

        _checks.check_data_arguments(self.explain, data_kwargs)
        fitted = self._trained()
        places = _explanations.explainable(self.models, explainer, verbose)
        explained = [self.models[place] for place in places]
        h = _ahead.horizon(explained, self.h, h, self._calibrated)
        horizons = list(range(h)) if horizons is None else horizons
        _checks.check_choice("indices", horizons, range(h), "horizon steps")
        outputs = [0] if outputs is None else outputs
        _checks.check_choice("output indices", outputs, range(min(m.loss.outputsize_multiplier for m in explained)), "outputs of all models")
        n_series = max([m.n_series or 1 for m in explained if m.MULTIVARIATE], default=1)
        series = list(range(n_series)) if series is None else series
        _checks.check_choice("series indices", series, range(n_series), "series")
        data = self._given(fitted, df, static_df)
        fitted = fitted.only(_engine.places(self.models, places))
        future = _ahead.future_rows(fitted, data, futr_df, h, self.h, df is not None)
        found = _explanations.explain(fitted, explained, data, future, explainer, h, horizons, outputs, series)
        levels = _levels.asked(level, quantiles)
        frame = fitted.predict(data.panel, future, h, levels.level, self.settings.raw_quantiles, levels.quantiles)
        # The rows are of the series in the order of the arrays.
        table: TableT = _frames.from_engine(levels.named(frame, _engine.named(fitted, explained)), data.kind, self._in_double(levels))
        return table, found

    def decompose(
        self, df: TableT | None = None, static_df: Any = None, futr_df: Any = None, h: int | None = None
    ) -> TableT:
        """The parts that forecasts are made of, which add up to them: of NBEATS, NBEATSx and NHITS a level and what each block adds, of DLinear,
        Autoformer and FEDformer a trend and a seasonality, of FLAIR a level and a season, of Prophet its trend, seasonalities, holidays
        and columns.

        Args:
            df: Series as for `predict`; the rows of tables of Spark, Dask and Ray are gathered here.
            static_df: Their static columns.
            futr_df: The future values of columns that are known ahead.
            h: Steps to take apart, as of `predict`; None for the models' own horizon.

        Returns:
            A table of the kind of ``df`` with a row per id and time, and a column per part, such as ``NHITS:block_1``; a network with the
            loss of a distribution has none, which a warning says.

        Raises:
            ValueError: If no model has parts.
        """
        found: TableT = self._decomposed(None, df, static_df, futr_df, h)
        return found

    def _decomposed(self, place: int | None, df: Any, static_df: Any, futr_df: Any, h: int | None) -> Any:
        """The parts of all models' forecasts, or of those of the model at a place of the list."""
        fitted = self._trained()
        data = self._given(fitted, df, static_df)
        if place is not None:
            fitted = fitted.only(_engine.places(self.models, [place]))
        h = _ahead.horizon(self.models, self.h, h, None)
        future = _ahead.future_rows(fitted, data, futr_df, h, self.h, df is not None)
        return data.table(fitted.decompose(data.panel, future, h))

    def feature_importances(self, df: Any = None, static_df: Any = None, futr_df: Any = None) -> list[dict[str, Any]]:
        """The weights behind the forecasts of each model that has such (TFT): those of its variable selections and of its attention, means
        over all series.

        Args:
            df: Series as for `predict`; the rows of tables of Spark, Dask and Ray are gathered here.
            static_df: Their static columns.
            futr_df: The future values of columns that are known ahead.

        Returns:
            Of each model a dictionary: "model", its name; "series", the number of series; "past", "future" and "attention", each with
            "steps", 0 the last of the history, and "columns", the weights of each column at each step, or None; and "static", the weight
            of each static column. `foretell.report` takes it.

        Raises:
            ValueError: If no model has such weights.
        """
        fitted = self._trained()
        data = self._given(fitted, df, static_df)
        future = _ahead.future_rows(fitted, data, futr_df, self.h, self.h, df is not None)
        weights: list[dict[str, Any]] = json.loads(fitted.feature_importances(data.panel, future))
        return weights

    def anomalies(self, df: TableT | None = None, static_df: Any = None, level: float = 99) -> TableT:
        """Marks values that are outside the intervals of their forecasts, of the whole history, one horizon after the other.

        Args:
            df: Series as for `predict`; None for those of the training, which the models have seen.
            static_df: Their static columns.
            level: The percentage of values that an interval holds. It is the model's own where it has one of the level, else that of a
                normal distribution with the deviation of its errors in the series, taken from the median of their sizes.

        Returns:
            A table of the kind of ``df`` with the target and, of each model such as NHITS, the columns ``NHITS``, ``NHITS-lo``, ``NHITS-hi``,
            ``NHITS-anomaly`` (1 outside, 0 inside), ``NHITS-score`` (how far outside, in widths of the interval) and ``NHITS-rank`` (the
            share of the series' values that are as far off or farther).
        """
        fitted = self._trained()
        data = self._given(fitted, df, static_df)
        found: TableT = with_truth(data.table(fitted.anomalies(data.panel, float(level))), data)
        return found

    # Files and copies.

    def save(
        self, path: str | os.PathLike[str], model_index: Sequence[int] | None = None, save_dataset: bool = True, overwrite: bool = False
    ) -> None:
        """Writes a directory that `NeuralForecast.load` reads, here and in neuralforecast.

        Args:
            path: The directory, which appears whole or not at all; elsewhere than on this machine (``s3://``, ...) by fsspec, where it
                is installed.
            model_index: The places of the models to save; None for all.
            save_dataset: Whether the series of the training are saved as well, so that the loaded models forecast them.
            overwrite: Whether a directory of models is replaced.

        Raises:
            FileExistsError: If the directory has files, and may not be replaced.
        """
        fitted = self._trained("You must fit the models before saving them.")
        if save_dataset and self._data is None:
            raise ValueError("You need to have a stored dataset to save it, set `save_dataset=False` to skip saving dataset.")
        if model_index is not None and sorted(model_index) != list(range(len(self.models))):
            fitted = fitted.only(_engine.places(self.models, model_index))
        panel = self._data.panel if save_dataset and self._data else None
        if self._data is not None:
            fitted = fitted.keep(json.dumps({"tables": "pyarrow" if self._data.kind.module == "arrow" else self._data.kind.module}))
        _files.write(fitted, os.fspath(path).rstrip("/"), overwrite, panel)

    def export_onnx(self, path: str | os.PathLike[str], model: str | None = None) -> None:
        """Writes a network as an ONNX file, which ONNX Runtime forecasts with: window scaling, exogenous columns and quantiles are inside,
        and the batch may be of any size. docs/onnx.md has its inputs and its output.

        Args:
            path: The file.
            model: The name of the network's column in forecasts; None where it is the only one.

        Raises:
            ValueError: If there is no such network, or ONNX has no operation for something that it does.
        """
        content = self._trained("You must fit the models before exporting them.").onnx(model)
        with open(path, "wb") as file:
            file.write(content)

    def _tell_models(self) -> None:
        """Tells the models that it is this forecaster which they were trained in, so that they can be asked for what they have alone."""
        for place, model in enumerate(self.models):
            if not _engine.is_searched(model) and not _engine.is_ensemble(model):
                model._alone, model._within = None, (self, place)

    def _without_data(self) -> dict[str, Any]:
        """What is pickled, but for the series of the training."""
        # A copy of models whose training was interrupted continues from a state that is kept as one that begins does.
        return {**self.__dict__, "_engine": None if self._engine is None else self._engine.to_bytes(), "_start": None, "_forgotten": None, "_data": None}

    def __getstate__(self) -> dict[str, Any]:
        data = self._data
        if data is None or data.df is not None or self._engine is None:
            return {**self._without_data(), "_data": data}
        # There is no table that series which were loaded with models could be read from again.
        files = _files.packed(self._engine, data.panel)
        return {**self._without_data(), "_loaded": (files, data.names, data.reading, data.kind)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        loaded = state.pop("_loaded", None)
        self.__dict__.update(state)
        if loaded is not None:
            files, names, reading, kind = loaded
            self._data = Data(None, None, names, reading, kind, _files.panel_of(files))
        if state["_engine"] is not None:
            self._engine = _foretell.Fitted.from_bytes(state["_engine"], self.settings.threads)
            self._tell_models()
