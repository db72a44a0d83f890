//! Products in tiles of AMX: 16 rows by 16 columns, 64 numbers along the inner dimension at a time.

use super::lanes::{Scalar, x86::Avx512Vnni};
use super::operands::{BLOCK, K_GROUP, STRIP, TAIL_BYTES};
use super::vectors::{Job, put};
use crate::amx::{self, Place, ROW_BYTES, ROWS, Strides, Tiles};

/// The left operand's numbers are signed here, as the weights are.
const NO_FLIP: u8 = 0;

/// A tile of sums on lines of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sums([[i32; STRIP]; ROWS]);

/// Two by two tiles, of which the last ones of an odd number are computed twice; a single tile of rows by four.
///
/// # Safety
///
/// The machine has tiles of int8, and AVX-512. The left operand's rows are filled up to 64 numbers with zeros, and to 16 rows
/// with any.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")]
pub(crate) unsafe fn product(mut job: Job<'_>) {
    let (lhs, rhs) = (job.lhs, job.rhs);
    let down = job.dst.nrows().div_ceil(ROWS);
    let tiles_deep = lhs.width / ROW_BYTES;
    assert!(down * ROWS * lhs.width <= lhs.values.len() && lhs.width == rhs.rows.next_multiple_of(ROW_BYTES));
    if tiles_deep == 0 {
        return zeros(&mut job);
    }
    let mut scratch = [Sums([[0; STRIP]; ROWS]); 4];
    // SAFETY: the caller's contract.
    let tiles = unsafe { Tiles::configure(ROWS) };
    for block in job.blocks.clone() {
        let (start, strips) = rhs.block(block);
        let row_bytes = strips * STRIP * K_GROUP;
        // Rows after the last ones of a block are those of the next one, or the [`TAIL_BYTES`] bytes, and meet zeros.
        assert!(start + rhs.rows.div_ceil(K_GROUP) * row_bytes + TAIL_BYTES <= rhs.values.len());
        let strides = [
            Strides { row_bytes: lhs.width, tile_bytes: ROW_BYTES },
            Strides { row_bytes, tile_bytes: ROWS * row_bytes },
        ];
        let left = |i: usize| lhs.values.as_ptr().wrapping_add(i.min(down - 1) * ROWS * lhs.width);
        let right = |j: usize| {
            rhs.values.as_ptr().wrapping_add(start + j.min(strips - 1) * STRIP * K_GROUP).cast::<u8>()
        };
        let places = scratch.each_mut().map(|sums| Place {
            start: sums.0.as_mut_ptr().cast::<i32>(),
            row_bytes: STRIP * size_of::<i32>(),
        });
        if down == 1 {
            let rhs = [right(0), right(1), right(2), right(3)];
            // SAFETY: this many tiles are read of either operand; the places are tiles.
            unsafe { amx::int8::one_by_four(&tiles, tiles_deep, left(0), rhs, strides, None, places) };
            for j in 0..strips {
                // SAFETY: the caller's contract.
                unsafe { put_all(&mut job, 0, block * BLOCK + j, &scratch[j]) };
            }
            continue;
        }
        for j in (0..strips).step_by(2) {
            for i in (0..down).step_by(2) {
                let [a, b, c, d] = places;
                let (lhs, rhs) = ([left(i), left(i + 1)], [right(j), right(j + 1)]);
                // SAFETY: as above.
                unsafe {
                    amx::int8::two_by_two(&tiles, tiles_deep, lhs, rhs, strides, None, [[a, b], [c, d]]);
                };
                for (tile, sums) in scratch.iter().enumerate() {
                    let (i, j) = (i + tile / 2, j + tile % 2);
                    if i < down && j < strips {
                        // SAFETY: the caller's contract.
                        unsafe { put_all(&mut job, i, block * BLOCK + j, sums) };
                    }
                }
            }
        }
    }
}

/// Writes a tile of sums to the destination.
///
/// # Safety
///
/// The machine has AVX-512.
#[inline(always)]
unsafe fn put_all(job: &mut Job<'_>, tile: usize, strip: usize, sums: &Sums) {
    let rows = tile * ROWS..job.dst.nrows().min((tile + 1) * ROWS);
    for (row, sums) in rows.zip(&sums.0) {
        // SAFETY: the caller's contract; of these lanes `put` calls `scaled` alone, which takes no more than AVX-512.
        unsafe { put::<Avx512Vnni>(job, row, strip, sums, NO_FLIP) };
    }
}

/// The product over an empty inner dimension.
fn zeros(job: &mut Job<'_>) {
    for block in job.blocks.clone() {
        for strip in 0..job.rhs.block(block).1 {
            for row in 0..job.dst.nrows() {
                // SAFETY: the plain code needs no instructions.
                unsafe { put::<Scalar>(job, row, block * BLOCK + strip, &[0; STRIP], NO_FLIP) };
            }
        }
    }
}
