//! Which keys a query sees.

use std::ops::Range;

/// Which keys a query sees, by their steps alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pattern<'a> {
    /// All.
    #[default]
    Full,
    /// Those up to its own step: key j where `j <= i`.
    Causal,
    /// Those near its own step: key j where `i - before <= j <= i + after` (Beltagy et al. 2020, arXiv 2004.05150).
    Window {
        /// Steps back.
        before: usize,
        /// Steps ahead.
        after: usize,
    },
    /// Those near its own step and every `stride`-th from there: key j where `|i - j| < local` or `|i - j|` is a multiple of
    /// `stride` (Child et al. 2019, arXiv 1904.10509).
    Strided {
        /// Steps to either side that it sees all of; 1 for its own step only.
        local: usize,
        /// From one of the further keys to the next; not 0.
        stride: usize,
    },
    /// Blocks of `size` queries see blocks of `size` keys, as these pairs (block of queries, block of keys) say.
    Blocks {
        /// Steps of a block; not 0.
        size: usize,
        /// The blocks that see each other, in ascending order, each pair once.
        pairs: &'a [(usize, usize)],
    },
}

/// How much of a tile is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    Nothing,
    Something,
    All,
}

impl Pattern<'_> {
    /// Panics if the pattern is invalid: a stride or a size of 0, or pairs that are not in order.
    #[track_caller]
    pub(crate) fn check(&self) {
        match self {
            Self::Strided { stride, .. } => assert!(*stride > 0, "a strided pattern of stride 0"),
            Self::Blocks { size, pairs } => {
                assert!(*size > 0, "a pattern of blocks of size 0");
                assert!(
                    pairs.is_sorted_by(|a, b| a < b),
                    "the pairs of a pattern of blocks are in ascending order, each once"
                );
            }
            Self::Full | Self::Causal | Self::Window { .. } => {}
        }
    }

    /// How much of the tile of these queries and keys is seen; neither range is empty.
    pub(crate) fn tile(&self, queries: &Range<usize>, keys: &Range<usize>) -> Coverage {
        let (first_query, last_query) = (queries.start, queries.end - 1);
        let (first_key, last_key) = (keys.start, keys.end - 1);
        let of = |some: bool, all: bool| match (some, all) {
            (_, true) => Coverage::All,
            (true, false) => Coverage::Something,
            (false, false) => Coverage::Nothing,
        };
        match *self {
            Self::Full => Coverage::All,
            Self::Causal => of(first_key <= last_query, last_key <= first_query),
            Self::Window { before, after } => of(
                first_key <= last_query.saturating_add(after)
                    && first_query <= last_key.saturating_add(before),
                last_key <= first_query.saturating_add(after)
                    && last_query <= first_key.saturating_add(before),
            ),
            Self::Strided { .. } => Coverage::Something,
            Self::Blocks { size, pairs } => {
                let (query_blocks, key_blocks) = (blocks(queries, size), blocks(keys, size));
                let mut seen = 0;
                for query in query_blocks.clone() {
                    let start = pairs.partition_point(|&pair| pair < (query, key_blocks.start));
                    seen += pairs[start..].iter().take_while(|&&pair| pair < (query, key_blocks.end)).count();
                }
                of(seen > 0, seen == query_blocks.len() * key_blocks.len())
            }
        }
    }

    /// Makes minus infinities of the scores of the keys that the query does not see.
    pub(crate) fn mask_scores(&self, query: usize, keys: &Range<usize>, scores: &mut [f32]) {
        const UNSEEN: f32 = f32::NEG_INFINITY;
        let mut keep = |range: Range<usize>| {
            let start = range.start.clamp(keys.start, keys.end) - keys.start;
            let end = range.end.clamp(keys.start, keys.end) - keys.start;
            scores[..start.min(end)].fill(UNSEEN);
            scores[end.max(start)..].fill(UNSEEN);
            if end <= start {
                scores.fill(UNSEEN);
            }
        };
        match *self {
            Self::Full => {}
            Self::Causal => keep(0..query + 1),
            Self::Window { before, after } => {
                keep(query.saturating_sub(before)..query.saturating_add(after).saturating_add(1));
            }
            Self::Strided { local, stride } => {
                for (key, score) in keys.clone().zip(scores) {
                    let apart = query.abs_diff(key);
                    if apart >= local && !apart.is_multiple_of(stride) {
                        *score = UNSEEN;
                    }
                }
            }
            Self::Blocks { size, pairs } => {
                for block in blocks(keys, size) {
                    if pairs.binary_search(&(query / size, block)).is_err() {
                        let start = (block * size).max(keys.start) - keys.start;
                        let end = ((block + 1) * size).min(keys.end) - keys.start;
                        scores[start..end].fill(UNSEEN);
                    }
                }
            }
        }
    }
}

