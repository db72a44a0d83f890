//! The bounds of --fail-if: which scores exceed one, and which cannot be judged because they are not defined.

use foretell::evaluate::{MISSING, Metric, RowAggregate, Scale, Uncounted, is_count};

use crate::failure::Usage;
use crate::score_rows::{ScoreRow, ScoreRows, digits};
use crate::threshold::Threshold;

/// Scores, and what bounds them.
#[derive(Clone, Copy)]
pub(crate) struct BoundedScores<'a> {
    pub(crate) bounds: &'a [Threshold],
    pub(crate) rows: &'a ScoreRows<'a>,
    /// Steps of a season.
    pub(crate) season: usize,
}

impl BoundedScores<'_> {
    /// Whether each bound is one of a score that there is.
    pub(crate) fn check(&self) -> Result<(), Usage> {
        let models: Vec<&str> = self.rows.table.models.iter().map(String::as_str).collect();
        let scores = self.rows.table.metrics.iter().filter(|metric| !is_count(&metric.name));
        let mut metrics: Vec<&str> = scores.map(|metric| &*metric.name).collect();
        metrics.sort_unstable();
        metrics.dedup();
        self.of_scores().try_for_each(|bound| bound.check(&metrics, &models).map_err(Usage))
    }

    /// The scores beyond a bound, in words.
    pub(crate) fn crossed(&self) -> Vec<String> {
        let models = &self.rows.table.models;
        let mut crossed = Vec::new();
        for row in self.rows.iter().filter(|_| !self.bounds.is_empty()) {
            for (model, value) in models.iter().zip(row.values) {
                let beyond = self.bounds.iter().filter(|bound| bound.is_crossed(row.metric, model, *value));
                crossed.extend(beyond.map(|bound| {
                    format!("{} is {} for {model}, beyond {bound}", self.rows.told(row), digits(*value))
                }));
            }
        }
        crossed
    }

    /// The bounded scores that are not defined, in words, with the reason: a bound that is held against none of them would pass for one
    /// that is kept. Where a model has others of this metric, `allows_some` judges these alone.
    pub(crate) fn undefined(&self, allows_some: bool) -> Vec<String> {
        let mut told = Vec::new();
        for bound in self.of_scores() {
            let Some(metric) = self.rows.table.metrics.iter().find(|metric| metric.name == bound.metric)
            else {
                continue;
            };
            for (place, model) in self.rows.table.models.iter().enumerate() {
                if !bound.concerns(&bound.metric, model) {
                    continue;
                }
                let has_columns = metric.has_columns[place];
                // A bound of all models is one of those that forecast such quantiles.
                if !has_columns && !bound.is_of_one_model() {
                    continue;
                }
                // Of what has not come true there is nothing to judge yet.
                let is_bounded =
                    |row: &ScoreRow<'_>| row.metric == bound.metric && self.rows.has_come_true(*row);
                let rows: Vec<ScoreRow<'_>> = self.rows.iter().filter(is_bounded).collect();
                let mut undefined = rows.iter().filter(|row| row.values[place].is_nan());
                let Some(first) = undefined.next() else { continue };
                let others = undefined.count();
                let are_some = others + 1 < rows.len();
                if are_some && allows_some {
                    continue;
                }
                let why = match has_columns {
                    true => self.why(*first),
                    false => {
                        "it forecasts no such quantiles; bound the score of a model that does".to_owned()
                    }
                };
                told.push(format!(
                    "{} is not defined for {model}{}, so that {bound} cannot be judged: {why}{}",
                    self.rows.told(*first),
                    if others > 0 { format!(" (nor {others} more such scores)") } else { String::new() },
                    if are_some { " (--allow-missing judges the others)" } else { "" },
                ));
            }
        }
        told
    }

    /// The bounds that are of scores, not of counts of what is missing.
    fn of_scores(&self) -> impl Iterator<Item = &Threshold> {
        self.bounds.iter().filter(|bound| bound.metric != MISSING)
    }

    /// Why a score is not defined, and what to do.
    fn why(&self, row: ScoreRow<'_>) -> String {
        let Uncounted { rows, windows } = self.rows.uncounted(row);
        let Some(metric) = Metric::of_score(row.metric) else { return String::new() };
        let instead = unscaled(&metric);
        let season = self.season;
        match (metric.scale, metric.aggregate) {
            _ if rows > 0 => format!(
                "its actual values are 0 ({rows} rows), of which no error is a share; bound {instead} in its place"
            ),
            _ if windows == 0 => "no row that all models forecast has come true; give more actual values, or score a model by itself \
                                  (--models)"
                .to_owned(),
            (Scale::SeasonalError | Scale::SeasonalSquare, _) => format!(
                "errors are divided by the changes over a season ({season} steps) before the forecast, and these series do not change, \
                 or are not longer than one; bound {instead} in its place, or give a longer history (--history)"
            ),
            (Scale::HistoryMean, _) => format!(
                "errors are divided by the mean of what is before the forecast, which is 0 or not known; bound {instead} in its place"
            ),
            (Scale::Baseline, _) => format!(
                "errors are divided by those of the baseline, which has none; bound {instead} in its place, or name another --baseline"
            ),
            (Scale::None, RowAggregate::PerTruth) => format!(
                "errors are divided by the sum of the actual values, which are all 0; bound {instead} in its place"
            ),
            (Scale::None, _) => format!("no row has a score; bound {instead} in its place"),
        }
    }
}

/// The metric that is relative to nothing and is defined wherever a row is.
fn unscaled(metric: &Metric) -> &'static str {
    match metric.name {
        "msse" => "mse",
        "rmsse" => "rmse",
        "spis" => "pis",
        "scaled_quantile_loss" => "quantile_loss",
        "scaled_mqloss" | "scaled_crps" => "mqloss",
        _ => "mae",
    }
}
