//! Attention of many heads, in the layout of the linear layers' outputs; [`foretell_flash`] has the equations and
//! computes both passes.

use std::rc::Rc;

use foretell_flash::{
    Attention, AttentionGradients, Dropout, Mask, Operand, OperandMut, Pattern, SavedForBackward, Sizes,
    Strides,
};
use foretell_gemm::Rounding;
use foretell_simd::Key;
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{KeptTensor, Shape, Tensor};

use crate::{BackwardPass, Edge, Var};

/// How queries attend to keys.
#[derive(Clone, Copy, Debug)]
pub struct AttentionOptions<'a> {
    /// The heads that lie side by side in each row of queries, keys and values.
    pub heads: usize,
    /// The factor of the products of queries and keys; by default `1 / sqrt(dim)` for heads of `dim` numbers.
    pub scale: Option<f32>,
    /// Whether a query sees the keys up to its own step only.
    pub causal: bool,
    /// Keys of steps that lie before that of the first query, which a causal query sees, too.
    pub earlier_keys: usize,
    /// Added to the scores, minus infinity where a key is hidden: of shape `[batch, heads, queries, keys]`, where the first
    /// three may be 1 and the first ones may be missing. Its gradient is that of the scores.
    pub mask: Option<&'a Var>,
    /// Keys that no query sees, `[batch, keys]`: true where there is only padding.
    pub key_padding: Option<&'a [bool]>,
    /// The rate of dropout of the probabilities, and the key of its mask: which ones are dropped depends on the key
    /// and their place alone.
    pub dropout: Option<(f32, Key)>,
}

impl AttentionOptions<'_> {
    /// Attention of `heads` heads to all keys.
    pub fn new(heads: usize) -> Self {
        Self {
            heads,
            scale: None,
            causal: false,
            earlier_keys: 0,
            mask: None,
            key_padding: None,
            dropout: None,
        }
    }
}

impl Var {
    /// `dropout(softmax(scale Q Kᵀ + mask)) V` for each head of each window (Vaswani et al. 2017, arXiv 1706.03762,
    /// equation 1): queries `self [batch, queries, heads * dim]`, `keys [batch, keys, heads * dim]`, `values [batch, keys,
    /// heads * value_dim]`, result `[batch, queries, heads * value_dim]`. A query that sees no key has zeros.
    ///
    /// # Panics
    /// If the shapes do not fit, `key_padding` is not one for each key, or the rate of dropout is not between 0 and 1.
    #[track_caller]
    pub fn attention(&self, keys: &Self, values: &Self, options: &AttentionOptions<'_>) -> Self {
        self.attend(keys, values, options, false).0
    }

    /// [`Var::attention`], and its scores with the mask, `[batch, heads, queries, keys]`: a further layer may take them as its
    /// mask (residual attention, He et al. 2020, arXiv 2012.11747).
    ///
    /// # Panics
    /// If the shapes do not fit, `key_padding` is not one for each key, or the rate of dropout is not between 0 and 1.
    #[track_caller]
    pub fn attention_with_scores(
        &self,
        keys: &Self,
        values: &Self,
        options: &AttentionOptions<'_>,
    ) -> [Self; 2] {
        let (out, scores) = self.attend(keys, values, options, true);
        [out, scores.expect("asked for")]
    }

    #[track_caller]
    fn attend(
        &self,
        keys: &Self,
        values: &Self,
        options: &AttentionOptions<'_>,
        with_scores: bool,
    ) -> (Self, Option<Self>) {
        let operands = [self, keys, values];
        let rounding = operands.map(Self::rounding).into_iter().fold(Rounding::None, Rounding::or);
        let call = AttentionCall { rounding, ..AttentionCall::new(operands.map(Self::value), options) };
        let Sizes { batch, heads, queries, keys: key_steps, value_dim, .. } = call.sizes;
        let [q, k, v] = operands.map(|operand| operand.value().contiguous());
        let [kept_q, kept_k, kept_v] =
            [(self, &q), (keys, &k), (values, &v)].map(|(var, value)| var.save_for_backward(value, rounding));
        // Scores are recomputed from the kept operands, and must be those of the forward pass, whose products round the same way
        // unless they are small.
        let changed = rounding.or(operands.map(Self::keeping).into_iter().fold(Rounding::None, Rounding::or));
        let rounds = rounding != Rounding::None && call.attention().rounds_scores();
        let [q, k] = match changed == Rounding::None || rounds {
            true => [q, k],
            false => [&kept_q, &kept_k].map(|kept| kept.clone().into_tensor()),
        };
        let score_shape = [batch, heads, queries, key_steps];

        let (mut stats, mut scores) = (Tensor::zeros([0]), Tensor::zeros([0]));
        let out = Tensor::build([batch, queries, heads * value_dim], |out| {
            let out = OperandMut { data: out, strides: Strides::packed(queries, heads, value_dim) };
            stats = Tensor::build([call.sizes.rows()], |stats| {
                let operands = call.operands([&q, &k, &v]);
                if with_scores {
                    scores = Tensor::build(score_shape, |scores| {
                        call.attention().forward(operands, out, stats, Some(scores));
                    });
                } else {
                    call.attention().forward(operands, out, stats, None);
                }
            });
        });

        trace::record(|| {
            let record = call.record([&q, &k, &v]).output(&out);
            if with_scores { record.output(&scores) } else { record }
        });
        let inputs: Vec<&Self> = operands.into_iter().chain(options.mask).collect();
        let kept = KeptAttention {
            call,
            operands: [kept_q, kept_k, kept_v],
            out_shape: out.shape(),
            out: out.keep(Self::saved_rounding(&inputs, rounding)),
            stats,
            edges: operands.map(Self::edge),
            mask_edge: options.mask.map(Self::edge).filter(Edge::is_wanted),
        };
        if with_scores {
            let [out, scores] =
                Self::operation_of_two([out, scores], &inputs, |grads, pass| kept.backward(grads, pass));
            return (out, Some(scores));
        }
        (Self::operation(out, &inputs, |grad, pass| kept.backward([Some(grad), None], pass)), None)
    }
}

