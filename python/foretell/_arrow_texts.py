"""Texts that pandas holds as arrays of Arrow, which pandas 3 does where pyarrow is installed: to the engine without a copy, and back
without a value of Python for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def are_arrow(dtype: Any) -> bool:
    """Whether columns of pandas of a type hold texts as arrays of Arrow."""
    return getattr(dtype, "storage", None) == "pyarrow"


def array_of(column: Any) -> Any:
    """The array of Arrow of a column of pandas that holds texts in one."""
    chunks = column.array.__arrow_array__()
    return chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()


def can_repeat() -> bool:
    """Whether pandas makes its texts of the arrays that `repeated` makes, of 64-bit places: since version 2.2."""
    import pandas as pd

    major, minor = pd.__version__.split(".")[:2]
    return (int(major), int(minor)) >= (2, 2)


def repeated(texts: Sequence[str], counts: Any, dtype: Any) -> Any:
    """Texts, each as often as its count of an array of numpy says, as an array of pandas of a type that holds them so."""
    import numpy as np
    import pyarrow as pa

    if len(texts) == 1:
        return dtype.__from_arrow__(pa.array(list(texts) * int(counts[0]), pa.large_string()))
    places = pa.array(np.arange(len(texts)).repeat(counts))
    return dtype.__from_arrow__(pa.array(texts, pa.large_string()).take(places))
