//! Training losses, with neuralforecast's names, arguments and column suffixes.
//!
//! Each is a weighted mean over windows and steps, `Σ w l / Σ w`, where a step's weight is its mask times
//! its horizon weight; steps of weight 0 do not count, whatever they hold, and without any weight the
//! mean is 0.

use foretell_autograd::{Tensor, Var};
use foretell_simd::PointLoss;
use serde_json::{Map, Number, Value, json};

/// A loss and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    kind: Kind,
    horizon_weight: Option<Vec<f32>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Mae,
    Mse,
    Huber { delta: f64 },
    Quantile { q: f64 },
    MultiQuantile(Quantiles),
}

/// How the quantiles of an `MQLoss` were given: they decide the names of the columns.
#[derive(Clone, Debug, PartialEq)]
enum Quantiles {
    /// Central intervals in percent, kept as written: `80` and `80.0` name different columns.
    Level(Vec<Number>),
    List(Vec<f64>),
}

/// A loss that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LossError {
    /// No loss of that name.
    #[error("no loss is called {found:?}; there are {}", Loss::NAMES.join(", "))]
    UnknownName {
        /// The name given.
        found: String,
    },
    /// An argument that the loss does not have, or of the wrong kind.
    #[error("{loss}: argument {argument} must be {expected}, found {found}")]
    BadArgument {
        /// The loss.
        loss: &'static str,
        /// The argument.
        argument: String,
        /// What it may be.
        expected: &'static str,
        /// What it was, as JSON.
        found: String,
    },
    /// Something that is no description of a loss.
    #[error(
        "a loss is a name such as \"MAE\", or a name with arguments such as {{\"HuberLoss\": {{\"delta\": 2}}}}; \
         found {found}"
    )]
    NotALoss {
        /// What was found, as JSON.
        found: String,
    },
}

impl Default for Loss {
    fn default() -> Self {
        Self::mae()
    }
}

