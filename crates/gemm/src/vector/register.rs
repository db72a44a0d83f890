//! The operations that our kernels need of a vector register.

use std::mem::MaybeUninit;

/// A register of several numbers.
pub(crate) trait Vector: Copy {
    /// The proof that the machine has the instructions.
    type Token: Copy;
    /// Numbers.
    const LANES: usize;
    /// Registers of this kind that the machine has.
    const REGISTERS: usize;

    fn splat(token: Self::Token, value: f32) -> Self;
    /// The first numbers of a slice that has enough of them.
    fn load(token: Self::Token, part: &[f32]) -> Self;
    /// Fewer numbers than fill the register, followed by zeros.
    fn load_padded(token: Self::Token, part: &[f32]) -> Self;
    /// Asks for the line of the cache that number `at` is in, which may lie beyond the slice.
    fn prefetch(token: Self::Token, part: &[f32], at: usize);
    /// As many numbers as the slice has, if the register does.
    fn store(self, part: &mut [f32]);
    /// All numbers, to the first places of a slice that has enough of them.
    fn store_first(self, part: &mut [MaybeUninit<f32>]);
    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// Zero in place of negative numbers; minus zero and NaN stay.
    fn or_zero(self, token: Self::Token) -> Self;
    /// The transpose of the rows, of which there are as many as the register has numbers: the first numbers of all, the second ones,
    /// and so on. `row` is called with each number below that.
    fn transpose_fours<'a>(token: Self::Token, row: impl Fn(usize) -> &'a [f32; 4]) -> [Self; 4];
    /// The numbers in turns, `self[0], other[0], self[1], ...`, in two registers.
    fn interleave(self, other: Self) -> (Self, Self);
    /// The upper half of the numbers, twice.
    fn upper(self) -> Self;
    /// The sums of the numbers of four registers.
    fn totals(four: [Self; 4]) -> [f32; 4];
    /// The sum of the numbers.
    fn total(self) -> f32;
}

/// `alpha * sum`, added to `old` if there is one. The product is rounded before the sum, as by the kernels without vectors, so that the bits
/// of a row do not depend on which kernel takes it.
#[inline(always)]
pub(crate) fn scaled<V: Vector>(token: V::Token, alpha: f32, sum: V, old: Option<V>) -> V {
    let scaled = if alpha == 1.0 { sum } else { V::splat(token, alpha).fused(sum, V::splat(token, 0.0)) };
    match old {
        // The trait has no sum: this is one, rounded once.
        Some(old) => V::splat(token, 1.0).fused(scaled, old),
        None => scaled,
    }
}
