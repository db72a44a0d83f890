//! Quantiles of a forecast: futures whose trends change as often, and on average as much, as that of the history did.
//!
//! Taylor and Letham 2018, section 3.1.4: change points come at random, as many in a time as before, and the rate changes there
//! by a Laplace variable whose scale is the mean magnitude of the changes before. Noise is added to each future.

use std::f64::consts::TAU;

use foretell_data::{Key, Stream};
use foretell_estimator::quantile;

use crate::decompose::{ForecastParts, ScaledRows};
use crate::fit::{Model, SeriesFit};
use crate::settings::Growth;
use crate::trend::{Changes, Segment};

/// The addend that keeps the scale of changes above 0, as in the package.
const LEAST_SCALE: f64 = 1e-8;

impl Model {
    /// The quantiles of each row, `[rows, quantiles]`. They depend on the seed, the id of the series and its fit alone. One value tells
    /// nothing of how far forecasts are off: those of a series that is forecast by its last value are NaN.
    pub(crate) fn quantiles(
        &self,
        series: &str,
        fit: &SeriesFit,
        scaled: &ScaledRows,
        parts: &ForecastParts,
        quantiles: &[f64],
    ) -> Vec<f64> {
        if fit.is_last_value() {
            return vec![f64::NAN; parts.trend.len() * quantiles.len()];
        }
        let (rows, samples) = (scaled.t.len(), self.settings.uncertainty_samples);
        let of_series = Key::new(self.settings.random_seed);
        let of_series = series.bytes().fold(of_series, |key, byte| key.fold(byte.into()));
        let future = Future::new(self.settings.growth, fit);
        // `[rows, samples]`: the quantiles of a row are those of neighbours.
        let mut values = vec![0.0; rows * samples];
        let mut trend = Vec::with_capacity(rows);
        for sample in 0..samples {
            let mut stream = Stream::new(of_series.fold(sample as u64));
            future.draw(scaled, &parts.trend, fit.y_scale, &mut stream, &mut trend);
            for (row, trend) in trend.iter().enumerate() {
                let [part, added] = parts.sums(row);
                let noise = fit.sigma * fit.y_scale * normal(&mut stream);
                values[row * samples + sample] = trend * (1.0 + part) + added + noise;
            }
        }
        let mut out = Vec::with_capacity(rows * quantiles.len());
        for row in values.chunks_exact_mut(samples) {
            row.sort_unstable_by(f64::total_cmp);
            out.extend(quantiles.iter().map(|&q| quantile(row, q)));
        }
        out
    }
}

/// The state of a future when the history ends.
struct Future {
    growth: Growth,
    last: Segment,
    /// Change points in a unit of time.
    often: f64,
    /// The mean magnitude of a change.
    scale: f64,
}

impl Future {
    fn new(growth: Growth, fit: &SeriesFit) -> Self {
        let changes = Changes { growth, times: &fit.changepoints };
        let mut segments = Vec::new();
        changes.segments(fit.first_segment(), &fit.delta, &mut segments);
        let magnitude = fit.delta.iter().map(|delta| delta.abs()).sum::<f64>();
        let often = fit.changepoints.len() as f64;
        Self { growth, last: segments[segments.len() - 1], often, scale: magnitude / often + LEAST_SCALE }
    }

    /// A trend of the rows: `expected` in the history, and from its end on one of many.
    fn draw(
        &self,
        rows: &ScaledRows,
        expected: &[f64],
        y_scale: f64,
        stream: &mut Stream,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        let (mut segment, mut change) = (self.last, 1.0 + self.gap(stream));
        for (i, &t) in rows.t.iter().enumerate() {
            if t <= 1.0 || self.growth == Growth::Flat {
                out.push(expected[i]);
                continue;
            }
            while change <= t {
                segment = segment.changed(self.growth, change, self.delta(stream));
                change += self.gap(stream);
            }
            out.push(segment.at(self.growth, t, rows.cap[i]) * y_scale + rows.floor[i]);
        }
    }

    /// The time from one change point to the next.
    fn gap(&self, stream: &mut Stream) -> f64 {
        exponential(stream) / self.often
    }

    /// A change of the rate.
    fn delta(&self, stream: &mut Stream) -> f64 {
        let size = self.scale * exponential(stream);
        if stream.uniform_f64() < 0.5 { -size } else { size }
    }
}

/// An exponential variable of mean 1.
fn exponential(stream: &mut Stream) -> f64 {
    -(1.0 - stream.uniform_f64()).ln()
}

/// A standard normal variable (Box and Muller 1958).
fn normal(stream: &mut Stream) -> f64 {
    (2.0 * exponential(stream)).sqrt() * (TAU * stream.uniform_f64()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_their_moments() {
        let mut stream = Stream::new(Key::new(7));
        let n = 100_000;
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let draws: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            (mean, draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n))
        };
        let (mean, variance) = moments(&mut || normal(&mut stream));
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        let last = Segment { rate: 0.0, offset: 0.0 };
        let future = Future { growth: Growth::Linear, last, often: 4.0, scale: 0.5 };
        // Laplace: twice the square of the scale.
        let (mean, variance) = moments(&mut || future.delta(&mut stream));
        assert!(mean.abs() < 0.02 && (variance - 0.5).abs() < 0.02, "{mean} {variance}");
        let (mean, _) = moments(&mut || future.gap(&mut stream));
        assert!((mean - 0.25).abs() < 0.01, "{mean}");
    }
}
