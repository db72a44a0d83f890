//! The recurrence of an sLSTM (Beck et al. 2024, "xLSTM", arXiv 2405.04517, section 2.2): an LSTM with exponential gates, whose
//! units see each other within heads only.
//!
//! With the sums of the four gates, i, f, z and o, at each step from the input and, by a matrix R of each head, from the h before,
//!
//! ```text
//! m = max(i, ln σ(f) + m₋)     i' = e^(i - m)     f' = e^(ln σ(f) + m₋ - m)     (first step: m = i)
//! c = f' c₋ + i' tanh(z)       n = f' n₋ + i'     h = σ(o) c / n
//! ```
//!
//! # Derivation of the backward pass
//!
//! h does not depend on m, which scales c and n alike: so m counts as a constant, and with the gradients dh, dc and dn at a step
//!
//! ```text
//! do = dh (c / n) σ(o) (1 - σ(o))     dc += dh σ(o) / n     dn -= dh h / n
//! dz = dc i' (1 - tanh²(z))           di = (dc tanh(z) + dn) i'     df = (dc c₋ + dn n₋) f' σ(-f)
//! dc₋ = dc f'     dn₋ = dn f'         dh₋ = (sums' gradient) Rᵀ     dR = h₋ᵀ (sums' gradient)
//! ```

use foretell_gemm::{Accum, MatMut, MatRef, Options, matmul};
use foretell_pool::Buffer;
use foretell_simd::{self as simd, Activation};

/// i, f, z and o.
pub const GATES: usize = 4;

/// The sizes of a batch of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarMemory {
    /// Steps of a sequence.
    pub steps: usize,
    /// The number of sequences.
    pub batch: usize,
    /// Groups of units that see each other.
    pub heads: usize,
    /// Units of a head.
    pub width: usize,
}

/// The slices of [`ScalarMemory::forward`] that its backward pass reads, each of all steps.
#[derive(Debug)]
pub struct ScalarMemoryRun<'a> {
    /// In: the sums from the inputs, `[steps, batch, 4 units]`, a gate's units beside each other. Out: i', f', tanh(z) and σ(o).
    pub gates: &'a mut [f32],
    /// σ(f), `[steps, batch, units]`.
    pub forget: &'a mut [f32],
    /// c, of the same shape.
    pub cells: &'a mut [f32],
    /// n, of the same shape.
    pub normalisers: &'a mut [f32],
    /// h, of the same shape.
    pub states: &'a mut [f32],
}

/// The slices of a run, after it, as [`ScalarMemory::backward`] reads them.
#[derive(Clone, Copy, Debug)]
pub struct FinishedRun<'a> {
    /// i', f', tanh(z) and σ(o).
    pub gates: &'a [f32],
    /// σ(f).
    pub forget: &'a [f32],
    /// c.
    pub cells: &'a [f32],
    /// n.
    pub normalisers: &'a [f32],
    /// h.
    pub states: &'a [f32],
}

impl ScalarMemory {
    /// Units of a step of a sequence.
    pub fn units(&self) -> usize {
        self.heads * self.width
    }

    /// Values of h at all steps.
    pub fn states_len(&self) -> usize {
        self.steps * self.step_len()
    }

    /// Values of R, `[heads, width, 4 width]`: from a unit of the head before to the gates' units of the head.
    pub fn weight_len(&self) -> usize {
        GATES * self.units() * self.width
    }

    fn step_len(&self) -> usize {
        self.batch * self.units()
    }

