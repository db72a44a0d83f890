//! Complex modes of sequences, each multiplied by matrices of its own, one for each head:
//!
//! ```text
//! y[b, m, h] = x[b, m, h] w[h, :, :, m]
//! ```
//!
//! x is `[batch, 2, modes, heads * inputs]` and y `[batch, 2, modes, heads * outputs]`, real parts before imaginary ones, as
//! a product with a matrix of cosines and sines makes them; w is `[heads, inputs, outputs, modes, 2]`, as PyTorch holds a
//! complex parameter.
//!
//! The matrices of w lie across it, a number every `2 modes`. They are gathered once, `[modes, 2, heads, inputs, outputs]`;
//! then modes and heads are one batch of products, which read x and write y without a copy.
//!
//! # Derivation of the backward pass
//!
//! With g the gradient of y, a complex number of the derivatives by either part,
//!
//! ```text
//! dx[b, m, h] = g[b, m, h] w[h, :, :, m]ᴴ     dw[h, :, :, m] = Σ_b x[b, m, h]ᴴ g[b, m, h]
//! ```

use std::ops::Range;

use foretell_gemm::{
    Accum, BatchDims, ComplexBatchMut, ComplexBatchRef, MatMut, MatRef, Rounding, matmul_complex_batched,
    transpose,
};
use foretell_pool::Buffer;
use foretell_threads as threads;

/// The sizes of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeProducts {
    /// The number of sequences.
    pub batch: usize,
    /// Frequencies of each.
    pub modes: usize,
    /// Parts of a vector that are multiplied by matrices of their own.
    pub heads: usize,
    /// Width of such a part.
    pub inputs: usize,
    /// Its width in the result.
    pub outputs: usize,
}

impl ModeProducts {
    /// The length of x, `[batch, 2, modes, heads * inputs]`.
    pub fn input_len(&self) -> usize {
        2 * self.batch * self.modes * self.heads * self.inputs
    }

    /// The length of y, `[batch, 2, modes, heads * outputs]`.
    pub fn output_len(&self) -> usize {
        2 * self.batch * self.modes * self.heads * self.outputs
    }

    /// The length of w, `[heads, inputs, outputs, modes, 2]`.
    pub fn weights_len(&self) -> usize {
        2 * self.modes * self.matrices_len()
    }

    /// Numbers of a mode's matrices, in one part.
    fn matrices_len(&self) -> usize {
        self.heads * self.inputs * self.outputs
    }

    #[track_caller]
    fn check(&self, x: &[f32], weights: &[f32], y: &[f32]) {
        let found = [x.len(), weights.len(), y.len()];
        let expected = [self.input_len(), self.weights_len(), self.output_len()];
        assert!(found == expected, "lengths {found:?}, {expected:?} make up {self:?}");
    }

