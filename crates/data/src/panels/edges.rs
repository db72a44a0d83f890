//! Series that begin later than others of the same table, or end earlier: their values are missing at that edge.

use super::fill::{Fill, Trimmed};
use super::rows::{SeriesRun, TableRows};
use crate::error::DataError;
use foretell_tables::{Flaw, ReadNote};

impl TableRows {
    /// Leaves out the edges of each series of an arranged table. Between them, a missing value is a mistake where
    /// nothing is filled; so is a series of missing values alone, unless such series are to be left out, with a note.
    pub(crate) fn trim(&mut self) -> Result<Trimmed, DataError> {
        let mut trimmed = Trimmed::default();
        if !self.y.iter().any(|y| y.is_nan()) {
            return Ok(trimmed);
        }
        let masked = |row: usize| self.mask.as_ref().is_some_and(|mask| mask[row] == 0.0);
        let is_there = |row: &usize| !self.y[*row].is_nan() || masked(*row);
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut unknown: Vec<SeriesRun> = Vec::new();
        for run in &self.runs {
            let mut rows = run.start..run.start + run.len;
            let known = rows.clone().find(is_there).zip(rows.rfind(is_there));
            let Some((first, last)) = known else {
                match (self.fill, self.drop_unknown) {
                    (Some(Fill::Zero), _) => runs.push(*run),
                    (_, true) => unknown.push(*run),
                    (_, false) => return Err(self.missing(run, run.start, self.unknown())),
                }
                continue;
            };
            if self.fill.is_none()
                && let Some(row) = (first..=last).find(|row| self.y[*row].is_nan())
            {
                return Err(self.missing(run, row, Flaw::Missing));
            }
            let len = last + 1 - first;
            trimmed.series += usize::from(len < run.len);
            trimmed.rows += run.len - len;
            runs.push(SeriesRun { start: first, len, ..*run });
        }
        if let Some(run) = unknown.first() {
            if runs.is_empty() {
                return Err(self.missing(run, run.start, self.unknown()));
            }
            let mut series: Vec<(String, usize)> =
                unknown.iter().map(|run| (self.id(run).to_string(), run.len)).collect();
            series.sort();
            self.notes.push(ReadNote::NothingKnown { table: self.origin.table(), series });
        }
        self.runs = runs;
        Ok(trimmed)
    }

