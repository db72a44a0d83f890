//! The result of a search.

use foretell::{CellTable, Cells, ModelSpec, Warning};
use serde_json::Value;

use crate::search_trial::SearchTrial;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The trials that have a score or failed, in the order in which they were proposed.
    pub trials: Vec<SearchTrial>,
    /// Whether [`Search::interrupt_if`](crate::Search::interrupt_if) ended the search.
    pub interrupted: bool,
    /// Whether all trials were tried that were asked for, and that there are.
    pub complete: bool,
    /// The score of `SeasonalNaive`, which needs no search, in the same windows; nothing where it has none, as of quantiles.
    pub baseline: Option<f64>,
    /// The score of the best model on the last horizon of each series, if it was kept from the search
    /// ([`Search::keep_window`](crate::Search::keep_window)).
    pub kept: Option<KeptScore>,
    /// What was not scored: the windows that short series do not have.
    pub fewer_windows: Option<Warning>,
    /// The trials that have a score, the best first, and their models.
    pub(crate) ranked: Vec<(usize, ModelSpec)>,
}

/// The score of a model on a window that did not choose it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeptScore {
    /// That of the model.
    pub score: f64,
    /// That of `SeasonalNaive`; nothing where it has none, as of quantiles.
    pub baseline: Option<f64>,
}

impl Tuned {
    /// The trial with the least score among those with the largest budget; nothing if none was scored.
    pub fn best(&self) -> Option<&SearchTrial> {
        let (number, _) = self.ranked.first()?;
        self.trials.iter().find(|trial| trial.trial == *number)
    }

    /// The trials as a table: `trial, model, score, rungs, seconds, best, failure`, and a column for each hyper-parameter that is
    /// searched of any model, texts unchanged and all else as JSON.
    pub fn table(&self) -> CellTable {
        let trials = &self.trials;
        let best = self.best().map(|best| best.trial);
        let texts =
            |text: &dyn Fn(&SearchTrial) -> Option<String>| Cells::Texts(trials.iter().map(text).collect());
        let integers = |number: &dyn Fn(&SearchTrial) -> usize| {
            Cells::Integers(trials.iter().map(|trial| number(trial) as i64).collect())
        };
        let mut columns = vec![
            ("trial", integers(&|trial| trial.trial)),
            ("model", texts(&|trial| Some(trial.model.clone()))),
            ("score", Cells::Numbers(trials.iter().map(SearchTrial::score).collect())),
            ("rungs", integers(&|trial| trial.scores.len())),
            ("seconds", Cells::Numbers(trials.iter().map(|trial| Some(trial.seconds)).collect())),
            ("best", texts(&|trial| Some((best == Some(trial.trial)).to_string()))),
            ("failure", texts(&|trial| trial.failure.clone())),
        ];
        for name in trials.iter().flat_map(|trial| trial.hyper_parameters.keys()) {
            if !columns.iter().any(|(known, _)| known == name) {
                let value = |trial: &SearchTrial| trial.hyper_parameters.get(name).map(plain);
                columns.push((name, texts(&value)));
            }
        }
        CellTable { columns: columns.into_iter().map(|(name, cells)| (name.to_owned(), cells)).collect() }
    }

    /// Its model.
    pub fn best_spec(&self) -> Option<&ModelSpec> {
        self.ranked.first().map(|(_, spec)| spec)
    }

    /// The trials that have a score with their models, by their numbers, the best first.
    pub fn ranked(&self) -> &[(usize, ModelSpec)] {
        &self.ranked
    }
}

/// A text as it is, all else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
