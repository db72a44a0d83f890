"""Forward and gradient fixtures: crates/models/tests/fixtures/<Model>.safetensors, all cases of a model in one file.

Each line of CASES is one case. It holds a model (all of its state dict), one batch of windows as `forward`
receives it, the raw output, the loss with its gradients, and the losses of ten steps of training on the batch. README.md says how the tensors are named.
For a model with dropout, give its arguments a rate of 0: the fixtures are computed in training mode.
"""

import json
import sys
from copy import deepcopy
from types import SimpleNamespace

import draws
import numpy as np
import torch
from common import canonical, fixtures, generator, one_thread
from lstm_attention import LSTMAttention
from neuralforecast._serialization import encode_value
from neuralforecast.losses.pytorch import (
    GMM,
    MAE,
    MSE,
    NBMM,
    PMM,
    RMSE,
    SMAPE,
    DistributionLoss,
    HuberIQLoss,
    HuberLoss,
    HuberMQLoss,
    HuberQLoss,
    IQLoss,
    MQLoss,
    QuantileLoss,
)
from neuralforecast.models import (
    GRU,
    KAN,
    LSTM,
    MLP,
    NBEATS,
    NHITS,
    RNN,
    SOFTS,
    TCN,
    TFT,
    Autoformer,
    BiTCN,
    DeepAR,
    DeepNPTS,
    DilatedRNN,
    DLinear,
    FEDformer,
    Informer,
    MLPMultivariate,
    NBEATSx,
    NLinear,
    SOFTSSharp,
    PatchTST,
    RMoK,
    StemGNN,
    TiDE,
    TimeMixer,
    TimesNet,
    TimeXer,
    TSMixer,
    TSMixerx,
    VanillaTransformer,
    XLinear,
    iTransformer,
    xLSTM,
)
from neuralforecast.models import timemixer
from neuralforecast.models.dilated_rnn import AttentiveLSTMLayer
from neuralforecast.models.timemixer import DFT_series_decomp
from ops import DISTRIBUTIONS, MIXTURES
from rlinear import RLinear
from safetensors.torch import save
from time_llm import LLM, TimeLLM
from xlstm.blocks.slstm import cell as slstm_cell
from xlstm.blocks.slstm.src.vanilla import slstm_forward, slstm_pointwise_function_registry

HIST = dict(hist_exog_list=["x1", "x2"])
FUTR = dict(futr_exog_list=["f1", "f2"])
STAT = dict(stat_exog_list=["s1", "s2", "s3"])
EXOG = HIST | FUTR | STAT
CARDINALITIES = dict(x1=2, x2=7, f1=5, f2=3, s1=1, s3=4)
CATEGORICAL = [  # for models that embed columns: one of each kind, in another order than they are listed; several and whole kinds
    ("categorical", EXOG | dict(cat_exog_list=["s3", "f1", "x2"], categorical_cardinalities=CARDINALITIES)),
    ("categorical-all", EXOG | dict(cat_exog_list=["x2", "f2", "s1", "x1", "s3", "f1"], categorical_cardinalities=CARDINALITIES, cat_emb_dim="half")),
    ("categorical-hist", HIST | dict(cat_exog_list=["x1"], categorical_cardinalities=CARDINALITIES, cat_emb_dim=4)),
]

# What a case may ask of its windows, beside the model's arguments.
HOLES = dict(holes=True)  # insample_mask with zeros (it is all ones otherwise)
ONE = dict(batch=1)  # a batch of one window (three otherwise)
CALM = dict(noise=0.05)  # weights nearer to the initial ones (0.3 otherwise), where steep functions would make much of rounding errors
CALMER = dict(noise=0.02)
VANISHING = dict(vanishing=True)  # gradients that are 0 but for rounding are written as 0
RESIDUES = dict(residues=True)  # gradients that are 0 but for rounding are not written, and their parameters not trained

# Losses: the shape of the output and of the loss depends on them.
LOSSES = dict(
    mae=dict(loss=MAE()),
    mse=dict(loss=MSE()),
    huber=dict(loss=HuberLoss(delta=0.5)),
    quantile=dict(loss=QuantileLoss(q=0.3)),
    mq=dict(loss=MQLoss(level=[80])),
    mq5=dict(loss=MQLoss(quantiles=[0.1, 0.25, 0.5, 0.75, 0.9])),
)
# What losses ask of a model. NHITS and the smallest models have all of them.
OUTPUTS = {name: LOSSES[name] for name in ("mae", "mse", "mq")}


def distribution(name):
    """A loss of its own for each case: once used, it cannot be copied."""
    return dict(loss=DistributionLoss(name, **DISTRIBUTIONS[name][0]))


# The other losses, for one model: what they ask of a model is one of the above, or a number of outputs.
FURTHER_LOSSES = dict(
    rmse=dict(loss=RMSE()),
    smape=dict(loss=SMAPE(), noise=0.5),
    huberq=dict(loss=HuberQLoss(q=0.3)),
    hubermq=dict(loss=HuberMQLoss(level=[80], delta=0.5)),
    gmm=dict(loss=GMM(n_components=2, weighted=True)),
    pmm=dict(loss=PMM(n_components=2)),
    nbmm=dict(loss=NBMM(n_components=2)),
    iq=dict(loss=IQLoss(cos_embedding_dim=6)),
    huberiq=dict(loss=HuberIQLoss(cos_embedding_dim=5, delta=0.5)),
) | {name.lower(): distribution(name) for name in DISTRIBUTIONS if " " not in name}

# What makes a target of standard normal numbers.
TARGETS = {name: target_of for name, (_, target_of, _) in DISTRIBUTIONS.items()} | {c.__name__: target_of for c, _, target_of, _ in MIXTURES}

# Every NHITS case starts from this: three stacks of one block, as its defaults, but with few units.
NHITS_SMALL = dict(h=4, input_size=12, mlp_units=[[6, 6], [6, 6]])
NHITS_CASES = [
    ("default", {}),
    ("mlp3", dict(mlp_units=[[8, 5], [5, 7], [7, 6]])),
    ("mlp1", dict(mlp_units=[[8, 8]])),
    ("h1", dict(h=1)),
    ("h7-odd", dict(h=7, input_size=11, n_pool_kernel_size=[4, 3, 2])),
    ("h12", dict(h=12, input_size=15, n_freq_downsample=[6, 4, 1], n_pool_kernel_size=[8, 4, 1])),
    ("one-stack", dict(stack_types=["identity"], n_blocks=[1], n_pool_kernel_size=[3], n_freq_downsample=[2])),
    ("many-blocks", dict(stack_types=["identity"] * 2, n_blocks=[3, 2], n_pool_kernel_size=[4, 1], n_freq_downsample=[2, 1])),
    ("holes", HOLES),
    ("avg-pool", dict(pooling_mode="AvgPool1d")),
    ("avg-pool-odd", dict(pooling_mode="AvgPool1d", input_size=11, n_pool_kernel_size=[4, 3, 2], **EXOG)),
    ("nearest", dict(interpolation_mode="nearest", h=7, n_freq_downsample=[3, 2, 1])),
    ("linear", dict(interpolation_mode="linear", h=7, n_freq_downsample=[3, 2, 1])),
    ("cubic", dict(interpolation_mode="cubic", h=7, n_freq_downsample=[3, 2, 1])),
    ("relu", dict(activation="ReLU")),
    ("softplus", dict(activation="Softplus")),
    ("tanh", dict(activation="Tanh")),
    ("selu", dict(activation="SELU")),
    ("leaky-relu", dict(activation="LeakyReLU")),
    ("prelu", dict(activation="PReLU")),
    ("sigmoid", dict(activation="Sigmoid")),
    ("exog", EXOG),
    ("exog-odd", dict(input_size=11, n_pool_kernel_size=[4, 3, 2], **EXOG, **HOLES)),
    ("futr", FUTR),
    ("hist", HIST),
    ("stat", STAT),
    ("exog-mq", EXOG | LOSSES["mq"]),
    ("nearest-mq", dict(interpolation_mode="nearest", h=6, n_freq_downsample=[3, 2, 1]) | LOSSES["mq"]),
    ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
    *CATEGORICAL,
    *LOSSES.items(),
]

