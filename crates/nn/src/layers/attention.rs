//! Attention of many heads between linear layers (Vaswani et al. 2017, "Attention is all you need", arXiv 1706.03762,
//! section 3.2.2), parameters named as the model that has it names them.

use foretell_autograd::{Activation, AttentionOptions, Indices, SparseAttention, Var};

use crate::{Forward, Linear, Scope};

/// neuralforecast's names of the layers of queries, keys, values and results.
const NAMES: [&str; 4] = ["query_projection", "key_projection", "value_projection", "out_projection"];

/// The sizes of a [`MultiHeadAttention`].
#[derive(Clone, Copy, Debug)]
pub struct AttentionSizes {
    /// Width of a step's vector, in and out.
    pub hidden: usize,
    /// Heads, each `hidden / heads` wide; at most `hidden`.
    pub heads: usize,
    /// The rate of dropout of probabilities.
    pub dropout: f32,
}

/// ProbSparse attention (Zhou et al. 2021, "Informer", arXiv 2012.07436, section 3.1): of `n` queries
/// `factor * ceil(ln n)` attend to the keys, those that stand out by the scores of as many sampled keys; all others get the
/// mean of the values, or, causally, the sum of those up to their step. There is no dropout of probabilities.
///
/// Which keys are sampled for a query is drawn once for all windows and heads of a run ([`Forward::next_key`]).
///
/// neuralforecast reads the results of a window, which are laid out `[heads, steps, dim]`, as if they were
/// `[steps, heads * dim]`. So each row that enters the last linear layer holds several steps of one head. It is the
/// same here.
#[derive(Clone, Copy, Debug)]
pub struct ProbSparse {
    /// The number of queries that attend, and of keys that are sampled, in units of the logarithm of all of them.
    pub factor: usize,
    /// Whether a step attends only to the steps up to its own.
    pub causal: bool,
}

impl ProbSparse {
    /// The number of queries that attend if there are `steps` of them, or of keys that are sampled if there are `steps`.
    pub fn count(self, steps: usize) -> usize {
        let logarithm = (steps as f64).ln().ceil() as usize;
        self.factor.saturating_mul(logarithm).clamp(1, steps.max(1))
    }

    /// `Q`, `K` and `V [batch, steps, heads * dim]` to `[batch, steps, heads * dim]`.
    fn read(self, cx: &Forward<'_>, [queries, keys, values]: [&Var; 3], heads: usize) -> Var {
        let (steps, key_steps) = (queries.shape()[1], keys.shape()[1]);
        let key = cx.next_key();
        let samples = Indices::build([steps, self.count(key_steps)], |places| {
            for (i, place) in (0..).zip(places) {
                *place = ((key.uniform(i) * key_steps as f32) as u32).min(key_steps as u32 - 1);
            }
        });
        let count = self.count(steps);
        let options = SparseAttention { heads, count, samples: &samples, causal: self.causal };
        queries.sparse_attention(keys, values, &options).reshape(queries.shape())
    }
}

/// Linear layers that make queries, keys and values of steps, attention between them, and a linear layer on the
/// results of the heads, side by side. With `d = hidden / heads` the first three have weights `[heads * d, hidden]`,
/// the last one `[hidden, heads * d]`, each with a bias.
///
/// The bias of the keys adds the same number to all scores of a query, which softmax cancels. So it is not trained; a
/// checkpoint's value is kept. It is added only with [`ProbSparse`], whose choice of queries depends on it.
#[derive(Clone, Debug)]
pub struct MultiHeadAttention {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    heads: usize,
    dropout: f32,
    /// Set where only some of the queries attend.
    sparse: Option<ProbSparse>,
}

impl MultiHeadAttention {
    /// neuralforecast's `AttentionLayer`: registers `query_projection`, `key_projection`, `value_projection` and
    /// `out_projection` in `scope`.
    pub fn new(scope: &mut Scope<'_>, sizes: AttentionSizes) -> Self {
        Self::named(scope, sizes, NAMES)
    }

    /// neuralforecast's `AttentionLayer` of `ProbAttention`: parameters as in [`MultiHeadAttention::new`], without
    /// dropout.
    ///
    /// # Panics
    /// If there are no heads.
    #[track_caller]
    pub fn prob_sparse(scope: &mut Scope<'_>, [hidden, heads]: [usize; 2], sparse: ProbSparse) -> Self {
        Self::with(scope, AttentionSizes { hidden, heads, dropout: 0.0 }, NAMES, Some(sparse))
    }

