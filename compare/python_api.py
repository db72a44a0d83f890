"""Write down neuralforecast's Python API, for the tests of python/: python compare/python_api.py

Signatures with their defaults, what losses say of their outputs and compute, the default search spaces, and the small data sets.
"""

import inspect
import json
import pathlib

import neuralforecast.auto as auto
import neuralforecast.losses.numpy as numpy_losses
import neuralforecast.losses.pytorch as losses
import neuralforecast.models as models
import neuralforecast.utils as utils
import numpy as np
import pandas as pd
import torch

FIXTURE = pathlib.Path(__file__).parents[1] / "python" / "tests" / "fixtures" / "neuralforecast.json"
H = 12


def default(value):
    """A default as JSON: plain values unchanged, objects by their class."""
    if value is inspect.Parameter.empty:
        return {"required": True}
    try:
        json.dumps(value)
        return {"value": value}
    except TypeError:
        return {"class": type(value).__name__}


def signature(function):
    return {
        name: {"kind": parameter.kind.name, **default(parameter.default)}
        for name, parameter in inspect.signature(function).parameters.items()
    }


def signatures(module):
    return {name: signature(getattr(module, name)) for name in module.__all__ if callable(getattr(module, name))}


def domain(value):
    """A sampler of ray.tune as [its name, its arguments]; anything else as it is."""
    if not hasattr(value, "sampler"):
        return value
    sampler = type(value.sampler).__name__
    if hasattr(value, "categories"):
        return ["choice", value.categories]
    if sampler == "Quantized":
        return ["quniform", value.lower, value.upper, value.sampler.q]
    return [{"_LogUniform": "loguniform", "_Uniform": "randint" if "Integer" in type(value).__name__ else "uniform"}[sampler],
            value.lower, value.upper]


def spaces():
    found = {}
    for name in auto.__all__:
        cls = getattr(auto, name)
        if name.startswith("Auto") and name != "AutoHINT":
            config = cls.get_default_config(h=H, backend="ray", n_series=2)
            found[name] = {key: domain(value) for key, value in config.items()}
    return found


def instances():
    """Losses, by the expression that makes them."""
    texts = [
        "MAE()", "MSE()", "RMSE()", "MAPE()", "SMAPE()", "MASE(seasonality=2)", "FreDF()", "FreDF(alpha=0.2)", "HuberLoss()",
        "HuberLoss(delta=0.3)", "QuantileLoss(q=0.3)", "HuberQLoss(q=0.7, delta=0.5)", "MQLoss()", "MQLoss(level=[50, 97.5])",
        "MQLoss(quantiles=[0.1, 0.5, 0.9])", "HuberMQLoss(level=[80], delta=0.2)", "HuberMQLoss(quantiles=[0.9, 0.2])",
        "TukeyLoss()", "relMSE()", "sCRPS(level=[80])", "Accuracy()", "IQLoss()", "HuberIQLoss(delta=2.0)",
        "DistributionLoss('Normal')", "DistributionLoss('StudentT', level=[90], return_params=True)",
        "DistributionLoss('Poisson', quantiles=[0.9, 0.1])", "DistributionLoss('NegativeBinomial', return_params=True)",
        "DistributionLoss('Bernoulli')", "DistributionLoss('Tweedie', rho=1.5)", "DistributionLoss('ISQF', level=[80])",
        "DistributionLoss('ISQF', quantiles=[0.2, 0.8], num_pieces=3)",
        "GMM()", "GMM(n_components=2, return_params=True, weighted=True)", "PMM(n_components=2, return_params=True)",
        "NBMM(n_components=2, return_params=True, weighted=True)", "PMM()",
    ]
    return {text: eval(text, vars(losses)) for text in texts}


# Those that foretell computes as neuralforecast does; the others differ on purpose (docs/differences.md).
EVALUATED = {"MAE", "MSE", "RMSE", "MAPE", "SMAPE", "MASE", "FreDF", "HuberLoss", "QuantileLoss", "HuberQLoss", "MQLoss", "HuberMQLoss"}


def described():
    rng = np.random.default_rng(1)
    y, insample = rng.normal(size=(3, 5, 1)), rng.normal(size=(3, 8))
    y[0, 0, 0] = 0.0
    mask = (rng.random((3, 5, 1)) > 0.3).astype(float)
    cases = {"y": y.tolist(), "insample": insample.tolist(), "mask": mask.tolist(), "losses": {}}
    for text, loss in instances().items():
        entry = {"outputsize_multiplier": loss.outputsize_multiplier, "output_names": loss.output_names}
        name = type(loss).__name__
        if name in EVALUATED:
            y_hat = rng.normal(size=(3, 5, 1, loss.outputsize_multiplier))
            if loss.outputsize_multiplier == 1:
                y_hat = y_hat[..., 0]
            tensors = {"y": y, "y_hat": y_hat, "y_insample": insample}
            tensors = {key: torch.tensor(value) for key, value in tensors.items()}
            entry["y_hat"] = y_hat.tolist()
            entry["plain"] = float(loss(**tensors))
            if name != "FreDF":
                entry["masked"] = float(loss(**tensors, mask=torch.tensor(mask)))
        cases["losses"][text] = entry
    return cases


def by_numpy():
    rng = np.random.default_rng(2)
    y, y_hat, other = (rng.normal(size=(4, 6)) for _ in range(3))
    weights, quantiles = rng.random((4, 6)), np.array([0.1, 0.5, 0.9])
    several = rng.normal(size=(4, 6, 3))
    cases = {key: value.tolist() for key, value in locals().items() if isinstance(value, np.ndarray)}
    cases["expected"] = {}
    for given in [None, weights]:
        for axis in [None, 1] if given is None else [None]:
            results = {
                **{name: getattr(numpy_losses, name)(y, y_hat, given, axis) for name in ["mae", "mse", "rmse", "mape", "smape"]},
                "mase": numpy_losses.mase(y, y_hat, other, 2, given) if axis is None else None,
                "rmae": numpy_losses.rmae(y, y_hat, other, given, axis),
                "quantile_loss": numpy_losses.quantile_loss(y, y_hat, 0.3, given, axis),
                "mqloss": numpy_losses.mqloss(y, several, quantiles, given, axis),
            }
            key = f"weights={given is not None},axis={axis}"
            cases["expected"][key] = {k: np.asarray(v).tolist() for k, v in results.items() if v is not None}
    return cases


def frame(df):
    return {column: [str(v)[:10] if column == "ds" else v for v in df[column].tolist()] for column in df.columns}


def calendar():
    """Calendar columns; not of "W", which fails with pandas 2 and above."""
    hours = pd.DataFrame({"ds": pd.date_range("2024-02-27 22:00", periods=6, freq="h")})
    found = {}
    for freq in ["Q", "M", "MS", "D", "B", "H", "T", "S"]:
        df, columns = utils.augment_calendar_df(hours, freq)
        found[freq] = {column: df[column].tolist() for column in columns}
    return found


def main():
    generated = utils.generate_series(3, n_temporal_features=2, equal_ends=True, min_length=5, max_length=9)
    facts = {
        "models": signatures(models),
        "losses": signatures(losses),
        "auto": signatures(auto),
        "utils": signatures(utils),
        "numpy_losses": signatures(numpy_losses),
        "spaces": spaces(),
        "loss_values": described(),
        "numpy_values": by_numpy(),
        "panel": frame(utils.AirPassengersPanel),
        "static": frame(utils.AirPassengersStatic),
        "df": frame(utils.AirPassengersDF),
        "generated": frame(generated),
        "calendar": calendar(),
    }
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps(facts, separators=(",", ":")).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
