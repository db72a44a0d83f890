//! Helpers that the tests of several files share.

use std::fs;
use std::path::Path;

/// The names in a directory, sorted.
pub(crate) fn entries(directory: &Path) -> Vec<String> {
    let names =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
