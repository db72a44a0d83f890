//! The likelihood of an ARMA model: exact, and conditional on the first values.

use super::order::Polynomials;
use super::stationary::{covariances, partial_correlations};

/// Sums over a series of one-step errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Squared errors, each by its variance.
    pub squares: f64,
    /// Logarithms of the variances.
    pub logarithms: f64,
}

/// The filter of an ARMA model in its state space: the first number of a state is the value, and the i-th what the values and errors so
/// far add to that of i steps later.
///
/// Errors and their variances come from the recursions of Morf, Sidhu and Kailath 1974: from step to step the covariance of the
/// state changes by a single outer product, `factor * change * change'`. So a step costs as much as the state has numbers,
/// where Kalman's filter costs their square.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// The autoregression, as many as states.
    phi: Vec<f64>,
    /// The state of the next step.
    pub state: Vec<f64>,
    /// The gain of the filter: what an error adds to the state, times the variance.
    gain: Vec<f64>,
    change: Vec<f64>,
    factor: f64,
    /// The variance of the next value, in units of that of the model's errors.
    variance: f64,
}

/// From where on the covariance counts as settled.
const SETTLED: f64 = 1e-13;

impl Filter {
    /// Sets it up before the first value; `None` if the autoregression is not stationary.
    fn start(&mut self, polynomials: &Polynomials) -> Option<()> {
        let first = first_column(polynomials)?;
        self.phi.clone_from(&polynomials.phi);
        self.phi.resize(first.len(), 0.0);
        self.state.clear();
        self.state.resize(first.len(), 0.0);
        self.change.clear();
        let later = first[1..].iter().copied().chain([0.0]);
        self.change.extend(later.zip(&self.phi).map(|(later, phi)| later + phi * first[0]));
        self.gain.clone_from(&self.change);
        self.variance = first[0];
        self.factor = -1.0 / first[0];
        Some(())
    }

    /// Goes through a series; `None` if the autoregression is not stationary. Before each step `look` sees the change of the
    /// covariance and its factor.
    pub(super) fn run(
        &mut self,
        polynomials: &Polynomials,
        y: &[f64],
        mut look: impl FnMut(&[f64], f64),
    ) -> Option<Sums> {
        self.start(polynomials)?;
        let mut sums = Sums::default();
        let mut is_settled = false;
        for (t, y) in y.iter().enumerate() {
            let error = y - self.state[0];
            sums.squares += error * error / self.variance;
            sums.logarithms += self.variance.ln();
            if is_settled {
                self.step_settled(error);
                continue;
            }
            look(&self.change, self.factor);
            self.step(error);
            if t % 16 == 0 {
                let largest = self.change.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                is_settled = largest * largest * self.factor.abs() < SETTLED * self.variance;
            }
        }
        Some(sums)
    }

    fn step(&mut self, error: f64) {
        let (first, change) = (self.state[0], self.change[0]);
        let (of_error, of_change) = (error / self.variance, change / self.variance);
        let of_gain = self.factor * change;
        let last = self.state.len() - 1;
        for i in 0..=last {
            let [state, moved] = if i < last { [self.state[i + 1], self.change[i + 1]] } else { [0.0, 0.0] };
            let (gain, moved) = (self.gain[i], moved + self.phi[i] * change);
            self.state[i] = state + self.phi[i] * first + gain * of_error;
            self.change[i] = moved - gain * of_change;
            self.gain[i] = gain + moved * of_gain;
        }
        let variance = self.variance + self.factor * change * change;
        self.factor *= self.variance / variance;
        self.variance = variance;
    }

    /// A step once the covariance no longer changes.
    fn step_settled(&mut self, error: f64) {
        let first = self.state[0];
        let of_error = error / self.variance;
        let last = self.state.len() - 1;
        for i in 0..last {
            self.state[i] = self.state[i + 1] + self.phi[i] * first + self.gain[i] * of_error;
        }
        self.state[last] = self.phi[last] * first + self.gain[last] * of_error;
    }
}

