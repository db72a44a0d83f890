//! Makes the copies of weights that forecasts hold, from the arena, when a forecast first asks for them.

use std::sync::Arc;

use foretell_autograd::{
    HeldWeights, RecurrentBytes, Rounding, Tensor, WeightFormat, WeightMatrix, held_weight,
};

use crate::held_copies::{HeldCopies, HeldCopy, HeldPair, MIN_SIDE, Slot};
use crate::layer_params::{MultipliedId, RecurrentParams};
use crate::model::Forward;
use crate::param_entry::ParamId;
use crate::params::Params;
use crate::weight_precision::WeightPrecision;

impl Params {
    /// Holds the weights of products in this format from now on, for forecasts: of linear layers with at least 16 inputs and
    /// outputs, the projections of attention among them, and of recurrent layers (RNN, LSTM, GRU).
    ///
    /// The weights of smaller layers stay in `f32`, and so do those for which no such product is built: convolutions,
    /// linear layers over columns (those along time in the mixers), linear layers of which a part of the outputs is asked
    /// for, and layers that join several weights in one matrix.
    ///
    /// In `f32` too, weights are copied where that saves time: on machines with AVX-512, those of linear layers whose product
    /// has 12 to 1024 rows, which would pack them each time, and of a recurrent layer's inputs likewise. A row is a window, or a
    /// step of one where the layer is applied to each step. For recurrent layers, a forecast of a single window lays out the
    /// weights of the state in its own way: after forecasts of one window and of several, both copies are in memory.
    ///
    /// Copies are computed when a forecast first asks for them. The weights in `f32` stay in memory beside them: runs that
    /// record gradients use them, and these are saved.
    ///
    /// # Panics
    /// If it is not `f32` and the program was built without the feature `amp`.
    #[track_caller]
    pub fn hold(&mut self, precision: WeightPrecision) {
        assert!(
            crate::AMP || precision == WeightPrecision::F32,
            "weights in {precision} need the feature `amp` of foretell-nn"
        );
        if precision != self.precision() {
            self.copies = HeldCopies::new(precision, &self.table);
        }
    }

    /// The bytes of all parameters, as the forecasts so far have held them: packed, in fewer bits or multiplied with each other
    /// where they did, else as in the arena.
    pub fn held_bytes(&self) -> usize {
        fn changes<T>(slots: &[Slot<T>]) -> impl Iterator<Item = (usize, usize)> {
            slots.iter().filter_map(|slot| slot.get()).map(|copy| (copy.bytes, copy.trained_bytes))
        }
        let HeldCopies { matrices, products, pairs, .. } = &self.copies;
        let copies = changes(matrices).chain(changes(pairs));
        let recurrent = self.table.recurrent().iter().filter_map(|layer| {
            let held = self.copies.recurrent[layer.state.0].get()?;
            let wide = self.bytes_of_recurrent(layer);
            Some((held.bytes(wide), wide.sum()))
        });
        let products = products.iter().enumerate().filter_map(|(place, product)| {
            let bytes = size_of::<f32>() * product.get()?.numel();
            Some((bytes, self.bytes_of_pair(MultipliedId(place))))
        });
        let all: usize = self.table.entries().iter().map(|entry| size_of_val(self.values(entry))).sum();
        copies.chain(recurrent).chain(products).fold(all, |all, (held, wide)| all - wide + held)
    }

    /// The bytes of the layers of a pair in `f32`.
    fn bytes_of_pair(&self, id: MultipliedId) -> usize {
        let layers = &self.table.multiplied()[id.0].layers;
        let ids = layers.iter().flat_map(|layer| [Some(layer.weight), layer.bias]).flatten();
        ids.map(|id| self.bytes_in_f32(id)).sum()
    }

    fn bytes_in_f32(&self, id: ParamId) -> usize {
        size_of::<f32>() * self.table.entry(id).shape.numel()
    }

