"""Reports on forecasts, no matter who made them, as one page of HTML."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from foretell import _data, _foretell, _frames
from foretell._data import Names, Reading
from foretell._trained import Trained

__all__ = ["report"]

#: What the scores of `foretell.evaluate` are of, by the column beside their metrics.
_KEYS = {"step": "step", "cutoff": "cutoff"}


def report(
    df: Any, forecast_df: Any, path: str | os.PathLike[str] | None = None, *, scores: Any = None, forecaster: Trained | None = None,
    importances: Sequence[dict[str, Any]] | None = None, baseline: str | None = None, seasonality: int | None = None,
    last: int | None = None, title: str | None = None, unit: str | None = None, freq: Any = None, id_col: str | Sequence[str] = "unique_id",
    time_col: str = "ds", target_col: str = "y",
) -> str | None:  # fmt: skip
    """A page of HTML that needs no network: what was forecast, how good the models are beside a baseline, by step ahead, by cutoff and by
    series (the worst first), the coverage of intervals, and a chart of every series, drawn when it is chosen.

    Args:
        df: The series: a row per id and time, with the target.
        forecast_df: Forecasts of `NeuralForecast.predict` or `cross_validation`, or any table with ids, times and a column per model.
        path: File to write; None to have the page returned.
        scores: A table, or several: what `foretell.evaluate` returns, or forecasts beside what came true, as `cross_validation` returns,
            which are scored and drawn. None to score ``forecast_df``, as far as it has come true.
        forecaster: The forecaster of the models, whose settings are told.
        importances: What `NeuralForecast.feature_importances` returns.
        baseline: The model that errors are told relative to; None for SeasonalNaive, or Naive.
        seasonality: Steps of a season, for mase; None for the usual one of the frequency.
        last: Steps of each series' end to draw; None for ten times as many as are forecast, and at least 200, before the forecasts.
        title: The heading; None for "Forecasts of " and the target.
        unit: The unit of the values, as boxes or MWh, which the answer is told in.
        freq: Step of the times, as for `NeuralForecast`; None to infer it.
        id_col: The column of ids, or several that make them together, which are joined by ``/`` and stand in ``unique_id`` of what comes back.
        time_col: The column of times.
        target_col: The column that was forecast.

    Returns:
        The page, or None where it was written to a file.

    Raises:
        ColumnError: If a column is not there.
        ValueError: If a table has no forecasts, scores are by something else, or the baseline has none.
    """
    names = Names(id_col, time_col, target_col)
    # All tables of a page have joined ids.
    data = _data.read(names.joined(_frames.native(df), "df"), None, Names(names.id_col, names.time_col, names.target_col), Reading(_data.freq_word(freq), [], []))
    validations, sheets = [], []
    for table in _tables(scores):
        if "metric" in _frames.columns(table):
            sheets.append(_sheet(table, names.id_col))
        else:
            validations.append(_forecasts(table, names, "scores"))
    told = {
        "title": title, "unit": unit, "data": f"a table of {data.kind.module}", "baseline": baseline, "season": seasonality, "last": last,
        "importances": None if importances is None else json.dumps(list(importances)),
    }  # fmt: skip
    fitted = None if forecaster is None else forecaster._trained()
    page = _foretell.report(data.panel, _forecasts(forecast_df, names, "forecast_df"), validations, sheets, told, fitted)
    if path is None:
        return page
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    return None


def _tables(scores: Any) -> list[Any]:
    if scores is None:
        return []
    return [_frames.native(table) for table in (scores if isinstance(scores, (list, tuple)) else [scores])]


def _forecasts(table: Any, names: Names, argument: str) -> Any:
    table = names.joined(_frames.native(table), argument)
    _frames.require(table, [names.id_col, names.time_col], argument)
    return _frames.to_engine(table, names.id_col, names.time_col)


def _sheet(table: Any, id_col: str) -> tuple[str, list[str], list[tuple[str, str, list[float]]]]:
    """A table of scores, as the engine reads it.

    Raises:
        ValueError: If the scores are by something that a report has no place for.
    """
    columns = _frames.lists(table)
    found = list(columns)
    keys, models = found[: found.index("metric")], found[found.index("metric") + 1 :]
    by = {(): "all", (id_col,): "series"} | {(column,): what for column, what in _KEYS.items()}
    if tuple(keys) not in by:
        raise ValueError(
            f'scores: expected those of foretell.evaluate by "all", "series", "step" or "cutoff", found some by {", ".join(keys)}'
        )
    of_rows = [str(key) for key in columns[keys[0]]] if keys else [""] * len(columns["metric"])
    scores = zip(*(columns[model] for model in models))
    numbers = ([float("nan") if score is None else float(score) for score in row] for row in scores)
    return by[tuple(keys)], models, list(zip(of_rows, map(str, columns["metric"]), numbers))
