"""Losses: what a model's training makes small, with neuralforecast's names and arguments.

``foretell.losses.numpy`` has scores of arrays as functions.
"""

from foretell.losses.pytorch import *  # noqa: F403
from foretell.losses.pytorch import __all__ as __all__
