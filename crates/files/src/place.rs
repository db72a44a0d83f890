//! Places for files and directories: where links lead, the hidden names beside them, the owner of what they hold.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File, Metadata};
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Random characters at the end of a temporary name.
const RANDOM: usize = 6;

/// The place that a path leads to, which need not be there yet: links are followed, also one to nothing.
///
/// # Errors
/// If the directory that it would be in is not there, or links go in circles.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match path.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found.map(plain),
        }
        let parent = plain(parent_of(&path).canonicalize()?);
        let name = path.file_name().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the path does not end with a name")
        })?;
        let place = parent.join(name);
        match fs::read_link(&place) {
            Ok(target) => path = parent.join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many links that lead to each other"))
}

/// A path without the `\\?\` that Windows puts before one from a drive, which no one would know again in a message. Long paths need it, and get
/// it from the standard library.
fn plain(path: PathBuf) -> PathBuf {
    let rest = path.to_str().filter(|_| cfg!(windows)).and_then(|text| text.strip_prefix(r"\\?\"));
    match rest.filter(|rest| rest.as_bytes().get(1) == Some(&b':')) {
        Some(rest) => rest.into(),
        None => path,
    }
}

/// Whether the path leads through a process's open files, as `/dev/stdout` does.
pub(crate) fn is_open_file(path: &Path) -> bool {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let system = path.starts_with("/proc") || path.starts_with("/dev");
        if system && parent_of(&path).ends_with("fd") {
            return true;
        }
        match fs::read_link(&path) {
            Ok(target) => path = parent_of(&path).join(target),
            Err(_) => return false,
        }
    }
    false
}

/// The path's directory.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The hidden path beside a place that ends so.
pub(crate) fn sibling(place: &Path, ending: &str) -> PathBuf {
    parent_of(place).join(format!(".{}{ending}", stem(place)))
}

/// A builder of temporary names beside a place.
pub(crate) fn beside(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).rand_bytes(RANDOM);
    builder
}

/// How temporary names beside a place begin; `kind` is "new" or "old".
pub(crate) fn prefix(place: &Path, kind: &str) -> String {
    format!(".{}.{kind}-", stem(place))
}

/// The last part of the path. Of one that leaves no room for endings, the beginning and a number for the rest.
fn stem(place: &Path) -> String {
    const LONGEST: usize = 200;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    if name.len() <= LONGEST {
        return name.into_owned();
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    format!("{}{:016x}", &name[..name.floor_char_boundary(LONGEST - 16)], hasher.finish())
}

/// Temporary files and directories that killed processes left beside a place. No one else may be writing there.
pub(crate) fn leftovers(place: &Path, kind: &str) -> Vec<PathBuf> {
    let prefix = prefix(place, kind);
    let of_place = |name: &str| name.strip_prefix(&prefix).is_some_and(is_random);
    let Ok(entries) = fs::read_dir(parent_of(place)) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    paths.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(of_place)).collect()
}

/// Removes the temporary files that killed processes left beside a file. No one else may be writing to it.
pub fn remove_leftovers(file: &Path) {
    for path in leftovers(file, "new") {
        // What cannot be removed harms no one.
        let _ = fs::remove_file(path);
    }
}

/// Removes the temporary files in a directory that one process has for itself.
pub(crate) fn remove_leftovers_in(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.contains(".new-") && is_leftover(name).is_some()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The file that a hidden file of this name was left beside by a killed process, if it was.
pub fn is_leftover(name: &str) -> Option<&str> {
    let name = name.strip_prefix('.')?;
    name.strip_suffix(".lock")
        .or_else(|| name.rsplit_once(".new-").filter(|(_, end)| is_random(end)).map(|(file, _)| file))
}

fn is_random(end: &str) -> bool {
    end.len() == RANDOM && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Gives `new` the permissions of `old`, and its owner as far as the process may.
#[cfg(unix)]
pub(crate) fn keep_owner_and_mode(old: &Metadata, new: &Path) -> io::Result<()> {
    keep_owner(old, new);
    // Last, since a change of owner takes some permissions away.
    fs::set_permissions(new, old.permissions())
}

#[cfg(not(unix))]
pub(crate) fn keep_owner_and_mode(_: &Metadata, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives `new` the owner of `old`, as far as the process may: only root gives files away.
pub(crate) fn keep_owner(old: &Metadata, new: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, chown};
        if chown(new, Some(old.uid()), Some(old.gid())).is_err() {
            let _ = chown(new, None, Some(old.gid()));
        }
    }
    #[cfg(not(unix))]
    let _ = (old, new);
}

/// Temporary files are private by default; these become the user's files, so the umask decides.
pub(crate) fn ordinary_permissions(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (builder, mode);
}

/// Makes renames and new names in a directory survive a power cut (Windows has no such call).
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Whether a file system begins at the path, so that it cannot be renamed.
pub(crate) fn is_mount_point(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
        let attributes = statx(CWD, path, AtFlags::empty(), StatxFlags::empty());
        attributes.is_ok_and(|attributes| attributes.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_are_told_from_others() {
        assert_eq!(is_leftover(".a.csv.lock"), Some("a.csv"));
        assert_eq!(is_leftover(".a.csv.new-a1B2c3"), Some("a.csv"));
        for other in
            ["a.csv", "a.csv.lock", ".a.csv.new-abc", ".a.csv.new-abc.de", ".a.csv.new-abc-ef", ".lock"]
        {
            assert_eq!(is_leftover(other), None, "{other}");
        }
    }

    #[test]
    fn leftovers_of_one_place_are_not_those_of_another() {
        let home = tempfile::tempdir().unwrap();
        let names =
            [".m.new-abcdef", ".m.new-x.new-abcdef", ".m.new-abcdefg", ".n.new-abcdef", ".m.old-abcdef"];
        names.iter().for_each(|name| fs::write(home.path().join(name), "").unwrap());
        assert_eq!(leftovers(&home.path().join("m"), "new"), [home.path().join(names[0])]);
        remove_leftovers(&home.path().join("m"));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 4);
    }

    #[test]
    fn long_names_leave_room_for_endings() {
        let [a, b] = ["a", "b"].map(|end| PathBuf::from("ä".repeat(120) + end));
        assert!(sibling(&a, ".new-abcdef").file_name().unwrap().len() < 255);
        assert_ne!(sibling(&a, ""), sibling(&b, ""));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_places_that_need_not_be_there() {
        use std::os::unix::fs::symlink;
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir(home.join("dir")).unwrap();
        symlink("dir/new", home.join("link")).unwrap();
        symlink(home.join("link"), home.join("link of a link")).unwrap();
        assert_eq!(resolve(&home.join("link of a link")).unwrap(), home.join("dir/new"));
        symlink("nowhere/new", home.join("dangling")).unwrap();
        assert_eq!(resolve(&home.join("dangling")).unwrap_err().kind(), io::ErrorKind::NotFound);
        symlink("b", home.join("a")).unwrap();
        symlink("a", home.join("b")).unwrap();
        assert!(resolve(&home.join("a")).is_err());
        assert!(is_open_file(Path::new("/dev/stdout")) && is_open_file(Path::new("/proc/self/fd/1")));
        assert!(!is_open_file(&home.join("link")) && !is_open_file(Path::new("/proc")));
    }
}
