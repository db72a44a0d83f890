//! Strictness about parameter names and shapes.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::error::{CheckpointError, NameMismatch, Result};

/// Checks that exactly the `expected` tensors were `found`, each with its shape.
///
/// `place` says in the message where they were found: a file or a model.
///
/// # Errors
/// [`CheckpointError::Names`] with every missing and unexpected name and every wrong shape.
pub fn check_names<'a, 'b>(
    place: impl Display,
    expected: impl IntoIterator<Item = (&'a str, &'a [usize])>,
    found: impl IntoIterator<Item = (&'b str, &'b [usize])>,
) -> Result<()> {
    let mut found: BTreeMap<_, _> = found.into_iter().collect();
    let mut mismatch = NameMismatch::default();
    for (name, shape) in expected {
        match found.remove(name) {
            None => mismatch.missing.push(name.to_owned()),
            Some(other) if other != shape => {
                mismatch.shapes.push((name.to_owned(), shape.to_vec(), other.to_vec()));
            }
            Some(_) => {}
        }
    }
    mismatch.unexpected.extend(found.into_keys().map(str::to_owned));
    if mismatch == NameMismatch::default() {
        return Ok(());
    }
    Err(CheckpointError::Names { place: place.to_string(), mismatch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_all_that_differs() {
        let expected: [(&str, &[usize]); 3] = [("a", &[2]), ("b", &[3, 1]), ("c", &[])];
        check_names("here", expected, expected).unwrap();
        let found: [(&str, &[usize]); 3] = [("a", &[2]), ("b", &[1, 3]), ("d", &[])];
        let error = check_names("model `m`", expected, found).unwrap_err();
        let text = error.to_string();
        for part in ["model `m`", "missing: c", "unexpected: d", "b expected [3, 1] found [1, 3]"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
