//! The names in a file of Rust: the modules that it declares, the items that it defines, and the paths that it names.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// The names of one file. Names that are compiled for tests only are left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Modules in files of their own, as `mod x;` declares them.
    pub(super) modules: BTreeSet<String>,
    /// The modules among these that are compiled for tests only.
    pub(super) test_modules: BTreeSet<String>,
    /// Items, and modules within braces.
    pub(super) items: BTreeSet<String>,
    /// Macros, which the root of the crate may have as its own.
    pub(super) macros: BTreeSet<String>,
    /// `use` of the file's own scope: they bind names that others may import from here.
    pub(super) imports: Vec<Import>,
    /// Paths anywhere else, `use` within functions among them.
    pub(super) paths: Vec<Named>,
    /// All words beside those of imports.
    pub(super) words: BTreeSet<String>,
}

/// One name that a `use` binds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The name; `*` for all that the path has.
    pub(super) name: String,
    pub(super) path: Named,
    /// Whether other modules see it.
    pub(super) is_exported: bool,
}

/// A path of two parts or more, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

impl Names {
    /// # Panics
    /// If the text is no Rust; it was read as Rust before.
    pub(super) fn of(text: &str) -> Self {
        let mut names = Self::default();
        let tokens = TokenStream::from_str(text).expect("a source is Rust");
        names.scope(tokens, &Place { is_module: true, inside: Vec::new() });
        names
    }

    /// Reads the tokens between two braces, or those of the whole file.
    fn scope(&mut self, tokens: TokenStream, place: &Place) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut at, mut is_exported, mut is_test) = (0, false, false);
        while at < tokens.len() {
            let next = tokens.get(at + 1);
            match &tokens[at] {
                TokenTree::Punct(hash) if hash.as_char() == '#' && bracketed(next).is_some() => {
                    let attribute = bracketed(next).expect("it was one");
                    is_test |= is_of_tests(attribute);
                    self.scope(attribute.stream(), &place.within_item());
                    at += 2;
                    continue;
                }
                TokenTree::Ident(word) if word == "pub" => {
                    let limited = matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                    is_exported = true;
                    at += if limited { 2 } else { 1 };
                    continue;
                }
                TokenTree::Ident(word) if is_test => {
                    if word == "mod"
                        && let Some(TokenTree::Ident(name)) = next
                        && is_punct(tokens.get(at + 2), ';')
                        && place.is_file()
                    {
                        self.test_modules.insert(name.to_string());
                    }
                    at = end_of_item(&tokens, at);
                }
                TokenTree::Ident(word) if word == "use" && !is_punct(next, '<') => {
                    let end =
                        (at..tokens.len()).find(|&i| is_punct(tokens.get(i), ';')).unwrap_or(tokens.len());
                    let mut trees = Vec::new();
                    use_trees(&tokens[at + 1..end], &mut Vec::new(), &mut trees);
                    for (name, path) in trees {
                        let path = Named { path: place.path_from_file(path), line: word.span().start().line };
                        match place.is_file() {
                            true => self.imports.push(Import { name, path, is_exported }),
                            false => self.paths.push(path),
                        }
                    }
                    at = end;
                }
                TokenTree::Ident(word) if word == "mod" && matches!(next, Some(TokenTree::Ident(_))) => {
                    let Some(TokenTree::Ident(name)) = next else { unreachable!("it is one") };
                    match tokens.get(at + 2) {
                        Some(TokenTree::Group(body)) => {
                            self.define(name, place);
                            self.scope(body.stream(), &place.within_module(name));
                        }
                        _ if place.is_file() => _ = self.modules.insert(name.to_string()),
                        _ => {}
                    }
                    at += 2;
                }
                TokenTree::Ident(word) => {
                    self.words.insert(word.to_string());
                    match next {
                        // `const fn` is a function.
                        Some(TokenTree::Ident(name)) if is_item(word) && !is_item(name) => {
                            let name = if name == "mut" { tokens.get(at + 2) } else { next };
                            if let Some(TokenTree::Ident(name)) = name {
                                self.define(name, place);
                            }
                        }
                        Some(TokenTree::Punct(_)) if word == "macro_rules" => {
                            if let Some(TokenTree::Ident(name)) = tokens.get(at + 2) {
                                self.define(name, place);
                                self.macros.insert(name.to_string());
                            }
                        }
                        _ => {}
                    }
                    let path = path(&tokens[at..]);
                    if path.len() > 1 {
                        self.words.extend(path.iter().cloned());
                        // Two colons between two parts.
                        at += 3 * (path.len() - 1);
                        let line = word.span().start().line;
                        self.paths.push(Named { path: place.path_from_file(path), line });
                    }
                }
                TokenTree::Group(group) => self.scope(group.stream(), &place.within_item()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            (is_exported, is_test) = (false, false);
            at += 1;
        }
    }

    fn define(&mut self, name: &Ident, place: &Place) {
        if place.is_file() {
            self.items.insert(name.to_string());
        }
    }
}

