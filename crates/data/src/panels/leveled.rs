//! Forecasts that are relative to the levels of their series, as values.

use super::level::SeriesLevel;
use super::panel::Panel;
use foretell_tables::Frame;

/// How a column of a table stands to the [`SeriesLevel`]s of its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnLevel {
    /// It holds values relative to them.
    Value,
    /// It holds differences of values, which know the scale of a level, and no offset.
    Difference,
    /// It holds something else.
    Apart,
}

impl Panel {
    /// A table of rows of these series with its columns as values, which are relative to the levels of the series as `columns`
    /// says of each. They are [wide](Frame::wide) where a series has a level.
    ///
    /// # Panics
    /// If a row is of another series, or `columns` are not as many.
    #[track_caller]
    pub fn without_levels_in(&self, mut frame: Frame, columns: Vec<ColumnLevel>) -> Frame {
        if !self.has_levels() {
            return frame;
        }
        assert_eq!(columns.len(), frame.columns.len(), "columns and their levels");
        let mut levels: Vec<SeriesLevel> = Vec::with_capacity(frame.n_rows());
        for rows in frame.ids.chunk_by(|one, other| one == other) {
            let series = self.find(&rows[0]).expect("a series of the panel");
            levels.extend(std::iter::repeat_n(self.level(series), rows.len()));
        }
        for ((name, values), column) in frame.columns.iter_mut().zip(columns) {
            let of_row = |(&y, level): (&f32, &SeriesLevel)| match column {
                ColumnLevel::Value => level.value(y),
                _ => level.difference(y),
            };
            if column != ColumnLevel::Apart {
                let wide: Vec<f64> = values.iter().zip(&levels).map(of_row).collect();
                values.iter_mut().zip(&wide).for_each(|(y, wide)| *y = *wide as f32);
                frame.wide.insert(name.clone(), wide);
            }
        }
        frame
    }
}
