"""Convert models that neuralforecast 3.2 or older saved, or checkpoints of PyTorch Lightning:

    python -m foretell.migrate SRC [--dst DIR]

Unlike neuralforecast's own, this executes nothing that the files hold.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from foretell import _foretell

__all__ = ["migrate"]


def migrate(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str] | None = None,
    trust_source: bool = False,
    overwrite: bool = False,
    verbose: bool = True,
    model: str | None = None,
    freq: str | None = None,
) -> str:
    """Writes models of older files as a directory that ``NeuralForecast.load`` reads, here and in neuralforecast 3.3.

    Args:
        src: The directory that neuralforecast 3.2 or older saved, or a checkpoint (``.ckpt``).
        dst: The directory to write; None for ``src`` with ``_v2`` behind it. ``src`` stays as it is.
        trust_source: Accepted and not used: nothing in the files is executed.
        overwrite: Whether a directory of models at ``dst`` is replaced.
        verbose: Whether what was done is printed.
        model: The class of a checkpoint's model, where the file's name does not say it.
        freq: The step of the times of a checkpoint's data; a directory says it itself.

    Returns:
        The directory that was written; ``src`` if it is of the new kind already.

    Raises:
        FileNotFoundError: If there is nothing at ``src``.
        ValueError: If it holds something else, or ``dst`` is ``src`` or within it.
    """
    source = os.fspath(src).rstrip("/")
    stem, extension = os.path.splitext(source)
    target = os.fspath(dst if dst is not None else f"{stem if extension == '.ckpt' else source}_v2").rstrip("/")
    if not os.path.exists(source):
        raise FileNotFoundError(f"there is no directory or file {source}")
    real, real_target = os.path.realpath(source), os.path.realpath(target)
    if real_target == real or real_target.startswith(real + os.sep):
        raise ValueError(f"{target} is {source} or within it: give another dst, so that the old models stay unchanged")
    if os.path.isfile(os.path.join(source, "configuration.json")):
        _say(verbose, f"{source} is of the new kind already; nothing to do.")
        return source
    fitted, left_out = _foretell.import_models(source, model, freq)
    if os.path.isdir(target) and os.listdir(target) and not overwrite:
        raise FileExistsError(f"{target} is not empty: set overwrite=True (--overwrite) to replace the models in it")
    fitted.save(target, overwrite)
    _say(verbose, f"Migrated {source} -> {target}: {', '.join(fitted.names)}")
    for what in left_out:
        _say(verbose, f"  left out: {what}")
    return target


def _say(verbose: bool, message: str) -> None:
    if verbose:
        print(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 0 if it went well, 1 with the error on standard error otherwise."""
    parser = argparse.ArgumentParser(prog="python -m foretell.migrate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("src", help="directory of neuralforecast 3.2 or older, or a .ckpt file")
    parser.add_argument("--dst", help="directory to write; SRC_v2 where it is not given")
    parser.add_argument("--overwrite", action="store_true", help="replace the models at DST")
    parser.add_argument("--i-trust-this-source", dest="trust_source", action="store_true", help="accepted; nothing is executed")
    parser.add_argument("--model", help="class of the model in a .ckpt file whose name does not say it")
    parser.add_argument("--freq", help="step of the times of the data of a .ckpt file")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    given = parser.parse_args(arguments)
    try:
        migrate(given.src, given.dst, given.trust_source, given.overwrite, not given.quiet, given.model, given.freq)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
