"""Directories of models, on this machine or where fsspec reaches (``s3://``, ``dbfs:/``, ...)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foretell import _foretell


def _remote(path: str) -> tuple[Any, str] | None:
    """The file system of a path that is not of this machine, and the path there.

    Raises:
        ImportError: If fsspec is needed and not installed.
    """
    if "://" not in path and not path.startswith("dbfs:/"):
        return None
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(f"{path} is not of this machine, which takes fsspec: pip install fsspec, or give a local directory") from error
    file_system, inner = fsspec.core.url_to_fs(path)
    return file_system, inner.rstrip("/")


def write(fitted: _foretell.Fitted, path: str, overwrite: bool, panel: _foretell.Panel | None) -> None:
    """Writes models, with the series of their training if they are given.

    Raises:
        FileExistsError: If the directory has files, and may not be replaced.
    """
    remote = _remote(path)
    taken = remote[0].exists(remote[1]) and remote[0].ls(remote[1]) if remote else os.path.isdir(path) and os.listdir(path)
    if taken and not overwrite:
        raise FileExistsError("Directory is not empty. Set `overwrite=True` to overwrite files.")
    if remote is None:
        fitted.save(path, overwrite, panel)
        return
    file_system, inner = remote
    with tempfile.TemporaryDirectory() as home:
        local = os.path.join(home, "models")
        fitted.save(local, False, panel)
        if taken:
            file_system.rm(inner, recursive=True)
        file_system.makedirs(inner, exist_ok=True)
        for name in os.listdir(local):
            file_system.put_file(os.path.join(local, name), f"{inner}/{name}")


@contextmanager
def local(path: str) -> Iterator[str]:
    """A directory of this machine with the files of one that may be elsewhere.

    Raises:
        FileNotFoundError: If it is elsewhere and not there.
    """
    remote = _remote(path)
    if remote is None:
        yield path
        return
    file_system, inner = remote
    if not file_system.exists(inner):
        raise FileNotFoundError(f"there is no directory {path}")
    with tempfile.TemporaryDirectory() as home:
        for found in file_system.ls(inner, detail=False):
            file_system.get_file(found, os.path.join(home, found.rstrip("/").rpartition("/")[2]))
        yield home


def packed(fitted: _foretell.Fitted, panel: _foretell.Panel) -> dict[str, bytes]:
    """The files of a directory of models with their series."""
    with tempfile.TemporaryDirectory() as home:
        directory = Path(home, "models")
        fitted.save(str(directory), False, panel)
        return {file.name: file.read_bytes() for file in directory.iterdir()}


def panel_of(files: dict[str, bytes]) -> _foretell.Panel:
    """The series of a directory of these files."""
    with tempfile.TemporaryDirectory() as home:
        for name, content in files.items():
            Path(home, name).write_bytes(content)
        _, panel = _foretell.Fitted.load(home)
    if panel is None:
        raise ValueError("expected a directory of models with the series of their training, found one without them")
    return panel
