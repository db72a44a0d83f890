//! Training losses, with neuralforecast's names, arguments and column suffixes.
//!
//! Each is a weighted mean over windows and steps, `Σ w l / Σ w`, where a step's weight is its mask times
//! its horizon weight; steps of weight 0 do not count, whatever they hold, and without any weight the
//! mean is 0. So the parts of a batch add up, whoever computes them. RMSE and relMSE are functions of such a
//! mean: [`Loss::value_and_slope`] leads from it to them.

mod arguments;
mod distribution;
mod frequency;
mod point;
mod quantile;

use std::fmt;

use foretell_autograd::{Key, Tensor, Var};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::distribution::Distribution;
pub use self::distribution::DistributionColumns;
use self::point::Point;
use self::quantile::Quantiles;
use crate::HyperParameterError;

/// A loss and its arguments.
///
/// Serialised as [`Loss::parse`] reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Loss {
    kind: LossKind,
    horizon_weight: Option<Vec<f32>>,
}

#[derive(Clone, Debug, PartialEq)]
enum LossKind {
    Point(Point),
    /// `MQLoss`, or with a delta `HuberMQLoss`.
    Quantiles {
        quantiles: Quantiles,
        delta: Option<f64>,
    },
    Distribution(Distribution),
}

impl LossKind {
    fn name(&self) -> &'static str {
        match self {
            Self::Point(point) => point.name(),
            Self::Quantiles { delta: None, .. } => "MQLoss",
            Self::Quantiles { delta: Some(_), .. } => "HuberMQLoss",
            Self::Distribution(_) => "DistributionLoss",
        }
    }
}

/// The targets of `n` windows of `horizon` steps, with what a loss needs to know of the windows.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    /// Steps of a window.
    pub horizon: usize,
    /// `[n, horizon]`: on the scale of the forecast, or for a distribution's loss as in the data.
    pub target: &'a [f32],
    /// The weight of each step, `[n, horizon]`.
    pub weights: &'a [f32],
    /// [`Loss::error_scale`] of each window's history, `[n]`; empty stands for 1.
    pub error_scale: &'a [f32],
    /// What each window's target was shifted by, `[n]`, for a distribution's loss; empty stands for 0.
    pub loc: &'a [f32],
    /// What each window's target was divided by, `[n]`, for a distribution's loss; empty stands for 1.
    pub scale: &'a [f32],
}

impl fmt::Debug for Targets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let windows = self.target.len() / self.horizon.max(1);
        f.debug_struct("Targets")
            .field("windows", &windows)
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

impl<'a> Targets<'a> {
    /// A target `[n, horizon]` with its weights, and nothing else known of the windows.
    pub fn new(horizon: usize, target: &'a [f32], weights: &'a [f32]) -> Self {
        Self { horizon, target, weights, error_scale: &[], loc: &[], scale: &[] }
    }

    fn check(&self) {
        let Self { horizon, target, weights, error_scale, loc, scale } = *self;
        let n = target.len() / horizon.max(1);
        let fits = |values: &[f32]| values.is_empty() || values.len() == n;
        assert!(
            target.len() == n * horizon
                && weights.len() == target.len()
                && [error_scale, loc, scale].map(fits) == [true; 3],
            "{n} windows of {horizon} steps with {} targets, {} weights, {} error scales, {} locations and {} scales",
            target.len(),
            weights.len(),
            error_scale.len(),
            loc.len(),
            scale.len()
        );
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
        if let Some(weights) = loss.horizon_weight {
            arguments.insert("horizon_weight".to_owned(), weights.into());
        }
        Self::Object(Map::from_iter([(loss.kind.name().to_owned(), Self::Object(arguments))]))
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::mae()
    }
}

impl Loss {
    /// The names that [`Loss::parse`] knows.
    pub const NAMES: [&'static str; 15] = [
        "MAE",
        "MSE",
        "RMSE",
        "MAPE",
        "SMAPE",
        "MASE",
        "relMSE",
        "HuberLoss",
        "TukeyLoss",
        "FreDF",
        "QuantileLoss",
        "HuberQLoss",
        "MQLoss",
        "HuberMQLoss",
        "DistributionLoss",
    ];

