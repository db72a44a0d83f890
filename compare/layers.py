"""Layer fixtures, computed by PyTorch and neuralforecast in float32 (PRECISE: in float64): crates/nn/tests/fixtures/layers/<Layer>.json.

README.md says how a case is laid out. An operation without parameters or state of its own has its cases in ops.py.
"""

import sys
from functools import partial

import torch
import torch.nn as nn
from common import fixtures, generator, numbers, one_thread, write_cases
from neuralforecast.common._modules import (
    AttentionLayer,
    DataEmbedding,
    DataEmbedding_inverted,
    FullAttention,
    RevIN,
    RevINMultivariate,
    TransDecoder,
    TransDecoderLayer,
    TransEncoder,
    TransEncoderLayer,
)
from neuralforecast.losses.pytorch import IQLoss
from neuralforecast.models.autoformer import AutoCorrelation, AutoCorrelationLayer
from neuralforecast.models.informer import ConvLayer
from neuralforecast.models.tft import GLU, GRN, InterpretableMultiHeadAttention, StaticCovariateEncoder, TFTEmbedding, VariableSelectionNetwork


class ChannelsLast(nn.Module):
    """A layer whose channels come second, on x [..., channels]."""

    def __init__(self, layer, shape, **arguments):
        super().__init__()
        self.layer = layer(shape[-1], **arguments)

    def forward(self, x):
        return self.layer(x.movedim(-1, 1)).movedim(1, -1)


class ThereAndBack(nn.Module):
    """Windows [rows, time], those of several series neighbouring rows: normalised, bent and brought back. The windows are constants."""

    def __init__(self, layer, shape, series, **arguments):
        super().__init__()
        self.layer, self.series = layer(series, **arguments), series

    def forward(self, x):
        windows = x.detach().reshape(-1, self.series, x.shape[1]).mT
        normalised = self.layer(5 * windows + 3, "norm")
        return self.layer(normalised.tanh(), "denorm").mT.reshape(x.shape)


class WithColumns(nn.Module):
    """A layer that takes columns beside its values: x [batch, time, values + columns]."""

    def __init__(self, layer, columns):
        super().__init__()
        self.layer, self.columns = layer, columns
        for name, value in list(layer.named_buffers()):
            if name.endswith(CONSTANTS):  # its first places say all of it
                layer.get_submodule(name.rpartition(".")[0]).register_buffer("pe", value[:, :40])

    def forward(self, x):
        values, columns = x.split([x.shape[-1] - self.columns, self.columns], dim=-1)
        return self.layer(values, columns if self.columns else None)


def data_embedding(_, inputs, hidden, columns, positions=True):
    return WithColumns(DataEmbedding(inputs, columns, hidden, pos_embedding=positions, dropout=0.0), columns)


class Across(nn.Module):
    """An attention whose queries and source are steps of one input, x [batch, steps + rows, hidden]."""

    def __init__(self, layer, steps):
        super().__init__()
        self.layer, self.steps = layer, steps

    def forward(self, x):
        queries, source = x[:, : self.steps], x[:, self.steps :]
        return self.layer(queries, source, source, attn_mask=None)[0]


def auto_correlation(_, hidden, heads, factor, steps):
    return Across(AutoCorrelationLayer(AutoCorrelation(False, factor), hidden, heads), steps)


def attention(hidden, heads, mask=False):
    return AttentionLayer(FullAttention(mask, attention_dropout=0.0), hidden, heads)


def encoder(shape, heads, units, layers, activation):
    hidden = shape[-1]
    inner = [TransEncoderLayer(attention(hidden, heads), hidden, units, dropout=0.0, activation=activation) for _ in range(layers)]
    return TransEncoder(inner, norm_layer=nn.LayerNorm(hidden))


class Encode(nn.Module):
    def __init__(self, shape, **arguments):
        super().__init__()
        self.layer = encoder(shape, **arguments)

    def forward(self, x):
        return self.layer(x)[0]


class Decode(nn.Module):
    """The last steps that a decoder makes of x [batch, steps + encoded, hidden], of which it reads the encoded ones."""

    def __init__(self, shape, heads, units, layers, activation, outputs, encoded, last):
        super().__init__()
        hidden = shape[-1]
        inner = [
            TransDecoderLayer(attention(hidden, heads, True), attention(hidden, heads), hidden, units, dropout=0.0, activation=activation)
            for _ in range(layers)
        ]
        self.layer = TransDecoder(inner, norm_layer=nn.LayerNorm(hidden), projection=nn.Linear(hidden, outputs))
        self.encoded, self.last = encoded, last

    def forward(self, x):
        steps, encoded = x.split([x.shape[1] - self.encoded, self.encoded], dim=1)
        return self.layer(steps, encoded)[:, -self.last :]


