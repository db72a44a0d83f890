//! Normalisation of each channel, the channels being last: over a whole batch (Ioffe and Szegedy 2015), or over the
//! steps of each series alone (instance normalisation, Ulyanov et al. 2016).
//!
//! Both are a normalisation of the columns of `[rows, channels]` matrices, one matrix for a batch, one for each
//! series; [`foretell_simd::column_norm_backward`] has the derivation of the backward pass. PyTorch has the
//! channels second: `[batch, channels, time]` there is `[batch, time, channels]` here.

use std::ops::Range;

use foretell_simd::{self as simd, ColumnNorm};
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use super::norm::row_parameter;
use crate::Var;

/// The statistics of each channel, `[channels]` each: those of a batch, from which running statistics are averaged,
/// or running statistics themselves.
#[derive(Clone, Debug)]
pub struct ChannelStatistics {
    /// The mean over all rows.
    pub mean: Tensor,
    /// The variance over all rows, unbiased, as PyTorch keeps it.
    pub variance: Tensor,
}

impl Var {
    /// Normalises each channel of `self [..., channels]` over all other dimensions to mean 0 and variance 1 (biased,
    /// `eps` added to it), then applies `affine = (gamma, beta)`, each `[channels]`, if there is one. Returns the batch's
    /// statistics beside the result; running ones are up to the caller.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is only one value for each channel.
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

