//! Hyper-parameters by name: what each means, what it may be, and whether a value is that.

use std::path::Path;

use foretell_estimator::hyper::{self, HyperParameter, RefusedHyperParameter};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::holiday::{self, Holiday};
use crate::settings::{BuiltIn, OwnSeasonality, ProphetSettings, RegressorOptions};

/// More steps, samples or harmonics than anything has use for.
const MOST: usize = 1_000_000;
const MOST_HARMONICS: usize = 10_000;

const BUILT_IN: &str = "\"auto\", true, false, or a number of harmonics up to 10000";
const SCALE: &str = "a number above 0";
const MODE: &str = "\"additive\" or \"multiplicative\"";
const COLUMN: &str = "the name of a column, or null";

fn harmonics(built_in: &BuiltIn) -> bool {
    !matches!(built_in, BuiltIn::Order(order) if *order > MOST_HARMONICS)
}

fn steps(steps: &usize) -> bool {
    (1..=MOST).contains(steps)
}

fn scale(scale: &f64) -> bool {
    scale.is_finite() && *scale > 0.0
}

fn any_scale(optional: Option<f64>) -> bool {
    optional.is_none_or(|optional| scale(&optional))
}

fn country(code: &str) -> bool {
    foretell_holidays::of_country(code).is_ok()
}

fn seasonalities(all: &[OwnSeasonality]) -> bool {
    all.iter().all(|own| {
        scale(&own.period) && any_scale(own.prior_scale) && (1..=MOST_HARMONICS).contains(&own.fourier_order)
    })
}

fn regressors(all: &[RegressorOptions]) -> bool {
    all.iter().all(|options| any_scale(options.prior_scale))
}

/// Sets a field to a value of its type that fits.
fn read<T: DeserializeOwned>(
    field: &mut T,
    value: &Value,
    fits: impl FnOnce(&T) -> bool,
) -> Result<(), Option<String>> {
    let read = T::deserialize(value).map_err(|error| Some(error.to_string()))?;
    hyper::store(field, fits(&read).then_some(read))
}

/// A [`HyperParameter`] by the name of its field: its meaning, the values that are allowed in words, and whether a value of its type is one.
macro_rules! field {
    ($name:ident, $meaning:literal, $expected:expr) => {
        field!($name, $meaning, $expected, |_| true)
    };
    ($name:ident, $meaning:literal, $expected:expr, $fits:expr) => {
        HyperParameter {
            name: stringify!($name),
            meaning: $meaning,
            expected: $expected,
            get: |settings| json!(settings.$name),
            set: |settings, value| read(&mut settings.$name, value, $fits),
        }
    };
}

#[rustfmt::skip]
const HYPER_PARAMETERS: &[HyperParameter<ProphetSettings>] = &[
    field!(h, "Steps to forecast.", hyper::STEPS, steps),
    field!(growth, "How the trend grows: in straight lines, towards a capacity, or not at all.",
        "\"linear\", \"logistic\" or \"flat\""),
    field!(changepoints, "Where the rate of growth may change; null for n_changepoints of them.",
        "a list of dates or times, or null"),
    field!(n_changepoints, "Change points, evenly over the rows; fewer for a series of few rows.",
        "a whole number up to 10000", |count| *count <= MOST_HARMONICS),
    field!(changepoint_range, "The part of the history, from its beginning, that has change points.",
        "a number between 0 and 1", |range| (0.0..=1.0).contains(range)),
    field!(yearly_seasonality, "Seasons of a year, of 10 harmonics; auto: if the history spans 730 days.",
        BUILT_IN, harmonics),
    field!(weekly_seasonality, "Seasons of a week, of 3 harmonics; auto: if the history spans 14 days, in steps below a week.",
        BUILT_IN, harmonics),
    field!(daily_seasonality, "Seasons of a day, of 4 harmonics; auto: if the history spans 2 days, in steps below a day.",
        BUILT_IN, harmonics),
    field!(seasonalities, "Further seasonalities; one that is called yearly, weekly or daily replaces that.",
        "a list of {name, period (days), fourier_order} and, if need be, prior_scale, mode, condition_name",
        |all| seasonalities(all)),
    HyperParameter {
        name: "holidays",
        meaning: "Days with an effect of their own, and the days around them.",
        expected: "a list of {holiday, ds} and, if need be, lower_window (0 or less), upper_window (0 or more), prior_scale (one \
            for each holiday), or the name of a CSV file with these columns",
        get: |settings| json!(settings.holidays),
        set: |settings, value| {
            settings.holidays = match value {
                Value::String(path) => holiday::read(Path::new(path))?,
                Value::Array(list) => holiday::of_list(list)?,
                other => Vec::<Holiday>::deserialize(other).map_err(|error| Some(error.to_string()))?,
            };
            Ok(())
        },
    },
    field!(country_holidays, "The country whose public holidays, from 1990 to 2050, are added to these.",
        "the two letters of a country in ISO 3166, such as \"US\", or null", |code| code.as_deref().is_none_or(country)),
    field!(seasonality_mode, "How seasonalities and regressors enter: added to the trend, or as a part of it.", MODE),
    field!(holidays_mode, "How holidays enter; null for seasonality_mode.",
        "\"additive\", \"multiplicative\" or null"),
    field!(seasonality_prior_scale, "The deviation of the prior of seasonal coefficients.", SCALE, scale),
    field!(holidays_prior_scale, "The deviation of the prior of coefficients of holidays and regressors.", SCALE, scale),
    field!(changepoint_prior_scale, "The scale of the prior of changes of the rate of growth.", SCALE, scale),
    field!(scaling, "Divisor of the values: the largest magnitude, or the distance of the extremes.",
        "\"absmax\" or \"minmax\""),
    field!(cap, "The column of the capacity that logistic growth leads to.", COLUMN),
    field!(floor, "The column of the value that logistic growth comes from; null for 0.", COLUMN),
    field!(futr_exog_list, "Columns known in advance that the forecast depends on.", hyper::COLUMNS),
    field!(regressors, "How columns of futr_exog_list enter, where that is not usual.",
        "a list of {name} and prior_scale, mode or standardize", |all| regressors(all)),
    field!(uncertainty_samples, "Simulated futures that quantiles are taken from.", hyper::STEPS, steps),
    field!(random_seed, "What these are drawn by.", "a whole number of at least 0"),
    field!(alias, "The name of the model's column in forecasts; null for the model's own.",
        hyper::ALIAS, |alias| alias.as_deref().is_none_or(hyper::fits_a_file)),
];

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    HyperParameter::find(HYPER_PARAMETERS, name).map(|known| known.meaning)
}

