//! What the columns of a table of forecasts hold: the one place where their names are written and read.
//!
//! | name | what it holds | who writes it |
//! |---|---|---|
//! | `NHITS` | the forecast of a single number | everyone |
//! | `NHITS-median` | the median | neuralforecast |
//! | `NHITS-lo-80`, `NHITS-hi-80` | the ends of a central interval | neuralforecast, statsforecast, mlforecast, hierarchicalforecast |
//! | `NHITS_ql0.1`, `NHITS-ql0.1` | a quantile; of conformal prediction | neuralforecast |
//! | `NHITS_q0.1_d1.0` | a quantile | neuralforecast, of `HuberQLoss` |
//! | `TimeGPT-q-10` | a quantile, in percent | nixtla |
//! | `NHITS-sample-0` | a sample | hierarchicalforecast |
//! | `NHITS-loc`, `NHITS-scale`, `NHITS-mu-1`, ... | a parameter of the distribution | neuralforecast |
//! | `NHITS:trend`, `NHITS:y@-3` | what a part of the model, or an input, adds | `decompose`, `explain` |
//! | `NHITS-lo`, `-hi`, `-anomaly`, `-score`, `-rank` | marks of anomalies | `anomalies` |
//! | `yhat_lower`, `yhat_upper` beside `yhat` | the ends of an interval whose level no name tells | Prophet |
//!
//! A number at the end of a name tells what the column holds. The words of the last three kinds may as well be those of a model,
//! so they are read as such parts only where the other columns of the table agree: beside a forecast of that model, all marks
//! together, several components where there is nothing else.

use std::fmt;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

/// The column that numbers the sample paths of a series, in tables that have a row for each path, series and time. It is none of a
/// model.
pub const SAMPLE_ID: &str = "sample_id";

/// The part of a model's forecast that a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnPart {
    /// The forecast of a single number.
    Point,
    /// The median.
    Median,
    /// The lower end of the central interval of this level, in percent.
    Lower(f64),
    /// The upper end of the central interval of this level, in percent.
    Upper(f64),
    /// The quantile of this probability.
    Quantile(f64),
    /// A sample, by its number.
    Sample(u32),
    /// A parameter of the distribution that is forecast, which is where its values are: a mean, a location.
    Location,
    /// Another parameter of the distribution that is forecast.
    Parameter,
    /// What a part of the model, or an input, adds to the forecast.
    Component,
    /// What is said of the actual value beside the forecast.
    Mark(AnomalyMark),
}

/// The columns of a table of anomalies beside a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnomalyMark {
    /// The lower end of the interval outside which a value is one.
    Lower,
    /// Its upper end.
    Upper,
    /// 1 outside the interval, 0 inside.
    Outside,
    /// How far outside, in widths of the interval.
    Score,
    /// The share of the series' values that are as far off or farther.
    Rank,
}

impl AnomalyMark {
    /// All of them, in the order of their columns.
    pub const ALL: [Self; 5] = [Self::Lower, Self::Upper, Self::Outside, Self::Score, Self::Rank];

    fn suffix(self) -> &'static str {
        match self {
            Self::Lower => "-lo",
            Self::Upper => "-hi",
            Self::Outside => "-anomaly",
            Self::Score => "-score",
            Self::Rank => "-rank",
        }
    }
}

/// Ends of the names of locations and of other parameters, as neuralforecast has them; a mixture's are numbered.
const LOCATIONS: [&str; 2] = ["-loc", "-mu"];
const PARAMETERS: [&str; 9] =
    ["-scale", "-df", "-total_count", "-logits", "-probs", "-log_mu", "-std", "-lambda", "-weight"];

/// Between a model and the component of its forecast.
const COLON: char = ':';
/// Between an input and its step, in the names of contributions.
const AT: char = '@';
/// The component of an explanation that is the forecast of nothing.
const BASELINE: &str = "baseline";

impl ColumnPart {
    /// The probability that values lie below, if the column holds a quantile.
    pub fn probability(self) -> Option<f64> {
        match self {
            Self::Median => Some(0.5),
            Self::Lower(level) => Some(0.5 - level / 200.0),
            Self::Upper(level) => Some(0.5 + level / 200.0),
            Self::Quantile(q) => Some(q),
            _ => None,
        }
    }

