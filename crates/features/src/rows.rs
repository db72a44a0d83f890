//! The rows of a series, from which features are computed.

use foretell_calendar::{Freq, TimeKind};
use foretell_data::{DataError, Panel};

use crate::clock::{CivilTime, civil_times};

/// The parts of the rows that the features of a list need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowNeeds {
    pub(crate) target: bool,
    pub(crate) times: bool,
    pub(crate) dates: bool,
}

/// The rows of one series, as far as a feature needs them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeatureRows<'a> {
    /// The target; where it is not known, its last known value, and zeros before the first one.
    pub(crate) y: &'a [f32],
    /// The first row whose target is known.
    pub(crate) first_known: usize,
    /// Microseconds since 1970-01-01 on a civil clock, or integers.
    pub(crate) times: &'a [i64],
    /// The same taken apart.
    pub(crate) dates: &'a [CivilTime],
    /// The frequency of the times.
    pub(crate) freq: Freq,
    /// Whether columns of the target are NaN where there is not enough history.
    pub(crate) leaves_open: bool,
}

impl FeatureRows<'_> {
    /// Whether times are those of a calendar.
    pub(crate) fn are_dated(&self) -> bool {
        self.freq.kind() == TimeKind::Timestamp
    }
}

/// The rows of several series, one after the other.
#[derive(Debug)]
pub(crate) struct RowBlock {
    y: Vec<f32>,
    times: Vec<i64>,
    dates: Vec<CivilTime>,
    /// The end of each series, and its first known row.
    series: Vec<(usize, usize)>,
    freq: Freq,
    leaves_open: bool,
}

impl RowBlock {
    pub(crate) fn new(freq: Freq, leaves_open: bool) -> Self {
        let (y, times, dates, series) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { y, times, dates, series, freq, leaves_open }
    }

    /// Appends the rows of a series.
    pub(crate) fn push(&mut self, panel: &Panel, series: usize, needs: RowNeeds) -> Result<(), DataError> {
        let len = panel.len(series);
        let mut first_known = 0;
        if needs.target {
            let from = self.y.len();
            self.y.extend_from_slice(panel.y(series));
            if let Some(mask) = panel.available_mask(series) {
                first_known = mask.iter().position(|&known| known != 0.0).unwrap_or(len);
                carry_forward(&mut self.y[from..], mask);
            }
        }
        let times = needs.times.then(|| panel.times(series));
        self.push_times(panel, series, times.into_iter().flatten(), needs)?;
        self.series.push((self.end() + len, first_known));
        Ok(())
    }

    /// Appends the `h` rows that follow a series.
    pub(crate) fn push_ahead(
        &mut self,
        panel: &Panel,
        series: usize,
        h: usize,
        needs: RowNeeds,
    ) -> Result<(), DataError> {
        self.push_times(panel, series, panel.future_times(series, h)?.into_iter(), needs)?;
        self.series.push((self.end() + h, 0));
        Ok(())
    }

    fn push_times(
        &mut self,
        panel: &Panel,
        series: usize,
        times: impl Iterator<Item = i64>,
        needs: RowNeeds,
    ) -> Result<(), DataError> {
        let from = self.times.len();
        match panel.zone() {
            None => self.times.extend(times),
            Some(zone) => {
                for time in times {
                    let civil = zone.civil(time);
                    self.times.push(civil.ok_or_else(|| DataError::time_range(panel.id(series)))?);
                }
            }
        }
        if needs.dates {
            civil_times(&self.times[from..], &mut self.dates);
        }
        Ok(())
    }

    fn end(&self) -> usize {
        self.series.last().map_or(0, |(end, _)| *end)
    }

    /// The rows of each series, and how many they are.
    pub(crate) fn each(&self) -> impl Iterator<Item = (FeatureRows<'_>, usize)> {
        let mut start = 0;
        self.series.iter().map(move |&(end, first_known)| {
            let rows = start..end;
            start = end;
            let len = rows.len();
            let rows = FeatureRows {
                y: self.y.get(rows.clone()).unwrap_or_default(),
                first_known,
                times: self.times.get(rows.clone()).unwrap_or_default(),
                dates: self.dates.get(rows).unwrap_or_default(),
                freq: self.freq,
                leaves_open: self.leaves_open,
            };
            (rows, len)
        })
    }
}

/// Puts the last known value where `mask` is 0.
fn carry_forward(y: &mut [f32], mask: &[f32]) {
    let mut last = 0.0;
    for (y, &known) in y.iter_mut().zip(mask) {
        match known == 0.0 {
            true => *y = last,
            false => last = *y,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_rows_have_the_value_before() {
        let mut y = [9.0, 1.0, 9.0, 9.0, 2.0];
        carry_forward(&mut y, &[0.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(y, [0.0, 1.0, 1.0, 1.0, 2.0]);
    }
}