impl Loss {
    /// The names that [`Loss::parse`] knows.
    pub const NAMES: [&'static str; 5] = ["MAE", "MSE", "HuberLoss", "QuantileLoss", "MQLoss"];

    /// The mean absolute error, neuralforecast's default.
    pub fn mae() -> Self {
        Self { kind: Kind::Mae, horizon_weight: None }
    }

    /// The sum over several quantiles of the pinball loss; `level` are central intervals in percent.
    pub fn multi_quantile(level: &[u32]) -> Self {
        let level = level.iter().map(|&level| Number::from(level)).collect();
        Self { kind: Kind::MultiQuantile(Quantiles::Level(level)), horizon_weight: None }
    }

    /// Reads `"MAE"`, or `{"HuberLoss": {"delta": 2}}`: a name and its arguments.
    pub fn parse(value: &Value) -> Result<Self, LossError> {
        match value {
            Value::String(name) => Self::new(name, &Map::new()),
            Value::Object(object) if object.len() == 1 => match object.iter().next() {
                Some((name, Value::Object(arguments))) => Self::new(name, arguments),
                _ => Err(LossError::NotALoss { found: value.to_string() }),
            },
            _ => Err(LossError::NotALoss { found: value.to_string() }),
        }
    }

    /// The loss of this class name with these constructor arguments; absent or null ones take
    /// neuralforecast's defaults.
    pub fn new(name: &str, arguments: &Map<String, Value>) -> Result<Self, LossError> {
        let Some(&loss) = Self::NAMES.iter().find(|&&known| known == name) else {
            return Err(LossError::UnknownName { found: name.to_owned() });
        };
        let own: &[&str] = match loss {
            "HuberLoss" => &["delta"],
            "QuantileLoss" => &["q"],
            "MQLoss" => &["level", "quantiles"],
            _ => &[],
        };
        if let Some((name, found)) =
            arguments.iter().find(|(name, _)| *name != "horizon_weight" && !own.contains(&name.as_str()))
        {
            let expected = "one that the loss has (see the documentation of the loss)";
            return Err(LossError::BadArgument {
                loss,
                argument: name.clone(),
                expected,
                found: found.to_string(),
            });
        }
        let arguments = Arguments { loss, map: arguments };
        const WEIGHTS: &str = "a list of numbers of at least 0, not all 0";
        let kind = match loss {
            "MAE" => Kind::Mae,
            "MSE" => Kind::Mse,
            "HuberLoss" => Kind::Huber {
                delta: arguments
                    .number("delta", "a positive number", |d| d > 0.0 && d.is_finite())?
                    .unwrap_or(1.0),
            },
            "QuantileLoss" => Kind::Quantile {
                q: arguments
                    .number("q", Self::SHARE, Self::is_share)?
                    .ok_or_else(|| arguments.bad("q", Self::SHARE, &Value::Null))?,
            },
            _ => Kind::MultiQuantile(arguments.quantiles()?),
        };
        let horizon_weight = arguments.numbers("horizon_weight", WEIGHTS, |w| w >= 0.0)?;
        if horizon_weight.as_ref().is_some_and(|weights| weights.iter().all(|&weight| weight == 0.0)) {
            return Err(arguments.bad("horizon_weight", WEIGHTS, &arguments.map["horizon_weight"]));
        }
        let horizon_weight = horizon_weight.map(|weights| weights.into_iter().map(|w| w as f32).collect());
        Ok(Self { kind, horizon_weight })
    }

    const SHARE: &str = "a number between 0 and 1";

    fn is_share(q: f64) -> bool {
        0.0 < q && q < 1.0
    }

    /// The class name.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Mae => "MAE",
            Kind::Mse => "MSE",
            Kind::Huber { .. } => "HuberLoss",
            Kind::Quantile { .. } => "QuantileLoss",
            Kind::MultiQuantile(_) => "MQLoss",
        }
    }

    /// The constructor arguments, `horizon_weight` excepted, such that [`Loss::new`] gives this loss back.
    pub fn arguments(&self) -> Map<String, Value> {
        let pairs = match &self.kind {
            Kind::Mae | Kind::Mse => vec![],
            Kind::Huber { delta } => vec![("delta", json!(delta))],
            Kind::Quantile { q } => vec![("q", json!(q))],
            Kind::MultiQuantile(Quantiles::Level(level)) => vec![("level", json!(level))],
            Kind::MultiQuantile(Quantiles::List(list)) => vec![("quantiles", json!(list))],
        };
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The weights of the steps of the horizon, if they were given.
    pub fn horizon_weight(&self) -> Option<&[f32]> {
        self.horizon_weight.as_deref()
    }

    /// How many numbers the model gives for each step.
    pub fn outputs(&self) -> usize {
        self.suffixes().len()
    }

    /// The quantiles of an `MQLoss`, in the order of the outputs: as listed, or of intervals the median
    /// first, then upwards.
    pub fn quantiles(&self) -> Option<Vec<f32>> {
        match &self.kind {
            Kind::MultiQuantile(quantiles) => Some(quantiles.values()),
            _ => None,
        }
    }

    /// Which output is the forecast of a single number: the quantile nearest the median, else the first.
    pub fn point_output(&self) -> usize {
        let distance = |&q: &f32| (q - 0.5).abs();
        let quantiles = self.quantiles().unwrap_or_default();
        let nearest =
            (0..quantiles.len()).min_by(|&a, &b| distance(&quantiles[a]).total_cmp(&distance(&quantiles[b])));
        nearest.unwrap_or(0)
    }

    /// What stands behind the model's name in the column of each output.
    pub fn suffixes(&self) -> Vec<String> {
        match &self.kind {
            Kind::Quantile { q } => vec![format!("_ql{q}")],
            Kind::MultiQuantile(quantiles) => quantiles.suffixes(),
            _ => vec![String::new()],
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

    /// `Σ w l / total`, a scalar, of `output [batch, h, outputs]` against `target [batch, h]` with
    /// `weights [batch, h]`. `total` is the sum of the weights over the whole batch, of which this may be
    /// a part; with a total of 0 the loss and its gradient are 0.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn mean(&self, output: &Var, target: &Tensor, weights: &Tensor, total: f64) -> Var {
        let (shape, steps) = (output.shape(), target.shape());
        assert!(
            steps == weights.shape() && shape == steps.with(steps.len(), self.outputs()),
            "loss of outputs {shape:?} against {steps:?} with weights {:?}",
            weights.shape()
        );
        let scale = if total == 0.0 { 0.0 } else { 1.0 / total };
        let mut sum = 0.0;
        let prediction = output.value().contiguous();
        let grad = Tensor::build(shape, |grad| {
            sum =
                self.sum_and_grad(prediction.values(), target.values(), weights.values(), scale as f32, grad);
        });
        let edge = output.edge();
        Var::operation(Tensor::scalar((sum * scale) as f32), &[output], move |seed, gradients| {
            gradients.give(&edge, if seed.item() == 1.0 { grad } else { grad.scale(seed.item()) });
        })
    }

    /// `Σ w l` over `prediction [n, outputs]`, `target [n]`, `weights [n]`, and `scale` times its gradient.
    fn sum_and_grad(
        &self,
        prediction: &[f32],
        target: &[f32],
        weights: &[f32],
        scale: f32,
        grad: &mut [f32],
    ) -> f64 {
        match self.elementwise() {
            Ok(loss) => loss.value_and_grad(prediction, target, Some(weights), scale, grad),
            Err(quantiles) => pinballs(&quantiles.values(), prediction, target, weights, scale, grad),
        }
    }

    /// `Σ w l` over `prediction [n, outputs]`, `target [n]`, `weights [n]`.
    pub fn sum(&self, prediction: &[f32], target: &[f32], weights: &[f32]) -> f64 {
        match self.elementwise() {
            Ok(loss) => loss.value(prediction, target, Some(weights)),
            Err(quantiles) => {
                let mut unused = vec![0.0; prediction.len()];
                pinballs(&quantiles.values(), prediction, target, weights, 0.0, &mut unused)
            }
        }
    }

    /// The kernel of a loss with one output, or the quantiles of one with several.
    fn elementwise(&self) -> Result<PointLoss, &Quantiles> {
        match &self.kind {
            Kind::Mae => Ok(PointLoss::Mae),
            Kind::Mse => Ok(PointLoss::Mse),
            Kind::Huber { delta } => Ok(PointLoss::Huber { delta: *delta as f32 }),
            Kind::Quantile { q } => Ok(PointLoss::Pinball { q: *q as f32 }),
            Kind::MultiQuantile(quantiles) => Err(quantiles),
        }
    }
}

/// The sum over the quantiles of `max(q (y - ŷ), (q - 1) (y - ŷ))`, weighted and summed over steps.
///
/// neuralforecast's documentation says mean, but its code divides by the length of a dimension that is 1;
/// its losses and gradients are the judge.
fn pinballs(
    quantiles: &[f32],
    prediction: &[f32],
    target: &[f32],
    weights: &[f32],
    scale: f32,
    grad: &mut [f32],
) -> f64 {
    let count = quantiles.len();
    let mut sum = 0.0;
    let steps =
        target.iter().zip(weights).zip(prediction.chunks_exact(count).zip(grad.chunks_exact_mut(count)));
    for ((&target, &weight), (prediction, grad)) in steps {
        if weight == 0.0 {
            grad.fill(0.0);
            continue;
        }
        let mut loss = 0.0;
        for ((&q, &prediction), grad) in quantiles.iter().zip(prediction).zip(grad) {
            let error = target - prediction;
            // At a tie PyTorch takes the middle of both slopes; NaN goes through.
            let slope = if error > 0.0 {
                -q
            } else if error < 0.0 {
                1.0 - q
            } else {
                0.5 - q + error
            };
            loss -= slope * error;
            *grad = scale * weight * slope;
        }
        sum += f64::from(weight * loss);
    }
    sum
}

impl Quantiles {
    fn values(&self) -> Vec<f32> {
        match self {
            // The same operations in the same precision as there: quantiles are stored in checkpoints.
            Self::Level(_) => std::iter::once(50.0)
                .chain(self.bounds().map(|(bound, _)| bound))
                .map(|q| q as f32 / 100.0)
                .collect(),
            Self::List(list) => list.iter().map(|&q| q as f32).collect(),
        }
    }

    fn suffixes(&self) -> Vec<String> {
        match self {
            Self::Level(_) => {
                std::iter::once("-median".to_owned()).chain(self.bounds().map(|(_, name)| name)).collect()
            }
            Self::List(list) => list
                .iter()
                .map(|&q| match q {
                    q if q < 0.5 => format!("-lo-{:?}", round2(100.0 - 200.0 * q)),
                    q if q > 0.5 => format!("-hi-{:?}", round2(100.0 - 200.0 * (1.0 - q))),
                    _ => "-median".to_owned(),
                })
                .collect(),
        }
    }

    /// The ends of the intervals in percent, upwards, with the suffix of each.
    fn bounds(&self) -> impl Iterator<Item = (f64, String)> {
        let level: &[Number] = if let Self::Level(level) = self { level } else { &[] };
        let ends = level.iter().flat_map(|number| {
            let half = number.as_f64().unwrap_or_default() / 2.0;
            [(50.0 - half, format!("-lo-{number}")), (50.0 + half, format!("-hi-{number}"))]
        });
        let mut ends: Vec<_> = ends.collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.into_iter()
    }
}

fn round2(x: f64) -> f64 {
    (x * 100.0).round_ties_even() / 100.0
}

/// The arguments of a loss under construction.
struct Arguments<'a> {
    loss: &'static str,
    map: &'a Map<String, Value>,
}

