//! Tiles of AMX: 16 rows by 16 columns, 32 numbers along the inner dimension at a time.

use half::bf16;

use super::product::{Finish, InitialSums, Product};
use crate::amx;
use crate::bf16::layout::{DEPTH, WIDTH};
use crate::options::Accum;

/// Blocks of the inner dimension that the tiles go through at a time. Of one term, two strips of either operand then take 32 KiB;
/// of three pieces, whose tiles are read from the second cache in time, so much that sums seldom leave their tiles: with 4
/// blocks 1024x512x512 took 2.1 instead of 1.7 ms.
const fn blocks_at_once(terms: usize) -> usize {
    if terms == 1 { 8 } else { 16 }
}

/// Four tiles of sums.
type Places = [amx::Place<f32>; 4];

/// A tile of sums.
type Sums = [[f32; WIDTH]; WIDTH];

/// A tile of sums on lines of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Scratch(Sums);

impl Product<'_, '_> {
    /// Two by two tiles, of which the last ones of an odd number are computed twice; a single tile of rows by four.
    /// The inner dimension goes by a few blocks at a time: see [`blocks_at_once`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]
    pub(crate) fn by_tiles<const TERMS: usize>(mut self) {
        let (down, across) = self.tiles();
        let blocks = self.strip / (WIDTH * DEPTH * TERMS);
        let (first, rest) = self.finish.split();
        // Tiles are written unchanged: sums that replace what was there are scaled after that, while they are near.
        let scale = (rest.accum == Accum::Replace && rest.bias.is_none() && self.dst.col_stride() == 1)
            .then_some(rest.alpha);
        self.finish = Finish { alpha: if scale.is_some() { 1.0 } else { rest.alpha }, ..rest };
        let at_once = if self.finish.is_plain() && down > 1 { blocks_at_once(TERMS) } else { blocks };
        let mut scratch: [Scratch; 4] = [Scratch([[0.0; WIDTH]; WIDTH]); 4];
        // SAFETY: this kernel is chosen only where the machine has tiles.
        let tiles = unsafe { amx::Tiles::configure(self.height) };
        let strides = match (self.height, TERMS) {
            (1, _) => [amx::Strides::ROW, amx::Strides::PACKED],
            (_, 1) => [amx::Strides::PACKED; 2],
            _ => [amx::Strides::SPLIT; 2],
        };
        for start in (0..blocks).step_by(at_once) {
            let count = at_once.min(blocks - start);
            let first = if start == 0 { first } else { InitialSums::Destination };
            let address =
                |strip: &[bf16], height: usize| strip[start * height * DEPTH * TERMS..].as_ptr().cast::<u8>();
            let left = |product: &Self, i: usize| address(product.left(i), product.height);
            let right = |product: &Self, j: usize| address(product.right(j), WIDTH);
            if down == 1 {
                for j in (0..across).step_by(4) {
                    let wanted = [j, j + 1, j + 2, j + 3].map(|j| (j < across).then_some((0, j)));
                    let rhs = wanted.map(|tile| right(&self, tile.map_or(across - 1, |(_, j)| j)));
                    let lhs = left(&self, 0);
                    let product = |begin: Option<Places>, places: Places| {
                        // SAFETY: strips of this many tiles are read, places of a tile read and written.
                        unsafe {
                            match TERMS {
                                1 => amx::bf16::one_by_four(&tiles, count, lhs, rhs, strides, begin, places),
                                _ => {
                                    amx::bf16x3::one_by_four(&tiles, count, lhs, rhs, strides, begin, places)
                                }
                            }
                        }
                    };
                    if let Some((begin, places)) = self.direct([0, 1, 2, 3].map(|l| (0, j + l)), first) {
                        product(begin, places);
                        continue;
                    }
                    let (begin, places, direct) = self.places(wanted, first, &mut scratch);
                    product(begin, places);
                    self.put_all(wanted, direct, &scratch);
                }
                continue;
            }
            for j in (0..across).step_by(2) {
                let rhs = [j, j + 1].map(|j| right(&self, j.min(across - 1)));
                for i in (0..down).step_by(2) {
                    let lhs = [i, i + 1].map(|i| left(&self, i.min(down - 1)));
                    let product = |begin: Option<Places>, [a, b, c, d]: Places| {
                        let sums = [[a, b], [c, d]];
                        // SAFETY: strips of this many tiles are read, places of a tile read and written.
                        unsafe {
                            match TERMS {
                                1 => amx::bf16::two_by_two(&tiles, count, lhs, rhs, strides, begin, sums),
                                _ => amx::bf16x3::two_by_two(&tiles, count, lhs, rhs, strides, begin, sums),
                            }
                        }
                    };
                    let four = [(i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1)];
                    if let Some((begin, places)) = self.direct(four, first) {
                        product(begin, places);
                        continue;
                    }
                    let wanted = four.map(|(i, j)| (i < down && j < across).then_some((i, j)));
                    let (begin, places, direct) = self.places(wanted, first, &mut scratch);
                    product(begin, places);
                    self.put_all(wanted, direct, &scratch);
                }
            }
        }
        if let Some(alpha) = scale.filter(|alpha| *alpha != 1.0) {
            (0..self.dst.nrows()).for_each(|row| foretell_simd::scale(self.dst.row_mut(row), alpha));
        }
    }