class Residual(nn.Module):
    """A gated residual network on x [batch, time, inputs + context], of whose first step it takes the context."""

    def __init__(self, _, inputs, hidden, outputs=None, context=False, activation="ELU"):
        super().__init__()
        self.layer = GRN(inputs, hidden, outputs, hidden if context else None, activation=activation)
        self.inputs = inputs

    def forward(self, x):
        context = x[:, 0, self.inputs :] if x.shape[-1] > self.inputs else None
        return self.layer(x[..., : self.inputs], context)


class Embeds(nn.Module):
    """A layer on numbers [..., columns], embedded as in TFTEmbedding."""

    def __init__(self, layer, columns, hidden):
        super().__init__()
        self.layer, self.columns = layer, columns
        self.column_vectors, self.column_bias = (nn.Parameter(torch.randn(columns, hidden)) for _ in range(2))

    def embedded(self, x):
        return x[..., : self.columns, None] * self.column_vectors + self.column_bias


class Select(Embeds):
    """A variable selection network on x [batch, time, columns + context] or, without a context, of any shape: its sum, then its weights."""

    def __init__(self, _, columns, hidden, activation="ELU"):
        super().__init__(VariableSelectionNetwork(hidden, columns, dropout=0.0, grn_activation=activation), columns, hidden)

    def forward(self, x):
        context = x[:, 0, self.columns :] if x.shape[-1] > self.columns else None
        return torch.cat(self.layer(self.embedded(x), context), dim=-1)


class EncodeStatic(Embeds):
    """All that a static encoder makes of x [batch, columns], side by side."""

    def __init__(self, shape, hidden, cell, layers, one_state=False):
        layer = StaticCovariateEncoder(hidden, shape[-1], 0.0, "Tanh", cell, layers, one_state)
        super().__init__(layer, shape[-1], hidden)

    def forward(self, x):
        selection, enrichment, h, c, weights = self.layer(self.embedded(x))
        return torch.cat([selection, enrichment, *h, *(c if self.layer.rnn_type == "lstm" else ()), weights], dim=-1)


class EmbedNumbers(nn.Module):
    """The vectors of the historic columns, the future ones and the target of x [batch, time, hist + futr + 1], and those of its first step as
    static ones, which stand beside each step."""

    def __init__(self, _, hidden, hist, futr, target):
        super().__init__()
        self.layer, self.sizes = TFTEmbedding(hidden, hist, futr, hist, target), (hist, futr, 1)

    def forward(self, x):
        hist, futr, y = x.split(self.sizes, dim=-1)
        stat, futr, hist, y = self.layer(y, hist[:, 0], futr, hist)
        return torch.cat([hist, futr, y, stat.unsqueeze(1).expand_as(hist)], dim=-2).flatten(-2)


class Interpretable(nn.Module):
    """What the steps of x [batch, time, hidden] behind the first ones read, and all weights."""

    def __init__(self, shape, heads, earlier):
        super().__init__()
        self.layer, self.earlier = InterpretableMultiHeadAttention(heads, shape[-1], shape[1], 0.0, 0.0), earlier
        mask = self.layer._mask  # no JSON has its infinities
        del self.layer._mask
        self.layer._mask = mask

    def forward(self, x):
        read, weights = self.layer(x)
        return torch.cat([read[:, self.earlier :].flatten(1), weights.flatten(1)], dim=1)


class ImplicitQuantiles(nn.Module):
    """The quantiles that the layers of an IQLoss make of x [batch, time, 1], side by side."""

    def __init__(self, _, cosines, quantiles):
        super().__init__()
        self.layer, self.quantiles = IQLoss(cosines), quantiles
        integers = self.layer.quantile_layer.integers  # they number the cosines
        del self.layer.quantile_layer.integers
        self.layer.quantile_layer.integers = integers

    def forward(self, x):
        def at(quantile):
            self.layer.update_quantile([quantile])
            return self.layer.domain_map(x)

        return torch.cat([at(quantile) for quantile in self.quantiles], dim=-1)


