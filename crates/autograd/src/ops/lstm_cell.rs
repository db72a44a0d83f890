//! A step of an LSTM for models that compute its sums themselves; [`Var::recurrent`] runs whole sequences.

use foretell_simd::{self as simd, Activation};
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// h and c, `[batch, units]` each, of an LSTM's step whose gates i, f, g, o have the sums `self [batch, 4 units]`, and
    /// which starts at c = `before [batch, units]`:
    ///
    /// ```text
    /// c = σ(f) before + σ(i) tanh(g)     h = σ(o) (tanh(c) + residual)
    /// ```
    ///
    /// The residual, `[batch, units]` where there is one, is that of Kim, El-Khamy and Lee 2017, "Residual LSTM". With r
    /// the residual, `dr = dh σ(o)`, and the gradient of o's sum has `dh r σ(o) (1 - σ(o))` more.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn lstm_cell(&self, before: &Self, residual: Option<&Self>) -> [Self; 2] {
        let (&[batch, units], sums) = (&*before.shape(), self.shape()) else {
            panic!("an LSTM's step from shape {:?}", before.shape());
        };
        let fits = *sums == [batch, 4 * units] && residual.is_none_or(|r| *r.shape() == [batch, units]);
        assert!(fits, "an LSTM's step from shape {:?} by sums of shape {sums:?}", before.shape());
        let (start, r) = (before.value().contiguous(), residual.map(|r| r.value().contiguous()));
        let (size, unit, row) = (batch * units, units.max(1), 4 * units.max(1));
        let mut gates = self.value().clone();
        let states = Tensor::build([2, batch, units], |states| {
            let (h, c) = states.split_at_mut(size);
            let (gates, no_bias) = (gates.values_mut(), Tensor::zeros([4 * units]));
            simd::lstm_cell(gates, no_bias.values(), start.values(), c, h);
            if let Some(r) = &r {
                let rows = gates.chunks_exact(row).zip(r.values().chunks_exact(unit));
                for ((gates, r), h) in rows.zip(h.chunks_exact_mut(unit)) {
                    simd::mul_add_assign(&gates[3 * units..], r, h);
                }
            }
        });

        let results = [0, 1].map(|i| states.narrow(0, i, 1).reshape([batch, units]));
        trace::record(|| {
            let record = Record::new("lstm_cell").input(self.value()).input(&start).optional(r.as_ref());
            record.output(&results[0]).output(&results[1])
        });
        let (sums_edge, before_edge, r_edge) = (self.edge(), before.edge(), residual.map(Self::edge));
        let inputs: Vec<&Self> = [self, before].into_iter().chain(residual).collect();
        Self::operation_of_two(results, &inputs, move |grads, gradients| {
            let [mut dh, mut dc] = grads.map(|grad| grad.unwrap_or_else(|| Tensor::zeros([batch, units])));
            let [mut dr, mut further] = [0, 1].map(|_| Tensor::zeros([if r.is_some() { size } else { 0 }]));
            let gates = gates.values();
            let mut sums = Tensor::zeros([batch, 4 * units]);
            if let Some(r) = &r {
                simd::mul(dh.values(), r.values(), further.values_mut());
                let rows = gates.chunks_exact(row).zip(dh.values().chunks_exact(unit));
                let parts =
                    dr.values_mut().chunks_exact_mut(unit).zip(further.values_mut().chunks_exact_mut(unit));
                for ((gates, dh), (dr, further)) in rows.zip(parts) {
                    let o = &gates[3 * units..];
                    simd::mul(dh, o, dr);
                    Activation::Sigmoid.backward(o, further);
                }
            }
            let c = &states.values()[size..];
            let (dh, dc_before) = (dh.values_mut(), dc.values_mut());
            simd::lstm_cell_backward(units, gates, start.values(), c, dh, dc_before, sums.values_mut());
            let rows = sums.values_mut().chunks_exact_mut(row).zip(further.values().chunks_exact(unit));
            rows.for_each(|(sums, further)| simd::add_assign(&mut sums[3 * units..], further));
            gradients.add_gradient(&sums_edge, sums);
            gradients.add_gradient(&before_edge, dc);
            if let Some(edge) = r_edge {
                gradients.add_gradient(&edge, dr.reshape([batch, units]));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    fn both(v: &[Var]) -> Var {
        let [h, c] = v[0].lstm_cell(&v[1], v.get(2));
        Var::concat(&[&h, &c], 0)
    }

    #[test]
    fn gradients_with_and_without_a_residual() {
        let inputs = [random([3, 8], 1), random([3, 2], 2), random([3, 2], 3)];
        for count in [2, 3] {
            gradients(&inputs[..count], both);
            gradients(&inputs[..count], |v| v[0].lstm_cell(&v[1], v.get(2))[0].clone());
            gradients(&inputs[..count], |v| {
                let [h, c] = v[0].lstm_cell(&v[1], v.get(2));
                v[0].lstm_cell(&c, Some(&h))[0].clone()
            });
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("lstm_cell", |x, _| both(x));
    }

    #[test]
    #[should_panic(expected = "an LSTM's step from shape [3, 2] by sums of shape [3, 6]")]
    fn wrong_shapes_panic() {
        let [sums, before] = [random([3, 6], 1), random([3, 2], 2)].map(Var::constant);
        sums.lstm_cell(&before, None);
    }
}