impl Arguments<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn bad(&self, argument: &str, expected: &'static str, found: &Value) -> LossError {
        LossError::BadArgument {
            loss: self.loss,
            argument: argument.to_owned(),
            expected,
            found: found.to_string(),
        }
    }

    fn number(
        &self,
        name: &str,
        expected: &'static str,
        valid: fn(f64) -> bool,
    ) -> Result<Option<f64>, LossError> {
        let check = |value: &Value| {
            value.as_f64().filter(|&x| valid(x)).ok_or_else(|| self.bad(name, expected, value))
        };
        self.get(name).map(check).transpose()
    }

    fn numbers(
        &self,
        name: &str,
        expected: &'static str,
        valid: fn(f64) -> bool,
    ) -> Result<Option<Vec<f64>>, LossError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let bad = || self.bad(name, expected, value);
        let list = value.as_array().ok_or_else(bad)?;
        list.iter()
            .map(|x| x.as_f64().filter(|&x| valid(x)).ok_or_else(bad))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// The quantiles or, without them, the intervals; as in neuralforecast each counts once.
    fn quantiles(&self) -> Result<Quantiles, LossError> {
        const LEVEL: &str = "a list of percentages between 0 and 100";
        const LIST: &str = "a list of numbers between 0 and 1";
        if let Some(list) = self.numbers("quantiles", LIST, Loss::is_share)? {
            let first = |i: &usize| !list[..*i].contains(&list[*i]);
            let unique: Vec<f64> = (0..list.len()).filter(first).map(|i| list[i]).collect();
            return match unique.is_empty() {
                true => Err(self.bad("quantiles", LIST, &self.map["quantiles"])),
                false => Ok(Quantiles::List(unique)),
            };
        }
        let Some(level) = self.numbers("level", LEVEL, |level| 0.0 < level && level < 100.0)? else {
            return Ok(Quantiles::Level(vec![80.into(), 90.into()]));
        };
        let written = self.map["level"].as_array().into_iter().flatten().filter_map(Value::as_number);
        let first = |i: &usize| !level[..*i].contains(&level[*i]);
        Ok(Quantiles::Level(written.enumerate().filter(|(i, _)| first(i)).map(|(_, x)| x.clone()).collect()))
    }
}
