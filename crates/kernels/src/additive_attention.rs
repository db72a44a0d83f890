//! Additive attention over the steps of sequences (Bahdanau, Cho and Bengio 2015, "Neural machine translation by jointly
//! learning to align and translate"), time-major: keys `[steps, batch, units]`, values `[steps, batch, columns]`, for
//! each sequence a query `[batch, units]` and a context `[batch, columns]`.
//!
//! ```text
//! z[s] = tanh(key[s] + query)     β = softmax over s of v · z[s]     context = Σ_s β[s] value[s]
//! ```
//!
//! Of the forward pass only β is kept, a number for each step and sequence; z, `units` times as large, is computed anew.
//!
//! # Derivation of the backward pass
//!
//! With g the gradient of the context, that of `v · z[s]` is, by the slope of softmax,
//!
//! ```text
//! a[s] = β[s] (g · value[s] - Σ_r β[r] g · value[r])
//! dvalue[s] = β[s] g     dv = Σ_s a[s] z[s]     dkey[s] = a[s] v (1 - z[s]²)     dquery = Σ_s dkey[s]
//! ```

use foretell_simd::{self as simd, Activation};

/// The sizes of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdditiveAttention {
    /// Steps that are attended to.
    pub steps: usize,
    /// The number of sequences.
    pub batch: usize,
    /// Width of a key.
    pub units: usize,
    /// Width of a value.
    pub columns: usize,
}

/// The operands of an attention.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// `[steps, batch, units]`.
    pub keys: &'a [f32],
    /// `[batch, units]`.
    pub query: &'a [f32],
    /// v, `[units]`.
    pub weight: &'a [f32],
    /// `[steps, batch, columns]`.
    pub values: &'a [f32],
}

/// The gradients of keys, query and weight, each added to the contents of its slice.
#[derive(Debug)]
pub struct AdditiveAttentionGradients<'a> {
    /// `[steps, batch, units]`.
    pub keys: &'a mut [f32],
    /// `[batch, units]`.
    pub query: &'a mut [f32],
    /// `[units]`.
    pub weight: &'a mut [f32],
}

impl AdditiveAttention {
    /// The length of β, `[steps, batch]`.
    pub fn weights_len(&self) -> usize {
        self.steps * self.batch
    }

    /// The length of the scratch memory of a pass. Its contents do not matter before, and are of no use after.
    pub fn scratch_len(&self) -> usize {
        2 * self.step_len() + self.weights_len()
    }

    /// Numbers of a step's keys.
    fn step_len(&self) -> usize {
        self.batch * self.units
    }

    #[track_caller]
    fn check(&self, operands: [&[f32]; 4], context: &[f32], shares: &[f32], scratch: &[f32]) {
        let Self { steps, batch, units, columns } = *self;
        let found = (operands.map(<[f32]>::len), context.len(), shares.len(), scratch.len());
        let lens = [steps * batch * units, batch * units, units, steps * batch * columns];
        let expected = (lens, batch * columns, self.weights_len(), self.scratch_len());
        assert!(found == expected, "lengths {found:?}, {expected:?} make up {self:?}");
    }

