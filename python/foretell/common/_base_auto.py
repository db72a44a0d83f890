"""What automatic models have in common, under the name of neuralforecast's module."""

from foretell.auto._base import BaseAuto
from foretell.auto._options import OptunaOptions, RayOptions

__all__ = ["BaseAuto", "OptunaOptions", "RayOptions"]