# Every NBEATS and NBEATSx case: one block of each kind, as their defaults, but with few units.
NBEATS_SMALL = dict(h=4, input_size=12, mlp_units=[[6, 6], [6, 6]])
NBEATS_CASES = [
    ("default", {}),
    *[(stack, dict(stack_types=[stack], n_blocks=[2], h=7)) for stack in ("identity", "trend", "seasonality")],
    ("stacks", dict(stack_types=["trend", "seasonality", "trend"], n_blocks=[2, 1, 1], mlp_units=[[8, 5], [5, 7], [7, 6]])),
    ("shared-weights", dict(n_blocks=[2, 3, 2], shared_weights=True, activation="PReLU")),
    ("harmonics1", dict(n_harmonics=1, h=7)),
    ("harmonics3", dict(n_harmonics=3, h=5)),
    ("identity-h1", dict(h=1, stack_types=["identity"], n_blocks=[2])),
    ("holes", HOLES),
    ("one-window", ONE),
    ("tanh", dict(activation="Tanh")),
    *OUTPUTS.items(),
]
NBEATS_BASES = [
    (f"{basis.replace('_', '-')}-{n_basis}", dict(basis=basis, n_basis=n_basis, h=7, stack_types=["trend"], n_blocks=[2]))
    for basis, counts in dict(
        polynomial=(0, 4), legendre=(3, 6), chebyshev=(3, 6), changepoint=(1, 5), piecewise_linear=(1, 5), linear_hat=(1, 5), spline=(3, 7)
    ).items()
    for n_basis in counts
]
EXOGENOUS = dict(stack_types=["exogenous", "identity", "exogenous"])
NBEATSX_CASES = [
    ("polynomials4", dict(n_polynomials=4)),
    ("exog", EXOG),
    ("futr", FUTR),
    ("hist", HIST),
    ("stat", STAT),
    ("exog-mq", EXOG | LOSSES["mq"]),
    ("exogenous", EXOG | EXOGENOUS | HOLES),
    ("exogenous-futr", FUTR | EXOGENOUS),
    ("exogenous-stat", STAT | EXOGENOUS),
    ("exogenous-mq", EXOG | EXOGENOUS | LOSSES["mq"]),
    ("exogenous-shared", EXOG | dict(stack_types=["exogenous", "trend"], n_blocks=[2, 2], shared_weights=True)),
    ("exogenous-h1", FUTR | dict(stack_types=["exogenous", "identity"], n_blocks=[1, 1], h=1)),
    ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
    *CATEGORICAL,
    *[(f"exogenous-{case}", arguments | EXOGENOUS) for case, arguments in CATEGORICAL if case != "categorical-hist"],
]

# RNN, LSTM and GRU share their cases, with few units and two layers.
RECURRENT_SMALL = dict(h=4, input_size=7, encoder_hidden_size=5, decoder_hidden_size=6)
RECURRENT = dict(recurrent=True)
RECURRENT_CASES = [
    ("default", {}),
    ("one-layer", dict(encoder_n_layers=1)),
    ("three-layers", dict(encoder_n_layers=3)),
    ("no-bias", dict(encoder_bias=False)),
    ("h1", dict(h=1)),
    ("h-longer", dict(h=9, **EXOG) | LOSSES["mse"]),  # states are stretched over time
    ("one-window", ONE),
    ("exog", EXOG),
    ("futr", FUTR),
    ("hist", HIST),
    ("stat", STAT),
    ("exog-mq", EXOG | LOSSES["mq"]),
    ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
    ("decoder1", dict(decoder_layers=1, **FUTR)),
    ("decoder3", dict(decoder_layers=3, decoder_activation="Tanh")),
    ("decoder-prelu", dict(decoder_layers=3, decoder_activation="PReLU")),
    ("decoder-gelu", dict(decoder_activation="GELU")),
    ("recurrent", RECURRENT),
    ("recurrent-one-layer", dict(encoder_n_layers=1, h_train=2, **RECURRENT)),
    ("recurrent-exog", dict(h_train=3, **EXOG, **RECURRENT)),
    ("recurrent-futr", dict(h_train=4, **FUTR, **RECURRENT)),
    ("recurrent-no-bias", dict(encoder_bias=False, **RECURRENT)),
    ("recurrent-iq", dict(h_train=2, **RECURRENT) | FURTHER_LOSSES["iq"]),
    ("recurrent-mq", dict(h_train=2, **RECURRENT) | EXOG | LOSSES["mq"]),
    ("recurrent-exclude-insample-y", dict(exclude_insample_y=True, h_train=2, **EXOG, **RECURRENT)),
    *CATEGORICAL,
    *[(f"recurrent-{case}", dict(h_train=3, **arguments, **RECURRENT)) for case, arguments in CATEGORICAL[:1]],
    *OUTPUTS.items(),
]

# TCN and DilatedRNN have the same decoder.
CONTEXT_CASES = [
    ("default", {}),
    ("h1", dict(h=1)),
    ("h-longer", dict(h=11, **EXOG) | LOSSES["mse"]),
    ("one-window", ONE),
    ("exog", EXOG),
    ("futr", FUTR),
    ("hist", HIST),
    ("stat", STAT),
    ("exog-mq", EXOG | LOSSES["mq"]),
    ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
    ("decoder1", dict(decoder_layers=1, **FUTR)),
    ("decoder3", dict(decoder_layers=3, decoder_activation="Tanh")),
    ("decoder-prelu", dict(decoder_layers=3, decoder_activation="PReLU")),
    ("unused", dict(inference_input_size=3, context_size=2) | LOSSES["mse"]),
    *CATEGORICAL,
    *OUTPUTS.items(),
]
# An activation that does something else in training than in inference.
DRAWN_SLOPES = "RReLU"
# All of neuralforecast's but GLU and Threshold, with which no model runs, ReLU, its default, and RReLU, whose draws would come in the order
# of channels before steps; decoders have it.
ENCODER_ACTIVATIONS = ["Tanh", "GELU", "SELU", "LeakyReLU", "PReLU", "Sigmoid", "Softplus", "Identity", "ELU", "CELU", "SiLU", "Mish"]
ENCODER_ACTIVATIONS += ["Softsign", "Hardshrink", "Softshrink", "LogSigmoid", "Hardtanh", "Hardswish"]
TCN_CASES = [
    ("kernel3", dict(kernel_size=3, dilations=[1, 2, 3])),
    ("one-layer", dict(dilations=[2])),
    ("same-dilations", dict(dilations=[3, 3, 1])),
    ("beyond-the-window", dict(kernel_size=4, dilations=[4, 16, 40], **EXOG)),
    *[(name.lower(), dict(encoder_activation=name)) for name in ENCODER_ACTIVATIONS],
    ("decoder-rrelu", dict(decoder_activation=DRAWN_SLOPES, decoder_layers=3) | ONE),
    ("decoder-hardshrink", dict(decoder_activation="Hardshrink")),
    ("negativebinomial", distribution("NegativeBinomial")),
    ("prelu-mq", dict(encoder_activation="PReLU", **EXOG) | LOSSES["mq"]),
]
DILATED_RNN_CASES = [  # the history of 10 steps is no multiple of 4 and 8
    ("one-group", dict(dilations=[[1, 2, 4]])),
    ("three-groups", dict(dilations=[[3], [1, 7], [2]], **EXOG)),
    ("beyond-the-window", dict(dilations=[[16], [11, 10]], **FUTR)),
    *[
        (f"{cell.lower()}-{name}", dict(cell_type=cell, **arguments))
        for cell in ("RNN", "GRU", "LSTM", "ResLSTM", "AttentiveLSTM")
        for name, arguments in dict(
            # Not MAE, whose signs cancel here: Adam makes much of what rounding leaves of a gradient of 0.
            groups=dict(dilations=[[1, 2], [4, 8]]) | LOSSES["mse"],
            exog=dict(dilations=[[3, 1], [4]], **EXOG) | LOSSES["mq"],
            rate1=dict(dilations=[[1]], input_size=7) | LOSSES["mse"],
            categorical=dict(dilations=[[2], [3]]) | CATEGORICAL[0][1],
            studentt=dict(dilations=[[1, 2]]) | distribution("StudentT"),
        ).items()
    ],
    # As many inputs as units: the first ResLSTM adds its input as it is.
    ("reslstm-square", dict(cell_type="ResLSTM", encoder_hidden_size=4, dilations=[[2, 1]], **STAT)),
]

