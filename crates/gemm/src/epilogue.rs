//! Bias and activation over a part of a result that was just written.

use foretell_simd::Activation;

use crate::options::Bias;
use crate::view::MatMut;

/// Elements gathered at a time where rows are not adjacent.
const CHUNK: usize = 256;

/// `dst = activation(dst + bias)`.
#[inline]
pub(crate) fn epilogue(mut dst: MatMut<'_, f32>, bias: Option<Bias<'_>>, activation: Activation) {
    if dst.nrows() == 0 || dst.ncols() == 0 || (bias.is_none() && activation == Activation::Identity) {
        return;
    }
    // Along the rows if they are adjacent, else along the columns.
    if dst.row_stride() == 1 && dst.col_stride() != 1 {
        return epilogue(dst.t(), bias.map(|bias| bias.t()), activation);
    }
    if bias.is_none()
        && let Some(all) = dst.dense_mut()
    {
        return activation.apply(all);
    }
    let adjacent = dst.col_stride() == 1 || dst.ncols() == 1;
    for i in 0..dst.nrows() {
        if adjacent {
            finish(dst.row_mut(i), bias, i, 0, activation);
            continue;
        }
        for first in (0..dst.ncols()).step_by(CHUNK) {
            let mut chunk = [0.0; CHUNK];
            let chunk = &mut chunk[..CHUNK.min(dst.ncols() - first)];
            for (j, value) in chunk.iter_mut().enumerate() {
                *value = *dst.at(i, first + j);
            }
            finish(chunk, bias, i, first, activation);
            for (j, value) in chunk.iter().enumerate() {
                *dst.at(i, first + j) = *value;
            }
        }
    }
}

/// A part of row `i` that begins at column `first`.
fn finish(part: &mut [f32], bias: Option<Bias<'_>>, i: usize, first: usize, activation: Activation) {
    match bias {
        Some(Bias::PerColumn(values)) => foretell_simd::add_assign(part, &values[first..][..part.len()]),
        Some(Bias::PerRow(values)) => part.iter_mut().for_each(|x| *x += values[i]),
        None => {}
    }
    activation.apply(part);
}
