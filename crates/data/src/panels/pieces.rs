//! Series whose rows are in several files, as a file for each month has them, each file a piece after the other.

use std::sync::Arc;

use super::column::Column;
use super::constants::shown;
use super::panel::{Panel, Series};
use crate::error::DataError;
use crate::error::files::FilesError;
use foretell_tables::{ColumnError, FilePart};

/// The rows of a series in one file, and the number of the file.
pub(super) type Piece = (Series, usize);

/// Sorts pieces by series and time, and makes one series of those that follow each other. `like` has their frequency and zone; in
/// `statics` each piece has its place; `filled` is whether missing rows and values were filled in each file.
///
/// # Errors
/// Pieces of a series that do not follow each other, or were filled apart; a static column with two values.
pub(super) fn join_pieces(
    pieces: &mut [Piece],
    files: &[FilePart],
    like: &Panel,
    statics: &[Column],
    filled: bool,
) -> Result<Vec<Series>, DataError> {
    pieces.sort_by(|(one, _), (other, _)| (&one.id, one.first_time).cmp(&(&other.id, other.first_time)));
    let (mut series, mut start) = (Vec::<Series>::with_capacity(pieces.len()), 0);
    for (place, (piece, file)) in pieces.iter().enumerate() {
        match series.last_mut().filter(|before| before.id == piece.id) {
            None => {
                let reach = start + piece.len;
                series.push(Series { start, reach, ..piece.clone() });
            }
            Some(before) => {
                let apart = |why| apart(&piece.id, [pieces[place - 1].1, *file], files, why);
                if filled {
                    return Err(apart(
                        "and what is missing is filled, which needs all rows of a series at once",
                    ));
                }
                if !before.level.is_default() || !piece.level.is_default() {
                    return Err(apart(MORE_DIGITS));
                }
                let next = like.freq().next_in(like.zone(), before.first_time, before.len as i64);
                if next != Some(piece.first_time) {
                    return Err(apart("whose rows do not begin at the step after those of the first end"));
                }
                check_statics(statics, before, piece)?;
                before.len += piece.len;
                before.reach += piece.len;
            }
        }
        start += piece.len;
    }
    Ok(series)
}

/// Whether the series of several pieces have values that single precision can tell apart: which digits are held is decided for each
/// file.
pub(super) fn check_digits(panel: &Panel, pieces: &[Piece], files: &[FilePart]) -> Result<(), DataError> {
    for two in pieces.windows(2).filter(|two| two[0].0.id == two[1].0.id) {
        let [(piece, first), (_, second)] = two else { unreachable!("two at a time") };
        let series = panel.find(&piece.id).expect("each piece is of a series");
        // The pieces of a series are looked at once, by its first.
        if piece.first_time == panel.series[series].first_time && panel.is_coarse_series(series) {
            return Err(apart(&piece.id, [*first, *second], files, MORE_DIGITS));
        }
    }
    Ok(())
}

const MORE_DIGITS: &str =
    "and its values need more digits than single precision has, which are chosen by all its rows";

fn apart(id: &Arc<str>, of: [usize; 2], files: &[FilePart], why: &'static str) -> DataError {
    let [first, second] = of.map(|file| files[file].to_string());
    FilesError::Pieces { id: id.to_string(), first, second, why }.into()
}

/// Whether two pieces have the same static values.
fn check_statics(statics: &[Column], one: &Series, other: &Series) -> Result<(), DataError> {
    for column in statics {
        let Ok(values) = &column.values else { continue };
        let of_both = [one, other].map(|series| values[series.place]);
        if of_both[0] != of_both[1] {
            let (name, id) = (column.name.clone(), one.id.to_string());
            let [one, other] = of_both.map(|value| shown(column, value));
            return Err(ColumnError::NotConstant { column: name, id, one, other }.into());
        }
    }
    Ok(())
}
