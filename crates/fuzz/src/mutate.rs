//! Damage: small changes to the bytes of a file, as disks, networks, editors and attackers make them.

/// Random numbers (Steele, Lea and Flood 2014, SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, choice: &'a [T]) -> &'a T {
        &choice[self.below(choice.len())]
    }
}

/// Bytes that mean something in text formats, or in none.
const BYTES: &[u8] = b"\",;\n\r\t0-9.:eE\xff\x00Znaif +[]{}='\\#";

/// Numbers at the borders of types.
const NUMBERS: &[&str] = &[
    "0", "-1", "1e309", "-0", "127", "256", "65536", "2147483648", "4294967296", "9223372036854775807",
    "-9223372036854775808", "18446744073709551615", "99999999999999999999", "1e-320", "NaN", "1000000",
    "0.5",
];

/// Damages `bytes` in one to four places. `words` are pieces that the reader knows, `other` another file.
pub(crate) fn damage(bytes: &mut Vec<u8>, words: &[&str], other: &[u8], dice: &mut Dice) {
    for _ in 0..=dice.below(4).min(dice.below(8)) {
        let at = dice.below(bytes.len());
        let some = at..bytes.len().min(at + 1 + dice.below(64));
        match dice.below(11) {
            _ if bytes.is_empty() => bytes.extend(dice.of(words).bytes()),
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = *dice.of(BYTES),
            2 => bytes[at] = dice.next() as u8,
            3 => {
                let word = *dice.of(&[0, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40, u64::MAX]);
                let some = at..bytes.len().min(at + 8);
                let len = some.len();
                bytes[some].copy_from_slice(&word.to_le_bytes()[..len]);
            }
            4 if dice.below(4) == 0 => bytes.truncate(at),
            4 | 5 => drop(bytes.drain(some)),
            6 => drop(bytes.splice(at..at, dice.of(words).bytes())),
            7 => {
                let piece = bytes[some].repeat(1 + dice.below(20));
                bytes.splice(at..at, piece);
            }
            8 => {
                let from = dice.below(other.len());
                let piece = other[from..other.len().min(from + 1 + dice.below(256))].to_vec();
                bytes.splice(some, piece);
            }
            9 => exchange(bytes, dice.of(words).as_bytes(), dice.of(words).as_bytes()),
            _ => {
                let digit = |byte: &u8| byte.is_ascii_digit();
                let Some(start) = bytes[at..].iter().position(digit).map(|i| at + i) else { continue };
                let end =
                    bytes[start..].iter().position(|byte| !digit(byte)).map_or(bytes.len(), |i| start + i);
                bytes.splice(start..end, dice.of(NUMBERS).bytes());
            }
        }
    }
}

/// Puts one word in the place of another, where that stands.
fn exchange(bytes: &mut Vec<u8>, old: &[u8], new: &[u8]) {
    if let Some(at) = bytes.windows(old.len().max(1)).position(|part| part == old) {
        bytes.splice(at..at + old.len(), new.iter().copied());
    }
}
