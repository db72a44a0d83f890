//! Flaws of a cell or a row.

use std::fmt;

use super::place::Place;
use foretell_messages::Setting;

/// Short marks behind numbers, with commas between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    text: [u8; Self::MOST],
    len: u8,
}

impl Flags {
    const MOST: usize = 15;

    /// Those of this text, if it is short.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut bytes = [0; Self::MOST];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { text: bytes, len: text.len() as u8 })
    }

    /// Their text.
    pub fn text(&self) -> &str {
        str::from_utf8(&self.text[..self.len.into()]).unwrap_or_default()
    }
}

/// The flaw of a cell that should hold a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Empty, or a word for "no value" (`NaN`, `NA`, `null`, ...).
    Missing,
    /// Plus or minus infinity.
    Infinite,
    /// Beyond what a 32-bit float holds.
    TooLarge,
    /// A number with a comma before its decimals.
    DecimalComma,
    /// The same with three digits behind the comma, as where it stands between thousands.
    CommaOfThousands,
    /// A number with a point before its decimals, where a comma was announced.
    DecimalPoint,
    /// A number with marks between its thousands.
    Grouped,
    /// A dash alone.
    Dash,
    /// A number with something else beside it.
    Accompanied,
    /// A number, or a sign for none, with a flag behind it that says how it came about.
    Flagged(Flags),
    /// Anything else that is no number.
    Text,
    /// The same, in a further column, which may hold categories.
    Labelled,
    /// The same in a static column that has numbers in most cells.
    AmidNumbers,
    /// The same in a column of a table of forecasts that has numbers in other cells.
    AmidForecasts,
    /// A cell of a column whose type is neither of numbers nor of texts.
    Type,
    /// Not 0 or 1, in `available_mask`.
    Mask,
    /// Negative, in `sample_weight`.
    Negative,
    /// Neither text nor number nor truth value, in a column of categories.
    Label,
    /// Missing, in a table of what will be.
    Ahead,
    /// One label more than can be numbered.
    TooManyLabels,
    /// Missing, with no earlier value of its series to carry forward.
    NothingBefore,
    /// Missing, as are all values of its series.
    NothingKnown,
    /// Missing, as are all values of the table.
    NoneKnown,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => {
                return write!(
                    f,
                    "is missing; fill it in ({} does so on request), or add a column `available_mask` that is 0 in such rows",
                    Setting::Fill
                );
            }
            Self::Infinite => "is not finite; replace it by a number",
            Self::TooLarge => "is beyond a 32-bit float (about 3.4e38); rescale the column",
            Self::DecimalComma => {
                return write!(
                    f,
                    "has a decimal comma; say so ({}), or, if the comma is between thousands, {}",
                    Setting::Decimal.to(','),
                    Setting::Thousands.to(',')
                );
            }
            Self::CommaOfThousands => {
                return write!(
                    f,
                    "has a comma with three digits behind it; if it is between thousands, say so ({}), or, if it is before decimals, {}",
                    Setting::Thousands.to(','),
                    Setting::Decimal.to(',')
                );
            }
            Self::DecimalPoint => "has a decimal point, but the decimal comma was asked for",
            Self::Grouped => {
                return write!(
                    f,
                    "has marks between its thousands; name them ({}) and the mark before decimals ({})",
                    Setting::Thousands,
                    Setting::Decimal
                );
            }
            Self::Dash => {
                return write!(
                    f,
                    "is a dash, which stands for 0 in columns of accounts, and for a value that is not known in many others; say which \
                     it is here: {} or {}",
                    Setting::Zeros.to("-"),
                    Setting::Missing.to("-")
                );
            }
            Self::Flagged(flags) => {
                return write!(
                    f,
                    "is a number with a flag behind it; if flags only say how numbers came about, as provisional or estimated ones, list \
                     all of them, and the numbers are read without ({}); if not, write the number alone",
                    Setting::NumberFlags.to(flags.text())
                );
            }
            Self::Accompanied => {
                return write!(
                    f,
                    "is not a number alone: a flag, a unit, a factor or a comparison is in its cell, too; write the number without it, or, if all \
                     cells of its column are in this unit, name it as a mark to leave away ({})",
                    Setting::NumberFlags.to("kWh")
                );
            }
            Self::Text => "is not a number; write plain decimals such as 12.5 or 1e-3",
            Self::Labelled => {
                return write!(
                    f,
                    "is not a number but text; if the column holds categories, name it in {}, else write plain decimals such \
                     as 12.5 or 1e-3",
                    Setting::Categories
                );
            }
            Self::AmidNumbers => {
                return write!(
                    f,
                    "is not a number, as most other cells of its column are; if the column holds categories, as codes are, name it in {}, \
                     else write plain decimals such as 12.5 or 1e-3",
                    Setting::Categories
                );
            }
            Self::AmidForecasts => {
                "is not a number, as other cells of its column are; write plain decimals such as 12.5 or 1e-3, or leave the cell \
                 empty if the value is not known; if the column holds no numbers to read, remove it"
            }
            Self::Type => "is not a number; give the column a type of numbers",
            Self::Mask => "is not 0 or 1; `available_mask` is 1 where y is known, else 0",
            Self::Negative => "is negative; `sample_weight` must be 0 or more",
            Self::Label => "is no category; write texts in UTF-8, numbers or truth values",
            Self::Ahead => "is missing; write what it will be",
            Self::TooManyLabels => "is a category too many: there can be 16777216 in a column",
            Self::NothingBefore => {
                "is missing, and its series has no value before it to carry forward; drop the row, \
                 or fill by interpolate or zero"
            }
            Self::NoneKnown => {
                "is missing, as are all values of the table; name the column that holds values, or fill by zero"
            }
            Self::NothingKnown => {
                "is missing, as are all values of its series; leave the series out, or fill by zero"
            }
        })
    }
}

impl Flaw {
    /// The flaw of a cell at that place, and the remedy.
    pub(crate) fn at(self, place: &Place) -> String {
        match self {
            Self::Missing if place.in_slices() => {
                "is missing; fill it in (`PanelBuilder::fill` does so on request), or give an `available_mask` that \
                 is 0 in such rows"
                    .to_owned()
            }
            flaw => flaw.to_string(),
        }
    }
}