/// All of some settings by name.
pub(crate) fn values(settings: &ProphetSettings) -> Map<String, Value> {
    HyperParameter::values(HYPER_PARAMETERS, settings)
}

/// The settings with another value of this hyper-parameter; null is its default.
pub(crate) fn with(
    settings: &ProphetSettings,
    name: &str,
    value: &Value,
) -> Result<ProphetSettings, RefusedHyperParameter> {
    HyperParameter::changed(HYPER_PARAMETERS, "Prophet", settings, name, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: Value) -> Result<ProphetSettings, String> {
        with(&ProphetSettings::default(), name, &value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_setting_has_a_line_and_keeps_its_default() {
        let settings = ProphetSettings::default();
        for (name, value) in &values(&settings) {
            assert_eq!(with(&settings, name, value).as_ref(), Ok(&settings), "{name}");
            assert_eq!(with(&settings, name, &Value::Null).as_ref(), Ok(&settings), "{name}");
        }
    }

    #[test]
    fn values_are_what_the_package_takes() {
        for (value, expected) in [
            (json!("auto"), BuiltIn::Auto),
            (json!(true), BuiltIn::Switch(true)),
            (json!(false), BuiltIn::Switch(false)),
            (json!(0), BuiltIn::Order(0)),
            (json!(7), BuiltIn::Order(7)),
        ] {
            assert_eq!(set("yearly_seasonality", value).expect("a value").yearly_seasonality, expected);
        }
        let own = json!([{"name": "monthly", "period": 30.5, "fourier_order": 5, "mode": "multiplicative"}]);
        assert_eq!(
            values(&set("seasonalities", own.clone()).expect("one"))["seasonalities"][0]["period"],
            30.5
        );
        let days = json!([{"holiday": "cup", "ds": "2024-06-14", "lower_window": -1, "upper_window": 2}]);
        assert_eq!(set("holidays", days).expect("one").holidays[0].window(), -1..=2);
        assert_eq!(
            set("changepoints", json!(["2024-01-01"])).expect("one").changepoints.map(|dates| dates.len()),
            Some(1)
        );
    }

    #[test]
    fn slips_are_named() {
        let slip = set("groth", json!("flat")).unwrap_err();
        assert_eq!(slip, "Prophet has no hyper-parameter groth; did you mean growth?");
        for (name, value, part) in [
            ("growth", json!("cubic"), "must be \"linear\", \"logistic\" or \"flat\", found \"cubic\""),
            ("weekly_seasonality", json!("no"), "found \"no\""),
            ("changepoint_range", json!(1.5), "a number between 0 and 1, found 1.5"),
            ("seasonality_prior_scale", json!(0), "a number above 0, found 0"),
            ("holidays", json!([{"holiday": "cup", "ds": "14.06.2024"}]), "14.06.2024"),
            (
                "holidays",
                json!([{"holiday": "cup", "ds": "2024-06-14", "lower_window": 1}]),
                "(entry 1, holiday \"cup\" on 2024-06-14: lower_window is 1, and must be between -366 and 0",
            ),
            ("holidays", json!("no-such-file.csv"), "no-such-file.csv"),
            ("seasonalities", json!([{"name": "a", "period": 1, "fourier_order": 0}]), "found [{"),
            ("seasonalities", json!([{"name": "a", "perod": 1, "fourier_order": 1}]), "perod"),
            ("country_holidays", json!("Germany"), "the two letters"),
            ("alias", json!("a/b"), "without slashes"),
            ("h", json!(0), "between 1 and 1000000"),
        ] {
            let slip = set(name, value).unwrap_err();
            assert!(slip.contains(part), "{slip}");
        }
    }
}
