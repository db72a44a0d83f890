//! A public type has a name of its own: no two files of the workspace define public types of the same name.

use std::collections::BTreeMap;

use super::{house::SHARED_TYPE_NAMES, source::Source, violation::Violation};

/// The public types of the workspace, found file by file.
#[derive(Default)]
pub(super) struct TypeNames {
    /// To the file and line of the first definition.
    defined: BTreeMap<String, (String, usize)>,
}

impl TypeNames {
    /// Takes in the definitions of a file; those whose name another file has taken are violations.
    pub(super) fn add(&mut self, source: &Source) -> Vec<Violation> {
        let mut violations = Vec::new();
        let lines = if source.is_test() { &[] } else { &source.lines[..] };
        for (i, line) in lines.iter().enumerate() {
            let Some(name) = public_type(&line.code).filter(|name| !SHARED_TYPE_NAMES.contains(name)) else {
                continue;
            };
            let here = || (source.path.clone(), i + 1);
            let (path, first) = self.defined.entry(name.to_owned()).or_insert_with(here);
            // One type may be defined twice in a file, each time for other features.
            if *path != source.path {
                let what = format!("public type `{name}` is defined in {path}:{first} too");
                violations.push(source.violation(
                    i + 1,
                    what,
                    "give one of them a name that says what it is of",
                ));
            }
        }
        violations
    }
}

/// The name of the public type that is defined in this line of code; none where a macro's caller names it.
fn public_type(code: &str) -> Option<&str> {
    let item = code.trim_start().strip_prefix("pub ")?;
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let (kind, rest) = item.split_once(' ')?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let is_type = matches!(kind, "struct" | "enum" | "union" | "trait" | "type") && !name.is_empty();
    is_type.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The violations of these files, read one after the other.
    fn broken(files: &[(&str, &str)]) -> Vec<String> {
        let mut names = TypeNames::default();
        let violations = files.iter().flat_map(|(path, text)| names.add(&Source::new(path, text)));
        violations.map(|v| format!("{}:{} {}", v.path, v.line, v.what)).collect()
    }

    #[test]
    fn a_name_that_two_files_define_is_found() {
        let kinds = [
            "pub struct Scale;",
            "pub enum Scale {}",
            "pub trait Scale {}",
            "pub unsafe trait Scale {}",
            "pub type Scale<T> = Vec<T>;",
            "mod a {\n    pub struct Scale<'a>(&'a u8);\n}",
        ];
        for kind in kinds {
            let line = kind.lines().position(|line| line.contains("Scale")).unwrap() + 1;
            let violations =
                broken(&[("crates/x/src/a.rs", "\npub struct Scale;"), ("crates/y/src/b.rs", kind)]);
            let what = "public type `Scale` is defined in crates/x/src/a.rs:2 too";
            assert_eq!(violations, [format!("crates/y/src/b.rs:{line} {what}")]);
        }
    }

    #[test]
    fn what_is_private_re_exported_of_tests_or_shared_is_not() {
        let other = [
            "struct Scale;",
            "pub(crate) struct Scale;",
            "pub use x::Scale;",
            "pub fn Scale() {}",
            "// pub struct Scale;",
            "pub struct Scales;",
            "pub type Result<T> = std::result::Result<T, u8>;",
        ];
        for other in other {
            let first = "pub struct Scale;\npub type Result<T> = std::result::Result<T, f32>;";
            assert_eq!(broken(&[("crates/x/src/a.rs", first), ("crates/y/src/b.rs", other)]), [""; 0]);
        }
        let both = [("crates/x/src/a.rs", "pub struct Scale;"), ("crates/y/tests/b.rs", "pub struct Scale;")];
        assert_eq!(broken(&both), [""; 0]);
        let named_by_callers = ["a", "b"].map(|file| format!("crates/x/src/{file}.rs"));
        let macros = [0, 1]
            .map(|i| (&*named_by_callers[i], "macro_rules! m {\n($name:ident) => {\npub struct $name;\n} }"));
        assert_eq!(broken(&macros), [""; 0]);
    }

    #[test]
    fn a_file_may_define_a_type_once_for_each_feature() {
        let text = "#[cfg(a)]\npub struct Scale;\n#[cfg(not(a))]\npub struct Scale;";
        assert_eq!(broken(&[("crates/x/src/a.rs", text)]), [""; 0]);
    }
}
