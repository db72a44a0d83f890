"""Options of the search engines, as neuralforecast has them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import Any


@dataclass
class RayOptions:
    """Options of Ray, which is needed for the first two. Where Ray runs (``ray.init()``) trials are its tasks, side by side; otherwise
    they run one after the other on all threads, to the same results.

    Attributes:
        run_config: Ray's ``RunConfig``.
        scheduler: A scheduler of trials.
        cpus: Processors of a trial; 1 where it is not said.
        gpus: Graphics cards of a trial; foretell does not use them.
    """

    run_config: Any | None = None
    scheduler: Any | None = None
    cpus: int | None = None
    gpus: float | None = None


@dataclass
class OptunaOptions:
    """Options of Optuna, where it is installed.

    Attributes:
        study_kwargs: Arguments of ``Study.optimize``; ``n_trials``, ``timeout`` and ``callbacks`` are heeded.
        create_study_kwargs: Arguments of ``optuna.create_study``.
    """

    study_kwargs: dict[str, Any] | None = None
    create_study_kwargs: dict[str, Any] | None = None


def warn_of_unused(backend: str, ray_options: RayOptions, optuna_options: OptunaOptions) -> None:
    """Warns of options of the other engine."""
    name, unused = ("optuna_options", optuna_options) if backend == "ray" else ("ray_options", ray_options)
    given = [field.name for field in fields(unused) if getattr(unused, field.name) is not None]
    if given:
        warnings.warn(f"{given} on `{name}` are ignored when `backend={backend!r}`.", stacklevel=4)
