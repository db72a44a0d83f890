//! Gaussian processes whose kernel is composed at random (KernelSynth: Ansari et al. 2024, arXiv 2403.07815, appendix A.2), drawn
//! by circulant embedding (Dietrich and Newsam 1997): a stationary covariance of `n` steps is the first row of a circulant
//! matrix of `m >= 2 n` steps, whose eigenvalues are the Fourier transform of that row. A draw is the inverse transform of white noise
//! times their roots: `m log m` in place of `n³ / 3`. Eigenvalues below 0, which kernels have that do not fade within the series, are taken
//! as 0. Linear kernels, which are not stationary, are added as lines or multiply the path.

use foretell_kernels::fourier;

use crate::drawn::Drawn;
use crate::draws::Draws;
use crate::shapes::period;

pub(super) fn draw(draws: &mut Draws, len: usize) -> Drawn {
    let lags = len.next_power_of_two();
    let mut seasons = Vec::new();
    let mut covariance = kernel(draws, lags, len, &mut seasons);
    for _ in 0..draws.weighted(&[0.25, 0.35, 0.25, 0.15]) {
        let other = kernel(draws, lags, len, &mut seasons);
        let is_product = draws.chance(0.4);
        let weight = draws.log_between(0.1, 3.0);
        for (value, other) in covariance.iter_mut().zip(other) {
            *value = if is_product { *value * other } else { *value + weight * other };
        }
    }
    let mut values = path(draws, &covariance, len);
    let n = len as f64;
    match draws.weighted(&[0.6, 0.25, 0.15]) {
        0 => {}
        1 => {
            let slope = 3.0 * draws.normal() * covariance[0].sqrt();
            values.iter_mut().enumerate().for_each(|(t, value)| *value += slope * t as f64 / n);
        }
        _ => {
            let (start, slope) = (draws.between(0.2, 1.0), draws.between(0.5, 3.0));
            values.iter_mut().enumerate().for_each(|(t, value)| *value *= start + slope * t as f64 / n);
        }
    }
    Drawn { values, seasons }
}

/// A kernel of variance 1 at the lags `0..=lags`. The period of a periodic one is added to `seasons`.
fn kernel(draws: &mut Draws, lags: usize, len: usize, seasons: &mut Vec<f64>) -> Vec<f64> {
    let n = len as f64;
    let of = |at: &dyn Fn(f64) -> f64| (0..=lags).map(|lag| at(lag as f64)).collect();
    match draws.weighted(&[0.2, 0.1, 0.3, 0.15, 0.15, 0.1]) {
        0 => {
            let scale = draws.log_between(0.005 * n, 0.5 * n);
            of(&|lag| (-0.5 * (lag / scale).powi(2)).exp())
        }
        1 => {
            let (scale, alpha) = (draws.log_between(0.01 * n, 0.5 * n), draws.log_between(0.1, 10.0));
            of(&|lag| (1.0 + (lag / scale).powi(2) / (2.0 * alpha)).powf(-alpha))
        }
        2 => {
            let (period, width) = (period(draws), draws.log_between(0.4, 3.0));
            seasons.push(period);
            let fade = draws.chance(0.5).then(|| draws.log_between(2.0 * period, 2.0 * n));
            of(&|lag| {
                let around = -2.0 * ((std::f64::consts::PI * lag / period).sin() / width).powi(2);
                (around - fade.map_or(0.0, |fade| 0.5 * (lag / fade).powi(2))).exp()
            })
        }
        // Matérn 1/2, the process of Ornstein and Uhlenbeck, and 3/2.
        3 => {
            let scale = draws.log_between(1.0, 0.5 * n);
            of(&|lag| (-lag / scale).exp())
        }
        4 => {
            let scale = draws.log_between(2.0, 0.5 * n);
            of(&|lag| (1.0 + lag / scale) * (-lag / scale).exp())
        }
        _ => of(&|lag| if lag == 0.0 { 1.0 } else { 0.0 }),
    }
}

/// A path of `len` steps with this covariance at the lags `0..covariance.len()`.
fn path(draws: &mut Draws, covariance: &[f64], len: usize) -> Vec<f64> {
    let half = covariance.len() - 1;
    let m = 2 * half;
    let row: Vec<f32> = (0..m).map(|i| covariance[i.min(m - i)] as f32).collect();
    let mut spectrum = vec![0.0; 2 * fourier::frequencies(m)];
    fourier::forward(&row, m, &mut spectrum);
    for (k, pair) in spectrum.chunks_exact_mut(2).enumerate() {
        let eigenvalue = f64::from(pair[0]).max(0.0);
        // Of a real path the first and the last frequency are real, with the whole variance.
        let is_real = k == 0 || k == half;
        let size = (eigenvalue * m as f64 * if is_real { 1.0 } else { 0.5 }).sqrt();
        pair[0] = (size * draws.normal()) as f32;
        pair[1] = if is_real { 0.0 } else { (size * draws.normal()) as f32 };
    }
    let mut values = vec![0.0; m];
    fourier::inverse(&spectrum, m, &mut values);
    values[..len].iter().map(|value| f64::from(*value)).collect()
}

#[cfg(test)]
mod tests {
    use foretell_simd::Key;

    use super::*;

    #[test]
    fn paths_have_the_covariance_of_their_kernel() {
        let len = 128;
        let covariance: Vec<f64> = (0..=128).map(|lag| 2.0 * (-f64::from(lag) / 10.0).exp()).collect();
        let mut draws = Draws::new(Key::new(3));
        let mut sums = [0.0; 3];
        let lags = [0, 5, 20];
        for _ in 0..400 {
            let values = path(&mut draws, &covariance, len);
            for (sum, lag) in sums.iter_mut().zip(lags) {
                let products = (0..len - lag).map(|t| values[t] * values[t + lag]);
                *sum += products.sum::<f64>() / (len - lag) as f64 / 400.0;
            }
        }
        for (found, lag) in sums.iter().zip(lags) {
            assert!((found - covariance[lag]).abs() < 0.12, "lag {lag}: {found}, not {}", covariance[lag]);
        }
    }

    #[test]
    fn a_periodic_kernel_gives_periodic_paths() {
        let kernel = |lag: usize| (-2.0 * (std::f64::consts::PI * lag as f64 / 16.0).sin().powi(2)).exp();
        let covariance: Vec<f64> = (0..=128).map(kernel).collect();
        let values = path(&mut Draws::new(Key::new(1)), &covariance, 128);
        for t in 16..128 {
            assert!((values[t] - values[t - 16]).abs() < 1e-2, "{} and {}", values[t], values[t - 16]);
        }
    }
}
