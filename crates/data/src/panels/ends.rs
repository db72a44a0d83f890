//! Series that end before others of their panel, and how they are treated.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::column::ColumnKind;
use super::fill::Fill;
use super::level::SeriesLevel;
use super::numbers::Numbers;
use super::options::ReadOptions;
use super::panel::{Data, Panel, Series};
use crate::error::DataError;
use crate::error::steps::StepError;
use crate::error::windows::{EarlyEnds, WindowError};
use foretell_calendar::Clock;
use foretell_messages::excerpt;
use foretell_tables::{Place, TableError, TooLarge};

/// The treatment of series that end a step or more before the last time of their panel. Unless someone says so, they stay as
/// they are, and the steps after their end are forecast, although these have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// They continue to the last time of the panel, with values as [`Fill`] says, by default 0: nothing was sold any more.
    Common,
    /// They continue to the last time of the panel, with rows whose values are not known (`available_mask` is 0).
    Masked,
    /// They are left out.
    Drop,
    /// Each series has its own end on purpose: nothing is changed, and there is no warning.
    Own,
}

impl End {
    /// All treatments.
    pub const ALL: [Self; 4] = [Self::Common, Self::Masked, Self::Drop, Self::Own];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::Masked => "masked",
            Self::Drop => "drop",
            Self::Own => "own",
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for End {
    type Err = DataError;

    fn from_str(word: &str) -> Result<Self, DataError> {
        let end = Self::ALL.into_iter().find(|known| known.name() == word);
        end.ok_or_else(|| TableError::setting("end", word, Self::ALL.map(Self::name).join(", ")).into())
    }
}

impl Panel {
    /// The series that end a step or more before the last time of the panel, if there are any.
    pub fn early_ends(&self) -> Option<EarlyEnds> {
        self.ends_before(self.last_time()?, |_| None)
    }

    /// The series that end a step or more before their time, or before the last time of the panel where they have none.
    fn ends_before(&self, last: i64, own: impl Fn(usize) -> Option<i64>) -> Option<EarlyEnds> {
        let early = (0..self.n_series()).filter(|&series| {
            self.next_time(series, 0).is_some_and(|next| next <= own(series).unwrap_or(last))
        });
        let shown = |time| self.freq().kind().display_in(self.zone(), time);
        let end = |series| (self.id(series).to_string(), shown(self.time(series, self.len(series) - 1)));
        let series: Vec<_> = early.map(end).collect();
        let of = self.n_series();
        (!series.is_empty()).then(|| EarlyEnds { last: shown(last), series, of, column: None })
    }

    /// Checks that all series end at the same time, to less than a step.
    ///
    /// # Errors
    /// [`WindowError::EndsDiffer`], with those that end earlier.
    pub fn check_common_end(&self) -> Result<(), DataError> {
        self.early_ends().map_or(Ok(()), |ends| Err(WindowError::EndsDiffer(Box::new(ends)).into()))
    }

    /// The panel whose series all end at the same time, to less than a step: `end` says what becomes of those that end
    /// earlier. In rows that are added, `fill` sets the target and the numeric columns ([`Fill::Interpolate`]: the
    /// value before, since none follows); categories and the `sample_weight` are those of the row before.
    ///
    /// # Errors
    /// [`StepError::FillTooLarge`] if far more rows would be added than there are.
    pub fn with_end(&self, end: End, fill: Option<Fill>) -> Result<Self, DataError> {
        let Some(last) = self.last_time() else { return Ok(self.clone()) };
        self.with_rows_to(end, &ReadOptions { fill, ..ReadOptions::default() }, |_| last)
    }