    /// Writes the `context` and the `shares` β.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn forward(
        &self,
        operands: Operands<'_>,
        context: &mut [f32],
        shares: &mut [f32],
        scratch: &mut [f32],
    ) {
        let Operands { keys, query, weight, values } = operands;
        self.check([keys, query, weight, values], context, shares, scratch);
        let (slabs, scores) = scratch.split_at_mut(2 * self.step_len());
        let z = &mut slabs[..self.step_len()];
        for (s, scores) in scores.chunks_exact_mut(self.batch.max(1)).enumerate() {
            self.compare(keys, query, s, z);
            for (b, score) in scores.iter_mut().enumerate() {
                *score = simd::dot(&z[b * self.units..][..self.units], weight);
            }
        }
        simd::softmax_columns(scores, self.batch, shares);
        context.fill(0.0);
        for (row, &share) in shares.iter().enumerate() {
            let b = row % self.batch;
            let value = &values[row * self.columns..][..self.columns];
            simd::axpy(share, value, &mut context[b * self.columns..][..self.columns]);
        }
    }

    /// z of a step.
    fn compare(&self, keys: &[f32], query: &[f32], s: usize, z: &mut [f32]) {
        simd::add(&keys[s * self.step_len()..][..self.step_len()], query, z);
        simd::tanh_in_place(z);
    }

    /// Adds the gradients of keys, query and weight, given `grad`, that of the context, and the `shares` of the forward
    /// pass.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn backward(
        &self,
        operands: Operands<'_>,
        shares: &[f32],
        grad: &[f32],
        gradients: AdditiveAttentionGradients<'_>,
        scratch: &mut [f32],
    ) {
        let Operands { keys, query, weight, values } = operands;
        let AdditiveAttentionGradients { keys: dkeys, query: dquery, weight: dweight } = gradients;
        self.check([keys, query, weight, values], grad, shares, scratch);
        self.check([dkeys, dquery, dweight, values], grad, shares, scratch);
        let (slabs, slopes) = scratch.split_at_mut(2 * self.step_len());
        let (z, dz) = slabs.split_at_mut(self.step_len());
        for (row, slope) in slopes.iter_mut().enumerate() {
            let g = &grad[row % self.batch * self.columns..][..self.columns];
            *slope = simd::dot(g, &values[row * self.columns..][..self.columns]);
        }
        simd::softmax_columns_backward(shares, self.batch, slopes);
        for (s, slopes) in slopes.chunks_exact(self.batch.max(1)).enumerate() {
            self.compare(keys, query, s, z);
            dz.fill(0.0);
            for (b, &slope) in slopes.iter().enumerate() {
                let row = b * self.units..(b + 1) * self.units;
                simd::axpy(slope, &z[row.clone()], dweight);
                simd::axpy(slope, weight, &mut dz[row]);
            }
            Activation::Tanh.backward(z, dz);
            simd::add_assign(&mut dkeys[s * self.step_len()..][..self.step_len()], dz);
            simd::add_assign(dquery, dz);
        }
    }

    /// Adds the gradient of the values, given `grad`, that of the context, and the `shares` of the forward pass.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn value_gradient(&self, shares: &[f32], grad: &[f32], values: &mut [f32]) {
        let found = (shares.len(), grad.len(), values.len());
        let (context, rows) = (self.batch * self.columns, self.weights_len());
        let expected = (rows, context, rows * self.columns);
        assert!(found == expected, "lengths {found:?}, {expected:?} make up {self:?}");
        for (row, &share) in shares.iter().enumerate() {
            let g = &grad[row % self.batch * self.columns..][..self.columns];
            simd::axpy(share, g, &mut values[row * self.columns..][..self.columns]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, numbers};

    /// The context by its definition, in `f64`.
    fn naive(c: &AdditiveAttention, [keys, query, weight, values]: &[Vec<f64>; 4]) -> Vec<f64> {
        let mut context = vec![0.0; c.batch * c.columns];
        for b in 0..c.batch {
            let score = |s: usize| -> f64 {
                let units = (0..c.units).map(|j| (s * c.batch + b, j));
                let terms = units
                    .map(|(row, j)| weight[j] * (keys[row * c.units + j] + query[b * c.units + j]).tanh());
                terms.sum()
            };
            let shares: Vec<f64> = (0..c.steps).map(|s| score(s).exp()).collect();
            let total: f64 = shares.iter().sum();
            for (s, i) in (0..c.steps).flat_map(|s| (0..c.columns).map(move |i| (s, i))) {
                let value = values[(s * c.batch + b) * c.columns + i];
                context[b * c.columns + i] += shares[s] / total * value;
            }
        }
        context
    }

    fn check(c: AdditiveAttention) {
        let AdditiveAttention { steps, batch, units, columns } = c;
        let lens = [steps * batch * units, batch * units, units, steps * batch * columns];
        let given: [Vec<f32>; 4] = std::array::from_fn(|i| numbers(lens[i], i as u64));
        let exact = given.clone().map(|values| values.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>());
        let grad = numbers(batch * columns, 9);
        at_every_level(|level| {
            let [keys, query, weight, values] = given.each_ref().map(|values| &values[..]);
            let operands = Operands { keys, query, weight, values };
            let mut context = vec![f32::NAN; grad.len()];
            let mut shares = vec![f32::NAN; c.weights_len()];
            let mut scratch = vec![f32::NAN; c.scratch_len()];
            c.forward(operands, &mut context, &mut shares, &mut scratch);
            for (found, expected) in context.iter().zip(naive(&c, &exact)) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{level} {c:?}: {found}, {expected}");
            }

            scratch.fill(f32::NAN);
            let mut found = lens.map(|len| vec![1.0; len]);
            let [keys, query, weight, values] = found.each_mut().map(|values| &mut values[..]);
            let gradients = AdditiveAttentionGradients { keys, query, weight };
            c.backward(operands, &shares, &grad, gradients, &mut scratch);
            c.value_gradient(&shares, &grad, values);
            let objective = |at: &[Vec<f64>; 4]| -> f64 {
                naive(&c, at).iter().zip(&grad).map(|(y, &g)| y * f64::from(g)).sum()
            };
            for (which, found) in found.iter().enumerate() {
                for (i, found) in found.iter().enumerate() {
                    let moved = |by: f64| {
                        let mut at = exact.clone();
                        at[which][i] += by;
                        objective(&at)
                    };
                    let expected = 1.0 + (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let close = (f64::from(*found) - expected).abs() < 1e-4 * (1.0 + expected.abs());
                    assert!(close, "{level} {c:?}: gradient {which}[{i}] is {found}, {expected}");
                }
            }
        });
    }

    #[test]
    fn contexts_and_gradients_of_every_size() {
        for (steps, batch, units, columns) in
            [(1, 1, 1, 1), (3, 2, 5, 2), (7, 1, 19, 3), (2, 4, 3, 17), (4, 0, 3, 2)]
        {
            check(AdditiveAttention { steps, batch, units, columns });
        }
    }

    #[test]
    #[should_panic(expected = "make up")]
    fn wrong_lengths_panic() {
        let c = AdditiveAttention { steps: 2, batch: 1, units: 1, columns: 1 };
        let operands = Operands { keys: &[0.0; 3], query: &[0.0], weight: &[0.0], values: &[0.0; 2] };
        c.forward(operands, &mut [0.0], &mut [0.0; 2], &mut [0.0; 4]);
    }
}
