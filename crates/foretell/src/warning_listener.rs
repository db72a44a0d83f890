//! Who is told of warnings, and those that several works give alike.

use std::sync::{Arc, Mutex, PoisonError};

use foretell_data::Panel;
use foretell_estimator::{Estimator, Workers};
use serde_json::Value;

use crate::warning::Warning;

/// Who is told of warnings.
#[derive(Clone)]
pub(crate) struct WarningListener(Arc<dyn Fn(&Warning) + Send + Sync>);

impl Default for WarningListener {
    fn default() -> Self {
        Self(Arc::new(|_| {}))
    }
}

/// The windows that intervals of this level, in percent, are calibrated on at least.
pub(crate) fn windows_needed(level: f64) -> usize {
    // A level is a decimal fraction, which the quotient misses by a little.
    (level / (100.0 - level) - 1e-6).ceil() as usize
}

impl WarningListener {
    pub(crate) fn new(listener: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    pub(crate) fn warn(&self, warning: &Warning) {
        (self.0)(warning);
    }

    /// The same listener, told of each warning once.
    pub(crate) fn once(&self) -> Self {
        let (listener, told) = (self.clone(), Mutex::new(Vec::new()));
        Self(Arc::new(move |warning: &Warning| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if !told.contains(warning) {
                told.push(warning.clone());
                listener.warn(warning);
            }
        }))
    }

    /// The same listener, not told of these once more.
    pub(crate) fn without(&self, told: Vec<Warning>) -> Self {
        let (listener, told) = (self.clone(), Mutex::new(told));
        Self(Arc::new(move |warning: &Warning| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            match told.iter().position(|known| known == warning) {
                Some(place) => _ = told.swap_remove(place),
                None => listener.warn(warning),
            }
        }))
    }

    /// Warns of those of the levels that so few windows cannot be calibrated for: of n errors the next one is larger
    /// than all with a probability of 1 / (n + 1), so that no interval that they make holds more than n / (n + 1).
    pub(crate) fn warn_of_few_windows(&self, n_windows: usize, level: &[f64]) {
        let needed = level.iter().map(|&level| (level, windows_needed(level)));
        let levels: Vec<_> = needed.filter(|(_, needed)| *needed > n_windows).collect();
        if !levels.is_empty() {
            self.warn(&Warning::FewCalibrationWindows { n_windows, levels });
        }
    }

    /// Warns of early stopping that has too few checks to stop.
    pub(crate) fn warn_of_few_checks(&self, model: &dyn Estimator, name: &str, watches: bool) {
        let settings = model.hyper_parameters();
        let number =
            |name: &str| settings.get(name).and_then(Value::as_i64).and_then(|n| u64::try_from(n).ok());
        let (Some(patience), Some(every), Some(steps)) =
            (number("early_stop_patience_steps"), number("val_check_steps"), model.needs().max_steps)
        else {
            return;
        };
        let checks = steps / every.max(1);
        if watches && patience > 0 && steps > 0 && checks <= patience {
            self.warn(&Warning::CannotStop { model: name.to_owned(), patience, checks });
        }
    }

    /// Warns of series whose values single precision can hardly tell apart, as these models see them without levels.
    pub(crate) fn warn_of_coarse_values(&self, panel: &Panel, without_levels: &[String]) {
        let series: Vec<_> = panel.coarse_series().iter().map(ToString::to_string).collect();
        if !series.is_empty() {
            self.warn(&Warning::CoarseValues { series, without_levels: without_levels.to_vec() });
        }
    }

    /// Warns of known values that are no whole numbers, if the model takes them for counts.
    pub(crate) fn warn_of_no_counts(&self, model: &dyn Estimator, name: &str, panel: &Panel) {
        if !model.needs().forecasts_counts {
            return;
        }
        let (mut first, mut count, mut of) = (None, 0, 0);
        for series in 0..panel.n_series() {
            let values = panel.known_values(series, 0..panel.len(series));
            for (row, &y) in values.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                of += 1;
                if y.fract() != 0.0 {
                    count += 1;
                    first.get_or_insert((series, row + 1, y as f32));
                }
            }
        }
        if let Some((series, row, found)) = first {
            let (model, series) = (name.to_owned(), panel.id(series).to_string());
            self.warn(&Warning::NotCounts { model, series, row, found, count, of });
        }
    }

    /// Warns where there are fewer threads than were asked for.
    pub(crate) fn warn_of_fewer_threads(&self, workers: &Workers) {
        if let Some(started) = workers.fewer() {
            self.warn(&Warning::FewerThreads { asked: workers.asked(), started });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_need_as_many_windows_as_they_leave_out_one() {
        let received = Arc::new(Mutex::new(Vec::new()));
        let into = received.clone();
        let listener =
            WarningListener(Arc::new(move |warning| into.lock().expect("no panic").push(warning.clone())));
        let warn = |n_windows: usize, level: &[f64]| {
            listener.warn_of_few_windows(n_windows, level);
            received.lock().expect("no panic").pop()
        };
        for (level, needed) in [(50.0, 1), (80.0, 4), (90.0, 9), (95.0, 19), (97.5, 39), (99.9, 999)] {
            assert_eq!(warn(needed.max(2), &[level]), None, "{level}");
            if needed > 2 {
                let n_windows = needed - 1;
                let expected = Warning::FewCalibrationWindows { n_windows, levels: vec![(level, needed)] };
                assert_eq!(warn(n_windows, &[level]), Some(expected));
            }
        }
        let text = warn(2, &[50.0, 80.0, 95.0]).expect("a warning").to_string();
        assert!(text.contains("about 67 %") && text.contains("80 % needs 4, 95 % needs 19"), "{text}");
    }
}
