"""Operation fixtures, all computed by PyTorch or neuralforecast in float32:

crates/autograd/tests/fixtures/ops/<operation>.json    operations with their gradients
crates/nn/tests/fixtures/losses.json    losses with the gradient of the prediction
crates/data/tests/fixtures/scalers.json    window scalers
crates/data/tests/fixtures/local_scalers.json    scalers of whole series

README.md says how a case is laid out. `python compare/ops.py softmax conv1d` writes the cases of these operations only.
"""

import json
import sys
from types import SimpleNamespace

import draws
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fixtures, generator, lines, numbers, one_thread, write_cases
from neuralforecast.common._base_model import BaseModel
from neuralforecast.common._scalers import TemporalNorm
from neuralforecast.losses.pytorch import (
    GMM,
    MAE,
    MAPE,
    MASE,
    MSE,
    NBMM,
    PMM,
    RMSE,
    SMAPE,
    Accuracy,
    DistributionLoss,
    FreDF,
    HuberIQLoss,
    HuberLoss,
    IQLoss,
    HuberMQLoss,
    HuberQLoss,
    MQLoss,
    QuantileLoss,
    TukeyLoss,
    relMSE,
    sCRPS,
    weighted_average,
)
from neuralforecast.common import _modules
from neuralforecast.models.dlinear import MovingAvg
from neuralforecast.models.informer import ProbAttention
from neuralforecast.models.kan import KANLinear
from neuralforecast.models.nhits import _IdentityBasis
from neuralforecast.models.rmok import WaveKANLayer
from scipy import stats
from xlstm.blocks.mlstm.backends import parallel_stabilized_simple
from xlstm.blocks.slstm.src.vanilla import slstm_forward, slstm_pointwise_function_registry

# ---------------------------------------------------------------------------- operations


def activate(kind, x):
    return x if kind == "none" else getattr(nn, kind)()(x)


def rrelu(x, lower, upper, seed):
    with draws.ours(draws.Key(seed)):
        return F.rrelu(x, lower, upper, training=True)


def linear(*inputs, activation, bias):
    assert len(inputs) == 2 + bias  # x, weight and perhaps the bias
    return activate(activation, F.linear(*inputs))


def linear_of_columns(x, weight, *bias, activation):
    return activate(activation, F.linear(x.mT, weight, *bias).mT)


def linear_to_columns(x, weight, *bias, activation):
    return activate(activation, F.linear(x, weight, *bias).mT)


def linear_from_columns(x, weight, *bias, activation):
    return activate(activation, F.linear(x.mT, weight, *bias))


def mode_products(x, weight):
    """What FEDformer's FourierBlock does at its modes; real parts of x and of the result come before imaginary ones."""
    heads = weight.shape[0]
    x = torch.complex(*x.unflatten(-1, (heads, -1)).unbind(1))  # [batch, modes, heads, inputs]
    y = torch.einsum("bmhi,hiom->bmho", x, torch.view_as_complex(weight)).flatten(2)
    return torch.stack([y.real, y.imag], 1)


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


def circled(x, steps):
    """Sequences filled up with zeros, or cut off, as Autoformer's keys and values are."""
    return nn.functional.pad(x, (0, 0, 0, max(steps - x.shape[1], 0)))[:, :steps]


def circular_correlation(q, k):
    """What AutoCorrelation takes the delays of: the mean over heads and channels of the correlation by Fourier transforms."""
    steps = q.shape[1]
    q, k = (torch.fft.rfft(circled(x, steps).transpose(1, 2)) for x in (q, k))
    return torch.fft.irfft(q * k.conj(), n=steps).mean(1)


def mode_attention(q, k, heads):
    """What FEDformer's FourierCrossAttention does among its modes; real parts come before imaginary ones."""
    q, k = (torch.complex(*x.unflatten(-1, (heads, -1)).unbind(1)) for x in (q, k))  # [batch, modes, heads, size]
    y = torch.einsum("bhxy,byhe->bxhe", torch.einsum("bxhe,byhe->bhxy", q, k).tanh(), k).flatten(2)
    return torch.stack([y.real, y.imag], 1)


def delayed_sum(x, weights, delays, steps):
    rolled = [torch.stack([torch.roll(row, -delay, 0) for row, delay in zip(circled(x, steps), column)]) for column in zip(*delays)]
    return sum(weight[:, None, None] * part for weight, part in zip(weights.T, rolled))


def recurrent(x, *weights, cell, last):
    """x and output time-major; the weights in the order of `torch.nn`: weight_ih, weight_hh, biases, weight_hr."""
    hidden = weights[0].shape[0] // dict(RNN=1, LSTM=4, GRU=3)[cell]
    names = {2: [], 3: ["hr"], 4: ["ih", "hh"], 5: ["ih", "hh", "hr"]}[len(weights)]
    names = ["weight_ih_l0", "weight_hh_l0"] + [f"bias_{name}_l0" if name != "hr" else "weight_hr_l0" for name in names]
    projection = dict(proj_size=weights[1].shape[1]) if "weight_hr_l0" in names else {}
    layer = getattr(nn, cell)(x.shape[2], hidden, bias="bias_ih_l0" in names, **projection)
    output, _ = torch.func.functional_call(layer, dict(zip(names, weights)), (x,))
    return output[-last:]


def embedding(weight, ids):
    """The lookup of neuralforecast's models: row 0 is the mean of the others."""
    layer = nn.Embedding(*weight.shape)
    return torch.func.functional_call(Lookup(layer), {"layer.weight": weight}, (torch.tensor(ids),))


class Lookup(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, ids):
        return BaseModel._lookup_embedding(None, self.layer, ids)


def batch_norm(x, *affine, eps):
    """The channels last; beside the result the running statistics after one batch that counts for all."""
    mean, variance = torch.zeros(x.shape[-1]), torch.zeros(x.shape[-1])
    rows = x.reshape(-1, x.shape[-1])
    output = F.batch_norm(rows, mean, variance, *affine, training=True, momentum=1.0, eps=eps)
    return output.reshape(x.shape), mean, variance


def batch_norm_by(x, *affine, mean, variance, eps):
    rows = x.reshape(-1, x.shape[-1])
    return F.batch_norm(rows, torch.tensor(mean), torch.tensor(variance), *affine, training=False, eps=eps).reshape(x.shape)


def conv1d(x, weight, *bias, stride, dilation, padding, mode, groups):
    """The channels of x and of the output last."""
    padded = F.pad(x.mT, padding, mode=dict(zeros="constant", circular="circular")[mode])
    return F.conv1d(padded, weight, *bias, stride=stride, dilation=dilation, groups=groups).mT


