//! The interface between a model and the code that trains and serves it.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use foretell_autograd::{Key, Rounding, Tensor, Var};

use crate::windows::{EmbeddedWindows, Inputs, Windows};
use crate::{CounterId, Explanation, Needs, ParamId, Params, RoundedWeights, StateId, Update};

/// A forecasting model: a function of parameters and windows. Its [`Needs`] say how it must be run.
pub trait Model: Send + Sync {
    /// The forecast, `[rows, horizon, outputs]`, on the windows' scale.
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var;

    /// The weights of columns and steps behind the forecasts of these windows; `None` for a model whose forward pass
    /// has none.
    fn explain(&self, cx: &Forward<'_>, windows: &Inputs) -> Option<Explanation> {
        let _ = (cx, windows);
        None
    }

    /// Bytes of the weights that it holds besides its parameters, which nothing trains: those of a language model.
    fn frozen_bytes(&self) -> u64 {
        0
    }

    /// The windows as [`Model::behind_embeddings`] reads them; `None` for a model without categorical columns.
    fn embed(&self, _cx: &Forward<'_>, _windows: &Windows) -> Option<EmbeddedWindows> {
        None
    }

    /// What the model is behind the embeddings of its categorical columns; `None` for a model that has none.
    fn behind_embeddings(&self) -> Option<Arc<dyn Model>> {
        None
    }

    /// Whether [`Model::step`] reads windows on from a state. Models that forecast step by step do.
    fn keeps_state(&self) -> bool {
        false
    }

    /// For a model that [keeps a state](Model::keeps_state): reads the windows on from `state`, which is empty at the start, and
    /// forecasts the steps after them. If it forecasts step by step ([`Decoding::StepByStep`](crate::Decoding::StepByStep))
    /// that is one step, `[rows, 1, outputs]`; else its horizon, `[rows, horizon, outputs]`, and the first windows are as long
    /// as its history.
    ///
    /// # Panics
    /// If the model keeps no state, or the first windows are too short.
    fn step(&self, cx: &Forward<'_>, windows: &Inputs, state: &mut StepState) -> Var {
        let _ = (cx, windows, state);
        panic!("a model that keeps no state was asked for a step");
    }
}

/// A model with its requirements on training and inference.
#[derive(Clone)]
pub struct Network {
    /// Its requirements on training and inference.
    pub needs: Needs,
    /// Its forward pass.
    pub model: Arc<dyn Model>,
}

/// A model of default needs.
impl<M: Model + 'static> From<M> for Network {
    fn from(model: M) -> Self {
        Self { needs: Needs::default(), model: Arc::new(model) }
    }
}

/// The state of a model that forecasts step by step from one step to the next, of every row of the batch. Only the model knows
/// its type.
#[derive(Default)]
pub struct StepState(Option<Box<dyn StepMemory>>);

/// A model's own kind of [`StepState`].
pub trait StepMemory: Any + Send {
    /// The state of `times` rows that were all like row `row`.
    fn repeated(&self, row: usize, times: usize) -> Box<dyn StepMemory>;
}

impl StepState {
    /// The model's own state, which starts as its default.
    ///
    /// # Panics
    /// If the state is of another model.
    #[track_caller]
    pub fn get<T: StepMemory + Default>(&mut self) -> &mut T {
        let state: &mut dyn Any = self.0.get_or_insert_with(|| Box::new(T::default())).as_mut();
        state.downcast_mut().expect("a state is used by the model that created it")
    }

    /// The state of `times` rows that were all like row `row`.
    pub fn repeated(&self, row: usize, times: usize) -> Self {
        Self(self.0.as_ref().map(|state| state.repeated(row, times)))
    }
}

/// One run of a model: its parameters, and whether it trains.
pub struct Forward<'a> {
    pub(crate) params: &'a Params,
    pub(crate) training: bool,
    /// Whether dropout is on.
    drops: bool,
    /// Whether the graph is recorded, so that parameters get gradients.
    pub(crate) records: bool,
    /// The key that the randomness of this run is drawn from.
    key: Key,
    draws: Cell<u64>,
    /// The updates of running state by this run, which no gradient makes.
    updates: RefCell<Vec<Update>>,
    /// The losses that the model adds to the training loss.
    losses: RefCell<Vec<Var>>,
    /// The parts of the forecast that the model recorded, where they are wanted.
    parts: Option<RefCell<Vec<(String, Tensor)>>>,
    /// The multiplied weights, where they were computed for several runs at once.
    pub(crate) multiplied: Option<&'a [Tensor]>,
    /// The weights of linear layers, where they were packed for several runs at once.
    pub(crate) step_weights: Option<&'a RoundedWeights>,
    /// How products with parameters, and with values computed from them, are rounded.
    pub(crate) rounding: Rounding,
    /// Whether it is to take little memory: see [`Forward::in_little_memory`].
    low_memory: bool,
    /// The probabilities whose quantiles are wanted of a model that has any.
    quantiles: &'a [f32],
}

