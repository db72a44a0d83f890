//! Autoformer's substitute for attention: neuralforecast's `AutoCorrelationLayer` with its `AutoCorrelation`.

use foretell_autograd::{Activation, Indices, Var};

use crate::{Forward, Linear, Scope};

/// Auto-correlation (Wu, Xu, Wang, Long 2021, "Autoformer", arXiv 2106.13008, section 3.2): the mean of the values at
/// the delays at which queries and keys correlate most, weighted by the softmax of the correlations.
///
/// In training the delays are chosen by the mean correlation over the batch, so its windows depend on each other; in
/// inference each window has its own. The number of heads changes nothing: neuralforecast takes the mean over all of
/// them.
///
/// Parameters are those of the linear layers `query_projection`, `key_projection`, `value_projection`,
/// `out_projection`. A constant added to all steps raises the correlations at all delays by the same number, which
/// softmax cancels: so nothing depends on the bias of the queries, nor on that of the keys unless they are padded
/// with zeros.
#[derive(Clone, Debug)]
pub struct AutoCorrelation {
    /// The layers of the queries, the keys and the values.
    inputs: [Linear; 3],
    out: Linear,
    factor: usize,
}

/// The sizes of an [`AutoCorrelation`].
#[derive(Clone, Copy, Debug)]
pub struct AutoCorrelationSizes {
    /// Width of a step's vector.
    pub hidden: usize,
    /// Width of all heads together.
    pub width: usize,
    /// The factor of [`AutoCorrelation::delays`].
    pub factor: usize,
    /// Whether there are more queries than steps of the source.
    pub padded: bool,
    /// Whether a constant added to all steps of the result changes the forecast: it does not where the moving average
    /// of the result is subtracted and dropped.
    pub constants: bool,
}

impl AutoCorrelation {
    /// Registers the layers in `scope`: from `hidden` to `width` numbers and back.
    pub fn new(scope: &mut Scope<'_>, sizes: AutoCorrelationSizes) -> Self {
        let AutoCorrelationSizes { hidden, width, factor, padded, constants } = sizes;
        let inputs = [
            ("query_projection", false),
            ("key_projection", padded),
            ("value_projection", padded || constants),
        ];
        let mut layer =
            |name: &str, sizes, bias| Linear::with_optional_bias(&mut scope.at(name), sizes, bias);
        Self {
            inputs: inputs.map(|(name, bias)| layer(name, [hidden, width], bias)),
            out: layer("out_projection", [width, hidden], constants),
            factor,
        }
    }

    /// The number of delays that are taken for a sequence of `steps`, `factor ln(steps)`, and the number that there
    /// are: for an odd number of steps neuralforecast computes one correlation fewer.
    pub fn delays(factor: usize, steps: usize) -> [usize; 2] {
        [(factor as f64 * (steps as f64).ln()) as usize, steps - steps % 2]
    }

    /// `queries [batch, steps, hidden]` and `source [batch, rows, hidden]`, which is padded with zeros or cut to as
    /// many steps, to `[batch, steps, hidden]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or [`AutoCorrelation::delays`] takes none or more than there are.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, queries: &Var, source: &Var) -> Var {
        let [query, key, value] = &self.inputs;
        let steps = queries.shape()[1];
        let [count, correlations] = Self::delays(self.factor, steps);
        assert!((1..=correlations).contains(&count), "{count} of {correlations} delays");
        let project = |layer: &Linear, x: &Var| layer.forward(cx, x, Activation::Identity);
        let mut alike = project(query, queries).circular_correlation(&project(key, source));
        if correlations < steps {
            // neuralforecast transforms back without giving the number of steps, so the result has an even number.
            alike = alike.rfft().irfft(correlations);
        }
        let (weights, delays) = match cx.is_training() {
            true => {
                let batch = alike.shape()[0];
                let mean = Var::constant(alike.value().sum(0).reshape([1, correlations]));
                let delays = repeated(&mean.top_k(1, count).1, batch);
                (alike.gather(1, &delays), delays)
            }
            false => alike.top_k(1, count),
        };
        let y = project(value, source).delayed_sum(&weights.softmax(1), &delays, steps);
        project(&self.out, &y)
    }
}

/// `row` repeated for each window of a batch.
fn repeated(row: &Indices, batch: usize) -> Indices {
    let count = row.shape()[1];
    Indices::build([batch, count], |places| {
        places.chunks_exact_mut(count).for_each(|places| places.copy_from_slice(row.values()));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_as_many_as_the_logarithm_says() {
        assert_eq!(AutoCorrelation::delays(3, 96), [13, 96]);
        assert_eq!(AutoCorrelation::delays(3, 7), [5, 6]);
        assert_eq!(AutoCorrelation::delays(1, 1), [0, 0]);
    }
}
