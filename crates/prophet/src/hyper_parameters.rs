//! Hyper-parameters by name: what each means, what it may be, and whether a value is that.

use std::path::Path;

use foretell_estimator::hyper::{self, RefusedHyperParameter};
use serde_json::Value;

use crate::holiday;
use crate::settings::{BuiltIn, ProphetSettings};

/// One of the hyper-parameters.
struct HyperParameter {
    name: &'static str,
    meaning: &'static str,
    expected: &'static str,
    /// Whether the values are within bounds; their types are those of the settings.
    fits: fn(&ProphetSettings) -> bool,
}

/// More steps, samples or harmonics than anything has use for.
const MOST: usize = 1_000_000;
const MOST_HARMONICS: usize = 10_000;

const BUILT_IN: &str = "\"auto\", true, false, or a number of harmonics up to 10000";
const SCALE: &str = "a number above 0";
const MODE: &str = "\"additive\" or \"multiplicative\"";
const COLUMN: &str = "the name of a column, or null";

fn harmonics(built_in: BuiltIn) -> bool {
    !matches!(built_in, BuiltIn::Order(order) if order > MOST_HARMONICS)
}

fn scale(scale: f64) -> bool {
    scale.is_finite() && scale > 0.0
}

fn any_scale(optional: Option<f64>) -> bool {
    optional.is_none_or(scale)
}

#[rustfmt::skip]
const HYPER_PARAMETERS: &[HyperParameter] = &[
    HyperParameter { name: "h", meaning: "Steps to forecast.",
        expected: hyper::STEPS, fits: |s| (1..=MOST).contains(&s.h) },
    HyperParameter { name: "growth", meaning: "How the trend grows: in straight lines, towards a capacity, or not at all.",
        expected: "\"linear\", \"logistic\" or \"flat\"", fits: |_| true },
    HyperParameter { name: "changepoints", meaning: "Where the rate of growth may change; null for n_changepoints of them.",
        expected: "a list of dates or times, or null", fits: |_| true },
    HyperParameter { name: "n_changepoints", meaning: "Change points, evenly over the rows; fewer for a series of few rows.",
        expected: "a whole number up to 10000", fits: |s| s.n_changepoints <= MOST_HARMONICS },
    HyperParameter { name: "changepoint_range", meaning: "The part of the history, from its beginning, that has change points.",
        expected: "a number between 0 and 1", fits: |s| (0.0..=1.0).contains(&s.changepoint_range) },
    HyperParameter { name: "yearly_seasonality",
        meaning: "Seasons of a year, of 10 harmonics; auto: if the history spans 730 days.",
        expected: BUILT_IN, fits: |s| harmonics(s.yearly_seasonality) },
    HyperParameter { name: "weekly_seasonality",
        meaning: "Seasons of a week, of 3 harmonics; auto: if the history spans 14 days, in steps below a week.",
        expected: BUILT_IN, fits: |s| harmonics(s.weekly_seasonality) },
    HyperParameter { name: "daily_seasonality",
        meaning: "Seasons of a day, of 4 harmonics; auto: if the history spans 2 days, in steps below a day.",
        expected: BUILT_IN, fits: |s| harmonics(s.daily_seasonality) },
    HyperParameter { name: "seasonalities", meaning: "Further seasonalities; one that is called yearly, weekly or daily replaces that.",
        expected: "a list of {name, period (days), fourier_order} and, if need be, prior_scale, mode, condition_name",
        fits: |s| s.seasonalities.iter().all(|own| scale(own.period) && any_scale(own.prior_scale)
            && (1..=MOST_HARMONICS).contains(&own.fourier_order)) },
    HyperParameter { name: "holidays", meaning: "Days with an effect of their own, and the days around them.",
        expected: "a list of {holiday, ds} and, if need be, lower_window (0 or less), upper_window (0 or more), prior_scale (one \
            for each holiday), or the name of a CSV file with these columns",
        // Their reading tells which of them is wrong.
        fits: |_| true },
    HyperParameter { name: "country_holidays",
        meaning: "The country whose public holidays, from 1990 to 2050, are added to these.",
        expected: "the two letters of a country in ISO 3166, such as \"US\", or null",
        fits: |s| s.country_holidays.as_deref().is_none_or(|code| foretell_holidays::of_country(code).is_ok()) },
    HyperParameter { name: "seasonality_mode", meaning: "How seasonalities and regressors enter: added to the trend, or as a part of it.",
        expected: MODE, fits: |_| true },
    HyperParameter { name: "holidays_mode", meaning: "How holidays enter; null for seasonality_mode.",
        expected: "\"additive\", \"multiplicative\" or null", fits: |_| true },
    HyperParameter { name: "seasonality_prior_scale", meaning: "The deviation of the prior of seasonal coefficients.",
        expected: SCALE, fits: |s| scale(s.seasonality_prior_scale) },
    HyperParameter { name: "holidays_prior_scale", meaning: "The deviation of the prior of coefficients of holidays and regressors.",
        expected: SCALE, fits: |s| scale(s.holidays_prior_scale) },
    HyperParameter { name: "changepoint_prior_scale", meaning: "The scale of the prior of changes of the rate of growth.",
        expected: SCALE, fits: |s| scale(s.changepoint_prior_scale) },
    HyperParameter { name: "scaling", meaning: "Divisor of the values: the largest magnitude, or the distance of the extremes.",
        expected: "\"absmax\" or \"minmax\"", fits: |_| true },
    HyperParameter { name: "cap", meaning: "The column of the capacity that logistic growth leads to.",
        expected: COLUMN, fits: |_| true },
    HyperParameter { name: "floor", meaning: "The column of the value that logistic growth comes from; null for 0.",
        expected: COLUMN, fits: |_| true },
    HyperParameter { name: "futr_exog_list", meaning: "Columns known in advance that the forecast depends on.",
        expected: "a list of names of columns", fits: |_| true },
    HyperParameter { name: "regressors", meaning: "How columns of futr_exog_list enter, where that is not usual.",
        expected: "a list of {name} and prior_scale, mode or standardize",
        fits: |s| s.regressors.iter().all(|options| any_scale(options.prior_scale)) },
    HyperParameter { name: "uncertainty_samples", meaning: "Simulated futures that quantiles are taken from.",
        expected: hyper::STEPS, fits: |s| (1..=MOST).contains(&s.uncertainty_samples) },
    HyperParameter { name: "random_seed", meaning: "What these are drawn by.",
        expected: "a whole number of at least 0", fits: |_| true },
    HyperParameter { name: "alias", meaning: "The name of the model's column in forecasts; null for the model's own.",
        expected: hyper::ALIAS,
        fits: |s| s.alias.as_deref().is_none_or(hyper::fits_a_file) },
];

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    HYPER_PARAMETERS.iter().find(|known| known.name == name).map(|known| known.meaning)
}

