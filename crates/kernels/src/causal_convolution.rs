//! Causal convolutions over time-major sequences `[steps, batch, channels]`: the output is as long as the input, and
//! no step sees later ones.
//!
//! With PyTorch's kernel `w [outputs, inputs, kernel]`, whose last tap is on the step itself,
//!
//! ```text
//! y[t] = activation(b + Σ_k W_k x[t - s_k])     s_k = (kernel - 1 - k) dilation
//! ```
//!
//! In the time-major layout a tap reads the input itself, shifted by a number of rows: each tap is one matrix product
//! on the input in place, whatever the dilation. Steps before the first are zeros, which are neither written nor
//! multiplied. Rows go through all taps block by block, so that a block stays in cache until it is done.
//!
//! # Derivation of the backward pass
//!
//! With g the gradient of y before the activation:
//!
//! ```text
//! dW_k = Σ_t g[t] x[t - s_k]ᵀ     db = Σ_t g[t]     dx[t] = Σ_k W_kᵀ g[t + s_k]
//! ```
//!
//! The gradient of an input needs g of its own step and of later ones, so one walk from the last block to the first
//! makes g and everything that is made of it.

use std::ops::Range;

use foretell_gemm::{Accum, Activation, Bias, MatMut, MatRef, Options, Rounding, matmul};
use foretell_simd as simd;

/// Rows of a block: enough for the best rate of products, few enough to stay in cache.
const ROWS: usize = 256;

/// A causal convolution and the sizes of what it is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausalConvolution {
    /// Steps of the sequences.
    pub steps: usize,
    /// The number of sequences.
    pub batch: usize,
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Taps of the kernel.
    pub kernel: usize,
    /// Steps from one tap to the next.
    pub dilation: usize,
    /// How the operands of its products are rounded.
    pub rounding: Rounding,
}

/// The gradients that [`CausalConvolution::backward`] writes.
#[derive(Debug)]
pub struct CausalConvolutionGradients<'a> {
    /// Of the arranged kernel, overwritten.
    pub weights: &'a mut [f32],
    /// Of the bias, overwritten.
    pub bias: &'a mut [f32],
    /// Of the input, if that is wanted.
    pub inputs: Option<(&'a mut [f32], Accum)>,
}

impl CausalConvolution {
    /// Values of the input, `[steps, batch, inputs]`.
    pub fn input_len(&self) -> usize {
        self.rows() * self.inputs
    }

    /// Values of the output, `[steps, batch, outputs]`.
    pub fn output_len(&self) -> usize {
        self.rows() * self.outputs
    }

    /// Values of the kernel, `[outputs, inputs, kernel]`.
    pub fn weight_len(&self) -> usize {
        self.kernel * self.matrix()
    }

    fn rows(&self) -> usize {
        self.steps * self.batch
    }

    /// Values of a tap.
    fn matrix(&self) -> usize {
        self.outputs * self.inputs
    }

