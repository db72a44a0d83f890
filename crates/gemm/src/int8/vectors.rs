//! Sums of products of bytes, tile by tile, for any set of instructions.

use std::ops::Range;

use super::lanes::Lanes;
use super::operands::{BLOCK, K_GROUP, PackedInt8, Rounded, STRIP, round, scales};
use crate::options::Accum;
use crate::view::{MatMut, MatRef};

/// A product of some blocks of columns, which are all that the destination has.
pub(crate) struct Job<'a> {
    pub(crate) dst: MatMut<'a, f32>,
    pub(crate) lhs: &'a Rounded,
    pub(crate) rhs: &'a PackedInt8,
    pub(crate) blocks: Range<usize>,
    pub(crate) accum: Accum,
    pub(crate) alpha: f32,
}

/// Rounds the rows of a matrix, each with a scale of its own.
///
/// # Safety
///
/// The machine has the instructions.
#[inline(always)]
pub(crate) unsafe fn round_rows<L: Lanes>(matrix: MatRef<'_, f32>, rounded: &mut Rounded) {
    let k = matrix.ncols();
    for i in 0..matrix.nrows() {
        let row = &mut rounded.values[i * rounded.width..(i + 1) * rounded.width];
        let scale;
        if matrix.col_stride() == 1 {
            let numbers = &matrix.row(i)[..k];
            let inverse;
            (scale, inverse) = scales(numbers.iter().copied());
            for (to, x) in row.iter_mut().zip(numbers) {
                *to = round(*x, inverse) ^ L::FLIP;
            }
        } else {
            // SAFETY: rows and columns are the matrix's.
            let at = |p: usize| unsafe { matrix.get_unchecked(i, p) };
            let inverse;
            (scale, inverse) = scales((0..k).map(at));
            for (p, to) in row[..k].iter_mut().enumerate() {
                *to = round(at(p), inverse) ^ L::FLIP;
            }
        }
        // The padding meets weights that are zero.
        row[k..].fill(0);
        rounded.scales[i] = scale;
    }
}

/// The product, tile by tile.
///
/// # Safety
///
/// The machine has the instructions.
#[inline(always)]
pub(crate) unsafe fn product<L: Lanes>(mut job: Job<'_>) {
    let m = job.dst.nrows();
    for index in job.blocks.clone() {
        let (start, strips) = job.rhs.block(index);
        let mut i = 0;
        while i < m {
            // A tile of one row has more columns, since it reads each weight once.
            let (rows, across) = match m - i {
                left if left >= L::ROWS => (L::ROWS, L::STRIPS),
                4.. => (4, L::STRIPS),
                2.. => (2, L::STRIPS),
                _ => (1, L::STRIPS_OF_ROW),
            };
            let mut strip = 0;
            while strip < strips {
                let place = Place { start, strips, strip, block: index, row: i };
                // SAFETY: the caller's contract.
                strip += unsafe {
                    match (rows, across.min(strips - strip)) {
                        (6, 4) => tile::<L, 6, 4, 1>(&mut job, place),
                        (6, 2..) => tile::<L, 6, 2, 1>(&mut job, place),
                        (6, _) => tile::<L, 6, 1, 1>(&mut job, place),
                        (4, 4) => tile::<L, 4, 4, 1>(&mut job, place),
                        (4, 2..) => tile::<L, 4, 2, 1>(&mut job, place),
                        (4, _) => tile::<L, 4, 1, 1>(&mut job, place),
                        (2, 4) => tile::<L, 2, 4, 1>(&mut job, place),
                        (2, 2..) => tile::<L, 2, 2, 2>(&mut job, place),
                        (2, _) => tile::<L, 2, 1, 2>(&mut job, place),
                        (_, 4) => tile::<L, 1, 4, 2>(&mut job, place),
                        (_, 2..) => tile::<L, 1, 2, 2>(&mut job, place),
                        (_, _) => tile::<L, 1, 1, 2>(&mut job, place),
                    }
                };
            }
            i += rows;
        }
    }
}

/// Where a tile is.
#[derive(Clone, Copy)]
struct Place {
    /// The block's first weight, the strips it has, and the tile's first of them.
    start: usize,
    strips: usize,
    strip: usize,
    block: usize,
    row: usize,
}

