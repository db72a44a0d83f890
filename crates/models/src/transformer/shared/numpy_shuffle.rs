//! numpy's legacy shuffle, `np.random.seed(seed)` and `np.random.shuffle(list)`, with which neuralforecast makes
//! choices that a checkpoint does not store: it stores the seed only.
//!
//! The generator is MT19937 (Matsumoto and Nishimura 1998, "Mersenne Twister"), seeded as by its authors'
//! `init_genrand`; numpy froze this stream, so it is the same in every version. The shuffle walks from the back
//! (Fisher and Yates) and draws each index by rejection: a word cut to the bits of the largest index, until it is no
//! larger than that.

const WORDS: usize = 624;

/// numpy's global generator as `np.random.seed` leaves it.
pub(crate) struct LegacyShuffle {
    state: [u32; WORDS],
    next: usize,
}

impl LegacyShuffle {
    /// The generator seeded with `seed`.
    pub(crate) fn new(seed: u32) -> Self {
        let mut state = [seed; WORDS];
        for i in 1..WORDS {
            let before = state[i - 1];
            state[i] = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(i as u32);
        }
        Self { state, next: WORDS }
    }

    fn bits(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    fn twist(&mut self) {
        for i in 0..WORDS {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % WORDS] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + 397) % WORDS] ^ (y >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// A uniform number of `0..=most`.
    fn uniform_index(&mut self, most: u32) -> u32 {
        let mask = u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        loop {
            let drawn = self.bits() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }

    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for i in (1..values.len()).rev() {
            values.swap(i, self.uniform_index(i as u32) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(random: &mut LegacyShuffle, len: usize) -> Vec<usize> {
        let mut values: Vec<usize> = (0..len).collect();
        random.shuffle(&mut values);
        values
    }

    #[test]
    fn numbers_are_those_of_the_authors_program() {
        // The first numbers of mt19937ar with init_genrand(5489), and the 10000th, which C++ specifies for
        // std::mt19937.
        let mut random = LegacyShuffle::new(5489);
        assert_eq!([random.bits(), random.bits()], [3_499_211_612, 581_869_302]);
        assert_eq!((2..10_000).map(|_| random.bits()).last(), Some(4_123_659_995));
    }

    #[test]
    fn shuffles_are_those_of_numpy() {
        // np.random.seed(seed), then shuffles of list(range(12)), of list(range(5)) and of list(range(300)), one after another.
        let expected = [
            (
                1,
                [2, 3, 4, 10, 1, 6, 0, 7, 11, 9, 8, 5],
                [4, 3, 0, 2, 1],
                [80, 298, 72, 253, 218, 89, 37, 228],
            ),
            (
                0,
                [6, 11, 4, 10, 2, 8, 1, 7, 9, 3, 0, 5],
                [3, 1, 2, 4, 0],
                [65, 172, 150, 158, 108, 275, 135, 116],
            ),
            (
                u32::MAX,
                [11, 8, 5, 9, 1, 10, 6, 0, 4, 7, 2, 3],
                [4, 0, 1, 2, 3],
                [165, 70, 253, 56, 237, 185, 1, 145],
            ),
        ];
        for (seed, first, second, third) in expected {
            let mut random = LegacyShuffle::new(seed);
            assert_eq!(shuffled(&mut random, 12), first, "seed {seed}");
            assert_eq!(shuffled(&mut random, 5), second, "seed {seed}");
            assert_eq!(shuffled(&mut random, 300)[..8], third, "seed {seed}");
        }
        assert!(shuffled(&mut LegacyShuffle::new(1), 0).is_empty());
    }
}
