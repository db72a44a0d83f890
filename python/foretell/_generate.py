"""Made-up panels for examples and tests."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_SEASONS = {"D": ("D", 7), "M": ("ME", 12), "ME": ("ME", 12)}


def generate_series(
    n_series: int,
    freq: str = "D",
    min_length: int = 50,
    max_length: int = 500,
    n_temporal_features: int = 0,
    n_static_features: int = 0,
    equal_ends: bool = False,
    seed: int = 0,
) -> Any:
    """A panel of seasonal series with noise: a saw tooth of a week or a year, plus up to a half. Equal seeds give the values that
    neuralforecast gives.

    Args:
        n_series: The number of series; their ids count from 0.
        freq: "D" or "M".
        min_length: The least steps of a series.
        max_length: The most.
        n_temporal_features: Categorical columns ``temporal_0``, ... constant within a series; the first one scales ``y``.
        n_static_features: Columns ``static_0``, ... of a second frame, between 0 and 1.
        equal_ends: Whether all series end together; otherwise they begin together.
        seed: What all of it is drawn by.

    Returns:
        A frame of pandas with ``unique_id``, ``ds``, ``y``; with static features a pair of it and a frame of these.
    """
    import numpy as np
    import pandas as pd

    if freq not in _SEASONS:
        raise ValueError(f"freq must be 'D' or 'M'; found {freq!r}")
    step, season = _SEASONS[freq]
    rng = np.random.RandomState(seed)
    lengths = rng.randint(min_length, max_length + 1, n_series)
    total = int(lengths.sum())
    dates = pd.date_range("2000-01-01", periods=max_length, freq=step).to_numpy()
    ds = np.concatenate([dates[-n:] if equal_ends else dates[:n] for n in lengths])
    ids = np.repeat(np.arange(n_series), lengths)
    y = np.arange(total) % season + rng.rand(total) * 0.5
    df = pd.DataFrame({"unique_id": _ordered(ids), "ds": ds, "y": y})
    # All features have the same values: neuralforecast seeds its generator anew for each.
    draws = random.Random(seed)
    values = np.repeat([draws.randint(0, 100) for _ in lengths], lengths)
    for i in range(n_temporal_features):
        df[f"temporal_{i}"] = pd.Categorical(values)
    if n_temporal_features > 0:
        df["y"] *= 1 + df["temporal_0"].cat.codes
    return (df, _static(n_series, n_static_features, seed)) if n_static_features > 0 else df


def _static(n_series: int, n_features: int, seed: int) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    values = np.random.RandomState(seed).uniform(size=(n_series, n_features))
    static = pd.DataFrame(values, columns=[f"static_{i}" for i in range(n_features)])
    return static.assign(unique_id=_ordered(np.arange(n_series)))


def _ordered(ids: Any) -> pd.Categorical:
    import pandas as pd

    return pd.Categorical(ids, ordered=True)