    /// Whether the column holds values of the target: no parameter of a distribution, no share, no mark.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Point | Self::Sample(_)) || self.probability().is_some()
    }

    /// What the end of a name says, behind the model's; nothing if it says nothing.
    pub fn of_suffix(suffix: &str) -> Option<Self> {
        if suffix.is_empty() {
            return Some(Self::Point);
        }
        let ending = numbered(suffix).or_else(|| parameter(suffix));
        ending.filter(|(end, _)| *end == 0).map(|(_, part)| part)
    }

    /// The end of the name of a column that holds it, as neuralforecast writes it; nothing for parameters and components, whose names
    /// say more.
    fn suffix(self) -> String {
        match self {
            Self::Point | Self::Location | Self::Parameter | Self::Component => String::new(),
            Self::Median => "-median".to_owned(),
            Self::Lower(level) => format!("-lo-{level}"),
            Self::Upper(level) => format!("-hi-{level}"),
            Self::Quantile(q) => format!("_ql{q}"),
            Self::Sample(number) => format!("-sample-{number}"),
            Self::Mark(mark) => mark.suffix().to_owned(),
        }
    }
}

/// A column of a forecast: the model, and the part of its forecast. Its name is made of both.
///
/// ```
/// use foretell_tables::{ColumnPart, ForecastColumn};
///
/// let low = ForecastColumn::new("NHITS", ColumnPart::Lower(80.0));
/// assert_eq!(low.name(), "NHITS-lo-80");
/// assert_eq!(ForecastColumn::read(&["NHITS", "NHITS-lo-80"])[1], low);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ForecastColumn {
    model: Arc<str>,
    part: ColumnPart,
    /// The end of the name.
    suffix: Arc<str>,
}

impl ForecastColumn {
    /// That part of a model's forecast.
    pub fn new(model: impl Into<Arc<str>>, part: ColumnPart) -> Self {
        Self { model: model.into(), part, suffix: part.suffix().into() }
    }

    /// That part of a model's forecast, in a column whose name ends so.
    pub fn with_suffix(model: impl Into<Arc<str>>, part: ColumnPart, suffix: impl Into<Arc<str>>) -> Self {
        Self { model: model.into(), part, suffix: suffix.into() }
    }

    /// A quantile of conformal prediction, which neuralforecast names unlike those of models.
    pub fn calibrated_quantile(model: impl Into<Arc<str>>, q: f64) -> Self {
        Self::with_suffix(model, ColumnPart::Quantile(q), format!("-ql{q}"))
    }

    /// What a part of the model, or an input, adds to the forecast.
    pub fn component(model: impl Into<Arc<str>>, name: &str) -> Self {
        Self::with_suffix(model, ColumnPart::Component, format!("{COLON}{name}"))
    }

    /// The forecast of nothing, which the contributions of inputs add to.
    pub fn baseline(model: impl Into<Arc<str>>) -> Self {
        Self::component(model, BASELINE)
    }

    /// The model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The part of its forecast.
    pub fn part(&self) -> ColumnPart {
        self.part
    }

    /// The end of the name, behind the model's.
    pub fn suffix(&self) -> &str {
        &self.suffix
    }

    /// The name of the column.
    pub fn name(&self) -> String {
        self.to_string()
    }

    /// The name of the component, if it is one.
    pub fn component_name(&self) -> Option<&str> {
        (self.part == ColumnPart::Component).then(|| self.suffix.trim_start_matches(COLON))
    }

    /// Whether it is the [baseline](Self::baseline) of an explanation.
    pub fn is_baseline(&self) -> bool {
        self.component_name() == Some(BASELINE)
    }

    /// Whether it is the end of an interval whose level its name does not tell, as `yhat_lower`: it is not scored.
    pub fn is_unleveled_end(&self) -> bool {
        ENDS.iter().any(|(end, _)| *end == &*self.suffix) && matches!(self.part, ColumnPart::Mark(_))
    }

    /// Whether it is of an explanation: the baseline, or the contribution of an input at a step.
    pub fn is_contribution(&self) -> bool {
        self.is_baseline() || self.component_name().is_some_and(|name| name.contains(AT))
    }

