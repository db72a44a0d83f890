"""How good forecasts are, no matter who made them: the metrics of utilsforecast, with the same figures."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell import _checks, _foretell, _frames
from foretell._data import Names
from foretell.errors import saying

if TYPE_CHECKING:
    from foretell._calls import TableT

__all__ = ["evaluate"]


def evaluate(
    df: TableT, metrics: Sequence[str] | str | None = None, by: str = "series", *, actual_df: Any = None, train_df: Any = None,
    seasonality: int | None = None, baseline: str | None = None, id_col: str | Sequence[str] = "unique_id", time_col: str = "ds", target_col: str = "y",
) -> TableT:  # fmt: skip
    """Compares forecasts with what came true at the same times of the same series.

    Models are compared on the rows that all of them have. Rows such as ``missing``, ``coverage_level80_missing`` and
    ``mape_uncounted`` count what a model has no forecast of, what it has no interval of, and what a metric has no score of, where there
    is any.

    Columns such as ``NHITS-lo-80`` and ``NHITS-hi-80`` are intervals of NHITS, as are ``NHITS_ql0.1`` and ``NHITS_ql0.9``; ``NHITS-median`` is
    its forecast where it has no other. Columns that tell a quantile and no model, as AutoGluon's ``0.1`` and ``0.9`` beside ``mean``, are those of the only
    forecast beside them. Samples (``NHITS-sample-0``) and parameters of its distribution (``NHITS-loc``) are not scored.

    Args:
        df: Forecasts of `NeuralForecast.cross_validation`, or any table with ids, times and a column per model; with the target, if
            ``actual_df`` is left out.
        metrics: Their names: "mae", "mse", "rmse", "bias", "cfe", "pis", "spis", "mape", "smape" (0 to 1), "mase", "msse", "rmsse", "rmae",
            "nd", "wape", "tweedie_deviance(POWER)", "linex(A)", "quantile_loss", "scaled_quantile_loss", "mqloss", "scaled_mqloss",
            "scaled_crps", "calibration", "coverage", "winkler_score"; one name or several. None for those that tell most.
        by: What a score is of: "series", "cutoff", "step", "window" (each forecast of each series) or "all".
        actual_df: What came true.
        train_df: What was known before the forecasts, which scaled metrics are relative to.
        seasonality: Steps of a season for these; None for the usual one of the frequency.
        baseline: The model that "rmae" divides by.
        id_col: The column of ids, or several that make them together, which are joined by ``/`` and stand in ``unique_id`` of what comes back.
        time_col: The column of times.
        target_col: The column of what came true.

    Returns:
        A table of the kind of ``df``: a row per metric and what it is of, a column per model; the lowest is best, but for bias (0), coverage
        (the level) and calibration (the quantile).

    Raises:
        ValueError: If nothing has come true, there is no such metric or model, or one needs what is not given.
    """
    own = Names(id_col, time_col, target_col)
    id_col, time_col, target_col = own.all
    df = _frames.native(own.joined(df, "df"))
    names = (id_col, time_col, target_col)
    _frames.require(df, names[:2], "df")

    def beside(table: Any, argument: str) -> Any:
        return None if table is None else _frames.to_engine(_frames.native(own.joined(table, argument)), id_col, time_col)

    wanted = [metrics] if isinstance(metrics, str) else list(metrics or [])
    try:
        found = _foretell.evaluate(
            _frames.to_engine(df, id_col, time_col), names, wanted, by, beside(actual_df, "actual_df"), beside(train_df, "train_df"), seasonality, baseline
        )
    except ValueError as error:
        if "none was given; give it" in str(error):
            raise saying(error, str(error).replace("none was given; give it", "none was given; give it as train_df")) from None
        raise _checks.reworded(error, "df") if "no column of forecasts" in str(error) else error from None
    rows, true_rows = found["rows"]
    if true_rows < rows:
        warnings.warn(f"{rows - true_rows} of {rows} rows have not come true and do not count", stacklevel=2)
    lacking = [f"{model} has no forecast of {count} of {true_rows} rows" for model, count in zip(found["models"], found["missing"]) if count]
    if lacking:
        warnings.warn(f"{', '.join(lacking)}; all models are scored on the rows that all have", stacklevel=2)
    columns = {id_col: found["ids"], "cutoff": found["cutoffs"], "step": found["steps"], "metric": found["metrics"]}
    columns = {name: values for name, values in columns.items() if all(value is not None for value in values)}
    columns |= dict(zip(found["models"], found["values"]))
    kind = _frames.kind_of(df, id_col, time_col)
    table: TableT = _frames.from_columns(columns, kind, id_col, "cutoff", found["has_timestamps"], found["zone"])
    return table
