//! The weights of columns and steps behind the forecasts of many windows.

use foretell_data::{Cutter, WindowRef};
use foretell_nn::{Dims, Explanation, Forward, Tensor};

use crate::forecast::Forecasts;

/// Weights of pairs of steps that one thread computes at a time, for each head of an attention.
const PAIRS: usize = 1 << 20;

/// The sum of the explanations of many rows.
#[derive(Debug, Default)]
pub struct ExplanationSum {
    /// One of the explanations that were added, for its variables and shapes.
    template: Option<Explanation>,
    /// The sums of its tensors.
    sums: Vec<Vec<f64>>,
    rows: usize,
}

impl ExplanationSum {
    /// Adds an explanation that is already the sum over `rows` rows.
    fn add(&mut self, part: Explanation, rows: usize) {
        let mut place = 0;
        self.template = Some(part.map(|tensor| {
            let tensor = tensor.contiguous();
            if self.sums.len() == place {
                self.sums.push(vec![0.0; tensor.numel()]);
            }
            let sums = self.sums[place].iter_mut().zip(tensor.values());
            sums.for_each(|(sum, &value)| *sum += f64::from(value));
            place += 1;
            tensor
        }));
        self.rows += rows;
    }

    /// The rows that were added.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The mean over all rows, its tensors without the batch dimension; `None` if no explanation was added.
    pub fn mean(self) -> Option<Explanation> {
        let (mut sums, rows) = (self.sums.into_iter(), self.rows as f64);
        self.template.map(|template| {
            template.map(|tensor| {
                let sums = sums.next().expect("a sum of each tensor");
                let mean: Vec<f32> = sums.into_iter().map(|sum| (sum / rows) as f32).collect();
                Tensor::from_slice(&mean, tensor.shape())
            })
        })
    }
}

impl Forecasts<'_> {
    /// Adds the weights behind the forecasts of these windows to `sum`; a model that has none adds nothing.
    pub fn explain(&self, cutter: &Cutter<'_>, windows: &[WindowRef], sum: &mut ExplanationSum) {
        let Dims { input_size, horizon, n_series, .. } = self.cut.dims;
        let steps = input_size.saturating_add(horizon);
        let by_attention = (PAIRS / steps.saturating_mul(steps).max(1)).max(1) * n_series;
        let block = self.rows_at_a_time().min(by_attention);
        let mut blocks: Vec<_> = windows.chunks(block).map(|windows| (windows, None)).collect();
        self.workers.each(&mut blocks, true, |_, (windows, part)| {
            let batch = self.cut.batch(cutter, windows);
            let cx = Forward::inference(self.params).with_key(self.key());
            let explanation = self.network.model.explain(&cx, &batch.windows.inputs());
            *part = explanation.map(|explanation| explanation.map(|tensor| tensor.sum(0)));
        });
        for (windows, part) in blocks {
            if let Some(part) = part {
                sum.add(part, windows.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_nn::{Variable, VariableWeights};

    use super::*;

    #[test]
    fn means_are_over_the_rows_of_all_parts() {
        let part = |values: &[f32]| Explanation {
            fixed: Some(VariableWeights {
                variables: vec![Variable::Stat(0), Variable::Stat(1)],
                weights: Tensor::from_slice(values, [2]),
            }),
            attention: Some(Tensor::full([1, 1], values[0])),
            ..Explanation::default()
        };
        let mut sum = ExplanationSum::default();
        sum.add(part(&[1.0, 3.0]), 3);
        sum.add(part(&[2.0, 5.0]), 1);
        assert_eq!(sum.rows(), 4);
        let mean = sum.mean().unwrap();
        let fixed = mean.fixed.unwrap();
        assert_eq!((fixed.weights.to_vec(), fixed.variables[1]), (vec![0.75, 2.0], Variable::Stat(1)));
        assert_eq!(mean.attention.unwrap().to_vec(), [0.75]);
        assert!(mean.past.is_none() && ExplanationSum::default().mean().is_none());
    }
}
