"""Runs neuralforecast's own tests with foretell under its name.

    python python/neuralforecast_tests.py CHECKOUT tests/test_core.py tests/test_categorical.py

CHECKOUT is a checkout of neuralforecast's public repository; the arguments behind it are pytest's. What the tests import beside
neuralforecast (PyTorch, Ray, Optuna, ...) must be installed; neuralforecast itself need not be. Modules and names that foretell does not
have, as they are neuralforecast's own or Lightning's, are stand-ins: the tests can be collected, and fail where they use one.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence

import pytest

THEIRS, OURS = "neuralforecast", "foretell"
#: The modules of neuralforecast that foretell has under other names.
ELSEWHERE = {"neuralforecast.losses.pytorch": "foretell.losses.pytorch"}

#: What tests read of neuralforecast's own when they are collected.
STAND_INS = {"_type2scaler": dict.fromkeys(("standard", "robust", "robust-iqr", "minmax", "boxcox"))}


class Absent:
    """A name that foretell does not have: whatever is done with it fails."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _fail(self, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(f"foretell has no {self.name}")

    __call__ = __getattr__ = __getitem__ = __iter__ = _fail  # type: ignore[assignment]


def alias(name: str) -> types.ModuleType:
    """A module under neuralforecast's name with the names of foretell's."""
    module = types.ModuleType(name)
    module.__path__ = []
    try:
        ours = importlib.import_module(ELSEWHERE.get(name, OURS + name.removeprefix(THEIRS)))
    except ModuleNotFoundError:
        # A file of a model: its class is among the models.
        ours = importlib.import_module(f"{OURS}.models")
    everything = [importlib.import_module(f"{OURS}.{part}") for part in ("models", "losses", "utils", "_data", "core")]

    def find(attribute: str) -> object:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        for place in [ours, *everything]:
            if hasattr(place, attribute):
                return getattr(place, attribute)
        return STAND_INS.get(attribute) or Absent(f"{name}.{attribute}")

    module.__getattr__ = find  # type: ignore[method-assign]
    return module


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds all modules of neuralforecast in foretell."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != THEIRS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return alias(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    # The package that is installed, not its sources beside this file, which lack the engine.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if place != here]
    sys.meta_path.insert(0, Finder())
    os.chdir(sys.argv[1])
    sys.path.insert(0, os.getcwd())
    return pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
