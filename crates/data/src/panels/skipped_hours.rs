//! Times over which clocks were put forward: rows of an hour that never was.

use std::collections::HashSet;

use super::rows::{SeriesRun, TableRows};
use crate::error::DataError;
use crate::error::file_clocks::FileClocks;
use crate::error::misread::MisreadTable;
use foretell_calendar::{TimeKind, Zone, step_hints::shown_again};

const HOUR: i64 = 3_600_000_000;

impl TableRows {
    /// Rows of times that clocks of the zone never showed are read as those that they showed instead, unless these are there as well.
    /// The table is arranged.
    pub(super) fn check_skipped_hours(&self, zone: &Zone) -> Result<(), DataError> {
        if self.skipped.is_empty() {
            return Ok(());
        }
        let skipped: HashSet<usize> = self.skipped.iter().copied().collect();
        let mut times = Vec::new();
        for run in &self.runs {
            self.times_read().copy(run.start, run.len, &mut times);
            // Rows of a period that are gathered in one stand in any order.
            let mut order: Vec<usize> = (0..times.len()).collect();
            order.sort_by_key(|&i| times[i]);
            let of_skipped = |i: usize| {
                let row = run.start + i;
                skipped.contains(&self.order.as_ref().map_or(row, |order| order[row] as usize))
            };
            let pair = order
                .windows(2)
                .map(|pair| [pair[0], pair[1]])
                .find(|&[a, b]| times[a] == times[b] && of_skipped(a) != of_skipped(b));
            let Some([a, b]) = pair else { continue };
            let (row, other) = if of_skipped(a) { (a, b) } else { (b, a) };
            let instant = times[row];
            times.sort_unstable();
            return Err(self.skipped_hour(zone, run, &times, instant, [row, other]).into());
        }
        Ok(())
    }

    /// The error of two rows of an instant, of which clocks never showed the time of the first, among these times.
    fn skipped_hour(
        &self,
        zone: &Zone,
        run: &SeriesRun,
        times: &[i64],
        instant: i64,
        [row, other]: [usize; 2],
    ) -> MisreadTable {
        let [before, after] = [instant - HOUR, instant].map(|instant| zone.offset(instant).unwrap_or(0));
        let shown = |time: i64| TimeKind::Timestamp.display_in(None, time);
        MisreadTable::SkippedHour {
            at: self.place(run.start + row).into(),
            other: self.place(run.start + other).into(),
            id: self.id(run).to_string(),
            time: shown(instant + i64::from(before) * 1_000_000).into(),
            zone: zone.name.as_str().into(),
            kept: Zone::fixed(before.min(after)).map_or_else(String::new, |zone| zone.name).into(),
            clocks: match shown_again(zone, times) {
                Some(true) => FileClocks::PutBack,
                Some(false) => FileClocks::Unchanged,
                None => FileClocks::Unknown,
            },
        }
    }
}
