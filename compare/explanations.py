"""Contributions by neuralforecast's explain (captum), beside which foretell's are tested: explanations.json of the facade's fixtures.

The models are those of the directories of checkpoints.py: run this after it. Inputs have foretell's names, and each a
number for each series and step of the horizon.
"""

import json

import pandas as pd
import torch
from common import fixtures, one_thread
from neuralforecast import NeuralForecast

# Networks that read columns of all kinds, and one that is linear.
CASES = {"mlp-hourly-exog": ["MLP"], "nlinear-daily": ["NLinear"]}
METHODS = {"integrated_gradients": "IntegratedGradients", "input_x_gradient": "InputXGradient"}


def inputs(model, found):
    """The contributions of each input, [series, horizon]."""
    past = range(1 - model.input_size, 1)
    columns = {f"y@{step}": found["insample"][:, :, 0, 0, i, 0] for i, step in enumerate(past)}
    ahead = range(1 - model.input_size, model.h + 1)
    for kind, names, steps in (("hist_exog", model.hist_exog_list, past), ("futr_exog", model.futr_exog_list, ahead)):
        if found[kind] is not None:
            for c, name in enumerate(names):
                columns |= {f"{name}@{step}": found[kind][:, :, 0, 0, c, i] for i, step in enumerate(steps)}
    if found["stat_exog"] is not None:
        columns |= {name: found["stat_exog"][:, :, 0, 0, c] for c, name in enumerate(model.stat_exog_list)}
    if found["baseline_predictions"] is not None:
        columns["baseline"] = found["baseline_predictions"][:, :, 0, 0]
    return {name: [float(f"{x:.9g}") for x in values.detach().flatten().tolist()] for name, values in columns.items()}


def explained(case, wanted):
    directory = fixtures("foretell") / "checkpoints" / case
    nf = NeuralForecast.load(str(directory / "model"), verbose=False)
    nf.models = [model for model in nf.models if type(model).__name__ in wanted]
    tables = {}
    for name in ("panel", "futr", "static"):
        path = directory / f"{name}.csv"
        tables[name] = pd.read_csv(path) if path.exists() else None
        if tables[name] is not None and "ds" in tables[name] and not pd.api.types.is_integer_dtype(tables[name]["ds"]):
            tables[name]["ds"] = pd.to_datetime(tables[name]["ds"])
    found = {}
    for method, explainer in METHODS.items():
        _, explanations = nf.explain(
            df=tables["panel"], futr_df=tables["futr"], static_df=tables["static"], explainer=explainer, verbose=False
        )
        for model, (_, contributions) in zip(nf.models, explanations.items(), strict=True):
            found.setdefault(type(model).__name__, {})[method] = inputs(model, contributions)
    return found


def main():
    one_thread()
    torch.manual_seed(1)
    fixture = {case: explained(case, wanted) for case, wanted in CASES.items()}
    (fixtures("foretell") / "explanations.json").write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
