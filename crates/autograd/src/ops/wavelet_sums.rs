//! Sums of moved and stretched wavelets; [`foretell_kernels::wavelets`] has the derivation of the backward pass.

use foretell_kernels::wavelets::{WaveletParameters, WaveletSums};
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::{Var, Wavelet};

impl Var {
    /// `out[r, o] = Σ_i weights[o, i] ψ((self[r, i] - translation[o, i]) / scale[o, i])`: `self [rows, inputs]`, the others
    /// `[outputs, inputs]`, result `[rows, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn wavelet_sums(&self, scale: &Self, translation: &Self, weights: &Self, wavelet: Wavelet) -> Self {
        let (shape, pairs) = (self.shape(), scale.shape());
        let (&[rows, inputs], &[outputs, columns]) = (&*shape, &*pairs) else {
            panic!("wavelets of shape {pairs:?} at values of shape {shape:?}");
        };
        let all = [scale, translation, weights];
        let fit = columns == inputs && all.iter().all(|part| part.shape() == pairs);
        assert!(fit, "wavelets of shapes {:?} at values of shape {shape:?}", all.map(Self::shape));
        let sums = WaveletSums { inputs, outputs, wavelet };
        let x = self.value().contiguous();
        let parts = all.map(|part| part.value().contiguous());
        let value =
            Tensor::build([rows, outputs], |out| sums.forward(rows, x.values(), &parameters(&parts), out));
        trace::record(|| {
            let wavelet = match wavelet {
                Wavelet::MexicanHat => "mexican_hat",
                Wavelet::Morlet => "morlet",
                Wavelet::Dog => "dog",
                Wavelet::Meyer => "meyer",
                Wavelet::Shannon => "shannon",
            };
            let record = Record::new("wavelet_sums").input(&x);
            parts.iter().fold(record, Record::input).output(&value).word("wavelet", wavelet)
        });
        let (edge, edges) = (self.edge(), all.map(Self::edge));
        Self::operation(value, &[self, scale, translation, weights], move |grad, gradients| {
            let mut of_parts = Tensor::zeros([3, outputs, inputs]);
            let dx = Tensor::build(shape, |dx| {
                sums.backward(
                    rows,
                    x.values(),
                    &parameters(&parts),
                    grad.values(),
                    of_parts.values_mut(),
                    dx,
                );
            });
            gradients.add_gradient(&edge, dx);
            for (i, edge) in edges.iter().enumerate() {
                gradients.add_gradient(edge, of_parts.narrow(0, i, 1).reshape(pairs));
            }
        })
    }
}

fn parameters([scale, translation, weights]: &[Tensor; 3]) -> WaveletParameters<'_> {
    WaveletParameters { scale: scale.values(), translation: translation.values(), weights: weights.values() }
}

#[cfg(test)]
mod tests {
    use crate::Wavelet;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_every_input() {
        for wavelet in [Wavelet::MexicanHat, Wavelet::Dog, Wavelet::Shannon] {
            let inputs = [random([3, 4], 1), random([2, 4], 2), random([2, 4], 3), random([2, 4], 4)];
            gradients(&inputs, |v| {
                let scale = v[1].square().add(&v[1].square()).exp().scale(0.1).add(&v[1].square().exp());
                v[0].wavelet_sums(&scale, &v[2], &v[3], wavelet)
            });
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("wavelet_sums", |x, a| {
            let wavelet = match a.text("kind") {
                "mexican_hat" => Wavelet::MexicanHat,
                "morlet" => Wavelet::Morlet,
                "dog" => Wavelet::Dog,
                "meyer" => Wavelet::Meyer,
                _ => Wavelet::Shannon,
            };
            x[0].wavelet_sums(&x[1], &x[2], &x[3], wavelet)
        });
    }
}
