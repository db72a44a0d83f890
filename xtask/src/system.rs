//! The machine, and the programs on it: a missing one is named with its package.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

/// A program that a chore uses where it is installed.
pub(crate) struct Tool {
    /// Its names, the best first.
    pub(crate) names: &'static [&'static str],
    /// The package to install, as Debian calls it.
    pub(crate) package: &'static str,
}

impl Tool {
    /// Where it is.
    pub(crate) fn find(&self) -> anyhow::Result<PathBuf> {
        let found = self.names.iter().find_map(|name| in_path(name));
        found.with_context(|| format!("`{}` is not installed; it is in {}", self.names[0], self.package))
    }
}

/// A program of this name in one of the folders of `PATH`.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Whether a program of this name answers when it is asked for its version.
pub(crate) fn is_installed(program: &str) -> bool {
    let mut asked = Command::new(program);
    asked.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}

/// Cargo as it runs this chore.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command to its end; returns its output.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let result = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !result.status.success() {
        let errors = String::from_utf8_lossy(&result.stderr);
        let last: Vec<&str> = errors.lines().rev().take(8).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        bail!("{command:?} failed ({}):\n{}", result.status, last.join("\n"));
    }
    Ok(String::from_utf8_lossy(&result.stdout).into_owned())
}

/// Runs a command to its end, its output being seen.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed ({status})");
    Ok(())
}

/// A number of `/proc/cpuinfo` or the like: the text after the colon of the first line that starts so.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.trim_start().starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Of what and where a report's measurements are: processor, cores, system, compiler, commit, date.
pub(crate) fn machine() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok();
    let processor = processor.and_then(|text| field(&text, "model name"));
    let processor = processor.unwrap_or_else(|| format!("an unnamed {} processor", env::consts::ARCH));
    let cores = cores();
    let compiler = output(Command::new("rustc").arg("--version")).unwrap_or_default();
    let (system, compiler) = (env::consts::OS, compiler.trim());
    format!("{processor}, {cores} threads, {system}, {compiler}, commit {}, {}", commit(), today())
}

/// The commit that is checked out, and whether files differ from it.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| output(Command::new("git").args(arguments));
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ":!docs", ":!benches/*.json"]);
    match (git(&["rev-parse", "--short=10", "HEAD"]), changed) {
        (Ok(commit), Ok(changed)) if changed.trim().is_empty() => commit.trim().to_owned(),
        (Ok(commit), _) => format!("{} with changes", commit.trim()),
        (Err(_), _) => "unknown".to_owned(),
    }
}

/// The hardware's threads.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The date of today in UTC, `2024-02-29`.
fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    date(since.map_or(0, |since| since.as_secs() / 86_400))
}

/// The date this many days after 1970-01-01.
fn date(mut days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The value in a file of JSON.
pub(crate) fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// Removes a folder, if it is there.
pub(crate) fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

/// An empty folder, in place of what an earlier run left there.
pub(crate) fn empty(folder: impl Into<PathBuf>) -> anyhow::Result<PathBuf> {
    let folder = folder.into();
    remove(&folder)?;
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The program `foretell`, built for release, or the one that was named.
pub(crate) fn foretell(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = named {
        ensure!(path.is_file(), "there is no program {}", path.display());
        return Ok(path.to_owned());
    }
    run(cargo().args(["build", "--release", "--package", "foretell-cli"]))?;
    Ok(target()?.join("release/foretell"))
}

/// The models of the zoo as a program knows them, with their kinds.
pub(crate) fn models(foretell: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let list = output(Command::new(foretell).args(["models", "--json"]))?;
    let list: Vec<Value> = serde_json::from_str(&list).context("`foretell models` printed no JSON")?;
    let text = |entry: &Value, key: &str| entry[key].as_str().map(str::to_owned);
    list.iter()
        .map(|entry| Some((text(entry, "name")?, text(entry, "kind")?)))
        .collect::<Option<_>>()
        .context("`foretell models` names no kind of a model")
}

/// Whether a window of the model holds all series.
pub(crate) fn is_multivariate(foretell: &Path, model: &str) -> anyhow::Result<bool> {
    let models = models(foretell)?;
    let listed = models.iter().find(|(name, _)| name == model);
    let (_, kind) = listed.with_context(|| format!("there is no model {model}"))?;
    Ok(kind.starts_with("multivariate"))
}

/// The target directory of the workspace.
pub(crate) fn target() -> anyhow::Result<PathBuf> {
    let metadata =
        cargo_metadata::MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    Ok(metadata.target_directory.into_std_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, expected) in
            [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_454, "2026-01-01")]
        {
            assert_eq!(date(days), expected);
        }
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let tool = Tool { names: &["foretell-no-such-program"], package: "no-such-package" };
        let message = tool.find().unwrap_err().to_string();
        assert_eq!(message, "`foretell-no-such-program` is not installed; it is in no-such-package");
        assert!(Tool { names: &["foretell-no-such-program", "cargo"], package: "cargo" }.find().is_ok());
    }

    #[test]
    fn a_command_that_fails_is_told_with_its_last_words() {
        let error = output(Command::new("rustc").arg("--no-such-flag")).unwrap_err().to_string();
        assert!(error.contains("no-such-flag") && error.contains("failed"), "{error}");
    }

    #[test]
    fn machines_are_read_from_their_description() {
        assert_eq!(field("model\t: 5\nmodel name\t: Abacus 3\n", "model name").as_deref(), Some("Abacus 3"));
        assert!(machine().contains("threads"), "{}", machine());
    }
}
