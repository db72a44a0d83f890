"""Forecasts of a hierarchy of series, or of steps and their sums, changed so that they add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from foretell import _foretell, _frames
from foretell._data import Names
from foretell._summing import summing_matrix

if TYPE_CHECKING:
    from foretell._calls import TableT

__all__ = ["reconcile"]


def reconcile(
    df: TableT, S: Any = None, method: str | None = None, *, residuals_df: Any = None, train_df: Any = None, num_samples: int = 1000, seed: int = 1,
    temporal: Mapping[str, Any] | None = None, temporal_residuals: Mapping[str, Any] | None = None, temporal_method: str | None = None,
    non_negative: bool = False, integer: bool = False,
    id_col: str | Sequence[str] = "unique_id", time_col: str = "ds", target_col: str = "y",
) -> TableT:  # fmt: skip
    """Changes forecasts of all series, sums and parts, of any models and tools, so that each sum is that of its parts; and those of steps
    so that they add up to forecasts of their sums, as hours to days. With both, over time first.

    Columns such as ``NHITS-lo-80``, ``NHITS-hi-80`` and ``NHITS-median`` are quantiles: samples are drawn from them, each of which adds up,
    and their quantiles come out.

    Args:
        df: Forecasts, a row per id and time, a column per model.
        S: The summing matrix ``[series, parts]``: a table with a column or an index of ids, and a column per part; or an array whose rows are
            the series in the order of their ids. None with ``temporal`` alone.
        method: "BottomUp", "TopDown" or "MiddleOut" (need ``train_df``), "MinTraceOLS" (all series alike), "MinTraceWLS" (by the number of
            series summed up), "MinTraceVar" or "MinTraceShrink" (by the errors in ``residuals_df``). By default "MinTraceVar" with ``residuals_df``, else
            "MinTraceWLS".
        residuals_df: Forecasts of the past beside the target, as `NeuralForecast.cross_validation` gives them.
        train_df: The history of the series.
        num_samples: Samples that quantiles are taken of.
        seed: Another seed draws other samples.
        temporal: Forecasts of the sums over periods of the steps of ``df``, by the period, as ``{"24h": days}``; with the columns of ``df``. Months
            of days have the days of the calendar: ``{"MS": months}``. Quantiles move along with the forecasts of steps.
        temporal_residuals: Forecasts of past sums beside those that came true, by the period.
        temporal_method: "BottomUp", "MinTraceOLS", "MinTraceWLS" or "MinTraceVar" (by the errors in ``residuals_df`` and ``temporal_residuals``).
            By default "MinTraceVar" with both, else "MinTraceWLS".
        non_negative: Whether forecasts below 0 become 0: those of the parts, which are added up again.
        integer: Whether forecasts become whole numbers: those of the parts, which are added up again.
        id_col: The column of ids, or several that make them together, which are joined by ``/`` and stand in ``unique_id`` of what comes back.
        time_col: The column of times.
        target_col: The column of what came true.

    Returns:
        A table of the kind of ``df``, by series in the order of ``S``, then by time; without ``S`` its rows are those of ``df``.

    Raises:
        ValueError: If a series is missing or not in the hierarchy, steps do not add up to a period, the method lacks what it needs, or there is
            neither ``S`` nor ``temporal``.
    """
    if S is None and (temporal is None or method is not None or train_df is not None):
        raise ValueError("method and train_df are those of a hierarchy: give its summing matrix S, or forecasts of sums over time as temporal alone")
    unknown = sorted(set(temporal_residuals or {}) - set(temporal or {}))
    if unknown:
        raise ValueError(f"temporal_residuals has the periods {', '.join(unknown)}, whose sums are not forecast: give their forecasts as temporal, too")
    own = Names(id_col, time_col, target_col)
    id_col, time_col, target_col = own.all
    df = _frames.native(own.joined(df, "df"))
    _frames.require(df, [id_col, time_col], "df")

    def to_engine(table: Any, argument: str) -> Any:
        return None if table is None else _frames.to_engine(_frames.native(own.joined(table, argument)), id_col, time_col)

    hierarchy = None if S is None else (*summing_matrix(S, _frames.ordered(df, id_col)), method or "")
    over_time = None
    if temporal is not None:
        past = temporal_residuals or {}
        tables = [(str(period), to_engine(sums, "temporal"), to_engine(past.get(period), "temporal_residuals")) for period, sums in temporal.items()]
        over_time = (tables, temporal_method or "")
    names = (id_col, time_col, target_col)
    frame = _foretell.reconcile(
        to_engine(df, "df"), names, hierarchy, to_engine(residuals_df, "residuals_df"), to_engine(train_df, "train_df"), (num_samples, seed, non_negative, integer), over_time)
    found: TableT = _frames.from_engine(frame, _frames.kind_of(df, id_col, time_col))
    return found
