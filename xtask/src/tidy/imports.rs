//! Which file of a crate uses which: imports and paths, followed through re-exports to the file that defines the name.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    names::{Import, Named, Names},
    source::Source,
};

/// The modules of a crate that are files of their own, by their paths from the root; the root is the empty one. Files of
/// tests are none.
pub(super) struct Modules<'a> {
    files: BTreeMap<Vec<String>, File<'a>>,
}

struct File<'a> {
    source: &'a Source,
    names: Names,
}

/// One file uses another.
pub(super) struct Arrow<'a> {
    pub(super) source: &'a Source,
    pub(super) line: usize,
    pub(super) from: Vec<String>,
    pub(super) to: To,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// To this file.
    File(Vec<String>),
    /// To a name of the root that no file defines.
    Root(String),
}

/// Re-exports of re-exports; more of them are a circle of their own.
const MOST_RE_EXPORTS: usize = 16;

impl<'a> Modules<'a> {
    /// The modules below the folder `root`.
    pub(super) fn below(root: &str, sources: &'a [Source]) -> Self {
        let mut files = BTreeMap::new();
        for source in sources {
            if let Some(module) = module(root, &source.path) {
                files.insert(module, File { source, names: Names::of(&source.text) });
            }
        }
        let mut of_tests: BTreeSet<Vec<String>> = BTreeSet::new();
        for (module, file) in &files {
            of_tests.extend(file.names.test_modules.iter().map(|name| child(module, name)));
        }
        files.retain(|module, _| !(1..=module.len()).any(|n| of_tests.contains(&module[..n])));
        Self { files }
    }

    /// The modules at the top.
    pub(super) fn top(&self) -> BTreeSet<&str> {
        self.files.keys().filter_map(|module| Some(module.first()?.as_str())).collect()
    }

    /// The uses of other files by each file but the root.
    pub(super) fn arrows(&self) -> Vec<Arrow<'a>> {
        let mut arrows = Vec::new();
        for (module, File { source, names }) in &self.files {
            if module.is_empty() {
                continue;
            }
            let used = names.paths.iter().map(|named| (named, false));
            let imported = names.imports.iter().map(|import| {
                // A folder's file that re-exports an item of the folder, and does not name it itself, uses nothing of it.
                (&import.path, import.is_exported && !names.words.contains(&import.name))
            });
            for (Named { path, line }, hands_on) in used.chain(imported) {
                let Some(to) = self.from(module, path, 0) else { continue };
                let is_within = matches!(&to, To::File(file) if file.starts_with(module));
                if to != To::File(module.clone()) && !(hands_on && is_within) {
                    arrows.push(Arrow { source, line: *line, from: module.clone(), to });
                }
            }
        }
        arrows
    }

    /// Where a path that stands in this module leads; nowhere if it leaves the crate.
    fn from(&self, module: &[String], path: &[String], depth: usize) -> Option<To> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.at(&[], rest, depth),
            "self" => self.at(module, rest, depth),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                self.at(module.get(..module.len().checked_sub(ups)?)?, &path[ups..], depth)
            }
            // A module of this folder, or one that an import bound, whose path was seen with the import.
            _ => {
                self.files.get(module)?.names.modules.contains(first).then(|| self.at(module, path, depth))?
            }
        }
    }

    /// Where a path leads from inside a module.
    fn at(&self, module: &[String], path: &[String], depth: usize) -> Option<To> {
        let Some((first, rest)) = path.split_first() else { return Some(self.file(module)) };
        let inner = child(module, first);
        if self.has(&inner) {
            return self.at(&inner, rest, depth);
        }
        let Some(File { names, .. }) = self.files.get(module) else { return Some(self.named(module, first)) };
        if names.items.contains(first) || depth > MOST_RE_EXPORTS {
            return Some(self.named(module, first));
        }
        if let Some(Import { path, .. }) = names.imports.iter().find(|import| import.name == *first) {
            let path: Vec<String> = path.path.iter().chain(rest).cloned().collect();
            return self.from(module, &path, depth + 1);
        }
        // Among all that a module hands on.
        let mut all = names.imports.iter().filter(|import| import.name == "*").filter_map(|import| {
            let path: Vec<String> = import.path.path.iter().chain(path).cloned().collect();
            self.from(module, &path, depth + 1)
        });
        all.find(|to| self.defines(to, first)).or_else(|| Some(self.named(module, first)))
    }

    /// Whether it is a module, or a folder of some.
    fn has(&self, module: &[String]) -> bool {
        self.files.keys().any(|file| file.starts_with(module))
    }

    fn defines(&self, to: &To, name: &str) -> bool {
        matches!(to, To::File(file) if self.files.get(file).is_some_and(|file| file.names.items.contains(name)))
    }

    /// A name in this module.
    fn named(&self, module: &[String], name: &str) -> To {
        if !module.is_empty() {
            return self.file(module);
        }
        // Macros are the root's wherever they stand.
        let defines = |(_, file): &(&Vec<String>, &File<'_>)| file.names.macros.contains(name);
        match self.files.iter().find(defines) {
            Some((module, _)) if !module.is_empty() => self.file(module),
            _ => To::Root(name.to_owned()),
        }
    }

    fn file(&self, module: &[String]) -> To {
        if module.is_empty() { To::Root(String::new()) } else { To::File(module.to_vec()) }
    }
}