    /// [`Product::places`] of four tiles all of which go to the destination itself, the last one being the rightmost and lowest.
    ///
    /// Nothing of it passes through memory: a read of what was just written in other parts would wait until the tiles written
    /// before are in the cache.
    #[inline(always)]
    fn direct(
        &mut self,
        [a, b, c, d]: [(usize, usize); 4],
        first: InitialSums<'_>,
    ) -> Option<(Option<Places>, Places)> {
        if !self.goes_direct(d) {
            return None;
        }
        let places = [self.place(a), self.place(b), self.place(c), self.place(d)];
        let begin = match first {
            InitialSums::Zeros => None,
            InitialSums::Destination => Some(places),
            InitialSums::Bias(values) => {
                let of = |(_, j): (usize, usize)| amx::Place {
                    start: values[j * WIDTH..][..WIDTH].as_ptr().cast_mut(),
                    row_bytes: 0,
                };
                Some([of(a), of(b), of(c), of(d)])
            }
        };
        Some((begin, places))
    }

    /// Whether sums of a tile go to the destination unchanged.
    #[inline(always)]
    fn goes_direct(&self, (i, j): (usize, usize)) -> bool {
        let plain = self.finish.is_plain() && self.dst.col_stride() == 1;
        plain && i * WIDTH + self.height <= self.dst.nrows() && (j + 1) * WIDTH <= self.dst.ncols()
    }

    /// Where a tile is in the destination.
    #[inline(always)]
    fn place(&mut self, (i, j): (usize, usize)) -> amx::Place<f32> {
        amx::Place {
            start: self.dst.ptr_at(i * WIDTH, j * WIDTH),
            row_bytes: self.dst.row_stride() * size_of::<f32>(),
        }
    }

    /// The places of the first values of four tiles of sums, unless these are zeros, and of their results: in the destination
    /// itself where no step is left for the end, else in `scratch`.
    fn places(
        &mut self,
        wanted: [Option<(usize, usize)>; 4],
        first: InitialSums<'_>,
        scratch: &mut [Scratch; 4],
    ) -> (Option<Places>, Places, [bool; 4]) {
        let direct = wanted.map(|tile| tile.is_some_and(|tile| self.goes_direct(tile)));
        let places: Places = std::array::from_fn(|tile| match wanted[tile] {
            Some(wanted) if direct[tile] => self.place(wanted),
            _ => amx::Place { start: scratch[tile].0.as_mut_ptr().cast(), row_bytes: WIDTH * 4 },
        });
        let begin = match first {
            InitialSums::Zeros => None,
            InitialSums::Destination => {
                for tile in 0..4 {
                    if let (Some((i, j)), false) = (wanted[tile], direct[tile]) {
                        self.get(i, j, &mut scratch[tile].0);
                    }
                }
                Some(places)
            }
            InitialSums::Bias(values) => Some(std::array::from_fn(|tile| {
                let values = wanted[tile].map_or(&[][..], |(_, j)| &values[j * WIDTH..]);
                let start = match values.first_chunk::<WIDTH>() {
                    Some(values) => values.as_ptr().cast_mut(),
                    None => {
                        let row = &mut scratch[tile].0[0];
                        row[..values.len()].copy_from_slice(values);
                        row.as_mut_ptr()
                    }
                };
                amx::Place { start, row_bytes: 0 }
            })),
        };
        (begin, places, direct)
    }

    /// Reads the destination's values at the tile `(i, j)`; beyond the destination `sums` stays unchanged.
    fn get(&mut self, i: usize, j: usize, sums: &mut Sums) {
        let (height, width) = (self.rows_of(i), (self.dst.ncols() - j * WIDTH).min(WIDTH));
        for (row, sums) in sums.iter_mut().enumerate().take(height) {
            for (l, sum) in sums.iter_mut().enumerate().take(width) {
                *sum = *self.dst.at(i * WIDTH + row, j * WIDTH + l);
            }
        }
    }

    fn put_all(&mut self, wanted: [Option<(usize, usize)>; 4], direct: [bool; 4], scratch: &[Scratch; 4]) {
        for (tile, sums) in scratch.iter().enumerate() {
            if let (Some((i, j)), false) = (wanted[tile], direct[tile]) {
                self.put(i, j, 0, &sums.0);
            }
        }
    }
}
