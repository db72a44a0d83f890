"""Transformers and models of the spectrum.

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


class Autoformer(Network, reads="futr cat"):
    """Autoformer (Wu et al. 2021, arXiv 2106.13008).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: Biases that no forecast depends on (a mean over time, a moving average or
    softmax cancels them) are not trained; in neuralforecast rounding errors move them.

    Args:
        decoder_input_size_multiplier: The share of the history that the decoder sees, above 0 and below 1.
        hidden_size: Numbers of a step.
        dropout: Dropout of embeddings, of attention and behind each part of a layer.
        factor: Delays that are taken of n steps, in units of ln(n).
        n_head: Heads of each attention.
        conv_hidden_size: Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        activation: Their activation: "relu" or "gelu".
        encoder_layers: Layers of the encoder.
        decoder_layers: Layers of the decoder.
        MovingAvg_window: Steps of the moving average, odd.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False,
        decoder_input_size_multiplier: float = 0.5, hidden_size: int = 128, dropout: float = 0.05, factor: int = 3,
        n_head: int = 4, conv_hidden_size: int = 32, activation: str = "gelu", encoder_layers: int = 2,
        decoder_layers: int = 1, MovingAvg_window: int = 25, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 5000, learning_rate: float = 0.0001, num_lr_decays: int = -1,
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


