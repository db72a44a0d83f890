//! What the hyper-parameters that every model has mean.

/// The name of each, and what it means.
pub(crate) const MEANINGS: &[(&str, &str)] = &[
    ("h", "Steps to forecast."),
    ("input_size", "Steps of history that a window holds; -1 for 3 * h."),
    (
        "n_series",
        "Series of the panel, all of which a window holds; null for as many as the training data have.",
    ),
    ("futr_exog_list", "Columns known for past and future."),
    ("hist_exog_list", "Columns known for the past only."),
    ("stat_exog_list", "Columns of the static table."),
    ("cat_exog_list", "Those of these columns that hold categories, which are embedded instead of scaled."),
    (
        "categorical_cardinalities",
        "The most categories that each of them may have, {column: number}; null for those of the training data.",
    ),
    (
        "cat_emb_dim",
        "The numbers that a category becomes: by a rule for the number n of categories, \"fastai\" (1.6 n^0.56), \
         \"sqrt\" or \"half\", each at most 50, or one number for all columns.",
    ),
    ("exclude_insample_y", "Whether the target's own history is hidden from the model."),
    ("loss", "What training makes small: a name, or {name: {argument: value}}."),
    ("valid_loss", "What is watched on the validation windows; null for loss."),
    ("max_steps", "Steps of training, a batch of windows each."),
    ("learning_rate", "The optimiser's rate at the first step."),
    ("num_lr_decays", "Times that the rate is halved, evenly spread over max_steps; -1 for none."),
    ("optimizer", "PyTorch's class: Adam, AdamW, SGD, RMSprop or RAdam; null for Adam."),
    (
        "optimizer_kwargs",
        "Its arguments without the rate, such as {\"weight_decay\": 0.1}; null for its defaults.",
    ),
    (
        "lr_scheduler",
        "PyTorch's class: StepLR, CosineAnnealingLR, OneCycleLR or ReduceLROnPlateau, or our CosineWarmup; null for \
         num_lr_decays halvings.",
    ),
    ("lr_scheduler_kwargs", "Its arguments, such as {\"step_size\": 100}; null for its defaults."),
    ("gradient_clip_val", "What the gradient is bounded by; null or 0 for nothing."),
    (
        "gradient_clip_algorithm",
        "Whether the bound is on the gradient's \"norm\" or on each \"value\" of it; null for norm.",
    ),
    (
        "early_stop_patience_steps",
        "Checks without a better validation loss after which training ends; -1 for none.",
    ),
    ("val_monitor", "What early stopping watches: \"ptl/val_loss\" or \"valid_loss\", which are the same."),
    ("val_check_steps", "Steps of training between two checks on the validation windows."),
    ("batch_size", "Series that a batch's windows are drawn from."),
    ("valid_batch_size", "Series checked or forecast at a time; null for batch_size."),
    ("windows_batch_size", "Windows of a batch; null for all of its series."),
    ("inference_windows_batch_size", "Windows forecast at a time; -1 for all, null for windows_batch_size."),
    ("start_padding_enabled", "Whether series are padded with input_size zeros at their start."),
    (
        "training_data_availability_threshold",
        "The least share of a training window's steps that hold values: one number, or [history, horizon].",
    ),
    ("step_size", "Steps from one training window of a series to the next."),
    ("scaler_type", "How each window is scaled by its history."),
    ("random_seed", "What first weights, draws of windows, dropout and sample paths are derived from."),
    ("drop_last_loader", "Whether training passes over the last batch of series where it is not full."),
    ("alias", "The name of the model's column in forecasts; null for the model's own."),
];

#[cfg(test)]
mod tests {
    use crate::ModelSpec;

    #[test]
    fn every_hyper_parameter_has_a_meaning() {
        let common = ModelSpec::common_defaults();
        let names: Vec<&str> = common.keys().map(String::as_str).collect();
        assert_eq!(super::MEANINGS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    }
}