# Multivariate models whose outputs stand series by series; of the others they stand output by output.
SERIES_FIRST = (MLPMultivariate, TimeMixer)

# Of an encoder and a decoder that makes the horizon at once.
TRANSFORMER_CASES = [
    ("default", {}),
    ("h1", dict(h=1)),
    ("h-longer", dict(h=9)),
    ("one-window", ONE),
    ("futr", FUTR),
    ("relu", dict(activation="relu", **FUTR)),
    ("seen-little", dict(decoder_input_size_multiplier=0.1)),
    ("seen-much", dict(decoder_input_size_multiplier=0.8, **FUTR)),
    ("layers", dict(encoder_layers=1, decoder_layers=2, conv_hidden_size=7)),
    ("no-layers", dict(encoder_layers=0, decoder_layers=0)),
    ("heads-leave-a-rest", dict(hidden_size=10, n_head=4)),
    ("futr-mq", FUTR | LOSSES["mq"]),
    ("exclude-insample-y", dict(exclude_insample_y=True, **FUTR)),
    ("categorical", FUTR | dict(cat_exog_list=["f1"], categorical_cardinalities=CARDINALITIES)),
    ("categorical-all", FUTR | dict(cat_exog_list=["f2", "f1"], categorical_cardinalities=CARDINALITIES, cat_emb_dim="half")),
    ("studentt", distribution("StudentT")),
    *OUTPUTS.items(),
]

# Losses with several outputs of several series, and a distribution.
MULTIVARIATE_LOSSES = OUTPUTS | dict(studentt=dict(loss=DistributionLoss("StudentT")), normal=dict(loss=DistributionLoss("Normal")))

# Every SOFTS and SOFTSSharp case.
STAR_SMALL = dict(h=4, input_size=6, n_series=3, hidden_size=8, d_core=6, d_ff=10, dropout=0.0)
STAR_CASES = [
    ("default", {}),
    ("no-norm", dict(use_norm=False)),
    ("no-layers", dict(e_layers=0)),
    ("one-layer", dict(e_layers=1, d_ff=0)),
    ("three-layers", dict(e_layers=3, hidden_size=6, d_core=9)),
    ("h1", dict(h=1)),
    ("one-series", dict(n_series=1)),
    ("many-series", dict(n_series=11, d_core=70)),
    ("one-window", ONE),
    ("no-norm-mq", dict(use_norm=False) | LOSSES["mq"]),
    *MULTIVARIATE_LOSSES.items(),
]

# Models that do something else in training than in inference.
TWOFOLD = (SOFTS, SOFTSSharp, Informer, Autoformer)

# Every Autoformer and FEDformer case: 10 steps of history, 5 + 4 of the decoder.
DECOMPOSED_SMALL = dict(h=4, input_size=10, hidden_size=8, conv_hidden_size=6, MovingAvg_window=5, dropout=0.0)
FUTR_CATEGORICAL = dict(cat_exog_list=["f2"], categorical_cardinalities=dict(f1=5, f2=3))
DECOMPOSED_CASES = [
    ("default", {}),
    ("odd", dict(input_size=9, h=3)),
    ("relu", dict(activation="relu", conv_hidden_size=3)),
    ("encoder1-decoder2", dict(encoder_layers=1, decoder_layers=2)),
    ("no-encoder", dict(encoder_layers=0)),
    ("average3", dict(MovingAvg_window=3)),
    ("average25", dict(MovingAvg_window=25)),
    ("h1", dict(h=1)),
    ("one-window", ONE),
    ("many-windows", dict(batch=9)),
    ("futr", FUTR),
    ("futr-decoder2", dict(decoder_layers=2, **FUTR)),
    ("futr-mq", FUTR | LOSSES["mq"]),
    ("categorical", FUTR | FUTR_CATEGORICAL),
    ("categorical-all", FUTR | FUTR_CATEGORICAL | dict(cat_exog_list=["f2", "f1"], cat_emb_dim=4) | CALM),
    ("exclude-insample-y", dict(exclude_insample_y=True, **FUTR)),
    ("studentt", distribution("StudentT")),
    ("normal", FUTR | distribution("Normal")),
    *OUTPUTS.items(),
]

