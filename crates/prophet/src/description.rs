//! The fit of a series in words and numbers.

use foretell_calendar::{jiff::Timestamp, jiff::tz::TimeZone};
use foretell_estimator::NamedNumbers;

use crate::fit::{Model, SeriesFit};
use crate::settings::Growth;

/// Microseconds of a day.
const DAY: f64 = 86_400e6;

impl Model {
    /// The growth, and its numbers: of linear growth the first slope, in units of the values per day, and by how much it changes at each
    /// change point; of other growth the rates of the scaled trend. Then the deviation of the noise. Nothing but its name of a forecast by
    /// the last value.
    pub(crate) fn describe(&self, fit: &SeriesFit) -> (String, NamedNumbers) {
        if fit.is_last_value() {
            return ("last value".to_owned(), Vec::new());
        }
        let growth = match self.settings.growth {
            Growth::Linear => "linear",
            Growth::Logistic => "logistic",
            Growth::Flat => {
                return ("flat growth".to_owned(), vec![("sigma".into(), fit.sigma * fit.y_scale)]);
            }
        };
        let per_day = match self.settings.growth {
            Growth::Linear => fit.y_scale * DAY / fit.t_scale,
            _ => DAY / fit.t_scale,
        };
        let mut numbers: NamedNumbers = vec![("first slope".into(), fit.rate * per_day)];
        let changes = fit.changepoints.iter().zip(&fit.delta);
        numbers.extend(changes.map(|(place, change)| {
            let time = time(fit.start + place * fit.t_scale);
            (format!("change at {time}").into(), change * per_day)
        }));
        numbers.push(("sigma".into(), fit.sigma * fit.y_scale));
        (format!("{growth} growth, {} change points", fit.changepoints.len()), numbers)
    }
}

/// A time on clocks; midnight is a date.
fn time(microseconds: f64) -> String {
    let time = Timestamp::from_microsecond(microseconds.round() as i64);
    let Ok(time) = time.map(|time| TimeZone::UTC.to_datetime(time)) else { return format!("{microseconds}") };
    if time.time().subsec_nanosecond() == 0 && time == time.date().at(0, 0, 0, 0) {
        return time.date().to_string();
    }
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ProphetSettings;

    #[test]
    fn changes_are_per_day_and_have_their_dates() {
        let model = Model::new(ProphetSettings::default());
        let fit = SeriesFit {
            start: 10.0 * DAY,
            t_scale: 100.0 * DAY,
            y_scale: 50.0,
            rate: 2.0,
            sigma: 0.1,
            changepoints: vec![0.5, 0.505],
            delta: vec![-1.0, 0.0],
            ..SeriesFit::default()
        };
        let (form, numbers) = model.describe(&fit);
        assert_eq!(form, "linear growth, 2 change points");
        let expected = [
            ("first slope", 1.0),
            ("change at 1970-03-02", -0.5),
            ("change at 1970-03-02 12:00:00", 0.0),
            ("sigma", 5.0),
        ];
        assert_eq!(numbers, expected.map(|(name, value)| (name.into(), value)));
    }
}
