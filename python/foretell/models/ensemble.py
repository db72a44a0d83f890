"""Ensembles: the forecasts of the other models as one more column."""

from __future__ import annotations

_COLUMNS = {"mean": "EnsembleMean", "median": "EnsembleMedian", "weighted": "EnsembleWeighted"}


class Ensemble:
    """A column more in the forecasts, which combines those of all other models but ``baselines`` (Bates and Granger 1969). It stands in the list of models.

    Args:
        combine: "mean", "median", or "weighted": the mean by weights, none below 0, of the least squared error of the forecasts of the
            last horizons of each series, by models that are trained without them.
        n_windows: The number of horizons, at least 2; only for "weighted".
    """

    def __init__(self, combine: str = "mean", n_windows: int = 3) -> None:
        if combine not in _COLUMNS:
            raise ValueError(f"combine must be one of {', '.join(_COLUMNS)}; found {combine!r}")
        if n_windows < 2:
            raise ValueError(f"weights need at least 2 windows to be learnt from; found n_windows={n_windows}")
        self.combine, self.n_windows = combine, n_windows

    @classmethod
    def of_column(cls, column: str) -> Ensemble:
        """The ensemble whose column has this name, with the default of ``n_windows``."""
        return cls({name: combine for combine, name in _COLUMNS.items()}[column])

    def to_spec(self) -> dict[str, str]:
        """The ensemble as the engine takes it: ``{"ensemble": "weighted:3"}``."""
        return {"ensemble": f"weighted:{self.n_windows}" if self.combine == "weighted" else self.combine}

    def __repr__(self) -> str:
        """The name of its column."""
        return _COLUMNS[self.combine]
