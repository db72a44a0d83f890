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
//! The matrices of w lie across it, a number every `2 modes`. They are gathered once, `[2, modes, heads, inputs, outputs]`;
//! then modes and heads are one batch of products, which read x and write y where they lie.
//!
//! # Derivation of the backward pass
//!
//! With g the gradient of y, a complex number of the derivatives by either part,
//!
//! ```text
//! dx[b, m, h] = g[b, m, h] w[h, :, :, m]ᴴ     dw[h, :, :, m] = Σ_b x[b, m, h]ᴴ g[b, m, h]
//! ```

use foretell_gemm::{Accum, ComplexBatchMut, ComplexBatchRef, Rounding, matmul_complex_batched};
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

/// Rows of weights that are gathered at a time: a line of the cache is written at once.
const ROWS: usize = 16;

/// The work of a number that is gathered, in numbers of a plain pass over memory.
const GATHERED_COST: usize = 4;

impl ModeProducts {
    /// The length of x, `[batch, 2, modes, heads * inputs]`.
    pub fn input_len(&self) -> usize {
        2 * self.batch * self.matrices() * self.inputs
    }

    /// The length of y, `[batch, 2, modes, heads * outputs]`.
    pub fn output_len(&self) -> usize {
        2 * self.batch * self.matrices() * self.outputs
    }

    /// The length of w, `[heads, inputs, outputs, modes, 2]`.
    pub fn weights_len(&self) -> usize {
        2 * self.matrices() * self.inputs * self.outputs
    }

    fn matrices(&self) -> usize {
        self.modes * self.heads
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
    pub fn forward(&self, x: &[f32], weights: &[f32], y: &mut [f32], (accum, rounding): (Accum, Rounding)) {
        self.check(x, weights, y);
        let &Self { inputs, outputs, .. } = self;
        let gathered =
            self.gather(weights, |head, row| (head * inputs + row / outputs) * outputs + row % outputs);
        let matrices = self.of_modes(&gathered, (inputs, outputs));
        matmul_complex_batched(self.rows_mut(y, outputs), self.rows(x, inputs), matrices, accum, rounding);
    }

    /// Writes the gradient of x, or adds to it, given that of y.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn input_gradient(
        &self,
        grad: &[f32],
        weights: &[f32],
        dx: &mut [f32],
        (accum, rounding): (Accum, Rounding),
    ) {
        self.check(dx, weights, grad);
        let &Self { inputs, outputs, .. } = self;
        let gathered =
            self.gather(weights, |head, row| (head * inputs + row % inputs) * outputs + row / inputs);
        let matrices = self.of_modes(&gathered, (outputs, inputs)).conj();
        matmul_complex_batched(
            self.rows_mut(dx, inputs),
            self.rows(grad, outputs),
            matrices,
            accum,
            rounding,
        );
    }

    /// Writes the gradient of the weights, or adds to it, given that of y.
    ///
    /// # Panics
    /// If a length does not fit.
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
        let size = inputs * outputs;
        let (part, batch) = (self.matrices() * size, (self.matrices(), size));
        let dst = ComplexBatchMut::new(&mut gathered, part, batch, (inputs, outputs), outputs);
        let (x, grad) = (self.rows(x, inputs), self.rows(grad, outputs));
        matmul_complex_batched(dst, x.t().conj(), grad, Accum::Replace, rounding);
        let (row, width) = (self.heads * size, 2 * modes);
        threads::rows(row, GATHERED_COST * width, [dw], |range, [dw]| {
            let firsts = range.step_by(ROWS);
            for (first, rows) in firsts.zip(dw.chunks_mut((ROWS * width).max(1))) {
                let height = rows.len() / width;
                for part in 0..2 {
                    for mode in 0..modes {
                        let from = &gathered[(part * modes + mode) * row + first..][..height];
                        let places = rows[2 * mode + part..].iter_mut().step_by(width);
                        match accum {
                            Accum::Replace => places.zip(from).for_each(|(to, from)| *to = *from),
                            Accum::Add => places.zip(from).for_each(|(to, from)| *to += *from),
                        }
                    }
                }
            }
        });
    }

    /// The matrices of the weights, `[2, modes, heads, n]`, where number `i` of a head's matrix is that of row
    /// `place(head, i)` of the weights, `[heads * inputs * outputs, modes, 2]`.
    fn gather(&self, weights: &[f32], place: impl Fn(usize, usize) -> usize + Sync) -> Buffer<f32> {
        let &Self { modes, heads, inputs, outputs, .. } = self;
        let mut gathered = Buffer::<f32>::stale(self.weights_len());
        let size = inputs * outputs;
        threads::rows(2 * modes, GATHERED_COST * heads * size, [&mut gathered[..]], |range, [to]| {
            for head in 0..heads {
                for first in (0..size).step_by(ROWS) {
                    let mut places = [0; ROWS];
                    let places = &mut places[..ROWS.min(size - first)];
                    for (i, start) in places.iter_mut().enumerate() {
                        *start = place(head, first + i) * 2 * modes;
                    }
                    for (row, to) in range.clone().zip(to.chunks_exact_mut((heads * size).max(1))) {
                        let at = 2 * (row % modes) + row / modes;
                        let to = &mut to[head * size + first..][..places.len()];
                        for (to, start) in to.iter_mut().zip(&*places) {
                            *to = weights[start + at];
                        }
                    }
                }
            }
        });
        gathered
    }

    /// The matrices of the weights, by mode and head.
    fn of_modes<'a>(&self, gathered: &'a [f32], (rows, cols): (usize, usize)) -> ComplexBatchRef<'a> {
        let (count, size) = (self.matrices(), rows * cols);
        ComplexBatchRef::new(gathered, count * size, (count, size), (rows, cols), (cols, 1))
    }

    /// The rows of the batch by mode and head, where a head is so wide.
    fn rows<'a>(&self, x: &'a [f32], width: usize) -> ComplexBatchRef<'a> {
        let part = self.matrices() * width;
        ComplexBatchRef::new(x, part, (self.matrices(), width), (self.batch, width), (2 * part, 1))
    }

    fn rows_mut<'a>(&self, x: &'a mut [f32], width: usize) -> ComplexBatchMut<'a> {
        let part = self.matrices() * width;
        ComplexBatchMut::new(x, part, (self.matrices(), width), (self.batch, width), 2 * part)
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
        ] {
            check(ModeProducts { batch, modes, heads, inputs, outputs });
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads() {
        let c = ModeProducts { batch: 8, modes: 20, heads: 8, inputs: 16, outputs: 16 };
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
