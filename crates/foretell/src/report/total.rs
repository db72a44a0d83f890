//! The sum over the series of a forecast.

use std::collections::BTreeMap;

use foretell_data::Panel;
use foretell_report::TotalLines;
use foretell_tables::{Frame, ModelInTable};

use super::latest::{Latest, known};
use super::windows::civil;

/// The sums over the series at each time that all of them have: the last `shown` of what is known, and what each model forecasts.
/// Nothing for a single series, which is its own sum.
pub(super) fn total(
    panel: &Panel,
    frame: &Frame,
    models: &[ModelInTable],
    latest: &[Latest],
    shown: usize,
) -> Option<TotalLines> {
    if latest.len() < 2 {
        return None;
    }
    let mut history = Sums::default();
    for of_series in latest {
        known(panel, of_series.series).into_iter().for_each(|(time, value)| history.add(time, value));
    }
    let mut known = history.of_all(latest.len());
    known.drain(..known.len().saturating_sub(shown));
    let of_model = |model: &ModelInTable| {
        let values = &frame.columns[model.point()?].1;
        let mut sums = Sums::default();
        let rows = latest.iter().flat_map(|of_series| &of_series.rows);
        rows.for_each(|&row| sums.add(civil(panel.zone(), frame.times[row]), f64::from(values[row])));
        let sums = sums.of_all(latest.len());
        (!sums.is_empty()).then(|| (model.model.to_string(), sums))
    };
    let models: Vec<_> = models.iter().filter_map(of_model).collect();
    (!models.is_empty()).then_some(TotalLines { known, models })
}

/// Sums and counts of values by their times.
#[derive(Default)]
struct Sums(BTreeMap<i64, (f64, usize)>);

impl Sums {
    fn add(&mut self, time: i64, value: f64) {
        if value.is_finite() {
            let (sum, count) = self.0.entry(time).or_default();
            *sum += value;
            *count += 1;
        }
    }

    /// The sums of as many values as there are series.
    fn of_all(self, series: usize) -> Vec<(i64, f64)> {
        let whole = self.0.into_iter().filter(|(_, (_, count))| *count == series);
        whole.map(|(time, (sum, _))| (time, sum)).collect()
    }
}
