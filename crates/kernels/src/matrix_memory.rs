//! The memory of an mLSTM (Beck et al. 2024, "xLSTM", arXiv 2405.04517, section 2.3 and appendix A.3): a matrix for each head that
//! adds an outer product of value and key at each step and decays by a gate.
//!
//! Reading it at step t gives a weighted sum of the values so far. With q · k the scores, i and f the sums of the input
//! and the forget gate, and F the running total of ln σ(f),
//!
//! ```text
//! a[t, j] = e^(F[t] - F[j] + i[j]) scale score[t, j]   for j <= t
//! w[t, j] = a[t, j] / max(|Σ_j a[t, j]|, 1)
//! ```
//!
//! so all steps of a window are two products of matrices, with these weights between them. No exponent is formed above 0: with
//! `o[j] = i[j] - F[j]`, `M[t]` the largest o up to t, and m = F + M,
//!
//! ```text
//! c[t, j] = e^(o[j] - M[t]) scale score[t, j]     w[t, j] = c[t, j] / (max(|Σ_j c[t, j]|, e^-m[t]) + 1e-6)
//! ```
//!
//! The 1e-6 is that of the authors' program; it is the only place where m has an effect.
//!
//! # Derivation of the backward pass
//!
//! With g the gradient of w, n the larger of the two, and s the sum of c, d = n + 1e-6:
//!
//! ```text
//! dn = -Σ_j g[j] w[j] / d     dc[j] = g[j] / d + dn sign(s) where |s| >= e^-m     dm = -dn e^-m elsewhere
//! dscore[j] = dc[j] e^(o[j] - M) scale     do[j] = dc[j] c[j]     dM = dm - Σ_j do[j], which goes to the o that is M
//! di[j] = Σ_t do[t, j]     dF[j] = dm[j] - Σ_t do[t, j]     df[t] = σ(-f[t]) Σ_{u >= t} dF[u]
//! ```

use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads as threads;

/// The addend of the normaliser in the authors' program.
const EPS: f32 = 1e-6;

/// The cost of a score, relative to that of a number in a plain pass over memory.
const COST: usize = 8;

/// The sizes of a batch of memories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixMemory {
    /// The number of sequences.
    pub batch: usize,
    /// Memories of each.
    pub heads: usize,
    /// Steps of a sequence.
    pub steps: usize,
    /// The factor of the scores, `1 / sqrt(width of a key)`.
    pub scale: f32,
}

/// The sums of the input and of the forget gate, `[batch, steps, heads]` both.
#[derive(Clone, Copy, Debug)]
pub struct MemoryGates<'a> {
    /// i.
    pub input: &'a [f32],
    /// f.
    pub forget: &'a [f32],
}

/// The inputs of a head's weights beside its scores.
struct Head {
    /// o, by step.
    offsets: Buffer<f32>,
    /// F, by step.
    decay: Buffer<f32>,
    /// The step whose o is the largest so far, by step.
    largest: Buffer<usize>,
}

impl Head {
    fn new(steps: usize) -> Self {
        let zeros = || Buffer::zeroed(steps);
        Self { offsets: zeros(), decay: zeros(), largest: Buffer::zeroed(steps) }
    }

    /// The head whose gates are every `heads`th number of these.
    fn read(&mut self, input: &[f32], forget: &[f32], heads: usize) {
        let (mut total, mut largest) = (0.0, 0);
        let gates = input.iter().step_by(heads).zip(forget.iter().step_by(heads));
        for (t, (i, f)) in gates.enumerate() {
            // ln σ(f)
            total += f.min(0.0) - (-f.abs()).exp().ln_1p();
            self.decay[t] = total;
            self.offsets[t] = i - total;
            if self.offsets[t] > self.offsets[largest] {
                largest = t;
            }
            self.largest[t] = largest;
        }
    }

    /// `e^(o[j] - M[t])` for the first steps, as many as `row` has.
    fn exponentials(&self, row: &mut [f32]) {
        let t = row.len() - 1;
        row.copy_from_slice(&self.offsets[..=t]);
        simd::exp_rows_in_place(row, t + 1, &[self.offsets[self.largest[t]]]);
    }

    /// `e^-m[t]`, the least normaliser.
    fn floor(&self, t: usize) -> f32 {
        (-(self.decay[t] + self.offsets[self.largest[t]])).exp()
    }
}

