"""Names of columns and of methods of explanation, as neuralforecast has them."""

from enum import Enum


class TimeSeriesDatasetEnum(str, Enum):
    """The usual names of the columns of ids, times and the target."""

    Datetime = "ds"
    UniqueId = "unique_id"
    Target = "y"


class ExplainerEnum(str, Enum):
    """Methods of explanation."""

    IntegratedGradients = "IntegratedGradients"
    ShapleyValueSampling = "ShapleyValueSampling"
    InputXGradient = "InputXGradient"
