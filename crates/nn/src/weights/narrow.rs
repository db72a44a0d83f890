//! Weights in fewer bits, made of the arena when a forecast first asks for them.

use std::sync::{Arc, OnceLock};

use foretell_autograd::{Cell, NarrowMatrix, NarrowWeights, RecurrentWeights, Tensor, narrow_weight};

use super::MultipliedId;
use crate::layers::recurrent::Layer;
use crate::weight_precision::WeightPrecision;
use crate::{ParamId, Params, Table};

/// The least inputs and outputs of a layer that is held in fewer bits: rows and columns are filled up to multiples of them,
/// so that smaller layers would save nothing.
const LEAST: usize = 16;

/// Weights in fewer bits, with the bytes that they take and those of what they stand for.
pub(crate) struct NarrowCopy<T> {
    pub(crate) held: T,
    bytes: usize,
    wide_bytes: usize,
}

/// The multiplied weights of a pair in fewer bits, and the bias that is their last row, `[outputs]`.
pub(crate) struct NarrowPair {
    pub(crate) weight: NarrowMatrix,
    pub(crate) bias: Tensor,
}

type Slot<T> = OnceLock<Arc<NarrowCopy<T>>>;

/// What is held in fewer bits, by the places of the weights in their table. Clones share what was made.
#[derive(Clone, Default)]
pub(crate) struct NarrowCopies {
    precision: WeightPrecision,
    matrices: Vec<Slot<NarrowMatrix>>,
    /// By the place of the weights of the state.
    recurrent: Vec<Slot<NarrowWeights>>,
    multiplied: Vec<Slot<NarrowPair>>,
}

impl NarrowCopies {
    fn new(precision: WeightPrecision, table: &Table) -> Self {
        if precision.narrow().is_none() {
            return Self::default();
        }
        let entries = table.entries().len();
        Self {
            precision,
            matrices: vec![OnceLock::new(); entries],
            recurrent: vec![OnceLock::new(); entries],
            multiplied: vec![OnceLock::new(); table.multiplied().len()],
        }
    }

    /// Forgets all, as when a weight changes.
    pub(crate) fn forget(&mut self) {
        self.matrices.fill_with(OnceLock::new);
        self.recurrent.fill_with(OnceLock::new);
        self.multiplied.fill_with(OnceLock::new);
    }
}

impl Params {
    /// Holds the weights of products in this format from now on, for forecasts: of linear layers with at least 16 inputs and
    /// outputs, the projections of attention among them, and of recurrent layers (RNN, LSTM, GRU).
    ///
    /// In `f32` stay the weights of smaller layers and of what no such product is built for: convolutions, gated linear
    /// layers, linear layers over columns (those along time in the mixers), linear layers of which a part of the outputs
    /// is asked for, and layers that join several weights in one matrix.
    ///
    /// Copies are made when a forecast first asks for them. The weights in `f32` stay in memory beside them: runs that
    /// record gradients use them, and they are what is saved.
    pub fn hold(&mut self, precision: WeightPrecision) {
        if precision != self.precision() {
            self.narrow = NarrowCopies::new(precision, &self.table);
            self.multiplied.fill_with(OnceLock::new);
        }
    }

    /// The format in which forecasts have the weights of products.
    pub fn precision(&self) -> WeightPrecision {
        self.narrow.precision
    }

    /// The bytes of all parameters, as the forecasts so far have held them: in fewer bits or multiplied with each other
    /// where they did, else in `f32`. Before the first forecast all are in `f32`.
    pub fn held_bytes(&self) -> usize {
        fn changes<T>(slots: &[Slot<T>]) -> impl Iterator<Item = (usize, usize)> {
            slots.iter().filter_map(|slot| slot.get()).map(|copy| (copy.bytes, copy.wide_bytes))
        }
        let NarrowCopies { matrices, recurrent, multiplied, .. } = &self.narrow;
        let narrow = changes(matrices).chain(changes(recurrent)).chain(changes(multiplied));
        let products = self.multiplied.iter().enumerate().filter_map(|(place, product)| {
            let bytes = size_of::<f32>() * product.get()?.numel();
            Some((bytes, self.bytes_of_pair(MultipliedId(place))))
        });
        let all: usize = self.table.entries().iter().map(|entry| size_of_val(self.values(entry))).sum();
        narrow.chain(products).fold(all, |all, (held, wide)| all - wide + held)
    }

    /// The bytes of the layers of a pair in `f32`.
    fn bytes_of_pair(&self, id: MultipliedId) -> usize {
        let layers = &self.table.multiplied()[id.0].layers;
        let ids = layers.iter().flat_map(|layer| [Some(layer.weight()), layer.bias()]).flatten();
        ids.map(|id| self.bytes_in_f32(id)).sum()
    }

    fn bytes_in_f32(&self, id: ParamId) -> usize {
        size_of::<f32>() * self.table.entry(id).shape.numel()
    }

    /// The weight of a linear layer, `[outputs, inputs]`, in fewer bits, if it is held so.
    pub(super) fn narrow_matrix(&self, id: ParamId) -> Option<Arc<NarrowCopy<NarrowMatrix>>> {
        let format = self.precision().narrow()?;
        let shape = self.table.entry(id).shape;
        let [outputs, inputs] = [shape[0], shape[1..].iter().product()];
        if outputs.min(inputs) < LEAST {
            return None;
        }
        let make = || {
            let held = narrow_weight(&self.tensor(id).reshape([outputs, inputs]), format);
            Arc::new(NarrowCopy { bytes: held.bytes(), wide_bytes: self.bytes_in_f32(id), held })
        };
        Some(self.narrow.matrices[id.0].get_or_init(make).clone())
    }

