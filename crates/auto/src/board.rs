//! What was tried, how good it was, and what to expect.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A model on the board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardRow {
    /// Its name; `Auto` for what is combined.
    pub model: String,
    /// Its mean absolute error, divided by the mean change of a series over a season, the mean over series; NaN if nothing was scored.
    #[serde(with = "nan_as_null")]
    pub mase: f64,
    /// Twice the mean pinball loss of the quantiles 0.1 to 0.9, divided by the same.
    #[serde(with = "nan_as_null")]
    pub scaled_crps: f64,
    /// The share of true values between the quantiles 0.1 and 0.9.
    #[serde(with = "nan_as_null")]
    pub coverage: f64,
    /// Seconds that it took. They are not saved.
    #[serde(skip)]
    pub seconds: f64,
    /// Its weight in the forecast, the mean over the scored series.
    pub weight: f64,
}

/// What was tried, how good it was, and what to expect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Board {
    /// What is combined, then the models from the best to the worst.
    pub rows: Vec<BoardRow>,
    /// Windows that the weights of what is scored were chosen by; those of the forecast are chosen by the scored one as well.
    pub windows: usize,
    /// Whether the scores are of a window that chose nothing; else of those that weights were chosen by.
    pub is_honest: bool,
    /// Series that were scored.
    pub scored_series: usize,
    /// All series.
    pub series: usize,
    /// The seasons that the models were told, in steps; 1 for none.
    pub seasons: Vec<usize>,
    /// Models that were not tried, or not to the end, and why.
    pub left_out: Vec<(String, String)>,
    /// Steps of each network's training.
    pub steps: Vec<(String, u64)>,
    /// What was done in someone's stead.
    pub told: Vec<String>,
    /// Series whose forecast is the mean demand of a step, since their median is near 0.
    #[serde(default)]
    pub rare_means: usize,
}

/// The name of what is combined.
pub(crate) const AUTO: &str = "Auto";

/// The name of the baseline.
pub const BASELINE: &str = "SeasonalNaive";

impl Board {
    /// All of it as JSON, the seconds and the [sentence](Self::sentence) included.
    pub fn to_json(&self) -> Value {
        let row = |row: &BoardRow| {
            json!({
                "model": row.model, "mase": row.mase, "scaled_crps": row.scaled_crps,
                "coverage": row.coverage, "seconds": row.seconds, "weight": row.weight,
            })
        };
        json!({
            "rows": self.rows.iter().map(row).collect::<Vec<Value>>(),
            "windows": self.windows, "is_honest": self.is_honest, "scored_series": self.scored_series,
            "series": self.series, "seasons": self.seasons, "left_out": self.left_out, "steps": self.steps,
            "told": self.told, "sentence": self.sentence(),
        })
    }

    /// The scores of its rows by metric, under the names of metrics, and their weights.
    pub fn scores(&self) -> Vec<(&'static str, Vec<f64>)> {
        let column = |name, of: fn(&BoardRow) -> f64| (name, self.rows.iter().map(of).collect());
        vec![
            column("mase", |row| row.mase),
            column("scaled_crps", |row| row.scaled_crps),
            column("coverage_level80", |row| row.coverage),
            column("weight", |row| row.weight),
        ]
    }

    /// What is to be read before the scores: what to expect, and what was done in someone's stead.
    pub fn notes(&self) -> Vec<String> {
        std::iter::once(self.sentence()).chain(self.told.iter().cloned()).collect()
    }

    /// The row of a model.
    pub fn row(&self, model: &str) -> Option<&BoardRow> {
        self.rows.iter().find(|row| row.model == model)
    }

