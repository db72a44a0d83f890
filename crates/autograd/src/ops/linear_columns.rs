//! Linear layers on matrices whose columns are the samples, or become them: they mix the rows of a matrix (steps,
//! series) without transposing it.

use foretell_gemm::{Accum, BatchMut, BatchRef, Bias, MatMut, MatRef, Options, matmul, matmul_batched};
use foretell_simd::{self as simd, Activation};
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use super::activation::{KeptSlope, activated, noted};
use crate::Var;

impl Var {
    /// `activation(w x + b)` for each matrix x: `self [batch, k, n]`, `weight [m, k]`, `bias [m]`, result
    /// `[batch, m, n]`. The columns go through the layer, where [`Var::linear`] takes the rows.
    ///
    /// With g the gradient before the activation: dx = wᵀ g, dw = the sum of g xᵀ over the batch, db = the row sums
    /// of g.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn linear_of_columns(&self, weight: &Self, bias: Option<&Self>, activation: Activation) -> Self {
        self.columns(weight, bias, activation, [Samples::Columns; 2])
    }

    /// `activation(w xᵀ + b)` for each matrix x: `self [batch, n, k]`, `weight [m, k]`, `bias [m]`, result
    /// `[batch, m, n]`. The rows go through the layer and become columns.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn linear_to_columns(&self, weight: &Self, bias: Option<&Self>, activation: Activation) -> Self {
        self.columns(weight, bias, activation, [Samples::Rows, Samples::Columns])
    }

    /// `activation(w x + b)ᵀ` for each matrix x: `self [batch, k, n]`, `weight [m, k]`, `bias [m]`, result
    /// `[batch, n, m]`. The columns go through the layer and become rows.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn linear_from_columns(&self, weight: &Self, bias: Option<&Self>, activation: Activation) -> Self {
        self.columns(weight, bias, activation, [Samples::Columns, Samples::Rows])
    }

    #[track_caller]
    fn columns(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        activation: Activation,
        [samples, results]: [Samples; 2],
    ) -> Self {
        let (&[m, k], &[batch, rows, cols]) = (&*weight.shape(), &*self.shape()) else {
            panic!("linear of columns of shape {:?} by weight {:?}", self.shape(), weight.shape());
        };
        let [features, n] = samples.turned([rows, cols]);
        let shapes = [self.shape(), weight.shape()];
        assert_eq!(features, k, "linear of columns of shape {:?} by weight {:?}", shapes[0], shapes[1]);
        if let Some(bias) = bias {
            assert_eq!(&*bias.shape(), [m], "bias of a linear layer with weight {:?}", weight.shape());
        }
        let (x, w) = (self.value().contiguous(), weight.value().contiguous());
        let rounding = weight.rounding();
        let (value, saved) = activated(activation, |activation| {
            let bias = bias.map(|bias| Bias::PerRow(bias.value().values()));
            let options = Options::default().bias(bias).activation(activation).rounding(rounding);
            let [rows, cols] = results.turned([m, n]);
            Tensor::build([batch, rows, cols], |out| {
                let w = BatchRef::new(w.values(), batch, 0, (m, k), (k, 1));
                matmul_batched(
                    results.batch_mut(out, batch, [m, n]),
                    w,
                    samples.batch(x.values(), batch, [k, n]),
                    options,
                );
            })
        });

        trace::record(|| {
            let record = Record::new("linear_columns").input(&x).input(&w);
            let record = record.optional(bias.map(Self::value)).output(&value);
            noted(record.word("samples", samples.word()).word("results", results.word()), activation)
        });
        let inputs: Vec<&Self> = [self, weight].into_iter().chain(bias).collect();
        let (x_edge, w_edge, b_edge) = (self.edge(), weight.edge(), bias.map(Self::edge));
        let x = self.save_for_backward(&x, rounding);
        let slope = KeptSlope::new(activation, saved, Self::saved_rounding(&inputs, rounding));
        Self::operation(value, &inputs, move |mut grad, gradients| {
            slope.pull_back(&mut grad);
            let (x, grad) = (x.into_tensor(), grad.values());
            let matrix = |index: usize, size: usize| index * size..(index + 1) * size;
            if let Some(edge) = b_edge {
                gradients.accumulate(&edge, [m], |db| {
                    threads::sums(batch, m * n, db, |range, db| {
                        range.for_each(|index| results.add_sums(&grad[matrix(index, m * n)], n, db));
                    });
                });
            }
            gradients.accumulate(&w_edge, [m, k], |dw| {
                threads::sums(batch, m * n * k / PRODUCTS_PER_NUMBER, dw, |range, dw| {
                    for index in range {
                        let g = results.matrix(&grad[matrix(index, m * n)], [m, n]);
                        let x = samples.matrix(&x.values()[matrix(index, k * n)], [k, n]);
                        let options = Options::default().accum(Accum::Add).rounding(rounding);
                        matmul(MatMut::row_major(dw, m, k), g, x.t(), options);
                    }
                });
            });
            if x_edge.is_wanted() {
                gradients.write(&x_edge, x.shape(), |dx, accum| {
                    let w = BatchRef::new(w.values(), batch, 0, (m, k), (k, 1));
                    let options = Options::default().accum(accum).rounding(rounding);
                    matmul_batched(
                        samples.batch_mut(dx, batch, [k, n]),
                        w.t(),
                        results.batch(grad, batch, [m, n]),
                        options,
                    );
                });
            }
        })
    }
}

