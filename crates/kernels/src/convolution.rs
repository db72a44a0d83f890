//! Convolutions with the channels last, over sequences and planes, as products of matrices on the input in place: a
//! sequence `[batch, time, channels]` is a plane `[batch, height, width, channels]` of height 1.
//!
//! PyTorch's layers slide a kernel `w [outputs, inputs / groups, height, width]` over the input:
//!
//! ```text
//! y[t, o] = b[o] + Σ_k Σ_c w[o, c, k] x[t stride + k dilation - before, c]
//! ```
//!
//! With the channels last and no dilation, the values under the kernel's width are neighbours: `width * inputs`
//! numbers from step t on, a row of a matrix whose rows overlap. So each row of the kernel is one product of
//! matrices, and no patches are written out. With dilation each tap is a product of its own, on rows that are as long
//! as there are inputs. Where there is padding, or are groups, the input is copied once. Where each channel is a group,
//! rows are multiplied element by element.
//!
//! # Derivation of the backward pass
//!
//! With g the gradient of y, `dw[o, c, k] = Σ_t g[t, o] x[t stride + k dilation - before, c]` is the product of g with
//! the same overlapping rows, and `dx` gets `Σ_o g[t, o] w[o, c, k]` at each place that x was read from: one product
//! for each tap, added to rows that do not overlap.

use std::ops::Range;

use foretell_gemm::{
    Accum, Activation, BatchMut, BatchRef, Bias, MatMut, MatRef, Options, Rounding, matmul, matmul_batched,
    transpose,
};
use foretell_simd as simd;
use foretell_threads as threads;

use crate::column_sums::add_column_sums;

/// Multiply-adds of a convolution's product that take about as long as one number in a plain pass over memory: an estimate,
/// twice that for products of batches of matrices in foretell-autograd. Where sums are cut, and so their bits, follows from it.
const PRODUCTS_PER_NUMBER: usize = 16;

/// A convolution and the sizes of what it is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Sequences or planes.
    pub batch: usize,
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Groups of channels that do not see each other, each with as many inputs and as many outputs.
    pub groups: usize,
    /// The side of the plane along which rows follow each other; [`Side::ONE`] for sequences.
    pub height: Side,
    /// The side of the plane along which the values of a row follow each other: time, for sequences.
    pub width: Side,
    /// The numbers that the padding holds.
    pub beyond: PaddingMode,
    /// How the operands of its products are rounded.
    pub rounding: Rounding,
}

/// A side of a plane and how the kernel moves along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Steps of the input.
    pub size: usize,
    /// Steps of the kernel.
    pub kernel: usize,
    /// Steps of the input from one output to the next.
    pub stride: usize,
    /// Steps of the input from one step of the kernel to the next.
    pub dilation: usize,
    /// Steps of padding before and behind.
    pub padding: [usize; 2],
}

/// The numbers that a convolution reads beyond the ends of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaddingMode {
    /// Zeros.
    Zeros,
    /// The other end: the input is a circle (PyTorch's `padding_mode="circular"`).
    Circular,
}

impl Side {
    /// The height of a sequence.
    pub const ONE: Self = Self { size: 1, kernel: 1, stride: 1, dilation: 1, padding: [0; 2] };

    /// Steps of the input with its padding.
    pub fn padded(&self) -> usize {
        self.size + self.padding[0] + self.padding[1]
    }

    /// Steps of the output; 0 where the kernel does not fit in.
    ///
    /// # Panics
    /// If the kernel or the stride is 0.
    #[track_caller]
    pub fn output(&self) -> usize {
        assert!(self.kernel > 0 && self.stride > 0, "a kernel or stride of 0: {self:?}");
        let reach = (self.kernel - 1) * self.dilation + 1;
        (self.padded() + self.stride).saturating_sub(reach) / self.stride
    }

    /// The contiguous parts of the padded side: the first step of each, where it comes from in the input (`None` for
    /// zeros), and the number of its steps.
    fn runs(&self, beyond: PaddingMode) -> [(usize, Option<usize>, usize); 3] {
        let [before, after] = self.padding;
        let (front, back) = match beyond {
            PaddingMode::Zeros => (None, None),
            PaddingMode::Circular => (Some(self.size - before), Some(0)),
        };
        [(0, front, before), (before, Some(0), self.size), (before + self.size, back, after)]
    }
}

/// Products that are one batch: where the first begins in the padded input and in the output, and the steps to the
/// next.
struct Products {
    count: usize,
    x: usize,
    x_step: usize,
    y: usize,
    y_step: usize,
}

