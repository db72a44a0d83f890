"""Scores of utilsforecast, beside which the metrics of foretell-evaluate are tested."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from utilsforecast import losses
from utilsforecast.evaluation import evaluate

OUT = Path("crates/evaluate/tests/fixtures/scores.json")
SERIES, CUTOFFS, HORIZON, HISTORY, SEASON = 4, 3, 5, 40, 7
LEVELS = [80, 95]
MODELS = ["A", "B"]


def frames():
    """Forecasts of positive values, and all that is known of the series."""
    draw = np.random.default_rng(7)
    series, rows = [], []
    for number in range(SERIES):
        length = HISTORY + CUTOFFS * HORIZON
        t = np.arange(length)
        y = 20 + 3 * number + 5 * np.sin(2 * np.pi * t / SEASON) + draw.normal(0, 2, length)
        y = np.maximum(y, 0.5)
        if number == 2:
            y[HISTORY + 3] = 0.0
        series.append(pd.DataFrame({"unique_id": number, "ds": t, "y": y}))
        for window in range(CUTOFFS):
            cutoff = HISTORY + window * HORIZON - 1
            for step in range(1, HORIZON + 1):
                row = {"unique_id": number, "ds": cutoff + step, "cutoff": cutoff, "y": y[cutoff + step]}
                for model, spread in zip(MODELS, [1.5, 3.0]):
                    row[model] = max(y[cutoff + step] + draw.normal(0, spread), 0.1)
                    for level, width in zip(LEVELS, [2.0, 4.0]):
                        row[f"{model}-lo-{level}"] = row[model] - width
                        row[f"{model}-hi-{level}"] = row[model] + width * 1.2
                rows.append(row)
    return pd.DataFrame(rows), pd.concat(series, ignore_index=True)


def seasonal(metric):
    def scored(df, models, train_df, id_col="unique_id", target_col="y", cutoff_col="cutoff", time_col="ds"):
        return metric(df, models=models, seasonality=SEASON, train_df=train_df, id_col=id_col, target_col=target_col,
                      cutoff_col=cutoff_col, time_col=time_col)
    scored.__name__ = metric.__name__
    return scored


def seasonal_quantiles(metric, annotation):
    def scored(df, models, train_df, q=0.5, id_col="unique_id", target_col="y", cutoff_col="cutoff", time_col="ds"):
        return metric(df, models=models, seasonality=SEASON, train_df=train_df, q=q, id_col=id_col,
                      target_col=target_col, cutoff_col=cutoff_col, time_col=time_col)

    def scored_all(df, models, quantiles, train_df, id_col="unique_id", target_col="y", cutoff_col="cutoff",
                   time_col="ds"):
        return metric(df, models=models, quantiles=quantiles, seasonality=SEASON, train_df=train_df, id_col=id_col,
                      target_col=target_col, cutoff_col=cutoff_col, time_col=time_col)
    scored = scored_all if annotation == "all" else scored
    scored.__name__ = metric.__name__
    return scored


def relative(df, models, id_col="unique_id", target_col="y", cutoff_col="cutoff"):
    return losses.rmae(df, models, "A", id_col, target_col, cutoff_col)


relative.__name__ = "rmae"


def main():
    df, known = frames()
    plain = [losses.mae, losses.mse, losses.rmse, losses.bias, losses.cfe, losses.pis, losses.mape, losses.smape,
             losses.nd, losses.wape, losses.tweedie_deviance, losses.linex, relative]
    scaled = [losses.spis, seasonal(losses.mase), seasonal(losses.msse), seasonal(losses.rmsse)]
    quantiles = [losses.quantile_loss, losses.mqloss, losses.scaled_crps, losses.calibration, losses.coverage,
                 losses.winkler_score, seasonal_quantiles(losses.scaled_quantile_loss, "each"),
                 seasonal_quantiles(losses.scaled_mqloss, "all")]
    scores = evaluate(df, plain + scaled + quantiles, models=MODELS, train_df=known, level=LEVELS)
    fixture = {
        "season": SEASON,
        "history": {str(number): group["y"].tolist() for number, group in known.groupby("unique_id")},
        "rows": {name: df[name].tolist() for name in df.columns},
        "scores": scores.to_dict(orient="list"),
    }
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(fixture))


if __name__ == "__main__":
    main()