    /// Runs the recurrence from c = n = h = 0.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn forward(&self, weight: &[f32], run: ScalarMemoryRun<'_>) {
        let ScalarMemoryRun { gates, forget, cells, normalisers, states } = run;
        self.check(weight, gates, &[forget, cells, normalisers, states]);
        let (units, len) = (self.units(), self.step_len());
        let mut largest = Buffer::<f32>::zeroed(len);
        let mut scratch = Buffer::<f32>::zeroed(units);
        for t in 0..self.steps {
            let (before, now) = (t.saturating_sub(1) * len..t * len, t * len..(t + 1) * len);
            let gates = &mut gates[t * GATES * len..][..GATES * len];
            if t > 0 {
                self.add_products(&states[before.clone()], weight, gates);
            }
            let [(c_before, c), (n_before, n)] = [&mut *cells, &mut *normalisers].map(|x| {
                let (before_now, from_now) = x.split_at_mut(now.start);
                (&before_now[before.clone()], &mut from_now[..len])
            });
            let (forget, h) = (&mut forget[now.clone()], &mut states[now]);
            for (row, gates) in gates.chunks_exact_mut(GATES * units).enumerate() {
                let at = row * units..(row + 1) * units;
                let earlier = (t > 0).then(|| (&c_before[at.clone()], &n_before[at.clone()]));
                step(
                    gates,
                    earlier,
                    [&mut largest[at.clone()], &mut scratch],
                    [&mut forget[at.clone()], &mut c[at.clone()], &mut n[at.clone()], &mut h[at]],
                );
            }
        }
    }

    /// The gradients of the sums from the inputs, written to `grad_sums [steps, batch, 4 units]`, and of R, overwritten, from that
    /// of h at all steps, `grad`, which is used up.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn backward(
        &self,
        weight: &[f32],
        run: FinishedRun<'_>,
        grad: &mut [f32],
        grad_sums: &mut [f32],
        grad_weight: &mut [f32],
    ) {
        let FinishedRun { gates, forget, cells, normalisers, states } = run;
        self.check(weight, gates, &[forget, cells, normalisers, states, grad]);
        self.check(grad_weight, grad_sums, &[]);
        let (units, len) = (self.units(), self.step_len());
        let [mut dc, mut dn] = [0; 2].map(|_| Buffer::<f32>::zeroed(len));
        for t in (0..self.steps).rev() {
            let now = t * len..(t + 1) * len;
            let of_gates = t * GATES * len..(t + 1) * GATES * len;
            let sums = &mut grad_sums[of_gates.clone()];
            for row in 0..self.batch {
                let at = now.start + row * units..now.start + (row + 1) * units;
                let earlier = (t > 0).then(|| at.start - len..at.end - len);
                let carried = row * units..(row + 1) * units;
                step_backward(
                    &gates[of_gates.clone()][row * GATES * units..][..GATES * units],
                    earlier.map(|at| [&cells[at.clone()], &normalisers[at]]),
                    [&forget[at.clone()], &normalisers[at.clone()], &states[at.clone()], &grad[at]],
                    [&mut dc[carried.clone()], &mut dn[carried]],
                    &mut sums[row * GATES * units..][..GATES * units],
                );
            }
            if t > 0 {
                self.products_backward(weight, sums, &mut grad[now.start - len..now.start]);
            }
        }
        self.weight_gradient(states, grad_sums, grad_weight);
    }

    /// Adds `h R` to the sums of a step, head by head and gate by gate.
    fn add_products(&self, h: &[f32], weight: &[f32], sums: &mut [f32]) {
        let (units, options) = (self.units(), Options::default().accum(Accum::Add));
        for (first, column, matrix) in self.blocks(weight) {
            let h = MatRef::new(&h[first..], self.batch, self.width, units, 1);
            let sums = MatMut::new(&mut sums[column..], self.batch, self.width, GATES * units, 1);
            matmul(sums, h, matrix, options);
        }
    }

    /// Adds the gradient that the sums of a step give the h before.
    fn products_backward(&self, weight: &[f32], sums: &[f32], h: &mut [f32]) {
        let (units, options) = (self.units(), Options::default().accum(Accum::Add));
        for (first, column, matrix) in self.blocks(weight) {
            let sums = MatRef::new(&sums[column..], self.batch, self.width, GATES * units, 1);
            let h = MatMut::new(&mut h[first..], self.batch, self.width, units, 1);
            matmul(h, sums, matrix.t(), options);
        }
    }

    /// The gradient of R, from all steps at once.
    fn weight_gradient(&self, states: &[f32], sums: &[f32], weight: &mut [f32]) {
        let (units, width) = (self.units(), self.width);
        let Some(rows) = self.steps.checked_sub(1).map(|steps| steps * self.batch).filter(|&rows| rows > 0)
        else {
            return weight.fill(0.0);
        };
        let later = &sums[self.batch * GATES * units..];
        for (head, gate) in (0..self.heads).flat_map(|head| (0..GATES).map(move |gate| (head, gate))) {
            let h = MatRef::new(&states[head * width..], rows, width, units, 1);
            let sums = MatRef::new(&later[gate * units + head * width..], rows, width, GATES * units, 1);
            let at = (head * width * GATES + gate) * width;
            let weight = MatMut::new(&mut weight[at..], width, width, GATES * width, 1);
            matmul(weight, h.t(), sums, Options::default());
        }
    }

    /// The matrices of R, each with the first unit that it reads and the first sum that it is added to.
    fn blocks<'a>(&self, weight: &'a [f32]) -> impl Iterator<Item = (usize, usize, MatRef<'a, f32>)> {
        let (width, units) = (self.width, self.units());
        (0..self.heads).flat_map(move |head| {
            (0..GATES).map(move |gate| {
                let at = (head * width * GATES + gate) * width;
                let matrix = MatRef::new(&weight[at..], width, width, GATES * width, 1);
                (head * width, gate * units + head * width, matrix)
            })
        })
    }

    #[track_caller]
    fn check(&self, weight: &[f32], gates: &[f32], states: &[&[f32]]) {
        let (len, sizes) = (self.states_len(), states.iter().map(|x| x.len()).collect::<Vec<_>>());
        let fit = weight.len() == self.weight_len()
            && gates.len() == GATES * len
            && sizes.iter().all(|&size| size == len);
        assert!(
            fit,
            "weights of {} values, gates of {} and states of {sizes:?} on {self:?}",
            weight.len(),
            gates.len()
        );
    }
}

