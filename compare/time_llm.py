"""neuralforecast's TimeLLM as foretell's is judged on it: of the small language model that `language_model.py` makes, each window alone,
on windows that both describe in the same words."""

import contextlib
import io

import numpy as np
import torch
from common import CRATES
from neuralforecast import models

# Where the folder is seen from: Rust's tests run in the folders of their crates.
SEEN_FROM = CRATES / "models"
LLM = "../language/tests/gpt2"


def same_words(y, norm, top_k):
    """Whether no rounding decides what the prompt says of a window `y`: its values are normalised to the last bit by single operations,
    and the largest autocorrelations are in the order of their sizes, of two equal ones the smaller lag first."""
    z = norm(torch.tensor(y, dtype=torch.float32)[None, :, None], "norm")
    mean, variance = np.float32(y.mean()), np.float32(y.var())
    if not np.array_equal(z[0, :, 0].numpy(), (y.astype(np.float32) - mean) / np.sqrt(variance + np.float32(1e-5))):
        return None
    correlations = np.fft.irfft(np.abs(np.fft.rfft(z[0, :, 0].double().numpy())) ** 2)
    count = len(correlations)
    lags = sorted(range(count // 2 + 1), key=lambda lag: -correlations[lag])
    if np.diff(correlations[lags[: top_k + 1]]).max(initial=-1) > -1e-3:
        return None
    named = [lag for half in lags for lag in dict.fromkeys((half, (count - half) % count))]
    return z, named[:top_k]


class TimeLLM(models.TimeLLM):
    """With the constants of neuralforecast's as arguments. Its state is what is trained: neuralforecast saves none."""

    def __init__(self, h, input_size, llm=LLM, num_tokens=1024, dropout=0.1, attention_dropout=0.1, **arguments):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            super().__init__(h=h, input_size=input_size, llm=str((SEEN_FROM / llm).resolve()), dropout=dropout, **arguments)
        self.mapping_layer = torch.nn.Linear(self.vocab_size, num_tokens)
        self.reprogramming_layer.dropout.p = attention_dropout

    def forward(self, windows_batch):
        """Each window alone, as it is where its prompt is not filled up to that of another."""
        each = windows_batch["insample_y"].split(1)
        return torch.cat([super(TimeLLM, self).forward({"insample_y": y}) for y in each])

    def state_dict(self, *args, **kwargs):
        state = super().state_dict(*args, **kwargs)
        return {key: value for key, value in state.items() if not key.startswith("llm.") and key != "word_embeddings"}

    def windows(self, batch, random):
        """Windows of whole numbers, `[batch, input_size, 1]`, that are told in the same words."""
        found = []
        while len(found) < batch:
            y = torch.randint(-6, 7, (self.input_size,), generator=random).numpy().astype(np.float64)
            y[self.input_size // 2] -= y.sum() % self.input_size
            told = same_words(y, self.normalize_layers, self.top_k)
            if told and y[0] != y[-1] and self.calcute_lags(told[0])[0].tolist() == told[1]:
                found.append(torch.tensor(y, dtype=torch.float32)[:, None])
        return torch.stack(found)