# Buffers that nothing changes, of which fixtures have the first rows.
CONSTANTS = ("position_embedding.pe",)

REVERSIBLE = [
    ((4, 9), dict(series=1)),
    ((6, 7), dict(series=3, affine=True)),
    ((2, 5), dict(series=2, affine=True, eps=0.1)),
]

# Layers with norms of few numbers, which make much of rounding errors: their weights are moved both ways, since all moved up
# vectors are nearly constant, and what PyTorch makes of them is computed in float64.
PRECISE = ("GRN", "VariableSelectionNetwork", "StaticCovariateEncoder")

# Layer -> (the module, [(shape of its input, arguments)]).
LAYERS = {
    "AutoCorrelationLayer": (auto_correlation, [
        ((3, 12, 4), dict(hidden=4, heads=2, factor=2, steps=6)),
        ((2, 14, 4), dict(hidden=4, heads=4, factor=1, steps=7)),
        ((2, 12, 5), dict(hidden=5, heads=2, factor=3, steps=8)),
        ((2, 14, 3), dict(hidden=3, heads=1, factor=3, steps=5)),
    ]),
    "BatchNorm1d": (partial(ChannelsLast, nn.BatchNorm1d), [
        ((8, 3), {}),
        ((5, 3), dict(affine=False)),
        ((4, 5, 2), dict(eps=1e-3, momentum=0.01)),
    ]),
    "BatchNorm2d": (partial(ChannelsLast, nn.BatchNorm2d), [((2, 3, 4, 2), dict(eps=0.1, momentum=0.5))]),
    "ConvLayer": (lambda shape: ConvLayer(shape[-1]), [((3, 7, 4), {}), ((4, 8, 3), {}), ((5, 2, 2), {})]),
    "LayerNorm": (lambda _, shape, **own: nn.LayerNorm(shape, **own), [
        ((4, 7), dict(shape=[7])),
        ((2, 3, 5), dict(shape=[5], bias=False)),
        ((2, 3, 5), dict(shape=[5], elementwise_affine=False)),
        ((2, 3, 5), dict(shape=[3, 5])),
        ((2, 3, 5), dict(shape=[3, 5], elementwise_affine=False, eps=0.1)),
        ((2, 3, 5), dict(shape=[3, 5], bias=False)),
        ((2, 4, 1), dict(shape=[1], eps=0.1)),
    ]),
    "DataEmbedding": (data_embedding, [
        ((2, 5, 1), dict(inputs=1, columns=0, hidden=4)),
        ((2, 5, 4), dict(inputs=1, columns=3, hidden=6)),
        ((3, 6, 4), dict(inputs=2, columns=2, hidden=8)),
        ((2, 1, 2), dict(inputs=1, columns=1, hidden=2)),
        ((1, 33, 3), dict(inputs=3, columns=0, hidden=18)),
        ((2, 4, 2), dict(inputs=1, columns=1, hidden=5, positions=False)),
    ]),
    "DataEmbedding_inverted": (lambda _, steps, hidden, columns: WithColumns(DataEmbedding_inverted(steps, hidden, dropout=0.0), columns), [
        ((2, 5, 3), dict(steps=5, hidden=4, columns=0)),
        ((2, 5, 5), dict(steps=5, hidden=3, columns=2)),
    ]),
    "TransEncoder": (Encode, [
        ((2, 5, 8), dict(heads=2, units=6, layers=1, activation="gelu")),
        ((2, 3, 4), dict(heads=2, units=6, layers=0, activation="gelu")),
        ((1, 1, 2), dict(heads=1, units=3, layers=1, activation="gelu")),
    ]),
    "TransDecoder": (Decode, [
        ((2, 9, 8), dict(heads=2, units=6, layers=1, activation="gelu", outputs=3, encoded=4, last=2)),
        ((2, 7, 6), dict(heads=3, units=4, layers=1, activation="relu", outputs=1, encoded=2, last=3)),
        ((2, 5, 4), dict(heads=4, units=4, layers=0, activation="gelu", outputs=2, encoded=1, last=3)),
    ]),
    "GLU": (lambda shape, outputs: GLU(shape[-1], outputs), [((2, 3, 4), dict(outputs=5)), ((3, 2), dict(outputs=1))]),
    "GRN": (Residual, [
        ((2, 3, 4), dict(inputs=4, hidden=4)),
        ((2, 3, 4), dict(inputs=4, hidden=4, activation="Softplus")),
        ((2, 3, 9), dict(inputs=5, hidden=4, outputs=3, context=True)),
        ((2, 3, 8), dict(inputs=4, hidden=4, context=True, activation="Sigmoid")),
        ((3, 1, 2), dict(inputs=2, hidden=3, outputs=1)),
    ]),
    "VariableSelectionNetwork": (Select, [
        ((2, 4, 8), dict(columns=4, hidden=4)),
        ((2, 4, 3), dict(columns=1, hidden=2, activation="SELU")),
        ((4, 2), dict(columns=2, hidden=4, activation="GELU")),
        ((4, 1), dict(columns=1, hidden=3)),
    ]),
    "StaticCovariateEncoder": (EncodeStatic, [
        ((3, 4), dict(hidden=4, cell="lstm", layers=1)),
        ((3, 1), dict(hidden=5, cell="lstm", layers=2)),
        ((2, 3), dict(hidden=3, cell="lstm", layers=3, one_state=True)),
        ((3, 3), dict(hidden=3, cell="gru", layers=2)),
        ((2, 2), dict(hidden=4, cell="gru", layers=2, one_state=True)),
    ]),
    "TFTEmbedding": (EmbedNumbers, [((2, 3, 6), dict(hidden=4, hist=2, futr=3, target=1)), ((2, 3, 3), dict(hidden=2, hist=1, futr=1, target=3))]),
    "InterpretableMultiHeadAttention": (Interpretable, [
        ((2, 5, 6), dict(heads=2, earlier=3)),
        ((2, 4, 6), dict(heads=3, earlier=0)),
        ((1, 3, 5), dict(heads=1, earlier=2)),
    ]),
    "IQLoss": (ImplicitQuantiles, [
        ((2, 3, 1), dict(cosines=5, quantiles=[0.5])),
        ((3, 2, 1), dict(cosines=4, quantiles=[0.05, 0.3, 0.99])),
    ]),
    "RevIN": (partial(ThereAndBack, RevIN), REVERSIBLE + [((4, 7), dict(series=2, affine=True, subtract_last=True)), ((3, 1), dict(series=1, subtract_last=True))]),
    "RevINMultivariate": (partial(ThereAndBack, RevINMultivariate), REVERSIBLE),
}


