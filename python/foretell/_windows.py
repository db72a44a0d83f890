"""The windows of a cross-validation."""

from __future__ import annotations


def windows(h: int, n_windows: int | None, step_size: int, test_size: int | None) -> tuple[int, int]:
    """The number of windows, and the steps that they cover.

    Args:
        h: Steps of each forecast.
        n_windows: The number of windows, or None.
        step_size: Steps from one to the next.
        test_size: Steps in all, or None.

    Raises:
        ValueError: If they contradict each other.
    """
    if n_windows is None and test_size is None:
        raise ValueError("you must define `n_windows` or `test_size`.")
    if test_size is None and n_windows is not None:
        return n_windows, h + step_size * (n_windows - 1)
    if n_windows is None and test_size is not None:
        if test_size < h or (test_size - h) % step_size:
            raise ValueError("`test_size - h` must be divisible by `step_size`")
        return (test_size - h) // step_size + 1, test_size
    raise ValueError("you must define `n_windows` or `test_size` but not both")
