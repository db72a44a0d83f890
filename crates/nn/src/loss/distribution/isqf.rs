//! The incremental spline quantile function (Park et al. 2022, PMLR 151): a distribution of any shape, given by its quantile
//! function. Between the quantiles of the loss it is piecewise linear, beyond them its tails are exponential.
//!
//! The outputs of a step are, for each piece, the logit of its share of the probability between two quantiles, then those of its
//! share of their distance; the rates of the two tails; the least quantile and the distances to those above it. Rates and
//! distances are softplus of the outputs.
//!
//! The loss is `softplus(c) + ln scale`, `c` being the continuous ranked probability score of the scaled value `z`,
//! `∫ 2 (1{α > α_z} - α) (q(α) - z) dα` with `q(α_z) = z`. By whatever the quantile function depends on, its derivative is
//! `∫ 2 (1{α > α_z} - α) ∂q(α) dα`, since at `α_z` the other factor is 0.

use foretell_pool::Buffer;
use foretell_simd::{Key, Stream};
use serde_json::{Value, json};

use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::DistributionColumns;
use crate::loss::function::Gradient;
use crate::loss::sampling;
use crate::loss::special::{sigmoid, softplus};
use crate::loss::targets::Targets;

/// The least rate of a tail and distance of quantiles, and what is added to a piece's share, so that none is divided by 0.
const LEAST: f64 = 1e-4;

/// The family of these quantile functions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Isqf {
    /// The probabilities that the loss has quantiles of, upwards.
    probabilities: Vec<f64>,
    /// Linear pieces between two quantiles.
    pieces: usize,
}

impl Isqf {
    pub(super) const NAME: &'static str = "ISQF";

    pub(super) fn read(arguments: &mut Arguments, quantiles: &[f32]) -> Result<Self, HyperParameterError> {
        let pieces = arguments.count("num_pieces", 1..=1000)?.unwrap_or(5) as usize;
        let mut probabilities: Vec<f64> = quantiles.iter().map(|&q| q.into()).collect();
        probabilities.sort_by(f64::total_cmp);
        Ok(Self { probabilities, pieces })
    }

    pub(super) fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("num_pieces", json!(self.pieces))]
    }

    /// All pieces.
    fn count(&self) -> usize {
        (self.probabilities.len() - 1) * self.pieces
    }

    pub(super) fn outputs(&self) -> usize {
        2 * self.count() + 2 + self.probabilities.len()
    }

    pub(super) fn sum(&self, prediction: &[f32], truth: Targets<'_>, mut gradient: Gradient<'_>) -> f64 {
        let Targets { horizon, target, weights, loc, scale, .. } = truth;
        let mut function = QuantileFunction::new(self);
        let mut slopes = QuantileFunction::new(self);
        let outputs = self.outputs();
        let mut sum = 0.0;
        for (i, output) in prediction.chunks_exact(outputs).enumerate() {
            let weight = f64::from(weights[i]);
            let own = gradient.as_mut().map(|(all, factor)| (&mut all[i * outputs..][..outputs], *factor));
            if weight == 0.0 {
                own.into_iter().for_each(|(own, _)| own.fill(0.0));
                continue;
            }
            let part = |values: &[f32], neutral: f64| values.get(i / horizon).map_or(neutral, |&x| x.into());
            let (loc, scale) = (part(loc, 0.0), part(scale, 1.0));
            function.read(self, output);
            let score = function.score((f64::from(target[i]) - loc) / scale, &mut slopes);
            sum += weight * (softplus(score) + scale.ln());
            if let Some((own, factor)) = own {
                let factor = f64::from(factor) * weight * sigmoid(score);
                function.pass_on(self, &slopes, output, factor, own);
            }
        }
        sum
    }

    pub(super) fn forecast(
        &self,
        columns: &DistributionColumns,
        output: &[f32],
        [loc, scale]: [f32; 2],
        into: &mut [f32],
    ) {
        let mut function = QuantileFunction::new(self);
        for (output, row) in output.chunks_exact(self.outputs()).zip(into.chunks_exact_mut(columns.count())) {
            if !output.iter().all(|x| x.is_finite()) {
                row.fill(f32::NAN);
                continue;
            }
            function.read(self, output);
            let on_scale = |x: f64| (f64::from(loc) + f64::from(scale) * x) as f32;
            let (mean, quantiles) = row.split_at_mut(usize::from(columns.mean));
            mean.iter_mut().for_each(|mean| *mean = on_scale(function.mean()));
            let levels = quantiles.iter_mut().zip(&columns.levels);
            levels.for_each(|(quantile, at)| *quantile = on_scale(function.quantile(at.q)));
        }
    }

    pub(super) fn sample(&self, output: &[f32], [loc, scale]: [f32; 2], key: Key) -> f32 {
        if !output.iter().all(|x| x.is_finite()) {
            return f32::NAN;
        }
        let mut function = QuantileFunction::new(self);
        function.read(self, output);
        // It is in (0, 1], and 1 has no quantile.
        let q = 1.0 - sampling::uniform(&mut Stream::new(key));
        let q = if q == 0.0 { f64::EPSILON } else { q };
        (f64::from(loc) + f64::from(scale) * function.quantile(q)) as f32
    }
}

