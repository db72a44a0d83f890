//! How the times of a file are written, by its first rows.

use std::path::Path;

use super::forecast_table::{ForecastTable, NumbersIn};
use super::options::ReadOptions;
use crate::error::DataError;
use foretell_calendar::{TimeKind, Zone};
use foretell_tables::ColumnRoles;

/// Rows that are looked at.
const ROWS: usize = 1000;

/// What the first times of a table are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FirstTimes {
    /// Their kind; nothing of a table without rows.
    pub kind: Option<TimeKind>,
    /// Their zone: the one that was said, else the one that they are written with.
    pub zone: Option<Zone>,
}

impl ForecastTable {
    /// The first times of a file of forecasts, read as [`from_file`](Self::from_file) reads them.
    ///
    /// # Errors
    /// Times that cannot be read so, and the errors of `from_file` that concern the file and its columns.
    pub fn first_times(path: impl AsRef<Path>, options: &ReadOptions) -> Result<FirstTimes, DataError> {
        NumbersIn::AllColumns.first_times(path.as_ref(), options)
    }

    /// The same of a file of actual values, read as [`actual_from_file`](Self::actual_from_file) reads them.
    ///
    /// # Errors
    /// As of `first_times`.
    pub fn actual_first_times(
        path: impl AsRef<Path>,
        options: &ReadOptions,
    ) -> Result<FirstTimes, DataError> {
        NumbersIn::Target.first_times(path.as_ref(), options)
    }
}

impl NumbersIn {
    fn first_times(self, path: &Path, options: &ReadOptions) -> Result<FirstTimes, DataError> {
        let mut table = self.opened(path, options)?;
        let table = &mut *table;
        let (time, mut at_row) = match (self == Self::Target && options.wide, &options.time_col) {
            (true, None) => (0, false),
            (true, Some(name)) => (table.column(name, ColumnRoles::TIMES)?, false),
            (false, _) => {
                let places = self.places(table, options)?;
                (places.time, places.pair.is_some_and(|pair| pair.at_row))
            }
        };
        let mut clock = options.clock(table);
        for _ in 0..ROWS {
            if !(std::mem::take(&mut at_row) || table.advance()?) {
                break;
            }
            table.time(time, &mut clock)?;
        }
        let zone = clock.zone.filter(|_| clock.kind == Some(TimeKind::Timestamp));
        Ok(FirstTimes { kind: clock.kind, zone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_calendar::TimeFormat;

    #[test]
    fn the_first_times_tell_their_zone_and_whether_a_format_fits() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        let zone = |text: &str, options: &ReadOptions| {
            std::fs::write(&path, text).unwrap();
            ForecastTable::actual_first_times(&path, options)
                .map(|first| first.zone.map(|zone| zone.to_string()))
        };
        let usual = ReadOptions::new();
        assert_eq!(zone("unique_id,ds,y\na,2024-01-01T00:00+01:00,1\n", &usual).unwrap().unwrap(), "+01:00");
        assert_eq!(zone("when,load\n2024-01-01T00:00Z,1\n", &usual).unwrap().unwrap(), "+00:00");
        assert_eq!(
            zone("when,a,b\n2024-01-01T00:00-05:00,1,2\n", &usual.clone().wide()).unwrap().unwrap(),
            "-05:00"
        );
        let said = usual.clone().zone(Zone::parse("Europe/Berlin").unwrap());
        assert_eq!(zone("ds,y\n2024-01-01,1\n", &said).unwrap().unwrap(), "Europe/Berlin");
        assert_eq!(zone("ds,y\n2024-01-01,1\n", &usual).unwrap(), None);
        let days = usual.time_format(TimeFormat::parse("%d/%m/%Y").unwrap());
        assert_eq!(zone("ds,y\n31/01/2024,1\n", &days).unwrap(), None);
        assert!(zone("ds,y\n2024-01-31,1\n", &days).is_err());
    }
}
