"""Searches that Ray runs: as tasks, or by its schedulers and storage."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from foretell.auto._options import RayOptions
from foretell.auto._search import Results, Trial
from foretell.tune import Choice, Float, GridSearch, RandInt


def is_wanted(options: RayOptions) -> bool:
    """Whether options ask for what only Ray can do."""
    return options.run_config is not None or options.scheduler is not None


def is_running() -> bool:
    """Whether Ray was started, as by ``ray.init()``."""
    return "ray" in sys.modules and bool(sys.modules["ray"].is_initialized())


def run_as_tasks(
    propose: Iterator[dict[str, Any]],
    evaluate: Callable[..., dict[str, float]],
    num_samples: int,
    time_budget: float | None,
    after: Callable[[Results, Trial], None],
    cpus: int,
) -> Results:
    """The results of :func:`foretell.auto._search.run`, whose trials are tasks of Ray, on this many processors each.

    ``evaluate`` goes to the workers once, with all that it holds. A task whose worker dies is begun anew.
    """
    import ray

    def evaluated(work: Callable[..., dict[str, float]], trial: Trial) -> Trial:
        trial.evaluate(lambda config: work(config, threads=cpus))
        return trial

    results, started = Results(), time.monotonic()
    shared, task_of = ray.put(evaluate), ray.remote(num_cpus=cpus)(evaluated)
    trials = [Trial(number, config) for number, config in enumerate(islice(propose, num_samples))]
    tasks = [task_of.remote(shared, trial) for trial in trials]
    for number, task in enumerate(tasks):
        left = None if time_budget is None or number == 0 else max(time_budget - (time.monotonic() - started), 0)
        if not ray.wait([task], timeout=left)[0]:
            # Trials run side by side, so those that are done are a beginning of the search.
            for late in tasks[number:]:
                ray.cancel(late, force=True)
            break
        results.trials.append(ray.get(task))
        after(results, results[-1])
    return results


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