# Model class -> (arguments of every case, [(case, further arguments)]). A later model is one entry.
CASES = {
    NLinear: (
        dict(h=4, input_size=12),
        [
            ("default", {}),
            ("h1", dict(h=1)),
            ("one-window", dict(h=7, input_size=24) | ONE),
            ("holes", HOLES),
            *LOSSES.items(),
        ],
    ),
    RLinear: (
        dict(h=3, input_size=6),
        [
            ("default", {}),
            ("not-affine", dict(revin_affine=False)),
            ("subtract-last", dict(revin_subtract_last=True)),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            *LOSSES.items(),
            ("studentt", distribution("StudentT")),
        ],
    ),
    DLinear: (
        dict(h=4, input_size=12),
        [
            ("default", {}),  # moving_avg_window 25: wider than the input
            ("window1", dict(moving_avg_window=1)),
            ("window5", dict(moving_avg_window=5)),
            ("window11", dict(moving_avg_window=11, h=7, input_size=24)),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            *LOSSES.items(),
        ],
    ),
    MLP: (
        dict(h=4, input_size=12, hidden_size=8),
        [
            ("default", {}),
            ("layers1", dict(num_layers=1)),
            ("layers3", dict(num_layers=3)),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            ("exog", EXOG),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
            *CATEGORICAL,
            *[(f"{case}-sqrt", arguments | dict(cat_emb_dim="sqrt")) for case, arguments in CATEGORICAL[:1]],
            *(LOSSES | FURTHER_LOSSES).items(),
        ],
    ),
    NBEATS: (NBEATS_SMALL, NBEATS_CASES + NBEATS_BASES + [("legendre-mq", dict(basis="legendre", n_basis=3) | LOSSES["mq"])]),
    NBEATSx: (NBEATS_SMALL, NBEATS_CASES + NBEATSX_CASES),
    NHITS: (NHITS_SMALL, NHITS_CASES),
    TiDE: (
        dict(h=4, input_size=12, hidden_size=6, decoder_output_dim=3, temporal_decoder_dim=5, dropout=0.0, layernorm=False),
        [
            ("default", {}),
            ("layernorm", dict(layernorm=True) | VANISHING),  # over one number
            ("layernorm-mq5", dict(layernorm=True) | EXOG | LOSSES["mq5"]),
            ("layernorm-futr-mq", dict(layernorm=True, num_encoder_layers=2, num_decoder_layers=2) | FUTR | LOSSES["mq"]),
            ("encoder3", dict(num_encoder_layers=3, **EXOG)),
            ("decoder3", dict(num_decoder_layers=3, decoder_output_dim=4, **FUTR)),
            ("h1", dict(h=1, **EXOG)),
            ("one-window", EXOG | ONE),
            ("exog", EXOG),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("width1", dict(temporal_width=1, **EXOG)),
            ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
            *CATEGORICAL,
            *[(f"layernorm-{case}", dict(layernorm=True, **arguments) | LOSSES["mq"]) for case, arguments in CATEGORICAL],
            *OUTPUTS.items(),
            *[(f"layernorm-{name.lower()}", dict(layernorm=True) | distribution(name)) for name in ("StudentT",)],
            *[(name.lower(), EXOG | distribution(name)) for name in ("StudentT", "NegativeBinomial", "Poisson")],
        ],
    ),
    DeepNPTS: (
        # This many windows that no unit is active in all of them: batch normalisation leaves its bias a gradient of rounding errors.
        dict(h=3, input_size=6, hidden_size=7, dropout=0.0, batch=40),
        [
            ("default", {}),
            ("no-batch-norm", dict(batch_norm=False)),
            ("layers1", dict(n_layers=1)),
            ("layers3", dict(n_layers=3, **EXOG)),
            ("layers3-no-batch-norm", dict(n_layers=3, batch_norm=False, **EXOG)),
            ("h1", dict(h=1, **EXOG)),
            ("one-window", EXOG | dict(batch_norm=False) | ONE),
            ("exog", EXOG),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("exog-no-batch-norm", dict(batch_norm=False, **EXOG)),
            *CATEGORICAL,
            *[(loss, arguments) for loss, arguments in LOSSES.items() if not loss.startswith("mq")],
            *[(loss, EXOG | FURTHER_LOSSES[loss]) for loss in ("rmse", "smape", "huberq")],
            *[(name.lower(), EXOG | distribution(name)) for name in ("Poisson", "Bernoulli")],
        ],
    ),
    KAN: (
        dict(h=3, input_size=5, hidden_size=3),
        [
            ("default", {}),
            ("grid3", dict(grid_size=3, grid_range=[-2, 3])),
            ("grid1-order1", dict(grid_size=1, spline_order=1) | LOSSES["mse"]),
            ("order2", dict(spline_order=2)),
            ("no-hidden-layers", dict(n_hidden_layers=0)),
            ("widths", dict(n_hidden_layers=2, hidden_size=[2, 4])),
            ("scales", dict(scale_noise=1.0, scale_base=0.5, scale_spline=2.0, enable_standalone_scale_spline=False)),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            ("exog", EXOG),
            ("futr", FUTR),
            ("exog-mq", dict(hidden_size=2) | EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, **HIST)),
            *CATEGORICAL[:1],
            ("mse", LOSSES["mse"]),
            ("studentt", distribution("StudentT")),
        ],
    ),
    MLPMultivariate: (
        dict(h=4, input_size=6, n_series=3, hidden_size=8),
        [
            ("default", {}),
            ("layers1", dict(num_layers=1)),
            ("h1", dict(h=1)),
            ("one-series", dict(n_series=1, **EXOG)),
            ("one-window", ONE),
            ("exog", EXOG),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
            *CATEGORICAL,
            ("iq", FURTHER_LOSSES["iq"]),
            ("gmm", FURTHER_LOSSES["gmm"]),
            *MULTIVARIATE_LOSSES.items(),
        ],
    ),
    # Batch normalisation: no case of one window.
    TSMixer: (
        dict(h=4, input_size=6, n_series=3, ff_dim=5, dropout=0.0),
        [
            ("default", {}),
            ("many-windows", dict(batch=9)),
            ("no-revin", dict(revin=False)),
            ("no-blocks", dict(n_block=0)),
            ("one-block", dict(n_block=1)),
            ("three-blocks", dict(n_block=3, batch=5)),
            ("h1", dict(h=1)),
            ("one-series", dict(n_series=1)),
            ("no-revin-mq", dict(revin=False) | LOSSES["mq"]),
            *MULTIVARIATE_LOSSES.items(),
        ],
    ),
    TSMixerx: (
        dict(h=4, input_size=6, n_series=3, ff_dim=5),
        [
            ("default", {}),
            ("no-revin", dict(revin=False)),
            ("no-blocks", dict(n_block=0, **STAT)),
            ("three-blocks", dict(n_block=3, **FUTR)),
            ("h1", dict(h=1, ff_dim=9, **EXOG)),
            ("ff-as-series", dict(ff_dim=3)),  # residuals are not projected where the sizes are the same
            ("ff-as-exog", dict(ff_dim=6, **FUTR)),
            ("ff-as-stat", dict(ff_dim=9, **STAT)),
            ("one-series", dict(n_series=1, **EXOG)),
            ("one-window", ONE),
            ("exog", EXOG),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("exog-no-revin", dict(revin=False, **EXOG)),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
            *CATEGORICAL,
            *MULTIVARIATE_LOSSES.items(),
        ],
    ),
    # Batch normalisation: no case of one window.
    RMoK: (
        dict(h=3, input_size=5, n_series=2, dropout=0.0, batch=4),
        [
            ("default", {}),
            *[(name, dict(wavelet_function=name)) for name in ("morlet", "dog", "meyer", "shannon")],
            ("shannon-one-step", dict(wavelet_function="shannon", input_size=2)),
            ("not-affine", dict(revin_affine=False)),
            ("taylor1-jacobi0", dict(taylor_order=1, jacobi_degree=0)),
            ("taylor5-jacobi1", dict(taylor_order=5, jacobi_degree=1)),
            ("h1", dict(h=1)),
            ("one-series", dict(n_series=1)),
            ("mq", LOSSES["mq"]),
            ("mse", LOSSES["mse"]),
            ("studentt", MULTIVARIATE_LOSSES["studentt"]),
        ],
    ),
    StemGNN: (
        dict(h=2, input_size=1, n_series=2, multi_layer=1, dropout_rate=0.0) | RESIDUES,
        [
            ("default", dict(input_size=2)),
            ("units", dict(multi_layer=2)),
            ("leaky", dict(leaky_rate=-0.5)),
            ("h1", dict(h=1)),
            ("three-series", dict(input_size=2, n_series=3)),
            ("one-window", ONE),
            ("many-windows", dict(batch=9, n_series=4)),
            ("mq", dict(input_size=2) | LOSSES["mq"]),
            ("mse", LOSSES["mse"]),
            ("studentt", MULTIVARIATE_LOSSES["studentt"] | CALM),
        ],
    ),
    TimeMixer: (
        dict(h=3, input_size=8, n_series=2, d_model=4, d_ff=3, e_layers=2, moving_avg=3, dropout=0.0),
        [
            ("default", {}),
            ("one-window", ONE),
            ("many-windows", dict(batch=5, e_layers=1)),
            ("h1", dict(h=1)),
            ("one-series", dict(n_series=1, loss=MSE())),
            ("no-layers", dict(e_layers=0)),
            ("no-norm", dict(use_norm=False)),
            ("average25", dict(moving_avg=25, e_layers=1)),
            ("scales", dict(down_sampling_layers=2, e_layers=1)),
            ("window4", dict(down_sampling_window=4, e_layers=1)),
            ("max", dict(down_sampling_method="max", e_layers=1)),
            ("conv", dict(down_sampling_method="conv", e_layers=1)),
            ("conv-scales", dict(down_sampling_method="conv", down_sampling_layers=2, e_layers=1, n_series=3)),
            ("dft", dict(decomp_method="dft_decomp", top_k=2)),
            ("independent", dict(channel_independence=1)),
            ("independent-no-norm", dict(channel_independence=1, use_norm=False, down_sampling_layers=2, e_layers=1)),
            ("mq", dict(e_layers=1) | LOSSES["mq"]),
            ("independent-mq", dict(channel_independence=1, e_layers=1) | LOSSES["mq"]),
            ("mse", LOSSES["mse"]),
            ("studentt", dict(e_layers=1) | MULTIVARIATE_LOSSES["studentt"]),
            ("gmm", dict(e_layers=1) | FURTHER_LOSSES["gmm"]),
        ],
    ),
    XLinear: (
        dict(h=3, input_size=5, n_series=3, hidden_size=3, temporal_ff=4, channel_ff=6),
        [
            ("default", {}),
            ("no-norm", dict(use_norm=False)),
            ("h1", dict(h=1, **EXOG)),
            ("one-series", dict(n_series=1, **EXOG)),
            ("one-window", ONE),
            ("channels-leave-a-rest", dict(channel_ff=4)),
            ("exog", EXOG),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, use_norm=False, **EXOG)),
            *CATEGORICAL[:1],
            ("mse", LOSSES["mse"]),
            ("studentt", MULTIVARIATE_LOSSES["studentt"]),
        ],
    ),
    SOFTS: (STAR_SMALL, STAR_CASES),
    Autoformer: (
        DECOMPOSED_SMALL | dict(n_head=2),
        DECOMPOSED_CASES
        + [
            ("heads3", dict(n_head=3)),  # of 2 numbers each: 6 of the 8
            ("factor1", dict(factor=1, input_size=12)),
            ("short-decoder", dict(decoder_input_size_multiplier=0.2) | CALM),
            ("long-decoder", dict(decoder_input_size_multiplier=0.8, h=7)),
        ],
    ),
    SOFTSSharp: (
        STAR_SMALL,
        STAR_CASES
        + [
            ("always-placed", dict(pe_keep_prob=1.0)),
            ("never-placed", dict(pe_keep_prob=0.0)),
            ("mostly-placed", dict(pe_keep_prob=0.9, e_layers=3, n_series=5)),
        ],
    ),
    FEDformer: (
        # The complex tangent has poles, about which a change of weights by 3e-7 changes gradients by up to 4e-4.
        # It has 8 heads, of two numbers each in the first cases and where that keeps off the poles, else of one.
        DECOMPOSED_SMALL | CALM,
        [
            (
                case,
                (dict(hidden_size=16) if case in ("default", "odd", "encoder1-decoder2", "categorical") else {})
                | arguments
                | (CALMER if case in ("encoder1-decoder2", "futr-decoder2", "futr-mq", "studentt") else {}),
            )
            for case, arguments in DECOMPOSED_CASES
        ]
        + [
            ("few-modes", dict(hidden_size=16, modes=2) | CALMER),
            ("lowest-modes", dict(hidden_size=16, modes=3, mode_select="lowest")),
            ("hidden18", dict(hidden_size=18)),  # 8 heads of 2 numbers: 16 of the 18
            ("short-decoder", dict(decoder_input_size_multiplier=0.4, modes=2, h=6) | CALMER),
            ("long-decoder", dict(decoder_input_size_multiplier=0.8, h=7)),
        ],
    ),
    VanillaTransformer: (
        dict(h=4, input_size=7, hidden_size=8, n_head=2, conv_hidden_size=6, dropout=0.0),
        TRANSFORMER_CASES,
    ),
    Informer: (
        # 9 of 12 queries read, and, behind a distilling layer, 6 of 7. Batch normalisation takes away what a convolution's bias adds.
        dict(h=4, input_size=12, hidden_size=8, n_head=2, conv_hidden_size=6, dropout=0.0) | RESIDUES,
        [(case, arguments | (dict(distil=False) if case == "no-layers" else {})) for case, arguments in TRANSFORMER_CASES]
        + [
            ("many-windows", dict(batch=9)),
            ("factor1", dict(factor=1, **FUTR)),
            ("factor1-long", dict(factor=1, input_size=40, decoder_layers=2)),
            ("factor2", dict(factor=2, n_head=4)),
            ("all-read", dict(factor=9)),
            ("not-distilled", dict(distil=False)),
            ("not-distilled-mq", dict(distil=False, factor=1, **FUTR) | LOSSES["mq"]),
            ("three-layers", dict(encoder_layers=3, factor=1)),
            ("one-head-one-window", dict(n_head=1, factor=1) | ONE),  # of several, a head alone reads where one of any window does
            ("two-steps", dict(input_size=2, h=1)),
        ],
    ),
    PatchTST: (
        # Batch normalisation takes away what the biases before it add, and without dropout all of it.
        dict(h=4, input_size=12, hidden_size=8, n_heads=2, linear_hidden_size=6, dropout=0.0, patch_len=4, stride=2) | RESIDUES,
        [
            ("default", {}),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            ("many-windows", dict(batch=9)),
            ("long-patches", dict(patch_len=16, stride=8)),
            ("strides-leave-a-rest", dict(input_size=11, patch_len=3, stride=4)),
            ("strides-beyond-patches", dict(input_size=15, patch_len=2, stride=5)),
            ("one-layer", dict(encoder_layers=1)),
            ("no-layers", dict(encoder_layers=0)),
            ("one-head", dict(n_heads=1)),
            ("no-residual-scores", dict(res_attention=False)),
            ("norm-first", dict(batch_normalization=True)),
            ("norm-first-no-residual-scores", dict(batch_normalization=True, res_attention=False, encoder_layers=2)),
            ("relu", dict(activation="relu", encoder_layers=1) | LOSSES["mse"]),
            ("places-not-learned", dict(learn_pos_embed=False)),
            ("no-revin", dict(revin=False)),
            ("revin-affine", dict(revin_affine=True)),
            ("revin-affine-mean", dict(revin_affine=True, revin_subtract_last=False) | LOSSES["mq"]),
            ("revin-mean", dict(revin_subtract_last=False)),
            ("unused", dict(fc_dropout=0.5)),
            ("studentt", distribution("StudentT")),
            ("poisson", distribution("Poisson")),
            *OUTPUTS.items(),
        ],
    ),
    TimesNet: (
        dict(h=3, input_size=6, hidden_size=6, conv_hidden_size=2, top_k=2, num_kernels=2, encoder_layers=1, dropout=0.0),
        [
            ("default", {}),
            ("layers", dict(encoder_layers=2) | LOSSES["mse"]),
            ("wider", dict(hidden_size=8, conv_hidden_size=3)),
            ("one-kernel", dict(num_kernels=1)),
            ("many-kernels", dict(num_kernels=4)),
            ("all-periods", dict(top_k=4)),
            ("long", dict(input_size=14, h=5, top_k=3)),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            ("futr", FUTR),
            ("futr-mq", FUTR | LOSSES["mq"]),
            ("categorical", FUTR | FUTR_CATEGORICAL),
            ("exclude-insample-y", dict(exclude_insample_y=True, **FUTR)),
            ("mse", LOSSES["mse"]),
            ("studentt", distribution("StudentT")),
        ],
    ),
    TimeLLM: (
        dict(
            h=4, input_size=12, llm=LLM, d_llm=32, d_ff=6, d_model=8, n_heads=2, patch_len=4, stride=2, num_tokens=5, dropout=0.0,
            attention_dropout=0.0,
        ),
        [
            ("default", {}),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            ("many-windows", dict(batch=9)),
            ("odd-input-size", dict(input_size=13)),
            ("long-window", dict(input_size=48, patch_len=16, stride=8)),
            ("strides-leave-a-rest", dict(input_size=11, patch_len=3, stride=4)),
            ("strides-beyond-patches", dict(input_size=15, patch_len=2, stride=5)),
            ("one-patch", dict(patch_len=14)),
            ("prefix", dict(prompt_prefix="The hourly load of a town. ", **CALM)),
            ("few-lags", dict(top_k=1)),
            ("many-lags", dict(input_size=24, top_k=7)),
            ("wide", dict(d_ff=32, n_heads=3)),
            ("one-head", dict(n_heads=1, d_model=5)),
            ("prototypes", dict(num_tokens=40)),
            ("unused", dict(enc_in=3, dec_in=2, llm_num_hidden_layers=1, llm_output_attention=False, llm_output_hidden_states=False)),
            ("mse", LOSSES["mse"]),
            ("huber", LOSSES["huber"]),
        ],
    ),
    iTransformer: (
        dict(h=4, input_size=6, n_series=3, hidden_size=8, n_heads=2, d_ff=6, dropout=0.0),
        [
            ("default", {}),
            ("many-windows", dict(batch=5)),
            ("one-window", ONE),
            ("h1", dict(h=1)),
            ("one-series", dict(n_series=1) | RESIDUES),  # a softmax over one key
            ("no-norm", dict(use_norm=False)),
            ("no-layers", dict(e_layers=0)),
            ("three-layers", dict(e_layers=3)),
            ("heads-leave-a-rest", dict(hidden_size=7, n_heads=3, e_layers=1)),
            ("d-ff-0", dict(d_ff=0, e_layers=1)),
            ("unused", dict(d_layers=3, factor=2)),
            ("futr", FUTR),
            ("futr-no-norm", dict(use_norm=False, **FUTR)),
            ("futr-mq", FUTR | LOSSES["mq"]),
            ("futr-one-series", dict(n_series=1, **FUTR)),
            ("exclude-insample-y", dict(exclude_insample_y=True, use_norm=False, **FUTR)),
            *MULTIVARIATE_LOSSES.items(),
        ],
    ),
    TimeXer: (
        dict(h=4, input_size=7, n_series=3, patch_len=3, hidden_size=8, n_heads=2, d_ff=6, dropout=0.0),
        [
            ("default", {}),
            ("many-windows", dict(batch=5)),
            ("one-window", ONE),
            ("h1", dict(h=1)),
            ("one-series", dict(n_series=1) | RESIDUES),  # a softmax over one key
            ("one-patch", dict(patch_len=7)),
            ("whole-patches", dict(input_size=8, patch_len=2)),
            ("no-norm", dict(use_norm=False)),
            ("no-layers", dict(e_layers=0)),
            ("three-layers", dict(e_layers=3)),
            ("heads-leave-a-rest", dict(hidden_size=10, n_heads=4, e_layers=1)),
            ("d-ff-0", dict(d_ff=0, e_layers=1)),
            ("unused", dict(factor=2)),
            ("hist", HIST),
            ("stat", STAT),
            ("hist-stat", HIST | STAT),
            ("hist-stat-mq", HIST | STAT | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, use_norm=False, **HIST)),
            ("categorical", HIST | STAT | dict(cat_exog_list=["s3", "x2"], categorical_cardinalities=CARDINALITIES)),
            ("categorical-all", HIST | STAT | dict(cat_exog_list=["x2", "s1", "x1", "s3"], categorical_cardinalities=CARDINALITIES, cat_emb_dim="half")),
            *MULTIVARIATE_LOSSES.items(),
        ],
    ),
    TFT: (
        # Norms of few numbers make much of rounding errors: by weights nearer to the initial ones less.
        dict(h=4, input_size=7, hidden_size=4, n_head=2, dropout=0.0, noise=0.1),
        [
            ("default", dict(hidden_size=6)),
            ("h1", dict(h=1, **EXOG)),
            ("h-longer", dict(h=9)),
            ("one-window", EXOG | ONE),
            ("exog", EXOG),
            ("futr", FUTR | LOSSES["mse"]),
            ("one-futr", dict(futr_exog_list=["f1"], **HIST)),
            ("hist", HIST),
            ("stat", STAT),
            ("one-stat", dict(stat_exog_list=["s1"])),
            ("gru", dict(rnn_type="gru", **EXOG)),
            ("gru-layers", dict(rnn_type="GRU", n_rnn_layers=3)),
            ("layers", dict(n_rnn_layers=2, **EXOG)),
            ("one-state", dict(n_rnn_layers=3, one_rnn_initial_state=True, **STAT)),
            ("gru-one-state", dict(rnn_type="gru", n_rnn_layers=2, one_rnn_initial_state=True, **EXOG)),
            ("target3", dict(tgt_size=3, **FUTR)),
            ("heads6", dict(n_head=6, hidden_size=6)),
            ("one-head", dict(n_head=1, hidden_size=5)),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
            *[(name.lower(), dict(grn_activation=name, **STAT)) for name in ("ReLU", "Tanh", "GELU")],
            *OUTPUTS.items(),
            *[(name.lower(), EXOG | distribution(name)) for name in ("StudentT", "Normal", "NegativeBinomial")],
        ],
    ),
    RNN: (RECURRENT_SMALL, RECURRENT_CASES),
    LSTM: (RECURRENT_SMALL, RECURRENT_CASES),
    GRU: (RECURRENT_SMALL, RECURRENT_CASES),
    LSTMAttention: (
        dict(h=4, input_size=7, encoder_hidden_size=6, decoder_hidden_size=5, n_head=2),
        [
            ("default", {}),
            ("one-layer", dict(encoder_n_layers=1)),
            ("three-layers", dict(encoder_n_layers=3)),
            ("h1", dict(h=1)),
            ("h-longer", dict(h=9, **EXOG) | LOSSES["mse"]),
            ("one-step", dict(input_size=1) | RESIDUES),  # a softmax over one key
            ("one-window", ONE),
            ("one-head", dict(n_head=1)),
            ("heads-leave-a-rest", dict(n_head=4)),
            ("exog", EXOG),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
            ("decoder1", dict(decoder_layers=1, **FUTR)),
            ("decoder3", dict(decoder_layers=3, decoder_activation="Tanh")),
            ("decoder-prelu", dict(decoder_layers=3, decoder_activation="PReLU")),
            *CATEGORICAL,
            ("studentt", distribution("StudentT")),
            ("exog-normal", EXOG | distribution("Normal")),
            *OUTPUTS.items(),
        ],
    ),
    TCN: (dict(h=4, input_size=10, encoder_hidden_size=5, decoder_hidden_size=6, dilations=[1, 2, 4]), CONTEXT_CASES + TCN_CASES),
    BiTCN: (
        dict(h=3, input_size=5, hidden_size=3, dropout=0.0),
        [
            ("default", {}),
            ("whole-power", dict(input_size=8)),
            ("two-steps", dict(input_size=2, **FUTR)),
            ("h1", dict(h=1, **EXOG)),
            ("h-longer", dict(h=9, **FUTR)),
            ("one-window", ONE),
            ("exog", EXOG | LOSSES["mse"]),
            ("futr", FUTR),
            ("hist", HIST),
            ("stat", STAT),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, **EXOG)),
            ("categorical", CATEGORICAL[0][1] | LOSSES["mse"]),
            ("mse", LOSSES["mse"]),
            ("studentt", FUTR | distribution("StudentT")),
            ("negativebinomial", distribution("NegativeBinomial")),
        ],
    ),
    xLSTM: (
        dict(h=4, input_size=7, encoder_n_blocks=1, encoder_hidden_size=8, decoder_hidden_size=6, encoder_dropout=0.0),
        [
            ("default", {}),
            ("two-blocks", dict(encoder_n_blocks=2)),
            ("odd-units", dict(encoder_hidden_size=5, noise=0.6)),
            ("no-bias", dict(encoder_bias=False)),
            ("h1", dict(h=1, noise=0.6, **RESIDUES)),
            ("h-longer", dict(h=9, **FUTR)),
            ("one-window", ONE),
            ("exog", EXOG | LOSSES["mse"] | CALM | RESIDUES),
            ("hist", HIST | CALM),
            ("stat", STAT),
            ("exog-mq", EXOG | LOSSES["mq"]),
            ("exclude-insample-y", dict(exclude_insample_y=True, noise=0.6, **EXOG)),
            ("categorical", CATEGORICAL[0][1] | LOSSES["mse"] | CALM),
            ("decoder1", dict(decoder_layers=1, **FUTR, **CALM)),
            ("decoder3", dict(decoder_layers=3, decoder_activation="Tanh")),
            ("studentt", FUTR | distribution("StudentT")),
            ("scalar", dict(backbone="sLSTM")),
            ("scalar-three-blocks", dict(backbone="sLSTM", encoder_n_blocks=3, encoder_hidden_size=12) | LOSSES["mse"]),
            ("scalar-exog", dict(backbone="sLSTM", **EXOG) | LOSSES["mq"]),
            ("scalar-h1", dict(backbone="sLSTM", h=1, **FUTR)),
        ],
    ),
    DilatedRNN: (dict(h=4, input_size=10, encoder_hidden_size=5, decoder_hidden_size=6), CONTEXT_CASES + DILATED_RNN_CASES),
    DeepAR: (
        dict(h=4, input_size=7, lstm_hidden_size=5, lstm_dropout=0.0, loss=DistributionLoss("StudentT"), valid_loss=None),
        [
            ("default", {}),
            ("one-layer", dict(lstm_n_layers=1, h_train=2)),
            ("three-layers", dict(lstm_n_layers=3)),
            ("h1", dict(h=1)),
            ("one-window", ONE),
            ("decoder1", dict(decoder_hidden_layers=1, decoder_hidden_size=6, h_train=4)),
            ("decoder2", dict(decoder_hidden_layers=2, decoder_hidden_size=6, decoder_activation="Tanh")),
            ("decoder-prelu", dict(decoder_hidden_layers=2, decoder_hidden_size=4, decoder_activation="PReLU")),
            ("exog", dict(h_train=3, **EXOG)),
            ("futr", dict(h_train=4, **FUTR)),
            ("hist", dict(h_train=2, **HIST)),
            ("stat", STAT),
            ("futr-stat", FUTR | STAT),
            ("mae", LOSSES["mae"]),
            ("exog-mq", dict(h_train=2, **EXOG) | LOSSES["mq"]),
            *[(case, dict(h_train=3, **arguments)) for case, arguments in CATEGORICAL],
            *[
                (name.lower(), dict(h_train=2, **FUTR) | FURTHER_LOSSES[name.lower()])
                for name in ("Normal", "Poisson", "NegativeBinomial", "Bernoulli", "Tweedie")
            ],
        ],
    ),
}


