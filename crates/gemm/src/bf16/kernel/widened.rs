//! Numbers widened again and multiplied in `f32`.

use half::bf16;

use super::product::Product;
use crate::bf16::layout::{DEPTH, WIDTH};
use crate::vector::{Job, Vector, run};

impl Product<'_, '_> {
    /// Four rows by one strip, or one row by up to four, so that there are enough sums to hide the latency of
    /// additions.
    pub(crate) fn widened(mut self) {
        let (down, across) = self.tiles();
        for i in 0..down {
            let height = self.rows_of(i);
            let fours = if height < 4 { 0 } else { height.next_multiple_of(4) };
            for row in (0..fours).step_by(4) {
                for j in 0..across {
                    let mut sums = [[[0.0; WIDTH]; 4]];
                    widened((self.left(i), self.height), row, [self.right(j)], &mut sums);
                    self.put(i, j, row, &sums[0]);
                }
            }
            for row in fours..height {
                for j in (0..across).step_by(4) {
                    let last = across - 1;
                    let strips = [j, j + 1, j + 2, j + 3].map(|j| self.right(j.min(last)));
                    let mut sums = [[[0.0; WIDTH]; 1]; 4];
                    widened((self.left(i), self.height), row, strips, &mut sums);
                    for (c, sums) in sums.iter().enumerate().take(across - j) {
                        self.put(i, j + c, row, sums);
                    }
                }
            }
        }
    }
}

/// Adds the products of `I` rows of a tile of the left operand, of `height` rows, from `row`, with `J` strips to `sums`.
fn widened<const I: usize, const J: usize>(
    (left, height): (&[bf16], usize),
    row: usize,
    right: [&[bf16]; J],
    sums: &mut [[[f32; WIDTH]; I]; J],
) {
    if let Some(job) = run(Widen { left, height, row, right, sums }) {
        job.sum::<false>();
    }
}

struct Widen<'a, const I: usize, const J: usize> {
    left: &'a [bf16],
    height: usize,
    row: usize,
    right: [&'a [bf16]; J],
    sums: &'a mut [[[f32; WIDTH]; I]; J],
}

impl<const I: usize, const J: usize> Job for Widen<'_, I, J> {
    #[inline(always)]
    fn run<V: Vector>(self, _: V::Token) {
        self.sum::<true>();
    }
}

impl<const I: usize, const J: usize> Widen<'_, I, J> {
    /// Plain loops over arrays, which the compiler vectorises. `FUSED` where the machine has fused multiply-adds.
    #[inline(always)]
    fn sum<const FUSED: bool>(self) {
        let mut sums = *self.sums;
        for (block, left) in self.left.chunks_exact(self.height * DEPTH).enumerate() {
            let left = &left[self.row * DEPTH..][..I * DEPTH];
            for c in 0..J {
                let right = &self.right[c][block * WIDTH * DEPTH..][..WIDTH * DEPTH];
                for (pair, right) in right.chunks_exact(2 * WIDTH).enumerate() {
                    let (mut even, mut odd) = ([0.0; WIDTH], [0.0; WIDTH]);
                    for l in 0..WIDTH {
                        let both =
                            u32::from(right[2 * l].to_bits()) | u32::from(right[2 * l + 1].to_bits()) << 16;
                        even[l] = f32::from_bits(both << 16);
                        odd[l] = f32::from_bits(both & 0xffff_0000);
                    }
                    for a in 0..I {
                        let pair = &left[a * DEPTH + 2 * pair..][..2];
                        let x = [widen(pair[0]), widen(pair[1])];
                        for l in 0..WIDTH {
                            let sum = add::<FUSED>(sums[c][a][l], x[0], even[l]);
                            sums[c][a][l] = add::<FUSED>(sum, x[1], odd[l]);
                        }
                    }
                }
            }
        }
        *self.sums = sums;
    }
}

#[inline(always)]
fn widen(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

#[inline(always)]
fn add<const FUSED: bool>(sum: f32, a: f32, b: f32) -> f32 {
    if FUSED { a.mul_add(b, sum) } else { a * b + sum }
}
