"""The windows of a cross-validation."""

from __future__ import annotations

from foretell._checks import count


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
    step_size = count("step_size", step_size, 1)
    if n_windows is None and test_size is None:
        raise ValueError("you must define `n_windows` or `test_size`.")
    if test_size is None and n_windows is not None:
        n_windows = count("n_windows", n_windows, 1)
        return n_windows, h + step_size * (n_windows - 1)
    if n_windows is None and test_size is not None:
        if count("test_size", test_size) < h:
            raise ValueError(f"test_size must be at least the steps of a forecast, h = {h}; found {test_size}")
        if (test_size - h) % step_size:
            raise ValueError("`test_size - h` must be divisible by `step_size`")
        return (test_size - h) // step_size + 1, test_size
    raise ValueError("you must define `n_windows` or `test_size` but not both")
