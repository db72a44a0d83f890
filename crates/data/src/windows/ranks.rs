//! Rank and select over one bit per candidate window.

/// Bits of several sequences, with the number of ones before each word of a sequence.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// End of each sequence's words, and its ones.
    sequences: Vec<(usize, usize)>,
    words: Vec<u64>,
    before: Vec<u32>,
}

impl Ranks {
    /// Appends a sequence.
    pub(crate) fn push(&mut self, bits: impl Iterator<Item = bool>) {
        let mut ones = 0;
        for (i, bit) in bits.enumerate() {
            if i % 64 == 0 {
                self.words.push(0);
                self.before.push(ones);
            }
            let word = self.words.last_mut().expect("a word was pushed at bit 0");
            *word |= u64::from(bit) << (i % 64);
            ones += u32::from(bit);
        }
        self.sequences.push((self.words.len(), ones as usize));
    }

    /// Number of ones of a sequence.
    pub(crate) fn count(&self, sequence: usize) -> usize {
        self.sequences[sequence].1
    }

    /// Position of the `index`-th one of a sequence, which has more than `index`.
    pub(crate) fn select(&self, sequence: usize, index: usize) -> usize {
        let start = sequence.checked_sub(1).map_or(0, |previous| self.sequences[previous].0);
        let before = &self.before[start..self.sequences[sequence].0];
        let word = before.partition_point(|ones| *ones as usize <= index) - 1;
        let mut bits = self.words[start + word];
        for _ in before[word] as usize..index {
            bits &= bits - 1;
        }
        word * 64 + bits.trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ones_are_counted_and_found(
            sequences in prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.3), 0..300), 1..6),
        ) {
            let mut ranks = Ranks::default();
            sequences.iter().for_each(|bits| ranks.push(bits.iter().copied()));
            for (i, bits) in sequences.iter().enumerate() {
                let ones: Vec<usize> = (0..bits.len()).filter(|&at| bits[at]).collect();
                prop_assert_eq!(ranks.count(i), ones.len());
                let selected: Vec<usize> = (0..ones.len()).map(|index| ranks.select(i, index)).collect();
                prop_assert_eq!(selected, ones);
            }
        }
    }
}
