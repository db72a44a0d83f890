//! Normalisation of each channel, the channels being last: over a whole batch (Ioffe and Szegedy 2015), or over the
//! steps of each series alone (instance normalisation, Ulyanov et al. 2016).
//!
//! Both are a normalisation of the columns of `[rows, channels]` matrices, one matrix for a batch, one for each
//! series; [`foretell_simd::column_norm_backward`] has the derivation of the backward pass. PyTorch has the
//! channels second: `[batch, channels, time]` there is `[batch, time, channels]` here.

use foretell_simd::{self as simd, ColumnNorm};
use foretell_tensor::Tensor;

use super::norm::row_parameter;
use crate::Var;

/// What a batch normalisation found of each channel, `[channels]` each: what running statistics are made of, or
/// running statistics themselves.
#[derive(Clone, Debug)]
pub struct ChannelStatistics {
    /// The mean over all rows.
    pub mean: Tensor,
    /// The variance over all rows, unbiased, as PyTorch keeps it.
    pub variance: Tensor,
}

impl Var {
    /// Normalises each channel of `self [..., channels]` over all else to mean 0 and variance 1 (biased, `eps` added
    /// to it), then applies `affine = (gamma, beta)`, each `[channels]`, if given. Returns the statistics beside it:
    /// running ones are the caller's.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is but one value for each channel.
    #[track_caller]
    pub fn batch_norm(&self, affine: Option<(&Self, &Self)>, eps: f32) -> (Self, ChannelStatistics) {
        let (rows, channels) = self.rows_of_channels();
        assert!(
            rows > 1,
            "batch_norm of shape {:?}: one value for each channel has no variance",
            self.shape()
        );
        let (x, moments) = self.moments(1, channels);
        let unbiased = rows as f32 / (rows - 1) as f32;
        let statistics = ChannelStatistics {
            mean: moments.narrow(1, 0, 1).reshape([channels]),
            variance: moments.narrow(1, 1, 1).reshape([channels]).scale(unbiased),
        };
        (self.normalise_channels(x, moments, affine, eps, true), statistics)
    }

