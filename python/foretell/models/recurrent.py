"""Recurrent and convolutional models.

Written by python/write_models.py: change that and run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell._model import Network
from foretell.losses.pytorch import DistributionLoss, Loss, MAE

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from foretell._calls import TrainerOptions


class RNN(Network, reads="futr hist stat cat"):
    """RNN (Elman 1990).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        inference_input_size: Steps of history that a recurrent model sees where it forecasts; those of training where
            there is no positive number.
        h_train: Steps of the horizon that a recurrent model trains on.
        encoder_n_layers: Layers of the encoder.
        encoder_hidden_size: Hidden units of each of its layers.
        encoder_activation: "tanh" or "relu"; tanh in either case.
        encoder_bias: Whether its gates have biases.
        encoder_dropout: Dropout between its layers.
        context_size: Deprecated in neuralforecast, and without effect.
        decoder_hidden_size: Units of the hidden layers of the decoder.
        decoder_layers: Layers of the decoder.
        decoder_activation: The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
        recurrent: Whether it forecasts step by step rather than directly.
        sampling: The target that a step-by-step forecast of a distribution reads of the step before: "mean", as in
            neuralforecast, its mean, so that an interval knows the uncertainty of its own step alone; "ancestral",
            samples of it, so that intervals widen with the horizon.
        trajectory_samples: Paths that "ancestral" draws for each forecast, whose quantiles are the forecast's.
    """

    def __init__(
        self, h: int, input_size: int = -1, inference_input_size: int | None = None, h_train: int = 1,
        encoder_n_layers: int = 2, encoder_hidden_size: int = 128, encoder_activation: str | None = "tanh",
        encoder_bias: bool = True, encoder_dropout: float = 0.0, context_size: int | None = None,
        decoder_hidden_size: int = 128, decoder_layers: int = 2, decoder_activation: str | None = None,
        futr_exog_list: Sequence[str] | None = None, hist_exog_list: Sequence[str] | None = None,
        stat_exog_list: Sequence[str] | None = None, cat_exog_list: Sequence[str] | None = None,
        categorical_cardinalities: dict[str, int] | None = None, cat_emb_dim: str | int = "fastai",
        exclude_insample_y: bool = False, recurrent: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 128,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, sampling: str = "mean", trajectory_samples: int = 100,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class LSTM(Network, reads="futr hist stat cat"):
    """LSTM (Hochreiter and Schmidhuber 1997).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        inference_input_size: Steps of history that a recurrent model sees where it forecasts; those of training where
            there is no positive number.
        h_train: Steps of the horizon that a recurrent model trains on.
        encoder_n_layers: Layers of the encoder.
        encoder_hidden_size: Hidden units of each of its layers.
        encoder_bias: Whether its gates have biases.
        encoder_dropout: Dropout between its layers.
        context_size: Deprecated in neuralforecast, and without effect.
        decoder_hidden_size: Units of the hidden layers of the decoder.
        decoder_layers: Layers of the decoder.
        decoder_activation: The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
        recurrent: Whether it forecasts step by step rather than directly.
        sampling: The target that a step-by-step forecast of a distribution reads of the step before: "mean", as in
            neuralforecast, its mean, so that an interval knows the uncertainty of its own step alone; "ancestral",
            samples of it, so that intervals widen with the horizon.
        trajectory_samples: Paths that "ancestral" draws for each forecast, whose quantiles are the forecast's.
    """

    def __init__(
        self, h: int, input_size: int = -1, inference_input_size: int | None = None, h_train: int = 1,
        encoder_n_layers: int = 2, encoder_hidden_size: int = 128, encoder_bias: bool = True,
        encoder_dropout: float = 0.0, context_size: int | None = None, decoder_hidden_size: int = 128,
        decoder_layers: int = 2, decoder_activation: str | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, recurrent: bool = False,
        loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001,
        num_lr_decays: int = -1, early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss",
        val_check_steps: int = 100, batch_size: int = 32, valid_batch_size: int | None = None,
        windows_batch_size: int | None = 128, inference_windows_batch_size: int | None = 1024,
        start_padding_enabled: bool = False, training_data_availability_threshold: float | Sequence[float] = 0.0,
        step_size: int = 1, scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, sampling: str = "mean", trajectory_samples: int = 100,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class GRU(Network, reads="futr hist stat cat"):
    """GRU (Cho et al. 2014, arXiv 1409.1259; Chung et al. 2014, arXiv 1412.3555).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        inference_input_size: Steps of history that a recurrent model sees where it forecasts; those of training where
            there is no positive number.
        h_train: Steps of the horizon that a recurrent model trains on.
        encoder_n_layers: Layers of the encoder.
        encoder_hidden_size: Hidden units of each of its layers.
        encoder_activation: Deprecated in neuralforecast, and without effect: the candidate goes through tanh.
        encoder_bias: Whether its gates have biases.
        encoder_dropout: Dropout between its layers.
        context_size: Deprecated in neuralforecast, and without effect.
        decoder_hidden_size: Units of the hidden layers of the decoder.
        decoder_layers: Layers of the decoder.
        decoder_activation: The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
        recurrent: Whether it forecasts step by step rather than directly.
        sampling: The target that a step-by-step forecast of a distribution reads of the step before: "mean", as in
            neuralforecast, its mean, so that an interval knows the uncertainty of its own step alone; "ancestral",
            samples of it, so that intervals widen with the horizon.
        trajectory_samples: Paths that "ancestral" draws for each forecast, whose quantiles are the forecast's.
    """

    def __init__(
        self, h: int, input_size: int = -1, inference_input_size: int | None = None, h_train: int = 1,
        encoder_n_layers: int = 2, encoder_hidden_size: int = 200, encoder_activation: str | None = None,
        encoder_bias: bool = True, encoder_dropout: float = 0.0, context_size: int | None = None,
        decoder_hidden_size: int = 128, decoder_layers: int = 2, decoder_activation: str | None = None,
        futr_exog_list: Sequence[str] | None = None, hist_exog_list: Sequence[str] | None = None,
        stat_exog_list: Sequence[str] | None = None, cat_exog_list: Sequence[str] | None = None,
        categorical_cardinalities: dict[str, int] | None = None, cat_emb_dim: str | int = "fastai",
        exclude_insample_y: bool = False, recurrent: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 128,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, sampling: str = "mean", trajectory_samples: int = 100,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class LSTMAttention(Network, reads="futr hist stat cat"):
    """LSTMAttention (foretell's own; after Hochreiter and Schmidhuber 1997, Vaswani et al. 2017).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: neuralforecast has no such model and does not load its directories.

    Args:
        encoder_n_layers: Layers of the encoder.
        encoder_hidden_size: Hidden units of each of its layers.
        encoder_dropout: Dropout between its layers.
        n_head: Heads of the attention.
        attn_dropout: Dropout of the attention's probabilities.
        dropout: Dropout behind the attention and behind the hidden layers of the decoder.
        decoder_hidden_size: Units of the hidden layers of the decoder.
        decoder_layers: Layers of the decoder.
        decoder_activation: The decoder's activation, by the name of PyTorch's module.
    """

    def __init__(
        self, h: int, input_size: int, *, alias: str | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        optimizer: type[Any] | str | None = None, optimizer_kwargs: dict[str, Any] | None = None,
        lr_scheduler: type[Any] | str | None = None, lr_scheduler_kwargs: dict[str, Any] | None = None,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 128,
        accumulate_grad_batches: int = 1, inference_windows_batch_size: int | None = 1024,
        start_padding_enabled: bool = False, training_data_availability_threshold: float | Sequence[float] = 0.0,
        step_size: int = 1, scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        encoder_n_layers: int = 2, encoder_hidden_size: int = 128, encoder_dropout: float = 0.0, n_head: int = 4,
        attn_dropout: float = 0.0, dropout: float = 0.0, decoder_hidden_size: int = 128, decoder_layers: int = 2,
        decoder_activation: str | None = "ReLU", **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class DilatedRNN(Network, reads="futr hist stat cat"):
    """DilatedRNN (Chang et al. 2017, arXiv:1710.02224).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: `cell_type="AttentiveLSTM"` trains and forecasts; in neuralforecast it is a
    TypeError.

    Args:
        inference_input_size: Has no effect, as in neuralforecast: the layer over time fits `input_size` alone.
        cell_type: The cell of each layer: RNN, GRU, LSTM, ResLSTM or AttentiveLSTM.
        dilations: The dilations of the layers, a list for each group: how many steps back the state is that a step
            continues from.
        encoder_hidden_size: Hidden units of each layer.
        context_size: Has no effect, as in neuralforecast: the context has as many numbers as the encoder has units.
        decoder_hidden_size: Units of the hidden layers of the decoder.
        decoder_layers: Layers of the decoder.
        decoder_activation: The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
    """

    def __init__(
        self, h: int, input_size: int = -1, inference_input_size: int | None = None, cell_type: str = "LSTM",
        dilations: Sequence[Sequence[int]] = [[1, 2], [4, 8]], encoder_hidden_size: int = 128,
        context_size: int | None = 10, decoder_hidden_size: int = 128, decoder_layers: int = 2,
        decoder_activation: str | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = 3,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 128,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class xLSTM(Network, reads="futr hist stat cat"):
    """xLSTM (Beck et al. 2024, arXiv 2405.04517).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: `recurrent=true` is an error; neuralforecast warns and forecasts directly.
    `backbone="sLSTM"` computes in f32 and on CPUs; neuralforecast needs a GPU for it, where the package computes in
    bfloat16.

    Args:
        inference_input_size: Without effect, since it forecasts directly.
        h_train: Without effect, since it forecasts directly.
        encoder_n_blocks: Blocks of the encoder.
        encoder_hidden_size: Units between the blocks.
        encoder_bias: Whether the projections of an mLSTM have biases.
        encoder_dropout: Dropout behind each mLSTM, or behind the recurrence of each sLSTM.
        decoder_hidden_size: Units of the hidden layers of the decoder.
        decoder_layers: Layers of the decoder.
        decoder_dropout: Dropout in the decoder.
        decoder_activation: The decoder's activation, by the name of PyTorch's module; GELU where there is none.
        backbone: The kind of blocks: `mLSTM` or `sLSTM`.
        recurrent: Must be false: it forecasts directly.
    """

    def __init__(
        self, h: int, input_size: int = -1, inference_input_size: int | None = None, h_train: int = 1,
        encoder_n_blocks: int = 2, encoder_hidden_size: int = 128, encoder_bias: bool = True,
        encoder_dropout: float = 0.1, decoder_hidden_size: int = 128, decoder_layers: int = 2,
        decoder_dropout: float = 0.0, decoder_activation: str | None = None, backbone: str = "mLSTM",
        futr_exog_list: Sequence[str] | None = None, hist_exog_list: Sequence[str] | None = None,
        stat_exog_list: Sequence[str] | None = None, cat_exog_list: Sequence[str] | None = None,
        categorical_cardinalities: dict[str, int] | None = None, cat_emb_dim: str | int = "fastai",
        exclude_insample_y: bool = False, recurrent: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 128,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TCN(Network, reads="futr hist stat cat"):
    """TCN (van den Oord et al. 2016; Bai, Kolter and Koltun 2018).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: `kernel_size=1` reads each step by itself; in neuralforecast it leaves no steps
    and is an error.

    Args:
        inference_input_size: Has no effect, as in neuralforecast: the layer over time fits `input_size` alone.
        kernel_size: Taps of each convolution.
        dilations: Steps from one tap to the next, for each convolution of the stack.
        encoder_hidden_size: Channels of each convolution.
        encoder_activation: The activation behind each convolution, by the name of PyTorch's module.
        context_size: Has no effect, as in neuralforecast: the context has as many numbers as the encoder has units.
        decoder_hidden_size: Units of the hidden layers of the decoder.
        decoder_layers: Layers of the decoder.
        decoder_activation: The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
    """

    def __init__(
        self, h: int, input_size: int = -1, inference_input_size: int | None = None, kernel_size: int = 2,
        dilations: Sequence[int] = [1, 2, 4, 8, 16], encoder_hidden_size: int = 128,
        encoder_activation: str | None = "ReLU", context_size: int | None = 10, decoder_hidden_size: int = 128,
        decoder_layers: int = 2, decoder_activation: str | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 128,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        exclude_insample_y: bool = False, gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None, accumulate_grad_batches: int = 1,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class BiTCN(Network, reads="futr hist stat cat"):
    """BiTCN (Sprangers et al. 2023, arXiv 2112.02905).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: `input_size=1` has a convolution, too; in neuralforecast it has none and is an
    error.

    Args:
        hidden_size: Channels of the convolutions, and units of the layers over time.
        dropout: Dropout of the columns' embeddings, in each convolution, and between the layers over time.
    """

    def __init__(
        self, h: int, input_size: int, hidden_size: int = 16, dropout: float = 0.5,
        futr_exog_list: Sequence[str] | None = None, hist_exog_list: Sequence[str] | None = None,
        stat_exog_list: Sequence[str] | None = None, cat_exog_list: Sequence[str] | None = None,
        categorical_cardinalities: dict[str, int] | None = None, cat_emb_dim: str | int = "fastai",
        exclude_insample_y: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class DeepAR(Network, reads="futr hist stat cat", recurrent=True):
    """DeepAR (Salinas et al. 2020, arXiv 1704.04110).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        h_train: Steps of the horizon that it trains on.
        lstm_n_layers: Layers of the LSTM.
        lstm_hidden_size: Hidden units of each of its layers.
        lstm_dropout: Dropout between its layers.
        decoder_hidden_layers: Hidden layers of the decoder; with none it is a linear layer.
        decoder_hidden_size: Units of each of them.
        decoder_activation: The decoder's activation, by the name of PyTorch's module; ReLU where there is none.
        trajectory_samples: Paths that "ancestral" draws for each forecast, whose quantiles are the forecast's.
        sampling: The target that a step-by-step forecast of a distribution reads of the step before: "mean", as in
            neuralforecast, its mean, so that an interval knows the uncertainty of its own step alone; "ancestral",
            samples of it, so that intervals widen with the horizon.
    """

    def __init__(
        self, h: int, input_size: int = -1, h_train: int = 1, lstm_n_layers: int = 2, lstm_hidden_size: int = 128,
        lstm_dropout: float = 0.1, decoder_hidden_layers: int = 0, decoder_hidden_size: int = 0,
        decoder_activation: str | None = None, trajectory_samples: int = 100,
        stat_exog_list: Sequence[str] | None = None, cat_exog_list: Sequence[str] | None = None,
        categorical_cardinalities: dict[str, int] | None = None, cat_emb_dim: str | int = "fastai",
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, loss: Loss = DistributionLoss(distribution='StudentT'),
        valid_loss: Loss | None = MAE(), max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = 3,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = -1, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, sampling: str = "mean", **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())