def attend(self, inputs, hidden):
    """neuralforecast's AttentiveLSTMLayer with its `inputs` left a tensor: taken apart into a tuple first, as it does, they cannot
    be joined with the states, and every forecast ends in a TypeError."""
    outputs = []
    for _ in range(len(inputs)):
        states = [state.squeeze(0).repeat(len(inputs), 1, 1) for state in hidden]
        beta = self.softmax(self.attn_layer(torch.cat((inputs, *states), dim=-1)))
        context = torch.bmm(beta.permute(1, 2, 0), inputs.permute(1, 0, 2)).squeeze(1)
        out, hidden = self.cell(context, hidden)
        outputs += [out]
    return torch.stack(outputs), hidden


AttentiveLSTMLayer.forward = attend


class ScalarCell(slstm_cell.sLSTMCell_cuda):
    """The sLSTM of xLSTM with the package's own program for CPUs, in place of that for GPUs which neuralforecast asks for; its
    parameters stay those of the latter, which every saved model has."""

    def __init__(self, config, skip_backend_init=False):
        super().__init__(config, skip_backend_init=True)
        config.internal_input_shape = "SBGNH"

    def _impl(self, training, input, state):
        bias = self._bias.reshape(self.config.num_heads, self.config.num_gates, -1).transpose(0, 1).reshape(-1)
        return slstm_forward(input, state, self._recurrent_kernel.mT, bias, slstm_pointwise_function_registry["slstm"])[0]


