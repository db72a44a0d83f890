//! The root file of a crate: a doc line first, and the crate's stand on `unsafe`.

use super::{
    house::{Unsafe, unsafe_in},
    source::Source,
    violation::Violation,
};

pub(super) fn check(package: &str, root: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let first = root.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_none_or(|doc| doc.trim().is_empty()) {
        violations.push(root.violation(
            1,
            "no doc line at the top of the crate",
            "begin the file with `//! Why it exists.`",
        ));
    }
    let wanted = match unsafe_in(package) {
        Unsafe::Anywhere => return violations,
        Unsafe::File(_) | Unsafe::Generated => "#![deny(unsafe_code)]",
        Unsafe::Nowhere => "#![forbid(unsafe_code)]",
    };
    if !root.lines.iter().any(|line| line.code.trim() == wanted) {
        violations.push(root.violation(
            1,
            format!("{package} does not say `{wanted}`"),
            "add it below the crate's docs",
        ));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(package: &str, text: &str) -> usize {
        check(package, &Source::new("crates/x/src/lib.rs", text)).len()
    }

    #[test]
    fn a_root_opens_with_a_doc_line() {
        assert_eq!(broken("foretell-simd", "//! Kernels.\n"), 0);
        assert_eq!(broken("foretell-simd", "//!\nmod a;"), 1);
        assert_eq!(broken("foretell-simd", "mod a;"), 1);
        assert_eq!(broken("foretell-simd", ""), 1);
    }

    #[test]
    fn a_root_forbids_unsafe_unless_the_house_allows_it() {
        assert_eq!(broken("foretell-nn", "//! Layers.\n#![forbid(unsafe_code)]\n"), 0);
        assert_eq!(broken("foretell-nn", "//! Layers.\n// #![forbid(unsafe_code)]\n"), 1);
        assert_eq!(broken("foretell-nn", "//! Layers.\n#![deny(unsafe_code)]\n"), 1);
        assert_eq!(broken("foretell-cli", "//! Commands.\n#![deny(unsafe_code)]\n"), 0);
        assert_eq!(broken("foretell-cli", "//! Commands.\n"), 1);
        assert_eq!(broken("foretell-node", "//! An addon.\n#![deny(unsafe_code)]\n"), 0);
    }
}
