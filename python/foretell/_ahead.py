"""The steps ahead that a forecast is asked for: how many, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foretell import _foretell, _frames, _missing
from foretell._data import Data
from foretell.utils import PredictionIntervals


def horizon(models: Sequence[Any], own: int, asked: int | None, intervals: PredictionIntervals | None) -> int:
    """The steps that are asked for, of models that forecast ``own``.

    Raises:
        ValueError: If they are fewer, or the models cannot resume from their own forecasts.
    """
    if asked is None or asked == own:
        return own
    # The horizon of a pretrained network that was loaded, from a folder or by its name, is that of one pass, which no one chose.
    if asked < own and not all(type(model).__name__ in ("Pretrained", "Foretell0") for model in models):
        raise ValueError(f"The specified horizon h={asked} must be greater than the horizon of the fitted models: {own}.")
    if intervals is not None:
        raise ValueError(
            f"The specified horizon h={asked} is larger than the horizon of the fitted models: {own}. "
            "Forecast with prediction intervals is not supported."
        )
    for model in models:
        if getattr(model, "hist_exog_list", None):
            raise NotImplementedError(
                f"Model {model} has historic exogenous features, "
                "which is not compatible with setting a larger horizon during prediction."
            )
    return asked


def check_future(needed: set[str], futr_df: Any) -> None:
    """Whether a table has the columns of the future that models need.

    Raises:
        ValueError: If there is none, or it lacks one.
    """
    if futr_df is None:
        raise ValueError(
            f"Models require the following future exogenous features: {needed}. Please provide them through the `futr_df` argument."
        )
    missing = needed - set(_frames.columns(futr_df))
    if missing:
        raise ValueError(f"The following features are missing from `futr_df`: {missing}")


def future_rows(
    fitted: _foretell.Fitted, data: Data, futr_df: Any, h: int, own: int, is_new: bool, has_methods: bool = True
) -> Any:
    """The ``h`` rows after each series as the engine reads them, or None if models need nothing of them; ``has_methods`` says whether the
    forecaster that is asked has the methods that tell which they are.

    Raises:
        ValueError: If rows or columns are missing.
    """
    needed = set(fitted.future_columns)
    if not needed:
        return None
    futr_df = None if futr_df is None else data.names.joined(_frames.native(_frames.gathered(futr_df)), "futr_df")
    check_future(needed, futr_df)
    on = data.names.all[:2]
    _frames.require(futr_df, on, "futr_df")
    rows = _frames.select(futr_df, [*on, *needed])
    expected = data.table(data.panel.future(h))
    lacking = _missing.anti_join(expected, rows, on)
    if _frames.n_rows(lacking):
        if not has_methods:
            cells = _frames.lists(lacking)
            first = ", ".join(f"{name} {cells[name][0]}" for name in on)
            raise ValueError(f"futr_df lacks {_frames.n_rows(lacking)} of the {_frames.n_rows(expected)} rows that follow the series, the first of which is {first}")
        arguments = [*(["df"] if is_new else []), *([f"h={h}"] if h != own else [])]
        raise ValueError(
            "There are missing combinations of ids and times in `futr_df`.\n"
            f"You can run the `make_future_dataframe({', '.join(arguments)})` method to get the expected combinations or "
            f"the `get_missing_future({', '.join(['futr_df', *arguments])})` method to get the missing combinations."
        )
    return _frames.to_engine(rows, on[0], on[1], fitted.categories)
