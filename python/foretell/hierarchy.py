"""Forecasts of a hierarchy of series, changed so that they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foretell import _foretell, _frames
from foretell._data import Names
from foretell._summing import summing_matrix

if TYPE_CHECKING:
    from foretell._calls import TableT

__all__ = ["reconcile"]


def reconcile(
    df: TableT, S: Any, method: str | None = None, *, residuals_df: Any = None, train_df: Any = None, num_samples: int = 1000, seed: int = 1,
    id_col: str = "unique_id", time_col: str = "ds", target_col: str = "y",
) -> TableT:  # fmt: skip
    """Changes forecasts of all series, sums and parts, of any models and tools, so that each sum is that of its parts.

    Columns such as ``NHITS-lo-80``, ``NHITS-hi-80`` and ``NHITS-median`` are quantiles: samples are drawn from them, each of which adds up,
    and their quantiles come out.

    Args:
        df: Forecasts, a row per id and time, a column per model.
        S: The summing matrix ``[series, parts]``: a table with a column or an index of ids, and a column per part; or an array whose rows are
            the series in the order of their ids.
        method: "BottomUp", "TopDown" or "MiddleOut" (need ``train_df``), "MinTraceOLS" (all series alike), "MinTraceWLS" (by the number of
            series summed up), "MinTraceVar" or "MinTraceShrink" (by the errors in ``residuals_df``). By default "MinTraceVar" with ``residuals_df``, else
            "MinTraceWLS".
        residuals_df: Forecasts of the past beside the target, as `NeuralForecast.cross_validation` gives them.
        train_df: The history of the series.
        num_samples: Samples that quantiles are taken of.
        seed: Another seed draws other samples.
        id_col: The column of ids.
        time_col: The column of times.
        target_col: The column of what came true.

    Returns:
        A table of the kind of ``df``, by series in the order of ``S``, then by time.

    Raises:
        ValueError: If a series is missing or not in the hierarchy, or the method lacks what it needs.
    """
    id_col, time_col, target_col = Names(id_col, time_col, target_col).all
    df = _frames.native(df)
    _frames.require(df, [id_col, time_col], "df")

    def to_engine(table: Any) -> Any:
        return None if table is None else _frames.to_engine(_frames.native(table), id_col, time_col)

    hierarchy = (*summing_matrix(S, _frames.ordered(df, id_col)), method or "")
    names = (id_col, time_col, target_col)
    frame = _foretell.reconcile(to_engine(df), names, hierarchy, to_engine(residuals_df), to_engine(train_df), num_samples, seed)
    found: TableT = _frames.from_engine(frame, _frames.kind_of(df, id_col, time_col))
    return found
