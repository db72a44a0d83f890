//! The kinds of features.

use std::fmt::Debug;

use foretell_data::Panel;

use crate::rows::FeatureRows;

/// One feature with its arguments: some columns, and how they are computed.
pub(crate) trait Feature: Debug + Send + Sync {
    /// The names of its columns.
    fn columns(&self) -> Vec<String>;

    /// Whether it needs dates, though others of its name do not.
    fn needs_dates(&self) -> bool {
        false
    }

    /// A doubt about its columns on this panel and the `h` rows that follow each series, with what to do about it; `word` is the
    /// text of the feature.
    fn caveat(&self, word: &str, panel: &Panel, h: usize) -> Option<String> {
        _ = (word, panel, h);
        None
    }

    /// Computes the columns of one series, a slice of its rows for each.
    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]);
}