def layer_case(name, shape, arguments, random):
    make, _ = LAYERS[name]
    torch.manual_seed(1)
    layer = make(shape, **arguments)
    with torch.no_grad():
        for key, values in layer.state_dict().items():
            if values.is_floating_point() and not key.endswith(CONSTANTS):
                values += torch.rand(values.shape, generator=random) - (0.5 if name in PRECISE else 0.0)
    plain = lambda entries: {key.removeprefix("layer."): value.item() if value.dtype == torch.int64 else numbers(value) for key, value in entries}
    weights, batches = plain(layer.state_dict().items()), []
    dtype = torch.float64 if name in PRECISE else torch.float32
    layer.to(dtype)
    for _ in range(3):  # training, so that the state changes
        x = torch.randn(shape, generator=random).to(dtype).requires_grad_()
        layer.zero_grad()
        output = layer.train()(x)
        grad_output = torch.randn(output.shape, generator=random).to(dtype)
        if output.requires_grad:
            output.backward(grad_output)
        grads = plain((key, torch.zeros_like(value) if value.grad is None else value.grad) for key, value in layer.named_parameters())
        grad_input = None if x.grad is None else numbers(x.grad)
        batch = dict(input=numbers(x), output=numbers(output), grad_output=numbers(grad_output), grad_input=grad_input, grads=grads)
        forecast = numbers(layer.eval()(x))
        batch["forecast"] = None if forecast == batch["output"] else forecast
        batches.append(batch)
    return dict(args=arguments, weights=weights, batches=batches, state=plain((key, value) for key, value in layer.named_buffers() if not key.endswith(CONSTANTS)))


def main(names=()):
    """Writes the cases of all layers, or of those that are named (`compare/layers.py GRN RevIN`)."""
    one_thread()
    make = lambda name: [layer_case(name, *case, generator(name, i)) for i, case in enumerate(LAYERS[name][1])]
    write_cases(fixtures("nn") / "layers", LAYERS, make, names)


if __name__ == "__main__":
    main(sys.argv[1:])