/// What the gradients of attention are made from.
struct KeptAttention {
    call: AttentionCall,
    /// Queries, keys and values.
    operands: [KeptTensor; 3],
    out: KeptTensor,
    out_shape: Shape,
    stats: Tensor,
    /// Of queries, keys and values.
    edges: [Edge; 3],
    mask_edge: Option<Edge>,
}

impl KeptAttention {
    /// Passes on the gradients of the result and of the scores.
    fn backward(self, [grad, grad_scores]: [Option<Tensor>; 2], gradients: &mut BackwardPass<'_>) {
        let Self { call, stats, mask_edge, .. } = self;
        let Sizes { batch, heads, queries, keys, value_dim, .. } = call.sizes;
        let grad = grad.unwrap_or_else(|| Tensor::zeros(self.out_shape));
        let operands = self.operands.map(KeptTensor::into_tensor);
        let out = self.out.into_tensor();
        let strides = Strides::packed(queries, heads, value_dim);
        let [q, k, v] = call.operands(operands.each_ref());
        let strides_of_operands = [q.strides, k.strides, v.strides];
        let out = Operand { data: out.values(), strides };
        let mut of_scores = mask_edge.as_ref().map(|_| Tensor::build([batch, heads, queries, keys], |_| {}));
        let mut of_operands = operands.each_ref().map(|operand| Tensor::build(operand.shape(), |_| {}));
        let [q_grad, k_grad, v_grad] = &mut of_operands;
        let [of_q, of_k, of_v] = strides_of_operands;
        call.attention().backward(
            SavedForBackward { q, k, v, out, stats: stats.values() },
            Operand { data: grad.values(), strides },
            grad_scores.as_ref().map(Tensor::values),
            AttentionGradients {
                q: OperandMut { data: q_grad.values_mut(), strides: of_q },
                k: OperandMut { data: k_grad.values_mut(), strides: of_k },
                v: OperandMut { data: v_grad.values_mut(), strides: of_v },
                scores: of_scores.as_mut().map(Tensor::values_mut),
            },
        );
        for (edge, grad) in self.edges.iter().zip(of_operands) {
            gradients.add_gradient(edge, grad);
        }
        if let (Some(edge), Some(grad), Some(mask)) = (mask_edge, of_scores, &call.mask) {
            gradients.add_gradient(&edge, grad.sum_to(mask.shape()));
        }
    }
}

/// The arguments of both passes.
struct AttentionCall {
    sizes: Sizes,
    scale: Option<f32>,
    /// Steps after its own place that a causal query sees.
    causal: Option<usize>,
    /// The mask, with its strides over windows, heads and queries.
    mask: Option<Tensor>,
    mask_strides: [usize; 3],
    key_padding: Option<Rc<[bool]>>,
    dropout: Option<(f32, Key)>,
    rounding: Rounding,
}

