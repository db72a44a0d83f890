//! What the work goes on after, but whoever uses its result should know.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use foretell_data::{Setting, UnseenCategories};
use foretell_estimator::Workers;

/// Something that is no error, but makes a result worth less than it looks. Its text says what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Series to forecast have fewer rows than models read, which see zeros in place of the missing ones.
    ShortHistory {
        /// The names of the models' columns.
        models: Vec<String>,
        /// Rows that they read.
        input_size: usize,
        /// Ids of the series, with their rows.
        series: Vec<(String, usize)>,
    },
    /// Intervals that were calibrated on too few windows to be as wide as their level asks.
    FewCalibrationWindows {
        /// Windows of each series that they were calibrated on.
        n_windows: usize,
        /// The levels, in percent, with the windows that they need.
        levels: Vec<(f64, usize)>,
    },
    /// Cross-validation forecasts fewer windows than were asked for, as no row comes before some of them.
    FewerWindows {
        /// Windows that are forecast.
        windows: usize,
        /// Windows that were asked for, of all series together.
        asked: usize,
        /// Ids of the series that have fewer, with their rows.
        series: Vec<(String, usize)>,
    },
    /// Columns of categories hold what training did not see.
    UnseenCategories {
        /// The columns, with what they hold.
        columns: Vec<UnseenCategories>,
    },
    /// Forecasts that are infinite or not a number.
    NotFinite {
        /// Columns of the forecast, with how many of their values are not finite.
        columns: Vec<(String, usize)>,
        /// Values of each column.
        of: usize,
    },
    /// The system refused to start as many threads as were asked for. The result is the same.
    FewerThreads {
        /// Threads asked for.
        asked: usize,
        /// Threads that there are.
        started: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortHistory { models, input_size, series } => write!(
                f,
                "series with fewer rows than input_size = {input_size}: {}; {} zeros in place of the missing rows, so \
                 the forecasts may be far off; give more rows, or train with a smaller input_size",
                first_few(series, with_rows),
                match &models[..] {
                    [model] => format!("{model} reads"),
                    models => format!("{} read", models.join(", ")),
                },
            ),
            Self::FewCalibrationWindows { n_windows, levels } => {
                let most = 100.0 * *n_windows as f64 / (*n_windows as f64 + 1.0);
                let needed: Vec<String> =
                    levels.iter().map(|(level, needed)| format!("{level} % needs {needed}")).collect();
                write!(
                    f,
                    "intervals that are calibrated on {n_windows} windows hold about {most:.0} % of the truths at \
                     most: {}; calibrate them on more windows ({})",
                    needed.join(", "),
                    Setting::Intervals.to("N")
                )
            }
            Self::FewerWindows { windows, asked, series } => write!(
                f,
                "{windows} of the {asked} windows asked for are forecast, as no row comes before the first ones of the \
                 series {}; leave out the series that are too short ({}), or lower n_windows or step_size",
                first_few(series, with_rows),
                Setting::DropShort
            ),
            Self::UnseenCategories { columns } => {
                let column = |unseen: &UnseenCategories| {
                    let UnseenCategories { column, values, rows, of } = unseen;
                    format!("{column} in {rows} of {of} rows ({})", first_few(values, String::clone))
                };
                let columns: Vec<String> = columns.iter().map(column).collect();
                write!(
                    f,
                    "categories that training did not see: {}; the models take the mean of those that it saw for each of \
                     them; check how they are written, or train on data that hold them",
                    columns.join(", ")
                )
            }
            Self::NotFinite { columns, of } => {
                let counts: Vec<String> =
                    columns.iter().map(|(name, count)| format!("{count} of {of} of {name}")).collect();
                write!(
                    f,
                    "forecasts that are infinite or not a number: {}; look for extreme values in the data, and train \
                     with a scaler_type or a lower learning_rate",
                    counts.join(", ")
                )
            }
            Self::FewerThreads { asked, started } => write!(
                f,
                "the system started {started} of {asked} threads (`ulimit -u` has its limit), so this takes longer, with \
                 the same result"
            ),
        }
    }
}

/// A series with its rows.
fn with_rows((id, rows): &(String, usize)) -> String {
    format!("{id} ({rows} row{})", if *rows == 1 { "" } else { "s" })
}

/// The first few of a list.
fn first_few<T>(all: &[T], shown: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = all.iter().take(SHOWN).map(shown).collect();
    match all.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Who is told of warnings.
#[derive(Clone)]
pub(crate) struct WarningListener(Arc<dyn Fn(&Warning) + Send + Sync>);

impl Default for WarningListener {
    fn default() -> Self {
        Self(Arc::new(|_| {}))
    }
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

    /// Warns of those of the levels that so few windows cannot be calibrated for: of n errors the next one is larger
    /// than all with a probability of 1 / (n + 1), so that no interval that they make holds more than n / (n + 1).
    pub(crate) fn warn_of_few_windows(&self, n_windows: usize, level: &[f64]) {
        // A level is a decimal fraction, which the quotient misses by a little.
        let needed = |level: f64| (level / (100.0 - level) - 1e-6).ceil() as usize;
        let levels: Vec<_> = level
            .iter()
            .map(|&level| (level, needed(level)))
            .filter(|(_, needed)| *needed > n_windows)
            .collect();
        if !levels.is_empty() {
            self.warn(&Warning::FewCalibrationWindows { n_windows, levels });
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
