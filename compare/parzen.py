"""How good a point Optuna's Parzen estimator finds, for the tests of foretell-search: python compare/parzen.py

It needs optuna 5.0.0. Of each function the median over seeds of the best score after 100 trials is printed, which
`crates/search/src/searches_tests.rs` holds; the best score of each function is 0. Then the same of trials before, for a look.
"""

import argparse
import math
import statistics

import optuna

LOOKS = (30, 50, 70, 100)


def axes(trial, low, high, count):
    return [trial.suggest_float(f"x{axis}", low, high) for axis in range(count)]


def bowl(trial):
    return sum(x * x for x in axes(trial, -5, 5, 4))


def rosenbrock(trial):
    x, y = axes(trial, -2, 2, 2)
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


def branin(trial):
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    inner = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return inner**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10 - 0.397887


def rastrigin(trial):
    return sum(x * x + 10 * (1 - math.cos(2 * math.pi * x)) for x in axes(trial, -5.12, 5.12, 2))


def network(trial):
    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    size = trial.suggest_int("size", 1, 5)
    scaler = trial.suggest_categorical("scaler", [0, 1, 2])
    trial.suggest_categorical("nothing", [0, 1, 2, 3])
    return (math.log10(rate) + 2.6) ** 2 + 0.2 * (size - 4) ** 2 + [0.8, 0, 0.5][scaler]


def scores(function, seed):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(function, n_trials=max(LOOKS))
    return [trial.value for trial in study.trials]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=60)
    seeds = parser.parse_args().seeds
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for function in (bowl, rosenbrock, branin, rastrigin, network):
        searches = [scores(function, seed) for seed in range(seeds)]
        medians = {look: statistics.median(min(found[:look]) for found in searches) for look in LOOKS}
        print(function.__name__, {look: float(f"{median:.4g}") for look, median in medians.items()}, flush=True)


if __name__ == "__main__":
    main()