    /// The copy of a linear layer's weight, `[outputs, inputs]`, for a product of this many rows, if there is to be one;
    /// `rounding` is that of the product with the weight as it was trained.
    pub(super) fn held_matrix(
        &self,
        id: ParamId,
        rows: usize,
        rounding: Rounding,
    ) -> Option<Arc<HeldCopy<WeightMatrix>>> {
        let shape = self.table.entry(id).shape;
        let [outputs, inputs] = [shape[0], shape[1..].iter().product()];
        let pays = match self.precision().narrow() {
            Some(_) => outputs.min(inputs) >= MIN_SIDE,
            None => {
                let best = WeightFormat::best_for([rows, inputs, outputs], rounding);
                best == Some(WeightFormat::F32)
            }
        };
        if !pays {
            return None;
        }
        let format = self.precision().narrow().unwrap_or(WeightFormat::F32);
        let make = || {
            let held = held_weight(&self.tensor(id).reshape([outputs, inputs]), format);
            Arc::new(HeldCopy { bytes: held.bytes(), trained_bytes: self.bytes_in_f32(id), held })
        };
        Some(self.copies.matrices[id.0].get_or_init(make).clone())
    }

    /// Multiplied weights as constants, computed when they are first asked for.
    pub(super) fn multiplied(&self, id: MultipliedId) -> Tensor {
        self.copies.products[id.0].get_or_init(|| self.compute_multiplied(id)).clone()
    }

    fn compute_multiplied(&self, id: MultipliedId) -> Tensor {
        self.table.multiplied()[id.0].compute(&Forward::inference(self)).value().contiguous()
    }

    /// Multiplied weights in fewer bits, if they are held so.
    pub(super) fn held_pair(&self, id: MultipliedId) -> Option<Arc<HeldCopy<HeldPair>>> {
        let format = self.precision().narrow()?;
        let shape = self.table.multiplied()[id.0].shape;
        let [inputs, outputs] = [shape[0] - 1, shape[1]];
        if outputs.min(inputs) < MIN_SIDE {
            return None;
        }
        let make = || {
            let product = self.compute_multiplied(id);
            let weight = held_weight(&product.narrow(0, 0, inputs).permute(&[1, 0]), format);
            let bias = product.narrow(0, inputs, 1).reshape([outputs]).contiguous();
            let bytes = weight.bytes() + size_of_val(bias.values());
            let held = HeldPair { weight, bias };
            Arc::new(HeldCopy { bytes, trained_bytes: self.bytes_of_pair(id), held })
        };
        Some(self.copies.pairs[id.0].get_or_init(make).clone())
    }

    /// The matrices of a recurrent layer as forecasts hold them; `None` for a layer that is too small to gain from
    /// it.
    pub(super) fn held_recurrent(&self, layer: &RecurrentParams) -> Option<Arc<HeldWeights>> {
        if self.table.entry(layer.state).shape[1] < MIN_SIDE {
            return None;
        }
        let make = || Arc::new(HeldWeights::new(self.precision().narrow()));
        Some(self.copies.recurrent[layer.state.0].get_or_init(make).clone())
    }

    /// The bytes of W, U and P of a recurrent layer in `f32`.
    fn bytes_of_recurrent(&self, layer: &RecurrentParams) -> RecurrentBytes {
        RecurrentBytes {
            input: self.bytes_in_f32(layer.input),
            state: self.bytes_in_f32(layer.state),
            projection: layer.projection.map_or(0, |id| self.bytes_in_f32(id)),
        }
    }
}

#[cfg(all(test, feature = "amp"))]
mod tests {
    use std::sync::OnceLock;

    use foretell_autograd::Cell;

