//! The windows that a model reads, and their sizes.

use std::ops::Range;

use foretell_autograd::{Tensor, Var};

/// The sizes of a model's inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    /// Steps of history that a window holds (L).
    pub input_size: usize,
    /// Steps to forecast (h).
    pub horizon: usize,
    /// Columns known for the past only (X).
    pub hist_exog: usize,
    /// Columns known for past and future (F).
    pub futr_exog: usize,
    /// Columns that do not change over time (S).
    pub stat_exog: usize,
    /// Numbers that the loss wants for each step: 1, or one per quantile.
    pub outputs: usize,
    /// Whether these numbers are the parameters of a distribution.
    pub distribution: bool,
    /// Whether neuralforecast reads the outputs of several series parameter by parameter, and not series by series: what a model that mixes
    /// series has learnt depends on it.
    pub by_parameter: bool,
    /// Series that a window holds, each in a row of its own (N): 1 for univariate models.
    pub n_series: usize,
}

impl Dims {
    /// Windows of the target of one series alone, with one number for each step.
    pub fn new(input_size: usize, horizon: usize) -> Self {
        Self {
            input_size,
            horizon,
            hist_exog: 0,
            futr_exog: 0,
            stat_exog: 0,
            outputs: 1,
            distribution: false,
            by_parameter: false,
            n_series: 1,
        }
    }
}

/// A batch of windows, scaled. Target and columns are tensors as they were cut, or variables where a model sees them
/// ([`Inputs`]).
#[derive(Clone, Debug)]
pub struct Windows<C = Tensor> {
    /// The target's history, `[batch, input_size]`.
    pub insample_y: C,
    /// 1 where the history holds a value, 0 where it is padding, `[batch, input_size]`.
    pub insample_mask: Tensor,
    /// `[batch, input_size, hist_exog]`.
    pub hist_exog: Option<C>,
    /// `[batch, input_size + horizon, futr_exog]`.
    pub futr_exog: Option<C>,
    /// `[batch, stat_exog]`.
    pub stat_exog: Option<C>,
}

/// Windows as a model sees them: gradients may flow to columns that were embedded, and to all where a forecast is explained.
pub type Inputs = Windows<Var>;

impl<C> Windows<C> {
    /// The number of windows.
    pub fn batch(&self) -> usize {
        self.insample_mask.shape()[0]
    }
}

impl Windows {
    /// The windows as a model sees them.
    pub fn inputs(&self) -> Inputs {
        let constant = |columns: &Option<Tensor>| columns.clone().map(Var::constant);
        Inputs {
            insample_y: Var::constant(self.insample_y.clone()),
            insample_mask: self.insample_mask.clone(),
            hist_exog: constant(&self.hist_exog),
            futr_exog: constant(&self.futr_exog),
            stat_exog: constant(&self.stat_exog),
        }
    }

    /// Some of the windows, without a copy.
    pub fn rows(&self, range: Range<usize>) -> Self {
        let rows = |tensor: &Tensor| tensor.narrow(0, range.start, range.len());
        Self { stat_exog: self.stat_exog.as_ref().map(rows), ..self.each(rows) }
    }

    /// A single window repeated `times` times, without a copy.
    ///
    /// # Panics
    /// If there is not exactly one window.
    #[track_caller]
    pub fn repeated(&self, times: usize) -> Self {
        let repeat = |tensor: &Tensor| {
            let mut shape = tensor.shape().to_vec();
            shape[0] = times;
            tensor.broadcast_to(&shape[..])
        };
        Self { stat_exog: self.stat_exog.as_ref().map(repeat), ..self.each(repeat) }
    }

    /// Some of the steps of every window, without a copy; columns that do not change over time stay.
    pub fn steps(&self, range: Range<usize>) -> Self {
        self.each(|tensor| tensor.narrow(1, range.start, range.len()))
    }

    /// The result of `part` on everything that has steps.
    fn each(&self, part: impl Fn(&Tensor) -> Tensor) -> Self {
        Self {
            insample_y: part(&self.insample_y),
            insample_mask: part(&self.insample_mask),
            hist_exog: self.hist_exog.as_ref().map(&part),
            futr_exog: self.futr_exog.as_ref().map(&part),
            stat_exog: self.stat_exog.clone(),
        }
    }
}

/// Windows whose categorical columns are embedded, behind the plain columns of their kind.
#[derive(Clone, Debug)]
pub struct EmbeddedWindows {
    /// The windows, with a column for each number of an embedding.
    pub windows: Windows,
    /// Which column each of their historic, future and static columns is of, in this order.
    pub columns: [Vec<usize>; 3],
}

impl Inputs {
    /// `[hist | futr | stat]`, each flattened to `[batch, -1]`.
    pub fn flat_columns(&self) -> impl Iterator<Item = Var> {
        let columns = [&self.hist_exog, &self.futr_exog, &self.stat_exog].into_iter().flatten();
        columns.map(|part| part.reshape([self.batch(), part.value().numel() / self.batch().max(1)]))
    }

    /// `[y | hist | futr | stat]`, each flattened to `[batch, -1]`: the input of the models that see a
    /// window as one long row.
    pub fn flattened(&self) -> Var {
        let mut parts = vec![self.insample_y.clone()];
        parts.extend(self.flat_columns());
        match &parts[..] {
            [only] => only.clone(),
            parts => Var::concat(&parts.iter().collect::<Vec<_>>(), 1),
        }
    }
}