impl AttentionCall {
    #[track_caller]
    fn new([q, k, v]: [&Tensor; 3], options: &AttentionOptions<'_>) -> Self {
        let (&[batch, queries, width], &[k_batch, keys, k_width], &[v_batch, v_keys, v_width]) =
            (&*q.shape(), &*k.shape(), &*v.shape())
        else {
            panic!("attention with queries, keys and values of shapes {:?}", [q, k, v].map(Tensor::shape));
        };
        let heads = options.heads;
        let fits = (k_batch, k_width) == (batch, width)
            && (v_batch, v_keys) == (batch, keys)
            && heads > 0
            && width.is_multiple_of(heads)
            && v_width.is_multiple_of(heads);
        let shapes = [q, k, v].map(Tensor::shape);
        assert!(fits, "attention of {heads} heads with queries, keys and values of shapes {shapes:?}");
        let sizes = Sizes { batch, heads, queries, keys, dim: width / heads, value_dim: v_width / heads };
        let mask = options.mask.map(|mask| mask.value().contiguous());
        let mask_strides = mask.as_ref().map_or([0; 3], |mask| mask_strides(mask, &sizes));
        Self {
            sizes,
            scale: options.scale,
            causal: options.causal.then_some(options.earlier_keys),
            mask,
            mask_strides,
            key_padding: options.key_padding.map(Into::into),
            // All other rates are checked with the rest; NaN is refused there.
            dropout: options.dropout.filter(|(rate, _)| *rate != 0.0),
            rounding: Rounding::None,
        }
    }

    fn attention(&self) -> Attention<'_> {
        let attention = Attention::new(self.sizes);
        let [batch, head, query] = self.mask_strides;
        let pattern = match self.causal {
            None => Pattern::Full,
            Some(0) => Pattern::Causal,
            Some(after) => Pattern::Window { before: usize::MAX, after },
        };
        attention
            .scale(self.scale.unwrap_or(attention.scale))
            .pattern(pattern)
            .mask(self.mask.as_ref().map(|mask| Mask { data: mask.values(), batch, head, query }))
            .key_padding(self.key_padding.as_deref())
            .dropout(self.dropout.map(|(rate, key)| Dropout { rate, key }))
            .rounding(self.rounding)
    }

    /// What a recording of the call says of it, up to its results.
    fn record(&self, operands: [&Tensor; 3]) -> Record {
        let record = operands.into_iter().fold(Record::new("attention"), Record::input);
        let record = record.optional(self.mask.as_ref());
        let record = record.size("heads", self.sizes.heads).number("scale", self.attention().scale);
        if self.key_padding.is_some() {
            trace::choose("keys that are hidden as padding");
        }
        match self.causal {
            Some(after) => record.size("earlier_keys", after),
            None => record,
        }
    }

    fn operands<'a>(&self, [q, k, v]: [&'a Tensor; 3]) -> [Operand<'a>; 3] {
        let Sizes { heads, queries, keys, dim, value_dim, .. } = self.sizes;
        [
            Operand { data: q.values(), strides: Strides::packed(queries, heads, dim) },
            Operand { data: k.values(), strides: Strides::packed(keys, heads, dim) },
            Operand { data: v.values(), strides: Strides::packed(keys, heads, value_dim) },
        ]
    }
}

