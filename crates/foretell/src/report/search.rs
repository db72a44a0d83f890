//! The report on a forecast that a search among models made.

use foretell_data::Panel;
use foretell_report::{Report, ReportError, ScoreSheet, ScoredBy};
use foretell_tables::Frame;

use super::answer::{AnswerInputs, answer};
use super::charts::charts;
use super::facts::facts;

/// A forecast that was searched for, and what the search told of it.
#[derive(Clone, Debug)]
pub struct SearchInputs<'a> {
    /// What the data are called, as their file.
    pub data: &'a str,
    /// What the forecasts are called.
    pub forecast: &'a str,
    /// The data.
    pub panel: &'a Panel,
    /// The forecasts.
    pub frame: &'a Frame,
    /// The column of values.
    pub target: &'a str,
    /// The models that were tried,
    pub models: Vec<String>,
    /// their scores by metric, one for each model,
    pub scores: Vec<(&'static str, Vec<f64>)>,
    /// and the one of them that errors are told relative to.
    pub baseline: &'a str,
    /// What is to be read before the figures.
    pub notes: Vec<String>,
    /// Commands that repeat the work.
    pub commands: Vec<String>,
}

impl SearchInputs<'_> {
    /// The report.
    ///
    /// # Errors
    /// [`ReportError::Scores`] if a metric has more scores than there are models.
    pub fn report(self) -> Result<Report, ReportError> {
        let Self { data, forecast, panel, frame, target, models, scores, baseline, notes, commands } = self;
        let rows = scores.into_iter().map(|(metric, values)| ("", metric, values));
        let scores = vec![ScoreSheet::of_rows(ScoredBy::All, models, rows)?];
        let asked = AnswerInputs {
            panel,
            frame,
            target,
            unit: None,
            scores: &scores,
            baseline: None,
            hierarchy: None,
        };
        Ok(Report {
            answer: answer(&asked),
            title: format!("Forecasts of {target}"),
            facts: facts(data, forecast, panel, frame),
            notes,
            baseline: Some(baseline.to_owned()),
            scores,
            commands,
            charts: charts(panel, &[frame], target, None),
            ..Report::default()
        })
    }
}