/// The quantile function of a step, or the derivatives of a score by its numbers.
struct QuantileFunction {
    /// The probabilities of the knots, where pieces end.
    x: Buffer<f64>,
    /// The quantiles at the knots.
    y: Buffer<f64>,
    /// The shares of the pieces between two quantiles, of the probability and of the distance, before the least is added.
    shares: [Buffer<f64>; 2],
    /// The scales of the left and the right tail.
    tails: [f64; 2],
}

impl QuantileFunction {
    fn new(family: &Isqf) -> Self {
        let [of_knots, of_pieces] =
            [family.count() + 1, family.count()].map(|len| move || Buffer::<f64>::zeroed(len));
        Self { x: of_knots(), y: of_knots(), shares: [of_pieces(), of_pieces()], tails: [0.0; 2] }
    }

    /// Takes the numbers from the outputs of a step.
    fn read(&mut self, family: &Isqf, output: &[f32]) {
        let (pieces, count) = (family.pieces, family.count());
        let (logits, rest) = output.split_at(2 * count);
        let (x_logits, y_logits) = logits.split_at(count);
        self.tails = [rest[0], rest[1]].map(|output| 1.0 / (softplus(output.into()) + LEAST));
        let mut value = f64::from(rest[2]);
        for (i, ends) in family.probabilities.windows(2).enumerate() {
            let next = value + softplus(rest[3 + i].into()) + LEAST;
            let own = i * pieces..(i + 1) * pieces;
            let [x_shares, y_shares] = &mut self.shares;
            divide(
                &x_logits[own.clone()],
                [ends[0], ends[1]],
                &mut x_shares[own.clone()],
                &mut self.x[own.clone()],
            );
            divide(&y_logits[own.clone()], [value, next], &mut y_shares[own.clone()], &mut self.y[own]);
            value = next;
        }
        self.x[count] = family.probabilities[family.probabilities.len() - 1];
        self.y[count] = value;
    }

    /// The quantile of a probability between 0 and 1.
    fn quantile(&self, q: f64) -> f64 {
        let Self { x, y, tails, .. } = self;
        let last = x.len() - 1;
        if q < x[0] {
            return y[0] + tails[0] * (q / x[0]).ln();
        }
        if q >= x[last] {
            return y[last] - tails[1] * ((1.0 - q) / (1.0 - x[last])).ln();
        }
        let i = x.partition_point(|&x| x <= q) - 1;
        y[i] + (q - x[i]) / (x[i + 1] - x[i]) * (y[i + 1] - y[i])
    }

    /// The integral of the quantile function.
    fn mean(&self) -> f64 {
        let Self { x, y, tails, .. } = self;
        let last = x.len() - 1;
        let pieces = (0..last).map(|i| 0.5 * (x[i + 1] - x[i]) * (y[i] + y[i + 1]));
        x[0] * (y[0] - tails[0]) + pieces.sum::<f64>() + (1.0 - x[last]) * (y[last] + tails[1])
    }

    /// The continuous ranked probability score of `z`, and its derivatives by knots and tails.
    fn score(&self, z: f64, slopes: &mut Self) -> f64 {
        let Self { x, y, tails, .. } = self;
        let last = x.len() - 1;
        slopes.x.fill(0.0);
        slopes.y.fill(0.0);
        let mut score = 0.0;
        // The right tail is the left one of the distribution turned round.
        for (side, (mass, beyond)) in [(x[0], y[0] - z), (1.0 - x[last], z - y[last])].into_iter().enumerate()
        {
            let (by_scale, by_distance) = tail(mass, tails[side], beyond);
            score += tails[side] * by_scale + beyond * by_distance;
            slopes.tails[side] = by_scale;
            match side {
                0 => slopes.y[0] += by_distance,
                _ => slopes.y[last] -= by_distance,
            }
        }
        for i in 0..last {
            let (width, height) = (x[i + 1] - x[i], y[i + 1] - y[i]);
            let share = if z <= y[i] {
                0.0
            } else if z >= y[i + 1] {
                1.0
            } else {
                (z - y[i]) / height
            };
            // The integrals of `2 (1{α > α_z} - α)` times the shares of the two ends in the value between them.
            let left = width * ((1.0 - share) * (1.0 - share) - x[i] - width / 3.0);
            let right = width * (1.0 - share * share - x[i] - 2.0 * width / 3.0);
            score += left * (y[i] - z) + right * (y[i + 1] - z);
            slopes.y[i] += left;
            slopes.y[i + 1] += right;
            // A knot that moves to the right takes its value along.
            slopes.x[i] -= left * height / width;
            slopes.x[i + 1] -= right * height / width;
        }
        score
    }

