//! The rows of a long table, taken one after the other.

use super::bounds::Share;
use super::cells::{admitted, check_mask, check_weight};
use super::options::ReadOptions;
use super::periods::Periods;
use super::rows::TableRows;
use crate::error::DataError;
use foretell_calendar::{Clock, RepeatedTimes};
use foretell_tables::{Flaw, TableReader};

/// Which columns of a long table hold what.
pub(super) struct LongColumns<'a> {
    /// Of the ids; where there is none, all rows are of the series `only`.
    pub(super) id: Option<usize>,
    pub(super) only: &'a str,
    pub(super) time: usize,
    pub(super) target: usize,
    pub(super) mask: Option<usize>,
    pub(super) weight: Option<usize>,
    /// The further ones, in the order of [`TableRows::columns`].
    pub(super) extras: Vec<usize>,
    pub(super) periods: Periods,
    pub(super) options: &'a ReadOptions,
}

impl LongColumns<'_> {
    /// Takes all rows that follow, of a table whose times are not repeated.
    pub(super) fn take_rows(
        &self,
        table: &mut dyn TableReader,
        rows: &mut TableRows,
        clock: &mut Clock,
        share: &mut Share<'_>,
    ) -> Result<(), DataError> {
        let mut repeated = RepeatedTimes::default();
        while table.advance()? {
            self.take_row(table, rows, clock, &mut repeated)?;
            share.look(rows)?;
        }
        rows.note(table.notes());
        Ok(())
    }

    /// Takes the row on which the table stands.
    pub(super) fn take_row(
        &self,
        table: &dyn TableReader,
        rows: &mut TableRows,
        clock: &mut Clock,
        repeated: &mut RepeatedTimes,
    ) -> Result<(), DataError> {
        let mask = (self.mask.map(|column| {
            let value = table.number_or_truth(column).and_then(check_mask);
            value.map_err(|flaw| table.bad_value(column, flaw))
        }))
        .transpose()?;
        let masked = mask == Some(0.0);
        let weight = (self.weight.map(|column| {
            let value = table.number(column).and_then(check_weight);
            value.map_err(|flaw| table.bad_value(column, flaw))
        }))
        .transpose()?;
        let y = rows.admit(table, self.target, masked)?;
        let instant = table.time(self.time, clock)?;
        // An hour that never was, in a table with a row or a column for each hour of the day.
        if clock.skipped && y.is_nan() {
            return Ok(());
        }
        rows.mask.iter_mut().zip(mask).for_each(|(values, value)| values.push(value));
        rows.weight.iter_mut().zip(weight).for_each(|(values, value)| values.push(value));
        rows.push_y(y, table, self.target);
        let code = match (self.id, rows.last, rows.last_id()) {
            (Some(column), Some(code), Some(id)) if table.has_id(column, id) => {
                rows.push_code(code);
                code
            }
            _ => rows.push_id(&table.id_or(self.id, self.only)?),
        };
        rows.integer_ids = self.id.is_some_and(|id| table.integer_ids(id));
        let instant = match self.options.zone {
            None => instant,
            Some(_) => (repeated.resolve(code as usize, instant, clock.later))
                .map_err(|why| table.bad_time(self.time, why))?,
        };
        if clock.skipped {
            rows.skipped.push(rows.len());
        }
        rows.times.push(self.periods.moved(clock.kind, clock.zone.as_ref(), instant));
        if self.periods.resample.is_some() {
            rows.within.push(instant);
        }
        let at = rows.origin.at(table);
        rows.origin.push(at);
        let fill = self.options.fill;
        for (column, &i) in rows.columns.iter_mut().zip(&self.extras) {
            let cell = match admitted(column.cell(table, i), masked, fill) {
                // Before a series begins and after it ends, its columns may be empty too.
                Err(Flaw::Missing) if y.is_nan() => Ok(f32::NAN),
                cell => cell,
            };
            column.push(cell, || (table.place(), table.shown(i)));
        }
        Ok(())
    }
}
