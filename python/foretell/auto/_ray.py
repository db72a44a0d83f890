"""A search that Ray runs: its schedulers, its storage, its processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from foretell.auto._options import RayOptions
from foretell.tune import Choice, Float, GridSearch, RandInt


def is_wanted(options: RayOptions) -> bool:
    """Whether options ask for what only Ray can do."""
    return options.run_config is not None or options.scheduler is not None


def run_by_ray(
    evaluate: Callable[[dict[str, Any]], dict[str, float]],
    config: Mapping[str, Any],
    num_samples: int,
    search_alg: Any,
    time_budget: float | None,
    options: RayOptions,
) -> Any:
    """Ray's ``ResultGrid`` of a search. ``evaluate`` goes to Ray's processes with all that it holds."""
    from ray import tune

    def train(drawn: dict[str, Any]) -> None:
        tune.report(evaluate(drawn))

    tuner = tune.Tuner(
        tune.with_resources(train, {"gpu": options.gpus} if options.gpus else {"cpu": options.cpus or 1}),
        run_config=options.run_config,
        tune_config=tune.TuneConfig(
            metric="loss",
            mode="min",
            num_samples=num_samples,
            search_alg=search_alg if hasattr(search_alg, "suggest") or hasattr(search_alg, "next_trial") else None,
            scheduler=options.scheduler,
            time_budget_s=time_budget,
        ),
        param_space={name: for_ray(value) for name, value in config.items()},
    )
    return tuner.fit()


def for_ray(value: Any) -> Any:
    """A domain of ours as one of ``ray.tune``; anything else as it is."""
    from ray import tune

    match value:
        case GridSearch():
            return tune.grid_search(value.categories)
        case Choice():
            return tune.choice(value.categories)
        case RandInt(q=1):
            return tune.randint(value.lower, value.upper)
        case RandInt():
            return tune.qrandint(value.lower, value.upper, value.q)
        case Float(q=None):
            return (tune.loguniform if value.log else tune.uniform)(value.lower, value.upper)
        case Float():
            return (tune.qloguniform if value.log else tune.quniform)(value.lower, value.upper, value.q)
        case _:
            return value
