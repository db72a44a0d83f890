//! The transpose of a matrix, written out.

use crate::options::Accum;
use crate::vector::{Job, Vector, load, run, transpose_square};
use crate::view::{MatMut, MatRef};

/// `dst = srcᵀ` or `dst += srcᵀ`, in squares that are transposed in registers where the rows of both matrices are
/// adjacent elements.
///
/// # Panics
///
/// If the shapes do not fit.
#[track_caller]
pub fn transpose(mut dst: MatMut<'_, f32>, src: MatRef<'_, f32>, accum: Accum) {
    let (rows, cols) = (src.nrows(), src.ncols());
    assert!(
        (dst.nrows(), dst.ncols()) == (cols, rows),
        "the transpose of {rows}x{cols} does not fit a destination of {}x{}",
        dst.nrows(),
        dst.ncols()
    );
    if dst.col_stride() == 1
        && src.col_stride() == 1
        && run(Transpose { dst: dst.reborrow(), src, accum }).is_none()
    {
        return;
    }
    for i in 0..rows {
        for j in 0..cols {
            let (from, place) = (src.data()[i * src.row_stride() + j * src.col_stride()], dst.at(j, i));
            match accum {
                Accum::Replace => *place = from,
                Accum::Add => *place += from,
            }
        }
    }
}

struct Transpose<'d, 'a> {
    dst: MatMut<'d, f32>,
    src: MatRef<'a, f32>,
    accum: Accum,
}

impl Job for Transpose<'_, '_> {
    #[inline(always)]
    fn run<V: Vector>(mut self, token: V::Token) {
        let (rows, cols) = (self.src.nrows(), self.src.ncols());
        for i in (0..rows).step_by(V::LANES) {
            let height = V::LANES.min(rows - i);
            for j in (0..cols).step_by(V::LANES) {
                let mut square = [V::splat(token, 0.0); 16];
                for l in 0..V::LANES {
                    if l < height {
                        square[l] = load::<V>(token, &self.src.row(i + l)[j..]);
                    }
                }
                transpose_square::<V>(&mut square);
                for l in 0..V::LANES {
                    if l < cols - j {
                        let place = &mut self.dst.row_mut(j + l)[i..i + height];
                        let sum = match self.accum {
                            Accum::Replace => square[l],
                            Accum::Add => V::splat(token, 1.0).fused(square[l], load::<V>(token, place)),
                        };
                        sum.store(place);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_simd::{Level, with_level};

    use super::*;

    #[test]
    fn every_size_at_every_level() {
        for level in Level::available() {
            with_level(level, || {
                for (rows, cols) in [(0, 3), (3, 0), (1, 1), (16, 16), (8, 5), (17, 33), (40, 7)] {
                    // With gaps between rows, and with columns that are adjacent.
                    for strides in [(cols + 3, 1), (1, rows)] {
                        let x: Vec<f32> = (0..rows * (cols + 3)).map(|i| i as f32).collect();
                        let src = MatRef::new(&x, rows, cols, strides.0, strides.1);
                        for accum in [Accum::Replace, Accum::Add] {
                            let mut y = vec![0.5; cols * (rows + 1)];
                            transpose(MatMut::new(&mut y, cols, rows, rows + 1, 1), src, accum);
                            for (at, &found) in y.iter().enumerate() {
                                let (j, i) = (at / (rows + 1), at % (rows + 1));
                                let old = if accum == Accum::Add || i == rows { 0.5 } else { 0.0 };
                                let new = if i < rows { x[i * strides.0 + j * strides.1] } else { 0.0 };
                                assert_eq!(found, old + new, "{level}, {rows}x{cols}, ({i}, {j})");
                            }
                        }
                    }
                }
            });
        }
    }

    #[test]
    #[should_panic(expected = "the transpose of 1x2 does not fit a destination of 1x2")]
    fn shapes_must_fit() {
        let src = MatRef::row_major(&[0.0; 2], 1, 2);
        transpose(MatMut::row_major(&mut [0.0; 2], 1, 2), src, Accum::Replace);
    }
}
