//! The test programs of the workspace, as `cargo test --workspace` builds them.

use std::{
    collections::HashMap,
    io::BufReader,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use cargo_metadata::{Artifact, Message, MetadataCommand, Package, Target};

use crate::system::cargo;

/// One program of tests.
pub(crate) struct TestProgram {
    /// The package.
    pub(crate) package: String,
    /// The target: `lib`, or the name of a program, an integration test or an example.
    pub(crate) target: String,
    pub(crate) path: PathBuf,
    /// The folder of its package, where Cargo starts it.
    pub(crate) folder: PathBuf,
}

impl TestProgram {
    /// Its name among all programs: `foretell-cli it`.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.package, self.target)
    }

    /// Starts it as Cargo does.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// What the workspace is built as, by one selection of features.
pub(crate) struct Built {
    /// In the order in which Cargo ends building them.
    pub(crate) tests: Vec<TestProgram>,
    /// Programs that are no tests, by name.
    pub(crate) programs: HashMap<String, PathBuf>,
    /// Libraries for programs in other languages, by name.
    pub(crate) libraries: HashMap<String, PathBuf>,
}

/// All that `cargo test --workspace` builds, and the programs that no test starts, by one selection of features: what a dependency of
/// tests switches on (of tokio, getrandom, the tokenizers) holds for the programs too, which a `cargo build` of their own would build
/// anew, with 39 crates above it.
const ALL: [&str; 6] = ["build", "--workspace", "--lib", "--bins", "--tests", "--examples"];

/// Builds all programs, and all tests; where they have been built, nothing is built again.
pub(crate) fn build() -> anyhow::Result<Built> {
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let mut built = Built { tests: Vec::new(), programs: HashMap::new(), libraries: HashMap::new() };
    let mut command = cargo();
    command.args(ALL).arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut build = command.spawn().context("cannot start cargo")?;
    let output = build.stdout.take().expect("standard output is piped");
    for message in Message::parse_stream(BufReader::new(output)) {
        if let Message::CompilerArtifact(artifact) = message? {
            built.add(artifact, &metadata.packages)?;
        }
    }
    let status = build.wait()?;
    ensure!(status.success(), "`cargo {}` failed ({status})", ALL.join(" "));
    Ok(built)
}

/// What tells a target from the others of its package: `lib`, or its name.
pub(crate) fn target_name(target: &Target) -> &str {
    if target.is_lib() { "lib" } else { &target.name }
}

impl Built {
    fn add(&mut self, artifact: Artifact, packages: &[Package]) -> anyhow::Result<()> {
        let Some(package) = packages.iter().find(|package| package.id == artifact.package_id) else {
            return Ok(());
        };
        if artifact.target.is_cdylib()
            && let Some(library) = artifact.filenames.first()
        {
            self.libraries.insert(artifact.target.name, library.into());
        } else if let Some(path) = artifact.executable {
            if !artifact.profile.test {
                self.programs.insert(artifact.target.name, path.into());
                return Ok(());
            }
            let folder = package.manifest_path.parent().context("a manifest is in no folder")?;
            self.tests.push(TestProgram {
                package: package.name.to_string(),
                target: target_name(&artifact.target).to_owned(),
                path: path.into(),
                folder: folder.into(),
            });
        }
        Ok(())
    }
}
