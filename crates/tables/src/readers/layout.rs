//! Layouts of tables that are read as long ones.

use serde::{Deserialize, Serialize};

use foretell_messages::Setting;

/// The meaning of the columns of a row, where they are not one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Across {
    /// The times of a series, named in the header: `2024-01`, `Jan-24`, or numbers of steps (`1`, `V2`, `d_3`).
    Times,
    /// The hours of a day, or its other equal parts: `HE01` to `HE24`, `0` to `23`, `00:00` to `23:30`.
    Hours,
    /// The months of a year: `Jan` to `Dec` in any language, `M01` to `M12`, `1` to `12`.
    Months,
}

impl Across {
    /// The setting that reads a table so.
    pub fn setting(self) -> Setting {
        match self {
            Self::Times => Setting::TimesAcross,
            Self::Hours => Setting::HoursAcross,
            Self::Months => Setting::MonthsAcross,
        }
    }
}
