//! What an estimator needs and is, as its hyper-parameters settle it.

use crate::columns::ColumnKind;
use crate::error::EstimatorError;
use crate::levels_seen::LevelsSeen;

/// What an estimator needs and is, as its hyper-parameters settle it, whatever the panel: what the facade asks before it trains or
/// forecasts. The default is what a rule needs that forecasts each series from its whole history and learns nothing.
///
/// ```
/// use foretell_estimator::{ColumnKind, EstimatorNeeds};
///
/// let needs = EstimatorNeeds { rows_needed: 2, can_read: vec![ColumnKind::Futr], ..EstimatorNeeds::default() };
/// assert_eq!((needs.rows_read, needs.max_steps), (usize::MAX, None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatorNeeds {
    /// The kinds of columns that it can read beside the target.
    pub can_read: Vec<ColumnKind>,
    /// Columns that it reads and that no scaler of series may change: they are in units of the target, or marks.
    pub unscaled_columns: Vec<String>,
    /// Whether it forecasts all series of a panel together, not each from its own history.
    pub is_joint: bool,
    /// The number of series that it forecasts together, if it can forecast no other.
    pub n_series: Option<usize>,
    /// How many neighbouring series are forecast at a time: parts of a panel of a multiple of this many have the forecasts of the whole
    /// panel to the last bit.
    pub series_at_a_time: usize,
    /// Steps of history that its hyper-parameters let it see (`input_size`); nothing where it sees as much as it needs.
    pub input_size: Option<usize>,
    /// The rows that a series needs to train it on.
    pub rows_needed: usize,
    /// The last rows of a series that a forecast reads; `usize::MAX` for the whole history.
    pub rows_read: usize,
    /// The rows of history without which its forecasts may be far off, as it sees zeros in place of those that are missing.
    pub rows_expected: Option<usize>,
    /// Whether it takes values for counts, so that only whole numbers have a probability.
    pub forecasts_counts: bool,
    /// Whether what it forecasts is never negative, so that no end of an interval is.
    pub is_never_negative: bool,
    /// Whether its quantiles can be those of forecasts with dropout, as it forecasts a single number and drops something.
    pub takes_dropout_samples: bool,
    /// How it sees series that are held relative to a [`SeriesLevel`](foretell_data::SeriesLevel).
    pub levels_seen: LevelsSeen,
    /// Whether it learns of the history without steps of training, so that a fit on every few rows more costs little: what it learnt
    /// of earlier rows is then no measure of it.
    pub learns_without_steps: bool,
    /// Whether all that it learns is of single series, each by itself: what was learned of parts of a panel is then joined to what is learned
    /// of the whole ([`SeriesNumbers::joined`](crate::SeriesNumbers::joined)).
    pub learns_of_single_series: bool,
    /// Steps of its training at most, each of which has a loss and changes parameters; nothing where it needs no steps.
    pub max_steps: Option<u64>,
    /// Whether a training resumed from a shorter one, with its optimiser, has the same end as a single training of all the steps: a step
    /// depends neither on the number of steps nor on the validations between them.
    pub goes_on_exactly: bool,
    /// Whether its training keeps all threads at work, so that it is trained alone; else it is trained at the same time as others.
    pub takes_all_threads: bool,
}

impl Default for EstimatorNeeds {
    fn default() -> Self {
        Self {
            can_read: Vec::new(),
            unscaled_columns: Vec::new(),
            is_joint: false,
            n_series: None,
            series_at_a_time: 1,
            input_size: None,
            rows_needed: 1,
            rows_read: usize::MAX,
            rows_expected: None,
            forecasts_counts: false,
            is_never_negative: false,
            takes_dropout_samples: false,
            levels_seen: LevelsSeen::OfTraining,
            learns_without_steps: false,
            learns_of_single_series: false,
            max_steps: None,
            goes_on_exactly: false,
            takes_all_threads: false,
        }
    }
}

impl EstimatorNeeds {
    /// The rows of a series that a forecast is made from: those that it reads, or as few as it can be trained on where that is the whole
    /// history.
    pub fn rows_of_a_forecast(&self) -> usize {
        let read = Some(self.rows_read).filter(|rows| *rows < usize::MAX);
        let lengths = [read, self.input_size, self.rows_expected, Some(self.rows_needed)];
        lengths.into_iter().flatten().max().unwrap_or(1).max(1)
    }

    /// Whether `model` can see a panel of this many series.
    ///
    /// # Errors
    /// If it forecasts another number of series together.
    pub fn check_n_series(&self, model: &str, found: usize) -> Result<(), EstimatorError> {
        match self.n_series {
            Some(expected) if expected != found => {
                Err(EstimatorError::SeriesCount { model: model.to_owned(), expected, found })
            }
            _ => Ok(()),
        }
    }
}