    /// Writes a kernel `[outputs, inputs, kernel]` as the products read it, `[kernel, outputs, inputs]`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn arrange(&self, weight: &[f32], arranged: &mut [f32]) {
        let len = self.weight_len();
        self.check(&[("weights", weight.len(), len), ("arranged weights", arranged.len(), len)]);
        for (k, tap) in arranged.chunks_exact_mut(self.matrix().max(1)).enumerate() {
            tap.iter_mut().enumerate().for_each(|(i, value)| *value = weight[i * self.kernel + k]);
        }
    }

    /// The transpose of [`CausalConvolution::arrange`]: the gradient of a kernel from that of the arranged one.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn unarrange(&self, arranged: &[f32], weight: &mut [f32], accum: Accum) {
        let len = self.weight_len();
        self.check(&[("weights", weight.len(), len), ("arranged weights", arranged.len(), len)]);
        if accum == Accum::Replace {
            weight.fill(0.0);
        }
        for (k, tap) in arranged.chunks_exact(self.matrix().max(1)).enumerate() {
            tap.iter().enumerate().for_each(|(i, value)| weight[i * self.kernel + k] += value);
        }
    }

    /// `out [steps, batch, outputs]` from `x [steps, batch, inputs]`, the arranged kernel and a bias `[outputs]`.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn forward(
        &self,
        x: &[f32],
        arranged: &[f32],
        bias: &[f32],
        activation: Activation,
        out: &mut [f32],
    ) {
        self.check(&[
            ("inputs", x.len(), self.input_len()),
            ("weights", arranged.len(), self.weight_len()),
            ("biases", bias.len(), self.outputs),
            ("outputs", out.len(), self.output_len()),
        ]);
        for block in self.blocks() {
            for (k, shift) in self.taps() {
                let own = k + 1 == self.kernel;
                let options = Options::default()
                    .accum(if own { Accum::Replace } else { Accum::Add })
                    .bias(own.then_some(Bias::PerColumn(bias)))
                    .rounding(self.rounding);
                // The first rows have no input that far back.
                let reads = block.start.saturating_sub(shift)..block.end.saturating_sub(shift);
                let out = &mut out[(block.end - reads.len()) * self.outputs..block.end * self.outputs];
                let out = MatMut::row_major(out, reads.len(), self.outputs);
                matmul(out, rows(x, reads, self.inputs), self.tap(arranged, k).t(), options);
            }
            activation.apply(&mut out[block.start * self.outputs..block.end * self.outputs]);
        }
    }

    /// All gradients, given `grad`, that of the output, which is overwritten by that before the activation. `saved`
    /// is what the activation's slope is computed from: its output or its input.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn backward(
        &self,
        x: &[f32],
        arranged: &[f32],
        activation: Activation,
        saved: &[f32],
        grad: &mut [f32],
        gradients: CausalConvolutionGradients<'_>,
    ) {
        let CausalConvolutionGradients { weights, bias, mut inputs } = gradients;
        self.check(&[
            ("inputs", x.len(), self.input_len()),
            ("weights", arranged.len(), self.weight_len()),
            ("saved values", saved.len(), self.output_len()),
            ("gradients of outputs", grad.len(), self.output_len()),
            ("gradients of weights", weights.len(), self.weight_len()),
            ("gradients of biases", bias.len(), self.outputs),
        ]);
        if let Some((dx, _)) = &inputs {
            self.check(&[("gradients of inputs", dx.len(), self.input_len())]);
        }
        weights.fill(0.0);
        bias.fill(0.0);
        for block in self.blocks().rev() {
            let values = block.start * self.outputs..block.end * self.outputs;
            activation.backward(&saved[values.clone()], &mut grad[values.clone()]);
            grad[values].chunks_exact(self.outputs.max(1)).for_each(|row| simd::add_assign(bias, row));
            for (k, shift) in self.taps() {
                let reads = block.start.saturating_sub(shift)..block.end.saturating_sub(shift);
                let g = rows(grad, block.end - reads.len()..block.end, self.outputs);
                let tap = &mut weights[k * self.matrix()..(k + 1) * self.matrix()];
                let tap = MatMut::row_major(tap, self.outputs, self.inputs);
                let rounding = self.rounding;
                let options = Options::default().accum(Accum::Add).rounding(rounding);
                matmul(tap, g.t(), rows(x, reads, self.inputs), options);
            }
            let Some((dx, accum)) = &mut inputs else { continue };
            for (k, shift) in self.taps() {
                let accum = if k + 1 == self.kernel { *accum } else { Accum::Add };
                // Nothing that far ahead reads the last rows.
                let reads = [block.start, block.end].map(|row| row.saturating_add(shift).min(self.rows()));
                let g = rows(grad, reads[0]..reads[1], self.outputs);
                let dx = &mut dx[block.start * self.inputs..][..g.nrows() * self.inputs];
                let dx = MatMut::row_major(dx, g.nrows(), self.inputs);
                let rounding = self.rounding;
                matmul(dx, g, self.tap(arranged, k), Options::default().accum(accum).rounding(rounding));
            }
        }
    }

    /// The blocks of rows.
    fn blocks(&self) -> impl DoubleEndedIterator<Item = Range<usize>> {
        let rows = self.rows();
        (0..rows.div_ceil(ROWS)).map(move |i| i * ROWS..rows.min((i + 1) * ROWS))
    }

    /// The taps, and how many rows earlier each of them reads: first the tap on the step itself, which every row has.
    fn taps(&self) -> impl Iterator<Item = (usize, usize)> {
        let step = self.dilation.saturating_mul(self.batch);
        (0..self.kernel).map(move |back| (self.kernel - 1 - back, step.saturating_mul(back)))
    }

    fn tap<'a>(&self, arranged: &'a [f32], k: usize) -> MatRef<'a, f32> {
        let tap = &arranged[k * self.matrix()..(k + 1) * self.matrix()];
        MatRef::row_major(tap, self.outputs, self.inputs)
    }

    #[track_caller]
    fn check(&self, lens: &[(&str, usize, usize)]) {
        assert!(self.kernel > 0 && self.dilation > 0, "a kernel or dilation of 0: {self:?}");
        for &(what, found, expected) in lens {
            assert!(found == expected, "{found} {what}, {expected} make up {self:?}");
        }
    }
}

