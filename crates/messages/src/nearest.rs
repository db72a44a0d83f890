//! The nearest valid name, for error messages.

/// The candidates that look most like `word`, best first, at most `count`.
pub fn ranked<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, &candidate.to_lowercase()), candidate))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// The one candidate that `word` is likely a slip of, if any.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let best = *ranked(word, candidates, 1).first()?;
    (strsim::jaro_winkler(&word.to_lowercase(), &best.to_lowercase()) > 0.7).then(|| best.to_owned())
}

/// Whether `word` is all but certainly a slip of `other`, which no one would call another thing so.
pub fn is_slip(word: &str, other: &str) -> bool {
    strsim::jaro_winkler(&word.to_lowercase(), &other.to_lowercase()) > 0.88
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let columns = ["unique_id", "ds", "y", "price"];
        assert_eq!(nearest("Price", columns), Some("price".into()));
        assert_eq!(nearest("uniqueid", columns), Some("unique_id".into()));
        assert_eq!(nearest("weather", columns), None);
        assert_eq!(nearest("x", []), None);
        for (other, slip) in [
            ("uniqueid", true),
            ("unique id", true),
            ("unique", true),
            ("unit_price", false),
            ("units", false),
        ] {
            assert_eq!(is_slip("unique_id", other), slip, "{other}");
        }
    }
}