fn child(module: &[String], name: &str) -> Vec<String> {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The path of a file as a module, if it is code of that folder.
fn module(root: &str, path: &str) -> Option<Vec<String>> {
    let path = path.strip_prefix(root)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let is_test = path.ends_with("_tests") || path.ends_with("/tests");
    let parts = path.split('/').filter(|part| *part != "mod").map(str::to_owned);
    let is_root = path == "lib" || path == "main";
    (!is_test).then(|| if is_root { Vec::new() } else { parts.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arrows between files, as `from -> to`.
    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
        let arrows = Modules::below("crates/x/src", &sources).arrows();
        let shown = arrows.iter().map(|arrow| {
            let to = match &arrow.to {
                To::File(file) => file.join("/"),
                To::Root(name) => format!("root {name}"),
            };
            format!("{}:{} -> {to}", arrow.from.join("/"), arrow.line)
        });
        shown.collect()
    }

    #[test]
    fn a_name_leads_through_re_exports_to_the_file_that_defines_it() {
        let files = [
            (
                "lib.rs",
                "mod a;\nmod b;\npub use b::{B, deep::Deep as Renamed};\npub use other::Foreign;\nconst OWN: u8 = 0;",
            ),
            ("a.rs", "use crate::{B, Renamed, Foreign};\nfn f() { crate::OWN; }"),
            ("b/mod.rs", "mod deep;\nmod glob;\npub use deep::Deep;\npub use glob::*;\npub struct B;"),
            ("b/deep.rs", "pub struct Deep;"),
            ("b/glob.rs", "pub struct Wide;"),
            ("c.rs", "use crate::b::{Deep, Wide, Made};"),
        ];
        let expected =
            ["a:2 -> root OWN", "a:1 -> b", "a:1 -> b/deep", "c:1 -> b/deep", "c:1 -> b/glob", "c:1 -> b"];
        assert_eq!(arrows(&files), expected);
    }

    #[test]
    fn a_folder_uses_its_files_but_may_hand_them_on() {
        let files = [
            ("b/mod.rs", "mod low;\nuse low::Low;\npub(crate) use low::Shown;\nfn f() { low::f() }"),
            ("b/low.rs", "pub struct Low;\nuse super::super::a::A;\nuse super::B;"),
            ("a.rs", "pub struct A;"),
        ];
        assert_eq!(arrows(&files), ["b:4 -> b/low", "b:2 -> b/low", "b/low:2 -> a", "b/low:3 -> b"]);
    }

    #[test]
    fn files_of_tests_are_no_modules() {
        let files = [
            ("a.rs", "#[cfg(test)]\nmod checks;\npub struct A;"),
            ("a/checks.rs", "use crate::b::B;\nmod more;"),
            ("a/checks/more.rs", "use crate::b::B;"),
            ("a_tests.rs", "use crate::b::B;"),
            ("b.rs", "pub struct B;"),
        ];
        assert_eq!(arrows(&files), [""; 0]);
    }

    #[test]
    fn a_macro_is_in_its_file() {
        let files =
            [("lib.rs", "mod m;"), ("m.rs", "macro_rules! made { () => {} }"), ("a.rs", "crate::made!();")];
        assert_eq!(arrows(&files), ["a:1 -> m"]);
    }

    #[test]
    fn re_exports_in_a_circle_end() {
        let files =
            [("lib.rs", "mod a;\npub use a::A;"), ("a.rs", "pub use crate::A;"), ("b.rs", "use crate::A;")];
        assert_eq!(arrows(&files), ["b:1 -> a"]);
    }
}