slstm_cell.sLSTMCell_cuda = ScalarCell


def take_all(self, x):
    """TimeMixer's Fourier decomposition of any window but the first of a batch, for which it takes another threshold: the smallest
    of the largest amplitudes of the batch, and that is 0 because it clears those of the first window."""
    return torch.fft.irfft(torch.fft.rfft(x)), torch.zeros_like(x)


DFT_series_decomp.forward = take_all


class DrawnConvolution(torch.nn.Conv1d):
    """The convolution that TimeMixer draws anew in each forward pass, as foretell draws it once: by the model's seed."""

    def reset_parameters(self):
        bound = (self.in_channels * self.kernel_size[0]) ** -0.5
        with torch.no_grad(), np.errstate(over="ignore"):
            self.weight.copy_((2 * draws.Key(1).uniforms(self.weight.numel()) - 1).reshape(self.weight.shape) * bound)


def scales(self, x_enc, x_mark_enc, original=TimeMixer._TimeMixer__multi_scale_process_inputs):
    timemixer.nn = SimpleNamespace(Conv1d=DrawnConvolution)
    try:
        return original(self, x_enc, x_mark_enc)
    finally:
        timemixer.nn = torch.nn


TimeMixer._TimeMixer__multi_scale_process_inputs = scales

# Positional encodings, of whose 5000 places a file has the first.
POSITIONS = ("position_embedding.pe", "positional_embedding.position_embedding")

