//! How far forecasts of a history are off, by the moments of its columns: where these are all added to a trend of straight lines,
//! the sum of squared errors is a quadratic function of the parameters, and rows are passed over once for all steps.

use crate::posterior::Places;
use crate::settings::Growth;
use crate::trend::Changes;

/// Sums of products over rows.
#[derive(Debug)]
pub(crate) struct Moments {
    count: usize,
    /// Of any two columns, `[count, count]`; that of the parameter `sigma` is 0.
    columns: Vec<f64>,
    /// Of each column with the values, and of these with themselves.
    with_values: Vec<f64>,
    values: f64,
}

impl Moments {
    /// Of values and times of rows, and their columns `x`, `[rows, coefficients]`.
    pub(crate) fn new(changes: Changes<'_>, places: Places, [y, t]: [&[f64]; 2], x: &[f64]) -> Self {
        let count = places.count();
        let mut moments =
            Self { count, columns: vec![0.0; count * count], with_values: vec![0.0; count], values: 0.0 };
        let mut row = vec![0.0; count];
        row[Places::OFFSET] = 1.0;
        for (i, (&y, &t)) in y.iter().zip(t).enumerate() {
            if changes.growth == Growth::Linear {
                row[Places::RATE] = t;
                let ramps = row[places.delta()].iter_mut().zip(changes.times);
                ramps.for_each(|(ramp, at)| *ramp = (t - at).max(0.0));
            }
            row[places.beta()].copy_from_slice(&x[i * places.coefficients..][..places.coefficients]);
            for (a, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                let sums = moments.columns[a * count..][..count].iter_mut();
                sums.zip(&row).for_each(|(sum, other)| *sum += value * other);
                moments.with_values[a] += value * y;
            }
            moments.values += y * y;
        }
        moments
    }

    /// The sum of squared errors; half its gradient is written.
    pub(crate) fn squares(&self, parameters: &[f64], half_gradient: &mut [f64]) -> f64 {
        let mut squares = self.values;
        for (i, row) in self.columns.chunks_exact(self.count).enumerate() {
            let forecast: f64 =
                row.iter().zip(parameters).map(|(moment, parameter)| moment * parameter).sum();
            half_gradient[i] = forecast - self.with_values[i];
            squares += parameters[i] * (half_gradient[i] - self.with_values[i]);
        }
        // Rounding may lead below it where next to nothing is left.
        squares.max(0.0)
    }
}
