//! Training losses, with neuralforecast's names, arguments and column suffixes.
//!
//! Each is a weighted mean over windows and steps, `Σ w l / Σ w`, where a step's weight is its mask times
//! its horizon weight; steps of weight 0 do not count, whatever they hold, and without any weight the
//! mean is 0. So the parts of a batch add up, no matter who computes them. RMSE and relMSE are functions of such
//! means: [`Loss::value_and_slope`] leads from them to the loss, whichever it is.
//!
//! A loss is a file with a [`LossFunction`], its `mod` line and a line in the list below.

mod accuracy;
mod columns;
mod distribution;
mod fredf;
mod function;
mod huber;
mod huber_multi_quantile;
mod huber_quantile;
mod implicit_quantile;
mod implicit_quantiles;
mod mae;
mod mape;
mod mase;
mod mse;
mod multi_quantile;
mod passes;
mod quantile_loss;
mod quantiles;
mod rel_mse;
mod rmse;
mod sampling;
mod scrps;
mod smape;
mod special;
mod sums;
mod targets;
mod tukey;

use std::sync::Arc;

use foretell_autograd::{Key, Tensor, Var};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

pub use self::columns::DistributionColumns;
use self::function::{Distribution, Implicit, LossFunction, Outputs};
pub use self::implicit_quantiles::ImplicitQuantiles;
use self::quantiles::Quantiles;
pub use self::sums::LossSums;
pub use self::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

