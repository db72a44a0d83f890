//! `.ci/proofs.toml`: what each step that takes long depends on, and the commit at which it last passed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};
use toml::de::{DeTable, DeValue};

use crate::system::output;

/// Where it is in the workspace.
pub(crate) const FILE: &str = ".ci/proofs.toml";

/// What shows that a step passed, or has to.
#[derive(Debug, PartialEq)]
pub(crate) struct Proof {
    /// The step.
    pub(crate) step: String,
    /// Files and folders of the workspace; `*` stands for any part of one name.
    pub(crate) paths: Vec<String>,
    /// Empty before it first passed.
    passed: String,
}

/// Whether a step has to run, and why.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Run(String),
    LeaveOut(String),
}

/// The proofs of the workspace.
pub(crate) struct Proofs {
    path: PathBuf,
    text: String,
    pub(crate) proofs: Vec<Proof>,
}

impl Proofs {
    /// Reads the file.
    pub(crate) fn read(workspace: &Path) -> anyhow::Result<Self> {
        let path = workspace.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let proofs = parse(&text).with_context(|| format!("{FILE} is not as expected"))?;
        Ok(Self { path, text, proofs })
    }

    /// Whether a step has to run: something that it depends on changed since it last passed.
    pub(crate) fn verdict(&self, step: &str) -> Verdict {
        let Some(proof) = self.proofs.iter().find(|proof| proof.step == step) else {
            return Verdict::Run("it depends on everything".to_owned());
        };
        if proof.passed.is_empty() {
            return Verdict::Run("it has not passed yet".to_owned());
        }
        match changed_since(&proof.passed) {
            Ok(files) => judge(proof, &files),
            Err(_) => Verdict::Run(format!("the commit {} is not known here", short(&proof.passed))),
        }
    }

    /// Writes that these steps passed at the commit that is checked out; says so.
    pub(crate) fn write_passed(&mut self, steps: &[&str]) -> anyhow::Result<String> {
        let changed = output(Command::new("git").args(["status", "--porcelain"]))?;
        if changed.lines().any(|line| !line.ends_with(FILE)) {
            return Ok(format!("{FILE} is as it was: there are changes that no commit has"));
        }
        let commit = output(Command::new("git").args(["rev-parse", "HEAD"]))?;
        for step in steps {
            self.text = with_commit(&self.text, step, commit.trim());
        }
        fs::write(&self.path, &self.text)?;
        Ok(format!("{FILE} says that {} passed at {}", steps.join(", "), short(commit.trim())))
    }
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// The files that differ from those of a commit, new ones included.
fn changed_since(commit: &str) -> anyhow::Result<Vec<String>> {
    let differing = output(Command::new("git").args(["diff", "--name-only", "--no-renames", commit]))?;
    let new = output(Command::new("git").args(["ls-files", "--others", "--exclude-standard"]))?;
    Ok(differing.lines().chain(new.lines()).map(str::to_owned).collect())
}

fn judge(proof: &Proof, files: &[String]) -> Verdict {
    let concerns = |file: &&String| proof.paths.iter().any(|path| covers(path, file));
    match files.iter().find(concerns) {
        Some(file) => Verdict::Run(format!("{file} changed since {}", short(&proof.passed))),
        None => {
            Verdict::LeaveOut(format!("nothing that it depends on changed since {}", short(&proof.passed)))
        }
    }
}

/// Whether a path, with `*` for any part of one name, is that of the file or of a folder above it.
pub(crate) fn covers(path: &str, file: &str) -> bool {
    let mut names = file.split('/');
    path.split('/').all(|pattern| names.next().is_some_and(|name| matches(pattern, name)))
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|i| rest.is_char_boundary(i) && matches(after, &rest[i..]))
        }),
    }
}

fn parse(text: &str) -> anyhow::Result<Vec<Proof>> {
    let document = DeTable::parse(text).map_err(|error| anyhow::anyhow!("{error}"))?;
    let mut proofs = Vec::new();
    for (step, entry) in document.get_ref() {
        let step = step.get_ref().to_string();
        let Some(entry) = entry.get_ref().as_table() else { bail!("`{step}` is no table") };
        let paths = match entry.get("paths").map(|paths| paths.get_ref()) {
            Some(DeValue::Array(paths)) if !paths.is_empty() => paths
                .iter()
                .map(|path| path.get_ref().as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .with_context(|| format!("paths of [{step}] are texts"))?,
            _ => bail!("[{step}] has no list of paths"),
        };
        let passed = entry.get("passed").and_then(|passed| passed.get_ref().as_str());
        let passed = passed.with_context(|| format!("[{step}] has no text `passed`"))?.to_owned();
        proofs.push(Proof { step, paths, passed });
    }
    Ok(proofs)
}

/// The text with another commit in the entry of a step.
fn with_commit(text: &str, step: &str, commit: &str) -> String {
    let (mut within, mut lines) = (false, Vec::new());
    for line in text.lines() {
        if line.starts_with('[') {
            within = line == format!("[{step}]");
        }
        match within && line.starts_with("passed = ") {
            true => lines.push(format!("passed = \"{commit}\"")),
            false => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(paths: &[&str]) -> Proof {
        let paths = paths.iter().map(|&path| path.to_owned()).collect();
        Proof { step: "x".to_owned(), paths, passed: "0123456789abcdef".to_owned() }
    }

    #[test]
    fn paths_cover_files_and_folders() {
        assert!(covers("python", "python/foretell/core.py"));
        assert!(covers("python/foretell/core.py", "python/foretell/core.py"));
        assert!(!covers("python", "pythons/core.py"));
        assert!(!covers("python/foretell/core.py", "python/foretell"));
        assert!(covers("crates/*/Cargo.toml", "crates/data/Cargo.toml"));
        assert!(covers("python/*/test_*.py", "python/tests/test_core.py"));
        assert!(!covers("crates/*/Cargo.toml", "crates/data/src/Cargo.toml"));
    }

    #[test]
    fn a_step_runs_for_what_it_depends_on() {
        let judged = |files: &[&str]| {
            let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
            judge(&proof(&["crates/gemm", "python"]), &files)
        };
        assert_eq!(
            judged(&["README.md", "crates/gemm/src/lib.rs"]),
            Verdict::Run("crates/gemm/src/lib.rs changed since 0123456789".to_owned())
        );
        let left_out = "nothing that it depends on changed since 0123456789".to_owned();
        assert_eq!(judged(&["README.md", "crates/data/src/lib.rs"]), Verdict::LeaveOut(left_out));
    }

    #[test]
    fn a_commit_is_written_into_its_entry() {
        let text = "# why\n[a]\npaths = [\"x\"]\npassed = \"\"\n\n[b]\npaths = [\"y\"]\npassed = \"1\"\n";
        let written = with_commit(text, "b", "2");
        assert_eq!(written, text.replace("\"1\"", "\"2\""));
        let proofs = parse(&written).unwrap();
        assert_eq!(
            proofs[1],
            Proof { step: "b".to_owned(), paths: vec!["y".to_owned()], passed: "2".to_owned() }
        );
    }

    #[test]
    fn an_entry_without_paths_or_commit_is_refused() {
        for (text, message) in [
            ("[a]\npassed = \"\"", "[a] has no list of paths"),
            ("[a]\npaths = [\"x\"]", "[a] has no text `passed`"),
            ("[a]\npaths = [1]\npassed = \"\"", "paths of [a] are texts"),
            ("a = 1", "`a` is no table"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }
}