    /// The columns of a table of any tool, by their names; those of ids, times and actual values are not among them.
    pub fn read(names: &[&str]) -> Vec<Self> {
        let numbers: Vec<Option<Ending>> =
            names.iter().map(|name| numbered(name).filter(|(end, _)| *end > 0)).collect();
        // What a forecast is of, or may be of.
        let models: FxHashSet<&str> = (names.iter().zip(&numbers))
            .map(|(name, number)| number.map_or(*name, |(end, _)| &name[..end]))
            .collect();
        let are_all_components = are_components(names);
        let by_words = |name: &str| -> Option<Ending> {
            let of_model = |(end, _): &Ending| models.contains(&name[..*end]);
            component(name)
                .filter(|ending| are_all_components || of_model(ending))
                .or_else(|| parameter(name).filter(of_model))
                .or_else(|| mark(name, &models).or_else(|| unleveled(name, &models)).filter(of_model))
        };
        let column = |(&name, number): (&&str, Option<Ending>)| {
            let (end, part) = number.or_else(|| by_words(name)).unwrap_or((name.len(), ColumnPart::Point));
            Self::with_suffix(&name[..end], part, &name[end..])
        };
        names.iter().zip(numbers).map(column).collect()
    }
}

impl fmt::Display for ForecastColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.model, self.suffix)
    }
}

/// Where the model's name ends in a column's, and what the rest says.
type Ending = (usize, ColumnPart);

/// The ending of a name that a number, or the word for the median, tells.
fn numbered(name: &str) -> Option<Ending> {
    let ending = |mark: &str, within: std::ops::RangeInclusive<f64>| {
        let end = name.rfind(mark)?;
        let number = number(&name[end + mark.len()..]).filter(|number| within.contains(number))?;
        Some((end, number))
    };
    let quantile = |mark: &str, whole: f64| {
        let (end, number) =
            ending(mark, 0.0..=whole).filter(|(_, number)| 0.0 < *number && *number < whole)?;
        Some((end, ColumnPart::Quantile(number / whole)))
    };
    let sample = || {
        let (start, number) = name.rsplit_once("-sample-")?;
        Some((start.len(), ColumnPart::Sample(number.parse().ok()?)))
    };
    let median = name.strip_suffix("-median").map(|model| (model.len(), ColumnPart::Median));
    median
        .or_else(|| ending("-lo-", 0.0..=100.0).map(|(end, level)| (end, ColumnPart::Lower(level))))
        .or_else(|| ending("-hi-", 0.0..=100.0).map(|(end, level)| (end, ColumnPart::Upper(level))))
        .or_else(|| quantile("_ql", 1.0))
        .or_else(|| quantile("-ql", 1.0))
        .or_else(|| quantile("-q-", 100.0))
        .or_else(|| huber_quantile(name))
        .or_else(sample)
}

/// The ending of a quantile that was learned with a loss of Huber's, which tells where that changes: `_q0.1_d1.0`.
fn huber_quantile(name: &str) -> Option<Ending> {
    let (start, delta) = name.rsplit_once("_d")?;
    number(delta)?;
    let (model, q) = start.rsplit_once("_q")?;
    let q = number(q).filter(|q| 0.0 < *q && *q < 1.0)?;
    Some((model.len(), ColumnPart::Quantile(q)))
}

/// A number without a sign.
fn number(text: &str) -> Option<f64> {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '.').then(|| text.parse().ok())?
}