impl Convolution {
    /// Values of the input, `[batch, height, width, inputs]`.
    pub fn input_len(&self) -> usize {
        self.batch * self.height.size * self.width.size * self.inputs
    }

    /// Values of the output, `[batch, height, width, outputs]`.
    ///
    /// # Panics
    /// If a kernel or a stride is 0.
    #[track_caller]
    pub fn output_len(&self) -> usize {
        self.batch * self.height.output() * self.width.output() * self.outputs
    }

    /// Values of the kernel, `[outputs, inputs / groups, height, width]`.
    pub fn weight_len(&self) -> usize {
        self.outputs * self.group_inputs() * self.taps()
    }

    /// Values of the copy that [`Convolution::pad`] writes; 0 where the input serves as it is.
    pub fn padded_len(&self) -> usize {
        if self.blocks() == 1 && self.height.padding == [0; 2] && self.width.padding == [0; 2] {
            return 0;
        }
        self.batch * self.blocks() * self.plane()
    }

    fn group_inputs(&self) -> usize {
        self.inputs / self.groups
    }

    fn group_outputs(&self) -> usize {
        self.outputs / self.groups
    }

    /// Parts that the padded input is cut into: the groups, unless each is a channel.
    fn blocks(&self) -> usize {
        if self.is_depthwise() { 1 } else { self.groups }
    }

    /// Channels that are neighbours in the padded input.
    fn channels(&self) -> usize {
        self.inputs / self.blocks()
    }

    fn taps(&self) -> usize {
        self.height.kernel * self.width.kernel
    }

    /// Values of a padded plane of one group.
    fn plane(&self) -> usize {
        self.height.padded() * self.width.padded() * self.channels()
    }

    /// Panics unless the sizes make a convolution.
    #[track_caller]
    pub fn check(&self) {
        let Self { inputs, outputs, groups, height, width, beyond, .. } = *self;
        let whole = groups > 0 && inputs.is_multiple_of(groups) && outputs.is_multiple_of(groups);
        assert!(whole, "{groups} groups do not divide {inputs} inputs and {outputs} outputs");
        for side in [height, width] {
            let moves = side.kernel > 0 && side.stride > 0 && side.dilation > 0;
            assert!(moves, "a kernel, stride or dilation of 0: {side:?}");
            let around = beyond == PaddingMode::Zeros || side.padding.iter().all(|&steps| steps <= side.size);
            assert!(around, "padding goes around a circle at most once: {side:?}");
        }
    }