/// The covariances of the first value with all numbers of the state; `None` if the autoregression is not stationary.
fn first_column(Polynomials { phi, theta }: &Polynomials) -> Option<Vec<f64>> {
    let (p, q) = (phi.len(), theta.len());
    let partial = partial_correlations(phi)?;
    let of_ar = covariances(phi, &partial, p + q);
    let moving = |k: usize| if k == 0 { 1.0 } else { theta[k - 1] };
    // Covariances of the moving average, then of the whole.
    let of_ma: Vec<f64> = (0..=q).map(|lag| (lag..=q).map(|k| moving(k) * moving(k - lag)).sum()).collect();
    let of_both = |lag: usize| -> f64 {
        let shifted = (1..=q).map(|m| of_ma[m] * (of_ar[lag + m] + of_ar[lag.abs_diff(m)]));
        of_ma[0] * of_ar[lag] + shifted.sum::<f64>()
    };
    let gamma: Vec<f64> = (0..=p).map(of_both).collect();
    // What an error adds to the value of k steps later.
    let mut psi = vec![1.0];
    for k in 1..=q {
        let earlier = phi.iter().zip(psi.iter().rev()).map(|(phi, psi)| phi * psi).sum::<f64>();
        psi.push(theta[k - 1] + earlier);
    }
    let covariance = |i: usize| -> f64 {
        let values = (i + 1..=p).map(|k| phi[k - 1] * gamma[k - i]);
        let errors = (i..=q).map(|k| moving(k) * psi[k - i]);
        values.sum::<f64>() + errors.sum::<f64>()
    };
    let column: Vec<f64> = (0..p.max(q + 1)).map(covariance).collect();
    column.iter().all(|x| x.is_finite()).then_some(column)
}

/// The covariance of the state before the first value, `[state, state]`; `None` if the autoregression is not stationary.
pub(super) fn first_covariance(polynomials: &Polynomials) -> Option<Vec<f64>> {
    let first = first_column(polynomials)?;
    let n = first.len();
    let phi = |i: usize| polynomials.phi.get(i).copied().unwrap_or(0.0);
    let moving = |i: usize| if i == 0 { 1.0 } else { polynomials.theta.get(i - 1).copied().unwrap_or(0.0) };
    let mut covariance = vec![0.0; n * n];
    for i in (0..n).rev() {
        for j in (0..n).rev() {
            let later = |k: usize| first.get(k + 1).copied().unwrap_or(0.0);
            let next = if i + 1 < n && j + 1 < n { covariance[(i + 1) * n + j + 1] } else { 0.0 };
            let of_values = phi(i) * phi(j) * first[0] + phi(i) * later(j) + phi(j) * later(i);
            covariance[i * n + j] = of_values + next + moving(i) * moving(j);
        }
    }
    Some(covariance)
}