    /// The panel whose series all end when they should, and which did not, if there are any: as [`with_end`](Self::with_end) with
    /// the options' `fill`, but series for which the static column [`ReadOptions::end_col`] holds a time are compared with that one, not
    /// with the panel's last. A series that continues beyond its time stays unchanged.
    ///
    /// # Errors
    /// Those of `with_end`, no such column, and what cannot be read as a time of the panel.
    ///
    /// ```
    /// use foretell_data::{End, Panel, ReadOptions};
    ///
    /// let text = "unique_id,ds,y,closed\na,1,5,3\nb,1,6,\nb,2,7,\nb,3,8,\nb,4,9,\n";
    /// let options = ReadOptions::new().end_col("closed");
    /// let panel = Panel::read_csv(text.as_bytes(), "shops.csv", &options)?;
    /// let (panel, early) = panel.ended(End::Common, &options)?.expect("a ended before its time");
    /// assert_eq!(panel.y(0), [5.0, 0.0, 0.0]);
    /// assert_eq!(early.to_string(), "1 of 2 series ends before the time of column `closed`: a (1)");
    /// # Ok::<(), foretell_data::DataError>(())
    /// ```
    pub fn ended(&self, end: End, options: &ReadOptions) -> Result<Option<(Self, EarlyEnds)>, DataError> {
        let Some(last) = self.last_time().filter(|_| end != End::Own) else { return Ok(None) };
        let times = match &options.end_col {
            Some(column) => self.times_of(column, options)?,
            None => vec![None; self.n_series()],
        };
        let Some(early) = self.ends_before(last, |series| times[series]) else { return Ok(None) };
        let ended = self.with_rows_to(end, options, |series| times[series].unwrap_or(last))?;
        Ok(Some((ended, EarlyEnds { column: options.end_col.clone(), ..early })))
    }

    /// The panel with the static columns that `statics` adds, and with series that end when they should ([`ended`](Self::ended)) if there
    /// is an `end`; and which did not, with the number of rows that were added, or left out. Static columns come first where they hold those times,
    /// else last, so that they need no rows of series that are left out.
    ///
    /// # Errors
    /// Those of `statics` and of `ended`.
    pub fn completed<E: From<DataError>>(
        self,
        end: Option<End>,
        options: &ReadOptions,
        statics: impl FnOnce(Self) -> Result<Self, E>,
    ) -> Result<(Self, Option<(EarlyEnds, usize)>), E> {
        let ended = |panel: Self| -> Result<(Self, Option<(EarlyEnds, usize)>), DataError> {
            let found = end.map(|end| panel.ended(end, options)).transpose()?.flatten();
            Ok(match found {
                Some((ended, early)) => {
                    let changed = ended.n_rows().abs_diff(panel.n_rows());
                    (ended, Some((early, changed)))
                }
                None => (panel, None),
            })
        };
        if self.knows_its_ends(options) {
            let (panel, early) = ended(self)?;
            return Ok((statics(panel)?, early));
        }
        Ok(ended(statics(self)?)?)
    }

    /// Whether the times that series end at are there: no column was asked for, or it is one of the panel's. Where it is not, static
    /// tables come first; else after, so that they need no rows of series that are left out.
    fn knows_its_ends(&self, options: &ReadOptions) -> bool {
        options.end_col.as_ref().is_none_or(|column| self.static_names().any(|name| name == column))
    }

    /// The times that a static column of texts holds, nothing where it is empty.
    fn times_of(&self, name: &str, options: &ReadOptions) -> Result<Vec<Option<i64>>, DataError> {
        let column = self.find_static(name)?;
        let ColumnKind::Labels(labels) = &column.kind else {
            let expected = "a column of the tables that were read with it";
            return Err(TableError::setting("end_col", name, expected).into());
        };
        let codes = column.values.as_deref().map_err(|_| column.usable().expect_err("a bad cell"))?;
        // A zone that the times of the data tell need not be told with these.
        let mut zone = self.zone().cloned();
        zone.iter_mut().for_each(|zone| zone.found = false);
        let mut clock =
            Clock::new(options.time_format.clone(), zone, options.locale).of_kind(self.freq().kind());
        let times = self.series.iter().map(|series| {
            let code = (codes[series.place] as usize).checked_sub(1);
            let Some(label) = code.map(|code| &labels.texts[code]) else { return Ok(None) };
            // Dates of a typed column are shown as usual, whatever the texts of the data are like.
            let read = clock.read(label).or_else(|flaw| {
                let usual = &mut clock.clone();
                usual.format = None;
                usual.read(label).map_err(|_| flaw)
            });
            read.map(Some).map_err(|why| {
                TableError::bad_time(Place::of_series(&series.id, 0), name, excerpt(label.as_bytes()), why)
                    .into()
            })
        });
        times.collect()
    }

