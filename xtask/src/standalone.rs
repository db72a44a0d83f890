//! `cargo xtask standalone`: each crate as the only dependency of a program outside the workspace.
//!
//! Within the workspace Cargo unifies features, so that a crate which forgets to switch on what it needs is still
//! fast in our tests, and slow in a user's program. Here each program is built by itself.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::package::{cargo_outside, published};

/// A switch of one crate, and the constant or expression that says whether it is on.
struct Probe {
    package: &'static str,
    feature: &'static str,
    expression: &'static str,
}

const PROBES: &[Probe] = &[
    probe("foretell-simd", "simd", "foretell_simd::SIMD"),
    probe("foretell-gemm", "faer", "foretell_gemm::FAER"),
    probe("foretell-flash", "flash", "foretell_flash::FLASH"),
    probe("foretell-pool", "pool", "foretell_pool::POOLING"),
    probe("foretell-threads", "parallel", "foretell_threads::PARALLEL"),
    probe("foretell-nn", "amp", "foretell_nn::AMP"),
];

const fn probe(package: &'static str, feature: &'static str, expression: &'static str) -> Probe {
    Probe { package, feature, expression }
}

/// A program with one dependency, and nothing else but what looks at its features.
struct Program<'a> {
    package: &'a Package,
    default_features: bool,
    /// The crates of ours that it is built with.
    reached: HashSet<&'a str>,
}

pub(crate) fn run() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let programs = programs(&metadata);
    let directory = metadata.target_directory.join("standalone").into_std_path_buf();
    write_workspace(&directory, &metadata, &programs)?;
    for program in &programs {
        let name = program.name();
        println!("=== {name}");
        let status = cargo_outside(&metadata)
            .current_dir(&directory)
            .args(["run", "--quiet", "--package", &name])
            .env_remove("FORETELL_SIMD")
            .status()
            .context("cannot start cargo")?;
        ensure!(
            status.success(),
            "a program on {} alone is not built as it should be ({status})",
            program.package.name
        );
    }
    Ok(())
}

/// One for each library that users may depend on, with its default features; one for the facade without them.
fn programs(metadata: &Metadata) -> Vec<Program<'_>> {
    let packages = &metadata.packages;
    let has_library = |package: &&Package| package.targets.iter().any(|target| target.is_lib());
    let program = |package, default_features| {
        let mut reached = HashSet::new();
        reach(package, packages, &mut reached);
        Program { package, default_features, reached }
    };
    let libraries = published(metadata).filter(has_library);
    let facade = packages.iter().filter(|package| package.name == "foretell");
    libraries
        .map(|package| program(package, true))
        .chain(facade.map(|package| program(package, false)))
        .collect()
}

/// Adds a package and what it is built with, as far as it is ours.
fn reach<'a>(package: &'a Package, packages: &'a [Package], reached: &mut HashSet<&'a str>) {
    if reached.insert(&package.name) {
        let used = package.dependencies.iter().filter(|used| used.kind == DependencyKind::Normal);
        let used = used.filter_map(|used| packages.iter().find(|package| package.name == used.name));
        used.for_each(|used| reach(used, packages, reached));
    }
}

fn write_workspace(directory: &Path, metadata: &Metadata, programs: &[Program<'_>]) -> anyhow::Result<()> {
    let write = |path: PathBuf, text: String| {
        fs::create_dir_all(path.parent().expect("a file is in a directory"))
            .and_then(|()| fs::write(&path, text))
            .with_context(|| format!("cannot write {}", path.display()))
    };
    let names: Vec<String> = programs.iter().map(|program| format!("{:?}", program.name())).collect();
    let members = names.join(", ");
    write(directory.join("Cargo.toml"), format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n"))?;
    // The versions that are tested, without asking a registry.
    fs::copy(metadata.workspace_root.join("Cargo.lock"), directory.join("Cargo.lock"))
        .context("cannot copy Cargo.lock")?;
    for program in programs {
        write(directory.join(program.name()).join("Cargo.toml"), program.manifest(&metadata.packages))?;
        write(directory.join(program.name()).join("src/main.rs"), program.source())?;
    }
    Ok(())
}

impl Program<'_> {
    fn name(&self) -> String {
        let features = if self.default_features { "" } else { "-without-features" };
        format!("on-{}{features}", self.package.name)
    }

    fn probes(&self) -> impl Iterator<Item = &'static Probe> {
        PROBES.iter().filter(|probe| self.reached.contains(probe.package))
    }

    /// The probed packages are dependencies as well, without features, so that features they have are the crate's own doing.
    fn manifest(&self, packages: &[Package]) -> String {
        let dependency = |package: &Package, default_features: bool| {
            let path = package.manifest_path.parent().expect("a manifest is in a directory");
            format!("{} = {{ path = {path:?}, default-features = {default_features} }}\n", package.name)
        };
        let mut probed: Vec<&str> = self.probes().map(|probe| probe.package).collect();
        probed.retain(|name| *name != self.package.name.as_str());
        probed.dedup();
        let mut text = format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{}",
            self.name(),
            dependency(self.package, self.default_features)
        );
        for package in packages.iter().filter(|package| probed.contains(&package.name.as_str())) {
            text += &dependency(package, false);
        }
        text
    }

    fn source(&self) -> String {
        let mut text = format!("use {} as _;\n\nfn main() {{\n", self.package.name.replace('-', "_"));
        for Probe { package, feature, expression } in self.probes() {
            let expected = self.default_features;
            text +=
                &format!("    assert_eq!({expression}, {expected}, \"feature `{feature}` of {package}\");\n");
        }
        if self.reached.contains("foretell-simd") {
            text += "    let levels = foretell_simd::Level::available();\n";
            text += "    assert_eq!(Some(&foretell_simd::level()), levels.last());\n";
            text += "    println!(\"{}\", foretell_simd::level());\n";
        }
        text + "}\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_has_a_program_that_looks_at_what_it_is_built_with() {
        let metadata = MetadataCommand::new().no_deps().exec().unwrap();
        let programs = programs(&metadata);
        let find = |name: &str| programs.iter().find(|program| program.name() == name).unwrap();
        let source = find("on-foretell-nn").source();
        assert!(source.contains("assert_eq!(foretell_gemm::FAER, true"), "{source}");
        let manifest = find("on-foretell-nn").manifest(&metadata.packages);
        assert!(manifest.contains("crates/nn\", default-features = true"), "{manifest}");
        assert!(manifest.contains("crates/gemm\", default-features = false"), "{manifest}");
        assert!(find("on-foretell-optim").probes().all(|probe| probe.package != "foretell-gemm"));
        let source = find("on-foretell-without-features").source();
        assert!(source.contains("assert_eq!(foretell_pool::POOLING, false"), "{source}");
        assert!(programs.iter().all(|program| !program.name().contains("fuzz")));
    }

    #[test]
    fn every_probe_is_of_a_default_feature() {
        let metadata = MetadataCommand::new().no_deps().exec().unwrap();
        for probe in PROBES {
            let package = metadata.packages.iter().find(|package| package.name == probe.package).unwrap();
            assert!(package.features["default"].contains(&probe.feature.to_owned()), "{}", probe.package);
        }
    }
}
