//! A directory that is replaced as a whole.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, Result};
use crate::lock::Lock;
use crate::place::{
    beside, is_mount_point, keep_owner, keep_owner_and_mode, leftovers, ordinary_permissions, parent_of,
    prefix, resolve, sync_directory,
};
use crate::rename::{cannot_exchange, exchange, rename_directory, rename_to_free};
use crate::unfinished::Unfinished;

/// A place for a directory, which no other process writes to meanwhile.
#[derive(Debug)]
pub struct DirectoryPlace {
    /// The path as messages name it.
    path: PathBuf,
    /// Where links lead.
    place: PathBuf,
    /// Whether a file of this name may be deleted with the directory that it is in.
    is_own: fn(&OsStr) -> bool,
    lock: Option<Lock>,
    unfinished: Option<Unfinished>,
    /// The directories that were created for it, from the top.
    created: Vec<PathBuf>,
}

impl DirectoryPlace {
    /// Takes a path: creates the directories that it is in, locks it, and removes what killed processes left beside it.
    /// A directory that one of them moved aside is put back.
    ///
    /// Of directories that are replaced, files whose names are not of their own (`is_own`) are never deleted.
    ///
    /// # Errors
    /// If the path holds no directory, or one that cannot be replaced, or another process writes there.
    pub fn at(path: &Path, is_own: fn(&OsStr) -> bool) -> Result<Self> {
        let failed = || FileError::io("write", path);
        let created = make_parents(path).map_err(failed())?;
        let mut taken =
            Self { path: path.into(), place: PathBuf::new(), is_own, lock: None, unfinished: None, created };
        taken.place = resolve(path).map_err(failed())?;
        if taken.place.parent().is_none() || is_mount_point(&taken.place) {
            return Err(FileError::MountPoint { path: path.into() });
        }
        taken.lock = Some(Lock::beside(&taken.place).map_err(|error| match error {
            FileError::Busy { process, .. } => FileError::Busy { path: path.into(), process },
            FileError::Io { action, source, .. } => FileError::Io { action, path: path.into(), source },
            other => other,
        })?);
        taken.clean();
        let place = taken.place.clone();
        taken.unfinished = Some(Unfinished::new(move || remove_half_written(&place, is_own)));
        match fs::metadata(&taken.place) {
            Ok(metadata) if metadata.is_dir() => check_deletable(&taken.place).map_err(failed())?,
            Ok(_) => return Err(failed()(io::ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed()(error)),
        }
        Ok(taken)
    }

    /// The path as the caller wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where links lead.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Lets `fill` write files into a fresh directory beside the place, then exchanges the two in one step and deletes
    /// the old one. Its permissions and owner stay, and those of files of the same name.
    ///
    /// # Errors
    /// If that fails, for which the place stays unchanged.
    pub fn replace<E: From<FileError>>(&self, fill: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
        let failed = |error| E::from(FileError::io("write", &self.path)(error));
        let parent = parent_of(&self.place);
        let prefix = prefix(&self.place, "new");
        let mut builder = beside(&prefix);
        ordinary_permissions(&mut builder, 0o777);
        let staging = builder.tempdir_in(parent).map_err(failed)?;
        fill(staging.path())?;
        self.keep_owners(staging.path()).map_err(failed)?;
        sync_directory(staging.path()).map_err(failed)?;
        // From here on one of two names is that of the old directory, whose files are not this one's to delete.
        let staging = staging.keep();
        if let Err(error) = self.put(&staging) {
            self.delete(&staging);
            return Err(error.into());
        }
        sync_directory(parent).map_err(failed)?;
        match self.delete(&staging) {
            true => Ok(()),
            false => Err(FileError::Appeared { path: self.path.clone(), kept: staging }.into()),
        }
    }

    /// Gives the new directory the permissions and owner of the old one, if there is one.
    fn keep_owners(&self, new: &Path) -> io::Result<()> {
        let Ok(old) = fs::metadata(&self.place) else { return Ok(()) };
        for entry in fs::read_dir(new)? {
            let entry = entry?;
            match fs::symlink_metadata(self.place.join(entry.file_name())) {
                Ok(old) if old.is_file() => keep_owner_and_mode(&old, &entry.path())?,
                _ => keep_owner(&old, &entry.path()),
            }
        }
        keep_owner_and_mode(&old, new)
    }

    /// Gives the new directory its name; the old one, if there is one, is at its path afterwards.
    fn put(&self, new: &Path) -> Result<()> {
        if self.place.symlink_metadata().is_err() {
            return rename_to_free(new, &self.place).map_err(FileError::io("write", &self.path));
        }
        match exchange(new, &self.place) {
            Err(error) if cannot_exchange(&error) => self.put_by_two_renames(new),
            done => done.map_err(FileError::io("replace", &self.path)),
        }
    }

    /// For systems that cannot exchange names: should the process be killed between the renames, the old directory is
    /// in the hidden sibling `.{name}.old-*/previous`, from where the next one puts it back.
    fn put_by_two_renames(&self, new: &Path) -> Result<()> {
        let failed = || FileError::io("replace", &self.path);
        let prefix = prefix(&self.place, "old");
        let aside = beside(&prefix).tempdir_in(parent_of(&self.place)).map_err(failed())?.keep();
        let previous = aside.join(PREVIOUS);
        if let Err(error) = rename_directory(&self.place, &previous) {
            let _ = fs::remove_dir(&aside);
            return Err(failed()(error));
        }
        if let Err(source) = rename_directory(new, &self.place) {
            if rename_directory(&previous, &self.place).is_err() {
                return Err(FileError::Stranded { path: self.path.clone(), kept: previous, source });
            }
            let _ = fs::remove_dir(&aside);
            return Err(failed()(source));
        }
        // Where this fails, the next one deletes it.
        if fs::rename(&previous, new).is_ok() {
            let _ = fs::remove_dir(&aside);
        }
        Ok(())
    }

    /// Deletes what killed processes left beside the place, and puts back what they moved aside.
    fn clean(&self) {
        for aside in leftovers(&self.place, "old") {
            let previous = aside.join(PREVIOUS);
            if self.place.symlink_metadata().is_err() {
                let _ = fs::rename(&previous, &self.place);
            } else {
                self.delete(&previous);
            }
            let _ = fs::remove_dir(aside);
        }
        remove_half_written(&self.place, self.is_own);
    }

    fn delete(&self, directory: &Path) -> bool {
        delete(directory, self.is_own)
    }
}

impl Drop for DirectoryPlace {
    fn drop(&mut self) {
        self.lock = None;
        for directory in self.created.iter().rev() {
            // One that something was saved in is not empty, and stays.
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Deletes the directories that were to take the place's.
fn remove_half_written(place: &Path, is_own: fn(&OsStr) -> bool) {
    for half_written in leftovers(place, "new") {
        let _ = delete(&half_written, is_own);
    }
}

/// Deletes a directory and the files in it that are its own; whether nothing is left. What cannot be deleted harms
/// no one, and is tried again the next time.
fn delete(directory: &Path, is_own: fn(&OsStr) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return true };
    let mut foreign = false;
    for entry in entries.flatten() {
        match is_own(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            true => drop(fs::remove_file(entry.path())),
            false => foreign = true,
        }
    }
    let _ = fs::remove_dir(directory);
    !foreign
}

const PREVIOUS: &str = "previous";

/// Where a killed process left what was at the place, if it did.
pub(crate) fn moved_aside(place: &Path) -> Option<PathBuf> {
    leftovers(place, "old").into_iter().map(|aside| aside.join(PREVIOUS)).find(|previous| previous.is_dir())
}

/// Makes the directories that a path is in; those that were not there.
fn make_parents(path: &Path) -> io::Result<Vec<PathBuf>> {
    // A link that leads nowhere says where something is missing: nothing is created for it.
    if path.symlink_metadata().is_ok() {
        return Ok(Vec::new());
    }
    let missing =
        parent_of(path).ancestors().take_while(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    missing.reverse();
    fs::create_dir_all(parent_of(path))?;
    Ok(missing)
}

/// Whether the files of a directory may be deleted, as far as that can be told.
fn check_deletable(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        access(directory, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)?;
    }
    File::open(directory).map(drop).or_else(|error| if cfg!(unix) { Err(error) } else { Ok(()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entries;

    fn is_own(name: &OsStr) -> bool {
        name == "mark" || name == "more"
    }

    fn at(path: &Path) -> DirectoryPlace {
        DirectoryPlace::at(path, is_own).unwrap()
    }

    fn write_mark(mark: &str) -> impl FnOnce(&Path) -> Result<()> {
        move |dir| fs::write(dir.join("mark"), mark).map_err(FileError::io("write", dir))
    }

    fn mark(dir: &Path) -> String {
        fs::read_to_string(dir.join("mark")).unwrap()
    }

    #[test]
    fn it_appears_whole_and_is_exchanged_whole() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/er/model");
        drop(at(&path));
        assert!(entries(home.path()).is_empty(), "directories that were created for nothing are gone");
        at(&path).replace(write_mark("one")).unwrap();
        at(&path).replace(write_mark("two")).unwrap();
        assert_eq!(
            (mark(&path).as_str(), entries(path.parent().unwrap())),
            ("two", vec!["model".to_owned()])
        );
        let failed = at(&path).replace(|dir| {
            write_mark("three")(dir)?;
            fs::create_dir(dir.join("mark")).map_err(FileError::io("write", dir))
        });
        assert!(failed.is_err());
        assert_eq!(
            (mark(&path).as_str(), entries(path.parent().unwrap())),
            ("two", vec!["model".to_owned()])
        );
        let file = path.join("mark");
        assert!(DirectoryPlace::at(&file, is_own).is_err(), "a file is no place for a directory");
    }

    #[test]
    fn what_appears_in_it_meanwhile_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model");
        at(&path).replace(write_mark("one")).unwrap();
        let replaced = at(&path).replace(|dir| {
            fs::write(path.join("thesis.txt"), "years of work").unwrap();
            write_mark("two")(dir)
        });
        let Err(FileError::Appeared { kept, .. }) = replaced else { panic!("{replaced:?}") };
        assert_eq!((entries(&kept), mark(&path).as_str()), (vec!["thesis.txt".to_owned()], "two"));
        at(&path).replace(write_mark("three")).unwrap();
        assert_eq!(entries(&kept), ["thesis.txt"], "also the next time");
    }

    #[test]
    fn without_an_exchange_the_old_one_is_moved_aside_and_back() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model");
        let place = at(&path);
        place.replace(write_mark("one")).unwrap();
        assert!(place.put_by_two_renames(&home.path().join("absent")).is_err());
        assert_eq!(mark(&path), "one");
        let new = home.path().join("new");
        fs::create_dir(&new).unwrap();
        write_mark("two")(&new).unwrap();
        place.put_by_two_renames(&new).unwrap();
        assert_eq!((mark(&path).as_str(), mark(&new).as_str()), ("two", "one"));
        drop(place);
        assert_eq!(entries(home.path()), ["model", "new"]);

        // A kill between the two renames.
        let aside = home.path().join(".model.old-abcdef");
        fs::create_dir(&aside).unwrap();
        fs::rename(&path, aside.join(PREVIOUS)).unwrap();
        assert_eq!(moved_aside(&path), Some(aside.join(PREVIOUS)));
        drop(at(&path));
        assert_eq!((mark(&path).as_str(), entries(home.path())), ("two", vec!["model".into(), "new".into()]));
    }

    #[test]
    fn leftovers_of_killed_processes_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model");
        for name in [".model.new-abcdef", ".model.new-ABCDE0"] {
            fs::create_dir(home.path().join(name)).unwrap();
            write_mark("half")(&home.path().join(name)).unwrap();
        }
        fs::write(home.path().join(".model.lock"), "1").unwrap();
        at(&path).replace(write_mark("one")).unwrap();
        assert_eq!(entries(home.path()), ["model"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let chmod = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let home = tempfile::tempdir().unwrap();
        let (path, link) = (home.path().join("model"), home.path().join("link"));
        let created = home.path().join("created");
        fs::create_dir(&created).unwrap();
        at(&path).replace(write_mark("one")).unwrap();
        assert_eq!(mode(&path), mode(&created), "the umask decides on those of a new one");
        chmod(&path, 0o700);
        chmod(&path.join("mark"), 0o640);
        symlink("model", &link).unwrap();
        at(&link)
            .replace(|dir| {
                fs::write(dir.join("more"), "").unwrap();
                write_mark("two")(dir)
            })
            .unwrap();
        assert_eq!((mode(&path), mode(&path.join("mark")), mark(&path).as_str()), (0o700, 0o640, "two"));
        assert!(link.symlink_metadata().unwrap().is_symlink());

        symlink("other", home.path().join("dangling")).unwrap();
        at(&home.path().join("dangling")).replace(write_mark("three")).unwrap();
        assert_eq!(mark(&home.path().join("other")), "three");
        symlink("nowhere/other", home.path().join("lost")).unwrap();
        assert!(DirectoryPlace::at(&home.path().join("lost"), is_own).is_err());
        assert!(!home.path().join("nowhere").exists());
    }

    #[cfg(unix)]
    #[test]
    fn owners_stay_where_root_replaces_what_is_of_others() {
        use std::os::unix::fs::{MetadataExt as _, chown};
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model");
        at(&path).replace(write_mark("one")).unwrap();
        if chown(&path, Some(1234), Some(1235)).is_err()
            || chown(path.join("mark"), Some(1236), None).is_err()
        {
            eprintln!("skipped: only root gives files away");
            return;
        }
        let fill = |dir: &Path| {
            fs::write(dir.join("more"), "").map_err(FileError::io("write", dir))?;
            write_mark("two")(dir)
        };
        at(&path).replace(fill).unwrap();
        let owner = |path: &Path| fs::metadata(path).map(|found| (found.uid(), found.gid())).unwrap();
        assert_eq!(owner(&path), (1234, 1235));
        assert_eq!([owner(&path.join("mark")).0, owner(&path.join("more")).0], [1236, 1234]);
        assert_eq!(mark(&path), "two");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn mount_points_are_refused_beforehand() {
        let error = DirectoryPlace::at(Path::new("/proc"), is_own).unwrap_err();
        assert!(matches!(error, FileError::MountPoint { .. }), "{error}");
        assert!(DirectoryPlace::at(Path::new("/"), is_own).is_err());
    }
}