impl MatrixMemory {
    /// The weights `[batch, heads, steps, steps]` from scores of the same shape, of which those of later steps are not read; the
    /// weights of later steps are zeros.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn weights(&self, scores: &[f32], gates: MemoryGates<'_>, weights: &mut [f32]) {
        let Self { batch, heads, steps, scale } = *self;
        self.check(&[scores, weights], &[gates.input, gates.forget]);
        let (matrix, sequence) = (steps * steps, steps * heads);
        if weights.is_empty() {
            return;
        }
        threads::rows(batch, COST * heads * matrix, [weights], |range, [weights]| {
            let mut head = Head::new(steps);
            for (b, weights) in range.zip(weights.chunks_exact_mut(heads * matrix)) {
                let of_sequence = |x| &<[f32]>::as_ref(x)[b * sequence..][..sequence];
                let (input, forget) = (of_sequence(gates.input), of_sequence(gates.forget));
                for (h, weights) in weights.chunks_exact_mut(matrix).enumerate() {
                    head.read(&input[h..], &forget[h..], heads);
                    let scores = &scores[(b * heads + h) * matrix..][..matrix];
                    for (t, weights) in weights.chunks_exact_mut(steps).enumerate() {
                        let (row, later) = weights.split_at_mut(t + 1);
                        later.fill(0.0);
                        head.exponentials(row);
                        simd::mul_assign(row, &scores[t * steps..][..=t]);
                        let sum = scale * simd::sum(row);
                        simd::scale(row, scale / (sum.abs().max(head.floor(t)) + EPS));
                    }
                }
            }
        });
    }

    /// Turns the gradient of the weights, `grad`, into that of the scores, and writes those of the gates' sums.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn backward(
        &self,
        scores: &[f32],
        gates: MemoryGates<'_>,
        grad: &mut [f32],
        [grad_input, grad_forget]: [&mut [f32]; 2],
    ) {
        let Self { batch, heads, steps, .. } = *self;
        self.check(&[scores, grad], &[gates.input, gates.forget, grad_input, grad_forget]);
        let (matrix, sequence) = (steps * steps, steps * heads);
        if grad.is_empty() {
            return;
        }
        let outs = [grad, grad_input, grad_forget];
        threads::rows(batch, 2 * COST * heads * matrix, outs, |range, [grad, grad_input, grad_forget]| {
            let mut head = Head::new(steps);
            let mut scratch = [0; 3].map(|_| Buffer::zeroed(steps));
            let rows = grad.chunks_exact_mut(heads * matrix).zip(grad_input.chunks_exact_mut(sequence));
            for (b, ((grad, grad_input), grad_forget)) in
                range.zip(rows.zip(grad_forget.chunks_exact_mut(sequence)))
            {
                let of_sequence = |x| &<[f32]>::as_ref(x)[b * sequence..][..sequence];
                let (input, forget) = (of_sequence(gates.input), of_sequence(gates.forget));
                for (h, grad) in grad.chunks_exact_mut(matrix).enumerate() {
                    head.read(&input[h..], &forget[h..], heads);
                    let scores = &scores[(b * heads + h) * matrix..][..matrix];
                    let [row, offsets, bounds] = &mut scratch;
                    self.head_backward(&head, scores, grad, row, [offsets, bounds]);
                    let mut total = 0.0;
                    for t in (0..steps).rev() {
                        let at = t * heads + h;
                        total += bounds[t] - offsets[t];
                        grad_input[at] = offsets[t];
                        grad_forget[at] = total / (1.0 + forget[at].exp());
                    }
                }
            }
        });
    }

    /// The gradients of a head's scores in place of those of its weights, of its o, and of m where that is the bound of the
    /// normaliser; `row` is scratch space.
    fn head_backward(
        &self,
        head: &Head,
        scores: &[f32],
        grad: &mut [f32],
        row: &mut [f32],
        [offsets, bounds]: [&mut [f32]; 2],
    ) {
        offsets.fill(0.0);
        let rows = scores.chunks_exact(self.steps).zip(grad.chunks_exact_mut(self.steps));
        for (t, (scores, grad)) in rows.enumerate() {
            let (scores, (grad, later)) = (&scores[..=t], grad.split_at_mut(t + 1));
            later.fill(0.0);
            let row = &mut row[..=t];
            head.exponentials(row);
            simd::scale(row, self.scale);
            let (sum, product) = (simd::dot(row, scores), weighted_dot(row, scores, grad));
            let (floor, reached) = (head.floor(t), sum.abs());
            let normaliser = reached.max(floor) + EPS;
            let of_normaliser = -product / (normaliser * normaliser);
            let by_sum = reached >= floor || floor.is_infinite();
            let shift = if by_sum { of_normaliser * sum.signum() } else { 0.0 };
            // An infinite bound leaves nothing of the weights.
            bounds[t] = if by_sum { 0.0 } else { -of_normaliser * floor };
            let mut taken = 0.0;
            for (((grad, row), score), offset) in grad.iter_mut().zip(&*row).zip(scores).zip(&mut *offsets) {
                *grad = (*grad / normaliser + shift) * row;
                *offset += *grad * score;
                taken += *grad * score;
            }
            offsets[head.largest[t]] += bounds[t] - taken;
        }
    }

    #[track_caller]
    fn check(&self, matrices: &[&[f32]], gates: &[&[f32]]) {
        let sequence = self.batch * self.heads * self.steps;
        let fit = matrices.iter().all(|x| x.len() == sequence * self.steps)
            && gates.iter().all(|x| x.len() == sequence);
        let [matrices, gates] = [matrices, gates].map(|x| x.iter().map(|x| x.len()).collect::<Vec<_>>());
        assert!(fit, "scores of {matrices:?} values and gates of {gates:?} on {self:?}");
    }
}

