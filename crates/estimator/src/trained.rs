//! An estimator after training.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use foretell_data::{Cutter, DataError, Panel, Span, WindowSpec};
use foretell_threads::Workers;

use crate::error::EstimatorError;
use crate::estimator::Estimator;
use crate::memory::MemoryEstimate;
use crate::progress::Outcome;

/// Where a forecast starts: the series, and how many of its rows come before.
pub type Cutoff = (usize, usize);

/// Which forecasts there are to be.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The windows of the panel.
    pub span: Span<'a>,
    /// Steps of each forecast: the estimator's horizon, or more if it [reaches any](Trained::reaches_any_horizon).
    pub h: usize,
    /// The quantiles of [`Estimator::outputs_at`]; `None` for the columns of [`Estimator::outputs`].
    pub quantiles: Option<&'a [f64]>,
}

/// What an estimator has learned, by name.
pub type Learned = BTreeMap<String, Vec<f64>>;

/// Forecasts of windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForecastValues {
    /// Where each forecast starts, by series, then time.
    pub cutoffs: Vec<Cutoff>,
    /// `[cutoffs, steps, columns]`.
    pub values: Vec<f32>,
}

/// An estimator after training: it forecasts the windows of any panel.
pub trait Trained: Any + fmt::Debug + Send + Sync {
    /// What was trained.
    fn estimator(&self) -> &dyn Estimator;

    /// How its training ended; nothing for one that was loaded, or that needs no steps.
    fn outcome(&self) -> Option<&Outcome> {
        None
    }

    /// Whether it forecasts more steps than its horizon without forecasts that are fed back as known values.
    fn reaches_any_horizon(&self) -> bool {
        false
    }

    /// The forecasts of all windows of a span.
    ///
    /// # Errors
    /// If the panel lacks a column that it reads, or has another number of series than it forecasts together.
    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError>;

    /// Bytes of what it has learned, and of the copies that forecasts make of it.
    fn held_bytes(&self) -> [u64; 2] {
        [0, 0]
    }

    /// The memory that forecasts of so many windows of `h` steps take on so many threads, beside what it has learned, the
    /// panel and the forecasts.
    fn memory(&self, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        _ = (windows, h, threads);
        MemoryEstimate::default()
    }

    /// What it has learned, by name, for model directories: with its hyper-parameters all that
    /// [`EstimatorEntry::restore`](crate::EstimatorEntry) needs. Nothing by default.
    fn learned(&self) -> Learned {
        Learned::new()
    }
}

/// The cutoffs of a span, for estimators that read any number of rows before them: by series, then time.
///
/// # Errors
/// As [`Cutter::new`].
pub fn cutoffs(panel: &Panel, span: Span<'_>, h: usize) -> Result<Vec<Cutoff>, DataError> {
    // Of a window with one step of history, the cutoff is its first row.
    let cutter = Cutter::new(panel, &WindowSpec::new(1, h), span)?;
    let before = |start: i64| (start + 1) as usize;
    Ok(cutter.rows().into_iter().map(|window| (window.series as usize, before(window.start))).collect())
}
