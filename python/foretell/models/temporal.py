"""Temporal hierarchies (Athanasopoulos et al., Forecasting with temporal hierarchies, 2017): forecasts of steps that add up to those of
their sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foretell._model import LocalModel

#: How steps and sums are made to agree.
METHODS = ("BottomUp", "MinTraceOLS", "MinTraceWLS", "MinTraceVar")


class Temporal:
    """A model whose forecasts of steps are reconciled with those of their sums, by models of its kind: hours with days, days with weeks.

    It stands in a list beside any other models. What it forecasts are the steps.

    Args:
        model: A model that needs no training in steps, such as AutoETS.
        periods: Each a number of the steps or a frequency, as "24h" of hours; the horizon is a whole number of each.
        method: "MinTraceVar" (by the errors of the last three horizons), "MinTraceWLS" (by numbers of steps), "MinTraceOLS" or "BottomUp".
    """

    def __init__(self, model: LocalModel, periods: Sequence[str | int], method: str = "MinTraceVar") -> None:
        if not isinstance(model, LocalModel):
            raise TypeError(f"model must be a model without steps of training, such as AutoETS(h=48); found {model!r}")
        if isinstance(periods, (str, int)) or not periods:
            raise ValueError(f'periods must be a list such as ["24h"]; found {periods!r}')
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; found {method!r}")
        self.model, self.periods, self.method = model, [str(period) for period in periods], method

    def __getattr__(self, name: str) -> Any:
        # What is asked of a model is that of the steps, once it is there.
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        """The name of its column, that of the model."""
        return repr(self.model)

    def to_spec(self) -> dict[str, Any]:
        """The model as the engine takes it."""
        return {**self.model.to_spec(), "temporal": {"periods": self.periods, "method": self.method}}
