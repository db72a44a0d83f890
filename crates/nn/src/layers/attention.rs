//! Attention of many heads between linear layers (Vaswani et al. 2017, "Attention is all you need", arXiv 1706.03762,
//! section 3.2.2), parameters named as the model that has it names them.

use foretell_autograd::{Activation, AttentionOptions, Var};

use crate::{Forward, Linear, Scope};

/// The sizes of a [`MultiHeadAttention`].
#[derive(Clone, Copy, Debug)]
pub struct AttentionSizes {
    /// Numbers of a step, in and out.
    pub hidden: usize,
    /// Heads, each of `hidden / heads` numbers; at most `hidden`.
    pub heads: usize,
    /// The rate of dropout of probabilities.
    pub dropout: f32,
}

/// Linear layers that make queries, keys and values of steps, attention between them, and a linear layer on what the heads
/// bring, side by side. With `d = hidden / heads` the first three have weights `[heads * d, hidden]`, the last one
/// `[hidden, heads * d]`, each a bias.
///
/// The bias of the keys adds the same number to all scores of a query, which softmax cancels. So it is neither added nor
/// trained; a checkpoint's is kept.
#[derive(Clone, Debug)]
pub struct MultiHeadAttention {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    heads: usize,
    dropout: f32,
}

impl MultiHeadAttention {
    /// neuralforecast's `AttentionLayer`: registers `query_projection`, `key_projection`, `value_projection` and
    /// `out_projection` in `scope`.
    pub fn new(scope: &mut Scope<'_>, sizes: AttentionSizes) -> Self {
        let names = ["query_projection", "key_projection", "value_projection", "out_projection"];
        Self::named(scope, sizes, names)
    }

    /// Registers the layers of queries, keys, values and results by these names.
    ///
    /// # Panics
    /// If there are no heads.
    #[track_caller]
    pub fn named(scope: &mut Scope<'_>, sizes: AttentionSizes, names: [&str; 4]) -> Self {
        let AttentionSizes { hidden, heads, dropout } = sizes;
        let width = hidden / heads * heads;
        let [query, key, value, out] = names;
        let query = Linear::new(&mut scope.at(query), hidden, width);
        let key = Linear::with_bias_read(&mut scope.at(key), [hidden, width], false);
        let value = Linear::new(&mut scope.at(value), hidden, width);
        let out = Linear::new(&mut scope.at(out), width, hidden);
        Self { query, key, value, out, heads, dropout }
    }

    /// What steps `x [batch, time, hidden]` read of the steps of `context [batch, other time, hidden]`: `[batch, time,
    /// hidden]`. With itself as the context it is self-attention.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, context: &Var) -> Var {
        let [queries, keys, values] = self.projected(cx, x, context);
        let heads = queries.attention(&keys, &values, &self.options(cx));
        self.out.forward(cx, &heads, Activation::Identity)
    }

    /// Self-attention that adds the scores of the layer before it to its own (He et al. 2020, "RealFormer", arXiv 2012.11747):
    /// its result, and its scores `[batch, heads, time, time]` for the layer behind it.
    #[track_caller]
    pub fn forward_residual(&self, cx: &Forward<'_>, x: &Var, scores: Option<&Var>) -> [Var; 2] {
        let [queries, keys, values] = self.projected(cx, x, x);
        let options = AttentionOptions { mask: scores, ..self.options(cx) };
        let [heads, scores] = queries.attention_with_scores(&keys, &values, &options);
        [self.out.forward(cx, &heads, Activation::Identity), scores]
    }

    fn projected(&self, cx: &Forward<'_>, x: &Var, context: &Var) -> [Var; 3] {
        [(&self.query, x), (&self.key, context), (&self.value, context)]
            .map(|(layer, steps)| layer.forward(cx, steps, Activation::Identity))
    }

    fn options(&self, cx: &Forward<'_>) -> AttentionOptions<'static> {
        let dropout = (cx.is_training() && self.dropout > 0.0).then(|| (self.dropout, cx.draw()));
        AttentionOptions { dropout, ..AttentionOptions::new(self.heads) }
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::{Key, Tensor};

    use super::*;
    use crate::{Init, Table};

    #[test]
    fn the_bias_of_the_keys_takes_no_part() {
        let mut table = Table::default();
        let sizes = AttentionSizes { hidden: 7, heads: 3, dropout: 0.0 };
        let layer = MultiHeadAttention::new(&mut table.root(), sizes);
        let mut params = table.initialise(1);
        let x = Var::constant(Tensor::build([2, 5, 7], |x| Init::Normal.fill(Key::new(3), x)));
        let forward =
            |params: &crate::Params| layer.forward(&Forward::inference(params), &x, &x).value().to_vec();
        let before = forward(&params);
        assert!(params.table().trained().all(|entry| entry.name != "key_projection.bias"));
        params.assign("key_projection.bias", &Tensor::full([6], 9.0)).unwrap();
        assert_eq!(forward(&params), before);
        assert_eq!(params.get("key_projection.bias").unwrap().to_vec(), [9.0; 6]);
    }

    #[test]
    fn dropout_is_of_training_alone_and_of_its_key() {
        let mut table = Table::default();
        let sizes = AttentionSizes { hidden: 8, heads: 2, dropout: 0.5 };
        let layer = MultiHeadAttention::new(&mut table.root(), sizes);
        let params = table.initialise(1);
        let x = Var::constant(Tensor::build([1, 9, 8], |x| Init::Normal.fill(Key::new(3), x)));
        let forward = |cx: &Forward<'_>| layer.forward(cx, &x, &x).value().to_vec();
        let trained = |seed| forward(&Forward::training(&params, Key::new(seed)));
        assert_eq!(forward(&Forward::inference(&params)), forward(&Forward::inference(&params)));
        assert_ne!(forward(&Forward::inference(&params)), trained(1));
        assert_eq!(trained(1), trained(1));
        assert_ne!(trained(1), trained(2));
    }
}
