"""What scalers of whole series and of static columns have learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LocalScaler:
    """The scaler of one column, with the attribute and the methods that those of coreforecast have in neuralforecast.

    Args:
        scaler_type: "standard", "robust", "robust-iqr", "minmax" or "boxcox".
        stats_: The offset and the scale, ``[series, 2]``, and of a static column ``[1, 2]``; of "boxcox" the power, and 0.
    """

    scaler_type: str
    stats_: NDArray[Any]

    @classmethod
    def of(cls, scaler_type: str, statistics: Sequence[tuple[float, float]]) -> LocalScaler:
        """The scaler of these pairs."""
        import numpy as np

        return cls(scaler_type, np.asarray(statistics, "f4").reshape(-1, 2))

    def transform(self, ga: Any) -> NDArray[Any]:
        """The scaled values of ``ga.data``, whose series end at ``ga.indptr[1:]``, in single precision."""
        import numpy as np

        values, offset, scale = self._rows(ga)
        if self.scaler_type != "boxcox":
            return np.asarray((values - offset) / scale, "f4")
        # A value that is not above 0 has no power: it becomes 0, as in the forecaster.
        logs = np.log(np.where(values > 0, values, 1))
        power = np.where(offset == 0, 1, offset)
        scaled = np.where(offset == 0, logs, np.expm1(power * logs) / power)
        return np.asarray(np.where(values > 0, scaled, 0), "f4")

    def inverse_transform(self, ga: Any) -> NDArray[Any]:
        """What `transform` made ``ga.data`` of."""
        import numpy as np

        values, offset, scale = self._rows(ga)
        if self.scaler_type != "boxcox":
            return np.asarray(values * scale + offset, "f4")
        power = np.where(offset == 0, 1, offset)
        base = values * power + 1
        # Below all that `transform` can give, the curve continues mirrored.
        powered = np.sign(base) * np.exp(np.log(np.where(base == 0, 1, abs(base))) / power)
        return np.asarray(np.where(offset == 0, np.exp(np.where(offset == 0, values, 0)), powered), "f4")

    def _rows(self, ga: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The values, and of each the offset and the scale of its series."""
        import numpy as np

        lengths = np.diff(np.asarray(ga.indptr))
        if len(lengths) != len(self.stats_):
            raise ValueError(f"expected {len(self.stats_)} series, which the scaler has statistics of, found {len(lengths)}")
        offset, scale = self.stats_.astype("f8").repeat(lengths, axis=0).T
        return np.asarray(ga.data, "f8"), offset, np.where(scale == 0, 1, scale)