    /// Whether the keys of a query depend on the other queries.
    pub(crate) fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    /// Registers the layers of queries, keys, values and results by these names.
    ///
    /// # Panics
    /// If there are no heads.
    #[track_caller]
    pub fn named(scope: &mut Scope<'_>, sizes: AttentionSizes, names: [&str; 4]) -> Self {
        Self::with(scope, sizes, names, None)
    }

    #[track_caller]
    fn with(
        scope: &mut Scope<'_>,
        AttentionSizes { hidden, heads, dropout }: AttentionSizes,
        [query, key, value, out]: [&str; 4],
        sparse: Option<ProbSparse>,
    ) -> Self {
        let width = hidden / heads * heads;
        let query = Linear::new(&mut scope.at(query), hidden, width);
        let key = match sparse {
            Some(_) => Linear::with_frozen_bias(&mut scope.at(key), hidden, width),
            None => Linear::with_optional_bias(&mut scope.at(key), [hidden, width], false),
        };
        let value = Linear::new(&mut scope.at(value), hidden, width);
        let out = Linear::new(&mut scope.at(out), width, hidden);
        Self { query, key, value, out, heads, dropout, sparse }
    }

    /// Attention of steps `x [batch, time, hidden]` to the steps of `context [batch, other time, hidden]`:
    /// `[batch, time, hidden]`. With `x` itself as the context it is self-attention.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, context: &Var) -> Var {
        self.forward_last(cx, x, context, x.shape()[1])
    }

    /// The last `last` steps of [`MultiHeadAttention::forward`]: `[batch, last, hidden]`. The others are not computed
    /// where the last ones do not depend on them.
    ///
    /// # Panics
    /// If there are fewer steps.
    #[track_caller]
    pub(crate) fn forward_last(&self, cx: &Forward<'_>, x: &Var, context: &Var, last: usize) -> Var {
        let end = |x: &Var| x.narrow(1, x.shape()[1] - last, last);
        let heads = match self.sparse {
            Some(sparse) => {
                let [queries, keys, values] = self.projected(cx, x, context);
                end(&sparse.read(cx, [&queries, &keys, &values], self.heads))
            }
            None => {
                let [queries, keys, values] = self.projected(cx, &end(x), context);
                queries.attention(&keys, &values, &self.options(cx))
            }
        };
        self.out.forward(cx, &heads, Activation::Identity)
    }

    /// Self-attention that adds the scores of the layer before it to its own (He et al. 2020, "RealFormer", arXiv 2012.11747):
    /// its result, and its scores `[batch, heads, time, time]` for the layer behind it.
    ///
    /// # Panics
    /// If the attention is sparse: it has no such scores.
    #[track_caller]
    pub fn forward_residual(&self, cx: &Forward<'_>, x: &Var, scores: Option<&Var>) -> [Var; 2] {
        assert!(self.sparse.is_none(), "scores of sparse attention");
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
        let dropout = (cx.drops() && self.dropout > 0.0).then(|| (self.dropout, cx.next_key()));
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
    fn sparse_attention_samples_by_the_run() {
        let mut table = Table::default();
        let sparse = ProbSparse { factor: 1, causal: false };
        assert_eq!([1, 2, 12, 96].map(|steps| sparse.count(steps)), [1, 1, 3, 5]);
        assert_eq!(ProbSparse { factor: 7, ..sparse }.count(12), 12);
        let layer = MultiHeadAttention::prob_sparse(&mut table.root(), [8, 2], sparse);
        let params = table.initialise(1);
        assert!(params.table().trained().all(|entry| entry.name != "key_projection.bias"));
        let x = Var::constant(Tensor::build([3, 40, 8], |x| Init::Normal.fill(Key::new(3), x)));
        let forward = |seed| {
            layer.forward(&Forward::inference(&params).with_key(Key::new(seed)), &x, &x).value().to_vec()
        };
        assert_eq!(forward(1), forward(1));
        assert_ne!(forward(1), forward(2));
        let last = |seed| {
            let cx = Forward::inference(&params).with_key(Key::new(seed));
            layer.forward_last(&cx, &x, &x, 7).value().to_vec()
        };
        let whole = Tensor::from_slice(&forward(1), [3, 40, 8]).narrow(1, 33, 7).to_vec();
        assert!(last(1).iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-6));
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
