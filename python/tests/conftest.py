"""Data that the tests share."""

import pandas as pd
import pytest

from foretell.utils import AirPassengersPanel, AirPassengersStatic


@pytest.fixture
def panel():
    """Two series of 144 months with the columns ``trend`` and ``y_[lag12]``."""
    return AirPassengersPanel.copy()


@pytest.fixture
def statics():
    return AirPassengersStatic.copy()


def integer_panel(n_series=3, rows=40):
    """Series with integer ids and times, whose values are a sawtooth of 5 steps."""
    return pd.DataFrame(
        {
            "unique_id": [series for series in range(n_series) for _ in range(rows)],
            "ds": [row for _ in range(n_series) for row in range(rows)],
            "y": [float(row % 5 + 10 * series) for series in range(n_series) for row in range(rows)],
        }
    )
