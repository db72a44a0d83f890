//! Times moved to the grid of a frequency: to their period, or to the nearest step.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use foretell_calendar::{Freq, TimeKind, Zone, days::DAY};
use foretell_tables::TableError;

/// The changes of rows and times before they become series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Periods {
    pub(crate) resample: Option<Freq>,
    pub(crate) snap: Option<Freq>,
}

impl Periods {
    /// # Errors
    /// A step to snap to that is not of one length.
    pub(crate) fn new(resample: Option<Freq>, snap: Option<Freq>) -> Result<Self, DataError> {
        match snap.filter(|snap| step(*snap).is_none()) {
            None => Ok(Self { resample, snap }),
            Some(snap) => {
                Err(TableError::setting("snap", snap, "a step of one length, as 15min, h or D").into())
            }
        }
    }

    /// Where a time goes.
    pub(crate) fn moved(&self, kind: Option<TimeKind>, zone: Option<&Zone>, time: i64) -> i64 {
        let fits = |freq: &Freq| kind.is_none_or(|kind| kind == freq.kind());
        let time = match self.snap.filter(fits).and_then(step) {
            Some(step) => floor_steps(time.saturating_add(step / 2), step, zone),
            None => time,
        };
        match self.resample.filter(fits) {
            Some(freq) => period(freq, zone, time).unwrap_or(time),
            None => time,
        }
    }
}

impl Periods {
    /// Where the period begins and ends that has this name.
    pub(super) fn bounds(&self, zone: Option<&Zone>, name: i64) -> Option<Range<i64>> {
        let freq = self.resample?;
        // The day on which clocks are changed has not 24 hours.
        let day_after = |day: i64| match zone {
            Some(zone) => zone.instant((zone.civil(day)?.div_euclid(DAY) + 1) * DAY),
            None => day.checked_add(DAY),
        };
        match freq.names_last_days() {
            true => Some(day_after(freq.next_in(zone, name, -1)?)?..day_after(name)?),
            false => Some(name..freq.next_in(zone, name, 1)?),
        }
    }
}

/// The length of a step, of frequencies whose steps have all the same.
fn step(freq: Freq) -> Option<i64> {
    let steps = [freq.next(0, 1)?, freq.next(0, 2)?, freq.next(DAY, 1)?];
    let step = steps[0];
    let fixed = step * 2 == steps[1] && steps[2] - DAY == step && (step < 7 * DAY || step % (7 * DAY) != 0);
    (fixed && !freq.to_string().ends_with('B')).then_some(step)
}

/// The last step of the clock that is not after a time.
fn floor_steps(time: i64, step: i64, zone: Option<&Zone>) -> i64 {
    let offset = zone.and_then(|zone| zone.civil(time)).map_or(0, |civil| civil - time);
    (time + offset).div_euclid(step) * step - offset
}

/// The period of a time, named as in pandas: weeks and the ends of months, quarters and years by their last day,
/// all others by their first.
fn period(freq: Freq, zone: Option<&Zone>, time: i64) -> Option<i64> {
    if let Some(step) = step(freq).filter(|step| freq.kind() == TimeKind::Integer || step % DAY != 0) {
        return Some(floor_steps(time, step, zone));
    }
    let civil = match zone {
        Some(zone) => zone.civil(time)?,
        None => time,
    };
    let day = civil.div_euclid(DAY) * DAY;
    let day = match step(freq) {
        Some(step) => day.div_euclid(step) * step,
        None => {
            let before = freq.next(day, -1)?;
            let after = freq.next(before, 1)?;
            let floor = if after <= day { after } else { before };
            if freq.names_last_days() && floor < day { freq.next(floor, 1)? } else { floor }
        }
    };
    match zone {
        Some(zone) => zone.instant(day),
        None => Some(day),
    }
}

/// A time as clocks show it.
pub(super) fn civil(zone: Option<&Zone>, time: i64) -> i64 {
    zone.and_then(|zone| zone.civil(time)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(resample: Option<&str>, snap: Option<&str>, zone: Option<&str>, time: &str) -> String {
        let freq = |word: &str| Freq::parse(word).unwrap();
        let zone = zone.map(|name| Zone::parse(name).unwrap());
        let periods = Periods::new(resample.map(freq), snap.map(freq)).unwrap();
        let kind = TimeKind::Timestamp;
        let read = kind.parse(time).unwrap();
        let read = zone.as_ref().map_or(read, |zone| zone.instant(read).unwrap());
        let moved = periods.moved(Some(kind), zone.as_ref(), read);
        kind.display_in(zone.as_ref(), moved)
    }

    #[test]
    fn periods_are_those_of_pandas() {
        // pandas: Series(1, [time]).resample(freq).sum().index[0]
        for (freq, time, expected) in [
            ("h", "2024-05-15 13:45", "2024-05-15 13:00:00"),
            ("15min", "2024-05-15 13:44:59", "2024-05-15 13:30:00"),
            ("D", "2024-05-15 13:45", "2024-05-15"),
            ("W-SUN", "2024-05-15 13:45", "2024-05-19"),
            ("W-SUN", "2024-05-19 23:00", "2024-05-19"),
            ("W-MON", "2024-05-14", "2024-05-20"),
            ("MS", "2024-05-15", "2024-05-01"),
            ("MS", "2024-05-01", "2024-05-01"),
            ("ME", "2024-05-15", "2024-05-31"),
            ("ME", "2024-05-31 12:00", "2024-05-31"),
            ("QS", "2024-05-15", "2024-04-01"),
            ("QE", "2024-05-15", "2024-06-30"),
            ("YS", "2024-05-15", "2024-01-01"),
            ("YE", "2024-05-15", "2024-12-31"),
        ] {
            assert_eq!(shown(Some(freq), None, None, time), expected, "{freq} {time}");
        }
        let berlin = Some("Europe/Berlin");
        assert_eq!(shown(Some("D"), None, berlin, "2024-03-31 23:30"), "2024-03-31 00:00:00+01:00");
        assert_eq!(shown(Some("h"), None, Some("+05:45"), "2024-03-31 10:50"), "2024-03-31 10:00:00+05:45");
    }

    #[test]
    fn times_that_jitter_go_to_the_nearest_step() {
        for (time, expected) in [
            ("2024-05-15 13:44:10", "2024-05-15 13:45:00"),
            ("2024-05-15 13:52:29.9", "2024-05-15 13:45:00"),
            ("2024-05-15 13:52:30", "2024-05-15 14:00:00"),
            ("2024-05-15 23:59:58", "2024-05-16"),
        ] {
            assert_eq!(shown(None, Some("15min"), None, time), expected, "{time}");
        }
        for freq in ["MS", "W", "B"] {
            assert!(Periods::new(None, Some(Freq::parse(freq).unwrap())).is_err(), "{freq}");
        }
        let sevens = Periods::new(Some(Freq::parse("7").unwrap()), None).unwrap();
        assert_eq!(
            [0, 6, 7, -1].map(|time| sevens.moved(Some(TimeKind::Integer), None, time)),
            [0, 0, 7, -7]
        );
    }
}
