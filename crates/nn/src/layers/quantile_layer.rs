//! The layer of implicit quantiles (Dabney et al. 2018, arXiv:1806.06923): of the output of a model it makes the quantile of any
//! probability. Parameters are named as in neuralforecast's `IQLoss`, which holds the layer.

use foretell_autograd::{Activation, Tensor, Var};

use crate::{Forward, ImplicitQuantiles, Linear, Nonlinearity, Scope};

/// Of an output `y` and a probability `q`, `prelu(w y (1 + e(q)) + b)`, where `e(q)` is a number that two layers make of
/// the cosines of `0, πq, 2πq, ...`.
#[derive(Clone, Debug)]
pub struct QuantileLayer {
    sizes: ImplicitQuantiles,
    hidden: Linear,
    hidden_slope: Nonlinearity,
    embedding: Linear,
    output: Linear,
    output_slope: Nonlinearity,
}

impl QuantileLayer {
    /// Registers the layer's parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, sizes: &ImplicitQuantiles) -> Self {
        let width = sizes.cos_embedding_dim;
        let mut embedding = scope.at("quantile_layer.output_layer");
        let hidden = Linear::new(&mut embedding.at(0), width, width);
        let hidden_slope = Nonlinearity::prelu(&mut embedding.at(1));
        let embedding = Linear::new(&mut embedding.at(2), width, 1);
        let mut output = scope.at("output_layer");
        let output_slope = Nonlinearity::prelu(&mut output.at(1));
        let output = Linear::new(&mut output.at(0), 1, 1);
        Self { sizes: sizes.clone(), hidden, hidden_slope, embedding, output, output_slope }
    }

    /// In training a probability is drawn for each number of `y [rows, steps, 1]`; the result, `[rows, steps, 2]`, has the value
    /// beside it. Else it has the quantiles that the run is at ([`Forward::at_quantiles`]), `[rows, steps, quantiles]`.
    ///
    /// # Panics
    /// If `y` has several numbers for each step.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, y: &Var) -> Var {
        if !cx.is_training() {
            return self.at(cx, y, cx.quantiles());
        }
        let shape = y.shape();
        let key = cx.next_key();
        let probabilities = Tensor::build(shape, |probabilities| {
            for (i, probability) in probabilities.iter_mut().enumerate() {
                *probability = self.sizes.draw(key.fold(i as u64));
            }
        });
        let values = self.values(cx, y, probabilities.values(), [shape[0], shape[1], 1]);
        Var::concat(&[values, Var::constant(probabilities)], 2)
    }

    /// The quantiles of these probabilities, `[rows, steps, quantiles]`.
    ///
    /// # Panics
    /// If `y` has several numbers for each step.
    #[track_caller]
    pub fn at(&self, cx: &Forward<'_>, y: &Var, probabilities: &[f32]) -> Var {
        let shape = y.shape();
        assert!(
            shape.len() == 3 && shape[2] == 1,
            "quantiles of outputs {shape:?}, expected one for each step"
        );
        self.values(cx, y, probabilities, [1, 1, probabilities.len()])
    }

    /// The values at probabilities that, in this shape, spread over `y`.
    fn values(&self, cx: &Forward<'_>, y: &Var, probabilities: &[f32], shape: [usize; 3]) -> Var {
        let width = self.sizes.cos_embedding_dim;
        let cosines = Tensor::build([probabilities.len(), width], |cosines| {
            for (row, probability) in cosines.chunks_exact_mut(width).zip(probabilities) {
                row.iter_mut().enumerate().for_each(|(i, x)| {
                    *x = (probability * i as f32 * std::f32::consts::PI).cos();
                });
            }
        });
        let hidden = self.hidden.forward(cx, &Var::constant(cosines), self.hidden_slope.fused());
        let hidden = self.hidden_slope.finish(cx, hidden);
        let factors = self.embedding.forward(cx, &hidden, Activation::Identity).reshape(shape);
        let scaled = y * &factors;
        let y = scaled.add(&y.expand(scaled.shape()));
        let (all, shape) = (y.value().numel(), y.shape());
        let values = self.output.forward(cx, &y.reshape([all, 1]), self.output_slope.fused());
        self.output_slope.finish(cx, values).reshape(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Table};

    fn layer() -> (QuantileLayer, Table) {
        let mut table = Table::default();
        let sizes = ImplicitQuantiles { cos_embedding_dim: 8, concentration: [1.0, 1.0] };
        let layer = QuantileLayer::new(&mut table.root().at("loss"), &sizes);
        (layer, table)
    }

    #[test]
    fn names_and_shapes_are_those_of_neuralforecast() {
        let (_, table) = layer();
        let mut names: Vec<_> =
            table.entries().iter().map(|entry| (entry.name.as_str(), entry.shape.to_vec())).collect();
        names.sort();
        assert_eq!(
            names,
            [
                ("loss.output_layer.0.bias", vec![1]),
                ("loss.output_layer.0.weight", vec![1, 1]),
                ("loss.output_layer.1.weight", vec![1]),
                ("loss.quantile_layer.output_layer.0.bias", vec![8]),
                ("loss.quantile_layer.output_layer.0.weight", vec![8, 8]),
                ("loss.quantile_layer.output_layer.1.weight", vec![1]),
                ("loss.quantile_layer.output_layer.2.bias", vec![1]),
                ("loss.quantile_layer.output_layer.2.weight", vec![1, 8]),
            ]
        );
    }

    #[test]
    fn training_and_forecasts_have_the_same_quantiles() {
        let (layer, table) = layer();
        let params = table.initialise(3);
        let y = Var::constant(Tensor::from_slice(&[0.5, -1.0, 2.0, 0.1, 0.0, 3.0], [2, 3, 1]));
        let drawn = layer.forward(&Forward::training(&params, Key::new(5)), &y);
        assert_eq!(&*drawn.shape(), [2, 3, 2]);
        let pairs = drawn.value().to_vec();
        for (i, &[value, probability]) in pairs.as_chunks::<2>().0.iter().enumerate() {
            let at = [0.5, probability];
            let forecast = layer.forward(&Forward::inference(&params).at_quantiles(&at), &y);
            assert_eq!(&*forecast.shape(), [2, 3, 2]);
            let found = forecast.value().to_vec()[2 * i + 1];
            assert!((found - value).abs() < 1e-6, "step {i}: {found} and {value}");
        }
        let medians = layer.forward(&Forward::inference(&params), &y);
        assert_eq!(&*medians.shape(), [2, 3, 1]);
        let other = layer.forward(&Forward::training(&params, Key::new(6)), &y).value().to_vec();
        assert!(pairs.iter().zip(&other).any(|(one, other)| one != other), "draws go by the key");
    }
}
