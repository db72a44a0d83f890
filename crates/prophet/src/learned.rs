//! The numbers learned of each series, by name, as model directories keep them.

use foretell_data::Panel;
use foretell_estimator::SeriesNumbers;

use crate::fit::{Model, SeriesFit};

/// The names: scales and growth, change points with what the rate changes there, coefficients, standards of columns.
const TREND: &str = "trend";
const CHANGEPOINTS: &str = "changepoints";
const DELTA: &str = "delta";
const BETA: &str = "beta";
const STANDARDS: &str = "standards";

impl Model {
    /// The fits of all series of a panel, in its order.
    pub(crate) fn numbers(&self, panel: &Panel, fits: &[SeriesFit]) -> SeriesNumbers {
        let mut numbers = SeriesNumbers::default();
        let mut set = |name: &str, of: &dyn Fn(&SeriesFit) -> Vec<f64>| {
            numbers.set(panel, name, fits.iter().flat_map(of).collect());
        };
        set(TREND, &|fit| {
            [
                fit.start, fit.t_scale, fit.y_min, fit.y_scale, fit.rate, fit.offset, fit.sigma,
                fit.log_posterior,
            ]
            .to_vec()
        });
        // A series of few rows has fewer change points than others.
        let padded = |values: &[f64]| {
            let rest = std::iter::repeat(f64::NAN);
            values.iter().copied().chain(rest).take(self.most_changepoints()).collect()
        };
        set(CHANGEPOINTS, &|fit| padded(&fit.changepoints));
        set(DELTA, &|fit| padded(&fit.delta));
        set(BETA, &|fit| fit.beta.clone());
        set(STANDARDS, &|fit| fit.standards.concat());
        numbers
    }

    /// The fit of the series of this id, if it was learned from.
    pub(crate) fn fit_of(&self, numbers: &SeriesNumbers, id: &str) -> Option<SeriesFit> {
        let of = |name: &str| numbers.of(id, name);
        let &[start, t_scale, y_min, y_scale, rate, offset, sigma, log_posterior] = of(TREND)? else {
            return None;
        };
        let known = |values: &[f64]| values.iter().copied().take_while(|value| !value.is_nan()).collect();
        let standards = of(STANDARDS)?.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        let (changepoints, delta, beta) = (known(of(CHANGEPOINTS)?), known(of(DELTA)?), of(BETA)?.to_vec());
        Some(SeriesFit {
            start,
            t_scale,
            y_min,
            y_scale,
            rate,
            offset,
            sigma,
            log_posterior,
            changepoints,
            delta,
            beta,
            standards,
        })
    }

    /// Whether numbers are as many as this model has.
    ///
    /// # Errors
    /// In words, if they are not.
    pub(crate) fn check(&self, numbers: &SeriesNumbers) -> Result<(), String> {
        let (changes, columns) = (self.most_changepoints(), self.design.reads.len());
        let counts = [
            (TREND, 8),
            (CHANGEPOINTS, changes),
            (DELTA, changes),
            (BETA, self.design.width()),
            (STANDARDS, 2 * columns),
        ];
        for (name, expected) in counts {
            let found = numbers.count(name);
            if found != Some(expected) {
                let found = found.map_or("none".to_owned(), |found| found.to_string());
                return Err(format!("of each series it needs {expected} numbers {name}, and has {found}"));
            }
        }
        Ok(())
    }
}
