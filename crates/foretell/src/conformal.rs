//! Conformal prediction intervals: how far forecasts of the past were off says how far those of the future will
//! be (Vovk, Gammerman and Shafer 2005; the two methods are neuralforecast's).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::interval_error::IntervalError;
use foretell_checkpoint::{Column, ConformalSettings};
use foretell_estimator::quantile;

/// How prediction intervals are calibrated: by the errors of forecasts of the last steps of each series.
///
/// ```
/// use foretell::{ConformalMethod, PredictionIntervals};
///
/// let intervals: PredictionIntervals = "10:conformal_error".parse()?;
/// let same = PredictionIntervals { n_windows: 10, method: ConformalMethod::Error, step_size: 1 };
/// assert_eq!(intervals, same);
/// # Ok::<(), foretell::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionIntervals {
    /// Forecasts of each series whose errors count; at least 2. An interval of 80 % wants ten or more.
    pub n_windows: usize,
    /// The intervals that the errors become.
    pub method: ConformalMethod,
    /// Steps from one forecast to the next.
    pub step_size: usize,
}

/// The intervals that the absolute errors of a series and step, e, become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConformalMethod {
    /// The quantiles of all `ŷ - e` and `ŷ + e`.
    #[default]
    Distribution,
    /// `ŷ` less and plus the quantile of e that the interval's upper end is of.
    Error,
}

impl ConformalMethod {
    const ALL: [Self; 2] = [Self::Distribution, Self::Error];

    /// Its name in neuralforecast.
    pub fn name(self) -> &'static str {
        match self {
            Self::Distribution => "conformal_distribution",
            Self::Error => "conformal_error",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

impl Default for PredictionIntervals {
    fn default() -> Self {
        Self { n_windows: 2, method: ConformalMethod::Distribution, step_size: 1 }
    }
}

impl fmt::Display for PredictionIntervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.n_windows, self.method.name(), self.step_size)
    }
}

/// Reads `N[:METHOD[:STEP]]`.
impl FromStr for PredictionIntervals {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || IntervalError::IntervalsText { found: text.to_owned() };
        let mut parts = text.split(':');
        let n_windows = parts.next().and_then(|part| part.parse().ok()).ok_or_else(wrong)?;
        let method = parts.next().map_or(Some(ConformalMethod::default()), ConformalMethod::of);
        let step_size = parts.next().map_or(Some(1), |part| part.parse().ok());
        let (Some(method), Some(step_size), None) = (method, step_size, parts.next()) else {
            return Err(wrong().into());
        };
        let intervals = Self { n_windows, method, step_size };
        intervals.check().map(|()| intervals)
    }
}

impl PredictionIntervals {
    pub(crate) fn check(&self) -> Result<(), Error> {
        match *self {
            Self { n_windows, step_size, .. } if n_windows < 2 || step_size == 0 => {
                Err(IntervalError::Intervals { n_windows, step_size }.into())
            }
            _ => Ok(()),
        }
    }

    /// The last steps of a series that the forecasts are of.
    pub(crate) fn test_size(&self, h: usize) -> usize {
        h.saturating_add((self.n_windows - 1).saturating_mul(self.step_size))
    }
}

/// Errors of forecasts, and the intervals that follow from them.
#[derive(Clone, Debug)]
pub(crate) struct Conformal {
    pub(crate) intervals: PredictionIntervals,
    h: usize,
    /// neuralforecast's `_cs_df`: ids, times, cutoffs, and for each model the absolute errors,
    /// `[series, windows, h]`, NaN where the truth is not known.
    table: Vec<(String, Column)>,
    /// The places of the series in it.
    places: BTreeMap<String, usize>,
}