def conv1d_case(shape, outputs, kernel, bias=True, stride=1, dilation=1, padding=(0, 0), mode="zeros", groups=1):
    shapes = [shape, (outputs, shape[-1] // groups, kernel)] + bias * [(outputs,)]
    return shapes, dict(stride=stride, dilation=dilation, padding=padding, mode=mode, groups=groups)


def matrix_memory(scores, input, forget, scale):
    """The weights themselves: with unit vectors as keys and as values, the scores are the queries."""
    unit = torch.eye(scores.shape[-1]).expand(scores.shape)
    assert scale == round(scores.shape[-1] ** -0.5, 9)
    input, forget = [gate.mT.unsqueeze(-1) for gate in (input, forget)]
    return parallel_stabilized_simple(scores, unit, unit, input, forget)


def scalar_memory(sums, weight):
    heads, width, _ = weight.shape
    states = torch.zeros(4, sums.shape[1], heads * width)
    pointwise = slstm_pointwise_function_registry["slstm"]
    return slstm_forward(sums, states, weight.mT, torch.zeros(sums.shape[-1]), pointwise)[0][0, 1:]


def causal_convolution(x, weight, bias, dilation, activation):
    """neuralforecast's CausalConv1d on x [steps, batch, channels]."""
    padded = F.pad(x.permute(1, 2, 0), ((weight.shape[-1] - 1) * dilation, 0))
    y = F.conv1d(padded, weight, bias, dilation=dilation).permute(2, 0, 1)
    return y if activation == "none" else getattr(nn, activation)()(y)


def causal_convolution_case(shape, outputs, kernel, dilation=1, activation="none"):
    return [shape, (outputs, shape[-1], kernel), (outputs,)], dict(dilation=dilation, activation=activation)


def additive_attention(keys, query, weight, values):
    """What neuralforecast's AttentiveLSTMLayer makes of its linear layer's output: [steps, batch, ...] to [batch, columns]."""
    beta = torch.softmax(torch.tanh(keys + query) @ weight, dim=0)
    return (beta[..., None] * values).sum(0)


def heads_of(x, heads):
    """[batch, steps, heads * dim] to [batch, heads, steps, dim]."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def attention(q, k, v, *masks, heads, mask):
    q, k, v = (heads_of(x, heads) for x in (q, k, v))
    given = masks[0] if masks else None
    return F.scaled_dot_product_attention(q, k, v, attn_mask=given, is_causal=mask == "causal").transpose(1, 2).flatten(2)


def sampled(queries, keys, factor):
    """Keys for each query, and how many queries read, as many as ProbAttention takes by this factor."""
    count, sampled = (min(int(factor * np.ceil(np.log(steps))), steps) for steps in (queries, keys))
    return dict(count=count, samples=[[(3 * i + 5 * j + j * j) % keys for j in range(sampled)] for i in range(queries)])


def sparse_attention(q, k, v, heads, factor, causal, count, samples):
    """neuralforecast's ProbAttention of these samples: [batch, heads, queries, dim]."""
    layer, theirs = ProbAttention(bool(causal), factor), torch.randint
    torch.randint = lambda *_: torch.tensor(samples)
    try:
        return layer(*(x.unflatten(2, (heads, -1)) for x in (q, k, v)), attn_mask=None)[0]
    finally:
        torch.randint = theirs


def residual_attention(q, k, v, heads):
    """Two layers of PatchTST's attention, the second of which adds the scores of the first to its own."""
    q, k, v = (heads_of(x, heads) for x in (q, k, v))
    scores = q @ k.mT * q.shape[-1] ** -0.5
    outs = [torch.softmax(s, -1) @ v for s in (scores, scores + scores)]
    return (outs[0] + outs[1]).transpose(1, 2).flatten(2)


def lstm_cell(sums, before, *residual):
    """h, then c, of an LSTM; with a residual of neuralforecast's ResLSTM."""
    i, f, g, o = sums.chunk(4, 1)
    c = f.sigmoid() * before + i.sigmoid() * g.tanh()
    return torch.cat([o.sigmoid() * (c.tanh() + sum(residual)), c])


def recurrent_from(x, h, *rest, cell):
    """The states of all steps from a first one on and, of an LSTM, the c after the last; time-major."""
    start, weights = ((h[None], rest[0][None]), rest[1:]) if cell == "LSTM" else (h[None], rest)
    layer = getattr(nn, cell)(x.shape[2], h.shape[1])
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    states, end = torch.func.functional_call(layer, dict(zip(names, weights)), (x, start))
    return torch.cat([states, end[1]]) if cell == "LSTM" else states


def recurrent_from_case(cell, steps, batch, inputs, hidden):
    shapes, _ = recurrent_case(cell, steps, batch, inputs, hidden, steps)
    return [shapes[0]] + [(batch, hidden)] * (2 if cell == "LSTM" else 1) + shapes[1:], dict(cell=cell)


def gated_linear(x, weight, bias, *skip):
    return F.glu(F.linear(x, weight, bias)) + sum(skip)


def weighted_sum(weights, *parts):
    return (weights.unsqueeze(-2) * torch.stack(parts, -1)).sum(-1)


def conv2d(x, weight, *bias, **moves):
    """The channels of x and of the output last."""
    return F.conv2d(x.permute(0, 3, 1, 2), weight, *bias, **moves).permute(0, 2, 3, 1)


def conv2d_case(shape, outputs, kernel, bias=True, stride=(1, 1), dilation=(1, 1), padding=(0, 0), groups=1):
    shapes = [shape, (outputs, shape[-1] // groups, *kernel)] + bias * [(outputs,)]
    return shapes, dict(stride=stride, dilation=dilation, padding=padding, groups=groups)


def spline_basis(x, grid, order):
    grid = torch.tensor(grid)
    layer = KANLinear(len(grid), 1, grid_size=grid.shape[1] - 2 * order - 1, spline_order=order)
    layer.grid = grid
    return layer.b_splines(x).flatten(1)


def wavelet_sums(*inputs, kind):
    # In double precision: terms of Meyer's wavelet cancel, in single precision to five digits.
    x, scale, translation, weights = (part.double() for part in inputs)
    if kind == "shannon":  # without its Hamming window, which models multiply the weights with
        return (torch.sinc((x[:, None] - translation) / scale / torch.pi) * weights).sum(2).float()
    layer = SimpleNamespace(scale=scale, translation=translation, wavelet_weights=weights, wavelet_type=kind)
    return WaveKANLayer.wavelet_transform(layer, x).float()


def above_zero(*shape):
    return 0.1 + torch.rand(shape, generator=generator("above zero", *shape)) * 3


def away_from_zero(shape):
    x = torch.randn(shape, generator=generator("away from zero", *shape))
    return x + 0.5 * x.sign()


def recurrent_case(cell, steps, batch, inputs, hidden, last, bias=True, projection=None):
    rows = hidden * dict(RNN=1, LSTM=4, GRU=3)[cell]
    shapes = [(steps, batch, inputs), (rows, inputs), (rows, projection or hidden)] + bias * [(rows,), (rows,)]
    shapes += [(projection, hidden)] if projection else []
    return shapes, dict(cell=cell, last=last)


BROADCASTS = [([(3, 5), (3, 5)], {}), ([(2, 3, 5), (2, 3, 5)], {}), ([(3, 5), (5,)], {}), ([(2, 3, 5), (5,)], {}), ([(3, 1), (3, 5)], {}), ([(3, 5), (3, 1)], {})]
ALONG = [([(3, 5)], dict(dim=1)), ([(3, 5)], dict(dim=0)), ([(2, 4, 3)], dict(dim=1)), ([(2, 1, 9)], dict(dim=-1))]
LINEAR_ACTIVATIONS = ["none", "ReLU", "Tanh", "Sigmoid", "Softplus", "SELU", "LeakyReLU", "GELU", "SiLU"]
ACTIVATIONS = ["ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "Sigmoid", "GELU", "ELU", "SiLU", "Mish"]
ACTIVATIONS += ["Softsign", "LogSigmoid", "Hardshrink", "Softshrink", "Hardtanh", "Hardswish"]
# Kinks, tails, and both sides of softplus' threshold of 20.
POINTS = torch.tensor([[-100.0, -30.0, -20.5, -10.0, -3.0, -1.0, -0.5, -1e-3], [0.0, 1e-3, 0.5, 1.0, 3.0, 19.5, 20.5, 100.0]])
# Small integers, so that most windows have their largest value more than once.
TIES = torch.tensor([[1.0, 1, 0, 2, 2, 2, -1, -1, 0, 3, 3], [0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]).reshape(1, 2, 11)

# Operation -> (what PyTorch computes, [(shapes or tensors of its inputs, arguments)]). A function that returns more than one
# tensor has a gradient through the first.
OPS = {
    "add": (lambda a, b: a + b, BROADCASTS),
    "sub": (lambda a, b: a - b, BROADCASTS),
    "mul": (lambda a, b: a * b, BROADCASTS),
    "scale": (lambda x, factor: x * factor, [([(2, 5)], dict(factor=factor)) for factor in (-1.5, 0.0, 0.1)]),
    "linear": (linear, [
        *[([(3, 5), (4, 5), (4,)], dict(activation=kind, bias=True)) for kind in LINEAR_ACTIVATIONS],
        *[([(3, 5), (4, 5)], dict(activation=kind, bias=False)) for kind in ("none", "ReLU")],
        *[([(2, 3, 5), (4, 5), (4,)], dict(activation=kind, bias=True)) for kind in ("none", "GELU")],
        ([(2, 3, 5), (1, 5)], dict(activation="none", bias=False)),
        ([(1, 1), (1, 1), (1,)], dict(activation="Tanh", bias=True)),
        ([(2, 33), (19, 33), (19,)], dict(activation="ReLU", bias=True)),
    ]),
    "linear_of_columns": (linear_of_columns, [
        *[([(2, 5, 3), (4, 5), (4,)], dict(activation=kind)) for kind in ("none", "ReLU", "GELU")],
        ([(3, 2, 19), (7, 2)], dict(activation="Tanh")),
        ([(1, 33, 1), (5, 33), (5,)], dict(activation="none")),
    ]),
    "linear_to_columns": (linear_to_columns, [
        *[([(2, 3, 5), (4, 5), (4,)], dict(activation=kind)) for kind in ("none", "ReLU", "GELU")],
        ([(3, 19, 2), (7, 2)], dict(activation="Tanh")),
    ]),
    "linear_from_columns": (linear_from_columns, [
        *[([(2, 3, 5), (4, 3), (4,)], dict(activation=kind)) for kind in ("none", "ReLU", "GELU")],
        ([(3, 2, 19), (7, 2)], dict(activation="Tanh")),
    ]),
    "mode_products": (mode_products, [([(2, 2, 3, 4), (2, 2, 3, 3, 2)], {}), ([(3, 2, 2, 17), (1, 17, 17, 2, 2)], {})]),
    "affine_rows": (lambda x, factor, offset: x * factor.reshape(-1, *[1] * (x.dim() - 1)) + offset.reshape(-1, *[1] * (x.dim() - 1)), [
        ([(4, 7), (4,), (4,)], {}),
        ([(2, 5, 3), (2,), (2,)], {}),
    ]),
    "matmul": (torch.matmul, [([(3, 5), (5, 4)], {}), ([(1, 7), (7, 1)], {}), ([(2, 3, 5), (2, 5, 4)], {}), ([(3, 33, 2), (3, 2, 1)], {})]),
    "matmul_stretched": (torch.matmul, [
        ([(2, 3, 5), (5, 2)], {}),
        ([(3, 5), (2, 5, 2)], {}),
        ([(2, 1, 3, 2), (3, 2, 4)], {}),
        ([(2, 2, 3, 2), (1, 2, 2, 3)], {}),
    ]),
    "activation": (lambda x, kind: activate(kind, x), [case for kind in ACTIVATIONS for case in [([POINTS], dict(kind=kind)), ([(2, 3, 5)], dict(kind=kind))]]),
    "rrelu": (rrelu, [([POINTS], dict(lower=0.125, upper=0.375, seed=3)), ([(2, 3, 5)], dict(lower=0.25, upper=0.25, seed=5))]),
    "prelu": (lambda x, weight: F.prelu(x, weight), [([POINTS, torch.tensor([0.25])], {}), ([(2, 3, 5), torch.tensor([-0.4])], {})]),
    "concat": (lambda *xs, dim: torch.cat(xs, dim), [
        ([(2, 3), (2, 4)], dict(dim=1)),
        ([(2, 3), (2, 1), (2, 2)], dict(dim=-1)),
        ([(2, 3, 2), (2, 1, 2)], dict(dim=1)),
        ([(2, 3, 2), (2, 1, 2), (2, 2, 2)], dict(dim=1)),
        ([(2, 3, 2), (2, 3, 1)], dict(dim=-1)),
        ([(2, 3, 2), (2, 3, 1), (2, 3, 3)], dict(dim=-1)),
    ]),
    "embedding": (embedding, [
        ([(4, 3)], dict(ids=[[1, 3], [2, 3]])),
        ([(4, 3)], dict(ids=[0, 1, 0, 2])),
        ([(2, 1)], dict(ids=[[[0, 1, 1, 0]]])),
    ]),
    "repeat": (lambda x, dim, times: x.unsqueeze(dim).repeat_interleave(times, dim), [([(2, 3)], dict(dim=dim, times=4)) for dim in (0, 1, 2)]),
    "narrow": (lambda x, dim, start, len: x.narrow(dim, start, len), [
        ([(3, 6)], dict(dim=1, start=0, len=4)),
        ([(3, 6)], dict(dim=1, start=5, len=1)),
        ([(3, 6)], dict(dim=0, start=1, len=2)),
        ([(2, 5, 3)], dict(dim=1, start=1, len=3)),
        ([(2, 5, 3)], dict(dim=-1, start=1, len=2)),
    ]),
    "slice": (lambda x, dim, start, end, step: x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)], [
        ([(3, 7)], dict(dim=1, start=0, end=7, step=2)),
        ([(3, 7)], dict(dim=0, start=0, end=3, step=2)),
        ([(2, 5, 3)], dict(dim=1, start=1, end=5, step=3)),
        ([(2, 5, 3)], dict(dim=-1, start=1, end=3, step=1)),
    ]),
    "pad": (pad, [
        (shapes, dict(dim=dim, before=before, after=after, mode=mode))
        for mode in ("zeros", "replicate")
        for shapes, dim, before, after in [([(2, 4)], 1, 2, 3), ([(2, 4)], -1, 0, 1), ([(2, 3, 2)], 1, 1, 2), ([(2, 3, 2)], 2, 3, 0)]
    ]),
    "flip": (lambda x, dim: x.flip(dim), [([(2, 5)], dict(dim=1)), ([(2, 3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=-1))]),
    "unfold": (lambda x, len, stride: x.unfold(1, len, stride), [([(2, 7)], dict(len=len, stride=stride)) for len, stride in ((3, 2), (2, 3), (7, 1))]),
    "reshape": (lambda x, shape: x.reshape(shape), [([(2, 6)], dict(shape=[2, 3, 2])), ([(2, 3, 2)], dict(shape=[2, 6])), ([(2, 6)], dict(shape=[3, 4]))]),
    "permute": (lambda x, dims: x.permute(dims), [([(2, 3)], dict(dims=[1, 0])), ([(2, 3, 4)], dict(dims=[0, 2, 1])), ([(2, 3, 4)], dict(dims=[2, 0, 1]))]),
    "div": (lambda a, b: a / b, [([a, away_from_zero(b)], {}) for (a, b), _ in BROADCASTS]),
    "exp": (torch.exp, [([(2, 3, 5)], {})]),
    "ln": (torch.log, [([above_zero(2, 3, 5)], {})]),
    "sqrt": (torch.sqrt, [([above_zero(2, 3, 5)], {})]),
    "square": (torch.square, [([(2, 3, 5)], {})]),
    "softmax": (F.softmax, ALONG),
    "log_softmax": (F.log_softmax, ALONG),
    "softmax_mean": (lambda x, v: (F.softmax(x, 1) * v[:, :, None]).sum(1), [([(3, 7, 5), (3, 7)], {}), ([(2, 9, 24), (2, 9)], {})]),
    "layer_norm": (lambda x, *affine, eps: F.layer_norm(x, x.shape[-1:], *affine, eps=eps), [
        ([(4, 7)], dict(eps=1e-5)),
        ([(2, 3, 19), (19,), (19,)], dict(eps=1e-5)),
        ([(3, 1), (1,), (1,)], dict(eps=0.1)),
        ([(5, 6), (6,)], dict(eps=1e-5)),
    ]),
    "rms_norm": (lambda x, *gamma, eps: F.rms_norm(x, x.shape[-1:], *gamma, eps=eps), [
        ([(4, 7)], dict(eps=1e-5)),
        ([(2, 3, 19), (19,)], dict(eps=1e-5)),
    ]),
    "batch_norm": (batch_norm, [([(9, 3)], dict(eps=1e-5)), ([(4, 5, 3), (3,), (3,)], dict(eps=1e-5)), ([(70, 2), (2,), (2,)], dict(eps=0.1))]),
    "batch_norm_by": (batch_norm_by, [([(4, 2, 3), (3,), (3,)], dict(mean=[0.5, -1.0, 0.0], variance=[2.0, 0.25, 1.0], eps=1e-5))]),
    "instance_norm": (lambda x, *affine, eps: F.instance_norm(x.mT, None, None, *affine, eps=eps).mT, [
        ([(2, 7, 3)], dict(eps=1e-5)),
        ([(2, 7, 3), (3,), (3,)], dict(eps=1e-5)),
    ]),
    "max": (lambda x, dim: tuple(x.max(dim)), ALONG),
    "top_k": (lambda x, dim, k: tuple(x.topk(k, dim)), [
        ([(3, 7)], dict(dim=1, k=3)),
        ([(3, 4)], dict(dim=0, k=3)),
        ([(2, 5, 3)], dict(dim=1, k=2)),
        ([(2, 5)], dict(dim=-1, k=5)),
    ]),
    "gather": (lambda x, dim, places: x.gather(dim, torch.tensor(places)), [
        ([(2, 4)], dict(dim=1, places=[[3, 0, 3], [1, 1, 2]])),
        ([(3, 2)], dict(dim=0, places=[[2, 0]])),
        ([(2, 2, 2)], dict(dim=1, places=[[[0, 1], [1, 1], [0, 0]], [[1, 0], [0, 0], [1, 1]]])),
    ]),
    "scatter_add": (lambda x, values, dim, places: x.scatter_add(dim, torch.tensor(places), values), [
        ([(2, 4), (2, 3)], dict(dim=1, places=[[3, 0, 3], [1, 1, 2]])),
        ([(3, 2), (1, 2)], dict(dim=0, places=[[2, 0]])),
    ]),
    "scatter": (lambda x, values, dim, places: x.scatter(dim, torch.tensor(places), values), [
        ([(2, 4), (2, 3)], dict(dim=1, places=[[3, 0, 2], [1, 2, 0]])),
        ([(3, 2), (1, 2)], dict(dim=0, places=[[2, 0]])),
        ([(2, 3, 2), (2, 1, 2)], dict(dim=1, places=[[[0, 2]], [[1, 1]]])),
    ]),
    "masked_fill": (lambda x, mask, value: x.masked_fill(torch.tensor(mask) != 0, value), [
        ([(2, 3)], dict(mask=[[1, 0, 0], [0, 1, 1]], value=-1.5)),
        ([(2, 2, 3)], dict(mask=[[0, 1, 0]], value=0.0)),
    ]),
    "cumulative_sum": (torch.cumsum, ALONG),
    "expand": (lambda x, shape: x.expand(shape), [([(2, 1, 3)], dict(shape=[2, 4, 3])), ([(3,)], dict(shape=[2, 2, 3]))]),
    "conv1d": (conv1d, [
        conv1d_case((2, 7, 3), 4, 3),
        conv1d_case((2, 7, 3), 4, 1, bias=False),
        conv1d_case((2, 9, 2), 3, 3, dilation=2, padding=(4, 0)),
        conv1d_case((1, 10, 4), 6, 3, stride=2, padding=(1, 1), groups=2),
        conv1d_case((2, 8, 3), 2, 3, padding=(1, 1), mode="circular"),
        conv1d_case((2, 8, 3), 3, 4, padding=(3, 0), groups=3),
    ]),
    "causal_convolution": (causal_convolution, [
        causal_convolution_case((7, 2, 3), 4, 2),
        causal_convolution_case((6, 1, 1), 2, 3, dilation=2, activation="Tanh"),
        causal_convolution_case((5, 3, 2), 3, 2, dilation=8, activation="GELU"),
        causal_convolution_case((4, 2, 2), 3, 1, activation="ReLU"),
    ]),
    "matrix_memory": (matrix_memory, [
        ([(batch, heads, steps, steps)] + [(batch, steps, heads)] * 2, dict(scale=round(steps**-0.5, 9)))
        for batch, heads, steps in ((2, 2, 5), (1, 3, 1), (1, 1, 19))
    ]),
    "scalar_memory": (scalar_memory, [
        ([(steps, batch, 4 * heads * width), (heads, width, 4 * width)], {})
        for steps, batch, heads, width in ((5, 3, 2, 3), (1, 2, 1, 4), (7, 1, 4, 1))
    ]),
    "additive_attention": (additive_attention, [
        ([(5, 2, 3), (2, 3), (3,), (5, 2, 4)], {}),
        ([(1, 3, 2), (3, 2), (2,), (1, 3, 1)], {}),
    ]),
    "attention": (attention, [
        ([(2, 5, 8), (2, 7, 8), (2, 7, 6)], dict(heads=2, mask="none")),
        ([(2, 6, 6), (2, 6, 6), (2, 6, 6)], dict(heads=3, mask="causal")),
        ([(2, 5, 8), (2, 3, 8), (2, 3, 4), (2, 4, 5, 3)], dict(heads=4, mask="added")),
        ([(1, 3, 4), (1, 5, 4), (1, 5, 4), (3, 5)], dict(heads=1, mask="added")),
    ]),
    "residual_attention": (residual_attention, [([(2, 5, 8), (2, 6, 8), (2, 6, 4)], dict(heads=2))]),
    "sparse_attention": (sparse_attention, [
        ([(2, queries, 6), (2, keys, 6), (2, keys, 6)], dict(heads=heads, factor=factor, causal=causal, **sampled(queries, keys, factor)))
        for queries, keys, heads, factor, causal in [(5, 7, 2, 1, 0), (9, 9, 3, 2, 0), (9, 9, 2, 1, 1), (12, 12, 3, 3, 1), (5, 4, 2, 3, 0)]
    ]),
    "lstm_cell": (lstm_cell, [
        ([(3, 8), (3, 2)], {}),
        ([(2, 20), (2, 5), (2, 5)], {}),
    ]),
    "conv2d": (conv2d, [
        conv2d_case((2, 5, 4, 3), 2, (3, 3), padding=(1, 1)),
        conv2d_case((1, 6, 5, 2), 3, (1, 2), bias=False),
        conv2d_case((1, 7, 6, 2), 4, (3, 2), stride=(2, 1), dilation=(1, 2), padding=(1, 0), groups=2),
    ]),
    "rfft": (lambda x: torch.view_as_real(torch.fft.rfft(x)), [([(2, 8)], {}), ([(3, 2, 7)], {}), ([(2, 24)], {})]),
    "irfft": (lambda x, len: torch.fft.irfft(torch.view_as_complex(x), len), [
        ([(2, 5, 2)], dict(len=8)),
        ([(3, 4, 2)], dict(len=7)),
        ([(2, 13, 2)], dict(len=24)),
    ]),
    "max_pool": (lambda x, kernel: nn.MaxPool1d(kernel, kernel, ceil_mode=True)(x), [([x], dict(kernel=kernel)) for x in ((2, 2, 12), (2, 1, 11), TIES) for kernel in (1, 2, 3, 4, 16)]),
    "max_of_steps": (lambda x, **arguments: nn.MaxPool1d(arguments.pop("kernel"), **arguments)(x.mT).mT, [
        ([(2, steps, 3)], dict(kernel=kernel, stride=stride, padding=padding))
        for steps in (7, 8) for kernel, stride, padding in ((3, 2, 1), (2, 3, 0), (5, 1, 2))
    ]),
    "avg_pool": (lambda x, kernel: nn.AvgPool1d(kernel, kernel, ceil_mode=True)(x), [([x], dict(kernel=kernel)) for x in ((2, 2, 12), (2, 1, 11)) for kernel in (1, 2, 3, 4, 16)]),
    "interpolate": (interpolate, [
        ([(2, 2, knots)], dict(mode=mode, size=size))
        for mode in ("nearest", "linear", "cubic")
        for knots, size in [(1, 1), (1, 4), (2, 7), (3, 3), (3, 7), (4, 12), (5, 24), (6, 4)]
    ]),
    "moving_average": (lambda x, kernel: MovingAvg(kernel, stride=1)(x), [([shape], dict(kernel=kernel)) for shape in ((2, 12), (3, 7)) for kernel in (1, 3, 5, 25)]),
    "season": (lambda x, kernel: _modules.SeriesDecomp(kernel)(x)[0], [([shape], dict(kernel=kernel)) for shape in ((2, 12, 3), (1, 5, 2)) for kernel in (1, 5, 25)]),
    "circular_correlation": (circular_correlation, [([(2, steps, 3), (2, rows, 3)], {}) for steps, rows in ((6, 6), (7, 7), (7, 4), (4, 7))]),
    "delayed_sum": (delayed_sum, [
        ([(2, 5, 3), (2, 3)], dict(delays=[[0, 4, 2], [3, 3, 1]], steps=5)),
        ([(1, 3, 2), (1, 2)], dict(delays=[[5, 1]], steps=6)),
        ([(1, 4, 2), (1, 2)], dict(delays=[[2, 1]], steps=3)),
    ]),
    "mode_attention": (mode_attention, [([(2, 2, 3, 4), (2, 2, 2, 4)], dict(heads=2)), ([(1, 2, 2, 6), (1, 2, 19, 6)], dict(heads=1))]),
    "recurrent": (recurrent, [
        *[recurrent_case(cell, 5, 3, 2, 4, last) for cell in ("RNN", "LSTM", "GRU") for last in (1, 5)],
        *[recurrent_case(cell, 3, 1, 1, 7, 2, bias=False) for cell in ("RNN", "LSTM", "GRU")],
        recurrent_case("LSTM", 5, 3, 2, 4, 3, projection=1),
        recurrent_case("LSTM", 4, 2, 1, 5, 4, bias=False, projection=3),
    ]),
    "recurrent_from": (recurrent_from, [recurrent_from_case(cell, *sizes) for cell in ("RNN", "LSTM", "GRU") for sizes in ((5, 3, 2, 4), (1, 1, 1, 3))]),
    "gated_linear": (gated_linear, [([(2, 4, 3), (10, 3), (10,)], {}), ([(3, 7), (2, 7), (2,)], {}), ([(2, 4, 3), (34, 3), (34,), (2, 4, 17)], {})]),
    "modulus": (lambda x: torch.view_as_complex(x).abs(), [([(2, 5, 2)], {}), ([torch.tensor([[0.0, 0.0], [3.0, -4.0], [0.0, 2.0]])], {})]),
    "spline_basis": (spline_basis, [
        ([(4, 2)], dict(grid=[[round(-2.2 + 0.4 * i, 1) for i in range(12)]] * 2, order=3)),
        ([(5, 2)], dict(grid=[[-2.0, -1.5, -0.5, 0.0, 0.25, 1.0, 1.5, 3.0], [-1.0, -0.5, -0.25, 0.0, 0.5, 0.75, 1.5, 2.0]], order=2)),
        ([(4, 1)], dict(grid=[[-1.5, -0.5, 0.5, 1.5, 2.5]], order=1)),
        ([torch.tensor([[-1.0, 0.0], [0.5, 1.0], [3.0, -3.0]])], dict(grid=[[-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0]] * 2, order=3)),
    ]),
    "wavelet_sums": (wavelet_sums, [
        ([(3, inputs), above_zero(2, inputs), (2, inputs), (2, inputs)], dict(kind=kind))
        for kind in ("mexican_hat", "morlet", "dog", "meyer", "shannon") for inputs in (4, 67)
    ]),
    "weighted_sum": (weighted_sum, [([(2, 4, 3)] + [(2, 4, 5)] * 3, {}), ([(3, 1), (3, 17)], {})]),
    "sum": (lambda x, dim: x.sum(dim), [([(3, 4)], dict(dim=0)), ([(3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=-1))]),
    "mean": (lambda x, dim: x.mean(dim), [([(3, 4)], dict(dim=0)), ([(3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=1)), ([(2, 3, 4)], dict(dim=-1))]),
}


def op_case(name, inputs, arguments, random):
    inputs = [x.clone() if isinstance(x, torch.Tensor) else torch.randn(x, generator=random) for x in inputs]
    for x in inputs:
        x.requires_grad_()
    output = OPS[name][0](*inputs, **arguments)
    output, *further = output if isinstance(output, tuple) else (output,)
    grad_output = torch.randn(output.shape, generator=random)
    output.backward(grad_output)
    return {
        "args": arguments,
        "inputs": [numbers(x) for x in inputs],
        "output": numbers(output),
        **({"extra_outputs": [numbers(x) for x in further]} if further else {}),
        "grad_output": numbers(grad_output),
        "grads": [numbers(x.grad) for x in inputs],
    }


# -------------------------------------------------------------------------------- losses


class TextbookTukey(TukeyLoss):
    """Tukey's biweight as Beaton and Tukey have it, by the standard deviation of the history: README.md says why."""

    def __call__(self, y, y_hat, y_insample, mask):
        std = y_insample.std(dim=1, correction=0, keepdim=True) + 0.01 if self.normalize else 1.0
        rest = (1 - ((y_hat - y) / std / self.c) ** 2).clamp(min=0)
        return weighted_average(self.c**2 / 6 * (1 - rest**3), weights=mask)


class WindowwiseMase(MASE):
    """MASE of one window after the other, so that no window is divided by the scale of another."""

    def __call__(self, y, y_hat, y_insample, mask):
        parts = [super(WindowwiseMase, self).__call__(*(x[i : i + 1] for x in (y, y_hat, y_insample, mask))) for i in range(len(y))]
        weights = self._compute_weights(y, mask)
        return weighted_average(torch.stack(parts), weights=weights.sum(dim=(1, 2)))


class MaskedFreDF(FreDF):
    """FreDF whose transform does not see masked steps; a window's frequencies weigh as much as its steps do."""

    def __call__(self, y, y_hat, y_insample, mask):
        weights = self._compute_weights(y, mask)
        errors = torch.where(weights != 0, y_hat - y, 0)
        sizes = torch.fft.rfft(errors, dim=1).abs().mean(dim=1, keepdim=True).expand_as(y)
        found = weighted_average((1 - self.alpha) * errors**2 + self.alpha * sizes, weights=weights)
        if mask.all() and self.horizon_weight is None:  # then it is theirs
            theirs = super().__call__(y=y, y_hat=y_hat, mask=mask)
            assert torch.allclose(found, theirs, rtol=1e-5), (found, theirs)
        return found


POINTS_AND_QUANTILES = [
    (MAE, {}),
    (MSE, {}),
    (RMSE, {}),
    (MAPE, {}),
    (SMAPE, {}),
    (WindowwiseMase, dict(seasonality=1)),
    (WindowwiseMase, dict(seasonality=3)),
    (relMSE, {}),
    (HuberLoss, dict(delta=1.0)),
    (HuberLoss, dict(delta=0.3)),
    (TextbookTukey, dict(c=4.685, normalize=True)),
    (TextbookTukey, dict(c=1.5, normalize=False)),
    (MaskedFreDF, {}),
    (MaskedFreDF, dict(alpha=1.0)),
    (MaskedFreDF, dict(alpha=0.2)),
    (QuantileLoss, dict(q=0.3)),
    (QuantileLoss, dict(q=0.9)),
    (HuberQLoss, dict(q=0.3)),
    (HuberQLoss, dict(q=0.9, delta=0.5)),
    (MQLoss, dict(level=[80, 90])),
    (MQLoss, dict(level=[80])),
    (MQLoss, dict(quantiles=[0.1, 0.5, 0.75])),
    (HuberMQLoss, dict(level=[80])),
    (HuberMQLoss, dict(quantiles=[0.1, 0.5, 0.75], delta=0.2)),
]
ALIASES = {TextbookTukey: "TukeyLoss", WindowwiseMase: "MASE", MaskedFreDF: "FreDF"}


def loss_settings(batch, h):
    """name -> (mask, horizon weight); `fractions` is what a sample weight makes of a mask."""
    ones, zeros = torch.ones(batch, h, 1), torch.zeros(batch, h, 1)
    holes = ones.clone()
    holes[0, 2:] = 0
    holes[2] = 0
    weights = torch.tensor([2.0, 0.0, 0.5, 1.0])
    return dict(
        plain=(ones, None),
        holes=(holes, None),
        masked=(zeros, None),
        weighted=(ones, weights),
        both=(holes, weights),
        fractions=(holes * torch.tensor([0.25, 2.0, 1.0]).reshape(3, 1, 1), None),
        ties=(ones, None),  # some predictions equal their target
    )


def losses():
    """Inputs pred [b, h, outputs], target and mask [b, h, 1]; the mask multiplies the horizon weight."""
    batch, h, history = 3, 4, 7
    found = {}
    for loss_class, arguments in POINTS_AND_QUANTILES:
        name = ALIASES.get(loss_class, loss_class.__name__)
        for setting, (mask, horizon_weight) in loss_settings(batch, h).items():
            if loss_class is TextbookTukey:
                if horizon_weight is not None:
                    continue  # it has none
                loss = loss_class(**arguments)
            else:
                loss = loss_class(horizon_weight=horizon_weight, **arguments)
            random = generator(name, str(arguments), setting)
            pred = 2 * torch.randn(batch, h, loss.outputsize_multiplier, generator=random)
            target = torch.randn(batch, h, 1, generator=random)
            insample = torch.randn(batch, history, 1, generator=random)
            if setting == "ties":
                pred[:, ::2] = target[:, ::2]
                target[0, 1] = 0  # nothing to divide by
                insample[1] = 0.5
            pred.requires_grad_()
            further = dict(y_insample=insample)
            if loss_class is relMSE:  # against the naive forecast
                further = dict(y_benchmark=insample[:, -1:].expand_as(target))
            value = loss(y=target, y_hat=loss.domain_map(pred), mask=mask, **further)
            value.backward()
            if loss_class is RMSE and setting == "masked":  # the slope of a root at 0
                pred.grad.zero_()
            args = {"loss": name, "setting": setting, **arguments}
            args["horizon_weight"] = None if horizon_weight is None else horizon_weight.tolist()
            if hasattr(loss, "quantiles"):  # in the order of the outputs
                args["quantiles"] = numbers(loss.quantiles)["data"]
            args["output_names"] = list(map(str, loss.output_names))
            case = {
                "args": args,
                "inputs": [numbers(x) for x in (pred, target, mask)],
                "output": numbers(value),
                "grad_output": numbers(torch.tensor(1.0)),
                "grads": [numbers(pred.grad), None, None],
            }
            if name in ("MASE", "relMSE", "TukeyLoss"):
                case["insample"] = numbers(insample)
            found.setdefault(name, []).append(case)
    return found | {"DistributionLoss": distributions()} | mixtures() | scores() | implicit_quantiles()


def implicit_quantiles():
    """As the other losses, but `pred` holds pairs of a value and the probability whose quantile it is."""
    batch, h = 3, 4
    found = {}
    for loss_class, arguments in [(IQLoss, {}), (HuberIQLoss, dict(delta=0.7))]:
        name = loss_class.__name__
        for setting, (mask, horizon_weight) in loss_settings(batch, h).items():
            if setting not in ("plain", "both", "ties"):
                continue
            loss = loss_class(horizon_weight=horizon_weight, **arguments)
            random = generator(name, setting)
            pred = 2 * torch.randn(batch, h, 1, generator=random)
            target = torch.randn(batch, h, 1, generator=random)
            loss.update_quantile()  # names the columns as a forecast does
            loss.q = torch.rand(batch, h, 1, generator=random)
            if setting == "ties":
                pred[:, ::2] = target[:, ::2]
            pred.requires_grad_()
            value = loss(y=target, y_hat=pred, mask=mask)
            value.backward()
            args = {"loss": name, "setting": setting, **arguments, "output_names": loss.output_names}
            args["horizon_weight"] = None if horizon_weight is None else horizon_weight.tolist()
            pairs = lambda x, y: numbers(torch.cat([x.detach(), y], dim=-1))
            case = {
                "args": args,
                "inputs": [pairs(pred, loss.q), numbers(target), numbers(mask)],
                "output": numbers(value),
                "grad_output": numbers(torch.tensor(1.0)),
                "grads": [pairs(pred.grad, torch.zeros_like(target)), None, None],
            }
            found.setdefault(name, []).append(case)
    return found


# Distribution -> (arguments, what makes a target of standard normal numbers, quantiles of scipy from the parameters)
DISTRIBUTIONS = {
    "Normal": ({}, lambda x: 3 + 2 * x, lambda q, loc, scale: stats.norm.ppf(q, loc, scale)),
    "StudentT": ({}, lambda x: 3 + 2 * x, lambda q, df, loc, scale: stats.t.ppf(q, df, loc, scale)),
    "Poisson": ({}, lambda x: (2 + 3 * x).clamp(min=0).round(), lambda q, rate: stats.poisson.ppf(q, rate)),
    "NegativeBinomial": ({}, lambda x: (2 + 3 * x).clamp(min=0).round(), lambda q, n, p: stats.nbinom.ppf(q, n, 1 - p)),
    "Bernoulli": ({}, lambda x: (x > 0).float(), lambda q, p: stats.bernoulli.ppf(q, p)),
    "Tweedie": (dict(rho=1.4), lambda x: (2 + 3 * x).clamp(min=0), None),
    "ISQF": (dict(num_pieces=2), lambda x: 3 + 3 * x, None),
    "ISQF of one piece": (dict(num_pieces=1), lambda x: 3 + 3 * x, None),
}


def spline_columns(loss, distr_args):
    """Mean and quantiles of an ISQF distribution: its quantile function, and the integral of this."""
    function = loss.get_distribution(distr_args=distr_args)
    loc, scale, base = distr_args[-2], distr_args[-1], function.base_dist
    last = lambda x: x[..., -1:]
    knots_x = torch.cat([base.sk_x.flatten(-2), last(base.qk_x_plus)], dim=-1)
    knots_y = torch.cat([base.sk_y.flatten(-2), last(base.qk_y_plus)], dim=-1)
    # The tails are exponential.
    left = base.qk_x_l * (base.qk_y_l - base.tail_al)
    right = (1 - base.qk_x_r) * (base.qk_y_r - base.tail_ar)
    mean = torch.trapezoid(knots_y, knots_x, dim=-1) + left + right
    at = lambda q: base.quantile(torch.full_like(mean, float(q)).unsqueeze(0)).squeeze(0)
    return [loc + scale * x for x in (mean, *map(at, loss.quantiles))]


def distributions():
    """Inputs as of the other losses, and the windows' loc and scale; mean, quantiles and parameters of the first setting."""
    batch, h = 3, 4
    found = []
    for name, (own, target_of, ppf) in DISTRIBUTIONS.items():
        for setting, (mask, horizon_weight) in loss_settings(batch, h).items():
            distribution = name.split()[0]
            is_spline = distribution == "ISQF"
            if setting == "ties" or (is_spline and setting not in ("plain", "both")):
                continue
            return_params = distribution not in ("Tweedie", "ISQF")
            arguments = {"distribution": distribution, "level": [80, 90], "return_params": return_params, **own}
            loss = DistributionLoss(horizon_weight=horizon_weight, **arguments)
            random = generator(name, setting)
            pred = torch.randn(batch, h, loss.outputsize_multiplier, generator=random, requires_grad=True)
            target = target_of(torch.randn(batch, h, 1, generator=random))
            loc, scale = torch.rand(2, batch, 1, 1, generator=random) * 4 + 0.5
            distr_args = loss.scale_decouple(output=loss.domain_map(pred), loc=loc, scale=scale)
            value = loss(y=target, distr_args=distr_args, mask=mask)
            value.backward()
            args = {"loss": "DistributionLoss", "setting": setting, **arguments}
            args["horizon_weight"] = None if horizon_weight is None else horizon_weight.tolist()
            args["quantiles"] = numbers(loss.quantiles)["data"]
            args["output_names"] = list(map(str, loss.output_names))
            case = {
                "args": args,
                "inputs": [numbers(x) for x in (pred, target, mask)],
                "loc": numbers(loc.reshape(batch)),
                "scale": numbers(scale.reshape(batch)),
                "output": numbers(value),
                "grad_output": numbers(torch.tensor(1.0)),
                "grads": [numbers(pred.grad), None, None],
            }
            if setting == "plain":
                columns = spline_columns(loss, distr_args) if is_spline else [loss.distr_mean]
                if ppf is not None:
                    # In double precision: a count must not jump because a probability was rounded.
                    exact = loss.scale_decouple(output=loss.domain_map(pred.detach().double()), loc=loc.double(), scale=scale.double())
                    columns += [torch.tensor(ppf(float(q), *(x.numpy() for x in exact))) for q in loss.quantiles]
                    columns += distr_args
                case["columns"] = numbers(torch.cat(columns, dim=-1))
            found.append(case)
    return found


class MaskedMesh:
    """A mixture whose windows are of one component: the likelihood of masked steps, which are unknown, is left out."""

    def __call__(self, y, distr_args, mask):
        distribution = self.get_distribution(distr_args=distr_args)
        logits = torch.log_softmax(distribution.mixture_distribution.logits, dim=-1)
        of_component = distribution.component_distribution.log_prob(distribution._pad(y))
        likelihood = torch.where(mask.unsqueeze(-1) != 0, of_component, 0).sum(dim=1, keepdim=True)
        found = weighted_average(-torch.logsumexp(likelihood + logits, dim=-1).expand_as(y), weights=mask)
        if mask.all():  # then it is theirs
            theirs = super().__call__(y=y, distr_args=distr_args, mask=torch.ones_like(y) * mask)
            assert torch.allclose(found, theirs, rtol=1e-5), (found, theirs)
        return found


class MaskedGMM(MaskedMesh, GMM):
    pass


class MaskedPMM(MaskedMesh, PMM):
    pass


# (class, arguments, what makes a target of standard normal numbers, the probability of at most x from the parameters)
COUNTS = lambda x: (2 + 3 * x).clamp(min=0).round()
GAUSSIAN = (lambda x: 3 + 2 * x, lambda x, mean, std: stats.norm.cdf(x, mean, std))
POISSON = (COUNTS, lambda x, rate: stats.poisson.cdf(x, rate))
NEGATIVE_BINOMIAL = (COUNTS, lambda x, n, p: stats.nbinom.cdf(x, n, 1 - p))
MIXTURES = [
    (GMM, {}, *GAUSSIAN),
    (GMM, dict(n_components=3), *GAUSSIAN),
    (GMM, dict(n_components=2, weighted=True), *GAUSSIAN),
    (MaskedGMM, dict(n_components=2, weighted=True, horizon_correlation=True), *GAUSSIAN),
    (PMM, dict(n_components=4), *POISSON),
    (PMM, dict(n_components=3, weighted=True), *POISSON),
    (MaskedPMM, dict(n_components=3, horizon_correlation=True), *POISSON),
    (NBMM, {}, *NEGATIVE_BINOMIAL),
    (NBMM, dict(n_components=3, weighted=True), *NEGATIVE_BINOMIAL),
]


def mixture_quantile(cdf, q, weights, parameters, counts):
    """Where the summed probability of the components reaches q."""
    reaches = lambda x: float(np.sum(weights * cdf(x, *parameters))) >= q
    if counts:
        return next(float(k) for k in range(100_000) if reaches(k))
    low, high = -1e3, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def mixtures():
    """As `distributions`. They have no weights of the horizon."""
    batch, h = 3, 4
    found = {}
    for loss_class, own, target_of, cdf in MIXTURES:
        name = loss_class.__name__.removeprefix("Masked")
        for setting, (mask, horizon_weight) in loss_settings(batch, h).items():
            if setting == "ties" or horizon_weight is not None:
                continue
            arguments = {"level": [80, 90], "return_params": True, **own}
            loss = loss_class(**arguments)
            random = generator(name, str(own), setting)
            pred = torch.randn(batch, h, loss.outputsize_multiplier, generator=random, requires_grad=True)
            target = target_of(torch.randn(batch, h, 1, generator=random))
            loc, scale = torch.rand(2, batch, 1, 1, generator=random) * 4 + 0.5
            parameters = lambda x, loc, scale: loss.scale_decouple(output=loss.domain_map(x), loc=loc, scale=scale)
            # NBMM multiplies in place what it is given.
            distr_args = parameters(pred, loc, scale)
            value = loss(y=target, distr_args=distr_args, mask=mask)
            value.backward()
            args = {"loss": name, "setting": setting, **arguments}
            args["quantiles"] = numbers(loss.quantiles)["data"]
            args["output_names"] = list(map(str, loss.output_names))
            case = {
                "args": args,
                "inputs": [numbers(x) for x in (pred, target, mask)],
                "loc": numbers(loc.reshape(batch)),
                "scale": numbers(scale.reshape(batch)),
                "output": numbers(value),
                "grad_output": numbers(torch.tensor(1.0)),
                "grads": [numbers(pred.grad), None, None],
            }
            if setting == "plain":
                exact = [x.numpy()[:, :, 0] for x in parameters(pred.detach().double(), loc.double(), scale.double())]
                weights = exact.pop() if loss.weighted else np.full_like(exact[0], 1 / loss.n_components)
                counts = target_of is COUNTS
                quantiles = [
                    [
                        [mixture_quantile(cdf, float(q), weights[i, t], [x[i, t] for x in exact], counts) for q in loss.quantiles]
                        for t in range(h)
                    ]
                    for i in range(batch)
                ]
                columns = torch.stack([x[:, :, 0] for x in distr_args], dim=-1).flatten(-2, -1)
                case["columns"] = numbers(torch.cat([loss.distr_mean, torch.tensor(quantiles), columns], dim=-1))
            found.setdefault(name, []).append(case)
    return found


class MaskedScore(sCRPS):
    """Absolute values of masked steps, which are unknown, are left out of the divisor, and nothing is added to it."""

    def __call__(self, y, y_hat, mask):
        known = y * (mask != 0)
        theirs = super().__call__(y=known, y_hat=y_hat, mask=mask, y_insample=None)
        found = theirs * (known.abs().sum() + 1e-5) / (y * mask).abs().sum().clamp(min=1e-12)
        if (mask == 1).all():
            assert torch.allclose(found, theirs, rtol=1e-5), (found, theirs)
        return found


class MaskedAccuracy(Accuracy):
    """The share of the steps that count, each by its weight."""

    def __call__(self, y, y_hat, mask):
        found = weighted_average((y == y_hat).float(), weights=mask)
        if (mask == 1).all():  # then it is theirs
            assert torch.equal(found, super().__call__(y=y, y_hat=y_hat, mask=mask, y_insample=None))
        return found


def scores():
    """Losses that only validate; Accuracy has no gradient."""
    batch, h = 3, 4
    found = {}
    for loss_class, arguments in [(MaskedScore, {}), (MaskedScore, dict(quantiles=[0.1, 0.5, 0.75])), (MaskedAccuracy, {})]:
        loss, name = loss_class(**arguments), loss_class.__base__.__name__
        for setting, (mask, horizon_weight) in loss_settings(batch, h).items():
            if horizon_weight is not None:
                continue  # they have none
            random = generator(name, str(arguments), setting)
            outputs = len(loss.mql.quantiles) if name == "sCRPS" else 1
            pred = 2 * torch.randn(batch, h, outputs, generator=random)
            target = torch.randn(batch, h, 1, generator=random)
            if name == "Accuracy":
                pred, target = pred.round(), target.round()
            pred.requires_grad_()
            value = loss(y=target, y_hat=pred if outputs == 1 else loss.mql.domain_map(pred), mask=mask)
            if name == "sCRPS":
                value.backward()
            args = {"loss": name, "setting": setting, **arguments, "output_names": [""]}
            if name == "sCRPS":
                args["quantiles"] = numbers(loss.mql.quantiles)["data"]
                args["output_names"] = list(map(str, loss.mql.output_names))
                args |= {} if arguments else {"level": [80, 90]}
            case = {
                "args": args,
                "inputs": [numbers(x) for x in (pred, target, mask)],
                "output": numbers(value),
                "grad_output": numbers(torch.tensor(1.0)),
                "grads": [numbers(torch.zeros_like(pred) if pred.grad is None else pred.grad), None, None],
            }
            found.setdefault(name, []).append(case)
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
    blocks = [f"{json.dumps(key)}:{lines(cases)}" for key, cases in value.items()]
    (fixtures(crate) / name).write_text("{\n" + ",\n".join(blocks) + "\n}\n")
    print(f"{name}: {sum(map(len, value.values()))} cases")


def main(names=()):
    one_thread()
    make = lambda name: [op_case(name, *case, generator(name, i)) for i, case in enumerate(OPS[name][1])]
    write_cases(fixtures("autograd") / "ops", OPS, make, names)
    if names:
        return
    write("nn", "losses.json", losses())
    write("data", "scalers.json", scalers())
    write("data", "local_scalers.json", local_scalers())


if __name__ == "__main__":
    main(sys.argv[1:])
