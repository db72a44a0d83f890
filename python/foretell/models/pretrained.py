"""Networks that others trained, from folders of their weights."""

from __future__ import annotations

import os

from foretell._model import LocalModel


class Pretrained(LocalModel):
    """A network that others trained (Fracast-0, Chronos-Bolt), from a folder in Hugging Face's layout. Nothing is trained: ``fit`` reads its
    weights. docs/pretrained.md says which networks are read, and what the licences of their weights are.

    Args:
        h: Steps to forecast.
        folder: The folder of ``config.json`` and ``model.safetensors``. Saved models hold its path, not the weights.
        alias: The name of the model's column in forecasts; None for the folder's name.
    """

    def __init__(self, h: int, folder: str | os.PathLike[str], alias: str | None = None) -> None:
        folder = os.path.abspath(os.fspath(folder))
        self._take(locals())
