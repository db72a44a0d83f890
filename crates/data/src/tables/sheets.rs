//! The sheets of a workbook of several, for messages about the one that was read.

use crate::setting::Setting;
use crate::wording::listed;

/// The sheet that was read, and those that were not.
#[derive(Clone, Debug)]
pub(crate) struct Sheets {
    pub(crate) read: String,
    pub(crate) others: Vec<String>,
}

impl Sheets {
    /// What an error about the sheet says of it.
    pub(crate) fn hint(&self) -> String {
        let Self { read, others } = self;
        format!(
            "this is its sheet `{read}`, beside {}; {} names that of the data, and of tables beside these the first is read",
            listed(others),
            Setting::Sheet
        )
    }
}
