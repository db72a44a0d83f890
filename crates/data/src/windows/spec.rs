//! The contents of a window, and the rows that windows are cut from.

use super::scaler::WindowScaler;
use crate::error::DataError;
use crate::panels::covariates::Future;
use foretell_tables::TableError;

/// The contents of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowSpec {
    /// Insample rows, `input_size` or L.
    pub input_size: usize,
    /// Outsample rows, `h`.
    pub horizon: usize,
    /// Rows between the starts of neighbouring windows in training and validation.
    pub step_size: usize,
    /// Also train on windows that begin up to `input_size - 1` rows before the longest series
    /// (`start_padding_enabled`).
    pub start_padding: bool,
    /// Least fraction of known insample and outsample rows of a training window
    /// (`training_data_availability_threshold`); one row each is always needed.
    pub availability_threshold: [f64; 2],
    /// Columns of the insample rows.
    pub hist: Vec<String>,
    /// Columns of the insample and outsample rows.
    pub futr: Vec<String>,
    /// Static columns.
    pub stat: Vec<String>,
    /// How each window is scaled.
    pub scaler: WindowScaler,
    /// Whether a window holds all series of the panel, for multivariate models. It is one to train on if all of
    /// them together know enough rows.
    pub all_series: bool,
}

impl WindowSpec {
    /// Windows of the target alone, with neuralforecast's defaults.
    pub fn new(input_size: usize, horizon: usize) -> Self {
        Self {
            input_size,
            horizon,
            step_size: 1,
            start_padding: false,
            availability_threshold: [0.0; 2],
            hist: Vec::new(),
            futr: Vec::new(),
            stat: Vec::new(),
            scaler: WindowScaler::Identity,
            all_series: false,
        }
    }

    pub(crate) fn check(&self) -> Result<(), DataError> {
        const MOST: usize = i32::MAX as usize;
        for (name, value) in
            [("input_size", self.input_size), ("h", self.horizon), ("step_size", self.step_size)]
        {
            if !(1..=MOST).contains(&value) {
                return Err(TableError::setting(name, value, format!("1 to {MOST}")).into());
            }
        }
        match self.availability_threshold.iter().find(|t| !(0.0..=1.0).contains(*t)) {
            Some(threshold) => {
                let name = "training_data_availability_threshold";
                Err(TableError::setting(name, threshold, "0.0 to 1.0").into())
            }
            None => Ok(()),
        }
    }
}

/// Which rows of the panel windows are cut from.
#[derive(Clone, Copy, Debug)]
pub enum Span<'p> {
    /// All rows but the last `val_size + test_size` of each series.
    Train {
        /// Rows kept for validation.
        val_size: usize,
        /// Rows kept for testing, after those for validation.
        test_size: usize,
    },
    /// The `val_size` rows before the last `test_size`, each horizon with its insample rows.
    Validation {
        /// Rows to validate on; at least the horizon.
        val_size: usize,
        /// Rows kept for testing.
        test_size: usize,
    },
    /// Rolling windows whose horizons cover the last `test_size` rows (cross-validation).
    Test {
        /// Rows to test on: the horizon plus a multiple of `step_size`.
        test_size: usize,
        /// Rows between neighbouring cutoffs.
        step_size: usize,
    },
    /// Rolling windows whose horizons cover each series from its end back to its start, as far as whole steps go.
    Insample {
        /// Rows between neighbouring cutoffs.
        step_size: usize,
        /// Also the window whose horizon begins with the series, if whole steps lead to it: all of its history is
        /// padding.
        from_padding: bool,
    },
    /// The horizon after the end of each series.
    Predict {
        /// Values of the future columns over the horizon, if the windows have any.
        future: Option<&'p Future>,
    },
}

/// A window: its insample part starts at row `start` of its series, its cutoff (last insample row)
/// is row `start + input_size - 1`. Rows before 0 are left padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowRef {
    /// Index of the series in the panel.
    pub series: u32,
    /// First insample row relative to the first row of the series.
    pub start: i64,
}