    /// Multiplied weights in fewer bits, if they are held so.
    pub(super) fn narrow_multiplied(&self, id: MultipliedId) -> Option<Arc<NarrowCopy<NarrowPair>>> {
        let format = self.precision().narrow()?;
        let shape = self.table.multiplied()[id.0].shape;
        let [inputs, outputs] = [shape[0] - 1, shape[1]];
        if outputs.min(inputs) < LEAST {
            return None;
        }
        let make = || {
            let product = self.compute_multiplied(id);
            let weight = narrow_weight(&product.narrow(0, 0, inputs).permute(&[1, 0]), format);
            let bias = product.narrow(0, inputs, 1).reshape([outputs]).contiguous();
            let bytes = weight.bytes() + size_of_val(bias.values());
            let held = NarrowPair { weight, bias };
            Arc::new(NarrowCopy { bytes, wide_bytes: self.bytes_of_pair(id), held })
        };
        Some(self.narrow.multiplied[id.0].get_or_init(make).clone())
    }

    /// The matrices of a recurrent layer in fewer bits, if they are held so.
    pub(super) fn narrow_recurrent(
        &self,
        cell: Cell,
        layer: &Layer,
        weights: &RecurrentWeights<'_>,
    ) -> Option<Arc<NarrowCopy<NarrowWeights>>> {
        let format = self.precision().narrow()?;
        if self.table.entry(layer.state).shape[1] < LEAST {
            return None;
        }
        let make = || {
            let held = weights.narrowed(cell, format);
            let matrices = [layer.input, layer.state].into_iter().chain(layer.projection);
            let wide_bytes = matrices.map(|id| self.bytes_in_f32(id)).sum();
            Arc::new(NarrowCopy { bytes: held.bytes(), wide_bytes, held })
        };
        Some(self.narrow.recurrent[layer.state.0].get_or_init(make).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activation, Forward, Key, Linear, LinearPair, Recurrent, RecurrentSizes, Var};

    /// One of each kind of layer that is held in fewer bits, and one that is too small.
    struct Layers {
        linear: Linear,
        pair: LinearPair,
        recurrent: Recurrent,
        small: Linear,
    }

    impl Layers {
        fn new(table: &mut Table) -> Self {
            let mut root = table.root();
            let sizes = RecurrentSizes {
                cell: Cell::Lstm,
                inputs: 24,
                hidden: 32,
                layers: 2,
                bias: true,
                dropout: 0.0,
                projection: None,
            };
            Self {
                linear: Linear::new(&mut root.at("linear"), 64, 48),
                pair: LinearPair::new(&mut root.at("pair"), [0, 1], [48, 256, 24]),
                recurrent: Recurrent::new(&mut root.at("recurrent"), &sizes),
                small: Linear::new(&mut root.at("small"), 32, 3),
            }
        }

        fn forward(&self, cx: &Forward<'_>) -> Vec<f32> {
            let x = Tensor::build([5, 64], |x| crate::Init::Uniform { bound: 1.0 }.fill(Key::new(3), x));
            let y = self.linear.forward(cx, &Var::constant(x), Activation::Tanh);
            let y = self.pair.forward(cx, vec![y], Activation::Relu).reshape([1, 5, 24]);
            let y = self.recurrent.forward(cx, &y, 1, None);
            self.small.forward(cx, &y, Activation::Identity).value().to_vec()
        }
    }

    fn off(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn forecasts_are_near_those_of_f32_and_training_does_not_see_it() {
        let mut table = Table::default();
        let layers = Layers::new(&mut table);
        let mut params = table.initialise(1);
        let exact = layers.forward(&Forward::inference(&params));
        let all_bytes = params.held_bytes();
        for (precision, bound, share) in
            [(WeightPrecision::Bf16, 0.01, 0.6), (WeightPrecision::Int8, 0.03, 0.4)]
        {
            params.hold(precision);
            assert_eq!(params.precision(), precision);
            let trained = layers.forward(&Forward::training(&params, Key::new(1)));
            assert!(off(&trained, &exact) < 1e-5, "training has the weights in f32");
            let narrow = layers.forward(&Forward::inference(&params));
            let off = off(&narrow, &exact);
            assert!(off > 0.0 && off < bound, "{precision}: off by {off}");
            let bytes = params.held_bytes();
            assert!((bytes as f64) < share * all_bytes as f64, "{precision}: {bytes} of {all_bytes} bytes");
            // Clones share the copies, and a changed weight is seen.
            let mut clone = params.clone();
            assert_eq!(clone.held_bytes(), bytes);
            clone.arena_mut().fill(0.0);
            assert!(layers.forward(&Forward::inference(&clone)).iter().all(|y| *y == 0.0));
            assert_eq!(layers.forward(&Forward::inference(&params)), narrow);
        }
        params.hold(WeightPrecision::F32);
        assert_eq!(layers.forward(&Forward::inference(&params)), exact);
        assert_eq!(params.held_bytes(), all_bytes);
    }
}
