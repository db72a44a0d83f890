//! `unsafe` only where the house allows it, and never without the reason why it holds.

use super::{
    house::{Unsafe, unsafe_in},
    source::{Line, Source, find_word},
    violation::Violation,
};

pub(super) fn check(package: &str, source: &Source) -> Vec<Violation> {
    let allowed = match unsafe_in(package) {
        Unsafe::Anywhere => true,
        Unsafe::File(path) => source.path == path,
        Unsafe::Generated | Unsafe::Nowhere => false,
    };
    let mut violations = Vec::new();
    for (i, line) in source.lines.iter().enumerate() {
        let Some(at) = find_word(&line.code, "unsafe") else { continue };
        if !allowed {
            let remedy = "use a safe function of simd, pool, threads, gemm or flash, or add one there";
            violations.push(source.violation(i + 1, format!("unsafe in {}", source.path), remedy));
        } else if needs_reason(&source.lines, i, at) && !has_reason(&source.lines, i) {
            let remedy = "write `// SAFETY:` above it and say why it holds";
            violations.push(source.violation(i + 1, "unsafe without its reason", remedy));
        }
    }
    violations
}

/// A declaration (`unsafe fn`, `unsafe trait`) sets a contract, in its docs; everything else relies on one.
fn needs_reason(lines: &[Line], i: usize, at: usize) -> bool {
    let after = lines[i].code[at + "unsafe".len()..].trim_start();
    let next =
        if after.is_empty() { lines.get(i + 1).map_or("", |line| line.code.trim_start()) } else { after };
    let declares = |word: &str| find_word(next, word) == Some(0);
    let foreign_function = declares("extern") && find_word(next, "fn").is_some();
    !(declares("fn") || declares("trait") || foreign_function)
}

/// Whether `SAFETY:` stands on the line or in the comment above the statement that the line is part of.
fn has_reason(lines: &[Line], i: usize) -> bool {
    if lines[i].comment.contains("SAFETY:") {
        return true;
    }
    for line in lines[..i].iter().rev() {
        let code = line.code.trim();
        if line.is_comment() && line.comment.contains("SAFETY:") {
            return true;
        }
        let attribute = code.starts_with("#[");
        let ends_here =
            code.ends_with([';', '{', '}']) || code.ends_with("},") || code.is_empty() && !line.is_comment();
        if ends_here && !attribute {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(package: &str, path: &str, text: &str) -> Vec<usize> {
        check(package, &Source::new(path, text)).into_iter().map(|violation| violation.line).collect()
    }

    fn in_simd(text: &str) -> Vec<usize> {
        broken("foretell-simd", "crates/simd/src/lib.rs", text)
    }

    const REASONED: &str = "// SAFETY: it holds.\nunsafe { f() }";

    #[test]
    fn unsafe_has_its_places() {
        assert_eq!(in_simd(REASONED), [0; 0]);
        assert_eq!(broken("foretell-nn", "crates/nn/src/lib.rs", REASONED), [2]);
        assert_eq!(broken("foretell-cli", "crates/cli/src/closed_stdout.rs", REASONED), [0; 0]);
        assert_eq!(broken("foretell-cli", "crates/cli/src/table.rs", REASONED), [2]);
        assert_eq!(
            broken("foretell-nn", "crates/nn/src/lib.rs", "#![forbid(unsafe_code)] // unsafe"),
            [0; 0]
        );
    }

    #[test]
    fn a_reason_stands_above_the_statement() {
        assert_eq!(in_simd("// SAFETY: a\n// and b.\nlet x =\n    unsafe { f() };"), [0; 0]);
        assert_eq!(in_simd("// SAFETY: a\n#[inline(always)]\nunsafe impl Send for X {}"), [0; 0]);
        assert_eq!(in_simd("let x = unsafe { f() }; // SAFETY: a"), [0; 0]);
        assert_eq!(in_simd("match x {\n    // SAFETY: a\n    1 => unsafe { f() },\n}"), [0; 0]);
    }

    #[test]
    fn a_reason_is_not_borrowed_from_another_statement() {
        assert_eq!(in_simd("unsafe { f() }"), [1]);
        assert_eq!(in_simd("unsafe impl Send for X {}"), [1]);
        assert_eq!(in_simd("// SAFETY: a\nunsafe { f() };\nunsafe { g() };"), [3]);
        assert_eq!(in_simd("// SAFETY: a\n\nunsafe { g() };"), [3]);
        assert_eq!(in_simd("// SAFETY: a\nfn f() {\n    unsafe { g() };\n}"), [3]);
        assert_eq!(in_simd("let x = \"SAFETY: a\";\nunsafe { g() };"), [2]);
    }

    #[test]
    fn declarations_set_a_contract() {
        assert_eq!(in_simd("pub unsafe fn f() {}\nunsafe trait T {}\nunsafe extern \"C\" fn g() {}"), [0; 0]);
        assert_eq!(in_simd("type F = unsafe fn(f32) -> f32;"), [0; 0]);
        assert_eq!(in_simd("unsafe extern \"C\" {}"), [1]);
    }
}