/// `Σ a b c`.
fn weighted_dot(a: &[f32], b: &[f32], c: &[f32]) -> f32 {
    a.iter().zip(b).zip(c).map(|((a, b), c)| a * b * c).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbers;

    const SIZES: MatrixMemory = MatrixMemory { batch: 2, heads: 3, steps: 7, scale: 0.5 };

    /// The first formula of the module, in f64, without the 1e-6.
    fn definition(memory: MatrixMemory, scores: &[f32], gates: MemoryGates<'_>) -> Vec<f64> {
        let MatrixMemory { batch, heads, steps, scale } = memory;
        let mut weights = vec![0.0; scores.len()];
        for (b, h, t) in
            (0..batch).flat_map(|b| (0..heads).flat_map(move |h| (0..steps).map(move |t| (b, h, t))))
        {
            let gate = |x: &[f32], t: usize| f64::from(x[(b * steps + t) * heads + h]);
            let decay = |t: usize| -> f64 { (0..=t).map(|t| -(-gate(gates.forget, t)).exp().ln_1p()).sum() };
            let row = ((b * heads + h) * steps + t) * steps;
            let a = |j: usize| {
                (decay(t) - decay(j) + gate(gates.input, j)).exp() * f64::from(scale * scores[row + j])
            };
            let sum: f64 = (0..=t).map(a).sum();
            (0..=t).for_each(|j| weights[row + j] = a(j) / sum.abs().max(1.0));
        }
        weights
    }

    #[test]
    fn weights_equal_the_definition() {
        let n = SIZES.batch * SIZES.heads * SIZES.steps;
        for gain in [0.1, 3.0] {
            let scores = numbers(n * SIZES.steps, 1);
            let [input, forget] =
                [2, 3].map(|seed| numbers(n, seed).iter().map(|x| gain * x).collect::<Vec<_>>());
            let gates = MemoryGates { input: &input, forget: &forget };
            let mut weights = vec![f32::NAN; scores.len()];
            SIZES.weights(&scores, gates, &mut weights);
            let expected = definition(SIZES, &scores, gates);
            for (i, (actual, expected)) in weights.iter().zip(expected).enumerate() {
                assert!(
                    (f64::from(*actual) - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                    "{i}: {actual}, {expected}"
                );
            }
        }
    }

    #[test]
    fn gates_of_hundreds_neither_overflow_nor_vanish() {
        let memory = MatrixMemory { batch: 1, heads: 1, steps: 4, scale: 1.0 };
        let gates =
            MemoryGates { input: &[-300.0, 300.0, 0.0, 500.0], forget: &[-400.0, 400.0, -400.0, 0.0] };
        let (mut weights, scores) = (vec![0.0; 16], vec![1.0; 16]);
        memory.weights(&scores, gates, &mut weights);
        let (mut grad, mut input, mut forget) = (vec![1.0; 16], vec![0.0; 4], vec![0.0; 4]);
        memory.backward(&scores, gates, &mut grad, [&mut input, &mut forget]);
        assert!(weights.iter().chain(&grad).chain(&input).chain(&forget).all(|x| x.is_finite()));
        assert!(
            weights[0] == 0.0 && (weights[5] - 1.0).abs() < 1e-5 && (weights[15] - 1.0).abs() < 1e-5,
            "{weights:?}"
        );
    }

    #[test]
    #[should_panic(expected = "scores of [9, 8] values and gates of [3, 3]")]
    fn lengths_must_fit() {
        let memory = MatrixMemory { batch: 1, heads: 1, steps: 3, scale: 1.0 };
        memory.weights(&[0.0; 9], MemoryGates { input: &[0.0; 3], forget: &[0.0; 3] }, &mut [0.0; 8]);
    }
}