    /// [`Var::batch_norm`] by `statistics`, which are constants: those of training, for a forecast.
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
        let y = self.normalise_channels(self.value().contiguous(), moments, affine, eps, false);
        trace::record(|| {
            let [gamma, beta] =
                affine.map(|(gamma, beta)| [gamma, beta].map(Self::value)).map_or([None; 2], |p| p.map(Some));
            let record = Record::new("batch_norm").input(self.value()).input(mean).input(variance);
            record.optional(gamma).optional(beta).output(y.value()).number("eps", eps)
        });
        y
    }

    /// Normalises each channel of each series of `self [..., time, channels]` over time, then applies
    /// `affine = (gamma, beta)`, each `[channels]`, if there is one.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn instance_norm(&self, affine: Option<(&Self, &Self)>, eps: f32) -> Self {
        let shape = self.shape();
        let [series @ .., _, channels] = &*shape else { panic!("instance_norm of shape {shape:?}") };
        let (x, moments) = self.moments(series.iter().product(), *channels);
        let y = self.normalise_channels(x, moments, affine, eps, true);
        trace::record(|| {
            let [gamma, beta] =
                affine.map(|(gamma, beta)| [gamma, beta].map(Self::value)).map_or([None; 2], |p| p.map(Some));
            let record = Record::new("instance_norm").input(self.value());
            record.optional(gamma).optional(beta).output(y.value()).number("eps", eps)
        });
        y
    }

    #[track_caller]
    fn rows_of_channels(&self) -> (usize, usize) {
        let shape = self.shape();
        let Some((&channels, rows)) = shape.split_last() else { panic!("batch_norm of shape {shape:?}") };
        (rows.iter().product(), channels)
    }

    /// The values, and `[groups, 2, channels]`: mean and biased variance of each channel of each group of rows.
    fn moments(&self, count: usize, channels: usize) -> (Tensor, Tensor) {
        let x = self.value().contiguous();
        let groups = Groups::of(&x, count, channels);
        let moments = Tensor::build([count, 2, channels], |moments| match (groups.size, count) {
            (0, _) => moments.fill(0.0),
            (_, 1) => column_moments(x.values(), moments),
            _ => threads::rows(count, 2 * groups.size, [moments], |range, [moments]| {
                for (group, moments) in range.zip(moments.chunks_exact_mut(2 * channels)) {
                    let (mean, variance) = moments.split_at_mut(channels);
                    simd::column_moments(&x.values()[groups.values(group)], mean, variance);
                }
            }),
        });
        (x, moments)
    }

    /// Normalises `x` by the moments `[groups, 2, channels]`, which are those of the input or constants.
    #[track_caller]
    fn normalise_channels(
        &self,
        x: Tensor,
        moments: Tensor,
        affine: Option<(&Self, &Self)>,
        eps: f32,
        of_input: bool,
    ) -> Self {
        let (shape, [count, channels]) = (x.shape(), [moments.shape()[0], moments.shape()[2]]);
        let params =
            affine.map(|(gamma, beta)| [gamma, beta].map(|param| row_parameter("a norm", shape, param)));
        // Each group's mean and reciprocal deviation, and that times gamma.
        let scales = Tensor::build([count, 3, channels], |scales| {
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
        let groups = Groups::of(&x, count, channels);
        let value = Tensor::build(shape, |out| {
            let beta = params.as_ref().map(|[_, beta]| beta.values());
            groups.share(out, |group, range, out| {
                let [mean, _, factor] = groups.scales(scales.values(), group);
                simd::normalise_columns(&x.values()[range], mean, factor, beta, out);
            });
        });

        let inputs: Vec<&Self> =
            [self].into_iter().chain(affine.into_iter().flat_map(|(a, b)| [a, b])).collect();
        let (edge, param_edges) = (self.edge(), affine.map(|(gamma, beta)| [gamma.edge(), beta.edge()]));
        let x = self.save_for_backward(&x, self.rounding());
        Self::operation(value, &inputs, move |mut grad, gradients| {
            let x = x.into_tensor();
            // The gradients of gamma and beta of each group.
            let mut sums = Tensor::zeros([count, 2, channels]);
            groups.sum(sums.values_mut(), |group, range, sums| {
                let ([mean, rstd, _], (gamma, beta)) =
                    (groups.scales(scales.values(), group), sums.split_at_mut(channels));
                simd::column_norm_sums(
                    &x.values()[range.clone()],
                    mean,
                    rstd,
                    &grad.values()[range],
                    gamma,
                    beta,
                );
            });
            groups.share(grad.values_mut(), |group, range, grad| {
                let [mean, rstd, _] = groups.scales(scales.values(), group);
                let (gamma_grad, beta_grad) =
                    sums.values()[2 * channels * group..2 * channels * (group + 1)].split_at(channels);
                let of_input = of_input.then_some((groups.size / channels, [gamma_grad, beta_grad]));
                let gamma = params.as_ref().map(|[gamma, _]| gamma.values());
                let norm = ColumnNorm { mean, rstd, gamma, of_input };
                simd::column_norm_backward(&x.values()[range], norm, grad);
            });
            gradients.add_gradient(&edge, grad);
            let all = sums.sum(0);
            for (i, edge) in param_edges.iter().flatten().enumerate() {
                gradients.add_gradient(edge, all.narrow(0, i, 1).reshape([channels]));
            }
        })
    }
}

/// Groups of rows that are normalised separately. Threads share the rows of a single group, or several groups.
#[derive(Clone, Copy)]
struct Groups {
    count: usize,
    channels: usize,
    /// The values of each.
    size: usize,
}

impl Groups {
    fn of(x: &Tensor, count: usize, channels: usize) -> Self {
        Self { count, channels, size: x.numel().checked_div(count).unwrap_or(0) }
    }

    /// The values of a group.
    fn values(self, group: usize) -> Range<usize> {
        group * self.size..(group + 1) * self.size
    }

    /// The rows of one group in `[count, 3, channels]`.
    fn scales(self, scales: &[f32], group: usize) -> [&[f32]; 3] {
        [0, 1, 2].map(|i| &scales[(3 * group + i) * self.channels..][..self.channels])
    }

    /// Calls `work` with a group, a range of values, whole rows of it, and these of `out`.
    fn share(self, out: &mut [f32], work: impl Fn(usize, Range<usize>, &mut [f32]) + Sync) {
        let Self { count, channels, size } = self;
        if out.is_empty() {
            return;
        }
        if count == 1 {
            return threads::rows(size / channels, 2 * channels, [out], |rows, [out]| {
                work(0, rows.start * channels..rows.end * channels, out);
            });
        }
        threads::rows(count, 2 * size, [out], |groups, [out]| {
            groups
                .zip(out.chunks_exact_mut(size))
                .for_each(|(group, out)| work(group, self.values(group), out));
        });
    }

    /// Calls `add` with rows of each group, as [`Groups::share`] does, to add them to the group's part of
    /// `sums [count, 2, channels]`.
    fn sum(self, sums: &mut [f32], add: impl Fn(usize, Range<usize>, &mut [f32]) + Sync) {
        let Self { count, channels, size } = self;
        if size == 0 {
            return;
        }
        if count == 1 {
            return threads::sums(size / channels, 2 * channels, sums, |rows, sums| {
                add(0, rows.start * channels..rows.end * channels, sums);
            });
        }
        threads::rows(count, 2 * size, [sums], |groups, [sums]| {
            let each = groups.zip(sums.chunks_exact_mut(2 * channels));
            each.for_each(|(group, sums)| add(group, self.values(group), sums));
        });
    }
}

/// Mean and biased variance of each column of `x`, `[2, columns]`, from those of blocks of rows (Chan, Golub, LeVeque
/// 1983, equation 1.5), which threads share.
fn column_moments(x: &[f32], moments: &mut [f32]) {
    let columns = moments.len() / 2;
    let (mean, variance) = moments.split_at_mut(columns);
    let rows = x.len() / columns;
    let height = threads::block_height(rows, 2 * columns, 2 * columns);
    if height >= rows {
        return simd::column_moments(x, mean, variance);
    }
    let blocks = rows.div_ceil(height);
    let parts = Tensor::build([blocks, 2, columns], |parts| {
        threads::rows(blocks, 2 * columns * height, [parts], |range, [parts]| {
            for (block, part) in range.zip(parts.chunks_exact_mut(2 * columns)) {
                let (mean, variance) = part.split_at_mut(columns);
                let end = rows.min((block + 1) * height);
                simd::column_moments(&x[block * height * columns..end * columns], mean, variance);
            }
        });
    });
    for c in 0..columns {
        let parts = || {
            parts.values().chunks_exact(2 * columns).enumerate().map(|(block, part)| {
                let share = (rows.min((block + 1) * height) - block * height) as f64 / rows as f64;
                (share, f64::from(part[c]), f64::from(part[columns + c]))
            })
        };
        let whole = parts().map(|(share, mean, _)| share * mean).sum::<f64>();
        let spread = |(share, mean, variance): (f64, f64, f64)| share * (variance + (mean - whole).powi(2));
        mean[c] = whole as f32;
        variance[c] = parts().map(spread).sum::<f64>() as f32;
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
        torch::assert_matches_pytorch("batch_norm", |x, a| {
            let affine = affine(x);
            let affine = affine.as_ref().map(|(gamma, beta)| (gamma, beta));
            let (y, ChannelStatistics { mean, variance }) = x[0].batch_norm(affine, a.real("eps"));
            (y, [mean, variance])
        });
        torch::assert_matches_pytorch("batch_norm_by", |x, a| {
            let statistics = ChannelStatistics { mean: a.tensor("mean"), variance: a.tensor("variance") };
            x[0].batch_norm_by(&statistics, Some((&x[1], &x[2])), a.real("eps"))
        });
        torch::assert_matches_pytorch("instance_norm", |x, a| {
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
