//! What a model is to those who train and serve it.

use std::cell::Cell;

use foretell_autograd::{Key, Tensor, Var};

use crate::{ParamId, Params};

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

/// A batch of windows, scaled.
#[derive(Clone, Debug)]
pub struct Windows {
    /// The target's history, `[batch, input_size]`.
    pub insample_y: Tensor,
    /// 1 where the history holds a value, 0 where it is padding, `[batch, input_size]`.
    pub insample_mask: Tensor,
    /// `[batch, input_size, hist_exog]`.
    pub hist_exog: Option<Tensor>,
    /// `[batch, input_size + horizon, futr_exog]`.
    pub futr_exog: Option<Tensor>,
    /// `[batch, stat_exog]`.
    pub stat_exog: Option<Tensor>,
}

impl Windows {
    /// The number of windows.
    pub fn batch(&self) -> usize {
        self.insample_y.shape()[0]
    }

    /// `[y | hist | futr | stat]`, each flattened to `[batch, -1]`: the input of the models that see a
    /// window as one long row.
    pub fn flattened(&self) -> Var {
        let exogenous = [&self.hist_exog, &self.futr_exog, &self.stat_exog];
        let flat: Vec<Tensor> = std::iter::once(&self.insample_y)
            .chain(exogenous.into_iter().flatten())
            .map(|part| part.reshape([self.batch(), part.numel() / self.batch().max(1)]))
            .collect();
        Var::constant(Tensor::concat(&flat.iter().collect::<Vec<_>>(), 1))
    }
}

/// A forecasting model: a function of parameters and windows.
pub trait Model: Send + Sync {
    /// The forecast, `[batch, horizon, outputs]`, on the windows' scale.
    fn forward(&self, cx: &Forward<'_>, windows: &Windows) -> Var;
}

/// One run of a model: its parameters, and whether it trains.
pub struct Forward<'a> {
    params: &'a Params,
    /// What randomness of this run is drawn from; `None` in inference.
    key: Option<Key>,
    draws: Cell<u64>,
}

impl<'a> Forward<'a> {
    /// A run that records nothing and drops nothing out.
    pub fn inference(params: &'a Params) -> Self {
        Self { params, key: None, draws: Cell::new(0) }
    }

    /// A run that records the graph. `key` decides dropout: it must differ between steps and shards.
    pub fn training(params: &'a Params, key: Key) -> Self {
        Self { params, key: Some(key), draws: Cell::new(0) }
    }

    /// A parameter, whose gradient goes to its place in the arena when training, or a constant.
    pub fn param(&self, id: ParamId) -> Var {
        let value = self.params.tensor(id);
        match self.params.offset(id) {
            Some(offset) if self.key.is_some() => Var::parameter(value, offset),
            _ => Var::constant(value),
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
