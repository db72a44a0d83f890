"""What dropout does to the outputs of each model that has it: crates/models/tests/dropout.safetensors.

The other fixtures are computed at a rate of 0. Here every rate is 0.3, and one window goes through the model in training mode ten
thousand times: the mean and the standard deviation of each output tell where dropout acts and how strongly.
"""

import json
import sys
from inspect import signature

import torch
from common import CRATES, canonical, generator, one_thread
from models import CASES, EXOG, NBEATS, StemGNN, arranged, by_row, disturb, hyper_parameter, received, weights, windows
from safetensors import safe_open
from safetensors.torch import save

RATE = 0.3
# Copies of the window in a batch, each with draws of its own, and batches.
COPIES, BATCHES = 500, 20
FILE = CRATES / "models" / "tests" / "dropout.safetensors"


def rates(model_class):
    """A model's hyper-parameters that are rates of dropout."""
    return {name: RATE for name in signature(model_class).parameters if "dropout" in name}


def columns(model_class):
    """A list of columns of each kind that the model reads."""
    kinds = dict(hist=model_class.EXOGENOUS_HIST, futr=model_class.EXOGENOUS_FUTR, stat=model_class.EXOGENOUS_STAT)
    return {f"{kind}_exog_list": EXOG[f"{kind}_exog_list"] for kind, read in kinds.items() if read}


def compute(model_class, arguments):
    """The hyper-parameters as JSON has them, and the tensors: weights, inputs of the window, mean and deviation of its outputs."""
    noise = arguments.pop("noise", 0.3)
    for other in ("batch", "residues"):
        arguments.pop(other, None)
    model = model_class(random_seed=1, **arguments).train()
    random = generator(f"{model_class.__name__}-dropout")
    disturb(model, noise, random)
    inputs, _, _ = windows(model, 1, False, random)
    tensors = weights(model)
    tensors |= {f"inputs/{key}": value for key, value in inputs.items() if value is not None}

    copies = {key: None if value is None else value.repeat(COPIES, *[1] * (value.dim() - 1)) for key, value in inputs.items()}
    torch.manual_seed(1)
    with torch.no_grad():
        outputs = [by_row(model, arranged(model, model(received(model, copies)))) for _ in range(BATCHES)]
    rows = len(inputs["insample_y"])
    outputs = torch.stack(outputs).double().reshape(BATCHES * COPIES, rows, *outputs[0].shape[1:])
    tensors |= {"mean": outputs.mean(0).float(), "deviation": outputs.std(0).float()}
    return {key: hyper_parameter(value) for key, value in arguments.items()}, {key: value.contiguous() for key, value in tensors.items()}


def known(names):
    """What the file holds of other models than these: (tensors by name, cases)."""
    with safe_open(FILE, "pt") as file:
        cases = json.loads(file.metadata()["cases"])
        others = {name: case for name, case in cases.items() if name not in names}
        return {key: file.get_tensor(key) for key in file.keys() if key.split("/")[0] in others}, others


def main():
    """Writes the file, or of those models that are named (`compare/dropout.py BiTCN`) their part of it."""
    one_thread()
    named = sys.argv[1:]
    tensors, cases = known(named) if named else ({}, {})
    for model_class, (common, _) in CASES.items():
        name = model_class.__name__
        # NBEATS refuses any rate but 0; what StemGNN drops is averaged over the batch, so that copies are no draws of their own.
        if not rates(model_class) or model_class in (NBEATS, StemGNN):
            continue
        if named and name not in named:
            continue
        cases[name], own = compute(model_class, common | rates(model_class) | columns(model_class))
        tensors |= {f"{name}/{key}": value for key, value in own.items()}
        print(f"dropout: {name}, outputs of {own['mean'].abs().max():.3g} within {own['deviation'].max():.3g}")
    data = save(tensors, metadata={"cases": json.dumps(cases), "draws": str(COPIES * BATCHES), "copies": str(COPIES)})
    FILE.write_bytes(canonical(data))


if __name__ == "__main__":
    main()