    fn with_rows_to(
        &self,
        end: End,
        options: &ReadOptions,
        last: impl Fn(usize) -> i64,
    ) -> Result<Self, DataError> {
        if end == End::Own {
            return Ok(self.clone());
        }
        let (fill, most) = (options.fill, options.max_rows.filter(|_| end != End::Drop));
        let missing = self.rows_to(last, most)?;
        if missing.iter().all(|rows| *rows == 0) {
            return Ok(self.clone());
        }
        let without_level = |id: &str| {
            let series = self.find(id).filter(|&series| missing[series] == 0);
            series.map_or(SeriesLevel::default(), |series| self.level(series))
        };
        Ok(match end {
            // Zeros are far from any level.
            End::Common if self.has_levels() && fill.is_none_or(|fill| fill == Fill::Zero) => {
                self.with_levels(without_level).prolonged(&missing, Fill::Zero, true)
            }
            End::Common => self.prolonged(&missing, fill.unwrap_or(Fill::Zero), true),
            End::Masked => self.prolonged(&missing, fill.unwrap_or(Fill::Zero), false),
            End::Own => self.clone(),
            End::Drop => {
                let series = self.series.iter().zip(&missing).filter(|(_, missing)| **missing == 0);
                self.with_series(series.map(|(series, _)| series.clone()).collect())
            }
        })
    }

    fn last_time(&self) -> Option<i64> {
        (0..self.n_series()).map(|series| self.time(series, self.len(series) - 1)).max()
    }

    /// The time of the row this many rows after the one that follows a series, if the calendar has it.
    fn next_time(&self, series: usize, rows: usize) -> Option<i64> {
        let Series { first_time, len, .. } = self.series[series];
        self.freq().next_in(self.zone(), first_time, (len + rows) as i64)
    }

    /// The rows that each series would have more up to its last time, of which a panel may have `most`.
    fn rows_to(&self, last: impl Fn(usize) -> i64, most: Option<usize>) -> Result<Vec<usize>, DataError> {
        let rows = self.n_rows();
        // One series of long ago must not fill the memory.
        let limit = 100 * rows + 100_000;
        let mut all = 0;
        let missing = |series: usize| {
            let mut missing = 0;
            while self.next_time(series, missing).is_some_and(|next| next <= last(series)) {
                (missing, all) = (missing + 1, all + 1);
                if let Some(most) = most.filter(|most| rows + all > *most) {
                    let table = self.data.table.clone();
                    return Err(TooLarge::Rows { table, most, found: rows + all }.into());
                }
                if all > limit {
                    let (id, freq) = (self.id(series).to_string(), self.freq());
                    return Err(StepError::FillTooLarge { id, freq, rows, limit }.into());
                }
            }
            Ok(missing)
        };
        (0..self.n_series()).map(missing).collect()
    }

