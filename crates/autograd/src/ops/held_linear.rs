//! The linear layer with weights that are packed once, for forecasts: no gradient flows through it.

use foretell_gemm::{Bias, MatMut, MatRef, Options, WeightFormat, WeightMatrix, matmul};
use foretell_simd::Activation;
use foretell_tensor::Tensor;

use crate::Var;

/// The weight `[n, k]` of a linear layer, packed for [`Var::linear_held`].
///
/// # Panics
/// If it is no matrix; in 8 bits, if k exceeds 131,072.
#[track_caller]
pub fn held_weight(weight: &Tensor, format: WeightFormat) -> WeightMatrix {
    let &[n, k] = &*weight.shape() else { panic!("a weight of shape {:?}", weight.shape()) };
    WeightMatrix::new(MatRef::row_major(weight.contiguous().values(), n, k).t(), format)
}

impl Var {
    /// [`Var::linear`] with a packed weight: `self [..., k]`, `weight` `k` by `n`, `bias [n]`, result `[..., n]`, a constant.
    ///
    /// # Panics
    /// If the shapes do not fit, or a gradient of the input or the bias is wanted.
    #[track_caller]
    pub fn linear_held(&self, weight: &WeightMatrix, bias: Option<&Self>, activation: Activation) -> Self {
        let (k, n) = (weight.nrows(), weight.ncols());
        assert_eq!(
            self.shape().last(),
            Some(&k),
            "linear of shape {:?} by weight {:?}",
            self.shape(),
            [n, k]
        );
        let wanted = self.edge().is_wanted() || bias.is_some_and(|bias| bias.edge().is_wanted());
        assert!(!wanted, "packed weights are for forecasts: they have no gradient");
        let x = self.value().contiguous();
        let rows = x.shape()[..x.rank() - 1].iter().product();
        let mut shape = x.shape();
        shape[x.rank() - 1] = n;
        let options = Options::default()
            .bias(bias.map(|bias| Bias::PerColumn(bias.value().values())))
            .activation(activation);
        Self::constant(Tensor::build(shape, |out| {
            let x = MatRef::row_major(x.values(), rows, k);
            matmul(MatMut::row_major(out, rows, n), x, weight, options);
        }))
    }
}

#[cfg(test)]
mod tests {
    use foretell_gemm::WeightFormat;

    use super::held_weight;
    use crate::ops::check::random;
    use crate::{Activation, Var};

    #[test]
    fn near_the_layer_in_f32() {
        let (x, w, b) = (random([2, 3, 40], 1), random([24, 40], 2), random([24], 3));
        let [x, w_var, b] = [x, w.clone(), b].map(Var::constant);
        let exact = x.linear(&w_var, Some(&b), Activation::Tanh).value().to_vec();
        for (format, bound) in
            [(WeightFormat::F32, 1e-5), (WeightFormat::Bf16, 0.1), (WeightFormat::Int8, 0.1)]
        {
            let weight = held_weight(&w, format);
            let y = x.linear_held(&weight, Some(&b), Activation::Tanh);
            assert_eq!(*y.shape(), [2, 3, 24]);
            let off = y.value().to_vec().iter().zip(&exact).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
            assert!(off < bound && (off > 0.0 || format == WeightFormat::F32), "{format:?}: off by {off}");
        }
    }

    #[test]
    #[should_panic(expected = "they have no gradient")]
    fn no_gradient_flows_through_it() {
        let weight = held_weight(&random([2, 2], 2), WeightFormat::Int8);
        Var::parameter(random([1, 2], 1), 0).linear_held(&weight, None, Activation::Identity);
    }
}