/// Multiply-adds of a product of the matrices of a batch that take about as long as one number in a plain pass over memory:
/// an estimate, half of that for convolutions in foretell-kernels. How work is shared and where sums are cut follow from it.
pub(super) const PRODUCTS_PER_NUMBER: usize = 8;

/// Where the samples of a batch of matrices are, or their results.
#[derive(Clone, Copy)]
enum Samples {
    Columns,
    Rows,
}

/// Matrices of [features, samples] numbers, which lie so, or the other way round.
impl Samples {
    fn word(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Rows => "rows",
        }
    }

    /// The sizes as they lie, from those of features and samples, or back.
    fn turned(self, [features, samples]: [usize; 2]) -> [usize; 2] {
        match self {
            Self::Columns => [features, samples],
            Self::Rows => [samples, features],
        }
    }

    fn matrix(self, data: &[f32], [features, samples]: [usize; 2]) -> MatRef<'_, f32> {
        match self {
            Self::Columns => MatRef::row_major(data, features, samples),
            Self::Rows => MatRef::row_major(data, samples, features).t(),
        }
    }

    fn batch(self, data: &[f32], batch: usize, [features, samples]: [usize; 2]) -> BatchRef<'_> {
        match self {
            Self::Columns => BatchRef::row_major(data, batch, features, samples),
            Self::Rows => BatchRef::row_major(data, batch, samples, features).t(),
        }
    }

    fn batch_mut(self, data: &mut [f32], batch: usize, [features, samples]: [usize; 2]) -> BatchMut<'_> {
        match self {
            Self::Columns => BatchMut::row_major(data, batch, features, samples),
            Self::Rows => BatchMut::row_major(data, batch, samples, features).t(),
        }
    }

    /// Adds to the sum of each feature those of a matrix of this many samples.
    fn add_sums(self, matrix: &[f32], samples: usize, sums: &mut [f32]) {
        match self {
            Self::Columns => {
                let rows = matrix.chunks_exact(samples.max(1));
                sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum += simd::sum(row));
            }
            Self::Rows => {
                matrix.chunks_exact(sums.len().max(1)).for_each(|row| simd::add_assign(sums, row));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{Activation, Var};
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_with_and_without_bias() {
        let (w, b) = (random([4, 3], 2), random([4], 3));
        for activation in [Activation::Identity, Activation::Tanh, Activation::Gelu] {
            let inputs = [random([2, 3, 5], 1), w.clone(), b.clone()];
            gradients(&inputs, |v| v[0].linear_of_columns(&v[1], Some(&v[2]), activation));
            gradients(&inputs[..2], |v| v[0].linear_of_columns(&v[1], None, activation));
            let inputs = [random([2, 5, 3], 1), w.clone(), b.clone()];
            gradients(&inputs, |v| v[0].linear_to_columns(&v[1], Some(&v[2]), activation));
            gradients(&inputs[..2], |v| v[0].linear_to_columns(&v[1], None, activation));
            let inputs = [random([2, 3, 5], 1), w.clone(), b.clone()];
            gradients(&inputs, |v| v[0].linear_from_columns(&v[1], Some(&v[2]), activation));
            gradients(&inputs[..2], |v| v[0].linear_from_columns(&v[1], None, activation));
        }
    }

    #[test]
    fn a_variable_used_twice_gets_both_gradients() {
        let inputs = [random([2, 3, 3], 1), random([3, 3], 2), random([3], 3)];
        gradients(&inputs, |v| {
            let once = v[0].linear_of_columns(&v[1], Some(&v[2]), Activation::Tanh);
            once.linear_to_columns(&v[1], Some(&v[2]), Activation::Identity).add(&v[0])
        });
    }

    #[test]
    fn empty_batches_serve() {
        let x = Var::input(Tensor::zeros([0, 3, 5]));
        let (w, b) = (Var::input(random([4, 3], 1)), Var::input(random([4], 2)));
        let y = x.linear_of_columns(&w, Some(&b), Activation::Relu);
        y.backward_from(Tensor::zeros([0, 4, 5]), &mut []);
        assert_eq!(w.grad().unwrap().to_vec(), [0.0; 12]);
    }

    #[test]
    #[should_panic(expected = "linear of columns of shape [2, 3, 4] by weight [4, 5]")]
    fn wrong_shapes_panic() {
        let (x, w) = (random([2, 3, 4], 1), random([4, 5], 2));
        Var::constant(x).linear_of_columns(&Var::constant(w), None, Activation::Identity);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("linear_of_columns", |x, a| {
            x[0].linear_of_columns(&x[1], x.get(2), a.activation("activation"))
        });
        torch::assert_matches_pytorch("linear_to_columns", |x, a| {
            x[0].linear_to_columns(&x[1], x.get(2), a.activation("activation"))
        });
        torch::assert_matches_pytorch("linear_from_columns", |x, a| {
            x[0].linear_from_columns(&x[1], x.get(2), a.activation("activation"))
        });
    }
}
