"""Checkpoint fixtures: crates/foretell/tests/fixtures/checkpoints/<case>/

model/         the directory that NeuralForecast.save wrote
panel.csv      the history the forecast starts from; futr.csv, static.csv where the models use such columns
expected.csv   what NeuralForecast.predict says for that panel, every column

What else the case asks of the models: expected-level.csv (predict with the levels in the columns' names),
expected-ahead-12.csv (predict with h=12, futr-ahead.csv being the future columns over those steps), and
expected-insample-3.csv (predict_insample with step_size=3), importances.json (what a TFT says of that forecast).

The models are trained for a few steps only: what matters is that a reader computes the same forecast.
"""

import json
import shutil
import sys
from dataclasses import dataclass, field

import draws
import numpy as np
import pandas as pd
import torch
from common import QUIET, canonical, distance, fixtures, one_thread, read_table, seed
from neuralforecast import NeuralForecast
from neuralforecast.common._base_model import BaseModel
from neuralforecast.losses.pytorch import (
    GMM,
    MAE,
    MASE,
    MSE,
    NBMM,
    PMM,
    RMSE,
    DistributionLoss,
    FreDF,
    HuberIQLoss,
    HuberLoss,
    HuberMQLoss,
    HuberQLoss,
    IQLoss,
    MQLoss,
    QuantileLoss,
    TukeyLoss,
    sCRPS,
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
    TimeXer,
    TSMixer,
    TSMixerx,
    VanillaTransformer,
    XLinear,
    iTransformer,
    xLSTM,
)
from neuralforecast.utils import PredictionIntervals

HIST = dict(hist_exog_list=["x2", "x1"])  # not in the panel's column order
FUTR = dict(futr_exog_list=["f1"])
STAT = dict(stat_exog_list=["s1", "s2"])
SMALL_MLP = dict(hidden_size=6)
SMALL_NHITS = dict(mlp_units=[[6, 6], [6, 6]])
SMALL_NBEATS = SMALL_NHITS
SMALL_DEEPAR = dict(lstm_hidden_size=6)
SMALL_MIXER = dict(n_series=3, ff_dim=4)
SMALL_STAR = dict(n_series=3, hidden_size=6, d_core=5, d_ff=7)
SMALL_DECOMPOSED = dict(hidden_size=8, conv_hidden_size=5, MovingAvg_window=5)
SMALL_TIDE = dict(hidden_size=6, decoder_output_dim=3, temporal_decoder_dim=5)
SMALL_TRANSFORMER = dict(hidden_size=4, n_head=2, conv_hidden_size=6)  # the encodings of 5000 places are saved
SMALL_PATCHES = dict(hidden_size=8, n_heads=2, linear_hidden_size=6, patch_len=4, stride=3)
SMALL_FUSION = dict(hidden_size=4, n_head=2)
SMALL_INVERTED = dict(n_series=3, hidden_size=8, n_heads=2, d_ff=6)
SMALL_RNN = dict(encoder_hidden_size=6, decoder_hidden_size=5)
RECURRENT = SMALL_RNN | dict(recurrent=True)
SAMPLED = dict(num_samples=20_000, return_params=True)


@dataclass
class Case:
    freq: str | int
    models: list  # (class, arguments)
    h: int = 4
    input_size: int = 12
    lengths: tuple = (40, 31, 22)  # rows of each series
    season: int = 7
    futr: list = field(default_factory=list)
    hist: list = field(default_factory=list)
    stat: list = field(default_factory=list)
    columns: tuple = ("unique_id", "ds", "y")
    mask: bool = False  # an available_mask column with zeros
    val_size: int = 0
    save_dataset: bool = False
    target: object = None  # what is made of the values, if they must be counts or the like
    revin: bool = False  # an affine correction as if it had been learned
    local: dict = field(default_factory=dict)  # scalers of whole series and static columns
    intervals: object = None  # how conformal intervals are calibrated
    level: list = field(default_factory=list)
    ahead: int = 0  # more steps than h
    insample: tuple = ()  # steps from one cutoff to the next
    labels: dict = field(default_factory=dict)  # categorical columns, and what they hold; the last is not in the history


def sampled(distribution, **arguments):
    """Enough samples that the quantiles differ little from the distribution's own."""
    return DistributionLoss(distribution, num_samples=20_000, **arguments)


def counts(y):
    return (y - y.min()).round() // 3


def categories(*columns, **arguments):
    """Embedded columns; of one more categories are declared than there are."""
    return dict(cat_exog_list=list(columns), categorical_cardinalities=dict(x2=4, f1=3, s1=2)) | arguments


