//! The reprogramming of patches as words (Jin et al. 2023, "Time-LLM", arXiv 2310.01728, equation 2), parameters named as in
//! neuralforecast's `ReprogrammingLayer`.

use foretell_autograd::{Activation, AttentionOptions, Var};

use crate::{Forward, Linear, Scope};

/// The sizes of a [`Reprogramming`].
#[derive(Clone, Copy, Debug)]
pub struct ReprogrammingSizes {
    /// Width of a patch's vector.
    pub hidden: usize,
    /// Heads of the attention.
    pub heads: usize,
    /// Width of a head's queries, keys and values.
    pub keys: usize,
    /// Width of a prototype, and of the result.
    pub width: usize,
    /// The rate of dropout of probabilities.
    pub dropout: f32,
}

/// Attention of the patches of all windows to the same prototypes: weights `query_projection [heads * keys, hidden]`, `key_projection`
/// and `value_projection [heads * keys, width]`, `out_projection [width, heads * keys]`, each with a bias.
///
/// The bias of the keys adds the same number to all scores of a query, which softmax cancels. So it is not trained; a
/// checkpoint's value is kept.
#[derive(Clone, Debug)]
pub struct Reprogramming {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    heads: usize,
    dropout: f32,
}

impl Reprogramming {
    /// Registers the layers in `scope`.
    pub fn new(scope: &mut Scope<'_>, sizes: ReprogrammingSizes) -> Self {
        let ReprogrammingSizes { hidden, heads, keys, width, dropout } = sizes;
        let all = heads.saturating_mul(keys);
        Self {
            query: Linear::new(&mut scope.at("query_projection"), hidden, all),
            key: Linear::with_optional_bias(&mut scope.at("key_projection"), [width, all], false),
            value: Linear::new(&mut scope.at("value_projection"), width, all),
            out: Linear::new(&mut scope.at("out_projection"), all, width),
            heads,
            dropout,
        }
    }

    /// Patches `x [batch, patches, hidden]` by `prototypes [prototypes, width]`: `[batch, patches, width]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, prototypes: &Var) -> Var {
        let &[batch, patches, _] = &*x.shape() else {
            panic!("[batch, patches, hidden], not {:?}", x.shape())
        };
        let prototypes = prototypes.unsqueeze(0);
        let dropout = (cx.is_training() && self.dropout > 0.0).then(|| (self.dropout, cx.next_key()));
        let options = AttentionOptions { dropout, ..AttentionOptions::new(self.heads) };
        // The patches of all windows are the steps of one.
        let queries = self.query.forward(cx, x, Activation::Identity);
        let queries = queries.reshape([1, batch * patches, queries.shape()[2]]);
        let [keys, values] =
            [&self.key, &self.value].map(|layer| layer.forward(cx, &prototypes, Activation::Identity));
        let read = self.out.forward(cx, &queries.attention(&keys, &values, &options), Activation::Identity);
        read.reshape([batch, patches, read.shape()[2]])
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::{Key, Tensor};

    use super::*;
    use crate::{Init, Table};

    #[test]
    fn a_window_is_reprogrammed_as_it_is_alone() {
        let mut table = Table::default();
        let sizes = ReprogrammingSizes { hidden: 3, heads: 2, keys: 5, width: 4, dropout: 0.5 };
        let layer = Reprogramming::new(&mut table.root(), sizes);
        let params = table.initialise(1);
        assert!(params.table().trained().all(|entry| entry.name != "key_projection.bias"));
        let random = |seed, shape: &[usize]| Tensor::build(shape, |x| Init::Normal.fill(Key::new(seed), x));
        let (x, prototypes) = (random(2, &[3, 7, 3]), Var::constant(random(3, &[6, 4])));
        let forward = |cx: &Forward<'_>, x: &Tensor| {
            layer.forward(cx, &Var::constant(x.clone()), &prototypes).value().clone()
        };
        let together = forward(&Forward::inference(&params), &x);
        assert_eq!(*together.shape(), [3, 7, 4]);
        let alone = forward(&Forward::inference(&params), &x.narrow(0, 1, 1)).to_vec();
        let far = alone.iter().zip(together.narrow(0, 1, 1).to_vec()).find(|(a, b)| (**a - b).abs() > 1e-5);
        assert!(far.is_none(), "alone and together: {far:?}");
        assert_ne!(forward(&Forward::training(&params, Key::new(1)), &x), together, "dropout in training");
    }
}
