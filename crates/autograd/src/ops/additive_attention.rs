//! Additive attention over the steps of time-major sequences; [`foretell_kernels::additive_attention`] has the equations
//! and the derivation of the backward pass.

use foretell_kernels::additive_attention::{AdditiveAttention, AdditiveAttentionGradients, Operands};
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The mean of `values [steps, batch, columns]` over the steps, weighted by the softmax of `weight · tanh(key + query)`:
    /// keys `self [steps, batch, units]`, `query [batch, units]`, `weight [units]`, result `[batch, columns]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn additive_attention(&self, query: &Self, weight: &Self, values: &Self) -> Self {
        let operands = [self, query, weight, values];
        let [keys, query, weight, values] = operands.map(|operand| operand.value().contiguous());
        let (&[steps, batch, units], &[.., columns]) = (&*keys.shape(), &*values.shape()) else {
            panic!(
                "attention with keys of shape {:?} and values of shape {:?}",
                keys.shape(),
                values.shape()
            );
        };
        let shapes = [[steps, batch, units].into(), [batch, units].into(), [units].into()];
        let fit = [&keys, &query, &weight].map(|operand| operand.shape()) == shapes
            && *values.shape() == [steps, batch, columns];
        let shapes = operands.map(Self::shape);
        assert!(fit, "attention with keys, query, weight and values of shapes {shapes:?}");

        let attention = AdditiveAttention { steps, batch, units, columns };
        let mut shares = Tensor::zeros([0]);
        let context = Tensor::build([batch, columns], |context| {
            shares = Tensor::build([attention.weights_len()], |shares| {
                let mut scratch = Tensor::zeros([attention.scratch_len()]);
                let operands = read(&keys, &query, &weight, &values);
                attention.forward(operands, context, shares, scratch.values_mut());
            });
        });
        trace::record(|| {
            let record = Record::new("additive_attention").input(&keys).input(&query);
            record.input(&weight).input(&values).output(&context)
        });
        let [keys_edge, query_edge, weight_edge, values_edge] = operands.map(Self::edge);
        Self::operation(context, &operands, move |grad, gradients| {
            gradients.accumulate(&values_edge, values.shape(), |dvalues| {
                attention.value_gradient(shares.values(), grad.values(), dvalues);
            });
            let mut dquery = Tensor::zeros(query.shape());
            let mut dweight = Tensor::zeros(weight.shape());
            let mut scratch = Tensor::zeros([attention.scratch_len()]);
            let mut backward = |dkeys: &mut [f32]| {
                let parts = AdditiveAttentionGradients {
                    keys: dkeys,
                    query: dquery.values_mut(),
                    weight: dweight.values_mut(),
                };
                let operands = read(&keys, &query, &weight, &values);
                attention.backward(operands, shares.values(), grad.values(), parts, scratch.values_mut());
            };
            if keys_edge.is_wanted() {
                gradients.accumulate(&keys_edge, keys.shape(), backward);
            } else {
                backward(Tensor::zeros(keys.shape()).values_mut());
            }
            gradients.add_gradient(&query_edge, dquery);
            gradients.add_gradient(&weight_edge, dweight);
        })
    }
}

fn read<'a>(keys: &'a Tensor, query: &'a Tensor, weight: &'a Tensor, values: &'a Tensor) -> Operands<'a> {
    let [keys, query, weight, values] = [keys, query, weight, values].map(Tensor::values);
    Operands { keys, query, weight, values }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_all_operands() {
        let inputs = [random([3, 2, 4], 1), random([2, 4], 2), random([4], 3), random([3, 2, 2], 4)];
        gradients(&inputs, |v| v[0].additive_attention(&v[1], &v[2], &v[3]));
        gradients(&inputs[..3], |v| v[0].additive_attention(&v[1], &v[2], &v[0]));
        let keys = Var::constant(random([3, 2, 4], 5));
        gradients(&inputs[1..], |v| keys.additive_attention(&v[0], &v[1], &v[2]));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("additive_attention", |x, _| {
            x[0].additive_attention(&x[1], &x[2], &x[3])
        });
    }

    #[test]
    #[should_panic(expected = "attention with keys, query, weight and values of shapes")]
    fn wrong_shapes_panic() {
        let operands = [random([3, 2, 4], 1), random([2, 4], 2), random([4], 3), random([2, 2, 2], 4)];
        let [keys, query, weight, values] = operands.map(Var::constant);
        keys.additive_attention(&query, &weight, &values);
    }
}
