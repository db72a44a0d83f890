"""Series for a model that is fitted by itself, without ``NeuralForecast``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["TimeSeriesDataset"]


class TimeSeriesDataset:
    """Series side by side, whose rows are steps: what their times are is not known, and all end together.

    Attributes:
        df: The rows of all series, a frame of pandas: ``unique_id`` (texts that sort as the ids do), ``ds`` (steps), ``y``, and others.
        static_df: A row a series, or None.
        n_groups: The number of series.
        indptr: Where in the rows each series begins, and the end of the last.
        max_size: The steps of the longest.
        min_size: The steps of the shortest.
        temporal_cols: The names of the columns, an index of pandas: the target first, last ``available_mask``, which is 1 where there is none.
        static_cols: The names of the static columns, an index of pandas, or None.
        static: Their values ``[series, columns]`` as numbers, or None if there are none or some are no numbers.
        given: The same rows and static rows with the ids and times that they came with, and the names of `df`.
    """

    def __init__(
        self, df: pd.DataFrame, static_df: pd.DataFrame | None, indptr: NDArray[Any], given: tuple[pd.DataFrame, pd.DataFrame | None]
    ) -> None:
        self.df, self.static_df, self.indptr, self.given = df, static_df, indptr, given
        sizes = indptr[1:] - indptr[:-1]
        self.n_groups, self.max_size, self.min_size = len(sizes), int(sizes.max()), int(sizes.min())
        others = [name for name in df.columns if name not in ("unique_id", "ds", "y", "available_mask")]
        self.temporal_cols = _index(["y", *others, "available_mask"])
        names = [] if static_df is None else [name for name in static_df.columns if name != "unique_id"]
        self.static_cols = _index(names) if names else None
        self.static = None if static_df is None or not names else _numbers(static_df.set_index("unique_id").sort_index()[names])

    def __len__(self) -> int:
        return self.n_groups

    def __repr__(self) -> str:
        return f"TimeSeriesDataset(n_data={len(self.df):,}, n_groups={self.n_groups:,})"

    @staticmethod
    def from_df(
        df: Any, static_df: Any = None, id_col: str = "unique_id", time_col: str = "ds", target_col: str = "y"
    ) -> tuple[TimeSeriesDataset, pd.Index[Any], pd.Index[Any], NDArray[Any]]:
        """A dataset of a frame of pandas or polars.

        Args:
            df: A row per id and time, with the target and further columns.
            static_df: A row per id.
            id_col: The column of ids.
            time_col: The column of times.
            target_col: The target.

        Returns:
            The dataset; the ids, sorted; the last time of each; the times of all rows, series by series.
        """
        import numpy as np
        import pandas as pd

        df, static_df = (frame.to_pandas() if hasattr(frame, "to_pandas") else frame for frame in (df, static_df))
        df = df.sort_values([id_col, time_col]).reset_index(drop=True)
        codes, ids = pd.factorize(df[id_col], sort=True)
        sizes = np.bincount(codes, minlength=len(ids))
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        times = df[time_col].to_numpy()
        # The engine sorts ids as texts, so they are numbered; steps are counted from the end of the longest series.
        named = {id_col: "unique_id", time_col: "ds", target_col: "y"}
        rows = df.drop(columns=[id_col, time_col]).rename(columns=named)
        rows.insert(0, "unique_id", _texts(codes))
        rows.insert(1, "ds", np.arange(len(df)) - indptr[codes] + (sizes.max() - sizes)[codes])
        static = None
        if static_df is not None:
            known = static_df[static_df[id_col].isin(ids)]
            static = known.drop(columns=id_col).assign(unique_id=_texts(pd.Index(ids).get_indexer(known[id_col])))
        uids, last = pd.Index(ids, name=id_col), pd.Index(times[indptr[1:] - 1], name=time_col)
        given = df.rename(columns=named), None if static_df is None else static_df.rename(columns=named)
        return TimeSeriesDataset(rows, static, indptr, given), uids, last, times


def _index(names: list[str]) -> pd.Index[Any]:
    import pandas as pd

    return pd.Index(names)


def _numbers(statics: pd.DataFrame) -> NDArray[Any] | None:
    try:
        values: NDArray[Any] = statics.to_numpy("float32")
    except (TypeError, ValueError):
        return None
    return values


def _texts(codes: Any) -> list[str]:
    return [f"{code:09d}" for code in codes]
