"""Methods of neuralforecast's models that programs override to change how a model is trained, which nothing here would call."""

from __future__ import annotations

#: What neuralforecast's ``BaseModel`` and the models themselves define.
_OF_MODELS = (
    "__multi_scale_process_inputs", "_build_cat_embeddings", "_cat_attr_groups", "_cat_emb_dim", "_check_categorical_exog", "_check_exog",
    "_compute_explanations_for_step", "_compute_valid_loss", "_create_windows", "_effective_exog_size", "_embed_stream", "_explain_batch",
    "_fit", "_fit_distributed", "_get_loc_scale", "_get_temporal_exogenous_cols", "_inv_normalization", "_load_v1", "_load_v2",
    "_lookup_embedding", "_maybe_get_quantile_idx", "_normalization", "_parse_windows", "_predict_step_direct", "_predict_step_direct_batch",
    "_predict_step_recurrent", "_predict_step_recurrent_batch", "_predict_step_recurrent_single", "_predict_step_wrapper",
    "_reduce_cat_attr", "_restart_seed", "_sample_windows", "_set_quantiles", "_shard_multivariate_windows",
    "_validate_step_recurrent_batch", "_validate_step_recurrent_single", "attention_weights", "calcute_lags", "cheb_polynomial",
    "configure_optimizers", "create_stack", "decompose", "feature_importance_correlations", "feature_importances", "fit", "forecast",
    "forward", "future_multi_mixing", "get_laplacian", "get_test_size", "graph_fft", "latent_correlation_layer", "load", "mean_on_batch",
    "on_fit_start", "on_validation_epoch_end", "out_projection", "pre_enc", "predict", "predict_step", "regularization_loss", "save",
    "self_graph_attention", "serialize", "set_test_size", "simulate", "training_step", "validation_step",
)  # fmt: skip

#: Hooks and steps of ``lightning.LightningModule``.
_OF_LIGHTNING = (
    "backward", "clip_gradients", "configure_callbacks", "configure_gradient_clipping", "configure_model", "lr_scheduler_step",
    "manual_backward", "on_after_backward", "on_after_batch_transfer", "on_before_backward", "on_before_batch_transfer",
    "on_before_optimizer_step", "on_before_zero_grad", "on_fit_end", "on_load_checkpoint", "on_predict_batch_end",
    "on_predict_batch_start", "on_predict_end", "on_predict_epoch_end", "on_predict_epoch_start", "on_predict_model_eval",
    "on_predict_start", "on_save_checkpoint", "on_train_batch_end", "on_train_batch_start", "on_train_end", "on_train_epoch_end",
    "on_train_epoch_start", "on_train_start", "on_validation_batch_end", "on_validation_batch_start", "on_validation_end",
    "on_validation_epoch_start", "on_validation_model_eval", "on_validation_model_train", "on_validation_start", "optimizer_step",
    "optimizer_zero_grad", "optimizers", "lr_schedulers", "predict_dataloader", "prepare_data", "setup", "teardown", "test_step",
    "toggle_optimizer", "train_dataloader", "transfer_batch_to_device", "val_dataloader",
)  # fmt: skip

#: Methods of ``torch.nn.Module``.
_OF_MODULES = (
    "apply", "children", "load_state_dict", "modules", "named_children", "named_modules", "named_parameters", "parameters",
    "register_buffer", "register_parameter", "state_dict", "to", "train", "eval", "zero_grad",
)  # fmt: skip

#: What to do instead, by the method that is overridden.
_INSTEAD = {
    "configure_optimizers": "give the model optimizer=, optimizer_kwargs=, lr_scheduler= and lr_scheduler_kwargs=",
    **dict.fromkeys(
        ("configure_gradient_clipping", "clip_gradients"), "give the model gradient_clip_val= and gradient_clip_algorithm="
    ),
    **dict.fromkeys(
        ("fit", "predict", "simulate", "decompose", "save", "load"), "wrap NeuralForecast, which trains all models, in a class of your own"
    ),
    **dict.fromkeys(("training_step", "validation_step", "_compute_valid_loss"), "give the model loss= and valid_loss= of foretell.losses"),
    **dict.fromkeys(("_normalization", "_inv_normalization", "_get_loc_scale"), "give the model scaler_type="),
}
_OTHERWISE = "leave the method out, or write the model in Rust (docs/own-model.md)"

OVERRIDDEN = frozenset({*_OF_MODELS, *_OF_LIGHTNING, *_OF_MODULES})


#: Those of them that foretell's models have.
_OWN = frozenset({"fit", "predict", "decompose", "get_test_size", "set_test_size"})


def check_overridden(cls: type) -> None:
    """Whether no class that a model's class is made of overrides what its training in neuralforecast consists of.

    Raises:
        TypeError: If one does, as the engine would not call it.
    """
    for base in cls.__mro__:
        own = _OWN if base.__module__.startswith("foretell.") else ()
        prefix = f"_{base.__name__.lstrip('_')}"
        for name in vars(base):
            if (name in OVERRIDDEN or name.removeprefix(prefix) in OVERRIDDEN) and name not in own:
                raise refusal(base.__name__, name)


def refusal(owner: str, name: str) -> TypeError:
    """The error of a method that the engine does not call."""
    instead = _INSTEAD.get(name, _OTHERWISE)
    return TypeError(f"{owner} overrides {name}, which neuralforecast calls and foretell does not: the engine trains the model; {instead}")
