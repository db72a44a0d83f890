"""Warnings of a call that are kept, to be told on another machine."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LOCK = threading.Lock()
#: What is kept for each thread that listens; others are told as ever.
_KEPT: dict[int, list[str]] = {}
#: How Python was set to tell warnings, while some thread listens.
_BEFORE: list[tuple[Any, Any]] = []


@contextmanager
def kept() -> Iterator[list[str]]:
    """The texts of the package's warnings in this thread, each once; threads listen at the same time without a word of each other's."""
    texts: list[str] = []
    own = threading.get_ident()
    with _LOCK:
        if not _KEPT:
            _BEFORE.append((warnings.catch_warnings(), warnings.showwarning))
            _BEFORE[0][0].__enter__()
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show
        _KEPT[own] = texts
    try:
        yield texts
    finally:
        with _LOCK:
            del _KEPT[own]
            if not _KEPT:
                _BEFORE.pop()[0].__exit__(None, None, None)


def _show(message: Any, category: type[Warning], *place: Any, **further: Any) -> None:
    texts = _KEPT.get(threading.get_ident())
    if texts is None or category is not UserWarning:
        for _, show in _BEFORE:
            show(message, category, *place, **further)
    elif str(message) not in texts:
        texts.append(str(message))