/// The strides of a mask over windows, heads and queries; 0 where it is repeated.
#[track_caller]
fn mask_strides(mask: &Tensor, sizes: &Sizes) -> [usize; 3] {
    let Sizes { batch, heads, queries, keys, .. } = *sizes;
    let (shape, whole) = (mask.shape(), [batch, heads, queries, keys]);
    let missing = 4_usize.checked_sub(shape.len());
    let fits = missing.is_some_and(|missing| {
        shape.last() == Some(&keys) && shape.iter().zip(&whole[missing..]).all(|(&s, &w)| s == w || s == 1)
    });
    assert!(fits, "a mask of shape {shape:?} for scores of shape {whole:?}");
    let missing = missing.unwrap_or_default();
    let mut strides = [0; 3];
    let mut step = 1;
    for axis in (missing..4).rev() {
        let size = shape[axis - missing];
        if axis < 3 && size > 1 {
            strides[axis] = step;
        }
        step *= size;
    }
    strides
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use super::AttentionOptions;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{Key, Var};

    fn inputs(queries: usize, keys: usize) -> [Tensor; 3] {
        [random([2, queries, 6], 1), random([2, keys, 6], 2), random([2, keys, 4], 3)]
    }

    #[test]
    fn gradients_of_all_operands() {
        let options = AttentionOptions::new(2);
        gradients(&inputs(3, 5), |v| v[0].attention(&v[1], &v[2], &options));
        let causal = AttentionOptions { causal: true, scale: Some(0.3), ..options };
        gradients(&inputs(4, 4), |v| v[0].attention(&v[1], &v[2], &causal));
        let later = AttentionOptions { causal: true, earlier_keys: 2, ..options };
        gradients(&inputs(3, 5), |v| v[0].attention(&v[1], &v[2], &later));
        let dropout = AttentionOptions { dropout: Some((0.4, Key::new(7))), ..options };
        gradients(&inputs(3, 5), |v| v[0].attention(&v[1], &v[2], &dropout));
        let padding = [false, false, true, false, true, false, true, false, false, false];
        let padded = AttentionOptions { key_padding: Some(&padding), ..options };
        gradients(&inputs(3, 5), |v| v[0].attention(&v[1], &v[2], &padded));
        // The same variable for all three.
        gradients(&[random([2, 3, 4], 5)], |v| v[0].attention(&v[0], &v[0], &options));
    }

    #[test]
    fn gradients_of_masks_of_any_shape() {
        for shape in [&[2, 2, 3, 5][..], &[2, 1, 3, 5], &[2, 1, 1, 5], &[2, 3, 5], &[1, 3, 5], &[3, 5], &[5]]
        {
            let [q, k, v] = inputs(3, 5);
            gradients(&[q, k, v, random(shape, 4)], |v| {
                let options = AttentionOptions { mask: Some(&v[3]), ..AttentionOptions::new(2) };
                v[0].attention(&v[1], &v[2], &options)
            });
        }
    }

    #[test]
    fn scores_pass_their_gradient_on_with_and_without_that_of_the_output() {
        let options = AttentionOptions::new(2);
        gradients(&inputs(3, 5)[..2], |v| v[0].attention_with_scores(&v[1], &v[1], &options)[1].clone());
        gradients(&inputs(3, 5), |v| {
            let [out, scores] = v[0].attention_with_scores(&v[1], &v[2], &options);
            let residual = AttentionOptions { mask: Some(&scores), ..options };
            let [again, scores] = v[0].attention_with_scores(&v[1], &v[2], &residual);
            let scores = scores.reshape([2, 3, 10]);
            Var::concat(&[&out, &again, &scores], 2)
        });
    }

    #[test]
    fn later_queries_see_what_all_queries_would() {
        let [q, k, v] = inputs(5, 5).map(Var::constant);
        let all = AttentionOptions { causal: true, ..AttentionOptions::new(2) };
        let later = AttentionOptions { earlier_keys: 2, ..all };
        let expected = q.attention(&k, &v, &all).narrow(1, 2, 3).value().to_vec();
        let output = q.narrow(1, 2, 3).attention(&k, &v, &later).value().to_vec();
        let far = output.iter().zip(&expected).find(|(a, b)| (**a - **b).abs() > 1e-6);
        assert!(far.is_none(), "{far:?}");
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("attention", |x, a| {
            let options = AttentionOptions {
                causal: a.text("mask") == "causal",
                mask: x.get(3),
                ..AttentionOptions::new(a.number("heads"))
            };
            x[0].attention(&x[1], &x[2], &options)
        });
        torch::assert_matches_pytorch("residual_attention", |x, a| {
            let options = AttentionOptions::new(a.number("heads"));
            let [out, scores] = x[0].attention_with_scores(&x[1], &x[2], &options);
            let again = x[0].attention(&x[1], &x[2], &AttentionOptions { mask: Some(&scores), ..options });
            out.add(&again)
        });
    }

    #[test]
    #[should_panic(expected = "attention of 4 heads with queries, keys and values of shapes")]
    fn heads_must_divide_the_rows() {
        let [q, k, v] = inputs(3, 5).map(Var::constant);
        q.attention(&k, &v, &AttentionOptions::new(4));
    }

    #[track_caller]
    fn drop_out(rate: f32) {
        let [q, k, v] = inputs(3, 5).map(Var::constant);
        let dropout = Some((rate, Key::new(7)));
        q.attention(&k, &v, &AttentionOptions { dropout, ..AttentionOptions::new(2) });
    }

    #[test]
    #[should_panic(expected = "dropout rate 1.5 is not between 0 and 1")]
    fn no_more_than_all_is_dropped() {
        drop_out(1.5);
    }

    #[test]
    #[should_panic(expected = "dropout rate -0.5 is not between 0 and 1")]
    fn no_less_than_nothing_is_dropped() {
        drop_out(-0.5);
    }

    #[test]
    #[should_panic(expected = "dropout rate NaN is not between 0 and 1")]
    fn a_rate_is_a_number() {
        drop_out(f32::NAN);
    }

    #[test]
    #[should_panic(expected = "the padding of keys")]
    fn padding_is_of_all_keys() {
        let [q, k, v] = inputs(3, 5).map(Var::constant);
        let padded = AttentionOptions { key_padding: Some(&[false; 9]), ..AttentionOptions::new(2) };
        q.attention(&k, &v, &padded);
    }

    #[test]
    #[should_panic(expected = "a mask of shape [2, 5] for scores of shape [2, 2, 3, 5]")]
    fn masks_must_fit_the_scores() {
        let [q, k, v] = inputs(3, 5).map(Var::constant);
        let mask = Var::constant(Tensor::zeros([2, 5]));
        q.attention(&k, &v, &AttentionOptions { mask: Some(&mask), ..AttentionOptions::new(2) });
    }
}