impl Conformal {
    /// The calibration that a directory stores.
    ///
    /// # Errors
    /// In words, if the method is unknown, the settings are refused, or the table does not hold the errors of this many
    /// windows for each series.
    pub(crate) fn new(
        stored: &ConformalSettings,
        h: usize,
        id_col: &str,
        table: Vec<(String, Column)>,
    ) -> Result<Self, String> {
        let method = ConformalMethod::of(&stored.method);
        let method =
            method.ok_or_else(|| format!("no method of prediction intervals is {}", stored.method))?;
        let intervals =
            PredictionIntervals { n_windows: stored.n_windows, method, step_size: stored.step_size };
        intervals.check().map_err(|error| error.to_string())?;
        let ids = match table.iter().find(|(name, _)| name == id_col) {
            Some((_, Column::Text(ids))) => ids.clone(),
            Some((_, Column::Integers(ids))) => ids.iter().map(ToString::to_string).collect(),
            _ => return Err(format!("_cs_df must have a column {id_col} of texts or integers")),
        };
        let each = intervals.n_windows.saturating_mul(h);
        let blocks = ids.chunks(each).enumerate();
        let places: BTreeMap<String, usize> = blocks
            .filter(|(_, ids)| ids.len() == each && ids.iter().all(|id| *id == ids[0]))
            .map(|(place, ids)| (ids[0].clone(), place))
            .collect();
        if places.len().checked_mul(each) != Some(ids.len())
            || table.iter().any(|(_, c)| c.len() != ids.len())
        {
            let n = intervals.n_windows;
            return Err(format!(
                "_cs_df must have {n} windows of {h} rows for each series, found {}",
                ids.len()
            ));
        }
        Ok(Self { intervals, h, table, places })
    }

    /// The calibration of errors that were measured: `places` are those of the series in the table.
    pub(crate) fn of_errors(
        intervals: PredictionIntervals,
        h: usize,
        table: Vec<(String, Column)>,
        places: BTreeMap<String, usize>,
    ) -> Self {
        Self { intervals, h, table, places }
    }

    /// The settings and the table that neuralforecast's directories keep.
    pub(crate) fn stored(&self) -> (ConformalSettings, Vec<(String, Column)>) {
        let PredictionIntervals { n_windows, method, step_size } = self.intervals;
        (ConformalSettings { n_windows, method: method.name().to_owned(), step_size }, self.table.clone())
    }

    /// neuralforecast's `_cs_df`.
    pub(crate) fn table(&self) -> &[(String, Column)] {
        &self.table
    }

    fn errors(&self, model: &str) -> Option<&[f64]> {
        match self.table.iter().find(|(name, _)| name == model)? {
            (_, Column::Floats(errors)) => Some(errors),
            _ => None,
        }
    }

    /// Whether errors of the model of this column are known.
    pub(crate) fn has(&self, model: &str) -> bool {
        self.errors(model).is_some()
    }

    /// The quantiles around the forecasts `[windows, h]` of a model for windows of the series of these ids, a
    /// column each; NaN for a step of which no error is known, and for a series that was not calibrated on.
    pub(crate) fn quantiles(
        &self,
        model: &str,
        ids: &[&str],
        forecasts: &[f32],
        quantiles: impl Iterator<Item = f32>,
    ) -> Vec<Vec<f32>> {
        let errors = self.errors(model).unwrap_or_default();
        let quantiles: Vec<f64> = quantiles.map(exact).collect();
        let mut columns = vec![Vec::with_capacity(forecasts.len()); quantiles.len()];
        let mut sorted: Vec<f64> = Vec::new();
        for (id, forecasts) in ids.iter().zip(forecasts.chunks_exact(self.h)) {
            let Some(&place) = self.places.get(*id) else {
                columns.iter_mut().for_each(|column| column.extend(std::iter::repeat_n(f32::NAN, self.h)));
                continue;
            };
            let each = self.intervals.n_windows * self.h;
            let errors = &errors[place * each..(place + 1) * each];
            for (step, &forecast) in forecasts.iter().enumerate() {
                let forecast = f64::from(forecast);
                let known = errors[step..].iter().step_by(self.h).copied().filter(|error| !error.is_nan());
                sorted.clear();
                match self.intervals.method {
                    ConformalMethod::Distribution => {
                        sorted.extend(known.flat_map(|error| [forecast - error, forecast + error]));
                    }
                    ConformalMethod::Error => sorted.extend(known),
                }
                sorted.sort_by(f64::total_cmp);
                for (column, &q) in columns.iter_mut().zip(&quantiles) {
                    column.push(match self.intervals.method {
                        ConformalMethod::Distribution => quantile(&sorted, q),
                        ConformalMethod::Error if q < 0.5 => forecast - quantile(&sorted, 1.0 - q),
                        ConformalMethod::Error => forecast + quantile(&sorted, q),
                    } as f32);
                }
            }
        }
        columns
    }