    /// Writes the input with its padding, group by group, to `padded`, of [`Convolution::padded_len`] values.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn pad(&self, x: &[f32], padded: &mut [f32]) {
        assert_eq!(x.len(), self.input_len(), "inputs of {self:?}");
        assert_eq!(padded.len(), self.padded_len(), "padded inputs of {self:?}");
        self.walk_padding(|to, from, len| match from {
            Some(from) => padded[to..to + len].copy_from_slice(&x[from..from + len]),
            None => padded[to..to + len].fill(0.0),
        });
    }

    /// The transpose of [`Convolution::pad`]: the gradient of the input from that of the padded one.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn unpad(&self, padded: &[f32], dx: &mut [f32], accum: Accum) {
        assert_eq!(dx.len(), self.input_len(), "inputs of {self:?}");
        assert_eq!(padded.len(), self.padded_len(), "padded inputs of {self:?}");
        if accum == Accum::Replace {
            dx.fill(0.0);
        }
        self.walk_padding(|from, to, len| {
            if let Some(to) = to {
                simd::add_assign(&mut dx[to..to + len], &padded[from..from + len]);
            }
        });
    }

    /// Visits all contiguous runs of the padded input: where each begins, where it comes from in the input (`None`
    /// for zeros), and its length.
    fn walk_padding(&self, mut visit: impl FnMut(usize, Option<usize>, usize)) {
        if self.padded_len() == 0 {
            return;
        }
        let (channels, row) = (self.channels(), self.width.padded() * self.channels());
        for plane in 0..self.batch * self.blocks() {
            let (b, group) = (plane / self.blocks(), plane % self.blocks());
            for (top, from_top, rows) in self.height.runs(self.beyond) {
                for y in 0..rows {
                    let to = plane * self.plane() + (top + y) * row;
                    let Some(from_top) = from_top else {
                        visit(to, None, row);
                        continue;
                    };
                    let from = (b * self.height.size + from_top + y) * self.width.size;
                    for (left, from_left, steps) in self.width.runs(self.beyond) {
                        let to = to + left * channels;
                        match from_left {
                            None => visit(to, None, steps * channels),
                            Some(left) if self.blocks() == 1 => {
                                visit(to, Some((from + left) * channels), steps * channels);
                            }
                            Some(left) => (0..steps).for_each(|t| {
                                let from = (from + left + t) * self.inputs + group * channels;
                                visit(to + t * channels, Some(from), channels);
                            }),
                        }
                    }
                }
            }
        }
    }

    /// Writes a kernel `[outputs, inputs / groups, taps]` as the products read it: as `[outputs, taps, inputs / groups]`,
    /// or where each group is a channel as `[taps, channels]`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn arrange(&self, weight: &[f32], arranged: &mut [f32]) {
        assert_eq!(weight.len(), self.weight_len(), "weights of {self:?}");
        assert_eq!(arranged.len(), self.weight_len(), "weights of {self:?}");
        transpose_each(weight, self.channels(), self.taps(), arranged, Accum::Replace);
    }

    /// The transpose of [`Convolution::arrange`]: the gradient of a kernel from that of the arranged one.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn unarrange(&self, arranged: &[f32], weight: &mut [f32], accum: Accum) {
        assert_eq!(weight.len(), self.weight_len(), "weights of {self:?}");
        assert_eq!(arranged.len(), self.weight_len(), "weights of {self:?}");
        transpose_each(arranged, self.taps(), self.channels(), weight, accum);
    }

    /// Parts of the kernel whose values are neighbours in the padded input: where they begin from the place of the
    /// first, and their columns in the arranged kernel.
    fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let together = if self.width.dilation == 1 { self.width.kernel } else { 1 };
        self.places(together)
    }

    /// The kernel in parts of `together` neighbouring steps.
    pub(crate) fn places(&self, together: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let Self { height, width, .. } = *self;
        let channels = self.channels();
        let kernel =
            (0..height.kernel).flat_map(move |y| (0..width.kernel).step_by(together).map(move |x| (y, x)));
        kernel.map(move |(y, x)| {
            let at = (y * height.dilation * width.padded() + x * width.dilation) * channels;
            let first = (y * width.kernel + x) * channels;
            (at, first..first + together * channels)
        })
    }

    /// The batches of products for one group.
    fn products(&self, group: usize) -> impl Iterator<Item = Products> {
        let (rows, row) = (self.height.output(), self.width.output() * self.outputs);
        let planes = self.groups * self.plane();
        let (x, y) = (group * self.plane(), group * self.group_outputs());
        let step = self.height.stride * self.width.padded() * self.group_inputs();
        let (calls, count) = if rows == 1 { (1, self.batch) } else { (self.batch, rows) };
        let (x_step, y_step) = if rows == 1 { (planes, row) } else { (step, row) };
        (0..calls).map(move |b| Products { count, x: x + b * planes, x_step, y: y + b * rows * row, y_step })
    }

    /// Rows of the padded input that a part of the kernel covers: their sizes and steps.
    fn rows(&self, len: usize) -> ((usize, usize), (usize, usize)) {
        ((self.width.output(), len), (self.width.stride * self.group_inputs(), 1))
    }

    /// Rows of one group of the output: their sizes and steps.
    fn output_rows(&self) -> ((usize, usize), (usize, usize)) {
        ((self.width.output(), self.group_outputs()), (self.outputs, 1))
    }

    /// Columns of the arranged kernel of one group, `[outputs, columns]`, repeated for a batch.
    fn kernel<'a>(
        &self,
        arranged: &'a [f32],
        group: usize,
        columns: &Range<usize>,
        count: usize,
    ) -> BatchRef<'a> {
        let (rows, cols) = (self.group_outputs(), self.taps() * self.group_inputs());
        let first = group * rows * cols + columns.start;
        BatchRef::new(&arranged[first..], count, 0, (rows, columns.len()), (cols, 1))
    }

    /// `activation(x * w + b)`: `out [batch, height, width, outputs]` from the padded input (or the input itself where
    /// [`Convolution::padded_len`] is 0), the arranged kernel, and a bias `[outputs]`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn forward(
        &self,
        padded: &[f32],
        arranged: &[f32],
        bias: Option<&[f32]>,
        activation: Activation,
        out: &mut [f32],
    ) {
        self.check_lens(padded, arranged, out);
        assert!(bias.is_none_or(|bias| bias.len() == self.outputs), "biases of {self:?}");
        if out.is_empty() {
            return;
        }
        if self.is_depthwise() {
            return self.depthwise_forward(padded, arranged, bias, activation, out);
        }
        let parts = self.parts().count();
        for group in 0..self.groups {
            let bias = bias.map(|bias| &bias[group * self.group_outputs()..][..self.group_outputs()]);
            for (i, (at, columns)) in self.parts().enumerate() {
                let last = i + 1 == parts;
                let options = Options::default()
                    .accum(if i == 0 { Accum::Replace } else { Accum::Add })
                    .bias(bias.filter(|_| last).map(Bias::PerColumn))
                    .activation(if last { activation } else { Activation::Identity })
                    .rounding(self.rounding);
                let ((size, steps), (row_size, row_steps)) = (self.output_rows(), self.rows(columns.len()));
                for Products { count, x, x_step, y, y_step } in self.products(group) {
                    matmul_batched(
                        BatchMut::new(&mut out[y..], count, y_step, size, steps),
                        BatchRef::new(&padded[x + at..], count, x_step, row_size, row_steps),
                        self.kernel(arranged, group, &columns, count).t(),
                        options,
                    );
                }
            }
        }
    }

    /// Writes the gradient of the arranged kernel, given that of the output, over what `arranged` holds.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn weight_gradient(&self, padded: &[f32], grad: &[f32], arranged: &mut [f32]) {
        self.check_lens(padded, arranged, grad);
        arranged.fill(0.0);
        if grad.is_empty() {
            return;
        }
        if self.is_depthwise() {
            return self.depthwise_weight_gradient(padded, grad, arranged);
        }
        let cols = self.taps() * self.group_inputs();
        let options = Options::default().accum(Accum::Add).rounding(self.rounding);
        let cost = self.width.output() * self.group_outputs() * cols / PRODUCTS_PER_NUMBER;
        for (group, kernel) in arranged.chunks_exact_mut((self.group_outputs() * cols).max(1)).enumerate() {
            for Products { count, x, x_step, y, y_step } in self.products(group) {
                threads::sums(count, cost, kernel, |range, kernel| {
                    for (i, (at, columns)) in range.flat_map(|i| self.parts().map(move |part| (i, part))) {
                        let ((steps, outputs), (step, _)) = self.output_rows();
                        let grad = MatRef::new(&grad[y + i * y_step..], steps, outputs, step, 1);
                        let ((steps, len), (step, _)) = self.rows(columns.len());
                        let rows = MatRef::new(&padded[x + i * x_step + at..], steps, len, step, 1);
                        let kernel = MatMut::row_major(&mut *kernel, outputs, cols).cols(columns);
                        matmul(kernel, grad.t(), rows, options);
                    }
                });
            }
        }
    }

    /// Writes the gradient of the padded input, given that of the output, over what `padded` holds.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn input_gradient(&self, arranged: &[f32], grad: &[f32], padded: &mut [f32]) {
        self.check_lens(padded, arranged, grad);
        padded.fill(0.0);
        if grad.is_empty() {
            return;
        }
        if self.is_depthwise() {
            return self.depthwise_input_gradient(arranged, grad, padded);
        }
        let options = Options::default().accum(Accum::Add).rounding(self.rounding);
        for group in 0..self.groups {
            for (at, columns) in self.places(1) {
                let ((size, steps), (row_size, row_steps)) = (self.output_rows(), self.rows(columns.len()));
                for Products { count, x, x_step, y, y_step } in self.products(group) {
                    matmul_batched(
                        BatchMut::new(&mut padded[x + at..], count, x_step, row_size, row_steps),
                        BatchRef::new(&grad[y..], count, y_step, size, steps),
                        self.kernel(arranged, group, &columns, count),
                        options,
                    );
                }
            }
        }
    }

    /// Adds the gradient of the bias, given that of the output, to `bias`: its sum over all steps.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn bias_gradient(&self, grad: &[f32], bias: &mut [f32]) {
        assert!(bias.len() == self.outputs && grad.len() == self.output_len(), "biases of {self:?}");
        add_column_sums(grad, bias);
    }

    fn check_lens(&self, padded: &[f32], arranged: &[f32], out: &[f32]) {
        let inputs = if self.padded_len() == 0 { self.input_len() } else { self.padded_len() };
        let lens = [
            ("padded inputs", padded.len(), inputs),
            ("weights", arranged.len(), self.weight_len()),
            ("outputs", out.len(), self.output_len()),
        ];
        for (what, found, expected) in lens {
            assert!(found == expected, "{found} {what}, {expected} make up {self:?}");
        }
    }
}

/// Writes matrices `[rows, cols]` transposed.
fn transpose_each(from: &[f32], rows: usize, cols: usize, to: &mut [f32], accum: Accum) {
    let size = (rows * cols).max(1);
    for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
        transpose(MatMut::row_major(to, cols, rows), MatRef::row_major(from, rows, cols), accum);
    }
}

#[cfg(test)]
#[path = "convolution_tests.rs"]
mod tests;
