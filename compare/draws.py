"""foretell's generator of random numbers (crates/simd/src/kernels/random.rs), in the place of PyTorch's where a model draws.

So a model that samples takes the same samples on both sides, and its forecasts, losses and gradients can be compared.
"""

from contextlib import contextmanager

import numpy as np
import torch
from torch.nn import functional

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class Key:
    """One sequence of random numbers."""

    def __init__(self, seed):
        self.start = mix(np.uint64(seed) + GOLDEN)

    def fold(self, x):
        key = Key(0)
        key.start = mix(self.start ^ (mix(np.uint64(x) + GOLDEN) + GOLDEN))
        return key

    def uniforms(self, count):
        """The first this many numbers, uniform in [0, 1)."""
        step = mix(self.start ^ GOLDEN) | np.uint64(1)
        if int(step ^ (step >> np.uint64(1))).bit_count() < 24:
            step ^= np.uint64(0xAAAAAAAAAAAAAAAA)
        bits = mix(self.start + np.arange(count, dtype=np.uint64) * step)
        return torch.from_numpy((bits >> np.uint64(40)).astype(np.float32)) / 2**24

    def probabilities(self, count):
        """As many probabilities for a loss of implicit quantiles: the first number, in double precision, of a key for each."""
        bits = np.array([mix(self.fold(i).start) for i in range(count)], dtype=np.uint64)
        return torch.from_numpy((bits >> np.uint64(11)).astype(np.float64) / 2**53).float()


def of_forecasts(random_seed):
    """The key of all forecasts of a model of this seed: crates/infer/src/forecast.rs."""
    return Key(random_seed).fold(4)


def forecasting(model_class):
    """Lets the models of this class draw by foretell's generator, always as foretell does in a forecast."""
    forward = model_class.forward

    def drawing(self, windows_batch):
        with ours(of_forecasts(self.random_seed)):
            return forward(self, windows_batch)

    model_class.forward = drawing


@contextmanager
def ours(key):
    """PyTorch's samplers that models draw with, as a run of a model in foretell of this key draws: a key for each call. Gives the
    function of the next key, for what else is drawn in the run."""
    calls = 0
    theirs = torch.rand, torch.randint, torch.multinomial, functional.rrelu

    def next_key():
        nonlocal calls
        calls += 1
        return key.fold(calls - 1)

    def uniforms(count):
        return next_key().uniforms(count)

    def rand(count, device=None):
        return uniforms(count)

    def randint(high, size):
        numbers = uniforms(size[0] * size[1]) * high
        return numbers.to(torch.int64).clamp(max=high - 1).reshape(size)

    def multinomial(probabilities, num_samples):
        rows, choices = probabilities.shape
        assert num_samples == 1
        below = probabilities.cumsum(1)[:, :-1] <= uniforms(rows)[:, None]
        return below.sum(1, keepdim=True)

    def rrelu(x, lower, upper, training, inplace=False):
        slopes = lower + (upper - lower) * uniforms(x.numel()).reshape(x.shape) if training else (lower + upper) / 2
        return torch.where(x > 0, x, slopes * x)

    torch.rand, torch.randint, torch.multinomial, functional.rrelu = rand, randint, multinomial, rrelu
    try:
        with np.errstate(over="ignore"):
            yield next_key
    finally:
        torch.rand, torch.randint, torch.multinomial, functional.rrelu = theirs