    /// The mean absolute error, neuralforecast's default.
    pub fn mae() -> Self {
        Self { kind: LossKind::Point(Point::Mae), horizon_weight: None }
    }

    /// The sum over several quantiles of the pinball loss; `level` are central intervals in percent.
    pub fn multi_quantile(level: &[u32]) -> Self {
        let quantiles = Quantiles::of_level(level.iter().map(|&level| level.into()).collect());
        Self { kind: LossKind::Quantiles { quantiles, delta: None }, horizon_weight: None }
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
        arguments::read(name, arguments)
    }

    /// The class name.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The constructor arguments, `horizon_weight` excepted, such that [`Loss::new`] gives this loss back.
    pub fn arguments(&self) -> Map<String, Value> {
        let pairs = match &self.kind {
            LossKind::Point(point) => point.arguments(),
            LossKind::Quantiles { quantiles, delta } => std::iter::once(quantiles.argument())
                .chain(delta.map(|delta| ("delta", delta.into())))
                .collect(),
            LossKind::Distribution(distribution) => distribution.arguments(),
        };
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The weights of the steps of the horizon, if they were given.
    pub fn horizon_weight(&self) -> Option<&[f32]> {
        self.horizon_weight.as_deref()
    }

    /// The loss without weights of the steps.
    pub fn without_horizon_weight(self) -> Self {
        Self { horizon_weight: None, ..self }
    }

    /// A distribution's loss with the columns of other quantiles than its own; `None` for other losses, whose
    /// quantiles are those that the model has learned.
    pub fn with_quantiles(&self, quantiles: &[f64]) -> Option<Self> {
        let LossKind::Distribution(distribution) = &self.kind else { return None };
        let kind = LossKind::Distribution(distribution.with_quantiles(quantiles));
        Some(Self { kind, horizon_weight: self.horizon_weight.clone() })
    }

    /// How many numbers the model gives for each step.
    pub fn outputs(&self) -> usize {
        match &self.kind {
            LossKind::Point(_) => 1,
            LossKind::Quantiles { quantiles, .. } => quantiles.values().len(),
            LossKind::Distribution(distribution) => distribution.outputs(),
        }
    }

    /// The quantiles of an `MQLoss`, a `HuberMQLoss` or a `DistributionLoss`, in the order of their columns: as
    /// listed (a distribution's upwards), or of intervals the median first, then upwards.
    pub fn quantiles(&self) -> Option<&[f32]> {
        match &self.kind {
            LossKind::Point(_) => None,
            LossKind::Quantiles { quantiles, .. } => Some(quantiles.values()),
            LossKind::Distribution(distribution) => Some(distribution.quantiles.values()),
        }
    }

    /// Whether the model's outputs are a distribution's parameters, which [`Loss::forecast`] makes columns of.
    pub fn is_distribution(&self) -> bool {
        matches!(self.kind, LossKind::Distribution(_))
    }

    /// The values of the target that the loss is defined for, in words and as a test.
    pub fn support(&self) -> (&'static str, fn(f32) -> bool) {
        match &self.kind {
            LossKind::Distribution(distribution) => distribution.support(),
            _ => ("a number", |_| true),
        }
    }

    /// Steps of history that a window must have more of: a season of MASE.
    pub fn seasonality(&self) -> usize {
        match self.kind {
            LossKind::Point(Point::Mase { seasonality }) => seasonality,
            _ => 0,
        }
    }

    /// The suffix of each column's name, behind the model's.
    pub fn suffixes(&self) -> Vec<String> {
        match &self.kind {
            LossKind::Point(point) => vec![point.suffix()],
            LossKind::Quantiles { quantiles, .. } => quantiles.suffixes().to_vec(),
            LossKind::Distribution(distribution) => distribution.suffixes(),
        }
    }

    /// The quantile that each column is of, if it is of one.
    pub fn column_quantiles(&self) -> Vec<Option<f32>> {
        match &self.kind {
            LossKind::Point(point) => vec![point.quantile()],
            LossKind::Quantiles { quantiles, .. } => quantiles.values().iter().copied().map(Some).collect(),
            LossKind::Distribution(distribution) => {
                let quantiles = distribution.quantiles.values().iter().copied().map(Some);
                let mut columns: Vec<_> = std::iter::once(None).chain(quantiles).collect();
                columns.resize(distribution.columns().count(), None);
                columns
            }
        }
    }

    /// Sorts the quantiles of each step of `values [.., columns]`, so that none lies above one that is higher.
    /// Quantiles that were learned independently may cross; sorted quantiles are never worse (Chernozhukov, Fernández-Val and
    /// Galichon 2010).
    pub fn sort_quantiles(&self, values: &mut [f32]) {
        let quantiles = self.column_quantiles();
        let mut places: Vec<usize> = (0..quantiles.len()).filter(|&i| quantiles[i].is_some()).collect();
        places.sort_by(|&a, &b| quantiles[a].partial_cmp(&quantiles[b]).expect("quantiles are numbers"));
        if places.len() < 2 {
            return;
        }
        let mut sorted = vec![0.0; places.len()];
        for row in values.chunks_exact_mut(quantiles.len()) {
            sorted.iter_mut().zip(&places).for_each(|(value, &place)| *value = row[place]);
            sorted.sort_unstable_by(f32::total_cmp);
            sorted.iter().zip(&places).for_each(|(&value, &place)| row[place] = value);
        }
    }

    /// The weight of each step: `mask [windows, horizon]` times the horizon weights, in place.
    ///
    /// # Panics
    /// If the horizon weights are not one per step.
    pub fn weigh(&self, mask: &mut [f32], horizon: usize) {
        let Some(weights) = &self.horizon_weight else { return };
        assert_eq!(weights.len(), horizon, "horizon weights and horizon");
        for window in mask.chunks_exact_mut(horizon) {
            window.iter_mut().zip(weights).for_each(|(mask, weight)| *mask *= weight);
        }
    }

    /// Whether [`Loss::error_scale`] is anything but 1.
    pub fn has_error_scale(&self) -> bool {
        matches!(&self.kind, LossKind::Point(point) if point.has_error_scale())
    }

    /// The scale that errors are divided by in a window of this `history [input_size]`, known where `mask` is not 0: the
    /// mean error of the seasonal naive forecast within it for MASE, its standard deviation for Tukey's loss,
    /// its last value for relMSE; else 1.
    pub fn error_scale(&self, history: &[f32], mask: &[f32]) -> f32 {
        match &self.kind {
            LossKind::Point(point) => point.error_scale(history, mask),
            _ => 1.0,
        }
    }

    /// `Σ w l / total`, a scalar, of `output [batch, h, outputs]`. `total` is the sum of the weights over the
    /// whole batch, of which this may be a part; with a total of 0 the loss and its gradient are 0. For RMSE and
    /// relMSE `l` is the squared error: see [`Loss::value_and_slope`].
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn mean(&self, output: &Var, truth: Targets<'_>, total: f64) -> Var {
        truth.check();
        let shape = output.shape();
        assert!(
            shape.len() == 3
                && shape[1..] == [truth.horizon, self.outputs()]
                && shape[0] * truth.horizon == truth.target.len(),
            "loss of outputs {shape:?}, {} for each step, against {} steps, {} a window",
            self.outputs(),
            truth.target.len(),
            truth.horizon
        );
        let scale = if total == 0.0 { 0.0 } else { 1.0 / total };
        let mut sum = 0.0;
        let prediction = output.value().contiguous();
        let grad = Tensor::build(shape, |grad| {
            sum = self.run(prediction.values(), truth, Some((grad, scale as f32)));
        });
        let edge = output.edge();
        Var::operation(Tensor::scalar((sum * scale) as f32), &[output], move |seed, gradients| {
            gradients.add_gradient(&edge, if seed.item() == 1.0 { grad } else { grad.scale(seed.item()) });
        })
    }

    /// `Σ w l` over `prediction [n, h, outputs]`.
    ///
    /// # Panics
    /// If the lengths do not fit.
    #[track_caller]
    pub fn sum(&self, prediction: &[f32], truth: Targets<'_>) -> f64 {
        truth.check();
        assert_eq!(prediction.len(), truth.target.len() * self.outputs(), "outputs and targets");
        self.run(prediction, truth, None)
    }

    fn run(&self, prediction: &[f32], truth: Targets<'_>, grad: Option<(&mut [f32], f32)>) -> f64 {
        match &self.kind {
            LossKind::Point(point) => point.sum(prediction, truth, grad),
            LossKind::Quantiles { quantiles, delta } => {
                quantile::sum(quantiles.values(), delta.map(|delta| delta as f32), prediction, truth, grad)
            }
            LossKind::Distribution(distribution) => distribution.sum(prediction, truth, grad),
        }
    }

    /// `Σ w (y - ŷ)²` of the naive forecast that relMSE measures by, each window's error scale; 0 for other losses.
    pub fn naive_error(&self, truth: Targets<'_>) -> f64 {
        if self.kind != LossKind::Point(Point::RelMse) {
            return 0.0;
        }
        let Targets { horizon, target, weights, error_scale, .. } = truth;
        let squares = target.iter().zip(weights).enumerate().filter(|(_, (_, weight))| **weight != 0.0);
        squares
            .map(|(i, (&y, &weight))| {
                let error = f64::from(y) - f64::from(error_scale.get(i / horizon).copied().unwrap_or(1.0));
                f64::from(weight) * error * error
            })
            .sum()
    }

    /// The loss of a whole batch, and its derivative by `mean`, by which the gradients have yet to be multiplied.
    /// `mean` is the sum of [`Loss::mean`] over the parts of the batch, `naive_error` that of [`Loss::naive_error`]
    /// divided by the same total. The result is `mean` and 1, except for RMSE, its root, and relMSE, its ratio to the
    /// naive error.
    ///
    /// The slope of the root at 0 is taken to be 0, so that a perfect forecast is not moved.
    pub fn value_and_slope(&self, mean: f64, naive_error: f64) -> (f64, f64) {
        match self.kind {
            LossKind::Point(Point::Rmse) => {
                let root = mean.sqrt();
                (root, if root == 0.0 { 0.0 } else { 0.5 / root })
            }
            LossKind::Point(Point::RelMse) => {
                let slope = 1.0 / (naive_error + 1e-5);
                (mean * slope, slope)
            }
            _ => (mean, 1.0),
        }
    }

    /// The columns of a forecast of a distribution: its mean, its quantiles and, with `return_params`, its
    /// parameters.
    pub fn columns(&self) -> DistributionColumns {
        match &self.kind {
            LossKind::Distribution(distribution) => distribution.columns(),
            _ => self.evaluated_columns(),
        }
    }

    /// What this loss compares with the target where it validates a distribution: the quantiles that it is a loss of, or the
    /// mean.
    pub fn evaluated_columns(&self) -> DistributionColumns {
        match &self.kind {
            LossKind::Quantiles { quantiles, .. } => DistributionColumns::new(false, quantiles.values(), 0),
            LossKind::Point(point) => match point.quantile() {
                Some(q) => DistributionColumns::new(false, &[q], 0),
                None => DistributionColumns::new(true, &[], 0),
            },
            LossKind::Distribution(distribution) => distribution.columns(),
        }
    }

    /// Writes the columns `[h, columns]` of a window's distribution, on the data's scale, from the model's
    /// outputs `[h, outputs]` and what the window's target was shifted by and divided by.
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
        let LossKind::Distribution(distribution) = &self.kind else {
            panic!("{} has no distribution", self.name())
        };
        let steps = output.len() / self.outputs();
        assert_eq!(into.len(), steps * columns.count(), "columns of {steps} steps, {} each", columns.count());
        distribution.forecast(columns, output, loc, scale, into);
    }

    /// A sample of the distribution of a step on the data's scale, a function of the key, from the model's outputs
    /// `[outputs]` for the step and what the window's target was shifted by and divided by. NaN where the outputs
    /// make no distribution.
    ///
    /// # Panics
    /// If this is no distribution's loss.
    #[track_caller]
    pub fn sample(&self, output: &[f32], loc: f32, scale: f32, key: Key) -> f32 {
        let LossKind::Distribution(distribution) = &self.kind else {
            panic!("{} has no distribution", self.name())
        };
        distribution.sample(output, loc, scale, key)
    }
}
