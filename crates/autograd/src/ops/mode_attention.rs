//! Attention among complex modes of two sequences, whose activation is the hyperbolic tangent.
//!
//! # Derivation of the backward pass
//!
//! With g the gradient of `y = t k`, `t = tanh s` and `s = q kᵀ`, a complex number of the derivatives by either part,
//!
//! ```text
//! ds = g kᴴ · conj(1 - t²)     dq = ds conj(k)     dk = dsᵀ conj(q) + tᴴ g
//! ```

use foretell_gemm::{Accum, BatchDims, ComplexBatchMut, ComplexBatchRef, Rounding, matmul_complex_batched};
use foretell_simd as simd;
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{Buffer, Tensor};
use foretell_threads as threads;

use super::linear_columns::PRODUCTS_PER_NUMBER;
use crate::Var;

impl Var {
    /// `tanh(q kᵀ) k` of complex modes for each head: queries `self [batch, 2, queries, heads * size]` and `keys [batch, 2,
    /// modes, heads * size]`, real parts before all imaginary ones; result of the queries' shape. Nothing is conjugated.
    ///
    /// Products are rounded where either factor is ([`Var::with_rounding`]), to half precision only.
    ///
    /// # Panics
    /// If the shapes do not fit, or there are no modes.
    #[track_caller]
    pub fn mode_attention(&self, keys: &Self, heads: usize) -> Self {
        let (q, k) = (self.value().contiguous(), keys.value().contiguous());
        let sizes = Sizes::of(&q.shape(), &k.shape(), heads, self.rounding().or(keys.rounding()));
        let (batch, rounding, cost) = (q.shape()[0], sizes.rounding, sizes.cost());
        let mut shares = None;
        let value = Tensor::build(q.shape(), |y| {
            shares = Some(Tensor::build([batch, heads, 2, sizes.queries, sizes.modes], |t| {
                threads::rows(batch, cost, [y, t], |windows, [y, t]| {
                    let outs =
                        y.chunks_exact_mut(sizes.query_len()).zip(t.chunks_exact_mut(sizes.shares_len()));
                    for (b, (y, t)) in windows.zip(outs) {
                        sizes.forward(sizes.query(&q, b), sizes.key(&k, b), y, t);
                    }
                });
            }));
        });
        trace::record(|| {
            Record::new("mode_attention").input(&q).input(&k).output(&value).size("heads", heads)
        });
        let shares = shares.expect("it was built").keep(Self::saved_rounding(&[self, keys], rounding));
        let (q_edge, k_edge) = (self.edge(), keys.edge());
        let (q, k) = (self.save_for_backward(&q, rounding), keys.save_for_backward(&k, rounding));
        Self::operation(value, &[self, keys], move |grad, gradients| {
            let (q, k, shares) = (q.into_tensor(), k.into_tensor(), shares.into_tensor());
            let mut dk = None;
            let dq = Tensor::build(q.shape(), |dq| {
                dk = Some(Tensor::build(k.shape(), |dk| {
                    threads::rows(batch, 2 * cost, [dq, dk], |windows, [dq, dk]| {
                        let mut slopes = Buffer::<f32>::stale(sizes.shares_len());
                        let outs =
                            dq.chunks_exact_mut(sizes.query_len()).zip(dk.chunks_exact_mut(sizes.key_len()));
                        for (b, (dq, dk)) in windows.zip(outs) {
                            let t = &shares.values()[b * sizes.shares_len()..][..sizes.shares_len()];
                            let operands = [sizes.query(&q, b), sizes.key(&k, b), sizes.query(&grad, b)];
                            sizes.backward(operands, t, &mut slopes, (dq, dk));
                        }
                    });
                }));
            });
            gradients.add_gradient(&q_edge, dq);
            gradients.add_gradient(&k_edge, dk.expect("it was built"));
        })
    }
}

/// The sizes of a window's attention.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    queries: usize,
    modes: usize,
    heads: usize,
    head: usize,
    rounding: Rounding,
}

impl Sizes {
    #[track_caller]
    fn of(queries: &[usize], keys: &[usize], heads: usize, rounding: Rounding) -> Self {
        if let (&[batch, 2, count, width], &[key_batch, 2, modes, key_width]) = (queries, keys)
            && (batch, width) == (key_batch, key_width)
            && count * modes * width * heads > 0
            && width.is_multiple_of(heads)
        {
            return Self { queries: count, modes, heads, head: width / heads, rounding };
        }
        panic!("attention among modes of {queries:?} and {keys:?} with {heads} heads")
    }

    fn cost(&self) -> usize {
        self.shares_len() * self.head * 4 / PRODUCTS_PER_NUMBER
    }

    fn query_len(&self) -> usize {
        2 * self.queries * self.heads * self.head
    }

    fn key_len(&self) -> usize {
        2 * self.modes * self.heads * self.head
    }

    /// The length of s or t, `[heads, 2, queries, modes]`.
    fn shares_len(&self) -> usize {
        2 * self.heads * self.queries * self.modes
    }

