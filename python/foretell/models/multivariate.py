"""Models that forecast all series of a panel together.

Written by python/write_models.py: change that and run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foretell._model import Network
from foretell.losses.pytorch import Loss, MAE

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from foretell._calls import TrainerOptions


class iTransformer(Network, reads="futr", multivariate=True):
    """iTransformer (Liu et al. 2023, arXiv 2310.06625).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series. The biases of keys, which softmax cancels, stay as they began; in neuralforecast rounding
    errors move them. No forecast depends on them.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        hidden_size: Numbers of a token.
        n_heads: Heads of each attention.
        e_layers: Layers of the encoder.
        d_layers: No effect; as in neuralforecast, whose model has no decoder.
        d_ff: Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        factor: No effect; as in neuralforecast, whose attention is full.
        dropout: Dropout of embeddings, of attention and behind each part of a layer; of TimeXer also of the forecast.
        use_norm: Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, hidden_size: int = 512, n_heads: int = 8, e_layers: int = 2,
        d_layers: int = 1, d_ff: int = 2048, factor: int = 1, dropout: float = 0.1, use_norm: bool = True,
        loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001,
        num_lr_decays: int = -1, early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss",
        val_check_steps: int = 100, batch_size: int = 32, valid_batch_size: int | None = None,
        windows_batch_size: int | None = 32, inference_windows_batch_size: int | None = 32,
        start_padding_enabled: bool = False, training_data_availability_threshold: float | Sequence[float] = 0.0,
        step_size: int = 1, scaler_type: str | None = "identity", random_seed: int = 1,
        drop_last_loader: bool = False, alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TimeXer(Network, reads="hist stat cat", multivariate=True):
    """TimeXer (Wang et al. 2024, arXiv 2402.19072).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series. The biases of keys, which softmax cancels, stay as they began; in neuralforecast rounding
    errors move them. No forecast depends on them.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        patch_len: Steps of a patch, at most `input_size`; the last steps, which fill no patch, only the other series
            see.
        hidden_size: Numbers of a token.
        n_heads: Heads of each attention.
        e_layers: Layers of the encoder.
        d_ff: Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        factor: No effect; as in neuralforecast, whose attention is full.
        dropout: Dropout of embeddings, of attention and behind each part of a layer; of TimeXer also of the forecast.
        use_norm: Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, patch_len: int = 16,
        hidden_size: int = 512, n_heads: int = 8, e_layers: int = 2, d_ff: int = 2048, factor: int = 1,
        dropout: float = 0.1, use_norm: bool = True, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class MLPMultivariate(Network, reads="futr hist stat cat", multivariate=True):
    """MLPMultivariate (Rosenblatt 1958; Nair and Hinton 2010).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        num_layers: Hidden layers.
        hidden_size: Units of each hidden layer.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, num_layers: int = 2,
        hidden_size: int = 1024, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TSMixer(Network, multivariate=True):
    """TSMixer (Chen et al. 2023, arXiv 2303.06053).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        n_block: Mixing layers on top of each other.
        ff_dim: Hidden units where features are mixed.
        dropout: Dropout behind each linear layer of a mixing layer.
        revin: Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, n_block: int = 2, ff_dim: int = 64, dropout: float = 0.9,
        revin: bool = True, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TSMixerx(Network, reads="futr hist stat cat", multivariate=True):
    """TSMixerx (Chen et al. 2023, arXiv 2303.06053).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        n_block: Mixing layers on top of each other.
        ff_dim: Hidden units where features are mixed.
        dropout: Dropout behind each linear layer of a mixing layer.
        revin: Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, n_block: int = 2, ff_dim: int = 64,
        dropout: float = 0.0, revin: bool = True, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class XLinear(Network, reads="futr hist stat cat", multivariate=True):
    """XLinear (2026, arXiv 2601.09237).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        hidden_size: Numbers that a series' history is embedded to, and numbers of its token.
        temporal_ff: Units of the gate over the features of a series.
        channel_ff: Units of the gate over the series; a multiple of their number serves best.
        temporal_dropout: Dropout in the gate over features.
        channel_dropout: Dropout in the gate over series.
        embed_dropout: Dropout of the embedding.
        head_dropout: Dropout of the features that the forecast is computed from.
        use_norm: Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, hidden_size: int = 128,
        temporal_ff: int = 256, channel_ff: int = 8, temporal_dropout: float = 0.0, channel_dropout: float = 0.0,
        embed_dropout: float = 0.0, head_dropout: float = 0.0, use_norm: bool = True, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class RMoK(Network, multivariate=True):
    """RMoK (Han et al. 2024, arXiv 2408.11306).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        taylor_order: Terms of the Taylor polynomials, the constant one among them.
        jacobi_degree: Degree of the Jacobi polynomials.
        wavelet_function: Which wavelets: "mexican_hat", "morlet", "dog", "meyer" or "shannon".
        dropout: Dropout of the normalised history.
        revin_affine: Whether the normalisation has a learned factor and offset for each series.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        taylor_order: int = 3, jacobi_degree: int = 6, wavelet_function: str = "mexican_hat", dropout: float = 0.1,
        revin_affine: bool = True, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        exclude_insample_y: bool = False, gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None, accumulate_grad_batches: int = 1,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class StemGNN(Network, multivariate=True):
    """StemGNN (Cao et al. 2020, arXiv 2103.07719).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        n_stacks: Blocks: 2, as in neuralforecast.
        multi_layer: Units of a block, as a multiple of `input_size`.
        dropout_rate: Dropout of the graph.
        leaky_rate: Slope below 0 of the activation behind which softmax weighs the series.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, n_stacks: int = 2, multi_layer: int = 5, dropout_rate: float = 0.5,
        leaky_rate: float = 0.2, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = 3, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TimeMixer(Network, multivariate=True):
    """TimeMixer (Wang et al. 2024, arXiv 2405.14616).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: `down_sampling_method="conv"` convolves by weights that are drawn once, by
    `random_seed`, and kept; in neuralforecast they are drawn anew at every call, so that two forecasts differ.
    `decomp_method="dft_decomp"` takes all of a window for its season and nothing for its trend, whatever `top_k` is:
    so neuralforecast treats all windows of a batch but its first, all of which it takes for trend. `input_size` may
    leave a rest when it is divided by `down_sampling_window`: coarser scales then leave out the last steps; in
    neuralforecast it is an error.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        d_model: Numbers that a step is embedded to; even.
        d_ff: Units of the perceptrons over the numbers of a step.
        dropout: Dropout of embeddings.
        e_layers: Mixing blocks on top of each other.
        top_k: No effect: see the differences.
        decomp_method: How blocks split a window into season and trend: "moving_avg" or "dft_decomp".
        moving_avg: Steps of the moving average, odd.
        channel_independence: 1 if the series of a window do not see each other, else 0.
        down_sampling_layers: Scales below that of the window.
        down_sampling_window: Steps that become one of the next scale.
        down_sampling_method: How these steps become one: by their mean ("avg"), the largest ("max"), or a random
            convolution of three steps ("conv").
        use_norm: Whether the series are brought to mean 0 and variance 1 at each scale, and the forecasts back.
        decoder_input_size_multiplier: No effect, but it must be above 0 and such that not the whole history is taken:
            so in neuralforecast.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None, d_model: int = 32,
        d_ff: int = 32, dropout: float = 0.1, e_layers: int = 4, top_k: int = 5, decomp_method: str = "moving_avg",
        moving_avg: int = 25, channel_independence: int = 0, down_sampling_layers: int = 1,
        down_sampling_window: int = 2, down_sampling_method: str = "avg", use_norm: bool = True,
        decoder_input_size_multiplier: float = 0.5, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        exclude_insample_y: bool = False, gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None, accumulate_grad_batches: int = 1,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class SOFTS(Network, multivariate=True):
    """SOFTS (Han et al. 2024, arXiv 2404.14197).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        hidden_size: Numbers of the vector of a series.
        d_core: Numbers of the core of all series.
        e_layers: Layers in which series meet in a core.
        d_ff: Units of the perceptron that follows on each series; 0 for four times `hidden_size`.
        dropout: Dropout behind each part of a layer.
        use_norm: Whether each series of a window is brought to mean 0 and variance 1, and its forecast back.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, hidden_size: int = 512, d_core: int = 512, e_layers: int = 2,
        d_ff: int = 2048, dropout: float = 0.1, use_norm: bool = True, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class SOFTSSharp(Network, multivariate=True):
    """SOFTSSharp (Ljubić, in preparation; related: doi 10.1177/1088467X251380055).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With several quantiles each series gets its own; in neuralforecast a series gets
    values of other series. Whether a layer of a training step encodes the positions of series is drawn for each shard
    of the batch; in neuralforecast for the whole batch.

    Args:
        n_series: Series of the panel, all of which a window holds; None for as many as the training data have.
        hidden_size: Numbers of the vector of a series.
        d_core: Numbers of the core of all series.
        e_layers: Layers in which series meet in a core.
        d_ff: Units of the perceptron that follows on each series; 0 for four times `hidden_size`.
        dropout: Dropout behind each part of a layer.
        pe_keep_prob: The probability with which training adds the encoding of the positions of series; inference
            multiplies the encoding by it.
        use_norm: Whether each series of a window is brought to mean 0 and variance 1, and its forecast back.
    """

    def __init__(
        self, h: int, input_size: int, n_series: int | None = None, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, hidden_size: int = 512, d_core: int = 512, e_layers: int = 2,
        d_ff: int = 2048, dropout: float = 0.1, pe_keep_prob: float = 0.5, use_norm: bool = True, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 32,
        inference_windows_batch_size: int | None = 32, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())