    /// [`Var::batch_norm`] by given statistics, which are constants: those of training, for a forecast.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn batch_norm_by(
        &self,
        statistics: &ChannelStatistics,
        affine: Option<(&Self, &Self)>,
        eps: f32,
    ) -> Self {
        let (_, channels) = self.rows_of_channels();
        let (mean, variance) = (&statistics.mean, &statistics.variance);
        let fit = *mean.shape() == [channels] && *variance.shape() == [channels];
        assert!(fit, "batch_norm_by of shape {:?} by statistics of shape {:?}", self.shape(), mean.shape());
        let moments = Tensor::concat(&[mean, variance], 0).reshape([1, 2, channels]);
        self.normalise_channels(self.value().contiguous(), moments, affine, eps, false)
    }

    /// Normalises each channel of each series of `self [..., time, channels]` over time, then applies
    /// `affine = (gamma, beta)`, each `[channels]`, if given.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn instance_norm(&self, affine: Option<(&Self, &Self)>, eps: f32) -> Self {
        let shape = self.shape();
        let [series @ .., _, channels] = &*shape else { panic!("instance_norm of shape {shape:?}") };
        let (x, moments) = self.moments(series.iter().product(), *channels);
        self.normalise_channels(x, moments, affine, eps, true)
    }

    #[track_caller]
    fn rows_of_channels(&self) -> (usize, usize) {
        let shape = self.shape();
        let Some((&channels, rows)) = shape.split_last() else { panic!("batch_norm of shape {shape:?}") };
        (rows.iter().product(), channels)
    }

    /// The values, and `[groups, 2, channels]`: mean and biased variance of each channel of each group of rows.
    fn moments(&self, groups: usize, channels: usize) -> (Tensor, Tensor) {
        let x = self.value().contiguous();
        let size = x.numel().checked_div(groups).unwrap_or(0);
        let moments = Tensor::build([groups, 2, channels], |moments| {
            if size == 0 {
                return moments.fill(0.0);
            }
            for (moments, x) in moments.chunks_exact_mut(2 * channels).zip(x.values().chunks_exact(size)) {
                let (mean, variance) = moments.split_at_mut(channels);
                simd::column_moments(x, mean, variance);
            }
        });
        (x, moments)
    }

    /// `x` by the moments `[groups, 2, channels]`, which are those of the input or constants.
    #[track_caller]
    fn normalise_channels(
        &self,
        x: Tensor,
        moments: Tensor,
        affine: Option<(&Self, &Self)>,
        eps: f32,
        of_input: bool,
    ) -> Self {
        let (shape, [groups, channels]) = (x.shape(), [moments.shape()[0], moments.shape()[2]]);
        let params =
            affine.map(|(gamma, beta)| [gamma, beta].map(|param| row_parameter("a norm", shape, param)));
        // Each group's mean and reciprocal deviation, and that times gamma.
        let scales = Tensor::build([groups, 3, channels], |scales| {
            let moments = moments.values().chunks_exact((2 * channels).max(1));
            for (scales, moments) in scales.chunks_exact_mut((3 * channels).max(1)).zip(moments) {
                let (mean, variance) = moments.split_at(channels);
                scales[..channels].copy_from_slice(mean);
                let (rstd, factor) = scales[channels..].split_at_mut(channels);
                rstd.iter_mut().zip(variance).for_each(|(rstd, v)| *rstd = 1.0 / (v + eps).sqrt());
                match &params {
                    Some([gamma, _]) => simd::mul(rstd, gamma.values(), factor),
                    None => factor.copy_from_slice(rstd),
                }
            }
        });
        let size = x.numel().checked_div(groups).unwrap_or(0).max(1);
        let value = Tensor::build(shape, |out| {
            let beta = params.as_ref().map(|[_, beta]| beta.values());
            let groups = scales.values().chunks_exact((3 * channels).max(1));
            for ((x, out), scales) in
                x.values().chunks_exact(size).zip(out.chunks_exact_mut(size)).zip(groups)
            {
                let (mean, factor) = (&scales[..channels], &scales[2 * channels..]);
                simd::normalise_columns(x, mean, factor, beta, out);
            }
        });

        let inputs: Vec<&Self> =
            [self].into_iter().chain(affine.into_iter().flat_map(|(a, b)| [a, b])).collect();
        let (edge, param_edges) = (self.edge(), affine.map(|(gamma, beta)| [gamma.edge(), beta.edge()]));
        Self::operation(value, &inputs, move |mut grad, gradients| {
            // The gradients of gamma and beta, and before them those of one group.
            let mut sums = Tensor::zeros([4, channels]);
            let (one, all) = sums.values_mut().split_at_mut(2 * channels);
            let groups = scales.values().chunks_exact((3 * channels).max(1));
            let rows = x.values().chunks_exact(size).zip(grad.values_mut().chunks_exact_mut(size));
            for ((x, grad), scales) in rows.zip(groups) {
                let (mean, rstd) = scales[..2 * channels].split_at(channels);
                let gamma = params.as_ref().map(|[gamma, _]| gamma.values());
                let (gamma_grad, beta_grad) = one.split_at_mut(channels);
                let norm = ColumnNorm { mean, rstd, gamma, of_input };
                simd::column_norm_backward(x, norm, grad, gamma_grad, beta_grad);
                simd::add_assign(all, one);
            }
            gradients.give(&edge, grad);
            for (i, edge) in param_edges.iter().flatten().enumerate() {
                gradients.give(edge, sums.narrow(0, 2 + i, 1).reshape([channels]));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ChannelStatistics;
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_with_and_without_parameters() {
        let inputs = [random([3, 4, 2], 1), random([2], 2), random([2], 3)];
        gradients(&inputs, |v| v[0].batch_norm(Some((&v[1], &v[2])), 1e-2).0);
        gradients(&inputs[..1], |v| v[0].batch_norm(None, 1e-2).0);
        gradients(&inputs, |v| v[0].instance_norm(Some((&v[1], &v[2])), 1e-2));
        gradients(&inputs[..1], |v| v[0].instance_norm(None, 1e-2));
        let statistics = ChannelStatistics {
            mean: Tensor::from_slice(&[0.5, -1.0], [2]),
            variance: Tensor::from_slice(&[2.0, 0.25], [2]),
        };
        gradients(&inputs, |v| v[0].batch_norm_by(&statistics, Some((&v[1], &v[2])), 1e-2));
        gradients(&inputs[..1], |v| v[0].batch_norm_by(&statistics, None, 1e-2));
    }

    #[test]
    fn agrees_with_pytorch() {
        let affine = |x: &[Var]| (x.len() > 1).then(|| (x[1].clone(), x[2].clone()));
        torch::agrees("batch_norm", |x, a| {
            let affine = affine(x);
            let affine = affine.as_ref().map(|(gamma, beta)| (gamma, beta));
            let (y, ChannelStatistics { mean, variance }) = x[0].batch_norm(affine, a.real("eps"));
            (y, [mean, variance])
        });
        torch::agrees("batch_norm_by", |x, a| {
            let statistics = ChannelStatistics { mean: a.tensor("mean"), variance: a.tensor("variance") };
            x[0].batch_norm_by(&statistics, Some((&x[1], &x[2])), a.real("eps"))
        });
        torch::agrees("instance_norm", |x, a| {
            let affine = affine(x);
            x[0].instance_norm(affine.as_ref().map(|(gamma, beta)| (gamma, beta)), a.real("eps"))
        });
    }

    #[test]
    fn empty_batches_serve() {
        let x = Var::constant(Tensor::zeros([0, 4, 2]));
        assert_eq!(&*x.instance_norm(None, 1e-5).shape(), [0, 4, 2]);
    }

    #[test]
    #[should_panic(expected = "batch_norm of shape [1, 3]: one value for each channel has no variance")]
    fn one_row_has_no_variance() {
        Var::constant(random([1, 3], 1)).batch_norm(None, 1e-5);
    }
}