# Texts, integers, truth values.
LABELS = dict(x2=["rain", "sun", "Snow", "hail"], f1=[3, 20, 100, 7], s1=[True, False])
EXOG_COLUMNS = dict(futr=["f1"], hist=["x1", "x2"], stat=["s1", "s2"])
CASES = {
    # The dataset and its dates are kept; early stopping, and a validation loss of its own.
    "nlinear-daily": Case(
        "D", [(NLinear, dict(early_stop_patience_steps=2, val_check_steps=2, valid_loss=MSE()))], val_size=4, save_dataset=True
    ),
    "nlinear-standard": Case("h", [(NLinear, dict(scaler_type="standard"))], season=24, lengths=(60, 40)),
    "dlinear-monthly-mq": Case(
        "MS", [(DLinear, dict(scaler_type="robust", moving_avg_window=5, loss=MQLoss(level=[80, 90])))], season=12
    ),
    "dlinear-yearly": Case("YS", [(DLinear, dict(scaler_type="minmax", loss=MSE()))], lengths=(30, 28)),
    "mlp-hourly-exog": Case(
        "h",
        [(MLP, SMALL_MLP | HIST | FUTR | STAT | dict(scaler_type="standard", loss=HuberLoss(0.5, horizon_weight=torch.tensor([1.0, 2, 3, 4]))))],
        season=24,
        **EXOG_COLUMNS,
    ),
    # An optimiser and a schedule of the user's: a reader that only predicts must not mind.
    "mlp-quarter-hour-quantile": Case(
        "15min",
        [
            (
                MLP,
                SMALL_MLP
                | dict(
                    scaler_type="robust",
                    loss=QuantileLoss(0.3),
                    optimizer=torch.optim.AdamW,
                    optimizer_kwargs=dict(weight_decay=0.01),
                    lr_scheduler=torch.optim.lr_scheduler.StepLR,
                    lr_scheduler_kwargs=dict(step_size=2),
                ),
            )
        ],
        season=8,
    ),
    "mlp-exclude-insample-y": Case(
        "W-SUN", [(MLP, SMALL_MLP | FUTR | STAT | dict(exclude_insample_y=True, num_layers=1))], futr=["f1"], stat=["s1", "s2"]
    ),
    # Tied weights (one PReLU for each block), and a name of its own.
    "nhits-integers-mq": Case(
        1,
        [(NHITS, SMALL_NHITS | FUTR | dict(alias="tied", activation="PReLU", scaler_type="minmax", loss=MQLoss(quantiles=[0.1, 0.5, 0.75])))],
        futr=["f1"],
    ),
    # The last series is shorter than the input: it is padded on the left and masked.
    "nhits-short-exog": Case(
        "D",
        [(NHITS, SMALL_NHITS | HIST | FUTR | STAT | dict(start_padding_enabled=True, scaler_type="standard", n_pool_kernel_size=[5, 3, 1]))],
        lengths=(40, 25, 7),
        **EXOG_COLUMNS,
    ),
    "nhits-mask-cubic": Case(
        "B", [(NHITS, SMALL_NHITS | dict(interpolation_mode="cubic", pooling_mode="AvgPool1d", scaler_type="robust"))], h=7, mask=True
    ),
    # Blocks that share all weights, and the bases with them (which there cannot be saved with another basis than
    # polynomial); a basis that is not contiguous there.
    "nbeats": Case(
        "D",
        [
            (NBEATS, SMALL_NBEATS | dict(alias="shared", shared_weights=True, n_blocks=[2, 2, 2], activation="PReLU", loss=MQLoss(level=[80]))),
            (NBEATS, SMALL_NBEATS | dict(alias="spline", basis="spline", n_basis=4, n_harmonics=3, scaler_type="standard")),
        ],
    ),
    "nbeatsx-exogenous": Case(
        "h",
        [
            (
                NBEATSx,
                SMALL_NBEATS
                | HIST
                | FUTR
                | STAT
                | dict(stack_types=["exogenous", "trend", "seasonality"], dropout_prob_theta=0.1, activation="PReLU", scaler_type="robust"),
            )
        ],
        season=24,
        **EXOG_COLUMNS,
    ),
    "recurrent-direct": Case(
        "D",
        [
            (RNN, SMALL_RNN | HIST | FUTR | STAT | dict(loss=MQLoss(level=[80]))),
            (LSTM, SMALL_RNN | FUTR | dict(decoder_layers=3, decoder_activation="PReLU", encoder_dropout=0.2)),
            (GRU, SMALL_RNN | STAT | dict(encoder_bias=False, encoder_n_layers=1)),
        ],
        **EXOG_COLUMNS,
    ),
    # Forecasts step by step: another length of history, a loss with weights of the horizon, validation.
    "recurrent-steps": Case(
        "h",
        [
            (RNN, RECURRENT | dict(loss=MAE(horizon_weight=torch.tensor([1.0, 0.5, 0.25, 0.125])))),
            (LSTM, RECURRENT | dict(inference_input_size=7, h_train=2)),
            (GRU, RECURRENT | dict(inference_input_size=15, loss=QuantileLoss(0.3), scaler_type="minmax")),
        ],
        val_size=4,
    ),
    # The last series is shorter than the input.
    "recurrent-steps-exog": Case(
        "D",
        [
            (RNN, RECURRENT | FUTR | dict(start_padding_enabled=True, exclude_insample_y=True)),
            (LSTM, RECURRENT | HIST | FUTR | STAT | dict(start_padding_enabled=True, loss=MQLoss(level=[80]))),
            (GRU, RECURRENT | HIST | FUTR | STAT | dict(start_padding_enabled=True, scaler_type="standard")),
        ],
        lengths=(40, 25, 7),
        **EXOG_COLUMNS,
    ),
    # Four classes, one of them twice, under other column names.
    "several": Case(
        1,
        [
            (NHITS, SMALL_NHITS | dict(scaler_type="identity")),
            (MLP, SMALL_MLP | dict(scaler_type="standard")),
            (MLP, SMALL_MLP | dict(scaler_type="minmax", loss=MQLoss(level=[50]))),
            (NLinear, dict(loss=MAE(horizon_weight=torch.tensor([1.0, 0.5, 0.25, 0.125])))),
            (DLinear, dict(scaler_type="robust")),
        ],
        columns=("item", "t", "value"),
    ),
    "losses": Case(
        "D",
        [
            (NLinear, dict(alias="rmse", scaler_type="standard", loss=RMSE())),
            (NLinear, dict(alias="mase", loss=MASE(seasonality=7), batch_size=1, windows_batch_size=1)),
            (NLinear, dict(alias="tukey", scaler_type="robust", loss=TukeyLoss(c=2.0))),
            (NLinear, dict(alias="fredf", scaler_type="standard", loss=FreDF(alpha=0.3))),
            (NLinear, dict(alias="huberq", scaler_type="standard", loss=HuberQLoss(q=0.3, delta=0.5))),
            (NLinear, dict(alias="hubermq", scaler_type="standard", loss=HuberMQLoss(level=[50, 80]))),
        ],
    ),
    # The samples' quantiles are compared within their error, the parameters exactly.
    "distributions": Case(
        "D",
        [
            (MLP, SMALL_MLP | dict(alias="t", scaler_type="standard", loss=sampled("StudentT", return_params=True), valid_loss=MQLoss())),
            (NHITS, SMALL_NHITS | dict(alias="normal", scaler_type="robust", loss=sampled("Normal", quantiles=[0.9, 0.1, 0.5], return_params=True))),
            (LSTM, RECURRENT | dict(alias="steps", scaler_type="standard", loss=sampled("StudentT", level=[80], return_params=True))),
            (DLinear, dict(alias="plain", scaler_type="minmax", loss=sampled("Normal", level=[50], horizon_weight=torch.tensor([1.0, 2, 3, 4])))),
        ],
    ),
    "distributions-counts": Case(
        "D",
        [
            (MLP, SMALL_MLP | dict(alias="poisson", scaler_type="standard", loss=sampled("Poisson", return_params=True))),
            (MLP, SMALL_MLP | dict(alias="nb", scaler_type="standard", loss=sampled("NegativeBinomial", return_params=True))),
            (MLP, SMALL_MLP | dict(alias="tweedie", scaler_type="standard", loss=sampled("Tweedie", rho=1.5))),
        ],
        target=counts,
    ),
    "distributions-binary": Case(
        "D", [(MLP, SMALL_MLP | dict(loss=sampled("Bernoulli", return_params=True)))], target=lambda y: (y > y.mean()).astype(float)
    ),
    "mixtures": Case(
        "D",
        [
            (MLP, SMALL_MLP | dict(alias="one", scaler_type="standard", loss=GMM(num_samples=20_000, return_params=True), valid_loss=sCRPS())),
            (MLP, SMALL_MLP | dict(alias="three", scaler_type="robust", loss=GMM(3, weighted=True, quantiles=[0.9, 0.1, 0.5], **SAMPLED))),
            (NHITS, SMALL_NHITS | dict(alias="windows", loss=GMM(2, level=[80], horizon_correlation=True, **SAMPLED))),
        ],
        val_size=4,
    ),
    "mixtures-counts": Case(
        "D",
        [
            (MLP, SMALL_MLP | dict(alias="poisson", scaler_type="standard", loss=PMM(3, **SAMPLED))),
            (MLP, SMALL_MLP | dict(alias="weighted", scaler_type="standard", loss=PMM(2, weighted=True, **SAMPLED))),
            (MLP, SMALL_MLP | dict(alias="nb", scaler_type="standard", loss=NBMM(2, weighted=True, **SAMPLED))),
        ],
        target=counts,
    ),
    # Layers of the loss, shared with those of the validation loss or beside them; read of the own forecast is the median.
    "implicit": Case(
        "D",
        [
            (MLP, SMALL_MLP | dict(alias="pinball", scaler_type="standard", loss=IQLoss(cos_embedding_dim=8))),
            (
                GRU,
                RECURRENT
                | dict(alias="huber", scaler_type="standard", loss=HuberIQLoss(6, delta=0.5), valid_loss=HuberIQLoss(6, concentration0=2.0)),
            ),
        ],
        val_size=4,
    ),
    "splines": Case(
        "D",
        [
            (MLP, SMALL_MLP | dict(alias="five", scaler_type="standard", loss=DistributionLoss("ISQF", num_samples=150_000))),
            (MLP, SMALL_MLP | dict(alias="two", scaler_type="robust", loss=DistributionLoss("ISQF", quantiles=[0.9, 0.3, 0.1], num_pieces=2, num_samples=150_000))),
        ],
    ),
    "scalers": Case(
        "D", [(NLinear, dict(scaler_type="minmax1")), (DLinear, dict(scaler_type="invariant")), (MLP, SMALL_MLP | dict(scaler_type="minmax1"))]
    ),
    "revin-exog": Case(
        "h", [(MLP, SMALL_MLP | HIST | FUTR | dict(scaler_type="revin"))], season=24, revin=True, futr=["f1"], hist=["x1", "x2"]
    ),
    "local-exog": Case(
        "D",
        [(MLP, SMALL_MLP | HIST | FUTR | STAT), (NLinear, dict(scaler_type="standard"))],
        local=dict(local_scaler_type="standard", local_static_scaler_type="minmax"),
        **EXOG_COLUMNS,
    ),
    "conformal-distribution": Case(
        "D",
        [(NLinear, {}), (MLP, SMALL_MLP | dict(scaler_type="standard", loss=MSE()))],
        intervals=PredictionIntervals(n_windows=5, step_size=2),
        level=[95, 80, 50],
    ),
    "conformal-error": Case(
        "MS",
        [(DLinear, dict(scaler_type="robust"))],
        intervals=PredictionIntervals(n_windows=4, method="conformal_error"),
        level=[90, 97.5],
    ),
    # Any level of a distribution, whatever it was trained with.
    "level-distribution": Case("D", [(MLP, SMALL_MLP | dict(scaler_type="standard", loss=sampled("Normal", return_params=True)))], level=[60, 90]),
    # A multiple of h: else there the last steps are those of a window that ends too early.
    "ahead": Case(
        "D",
        [
            (NLinear, dict(scaler_type="standard", loss=MAE(horizon_weight=torch.tensor([1.0, 0.5, 0.25, 0.125])))),
            (DLinear, dict(loss=MQLoss(quantiles=[0.9, 0.5, 0.1]))),
            (MLP, SMALL_MLP | FUTR | STAT | dict(scaler_type="robust")),
            (NBEATS, SMALL_NBEATS | dict(start_padding_enabled=True, loss=QuantileLoss(0.3))),
        ],
        lengths=(40, 31, 13),
        ahead=12,
        futr=["f1"],
        stat=["s1", "s2"],
        local=dict(local_scaler_type="standard"),
    ),
    "ahead-recurrent": Case(
        "h",
        [
            (LSTM, RECURRENT | FUTR | dict(loss=MAE(horizon_weight=torch.tensor([1.0, 0.5, 0.25, 0.125])))),
            (GRU, RECURRENT | dict(inference_input_size=7, loss=MQLoss(level=[80]), scaler_type="standard")),
        ],
        ahead=10,
        futr=["f1"],
    ),
    "insample": Case(
        "MS",
        [
            (NLinear, dict(scaler_type="standard")),
            (MLP, SMALL_MLP | HIST | FUTR | STAT | dict(scaler_type="robust", loss=MQLoss(level=[80]))),
            (NHITS, SMALL_NHITS | STAT),
            (LSTM, RECURRENT | FUTR),
        ],
        input_size=6,
        lengths=(19, 14, 9),
        insample=(1, 5),
        local=dict(local_scaler_type="robust"),
        **EXOG_COLUMNS,
    ),
    "categorical": Case(
        "D",
        [
            (MLP, SMALL_MLP | HIST | FUTR | STAT | categories("s1", "f1", "x2") | dict(scaler_type="standard")),
            (NHITS, SMALL_NHITS | FUTR | categories("f1", cat_emb_dim="sqrt") | dict(alias="futr", scaler_type="robust")),
            (NBEATSx, SMALL_NBEATS | FUTR | STAT | categories("s1", "f1", cat_emb_dim=3) | dict(stack_types=["exogenous", "identity"], n_blocks=[1, 1])),
            (LSTM, SMALL_RNN | HIST | categories("x2", cat_emb_dim="half") | dict(loss=MQLoss(level=[80]))),
        ],
        lengths=(40, 31, 13),
        labels=LABELS,
        local=dict(local_scaler_type="standard", local_static_scaler_type="minmax"),
        insample=(3,),
        **EXOG_COLUMNS,
    ),
    "categorical-ahead": Case(
        "h",
        [
            (MLP, SMALL_MLP | FUTR | categories("f1") | dict(scaler_type="revin")),
            (GRU, RECURRENT | FUTR | STAT | categories("f1", "s1") | dict(start_padding_enabled=True, scaler_type="standard")),
        ],
        lengths=(40, 25, 14),
        labels=dict(f1=["mon", "tue", "wed", "thu"], s1=LABELS["s1"]),
        ahead=8,
        futr=["f1"],
        stat=["s1", "s2"],
    ),
    # Windows of all series, of which two begin later than the first.
    "multivariate": Case(
        "D",
        [
            (MLPMultivariate, SMALL_MLP | dict(n_series=3, scaler_type="standard", loss=MQLoss(level=[80]))),
            (MLPMultivariate, SMALL_MLP | HIST | FUTR | STAT | dict(n_series=3, alias="exog", scaler_type="robust")),
            (MLPMultivariate, SMALL_MLP | dict(n_series=3, alias="scaled", input_size=14, start_padding_enabled=True, valid_loss=MSE())),
        ],
        lengths=(40, 25, 17),
        val_size=4,
        local=dict(local_scaler_type="standard"),
        **EXOG_COLUMNS,
    ),
    # A convolution's weights and its activation's are listed twice each; a history that rates do not divide.
    "dilated": Case(
        "D",
        [
            (TCN, SMALL_RNN | dict(dilations=[1, 2, 4], encoder_activation="PReLU", decoder_activation="PReLU", loss=MQLoss(level=[80]))),
            (TCN, SMALL_RNN | HIST | FUTR | STAT | categories("f1") | dict(alias="kernel3", kernel_size=3, dilations=[2, 1], start_padding_enabled=True)),
            (DilatedRNN, SMALL_RNN | HIST | FUTR | STAT | categories("f1") | dict(dilations=[[1, 5], [7]], start_padding_enabled=True)),
            (DilatedRNN, SMALL_RNN | categories("f1") | FUTR | dict(alias="residual", cell_type="ResLSTM", decoder_layers=1)),
            (DilatedRNN, SMALL_RNN | dict(alias="gru", cell_type="GRU", dilations=[[3]], loss=sampled("Normal", return_params=True))),
        ],
        lengths=(40, 25, 13),
        labels=dict(f1=LABELS["f1"]),
        **EXOG_COLUMNS,
    ),
    # Fed with the means of its distributions, whose parameters are compared exactly; without a distribution too.
    "deepar": Case(
        "D",
        [
            (DeepAR, SMALL_DEEPAR | HIST | FUTR | STAT | dict(scaler_type="standard", h_train=3, loss=sampled("StudentT", return_params=True))),
            (DeepAR, SMALL_DEEPAR | dict(alias="normal", lstm_n_layers=1, lstm_dropout=0.0, loss=sampled("Normal", level=[80], return_params=True))),
            (DeepAR, SMALL_DEEPAR | FUTR | dict(alias="points", scaler_type="robust", loss=MAE(), decoder_hidden_layers=1, decoder_hidden_size=5)),
        ],
        val_size=4,
        **EXOG_COLUMNS,
    ),
    # The last series is shorter than the input.
    "deepar-categorical": Case(
        "D",
        [
            (
                DeepAR,
                SMALL_DEEPAR
                | HIST
                | FUTR
                | STAT
                | categories("f1", "s1", "x2")
                | dict(start_padding_enabled=True, scaler_type="minmax", loss=sampled("StudentT", level=[60], return_params=True)),
            )
        ],
        lengths=(40, 31, 7),
        labels=LABELS,
        **EXOG_COLUMNS,
    ),
    "deepar-counts": Case(
        "D",
        [
            (DeepAR, SMALL_DEEPAR | dict(alias="poisson", scaler_type="standard", loss=sampled("Poisson", return_params=True))),
            (DeepAR, SMALL_DEEPAR | dict(alias="nb", trajectory_samples=30, loss=sampled("NegativeBinomial", return_params=True))),
        ],
        target=counts,
        ahead=8,
    ),
    # Running statistics of batches; a distribution, whose parameters are laid out alike on both sides.
    # Series that meet in a core; 5000 encoded places of each layer.
    "stars": Case(
        "D",
        [
            (SOFTS, SMALL_STAR | dict(scaler_type="standard", loss=sampled("StudentT", level=[80]))),
            (SOFTS, SMALL_STAR | dict(alias="plain", use_norm=False, start_padding_enabled=True, input_size=14, valid_loss=MSE())),
            (SOFTSSharp, dict(SMALL_STAR, hidden_size=2) | dict(e_layers=1, loss=HuberLoss(0.5), pe_keep_prob=0.7)),
        ],
        lengths=(40, 25, 17),
        val_size=4,
    ),
    # Complex weights that layers share; frequencies that only the seed says.
    "decomposed": Case(
        "D",
        [
            (Autoformer, SMALL_DECOMPOSED | FUTR | categories("f1") | dict(scaler_type="standard", n_head=2, loss=MQLoss(level=[80]))),
            (Autoformer, SMALL_DECOMPOSED | dict(alias="padded", input_size=15, factor=1, start_padding_enabled=True, valid_loss=MSE())),
            (FEDformer, SMALL_DECOMPOSED | FUTR | categories("f1") | dict(scaler_type="standard", modes=4, random_seed=7)),
            (FEDformer, SMALL_DECOMPOSED | dict(alias="lowest", hidden_size=10, mode_select="low", decoder_layers=2, loss=MQLoss(level=[80]))),
            (Autoformer, SMALL_DECOMPOSED | FUTR | categories("f1") | dict(alias="t", decoder_layers=2, activation="relu", loss=sampled("StudentT", return_params=True))),
        ],
        lengths=(40, 31, 22),
        val_size=4,
        labels=dict(f1=LABELS["f1"]),
        futr=["f1"],
    ),
    "mixers": Case(
        "D",
        [
            (TSMixer, SMALL_MIXER | dict(alias="batches", scaler_type="standard", valid_loss=MSE())),
            (TSMixer, SMALL_MIXER | dict(alias="plain", revin=False, start_padding_enabled=True, input_size=14, loss=sampled("StudentT", level=[80]))),
            (TSMixerx, SMALL_MIXER | dict(alias="series", loss=HuberLoss(0.5))),
            (TSMixerx, SMALL_MIXER | HIST | FUTR | STAT | categories("f1", "s1") | dict(alias="exog", n_block=1, dropout=0.1, scaler_type="robust")),
            (TSMixerx, SMALL_MIXER | FUTR | STAT | categories("f1", "s1") | dict(alias="categories", revin=False, scaler_type="standard")),
        ],
        lengths=(40, 25, 18),
        val_size=4,
        labels=dict(f1=LABELS["f1"], s1=LABELS["s1"]),
        **EXOG_COLUMNS,
    ),
    # Grids of splines, running statistics among experts, a graph of series.
    "splines-and-graphs": Case(
        "D",
        [
            (xLSTM, HIST | FUTR | STAT | categories("f1", "s1") | dict(alias="memories", encoder_hidden_size=3, encoder_n_blocks=1, decoder_hidden_size=4, scaler_type="robust")),
            (BiTCN, HIST | FUTR | STAT | categories("f1", "s1") | dict(alias="convolutions", hidden_size=3, scaler_type="standard")),
            (KAN, HIST | FUTR | STAT | categories("f1", "s1") | dict(alias="splines", hidden_size=[3], grid_range=[-2, 2], scaler_type="robust", loss=MQLoss(level=[80]))),
            (XLinear, dict(n_series=3, hidden_size=3, temporal_ff=4, channel_ff=3) | HIST | FUTR | STAT | categories("f1", "s1") | dict(alias="gates", valid_loss=MSE())),
            (RMoK, dict(n_series=3, alias="experts", wavelet_function="dog", scaler_type="standard")),
            (StemGNN, dict(n_series=3, alias="graph", input_size=4, multi_layer=1)),
        ],
        lengths=(40, 25, 18),
        val_size=4,
        labels=dict(f1=LABELS["f1"], s1=LABELS["s1"]),
        **EXOG_COLUMNS,
    ),
    # Encodings of places, residual scores, running statistics, series as tokens.
    "attention": Case(
        "D",
        [
            (VanillaTransformer, SMALL_TRANSFORMER | FUTR | dict(alias="steps", scaler_type="standard", decoder_input_size_multiplier=0.3)),
            (PatchTST, SMALL_PATCHES | dict(alias="patches", revin_affine=True, scaler_type="robust", loss=MQLoss(level=[80]))),
            (PatchTST, SMALL_PATCHES | dict(alias="norm-first", batch_normalization=True, res_attention=False, learn_pos_embed=False, start_padding_enabled=True)),
            (iTransformer, SMALL_INVERTED | FUTR | dict(alias="series", scaler_type="standard", valid_loss=MSE())),
            (iTransformer, SMALL_INVERTED | dict(alias="plain", use_norm=False, e_layers=1, loss=sampled("StudentT", level=[80]))),
            (TimeXer, dict(n_series=3, hidden_size=4, n_heads=2, d_ff=6, patch_len=5) | HIST | STAT | categories("s1") | dict(alias="columns", scaler_type="robust")),
        ],
        lengths=(40, 25, 18),
        val_size=4,
        labels=dict(s1=LABELS["s1"]),
        **EXOG_COLUMNS,
    ),
    # Keys that are sampled by foretell's generator on both sides; running statistics; all queries read, whatever is sampled.
    "sparse-attention": Case(
        "D",
        [
            (Informer, SMALL_TRANSFORMER | FUTR | categories("f1") | dict(alias="distilled", factor=1, scaler_type="standard", loss=MQLoss(level=[80]))),
            (Informer, SMALL_TRANSFORMER | dict(alias="seeded", input_size=14, factor=1, random_seed=7, distil=False, start_padding_enabled=True, valid_loss=MSE())),
            (Informer, SMALL_TRANSFORMER | dict(alias="all", hidden_size=2, factor=9, decoder_layers=2, loss=sampled("StudentT", return_params=True))),
        ],
        lengths=(40, 25, 18),
        val_size=4,
        labels=dict(f1=LABELS["f1"]),
        futr=["f1"],
    ),
    # A mask with infinities among the weights; networks that select from one variable; a target embedded twice.
    "fusion": Case(
        "D",
        [
            (TFT, SMALL_FUSION | HIST | FUTR | STAT | dict(alias="exog", scaler_type="standard", loss=MQLoss(level=[80]))),
            (TFT, SMALL_FUSION | dict(alias="plain", rnn_type="gru", n_rnn_layers=2, tgt_size=2, attn_dropout=0.1, grn_activation="SELU")),
            (TFT, SMALL_FUSION | STAT | dict(alias="static", n_rnn_layers=2, one_rnn_initial_state=True, start_padding_enabled=True)),
        ],
        lengths=(40, 31, 18),
        val_size=4,
        **EXOG_COLUMNS,
    ),
    # With future columns only there are weights of no columns.
    "tide": Case(
        "D",
        [
            (TiDE, SMALL_TIDE | HIST | FUTR | STAT | dict(alias="exog", scaler_type="standard", loss=MQLoss(level=[80]))),
            (TiDE, SMALL_TIDE | FUTR | dict(alias="futr", layernorm=False, num_encoder_layers=2, scaler_type="robust")),
            (TiDE, SMALL_TIDE | dict(alias="t", loss=sampled("StudentT", return_params=True), scaler_type="standard")),
            (TiDE, SMALL_TIDE | STAT | dict(alias="skip", num_decoder_layers=2, start_padding_enabled=True)),
        ],
        lengths=(40, 31, 13),
        **EXOG_COLUMNS,
    ),
    "deep-npts": Case(
        "h",
        [
            (DeepNPTS, SMALL_MLP | HIST | FUTR | STAT | categories("f1") | dict(alias="exog", num_lr_decays=2)),
            (DeepNPTS, SMALL_MLP | FUTR | categories("f1", cat_emb_dim=2) | dict(alias="futr", n_layers=1, dropout=0.0, loss=QuantileLoss(0.3))),
            (DeepNPTS, SMALL_MLP | dict(alias="plain", batch_norm=False, scaler_type="minmax", valid_loss=MSE())),
        ],
        lengths=(40, 31, 22),
        val_size=4,
        labels=dict(f1=["mon", "tue", "wed"]),
        **EXOG_COLUMNS,
    ),
    "local-robust-iqr": Case(
        "MS", [(DLinear, dict(loss=MQLoss(level=[80])))], season=12, local=dict(local_scaler_type="robust-iqr")
    ),
}