    /// Writes y, or adds to it.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn forward(&self, x: &[f32], weights: &[f32], y: &mut [f32], (accum, rounding): (Accum, Rounding)) {
        self.check(x, weights, y);
        let &Self { inputs, outputs, .. } = self;
        let gathered = self.gathered(|columns, to| {
            let weights = MatRef::row_major(weights, self.matrices_len(), 2 * self.modes);
            let to = MatMut::row_major(to, columns.len(), self.matrices_len());
            transpose(to, weights.cols(columns), Accum::Replace);
        });
        let matrices = ComplexBatchRef::new(
            &gathered,
            self.matrices_len(),
            self.matrices(),
            (inputs, outputs),
            (outputs, 1),
        );
        matmul_complex_batched(self.rows_mut(y, outputs), self.rows(x, inputs), matrices, accum, rounding);
    }

    /// Writes the gradient of x, or adds to it, given that of y.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn input_gradient(
        &self,
        grad: &[f32],
        weights: &[f32],
        dx: &mut [f32],
        (accum, rounding): (Accum, Rounding),
    ) {
        self.check(dx, weights, grad);
        // No inputs: the rows below would begin beyond the weights. Without outputs dx is zeros, or stays unchanged.
        if dx.is_empty() {
            return;
        }
        let &Self { modes, heads, inputs, outputs, .. } = self;
        // `[modes, 2, heads, outputs, inputs]`: products read rows of their right operand.
        let gathered = self.gathered(|columns, to| {
            for (head, output) in (0..heads * outputs).map(|row| (row / outputs, row % outputs)) {
                let first = (head * inputs * outputs + output) * 2 * modes;
                let strides = (outputs * 2 * modes, 1);
                let weights = MatRef::new(&weights[first..], inputs, 2 * modes, strides.0, strides.1);
                let to = MatMut::row_major(to, columns.len(), self.matrices_len());
                let first = (head * outputs + output) * inputs;
                transpose(to.cols(first..first + inputs), weights.cols(columns.clone()), Accum::Replace);
            }
        });
        let matrices = ComplexBatchRef::new(
            &gathered,
            self.matrices_len(),
            self.matrices(),
            (outputs, inputs),
            (inputs, 1),
        );
        let (dx, grad) = (self.rows_mut(dx, inputs), self.rows(grad, outputs));
        matmul_complex_batched(dx, grad, matrices.conj(), accum, rounding);
    }

    /// Writes the gradient of the weights, or adds to it, given that of y.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn weight_gradient(
        &self,
        grad: &[f32],
        x: &[f32],
        dw: &mut [f32],
        (accum, rounding): (Accum, Rounding),
    ) {
        self.check(x, dw, grad);
        let &Self { modes, inputs, outputs, .. } = self;
        let mut gathered = Buffer::<f32>::stale(self.weights_len());
        let (part, sizes) = (self.matrices_len(), (inputs, outputs));
        let dst = ComplexBatchMut::new(&mut gathered, part, self.matrices(), sizes, outputs);
        let (x, grad) = (self.rows(x, inputs), self.rows(grad, outputs));
        matmul_complex_batched(dst, x.t().conj(), grad, Accum::Replace, rounding);
        let gathered = MatRef::row_major(&gathered, 2 * modes, part);
        threads::rows(part, 2 * modes, [dw], |rows, [dw]| {
            let dw = MatMut::row_major(dw, rows.len(), 2 * modes);
            transpose(dw, gathered.cols(rows), accum);
        });
    }

    /// The weights as `gather` writes them, `[modes, 2, ..]`: it gets a range of these rows, which are columns of the weights.
    fn gathered(&self, gather: impl Fn(Range<usize>, &mut [f32]) + Sync) -> Buffer<f32> {
        let mut gathered = Buffer::<f32>::stale(self.weights_len());
        // Counted low, so that blocks are of some more rows: squares of this many are turned over at a time.
        let cost = (self.matrices_len() / 4).max(1);
        threads::rows(2 * self.modes, cost, [&mut gathered[..]], |columns, [to]| gather(columns, to));
        gathered
    }

    /// The batch of gathered matrices, by mode and head.
    fn matrices(&self) -> BatchDims {
        [(self.modes, 2 * self.matrices_len()), (self.heads, self.inputs * self.outputs)]
    }

    /// The rows of the batch by mode and head, where a head is so wide.
    fn rows<'a>(&self, x: &'a [f32], width: usize) -> ComplexBatchRef<'a> {
        let (mode, heads) = (self.heads * width, (self.heads, width));
        let part = self.modes * mode;
        ComplexBatchRef::new(x, part, [(self.modes, mode), heads], (self.batch, width), (2 * part, 1))
    }

    fn rows_mut<'a>(&self, x: &'a mut [f32], width: usize) -> ComplexBatchMut<'a> {
        let (mode, heads) = (self.heads * width, (self.heads, width));
        let part = self.modes * mode;
        ComplexBatchMut::new(x, part, [(self.modes, mode), heads], (self.batch, width), 2 * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, numbers};

    /// y by its definition, in `f64`.
    fn naive(c: &ModeProducts, [x, w]: &[Vec<f64>; 2]) -> Vec<f64> {
        let &ModeProducts { batch, modes, heads, inputs, outputs } = c;
        let mut y = vec![0.0; c.output_len()];
        let place =
            |b: usize, part: usize, m: usize, width: usize| ((b * 2 + part) * modes + m) * heads * width;
        for (b, m, h) in
            (0..batch * modes * heads).map(|at| (at / heads / modes, at / heads % modes, at % heads))
        {
            for (i, o) in (0..inputs * outputs).map(|at| (at / outputs, at % outputs)) {
                let x = |part| x[place(b, part, m, inputs) + h * inputs + i];
                let w = |part| w[(((h * inputs + i) * outputs + o) * modes + m) * 2 + part];
                y[place(b, 0, m, outputs) + h * outputs + o] += x(0) * w(0) - x(1) * w(1);
                y[place(b, 1, m, outputs) + h * outputs + o] += x(0) * w(1) + x(1) * w(0);
            }
        }
        y
    }

    fn check(c: ModeProducts) {
        let lens = [c.input_len(), c.weights_len()];
        let given: [Vec<f32>; 2] = std::array::from_fn(|i| numbers(lens[i], i as u64));
        let exact = given.clone().map(|values| values.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>());
        let grad = numbers(c.output_len(), 9);
        let close =
            |found: f32, expected: f64| (f64::from(found) - expected).abs() < 1e-4 * (1.0 + expected.abs());
        at_every_level(|level| {
            let [x, w] = &given;
            for (accum, before) in [(Accum::Replace, f32::NAN), (Accum::Add, 1.0)] {
                let (how, offset) = ((accum, Rounding::None), if before.is_nan() { 0.0 } else { 1.0 });
                let mut y = vec![before; c.output_len()];
                c.forward(x, w, &mut y, how);
                for (found, expected) in y.iter().zip(naive(&c, &exact)) {
                    assert!(close(*found, offset + expected), "{level} {c:?}: {found}, {expected}");
                }
                let mut found = lens.map(|len| vec![before; len]);
                let [dx, dw] = &mut found;
                c.input_gradient(&grad, w, dx, how);
                c.weight_gradient(&grad, x, dw, how);
                // y is linear in either operand.
                let objective = |at: &[Vec<f64>; 2]| -> f64 {
                    naive(&c, at).iter().zip(&grad).map(|(y, &g)| y * f64::from(g)).sum()
                };
                for (which, found) in found.iter().enumerate() {
                    for (i, found) in found.iter().enumerate().step_by(1 + found.len() / 50) {
                        let moved = |by: f64| {
                            let mut at = exact.clone();
                            at[which][i] += by;
                            objective(&at)
                        };
                        let expected = offset + (moved(0.5) - moved(-0.5));
                        assert!(
                            close(*found, expected),
                            "{level} {c:?}: gradient {which}[{i}] is {found}, {expected}"
                        );
                    }
                }
            }
        });
    }

    #[test]
    fn products_and_gradients_of_every_size() {
        for [batch, modes, heads, inputs, outputs] in [
            [1, 1, 1, 1, 1],
            [3, 2, 5, 2, 2],
            [2, 3, 2, 5, 7],
            [5, 4, 2, 16, 16],
            [1, 2, 1, 3, 17],
            [0, 2, 2, 2, 2],
            [2, 0, 2, 2, 2],
            [2, 2, 0, 2, 2],
            [2, 2, 2, 0, 2],
            [2, 2, 2, 2, 0],
        ] {
            check(ModeProducts { batch, modes, heads, inputs, outputs });
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads() {
        // Enough modes that the gathers and the products are shared: 140 rows of 512 numbers of work, 16 to a block, and 560
        // matrices, 192 to a task.
        let c = ModeProducts { batch: 8, modes: 70, heads: 8, inputs: 16, outputs: 16 };
        let (x, w) = (numbers(c.input_len(), 1), numbers(c.weights_len(), 2));
        let run = |threads: usize| {
            let mut found = [c.output_len(), c.input_len(), c.weights_len()].map(|len| vec![f32::NAN; len]);
            let [y, dx, dw] = &mut found;
            let how = (Accum::Replace, Rounding::None);
            threads::share(threads, || {
                c.forward(&x, &w, y, how);
                c.input_gradient(y, &w, dx, how);
                c.weight_gradient(y, &x, dw, how);
            });
            found
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3));
    }

    #[test]
    #[should_panic(expected = "make up")]
    fn wrong_lengths_panic() {
        let c = ModeProducts { batch: 1, modes: 1, heads: 1, inputs: 1, outputs: 1 };
        c.forward(&[0.0; 2], &[0.0; 3], &mut [0.0; 2], (Accum::Replace, Rounding::None));
    }
}
