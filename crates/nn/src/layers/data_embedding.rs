//! How transformers of time series embed windows: neuralforecast's `DataEmbedding`, a vector for each step, and
//! `DataEmbedding_inverted`, a vector for each series. Parameters are named as in neuralforecast.
//!
//! The vector of a step (Zhou et al. 2021, "Informer", arXiv 2012.07436, appendix B) is the sum of three: a convolution
//! over the step and its two neighbours, circular over the window; the sines and cosines of its position
//! (Vaswani et al. 2017, arXiv 1706.03762, section 3.5); a linear layer of the columns that are known of its time. The first
//! and the last are one product here, of the three neighbouring values and the columns of a step side by side.

use foretell_autograd::{Activation, Shape, Var};

use crate::{Forward, Init, Linear, ParamId, Scope};

/// Positions that neuralforecast's encodings are computed for: the longest window.
pub const MAX_POSITIONS: usize = 5000;

/// The sizes of a [`DataEmbedding`].
#[derive(Clone, Copy, Debug)]
pub struct DataEmbeddingSizes {
    /// Values of a step.
    pub inputs: usize,
    /// Columns that are known of the time of a step; 0 for none.
    pub columns: usize,
    /// Width of a vector.
    pub hidden: usize,
}

/// A vector for each step of a window: `value_embedding.tokenConv.weight [hidden, inputs, 3]`, normal at first; where
/// positions are encoded, the constant `position_embedding.pe [1, 5000, hidden]`; where there are columns,
/// `temporal_embedding.embed.weight [hidden, columns]`, uniform within `1 / sqrt(columns)`.
#[derive(Clone, Debug)]
pub struct DataEmbedding {
    token: ParamId,
    positions: Option<ParamId>,
    columns: Option<ParamId>,
    dropout: f32,
}

impl DataEmbedding {
    /// Registers the parameters in `scope`.
    ///
    /// # Panics
    /// If `hidden` is odd: a sine has a cosine beside it.
    #[track_caller]
    pub fn new(scope: &mut Scope<'_>, sizes: DataEmbeddingSizes, dropout: f32) -> Self {
        let embedding = Self::without_positions(scope, sizes, dropout);
        Self {
            positions: Some(positional_encoding(scope, "position_embedding.pe", sizes.hidden)),
            ..embedding
        }
    }

    /// Registers the parameters of vectors without the encoding of positions in `scope`.
    pub fn without_positions(scope: &mut Scope<'_>, sizes: DataEmbeddingSizes, dropout: f32) -> Self {
        let DataEmbeddingSizes { inputs, columns, hidden } = sizes;
        let init = Init::kaiming_normal(inputs.saturating_mul(TAPS));
        let token = scope.param("value_embedding.tokenConv.weight", [hidden, inputs, TAPS], init);
        let columns = (columns > 0).then(|| {
            scope.param("temporal_embedding.embed.weight", [hidden, columns], Init::fan_in(columns))
        });
        Self { token, positions: None, columns, dropout }
    }

    /// `x [batch, time, inputs]` and the columns of its steps, `[batch, time, columns]`, to `[batch, time, hidden]`.
    ///
    /// # Panics
    /// If the shapes do not fit, columns are missing or too many, or more than 5000 positions are to be encoded.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, columns: Option<&Var>) -> Var {
        assert_eq!(columns.is_some(), self.columns.is_some(), "whether a data embedding has columns");
        let time = x.shape()[1];
        let by_inputs = |id: ParamId| cx.matrix(id).permute(&[1, 0]);
        let mut seen = neighbours(x);
        let mut weight = by_inputs(self.token);
        if let Some((id, columns)) = self.columns.zip(columns) {
            seen = Var::concat(&[&seen, columns], 2);
            weight = Var::concat(&[&weight, &by_inputs(id)], 0);
        }
        let y = seen.linear_by_inputs(&weight, None, Activation::Identity);
        let y = match self.positions {
            Some(id) => y.add(&cx.param(id).narrow(1, 0, time)),
            None => y,
        };
        cx.dropout(y, self.dropout)
    }
}

/// Steps that a vector sees: its own and its two neighbours.
const TAPS: usize = 3;

/// Each step with the one before and the one after, circular over the window: `x [batch, time, inputs]` to
/// `[batch, time, 3 * inputs]`, the three values of an input side by side.
fn neighbours(x: &Var) -> Var {
    let &[batch, time, inputs] = &*x.shape() else { panic!("[batch, time, inputs], not {:?}", x.shape()) };
    let x = x.reshape([batch, time, inputs, 1]);
    let turned = |first: usize| Var::concat(&[x.narrow(1, first, time - first), x.narrow(1, 0, first)], 1);
    let [before, after] = [turned(time - 1), turned(1 % time)];
    Var::concat(&[&before, &x, &after], 3).reshape([batch, time, TAPS * inputs])
}

