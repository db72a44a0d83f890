//! Whether forecasts and what came true both have times of a zone: an instant is compared with no clock.

use std::sync::Arc;

use foretell_calendar::{Freq, StepHint, TimeKind, Zone};
use foretell_data::{ForecastTable, Panel};
use foretell_tables::Frame;

use crate::error::ScoresError;
use crate::one_zone::OneZone;

/// A table: what it is called, the kind of its times and their zone.
type Timed<'a> = (Arc<str>, TimeKind, Option<&'a Zone>);

/// Checks that both tables have times of a zone, or neither.
///
/// # Errors
/// [`OneZone`].
pub(crate) fn check_same_zone(forecast: &ForecastTable, beside: &ForecastTable) -> Result<(), ScoresError> {
    check([forecast, beside].map(|table| (table.file.clone(), table.kind, table.zone.as_ref())))
}

/// Checks that forecasts and the data that they are shown beside both have times of a zone, or neither; each with what it is called.
///
/// # Errors
/// [`OneZone`].
pub fn check_zone_of_data(
    (frame, file): (&Frame, &str),
    (panel, data): (&Panel, &str),
) -> Result<(), ScoresError> {
    check([
        (file.into(), frame.freq.kind(), frame.zone.as_ref()),
        (data.into(), panel.freq().kind(), panel.zone()),
    ])
}

/// The time before the hour that the times of a table skip in spring where they are read in that zone, if it is an offset from UTC: they are
/// those of clocks that are put forward, and it is not theirs. The first series tells it.
pub fn skipped_hour(table: &ForecastTable, zone: &Zone) -> Option<String> {
    let is_offset = zone.name.starts_with(['+', '-']) || zone.name == "UTC";
    let first = table.ids.first().filter(|_| is_offset)?;
    let own = table.ids.iter().zip(&table.times).filter(|(id, _)| *id == first);
    let mut civil: Vec<i64> = own.filter_map(|(_, time)| zone.civil(*time)).collect();
    civil.sort_unstable();
    civil.dedup();
    let freq = Freq::guess(TimeKind::Timestamp, None, &civil)?;
    let row = freq.first_break(None, &civil)?;
    let hint = StepHint::of(TimeKind::Timestamp, None, &civil, row, freq)?;
    (hint == StepHint::ClocksForward).then(|| TimeKind::Timestamp.display(civil[row - 1]))
}

fn check([one, other]: [Timed<'_>; 2]) -> Result<(), ScoresError> {
    let (with, zone, without) = match (one.2, other.2) {
        (Some(zone), None) => (&one, zone, &other),
        (None, Some(zone)) => (&other, zone, &one),
        _ => return Ok(()),
    };
    if [with.1, without.1].iter().any(|kind| *kind != TimeKind::Timestamp) {
        return Ok(());
    }
    let found = OneZone { with: with.0.clone(), zone: zone.to_string(), without: without.0.clone() };
    Err(Box::new(found).into())
}
