//! The folders of a crate stand on each other like crates do, and its files do not import in circles.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Violation,
    house::{FOLDERS, Folders},
    length::code_lines,
    source::Source,
};

/// What is wrong with the files of one crate.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    FOLDERS.iter().flat_map(|folders| check_crate(folders, sources)).collect()
}

fn check_crate(folders: &Folders, sources: &[Source]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let Some(module) = module(folders.source, &source.path) else { continue };
        let own =
            folders.from_the_ground_up.iter().position(|folder| Some(*folder) == module.first().copied());
        let Some(own) = own else { continue };
        for (i, line) in source.lines[..code_lines(&source.lines)].iter().enumerate() {
            for used in used_modules(&line.code, &module) {
                let below = folders.from_the_ground_up[..=own].contains(&used[0].as_str());
                if !below {
                    let what = format!("{} may not use `crate::{}`", module[0], used[0]);
                    let remedy = format!(
                        "it may use {}; move what it needs to one of these",
                        folders.from_the_ground_up[..=own].join(", ")
                    );
                    found.push(source.violation(i + 1, what, remedy));
                }
                arrows.entry(module.join("/")).or_default().insert(used.join("/"));
            }
        }
    }
    found.extend(circle(&arrows).map(|files| {
        let place = Source::new(folders.source, "");
        place.violation(
            1,
            format!("files import each other: {files}"),
            "move what they share to a file below",
        )
    }));
    found
}

/// The path of a file as a module, if it is code of that crate.
fn module<'a>(root: &str, path: &'a str) -> Option<Vec<&'a str>> {
    let path = path.strip_prefix(root)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let is_test = path.ends_with("_tests") || path.ends_with("/tests");
    (!is_test).then(|| path.split('/').filter(|part| *part != "mod").collect())
}

/// The modules that a line of code names by `crate::` or `super::`, each as folder and file.
fn used_modules(code: &str, module: &[&str]) -> Vec<Vec<String>> {
    let part =
        |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let is_module = |name: &String| name.starts_with(|c: char| c.is_lowercase());
    let from_root = code.match_indices("crate::").filter_map(|(at, found)| {
        let rest = &code[at + found.len()..];
        // `pub(in crate::x)` says who may look, not what is used.
        if code[..at].ends_with("(in ") {
            return None;
        }
        let first = part(rest);
        let second = rest[first.len()..].strip_prefix("::").map(part).filter(is_module);
        Some([Some(first), second].into_iter().flatten().filter(|name| !name.is_empty()).collect())
    });
    let from_folder = code.match_indices("super::").filter_map(|(at, found)| {
        let first = part(&code[at + found.len()..]);
        let folder = (*module.first()?).to_owned();
        (module.len() == 2 && is_module(&first)).then(|| vec![folder, first])
    });
    from_root.chain(from_folder).filter(|used: &Vec<String>| !used.is_empty()).collect()
}

/// The files that lie on a circle or between two, if there is one.
fn circle(arrows: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let mut left: BTreeSet<&str> = arrows.keys().map(String::as_str).collect();
    loop {
        let uses = |a: &str, b: &str| arrows.get(a).is_some_and(|used| used.contains(b));
        let (before, all) = (left.len(), left.clone());
        left.retain(|file| {
            let others = || all.iter().filter(|other| *other != file);
            others().any(|other| uses(file, other)) && others().any(|other| uses(other, file))
        });
        if left.len() == before {
            return (before > 0).then(|| left.into_iter().collect::<Vec<_>>().join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUSE: Folders = Folders { source: "crates/x/src", from_the_ground_up: &["words", "low", "high"] };

    fn broken(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
        check_crate(&HOUSE, &sources).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn a_folder_uses_itself_and_what_lies_below() {
        let high = ("high/a.rs", "use crate::low::b::B;\nuse super::c;\nuse crate::words::w;");
        assert_eq!(broken(&[high, ("low/b.rs", "use crate::words::w;")]), [""; 0]);
        assert_eq!(broken(&[("low/b.rs", "use crate::high::a::A;")]), ["low may not use `crate::high`"]);
        assert_eq!(broken(&[("low/b.rs", "fn f() -> crate::Root {}")]), ["low may not use `crate::Root`"]);
        assert_eq!(broken(&[("words.rs", "use crate::low::b::B;")]), ["words may not use `crate::low`"]);
    }

    #[test]
    fn tests_and_comments_may_name_anything() {
        let tests = "/// [`crate::Root`]\n#[cfg(test)]\nmod tests {\n    use crate::high::a::A;\n}\n";
        assert_eq!(broken(&[("low/b.rs", tests), ("low/b_tests.rs", "use crate::high::a::A;")]), [""; 0]);
    }

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let chain = [("low/a.rs", "use super::b::B;"), ("low/b.rs", "use super::c::C;"), ("low/c.rs", "")];
        assert_eq!(broken(&chain), [""; 0]);
        let circle = [chain[0], chain[1], ("low/c.rs", "use crate::low::a::A;")];
        assert_eq!(broken(&circle), ["files import each other: low/a, low/b, low/c"]);
    }

    #[test]
    fn every_crate_of_the_table_has_its_folders() {
        for Folders { source, from_the_ground_up } in FOLDERS {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source);
            for folder in *from_the_ground_up {
                assert!(
                    root.join(folder).is_dir() || root.join(format!("{folder}.rs")).is_file(),
                    "{folder}"
                );
            }
        }
    }
}