/// Registers sines and cosines of the positions 0 to 4999 (Vaswani et al. 2017, section 3.5), a constant
/// `[1, 5000, hidden]`: `[p, 2 i]` is the sine of `p / 10000^(2 i / hidden)`, `[p, 2 i + 1]` its cosine.
///
/// # Panics
/// If `hidden` is odd, or the name is taken.
#[track_caller]
pub fn positional_encoding(scope: &mut Scope<'_>, name: &str, hidden: usize) -> ParamId {
    sines_and_cosines(scope, name, [1, MAX_POSITIONS, hidden])
}

/// Registers the same for as many positions as the `shape [.., hidden]` has vectors.
///
/// # Panics
/// If `hidden` is odd, or the name is taken.
#[track_caller]
pub fn sines_and_cosines(scope: &mut Scope<'_>, name: &str, shape: impl Into<Shape>) -> ParamId {
    let shape = shape.into();
    let hidden = *shape.last().expect("a dimension of the vectors");
    assert!(hidden.is_multiple_of(2), "sines and cosines in vectors of {hidden} numbers");
    scope.constant(name, shape, move |out| {
        // Angles are rounded to single precision where PyTorch rounds them.
        let step = -(10_000_f64.ln() / hidden as f64) as f32;
        let rates: Vec<f32> =
            (0..hidden).step_by(2).map(|i| f64::from(i as f32 * step).exp() as f32).collect();
        for (place, row) in out.chunks_exact_mut(hidden.max(1)).enumerate() {
            for (pair, rate) in row.chunks_exact_mut(2).zip(&rates) {
                let (sin, cos) = f64::from(place as f32 * rate).sin_cos();
                pair.copy_from_slice(&[sin as f32, cos as f32]);
            }
        }
    })
}

/// A vector for each series of a window, of all its steps: `value_embedding.weight [hidden, steps]` and
/// `value_embedding.bias [hidden]`.
#[derive(Clone, Debug)]
pub struct InvertedEmbedding {
    linear: Linear,
    dropout: f32,
}

impl InvertedEmbedding {
    /// Registers the layer's parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, steps: usize, hidden: usize, dropout: f32) -> Self {
        Self { linear: Linear::new(&mut scope.at("value_embedding"), steps, hidden), dropout }
    }

    /// Series `x [batch, series, steps]` and columns that are seen as further series, `[batch, columns, steps]`, to
    /// `[batch, series + columns, hidden]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, columns: Option<&Var>) -> Var {
        let joined = columns.map(|columns| Var::concat(&[x, columns], 1));
        let y = self.linear.forward(cx, joined.as_ref().unwrap_or(x), Activation::Identity);
        cx.dropout(y, self.dropout)
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::{Key, Tensor};

    use super::*;
    use crate::Table;

    #[test]
    fn the_window_is_a_circle() {
        let x = Var::constant(Tensor::from_slice(&[1.0, 10.0, 2.0, 20.0, 3.0, 30.0], [1, 3, 2]));
        let expected = [
            [3.0, 1.0, 2.0, 30.0, 10.0, 20.0],
            [1.0, 2.0, 3.0, 10.0, 20.0, 30.0],
            [2.0, 3.0, 1.0, 20.0, 30.0, 10.0],
        ];
        assert_eq!(neighbours(&x).value().to_vec(), expected.concat());
        let one = Var::constant(Tensor::from_slice(&[4.0], [1, 1, 1]));
        assert_eq!(neighbours(&one).value().to_vec(), [4.0; 3]);
    }

    #[test]
    fn dropout_is_of_training_alone() {
        let mut table = Table::default();
        let sizes = DataEmbeddingSizes { inputs: 1, columns: 0, hidden: 8 };
        let layer = DataEmbedding::new(&mut table.root(), sizes, 0.5);
        let inverted = InvertedEmbedding::new(&mut table.root(), 50, 64, 0.5);
        let params = table.initialise(1);
        let zeros = |cx: &Forward<'_>| {
            let x = Var::constant(Tensor::full([1, 50, 1], 1.0));
            let [a, b] = [layer.forward(cx, &x, None), inverted.forward(cx, &x.permute(&[0, 2, 1]), None)];
            [a, b].map(|y| y.value().to_vec().iter().filter(|&&y| y == 0.0).count())
        };
        assert_eq!(zeros(&Forward::inference(&params)), [0; 2]);
        let [steps, series] = zeros(&Forward::training(&params, Key::new(1)));
        assert!((120..280).contains(&steps) && (15..50).contains(&series), "{steps} and {series} zeros");
    }

    #[test]
    #[should_panic(expected = "sines and cosines in vectors of 7 numbers")]
    fn a_sine_has_a_cosine() {
        positional_encoding(&mut Table::default().root(), "pe", 7);
    }
}