    /// The flaw of a series without any value.
    fn unknown(&self) -> Flaw {
        if self.y.iter().all(|y| y.is_nan()) { Flaw::NoneKnown } else { Flaw::NothingKnown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Filled, Panel, ReadOptions};
    use foretell_calendar::{Freq, TimeKind};

    fn read(text: &str, options: &ReadOptions) -> Result<Panel, DataError> {
        Panel::read_csv(text.as_bytes(), "t.csv", options)
    }

    fn wide(fill: Option<Fill>) -> ReadOptions {
        ReadOptions { wide: true, fill, ..ReadOptions::default() }
    }

    #[test]
    fn blanks_at_the_edges_of_a_wide_column_are_no_rows() {
        let text = "date,late,early,whole\n\
                    2024-01-03,,3,3\n2024-01-01,,1,1\n2024-01-02,,2,2\n2024-01-04,4,NaN,4\n2024-01-05,5,,5\n";
        for fill in [None, Some(Fill::Forward), Some(Fill::Zero), Some(Fill::Interpolate)] {
            let panel = read(text, &wide(fill)).unwrap();
            let y = |id| panel.y(panel.find(id).unwrap()).to_vec();
            assert_eq!((y("early"), y("late"), y("whole").len()), (vec![1.0, 2.0, 3.0], vec![4.0, 5.0], 5));
            assert_eq!(
                (panel.trimmed(), panel.filled()),
                (Trimmed { series: 2, rows: 5, far: 0 }, Filled::default())
            );
            assert_eq!(TimeKind::Timestamp.display(panel.time(panel.find("late").unwrap(), 0)), "2024-01-04");
            assert_eq!((panel.n_rows(), panel.max_len()), (10, 5));
        }
        // What is missing in between is filled, or a mistake.
        let text = "date,a,b\n1,,1\n2,2,1\n3,,1\n5,5,1\n6,,1\n";
        let panel = read(text, &wide(Some(Fill::Interpolate))).unwrap();
        assert_eq!((panel.y(0), panel.time(0, 0)), (&[2.0, 3.0, 4.0, 5.0][..], 2));
        assert_eq!((panel.filled(), panel.trimmed().rows), (Filled { rows: 2, values: 1 }, 2));
        let error = read(text, &wide(None)).unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 4, column `a`: \"\" is missing; fill it in"), "{error}");
        let error = read("date,a,b\n1,,1\n2,,1\n3,,1\n", &wide(None)).unwrap_err().to_string();
        assert!(
            error.starts_with("t.csv, line 2, column `a`: \"\" is missing, as are all values"),
            "{error}"
        );
    }

    #[test]
    fn a_long_table_that_was_wide_is_read_alike() {
        let text = "unique_id,ds,y,x\n\
                    a,1,NaN,NaN\na,2,2,20\na,3,3,30\na,4,NaN,40\n\
                    b,1,1,1\nb,2,2,1\nb,3,3,1\nb,4,4,1\n";
        let options = ReadOptions::default();
        let panel = read(text, &options).unwrap();
        assert_eq!((panel.y(0), panel.time(0, 0)), (&[2.0, 3.0][..], 2));
        assert_eq!(panel.column("x", 0).unwrap(), [20.0, 30.0], "what is missing beside it does not matter");
        assert_eq!(panel.trimmed(), Trimmed { series: 1, rows: 2, far: 0 });
        assert_eq!(panel.future_times(0, 1).unwrap(), [4]);
        let error = read(
            &text.replace("a,3,3,30", "a,3,NaN,30").replace("40", "").replace("a,4,NaN", "a,4,4"),
            &options,
        );
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 4, column `y`: \"NaN\" is missing; fill it in"), "{error}");
        // A column is still whole, or an error when it is used.
        let panel = read(&text.replace("a,3,3,30", "a,3,3,NaN"), &options).unwrap();
        let error = panel.column("x", 0).unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 4, column `x`: \"NaN\" is missing"), "{error}");
        // Rows that are masked belong to the series.
        let text = "unique_id,ds,y,available_mask\na,1,,0\na,2,2,1\na,3,3,1\na,4,,1\n";
        let panel = read(text, &options).unwrap();
        assert_eq!((panel.y(0), panel.available_mask(0)), (&[0.0, 2.0, 3.0][..], Some(&[0.0, 1.0, 1.0][..])));
    }

    #[test]
    fn series_of_which_nothing_is_known_are_left_out_on_request() {
        let text = "unique_id,ds,y,price\nb,1,,5\nb,2,NaN,\na,1,1,3\na,2,2,4\na,3,3,5\na,4,,4\nc,1,,\n";
        let error = read(text, &ReadOptions::new()).unwrap_err().to_string();
        assert!(error.contains("all values of its series; leave the series out, or fill by zero"), "{error}");
        for fill in [None, Some(Fill::Forward), Some(Fill::Interpolate)] {
            let options = ReadOptions { fill, ..ReadOptions::new().without_unknown() };
            let panel = read(text, &options).unwrap();
            assert_eq!((panel.n_series(), &**panel.id(0), panel.y(0)), (1, "a", &[1.0, 2.0, 3.0][..]));
            assert_eq!(panel.column("price", 0).unwrap(), [3.0, 4.0, 5.0]);
            assert_eq!(panel.trimmed(), Trimmed { series: 1, rows: 1, far: 0 });
            let note = panel.notes()[0].to_string();
            assert_eq!(note, "t.csv: left out series of which no value is known: `b`, `c`");
        }
        let zeros = read(text, &ReadOptions::new().without_unknown().fill(Fill::Zero)).unwrap();
        assert_eq!((zeros.n_series(), zeros.y(1)), (3, &[0.0, 0.0][..]), "they have values then");
        let wide =
            read("date,a,b\n1,,1\n2,,2\n3,,3\n", &ReadOptions::new().wide().without_unknown()).unwrap();
        assert_eq!((wide.n_series(), &**wide.id(0)), (1, "b"));
        // A panel of nothing is none, whatever is left out.
        for options in [ReadOptions::new().without_unknown(), ReadOptions::new()] {
            let error = read("ds,y\n1,\n2,\n", &options).unwrap_err().to_string();
            assert!(error.contains("as are all values of the table"), "{error}");
        }
    }

    #[test]
    fn slices_are_trimmed_too() {
        let y = [f32::NAN, 1.0, 2.0, 3.0, f32::NAN];
        let build = |freq: &str| {
            let builder = Panel::builder(TimeKind::Integer).freq(Freq::parse(freq).unwrap());
            builder.series("a", &[0, 1, 2, 3, 4], &y).column("x", &y).build()
        };
        let panel = build("1").unwrap();
        assert_eq!((panel.y(0), panel.column("x", 0).unwrap()), (&[1.0, 2.0, 3.0][..], &[1.0, 2.0, 3.0][..]));
        let error = build("2").unwrap_err().to_string();
        assert!(error.starts_with("series `a`, row 2: it goes from 1 to 2"), "{error}");
    }
}
