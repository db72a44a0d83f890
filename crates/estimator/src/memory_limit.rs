//! How much memory the work may take: what was set, or a share of what the machine has.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;

/// The most memory that the work may take, and where that figure comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    bytes: u64,
    origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Given,
    /// Three quarters of what the machine has.
    Machine(u64),
    /// Three quarters of what this control group may have.
    ControlGroup(u64, PathBuf),
    /// Three quarters of the addresses that this process may have.
    AddressSpace(u64),
    /// The system does not tell what it has.
    Unknown,
}

impl MemoryLimit {
    /// This many bytes.
    pub fn of_bytes(bytes: u64) -> Self {
        Self { bytes, origin: Origin::Given }
    }

    /// Three quarters of the memory of the machine, or of what its control group or the limit of its address space
    /// (`ulimit -v`) allows the process, where the system tells as Linux does; no limit elsewhere.
    pub fn of_machine() -> Self {
        Self::of_system(Path::new("/"))
    }

    fn of_system(root: &Path) -> Self {
        let quarters = |bytes: u64, origin| Self { bytes: bytes / 4 * 3, origin };
        let groups = control_groups(root).into_iter().filter_map(|path| Some((group_limit(&path)?, path)));
        let group = groups.min().map(|(bytes, path)| (bytes, Origin::ControlGroup(bytes, path)));
        let machine = machine_memory(root).map(|bytes| (bytes, Origin::Machine(bytes)));
        let addresses = address_space(root).map(|bytes| (bytes, Origin::AddressSpace(bytes)));
        // A group without a limit of its own has a number beyond all machines, or that of the machine, which comes first.
        let known = machine.map(|machine| [Some(machine), group, addresses]);
        let least = known.into_iter().flatten().flatten().min_by_key(|(bytes, _)| *bytes);
        least.map_or(Self { bytes: u64::MAX, origin: Origin::Unknown }, |(bytes, origin)| {
            quarters(bytes, origin)
        })
    }

    /// The limit.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Default for MemoryLimit {
    /// [`MemoryLimit::of_machine`].
    fn default() -> Self {
        Self::of_machine()
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = shown_bytes(self.bytes);
        match &self.origin {
            Origin::Given => write!(f, "{limit}, as set"),
            Origin::Machine(all) => {
                write!(f, "{limit}, three quarters of the {} of this machine", shown_bytes(*all))
            }
            Origin::ControlGroup(all, path) => {
                write!(
                    f,
                    "{limit}, three quarters of the {} of the control group {}",
                    shown_bytes(*all),
                    path.display()
                )
            }
            Origin::AddressSpace(all) => {
                write!(
                    f,
                    "{limit}, three quarters of the {} of addresses that this process may have",
                    shown_bytes(*all)
                )
            }
            Origin::Unknown => write!(f, "none"),
        }
    }
}

/// A number of bytes as people read it.
pub(crate) fn shown_bytes(bytes: u64) -> String {
    ByteSize(bytes).display().si().to_string()
}

/// The memory of the machine, as `/proc/meminfo` states it.
fn machine_memory(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The limit of the process's address space, if it has one.
fn address_space(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/self/limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The directories of the control groups that may limit the memory of this process: its own and those around it,
/// of both versions of control groups.
fn control_groups(root: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut groups = Vec::new();
    for line in text.lines() {
        // hierarchy:controllers:path
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let home = match controllers {
            "" => root.join("sys/fs/cgroup"),
            _ if controllers.split(',').any(|name| name == "memory") => root.join("sys/fs/cgroup/memory"),
            _ => continue,
        };
        let own = home.join(path.trim_start_matches('/'));
        groups.extend(own.ancestors().take_while(|path| path.starts_with(&home)).map(Path::to_owned));
    }
    groups
}

/// The memory that a control group allows, if it sets a limit.
fn group_limit(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse().ok();
    read("memory.max").or_else(|| read("memory.limit_in_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &[(&str, &str)]) -> MemoryLimit {
        let root = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        MemoryLimit::of_system(root.path())
    }

    #[test]
    fn the_limit_is_three_quarters_of_what_there_is() {
        const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\n");
        assert_eq!(system(&[]).bytes(), u64::MAX);
        let machine = system(&[MACHINE]);
        assert_eq!(machine.bytes(), 16_384_000_000 / 4 * 3);
        assert_eq!(machine.to_string(), "12.3 GB, three quarters of the 16.4 GB of this machine");

        // Version 2: the least of the process's group and those around it.
        let unlimited = ("sys/fs/cgroup/a/b/memory.max", "max\n");
        let version_2 = [MACHINE, ("proc/self/cgroup", "0::/a/b\n"), unlimited];
        assert_eq!(system(&version_2), machine);
        let around = ("sys/fs/cgroup/a/memory.max", "8000000000\n");
        let limited = system(&[&version_2[..], &[around]].concat());
        assert_eq!(limited.bytes(), 6_000_000_000);
        assert!(
            limited.to_string().starts_with("6.0 GB, three quarters of the 8.0 GB of the control group /")
        );
        let outside = ("sys/fs/cgroup/c/memory.max", "8000000000\n");
        assert_eq!(system(&[&version_2[..], &[outside]].concat()), machine);

        // Version 1, whose groups without a limit have a number too large for any machine; within a container the
        // path may be that of the host, which is not to be seen.
        let version_1 = ("proc/self/cgroup", "9:cpu:/x\n4:hugetlb,memory:/docker/1\n");
        let whole = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(system(&[MACHINE, version_1, whole]), machine);
        let container = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000000\n");
        assert_eq!(system(&[MACHINE, version_1, container]).bytes(), 3_000_000_000);

        // `ulimit -v`: the soft limit, before the hard one.
        const HEAD: &str = "Limit                     Soft Limit           Hard Limit           Units     \n";
        let addresses = |soft: &str| {
            let limits =
                format!("{HEAD}Max address space         {soft}           unlimited            bytes     \n");
            system(&[MACHINE, ("proc/self/limits", &limits)])
        };
        assert_eq!(addresses("unlimited"), machine);
        assert_eq!(addresses("2000000000").bytes(), 1_500_000_000);
        assert!(addresses("2000000000").to_string().contains("of the 2.0 GB of addresses"));
    }
}
