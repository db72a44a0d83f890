//! The model that errors are told relative to.

use std::fmt;

use foretell_report::{ScoreSheet, ScoredBy};

/// The baselines unless one is named: the first of these that was scored.
const BASELINES: [&str; 2] = ["SeasonalNaive", "Naive"];

/// A baseline that has no scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnscoredBaseline {
    /// The model that was named.
    pub name: String,
    /// Those that have scores.
    pub scored: Vec<String>,
}

impl fmt::Display for UnscoredBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scored = if self.scored.is_empty() { "none".to_owned() } else { self.scored.join(", ") };
        write!(f, "baseline {}: the scored models are {scored}; name one of them", self.name)
    }
}

impl std::error::Error for UnscoredBaseline {}

/// The model of this name among those that were scored over all, or a usual baseline if there is one.
///
/// # Errors
/// If the model that is named has no scores.
pub fn baseline(sheets: &[ScoreSheet], named: Option<&str>) -> Result<Option<String>, UnscoredBaseline> {
    let sheet = sheets.iter().find(|sheet| sheet.by == ScoredBy::All);
    let models = sheet.map_or(&[][..], |sheet| &sheet.models);
    let is_scored = |name: &str| models.iter().any(|model| model == name);
    match named {
        Some(name) if is_scored(name) => Ok(Some(name.to_owned())),
        Some(name) => Err(UnscoredBaseline { name: name.to_owned(), scored: models.to_vec() }),
        None => Ok(BASELINES.into_iter().find(|name| is_scored(name)).map(str::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_one_of_the_scored_models() {
        let rows = [("", "mae", vec![1.0, 2.0])];
        let sheet =
            ScoreSheet::of_rows(ScoredBy::All, vec!["NHITS".to_owned(), "Naive".to_owned()], rows).unwrap();
        let sheets = [sheet];
        assert_eq!(baseline(&sheets, None).unwrap().as_deref(), Some("Naive"));
        assert_eq!(baseline(&sheets, Some("NHITS")).unwrap().as_deref(), Some("NHITS"));
        assert_eq!(baseline(&[], None).unwrap(), None);
        let error = baseline(&sheets, Some("MLP")).unwrap_err().to_string();
        assert_eq!(error, "baseline MLP: the scored models are NHITS, Naive; name one of them");
    }
}
