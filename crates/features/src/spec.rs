//! A list of features, as it is written and saved.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use foretell_data::Panel;
use foretell_messages::nearest;
use serde::{Deserialize, Serialize};

use crate::arguments::{Arguments, DayLists};
use crate::error::FeatureError;
use crate::feature::Feature;
use crate::kinds::dated::Dated;
use crate::kinds::special_days::special_days;
use crate::table::{FEATURES, FeatureEntry, Recipe};

/// Features with their arguments, in order.
///
/// Read from and written as words between commas, [`FEATURES`] lists them. A number behind a comma belongs to the feature before
/// it: `lag:1,7,weekday` are two lags and the weekday. Serialised with the days of files, which are then no longer needed.
///
/// ```
/// use foretell_features::Features;
///
/// let features: Features = "lag:1,7,weekday".parse()?;
/// assert_eq!(features.to_string(), "lag:1,7,weekday");
/// let slip = "lags:7".parse::<Features>().unwrap_err();
/// assert_eq!(slip.to_string(), "no feature is called `lags`; did you mean lag?");
/// # Ok::<(), foretell_features::FeatureError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Features {
    pub(crate) specs: Vec<FeatureSpec>,
    /// The lists of days that came from files, by their names.
    days: DayLists,
}

/// One feature with its arguments.
#[derive(Clone)]
pub(crate) struct FeatureSpec {
    /// As it is written.
    pub(crate) word: String,
    pub(crate) entry: &'static FeatureEntry,
    pub(crate) columns: Vec<String>,
    pub(crate) feature: Arc<dyn Feature>,
}

/// Features as they are saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    words: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    days: DayLists,
}

impl Features {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// The names of all columns, in order.
    pub fn columns(&self) -> Vec<String> {
        self.named(|_| true)
    }

    /// The columns of the target, which are known for the past alone.
    pub fn hist_columns(&self) -> Vec<String> {
        self.named(|entry| !entry.is_known_ahead())
    }

    /// The columns of the times, which are known ahead.
    pub fn futr_columns(&self) -> Vec<String> {
        self.named(FeatureEntry::is_known_ahead)
    }

    /// Doubts about the features on this panel: the text of each, and a sentence with what to do about it.
    pub fn caveats(&self, panel: &Panel) -> Vec<(String, String)> {
        self.caveats_ahead(panel, 0)
    }

    /// The same of this panel and the `h` rows that follow each series.
    pub fn caveats_ahead(&self, panel: &Panel, h: usize) -> Vec<(String, String)> {
        let told = |spec: &FeatureSpec| Some((spec.word.clone(), spec.feature.caveat(&spec.word, panel, h)?));
        self.specs.iter().filter_map(told).collect()
    }

    /// Those features alone that are known ahead.
    pub(crate) fn known_ahead(&self) -> Vec<&FeatureSpec> {
        self.specs.iter().filter(|spec| spec.entry.is_known_ahead()).collect()
    }

    fn named(&self, which: impl Fn(&FeatureEntry) -> bool) -> Vec<String> {
        self.specs.iter().filter(|spec| which(spec.entry)).flat_map(|spec| spec.columns.clone()).collect()
    }

    /// Reads one feature; `lists` are those of saved features, which need no file.
    fn push(&mut self, word: &str, lists: Option<&DayLists>) -> Result<(), FeatureError> {
        let (name, arguments) = match word.split_once(':') {
            Some((name, arguments)) => (name, Some(arguments)),
            None => (word, None),
        };
        let entry = FEATURES.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names = || FEATURES.iter().map(|entry| entry.name);
            FeatureError::Unknown {
                found: name.to_owned(),
                nearest: nearest(name, names()),
                known: names().collect::<Vec<_>>().join(", "),
            }
        })?;
        let fault =
            |reason| FeatureError::Arguments { found: word.to_owned(), reason, example: entry.example };
        let (parsed, mut word) = (Arguments::new(arguments, lists), word.to_owned());
        let feature: Box<dyn Feature> = match entry.recipe {
            Recipe::Target(make) | Recipe::Time(make) => make(&parsed).map_err(fault)?,
            Recipe::Date(of) => {
                let [] = parsed.parts().map_err(fault)?;
                Box::new(Dated { name: entry.name, of })
            }
            Recipe::Days => {
                let (feature, list) = special_days(&parsed).map_err(fault)??;
                if let Some((name, days)) = list {
                    // The days are saved, so the word names the list, and no file.
                    let path = arguments.unwrap_or_default().split(':').next().unwrap_or_default();
                    word = word.replacen(path, &name, 1);
                    if self.days.get(&name).is_some_and(|other| *other != days) {
                        return Err(FeatureError::Twice { column: format!("holidays_{name}") });
                    }
                    self.days.insert(name, days);
                }
                feature
            }
        };
        let columns = feature.columns();
        let mut all = self.columns();
        for column in &columns {
            if all.contains(column) {
                return Err(FeatureError::Twice { column: column.clone() });
            }
            all.push(column.clone());
        }
        self.specs.push(FeatureSpec { word, entry, columns, feature: Arc::from(feature) });
        Ok(())
    }

    fn of_words<'a>(
        words: impl IntoIterator<Item = &'a str>,
        lists: Option<&DayLists>,
    ) -> Result<Self, FeatureError> {
        let mut features = Self::default();
        words.into_iter().try_for_each(|word| features.push(word, lists))?;
        Ok(features)
    }
}

impl FromStr for Features {
    type Err = FeatureError;