/// Words before the name of an item.
const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "static", "const", "union"];

fn is_item(word: &Ident) -> bool {
    ITEMS.iter().any(|item| word == item)
}

/// Where tokens stand.
struct Place {
    /// Whether they are items of a module.
    is_module: bool,
    /// The modules within braces around them.
    inside: Vec<String>,
}

impl Place {
    /// Whether a name that is bound here is one of the file's module.
    fn is_file(&self) -> bool {
        self.is_module && self.inside.is_empty()
    }

    fn within_item(&self) -> Self {
        Self { is_module: false, inside: self.inside.clone() }
    }

    fn within_module(&self, name: &Ident) -> Self {
        let inside = self.inside.iter().cloned().chain([name.to_string()]).collect();
        Self { is_module: self.is_module, inside }
    }

    /// A path as one would write it outside of the modules within braces.
    fn path_from_file(&self, path: Vec<String>) -> Vec<String> {
        if self.inside.is_empty() || !["self", "super"].contains(&path[0].as_str()) {
            return path;
        }
        let mut from = self.inside.clone();
        let mut rest = &path[..];
        while let [first, others @ ..] = rest
            && first == "super"
            && !from.is_empty()
        {
            from.pop();
            rest = others;
        }
        if rest.first().is_some_and(|first| first == "super") {
            return rest.to_vec();
        }
        let rest = rest.iter().filter(|part| *part != "self").cloned();
        std::iter::once("self".to_owned()).chain(from).chain(rest).collect()
    }
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn bracketed(token: Option<&TokenTree>) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => Some(group),
        _ => None,
    }
}

/// Whether an attribute keeps an item for tests: `cfg(test)`, also among other conditions, but not where there are none.
fn is_of_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    let condition = text.strip_prefix("cfg(").unwrap_or_default();
    let words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.clone().any(|word| word == "test") && !words.clone().any(|word| word == "not" || word == "any")
}

/// The last token of the item that begins here.
fn end_of_item(tokens: &[TokenTree], from: usize) -> usize {
    let ends = |i: usize| match &tokens[i] {
        TokenTree::Punct(sign) => [';', ','].contains(&sign.as_char()),
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !is_import(&tokens[from]),
        _ => false,
    };
    (from..tokens.len()).find(|&i| ends(i)).unwrap_or(tokens.len())
}

fn is_import(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(word) if word == "use")
}

/// The parts of the path that begins here, as long as they are words.
fn path(tokens: &[TokenTree]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(TokenTree::Ident(part)) = tokens.get(at) {
        parts.push(part.to_string());
        if !(is_punct(tokens.get(at + 1), ':') && is_punct(tokens.get(at + 2), ':')) {
            break;
        }
        at += 3;
    }
    parts
}

