"""Operation fixtures, all computed by PyTorch or neuralforecast in float32:

crates/autograd/tests/fixtures/ops.json    operations with their gradients
crates/nn/tests/fixtures/losses.json       losses with the gradient of the prediction
crates/data/tests/fixtures/scalers.json    window scalers
crates/data/tests/fixtures/local_scalers.json    scalers of whole series

README.md says how a case is laid out.
"""

import json

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fixtures, generator, numbers, one_thread
from neuralforecast.common._scalers import TemporalNorm
from neuralforecast.losses.pytorch import MAE, MSE, HuberLoss, MQLoss, QuantileLoss
from neuralforecast.models.dlinear import MovingAvg
from neuralforecast.models.nhits import _IdentityBasis

# ---------------------------------------------------------------------------- operations


def activate(kind, x):
    return x if kind == "none" else getattr(nn, kind)()(x)


def linear(*inputs, activation, bias):
    assert len(inputs) == 2 + bias  # x, weight and perhaps the bias
    return activate(activation, F.linear(*inputs))


def pad(x, dim, before, after, mode):
    first, last = x.narrow(dim, 0, 1), x.narrow(dim, x.shape[dim] - 1, 1)
    if mode == "zeros":
        first, last = torch.zeros_like(first), torch.zeros_like(last)
    return torch.cat([first] * before + [x] + [last] * after, dim)


def interpolate(x, mode, size):
    """The forecast half of NHITS' own basis, which is only 1 x knots for the cubic mode."""
    batch, channels, knots = x.shape
    rows = x.reshape(batch * channels, knots)
    _, forecast = _IdentityBasis(0, size, mode)(rows)  # [batch * channels, size, 1]
    return forecast.reshape(batch, channels, size)


OPS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "scale": lambda x, factor: x * factor,
    "linear": linear,
    "matmul": torch.matmul,
    "activation": lambda x, kind: activate(kind, x),
    "prelu": lambda x, weight: F.prelu(x, weight),
    "concat": lambda *xs, dim: torch.cat(xs, dim),
    "narrow": lambda x, dim, start, len: x.narrow(dim, start, len),
    "pad": pad,
    "flip": lambda x, dim: x.flip(dim),
    "reshape": lambda x, shape: x.reshape(shape),
    "permute": lambda x, dims: x.permute(dims),
    "max_pool": lambda x, kernel: nn.MaxPool1d(kernel, kernel, ceil_mode=True)(x),
    "avg_pool": lambda x, kernel: nn.AvgPool1d(kernel, kernel, ceil_mode=True)(x),
    "interpolate": interpolate,
    "moving_average": lambda x, kernel: MovingAvg(kernel, stride=1)(x),
    "sum": lambda x, dim: x.sum(dim),
    "mean": lambda x, dim: x.mean(dim),
}