    fn from_str(text: &str) -> Result<Self, FeatureError> {
        let mut words: Vec<String> = Vec::new();
        for piece in text.split(',').map(str::trim) {
            let is_number = piece.parse::<f64>().is_ok();
            match words.last_mut().filter(|_| is_number) {
                Some(word) => *word += &format!(",{piece}"),
                None => words.push(piece.to_owned()),
            }
        }
        Self::of_words(words.iter().map(String::as_str), None)
    }
}

impl TryFrom<Saved> for Features {
    type Error = FeatureError;

    fn try_from(saved: Saved) -> Result<Self, FeatureError> {
        Self::of_words(saved.words.iter().map(String::as_str), Some(&saved.days))
    }
}

impl From<Features> for Saved {
    fn from(features: Features) -> Self {
        let words = features.specs.into_iter().map(|spec| spec.word);
        Self { words: words.collect(), days: features.days }
    }
}

/// Two are equal if they are the same words with the same days.
impl PartialEq for Features {
    fn eq(&self, other: &Self) -> bool {
        let words = |features: &Self| -> Vec<String> {
            features.specs.iter().map(|spec| spec.word.clone()).collect()
        };
        words(self) == words(other) && self.days == other.days
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.specs.iter().map(|spec| spec.word.as_str()).collect();
        f.write_str(&words.join(","))
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Features({self})")
    }
}

/// The path of the file of days that a word of [`Features`](crate::Features) names, as `holidays:days.txt:1` does; nothing of other
/// words, nor where a country is named.
///
/// ```
/// use foretell_features::day_file_of;
///
/// assert_eq!(day_file_of("holidays:days.txt:1"), Some("days.txt"));
/// assert_eq!(day_file_of("holidays:DE:1"), None);
/// ```
pub fn day_file_of(word: &str) -> Option<&str> {
    let (name, arguments) = word.trim().split_once(':')?;
    let takes_days = FEATURES.iter().any(|entry| entry.name == name && matches!(entry.recipe, Recipe::Days));
    let list = arguments.split(':').next().filter(|list| takes_days && !list.is_empty())?;
    foretell_holidays::of_country(list).is_err().then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        text.parse::<Features>().expect_err(text).to_string()
    }

    #[test]
    fn every_example_is_read_and_written() {
        for entry in FEATURES {
            let features: Features = entry.example.parse().expect(entry.example);
            assert_eq!(features.to_string(), entry.example);
            assert!(!features.columns().is_empty(), "{}", entry.name);
            let saved = serde_json::to_string(&features).expect("plain values");
            assert_eq!(serde_json::from_str::<Features>(&saved).expect("as written"), features);
        }
        let all: Vec<&str> = FEATURES.iter().map(|entry| entry.example).collect();
        let features: Features = all.join(",").parse().expect("all at once");
        assert_eq!(features.specs.len(), FEATURES.len());
        assert_eq!(features.hist_columns().len() + features.futr_columns().len(), features.columns().len());
    }

    #[test]
    fn columns_have_names() {
        let features: Features =
            "roll_quantile:28:0.1,0.9,ewm:0.5,holidays:us:1:2,fourier:7:1".parse().expect("features");
        let expected = [
            "roll_quantile_28_0.1", "roll_quantile_28_0.9", "ewm_0.5", "holidays_US", "holidays_US_before_1",
            "holidays_US_after_1", "holidays_US_after_2", "fourier_7_sin_1", "fourier_7_cos_1",
        ];
        assert_eq!(features.columns(), expected);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(fault("wekday").contains("did you mean weekday"));
        assert!(fault("zzz").contains("there are lag, diff"));
        assert!(fault("lag").contains("feature lag: its argument is missing; write it as lag:1,7"));
        assert!(fault("lag:0").contains("`0` is not a number of rows from 1 on"));
        assert!(fault("roll_std:1").contains("from 2 on"));
        assert!(fault("weekday:1").contains("it takes no arguments"));
        assert!(fault("roll_quantile:7").contains("it takes 2 arguments between colons, found 1"));
        assert!(fault("roll_quantile:7:1.5").contains("`1.5` is not a level"));
        assert!(fault("ewm:0").contains("above 0 and at most 1"));
        assert!(fault("fourier:fortnightly:2").contains("yearly, quarterly"));
        assert!(fault("fourier:7:0").contains("terms from 1"));
        assert!(fault("holidays:XX").contains("no country"));
        assert!(fault("holidays:DE:-1").contains("`-1` is not a number of days"));
        assert!(fault("holidays:DE:begin:1").contains("`begin` is not a number of days"));
        assert_eq!("holidays:DE:1:begin".parse::<Features>().expect("a feature").columns().len(), 2);
        assert!(fault("lag:7,lag:1,7").contains("two features have the column lag_7"));
        assert!(fault("").contains("no feature is called ``"));
    }

    #[test]
    fn days_of_files_are_saved() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("sales days.csv");
        std::fs::write(&path, "2024-11-29\n2023-11-24\n").expect("a file");
        let features: Features = format!("holidays:{}:1", path.display()).parse().expect("a list");
        assert_eq!(features.to_string(), "holidays:sales days:1");
        assert_eq!(features.columns(), ["holidays_sales days", "holidays_sales days_before_1"]);
        let saved = serde_json::to_string(&features).expect("plain values");
        std::fs::remove_file(&path).expect("it was there");
        assert_eq!(serde_json::from_str::<Features>(&saved).expect("without the file"), features);
        // A model directory from elsewhere opens no file.
        std::fs::write(&path, "2024-11-29\n").expect("a file");
        let hostile = serde_json::json!({"words": [format!("holidays:{}", path.display())]});
        assert!(
            serde_json::from_value::<Features>(hostile)
                .expect_err("a file")
                .to_string()
                .contains("no country")
        );
    }
}
