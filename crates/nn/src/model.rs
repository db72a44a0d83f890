//! What a model is to those who train and serve it.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;

use foretell_autograd::{Key, Tensor, Var};

use crate::{DerivedId, ParamId, Params, RecurrentState, Table};

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
}

/// A batch of windows, scaled. Its columns are tensors as they were cut, or variables where a model sees them
/// ([`Inputs`]).
#[derive(Clone, Debug)]
pub struct Windows<C = Tensor> {
    /// The target's history, `[batch, input_size]`.
    pub insample_y: Tensor,
    /// 1 where the history holds a value, 0 where it is padding, `[batch, input_size]`.
    pub insample_mask: Tensor,
    /// `[batch, input_size, hist_exog]`.
    pub hist_exog: Option<C>,
    /// `[batch, input_size + horizon, futr_exog]`.
    pub futr_exog: Option<C>,
    /// `[batch, stat_exog]`.
    pub stat_exog: Option<C>,
}

/// Windows as a model sees them: gradients may flow to their columns, where those were embedded.
pub type Inputs = Windows<Var>;

impl<C> Windows<C> {
    /// The number of windows.
    pub fn batch(&self) -> usize {
        self.insample_y.shape()[0]
    }
}

impl Windows {
    /// The windows as a model sees them.
    pub fn inputs(&self) -> Inputs {
        let constant = |columns: &Option<Tensor>| columns.clone().map(Var::constant);
        Inputs {
            insample_y: self.insample_y.clone(),
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

    /// Some of the steps of every window, without a copy; columns that do not change over time stay.
    pub fn steps(&self, range: Range<usize>) -> Self {
        self.each(|tensor| tensor.narrow(1, range.start, range.len()))
    }

    /// What `part` makes of everything that has steps.
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

impl Inputs {
    /// `[hist | futr | stat]`, each flattened to `[batch, -1]`.
    pub fn flat_columns(&self) -> impl Iterator<Item = Var> {
        let columns = [&self.hist_exog, &self.futr_exog, &self.stat_exog].into_iter().flatten();
        columns.map(|part| part.reshape([self.batch(), part.value().numel() / self.batch().max(1)]))
    }

    /// `[y | hist | futr | stat]`, each flattened to `[batch, -1]`: the input of the models that see a
    /// window as one long row.
    pub fn flattened(&self) -> Var {
        let mut parts = vec![Var::constant(self.insample_y.clone())];
        parts.extend(self.flat_columns());
        match &parts[..] {
            [only] => only.clone(),
            parts => Var::concat(&parts.iter().collect::<Vec<_>>(), 1),
        }
    }
}

/// A forecasting model: a function of parameters and windows.
pub trait Model: Send + Sync {
    /// The forecast, `[batch, horizon, outputs]`, on the windows' scale.
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var;

    /// The least number of windows that are worth a shard of a training batch: with fewer, products of
    /// matrices fall off their best rate, and the traffic of the shards' gradients grows against the work.
    fn shard_windows(&self) -> usize {
        64
    }

    /// About how many numbers a training step keeps of a window between the forward and the backward pass, as far as
    /// they are the outputs of weights; `table` is the model's. Limits of memory go by it. By default each matrix of
    /// weights is applied once.
    fn kept_numbers(&self, table: &Table) -> usize {
        table.matrix_outputs("")
    }

    /// The model as one that forecasts a step at a time, if it is one.
    fn stepwise(&self) -> Option<&dyn Stepwise> {
        None
    }
}

/// A model that reads a window step by step and forecasts, at each, the one that comes next; forecasts of
/// several steps are fed back to it.
///
/// So it sees windows that are put one step askew: at place t the target of step t, the columns of step
/// t + 1, hist columns of steps of the horizon being zeros. Their length is `input_size`, plus 1, plus the
/// steps of the horizon, less 1; [`Model::forward`] forecasts the last steps of them, as many as there are
/// beyond `input_size`.
pub trait Stepwise {
    /// Steps of the horizon that it trains on (neuralforecast's `h_train`).
    fn h_train(&self) -> usize;

    /// Steps of history that it sees where it forecasts, less the one that all are read beyond
    /// (neuralforecast's `inference_input_size`).
    fn inference_input_size(&self) -> usize;

    /// Reads on from where `state` says (empty at the start), and forecasts the step after the windows',
    /// `[batch, 1, outputs]`.
    fn step(&self, cx: &Forward<'_>, windows: &Inputs, state: &mut RecurrentState) -> Var;
}

/// One run of a model: its parameters, and whether it trains.
pub struct Forward<'a> {
    params: &'a Params,
    /// What randomness of this run is drawn from; `None` in inference.
    key: Option<Key>,
    draws: Cell<u64>,
    /// The derived tensors, where they were computed for several runs at once.
    derived: Option<&'a [Tensor]>,
}

impl fmt::Debug for Forward<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forward")
            .field("params", &self.params)
            .field("training", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

impl<'a> Forward<'a> {
    /// A run that records nothing and drops nothing out.
    pub fn inference(params: &'a Params) -> Self {
        Self { params, key: None, draws: Cell::new(0), derived: None }
    }

    /// A run that records the graph. `key` decides dropout: it must differ between steps and shards.
    pub fn training(params: &'a Params, key: Key) -> Self {
        Self { params, key: Some(key), draws: Cell::new(0), derived: None }
    }

    /// A run on a part of a batch: `derived` are the derived tensors, whose gradients go behind those of the
    /// parameters; whoever adds up the parts leads them on.
    pub fn part(params: &'a Params, key: Key, derived: &'a [Tensor]) -> Self {
        Self { derived: Some(derived), ..Self::training(params, key) }
    }

    /// A parameter, whose gradient goes to its place in the arena when training, or a constant.
    pub fn param(&self, id: ParamId) -> Var {
        let value = self.params.tensor(id);
        match self.params.offset(id) {
            Some(offset) if self.key.is_some() => Var::parameter(value, offset),
            _ => Var::constant(value),
        }
    }

    /// A tensor derived from parameters.
    pub fn derived(&self, id: DerivedId) -> Var {
        let table = self.params.table();
        let entry = &table.derived()[id.0];
        match (self.key, self.derived) {
            (None, _) => Var::constant(self.params.derived(id)),
            (Some(_), None) => entry.compute(self),
            (Some(_), Some(all)) => Var::parameter(all[id.0].clone(), table.derived_range(entry).start),
        }
    }

    /// Drops elements of `x` at this rate when training; each call in a run has a mask of its own.
    pub fn dropout(&self, x: Var, rate: f32) -> Var {
        match self.key {
            Some(key) if rate > 0.0 => x.dropout(rate, key.fold(self.draws.replace(self.draws.get() + 1))),
            _ => x,
        }
    }
}
