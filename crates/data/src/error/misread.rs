//! Errors of tables whose rows tell that they are meant otherwise than they were read.

use std::sync::Arc;

use foretell_messages::{Setting, listed};
use foretell_tables::{Place, Whereabouts};

use super::file_clocks::FileClocks;

/// A table whose rows tell that it is meant otherwise than it was read.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum MisreadTable {
    /// A header that is a row of the table.
    #[error(
        "{file}: its first line looks like a row ({}), and is read as the names of columns; write a line with such names above it, as \
         in `unique_id,ds,y`",
        listed(.cells)
    )]
    NoHeader {
        /// The file.
        file: Arc<str>,
        /// The cells of the line.
        cells: Vec<String>,
    },
    /// A table whose times stand in a column of years, or days, and one of their parts.
    #[error(
        "{table}: `{year}` and `{part}` seem to make the times together: read both as the time ({}), and name the column of the \
         values ({}), and that of the ids ({}) if there are several series",
        Setting::TimeColumns.to(format_args!("{year},{part}")),
        Setting::TargetColumn,
        Setting::IdColumn
    )]
    TimesInParts {
        /// The file or table.
        table: Arc<str>,
        /// The column of the years.
        year: String,
        /// That of the parts.
        part: String,
    },
    /// Quarters among times that are none, of which they are the sums.
    #[error(
        "{file}, column `{column}`: {quarters} of {of} times are quarters or half-years, and the others are not, so that their rows seem to \
         be sums of others; leave these rows out of the file, or keep them in one of their own"
    )]
    MixedPeriods {
        /// The file.
        file: Arc<str>,
        /// The column of the times.
        column: String,
        /// How many are quarters,
        quarters: usize,
        /// and how many there are.
        of: usize,
    },
    /// Periods that rows are gathered in, none of which is complete.
    #[error(
        "{table}: no period is complete: rows are missing at the beginning or the end of each, whose sum or mean would be that of a part; \
         give the rows of whole periods, or keep such ones with {}",
        Setting::KeepPartial
    )]
    NoWholePeriod {
        /// The table.
        table: Arc<str>,
    },
    /// Years of the Buddhist calendar.
    #[error(
        "{at}: the times of series `{id}` are of the year {year}, which seems to be {common} by the Buddhist calendar; write the \
         years of the common era, 543 less, since leap years and weekdays are found by them", common = .year - 543
    )]
    BuddhistYears {
        /// The first row of the series.
        at: Place,
        /// The series.
        id: String,
        /// Its year.
        year: i16,
    },
    /// Times that are years and the years after them, read as years and months.
    #[error(
        "{at}: the months of series `{id}` are 13 apart, as where the second number of a time is no month but the year after the \
         first one (2000/01, 2001/02); read them as years ({years}), or, if months are meant, set their frequency ({months})",
        years = Setting::TimeFormat.to("%Y/%y"), months = Setting::Freq.to("13MS")
    )]
    YearsAsMonths {
        /// The first row of the series.
        at: Place,
        /// The series.
        id: String,
    },
    /// A time far from all others of its series, as that of a mistyped year.
    #[error(
        "{at}: the time {time} of series `{id}` stands far from all others of it, {} to {}, as where its year was mistyped; {}",
        .others[0], .others[1], far_remedy(.meant.as_deref())
    )]
    FarTime {
        /// The row.
        at: Box<Place>,
        /// The series.
        id: String,
        /// The time.
        time: Box<str>,
        /// The first and the last of the others.
        others: Box<[String; 2]>,
        /// The time of another year that is missing among these, if there is one.
        meant: Option<Box<str>>,
    },
    /// A time over which clocks were put forward, beside the one that they showed instead.
    #[error(
        "{}: clocks of {zone} were put forward over {time}, and the row of the time that they showed instead is there as well ({other}); {}",
        .at.and_series(.id), .clocks.remedy(.kept)
    )]
    SkippedHour {
        /// The row of the time that clocks never showed.
        at: Box<Place>,
        /// The row of the time instead.
        other: Box<Place>,
        /// The series.
        id: String,
        /// The time, as the file has it.
        time: Box<str>,
        /// The zone that was named,
        zone: Box<str>,
        /// and the offset from UTC in that night, before clocks were put forward.
        kept: Box<str>,
        /// What the other times tell of the clocks.
        clocks: FileClocks,
    },
}

impl MisreadTable {
    /// Where the mistake is.
    pub(crate) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::NoHeader { file, .. } => Whereabouts::file(file),
            Self::TimesInParts { table, .. } | Self::NoWholePeriod { table } => Whereabouts::file(table),
            Self::MixedPeriods { file, column, .. } => Whereabouts::file(file).column(column),
            Self::BuddhistYears { at, id, .. } | Self::YearsAsMonths { at, id } => {
                Whereabouts::at(at).series(id)
            }
            Self::FarTime { at, id, .. } | Self::SkippedHour { at, id, .. } => Whereabouts::at(at).series(id),
        }
    }
}

/// What to do about a time far from all others, with the one that is missing among these.
fn far_remedy(meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("write {meant}, which is missing, or leave the row out"),
        None => format!(
            "correct it, or leave the row out; if it is right, fill in the rows between ({})",
            Setting::Fill
        ),
    }
}
