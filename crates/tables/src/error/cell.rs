//! Errors of single cells.

use super::flaw::Flaw;
use super::place::Place;
use super::whereabouts::Whereabouts;
use foretell_calendar::{TimeFlaw, readings::readings};
use foretell_messages::Setting;

/// A cell that is not what it should be.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CellError {
    /// A cell is not the number it should be.
    #[error("{at}, column `{column}`: {value:?} {}", unread_number(.value, *.flaw, .at))]
    #[strum(serialize = "bad_value")]
    Value {
        /// The row.
        at: Place,
        /// The column.
        column: String,
        /// The cell, cut short if long.
        value: String,
        /// The flaw of the cell.
        flaw: Flaw,
    },
    /// A series id is empty.
    #[error("{at}, column `{column}`: the id is empty; name the series")]
    EmptyId {
        /// The row.
        at: Place,
        /// The id column.
        column: String,
    },
    /// A series id that would be cut short, or take a file for text that is none.
    #[error(
        "{at}, column `{column}`: the id has a character of code 0 in it; save the file as text in UTF-8"
    )]
    NulInId {
        /// The row.
        at: Place,
        /// The id column.
        column: String,
    },
    /// A cell is not the time it should be.
    #[error("{at}, column `{column}`: {value:?} {}", unread_time(.value, **.why))]
    #[strum(serialize = "bad_time")]
    Time {
        /// The row.
        at: Place,
        /// The time column.
        column: String,
        /// The cell, cut short if long.
        value: String,
        /// The flaw of the time, and what to write.
        why: Box<TimeFlaw>,
    },
    /// A value that has no logarithm or power.
    #[error(
        "{table}, {at}, column `{column}`: {value} is not above zero, which the local scaler boxcox \
         needs; shift the column, or use another scaler"
    )]
    NotPositive {
        /// The series or table.
        table: String,
        /// The row, from 0.
        at: Place,
        /// The column.
        column: String,
        /// The value.
        value: f32,
    },
}

impl CellError {
    /// Where the mistake is.
    pub(super) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Value { at, column, .. }
            | Self::Time { at, column, .. }
            | Self::EmptyId { at, column }
            | Self::NulInId { at, column }
            | Self::NotPositive { at, column, .. } => Whereabouts::at(at).column(column),
        }
    }
}

/// The most characters of a text that may be a mark.
const MARK: usize = 10;

/// The flaw of a cell that should hold a number, with what its text may stand for.
fn unread_number(text: &str, flaw: Flaw, at: &Place) -> String {
    let is_mark = text.chars().count() <= MARK && !text.contains(|c: char| c.is_ascii_digit());
    match flaw {
        Flaw::Accompanied if text.starts_with('<') => format!(
            "is less than a number, and by how much is not said; say whether it is to be read as 0 ({}) or as missing ({})",
            Setting::Zeros.to(text),
            Setting::Missing.to(text)
        ),
        Flaw::Text if is_mark => format!(
            "{}, or, if it stands for a value that is not known, say so ({})",
            flaw.at(at),
            Setting::Missing.to(text)
        ),
        flaw => flaw.at(at),
    }
}

/// The flaw of a time, and the formats that would read it.
fn unread_time(text: &str, why: TimeFlaw) -> String {
    match readings(text) {
        None => why.to_string(),
        Some(readings) => why.with_readings(&readings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_may_stand_for_values_are_told_with_the_setting_that_reads_them() {
        let message = |value: &str, flaw: Flaw| {
            let (at, column, value) = (Place::row(3), "y".to_owned(), value.to_owned());
            CellError::Value { at, column, value, flaw }.to_string()
        };
        let less = message("<1", Flaw::Accompanied);
        assert!(
            less.contains("`ReadOptions::zeros = <1`") && less.contains("`ReadOptions::missing = <1`"),
            "{less}"
        );
        assert!(message("5 MW", Flaw::Accompanied).contains("a unit"));
        assert!(message("x", Flaw::Text).ends_with("say so (`ReadOptions::missing = x`)"));
        assert!(!message("a remark on this day", Flaw::Text).contains("missing"));
        assert!(!message("12:30", Flaw::Text).contains("missing"));
    }
}