# Added to all that a softmax is taken of, so its gradient is 0; PyTorch's is what rounding leaves.
UNFELT = ("attn_layer.2.bias",)


def windows(model, batch, holes, random):
    """One batch of rows, as foretell has them: (inputs, target, mask). Of a univariate model a row is a window, and that is what
    `BaseModel.training_step` passes to forward; of a multivariate one N neighbouring rows are, see `received`."""
    n = model.n_series if model.MULTIVARIATE else 1
    batch *= n
    length, h = model.input_size, model.h
    past, future = length, h  # steps of hist columns with a value, and of futr columns beyond `length`
    if model.RECURRENT:
        # Shifted by one step for teacher forcing: at each step the target, and the columns of the next, hist columns ending in zeros.
        # `length` is already input_size + 1.
        h = model.h = model.h_train
        past, length, future = length - 1, length + h - 1, 0

    def normal(*shape):
        return torch.randn(*shape, generator=random)

    def exog(columns, *shape):
        if not columns:
            return None
        values = normal(batch, *shape, len(columns))
        for i, column in enumerate(columns):
            if column in model.cat_exog_list:  # 0 is the category that training did not see
                values[..., i] = torch.randint(model.categorical_cardinalities[column] + 1, (batch, *shape), generator=random)
        return values

    inputs = dict(
        insample_y=normal(batch, length, 1),
        insample_mask=torch.ones(batch, length, 1),
        hist_exog=exog(model.hist_exog_list, length),
        futr_exog=exog(model.futr_exog_list, length + future),
        stat_exog=exog(model.stat_exog_list),
    )
    if isinstance(model, TimeLLM):
        inputs["insample_y"] = model.windows(batch, random)
    if model.hist_exog_list:
        inputs["hist_exog"][:, past:] = 0.0
    if model.MULTIVARIATE and model.stat_exog_list:  # static columns are those of the series, whatever the window
        inputs["stat_exog"] = inputs["stat_exog"][:n].repeat(batch // n, 1)
    if holes:
        inputs["insample_mask"] = (torch.rand(batch, length, 1, generator=random) > 0.3).float()
    target = normal(batch, h, 1)
    mask = torch.ones(batch, h, 1)
    mask[0, -1] = 0.0 if h > 1 else 1.0  # a horizon that runs past the end of its series
    return inputs, target, mask


def received(model, inputs):
    """What forward receives for these rows: of a multivariate model [B, time, N], columns [B, column, time, N] and [N, column]."""
    if not model.MULTIVARIATE:
        return inputs
    n = model.n_series
    steps = {key: inputs[key].reshape(-1, n, *inputs[key].shape[1:2]).transpose(1, 2) for key in ("insample_y", "insample_mask")}

    def columns(key):
        values = inputs[key]
        return None if values is None else values.reshape(-1, n, *values.shape[1:]).permute(0, 3, 2, 1)

    stat = inputs["stat_exog"]
    return steps | {key: columns(key) for key in ("hist_exog", "futr_exog")} | {"stat_exog": None if stat is None else stat[:n]}


def by_window(model, rows):
    """[B * N, h, 1] as [B, h, N]."""
    return rows.reshape(-1, model.n_series, rows.shape[1]).transpose(1, 2) if model.MULTIVARIATE else rows


def by_parameter(loss):
    """Whether a loss reads the outputs of several series parameter by parameter, and not series by series."""
    return isinstance(loss, DistributionLoss) and loss.distribution != "ISQF"


def arranged(model, output):
    """The output with its numbers where the loss reads them: for losses that read series by series, these models have them quantile
    by quantile, so that neuralforecast takes quantiles of one series for other series (a defect; foretell computes this)."""
    outputs = model.loss.outputsize_multiplier
    if not model.MULTIVARIATE or outputs == 1 or by_parameter(model.loss) or type(model) in SERIES_FIRST:
        return output
    return output.reshape(*output.shape[:2], outputs, model.n_series).transpose(2, 3).flatten(2)


def by_row(model, output):
    """An arranged output as [B * N, h, outputs]."""
    if not model.MULTIVARIATE:
        return output
    b, h, n, outputs = *output.shape[:2], model.n_series, model.loss.outputsize_multiplier
    if by_parameter(model.loss):
        return output.reshape(b, h, outputs, n).permute(0, 3, 1, 2).reshape(b * n, h, outputs)
    return output.reshape(b, h, n, outputs).transpose(1, 2).reshape(b * n, h, outputs)


def hyper_parameter(value):
    """The JSON that a saved model holds for this argument; a loss without the `state` derived from its arguments."""
    encoded = encode_value(value, None, "")
    if isinstance(encoded, dict):
        encoded.pop("state", None)
    return encoded


def training_losses(forward, parameters):
    """The losses of ten steps of training on one batch, each before its step."""
    optimizer, losses = torch.optim.Adam(parameters, lr=0.01), []
    for _ in range(10):
        _, loss = forward()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def vanishing_gradients(model, inputs, forward):
    """The parameters whose gradients are 0 in double precision, whatever the output's, so that single precision has rounding errors only."""
    single, state = dict(inputs), {key: value.clone() for key, value in model.named_buffers()}
    inputs |= {key: None if value is None else value.double() for key, value in inputs.items()}
    model.double()
    output, _ = forward()
    output.backward(torch.randn(output.shape, generator=generator("vanishing"), dtype=torch.float64))
    found = [key for key, value in model.named_parameters() if value.grad is not None and value.grad.abs().max() < 1e-11]
    inputs |= single
    model.float().zero_grad()
    for key, value in model.named_buffers():  # this batch does not count
        value.copy_(state[key])
    return found


def disturb(model, noise, random):
    """Adds noise to what is trained: initial weights are so small that a wrong block would hardly show in the output. Rounds it to
    bfloat16, in which a file holds it."""
    with torch.no_grad():
        for value in model.parameters():
            if value.requires_grad:
                value += noise * torch.randn(value.shape, dtype=value.dtype, generator=random)
                if value.dtype == torch.float32:
                    value.copy_(value.bfloat16())


def weights(model):
    """A model's state, of tables of positions only the first."""
    return {f"weights/{key}": value[:, :40] if key.endswith(POSITIONS) else value.clone() for key, value in model.state_dict().items()}


# Of a gradient of more numbers, the sums of every 17th: any number that is wrong shows in one of them.
SUMS = 17


def folded(gradient):
    """A gradient, or its sums in double precision."""
    numbers = (torch.view_as_real(gradient) if gradient.is_complex() else gradient).flatten()
    if len(numbers) <= SUMS:
        return gradient
    return torch.nn.functional.pad(numbers.double(), (0, -len(numbers) % SUMS)).reshape(-1, SUMS).sum(0).float()


def compute(model_class, case, arguments):
    """The hyper-parameters of a case as JSON has them, and its tensors by name."""
    # Cases and models share losses, and a distribution keeps what it computed last, which the next model could not copy.
    arguments = deepcopy(arguments)
    batch, holes = arguments.pop("batch", 3), arguments.pop("holes", False)
    vanishing, residues = arguments.pop("vanishing", False), arguments.pop("residues", False)
    noise = arguments.pop("noise", 0.3)
    model = model_class(random_seed=1, **arguments).train()
    trainable = {key: value for key, value in model.named_parameters() if value.requires_grad}
    random = generator(f"{model_class.__name__}-{case}")
    disturb(model, noise, random)
    inputs, target, mask = windows(model, batch, holes, random)

    tensors = {}
    if model.exclude_insample_y:  # done by the base class before forward, as here
        tensors["raw/insample_y"] = inputs["insample_y"]
        inputs["insample_y"] = inputs["insample_y"] * 0

    if model.loss.is_distribution_output:
        target = TARGETS[getattr(model.loss, "distribution", type(model.loss).__name__)](target)
        loc, scale = torch.rand(2, len(target), 1, 1, generator=random) * 4 + 0.5
        tensors |= {"loc": loc.flatten(), "scale": scale.flatten()}
        if model.MULTIVARIATE:
            loc, scale = by_window(model, loc), by_window(model, scale)

    def forward():
        def embed(kind):  # as the base class does before forward
            lists = [getattr(model, f"{kind}{suffix}") for suffix in ("_exog_list", "_cat_exog_list", "_cat_embeddings")]
            return model._embed_stream(inputs[f"{kind}_exog"], *lists)

        embedded = inputs | {f"{kind}_exog": embed(kind) for kind in ("hist", "futr", "stat")}
        with draws.ours(draws.Key(1)) as next_key:
            output = arranged(model, model(received(model, embedded)))
        if isinstance(model.loss, (IQLoss, HuberIQLoss)):
            # The values, and the probabilities that they were drawn for, row by row as foretell has them.
            shape = by_row(model, output).shape
            q = next_key().probabilities(shape.numel()).reshape(shape)
            model.loss._sample_quantiles = lambda **_: by_window(model, q).unsqueeze(-1)
            model.loss.has_predicted, model.loss.q = False, by_window(model, q)
            values = model.loss.domain_map(output)
            return torch.cat([by_row(model, values), q], dim=-1), model.loss(y=by_window(model, target), y_hat=values, mask=by_window(model, mask))
        if model.loss.is_distribution_output:
            args = model.loss.scale_decouple(output=model.loss.domain_map(output), loc=loc, scale=scale)
            return by_row(model, output), model.loss(y=by_window(model, target), distr_args=args, mask=by_window(model, mask))
        y_hat, y_insample = model.loss.domain_map(output), by_window(model, inputs["insample_y"])
        loss = model.loss(y=by_window(model, target), y_hat=y_hat, y_insample=y_insample, mask=by_window(model, mask))
        return by_row(model, output), loss

    # State that training changes but no gradient does (batch normalisation): random, so that a forecast shows it.
    state = {key: value for key, value in model.named_buffers() if key.endswith(("running_mean", "running_var", "num_batches_tracked"))}
    with torch.no_grad():
        for key, value in state.items():
            if value.is_floating_point():
                value += torch.rand(value.shape, generator=random)
    tensors |= weights(model)
    if state or isinstance(model, TWOFOLD) or DRAWN_SLOPES in arguments.values():
        with torch.no_grad():
            tensors["forecast"] = model.eval() and forward()[0]
        model.train()
    zeros = vanishing_gradients(model, inputs, forward) if vanishing or residues else []
    output, loss = forward()
    loss.backward()
    for key in zeros:
        trainable[key].grad.zero_()
        if residues:
            del trainable[key]

    tensors |= {f"inputs/{key}": value for key, value in inputs.items() if value is not None}
    tensors |= {
        f"grads/{key}": folded(torch.zeros_like(value) if value.grad is None or key.endswith(UNFELT) else value.grad)
        for key, value in trainable.items()
    }
    tensors |= {"output": output, "target": target, "mask": mask, "loss": loss}
    # A clone each, because tied entries (a shared PReLU, loss and valid_loss) are written under every name.
    tensors = {key: value.detach().clone().contiguous() for key, value in tensors.items()}
    tensors["losses"] = torch.tensor(training_losses(forward, trainable.values()))
    tensors |= {f"state/{key}": model.get_buffer(key).clone() for key in state}  # after eleven batches
    if model.loss.is_distribution_output:  # the loss may be that of the next case, and a tensor with a graph cannot be copied
        model.loss.distr_mean = None
    return {key: hyper_parameter(value) for key, value in arguments.items()}, tensors


DTYPES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.int64: "I64", torch.complex64: "C64"}


