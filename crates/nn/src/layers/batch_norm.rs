//! Batch normalisation (Ioffe and Szegedy 2015), parameters and state named as in `torch.nn.BatchNorm1d`.

use foretell_autograd::{ChannelStatistics, Tensor, Var};

use crate::{CounterId, Forward, Init, ParamId, Scope, StateId};

/// How a [`BatchNorm`] normalises.
#[derive(Clone, Copy, Debug)]
pub struct BatchNormConfig {
    /// Added to the variance.
    pub eps: f32,
    /// The weight of a batch in the running statistics.
    pub momentum: f32,
    /// Whether each channel has a learned factor and offset.
    pub affine: bool,
}

impl Default for BatchNormConfig {
    /// The defaults of PyTorch.
    fn default() -> Self {
        Self { eps: 1e-5, momentum: 0.1, affine: true }
    }
}

/// Batch normalisation of channels: PyTorch's `BatchNorm1d` and `BatchNorm2d`, with the channels last.
///
/// `weight`, `bias`, `running_mean` and `running_var`, each `[channels]`, and the counter `num_batches_tracked`.
/// Training normalises by the statistics of the batch and averages them into the running ones (the variance
/// unbiased), inference by the running ones. So the windows of a batch are [coupled](crate::Coupling::Coupled).
#[derive(Clone, Debug)]
pub struct BatchNorm {
    affine: Option<[ParamId; 2]>,
    mean: StateId,
    variance: StateId,
    batches: CounterId,
    config: BatchNormConfig,
}

impl BatchNorm {
    /// Registers the layer in `scope`.
    pub fn new(scope: &mut Scope<'_>, channels: usize, config: BatchNormConfig) -> Self {
        let mut param = |name, first| scope.param(name, [channels], Init::Constant(first));
        Self {
            affine: config.affine.then(|| [param("weight", 1.0), param("bias", 0.0)]),
            mean: scope.state("running_mean", [channels], 0.0),
            variance: scope.state("running_var", [channels], 1.0),
            batches: scope.counter("num_batches_tracked"),
            config,
        }
    }

    /// Normalises each channel of `x [..., channels]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or, in training, there is only one value for each channel.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        self.normalise(cx, x, None)
    }

    /// Normalises each element of matrices `x [batch, n, m]` over the batch, where the layer lists its channels in
    /// the order of the transposed matrices. The parameters are transposed, not the batch.
    ///
    /// # Panics
    /// If the shapes do not fit, or, in training, there is only one matrix.
    #[track_caller]
    pub fn forward_transposed(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let shape = x.shape();
        let &[batch, n, m] = &*shape else { panic!("matrices were expected, found shape {shape:?}") };
        self.normalise(cx, &x.reshape([batch, n * m]), Some([n, m])).reshape(shape)
    }

    /// Normalises `x [..., channels]`. With `matrix` the channels are the elements of matrices of this size, and the
    /// layer lists them in the order of the transposed matrices.
    #[track_caller]
    fn normalise(&self, cx: &Forward<'_>, x: &Var, matrix: Option<[usize; 2]>) -> Var {
        let BatchNormConfig { eps, momentum, .. } = self.config;
        let affine = self.affine.map(|ids| {
            ids.map(|id| match matrix {
                Some([n, m]) => cx.param(id).reshape([m, n]).permute(&[1, 0]).reshape([n * m]),
                None => cx.param(id),
            })
        });
        let affine = affine.as_ref().map(|[weight, bias]| (weight, bias));
        let transposed = |values: Tensor, [rows, cols]: [usize; 2]| {
            values.reshape([rows, cols]).transpose(0, 1).reshape([rows * cols])
        };
        if !cx.is_training() {
            let [mean, variance] = [self.mean, self.variance].map(|id| match matrix {
                Some([n, m]) => transposed(cx.state(id), [m, n]),
                None => cx.state(id),
            });
            return x.batch_norm_by(&ChannelStatistics { mean, variance }, affine, eps);
        }
        let (y, ChannelStatistics { mean, variance }) = x.batch_norm(affine, eps);
        for (id, value) in [(self.mean, mean), (self.variance, variance)] {
            let value = match matrix {
                Some(size) => transposed(value, size),
                None => value,
            };
            cx.average_into(id, momentum, value);
        }
        cx.count(self.batches);
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Table};

    #[test]
    fn names_are_those_of_torch() {
        let mut table = Table::default();
        BatchNorm::new(&mut table.root(), 3, BatchNormConfig::default());
        let names = |table: &Table| {
            table.entries().iter().map(|entry| entry.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&table), "weight bias running_mean running_var num_batches_tracked");
        let mut table = Table::default();
        BatchNorm::new(&mut table.root(), 3, BatchNormConfig { affine: false, ..Default::default() });
        assert_eq!(names(&table), "running_mean running_var num_batches_tracked");
    }

    #[test]
    fn transposed_parameters_are_transposed_matrices() {
        let mut table = Table::default();
        let layer = BatchNorm::new(&mut table.root(), 6, BatchNormConfig::default());
        let mut params = table.initialise(1);
        let values: Vec<f32> = (0..6).map(|i| 0.5 + i as f32).collect();
        for name in ["weight", "bias", "running_mean", "running_var"] {
            params.assign(name, &Tensor::from_slice(&values, [6])).unwrap();
        }
        let x = Tensor::build([4, 2, 3], |x| crate::Init::Normal.fill(Key::new(3), x));
        let x_transposed = Var::constant(x.transpose(1, 2));
        for cx in [Forward::inference(&params), Forward::training(&params, Key::new(1))] {
            let y = layer.forward_transposed(&cx, &Var::constant(x.clone()));
            let expected = layer.forward(&cx, &x_transposed.reshape([4, 6])).reshape([4, 3, 2]);
            assert_eq!(y.value().to_vec(), expected.permute(&[0, 2, 1]).value().to_vec());
            let updates = cx.into_updates();
            let (once, again) = updates.split_at(updates.len() / 2);
            assert_eq!(format!("{once:?}"), format!("{again:?}"));
        }
    }
}
