"""Networks that others trained, from folders of their weights."""

from __future__ import annotations

import os
from collections.abc import Sequence

from foretell._model import LocalModel


class Pretrained(LocalModel, reads="futr hist stat cat"):
    """A network that others trained (Chronos-2, Chronos-Bolt, Fracast-0, TimesFM 2.5, TiRex), from a folder in Hugging Face's layout. Nothing is
    trained: ``fit`` reads its weights. docs/pretrained.md says which networks are read, and what the licences of their weights are.

    Args:
        h: Steps to forecast.
        folder: The folder of ``config.json`` and ``model.safetensors``. Saved models hold its path, not the weights.
        hist_exog_list: Columns known for the past alone that the network reads; those of Chronos-2 do.
        futr_exog_list: Columns known ahead that it reads.
        stat_exog_list: Static columns that name groups: series with equal values are forecast together, each reading the others.
        cat_exog_list: The columns among these that hold categories.
        cross_learning: Series that are forecast together, at most; 0 for each alone, or for whole groups of ``stat_exog_list``.
        alias: The name of the model's column in forecasts; None for the folder's name.
    """

    hist_exog_list: list[str]
    stat_exog_list: list[str]
    cat_exog_list: list[str]

    def __init__(
        self, h: int, folder: str | os.PathLike[str], alias: str | None = None, hist_exog_list: Sequence[str] | None = [],
        futr_exog_list: Sequence[str] | None = [], stat_exog_list: Sequence[str] | None = [], cat_exog_list: Sequence[str] | None = [],
        cross_learning: int = 0,
    ) -> None:
        folder = os.path.abspath(os.fspath(folder))
        self._take(locals())
        self.hist_exog_list = list(self.hparams.get("hist_exog_list") or [])
        self.stat_exog_list = list(self.hparams.get("stat_exog_list") or [])
        self.cat_exog_list = list(self.hparams.get("cat_exog_list") or [])
