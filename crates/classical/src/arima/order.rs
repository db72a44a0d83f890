//! The orders of an ARIMA model, and its polynomials.

/// Terms of one lag: autoregression, differences, moving averages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    pub ar: usize,
    pub differences: usize,
    pub ma: usize,
}

/// An ARIMA model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Of one step.
    pub step: Terms,
    /// Of one season.
    pub season: Terms,
    /// Steps of a season.
    pub period: usize,
    /// Whether the differences have a mean: a level, or a drift.
    pub constant: bool,
}

/// An autoregression and a moving average as a whole, seasons multiplied in: of lag 1, 2, ..
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Polynomials {
    pub phi: Vec<f64>,
    pub theta: Vec<f64>,
}

impl Order {
    /// Coefficients of the autoregressions and moving averages: one step's autoregression and moving average, then one season's.
    pub(super) fn arma(&self) -> usize {
        self.step.ar + self.step.ma + self.season.ar + self.season.ma
    }

    /// All numbers that are estimated but the variance.
    pub(super) fn coefficients(&self) -> usize {
        self.arma() + usize::from(self.constant)
    }

    /// Steps that differencing takes.
    pub(super) fn lost(&self) -> usize {
        self.step.differences + self.season.differences * self.period
    }

    /// Steps between the values that a difference is of, so that a drift of 1 is this mean of the differences.
    pub(super) fn mean_steps(&self) -> f64 {
        if self.season.differences > 0 { self.period as f64 } else { 1.0 }
    }

    /// Whether there are one or no differences, so that a constant makes sense.
    pub(super) fn may_have_constant(&self) -> bool {
        self.step.differences + self.season.differences <= 1
    }

    /// Lags of the whole autoregression.
    pub(super) fn phi_lags(&self) -> usize {
        self.step.ar + self.period * self.season.ar
    }

    /// Where the season's autoregression stands in the coefficients.
    pub(super) fn season_ar(&self) -> std::ops::Range<usize> {
        let first = self.step.ar + self.step.ma;
        first..first + self.season.ar
    }

    /// Multiplies the coefficients of steps and seasons.
    pub(super) fn polynomials(&self, coefficients: &[f64], whole: &mut Polynomials) {
        let (ar, rest) = coefficients.split_at(self.step.ar);
        let (ma, rest) = rest.split_at(self.step.ma);
        let (season_ar, rest) = rest.split_at(self.season.ar);
        expand(ar, season_ar, self.period, -1.0, &mut whole.phi);
        expand(ma, &rest[..self.season.ma], self.period, 1.0, &mut whole.theta);
    }

    /// The weights of the differences: `y[t] - sum of weights[i] * y[t - 1 - i]`.
    pub(super) fn difference_weights(&self) -> Vec<f64> {
        let mut weights = vec![1.0];
        let lags = std::iter::repeat_n(1, self.step.differences)
            .chain(std::iter::repeat_n(self.period, self.season.differences));
        for lag in lags {
            let mut product = weights.clone();
            product.resize(weights.len() + lag, 0.0);
            weights.iter().zip(&mut product[lag..]).for_each(|(weight, product)| *product -= weight);
            weights = product;
        }
        weights[1..].iter().map(|weight| -weight).collect()
    }

    /// The differences of a series.
    pub(super) fn differenced(&self, y: &[f64]) -> Vec<f64> {
        let season = difference(y.to_vec(), self.period, self.season.differences);
        difference(season, 1, self.step.differences)
    }
}

/// The product of one step's and one season's polynomial; `sign` is that of the product of two coefficients.
fn expand(steps: &[f64], seasons: &[f64], period: usize, sign: f64, whole: &mut Vec<f64>) {
    whole.clear();
    whole.resize(steps.len() + period * seasons.len(), 0.0);
    whole[..steps.len()].copy_from_slice(steps);
    for (season, coefficient) in seasons.iter().enumerate() {
        let first = (season + 1) * period;
        whole[first - 1] += coefficient;
        steps.iter().zip(&mut whole[first..]).for_each(|(step, whole)| *whole += sign * step * coefficient);
    }
}

/// Differences of a lag, this many times.
pub(super) fn difference(mut y: Vec<f64>, lag: usize, times: usize) -> Vec<f64> {
    for _ in 0..times {
        let later = y.get(lag..).unwrap_or_default();
        y = later.iter().zip(&y).map(|(now, before)| now - before).collect();
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_products_and_differences_go_back() {
        let step = Terms { ar: 1, differences: 1, ma: 1 };
        let order =
            Order { step, season: Terms { ar: 1, differences: 1, ma: 1 }, period: 4, constant: false };
        let mut whole = Polynomials::default();
        order.polynomials(&[0.5, 0.3, 0.2, 0.4], &mut whole);
        assert_eq!(whole.phi, [0.5, 0.0, 0.0, 0.2, -0.1]);
        assert_eq!(whole.theta, [0.3, 0.0, 0.0, 0.4, 0.12]);
        let weights = order.difference_weights();
        assert_eq!(weights, [1.0, 0.0, 0.0, 1.0, -1.0]);
        let y = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 1.0];
        let differences = order.differenced(&y);
        let last: f64 = weights.iter().zip(y[..6].iter().rev()).map(|(weight, y)| weight * y).sum();
        assert_eq!((differences.len(), differences[1]), (2, 1.0 - last));
    }
}
