//! The sheets of a workbook of several, for messages about the one that was read.

use foretell_messages::{Setting, listed};

/// The sheet that was read, and those that were not.
#[derive(Clone, Debug)]
pub struct Sheets {
    /// The name of the sheet that was read.
    pub read: String,
    /// The names of the others.
    pub others: Vec<String>,
}

impl Sheets {
    /// What an error about the sheet says of it.
    pub fn hint(&self) -> String {
        let Self { read, others } = self;
        format!(
            "this is its sheet `{read}`, beside {}; {} names that of the data, and of tables beside these the first is read",
            listed(others),
            Setting::Sheet
        )
    }
}
