"""What neuralforecast checks before it trains, in the words that its users' code looks for."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from operator import index
from typing import Any

from foretell import _frames
from foretell._calls import LoaderOptions
from foretell.errors import ColumnError, saying

#: Kinds of exogenous columns: the list of a model, the table that has them, and how neuralforecast calls them.
_KINDS = (("hist", "df", "historical"), ("futr", "df", "future"), ("stat", "static_df", "static"))


#: What neuralforecast hands on to PyTorch's DataLoader and to its models' forecasts.
_DATA_ARGUMENTS = tuple(LoaderOptions.__annotations__)


def check_settings(function: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Whether a function, or a class, knows the names of further arguments.

    Raises:
        TypeError: If it does not know one: it is misspelt.
    """
    for name in given:
        if name not in known:
            nearest = get_close_matches(name, known, 1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"expected one of {', '.join(known)}"
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}: {hint}")


def check_data_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Whether the further arguments of a function are some of the DataLoader's.

    Raises:
        TypeError: If one is not: it is misspelt.
    """
    if not given:
        return
    own = [name for name, parameter in inspect.signature(function).parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]
    for name in given:
        if name not in _DATA_ARGUMENTS:
            nearest = get_close_matches(name, [*own, *_DATA_ARGUMENTS], 1)
            hint = f": did you mean {nearest[0]!r}?" if nearest else f": expected one of {', '.join(n for n in own if n != 'self')}"
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")


def column_name(argument: str, name: Any) -> str:
    """The name of a column; a whole number by its text, as columns of pandas that have such are read.

    Raises:
        TypeError: If it is none.
    """
    if isinstance(name, str):
        return name
    if isinstance(name, bool) or not hasattr(name, "__index__"):
        raise TypeError(f"{argument} must be the name of a column, found {name!r}")
    return str(name)


def count(name: str, value: Any, least: int = 0) -> int:
    """A whole number, also one of numpy.

    Raises:
        ValueError: If it is none, or below ``least``.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or index(value) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; found {value!r}")
    return index(value)


def check_intervals(intervals: Any) -> None:
    """Whether something says how intervals are calibrated, or where they come from otherwise.

    Raises:
        TypeError: If it does not.
        ValueError: If it is a text and says something else.
    """
    if isinstance(intervals, str):
        found = re.fullmatch(r"spread|dropout(?::([0-9]{1,6}))?", intervals)
        if found is None:
            raise ValueError(f'prediction_intervals must be a PredictionIntervals, "dropout", "dropout:200" or "spread"; found {intervals!r}')
        if found[1] is not None and not 2 <= int(found[1]) <= 10_000:
            raise ValueError(f"prediction_intervals by dropout are of 2 to 10000 forecasts; found {intervals!r}")
        return
    if intervals is not None and not all(hasattr(intervals, name) for name in ("n_windows", "method", "step_size")):
        raise TypeError(f"prediction_intervals must be a PredictionIntervals, such as PredictionIntervals(n_windows=10); found {intervals!r}")


def check_columns(models: Sequence[Any], df: Any, static_df: Any) -> None:
    """Whether the tables have the columns that models read.

    Raises:
        ColumnError: If one is not there.
    """
    tables = {"df": df, "static_df": static_df}
    found = {name: set() if table is None else set(_frames.columns(table)) for name, table in tables.items()}
    for model in models:
        for kind, table, word in _KINDS:
            wanted = getattr(model, f"{kind}_exog_list", None) or []
            missing = [name for name in wanted if isinstance(name, str) and name not in found[table]]
            if missing:
                has = ", ".join(sorted(found[table])) or "none"
                raise ColumnError(f"{missing} {word} exogenous variables not found in input dataset: {table} has {has}; {model!r} reads them")


def check_statics(names: Sequence[str], static_df: Any) -> None:
    """Whether there is a static table, if models read columns of these names of one.

    Raises:
        ColumnError: If there is none.
    """
    if names and static_df is None:
        raise ColumnError(f"static_df is missing: the models read the static columns {', '.join(names)}, of which df needs its own")


def check_cardinalities(models: Sequence[Any]) -> None:
    """Whether models agree on how many categories a column may have.

    Raises:
        ValueError: If they do not.
    """
    known: dict[str, int] = {}
    for model in models:
        for column, most in (getattr(model, "categorical_cardinalities", None) or {}).items():
            if most is not None and known.setdefault(column, most) != most:
                raise ValueError(
                    f"Models declare conflicting `categorical_cardinalities` for '{column}': {known[column]} and {most}. "
                    "All models must agree on a feature's cardinality."
                )


def check_lengths(models: Sequence[Any], shortest: int) -> None:
    """Whether series of this many rows to train on are long enough.

    Raises:
        ValueError: If they are not.
    """
    for model in models:
        input_size = getattr(model, "input_size", None)
        if input_size is None:
            continue
        padded = getattr(model, "start_padding_enabled", False)
        needed = 1 if padded else input_size
        if shortest < needed:
            raise ValueError(
                f"{type(model).__name__} requires at least {needed} training timestamp(s) (input_size={input_size}, "
                f"start_padding_enabled={padded}), but the shortest series has only {max(shortest, 0)} timestamp(s) available "
                f"for training after removing val_size."
            )


def check_choice(what: str, chosen: Sequence[int], known: Sequence[int], of: str) -> None:
    """Whether places are chosen, and all are known.

    Raises:
        ValueError: If not.
    """
    if not chosen or not set(chosen) <= set(known):
        raise ValueError(f"Invalid {what}: expected some of the {of} {list(known)}; found {list(chosen)}. Leave it out for the default")


def warn_of_left_intervals(kept: Any, asked: Any) -> None:
    """Tells that models which are trained further are without the intervals by dropout or spread that they had."""
    if isinstance(kept, str) and asked is None:
        warnings.warn(f"the models have no intervals by {kept} any more: for these give prediction_intervals={kept!r}", stacklevel=3)


def warn_of_new_models(is_fitted: bool) -> None:
    """Tells that what was trained is forgotten."""
    if is_fitted:
        warnings.warn("Deleting previously fitted models.", stacklevel=5)


def reworded(error: Exception, table: str, library: str = "pandas") -> Exception:
    """An error of the engine with the name of the table that it read, and missing values as neuralforecast tells them, with advice for a table of
    the library."""
    text = str(error).replace("the record batches, ", f"{table}, ").replace("the record batches", table)
    text = re.sub(r"^df lacks (\d+) of the panel's series", r"static_df lacks \1 of the series of df", text)
    missing = re.search(r'column `([^`]*)`: "[^"]*" is missing', text)
    if missing:
        # Rows that are filled in have missing values.
        fill = f" (`{table}.groupby(id_col)[{missing.group(1)!r}].ffill()` does so; drop leading rows where the first value is missing)"
        text = text.replace(" (`utilsforecast.preprocessing.fill_gaps` does so on request)", fill if library == "pandas" else "")
        begin = "Found null values in `futr_df`" if table == "futr_df" else f"Found missing values in ['{missing.group(1)}']"
        text = f"{begin}: {text}"
    found = re.search(r"has (\d+) categories in the training data", text)
    if found:
        text = f"{text} ({found.group(1)} distinct values)"
    return saying(error, text)
