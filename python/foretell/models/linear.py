"""Linear models, perceptrons and models of a basis.

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


class NLinear(Network):
    """NLinear (Zeng et al. 2022, arXiv 2205.13504).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 5000,
        learning_rate: float = 0.0001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
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


class DLinear(Network):
    """DLinear (Zeng et al. 2022, arXiv 2205.13504).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        moving_avg_window: Steps of the moving average, odd.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, moving_avg_window: int = 25, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 5000, learning_rate: float = 0.0001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
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


class RLinear(Network):
    """RLinear (Li et al. 2023, arXiv 2305.10721).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: neuralforecast has no such model.

    Args:
        revin_affine: Whether the normalisation has a learned factor and offset.
        revin_subtract_last: Whether a window is shifted by its last value, not by its mean.
        dropout: Dropout of the normalised history.
    """

    def __init__(
        self, h: int, input_size: int, *, alias: str | None = None, exclude_insample_y: bool = False,
        loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 5000, learning_rate: float = 0.0001,
        num_lr_decays: int = -1, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 1024, accumulate_grad_batches: int = 1,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        revin_affine: bool = True, revin_subtract_last: bool = False, dropout: float = 0.0,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class MLP(Network, reads="futr hist stat cat"):
    """MLP (Rosenblatt 1958; Nair and Hinton 2010).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        num_layers: Hidden layers.
        hidden_size: Units of each hidden layer.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, num_layers: int = 2,
        hidden_size: int = 1024, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = -1, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class NBEATS(Network):
    """NBEATS (Oreshkin et al. 2020, arXiv 1905.10437).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With shared_weights and another basis than polynomial it can be saved;
    neuralforecast cannot save it. A stack without blocks is an error; neuralforecast ignores it.

    Args:
        n_harmonics: A seasonality has the frequencies (n_harmonics + i) / n_harmonics per horizon, i = 0, 1, ...,
            below half the horizon's steps, and the constant.
        n_polynomials: Read and not used: n_basis and basis took its place.
        n_basis: Functions of a trend beside the first.
        basis: The functions of a trend: "polynomial", "legendre", "chebyshev", "changepoint", "piecewise_linear",
            "linear_hat" or "spline".
        stack_types: The kind of each stack: "identity", "trend" or "seasonality".
        n_blocks: Blocks of each stack.
        mlp_units: [inputs, outputs] of the hidden layers of every block.
        dropout_prob_theta: 0: NBEATSx has dropout, NBEATS has none.
        activation: Behind each hidden layer: "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "PReLU" or "Sigmoid".
        shared_weights: Whether the blocks of a stack have one set of weights.
    """

    def __init__(
        self, h: int, input_size: int, n_harmonics: int = 2, n_polynomials: int | None = None, n_basis: int = 2,
        basis: str = "polynomial", stack_types: Sequence[str] = ["identity", "trend", "seasonality"],
        n_blocks: Sequence[int] = [1, 1, 1],
        mlp_units: Sequence[Sequence[int]] = [[512, 512], [512, 512], [512, 512]], dropout_prob_theta: float = 0.0,
        activation: str = "ReLU", shared_weights: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = 3,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = -1, start_padding_enabled: bool = False,
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


class NBEATSx(Network, reads="futr hist stat cat"):
    """NBEATSx (Olivares et al. 2023, arXiv 2104.05522).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: A stack without blocks is an error; neuralforecast ignores it.

    Args:
        n_harmonics: A seasonality has the frequencies (n_harmonics + i) / n_harmonics per horizon, i = 0, 1, ...,
            below half the horizon's steps, and the constant.
        n_polynomials: The highest power of time in a trend.
        stack_types: The kind of each stack: "identity", "trend", "seasonality" or "exogenous".
        n_blocks: Blocks of each stack.
        mlp_units: [inputs, outputs] of the hidden layers of every block.
        dropout_prob_theta: Dropout behind each activation.
        activation: Behind each hidden layer: "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "PReLU" or "Sigmoid".
        shared_weights: Whether the blocks of a stack have one set of weights.
    """

    def __init__(
        self, h: int, input_size: int, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, n_harmonics: int = 2,
        n_polynomials: int | None = 2, stack_types: Sequence[str] = ["identity", "trend", "seasonality"],
        n_blocks: Sequence[int] = [1, 1, 1],
        mlp_units: Sequence[Sequence[int]] = [[512, 512], [512, 512], [512, 512]], dropout_prob_theta: float = 0.0,
        activation: str = "ReLU", shared_weights: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = 3,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = -1, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class NHITS(Network, reads="futr hist stat cat"):
    """NHITS (Challu et al. 2023, arXiv 2201.12886).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: A stack without blocks is an error; neuralforecast ignores it.

    Args:
        stack_types: One "identity" per stack.
        n_blocks: Blocks of each stack.
        mlp_units: [inputs, outputs] of the hidden layers of every block.
        n_pool_kernel_size: Steps that each stack pools the history by.
        n_freq_downsample: Steps of the horizon per knot of each stack's forecast.
        pooling_mode: "MaxPool1d" or "AvgPool1d".
        interpolation_mode: "linear", "nearest" or "cubic".
        dropout_prob_theta: Dropout behind each activation.
        activation: Behind each hidden layer: "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "PReLU" or "Sigmoid".
    """

    def __init__(
        self, h: int, input_size: int, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False,
        stack_types: Sequence[str] = ["identity", "identity", "identity"], n_blocks: Sequence[int] = [1, 1, 1],
        mlp_units: Sequence[Sequence[int]] = [[512, 512], [512, 512], [512, 512]],
        n_pool_kernel_size: Sequence[int] = [2, 2, 1], n_freq_downsample: Sequence[int] = [4, 2, 1],
        pooling_mode: str = "MaxPool1d", interpolation_mode: str = "linear", dropout_prob_theta: float = 0.0,
        activation: str = "ReLU", loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = 3, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = -1, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TiDE(Network, reads="futr hist stat cat"):
    """TiDE (Das et al. 2023, arXiv 2304.08424).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: With `layernorm` and a loss of one output no gradient passes the last norm, so
    the weights before it stay as they began; in neuralforecast rounding errors move them. No forecast depends on
    them.

    Args:
        hidden_size: Hidden units of each block of the encoder and the decoder, and of the blocks that project
            columns.
        decoder_output_dim: Numbers that the decoder makes for each step of the horizon.
        temporal_decoder_dim: Hidden units of the temporal decoder, which makes a step's forecast of these numbers.
        dropout: Dropout behind the last dense layer of each block.
        layernorm: Whether each block ends in a layer normalisation. Of one number that leaves the bias only: with a
            loss of one output the forecast is then the linear skip of the history and a constant.
        num_encoder_layers: Blocks of the encoder.
        num_decoder_layers: Blocks of the decoder.
        temporal_width: Numbers that the historic columns of a step are projected to, and the future ones.
    """

    def __init__(
        self, h: int, input_size: int, hidden_size: int = 512, decoder_output_dim: int = 32,
        temporal_decoder_dim: int = 128, dropout: float = 0.3, layernorm: bool = True, num_encoder_layers: int = 1,
        num_decoder_layers: int = 1, temporal_width: int = 4, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
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


class DeepNPTS(Network, reads="futr hist stat cat"):
    """DeepNPTS (Rangapuram et al. 2023, arXiv 2312.14657).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        hidden_size: Units of each hidden layer.
        batch_norm: Whether batch normalisation follows each hidden layer.
        dropout: Dropout behind each hidden layer.
        n_layers: Hidden layers.
    """

    def __init__(
        self, h: int, input_size: int, hidden_size: int = 32, batch_norm: bool = True, dropout: float = 0.1,
        n_layers: int = 2, stat_exog_list: Sequence[str] | None = None, hist_exog_list: Sequence[str] | None = None,
        futr_exog_list: Sequence[str] | None = None, cat_exog_list: Sequence[str] | None = None,
        categorical_cardinalities: dict[str, int] | None = None, cat_emb_dim: str | int = "fastai",
        exclude_insample_y: bool = False, loss: Loss = MAE(), valid_loss: Loss | None = MAE(), max_steps: int = 1000,
        learning_rate: float = 0.001, num_lr_decays: int = 3, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "standard", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class KAN(Network, reads="futr hist stat cat"):
    """KAN (Liu et al. 2024, arXiv 2404.19756).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Args:
        grid_size: Intervals that the grid of a spline cuts its range into.
        spline_order: Order of the splines.
        scale_noise: How large the noise is that splines start from, in intervals.
        scale_base: How much the weights of the base function, SiLU, are drawn smaller at first.
        scale_spline: How much the factors of the splines are drawn smaller at first.
        enable_standalone_scale_spline: No effect, as in neuralforecast: each spline has a factor of its own.
        grid_eps: No effect: the grid is not changed in training.
        grid_range: Where the grid begins and where it ends; `spline_order` intervals further on either side, splines
            are 0.
        n_hidden_layers: Hidden layers.
        hidden_size: Units of every hidden layer, or a list with those of each.
    """

    def __init__(
        self, h: int, input_size: int, grid_size: int = 5, spline_order: int = 3, scale_noise: float = 0.1,
        scale_base: float = 1.0, scale_spline: float = 1.0, enable_standalone_scale_spline: bool = True,
        grid_eps: float = 0.02, grid_range: Sequence[float] = [-1.0, 1.0], n_hidden_layers: int = 1,
        hidden_size: int | Sequence[int] = 512, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, loss: Loss = MAE(),
        valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001, num_lr_decays: int = -1,
        early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss", val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = -1, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        lr_scheduler: type[Any] | str | None = None, lr_scheduler_kwargs: dict[str, Any] | None = None,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())
