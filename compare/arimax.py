"""Forecasts of statsforecast's AutoARIMA with columns known ahead, beside which that of foretell-classical is tested.

It needs an environment with statsforecast 2.1.1:

python compare/arimax.py    writes the fixture of the tests
"""

import json
from pathlib import Path

import numpy as np
from statsforecast import models

OUT = Path("crates/classical/tests/fixtures/arimax.json")
H = 8


def cases():
    """Names, seasons, values and columns, of the history and what follows."""
    draw = np.random.default_rng(8)
    n = 120 + H
    price = 10 + np.round(draw.normal(0, 1, n), 2)
    promotion = (draw.random(n) < 0.2).astype(float)
    t = np.arange(n)
    noise = np.zeros(n)
    for i in range(1, n):
        noise[i] = 0.6 * noise[i - 1] + draw.normal(0, 2)
    yield "level", 1, 200 - 5 * price + 30 * promotion + noise, [price, promotion]
    yield "walk", 1, 200 - 5 * price + np.cumsum(draw.normal(0.3, 2, n)), [price]
    yield "year", 12, 300 + 40 * np.sin(2 * np.pi * t / 12) + 25 * promotion + noise, [promotion]
    yield "warmth", 7, 90 + 3 * price + 12 * (t % 7 > 4) + draw.normal(0, 3, n), [price, promotion]


def main():
    found = []
    for name, season, y, columns in cases():
        y = np.array([float(f"{value:.5g}") for value in y], dtype=np.float32).astype(float)
        x = np.column_stack(columns)
        model = models.AutoARIMA(season_length=season)
        answer = model.forecast(y[:-H], h=H, X=x[:-H], X_future=x[-H:], level=[80])
        fitted = model.fit(y[:-H], X=x[:-H]).model_
        slopes = [fitted["coef"][f"ex_{i + 1}"] for i in range(len(columns))]
        found.append({"name": name, "season": season, "y": [float(f"{value:.7g}") for value in y[:-H]],
                      "columns": x.T.tolist(), "arma": [int(order) for order in fitted["arma"]], "slopes": slopes,
                      "mean": list(answer["mean"]), "low": list(answer["lo-80"]), "high": list(answer["hi-80"])})
        print(name, fitted["arma"], {key: round(float(value), 3) for key, value in fitted["coef"].items()})
    OUT.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")


if __name__ == "__main__":
    main()