    /// Writes `factor` times the derivatives by the outputs, from those by knots and tails.
    fn pass_on(&self, family: &Isqf, slopes: &Self, output: &[f32], factor: f64, gradient: &mut [f32]) {
        let (pieces, count) = (family.pieces, family.count());
        let last = family.probabilities.len() - 1;
        let (logits, rest) = gradient.split_at_mut(2 * count);
        let (x_logits, y_logits) = logits.split_at_mut(count);
        let rest_of_output = &output[2 * count..];
        for (side, scale) in self.tails.into_iter().enumerate() {
            let by_output = -scale * scale * sigmoid(rest_of_output[side].into());
            rest[side] = (factor * slopes.tails[side] * by_output) as f32;
        }
        // A distance moves all quantiles above it, so sums are taken from above.
        let mut above = slopes.y[count];
        for i in (0..last).rev() {
            let own = i * pieces..(i + 1) * pieces;
            let (from, to) = (self.y[own.start], self.y[own.end]);
            let [x_shares, y_shares] = &self.shares;
            let width = family.probabilities[i + 1] - family.probabilities[i];
            by_logits(
                &x_shares[own.clone()],
                &slopes.x[own.clone()],
                factor * width,
                &mut x_logits[own.clone()],
            );
            by_logits(
                &y_shares[own.clone()],
                &slopes.y[own.clone()],
                factor * (to - from),
                &mut y_logits[own.clone()],
            );
            let inner = own.start + 1..own.end;
            let of_upper: f64 =
                inner.clone().map(|knot| slopes.y[knot] * (self.y[knot] - from) / (to - from)).sum();
            let distance = f64::from(rest_of_output[3 + i]);
            rest[3 + i] = (factor * (above + of_upper) * sigmoid(distance)) as f32;
            above += slopes.y[own.start] + inner.map(|knot| slopes.y[knot]).sum::<f64>();
        }
        rest[2] = (factor * above) as f32;
    }
}

/// The part of the score in a tail of this probability, whose quantiles lie `scale` times an exponential number below its end, and
/// whose end is `beyond` above the value: the factors of the scale and of `beyond`.
fn tail(mass: f64, scale: f64, beyond: f64) -> (f64, f64) {
    let log = (-beyond / scale).min(0.0);
    let below = log.exp();
    let inner = if below == 0.0 { 0.0 } else { below * log };
    (2.0 * mass * (below - 1.0 - inner) + 0.5 * mass * mass, 2.0 * mass * (1.0 - below) - mass * mass)
}

/// Divides the way between two ends into pieces: writes the softmax of the logits, and where the pieces begin.
fn divide(logits: &[f32], [from, to]: [f64; 2], shares: &mut [f64], starts: &mut [f64]) {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    shares.iter_mut().zip(logits).for_each(|(share, logit)| *share = f64::from(logit - most).exp());
    let all: f64 = shares.iter().sum();
    let whole = 1.0 + LEAST * logits.len() as f64;
    let mut begun = 0.0;
    for (share, start) in shares.iter_mut().zip(starts) {
        *share /= all;
        *start = from + begun * (to - from);
        begun += (*share + LEAST) / whole;
    }
}

