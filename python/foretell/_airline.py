"""The airline passengers of Box and Jenkins, 1949 to 1960, as the examples of neuralforecast have them."""

from __future__ import annotations

from array import array
from calendar import monthrange
from datetime import datetime, timezone
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from foretell import _foretell

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: Thousands of passengers of each month, a year a line (Box and Jenkins 1976, Time Series Analysis, series G).
PASSENGERS = (
    112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118,
    115, 126, 141, 135, 125, 149, 170, 170, 158, 133, 114, 140,
    145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166,
    171, 180, 193, 181, 183, 218, 230, 242, 209, 191, 172, 194,
    196, 196, 236, 235, 229, 243, 264, 272, 237, 211, 180, 201,
    204, 188, 235, 227, 234, 264, 302, 293, 259, 229, 203, 229,
    242, 233, 267, 269, 270, 315, 364, 347, 312, 274, 237, 278,
    284, 277, 317, 313, 318, 374, 413, 405, 355, 306, 271, 306,
    315, 301, 356, 348, 355, 422, 465, 467, 404, 347, 305, 336,
    340, 318, 362, 348, 363, 435, 491, 505, 404, 359, 310, 337,
    360, 342, 406, 396, 420, 472, 548, 559, 463, 407, 362, 405,
    417, 391, 419, 461, 472, 535, 622, 606, 508, 461, 390, 432,
)  # fmt: skip


def passengers() -> NDArray[Any]:
    """The 144 months as an array of f32."""
    import numpy as np

    return np.array(PASSENGERS, np.float32)


def months() -> pd.DatetimeIndex:
    """The ends of the months."""
    import pandas as pd

    return pd.date_range("1949-01-01", periods=len(PASSENGERS), freq=pd.offsets.MonthEnd())


def frame() -> Any:
    """One series, ``unique_id`` 1.0, with ``ds`` and ``y``: a frame of pandas, or where that is not installed a table of Arrow."""
    if find_spec("pandas") is None:
        return _table()
    import pandas as pd

    return pd.DataFrame({"unique_id": 1.0, "ds": months(), "y": passengers()})


def _table() -> _foretell.Table:
    months = [(1949 + place // 12, place % 12 + 1) for place in range(len(PASSENGERS))]
    ends = [datetime(year, month, monthrange(year, month)[1], tzinfo=timezone.utc) for year, month in months]
    table = _foretell.Table()
    table.numbers("unique_id", "f8", array("d", [1.0] * len(ends)).tobytes())
    table.times("ds", "s", None, array("q", [int(end.timestamp()) for end in ends]).tobytes())
    table.numbers("y", "f4", array("f", PASSENGERS).tobytes())
    return table


def panel() -> pd.DataFrame:
    """Two series, the second 300 above the first, with the columns ``trend`` (the number of the row) and ``y_[lag12]``."""
    import numpy as np
    import pandas as pd

    y = np.concatenate([passengers(), passengers() + 300])
    ids = np.repeat(["Airline1", "Airline2"], len(PASSENGERS))
    df = pd.DataFrame({"unique_id": ids, "ds": np.tile(months().to_numpy(), 2), "y": y})
    df["trend"] = range(len(df))
    df["y_[lag12]"] = df.groupby("unique_id")["y"].shift(12).fillna(df["y"])
    return df


def static() -> pd.DataFrame:
    """A column for each series of the panel, 1 for the other one."""
    import pandas as pd

    return pd.DataFrame({"unique_id": ["Airline1", "Airline2"], "airline1": [0, 1], "airline2": [1, 0]})
