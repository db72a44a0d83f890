//! The weights of linear layers as the products of one training step in bfloat16 read them.

use std::sync::Arc;

use foretell_autograd::RoundedWeight;

use crate::param_entry::ParamId;
use crate::params::Params;
use crate::table::Table;

/// The weights of linear layers, rounded to bfloat16 and packed once for all shards of a step and for both of their
/// products. Only those are packed that an earlier step multiplied with.
///
/// They belong to one step: the training loop packs them before the shards run, and forgets them before the weights
/// change.
#[derive(Debug)]
pub struct RoundedWeights(Vec<Arc<RoundedWeight>>);

impl RoundedWeights {
    /// A place for each entry of a table.
    pub fn new(table: &Table) -> Self {
        Self(table.entries().iter().map(|_| Arc::default()).collect())
    }

    /// Packs the weights as they are now. Operations share threads as elsewhere.
    ///
    /// # Panics
    /// If the graph of the step before is still alive.
    #[track_caller]
    pub fn pack(&mut self, params: &Params) {
        for (index, weight) in self.0.iter_mut().enumerate() {
            if weight.is_asked_for() {
                own(weight).pack(&params.matrix(ParamId(index)));
            }
        }
    }

    /// Forgets the packed weights.
    ///
    /// # Panics
    /// If the graph of the step is still alive.
    #[track_caller]
    pub fn forget(&mut self) {
        self.0.iter_mut().filter(|weight| weight.is_asked_for()).for_each(|weight| own(weight).forget());
    }

    pub(crate) fn weight(&self, id: ParamId) -> &Arc<RoundedWeight> {
        &self.0[id.0]
    }
}

fn own(weight: &mut Arc<RoundedWeight>) -> &mut RoundedWeight {
    Arc::get_mut(weight).expect("the graph of a step ends with it")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use foretell_autograd::WeightFormat;

    use super::*;
    use crate::{Activation, Forward, Init, Key, Linear, Rounding, Tensor, Var};

    /// Two layers, the second of which passes a gradient back.
    struct Layers([Linear; 2]);

    impl Layers {
        fn new(table: &mut Table, [inputs, hidden, outputs]: [usize; 3]) -> Self {
            let mut layer = |name, from, to| Linear::new(&mut table.root().at(name), from, to);
            Self([layer("first", inputs, hidden), layer("second", hidden, outputs)])
        }

        /// The outputs and the gradients of a run, as bits.
        fn run(&self, params: &Params, weights: Option<&RoundedWeights>) -> (Vec<u32>, Vec<u32>) {
            let x = Tensor::build([40, 24], |x| Init::Uniform { bound: 1.0 }.fill(Key::new(3), x));
            let cx = Forward::training(params, Key::new(1)).rounding(Rounding::Bf16);
            let cx = match weights {
                Some(weights) => cx.in_step(weights),
                None => cx,
            };
            let y = self.0[0].forward(&cx, &Var::constant(x), Activation::Relu);
            let y = self.0[1].forward(&cx, &y, Activation::Identity);
            let mut gradients = vec![f32::NAN; params.table().gradients_len()];
            y.backward_overwriting(Tensor::full(y.shape(), 1.0), &mut gradients, &mut HashSet::new());
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect();
            (bits(y.value().values()), bits(&gradients))
        }
    }

    fn packs(weights: &RoundedWeights) -> Vec<[bool; 2]> {
        weights.0.iter().map(|weight| weight.packed_for()).filter(|packed| *packed != [false; 2]).collect()
    }

    #[test]
    fn weights_are_packed_once_a_step_and_anew_when_they_change() {
        let mut table = Table::default();
        let layers = Layers::new(&mut table, [24, 70, 33]);
        let mut params = table.initialise(1);
        let mut weights = RoundedWeights::new(params.table());
        weights.pack(&params);
        assert!(packs(&weights).is_empty(), "no one has asked for any");
        assert_eq!(layers.run(&params, Some(&weights)), layers.run(&params, None));
        // The input of the first layer wants no gradient.
        weights.pack(&params);
        // Machines without instructions for bfloat16 round the weights in each product.
        let packed = WeightFormat::best_for([64, 24, 70], Rounding::Bf16).is_some();
        assert_eq!(packs(&weights), if packed { vec![[true, false], [true, true]] } else { Vec::new() });
        let first = layers.run(&params, Some(&weights));
        assert_eq!(first, layers.run(&params, None));
        assert_eq!(first, layers.run(&params, Some(&weights)), "two shards of a step read the same");
        let before = params.arena().to_vec();
        // A step of an optimiser.
        weights.forget();
        assert!(packs(&weights).is_empty());
        params.arena_mut().iter_mut().for_each(|x| *x *= 1.5);
        weights.pack(&params);
        let second = layers.run(&params, Some(&weights));
        assert_eq!(second, layers.run(&params, None));
        assert_ne!(second, first);
        // What a checkpoint restores.
        weights.forget();
        params.arena_mut().copy_from_slice(&before);
        weights.pack(&params);
        assert_eq!(layers.run(&params, Some(&weights)), first);
    }

    #[test]
    fn a_layer_of_many_inputs_has_the_bits_of_a_step_without_packed_weights() {
        let mut table = Table::default();
        let layers = Layers::new(&mut table, [24, 4096, 33]);
        let params = table.initialise(1);
        let mut weights = RoundedWeights::new(params.table());
        let before = layers.run(&params, Some(&weights));
        weights.pack(&params);
        assert_eq!(layers.run(&params, Some(&weights)), before);
    }

    #[test]
    fn small_layers_and_those_that_stay_in_f32_are_not_packed() {
        let mut table = Table::default();
        let Layers([first, second]) = Layers::new(&mut table, [24, 70, 3]);
        let layers = Layers([first.in_f32("a test"), second]);
        let params = table.initialise(1);
        let mut weights = RoundedWeights::new(params.table());
        layers.run(&params, Some(&weights));
        weights.pack(&params);
        assert!(packs(&weights).is_empty());
    }
}
