//! Times that clocks show twice when they are put back: told apart by the order of the rows.

use super::flaw::TimeFlaw;

/// The last time of each series, while its rows are read.
#[derive(Debug, Default)]
pub struct RepeatedTimes {
    last: Vec<Option<Last>>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    time: i64,
    /// Whether a row came before the row in front of it, and whether a time was taken for the second one.
    unordered: bool,
    repeated: bool,
}

const UNORDERED: TimeFlaw = TimeFlaw::new(
    "comes before the time in the row above it, though its series has times that clocks show twice; sort the rows by time, \
     or write offsets from UTC",
);

impl RepeatedTimes {
    /// The instant of the next row of a series, whose clocks show it at `time` and, if they are put back in
    /// between, again at `later`: the second where the rows before have passed the first.
    ///
    /// # Errors
    /// Rows out of order, of which no one knows which of two equal times is the later one.
    pub fn resolve(&mut self, series: usize, time: i64, later: Option<i64>) -> Result<i64, TimeFlaw> {
        if self.last.len() <= series {
            self.last.resize(series + 1, None);
        }
        let slot = &mut self.last[series];
        let Some(last) = slot else {
            *slot = Some(Last { time, unordered: false, repeated: false });
            return Ok(time);
        };
        let second = later.filter(|later| !last.unordered && (time..*later).contains(&last.time));
        let time = second.unwrap_or(time);
        last.repeated |= second.is_some();
        last.unordered |= time < last.time;
        last.time = time;
        if last.repeated && last.unordered { Err(UNORDERED) } else { Ok(time) }
    }
}