def shortest(name, tensor):
    """Weights in bfloat16 where they are the same in it."""
    if not name.startswith("weights/") or tensor.dtype != torch.float32:
        return tensor
    short = tensor.bfloat16()
    return short if short.float().equal(tensor) else tensor


def content_of(tensor):
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy().tobytes()


def packed(cases):
    """The tensors of all cases, `{case: {name: tensor}}`, as one tensor for each dtype, and as metadata what lies where.

    Names and shapes, which most cases share, are written once, and so are values that a file has several times: as single tensors
    of a safetensors file the cases would be nearly twice as large.
    """
    kinds, places, values, lengths, known = {}, {}, {}, {}, {}
    for case, tensors in cases.items():
        places[case] = []
        for name, tensor in sorted(tensors.items()):
            tensor = shortest(name, tensor)
            dtype, content = DTYPES[tensor.dtype], content_of(tensor)
            kind = kinds.setdefault((name, dtype, *tensor.shape), len(kinds))
            if len(content) >= 32 and (dtype, content) in known:
                places[case].append([kind, known[dtype, content]])
                continue
            known[dtype, content] = lengths.get(dtype, 0)
            lengths[dtype] = lengths.get(dtype, 0) + tensor.numel()
            values.setdefault(dtype, []).append(tensor.flatten())
            places[case].append(kind)
    compact = lambda value: json.dumps(value, separators=(",", ":"))
    return {dtype: torch.cat(parts) for dtype, parts in values.items()}, dict(tensors=compact(list(kinds)), places=compact(places))


def write(model_class, common, cases):
    """One file for all cases of a model."""
    name, tensors, hyper_parameters = model_class.__name__, {}, {}
    for case, arguments in cases:
        assert case not in hyper_parameters, f"{name} has two cases {case}"
        hyper_parameters[case], tensors[case] = compute(model_class, case, common | arguments)
    values, places = packed(tensors)
    metadata = dict(model_class=name, cases=json.dumps(hyper_parameters), **places)
    (fixtures("models") / f"{name}.safetensors").write_bytes(canonical(save(values, metadata=metadata)))
    print(f"models: {name}, {len(cases)} cases")


def main():
    """Writes the cases of all models, or of those that are named (`compare/models.py NHITS GRU`)."""
    one_thread()
    named = sys.argv[1:]
    unknown = set(named) - {model_class.__name__ for model_class in CASES}
    assert not unknown, f"no cases of {', '.join(sorted(unknown))}"
    for model_class, (common, cases) in CASES.items():
        if not named or model_class.__name__ in named:
            write(model_class, common, cases)


if __name__ == "__main__":
    main()