/// `I` rows and `J` strips, in `U` sets of sums that take turns, so that no addition waits for the one before it;
/// returns `J`.
///
/// # Safety
///
/// The machine has the instructions.
#[inline(always)]
unsafe fn tile<L: Lanes, const I: usize, const J: usize, const U: usize>(
    job: &mut Job<'_>,
    place: Place,
) -> usize {
    // Registers of a strip: at most as many as it has columns.
    let parts = const { STRIP / L::COLUMNS };
    let Place { start, strips, strip, block, row } = place;
    let (lhs, rhs) = (job.lhs, job.rhs);
    let depth = lhs.width / K_GROUP;
    assert!(strip + J <= strips && start + depth * strips * STRIP * K_GROUP <= rhs.values.len());
    assert!((row + I) * lhs.width <= lhs.values.len() && depth == rhs.rows.div_ceil(K_GROUP));
    let mut totals = [[[0; STRIP]; J]; I];
    // One part of the strips after the other where a strip takes several registers.
    for part in 0..parts {
        // SAFETY: the caller's contract.
        let mut sums = [[[unsafe { L::zero() }; J]; I]; U];
        let first = rhs.values.as_ptr().wrapping_add(start + (strip * STRIP + part * L::COLUMNS) * K_GROUP);
        let mut p = 0;
        while p + U <= depth {
            for u in 0..U {
                // SAFETY: the assertions; `p + u` is below the depth.
                unsafe { add_four::<L, I, J>(&mut sums[u], lhs, first, (row, p + u), strips) };
            }
            p += U;
        }
        while p < depth {
            // SAFETY: as above.
            unsafe { add_four::<L, I, J>(&mut sums[0], lhs, first, (row, p), strips) };
            p += 1;
        }
        for i in 0..I {
            for j in 0..J {
                let mut total = sums[0][i][j];
                for u in 1..U {
                    // SAFETY: the caller's contract.
                    total = unsafe { L::join(total, sums[u][i][j]) };
                }
                let to = &mut totals[i][j][part * L::COLUMNS..(part + 1) * L::COLUMNS];
                // SAFETY: the caller's contract; as many places as lanes.
                unsafe { L::store(total, to.as_mut_ptr()) };
            }
        }
    }
    for i in 0..I {
        for j in 0..J {
            // SAFETY: the caller's contract.
            unsafe { put::<L>(job, row + i, block * BLOCK + strip + j, &totals[i][j], L::FLIP) };
        }
    }
    J
}

/// Adds the products of four rows of the right operand.
///
/// # Safety
///
/// The machine has the instructions; the left operand has `row + I` rows and `p` times four columns and four more; the weights
/// at `first + p * strips * 64` and the following strips' exist.
#[inline(always)]
unsafe fn add_four<L: Lanes, const I: usize, const J: usize>(
    sums: &mut [[L::Register; J]; I],
    lhs: &Rounded,
    first: *const i8,
    (row, p): (usize, usize),
    strips: usize,
) {
    // SAFETY: the caller's contract.
    let mut weights = [unsafe { L::zero() }; J];
    for j in 0..J {
        // SAFETY: the caller's contract.
        weights[j] = unsafe { L::load(first.add((p * strips + j) * STRIP * K_GROUP)) };
    }
    for i in 0..I {
        // SAFETY: the caller's contract; bytes are aligned anywhere.
        let four = unsafe {
            let place = lhs.values.as_ptr().add((row + i) * lhs.width + p * K_GROUP);
            L::splat(place.cast::<[u8; 4]>().read())
        };
        for j in 0..J {
            // SAFETY: the caller's contract.
            sums[i][j] = unsafe { L::add(sums[i][j], four, weights[j]) };
        }
    }
}

/// Scales the sums of a strip and writes them to their row of the destination. They are too large by `flip` times the sum of
/// their column's weights.
///
/// # Safety
///
/// The machine has the instructions.
#[inline(always)]
pub(crate) unsafe fn put<L: Lanes>(job: &mut Job<'_>, i: usize, strip: usize, sums: &[i32; STRIP], flip: u8) {
    let first = strip * STRIP;
    let scale = job.lhs.scales[i];
    let scales: &[f32; STRIP] = job.rhs.scales[first..].first_chunk().expect("a scale for each column");
    let columns: &[i32; STRIP] = job.rhs.sums[first..].first_chunk().expect("a sum for each column");
    let at = first - job.blocks.start * BLOCK * STRIP;
    let row = job.dst.row_mut(i);
    let end = row.len().min(at + STRIP);
    let row = &mut row[at..end];
    let (sums, factors) = ([sums, columns], [scale, job.alpha]);
    let adds = job.accum == Accum::Add;
    // Called where they stand: a closure would not have the instructions.
    match row.first_chunk_mut::<STRIP>() {
        Some(row) => {
            let before = if adds { *row } else { [0.0; STRIP] };
            // SAFETY: the caller's contract.
            *row = unsafe { L::scaled(&before, sums, flip.into(), scales, factors) };
        }
        None => {
            let mut before = [0.0; STRIP];
            if adds {
                before[..row.len()].copy_from_slice(row);
            }
            // SAFETY: the caller's contract.
            let values = unsafe { L::scaled(&before, sums, flip.into(), scales, factors) };
            row.copy_from_slice(&values[..row.len()]);
        }
    }
}
