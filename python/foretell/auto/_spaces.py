"""Default search spaces: those of neuralforecast, model by model."""

from __future__ import annotations

from typing import Any

from foretell.tune import Domain, choice, loguniform, quniform, randint, uniform

Space = dict[str, Any]

_MULTIPLIERS = [1, 2, 3, 4, 5]
_LAYERS = randint(1, 4)
_STEPS, _MORE_STEPS = choice([500, 1000]), choice([500, 1000, 2000])
_HUNDREDS = quniform(500, 1500, 100)
_SCALERS = choice([None, "robust", "standard"])
_WITH_IDENTITY = choice([None, "robust", "standard", "identity"])
_WIDTHS, _SMALL_WIDTHS = choice([64, 128, 256]), choice([16, 32, 64, 128])
_LARGE_WIDTHS = choice([256, 512, 1024])
_ANY_WIDTHS = choice([64, 128, 256, 512])


def _space(own: Space, **training: Any) -> Space:
    """A space with what all have: the rate, the seed, and places for the horizon and the loss."""
    return {
        "h": None,
        **own,
        "learning_rate": loguniform(1e-4, 1e-1),
        "random_seed": randint(1, 20),
        "loss": None,
        **training,
    }


def _recurrent(**own: Domain) -> Space:
    """A space of a model that reads long histories, or whole series (-1)."""
    sizes = {"input_size_multiplier": [-1, 4, 16, 64], "inference_input_size_multiplier": [-1]}
    common = {"context_size": choice([5, 10, 50]), "encoder_hidden_size": _SMALL_WIDTHS, "decoder_hidden_size": _SMALL_WIDTHS}
    return _space({**sizes, **common, **own}, max_steps=_STEPS, batch_size=choice([16, 32]))


def _windowed(max_steps: Domain = _MORE_STEPS, multipliers: list[int] = _MULTIPLIERS, **own: Domain) -> Space:
    """A space of a univariate model that reads a few horizons."""
    training: Space = {
        "scaler_type": _SCALERS,
        "batch_size": choice([32, 64, 128, 256]),
        "windows_batch_size": choice([128, 256, 512, 1024]),
    }
    return _space({"input_size_multiplier": multipliers}, **{**training, "max_steps": max_steps, **own})


def _joint(max_steps: Domain = _MORE_STEPS, multipliers: list[int] = _MULTIPLIERS, **own: Domain) -> Space:
    """A space of a multivariate model."""
    space = _windowed(max_steps, multipliers, **own)
    del space["windows_batch_size"]
    return {"n_series": None, **space}


def _transformer() -> Space:
    return _windowed(hidden_size=_WIDTHS, n_head=choice([4, 8]))