# Operation -> [(shapes or tensors of its inputs, arguments)]
BROADCASTS = [([(3, 5), (3, 5)], {}), ([(2, 3, 5), (2, 3, 5)], {}), ([(3, 5), (5,)], {}), ([(2, 3, 5), (5,)], {}), ([(3, 1), (3, 5)], {}), ([(3, 5), (3, 1)], {})]
LINEAR_ACTIVATIONS = ["none", "ReLU", "Tanh", "Sigmoid", "Softplus", "SELU", "LeakyReLU", "GELU", "SiLU"]
ACTIVATIONS = ["ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "Sigmoid", "GELU", "ELU", "SiLU", "Mish"]
# Kinks, tails, and both sides of softplus' threshold of 20.
POINTS = torch.tensor([[-100.0, -30.0, -20.5, -10.0, -3.0, -1.0, -0.5, -1e-3], [0.0, 1e-3, 0.5, 1.0, 3.0, 19.5, 20.5, 100.0]])
# Small integers, so that most windows have their largest value more than once.
TIES = torch.tensor([[1.0, 1, 0, 2, 2, 2, -1, -1, 0, 3, 3], [0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]).reshape(1, 2, 11)

CASES = {
    "add": BROADCASTS,
    "sub": BROADCASTS,
    "mul": BROADCASTS,
    "scale": [([(2, 5)], dict(factor=factor)) for factor in (-1.5, 0.0, 0.1)],
    "linear": [
        *[([(3, 5), (4, 5), (4,)], dict(activation=kind, bias=True)) for kind in LINEAR_ACTIVATIONS],
        *[([(3, 5), (4, 5)], dict(activation=kind, bias=False)) for kind in ("none", "ReLU")],
        *[([(2, 3, 5), (4, 5), (4,)], dict(activation=kind, bias=True)) for kind in ("none", "GELU")],
        ([(2, 3, 5), (1, 5)], dict(activation="none", bias=False)),
        ([(1, 1), (1, 1), (1,)], dict(activation="Tanh", bias=True)),
        ([(2, 33), (19, 33), (19,)], dict(activation="ReLU", bias=True)),
    ],
    "matmul": [([(3, 5), (5, 4)], {}), ([(1, 7), (7, 1)], {}), ([(2, 3, 5), (2, 5, 4)], {}), ([(3, 33, 2), (3, 2, 1)], {})],
    "activation": [case for kind in ACTIVATIONS for case in [([POINTS], dict(kind=kind)), ([(2, 3, 5)], dict(kind=kind))]],
    "prelu": [([POINTS, torch.tensor([0.25])], {}), ([(2, 3, 5), torch.tensor([-0.4])], {})],
    "concat": [
        ([(2, 3), (2, 4)], dict(dim=1)),
        ([(2, 3), (2, 1), (2, 2)], dict(dim=-1)),
        ([(2, 3, 2), (2, 1, 2)], dict(dim=1)),
        ([(2, 3, 2), (2, 1, 2), (2, 2, 2)], dict(dim=1)),
        ([(2, 3, 2), (2, 3, 1)], dict(dim=-1)),
        ([(2, 3, 2), (2, 3, 1), (2, 3, 3)], dict(dim=-1)),
    ],
    "narrow": [
        ([(3, 6)], dict(dim=1, start=0, len=4)),
        ([(3, 6)], dict(dim=1, start=5, len=1)),
        ([(3, 6)], dict(dim=0, start=1, len=2)),
        ([(2, 5, 3)], dict(dim=1, start=1, len=3)),
        ([(2, 5, 3)], dict(dim=-1, start=1, len=2)),
    ],
    "pad": [
        (shapes, dict(dim=dim, before=before, after=after, mode=mode))
        for mode in ("zeros", "replicate")
        for shapes, dim, before, after in [([(2, 4)], 1, 2, 3), ([(2, 4)], -1, 0, 1), ([(2, 3, 2)], 1, 1, 2), ([(2, 3, 2)], 2, 3, 0)]
    ],
    "flip": [([(2, 5)], dict(dim=1)), ([(2, 3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=-1))],
    "reshape": [([(2, 6)], dict(shape=[2, 3, 2])), ([(2, 3, 2)], dict(shape=[2, 6])), ([(2, 6)], dict(shape=[3, 4]))],
    "permute": [([(2, 3)], dict(dims=[1, 0])), ([(2, 3, 4)], dict(dims=[0, 2, 1])), ([(2, 3, 4)], dict(dims=[2, 0, 1]))],
    "max_pool": [([x], dict(kernel=kernel)) for x in ((2, 2, 12), (2, 1, 11), TIES) for kernel in (1, 2, 3, 4, 16)],
    "avg_pool": [([x], dict(kernel=kernel)) for x in ((2, 2, 12), (2, 1, 11)) for kernel in (1, 2, 3, 4, 16)],
    "interpolate": [
        ([(2, 2, knots)], dict(mode=mode, size=size))
        for mode in ("nearest", "linear", "cubic")
        for knots, size in [(1, 1), (1, 4), (2, 7), (3, 3), (3, 7), (4, 12), (5, 24), (6, 4)]
    ],
    "moving_average": [([shape], dict(kernel=kernel)) for shape in ((2, 12), (3, 7)) for kernel in (1, 3, 5, 25)],
    "sum": [([(3, 4)], dict(dim=0)), ([(3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=-1))],
    "mean": [([(3, 4)], dict(dim=0)), ([(3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=-1))],
}


def op_case(name, inputs, arguments, random):
    inputs = [x.clone() if isinstance(x, torch.Tensor) else torch.randn(x, generator=random) for x in inputs]
    for x in inputs:
        x.requires_grad_()
    output = OPS[name](*inputs, **arguments)
    grad_output = torch.randn(output.shape, generator=random)
    output.backward(grad_output)
    return {
        "args": arguments,
        "inputs": [numbers(x) for x in inputs],
        "output": numbers(output),
        "grad_output": numbers(grad_output),
        "grads": [numbers(x.grad) for x in inputs],
    }


def ops():
    return {name: [op_case(name, *case, generator(name, i)) for i, case in enumerate(cases)] for name, cases in CASES.items()}


# -------------------------------------------------------------------------------- losses


def losses():
    """Inputs pred [b, h, outputs], target and mask [b, h, 1]; the mask multiplies the horizon weight."""
    batch, h = 3, 4
    kinds = [
        (MAE, {}),
        (MSE, {}),
        (HuberLoss, dict(delta=1.0)),
        (HuberLoss, dict(delta=0.3)),
        (QuantileLoss, dict(q=0.3)),
        (QuantileLoss, dict(q=0.9)),
        (MQLoss, dict(level=[80, 90])),
        (MQLoss, dict(level=[80])),
        (MQLoss, dict(quantiles=[0.1, 0.5, 0.75])),
    ]
    ones, zeros = torch.ones(batch, h, 1), torch.zeros(batch, h, 1)
    holes = ones.clone()
    holes[0, 2:] = 0
    holes[2] = 0
    weights = torch.tensor([2.0, 0.0, 0.5, 1.0])
    # name -> (mask, horizon weight); `fractions` is what a sample weight makes of a mask
    settings = dict(
        plain=(ones, None),
        holes=(holes, None),
        masked=(zeros, None),
        weighted=(ones, weights),
        both=(holes, weights),
        fractions=(holes * torch.tensor([0.25, 2.0, 1.0]).reshape(3, 1, 1), None),
        ties=(ones, None),  # some predictions equal their target
    )
    found = {}
    for loss_class, arguments in kinds:
        for setting, (mask, horizon_weight) in settings.items():
            loss = loss_class(horizon_weight=horizon_weight, **arguments)
            random = generator(loss_class.__name__, str(arguments), setting)
            pred = 2 * torch.randn(batch, h, loss.outputsize_multiplier, generator=random)
            target = torch.randn(batch, h, 1, generator=random)
            if setting == "ties":
                pred[:, ::2] = target[:, ::2]
            pred.requires_grad_()
            value = loss(y=target, y_hat=loss.domain_map(pred), mask=mask)
            value.backward()
            args = {"loss": loss_class.__name__, "setting": setting, **arguments}
            args["horizon_weight"] = None if horizon_weight is None else horizon_weight.tolist()
            if loss_class is MQLoss:  # in the order of the outputs
                args["quantiles"] = numbers(loss.quantiles)["data"]
                args["output_names"] = list(map(str, loss.output_names))
            found.setdefault(loss_class.__name__, []).append(
                {
                    "args": args,
                    "inputs": [numbers(x) for x in (pred, target, mask)],
                    "output": numbers(value),
                    "grad_output": numbers(torch.tensor(1.0)),
                    "grads": [numbers(pred.grad), None, None],
                }
            )
    return found


# ------------------------------------------------------------------------------- scalers


def scalers():
    """TemporalNorm as `BaseModel._normalization` calls it: the mask of the horizon is zero."""
    found = {}
    for kind in ("identity", "standard", "robust", "minmax", "minmax1", "invariant", "revin"):
        for case in ("plain", "odd", "holes", "constant", "mostly-constant", "ties", "one-valid", "all-masked"):
            if kind.startswith("minmax") and case == "all-masked":
                continue  # it gives loc 3.4e38 and scale -inf there: see README.md
            random = generator("scalers", case)
            # Of eight steps the median is the lower middle one.
            batch, insample, h, columns = 3, 7 if case == "odd" else 8, 2, 3
            x = 10 * torch.randn(batch, insample + h, columns, generator=random) + 5
            mask = torch.ones(batch, insample + h)
            mask[:, insample:] = 0
            if case == "holes":
                mask[0, :3] = 0  # five left: odd
                mask[1, [0, 3]] = 0  # six left: even
            if case == "constant":
                x[:, :, 0] = 3.5
                x[1] = -2.0
            if case == "mostly-constant":  # the median deviation is zero, the standard deviation is not
                x[:, :6] = 1.25
            if case == "ties":
                x = x.round().clamp(4, 6)
            if case == "one-valid":
                mask[:, :] = 0
                mask[:, 2] = 1
            if case == "all-masked":
                mask[:, :] = 0
            norm = TemporalNorm(scaler_type=kind, dim=1, num_features=columns)
            affine = {}
            if kind == "revin":
                # One weight below zero: there it counts as none.
                norm.revin_bias.data = torch.tensor([0.25, -1.5, 0.75]).reshape(1, 1, columns, 1)
                norm.revin_weight.data = torch.tensor([1.5, 0.5, -0.25]).reshape(1, 1, columns, 1)
                affine = {"bias": numbers(norm.revin_bias), "weight": numbers(norm.revin_weight)}
            # neuralforecast carries a trailing series axis: [window, time, column, series]
            normalised = norm.transform(x=x[..., None], mask=mask[:, :, None, None].clone())
            inverse = norm.inverse_transform(normalised)
            found.setdefault(kind, []).append(
                {
                    "args": {"scaler": kind, "case": case},
                    "x": numbers(x),
                    "mask": numbers(mask),
                    "loc": numbers(norm.x_shift.reshape(batch, columns)),
                    "scale": numbers(norm.x_scale.reshape(batch, columns)),
                    "normalised": numbers(normalised[..., 0]),
                    "inverse": numbers(inverse[..., 0]),
                    **affine,
                }
            )
    return found


def local_scalers():
    """coreforecast's scalers, as `NeuralForecast(local_scaler_type=...)` fits them: one case per series."""
    from coreforecast.grouped_array import GroupedArray
    from neuralforecast.core import _type2scaler

    random = generator("local_scalers", "series")
    series = {
        "plain": torch.exp(1 + 0.7 * torch.randn(50, generator=random)),
        "normal": 10 + torch.randn(31, generator=random),
        "constant": torch.full((5,), 3.0),
        "mostly-constant": torch.tensor([1.0, 1, 1, 1, 9]),
        "four": torch.tensor([4.0, 1, 3, 2]),
        "one": torch.tensor([7.0]),
    }
    found = {}
    for kind, make in _type2scaler.items():
        for case, x in series.items():
            if kind == "boxcox" and case in ("constant", "one"):
                continue  # every power is as good as any
            x = x.numpy()
            indptr = np.array([0, len(x)], dtype=np.int32)
            scaler = make().fit(GroupedArray(x, indptr))
            scaled = scaler.transform(GroupedArray(x, indptr))
            probe = np.linspace(-2, 2, len(x)).astype(np.float32)
            inverse = scaler.inverse_transform(GroupedArray(probe, indptr))
            found.setdefault(kind, []).append(
                {
                    "args": {"scaler": kind, "case": case},
                    "x": numbers(torch.from_numpy(x)),
                    "stats": numbers(torch.from_numpy(scaler.stats_[0])),
                    "scaled": numbers(torch.from_numpy(scaled)),
                    "probe": numbers(torch.from_numpy(probe)),
                    "inverse": numbers(torch.from_numpy(inverse)),
                }
            )
    return found


def write(crate, name, value):
    # One case a line: a change of one case is one line of a diff. No NaN, no infinity: they are not JSON.
    blocks = []
    for key, cases in value.items():
        lines = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases)
        blocks.append(f"{json.dumps(key)}:[\n{lines}\n]")
    (fixtures(crate) / name).write_text("{\n" + ",\n".join(blocks) + "\n}\n")
    print(f"{name}: {sum(map(len, value.values()))} cases")


def main():
    one_thread()
    write("autograd", "ops.json", ops())
    write("nn", "losses.json", losses())
    write("data", "scalers.json", scalers())
    write("data", "local_scalers.json", local_scalers())


if __name__ == "__main__":
    main()