    /// The queries of a window, or their gradients.
    fn query<'a>(&self, x: &'a Tensor, window: usize) -> ComplexBatchRef<'a> {
        self.heads(&x.values()[window * self.query_len()..], self.queries)
    }

    fn key<'a>(&self, x: &'a Tensor, window: usize) -> ComplexBatchRef<'a> {
        self.heads(&x.values()[window * self.key_len()..], self.modes)
    }

    fn heads<'a>(&self, x: &'a [f32], rows: usize) -> ComplexBatchRef<'a> {
        let width = self.heads * self.head;
        ComplexBatchRef::new(x, rows * width, self.side_by_side(), (rows, self.head), (width, 1))
    }

    fn heads_mut<'a>(&self, x: &'a mut [f32], rows: usize) -> ComplexBatchMut<'a> {
        let width = self.heads * self.head;
        ComplexBatchMut::new(x, rows * width, self.side_by_side(), (rows, self.head), width)
    }

    fn side_by_side(&self) -> BatchDims {
        [(1, 0), (self.heads, self.head)]
    }

    fn shares<'a>(&self, t: &'a [f32]) -> ComplexBatchRef<'a> {
        let part = self.queries * self.modes;
        let size = (self.queries, self.modes);
        ComplexBatchRef::new(t, part, [(1, 0), (self.heads, 2 * part)], size, (self.modes, 1))
    }

    fn shares_mut<'a>(&self, t: &'a mut [f32]) -> ComplexBatchMut<'a> {
        let part = self.queries * self.modes;
        let size = (self.queries, self.modes);
        ComplexBatchMut::new(t, part, [(1, 0), (self.heads, 2 * part)], size, self.modes)
    }

    /// Writes the result `y` of a window, and t.
    fn forward(&self, q: ComplexBatchRef<'_>, k: ComplexBatchRef<'_>, y: &mut [f32], t: &mut [f32]) {
        matmul_complex_batched(self.shares_mut(t), q, k.t(), Accum::Replace, self.rounding);
        let part = self.queries * self.modes;
        for t in t.chunks_exact_mut(2 * part) {
            let (re, im) = t.split_at_mut(part);
            simd::complex_tanh_in_place(re, im);
        }
        matmul_complex_batched(
            self.heads_mut(y, self.queries),
            self.shares(t),
            k,
            Accum::Replace,
            self.rounding,
        );
    }

    /// Writes the gradients of a window's queries and keys, and those of s to `slopes`.
    fn backward(
        &self,
        [q, k, grad]: [ComplexBatchRef<'_>; 3],
        t: &[f32],
        slopes: &mut [f32],
        (dq, dk): (&mut [f32], &mut [f32]),
    ) {
        matmul_complex_batched(self.shares_mut(slopes), grad, k.t().conj(), Accum::Replace, self.rounding);
        let part = self.queries * self.modes;
        for (t, slopes) in t.chunks_exact(2 * part).zip(slopes.chunks_exact_mut(2 * part)) {
            let ((re, im), (d_re, d_im)) = (t.split_at(part), slopes.split_at_mut(part));
            simd::complex_tanh_backward(re, im, d_re, d_im);
        }
        let (slopes, t) = (self.shares(slopes), self.shares(t));
        let product =
            |dst: ComplexBatchMut<'_>, lhs: ComplexBatchRef<'_>, rhs: ComplexBatchRef<'_>, accum| {
                matmul_complex_batched(dst, lhs, rhs, accum, self.rounding);
            };
        product(self.heads_mut(dq, self.queries), slopes, k.conj(), Accum::Replace);
        product(self.heads_mut(dk, self.modes), slopes.t(), q.conj(), Accum::Replace);
        product(self.heads_mut(dk, self.modes), t.t().conj(), grad, Accum::Add);
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_of_queries_and_keys() {
        let inputs = [random([2, 2, 3, 4], 1), random([2, 2, 2, 4], 2)].map(|x| x.scale(0.4));
        gradients(&inputs, |v| v[0].mode_attention(&v[1], 2));
        gradients(&inputs[..1], |v| v[0].mode_attention(&v[0], 4));
    }

    #[test]
    fn empty_batches_serve() {
        let (q, k) = (Var::input(Tensor::zeros([0, 2, 3, 4])), Var::input(Tensor::zeros([0, 2, 2, 4])));
        let y = q.mode_attention(&k, 2);
        y.backward_from(y.value().clone(), &mut []);
        assert!(k.grad().unwrap().to_vec().is_empty());
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("mode_attention", |x, a| x[0].mode_attention(&x[1], a.number("heads")));
    }

    #[test]
    #[should_panic(expected = "attention among modes of [2, 2, 3, 4] and [2, 2, 3, 4] with 3 heads")]
    fn wrong_shapes_panic() {
        let x = Var::constant(random([2, 2, 3, 4], 1));
        x.mode_attention(&x, 3);
    }
}