    /// The panel with this many rows more at the end of each series, whose values are known or not.
    fn prolonged(&self, missing: &[usize], fill: Fill, known: bool) -> Self {
        let Data { table, freq_inferred, integer_ids, filled, trimmed, .. } = &*self.data;
        let onwards = |past: &[f32], next: &dyn Fn(&Series, f32) -> f32| -> Vec<f32> {
            let mut values = Vec::with_capacity(self.n_rows() + missing.iter().sum::<usize>());
            for (series, &missing) in self.series.iter().zip(missing) {
                values.extend_from_slice(&past[series.rows()]);
                let before = past[series.start + series.len - 1];
                values.extend(std::iter::repeat_n(next(series, before), missing));
            }
            values
        };
        let filled_up = |before: f32| if fill == Fill::Zero { 0.0 } else { before };
        // The last value that is known.
        let last_y = |series: &Series, before: f32| {
            let known = |mask: &Numbers| series.rows().rev().find(|row| mask[*row] != 0.0);
            let row = self.data.mask.as_ref().and_then(known);
            filled_up(row.map_or(before, |row| self.data.y[row]))
        };
        let columns = self.data.columns.iter().map(|column| {
            let numbers = matches!(column.kind, ColumnKind::Numbers);
            let next = |_: &Series, before| if numbers { filled_up(before) } else { before };
            column.with_values(|past| onwards(past, &next))
        });
        let columns = columns.collect();
        let mask = match (&self.data.mask, known) {
            (None, true) => None,
            (mask, _) => {
                let ones = || vec![1.0; self.data.y.len()].into();
                let past = mask.clone().unwrap_or_else(ones);
                Some(onwards(&past, &|_, _| f32::from(known)).into())
            }
        };
        let data = Data {
            table: table.clone(),
            y: onwards(&self.data.y, &last_y).into(),
            mask,
            weight: self.data.weight.as_ref().map(|past| onwards(past, &|_, before| before).into()),
            columns,
            freq_inferred: *freq_inferred,
            integer_ids: *integer_ids,
            filled: *filled,
            trimmed: *trimmed,
        };
        let mut panel = self.clone();
        let mut start = 0;
        for (series, missing) in panel.series.iter_mut().zip(missing) {
            series.len += missing;
            series.start = start;
            start += series.len;
        }
        panel.data = Arc::new(data);
        panel
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::{Freq, TimeFormat, TimeKind};

    fn shops() -> Panel {
        let text = "unique_id,ds,y,price,kind\n\
                    alive,2024-01-01,1,10,big\nalive,2024-01-02,2,11,big\nalive,2024-01-03,3,12,big\n\
                    alive,2024-01-04,4,13,big\ndead,2024-01-01,5,20,small\ndead,2024-01-02,6,21,small\n";
        let options = ReadOptions { categories: vec!["kind".into()], ..ReadOptions::default() };
        Panel::read_csv(text.as_bytes(), "shops.csv", &options).unwrap()
    }

    #[test]
    fn those_that_end_earlier_are_named() {
        let ends = shops().early_ends().unwrap();
        let text = "1 of 2 series ends before 2024-01-04, the last time of the data: dead (2024-01-02)";
        assert_eq!(ends.to_string(), text);
        let error = shops().check_common_end().unwrap_err().to_string();
        assert!(error.starts_with(text) && error.contains("`Panel::with_end = common`"), "{error}");
        let many = EarlyEnds {
            last: "9".to_owned(),
            series: (0..7).map(|i| (i.to_string(), "8".to_owned())).collect(),
            of: 9,
            column: None,
        };
        assert!(
            many.to_string()
                .ends_with("the last time of the data: 0 (8), 1 (8), 2 (8), 3 (8), 4 (8) and 2 more")
        );
        assert_eq!(shops().without_last(2).of_series(0..1).early_ends(), None);
    }

    #[test]
    fn they_continue_to_the_common_end_as_they_are_filled() {
        for (fill, y, price) in [
            (None, [5.0, 6.0, 0.0, 0.0], [20.0, 21.0, 0.0, 0.0]),
            (Some(Fill::Forward), [5.0, 6.0, 6.0, 6.0], [20.0, 21.0, 21.0, 21.0]),
            (Some(Fill::Interpolate), [5.0, 6.0, 6.0, 6.0], [20.0, 21.0, 21.0, 21.0]),
        ] {
            let panel = shops().with_end(End::Common, fill).unwrap();
            assert_eq!((panel.y(1), panel.column("price", 1).unwrap()), (&y[..], &price[..]), "{fill:?}");
            assert_eq!((panel.y(0), panel.available_mask(1)), (&[1.0, 2.0, 3.0, 4.0][..], None));
            assert_eq!(panel.early_ends(), None);
            assert_eq!(panel.future_times(0, 2).unwrap(), panel.future_times(1, 2).unwrap());
            let vocabulary = [("kind".to_owned(), panel.categories_of("kind").unwrap())].into();
            let encoded = panel.encode_categories(&vocabulary).unwrap();
            assert_eq!(encoded.column("kind", 1).unwrap()[1..], [encoded.column("kind", 1).unwrap()[0]; 3]);
        }
        let panel = shops().with_end(End::Masked, Some(Fill::Forward)).unwrap();
        assert_eq!(panel.available_mask(1), Some(&[1.0, 1.0, 0.0, 0.0][..]));
        assert_eq!((panel.y(1), panel.available_mask(0)), (&[5.0, 6.0, 6.0, 6.0][..], Some(&[1.0; 4][..])));
        let panel = shops().with_end(End::Drop, None).unwrap();
        assert_eq!(panel.ids().map(|id| &**id).collect::<Vec<_>>(), ["alive"]);
    }

    #[test]
    fn they_continue_to_the_times_of_a_static_column() {
        let panel = |closed: &str, options: &ReadOptions| {
            let text = format!("closed,unique_id,size\n{closed},dead,1\n,alive,2\nx,elsewhere,3\n");
            let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
            std::fs::write(file.path(), text).unwrap();
            shops().with_static_file(file.path(), options).unwrap()
        };
        let options = ReadOptions::new().end_col("closed");
        let (ended, early) = panel("2024-01-03", &options).ended(End::Common, &options).unwrap().unwrap();
        assert_eq!((ended.y(0).len(), ended.y(1)), (4, &[5.0, 6.0, 0.0][..]));
        assert_eq!(
            early.to_string(),
            "1 of 2 series ends before the time of column `closed`: dead (2024-01-02)"
        );
        let (ended, _) = panel("2024-01-09", &options).ended(End::Drop, &options).unwrap().unwrap();
        assert_eq!(ended.n_series(), 1);
        // What ends at its time or after it stays, also beside others that go on; without a time it is the panel's last.
        for closed in ["2024-01-02", "2023-01-01"] {
            assert!(panel(closed, &options).ended(End::Common, &options).unwrap().is_none(), "{closed}");
        }
        let (ended, _) = panel("", &options).ended(End::Common, &options).unwrap().unwrap();
        assert_eq!(ended.early_ends(), None);
        // As times are written in the data, or as usual.
        let dotted = ReadOptions { time_format: TimeFormat::parse("%d.%m.%Y").ok(), ..options.clone() };
        for closed in ["03.01.2024", "2024-01-03"] {
            let (ended, _) = panel(closed, &dotted).ended(End::Common, &dotted).unwrap().unwrap();
            assert_eq!(ended.len(1), 3, "{closed}");
        }
        let error = panel("soon", &options).ended(End::Common, &options).unwrap_err().to_string();
        assert!(error.contains("series `dead`") && error.contains("column `closed`: \"soon\""), "{error}");
        let error = shops().ended(End::Common, &options).unwrap_err().to_string();
        assert!(error.contains("has no column `closed`"), "{error}");
        let read_as_numbers = panel("2024", &ReadOptions::new());
        let error = read_as_numbers.ended(End::Common, &options).unwrap_err().to_string();
        assert!(error.contains("end_col"), "{error}");
    }

    #[test]
    fn masked_rows_are_no_values_to_continue_with() {
        let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("2").unwrap());
        let builder = builder.series("a", &[0, 2, 4, 6], &[1.0; 4]).series("b", &[1, 3], &[7.0, 9.0]);
        let weights = [1.0, 1.0, 1.0, 1.0, 0.5, 0.25];
        let panel =
            builder.available_mask(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.0]).sample_weight(&weights).build().unwrap();
        let ended = panel.with_end(End::Common, Some(Fill::Forward)).unwrap();
        // 5 is a step of b before 6, the last time; 7 is not.
        assert_eq!((ended.y(1), ended.available_mask(1)), (&[7.0, 9.0, 7.0][..], Some(&[1.0, 0.0, 1.0][..])));
        assert_eq!((ended.sample_weight(1), ended.early_ends()), (Some(&[0.5, 0.25, 0.25][..]), None));
    }

    #[test]
    fn names_are_read_and_a_series_of_long_ago_is_a_mistake() {
        for end in End::ALL {
            assert_eq!(end.to_string().parse::<End>().unwrap(), end);
        }
        let error = "comon".parse::<End>().unwrap_err().to_string();
        assert_eq!(error, "end must be common, masked, drop, own, found comon");
        let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse("1").unwrap());
        let builder = builder.series("now", &[1_000_000], &[1.0]).series("then", &[0], &[1.0]);
        let error = builder.build().unwrap().with_end(End::Common, None).unwrap_err();
        assert!(matches!(error, DataError::Steps(StepError::FillTooLarge { .. })), "{error}");
    }
}
