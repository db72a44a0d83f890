//! No file of a crate uses another that uses it, directly or by a round of others.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    house::STILL_IN_CIRCLES,
    imports::{Arrow, To},
    source::Source,
    violation::Violation,
};

/// The circles of files among these arrows.
pub(super) fn check(root: &str, arrows: &[Arrow<'_>]) -> Vec<Violation> {
    let mut graph: Graph = BTreeMap::new();
    for Arrow { from, to, .. } in arrows {
        if let To::File(to) = to {
            graph.entry(from.join("/")).or_default().insert(to.join("/"));
        }
    }
    let circles = circles(&graph).into_iter().filter(|circle| {
        let is_excepted = |file: &String| {
            let path = format!("{root}/{file}");
            STILL_IN_CIRCLES.iter().any(|excepted| path.starts_with(excepted))
        };
        !circle.iter().all(is_excepted)
    });
    let violation = |circle: BTreeSet<String>| {
        let within = arrows.iter().filter(|arrow| {
            let to = matches!(&arrow.to, To::File(to) if circle.contains(&to.join("/")));
            to && circle.contains(&arrow.from.join("/"))
        });
        let steps: BTreeSet<String> = within
            .map(|arrow| match &arrow.to {
                To::File(to) => format!("{} line {} uses {}", arrow.from.join("/"), arrow.line, to.join("/")),
                To::Root(_) => unreachable!("the root is in no circle"),
            })
            .collect();
        let files: Vec<String> = circle.into_iter().collect();
        let steps: Vec<String> = steps.into_iter().collect();
        Source::new(root, "").violation(
            1,
            format!("files import each other: {}", files.join(", ")),
            format!("move what they share to a file below ({})", steps.join("; ")),
        )
    };
    circles.map(violation).collect()
}

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The largest sets of files each of which leads to all others of its set.
fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|file| (file, reachable(graph, file))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for (file, reachable) in &reached {
        let comes_back = |other: &&&String| reached.get(**other).is_some_and(|from| from.contains(file));
        let circle: BTreeSet<String> =
            reachable.iter().filter(comes_back).map(|file| (*file).clone()).collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// All that a file leads to.
fn reachable<'a>(graph: &'a Graph, from: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&String> = graph.get(from).into_iter().flatten().collect();
    while let Some(file) = waiting.pop() {
        if reached.insert(file) {
            waiting.extend(graph.get(file).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::imports::Modules;
    use super::*;

    fn broken(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
        let arrows = Modules::below("crates/x/src", &sources).arrows();
        check("crates/x/src", &arrows).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let chain = [("low/a.rs", "use super::b::B;"), ("low/b.rs", "use super::c::C;"), ("low/c.rs", "")];
        assert_eq!(broken(&chain), [""; 0]);
        let circle = [chain[0], chain[1], ("low/c.rs", "use crate::low::a::A;")];
        assert_eq!(broken(&circle), ["files import each other: low/a, low/b, low/c"]);
    }

    #[test]
    fn a_circle_through_a_re_export_of_the_root_is_one() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;"),
            ("a.rs", "use crate::B;\npub struct A;"),
            ("b.rs", "pub struct B;\nfn f(_: crate::A) {}"),
            ("c.rs", "use crate::{A, B};"),
        ];
        assert_eq!(broken(&files), ["files import each other: a, b"]);
    }

    #[test]
    fn circles_beside_each_other_are_two() {
        let files = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::A;\nuse crate::c::C;"),
            ("c.rs", "use crate::d::D;"),
            ("d.rs", "use crate::c::C;"),
        ];
        assert_eq!(broken(&files), ["files import each other: a, b", "files import each other: c, d"]);
    }

    #[test]
    fn the_way_around_is_told() {
        let sources = [
            Source::new("crates/x/src/a.rs", "\nuse crate::b::B;"),
            Source::new("crates/x/src/b.rs", "use super::a::A;"),
        ];
        let violations = check("crates/x/src", &Modules::below("crates/x/src", &sources).arrows());
        assert_eq!(
            violations[0].remedy,
            "move what they share to a file below (a line 2 uses b; b line 1 uses a)"
        );
    }
}
