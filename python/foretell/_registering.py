"""What neuralforecast's users register: classes of PyTorch, which nothing here can train."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(what: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"{what} of PyTorch cannot be used here: {instead}; docs/own-model.md says how to write a model in Rust")


def register_loss(*_: Any, **__: Any) -> NoReturn:
    """Refuses: losses are the engine's.

    Raises:
        NotImplementedError: Always.
    """
    _refuse("a loss", "give models one of foretell.losses")


def register_optimizer(*_: Any, **__: Any) -> NoReturn:
    """Refuses: optimisers are the engine's.

    Raises:
        NotImplementedError: Always.
    """
    _refuse("an optimiser", 'give models the name of one that the engine has, as in optimizer="AdamW"')


def register_lr_scheduler(*_: Any, **__: Any) -> NoReturn:
    """Refuses: schedules of the learning rate are the engine's.

    Raises:
        NotImplementedError: Always.
    """
    _refuse("a schedule", 'give models the name of one that the engine has, as in lr_scheduler="StepLR"')