library_step = BaseModel._predict_step_recurrent_single


def step_with_quantiles(self, insample_y, insample_mask, hist_exog, futr_exog, stat_exog, y_idx):
    """A step of a recurrent model with MQLoss. The library feeds the mean of the quantiles back to the model, and
    writes it to the column of every quantile, too; this writes the quantiles themselves. A distribution is left to
    the library, but for its number of samples, which is another argument there."""
    if self.loss.is_distribution_output:
        self.n_samples = self.loss.num_samples
        return library_step(self, insample_y, insample_mask, hist_exog, futr_exog, stat_exog, y_idx)
    windows = dict(insample_y=insample_y, insample_mask=insample_mask, futr_exog=futr_exog, hist_exog=hist_exog, stat_exog=stat_exog)
    output = self.loss.domain_map(self(windows))
    if output.ndim == 3:
        return self._inv_normalization(y_hat=output, y_idx=y_idx).squeeze(1).unsqueeze(-1), output
    return self._inv_normalization(y_hat=output, y_idx=y_idx).squeeze(1), output.mean(dim=-1)


BaseModel._predict_step_recurrent_single = step_with_quantiles
draws.forecasting(Informer)


def tables(name, case):
    """History, future columns over h and over more steps, and static columns of the case's series, which differ in
    length, start and level."""
    random = np.random.default_rng(seed(name))
    id_col, time_col, target_col = case.columns
    parts = []
    for i, length in enumerate(case.lengths):
        n, start = length + max(case.h, case.ahead), 2 * i
        time = np.arange(start, start + n)
        if case.freq != 1:
            time = pd.date_range("2021-03-01", periods=start + n, freq=case.freq)[start:]
        t = np.arange(n)
        y = 10 * (i + 1) + 0.1 * i * t + 3 * np.sin(2 * np.pi * t / case.season) + random.normal(size=n)
        y = case.target(y) if case.target else y
        part = pd.DataFrame({id_col: f"series-{i}", time_col: time, target_col: y.round(3)})
        for column in case.hist + case.futr:
            part[column] = random.normal(i, 2, n).round(3)
        if case.mask:
            part["available_mask"] = (random.random(n) > 0.2).astype(int)
        part["future"] = t >= length
        for column in part.columns.intersection(list(case.labels)):
            *known, unknown = case.labels[column]
            drawn = random.integers(len(known), size=n)
            part[column] = [unknown if t == length + 1 else known[i] for t, i in enumerate(drawn)]
        parts.append(part)
    whole = pd.concat(parts)
    panel = whole[~whole["future"]].drop(columns="future")
    ahead = whole.loc[whole["future"], [id_col, time_col, *case.futr]]
    futr = ahead.groupby(id_col).head(case.h)
    ids = whole[id_col].unique()
    static = pd.DataFrame({id_col: ids} | {column: random.normal(size=len(ids)).round(3) for column in case.stat})
    for column in static.columns.intersection(list(case.labels)):
        static[column] = [case.labels[column][i % 2] for i in range(len(ids))]
    return panel, futr if case.futr else None, ahead if case.futr and case.ahead else None, static if case.stat else None


