"""Sample paths from quantile forecasts: marginals from the quantiles, dependence over the horizon from the history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

DEFAULT_QUANTILE_GRID = [round(q / 100, 2) for q in range(1, 100)]
VALID_SIMULATION_METHODS = {"gaussian_copula", "schaake_shuffle"}


def estimate_ar1_rho(y: ArrayLike) -> float:
    """The correlation of neighbouring differences of a series, within ±0.99; 0 for constant and very short ones. NaN is left out."""
    import numpy as np

    values = np.asarray(y, float)
    steps = np.diff(values[~np.isnan(values)])
    if len(steps) < 2:
        return 0.0
    before, after = steps[:-1] - steps[:-1].mean(), steps[1:] - steps[1:].mean()
    scale = math.sqrt((before**2).sum() * (after**2).sum())
    return 0.0 if scale < 1e-15 else float(np.clip((before * after).sum() / scale, -0.99, 0.99))


def interp_2d(x: NDArray[Any], xp: NDArray[Any], fp: NDArray[Any]) -> NDArray[Any]:
    """Linear interpolation row by row; beyond the ends the lines continue.

    Args:
        x: Where, ``[rows, points]``.
        xp: The knots of all rows, ``[knots]``, upwards.
        fp: Their values, ``[rows, knots]``.

    Returns:
        ``[rows, points]``.
    """
    import numpy as np

    right = np.clip(np.searchsorted(xp, x), 1, len(xp) - 1)
    x0, x1 = xp[right - 1], xp[right]
    f0, f1 = np.take_along_axis(fp, right - 1, axis=1), np.take_along_axis(fp, right, axis=1)
    width = np.where(x1 - x0 < 1e-15, 1.0, x1 - x0)
    result: NDArray[Any] = f0 + (x - x0) / width * (f1 - f0)
    return result


def _from_uniform(u: NDArray[Any], positions: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """The quantiles ``u``, ``[series, horizon, paths]``, of the marginals ``values``, ``[series, horizon, quantiles]``."""
    rows = u.shape[0] * u.shape[1]
    return interp_2d(u.reshape(rows, -1), positions, values.reshape(rows, -1)).reshape(u.shape)


def _correlation(rho: float, horizon: int) -> NDArray[Any]:
    """A factor of the matrix ``|rho|^|i - j|``: lower triangular, of an autoregression's closed form."""
    import numpy as np

    lags = np.arange(horizon)
    powers = abs(rho) ** np.abs(lags[:, None] - lags[None, :])
    factor: NDArray[Any] = np.tril(powers) * np.where(lags == 0, 1.0, math.sqrt(1 - rho**2))
    return factor


def gaussian_copula_sample(
    quantile_positions: ArrayLike,
    quantile_values: ArrayLike,
    y_hist: Sequence[ArrayLike],
    n_paths: int,
    seed: int | None = None,
) -> NDArray[Any]:
    """Paths whose steps are joined by a Gaussian copula with the correlation ``|rho|^|i - j|`` of each series' history.

    Args:
        quantile_positions: The quantiles, ``[quantiles]``, upwards.
        quantile_values: Their forecasts, ``[series, horizon, quantiles]``.
        y_hist: The history of each series.
        n_paths: Paths of each series.
        seed: What they are drawn by; None for another one each time.

    Returns:
        ``[series, paths, horizon]``.
    """
    import numpy as np

    positions, values = np.asarray(quantile_positions, float), np.asarray(quantile_values, float)
    n_series, horizon, _ = values.shape
    normal = np.random.default_rng(seed).standard_normal((n_series, horizon, n_paths))
    joined = np.stack([_correlation(estimate_ar1_rho(y), horizon) for y in y_hist]) @ normal
    erf = np.vectorize(math.erf, otypes=[float])
    uniform = 0.5 * (1 + erf(joined / math.sqrt(2)))
    return _from_uniform(uniform.clip(positions[0], positions[-1]), positions, values).transpose(0, 2, 1)


def schaake_shuffle_sample(
    quantile_positions: ArrayLike,
    quantile_values: ArrayLike,
    y_hist: Sequence[ArrayLike],
    n_paths: int,
    seed: int | None = None,
) -> NDArray[Any]:
    """Paths whose steps are ordered as windows of the history are (Clark et al. 2004, "The Schaake shuffle"): at each step the sample
    of a rank goes to the path whose window has that rank there.

    Args:
        quantile_positions: The quantiles, ``[quantiles]``, upwards.
        quantile_values: Their forecasts, ``[series, horizon, quantiles]``.
        y_hist: The history of each series; NaN is left out.
        n_paths: Paths of each series.
        seed: What they are drawn by; None for another one each time.

    Returns:
        ``[series, paths, horizon]``.

    Raises:
        ValueError: If a history is shorter than the horizon.
    """
    import numpy as np

    positions, values = np.asarray(quantile_positions, float), np.asarray(quantile_values, float)
    n_series, horizon, _ = values.shape
    rng = np.random.default_rng(seed)
    uniform = rng.uniform(positions[0], positions[-1], (n_series, horizon, n_paths))
    samples = np.sort(_from_uniform(uniform, positions, values), axis=2)
    for i, series in enumerate(y_hist):
        known = np.asarray(series, float)
        known = known[~np.isnan(known)]
        if len(known) < horizon:
            raise ValueError(
                f"Series {i}: history length {len(known)} is shorter than horizon {horizon}: give more history, or use the method "
                "gaussian_copula"
            )
        starts = len(known) - horizon + 1
        chosen = rng.permutation(starts)[:n_paths] if starts >= n_paths else rng.integers(0, starts, n_paths)
        windows = np.lib.stride_tricks.sliding_window_view(known, horizon)[chosen].T
        ranks = windows.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
        samples[i] = np.take_along_axis(samples[i], ranks, axis=1)
    return samples.transpose(0, 2, 1)


def extract_y_hist(dataset: Any) -> list[NDArray[Any]]:
    """The target of each series of a dataset with ``temporal``, ``y_idx`` and ``indptr``, as neuralforecast's have them."""
    import numpy as np

    y = np.asarray(dataset.temporal)[:, dataset.y_idx]
    return [y[start:end] for start, end in zip(dataset.indptr[:-1], dataset.indptr[1:], strict=True)]


def sample_from_quantiles(
    quantile_positions: ArrayLike,
    quantile_values: ArrayLike,
    dataset: Any,
    n_paths: int,
    seed: int | None = None,
    method: str = "gaussian_copula",
) -> NDArray[Any]:
    """Paths by one of ``VALID_SIMULATION_METHODS``; ``dataset`` is one as of :func:`extract_y_hist`, or the list of histories itself.

    Returns:
        ``[series, paths, horizon]``.
    """
    samplers = {"gaussian_copula": gaussian_copula_sample, "schaake_shuffle": schaake_shuffle_sample}
    if method not in samplers:
        raise ValueError(f"Unknown simulation method {method!r}: expected one of {', '.join(samplers)}")
    y_hist = dataset if isinstance(dataset, (list, tuple)) else extract_y_hist(dataset)
    return samplers[method](quantile_positions, quantile_values, y_hist, n_paths, seed)