/// The blocks of this size that the range touches.
fn blocks(range: &Range<usize>, size: usize) -> Range<usize> {
    range.start / size..range.end.div_ceil(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sees(pattern: &Pattern<'_>, i: usize, j: usize) -> bool {
        match *pattern {
            Pattern::Full => true,
            Pattern::Causal => j <= i,
            Pattern::Window { before, after } => {
                i <= j.saturating_add(before) && j <= i.saturating_add(after)
            }
            Pattern::Strided { local, stride } => {
                i.abs_diff(j) < local || i.abs_diff(j).is_multiple_of(stride)
            }
            Pattern::Blocks { size, pairs } => pairs.contains(&(i / size, j / size)),
        }
    }

    #[test]
    fn tiles_and_rows_are_those_of_the_definition() {
        let pairs = [(0, 1), (1, 0), (1, 1), (1, 2), (3, 0), (3, 1), (3, 2)];
        let patterns = [
            Pattern::Full,
            Pattern::Causal,
            Pattern::Window { before: 2, after: 0 },
            Pattern::Window { before: 0, after: 3 },
            Pattern::Window { before: usize::MAX, after: usize::MAX },
            Pattern::Strided { local: 2, stride: 3 },
            Pattern::Strided { local: 0, stride: 4 },
            Pattern::Blocks { size: 3, pairs: &pairs },
        ];
        for pattern in &patterns {
            pattern.check();
            for (from_query, to_query) in [(0, 1), (2, 5), (0, 12), (9, 12)] {
                for (from_key, to_key) in [(0, 1), (3, 4), (0, 9), (2, 8), (7, 9)] {
                    let (queries, keys) = (from_query..to_query, from_key..to_key);
                    let all: Vec<Vec<bool>> = queries
                        .clone()
                        .map(|i| keys.clone().map(|j| sees(pattern, i, j)).collect())
                        .collect();
                    let coverage = pattern.tile(&queries, &keys);
                    let (any, every) =
                        (all.iter().flatten().any(|&seen| seen), all.iter().flatten().all(|&seen| seen));
                    let expected = if every {
                        Coverage::All
                    } else if any {
                        Coverage::Something
                    } else {
                        Coverage::Nothing
                    };
                    let strided =
                        matches!(pattern, Pattern::Strided { .. }) && coverage == Coverage::Something;
                    assert!(
                        coverage == expected || strided,
                        "{pattern:?} {queries:?} {keys:?}: {coverage:?}"
                    );
                    for (i, expected) in queries.zip(&all) {
                        let mut scores = vec![1.0; keys.len()];
                        pattern.mask_scores(i, &keys, &mut scores);
                        let seen: Vec<bool> = scores.iter().map(|&score| score == 1.0).collect();
                        assert_eq!(&seen, expected, "{pattern:?} {i} {keys:?}");
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic = "in ascending order, each once"]
    fn a_pair_of_blocks_that_is_named_twice_is_refused() {
        Pattern::Blocks { size: 16, pairs: &[(0, 0), (0, 0)] }.check();
    }
}
