//! Several rows of one series and time become one, on request.

use super::aggregate::Aggregate;
use super::column::ColumnKind;
use super::rows::TableRows;
use foretell_calendar::Steps;

impl Aggregate {
    /// How further columns follow it.
    fn of_columns(self, kind: &ColumnKind) -> Self {
        match (self, kind) {
            (Self::First, _) => Self::First,
            (_, ColumnKind::Labels(_) | ColumnKind::Categories) => Self::Last,
            (Self::Sum | Self::Count, ColumnKind::Numbers) => Self::Mean,
            (how, ColumnKind::Numbers) => how,
        }
    }
}

impl TableRows {
    /// Makes one row of those of a series and time, in a table that is arranged.
    pub(super) fn aggregate(&mut self, how: Aggregate) {
        let (mut starts, mut ends, mut times) = (Vec::new(), Vec::new(), Vec::new());
        let mut kept = Steps::default();
        let rows = self.len();
        for run in &mut self.runs {
            self.times.copy(run.start, run.len, &mut times);
            let start = starts.len();
            for (i, &time) in times.iter().enumerate() {
                let row = (run.start + i) as u32;
                if i == 0 || times[i - 1] != time {
                    starts.push(row);
                    ends.push(row + 1);
                    kept.push(time);
                } else if let Some(end) = ends.last_mut() {
                    *end = row + 1;
                }
            }
            (run.start, run.len) = (start, starts.len() - start);
        }
        if starts.len() == rows && how != Aggregate::Count {
            self.runs_are(&starts);
            return;
        }
        // Rows between two series may be those that were left out.
        let groups = |i: usize| starts[i] as usize..ends[i] as usize;
        let mask = self.mask.as_deref();
        let known = |i: &usize| mask.is_none_or(|mask| mask[*i] != 0.0);
        let y = (0..starts.len()).map(|i| match groups(i).any(|row| known(&row)) {
            true => how.of(groups(i).filter(known).map(|row| self.y[row])),
            false => self.y[groups(i).start],
        });
        let y = y.collect();
        if matches!(how, Aggregate::Sum | Aggregate::Mean) {
            self.unrounded.keep(&self.y);
        }
        self.unrounded.each(|values| {
            let value = |i: usize| match groups(i).any(|row| known(&row)) {
                true => how.of(groups(i).filter(known).map(|row| values[row])),
                false => values[groups(i).start],
            };
            *values = (0..starts.len()).map(value).collect();
        });
        for column in &mut self.columns {
            let Ok(values) = &mut column.values else { continue };
            let how = how.of_columns(&column.kind);
            let rows = |i: usize| {
                let any = groups(i).any(|row| known(&row));
                groups(i).filter(move |row| !any || known(row))
            };
            *values = (0..starts.len()).map(|i| how.of(rows(i).map(|row| values[row]))).collect();
        }
        let reduce = |values: &mut Vec<f32>, how: Aggregate| {
            *values = (0..starts.len()).map(|i| how.of(groups(i).map(|row| values[row]))).collect();
        };
        self.weight.iter_mut().for_each(|weight| reduce(weight, Aggregate::Mean));
        self.y = y;
        self.mask.iter_mut().for_each(|mask| reduce(mask, Aggregate::Max));
        self.order = Some(match &self.order {
            Some(order) => starts.iter().map(|&row| order[row as usize]).collect(),
            None => starts,
        });
        self.times = kept;
    }

    /// Nothing was merged: the rows of each series are where they were.
    fn runs_are(&mut self, starts: &[u32]) {
        for run in &mut self.runs {
            run.start = starts[run.start] as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Panel, ReadOptions};

    fn read(text: &str, how: Aggregate) -> Panel {
        let options =
            ReadOptions { aggregate: Some(how), categories: vec!["shop".into()], ..ReadOptions::default() };
        Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap()
    }

    const SALES: &str = "unique_id,ds,y,price,shop\n\
        b,2024-01-02,4,1,x\nb,2024-01-01,1,2,x\nb,2024-01-01,2,4,y\nb,2024-01-03,5,1,x\n\
        a,2024-01-01,7,1,x\na,2024-01-02,8,1,x\na,2024-01-03,,1,x\na,2024-01-03,3,3,x\n";

    #[test]
    fn rows_of_a_time_become_one() {
        for (how, y, prices) in [
            (Aggregate::Sum, [3.0, 4.0, 5.0], [3.0, 1.0, 1.0]),
            (Aggregate::Mean, [1.5, 4.0, 5.0], [3.0, 1.0, 1.0]),
            (Aggregate::Last, [2.0, 4.0, 5.0], [4.0, 1.0, 1.0]),
            (Aggregate::First, [1.0, 4.0, 5.0], [2.0, 1.0, 1.0]),
            (Aggregate::Max, [2.0, 4.0, 5.0], [4.0, 1.0, 1.0]),
            (Aggregate::Min, [1.0, 4.0, 5.0], [2.0, 1.0, 1.0]),
            (Aggregate::Count, [2.0, 1.0, 1.0], [3.0, 1.0, 1.0]),
        ] {
            let panel = read(SALES, how);
            assert_eq!((panel.y(1), panel.column("price", 1).unwrap()), (&y[..], &prices[..]), "{how}");
            // What is missing does not count where there is something.
            assert_eq!(panel.y(0)[2], if how == Aggregate::Count { 1.0 } else { 3.0 }, "{how}");
            assert_eq!(how.name().parse::<Aggregate>().unwrap(), how);
        }
        assert!("average".parse::<Aggregate>().unwrap_err().to_string().contains("sum, mean, last"));
    }

    #[test]
    fn rows_that_are_masked_do_not_count() {
        let text = "unique_id,ds,y,available_mask,sample_weight\n\
            a,1,1,1,1\na,1,,0,3\na,2,2,1,1\na,3,,0,1\na,3,,0,1\na,4,4,1,1\n";
        let panel = read(text, Aggregate::Sum);
        assert_eq!(panel.y(0), [1.0, 2.0, 0.0, 4.0]);
        assert_eq!(panel.available_mask(0).unwrap(), [1.0, 1.0, 0.0, 1.0]);
        assert_eq!(panel.sample_weight(0).unwrap(), [2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn tables_without_such_rows_stay_as_they_are() {
        let text = "unique_id,ds,y\nb,3,3\nb,1,1\nb,2,2\na,5,5\na,6,6\na,7,7\n";
        for how in Aggregate::ALL.into_iter().filter(|how| *how != Aggregate::Count) {
            let panel = read(text, how);
            assert_eq!((panel.y(0), panel.y(1)), (&[5.0, 6.0, 7.0][..], &[1.0, 2.0, 3.0][..]), "{how}");
        }
        // Places in errors are those of the file.
        let bad = "unique_id,ds,y,x\na,2,1,1\na,1,1,1\na,1,1,u\na,3,1,1\n";
        let error = read(bad, Aggregate::Sum).column("x", 0).unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 4, column `x`"), "{error}");
    }
}