    /// What to expect, in a sentence.
    pub fn sentence(&self) -> String {
        let (Some(auto), Some(naive)) = (self.row(AUTO), self.row(BASELINE)) else {
            return "The series are too short to score anything: expect nothing of these forecasts."
                .to_owned();
        };
        if !auto.mase.is_finite() || !naive.mase.is_finite() {
            return "The series are too short to score anything: the forecast is that of models which are good as a rule.".to_owned();
        }
        let than = |own: f64, other: f64| match 100.0 * (1.0 - own / other) {
            gain if !gain.is_finite() => "as good as the seasonal naive".to_owned(),
            gain if gain.abs() < 0.5 => "as good as the seasonal naive".to_owned(),
            gain if gain > 0.0 => format!("{gain:.0} % better than the seasonal naive"),
            gain => format!("{:.0} % WORSE than the seasonal naive", -gain),
        };
        let series = match self.scored_series {
            1 => "one series".to_owned(),
            some if some < self.series => format!("{some} of {} series", self.series),
            all => format!("{all} series"),
        };
        let windows = match self.windows {
            1 => "a window".to_owned(),
            n => format!("{n} windows"),
        };
        let of = match self.is_honest {
            true => format!(
                "on the last window of {series}, which chose nothing of what is scored (weights by {windows} before it; those of the forecast by all)"
            ),
            false => format!(
                "on {windows} of {series} that weights were chosen by, as there are too few data for another: expect somewhat less"
            ),
        };
        // The forecast then has the errors of the baseline, whatever was combined in the scored window; its intervals are made of the
        // errors of several windows, so that a comparison of the two would say something of how they are made alone.
        if naive.weight > 0.999 {
            return format!(
                "Expect errors of about {:.2} of the change over a season (MASE), {of}. Nothing was better than the seasonal naive, so it is the forecast.",
                naive.mase
            );
        }
        format!(
            "Expect errors of about {:.2} of the change over a season (MASE): {}, intervals {}, {of}.",
            auto.mase,
            than(auto.mase, naive.mase),
            than(auto.scaled_crps, naive.scaled_crps),
        )
    }
}

/// Numbers of which some are none.
mod nan_as_null {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        match value.is_finite() {
            true => serializer.serialize_some(value),
            false => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(model: &str, mase: f64, weight: f64) -> BoardRow {
        BoardRow { model: model.to_owned(), mase, scaled_crps: mase, coverage: 0.8, seconds: 0.5, weight }
    }

    #[test]
    fn the_sentence_says_what_to_expect() {
        let board = |auto: f64, naive: f64, honest| Board {
            rows: vec![row(AUTO, auto, 1.0), row(BASELINE, naive, 0.0)],
            windows: 3,
            is_honest: honest,
            scored_series: 5,
            series: 5,
            ..Board::default()
        };
        let better = board(0.8, 1.0, true).sentence();
        assert!(
            better.contains("20 % better than the seasonal naive") && better.contains("chose nothing"),
            "{better}"
        );
        let worse = board(1.2, 1.0, false).sentence();
        assert!(worse.contains("20 % WORSE") && worse.contains("too few data"), "{worse}");
        assert!(board(f64::NAN, f64::NAN, false).sentence().contains("too short"));
    }

    #[test]
    fn a_forecast_that_is_the_baseline_is_not_compared_with_it() {
        let auto = BoardRow { scaled_crps: 1.02, ..row(AUTO, 1.0, 1.0) };
        let board = Board { rows: vec![auto, row(BASELINE, 1.0, 1.0)], ..Board::default() };
        let sentence = board.sentence();
        assert!(sentence.ends_with("better than the seasonal naive, so it is the forecast."), "{sentence}");
        assert!(sentence.contains("about 1.00") && !sentence.contains('%'), "{sentence}");
    }

    #[test]
    fn boards_are_saved_without_seconds() {
        let board = Board { rows: vec![row(AUTO, f64::NAN, 1.0)], ..Board::default() };
        let text = serde_json::to_string(&board).unwrap();
        let again: Board = serde_json::from_str(&text).unwrap();
        assert!(
            again.rows[0].mase.is_nan() && again.rows[0].seconds == 0.0 && !text.contains("seconds"),
            "{text}"
        );
    }
}
