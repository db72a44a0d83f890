//! What multiplies packed operands.
//!
//! * Tiles of AMX, at the level of that name: on Sapphire Rapids 3.1 TFLOP/s a core in registers, 15 times what it does in
//!   `f32`. They alone multiply numbers in three pieces.
//! * Dot products of pairs (AVX512-BF16) on AMD's machines, where they do twice the work of a fused multiply-add. On
//!   Intel's they do half of it, and are not used.
//! * Everywhere else the numbers are widened again and multiplied in `f32`: the same roundings, half the bytes of weights.

#[cfg(target_arch = "x86_64")]
mod pairs;
#[cfg(target_arch = "x86_64")]
mod tiles;

use half::bf16;

use super::blocks::{Epilogue, Layout, Pieces};
use super::{DEPTH, WIDTH};
use crate::options::{Accum, Bias};
use crate::vector::{Job, Vector, run};
use crate::view::MatMut;

/// The ways to multiply packed operands: see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Tiles,
    #[cfg(target_arch = "x86_64")]
    Pairs,
    Widened,
}

impl Kernel {
    /// The best one at the current level.
    pub(super) fn of_machine() -> Self {
        #[cfg(target_arch = "x86_64")]
        if Self::Tiles.runs() {
            return Self::Tiles;
        } else if Self::Pairs.runs() && is_amd() {
            return Self::Pairs;
        }
        Self::Widened
    }

    /// Whether the machine has the instructions, at the current level.
    pub(super) fn runs(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use foretell_simd::{Level, level};

            match self {
                Self::Tiles => level() == Level::Amx,
                Self::Pairs => level().has_avx512() && is_x86_feature_detected!("avx512bf16"),
                Self::Widened => true,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        true
    }

    /// Whether it has the tiles of AMX, which alone multiply numbers in three pieces.
    pub(super) fn has_tiles(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => true,
            _ => false,
        }
    }

    /// `dst = [dst +] alpha * panel * strips + bias`, of a left operand in [`Form::Rows`](super::Form), or a single row as it
    /// is, and a right one in [`Form::Pairs`](super::Form).
    pub(super) fn multiply(
        self,
        dst: MatMut<'_, f32>,
        panel: &[bf16],
        strips: &[bf16],
        layout: Layout,
        finish: Epilogue<'_>,
    ) {
        debug_assert!(self.runs());
        let (len, height) = (layout.len(), if layout.is_row(panel) { 1 } else { WIDTH });
        assert!(layout.depth > 0 && layout.depth.is_multiple_of(DEPTH));
        assert_eq!(panel.len(), dst.nrows().next_multiple_of(height) * len);
        assert_eq!(strips.len(), dst.ncols().next_multiple_of(WIDTH) * len);
        assert!(layout.pieces == Pieces::One || self.has_tiles(), "{self:?} does not multiply {layout:?}");
        let product = Product { dst, panel, strips, strip: len * WIDTH, height, finish };
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => match layout.pieces {
                // SAFETY: the machine has the instructions, as whoever chose the kernel saw.
                Pieces::One => unsafe { product.by_tiles::<1>() },
                // SAFETY: as above.
                Pieces::Three => unsafe { product.by_tiles::<3>() },
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Pairs => unsafe { product.by_pairs() },
            Self::Widened => product.widened(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn is_amd() -> bool {
    use std::sync::OnceLock;

    static AMD: OnceLock<bool> = OnceLock::new();
    *AMD.get_or_init(|| {
        let vendor = std::arch::x86_64::__cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD"
    })
}

struct Product<'a, 'd> {
    dst: MatMut<'d, f32>,
    panel: &'a [bf16],
    strips: &'a [bf16],
    /// The length of a strip of the right operand.
    strip: usize,
    /// Rows of a tile of the panel.
    height: usize,
    finish: Epilogue<'a>,
}

impl Product<'_, '_> {
    /// A tile's strip of the left operand, and one of the right operand.
    fn left(&self, tile: usize) -> &[bf16] {
        let strip = self.strip / WIDTH * self.height;
        &self.panel[tile * strip..][..strip]
    }

    fn right(&self, tile: usize) -> &[bf16] {
        &self.strips[tile * self.strip..][..self.strip]
    }

    /// The tiles of the result: down, and across.
    fn tiles(&self) -> (usize, usize) {
        (self.dst.nrows().div_ceil(WIDTH), self.dst.ncols().div_ceil(WIDTH))
    }

    /// The rows of a tile that are not padding.
    fn rows_of(&self, tile: usize) -> usize {
        (self.dst.nrows() - tile * WIDTH).min(WIDTH)
    }

    /// Writes some rows of sums, from `row` of the tile `(i, j)`, to the destination.
    #[inline(always)]
    fn put(&mut self, i: usize, j: usize, row: usize, sums: &[[f32; WIDTH]]) {
        let left = j * WIDTH;
        let width = (self.dst.ncols() - left).min(WIDTH);
        let top = i * WIDTH + row;
        let rows = sums.len().min(self.dst.nrows().saturating_sub(top));
        let Epilogue { accum, alpha, bias } = self.finish;
        for (row, sums) in (top..).zip(&sums[..rows]) {
            // A whole row of the tile has a length that the compiler knows.
            let mut sums = sums.map(|sum| alpha * sum);
            if accum == Accum::Add {
                if self.dst.col_stride() == 1 && width == WIDTH {
                    let old: &[f32; WIDTH] =
                        self.dst.row_mut(row)[left..].first_chunk().expect("a whole row");
                    for l in 0..WIDTH {
                        sums[l] += old[l];
                    }
                } else {
                    for (l, sum) in sums.iter_mut().enumerate().take(width) {
                        *sum += *self.dst.at(row, left + l);
                    }
                }
            }
            match bias {
                Some(Bias::PerColumn(values)) => match values[left..].first_chunk::<WIDTH>() {
                    Some(values) => {
                        for l in 0..WIDTH {
                            sums[l] += values[l];
                        }
                    }
                    None => sums.iter_mut().zip(&values[left..]).for_each(|(sum, value)| *sum += value),
                },
                Some(Bias::PerRow(values)) => sums.iter_mut().for_each(|sum| *sum += values[row]),
                None => {}
            }
            if self.dst.col_stride() == 1 {
                let place = &mut self.dst.row_mut(row)[left..left + width];
                match place.first_chunk_mut::<WIDTH>() {
                    Some(place) => *place = sums,
                    None => place.copy_from_slice(&sums[..width]),
                }
            } else {
                for (l, sum) in sums.iter().enumerate().take(width) {
                    *self.dst.at(row, left + l) = *sum;
                }
            }
        }
    }

    /// Four rows by one strip, or one row by up to four, so that there are enough sums to hide the latency of
    /// additions.
    fn widened(mut self) {
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