/// Writes the derivatives by the logits that [`divide`] read, from those by the starts of the pieces, of which the first stays
/// where it is; `factor` contains the way that is divided.
fn by_logits(shares: &[f64], by_starts: &[f64], factor: f64, gradient: &mut [f32]) {
    // A share moves the starts of all pieces behind its own.
    let (mut mean, mut behind) = (0.0, 0.0);
    for (share, by_start) in shares.iter().zip(by_starts).rev() {
        mean += share * behind;
        behind += by_start;
    }
    let factor = factor / (1.0 + LEAST * shares.len() as f64);
    let mut behind = 0.0;
    for (gradient, (share, by_start)) in gradient.iter_mut().zip(shares.iter().zip(by_starts)).rev() {
        *gradient = (factor * share * (behind - mean)) as f32;
        behind += by_start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: [f32; 17] =
        [0.3, -1.0, 0.5, 2.0, 0.0, -0.4, 1.1, -2.0, 0.2, 0.7, -0.5, 0.1, -0.8, 0.6, -1.3, 0.4, 1.2];

    fn family() -> Isqf {
        Isqf { probabilities: vec![0.1, 0.5, 0.8], pieces: 3 }
    }

    fn function(output: &[f32]) -> QuantileFunction {
        let mut function = QuantileFunction::new(&family());
        function.read(&family(), output);
        function
    }

    /// The integral of the score's definition, by the middles of many intervals.
    #[test]
    fn scores_and_means_are_integrals_of_the_quantile_function() {
        let function = function(&OUTPUT);
        const STEPS: usize = 1_000_000;
        let middles = || (0..STEPS).map(|i| (i as f64 + 0.5) / STEPS as f64);
        let mean = middles().map(|q| function.quantile(q)).sum::<f64>() / STEPS as f64;
        assert!((function.mean() - mean).abs() < 1e-4, "{} and {mean}", function.mean());
        for z in [-12.0, -1.5, -1.0, 0.0, 0.4, 1.0, 2.0, 9.0] {
            let part = |q: f64| {
                let value = function.quantile(q);
                2.0 * (f64::from(value > z) - q) * (value - z)
            };
            let expected = middles().map(part).sum::<f64>() / STEPS as f64;
            let score = function.score(z, &mut QuantileFunction::new(&family()));
            assert!((score - expected).abs() < 1e-4, "{z}: {score} and {expected}");
        }
    }

    #[test]
    fn quantiles_rise_and_meet_at_the_knots() {
        let function = function(&OUTPUT);
        let quantiles: Vec<f64> = (1..10_000).map(|i| function.quantile(i as f64 / 10_000.0)).collect();
        assert!(quantiles.is_sorted());
        for (&x, &y) in function.x.iter().zip(&*function.y) {
            assert!(
                (function.quantile(x) - y).abs() < 1e-12 && (function.quantile(x - 1e-9) - y).abs() < 1e-6
            );
        }
        assert_eq!([function.x[0], function.x[3], function.x[6]], [0.1, 0.5, 0.8]);
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let family = family();
        let targets = [-20.0_f32, -0.6, 0.1, 0.7, 1.4, 15.0];
        let output = OUTPUT.repeat(targets.len());
        let weights = [1.0; 6];
        let truth = Targets { loc: &[0.5], scale: &[1.7], ..Targets::new(6, &targets, &weights) };
        let mut gradient = vec![0.0; output.len()];
        family.sum(&output, truth, Some((&mut gradient, 1.0)));
        for (i, &slope) in gradient.iter().enumerate() {
            let at = |step: f32| {
                let mut moved = output.clone();
                moved[i] += step;
                (f64::from(moved[i]), family.sum(&moved, truth, None))
            };
            let (up, down) = (at(1e-3), at(-1e-3));
            let expected = (up.1 - down.1) / (up.0 - down.0);
            assert!((f64::from(slope) - expected).abs() < 2e-5, "output {i}: {slope}, expected {expected}");
        }
    }

    #[test]
    fn one_quantile_has_tails_alone() {
        let family = Isqf { probabilities: vec![0.5], pieces: 5 };
        assert_eq!(family.outputs(), 3);
        let mut function = QuantileFunction::new(&family);
        function.read(&family, &[0.0, 0.0, 2.0]);
        assert_eq!(function.quantile(0.5), 2.0);
        assert!(function.quantile(0.1) < 2.0 && function.quantile(0.9) > 2.0);
        assert!((function.mean() - 2.0).abs() < 1e-12, "a symmetric distribution");
    }

    #[test]
    fn samples_are_of_the_distribution() {
        const COUNT: u64 = 20_000;
        let (family, function) = (family(), function(&OUTPUT));
        let draws: Vec<f32> = (0..COUNT).map(|i| family.sample(&OUTPUT, [0.0, 1.0], Key::new(i))).collect();
        for q in [0.05, 0.3, 0.5, 0.9] {
            let below = draws.iter().filter(|&&x| f64::from(x) < function.quantile(q)).count() as f64;
            let error = 4.0 * (q * (1.0 - q) / COUNT as f64).sqrt();
            assert!((below / COUNT as f64 - q).abs() < error, "{below} of {COUNT} below the quantile of {q}");
        }
        assert!(family.sample(&[f32::NAN; 17], [0.0, 1.0], Key::new(1)).is_nan());
    }
}
