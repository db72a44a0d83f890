//! Attention whose heads share their values, so that their weights can be averaged and read (Lim et al. 2021, arXiv
//! 1912.09363, section 4.4), parameters named as in neuralforecast's `InterpretableMultiHeadAttention`.

use foretell_autograd::{Activation, AttentionOptions, Tensor, Var};

use crate::{AttentionSizes, Forward, Linear, Scope};

/// Queries and keys for each of the heads and values for all of them come from one layer without a bias,
/// `qkv_linears [(2 heads + 1) * dim, hidden]` with `dim = hidden / heads`; `out_proj [hidden, dim]`, without a bias
/// too, is applied to the mean over the heads. A step sees itself and those before it.
#[derive(Clone, Debug)]
pub struct InterpretableAttention {
    qkv: Linear,
    out: Linear,
    heads: usize,
    dim: usize,
    attention_dropout: f32,
    dropout: f32,
}

impl InterpretableAttention {
    /// Registers the parameters in `scope`. `sizes.dropout` is the rate of the weights, `dropout` that of the result.
    ///
    /// # Panics
    /// If the heads do not divide `sizes.hidden`.
    #[track_caller]
    pub fn new(scope: &mut Scope<'_>, sizes: AttentionSizes, dropout: f32) -> Self {
        let AttentionSizes { hidden, heads, dropout: attention_dropout } = sizes;
        assert!(heads > 0 && hidden.is_multiple_of(heads), "{heads} heads of {hidden} numbers");
        let dim = hidden / heads;
        let qkv = Linear::without_bias(&mut scope.at("qkv_linears"), hidden, (2 * heads + 1) * dim);
        let out = Linear::without_bias(&mut scope.at("out_proj"), dim, hidden);
        Self { qkv, out, heads, dim, attention_dropout, dropout }
    }

    /// Attention of the steps `x [steps, batch, hidden]` to those before them,
    /// `earlier [earlier steps, batch, hidden]`, and to themselves: `[steps, batch, hidden]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, earlier: &Var, x: &Var) -> Var {
        let (width, dim, earlier_keys) = (self.heads * self.dim, self.dim, earlier.shape()[0]);
        let queries = self.qkv.rows(cx, x, 0..width).permute(&[1, 0, 2]);
        let rest = width..2 * width + dim;
        let seen = [earlier, x].map(|steps| self.qkv.rows(cx, steps, rest.clone()));
        let seen = Var::concat(&seen, 0).permute(&[1, 0, 2]);
        let (keys, value) = (seen.narrow(2, 0, width), seen.narrow(2, width, dim));
        let values = Var::concat(&vec![&value; self.heads], 2);
        let options = AttentionOptions {
            causal: true,
            earlier_keys,
            dropout: (cx.drops() && self.attention_dropout > 0.0)
                .then(|| (self.attention_dropout, cx.next_key())),
            ..AttentionOptions::new(self.heads)
        };
        let heads = queries.attention(&keys, &values, &options);
        let [batch, steps] = [heads.shape()[0], heads.shape()[1]];
        let mean = heads.reshape([batch, steps, self.heads, dim]).mean(2).permute(&[1, 0, 2]);
        cx.dropout(self.out.forward(cx, &mean, Activation::Identity), self.dropout)
    }

    /// The weights of the heads, `[batch, heads, steps, steps]`: how much each of the steps
    /// `x [steps, batch, hidden]` attends to each.
    ///
    /// # Panics
    /// If the shape does not fit.
    #[track_caller]
    pub fn weights(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let (&[steps, batch, _], width) = (&*x.shape(), self.heads * self.dim) else {
            panic!("attention of shape {:?}", x.shape())
        };
        let [queries, keys] = [0..width, width..2 * width]
            .map(|rows| self.qkv.rows(cx, x, rows).reshape([steps, batch, self.heads, self.dim]));
        let scores = queries.permute(&[1, 2, 0, 3]).matmul(&keys.permute(&[1, 2, 3, 0]));
        let later = Tensor::build([steps, steps], |mask| {
            for (step, row) in mask.chunks_exact_mut(steps.max(1)).enumerate() {
                row.fill(f32::NEG_INFINITY);
                row[..=step].fill(0.0);
            }
        });
        scores.scale(1.0 / (self.dim as f32).sqrt()).add(&Var::constant(later)).softmax(3)
    }
}