/// The list of losses, `"name in neuralforecast": file::LossFunction, "what it is a mean of"`, in the order in which they are
/// shown.
macro_rules! losses {
    ($($name:literal: $function:path, $meaning:literal;)*) => {
        const COUNT: usize = [$($name),*].len();

        impl Loss {
            /// The names that [`Loss::parse`] knows.
            pub const NAMES: [&'static str; COUNT] = [$($name),*];

            /// The meaning of each of [`Loss::NAMES`], in a few words.
            pub const MEANINGS: [&'static str; COUNT] = [$($meaning),*];

            /// Reads the loss of this name.
            fn read(name: &str, arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
                match name {
                    $($name => {
                        let function = <$function as LossFunction>::read(arguments)?;
                        let weighted = <$function as LossFunction>::has_horizon_weight();
                        let horizon_weight = if weighted { horizon_weight(arguments)? } else { None };
                        Ok(Self { name: $name, function: Arc::new(function), horizon_weight })
                    })*
                    _ => {
                        let expected = format!("one of {}", Self::NAMES.join(", "));
                        Err(HyperParameterError::new("loss", expected, json!(name)))
                    }
                }
            }
        }
    };
}

losses! {
    "MAE": mae::Mae, "the absolute error";
    "MSE": mse::Mse, "the squared error";
    "RMSE": rmse::Rmse, "the squared error, of whose mean it is the root";
    "MAPE": mape::Mape, "the absolute error as a share of the value";
    "SMAPE": smape::Smape, "the absolute error as a share of the mean of value and forecast";
    "MASE": mase::Mase, "the absolute error in units of the seasonal naive forecast's in the history";
    "relMSE": rel_mse::RelMse, "the squared error as a share of the naive forecast's";
    "HuberLoss": huber::Huber, "the squared error up to `delta`, beyond it the absolute error";
    "TukeyLoss": tukey::Tukey, "Tukey's biweight, in which all errors beyond `c` count alike";
    "FreDF": fredf::FreDf, "the squared error, and the absolute error of the Fourier transform";
    "QuantileLoss": quantile_loss::QuantileLoss, "the pinball loss of one quantile";
    "HuberQLoss": huber_quantile::HuberQuantile, "Huber's loss of one quantile";
    "MQLoss": multi_quantile::MultiQuantile, "the pinball losses of several quantiles";
    "HuberMQLoss": huber_multi_quantile::HuberMultiQuantile, "Huber's losses of several quantiles";
    "IQLoss": implicit_quantile::IqLoss, "the pinball loss of a quantile that is drawn, of any the model then has; too narrow unless trained for long";
    "HuberIQLoss": implicit_quantile::HuberIqLoss, "Huber's loss of a quantile that is drawn, of any the model then has";
    "DistributionLoss": distribution::DistributionLoss, "the negative log-likelihood of a distribution";
    "GMM": distribution::gmm::Gmm, "the negative log-likelihood of a mixture of normal distributions";
    "PMM": distribution::pmm::Pmm, "the negative log-likelihood of a mixture of Poisson distributions";
    "NBMM": distribution::nbmm::Nbmm, "the negative log-likelihood of a mixture of negative binomial distributions";
    "sCRPS": scrps::ScaledCrps, "the pinball losses of several quantiles as a share of the absolute value; it only validates";
    "Accuracy": accuracy::Accuracy, "whether the forecast is the value, as of categories: 0 of continuous ones; it only validates";
}

fn horizon_weight(arguments: &mut Arguments) -> Result<Option<Arc<[f32]>>, HyperParameterError> {
    const EXPECTED: &str = "a list of numbers of at least 0, not all 0";
    match arguments.numbers("horizon_weight", EXPECTED, |w| w >= 0.0)? {
        Some((weights, value)) if weights.iter().all(|&weight| weight == 0.0) => {
            Err(HyperParameterError::new("horizon_weight", EXPECTED, value))
        }
        found => Ok(found.map(|(weights, _)| weights.into_iter().map(|w| w as f32).collect())),
    }
}

/// A loss and its arguments, parsed once; clones share it.
///
/// Serialised as [`Loss::parse`] reads it. Two are equal if their names and arguments are.
#[derive(Clone, Debug, Serialize)]
#[serde(into = "Value")]
pub struct Loss {
    name: &'static str,
    function: Arc<dyn LossFunction>,
    horizon_weight: Option<Arc<[f32]>>,
}

impl PartialEq for Loss {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.horizon_weight == other.horizon_weight
            && self.function.arguments() == other.function.arguments()
    }
}

/// Derived, it would borrow the name from the input.
impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl TryFrom<Value> for Loss {
    type Error = HyperParameterError;

    fn try_from(value: Value) -> Result<Self, HyperParameterError> {
        Self::parse(&value)
    }
}

impl From<Loss> for Value {
    fn from(loss: Loss) -> Self {
        let mut arguments = loss.arguments();
        if let Some(weights) = loss.horizon_weight() {
            arguments.insert("horizon_weight".to_owned(), weights.into());
        }
        json!({ loss.name: arguments })
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::mae()
    }
}

impl Loss {
    /// The mean absolute error, neuralforecast's default.
    pub fn mae() -> Self {
        Self { name: "MAE", function: Arc::new(mae::Mae), horizon_weight: None }
    }

    /// The sum over several quantiles of the pinball loss; `level` are central intervals in percent.
    pub fn multi_quantile(level: &[u32]) -> Self {
        let quantiles = Quantiles::of_level(level.iter().map(|&level| level.into()).collect());
        let function = Arc::new(multi_quantile::MultiQuantile { quantiles });
        Self { name: "MQLoss", function, horizon_weight: None }
    }

    /// Reads `"MAE"`, or `{"HuberLoss": {"delta": 2}}`: a name and its arguments.
    ///
    /// # Errors
    /// If there is no such loss, or it cannot have such an argument; the hyper-parameter is called `loss`, its arguments
    /// `loss.HuberLoss.delta`.
    pub fn parse(value: &Value) -> Result<Self, HyperParameterError> {
        match value {
            Value::String(name) => return Self::new(name, &Map::new()),
            Value::Object(object) if object.len() == 1 => {
                if let Some((name, Value::Object(arguments))) = object.iter().next() {
                    return Self::new(name, arguments);
                }
            }
            _ => {}
        }
        let expected = r#"a name such as "MAE", or one with arguments such as {"HuberLoss": {"delta": 2}}"#;
        Err(HyperParameterError::new("loss", expected, value))
    }

    /// The loss of this class name with these constructor arguments; absent or null ones take
    /// neuralforecast's defaults.
    ///
    /// # Errors
    /// If there is no such loss, or it cannot have such an argument.
    pub fn new(name: &str, arguments: &Map<String, Value>) -> Result<Self, HyperParameterError> {
        let known = Self::NAMES.contains(&name);
        let within = |error: HyperParameterError| match known {
            true => error.within(&format!("loss.{name}")),
            false => error,
        };
        let mut arguments = Arguments::new(arguments);
        let loss = Self::read(name, &mut arguments).map_err(within)?;
        match arguments.first_unread() {
            None => Ok(loss),
            Some((argument, found)) => {
                let expected = format!("left out: the loss has {}", arguments.known().join(", "));
                Err(within(HyperParameterError::new(argument, expected, found)))
            }
        }
    }

    /// The class name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The constructor arguments, `horizon_weight` excepted, such that [`Loss::new`] gives this loss back.
    pub fn arguments(&self) -> Map<String, Value> {
        self.function.arguments().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The weights of the steps of the horizon, if they are set.
    pub fn horizon_weight(&self) -> Option<&[f32]> {
        self.horizon_weight.as_deref()
    }

    /// The loss without weights of the steps.
    pub fn without_horizon_weight(self) -> Self {
        Self { horizon_weight: None, ..self }
    }

    fn distribution(&self) -> Option<&dyn Distribution> {
        match self.function.outputs() {
            Outputs::Distribution(distribution) => Some(distribution),
            _ => None,
        }
    }

    fn implicit_function(&self) -> Option<&dyn Implicit> {
        match self.function.outputs() {
            Outputs::Implicit(implicit) => Some(implicit),
            _ => None,
        }
    }

    /// The layer that a loss of implicit quantiles puts behind the model; `None` for other losses.
    pub fn implicit(&self) -> Option<&ImplicitQuantiles> {
        self.implicit_function().map(Implicit::layer)
    }

    /// A distribution's loss, or one of implicit quantiles, with the columns of other quantiles than its own; `None` for other
    /// losses, whose quantiles are those that the model has learned.
    pub fn with_quantiles(&self, quantiles: &[f64]) -> Option<Self> {
        let quantiles = Quantiles::listed(quantiles.to_vec()).sorted();
        let function = match self.function.outputs() {
            Outputs::Distribution(distribution) => distribution.with_quantiles(quantiles),
            Outputs::Implicit(implicit) => implicit.with_quantiles(quantiles),
            _ => return None,
        };
        Some(Self { function, ..self.clone() })
    }

    /// The loss as it validates: of implicit quantiles it is the mean over nine of them; else it is the loss itself.
    pub fn of_validation(&self) -> Self {
        const DECILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
        let of_deciles = self.implicit().and_then(|_| self.with_quantiles(&DECILES));
        of_deciles.unwrap_or_else(|| self.clone())
    }

    /// How many numbers the model gives for each step.
    pub fn outputs(&self) -> usize {
        match self.function.outputs() {
            Outputs::Point | Outputs::Quantile { .. } => 1,
            Outputs::Quantiles(quantiles) => quantiles.values().len(),
            Outputs::Implicit(implicit) => implicit.quantiles().values().len(),
            Outputs::Distribution(distribution) => distribution.outputs(),
        }
    }

    /// The quantiles of an `MQLoss`, a `HuberMQLoss` or a `DistributionLoss`, in the order of their columns: as
    /// listed (a distribution's upwards), or of intervals the median first, then upwards.
    pub fn quantiles(&self) -> Option<&[f32]> {
        match self.function.outputs() {
            Outputs::Point | Outputs::Quantile { .. } | Outputs::Implicit(_) => None,
            Outputs::Quantiles(quantiles) => Some(quantiles.values()),
            Outputs::Distribution(distribution) => Some(distribution.quantiles().values()),
        }
    }

    /// Whether the model's outputs are a distribution's parameters, which [`Loss::forecast`] makes columns of.
    pub fn is_distribution(&self) -> bool {
        self.distribution().is_some()
    }

    /// The values of the target that the loss is defined for, in words and as a test.
    pub fn support(&self) -> (&'static str, fn(f32) -> bool) {
        self.distribution().map_or(targets::NUMBERS, Distribution::support)
    }

    /// Whether neuralforecast reads outputs of several series parameter by parameter, not series by series as quantiles and mixtures.
    pub fn is_read_by_parameter(&self) -> bool {
        self.distribution().is_some_and(Distribution::is_read_by_parameter)
    }

    /// Whether it is that of a distribution of counts, which has probabilities of whole numbers alone.
    pub fn is_of_counts(&self) -> bool {
        self.distribution().is_some_and(Distribution::is_of_counts)
    }

    /// Whether it depends on where zero is: as a share of the value, or of a distribution of values above zero.
    pub fn is_relative_to_zero(&self) -> bool {
        let (_, is_possible) = self.support();
        ["MAPE", "SMAPE", "sCRPS"].contains(&self.name) || !is_possible(-0.5)
    }

    /// Whether models are trained with it; other losses only validate.
    pub fn trains(&self) -> bool {
        self.function.trains()
    }

    /// A value that falls as forecasts get better, from a value of the loss: the value, or for `Accuracy` its difference from 1.
    pub fn minimised(&self, value: f64) -> f64 {
        self.function.minimised(value)
    }

    /// Steps of history that a window must have more of: a season of MASE.
    pub fn seasonality(&self) -> usize {
        self.function.seasonality()
    }

    /// The suffix of each column's name, behind the model's.
    pub fn suffixes(&self) -> Vec<String> {
        match self.function.outputs() {
            Outputs::Point => vec![String::new()],
            Outputs::Quantile { suffix, .. } => vec![suffix.to_owned()],
            Outputs::Quantiles(quantiles) => quantiles.suffixes().to_vec(),
            Outputs::Implicit(implicit) => implicit.quantiles().suffixes().to_vec(),
            Outputs::Distribution(distribution) => std::iter::once(String::new())
                .chain(distribution.quantiles().suffixes().iter().cloned())
                .chain(distribution.parameter_columns())
                .collect(),
        }
    }

    /// The quantile that each column is of, if it is of one.
    pub fn column_quantiles(&self) -> Vec<Option<f32>> {
        match self.function.outputs() {
            Outputs::Point => vec![None],
            Outputs::Quantile { q, .. } => vec![Some(q)],
            Outputs::Quantiles(quantiles) => quantiles.values().iter().copied().map(Some).collect(),
            Outputs::Implicit(implicit) => implicit.quantiles().values().iter().copied().map(Some).collect(),
            Outputs::Distribution(distribution) => {
                let quantiles = distribution.quantiles().values().iter().copied().map(Some);
                let parameters = distribution.parameter_columns().into_iter().map(|_| None);
                std::iter::once(None).chain(quantiles).chain(parameters).collect()
            }
        }
    }

    /// The weight of each step: `mask [windows, horizon]` times the horizon weights, in place.
    ///
    /// # Panics
    /// If the horizon weights are not one per step.
    #[track_caller]
    pub fn weigh(&self, mask: &mut [f32], horizon: usize) {
        let Some(weights) = self.horizon_weight() else { return };
        assert_eq!(weights.len(), horizon, "horizon weights and horizon");
        for window in mask.chunks_exact_mut(horizon) {
            window.iter_mut().zip(weights).for_each(|(mask, weight)| *mask *= weight);
        }
    }

    /// Whether [`Loss::error_scale`] is anything but 1.
    pub fn has_error_scale(&self) -> bool {
        self.function.error_scale(&[], &[]).is_some()
    }

    /// The scale that errors are divided by in a window of this `history [input_size]`, known where `mask` is not 0: the
    /// mean error of the seasonal naive forecast within it for MASE, its standard deviation for Tukey's loss,
    /// its last value for relMSE; else 1.
    pub fn error_scale(&self, history: &[f32], mask: &[f32]) -> f32 {
        self.function.error_scale(history, mask).unwrap_or(1.0) as f32
    }

    /// `Σ w l / total`, a scalar, of `output [batch, h, outputs]`, of implicit quantiles `[batch, h, 2]`: a value and the
    /// probability whose quantile it is. `total` is the sum of the weights over the
    /// whole batch, of which this may be a part; with a total of 0 the loss and its gradient are 0. For RMSE and
    /// relMSE `l` is the squared error: [`Loss::part`] of the result leads to the loss.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn mean(&self, output: &Var, truth: Targets<'_>, total: f64) -> Var {
        truth.check();
        let shape = output.shape();
        let outputs = if self.implicit().is_some() { 2 } else { self.outputs() };
        assert!(
            shape.len() == 3
                && shape[1..] == [truth.horizon, outputs]
                && shape[0] * truth.horizon == truth.target.len(),
            "loss of outputs {shape:?}, {outputs} for each step, against {} steps, {} a window",
            truth.target.len(),
            truth.horizon
        );
        let scale = if total == 0.0 { 0.0 } else { 1.0 / total };
        let mut sum = 0.0;
        let prediction = output.value().contiguous();
        let grad = Tensor::build(shape, |grad| {
            sum = self.function.sum(prediction.values(), truth, Some((grad, scale as f32)));
        });
        let edge = output.edge();
        Var::operation(Tensor::scalar((sum * scale) as f32), &[output], move |seed, gradients| {
            gradients.add_gradient(&edge, if seed.item() == 1.0 { grad } else { grad.scale(seed.item()) });
        })
    }

    /// The part of a batch's loss that these windows add. `mean` is [`Loss::mean`] of the part, with the losses that the model
    /// added to it, and `total` the sum of the weights over the whole batch.
    pub fn part(&self, mean: f64, truth: Targets<'_>, total: f64) -> LossSums {
        let reference = if total == 0.0 { 0.0 } else { self.function.reference(truth) / total };
        LossSums { sum: mean, reference }
    }

    /// The sums over `prediction [n, h, outputs]`; divided by the sum of the weights they lead to the loss.
    ///
    /// # Panics
    /// If the lengths do not fit.
    #[track_caller]
    pub fn sums(&self, prediction: &[f32], truth: Targets<'_>) -> LossSums {
        truth.check();
        assert_eq!(prediction.len(), truth.target.len() * self.outputs(), "outputs and targets");
        let sum = self.function.sum_of_forecasts(prediction, truth);
        LossSums { sum, reference: self.function.reference(truth) }
    }

    /// The loss of a whole batch, and the factor by which the gradients of its [`Loss::mean`] have yet to be multiplied:
    /// the derivative of the loss by this mean. `sums` are those of [`Loss::part`] over all parts of the batch, or those of
    /// [`Loss::sums`] divided by the sum of the weights.
    pub fn value_and_slope(&self, sums: LossSums) -> (f64, f64) {
        self.function.value_and_slope(sums)
    }

    /// The columns of a forecast of a distribution. Of a distribution's loss: its mean, its quantiles and, with
    /// `return_params`, its parameters. Of another loss, which validates a distribution: the quantiles that it is a loss of, or
    /// the mean.
    pub fn columns(&self) -> DistributionColumns {
        match self.function.outputs() {
            Outputs::Point => DistributionColumns::mean(),
            Outputs::Quantile { q, .. } => DistributionColumns::new(false, &[q], 0),
            Outputs::Quantiles(quantiles) => DistributionColumns::new(false, quantiles.values(), 0),
            Outputs::Implicit(implicit) => DistributionColumns::new(false, implicit.quantiles().values(), 0),
            Outputs::Distribution(distribution) => {
                let parameters = distribution.parameter_columns().len();
                DistributionColumns::new(true, distribution.quantiles().values(), parameters)
            }
        }
    }

    /// Writes the columns `[h, columns]` of a window's distribution, on the data's scale, from outputs `[h, outputs]`, shift and scale.
    ///
    /// # Panics
    /// If this is no distribution's loss, or the lengths do not fit.
    #[track_caller]
    pub fn forecast(
        &self,
        columns: &DistributionColumns,
        output: &[f32],
        loc: f32,
        scale: f32,
        into: &mut [f32],
    ) {
        let Some(distribution) = self.distribution() else { panic!("{} has no distribution", self.name()) };
        let steps = output.len() / self.outputs();
        assert_eq!(into.len(), steps * columns.count(), "columns of {steps} steps, {} each", columns.count());
        distribution.forecast(columns, output, [loc, scale], into);
    }

    /// A sample of a step's distribution, from its outputs `[outputs]`, shift and scale; NaN where the outputs make no distribution.
    ///
    /// # Panics
    /// If this is no distribution's loss.
    #[track_caller]
    pub fn sample(&self, output: &[f32], loc: f32, scale: f32, key: Key) -> f32 {
        let Some(distribution) = self.distribution() else { panic!("{} has no distribution", self.name()) };
        distribution.sample(output, [loc, scale], key)
    }
}
