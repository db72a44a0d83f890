//! Errors of series and of their rows.

use std::sync::Arc;

use foretell_messages::{Setting, did_you_mean, listed};
use foretell_tables::{Place, Whereabouts};

/// Series, or rows of them, that are not there, or are there twice.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SeriesError {
    /// A series that the panel does not have.
    #[error("the panel has no series `{id}`{}", did_you_mean(.nearest))]
    #[strum(serialize = "unknown_series")]
    Unknown {
        /// The series that was looked for.
        id: String,
        /// The one it may be a slip of.
        nearest: Option<String>,
    },
    /// A series without a row, which would vanish.
    #[error("series `{id}` has no rows; give it some, or leave it out")]
    #[strum(serialize = "empty_series")]
    Empty {
        /// The series.
        id: String,
    },
    /// Two rows have the same id and time.
    #[error(
        "{} has {time} already ({}); keep one of the two rows{}",
        .at.and_series(.id), .earlier.after_its_series(),
        if .at.in_slices() { String::new() } else { .remedy.others(true, .at.file != .earlier.file) }
    )]
    DuplicateRow {
        /// The later row.
        at: Box<Place>,
        /// The earlier row.
        earlier: Box<Place>,
        /// The series.
        id: String,
        /// The time.
        time: String,
        /// Where they stand.
        remedy: Repeated,
    },
    /// Two rows have the same time, in a table without ids.
    #[error(
        "{at}: {time} is there already ({earlier}), and no column `{id_col}` says which series a row belongs to; keep \
         one of the two rows{}, or, if these are several series, say which column has their ids ({}); the columns are {}",
        .remedy.others(.columns.len() == 2, .at.file != .earlier.file), Setting::IdColumn, listed(.columns)
    )]
    DuplicateTime {
        /// The later row.
        at: Box<Place>,
        /// The earlier row.
        earlier: Box<Place>,
        /// The time.
        time: String,
        /// Where they stand.
        remedy: Repeated,
        /// The column of ids that would be read.
        id_col: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Static values are missing for some series.
    #[error("{table} lacks {count} of the panel's series: {}; add one row for each", listed(.ids))]
    StaticMissing {
        /// The file or column.
        table: Arc<str>,
        /// How many.
        count: usize,
        /// The first few.
        ids: Vec<String>,
    },
    /// Ids that are there under another spelling.
    #[error(
        "{table} and the data spell the ids of series differently: {} there, {} in the data; write them alike",
        listed(.theirs), listed(.ours)
    )]
    SpeltOtherwise {
        /// The table.
        table: Arc<str>,
        /// Some ids as the data have them,
        ours: Vec<String>,
        /// and the same as the table has them.
        theirs: Vec<String>,
    },
    /// A series has static values twice.
    #[error("{at}: series `{id}` appears twice; static values need exactly one row per series")]
    DuplicateStatic {
        /// The later row.
        at: Place,
        /// The series.
        id: String,
    },
}

impl SeriesError {
    /// Where the mistake is.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Unknown { id, .. } | Self::Empty { id } => Whereabouts::of_series(id),
            Self::DuplicateRow { at, id, .. } => Whereabouts::at(at).series(id),
            Self::DuplicateStatic { at, id } => Whereabouts::at(at).series(id),
            Self::DuplicateTime { at, .. } => Whereabouts::at(at),
            Self::SpeltOtherwise { table, .. } | Self::StaticMissing { table, .. } => {
                Whereabouts::file(table)
            }
        }
    }
}

/// Where two rows of one series and time stand, which says what to do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// In the data.
    InData,
    /// In the data, at an hour that clocks show twice when they are put back.
    ByClocks,
    /// The same, though a zone was named whose clocks should tell the two apart.
    InZone,
    /// In a table beside the data, whose rows do not become one.
    Beside,
}

impl Repeated {
    /// How one of the two rows, which may be of two files, is kept if they are surely of one series, and the other remedies.
    fn others(self, are_of_one: bool, of_files: bool) -> String {
        match self {
            // A row that is there twice by mistake would count twice in a sum.
            Self::InData => {
                let keeps = match (are_of_one, of_files) {
                    // A later file may have corrected an earlier one.
                    (true, true) => format!(
                        ": {} that of the file that is read last, {} the other",
                        Setting::Aggregate.to("last"),
                        Setting::Aggregate.to("first")
                    ),
                    (true, false) => format!(", as {} does", Setting::Aggregate.to("first")),
                    (false, _) => String::new(),
                };
                let sum = Setting::Aggregate.to("sum");
                format!("{keeps}, or, if both count, say how they become one ({sum})")
            }
            Self::ByClocks => format!(
                ", or, if clocks were put back there and both are hours of their own, name the zone ({}), and the order of \
                 the rows tells them apart",
                Setting::Zone.to("Europe/Berlin")
            ),
            Self::InZone => ", or, if clocks were put back there and both are hours of their own, put the rows in the order of time, the \
                             oldest first, which tells them apart, or name another zone if these clocks are not those of the file"
                .to_owned(),
            Self::Beside => String::new(),
        }
    }
}
