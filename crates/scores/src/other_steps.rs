//! Forecasts and actual values whose rows follow each other in other steps.

use std::fmt;
use std::sync::Arc;

use foretell_messages::Setting;

/// Forecasts of other steps than those of the actual values, as of weeks beside days: its text says which, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherSteps {
    /// The file of forecasts.
    pub forecast: Arc<str>,
    /// That of the actual values.
    pub actual: Arc<str>,
    /// The frequencies of both, as far as they can be told.
    pub freqs: [Option<String>; 2],
    /// Whether the actual values can be gathered in the steps of the forecasts: theirs are shorter, or as long and begin elsewhere.
    pub is_finer: bool,
    /// Whether the times of the forecasts are whole numbers and those of the actual values dates, or the other way round; nothing where both
    /// are of one kind.
    pub are_numbers: Option<bool>,
}

impl fmt::Display for OtherSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { forecast, actual, freqs: [of_forecast, of_actual], is_finer, are_numbers } = self;
        if let Some(are_numbers) = are_numbers {
            let [numbers, dates] = if *are_numbers { [forecast, actual] } else { [actual, forecast] };
            return write!(
                f,
                "the times of {numbers} are whole numbers, and those of {dates} are dates; if the numbers are seconds since 1970, or parts of them, \
                 say so ({}), and if they count rows, write the dates of these rows",
                Setting::TimeFormat.to("epoch")
            );
        }
        let steps = |freq: &Option<String>| match freq {
            Some(freq) => format!("rows every {freq}"),
            None => "other steps between its rows".to_owned(),
        };
        let (own, other) = (steps(of_forecast), steps(of_actual));
        write!(
            f,
            "{forecast} has {own}, and {actual} {other}: the forecast of one step would be compared with the value of another; "
        )?;
        match (is_finer, of_forecast) {
            (true, Some(freq)) => write!(
                f,
                "gather the actual values in the steps of the forecasts ({} with {}, or another way), or, if both are values of a moment, leave \
                 out the rows between",
                Setting::Resample.to(freq),
                Setting::Aggregate.to("sum")
            ),
            (true, None) => {
                write!(f, "gather the actual values in the steps of the forecasts ({})", Setting::Resample)
            }
            (false, _) => f.write_str("give actual values of the forecasts' steps"),
        }
    }
}

impl std::error::Error for OtherSteps {}