    use super::*;
    use crate::{Activation, Key, Linear, LinearPair, PairSizes, Recurrent, RecurrentSizes, Table, Var};

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
                pair: LinearPair::new(
                    &mut root.at("pair"),
                    [0, 1],
                    PairSizes { inputs: 48, hidden: 256, outputs: 24 },
                ),
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
        let arena_bytes = params.held_bytes();
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
            // One that is put aside keeps none, and makes the same ones again.
            let aside = params.without_copies();
            assert_eq!([&aside, &params].map(Params::held_bytes), [arena_bytes, bytes]);
            assert_eq!(layers.forward(&Forward::inference(&aside)), narrow);
            assert_eq!(aside.held_bytes(), bytes);
        }
        params.hold(WeightPrecision::F32);
        assert_eq!(layers.forward(&Forward::inference(&params)), exact);
        assert_eq!(params.held_bytes(), all_bytes);
    }

    #[test]
    fn a_block_that_is_computed_again_has_the_weights_in_f32() {
        let mut table = Table::default();
        let layer = Linear::new(&mut table.root(), 64, 48);
        let mut params = table.initialise(1);
        params.hold(WeightPrecision::Bf16);
        let x = Tensor::build([33, 64], |x| crate::Init::Uniform { bound: 1.0 }.fill(Key::new(3), x));
        let (x, cx) = (Var::constant(x), Forward::training(&params, Key::new(1)));
        let plain = layer.forward(&cx, &x, Activation::Identity).value().to_vec();
        let again = layer.clone();
        let y = cx.recompute(&[&x], move |cx, v| again.forward(cx, &v[0], Activation::Identity));
        assert_eq!(y.value().to_vec(), plain);
    }

    #[test]
    fn a_weight_packed_in_f32_multiplies_as_before_and_is_packed_anew_when_it_changes() {
        let mut table = Table::default();
        let layer = Linear::new(&mut table.root(), 130, 140);
        let bound = table.held_copies_bytes(WeightPrecision::F32);
        let mut params = table.initialise(1);
        let x = Tensor::build([33, 130], |x| crate::Init::Uniform { bound: 1.0 }.fill(Key::new(3), x));
        let y = |cx: &Forward<'_>| {
            layer.forward(cx, &Var::constant(x.clone()), Activation::Identity).value().to_vec()
        };
        let exact = y(&Forward::training(&params, Key::new(1)));
        assert_eq!(params.copies.matrices.iter().filter_map(OnceLock::get).count(), 0, "training packs none");
        // Neither for a run that rounds nor for one whose input wants a gradient is there a copy in f32.
        y(&Forward::inference(&params).rounding(foretell_autograd::Rounding::Bf16));
        let input = Var::input(x.clone());
        assert!(layer.forward(&Forward::inference(&params), &input, Activation::Identity).edge().is_wanted());
        assert_eq!(params.copies.matrices.iter().filter_map(OnceLock::get).count(), 0);
        assert!(off(&y(&Forward::inference(&params)), &exact) < 1e-5);
        let bytes: usize =
            params.copies.matrices.iter().filter_map(OnceLock::get).map(|copy| copy.bytes).sum();
        assert_eq!(bytes, bound, "{} are packed", if bound == 0 { "none" } else { "all" });
        params.arena_mut().fill(0.0);
        assert!(y(&Forward::inference(&params)).iter().all(|y| *y == 0.0));
    }

    #[test]
    fn a_single_sequence_is_near_those_of_a_batch_and_its_copies_are_counted() {
        let mut table = Table::default();
        let layers = Layers::new(&mut table);
        let bounds = WeightPrecision::ALL.map(|precision| table.held_copies_bytes(precision));
        assert_eq!(bounds[0], 2 * WeightMatrix::bytes_of(32, 128, WeightFormat::F32));
        let mut params = table.initialise(1);
        let x = Tensor::build([9, 3, 24], |x| crate::Init::Uniform { bound: 1.0 }.fill(Key::new(5), x));
        let run = |params: &Params, x: &Tensor| {
            let cx = Forward::inference(params);
            layers.recurrent.forward(&cx, &Var::constant(x.contiguous()), 1, None).value().to_vec()
        };
        for (precision, bound) in WeightPrecision::ALL.into_iter().zip(bounds) {
            params.hold(precision);
            let batch = run(&params, &x);
            let before = params.held_bytes();
            let alone: Vec<f32> = (0..3).flat_map(|row| run(&params, &x.narrow(1, row, 1))).collect();
            assert!(off(&alone, &batch) < 1e-5, "{precision}: off by {}", off(&alone, &batch));
            // U of two layers, 128 by 32.
            let copies = params.held_bytes() - before;
            let expected = match precision {
                // They replace the weights in the arena.
                WeightPrecision::F32 => 0,
                WeightPrecision::Bf16 => 2 * 2 * 128 * 32,
                WeightPrecision::Int8 => 2 * (128 * 32 + 8 * 128),
            };
            assert_eq!(copies, expected, "{precision}");
            assert!(copies <= bound, "{precision}");
        }
    }
}