/// The names that a `use` binds, with their paths.
fn use_trees(tokens: &[TokenTree], before: &mut Vec<String>, bindings: &mut Vec<(String, Vec<String>)>) {
    for tree in tokens.split(|token| is_punct(Some(token), ',')) {
        let depth = before.len();
        let mut name = None;
        let mut rest = tree;
        while let [first, others @ ..] = rest {
            match first {
                TokenTree::Ident(word) if word == "as" => {
                    name = others.first().map(|token| token.to_string());
                    break;
                }
                TokenTree::Ident(word) => before.push(word.to_string()),
                TokenTree::Punct(sign) if sign.as_char() == '*' => name = Some("*".to_owned()),
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    use_trees(&inner, before, bindings);
                    before.truncate(depth);
                    break;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            rest = others;
        }
        if before.len() > depth || name.is_some() {
            // `x::{self}` is `x`.
            let is_self = before.len() > 1 && before.last().is_some_and(|last| last == "self");
            let path: Vec<String> = before[..before.len() - usize::from(is_self)].to_vec();
            let last = path.last().cloned().unwrap_or_default();
            bindings.push((name.unwrap_or(last), path));
        }
        before.truncate(depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn paths(text: &str) -> Vec<String> {
        Names::of(text)
            .paths
            .iter()
            .map(|named| format!("{} {}", named.line, named.path.join("::")))
            .collect()
    }

    fn imports(text: &str) -> Vec<String> {
        let imports = Names::of(text).imports;
        imports.iter().map(|import| format!("{} = {}", import.name, import.path.path.join("::"))).collect()
    }

    #[test]
    fn items_and_modules_are_those_of_the_file() {
        let text = "mod a;\npub(crate) mod b;\nmod c { fn inner() {} }\nconst fn f() { struct Local; }\n\
                    pub unsafe extern \"C\" fn g() {}\nstatic mut S: u8 = 0;\nmacro_rules! m { () => {} }\n\
                    impl X { fn method() {} }";
        let names = Names::of(text);
        assert_eq!(names.modules, set(&["a", "b"]));
        assert_eq!(names.items, set(&["c", "f", "g", "S", "m"]));
    }

    #[test]
    fn what_is_for_tests_is_left_out() {
        let text = "#[cfg(test)]\nmod tests { use crate::a::A; }\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod x;\n\
                    #[cfg(all(test, feature = \"f\"))]\nuse crate::{b, c};\n#[cfg(test)]\nfn f() { crate::a::a() }\n\
                    fn g() { crate::d::d() }\n#[cfg(not(test))]\nuse crate::e;";
        let names = Names::of(text);
        assert_eq!((names.modules, names.test_modules), (set(&[]), set(&["x"])));
        assert_eq!(paths(text), ["10 crate::d::d"]);
        assert_eq!(imports(text), ["e = crate::e"]);
    }

    #[test]
    fn imports_are_bound_by_their_last_part_or_another_name() {
        let text = "use crate::{a::{self, A as B}, c, d::*};\npub(crate) use super::e::E;\nuse f::g;";
        let expected = [
            "a = crate::a", "B = crate::a::A", "c = crate::c", "* = crate::d", "E = super::e::E", "g = f::g",
        ];
        assert_eq!(imports(text), expected);
        let exported: Vec<bool> = Names::of(text).imports.iter().map(|import| import.is_exported).collect();
        assert_eq!(exported, [false, false, false, false, true, false]);
    }

    #[test]
    fn paths_are_found_in_bodies_attributes_and_macros() {
        let text = "#[arg(parser = crate::a::parse)]\nstruct A(crate::b::B);\nfn f() {\n    use crate::c::C;\n    \
                    println!(\"{}\", super::d::<u8>());\n}\nmacro_rules! m { () => { $crate::e::E } }\n\
                    pub(in crate::g) fn h() {}";
        let expected = ["1 crate::a::parse", "2 crate::b::B", "4 crate::c::C", "5 super::d", "7 crate::e::E"];
        assert_eq!(paths(text), expected);
    }

    #[test]
    fn paths_in_modules_within_braces_are_those_of_the_file() {
        let text = "mod inner {\n    use super::a::A;\n    fn f() { super::super::b::b(); self::c::c(); crate::d::d() }\n}";
        assert_eq!(paths(text), ["2 self::a::A", "3 super::b::b", "3 self::inner::c::c", "3 crate::d::d"]);
    }
}