    /// Whether the errors of this series are known.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }
}

/// The quantile as written, to a millionth, not as single precision has it.
pub(crate) fn exact(q: f32) -> f64 {
    (f64::from(q) * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conformal(method: &str) -> Conformal {
        let stored = ConformalSettings { n_windows: 2, method: method.to_owned(), step_size: 1 };
        // Two series of two windows of two steps; of b's second step one error is not known.
        let ids = ["a", "a", "a", "a", "b", "b", "b", "b"].map(str::to_owned).to_vec();
        let errors = vec![1.0, 10.0, 3.0, 30.0, 0.0, f64::NAN, 0.0, 8.0];
        let table = vec![("id".to_owned(), Column::Text(ids)), ("M".to_owned(), Column::Floats(errors))];
        Conformal::new(&stored, 2, "id", table).expect("a table")
    }

    #[test]
    fn intervals_by_hand() {
        let quantiles = |method: &str| {
            conformal(method).quantiles("M", &["b", "a"], &[5.0, 5.0, 0.0, 0.0], [0.1, 0.9].into_iter())
        };
        // Of -3, -1, 1, 3 and -30, -10, 10, 30, a tenth is at 0.3 of the way from first to second.
        let ends = quantiles("conformal_distribution");
        let near = |ends: &[f32], expected: [f32; 4]| {
            assert!(ends.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{ends:?}, {expected:?}");
        };
        near(&ends[0], [5.0, 5.0 - 8.0 + 1.6, -2.4, -24.0]);
        near(&ends[1], [5.0, 5.0 + 8.0 - 1.6, 2.4, 24.0]);
        // Nine tenths of the way from 1 to 3, from 10 to 30.
        let ends = quantiles("conformal_error");
        near(&ends[0], [5.0, -3.0, -2.8, -28.0]);
        near(&ends[1], [5.0, 13.0, 2.8, 28.0]);
    }

    #[test]
    fn other_series_have_no_intervals() {
        let conformal = conformal("conformal_error");
        let ends = conformal.quantiles("M", &["c", "b"], &[0.0; 4], [0.5].into_iter());
        assert!(ends[0][..2].iter().all(|end| end.is_nan()) && ends[0][2..].iter().all(|end| !end.is_nan()));
        assert!(conformal.knows("b") && !conformal.knows("c"));
    }

    #[test]
    fn what_is_stored_must_fit() {
        let stored = |n_windows, method: &str| ConformalSettings {
            n_windows,
            method: method.to_owned(),
            step_size: 1,
        };
        let new = |stored: &ConformalSettings, ids: &[&str], errors: usize| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            let errors = Column::Floats(vec![0.0; errors]);
            let table = vec![("id".to_owned(), Column::Text(ids)), ("M".to_owned(), errors)];
            Conformal::new(stored, 1, "id", table).map(|_| ())
        };
        let good = stored(2, "conformal_error");
        assert_eq!(new(&good, &["a", "a", "b", "b"], 4), Ok(()));
        for (stored, ids, errors) in [
            (stored(1, "conformal_error"), vec!["a", "b"], 2),
            (stored(usize::MAX, "conformal_error"), vec!["a"; 4], 4),
            (stored(2, "conformal_errors"), vec!["a"; 2], 2),
            (good.clone(), vec!["a"; 4], 4),
            (good.clone(), vec!["a", "b", "b", "a"], 4),
            (good.clone(), vec!["a"; 3], 3),
            (good.clone(), vec!["a"; 2], 4),
        ] {
            assert!(new(&stored, &ids, errors).is_err(), "{stored:?} {ids:?}");
        }
        assert!(Conformal::new(&good, 1, "id", Vec::new()).is_err());
    }

    #[test]
    fn intervals_are_read_as_they_are_written() {
        for text in ["2:conformal_distribution:1", "10:conformal_error:12"] {
            assert_eq!(text.parse::<PredictionIntervals>().expect("intervals").to_string(), text);
        }
        assert_eq!("2".parse::<PredictionIntervals>().expect("a number"), PredictionIntervals::default());
        for text in ["", "x", "1", "5:error", "5:conformal_error:0", "5:conformal_error:1:1", "-3"] {
            assert!(text.parse::<PredictionIntervals>().is_err(), "{text:?}");
        }
    }
}