impl fmt::Debug for Forward<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forward")
            .field("params", &self.params)
            .field("training", &self.training)
            .finish_non_exhaustive()
    }
}

impl<'a> Forward<'a> {
    /// A run that records nothing and drops nothing out.
    pub fn inference(params: &'a Params) -> Self {
        Self {
            params,
            training: false,
            drops: false,
            records: false,
            key: Key::new(0),
            draws: Cell::new(0),
            updates: RefCell::default(),
            losses: RefCell::default(),
            parts: None,
            multiplied: None,
            step_weights: None,
            rounding: Rounding::None,
            low_memory: false,
            quantiles: &[0.5],
        }
    }

    /// The run with dropout as in training, whose draws are by the key: its forecast is a sample of many.
    pub fn with_dropout(self) -> Self {
        Self { drops: true, ..self }
    }

    /// Whether dropout is on.
    pub fn drops(&self) -> bool {
        self.drops
    }

    /// The run at these probabilities, in place of the median alone: a model that has any quantile forecasts theirs.
    pub fn at_quantiles(self, quantiles: &'a [f32]) -> Self {
        Self { quantiles, ..self }
    }

    /// The probabilities whose quantiles are wanted ([`Forward::at_quantiles`]).
    pub fn quantiles(&self) -> &'a [f32] {
        self.quantiles
    }

    /// The run whose products (linear layers, convolutions, recurrent layers, attention, in both passes) round their
    /// operands to 16 bits, and sum up in `f32`. Everything else, and the gradients, are `f32` as before.
    ///
    /// # Panics
    /// If they are to be rounded and the program was built without the feature `amp`.
    #[track_caller]
    pub fn rounding(self, rounding: Rounding) -> Self {
        assert!(
            crate::AMP || rounding == Rounding::None,
            "products in 16 bits need the feature `amp` of foretell-nn"
        );
        Self { rounding, ..self }
    }

    /// The run that trades time for memory: [`Forward::block`] computes again what the backward pass needs, and what is kept for it
    /// is rounded to bfloat16 (with the feature `amp`), so gradients are those of rounded activations. Forecasts and losses are the
    /// same.
    pub fn in_little_memory(self) -> Self {
        Self { low_memory: true, ..self }
    }

    /// How what is kept for the backward pass is rounded where products round nothing.
    fn keeping(&self) -> Rounding {
        if self.low_memory && crate::AMP { Rounding::Bf16 } else { Rounding::None }
    }

    /// The run of a shard of a training step, for which `weights` were packed from the same parameters.
    pub fn in_step(self, weights: &'a RoundedWeights) -> Self {
        Self { step_weights: Some(weights), ..self }
    }

    /// The run with this key for what its model draws ([`Forward::next_key`]).
    pub fn with_key(self, key: Key) -> Self {
        Self { key, ..self }
    }

    /// The run that collects the parts of which its model makes the forecast ([`Forward::record_part`]).
    pub fn collecting_parts(self) -> Self {
        Self { parts: Some(RefCell::default()), ..self }
    }

    /// Records a part of the forecast, which [expands](Var::expand) to `[rows, horizon, outputs]`: all parts add up to the forecast, the first
    /// one of the level that the window has. Only a run that collects them keeps them.
    pub fn record_part(&self, name: impl FnOnce() -> String, part: &Var) {
        if let Some(parts) = &self.parts {
            parts.borrow_mut().push((name(), part.value().clone()));
        }
    }

    /// The parts that the model recorded; none of a run that collects none.
    pub fn into_parts(self) -> Vec<(String, Tensor)> {
        self.parts.map(RefCell::into_inner).unwrap_or_default()
    }

    /// A run that records the graph. `key` decides dropout: it must differ between steps and shards.
    pub fn training(params: &'a Params, key: Key) -> Self {
        Self { training: true, drops: true, records: true, key, ..Self::inference(params) }
    }

    /// A run on a part of a batch: `multiplied` are the multiplied weights, whose gradients are written after those
    /// of the parameters; the caller adds up the parts and passes them on to the layers.
    pub fn part(params: &'a Params, key: Key, multiplied: &'a [Tensor]) -> Self {
        Self { multiplied: Some(multiplied), ..Self::training(params, key) }
    }

    /// A parameter, whose gradient goes to its place in the arena when training, or a constant. It is meant for
    /// parameters that are not the matrix of a product (slopes, factors of a norm, rows that are looked up):
    /// [`Linear::forward`](crate::Linear::forward) multiplies with a layer's weights, however they are held.
    pub fn param(&self, id: ParamId) -> Var {
        self.parameter(id, self.params.tensor(id))
    }

    /// [`Forward::param`] as a matrix: the first dimension by all others, for example for a convolution of one tap.
    pub(crate) fn matrix(&self, id: ParamId) -> Var {
        self.parameter(id, self.params.matrix(id))
    }

    /// A parameter with this `value`: its own, or under another shape.
    fn parameter(&self, id: ParamId, value: Tensor) -> Var {
        let var = match self.params.offset(id) {
            Some(offset) if self.records => Var::parameter(value, offset),
            _ => Var::constant(value),
        };
        self.marked(var)
    }

    /// Weights whose products round, and keep, as this run says.
    pub(crate) fn marked(&self, weights: Var) -> Var {
        weights.with_rounding(self.rounding).with_keeping(self.keeping())
    }

    /// Whether the run trains: statistics are those of the batch, and [dropout is on](Forward::drops).
    pub fn is_training(&self) -> bool {
        self.training
    }

    /// State that no gradient changes, as it was before this step.
    pub fn state(&self, id: StateId) -> Tensor {
        self.params.state(id)
    }

    /// When training, averages `value` into the state once the step is done:
    /// `state = (1 - momentum) * state + momentum * value`.
    pub fn average_into(&self, state: StateId, momentum: f32, value: Tensor) {
        if self.is_training() {
            self.updates.borrow_mut().push(Update::Average { state, momentum, value });
        }
    }

    /// When training, raises the counter by one once the step is done.
    pub fn count(&self, counter: CounterId) {
        if self.is_training() {
            self.updates.borrow_mut().push(Update::Count(counter));
        }
    }

    /// The run's updates of the state, for [`Params::apply`].
    pub fn into_updates(self) -> Vec<Update> {
        self.updates.into_inner()
    }

    /// Drops elements of `x` at this rate where dropout is on; each call in a run has a mask of its own.
    pub fn dropout(&self, x: Var, rate: f32) -> Var {
        if self.drops && rate > 0.0 { x.dropout(rate, self.next_key()) } else { x }
    }

    /// Adds a loss of the model's own to the training loss, `terms [rows]`: one for each row of the batch, whose mean
    /// over the rows of the whole batch is added to the mean that the loss is, or is a function of (RMSE, relMSE). A
    /// term that does not depend on the row, for example one of weights alone, is repeated for each. Inference
    /// ignores it.
    ///
    /// # Panics
    /// If there is not one term for each row: where the parts of the batch are added up.
    #[track_caller]
    pub fn add_loss(&self, terms: Var) {
        if self.training {
            self.losses.borrow_mut().push(terms);
        }
    }

    /// The term that the run of a part of `part_rows` rows adds to the loss of a batch of `rows` rows, a scalar, if there is
    /// one.
    ///
    /// # Panics
    /// If the model added a loss that does not have one term for each row.
    #[track_caller]
    pub fn added_loss(&self, part_rows: usize, rows: usize) -> Option<Var> {
        let sums = self.losses.take().into_iter().map(|terms| {
            assert_eq!(*terms.shape(), [part_rows], "the terms of an added loss, and the rows of the batch");
            terms.sum(0).scale(1.0 / rows as f32)
        });
        sums.reduce(|sum, other| sum.add(&other))
    }

    /// A block of the `layer`, one of several like it, of the inputs: by [`Forward::recompute`] in a run of little memory, else as
    /// it is called.
    ///
    /// # Panics
    /// In a run of little memory, if the block adds a loss.
    #[track_caller]
    pub fn block<L: Clone + 'static>(
        &self,
        layer: &L,
        inputs: &[&Var],
        run: impl Fn(&L, &Forward<'_>, &[Var]) -> Var + 'static,
    ) -> Var {
        if self.low_memory && self.records {
            let layer = layer.clone();
            return self.recompute(inputs, move |cx, inputs| run(&layer, cx, inputs));
        }
        run(layer, self, &inputs.iter().map(|&input| input.clone()).collect::<Vec<_>>())
    }

    /// `block` of the inputs, and of the parameters that it asks its run for, without keeping its intermediate
    /// results: the backward pass computes them again (Chen et al. 2016, arXiv 1604.06174). So the block takes the
    /// memory of its inputs alone, and the time of its forward pass twice. It pays where the activations of a model
    /// do not fit into memory, for blocks whose inputs are small compared with their intermediate results.
    ///
    /// `block` owns clones of its layers. It draws the same numbers both times; state is updated once.
    ///
    /// # Panics
    /// If the block adds a loss.
    #[track_caller]
    pub fn recompute(&self, inputs: &[&Var], block: impl Fn(&Forward<'_>, &[Var]) -> Var + 'static) -> Var {
        if !self.records {
            return block(self, &inputs.iter().map(|&input| input.clone()).collect::<Vec<_>>());
        }
        let draws = self.draws.get();
        let first = Forward {
            training: true,
            drops: true,
            key: self.key,
            draws: Cell::new(draws),
            multiplied: self.multiplied,
            step_weights: self.step_weights,
            rounding: self.rounding,
            low_memory: self.low_memory,
            ..Forward::inference(self.params)
        };
        let constant = |input: &&Var| {
            let constant = Var::constant(input.value().clone());
            constant.with_rounding(input.rounding()).with_keeping(input.keeping())
        };
        let constants: Vec<Var> = inputs.iter().map(constant).collect();
        let output = block(&first, &constants);
        let (value, marks) = (output.value().clone(), [output.rounding(), output.keeping()]);
        assert!(first.losses.borrow().is_empty(), "a block that is computed again cannot add a loss");
        self.draws.set(first.draws.get());
        self.updates.borrow_mut().append(&mut first.into_updates());
        let (params, key, rounding, low_memory) =
            (self.params.clone(), self.key, self.rounding, self.low_memory);
        let multiplied = self.multiplied.map(<[Tensor]>::to_vec);
        let again = Var::recomputed(value, inputs, move |inputs| {
            let again = Forward {
                draws: Cell::new(draws),
                multiplied: multiplied.as_deref(),
                rounding,
                low_memory,
                ..Forward::training(&params, key)
            };
            block(&again, inputs)
        });
        let [rounding, keeping] = marks;
        again.with_rounding(rounding).with_keeping(keeping)
    }

    /// A key for a model's random numbers, another at each call in a run. In training it depends on the step and the shard.
    /// In inference it depends on the seed alone and is the same for all batches: the model must then draw the same
    /// for every row, or a forecast would depend on the other rows of its batch.
    pub fn next_key(&self) -> Key {
        self.key.fold(self.draws.replace(self.draws.get() + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn draws_are_of_the_run_and_the_place_in_it() {
        let params = Table::default().initialise(0);
        let draws = |cx: Forward<'_>| [cx.next_key(), cx.next_key()];
        let key = Key::new(3);
        let plain = draws(Forward::inference(&params));
        assert_ne!(plain[0], plain[1]);
        assert_eq!(plain, draws(Forward::inference(&params)));
        let seeded = draws(Forward::inference(&params).with_key(key));
        assert_eq!(seeded, draws(Forward::training(&params, key)));
        assert!(!seeded.contains(&plain[0]) && seeded[0] != seeded[1]);
        let run = Forward::inference(&params).with_key(key);
        assert!(!run.is_training(), "a run that draws is no training");
        let x = Var::constant(Tensor::full([100], 1.0));
        assert_eq!(run.dropout(x.clone(), 0.5).value().to_vec(), x.value().to_vec());
        let samples = [0, 1].map(|seed| {
            let run = Forward::inference(&params).with_key(Key::new(seed)).with_dropout();
            assert!(run.drops() && !run.is_training());
            run.dropout(x.clone(), 0.5).value().to_vec()
        });
        assert_ne!(samples[0], samples[1]);
    }

    #[test]
    fn added_losses_are_means_over_the_rows_of_the_whole_batch() {
        let params = Table::default().initialise(0);
        let cx = Forward::training(&params, Key::new(0));
        assert!(cx.added_loss(2, 8).is_none());
        let terms = |values: &[f32]| Var::constant(Tensor::from_slice(values, [values.len()]));
        cx.add_loss(terms(&[1.0, 2.0]));
        cx.add_loss(terms(&[5.0, 0.0]));
        assert_eq!(cx.added_loss(2, 8).map(|sum| sum.value().item()), Some(1.0));
        let inference = Forward::inference(&params);
        inference.add_loss(terms(&[1.0]));
        assert!(inference.added_loss(1, 1).is_none());
    }

    #[test]
    #[should_panic(expected = "the rows of the batch")]
    fn an_added_loss_has_a_term_for_each_row() {
        let params = Table::default().initialise(0);
        let cx = Forward::training(&params, Key::new(0));
        cx.add_loss(Var::constant(Tensor::zeros([3])));
        cx.added_loss(2, 2);
    }
}