SPACES: dict[str, Space] = {
    "RNN": _recurrent(encoder_n_layers=_LAYERS),
    "LSTM": _recurrent(encoder_n_layers=_LAYERS),
    "GRU": _recurrent(encoder_n_layers=_LAYERS),
    "TCN": _recurrent(decoder_hidden_size=choice([32, 64])),
    "DilatedRNN": _recurrent(
        cell_type=choice(["LSTM", "GRU"]), dilations=choice([[[1, 2], [4, 8]], [[1, 2, 4, 8]]])
    ),
    "DeepAR": _windowed(
        lstm_hidden_size=choice([32, 64, 128, 256]),
        lstm_n_layers=_LAYERS,
        lstm_dropout=uniform(0.0, 0.5),
        scaler_type=choice(["robust", "minmax1"]),
    ),
    "xLSTM": _windowed(
        encoder_hidden_size=choice([16, 32, 64, 128]),
        encoder_n_blocks=_LAYERS,
        encoder_dropout=uniform(0.0, 0.99),
        decoder_hidden_size=choice([16, 32, 64, 128]),
    ),
    "BiTCN": _windowed(hidden_size=choice([16, 32]), dropout=uniform(0.0, 0.99)),
    "MLP": _windowed(_STEPS, hidden_size=_LARGE_WIDTHS, num_layers=randint(2, 6)),
    "NBEATS": _windowed(_STEPS),
    "NBEATSx": _windowed(_STEPS),
    "NHITS": _windowed(
        _HUNDREDS,
        n_pool_kernel_size=choice([[2, 2, 1], [1, 1, 1], [2, 2, 2], [4, 4, 4], [8, 4, 1], [16, 8, 1]]),
        n_freq_downsample=choice([[168, 24, 1], [24, 12, 1], [180, 60, 1], [60, 8, 1], [40, 20, 1], [1, 1, 1]]),
    ),
    "DLinear": _windowed(_HUNDREDS, moving_avg_window=choice([11, 25, 51])),
    "NLinear": _windowed(_HUNDREDS),
    "TiDE": _windowed(
        _HUNDREDS,
        hidden_size=_LARGE_WIDTHS,
        decoder_output_dim=choice([8, 16, 32]),
        temporal_decoder_dim=choice([32, 64, 128]),
        num_encoder_layers=choice([1, 2, 3]),
        num_decoder_layers=choice([1, 2, 3]),
        temporal_width=choice([4, 8, 16]),
        dropout=choice([0.0, 0.1, 0.2, 0.3, 0.5]),
        layernorm=choice([True, False]),
        learning_rate=loguniform(1e-5, 1e-2),
    ),
    "DeepNPTS": _windowed(
        _HUNDREDS, hidden_size=choice([16, 32, 64]), dropout=uniform(0.0, 0.99), n_layers=choice([1, 2, 4])
    ),
    "KAN": _windowed(
        _HUNDREDS, grid_size=choice([5, 10, 15]), spline_order=choice([2, 3, 4]), hidden_size=_ANY_WIDTHS
    ),
    "TFT": _transformer(),
    "VanillaTransformer": _transformer(),
    "Informer": _transformer(),
    "Autoformer": _transformer(),
    "FEDformer": _windowed(hidden_size=_WIDTHS),
    "PatchTST": _windowed(
        choice([500, 1000, 5000]),
        [1, 2, 3],
        hidden_size=choice([16, 128, 256]),
        n_heads=choice([4, 16]),
        patch_len=choice([16, 24]),
        revin=choice([False, True]),
    ),
    "TimesNet": _windowed(
        hidden_size=choice([32, 64, 128]),
        conv_hidden_size=choice([32, 64, 128]),
        scaler_type=choice(["robust", "standard"]),
        batch_size=choice([32, 64, 128]),
        windows_batch_size=choice([32, 64, 128, 256]),
    ),
    "iTransformer": _joint(hidden_size=_WIDTHS, n_heads=choice([4, 8])),
    "TimeXer": _joint(hidden_size=choice([128, 256, 512]), n_heads=choice([4, 8])),
    "StemGNN": _joint(multipliers=[1, 2, 3, 4], n_stacks=choice([2]), multi_layer=choice([3, 5, 7])),
    **dict.fromkeys(
        ["TSMixer", "TSMixerx"],
        _joint(
            multipliers=[1, 2, 3, 4],
            n_block=choice([1, 2, 4, 6, 8]),
            ff_dim=choice([32, 64, 128]),
            dropout=uniform(0.0, 0.99),
            learning_rate=loguniform(1e-4, 1e-2),
            scaler_type=choice(["identity", "robust", "standard"]),
        ),
    ),
    "MLPMultivariate": _joint(_STEPS, hidden_size=_LARGE_WIDTHS, num_layers=randint(2, 6)),
    "SOFTS": _joint(hidden_size=_ANY_WIDTHS, d_core=_ANY_WIDTHS, scaler_type=_WITH_IDENTITY),
    "SOFTSSharp": _joint(
        hidden_size=_ANY_WIDTHS, d_core=_ANY_WIDTHS, pe_keep_prob=choice([0.25, 0.5, 0.75, 1.0]), scaler_type=_WITH_IDENTITY
    ),
    "TimeMixer": _joint(
        d_model=choice([16, 32, 64]),
        d_ff=choice([16, 32, 64]),
        down_sampling_layers=choice([1, 2]),
        scaler_type=_WITH_IDENTITY,
    ),
    "RMoK": _joint(
        taylor_order=choice([3, 4, 5]),
        jacobi_degree=choice([4, 5, 6]),
        wavelet_function=choice(["mexican_hat", "morlet", "dog", "meyer", "shannon"]),
        scaler_type=_WITH_IDENTITY,
    ),
    "XLinear": _joint(_STEPS, hidden_size=_WIDTHS, use_norm=choice([True, False])),
}


def default_space(space: Space, h: int, n_series: int | None = None) -> Space:
    """A model's default space for a horizon: sizes of the history as multiples of it, windows side by side or a horizon apart.

    ``n_series`` is filled in where the space has a place for it.
    """
    found = with_sizes(space, h)
    if "inference_input_size_multiplier" not in space:
        found["step_size"] = choice([1, h])
    if "n_series" in found:
        found["n_series"] = n_series
    return found


def with_sizes(space: Space, h: int) -> Space:
    """A space whose multiples of the horizon have become sizes; a size that it has already stays."""
    found = dict(space)
    for name in ("input_size", "inference_input_size"):
        multipliers = found.pop(f"{name}_multiplier", None)
        if multipliers is not None and name not in found:
            found[name] = choice([h * m for m in multipliers]) if isinstance(multipliers, (list, tuple)) else h * multipliers
    return found