/// The settings with another value of this hyper-parameter; null is its default.
pub(crate) fn with(
    settings: &ProphetSettings,
    name: &str,
    value: &Value,
) -> Result<ProphetSettings, RefusedHyperParameter> {
    let Some(known) = HYPER_PARAMETERS.iter().find(|known| known.name == name) else {
        let names = HYPER_PARAMETERS.iter().map(|known| known.name);
        return Err(RefusedHyperParameter::unknown("Prophet", name, names));
    };
    let refuse = |reason: String| RefusedHyperParameter::Value {
        model: "Prophet",
        name: name.to_owned(),
        expected: known.expected,
        found: value.to_string(),
        reason: if reason.is_empty() { reason } else { format!(" ({reason})") },
    };
    let mut table = settings.table();
    if value.is_null() {
        // What the table lacks has its default.
        table.remove(name);
    } else {
        table.insert(name.to_owned(), value.clone());
    }
    let holidays = match value {
        Value::String(path) if name == "holidays" => Some(holiday::read(Path::new(path)).map_err(&refuse)?),
        Value::Array(list) if name == "holidays" => Some(holiday::of_list(list).map_err(&refuse)?),
        _ => None,
    };
    if holidays.is_some() {
        table.remove(name);
    }
    let mut settings: ProphetSettings =
        serde_json::from_value(table.into()).map_err(|error| refuse(error.to_string()))?;
    settings.holidays = holidays.unwrap_or(settings.holidays);
    if (known.fits)(&settings) { Ok(settings) } else { Err(refuse(String::new())) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(name: &str, value: Value) -> Result<ProphetSettings, String> {
        with(&ProphetSettings::default(), name, &value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_setting_has_a_line_and_keeps_its_default() {
        let settings = ProphetSettings::default();
        let table = settings.table();
        assert_eq!(
            Vec::from_iter(table.keys()),
            Vec::from_iter(HYPER_PARAMETERS.iter().map(|known| known.name))
        );
        for (name, value) in &table {
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
            set("seasonalities", own.clone()).expect("one").table()["seasonalities"][0]["period"],
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