/// Some of the rows of a row-major matrix.
fn rows(all: &[f32], range: Range<usize>, columns: usize) -> MatRef<'_, f32> {
    MatRef::row_major(&all[range.start * columns..range.end * columns], range.len(), columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, numbers};

    /// The output, and the gradients of input, weights and bias, by their definition in `f64`.
    fn naive(c: &CausalConvolution, x: &[f32], w: &[f32], bias: &[f32], g: &[f32]) -> [Vec<f64>; 4] {
        let mut found = [c.output_len(), x.len(), w.len(), bias.len()].map(|len| vec![0.0; len]);
        let [out, dx, dw, db] = &mut found;
        for (row, o) in (0..c.rows()).flat_map(|row| (0..c.outputs).map(move |o| (row, o))) {
            let at = row * c.outputs + o;
            out[at] = f64::from(bias[o]);
            db[o] += f64::from(g[at]);
            for (k, i) in (0..c.kernel).flat_map(|k| (0..c.inputs).map(move |i| (k, i))) {
                let Some(from) = row.checked_sub((c.kernel - 1 - k) * c.dilation * c.batch) else { continue };
                let (from, weight) = (from * c.inputs + i, (o * c.inputs + i) * c.kernel + k);
                out[at] += f64::from(x[from]) * f64::from(w[weight]);
                dx[from] += f64::from(g[at]) * f64::from(w[weight]);
                dw[weight] += f64::from(g[at]) * f64::from(x[from]);
            }
        }
        found
    }

    #[track_caller]
    fn assert_close(found: &[f32], expected: &[f64], what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((f64::from(*found) - expected).abs() <= 1e-5 * scale, "{what}[{i}]: {found}, {expected}");
        }
    }

    fn check(c: CausalConvolution) {
        let (x, w) = (numbers(c.input_len(), 1), numbers(c.weight_len(), 2));
        let (bias, g) = (numbers(c.outputs, 3), numbers(c.output_len(), 4));
        let [y, dx, dw, db] = naive(&c, &x, &w, &bias, &g);
        at_every_level(|level| {
            let name = format!("{level} {c:?}");
            let mut arranged = vec![f32::NAN; w.len()];
            c.arrange(&w, &mut arranged);
            let mut out = vec![f32::NAN; y.len()];
            c.forward(&x, &arranged, &bias, Activation::Relu, &mut out);
            let relu: Vec<f64> = y.iter().map(|y| y.max(0.0)).collect();
            assert_close(&out, &relu, &format!("{name}: output"));

            for (before, wanted) in [(None, true), (Some(1.0), true), (None, false)] {
                let [mut weights, mut sums] = [0, 1].map(|_| vec![before.unwrap_or(f32::NAN); w.len()]);
                let mut found_dx = vec![before.unwrap_or(f32::NAN); x.len()];
                let mut found_db = vec![f32::NAN; bias.len()];
                let accum = if before.is_some() { Accum::Add } else { Accum::Replace };
                let gradients = CausalConvolutionGradients {
                    weights: &mut sums,
                    bias: &mut found_db,
                    inputs: wanted.then_some((&mut found_dx[..], accum)),
                };
                c.backward(&x, &arranged, Activation::Identity, &out, &mut g.clone(), gradients);
                c.unarrange(&sums, &mut weights, accum);
                let more = f64::from(before.unwrap_or_default());
                let with = |expected: &[f64]| expected.iter().map(|x| x + more).collect::<Vec<_>>();
                assert_close(&weights, &with(&dw), &format!("{name}: weights"));
                assert_close(&found_db, &db, &format!("{name}: bias"));
                if wanted {
                    assert_close(&found_dx, &with(&dx), &format!("{name}: inputs"));
                }
            }
        });
    }

    #[test]
    fn every_kernel_and_dilation() {
        for (steps, batch, [inputs, outputs]) in
            [(1, 1, [1, 1]), (9, 2, [3, 2]), (17, 1, [5, 19]), (7, 50, [2, 3]), (5, 130, [16, 33])]
        {
            for (kernel, dilation) in [(1, 1), (2, 1), (2, 4), (3, 2), (5, 1), (2, 16), (4, 7)] {
                let rounding = Rounding::None;
                check(CausalConvolution { steps, batch, inputs, outputs, kernel, dilation, rounding });
            }
        }
    }

    #[test]
    fn empty_sizes() {
        let c = CausalConvolution {
            steps: 3,
            batch: 2,
            inputs: 2,
            outputs: 3,
            kernel: 2,
            dilation: 1,
            rounding: Rounding::None,
        };
        check(CausalConvolution { batch: 0, ..c });
        check(CausalConvolution { steps: 0, ..c });
    }

    #[test]
    fn the_gradient_passes_through_the_activation() {
        let c = CausalConvolution {
            steps: 2,
            batch: 1,
            inputs: 1,
            outputs: 1,
            kernel: 1,
            dilation: 1,
            rounding: Rounding::None,
        };
        let (mut weights, mut bias, mut grad) = ([0.0], [0.0], [5.0, 7.0]);
        let gradients = CausalConvolutionGradients { weights: &mut weights, bias: &mut bias, inputs: None };
        c.backward(&[2.0, 3.0], &[1.0], Activation::Relu, &[4.0, 0.0], &mut grad, gradients);
        assert_eq!((grad, weights, bias), ([5.0, 0.0], [10.0], [5.0]));
    }

    #[test]
    #[should_panic(expected = "5 inputs, 6 make up")]
    fn wrong_lengths_panic() {
        let c = CausalConvolution {
            steps: 3,
            batch: 2,
            inputs: 1,
            outputs: 1,
            kernel: 1,
            dilation: 1,
            rounding: Rounding::None,
        };
        c.forward(&[0.0; 5], &[0.0], &[0.0], Activation::Identity, &mut [0.0; 6]);
    }
}
