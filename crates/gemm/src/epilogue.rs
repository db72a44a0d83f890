//! The last step of a product's sums: bias and activation, in registers before they are written, or over a part of a result
//! that was just written.

use std::ops::Range;

use foretell_simd::Activation;

use crate::options::Bias;
use crate::vector::{Job, Vector, run};
use crate::view::MatMut;

/// Elements gathered at a time where rows are not adjacent.
const CHUNK: usize = 256;

/// Elements that an activation finds in the nearest cache after the bias was added to them.
const NEAR: usize = 1 << 12;

/// `activation(sum + bias)`.
#[derive(Clone, Copy)]
pub(crate) struct Epilogue<'a> {
    pub(crate) bias: Option<Bias<'a>>,
    pub(crate) activation: Activation,
}

impl<'a> Epilogue<'a> {
    pub(crate) const NONE: Self = Self { bias: None, activation: Activation::Identity };

    /// That of the transposed product.
    #[inline(always)]
    pub(crate) fn t(self) -> Self {
        Self { bias: self.bias.map(Bias::t), ..self }
    }

    /// That of some rows and columns.
    pub(crate) fn part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        Self { bias: self.bias.map(|bias| bias.part(rows, cols)), ..self }
    }

    /// The epilogue in registers, and the activation that is left for a pass over the result.
    #[inline(always)]
    pub(crate) fn split(self) -> (InRegisters<'a>, Activation) {
        let relu = matches!(self.activation, Activation::Relu);
        let left = if relu { Activation::Identity } else { self.activation };
        (InRegisters { bias: self.bias, relu }, left)
    }

    /// `dst = activation(dst + bias)`.
    #[inline]
    pub(crate) fn run(self, mut dst: MatMut<'_, f32>) {
        let Self { bias, activation } = self;
        if dst.nrows() == 0 || dst.ncols() == 0 || (bias.is_none() && activation == Activation::Identity) {
            return;
        }
        // Along the rows if they are adjacent, else along the columns.
        if dst.row_stride() == 1 && dst.col_stride() != 1 {
            return self.t().run(dst.t());
        }
        if dst.col_stride() == 1 || dst.ncols() == 1 {
            return self.along_rows(dst);
        }
        for i in 0..dst.nrows() {
            for first in (0..dst.ncols()).step_by(CHUNK) {
                let mut chunk = [0.0; CHUNK];
                let chunk = &mut chunk[..CHUNK.min(dst.ncols() - first)];
                for (j, value) in chunk.iter_mut().enumerate() {
                    *value = *dst.at(i, first + j);
                }
                add(bias, chunk, i, first);
                activation.apply(chunk);
                for (j, value) in chunk.iter().enumerate() {
                    *dst.at(i, first + j) = *value;
                }
            }
        }
    }

    /// [`Epilogue::run`] over rows of adjacent elements, with few calls of kernels: rows may be short.
    fn along_rows(self, mut dst: MatMut<'_, f32>) {
        if self.bias.is_none() {
            return activate(dst, self.activation);
        }
        let (in_registers, left) = self.split();
        let at_once = if left == Activation::Identity { dst.nrows() } else { NEAR.div_ceil(dst.ncols()) };
        for top in (0..dst.nrows()).step_by(at_once) {
            let bottom = dst.nrows().min(top + at_once);
            let mut rows = dst.reborrow().rows(top..bottom);
            match run(Rows { dst: rows.reborrow(), top, in_registers }) {
                None => activate(rows, left),
                // There are no vectors.
                Some(_) => {
                    for i in 0..rows.nrows() {
                        add(self.bias, rows.row_mut(i), top + i, 0);
                    }
                    activate(rows, self.activation);
                }
            }
        }
    }
}

/// `dst = activation(dst)`, whose rows are adjacent elements.
pub(crate) fn activate(mut dst: MatMut<'_, f32>, activation: Activation) {
    if activation == Activation::Identity {
        return;
    }
    if let Some(all) = dst.dense_mut() {
        return activation.apply(all);
    }
    for i in 0..dst.nrows() {
        activation.apply(dst.row_mut(i));
    }
}

/// Adds the bias to a part of row `i` that begins at column `first`.
fn add(bias: Option<Bias<'_>>, part: &mut [f32], i: usize, first: usize) {
    match bias {
        Some(Bias::PerColumn(values)) => foretell_simd::add_assign(part, &values[first..][..part.len()]),
        Some(Bias::PerRow(values)) => part.iter_mut().for_each(|x| *x += values[i]),
        None => {}
    }
}

/// Bias, and ReLU as `foretell-simd` computes it.
#[derive(Clone, Copy)]
pub(crate) struct InRegisters<'a> {
    bias: Option<Bias<'a>>,
    relu: bool,
}

impl<'a> InRegisters<'a> {
    /// The same for columns that fill a register, or for fewer of them.
    #[inline(always)]
    pub(crate) fn of_columns<V: Vector>(
        self,
        token: V::Token,
        cols: Range<usize>,
        load: impl Fn(V::Token, &[f32]) -> V,
    ) -> OfColumns<'a, V> {
        let (per_column, per_row) = match self.bias {
            Some(Bias::PerColumn(values)) => (Some(load(token, &values[cols])), None),
            Some(Bias::PerRow(values)) => (None, Some(values)),
            None => (None, None),
        };
        OfColumns { per_column, per_row, relu: self.relu }
    }
}

/// See [`InRegisters::of_columns`].
#[derive(Clone, Copy)]
pub(crate) struct OfColumns<'a, V> {
    per_column: Option<V>,
    per_row: Option<&'a [f32]>,
    relu: bool,
}

impl<V: Vector> OfColumns<'_, V> {
    /// The sums of row `i` after bias and activation.
    #[inline(always)]
    pub(crate) fn finish(self, token: V::Token, sums: V, i: usize) -> V {
        let bias = self.per_column.or_else(|| self.per_row.map(|values| V::splat(token, values[i])));
        let sums = bias.map_or(sums, |bias| V::splat(token, 1.0).fused(sums, bias));
        if self.relu { sums.or_zero(token) } else { sums }
    }
}

/// Rows of adjacent elements, the first of which is row `top` of the whole.
struct Rows<'d, 'a> {
    dst: MatMut<'d, f32>,
    top: usize,
    in_registers: InRegisters<'a>,
}

/// Rows that are gone through together, so that a bias is read once for them.
const TOGETHER: usize = 8;

impl Job for Rows<'_, '_> {
    #[inline(always)]
    fn run<V: Vector>(mut self, token: V::Token) {
        let (m, n) = (self.dst.nrows(), self.dst.ncols());
        for top in (0..m).step_by(TOGETHER) {
            let rows = top..m.min(top + TOGETHER);
            let whole = n - n % V::LANES;
            for j in (0..whole).step_by(V::LANES) {
                self.strip(token, rows.clone(), j..j + V::LANES, V::load);
            }
            if whole < n {
                self.strip(token, rows, whole..n, V::load_padded);
            }
        }
    }
}

impl Rows<'_, '_> {
    /// Columns that fill a register, or fewer.
    #[inline(always)]
    fn strip<V: Vector>(
        &mut self,
        token: V::Token,
        rows: Range<usize>,
        cols: Range<usize>,
        load: impl Fn(V::Token, &[f32]) -> V,
    ) {
        let in_registers = self.in_registers.of_columns(token, cols.clone(), &load);
        for i in rows {
            let part = &mut self.dst.row_mut(i)[cols.clone()];
            in_registers.finish(token, load(token, part), self.top + i).store(part);
        }
    }
}
