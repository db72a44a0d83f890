//! Crates that go to a registry: what their page there shows, and nothing that Cargo would refuse to package.

use cargo_metadata::{DependencyKind, Package, semver::VersionReq};

use super::{manifest, source::Source, violation::Violation};
use crate::package::is_published;

pub(super) fn check(package: &Package, members: &[Package], manifest: &Source) -> Vec<Violation> {
    if !is_published(package) {
        return Vec::new();
    }
    let directory = package.manifest_path.parent().expect("a manifest is in a directory");
    let exists = |file: &str| directory.join(file).is_file();
    let has_library = package.targets.iter().any(|target| target.is_lib());
    let shared = members.iter().any(|other| {
        other.name != package.name && !other.keywords.is_empty() && other.keywords == package.keywords
    });
    let wanted = [
        (package.repository.is_some(), "no repository", "write `repository.workspace = true`"),
        (
            package.documentation.is_some() || !has_library,
            "no documentation",
            "write `documentation = \"https://docs.rs/NAME\"`",
        ),
        (!package.keywords.is_empty() && !shared, "no keywords of its own", "say what it is searched for by"),
        (!package.categories.is_empty(), "no categories", "name some of https://crates.io/category_slugs"),
        (exists("README.md"), "no README.md", "say what it is for, with an example that is a test"),
        (
            exists("LICENSE-MIT") && exists("LICENSE-APACHE"),
            "no licence files",
            "link LICENSE-MIT and LICENSE-APACHE of the workspace",
        ),
    ];
    let broken = wanted.into_iter().filter(|(holds, ..)| !holds);
    let broken = broken.map(|(_, what, remedy)| manifest.violation(1, what, remedy));
    let unpublished = package.dependencies.iter().filter(|dependency| {
        let by_path_alone =
            dependency.kind == DependencyKind::Development && dependency.req == VersionReq::STAR;
        !by_path_alone && members.iter().any(|used| used.name == dependency.name && !is_published(used))
    });
    let unpublished = unpublished.map(|dependency| {
        let what = format!("{} is not published, so Cargo cannot package what needs it", dependency.name);
        let remedy = "make it a dev-dependency, with a path and no version in [workspace.dependencies]";
        manifest.violation(manifest::line_of(manifest, &dependency.name), what, remedy)
    });
    broken.chain(unpublished).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The violations of a package of ours after a change.
    fn violations(change: impl FnOnce(&mut Package)) -> Vec<String> {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().unwrap();
        let package = metadata.packages.iter().find(|package| package.name == "foretell-data");
        let mut package = package.unwrap().clone();
        change(&mut package);
        let manifest = Source::new("Cargo.toml", "");
        check(&package, &metadata.packages, &manifest).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn a_page_of_the_registry_shows_what_it_should() {
        assert_eq!(violations(|_| {}), [""; 0]);
        assert_eq!(violations(|package| package.repository = None), ["no repository"]);
        assert_eq!(violations(|package| package.documentation = None), ["no documentation"]);
        assert_eq!(violations(|package| package.keywords.clear()), ["no keywords of its own"]);
        let elsewhere = violations(|package| package.manifest_path = "nowhere/Cargo.toml".into());
        assert_eq!(elsewhere, ["no README.md", "no licence files"]);
    }

    #[test]
    fn what_is_not_published_is_needed_by_tests_alone_and_without_a_version() {
        let with = |change: fn(&mut cargo_metadata::Dependency)| {
            let fuzz = |package: &mut Package| {
                change(package.dependencies.iter_mut().find(|used| used.name == "foretell-fuzz").unwrap());
            };
            violations(fuzz)
        };
        let wrong = ["foretell-fuzz is not published, so Cargo cannot package what needs it"];
        assert_eq!(with(|fuzz| fuzz.req = VersionReq::parse("0.1.0").unwrap()), wrong);
        assert_eq!(with(|fuzz| fuzz.kind = DependencyKind::Normal), wrong);
    }
}
