//! The inputs of a window as one row of numbers, whose gradients are wanted together.

use std::ops::Range;

use foretell_nn::{Decoding, Forward, Inputs, Model, Needs, StepState, Tensor, Var, Windows};
use foretell_threads::is_wanted;

/// The inputs of a window of some series: of each series the target's history, then historic, future and static columns.
pub(crate) struct AttributionInputs {
    mask: Tensor,
    /// Steps of the target that are read.
    y: usize,
    /// Steps and number of columns.
    hist: Option<[usize; 2]>,
    futr: Option<[usize; 2]>,
    stat: usize,
    /// `[series, inputs of a series]`.
    values: Vec<f32>,
}

impl AttributionInputs {
    /// Those of `windows`; of one that a model forecasts from step by step, with the `history` before its horizon, the target's
    /// history alone, as its own forecasts follow.
    pub(crate) fn of(windows: &Windows, history: Option<usize>) -> Self {
        let y = history.unwrap_or(windows.insample_y.shape()[1]);
        let sizes = |columns: &Option<Tensor>| columns.as_ref().map(|c| [c.shape()[1], c.shape()[2]]);
        let stat = windows.stat_exog.as_ref().map_or(0, |columns| columns.shape()[1]);
        let mut values = Vec::new();
        for row in 0..windows.batch() {
            values.extend(windows.insample_y.narrow(0, row, 1).narrow(1, 0, y).to_vec());
            let columns = [&windows.hist_exog, &windows.futr_exog, &windows.stat_exog];
            values
                .extend(columns.into_iter().flatten().flat_map(|columns| columns.narrow(0, row, 1).to_vec()));
        }
        let (hist, futr) = (sizes(&windows.hist_exog), sizes(&windows.futr_exog));
        Self { mask: windows.insample_mask.clone(), y, hist, futr, stat, values }
    }

    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// The inputs that are no zeros: others change nothing.
    pub(crate) fn read(&self) -> impl Iterator<Item = usize> {
        (0..self.values.len()).filter(|&input| self.values[input] != 0.0)
    }

    fn series(&self) -> usize {
        self.mask.shape()[0]
    }

    /// The values of copies of the window, `[copies * series, inputs of a series]`.
    pub(crate) fn tensor(&self, values: &[f32]) -> Tensor {
        let width = self.values.len() / self.series();
        Tensor::from_slice(values, [values.len() / width, width])
    }

    /// 1 at a step of a series in each of the copies, 0 elsewhere: `[copies * series, horizon]`.
    pub(crate) fn one_at(&self, copies: usize, horizon: usize, series: usize, step: usize) -> Tensor {
        let rows = self.series();
        Tensor::build([copies * rows, horizon], |ones| {
            ones.fill(0.0);
            ones.iter_mut().skip(series * horizon + step).step_by(rows * horizon).for_each(|one| *one = 1.0);
        })
    }

    /// Contributions of these inputs, a row of all of them for each forecast, added up by the `columns` that historic, future and static
    /// ones are of.
    pub(crate) fn by_columns(&self, values: &[f32], columns: &[Vec<usize>; 3]) -> Vec<f32> {
        let [hist, futr] = [self.hist, self.futr].map(|sizes| sizes.map_or(0, |[steps, _]| steps));
        let steps = [hist, futr, usize::from(self.stat > 0)];
        let mut sums = Vec::new();
        for series in values.chunks_exact(self.values.len() / self.series()) {
            let (target, mut rest) = series.split_at(self.y);
            sums.extend_from_slice(target);
            for (columns, steps) in columns.iter().zip(steps) {
                let count = columns.iter().max().map_or(0, |last| last + 1);
                for _ in 0..steps {
                    let (step, others) = rest.split_at(columns.len());
                    let first = sums.len();
                    sums.resize(first + count, 0.0);
                    step.iter().zip(columns).for_each(|(value, column)| sums[first + column] += value);
                    rest = others;
                }
            }
        }
        sums
    }

    /// The first `steps` of the windows that `flat [rows, inputs of a series]` stands for, with this target.
    fn windows(&self, flat: &Var, target: Var, steps: Option<usize>) -> Inputs {
        let rows = flat.shape()[0];
        let mut place = self.y;
        let mut take = |len: usize| -> Range<usize> {
            place += len;
            place - len..place
        };
        let mut columns = |sizes: Option<[usize; 2]>| {
            let [all, count] = sizes?;
            let range = take(all * count);
            let whole = flat.narrow(1, range.start, range.len()).reshape([rows, all, count]);
            Some(steps.map_or_else(|| whole.clone(), |steps| whole.narrow(1, 0, steps)))
        };
        let (hist_exog, futr_exog) = (columns(self.hist), columns(self.futr));
        let range = take(self.stat);
        let stat_exog = (self.stat > 0).then(|| flat.narrow(1, range.start, range.len()));
        let series = self.series();
        let mask = self.mask.narrow(1, 0, target.shape()[1]);
        let copies: Vec<&Tensor> = vec![&mask; rows / series];
        Inputs {
            insample_y: target,
            insample_mask: Tensor::concat(&copies, 0),
            hist_exog,
            futr_exog,
            stat_exog,
        }
    }
}

/// A number of each step of a network's forecast, `[rows, horizon]`, from `flat [rows, inputs of a series]`. `numbers` makes of outputs
/// this number, and the one that a network which forecasts step by step reads next; gradients flow through both.
pub(crate) fn forecast_of(
    model: &dyn Model,
    needs: &Needs,
    cx: &Forward<'_>,
    inputs: &AttributionInputs,
    flat: &Var,
    horizon: usize,
    numbers: &dyn Fn(&Var) -> [Var; 2],
) -> Var {
    let mut target = flat.narrow(1, 0, inputs.y);
    if needs.decoding == Decoding::Direct {
        let [forecast, _] = numbers(&model.forward(cx, &inputs.windows(flat, target, None)));
        return forecast;
    }
    let mut forecasts: Vec<Var> = Vec::with_capacity(horizon);
    for step in 0..horizon {
        // Each step reads all before it again; what no one waits for is of no use.
        if let Some(last) = forecasts.last().filter(|_| !is_wanted()).cloned() {
            forecasts.push(last);
            continue;
        }
        let seen = inputs.windows(flat, target.clone(), Some(inputs.y + step));
        let [forecast, next] = numbers(&model.step(cx, &seen, &mut StepState::default()));
        forecasts.push(forecast);
        target = Var::concat(&[&target, &next], 1);
    }
    Var::concat(&forecasts, 1)
}
