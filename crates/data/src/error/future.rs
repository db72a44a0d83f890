//! Errors of tables of future rows.

use std::sync::Arc;

use foretell_messages::{Setting, listed};
use foretell_tables::{Place, Whereabouts};

/// Rows of the future that are missing, or too many.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FutureError {
    /// Future rows are missing.
    #[error("{table} lacks {count} future rows, of which each series needs {h}: {}; add them", listed(.rows))]
    #[strum(serialize = "future_missing")]
    Missing {
        /// The file.
        table: Arc<str>,
        /// How many rows.
        count: usize,
        /// The horizon.
        h: usize,
        /// The first few, as `id at time`.
        rows: Vec<String>,
    },
    /// A future row within the horizon of its series, at a time that is no step of it.
    #[error("{at}: series `{id}` at {time} is not among the rows to forecast ({needed}); remove it")]
    #[strum(serialize = "future_extra")]
    Extra {
        /// The row.
        at: Box<Place>,
        /// Its series.
        id: String,
        /// Its time.
        time: String,
        /// The rows that are needed.
        needed: String,
    },
    /// Future values are needed and there are none.
    #[error(
        "the future columns {} need their values over the horizon; pass a table of future rows ({})",
        listed(.columns), Setting::FutureRows
    )]
    #[strum(serialize = "future_needed")]
    Needed {
        /// The columns.
        columns: Vec<String>,
    },
    /// The future table is for another horizon or panel.
    #[error(
        "the future table holds {found} rows; this forecast needs {expected}; read it again for this panel and horizon"
    )]
    #[strum(serialize = "future_shape")]
    Shape {
        /// Rows needed.
        expected: usize,
        /// Rows of the table.
        found: usize,
    },
}

impl FutureError {
    /// Where the mistake is.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Missing { table, .. } => Whereabouts::file(table),
            Self::Extra { at, id, .. } => Whereabouts::at(at).series(id),
            Self::Needed { .. } | Self::Shape { .. } => Whereabouts::default(),
        }
    }
}
