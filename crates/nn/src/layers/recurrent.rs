//! Recurrent layers on top of each other, parameters named as in `torch.nn.RNN`, `LSTM` and `GRU`.

use foretell_autograd::{Cell, CellState, CellVars, Var};

use crate::layer_params::RecurrentParams;
use crate::{Forward, Init, Scope, StepMemory};

/// The sizes of a [`Recurrent`].
#[derive(Clone, Copy, Debug)]
pub struct RecurrentSizes {
    /// The kind of recurrent cell.
    pub cell: Cell,
    /// Width of the input of each step.
    pub inputs: usize,
    /// Hidden units of each layer.
    pub hidden: usize,
    /// Layers, each running over the states of the one below.
    pub layers: usize,
    /// Whether the gates have biases.
    pub bias: bool,
    /// The rate of dropout between layers.
    pub dropout: f32,
    /// The size that an LSTM projects its states to, if it does.
    pub projection: Option<usize>,
}

/// Recurrent layers: `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0` and perhaps `weight_hr_l0`,
/// then those of the layers above, all uniform within `1 / sqrt(hidden)`.
#[derive(Clone, Debug)]
pub struct Recurrent {
    cell: Cell,
    dropout: f32,
    layers: Vec<RecurrentParams>,
}

/// The state of each layer after a step; empty at the start, which stands for zeros.
pub type RecurrentState = Vec<CellState>;

impl StepMemory for RecurrentState {
    fn repeated(&self, row: usize, times: usize) -> Box<dyn StepMemory> {
        Box::new(self.iter().map(|state| state.repeated(row, times)).collect::<Self>())
    }
}

