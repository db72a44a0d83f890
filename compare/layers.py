"""Layer fixtures, computed by PyTorch and neuralforecast in float32: crates/nn/tests/fixtures/layers.json.

README.md says how a case is laid out. An operation without parameters or state of its own has its cases in ops.py.
"""

import json

import torch
import torch.nn as nn
from common import fixtures, generator, numbers, one_thread


class ChannelsLast(nn.Module):
    """A layer whose channels come second, on x [..., channels]."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x.movedim(-1, 1)).movedim(1, -1)


# Layer -> (the module, [(shape of its input, arguments)]).
LAYERS = {
    "BatchNorm1d": (lambda channels, **own: ChannelsLast(nn.BatchNorm1d(channels, **own)), [
        ((8, 3), {}),
        ((5, 3), dict(affine=False)),
        ((4, 5, 2), dict(eps=1e-3, momentum=0.01)),
    ]),
    "BatchNorm2d": (lambda channels, **own: ChannelsLast(nn.BatchNorm2d(channels, **own)), [((2, 3, 4, 2), dict(eps=0.1, momentum=0.5))]),
    "LayerNorm": (lambda _, shape, **own: nn.LayerNorm(shape, **own), [
        ((4, 7), dict(shape=[7])),
        ((2, 3, 5), dict(shape=[5], bias=False)),
        ((2, 3, 5), dict(shape=[5], elementwise_affine=False)),
        ((2, 3, 5), dict(shape=[3, 5])),
        ((2, 3, 5), dict(shape=[3, 5], elementwise_affine=False, eps=0.1)),
        ((2, 3, 5), dict(shape=[3, 5], bias=False)),
        ((2, 4, 1), dict(shape=[1], eps=0.1)),
    ]),
}


def layer_case(name, shape, arguments, random):
    make, _ = LAYERS[name]
    layer = make(shape[-1], **arguments)
    with torch.no_grad():
        for values in layer.state_dict().values():
            if values.is_floating_point():
                values += torch.rand(values.shape, generator=random)
    plain = lambda entries: {key.removeprefix("layer."): value.item() if value.dtype == torch.int64 else numbers(value) for key, value in entries}
    weights, batches = plain(layer.state_dict().items()), []
    for _ in range(3):  # training, so that the state changes
        x = torch.randn(shape, generator=random).requires_grad_()
        layer.zero_grad()
        output = layer.train()(x)
        grad_output = torch.randn(output.shape, generator=random)
        output.backward(grad_output)
        grads = plain((key, value.grad) for key, value in layer.named_parameters())
        batch = dict(input=numbers(x), output=numbers(output), grad_output=numbers(grad_output), grad_input=numbers(x.grad), grads=grads)
        batch["forecast"] = numbers(layer.eval()(x))
        batches.append(batch)
    return dict(args=arguments, weights=weights, batches=batches, state=plain(layer.named_buffers()))


def main():
    one_thread()
    lines = []
    for name, (_, cases) in LAYERS.items():
        found = [json.dumps(layer_case(name, *case, generator(name, i)), separators=(",", ":"), allow_nan=False) for i, case in enumerate(cases)]
        lines.append(f"{json.dumps(name)}:[\n" + ",\n".join(found) + "\n]")
    (fixtures("nn") / "layers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"layers.json: {sum(len(cases) for _, cases in LAYERS.values())} cases")


if __name__ == "__main__":
    main()
