"""HINT (Olivares et al., HINT: Hierarchical Mixture Networks for Coherent Probabilistic Forecasting, 2023): a network of a
distribution's loss, whose forecasts of series and their sums add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foretell._model import Network
from foretell._summing import summing_matrix

#: The methods of reconciliation; the last one leaves forecasts unchanged.
METHODS = ("BottomUp", "MinTraceOLS", "MinTraceWLS", "Identity")


class HINT:
    """A network whose forecasts add up by a hierarchy: quantiles are those of 1000 coherent samples.

    It stands in the list of models alone, or beside others of the same hierarchy. The data have all series, sums and parts.

    Args:
        h: Steps to forecast, those of the model.
        S: The summing matrix ``[series, parts]``: an array whose rows are the series in the order of their ids, or of their categories
            where ids are categorical; or a table with a column or an index of ids, and a column per part.
        model: A network with the loss of a distribution.
        reconciliation: "BottomUp", "MinTraceOLS", "MinTraceWLS" or "Identity".
        alias: The name of the column in forecasts; None for HINT.
    """

    def __init__(self, h: int, S: Any, model: Network, reconciliation: str, alias: str | None = None) -> None:
        if model.h != h:
            raise ValueError(f"Model h {model.h} does not match HINT h {h}")
        if not model.loss.is_distribution_output:
            raise ValueError(
                f"The NeuralForecast model's loss {model.loss!r} is not a probabilistic objective: train it with DistributionLoss, GMM, PMM or NBMM"
            )
        if reconciliation not in METHODS:
            raise ValueError(f"Reconciliation {reconciliation} not available: expected one of {', '.join(METHODS)}")
        self.h, self.S, self.model, self.reconciliation, self.alias = h, S, model, reconciliation, alias

    def __getattr__(self, name: str) -> Any:
        # What is asked of a model is that of the network, once it is there.
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        """The name of its column."""
        return self.alias or "HINT"

    def to_spec(self) -> dict[str, Any]:
        """The network as the engine takes it."""
        return {**self.model.to_spec(), "alias": repr(self)}

    def hierarchy(self, ids: Sequence[Any]) -> tuple[list[str], list[str], list[float], str] | None:
        """The ids of the matrix' rows and of its columns, its entries row by row, and the method; None where forecasts stay unchanged.

        Args:
            ids: Those of the data, in order, for a matrix that names none.

        Raises:
            ValueError: If it has another number of rows, or a column is the sum of no series alone.
        """
        if self.reconciliation == "Identity":
            return None
        return (*summing_matrix(self.S, ids), self.reconciliation)