/// The ending of a parameter of a distribution.
fn parameter(name: &str) -> Option<Ending> {
    let of_one = match name.rsplit_once('-') {
        Some((start, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            start
        }
        _ => name,
    };
    let end = |word: &&str| of_one.strip_suffix(*word).map(str::len);
    let location = LOCATIONS.iter().find_map(end).map(|end| (end, ColumnPart::Location));
    location.or_else(|| PARAMETERS.iter().find_map(end).map(|end| (end, ColumnPart::Parameter)))
}

/// The ending of a component.
fn component(name: &str) -> Option<Ending> {
    let end = name.find(COLON).filter(|end| 0 < *end && end + COLON.len_utf8() < name.len())?;
    Some((end, ColumnPart::Component))
}

/// Whether a table of these columns takes forecasts apart: they are contributions, or several components of each model. A single such
/// name may be a model's.
fn are_components(names: &[&str]) -> bool {
    let mut of_models = FxHashMap::<&str, usize>::default();
    for name in names {
        let Some((end, _)) = component(name) else { return false };
        *of_models.entry(&name[..end]).or_default() += 1;
    }
    let is_contribution = |name: &&str| {
        ForecastColumn::with_suffix("", ColumnPart::Component, &name[name.find(COLON).unwrap_or(0)..])
            .is_contribution()
    };
    of_models.values().all(|count| *count > 1) || names.iter().any(is_contribution)
}

/// The ends of the names of an interval whose level is not said, as Prophet's: no forecast of their own.
const ENDS: [(&str, AnomalyMark); 2] = [("_lower", AnomalyMark::Lower), ("_upper", AnomalyMark::Upper)];

/// The end of an interval of no level that is said, in a table with both of them among `names`.
fn unleveled(name: &str, names: &FxHashSet<&str>) -> Option<Ending> {
    ENDS.into_iter().find_map(|(end, mark)| {
        let model = name.strip_suffix(end)?;
        let has = |(end, _): (&str, AnomalyMark)| names.contains(&*format!("{model}{end}"));
        ENDS.into_iter().all(has).then_some((model.len(), ColumnPart::Mark(mark)))
    })
}

/// The ending of a mark of anomalies, in a table with all of them among `names`.
fn mark(name: &str, names: &FxHashSet<&str>) -> Option<Ending> {
    AnomalyMark::ALL.into_iter().find_map(|mark| {
        let model = name.strip_suffix(mark.suffix())?;
        let has = |other: AnomalyMark| names.contains(&*format!("{model}{}", other.suffix()));
        AnomalyMark::ALL.into_iter().all(has).then_some((model.len(), ColumnPart::Mark(mark)))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ColumnPart::*;

    /// What each of the names of a table says.
    fn read(names: &[&str]) -> Vec<(String, ColumnPart)> {
        ForecastColumn::read(names).iter().map(|column| (column.model().to_owned(), column.part())).collect()
    }

    #[test]
    fn numbers_tell_what_a_column_is() {
        for (name, model, part) in [
            ("NHITS", "NHITS", Point),
            ("NHITS-median", "NHITS", Median),
            ("NHITS-lo-90", "NHITS", Lower(90.0)),
            ("NHITS-lo-80.0", "NHITS", Lower(80.0)),
            ("NHITS-hi-99.5", "NHITS", Upper(99.5)),
            ("NHITS/BottomUp-hi-99", "NHITS/BottomUp", Upper(99.0)),
            ("LSTM_ql0.25", "LSTM", Quantile(0.25)),
            ("MLP-ql0.9", "MLP", Quantile(0.9)),
            ("MLP_ql1e-05", "MLP", Quantile(1e-5)),
            ("MLP_q0.1_d1.0", "MLP", Quantile(0.1)),
            ("TimeGPT-q-10", "TimeGPT", Quantile(0.1)),
            ("NHITS/BottomUp-sample-12", "NHITS/BottomUp", Sample(12)),
            ("a-lo-80-hi-80", "a-lo-80", Upper(80.0)),
            ("a_ql_b-ql0.1", "a_ql_b", Quantile(0.1)),
        ] {
            assert_eq!(read(&[name]), [(model.to_owned(), part)], "{name}");
        }
        for name in [
            "a-lo-b", "a-lo-101", "a-lo--5", "a-hi-inf", "a_ql1", "a_ql0", "a-ql1.5", "a-q-100", "-lo-80",
            "a_q2_d1", "a_q0.1_dx", "a-sample--1", "a-sample-x", "-median", "model_d1", "a-lo-NaN", "é-lo-é",
        ] {
            assert_eq!(read(&[name]), [(name.to_owned(), Point)], "{name}");
        }
    }

    #[test]
    fn words_tell_it_where_the_table_agrees() {
        let names =
            ["MLP", "MLP-loc", "MLP-scale", "b-loc", "b", "G-median", "G-mu-1", "G-std-1", "G-weight-1"];
        let parts: Vec<ColumnPart> = read(&names).into_iter().map(|(_, part)| part).collect();
        assert_eq!(
            parts,
            [Point, Location, Parameter, Location, Point, Median, Location, Parameter, Parameter]
        );
        for alone in ["MLP-loc", "my-score", "a:b-1"].map(|name| [name, "other"]) {
            assert_eq!(read(&alone)[0], (alone[0].to_owned(), Point));
        }
        let marks = ["M", "M-lo", "M-hi", "M-anomaly", "M-score", "M-rank"];
        let parts: Vec<ColumnPart> = read(&marks).into_iter().map(|(_, part)| part).collect();
        assert_eq!(parts[0], Point);
        assert_eq!(parts[1..], AnomalyMark::ALL.map(Mark));
        assert!(read(&marks[..5]).iter().all(|(_, part)| *part == Point), "not all marks");
    }

    #[test]
    fn components_stand_alone_or_beside_their_forecast() {
        let columns = ForecastColumn::read(&["DLinear:trend", "NHITS:y@-3", "NHITS:baseline"]);
        let alone = ForecastColumn::read(&["ETS:AAA", "MLP:a", "MLP:b"]);
        assert!(alone.iter().all(|column| column.part() == Point), "{alone:?}");
        assert!(columns.iter().all(|column| column.part() == Component));
        let names: Vec<Option<&str>> = columns.iter().map(ForecastColumn::component_name).collect();
        assert_eq!(names, [Some("trend"), Some("y@-3"), Some("baseline")]);
        assert_eq!(
            columns.iter().map(ForecastColumn::is_contribution).collect::<Vec<_>>(),
            [false, true, true]
        );
        let beside = ForecastColumn::read(&["DLinear", "DLinear:trend", "ETS:AAA"]);
        assert_eq!(beside.iter().map(ForecastColumn::part).collect::<Vec<_>>(), [Point, Component, Point]);
        assert_eq!(read(&["a:", ":b"]), [("a:".to_owned(), Point), (":b".to_owned(), Point)]);
    }

    #[test]
    fn ends_of_names_tell_the_parts_of_outputs() {
        assert_eq!(ColumnPart::of_suffix(""), Some(Point));
        assert_eq!(ColumnPart::of_suffix("-lo-80.0"), Some(Lower(80.0)));
        assert_eq!(ColumnPart::of_suffix("-loc"), Some(Location));
        assert_eq!(ColumnPart::of_suffix("-total_count-2"), Some(Parameter));
        assert_eq!(ColumnPart::of_suffix("-other"), None);
        assert_eq!(ColumnPart::of_suffix("x-loc"), None);
        assert!(!Location.is_value() && !Component.is_value() && Quantile(0.1).is_value());
        assert_eq!(Upper(80.0).probability(), Some(0.9));
    }

    /// Models' names that are no parts of others, whatever is next to them.
    fn model() -> impl Strategy<Value = String> {
        let free = |name: &String| {
            numbered(name).is_none_or(|(end, _)| end == 0)
                && component(name).is_none()
                && parameter(name).is_none()
        };
        "[A-Za-zé][A-Za-z0-9é_/ .-]{0,8}|[a-c]-lo-[a-c]|[a-c]_ql|[a-c]-median-[a-c]"
            .prop_filter("a model's name", free)
    }

    fn part() -> impl Strategy<Value = ColumnPart> {
        let level = (1..=999_u32).prop_map(|tenth| f64::from(tenth) / 10.0);
        let mark = (0..5_usize).prop_map(|place| Mark(AnomalyMark::ALL[place]));
        prop_oneof![
            Just(Point),
            Just(Median),
            level.clone().prop_map(Lower),
            level.prop_map(Upper),
            (1..1_000_000_u32).prop_map(|q| Quantile(f64::from(q) / 1e6)),
            any::<u32>().prop_map(Sample),
            mark,
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(model in model(), part in part(), words in "[a-z@:-]{1,6}", q in 1..1000_u32) {
            let mut table = vec![
                ForecastColumn::new(&*model, Point),
                ForecastColumn::new(&*model, part),
                ForecastColumn::calibrated_quantile(&*model, f64::from(q) / 1e3),
                ForecastColumn::with_suffix(&*model, Location, "-loc"),
                ForecastColumn::with_suffix(&*model, Parameter, "-std-3"),
            ];
            table.extend(AnomalyMark::ALL.map(|mark| ForecastColumn::new(&*model, Mark(mark))));
            let component = ForecastColumn::component(&*model, &words);
            prop_assume!(numbered(&component.name()).is_none());
            table.push(component);
            let names: Vec<String> = table.iter().map(ForecastColumn::name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            prop_assert_eq!(ForecastColumn::read(&names), table);
        }

        #[test]
        fn no_name_is_lost(names in prop::collection::vec("[a-c_:.0-9é-]{0,9}|[ab]?-(lo|hi|median|sample|q)-?[0-9.]{0,3}", 0..6)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let columns = ForecastColumn::read(&names);
            prop_assert_eq!(columns.iter().map(ForecastColumn::name).collect::<Vec<_>>(), names);
        }
    }
}
