"""The best forecast of a table, honestly scored, in the time that there is."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from foretell import _ahead, _checks, _data, _engine, _files, _foretell, _frames, _levels
from foretell._calls import AutoOptions, EngineOptions
from foretell._data import Data, Names, Reading
from foretell.errors import NothingStoredError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from foretell._calls import TableT

__all__ = ["AutoForecaster", "forecast"]

#: The quantiles of a forecast where nothing else is asked for.
QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class AutoForecaster:
    """Models that suit the data, combined with weights that windows of the past choose, and scored on a last window that chose nothing.

        >>> from foretell import AutoForecaster
        >>> from foretell.utils import AirPassengersDF
        >>> auto = AutoForecaster(h=12, freq="ME").fit(AirPassengersDF)
        >>> forecast = auto.predict()
        >>> board = auto.leaderboard()

    Args:
        h: Steps to forecast.
        freq: The frequency of the data; None to infer it.
        budget: Time for all of the work, as "30s" or "2m", or seconds; 0 for models that need no training; or steps of networks, as
            "600steps", for the same forecast on any machine.
        models: Names of the models to try, in a list or in a text with commas between them; None for those that suit the data.
        metric: What weights are chosen by: "balanced", "mase", "scaled_crps" or "mae".
        ensemble: Whether models are combined; else the best one forecasts alone.
        below_zero: Whether forecasts of a series may be below 0 although none of its values is; else they stop there.
        season_length: Steps of the seasons, the main one first; None to find them in the data.
        hist_exog_list: Columns known for the past only.
        futr_exog_list: Columns known for past and future.
        stat_exog_list: Static columns.
        cat_exog_list: Those of these columns that hold categories.
        id_col: The column of ids, or several that make them together, which are joined by ``/`` and stand in ``unique_id`` of what comes back.
        time_col: The column of times.
        target_col: The column of values.
        **settings: ``features`` (columns that are computed, such as "holidays:DE,weekday"), ``threads``, ``precision``, ``low_memory``,
            ``non_negative``, ``integer``, ``max_memory`` and ``end``, as of ``NeuralForecast``.
    """

    #: The frequency of the last fit of models that were loaded: a new one takes it where its times tell none.
    _last_freq: str | None = None

    def __init__(
        self, h: int, freq: Any = None, *, budget: str | float = 0, models: Sequence[str] | str | None = None, metric: str = "balanced",
        ensemble: bool = True, below_zero: bool = False, season_length: int | Sequence[int] | None = None, hist_exog_list: Sequence[str] = (),
        futr_exog_list: Sequence[str] = (), stat_exog_list: Sequence[str] = (), cat_exog_list: Sequence[str] = (),
        id_col: str | Sequence[str] = "unique_id", time_col: str = "ds", target_col: str = "y", **settings: Unpack[EngineOptions],
    ) -> None:  # fmt: skip
        _checks.check_settings("AutoForecaster", settings, [*_arguments(AutoForecaster), *sorted(EngineOptions.__optional_keys__)])
        self.h = _checks.count("h", h, 1)
        self.freq = freq
        self.settings = _engine.Settings(**settings)
        self.names = Names(id_col, time_col, target_col)
        seasons = season_length if season_length is None or isinstance(season_length, int) else list(season_length)
        self._hyper_parameters = {
            "budget": str(budget), "models": _names_of(models), "metric": metric, "ensemble": ensemble, "below_zero": below_zero,
            "season_length": seasons, "hist_exog_list": list(hist_exog_list), "futr_exog_list": list(futr_exog_list),
            "stat_exog_list": list(stat_exog_list), "cat_exog_list": list(cat_exog_list),
        }  # fmt: skip
        self._fitted: _foretell.Fitted | None = None
        self._data: Data | None = None

    def fit(self, df: Any, static_df: Any = None) -> AutoForecaster:
        """Tries the models on windows of the past, chooses their weights, and fits them to all of the data.

        Args:
            df: A table with a row per id and time.
            static_df: A table with a row per id, with the columns of ``stat_exog_list``.

        Raises:
            ValueError: If a row is wrong, or a model is named that there is not.
        """
        spec = json.dumps([{"model": "Auto", "h": self.h, "settings": self._hyper_parameters}])
        settings = self.settings
        if static_df is not None and not self._hyper_parameters["stat_exog_list"]:
            warnings.warn("static_df is not read: stat_exog_list names none of its columns", stacklevel=2)
            static_df = None
        forecaster = _foretell.Forecaster(spec, json.dumps({**self.names.of_engine, **settings.given}))
        freq = None if self.freq is None else _data.freq_word(self.freq)
        reading = Reading(freq, forecaster.columns, forecaster.categories, settings.threads, settings.end, leave_out=True)
        try:
            data = self._read(df, static_df, reading)
        except ValueError as error:
            # Only where the times tell no frequency does that of the last fit hold; it mends no other mistake.
            if freq is not None or self._last_freq is None or getattr(error, "code", None) != "no_freq":
                raise
            try:
                data = self._read(df, static_df, replace(reading, freq=self._last_freq))
            except ValueError:
                raise error from None
        fitted, stopped = forecaster.fit(data.panel)
        self._fitted, self._data, self._last_freq = fitted, data, None
        if stopped is not None:
            raise stopped
        return self

    def predict(
        self, df: TableT | None = None, futr_df: Any = None, level: Sequence[float] | None = None, quantiles: Sequence[float] | None = None,
        static_df: Any = None,
    ) -> TableT:  # fmt: skip
        """Forecasts what follows each series.

        Args:
            df: Series to forecast; None for those of the fit.
            futr_df: The future values of columns that are known ahead.
            level: Percentages of central intervals, as columns such as ``Auto-lo-80``.
            quantiles: Quantiles in place of levels, as columns such as ``Auto_ql0.9``; without either, 0.1 to 0.9.
            static_df: The static columns of ``df``.

        Returns:
            A table of the kind of ``df`` with a row per id and time: the forecast as ``Auto`` (the median; of rare demand the mean), and the quantiles.
        """
        fitted, data = self._trained(), self._series(df, static_df)
        future = _ahead.future_rows(fitted, data, futr_df, self.h, self.h, df is not None, has_methods=False)
        asked = _levels.asked(level, QUANTILES if level is None and quantiles is None else quantiles)
        found: TableT = data.table(fitted.predict(data.panel, future, self.h, asked.level, False, asked.quantiles))
        return found

    def explain(self, df: Any = None, futr_df: Any = None, static_df: Any = None) -> Any:
        """What each model adds to the forecasts.

        Args:
            df: Series to forecast; None for those of the fit.
            futr_df: The future values of columns that are known ahead.
            static_df: The static columns of ``df``.

        Returns:
            A table of the kind of ``df`` with a row per id and time: the seasonal naive's forecast as ``Auto:baseline``, for each model what
            it adds, as ``Auto:AutoETS``, and ``Auto:limits``, what bounds change. All add up to the forecast
            that `predict` returns (the median; of rare demand the mean).
        """
        fitted, data = self._trained(), self._series(df, static_df)
        future = _ahead.future_rows(fitted, data, futr_df, self.h, self.h, df is not None, has_methods=False)
        return data.table(fitted.explain(data.panel, future, [], "InputXGradient", 0, self.h))

    def leaderboard(self) -> Any:
        """The models that were tried, and what is combined as ``Auto``: mase, scaled_crps, the coverage of the inner 80 %, seconds and
        weight, of the window that chose nothing. A table of pandas, or a list of rows where it is not installed."""
        rows = self._board()["rows"]
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows)

    @property
    def summary(self) -> str:
        """What to expect, in a sentence."""
        return str(self._board()["sentence"])

    @property
    def seasons(self) -> list[int]:
        """The seasons that models were told, in steps; 1 for none."""
        return [int(season) for season in self._board()["seasons"]]

    def save(self, path: str | os.PathLike[str], overwrite: bool = False, save_dataset: bool = True) -> None:
        """Saves the models, which `AutoForecaster.load` and the command ``foretell predict`` read.

        Args:
            path: The directory, as of ``NeuralForecast.save``.
            overwrite: Whether a directory of models is replaced.
            save_dataset: Whether the series of the fit are saved as well, so that the loaded models forecast them.

        Raises:
            FileExistsError: If the directory has files, and may not be replaced.
        """
        fitted, data = self._trained(), self._data
        if data is not None:
            fitted = fitted.keep(json.dumps({"tables": "pyarrow" if data.kind.module == "arrow" else data.kind.module}))
        _files.write(fitted, os.fspath(path).rstrip("/"), overwrite, data.panel if save_dataset and data is not None else None)

    @staticmethod
    def load(path: str | os.PathLike[str], freq: Any = None, **settings: Unpack[EngineOptions]) -> AutoForecaster:
        """Reads a directory that `save`, or the command ``foretell forecast --save``, wrote.

        Args:
            path: The directory.
            freq: The frequency of data that it is fitted to anew; None to infer it from their times.
            **settings: As of `AutoForecaster`; ``end``, ``non_negative`` and ``integer`` hold in place of those that were saved.

        Raises:
            FileNotFoundError: If there is none.
            ValueError: If it holds other models.
        """
        with _files.local(os.fspath(path)) as directory:
            fitted, panel = _foretell.Fitted.load(directory, _checks.count("threads", settings.get("threads", 0)))
        specs = json.loads(fitted.models)
        if [spec["model"] for spec in specs] != ["Auto"]:
            raise ValueError(f"{path} holds {', '.join(fitted.names)}, no automatic forecast: NeuralForecast.load reads it")
        computed = _engine.settings_of(fitted).get("features")
        if "features" in settings and _engine.differ(computed, settings["features"]):
            warnings.warn(f"features: the loaded models forecast with {computed or 'none'} until they are fitted again", stacklevel=2)
        fitted, names = _engine.keeping(fitted, dict(settings)), Names.of_trained(fitted)
        kept = {name: value for name, value in _engine.settings_of(fitted).items() if name in EngineOptions.__optional_keys__}
        # A further fit is given the columns of its features then.
        own = _engine.without_columns(specs[0]["hyper_parameters"], _engine.computed_columns(fitted))
        given: Any = {name: value for name, value in own.items() if name in _arguments(AutoForecaster)}
        loaded = AutoForecaster(
            **{**given, "freq": freq, "time_col": names.time_col, "target_col": names.target_col, **kept, **settings}
        )
        loaded.names = names
        loaded._fitted, loaded._last_freq = fitted, fitted.freq
        if panel is not None:
            reading = Reading(fitted.freq, fitted.columns, fitted.categories, loaded.settings.threads, loaded.settings.end, leave_out=True)
            loaded._data = _data.stored(panel, names, reading, fitted.tables)
        return loaded

    def _board(self) -> dict[str, Any]:
        board: dict[str, Any] = json.loads(_foretell.leaderboard(self._trained()))
        return board

    def _series(self, df: Any, static_df: Any) -> Data:
        """The series of tables, or those of the fit."""
        fitted = self._trained()
        if df is None:
            if self._data is None:
                raise NothingStoredError("the models were saved without their series: give df")
            return self._data
        names: Any = self._hyper_parameters["stat_exog_list"]
        static_df = static_df if names else None
        _checks.check_statics(names, static_df)
        reading = Reading(fitted.freq, fitted.columns, fitted.categories, self.settings.threads, self.settings.end, leave_out=True)
        return self._read(df, static_df, reading, is_kept=False)

    def _read(self, df: Any, static_df: Any, reading: Reading, is_kept: bool = True) -> Data:
        """The series of a table; those of which no value is known are left out, as one bad series stops no other, and told of."""
        data = _data.read(_frames.gathered(df), static_df, self.names, reading, is_kept=is_kept)
        left_out = data.panel.left_out
        if left_out:
            more = ", ..." if len(left_out) > 5 else ""
            warnings.warn(f"left out series of which no value is known: {', '.join(left_out[:5])}{more}", stacklevel=4)
        return data

    def _trained(self) -> _foretell.Fitted:
        if self._fitted is None:
            raise RuntimeError("AutoForecaster is not fitted: call fit(df) before")
        return self._fitted


def _names_of(models: Sequence[str] | str | None) -> list[str] | None:
    """The names of models that a list has, or a text with commas between them."""
    if isinstance(models, str):
        return [name.strip() for name in models.split(",")]
    return None if models is None else list(models)


def _arguments(function: Callable[..., Any]) -> list[str]:
    """The names of a function's own arguments, or of a class's."""
    return [name for name, parameter in inspect.signature(function).parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]


def forecast(
    df: TableT, h: int, freq: Any = None, *, budget: str | float = 0, static_df: Any = None, futr_df: Any = None,
    level: Sequence[float] | None = None, quantiles: Sequence[float] | None = None, **settings: Unpack[AutoOptions],
) -> TableT:  # fmt: skip
    """Forecasts a table as well as the time allows: `AutoForecaster`, fitted and asked in one call.

        >>> import foretell
        >>> from foretell.utils import AirPassengersDF
        >>> table = foretell.forecast(AirPassengersDF, h=12, freq="ME")

    Args:
        df: A table with a row per id and time.
        h: Steps to forecast.
        freq: The frequency of the data; None to infer it.
        budget: Time for all of the work, as "30s" or "2m"; 0 for models that need no training.
        static_df: A table with a row per id, with the columns of ``stat_exog_list``; without that list, all of its columns of known numbers are read.
        futr_df: The future values of ``futr_exog_list``; without that list, of all columns of numbers that both tables have.
        level: Percentages of central intervals.
        quantiles: Quantiles in place of levels; without either, 0.1 to 0.9.
        **settings: Those of `AutoForecaster`.

    Returns:
        A table of the kind of ``df`` with a row per id and time: the forecast as ``Auto`` (the median; of rare demand the mean), and the quantiles.
    """
    _checks.check_settings("forecast", settings, [*_arguments(forecast), *sorted(AutoOptions.__optional_keys__)])
    if static_df is not None and not settings.get("stat_exog_list"):
        settings["stat_exog_list"] = _static_ones(static_df, settings)
        static_df = static_df if settings["stat_exog_list"] else None
    if futr_df is not None and not settings.get("futr_exog_list"):
        settings["futr_exog_list"] = _known_ahead(df, futr_df, settings)
    found: TableT = AutoForecaster(h, freq, budget=budget, **settings).fit(df, static_df).predict(None, futr_df, level, quantiles)
    return found


def _known_ahead(df: Any, futr_df: Any, settings: AutoOptions) -> list[str]:
    """The columns of numbers, or of named categories, that the tables of the past and of the future both have."""
    own = Names(settings.get("id_col", "unique_id"), settings.get("time_col", "ds"), settings.get("target_col", "y"))
    others = {*own.all, *own.id_parts}
    others.update(settings.get("hist_exog_list", ()), settings.get("stat_exog_list", ()))
    past, cells = _frames.columns(df), _frames.lists(futr_df)
    labels = settings.get("cat_exog_list", ())
    names = [
        name for name, values in cells.items()
        if name in past and name not in others and (name in labels or not any(isinstance(value, str) for value in values))
    ]  # fmt: skip
    if not names:
        raise ValueError("futr_df has no column that df has beside ids and times, so nothing of it would be read; name columns of both, or leave it out")
    warnings.warn(f"known ahead: {', '.join(names)}, what both tables have; futr_exog_list names others", stacklevel=3)
    return names


def _is_known_number(value: Any) -> bool:
    """Whether a cell is a number or a truth value, and known."""
    return isinstance(value, Real) and value == value


def _static_ones(static_df: Any, settings: AutoOptions) -> list[str]:
    """The columns of numbers, or of named categories, of a static table."""
    own = Names(settings.get("id_col", "unique_id"), settings.get("time_col", "ds"), settings.get("target_col", "y"))
    cells, labels = _frames.lists(_frames.native(static_df)), settings.get("cat_exog_list", ())
    others = {own.id_col, *own.id_parts}
    names = [name for name, values in cells.items() if name not in others and (name in labels or all(map(_is_known_number, values)))]
    left_out = [name for name in cells if name not in others and name not in names]
    told = f"; what is not all known numbers is left out, unless cat_exog_list names it as categories: {', '.join(left_out)}" if left_out else ""
    warnings.warn(f"static columns: {', '.join(names) or 'none'}; stat_exog_list names others{told}", stacklevel=3)
    return names
