"""Names of neuralforecast's models that the engine does not have: making one says so."""

from __future__ import annotations

from typing import Any, NoReturn


class _Missing:
    """A model that cannot be made."""

    _instead = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"foretell does not have {cls.__name__}: {cls._instead}")


class TimeLLM(_Missing):
    """neuralforecast's TimeLLM, which needs a language model of PyTorch. foretell does not have it."""

    _instead = "PatchTST cuts the history into patches as it does, without a language model"
