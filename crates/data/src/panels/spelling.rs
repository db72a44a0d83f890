//! Ids that two tables spell differently: `1` and `1.0`, `0012` and `12`, `North` and `north `.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

/// Ids of another table that are remembered for a message.
const MOST: usize = 100_000;

/// Bytes of such an id: no one misspells a longer one.
const LONGEST: usize = 1000;

/// Ids of a table that are none of the panel's.
#[derive(Debug, Default)]
pub(super) struct StrangeIds {
    /// The ids by their common form.
    ids: FxHashMap<String, String>,
}

impl StrangeIds {
    pub(super) fn note(&mut self, id: &str) {
        if self.ids.len() < MOST && id.len() <= LONGEST {
            self.ids.entry(meaning(id).into_owned()).or_insert_with(|| id.to_owned());
        }
    }

    /// Some of `missing` that are here under another spelling: as the panel has them, and as the table has them.
    pub(super) fn spelt_otherwise<'a>(
        &self,
        missing: impl Iterator<Item = &'a str>,
    ) -> Option<(Vec<String>, Vec<String>)> {
        let pairs = missing.filter_map(|id| Some((id.to_owned(), self.ids.get(&*meaning(id))?.clone())));
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.take(3).unzip();
        (!ours.is_empty()).then_some((ours, theirs))
    }
}

/// The common form of an id's spellings.
fn meaning(id: &str) -> Cow<'_, str> {
    let id = id.trim();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = match id.split_once('.') {
        Some((whole, zeros)) if digits(whole) && zeros.bytes().all(|byte| byte == b'0') => whole,
        _ => id,
    };
    match digits(whole) {
        true => whole.trim_start_matches('0').into(),
        false => id.to_lowercase().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_an_id_mean_the_same() {
        for (one, other) in
            [("1", "1.0"), ("0012", "12"), ("12.00", "12"), ("North", " north "), ("0", "0.0")]
        {
            assert_eq!(meaning(one), meaning(other), "{one}");
        }
        for (one, other) in [("1", "1.5"), ("12", "120"), ("a1", "a01"), ("1.2.0", "1.2")] {
            assert_ne!(meaning(one), meaning(other), "{one}");
        }
    }
}