def importances(model):
    """What feature_importances and attention_weights of a TFT say of the last forecast: weights by column, a number a step."""
    found = {kind.split()[0]: table for kind, table in model.feature_importances().items()}
    past = found["Past"]
    if not model.futr_exog_list:  # a defect: the names of the target and of its repeated last value are the other way round
        hist = list(model.hist_exog_list)
        past = past.set_axis([*hist, "repeated_target", *(name for name in past if name.startswith("observed_target"))], axis=1)
    columns = lambda table: {name: [float(f"{weight:.9g}") for weight in table[name]] for name in table}
    return dict(
        past=columns(past),
        future=columns(found["Future"]) if "Future" in found else None,
        static={name: weight for name, [weight] in columns(found["Static"].T).items()} if "Static" in found else {},
        attention=[[float(f"{weight:.9g}") for weight in row] for row in model.attention_weights()],
    )


def write(name, case, folder):
    id_col, time_col, target_col = case.columns
    names = dict(id_col=id_col, time_col=time_col)
    folder.mkdir(parents=True)
    given = {}
    for file, frame in zip(("panel", "futr", "futr-ahead", "static"), tables(name, case)):
        if frame is not None:
            frame.to_csv(folder / f"{file}.csv", index=False)
            # Read back: what neuralforecast sees is what the file says.
            given[file] = read_table(folder / f"{file}.csv", **names)
    panel, futr, ahead, static = (given.get(file) for file in ("panel", "futr", "futr-ahead", "static"))

    shared = dict(h=case.h, input_size=case.input_size, max_steps=5, learning_rate=1e-2, windows_batch_size=16)
    nf = NeuralForecast([cls(**{**shared, **QUIET, **arguments}) for cls, arguments in case.models], freq=case.freq, **case.local)
    nf.fit(panel, static_df=static, val_size=case.val_size, target_col=target_col, prediction_intervals=case.intervals, **names)
    if case.revin:
        for model in nf.models:
            model.scaler.revin_bias.data += torch.linspace(0.5, -0.5, model.scaler.revin_bias.numel()).reshape(1, 1, -1, 1)
            model.scaler.revin_weight.data *= 1.25
    expected = nf.predict(panel, static_df=static, futr_df=futr)
    expected.to_csv(folder / "expected.csv", index=False)
    told = {str(model): importances(model) for model in nf.models if isinstance(model, TFT)}
    if told:
        (folder / "importances.json").write_text(json.dumps(told, separators=(",", ":")) + "\n")

    nf.save(str(folder / "model"), save_dataset=case.save_dataset)
    for file in (folder / "model").glob("*.safetensors"):
        file.write_bytes(canonical(file.read_bytes()))

    loaded = NeuralForecast.load(str(folder / "model"))
    for model in loaded.models:
        if isinstance(model, DeepAR):  # a defect: loaded, it sees a step of history more than the model that was saved
            model.inference_input_size = model.input_size
    gap, _ = distance(loaded.predict(panel, static_df=static, futr_df=futr), expected, **names)
    assert gap < 1e-6, f"{name}: the loaded model differs by {gap}"

    more = {f"insample-{step}": nf.predict_insample(step_size=step) for step in case.insample}
    if case.ahead:
        more[f"ahead-{case.ahead}"] = nf.predict(panel, static_df=static, futr_df=ahead, h=case.ahead)
    if case.level:  # at last: it changes the loss of a distribution
        more["level"] = nf.predict(panel, static_df=static, futr_df=futr, level=case.level)
    for kind, frame in more.items():
        frame.to_csv(folder / f"expected-{kind}.csv", index=False)


def main(*names):
    """All cases, or those that are named."""
    one_thread()
    root = fixtures("foretell") / "checkpoints"
    for name, case in CASES.items():
        if names and name not in names:
            continue
        shutil.rmtree(root / name, ignore_errors=True)
        write(name, case, root / name)
    print(f"checkpoints: {len(CASES)} cases")


if __name__ == "__main__":
    main(*sys.argv[1:])