/// A step of one sequence: from the gates' sums and, if there is one, the step before to what [`ScalarMemoryRun`] holds. `largest`
/// is m.
fn step(
    gates: &mut [f32],
    before: Option<(&[f32], &[f32])>,
    [largest, scratch]: [&mut [f32]; 2],
    [forget, c, n, h]: [&mut [f32]; 4],
) {
    let units = c.len();
    let (input, gates) = gates.split_at_mut(units);
    let (f, gates) = gates.split_at_mut(units);
    let (z, o) = gates.split_at_mut(units);
    simd::tanh_in_place(z);
    Activation::Sigmoid.apply(o);
    simd::sigmoid(f, forget);
    // ln σ(f) = -softplus(-f), to which m is added.
    f.iter_mut().for_each(|f| *f = -*f);
    Activation::Softplus.forward(f, scratch);
    for ((f, softplus), m) in f.iter_mut().zip(&*scratch).zip(&*largest) {
        *f = m - softplus;
    }
    for ((i, f), m) in input.iter_mut().zip(&mut *f).zip(largest) {
        *m = if before.is_some() { i.max(*f) } else { *i };
        (*i, *f) = (*i - *m, (*f - *m).min(0.0));
    }
    simd::exp(input, n);
    input.copy_from_slice(n);
    simd::mul(input, z, c);
    if let Some((c_before, n_before)) = before {
        simd::exp(f, scratch);
        f.copy_from_slice(scratch);
        simd::mul_add_assign(f, c_before, c);
        simd::mul_add_assign(f, n_before, n);
    } else {
        f.fill(0.0);
    }
    simd::div(c, n, h);
    simd::mul_assign(h, o);
}

