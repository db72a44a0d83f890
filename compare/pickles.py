"""Fixtures of PyTorch's pickles: crates/foretell/tests/fixtures/pickles/<case>/

Written by neuralforecast 3.2, the last that saves pickles; it stands beside the installed one:

    pip install --no-deps --target OLD neuralforecast==3.2.0
    PYTHONPATH=OLD python compare/pickles.py

panel.csv          the history that forecasts start from
directory/model/   what NeuralForecast.save of 3.2 wrote, with scalers of whole series and the dataset; expected.csv
lightning/*.ckpt   what PyTorch Lightning's trainer wrote while it trained; a forecast for each, NAME.csv
weights/*.pt       state dictionaries alone; settings.json has class and hyper-parameters, NAME.csv the forecast

The models are trained for a few steps only: what matters is that a reader computes the same forecast.
"""

import json
import shutil

import neuralforecast
import numpy as np
import pandas as pd
import torch
from common import QUIET, fixtures, one_thread, read_table, seed
from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import DistributionLoss, HuberLoss, MQLoss
from neuralforecast.models import LSTM, MLP, NHITS, NLinear

H, INPUT_SIZE = 4, 12
SHARED = dict(h=H, input_size=INPUT_SIZE, max_steps=5, learning_rate=1e-2, windows_batch_size=16) | QUIET
SMALL_LSTM = dict(encoder_hidden_size=6, decoder_hidden_size=5)


def panel():
    rng = np.random.default_rng(seed("pickles"))
    series = []
    for i, length in enumerate((40, 31, 22)):
        steps = np.arange(length)
        y = 10 * (i + 1) + 3 * np.sin(2 * np.pi * steps / 7) + rng.normal(size=length)
        series.append(pd.DataFrame(dict(unique_id=f"s{i}", ds=pd.date_range("2024-01-01", periods=length), y=y.round(3))))
    return pd.concat(series)


def trained(models, data, **settings):
    forecaster = NeuralForecast(models, freq="D", **settings)
    forecaster.fit(data)
    return forecaster, forecaster.predict(data)


def main():
    assert neuralforecast.__version__.startswith("3.2"), f"neuralforecast 3.2 writes pickles, not {neuralforecast.__version__}"
    one_thread()
    root = fixtures("foretell") / "pickles"
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("directory", "lightning", "weights"):
        (root / folder).mkdir(parents=True)
    panel().to_csv(root / "panel.csv", index=False)
    data = read_table(root / "panel.csv", "unique_id", "ds")

    models = [
        NHITS(mlp_units=[[6, 6], [6, 6]], scaler_type="standard", loss=MQLoss(level=[80, 90]), **SHARED),
        LSTM(alias="memory", optimizer=torch.optim.AdamW, scaler_type="robust", **SMALL_LSTM, **SHARED),
        MLP(hidden_size=6, loss=HuberLoss(0.5, horizon_weight=torch.tensor([1.0, 2, 3, 4])), **SHARED),
    ]
    forecaster, forecast = trained(models, data, local_scaler_type="standard")
    forecast.to_csv(root / "directory" / "expected.csv", index=False)
    forecaster.save(str(root / "directory" / "model"), save_dataset=True)

    for name, model in (
        ("MLP", MLP(hidden_size=6, scaler_type="minmax", **SHARED)),
        ("LSTM", LSTM(scaler_type="standard", **SMALL_LSTM, **SHARED)),
        ("Normal", NLinear(loss=DistributionLoss("Normal", level=[80], return_params=True), **SHARED)),
    ):
        forecaster, forecast = trained([model], data)
        forecaster.models[0].trainer.save_checkpoint(root / "lightning" / f"{name}.ckpt")
        forecast.to_csv(root / "lightning" / f"{name}.csv", index=False)

    settings = {}
    for name, cls, arguments in (("MLP", MLP, dict(hidden_size=6, num_layers=3)), ("LSTM", LSTM, SMALL_LSTM)):
        forecaster, forecast = trained([cls(**arguments, **SHARED)], data)
        torch.save(forecaster.models[0].state_dict(), root / "weights" / f"{name}.pt")
        forecast.to_csv(root / "weights" / f"{name}.csv", index=False)
        settings[name] = dict(h=H, input_size=INPUT_SIZE) | arguments
    (root / "weights" / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")


if __name__ == "__main__":
    main()
