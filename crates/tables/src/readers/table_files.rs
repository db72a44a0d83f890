//! The files that a path names: itself, all of a folder, or all that a pattern fits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf, is_separator};

use super::format::FileFormat;
use crate::error::TableError;
use crate::error::file::UnreadableTable;

/// The files of a table, in the order of their names: of a folder those of formats that are known, in folders within it as
/// well; of a pattern (`parts/*.parquet`, in which `*` and `?` stand for what is within a name, and `**` for any folders) those
/// that it fits; else the path itself. Names that begin with a dot or an underscore are passed over, unless they are given.
///
/// # Errors
/// A folder that cannot be read, or a folder or a pattern without any file.
pub fn table_files(path: impl AsRef<Path>) -> Result<Vec<PathBuf>, TableError> {
    let path = path.as_ref();
    let read = |source| TableError::Read { file: path.display().to_string().into(), source };
    let mut found = Vec::new();
    match path.to_str().filter(|text| text.contains(['*', '?'])) {
        _ if path.is_dir() => {
            files_within(path, &mut found).map_err(read)?;
            found.retain(|file| FileFormat::has_known_ending(file));
        }
        Some(pattern) if fs::symlink_metadata(path).is_err() => {
            let (base, rest) = fixed_part(pattern);
            let names: Vec<&str> = rest.split(is_separator).collect();
            files_that_fit(&base, &names, &mut found).map_err(read)?;
        }
        _ => return Ok(vec![path.to_owned()]),
    }
    found.sort();
    match found.is_empty() {
        true => Err(UnreadableTable::NoFiles { path: path.display().to_string() }.into()),
        false => Ok(found),
    }
}

/// The folders before the first name with a mark, and what follows.
fn fixed_part(pattern: &str) -> (PathBuf, &str) {
    let mark = pattern.find(['*', '?']).unwrap_or(pattern.len());
    match pattern[..mark].rfind(is_separator) {
        Some(slash) => (PathBuf::from(&pattern[..=slash]), &pattern[slash + 1..]),
        None => (PathBuf::from("."), pattern),
    }
}

/// The entries of a folder whose names say that they are no one's own.
fn entries(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with(['.', '_']) {
            let path = if folder == Path::new(".") { PathBuf::from(&name) } else { entry.path() };
            found.push((name, path));
        }
    }
    Ok(found)
}

fn files_within(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for (_, path) in entries(folder)? {
        // A link to a folder may lead back to one that holds it.
        match fs::symlink_metadata(&path)?.is_dir() {
            true => files_within(&path, found)?,
            false if path.is_file() => found.push(path),
            false => {}
        }
    }
    Ok(())
}

fn files_that_fit(folder: &Path, names: &[&str], found: &mut Vec<PathBuf>) -> io::Result<()> {
    let Some((name, rest)) = names.split_first() else { return Ok(()) };
    if *name == "**" {
        files_that_fit(folder, rest, found)?;
    }
    if !folder.is_dir() {
        return Ok(());
    }
    for (entry, path) in entries(folder)? {
        if *name == "**" {
            if fs::symlink_metadata(&path)?.is_dir() {
                files_that_fit(&path, names, found)?;
            }
        } else if fits(name.as_bytes(), entry.as_bytes()) {
            match rest.is_empty() {
                true if path.is_file() => found.push(path),
                true => {}
                false => files_that_fit(&path, rest, found)?,
            }
        }
    }
    Ok(())
}

/// Whether a pattern fits a name: `*` stands for any bytes, `?` for one.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|taken| fits(rest, &name[taken..])),
        (Some((b'?', pattern)), Some((_, name))) => fits(pattern, name),
        (Some((mark, pattern)), Some((byte, name))) => mark == byte && fits(pattern, name),
        _ => false,
    }
}

/// The columns that the folders of a file give, as Hive lays them out: `region=EU/part-0.parquet` has a column `region`.
pub(super) fn partition_columns(file: &Path) -> Vec<(String, String)> {
    let folders = file.parent().into_iter().flat_map(Path::components);
    let pairs = folders.filter_map(|folder| folder.as_os_str().to_str()?.split_once('='));
    let pairs = pairs.filter(|(name, _)| !name.is_empty());
    pairs
        .map(|(name, value)| (plain(name), if value == HIVE_NULL { String::new() } else { plain(value) }))
        .collect()
}

/// Hive's text for a missing value.
const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// A name without the codes that stand for what file names cannot hold: `%20` is a blank.
fn plain(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.first_chunk::<2>().filter(|_| byte == b'%');
        match code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok()) {
            Some(coded) => {
                bytes.push(coded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_are_files_in_the_order_of_their_names() {
        let home = tempfile::tempdir().unwrap();
        for file in
            ["b.csv", "a.csv", "_SUCCESS", ".a.csv.crc", "notes.md", "x=2/c.csv", "x=1/c.csv", "x=1/_c.csv"]
        {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |pattern: &str| {
            let files = table_files(home.path().join(pattern)).unwrap().into_iter();
            let names = files
                .map(|file| file.strip_prefix(home.path()).unwrap().to_str().unwrap().replace('\\', "/"));
            names.collect::<Vec<_>>()
        };
        assert_eq!(found(""), ["a.csv", "b.csv", "x=1/c.csv", "x=2/c.csv"]);
        assert_eq!(found("*.csv"), ["a.csv", "b.csv"]);
        assert_eq!(found("?.csv"), ["a.csv", "b.csv"]);
        assert_eq!(found("**/c.csv"), ["x=1/c.csv", "x=2/c.csv"]);
        assert_eq!(found("**/*.csv"), ["a.csv", "b.csv", "x=1/c.csv", "x=2/c.csv"]);
        assert_eq!(found("x=*/*"), ["x=1/c.csv", "x=2/c.csv"]);
        assert_eq!(found("nowhere.csv"), ["nowhere.csv"]);
        let error = table_files(home.path().join("*.parquet")).unwrap_err().to_string();
        assert!(error.contains("*.parquet: there is no file"), "{error}");
    }

    #[test]
    fn folders_of_hive_are_columns() {
        let columns = partition_columns(Path::new(
            "a/region=EU%20west/shop==7/x=__HIVE_DEFAULT_PARTITION__/part=0.csv",
        ));
        let expected = [("region", "EU west"), ("shop", "=7"), ("x", "")];
        assert_eq!(columns, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