/// The gradients of a step's sums, and those of the c and n before in place of those of c and n.
fn step_backward(
    gates: &[f32],
    before: Option<[&[f32]; 2]>,
    [forget, n, h, grad]: [&[f32]; 4],
    [dc, dn]: [&mut [f32]; 2],
    sums: &mut [f32],
) {
    let units = n.len();
    for u in 0..units {
        let [i, f, z, o] = [0, 1, 2, 3].map(|gate| gates[gate * units + u]);
        let [c_before, n_before] = before.map_or([0.0; 2], |before| before.map(|x| x[u]));
        let along_c = dc[u] + grad[u] * o / n[u];
        let along_n = dn[u] - grad[u] * h[u] / n[u];
        let parts = [
            (along_c * z + along_n) * i,
            (along_c * c_before + along_n * n_before) * f * (1.0 - forget[u]),
            along_c * i * (1.0 - z * z),
            grad[u] * h[u] * (1.0 - o),
        ];
        parts.into_iter().enumerate().for_each(|(gate, part)| sums[gate * units + u] = part);
        (dc[u], dn[u]) = (along_c * f, along_n * f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbers;

    /// The formulas of the module in f64, unit by unit and with plain exponentials.
    fn definition(memory: ScalarMemory, sums: &[f32], weight: &[f32]) -> Vec<f64> {
        let ScalarMemory { steps, batch, width, .. } = memory;
        let units = memory.units();
        let mut states = vec![0.0; memory.states_len()];
        for b in 0..batch {
            let (mut c, mut n) = (vec![0.0; units], vec![0.0; units]);
            for t in 0..steps {
                let before: Vec<f64> = match t {
                    0 => vec![0.0; units],
                    _ => states[((t - 1) * batch + b) * units..][..units].to_vec(),
                };
                for u in 0..units {
                    let (head, d) = (u / width, u % width);
                    let sum = |gate: usize| {
                        let own = f64::from(sums[((t * batch + b) * GATES + gate) * units + u]);
                        let from = |k: usize| {
                            let at = (head * width + k) * GATES * width + gate * width + d;
                            before[head * width + k] * f64::from(weight[at])
                        };
                        own + (0..width).map(from).sum::<f64>()
                    };
                    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
                    let (input, forget) = (sum(0).exp(), sigmoid(sum(1)));
                    c[u] = forget * c[u] + input * sum(2).tanh();
                    n[u] = forget * n[u] + input;
                    states[(t * batch + b) * units + u] = sigmoid(sum(3)) * c[u] / n[u];
                }
            }
        }
        states
    }

    #[test]
    fn states_equal_the_definition() {
        for (steps, batch, heads, width) in [(6, 3, 2, 5), (1, 2, 1, 3), (4, 1, 4, 1), (0, 2, 2, 2)] {
            let memory = ScalarMemory { steps, batch, heads, width };
            let len = memory.states_len();
            let (sums, weight) = (numbers(GATES * len, 1), numbers(memory.weight_len(), 2));
            let mut gates = sums.clone();
            let [mut forget, mut cells, mut normalisers, mut states] = [0; 4].map(|_| vec![f32::NAN; len]);
            memory.forward(
                &weight,
                ScalarMemoryRun {
                    gates: &mut gates,
                    forget: &mut forget,
                    cells: &mut cells,
                    normalisers: &mut normalisers,
                    states: &mut states,
                },
            );
            for (i, (actual, expected)) in states.iter().zip(definition(memory, &sums, &weight)).enumerate() {
                assert!(
                    (f64::from(*actual) - expected).abs() < 2e-6,
                    "{memory:?} at {i}: {actual}, {expected}"
                );
            }
        }
    }

    #[test]
    #[should_panic(expected = "weights of 3 values, gates of 8 and states of [2, 2, 2, 2]")]
    fn lengths_must_fit() {
        let memory = ScalarMemory { steps: 2, batch: 1, heads: 1, width: 1 };
        let [mut a, mut b, mut c, mut d] = [[0.0; 2]; 4];
        let run = ScalarMemoryRun {
            gates: &mut [0.0; 8],
            forget: &mut a,
            cells: &mut b,
            normalisers: &mut c,
            states: &mut d,
        };
        memory.forward(&[0.0; 3], run);
    }
}
