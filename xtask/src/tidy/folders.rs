//! The modules of a crate stand on each other like crates do.

use super::{
    circles,
    floors::{FEW_MODULES, FOLDERS, Folders},
    house::STILL_IN_CIRCLES,
    imports::{Arrow, Modules, To},
    source::Source,
    violation::Violation,
};

/// The violations of the order of the files of one package.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let roots = sources.iter().filter_map(|source| {
        let (folder, file) = source.path.rsplit_once('/')?;
        (folder.ends_with("/src") && ["lib.rs", "main.rs"].contains(&file)).then_some(folder)
    });
    let mut roots: Vec<&str> = roots.collect();
    roots.dedup();
    let mut violations = Vec::new();
    for root in roots {
        let modules = Modules::below(root, sources);
        let arrows = modules.arrows();
        violations.extend(circles::check(root, &arrows));
        match FOLDERS.iter().find(|folders| folders.source == root) {
            Some(folders) => violations.extend(check_order(folders, &modules, &arrows)),
            None => violations.extend(check_few(root, &modules, &arrows)),
        }
    }
    violations
}

/// The floor of a module, from 0.
fn floor(folders: &Folders, name: &str) -> Option<usize> {
    folders.from_the_ground_up.iter().position(|floor| floor.split_whitespace().any(|module| module == name))
}

fn check_order(folders: &Folders, modules: &Modules<'_>, arrows: &[Arrow<'_>]) -> Vec<Violation> {
    let floor = |name: &str| floor(folders, name);
    let mut violations = Vec::new();
    for module in modules.top().into_iter().filter(|module| floor(module).is_none()) {
        violations.push(Source::new(folders.source, "").violation(
            1,
            format!("the module {module} has no place in the order of its crate"),
            "give it one in FOLDERS of xtask/src/tidy/floors.rs",
        ));
    }
    for Arrow { source, line, from, to } in arrows {
        let Some(own) = floor(&from[0]) else { continue };
        let used = match to {
            To::File(file) => &file[0],
            To::Root(name) => name,
        };
        if *used != from[0] && floor(used).is_none_or(|used| used >= own) {
            let below: Vec<&str> =
                folders.from_the_ground_up[..own].iter().flat_map(|floor| floor.split_whitespace()).collect();
            violations.push(source.violation(
                *line,
                format!("{} may not use `crate::{used}`", from[0]),
                match &below[..] {
                    [] => "it stands on the ground; give it a higher place, or move what it needs".to_owned(),
                    _ => format!("it may use {}; move what it needs to one of these", below.join(", ")),
                },
            ));
        }
    }
    violations
}

/// A crate without an order has few modules.
fn check_few(root: &str, modules: &Modules<'_>, arrows: &[Arrow<'_>]) -> Option<Violation> {
    let count = modules.top().len();
    let is_excepted = STILL_IN_CIRCLES.contains(&root);
    (count > FEW_MODULES && !is_excepted).then(|| {
        let order = match order(modules, arrows) {
            Some(floors) => format!("by what they use now: {floors:?}"),
            None => "once its modules use each other in one direction only".to_owned(),
        };
        Source::new(root, "").violation(
            1,
            format!("{count} modules have no order"),
            format!("give them one in FOLDERS of xtask/src/tidy/floors.rs, {order}"),
        )
    })
}

/// The floors of modules by their uses of each other; none where they do so in a circle.
fn order(modules: &Modules<'_>, arrows: &[Arrow<'_>]) -> Option<Vec<String>> {
    let mut left = modules.top();
    let mut floors = Vec::new();
    while !left.is_empty() {
        let uses = |module: &str| {
            arrows.iter().any(|Arrow { from, to, .. }| {
                let used = matches!(to, To::File(file) if file[0] != from[0] && left.contains(&*file[0]));
                from[0] == module && used
            })
        };
        let floor: Vec<&str> = left.iter().copied().filter(|module| !uses(module)).collect();
        left.retain(|module| !floor.contains(module));
        floors.push((!floor.is_empty()).then(|| floor.join(" "))?);
    }
    Some(floors)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUSE: Folders = Folders { source: "crates/x/src", from_the_ground_up: &["words", "low", "high"] };

    fn broken(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
        let modules = Modules::below(HOUSE.source, &sources);
        let violations = check_order(&HOUSE, &modules, &modules.arrows());
        violations.into_iter().map(|violation| violation.what).collect()
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
    fn every_module_has_a_place() {
        let expected = ["the module loose has no place in the order of its crate"];
        assert_eq!(broken(&[("loose.rs", ""), ("low/b.rs", "")]), expected);
    }

    #[test]
    fn every_crate_of_the_table_has_its_folders() {
        for Folders { source, from_the_ground_up } in FOLDERS {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source);
            for module in from_the_ground_up.iter().flat_map(|floor| floor.split_whitespace()) {
                let is_there = root.join(module).is_dir() || root.join(format!("{module}.rs")).is_file();
                assert!(is_there, "{source}/{module}");
            }
        }
    }

    #[test]
    fn modules_of_one_floor_do_not_use_each_other() {
        let house = Folders { source: HOUSE.source, from_the_ground_up: &["a b", "c"] };
        let sources = [
            Source::new("crates/x/src/a.rs", "use crate::b::B;"),
            Source::new("crates/x/src/b.rs", "pub struct B;"),
            Source::new("crates/x/src/c.rs", "use crate::{a, b::B};"),
        ];
        let modules = Modules::below(HOUSE.source, &sources);
        let violations = check_order(&house, &modules, &modules.arrows());
        assert_eq!(violations.len(), 1);
        assert_eq!(
            (violations[0].path.as_str(), violations[0].what.as_str()),
            ("crates/x/src/a.rs", "a may not use `crate::b`")
        );
    }

    #[test]
    fn a_crate_of_many_modules_without_an_order_is_told_one() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", ""),
            ("c.rs", "use crate::a::A;"),
            ("d.rs", ""),
            ("e.rs", ""),
        ];
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
        assert_eq!(check(&sources[..5]), []);
        let violations = check(&sources);
        assert_eq!((violations.len(), violations[0].what.as_str()), (1, "5 modules have no order"));
        assert!(
            violations[0].remedy.ends_with(r#"by what they use now: ["b d e", "a", "c"]"#),
            "{}",
            violations[0].remedy
        );
    }
}
