"""Searches: configurations are drawn, each is evaluated, and all are kept with their losses."""

from __future__ import annotations

import copy
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from foretell.tune import Float, drawn, grids

if TYPE_CHECKING:
    import pandas as pd

#: What a model of every configuration gets from the search itself.
INJECTED = ("h", "loss", "valid_loss")

#: What evaluates a configuration: its losses, ``{"loss": of validation, "train_loss": of the last step}``.
Evaluate = Callable[[dict[str, Any]], dict[str, float]]


class RandomSearch:
    """Configurations drawn at random, each by itself (Bergstra and Bengio 2012); grids within them are gone through.

    Args:
        random_state: The seed that they are drawn by.
    """

    def __init__(self, random_state: int = 1) -> None:
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"RandomSearch(random_state={self.random_state})"


class Trial:
    """A configuration that was evaluated.

    Attributes:
        number: Its place in the search, from 0.
        config: The hyper-parameters; with a dictionary of domains also ``h``, ``loss`` and ``valid_loss``, so that they make a model.
        metrics: "loss", of validation, and "train_loss"; empty if it failed.
        error: Why it failed, or None.
        duration: Seconds that it took.
    """

    def __init__(self, number: int, config: dict[str, Any]) -> None:
        self.number, self.config = number, config
        self.metrics: dict[str, float] = {}
        self.error: Exception | None = None
        self.duration = 0.0

    def evaluate(self, evaluate: Evaluate) -> None:
        """Finds the losses. What cannot be trained (a ValueError) or diverges (a RuntimeError) is kept as the error."""
        began = time.monotonic()
        try:
            self.metrics = evaluate(copy.deepcopy(self.config))
        except (ValueError, RuntimeError) as error:
            self.error = error
        self.duration = time.monotonic() - began

    @property
    def value(self) -> float:
        """The loss; infinite if it failed or is no number."""
        loss = self.metrics.get("loss", float("inf"))
        return loss if loss == loss else float("inf")

    @property
    def trial_id(self) -> str:
        """Its number as a text of five digits."""
        return f"{self.number:05d}"

    @property
    def metrics_dataframe(self) -> pd.DataFrame:
        """The losses as a table of one row: a trial is judged once."""
        import pandas as pd

        return pd.DataFrame([{**self.metrics, "training_iteration": 1, "trial_id": self.trial_id}])

    @property
    def params(self) -> dict[str, Any]:
        """The hyper-parameters, as Optuna calls them."""
        return self.config

    @property
    def user_attrs(self) -> dict[str, Any]:
        """What neuralforecast notes in a trial of Optuna."""
        return {"ALL_PARAMS": self.config, "METRICS": self.metrics}

    def __repr__(self) -> str:
        return f"Trial({self.number}, loss={self.value:g}, config={self.config!r})"


