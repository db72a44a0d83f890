//! How a table is laid out, and how it is read.

use serde::{Deserialize, Serialize};

use super::fill::Fill;
use crate::calendar::freq::Freq;
use crate::calendar::time_format::TimeFormat;
use crate::calendar::zone::Zone;
use crate::tables::file_options::FileOptions;
use crate::tables::number_format::NumberFormat;
use crate::tables::table::ID;

pub(crate) const ID_REMEDY: &str = "set the name of the id column, or read the file as wide";
pub(crate) const TIME_REMEDY: &str = "set the name of the time column";

/// How a table is laid out, and how it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// How the file is written: encoding, titles, comments.
    pub file: FileOptions,
    /// One time column, every other column a series; else a row per series and time.
    pub wide: bool,
    /// Column of the series' ids, in the long layout. A table without a column `unique_id` holds one series, called
    /// as its column of values, unless another column is named here.
    pub id_col: String,
    /// Column of the times; by default `ds`, or the first column of a wide table.
    pub time_col: Option<String>,
    /// Column of the values, in the long layout.
    pub target_col: String,
    /// Further columns to keep, in the long layout; all by default. Columns that no model reads only take memory.
    pub columns: Option<Vec<String>>,
    /// Columns that hold categories: texts, numbers or truth values, of which each is a label. They are no numbers
    /// before [`Panel::encode_categories`](crate::Panel::encode_categories).
    pub categories: Vec<String>,
    /// The frequency; else it is inferred from the longest series and confirmed on all.
    pub freq: Option<Freq>,
    /// The zone of the times; else the one that they are written with. Times without an offset from
    /// UTC are then those of the zone's clocks.
    pub zone: Option<Zone>,
    /// How the times are written, where they are no integers and not as `2024-01-31 13:45:00`. Timestamps and dates
    /// of Parquet and Arrow need none.
    pub time_format: Option<TimeFormat>,
    /// How numbers are written in texts.
    pub numbers: NumberFormat,
    /// How rows and values that are missing between others are filled; without it they are mistakes. Where values are
    /// missing before the first known one of a series or after the last, the series is cut: [`Trimmed`].
    ///
    /// [`Trimmed`]: crate::Trimmed
    pub fill: Option<Fill>,
    /// Most bytes of memory that the panel may take while it is read; no limit by default.
    pub max_memory: Option<u64>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            file: FileOptions::default(),
            wide: false,
            id_col: ID.into(),
            time_col: None,
            target_col: "y".into(),
            columns: None,
            categories: Vec::new(),
            freq: None,
            zone: None,
            time_format: None,
            numbers: NumberFormat::default(),
            fill: None,
            max_memory: None,
        }
    }
}

impl ReadOptions {
    pub(crate) fn time_col(&self) -> &str {
        self.time_col.as_deref().unwrap_or("ds")
    }
}
