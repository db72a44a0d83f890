"""What AutoARIMA of statsforecast chooses for counts that are zero most of the time, beside which foretell-classical is tested.

It needs an environment with statsforecast 2.1.1:

python compare/intermittent.py
"""

import json
import warnings
from pathlib import Path

import numpy as np
from classical import arima_numbers, rounded
from statsforecast import models

OUT = Path("crates/classical/tests/fixtures/intermittent.json")
SERIES, H = 60, 14


def series(seed):
    """60 to 120 counts of sales, 30 to 90 % of them zero, with a week; half of them around a level that wanders, a third in
    spells. And the season."""
    draw = np.random.default_rng(1000 + seed)
    n = int(draw.integers(60, 121))
    zeros, t = draw.uniform(0.3, 0.9), np.arange(n)
    week = 1 + draw.uniform(0, 0.6) * np.sin(2 * np.pi * t / 7 + draw.uniform(0, 6))
    rate = draw.uniform(1, 6) * week * np.exp(np.cumsum(draw.normal(0, 0.12, n)) * (seed % 4 > 1))
    y = (draw.poisson(rate) + 1) * (draw.random(n) >= zeros)
    if seed % 3 == 0:
        spells = np.cumsum(draw.random(n) < 0.15) % 2
        y = y * spells
    return y, 7 if seed % 2 else 1


def case(seed):
    y, season = series(seed)
    fitted = models.AutoARIMA(season_length=season).fit(y.astype(float))
    mean = rounded(fitted.predict(H)["mean"])
    return {"model": "AutoARIMA", "settings": {"season_length": season}, "y": y.tolist(), "mean": mean,
            "chosen": arima_numbers(fitted.model_)}


def main():
    warnings.simplefilter("ignore")
    cases = [case(seed) for seed in range(SERIES)]
    OUT.write_text("\n".join(["[", ",\n".join(json.dumps(case) for case in cases), "]", ""]))
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
