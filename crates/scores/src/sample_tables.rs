//! Tables of sample paths, which are no forecasts to score or draw.

use foretell_tables::{Frame, SAMPLE_ID};

use crate::error::ScoresError;

/// Whether a column of numbers of paths holds those of several: one path is a forecast like any other.
pub(crate) fn are_several<T: PartialEq>(sample_ids: &[T]) -> bool {
    sample_ids.windows(2).any(|pair| pair[0] != pair[1])
}

/// Refuses sample paths, read back from `table`, where each series is expected to have one forecast of a time.
///
/// # Errors
/// [`ScoresError::SamplePaths`] if the frame holds several paths.
pub fn refuse_sample_paths(frame: &Frame, table: &str) -> Result<(), ScoresError> {
    match frame.column(SAMPLE_ID).is_some_and(are_several) {
        true => Err(ScoresError::SamplePaths { table: table.into() }),
        false => Ok(()),
    }
}
