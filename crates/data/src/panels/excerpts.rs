//! Stretches of series as series of their own.

use std::ops::Range;
use std::sync::Arc;

use super::numbers::Numbers;
use super::panel::{Data, Panel, Series};

/// A stretch of a series whose last targets are others.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    /// The series, by its place in the panel.
    pub series: usize,
    /// Its rows.
    pub rows: Range<usize>,
    /// What stands in place of the targets of the last rows, relative to the [`SeriesLevel`](crate::SeriesLevel) of the series; NaN where
    /// nothing is known.
    pub ends: Vec<f32>,
}

impl Excerpt {
    /// The targets of the stretch, NaN where they are not known.
    fn targets(&self, panel: &Panel) -> Vec<f32> {
        let kept = self.rows.start..self.rows.end - self.ends.len();
        let mut targets = panel.known_y(self.series, kept).into_owned();
        targets.extend_from_slice(&self.ends);
        targets
    }
}

impl Panel {
    /// These stretches as series of their own, with numbers for ids (`000000000`, ...) in this order. Their times, other columns and
    /// static values are those of their rows.
    ///
    /// # Panics
    /// If a series has no such rows, or a stretch is shorter than its ends.
    #[track_caller]
    pub fn excerpts(&self, excerpts: &[Excerpt]) -> Self {
        let places = |excerpt: &Excerpt| {
            let series = &self.series[excerpt.series];
            assert!(excerpt.rows.end <= series.len, "rows {:?} of series {}", excerpt.rows, series.id);
            series.start + excerpt.rows.start..series.start + excerpt.rows.end
        };
        let cut = |values: &[f32]| -> Vec<f32> {
            excerpts.iter().flat_map(|excerpt| &values[places(excerpt)]).copied().collect()
        };
        let mut y: Vec<f32> = excerpts.iter().flat_map(|excerpt| excerpt.targets(self)).collect();
        let known = |y: &f32| if y.is_nan() { 0.0 } else { 1.0 };
        let mask: Option<Numbers> = y.iter().any(|y| y.is_nan()).then(|| y.iter().map(known).collect());
        y.iter_mut().filter(|y| y.is_nan()).for_each(|y| *y = 0.0);
        let mut start = 0;
        let series = excerpts.iter().enumerate().map(|(number, excerpt)| {
            let whole = &self.series[excerpt.series];
            let (from, len) = (start, excerpt.rows.len());
            start += len;
            Series {
                id: format!("{number:09}").into(),
                start: from,
                len,
                reach: start,
                first_time: self.time(excerpt.series, excerpt.rows.start),
                ..whole.clone()
            }
        });
        let data = Data {
            table: self.data.table.clone(),
            y: y.into(),
            mask,
            weight: self.data.weight.as_deref().map(|weights| cut(weights).into()),
            columns: self.data.columns.iter().map(|column| column.with_values(cut)).collect(),
            freq_inferred: self.data.freq_inferred,
            integer_ids: false,
            filled: Default::default(),
            trimmed: Default::default(),
        };
        let series = series.collect();
        let mut panel = self.with_series(series);
        panel.data = Arc::new(data);
        panel
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::{Freq, TimeKind};

    #[test]
    fn stretches_are_series_with_their_times_columns_and_static_values() {
        let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("2").unwrap());
        let builder = builder.series("a", &[0, 2, 4, 6, 8], &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let builder = builder.series("b", &[10, 12, 14], &[6.0, 7.0, 8.0]);
        let column = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0];
        let mask = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let panel = builder.column("x", &column).available_mask(&mask).build().unwrap();
        let panel = panel.with_static("size", &[("a", 1.0), ("b", 2.0)]).unwrap();
        let excerpts = [
            Excerpt { series: 1, rows: 0..3, ends: vec![-7.0, f32::NAN] },
            Excerpt { series: 0, rows: 1..5, ends: vec![9.0] },
            Excerpt { series: 0, rows: 3..5, ends: vec![-4.0, -5.0] },
        ];
        let cut = panel.excerpts(&excerpts);
        assert_eq!(cut.ids().map(|id| &**id).collect::<Vec<_>>(), ["000000000", "000000001", "000000002"]);
        let targets = |series: usize| cut.known_y(series, 0..cut.len(series)).into_owned();
        assert_eq!(targets(0)[..2], [6.0, -7.0]);
        assert!(targets(0)[2].is_nan() && targets(1)[1].is_nan());
        assert_eq!((targets(1)[0], &targets(1)[2..]), (2.0, &[4.0, 9.0][..]));
        assert_eq!(targets(2), [-4.0, -5.0]);
        assert_eq!(cut.column("x", 1).unwrap(), [20.0, 30.0, 40.0, 50.0]);
        assert_eq!(cut.times(0).collect::<Vec<_>>(), [10, 12, 14]);
        assert_eq!(cut.times(2).collect::<Vec<_>>(), [6, 8]);
        assert_eq!([0, 2].map(|series| cut.static_value("size", series).unwrap()), [2.0, 1.0]);
        assert_eq!(cut.column("x", 2).unwrap(), [40.0, 50.0]);
    }
}
