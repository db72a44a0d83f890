//! Steps that run by change forget nothing: what they depend on is there, and code for a feature that is off is in the step that
//! builds it.

use std::{fs, path::Path};

use super::{source::Source, violation::Violation};
use crate::proofs::{FILE, Proofs, covers};

/// The step that builds what features change without them.
const PLAIN: &str = "plain";

/// The violations of `.ci/proofs.toml`.
pub(super) fn check(root: &Path, sources: &[Source]) -> anyhow::Result<Vec<Violation>> {
    let proofs = Proofs::read(root)?;
    let file = Source::read(root, &root.join(FILE))?;
    let mut violations = Vec::new();
    for proof in &proofs.proofs {
        for path in &proof.paths {
            if !exists(root, path) {
                let line =
                    file.text.lines().position(|line| line.contains(path.as_str())).map_or(1, |at| at + 1);
                let what = format!("the step {} depends on `{path}`, which is not there", proof.step);
                violations.push(file.violation(line, what, "name what it depends on now"));
            }
        }
    }
    let plain = proofs.proofs.iter().filter(|proof| proof.step == PLAIN);
    let plain: Vec<&String> = plain.flat_map(|proof| &proof.paths).collect();
    violations.extend(sources.iter().filter_map(|source| forgotten(source, &plain)));
    Ok(violations)
}

/// A file of a library that has code for a feature and is in no path of the step that builds without features.
fn forgotten(source: &Source, plain: &[&String]) -> Option<Violation> {
    let in_library = source.path.starts_with("crates/") && source.path.contains("/src/") && !source.is_test();
    let line = source.text.lines().position(|line| line.contains("cfg") && line.contains("feature = \""))?;
    let covered = plain.iter().any(|path| covers(path, &source.path));
    (in_library && !covered).then(|| {
        let remedy = format!("name it in [{PLAIN}] of {FILE}, and its crate in the step's tests");
        source.violation(line + 1, "has code for a feature, and no step runs for it", remedy)
    })
}

/// Whether there is something that a path with `*` names.
fn exists(root: &Path, path: &str) -> bool {
    let Some((folder, rest)) = path.split_once("/*") else { return root.join(path).exists() };
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return false };
    let rest = rest.split_once('/').map_or("", |(_, rest)| rest);
    entries.flatten().any(|entry| entry.path().join(rest).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_for_a_feature_belongs_to_the_step_that_builds_without() {
        let text = "fn a() {}\n#[cfg(feature = \"simd\")]\nfn b() {}\n";
        let paths = ["crates/simd".to_owned(), "crates/nn/src/amp.rs".to_owned()];
        let plain: Vec<&String> = paths.iter().collect();
        let line = |path| forgotten(&Source::new(path, text), &plain).map(|violation| violation.line);
        assert_eq!(line("crates/gemm/src/lib.rs"), Some(2));
        assert_eq!(line("crates/nn/src/lib.rs"), Some(2));
        assert_eq!(line("crates/nn/src/amp.rs"), None);
        assert_eq!(line("crates/simd/src/level.rs"), None);
        assert_eq!(line("crates/gemm/src/tests/mod.rs"), None);
    }

    #[test]
    fn paths_are_looked_for() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(exists(root, "src/tidy") && exists(root, "src/*/proofs.rs"));
        assert!(!exists(root, "src/no") && !exists(root, "src/*/no.rs"));
    }
}
