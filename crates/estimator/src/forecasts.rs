//! Requests to trained estimators, and their answers.

use std::collections::BTreeMap;

use foretell_data::{Cutter, DataError, Future, Panel, Span, WindowSpec};

/// Where a forecast starts: the series, and how many of its rows come before.
pub type Cutoff = (usize, usize);

/// Which forecasts there are to be.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The windows of the panel.
    pub span: Span<'a>,
    /// Steps of each forecast: the estimator's horizon, or more if it [reaches any](crate::Trained::reaches_any_horizon).
    pub h: usize,
    /// The quantiles of [`Estimator::outputs_at`](crate::Estimator::outputs_at); `None` for the columns of [`Estimator::outputs`](crate::Estimator::outputs).
    pub quantiles: Option<&'a [f64]>,
}

impl<'a> Asked<'a> {
    /// The columns known behind the ends of the series, if forecasts of what follows them are asked for.
    pub fn future(&self) -> Option<&'a Future> {
        match self.span {
            Span::Predict { future } => future,
            _ => None,
        }
    }
}

/// The numbers that an estimator has learned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    /// The ids of the series that it has numbers of, in the order of these; none where its numbers belong to no series.
    pub series: Vec<String>,
    /// Its numbers, by name: those of series are `[series, k]`.
    pub numbers: BTreeMap<String, Vec<f64>>,
}

/// Forecasts of windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForecastValues {
    /// Where each forecast starts, by series, then time.
    pub cutoffs: Vec<Cutoff>,
    /// `[cutoffs, steps, columns]`.
    pub values: Vec<f32>,
}

/// The cutoffs of a span, for estimators that read any number of rows before them: by series, then time.
///
/// # Errors
/// As [`Cutter::new`].
pub fn cutoffs(panel: &Panel, span: Span<'_>, h: usize) -> Result<Vec<Cutoff>, DataError> {
    cutoffs_beside(panel, span, h, &[])
}

/// The cutoffs of a span, for estimators that read any number of rows before them, and columns known in advance: by series, then time.
///
/// # Errors
/// If the panel, or behind its end the future, lacks a column.
pub fn cutoffs_beside(
    panel: &Panel,
    span: Span<'_>,
    h: usize,
    columns: &[String],
) -> Result<Vec<Cutoff>, DataError> {
    // Of a window with one step of history, the cutoff is its first row.
    let cutter = Cutter::new(panel, &WindowSpec { futr: columns.to_vec(), ..WindowSpec::new(1, h) }, span)?;
    let before = |start: i64| (start + 1) as usize;
    Ok(cutter.rows().into_iter().map(|window| (window.series as usize, before(window.start))).collect())
}