class Results:
    """All trials of a search. It answers to what users call on Ray's ``ResultGrid`` and on Optuna's ``Study``."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __getitem__(self, position: int) -> Trial:
        return self.trials[position]

    @property
    def errors(self) -> list[Exception]:
        """What went wrong in trials."""
        return [trial.error for trial in self.trials if trial.error is not None]

    def get_best_result(self, metric: str = "loss", mode: str = "min") -> Trial:
        """The trial with the least loss, or the least or most of another metric of its own.

        Raises:
            RuntimeError: If every trial failed; the last error is its cause.
            ValueError: If there is no such metric or mode.
        """
        known = [trial for trial in self.trials if trial.metrics]
        if not known:
            last = self.errors[-1] if self.errors else None
            raise RuntimeError(f"none of {len(self.trials)} configurations could be trained; the last one: {last}") from last
        if mode not in ("min", "max"):
            raise ValueError(f'mode must be "min" or "max", found {mode!r}')
        if metric not in known[0].metrics:
            raise ValueError(f"metric must be one of {', '.join(known[0].metrics)}, found {metric!r}")
        scores = [trial.metrics[metric] if mode == "min" else -trial.metrics[metric] for trial in known]
        # What is no number is worse than any.
        return known[min(range(len(known)), key=lambda place: (math.isnan(scores[place]), scores[place]))]

    @property
    def best_trial(self) -> Trial:
        """The trial with the least loss."""
        return self.get_best_result()

    @property
    def best_params(self) -> dict[str, Any]:
        """The hyper-parameters of the best trial, without those that no configuration has a say in: ``h`` and the losses."""
        return {name: value for name, value in self.get_best_result().config.items() if name not in INJECTED}

    @property
    def best_value(self) -> float:
        """The loss of the best trial."""
        return self.get_best_result().value

    def get_dataframe(self) -> pd.DataFrame:
        """A row a trial, as Ray has it: ``loss``, ``train_loss``, ``trial_id``, ``time_total_s`` and the hyper-parameters as ``config/NAME``."""
        import pandas as pd

        rows = [
            {
                **trial.metrics,
                "trial_id": trial.trial_id,
                "time_total_s": trial.duration,
                **{f"config/{k}": v for k, v in trial.config.items()},
            }
            for trial in self.trials
        ]
        return pd.DataFrame(rows)

    def trials_dataframe(self) -> pd.DataFrame:
        """A row a trial, as Optuna has it: ``number``, ``value``, ``state`` and the hyper-parameters as ``params_NAME``."""
        import pandas as pd

        rows = [
            {
                "number": trial.number,
                "value": trial.metrics.get("loss"),
                "state": "COMPLETE" if trial.metrics else "FAIL",
                **{f"params_{k}": v for k, v in trial.config.items()},
            }
            for trial in self.trials
        ]
        return pd.DataFrame(rows)


def run(
    propose: Iterator[dict[str, Any]],
    evaluate: Evaluate,
    num_samples: int,
    time_budget: float | None = None,
    after: Callable[[Results, Trial], None] | None = None,
) -> Results:
    """Evaluates up to ``num_samples`` proposals, or as many as begin within ``time_budget`` seconds; at least one.

    A configuration that cannot be trained (a ValueError) or that diverges (a RuntimeError) is kept with its error, and the search continues.
    """
    results, started = Results(), time.monotonic()
    for number in range(num_samples):
        if number > 0 and time_budget is not None and time.monotonic() - started > time_budget:
            break
        config = next(propose, None)
        if config is None:
            break
        trial = Trial(number, config)
        trial.evaluate(evaluate)
        results.trials.append(trial)
        if after is not None:
            after(results, trial)
    return results


def random_configs(config: Mapping[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Configurations of a space without end; each draw is combined with all values of its grids."""
    rng = random.Random(seed)
    while True:
        for combination in grids(config):
            yield {name: combination[name] if name in combination else drawn(value, rng) for name, value in config.items()}


class RandomTrial:
    """What a function of a trial of Optuna is called with where Optuna is not installed: it suggests at random."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.number, self._rng = number, rng
        self.params: dict[str, Any] = {}

    def _note(self, name: str, value: Any) -> Any:
        # A name that comes again has the value of before, as in Optuna.
        return self.params.setdefault(name, value)

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        return self._note(name, self._rng.choice(list(choices)))

    def suggest_int(self, name: str, low: int, high: int, step: int = 1, log: bool = False) -> Any:
        if log:
            return self._note(name, min(int(Float(low, high + 1, log=True).sample(self._rng)), high))
        return self._note(name, self._rng.randrange(low, high + 1, step))

    def suggest_float(self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False) -> Any:
        return self._note(name, low if low == high else Float(low, high, log, step).sample(self._rng))

    def suggest_uniform(self, name: str, low: float, high: float) -> Any:
        return self.suggest_float(name, low, high)

    def suggest_loguniform(self, name: str, low: float, high: float) -> Any:
        return self.suggest_float(name, low, high, log=True)

    def set_user_attr(self, key: str, value: Any) -> None:
        """Accepted; nothing reads it."""


def function_configs(config: Callable[[Any], dict[str, Any]], seed: int) -> Iterator[dict[str, Any]]:
    """Configurations of a function of a trial, without end."""
    rng, number = random.Random(seed), 0
    while True:
        yield config(RandomTrial(number, rng))
        number += 1


def searcher_configs(searcher: Any, config: Mapping[str, Any], results: Callable[[], Results | None]) -> Iterator[dict[str, Any]]:
    """Configurations that a searcher of Ray suggests (HyperOpt, Optuna, ...), which is told the losses of those before."""
    searcher.set_search_properties("loss", "min", dict(config))
    number = 0
    while True:
        done = results()
        if done is not None and len(done) == number > 0:
            searcher.on_trial_complete(f"trial_{number - 1}", {"loss": done[-1].value})
        suggested = searcher.suggest(f"trial_{number}")
        if not isinstance(suggested, Mapping):
            return
        yield {**config, **suggested}
        number += 1
