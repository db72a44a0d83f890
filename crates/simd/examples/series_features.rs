//! Features that a forecaster computes from a series before any model sees it: `cargo run -p foretell-simd --example
//! series_features`.
//!
//! A year of daily sales with a trend and a weekly rhythm is brought to a common scale and back, described by moving
//! statistics, and compared with a forecast that repeats the week before.

use foretell_simd::{
    dot, ema, max, mean, mean_variance, min, min_max_normalise, normalise, rolling_mean, rolling_std, sub,
    sum, variance,
};

const DAYS: usize = 364;
const WEEK: usize = 7;

/// Sales of each day: a trend, more on the last two days of a week.
fn sales() -> Vec<f64> {
    let day = |i: usize| 100.0 + 0.1 * i as f64 + if i % WEEK >= 5 { 40.0 } else { 0.0 };
    (0..DAYS).map(day).collect()
}

struct Features {
    /// The series with mean 0 and deviation 1, and between 0 and 1.
    unit: Vec<f64>,
    between: Vec<f64>,
    /// Mean and deviation of the last four weeks, and a mean that forgets.
    level: Vec<f64>,
    spread: Vec<f64>,
    trend: Vec<f64>,
    /// Mean absolute and root mean squared error of the forecast that repeats the week before.
    mae: f64,
    rmse: f64,
}

fn features(series: &[f64]) -> Features {
    let len = series.len();
    let zeros = || vec![0.0; len];
    let (mut unit, mut between, mut level, mut spread, mut trend) =
        (zeros(), zeros(), zeros(), zeros(), zeros());
    let (center, squares) = mean_variance(series);
    normalise(series, center, squares.sqrt(), &mut unit);
    min_max_normalise(series, min(series), max(series), &mut between);
    rolling_mean(series, 4 * WEEK, &mut level);
    rolling_std(series, 4 * WEEK, 1, &mut spread);
    ema(series, 0.1, &mut trend);

    let (forecast, truth) = (&series[..len - WEEK], &series[WEEK..]);
    let mut errors = vec![0.0; truth.len()];
    sub(truth, forecast, &mut errors);
    let rmse = (dot(&errors, &errors) / errors.len() as f64).sqrt();
    errors.iter_mut().for_each(|error| *error = error.abs());
    Features { unit, between, level, spread, trend, mae: mean(&errors), rmse }
}

#[cfg_attr(test, expect(dead_code, reason = "the tests of the crate hold this file"))]
fn main() {
    let series = sales();
    let found = features(&series);
    println!(
        "{} days, {:.0} sold, deviation {:.2}",
        DAYS,
        sum(&series),
        variance(&series, mean(&series)).sqrt()
    );
    println!("the last day: {:.2} deviations above the mean", found.unit[DAYS - 1]);
    println!("between the least and the most: {:.2}", found.between[DAYS - 1]);
    println!("four weeks: mean {:.2}, deviation {:.2}", found.level[DAYS - 1], found.spread[DAYS - 1]);
    println!("a mean that forgets: {:.2}", found.trend[DAYS - 1]);
    println!("the week before, repeated: MAE {:.2}, RMSE {:.2}", found.mae, found.rmse);
}

#[cfg(test)]
mod tests {
    use foretell_simd::{add, denormalise, min_max_denormalise, mul};

    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(same));
    }

    #[test]
    fn scales_are_left_as_they_were_entered() {
        let series = sales();
        let found = features(&series);
        let (center, squares) = mean_variance(&series);
        assert!(mean(&found.unit).abs() < 1e-12 && (variance(&found.unit, 0.0) - 1.0).abs() < 1e-12);
        assert_eq!((min(&found.between), max(&found.between)), (0.0, 1.0));
        let mut back = vec![0.0; DAYS];
        denormalise(&found.unit, center, squares.sqrt(), &mut back);
        close(&back, &series);
        min_max_denormalise(&found.between, min(&series), max(&series), &mut back);
        close(&back, &series);
    }

    #[test]
    fn moving_statistics_are_those_of_their_windows() {
        let series = sales();
        let found = features(&series);
        assert!(found.level[4 * WEEK - 2].is_nan());
        for end in [4 * WEEK, 100, DAYS] {
            let window = &series[end - 4 * WEEK..end];
            let sample = variance(window, mean(window)) * window.len() as f64 / (window.len() - 1) as f64;
            close(&found.level[end - 1..end], &[mean(window)]);
            close(&found.spread[end - 1..end], &[sample.sqrt()]);
        }
        let forgetting = series.iter().copied().reduce(|trend, x| trend + 0.1 * (x - trend)).unwrap();
        close(&found.trend[DAYS - 1..], &[forgetting]);
    }

    #[test]
    fn the_week_before_misses_the_trend_of_a_week() {
        let found = features(&sales());
        assert!((found.mae - 0.7).abs() < 1e-9 && (found.rmse - 0.7).abs() < 1e-9);
    }

    #[test]
    fn elementwise_kernels_build_a_series() {
        let (level, rhythm, share) = ([100.0, 101.0, 102.0], [1.0, 1.5, 2.0], [10.0, 20.0, 30.0]);
        let (mut product, mut total) = ([0.0; 3], [0.0; 3]);
        mul(&level, &rhythm, &mut product);
        add(&product, &share, &mut total);
        assert_eq!(total, [110.0, 171.5, 234.0]);
    }
}
