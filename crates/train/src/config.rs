//! The hyper-parameters of training.

use foretell_estimator::StepSettings;
use foretell_infer::BatchSizes;
use foretell_optim::{Clip, Rule, Schedule};

/// Hyper-parameters of training, under neuralforecast's names. The default is neuralforecast's of most models: 1000
/// steps of Adam at a rate of 0.001.
///
/// ```
/// use foretell_train::{Schedule, TrainConfig};
///
/// let config = TrainConfig::default().max_steps(200).schedule(Schedule::constant(1e-2));
/// assert_eq!(config.windows_batch_size, Some(1024));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrainConfig {
    /// Steps of the optimiser.
    pub max_steps: u64,
    /// How gradients change parameters.
    pub optimizer: Rule,
    /// The rate of each step.
    pub schedule: Schedule,
    /// How gradients are clipped, if they are.
    pub clip: Option<Clip>,
    /// Checks in a row without a better validation loss after which training stops; 0 or less for no early stopping.
    pub early_stop_patience_steps: i64,
    /// Whether training that early stopping ends goes back to the weights of the best check; otherwise, as in
    /// neuralforecast, it keeps the last ones.
    pub restore_best: bool,
    /// Steps between two checks of the validation loss.
    pub val_check_steps: u64,
    /// Series of a step.
    pub batch_size: usize,
    /// Series of a batch of validation.
    pub valid_batch_size: usize,
    /// Windows of a step, drawn from its series; `None` for all of them.
    pub windows_batch_size: Option<usize>,
    /// Parts of this many series and windows that a step is taken in, one after the other in the memory of one.
    pub accumulate_grad_batches: usize,
    /// Windows of a batch of validation; `None` for all of them.
    pub inference_windows_batch_size: Option<usize>,
    /// Whether the last series of an epoch are left out where they do not fill a batch.
    pub drop_last_loader: bool,
    /// The seed of the draws of series, windows and dropout.
    pub random_seed: u64,
    /// How a step is computed. Validation forecasts in `f32`, as the trained model does.
    ///
    /// In low memory a step trades time for memory. A batch is then cut into two shards at most, so that there are two arenas of gradients in
    /// place of up to 16; a shard runs a few windows at a time; layers compute again what their backward pass needs; and what is kept for
    /// it is rounded to bfloat16 ([`Forward::in_little_memory`](foretell_nn::Forward::in_little_memory)). The gradients are those of
    /// rounded activations, added in another order, so the weights differ from those of a step with all memory, but not by the number of
    /// threads. Of several processes two have work.
    pub step: StepSettings,
}

/// For each of these fields a method of its name that returns the settings with another value in it.
macro_rules! setters {
    ($($field:ident: $value:ty),* $(,)?) => {
        $(
            #[doc = concat!("The same with another `", stringify!($field), "`.")]
            #[must_use]
            pub fn $field(self, $field: $value) -> Self {
                Self { $field, ..self }
            }
        )*
    };
}

impl TrainConfig {
    setters! {
        max_steps: u64,
        optimizer: Rule,
        schedule: Schedule,
        clip: Option<Clip>,
        early_stop_patience_steps: i64,
        restore_best: bool,
        val_check_steps: u64,
        batch_size: usize,
        valid_batch_size: usize,
        windows_batch_size: Option<usize>,
        accumulate_grad_batches: usize,
        inference_windows_batch_size: Option<usize>,
        drop_last_loader: bool,
        random_seed: u64,
        step: StepSettings,
    }

    /// How validation windows are put into batches.
    pub(crate) fn validation_batches(&self) -> BatchSizes {
        BatchSizes { series: self.valid_batch_size, windows: self.inference_windows_batch_size }
    }
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            max_steps: 1000,
            optimizer: Rule::default(),
            schedule: Schedule::constant(1e-3),
            clip: None,
            early_stop_patience_steps: -1,
            restore_best: true,
            val_check_steps: 100,
            batch_size: 32,
            valid_batch_size: 32,
            windows_batch_size: Some(1024),
            accumulate_grad_batches: 1,
            inference_windows_batch_size: Some(1024),
            drop_last_loader: false,
            random_seed: 1,
            step: StepSettings::default(),
        }
    }
}
