//! How errors are made, and what to do, where that depends on what was asked for.

use std::fmt;
use std::sync::Arc;

use super::DataError;
use crate::nearest::nearest;

impl DataError {
    pub(crate) fn missing_column<'a>(
        table: &Arc<str>,
        column: &str,
        available: impl Iterator<Item = &'a str> + Clone,
        remedy: &'static str,
    ) -> Self {
        Self::MissingColumn {
            table: table.clone(),
            column: column.to_owned(),
            nearest: nearest(column, available.clone()),
            available: available.map(str::to_owned).collect(),
            remedy,
        }
    }

    pub(crate) fn setting(name: &'static str, found: impl fmt::Display, expected: impl Into<String>) -> Self {
        Self::Setting { name, found: found.to_string(), expected: expected.into() }
    }

    /// The same where the frequency was that of trained models: nobody can set another.
    pub fn of_trained(mut self) -> Self {
        match &mut self {
            Self::Gap(gap) => gap.trained = true,
            Self::FreqKind { trained, .. } => *trained = true,
            _ => {}
        }
        self
    }
}

/// What makes room for a window to train on.
pub(super) fn no_windows_remedy(held_out: usize, [insample, outsample]: [usize; 2], padded: bool) -> String {
    let thresholds = outsample > 1 || padded && insample > 1;
    let remedies = [
        (true, "give more rows"),
        (held_out > 0, "hold out fewer (val_size; n_windows and step_size of a cross-validation)"),
        (!padded, "lower input_size, or set start_padding_enabled"),
        (thresholds, "lower training_data_availability_threshold"),
    ];
    let helpful: Vec<&str> =
        remedies.into_iter().filter(|(helps, _)| *helps).map(|(_, remedy)| remedy).collect();
    helpful.join(", or ")
}