class FEDformer(Network, reads="futr cat"):
    """FEDformer (Zhou et al. 2022, arXiv 2201.12740).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: Biases that no forecast depends on (a mean over time, a moving average or
    softmax cancels them) are not trained; in neuralforecast rounding errors move them. Projections of keys and values
    that neuralforecast makes and never calls are kept in checkpoints as they were drawn.

    Args:
        decoder_input_size_multiplier: The share of the history that the decoder sees, above 0 and below 1.
        version: "Fourier", the one version there is.
        modes: Frequencies that an attention sees, at most; there are half as many as steps.
        mode_select: "random" for frequencies chosen at random by random_seed; anything else for the lowest.
        hidden_size: Numbers of a step.
        dropout: Dropout of embeddings, of attention and behind each part of a layer.
        n_head: Heads of each attention.
        conv_hidden_size: Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        activation: Their activation: "relu" or "gelu".
        encoder_layers: Layers of the encoder.
        decoder_layers: Layers of the decoder.
        MovingAvg_window: Steps of the moving average, odd.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", decoder_input_size_multiplier: float = 0.5, version: str = "Fourier",
        modes: int = 64, mode_select: str = "random", hidden_size: int = 128, dropout: float = 0.05, n_head: int = 8,
        conv_hidden_size: int = 32, activation: str = "gelu", encoder_layers: int = 2, decoder_layers: int = 1,
        MovingAvg_window: int = 25, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 5000,
        learning_rate: float = 0.0001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
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


class VanillaTransformer(Network, reads="futr cat"):
    """VanillaTransformer (Vaswani et al. 2017, arXiv 1706.03762).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: The biases of keys, which softmax cancels, stay as they began; in neuralforecast
    rounding errors move them. No forecast depends on them.

    Args:
        decoder_input_size_multiplier: The share of the history that the decoder sees, above 0 and below 1.
        hidden_size: Numbers of a step.
        dropout: Dropout of embeddings, of attention and behind each part of a layer.
        n_head: Heads of each attention.
        conv_hidden_size: Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        activation: Their activation: "relu" or "gelu".
        encoder_layers: Layers of the encoder.
        decoder_layers: Layers of the decoder.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False,
        decoder_input_size_multiplier: float = 0.5, hidden_size: int = 128, dropout: float = 0.05, n_head: int = 4,
        conv_hidden_size: int = 32, activation: str = "gelu", encoder_layers: int = 2, decoder_layers: int = 1,
        loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 5000, learning_rate: float = 0.0001,
        num_lr_decays: int = -1, early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss",
        val_check_steps: int = 100, batch_size: int = 32, valid_batch_size: int | None = None,
        windows_batch_size: int | None = 1024, inference_windows_batch_size: int | None = 1024,
        start_padding_enabled: bool = False, training_data_availability_threshold: float | Sequence[float] = 0.0,
        step_size: int = 1, scaler_type: str | None = "identity", random_seed: int = 1,
        drop_last_loader: bool = False, alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class Informer(Network, reads="futr cat"):
    """Informer (Zhou et al. 2021, arXiv 2012.07436).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: The keys that are sampled for a forecast follow from `random_seed`; in
    neuralforecast they are other ones in each call, whose forecasts differ therefore. With `n_head=1` the queries
    that attend are those of the window alone; in neuralforecast they are those of all windows of the batch. The
    biases of keys and of distilling convolutions, to which no gradient flows but rounding errors, stay as they began;
    in neuralforecast rounding errors move them.

    Args:
        decoder_input_size_multiplier: The share of the history that the decoder sees, above 0 and below 1.
        hidden_size: Numbers of a step.
        dropout: Dropout of embeddings, of attention and behind each part of a layer.
        factor: Queries of n that attend, and keys of n that are sampled, in units of the logarithm of n.
        n_head: Heads of each attention.
        conv_hidden_size: Units of the perceptron in each layer; 0 for `4 * hidden_size`.
        activation: Their activation: "relu" or "gelu".
        encoder_layers: Layers of the encoder.
        decoder_layers: Layers of the decoder.
        distil: Whether the encoder halves the steps between its layers.
    """

    def __init__(
        self, h: int, input_size: int, futr_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, stat_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False,
        decoder_input_size_multiplier: float = 0.5, hidden_size: int = 128, dropout: float = 0.05, factor: int = 3,
        n_head: int = 4, conv_hidden_size: int = 32, activation: str = "gelu", encoder_layers: int = 2,
        decoder_layers: int = 1, distil: bool = True, loss: Loss = MAE(), valid_loss: Loss | None = None,
        max_steps: int = 5000, learning_rate: float = 0.0001, num_lr_decays: int = -1,
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


class TFT(Network, reads="futr hist stat"):
    """TFT (Lim et al. 2021, arXiv 1912.09363).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: A `grn_activation` that is not listed is an error; neuralforecast uses ELU
    instead. "GLU", which halves the number of units, is an error in both. The network that weighs the variables where
    there is only one, and the weights for a static context without static columns, stay as they began. No forecast
    depends on them.

    Args:
        tgt_size: Vectors that the target is embedded as, each a variable of its own.
        hidden_size: Numbers of each vector, and units of each layer.
        n_head: Heads of the attention, which divide `hidden_size`.
        attn_dropout: Dropout of the attention's weights.
        grn_activation: The activation of the gated residual networks: "ReLU", "Softplus", "Tanh", "SELU",
            "LeakyReLU", "Sigmoid", "ELU" or "GELU". Those that make contexts of the static columns always have "ELU".
        n_rnn_layers: Recurrent layers that read the history, and as many that read the future.
        rnn_type: Their cells: "lstm" or "gru".
        one_rnn_initial_state: Whether all of them start from the same state, computed from the static columns,
            instead of one each.
        dropout: Dropout of the gated residual networks and of the output of the attention.
    """

    def __init__(
        self, h: int, input_size: int, tgt_size: int = 1, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        hidden_size: int = 128, n_head: int = 4, attn_dropout: float = 0.0, grn_activation: str = "ELU",
        n_rnn_layers: int = 1, rnn_type: str = "lstm", one_rnn_initial_state: bool = False, dropout: float = 0.1,
        loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000, learning_rate: float = 0.001,
        num_lr_decays: int = -1, early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss",
        val_check_steps: int = 100, batch_size: int = 32, valid_batch_size: int | None = None,
        windows_batch_size: int | None = 1024, inference_windows_batch_size: int | None = 1024,
        start_padding_enabled: bool = False, training_data_availability_threshold: float | Sequence[float] = 0.0,
        step_size: int = 1, scaler_type: str | None = "robust", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        exclude_insample_y: bool = False, gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None, accumulate_grad_batches: int = 1,
        **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class PatchTST(Network):
    """PatchTST (Nie et al. 2023, arXiv 2211.14730).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: The biases of keys, which softmax cancels, stay as they began; in neuralforecast
    rounding errors move them. No forecast depends on them. Without `res_attention`, `attn_dropout` is of training
    alone; in neuralforecast it drops in forecasts, too, which then differ from call to call.

    Args:
        encoder_layers: Layers of the encoder.
        n_heads: Heads of each attention; they divide `hidden_size`.
        hidden_size: Numbers of a patch.
        linear_hidden_size: Units of the perceptron in each layer.
        dropout: Dropout of embeddings and behind each part of a layer.
        fc_dropout: No effect; as in neuralforecast, whose model has no pretrained head.
        head_dropout: Dropout of the forecast.
        attn_dropout: Dropout of attention.
        patch_len: Steps of a patch; at most `input_size + stride`.
        stride: Steps from one patch to the next.
        revin: Whether each window is brought to variance 1, and the forecast back.
        revin_affine: Whether that has a learned factor and offset.
        revin_subtract_last: Whether a window is shifted by its last value, not by its mean.
        activation: Activation of the perceptron: "relu" or "gelu".
        res_attention: Whether attention adds the scores of the layer before it to its own.
        batch_normalization: Whether the batch normalisation of a layer comes before its attention and its perceptron;
            else it comes behind them.
        learn_pos_embed: Whether the encoding of places is learned.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        exclude_insample_y: bool = False, encoder_layers: int = 3, n_heads: int = 16, hidden_size: int = 128,
        linear_hidden_size: int = 256, dropout: float = 0.2, fc_dropout: float = 0.2, head_dropout: float = 0.0,
        attn_dropout: float = 0.0, patch_len: int = 16, stride: int = 8, revin: bool = True,
        revin_affine: bool = False, revin_subtract_last: bool = True, activation: str = "gelu",
        res_attention: bool = True, batch_normalization: bool = False, learn_pos_embed: bool = True,
        loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 5000, learning_rate: float = 0.0001,
        num_lr_decays: int = -1, early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss",
        val_check_steps: int = 100, batch_size: int = 32, valid_batch_size: int | None = None,
        windows_batch_size: int | None = 1024, inference_windows_batch_size: int | None = 1024,
        start_padding_enabled: bool = False, training_data_availability_threshold: float | Sequence[float] = 0.0,
        step_size: int = 1, scaler_type: str | None = "identity", random_seed: int = 1,
        drop_last_loader: bool = False, alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TimesNet(Network, reads="futr cat"):
    """TimesNet (Wu et al. 2023, arXiv 2210.02186).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: `period_per_window` is foretell's own: with it a forecast does not depend on
    which others are made at the same time. Models that neuralforecast trained are without it, and neuralforecast
    ignores it.

    Args:
        hidden_size: Channels of a step; even.
        dropout: Dropout of the embedding.
        conv_hidden_size: Channels between the two convolutions of a block.
        top_k: Periods that a window is folded by; at most half of `input_size + h`.
        num_kernels: Sizes of kernels, 1, 3, 5 and so on, whose results are averaged.
        encoder_layers: Blocks on top of each other.
        period_per_window: Whether a forecast folds each window by periods of its own; else by those of all windows that
            are forecast together, as training does and neuralforecast always, so that a forecast depends on its
            neighbours.
    """

    def __init__(
        self, h: int, input_size: int, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None,
        cat_exog_list: Sequence[str] | None = None, categorical_cardinalities: dict[str, int] | None = None,
        cat_emb_dim: str | int = "fastai", exclude_insample_y: bool = False, hidden_size: int = 64,
        dropout: float = 0.1, conv_hidden_size: int = 64, top_k: int = 5, num_kernels: int = 6,
        encoder_layers: int = 2, loss: Loss = MAE(), valid_loss: Loss | None = None, max_steps: int = 1000,
        learning_rate: float = 0.0001, num_lr_decays: int = -1, early_stop_patience_steps: int = -1,
        val_monitor: str = "ptl/val_loss", val_check_steps: int = 100, batch_size: int = 32,
        valid_batch_size: int | None = None, windows_batch_size: int | None = 64,
        inference_windows_batch_size: int | None = 256, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        scaler_type: str | None = "standard", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None,
        accumulate_grad_batches: int = 1, period_per_window: bool = True, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())


class TimeLLM(Network):
    """TimeLLM (Jin et al. 2023, arXiv 2310.01728).

    The arguments that are not listed are those of every network: see :class:`foretell.models.Network`.

    Otherwise than in neuralforecast: It needs a program with the Cargo feature `timellm`. `llm` is the folder of a
    GPT-2; nothing is downloaded. A prompt is not filled up to the longest of its batch, so that a forecast does not
    depend on which others are made at the same time: it is that of neuralforecast for a window alone. Of two lags of
    the same autocorrelation the smaller one comes first in the prompt; in neuralforecast rounding decides, as it may
    decide the last digit of a statistic. A saved model holds what was trained, and the path and the checksum of the
    language model's folder; neuralforecast neither saves nor loads TimeLLM. A prompt that leaves no room for the
    patches is cut; in neuralforecast it is an error of the language model. `num_tokens`, `attention_dropout` and
    `llm_checksum` are foretell's own.

    Args:
        patch_len: Steps of a patch; at most `input_size + stride`.
        stride: Steps from one patch to the next.
        d_ff: Width of the heads of the reprogramming, and how many numbers of each state of the language model the
            forecast is made of; at most `d_llm`.
        top_k: Lags that the prompt names; it calls them the top 5, however many they are.
        d_llm: Width of the language model's states.
        d_model: Numbers of a patch.
        n_heads: Heads of the reprogramming.
        enc_in: No effect, as in neuralforecast.
        dec_in: No effect, as in neuralforecast.
        llm: The folder of the language model: `config.json`, `model.safetensors` and `tokenizer.json` of a GPT-2 in
            Hugging Face's layout.
        llm_config: No effect; deprecated in neuralforecast.
        llm_tokenizer: No effect; deprecated in neuralforecast.
        llm_num_hidden_layers: No effect, as in neuralforecast: all layers of the language model are used.
        llm_output_attention: No effect, as in neuralforecast.
        llm_output_hidden_states: No effect, as in neuralforecast.
        prompt_prefix: The description of the data in the prompt; None is the word None in it.
        dropout: Dropout of the embedded patches and of the forecast.
        attention_dropout: Dropout of the reprogramming's attention; 0.1 in neuralforecast.
        num_tokens: Prototypes that the words of the language model are brought to; 1024 in neuralforecast.
        llm_checksum: The checksum of the language model's folder, if it must be a certain one; a saved model has it.
    """

    def __init__(
        self, h: int, input_size: int, patch_len: int = 16, stride: int = 8, d_ff: int = 128, top_k: int = 5,
        d_llm: int = 768, d_model: int = 32, n_heads: int = 8, enc_in: int = 7, dec_in: int = 7,
        llm: str | None = None, llm_config: Any = None, llm_tokenizer: Any = None, llm_num_hidden_layers: int = 32,
        llm_output_attention: bool = True, llm_output_hidden_states: bool = True, prompt_prefix: str | None = None,
        dropout: float = 0.1, stat_exog_list: Sequence[str] | None = None,
        hist_exog_list: Sequence[str] | None = None, futr_exog_list: Sequence[str] | None = None, loss: Loss = MAE(),
        valid_loss: Loss | None = None, learning_rate: float = 0.0001, max_steps: int = 5, val_check_steps: int = 100,
        batch_size: int = 32, valid_batch_size: int | None = None, windows_batch_size: int | None = 1024,
        inference_windows_batch_size: int | None = 1024, start_padding_enabled: bool = False,
        training_data_availability_threshold: float | Sequence[float] = 0.0, step_size: int = 1,
        num_lr_decays: int = 0, early_stop_patience_steps: int = -1, val_monitor: str = "ptl/val_loss",
        scaler_type: str | None = "identity", random_seed: int = 1, drop_last_loader: bool = False,
        alias: str | None = None, optimizer: type[Any] | str | None = None,
        optimizer_kwargs: dict[str, Any] | None = None, lr_scheduler: type[Any] | str | None = None,
        lr_scheduler_kwargs: dict[str, Any] | None = None, dataloader_kwargs: dict[str, Any] | None = None, *,
        exclude_insample_y: bool = False, gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None, accumulate_grad_batches: int = 1, attention_dropout: float = 0.1,
        num_tokens: int = 1024, llm_checksum: str | None = None, **trainer_kwargs: Unpack[TrainerOptions]
    ) -> None:
        self._take(locals())