/// The mean squared error of one step ahead, given the first values, as many as the autoregression has lags, and errors of 0 before;
/// `None` if there are no more values.
pub(super) fn conditional(polynomials: &Polynomials, y: &[f64], errors: &mut Vec<f64>) -> Option<f64> {
    // Most lags of a season have no coefficient.
    let open = |coefficients: &[f64]| -> Vec<(usize, f64)> {
        (1..).zip(coefficients.iter().copied()).filter(|(_, coefficient)| *coefficient != 0.0).collect()
    };
    let (ar, ma) = (open(&polynomials.phi), open(&polynomials.theta));
    let given = polynomials.phi.len();
    errors.clear();
    errors.resize(y.len(), 0.0);
    let mut squares = 0.0;
    for t in given..y.len() {
        let mut error = y[t];
        for &(lag, coefficient) in &ar {
            error -= coefficient * y[t - lag];
        }
        for &(lag, coefficient) in ma.iter().take_while(|(lag, _)| given + lag <= t) {
            error -= coefficient * errors[t - lag];
        }
        errors[t] = error;
        squares += error * error;
    }
    (y.len() > given).then(|| squares / (y.len() - given) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares and logarithms from the covariance of the whole series, by Cholesky.
    fn by_covariance(polynomials: &Polynomials, y: &[f64]) -> Sums {
        let n = y.len();
        // Covariances from very long moving averages.
        let mut psi = vec![1.0];
        for k in 1..3000_usize {
            let of_error = polynomials.theta.get(k - 1).copied().unwrap_or(0.0);
            let earlier: f64 = polynomials.phi.iter().zip(psi.iter().rev()).map(|(phi, psi)| phi * psi).sum();
            psi.push(of_error + earlier);
        }
        let gamma = |lag: usize| -> f64 { psi.iter().zip(&psi[lag..]).map(|(a, b)| a * b).sum() };
        let gamma: Vec<f64> = (0..n).map(gamma).collect();
        let mut root = vec![vec![0.0; n]; n];
        let mut sums = Sums::default();
        let mut solved: Vec<f64> = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                let inner: f64 = (0..j).map(|k| root[i][k] * root[j][k]).sum();
                let rest = gamma[i - j] - inner;
                root[i][j] = if i == j { rest.sqrt() } else { rest / root[j][j] };
            }
            let known: f64 = (0..i).map(|k| root[i][k] * solved[k]).sum();
            solved.push((y[i] - known) / root[i][i]);
            sums.squares += solved[i] * solved[i];
            sums.logarithms += 2.0 * root[i][i].ln();
        }
        sums
    }

    #[test]
    fn the_likelihood_is_that_of_the_covariance_of_all_values() {
        let y: Vec<f64> = (0..60).map(|t| f64::from((t * 37) % 23) / 5.0 - 2.0).collect();
        let seasonal = [0.5, 0.0, 0.0, 0.3, -0.15];
        for (phi, theta) in [
            (&[][..], &[][..]),
            (&[0.7][..], &[][..]),
            (&[][..], &[0.8, 0.3][..]),
            (&[0.4, 0.3][..], &[-0.5][..]),
            (&seasonal[..], &[0.2, 0.0, 0.0, -0.6, -0.12][..]),
            (&[0.95][..], &[-0.4, 0.2, 0.1][..]),
        ] {
            let polynomials = Polynomials { phi: phi.to_vec(), theta: theta.to_vec() };
            let found = Filter::default().run(&polynomials, &y, |_, _| ()).expect("it is stationary");
            let expected = by_covariance(&polynomials, &y);
            assert!(
                (found.squares / expected.squares - 1.0).abs() < 1e-8,
                "{polynomials:?}: {found:?} {expected:?}"
            );
            assert!(
                (found.logarithms - expected.logarithms).abs() < 1e-7,
                "{polynomials:?}: {found:?} {expected:?}"
            );
        }
        let explosive = Polynomials { phi: vec![1.1], theta: vec![] };
        assert_eq!(Filter::default().run(&explosive, &y, |_, _| ()), None);
    }

    #[test]
    fn conditional_errors_start_behind_the_autoregression() {
        let polynomials = Polynomials { phi: vec![0.5], theta: vec![0.5] };
        let mut errors = Vec::new();
        let mean = conditional(&polynomials, &[2.0, 3.0, 1.0], &mut errors);
        assert_eq!((errors, mean), (vec![0.0, 2.0, -1.5], Some(3.125)));
        assert_eq!(conditional(&polynomials, &[2.0], &mut Vec::new()), None);
    }

    #[test]
    fn the_covariance_of_the_state_repeats_itself() {
        let polynomials = Polynomials { phi: vec![0.4, 0.3], theta: vec![-0.5, 0.2] };
        let covariance = first_covariance(&polynomials).expect("it is stationary");
        let first = first_column(&polynomials).expect("it is stationary");
        for (i, first) in first.iter().enumerate() {
            assert!((covariance[i] - first).abs() < 1e-12 && (covariance[3 * i] - first).abs() < 1e-12);
        }
    }
}