impl Recurrent {
    /// Registers the layers' parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, sizes: &RecurrentSizes) -> Self {
        let &RecurrentSizes { cell, hidden, bias, projection, dropout, .. } = sizes;
        let (init, rows) = (Init::fan_in(hidden), cell.gates().saturating_mul(hidden));
        let state = projection.unwrap_or(hidden);
        let mut layer = |k: usize| {
            let inputs = if k == 0 { sizes.inputs } else { state };
            let mut param = |name: &str, shape: &[usize]| scope.param(format!("{name}_l{k}"), shape, init);
            RecurrentParams {
                input: param("weight_ih", &[rows, inputs]),
                state: param("weight_hh", &[rows, state]),
                biases: bias.then(|| [param("bias_ih", &[rows]), param("bias_hh", &[rows])]),
                projection: projection.map(|size| param("weight_hr", &[size, hidden])),
            }
        };
        let layers: Vec<_> = (0..sizes.layers).map(&mut layer).collect();
        layers.iter().for_each(|layer| scope.register_recurrent(layer));
        Self { cell, dropout, layers }
    }

    /// Runs over `x [steps, batch, inputs]` and gives the top layer's states of the last `last` steps,
    /// `[last, batch, state]`. With `carried`, it starts from the states there and replaces them by the last ones.
    ///
    /// # Panics
    /// If the shapes do not fit, or `carried` is of other layers.
    #[track_caller]
    pub fn forward(
        &self,
        cx: &Forward<'_>,
        x: &Var,
        last: usize,
        mut carried: Option<&mut RecurrentState>,
    ) -> Var {
        if let Some(carried) = &mut carried {
            let fits = carried.is_empty() || carried.len() == self.layers.len();
            assert!(fits, "the state of {} layers for {}", carried.len(), self.layers.len());
            carried.resize_with(self.layers.len(), CellState::default);
        }
        let states = carried.as_mut().map(|states| &mut states[..]);
        if let Some(stacked) = cx.recurrent_stack(self.cell, &self.layers, x, last, states) {
            return stacked;
        }
        let mut x = x.clone();
        for (k, layer) in self.layers.iter().enumerate() {
            let top = k + 1 == self.layers.len();
            let wanted = if top { last } else { x.shape()[0] };
            x = match carried.as_deref_mut() {
                Some(states) => cx.recurrent(self.cell, layer, &x, wanted, Some(&mut states[k])),
                None => {
                    let cell = self.cell;
                    cx.block(layer, &[&x], move |layer, cx, v| cx.recurrent(cell, layer, &v[0], wanted, None))
                }
            };
            if !top {
                x = cx.dropout(x, self.dropout);
            }
        }
        x
    }

    /// Runs over `x [steps, batch, inputs]`, each layer from its own state in `start`: the top layer's states of all
    /// steps, `[steps, batch, hidden]`, and the last state of each layer. Gradients flow through both ends.
    ///
    /// # Panics
    /// If the shapes do not fit, there are no steps, or the layers project their states.
    #[track_caller]
    pub fn forward_from(&self, cx: &Forward<'_>, x: &Var, start: &[CellVars]) -> (Var, Vec<CellVars>) {
        assert_eq!(start.len(), self.layers.len(), "a start for each layer");
        let (mut x, mut ends) = (x.clone(), Vec::with_capacity(start.len()));
        for (k, (layer, start)) in self.layers.iter().zip(start).enumerate() {
            let (states, end) = cx.recurrent_from(self.cell, layer, &x, start);
            ends.push(end);
            x = if k + 1 == self.layers.len() { states } else { cx.dropout(states, self.dropout) };
        }
        (x, ends)
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::Tensor;

    use super::*;
    use crate::{Key, StepState, Table};

    const SIZES: RecurrentSizes = RecurrentSizes {
        cell: Cell::Lstm,
        inputs: 2,
        hidden: 5,
        layers: 2,
        bias: true,
        dropout: 0.5,
        projection: Some(3),
    };

    #[test]
    fn names_and_shapes_are_those_of_torch() {
        let mut table = Table::default();
        Recurrent::new(&mut table.root(), &SIZES);
        let entries: Vec<_> = table.entries().iter().map(|e| (e.name.as_str(), e.shape.to_vec())).collect();
        let expected = [
            ("weight_ih_l0", vec![20, 2]),
            ("weight_hh_l0", vec![20, 3]),
            ("bias_ih_l0", vec![20]),
            ("bias_hh_l0", vec![20]),
            ("weight_hr_l0", vec![3, 5]),
            ("weight_ih_l1", vec![20, 3]),
            ("weight_hh_l1", vec![20, 3]),
            ("bias_ih_l1", vec![20]),
            ("bias_hh_l1", vec![20]),
            ("weight_hr_l1", vec![3, 5]),
        ];
        assert_eq!(entries, expected);
    }

    #[test]
    fn dropout_stands_between_layers_in_training_only() {
        let mut table = Table::default();
        let layers = Recurrent::new(&mut table.root(), &SIZES);
        let params = table.initialise(1);
        let x = Var::constant(Tensor::full([4, 2, 2], 0.7));
        let run = |cx: &Forward<'_>| layers.forward(cx, &x, 1, None).value().to_vec();
        let plain = run(&Forward::inference(&params));
        assert_eq!(plain, run(&Forward::inference(&params)));
        let dropped = run(&Forward::training(&params, Key::new(1)));
        assert_ne!(plain, dropped);
        assert_ne!(dropped, run(&Forward::training(&params, Key::new(2))));
    }

    #[test]
    fn a_repeated_state_continues_as_its_row() {
        let mut table = Table::default();
        let layers = Recurrent::new(&mut table.root(), &SIZES);
        let params = table.initialise(1);
        let cx = Forward::inference(&params);
        let step = |state: &mut StepState, x: &[f32]| {
            let x = Var::constant(Tensor::from_slice(x, [1, x.len() / 2, 2]));
            layers.forward(&cx, &x, 1, Some(state.get())).value().to_vec()
        };
        let mut both = StepState::default();
        assert!(
            step(&mut both.repeated(1, 3), &[0.1, 0.2, 0.1, 0.2, 0.1, 0.2])
                .chunks(3)
                .all(|row| row.len() == 3)
        );
        step(&mut both, &[0.3, -0.4, 0.8, 0.1]);
        let mut second = both.repeated(1, 3);
        let after = step(&mut both, &[0.0, 0.0, -0.9, 0.5]);
        for row in step(&mut second, &[-0.9, 0.5, -0.9, 0.5, -0.9, 0.5]).chunks(3) {
            let far = row.iter().zip(&after[3..]).find(|(a, b)| (**a - **b).abs() > 1e-6);
            assert!(far.is_none(), "{far:?}");
        }
    }

    /// The layers over one sequence are run as a stack, those over several one after the other, and so is a short rest.
    #[test]
    fn one_sequence_is_that_of_a_batch_and_continues_from_its_states() {
        for cell in [Cell::Rnn(foretell_autograd::Activation::Tanh), Cell::Lstm, Cell::Gru] {
            let mut table = Table::default();
            let sizes = RecurrentSizes { cell, hidden: 20, projection: None, ..SIZES };
            let layers = Recurrent::new(&mut table.root(), &sizes);
            let params = table.initialise(1);
            let cx = Forward::inference(&params);
            let steps = Tensor::build([50, 1, 2], |x| Init::Uniform { bound: 1.0 }.fill(Key::new(3), x));
            let steps = Var::constant(steps);
            let mut carried = RecurrentState::new();
            let mut alone =
                layers.forward(&cx, &steps.narrow(0, 0, 40), 40, Some(&mut carried)).value().to_vec();
            alone.extend(
                layers.forward(&cx, &steps.narrow(0, 40, 10), 10, Some(&mut carried)).value().to_vec(),
            );
            let twice = Var::concat(&[&steps, &steps], 1);
            let both = layers.forward(&cx, &twice, 50, None);
            for row in 0..2 {
                let row = both.narrow(1, row, 1).value().to_vec();
                assert!(row.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-5), "{cell:?}");
            }
        }
    }

    #[test]
    fn step_by_step_is_the_whole_sequence() {
        let mut table = Table::default();
        let layers = Recurrent::new(&mut table.root(), &SIZES);
        let params = table.initialise(1);
        let cx = Forward::inference(&params);
        let x = Var::constant(Tensor::from_slice(&[0.3, -0.4, 0.8, 0.1, -0.9, 0.5], [3, 1, 2]));
        let whole = layers.forward(&cx, &x, 3, None).value().to_vec();
        let mut state = RecurrentState::new();
        let steps = (0..3)
            .flat_map(|t| layers.forward(&cx, &x.narrow(0, t, 1), 1, Some(&mut state)).value().to_vec());
        let far = steps.zip(&whole).find(|(a, b)| (a - **b).abs() > 1e-6);
        assert!(far.is_none(), "{far:?}");
    }
}
