//! Attention as an operation of candle's.

use std::sync::OnceLock;

use candle_core::{CpuStorage, CustomOp3, Layout, Shape, Tensor};
use foretell_flash::{
    Attention, AttentionGradients, Dropout, Mask, Operand, OperandMut, Pattern, SavedForBackward, Sizes,
    Strides,
};

use crate::error::{OpError, Result};
use crate::operand::{check, from_first, misshapen, on_all_threads, read, tensor, with_whole_rows};

const OP: &str = "attention";

/// `softmax(scale q kᵀ + mask) v` for each head of each window (Vaswani et al. 2017, arXiv 1706.03762), tile by tile, without
/// the matrix of scores in memory (Dao et al. 2022, arXiv 2205.14135). The backward pass makes the scores again from one number
/// a row.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use foretell_candle::FlashAttention;
///
/// let x = Tensor::randn(0f32, 1.0, (1, 2, 5, 8), &Device::Cpu)?;
/// let seen = FlashAttention::causal().apply(&x, &x, &x)?;
/// // The first step sees itself only.
/// let [first, own] = [&seen, &x].map(|x| x.narrow(2, 0, 1)?.flatten_all()?.to_vec1::<f32>());
/// assert!(first?.iter().zip(own?).all(|(a, b)| (a - b).abs() < 1e-6));
/// # Ok::<(), candle_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FlashAttention {
    /// The factor of the products of queries and keys; `1 / sqrt(dim)` where there is none.
    pub scale: Option<f64>,
    /// Which keys a query sees.
    pub pattern: Pattern<'static>,
    /// Added to the scores: F32, of a shape that broadcasts to `[batch, heads, queries, keys]`. Minus infinity hides a key. No
    /// gradient goes to it, so one that candle tracks is refused.
    pub mask: Option<Tensor>,
    /// The dropout of the probabilities.
    pub dropout: Option<Dropout>,
}

impl FlashAttention {
    /// Each query sees all keys.
    pub fn full() -> Self {
        Self::default()
    }

    /// Each query sees the keys up to its own step.
    pub fn causal() -> Self {
        Self::default().pattern(Pattern::Causal)
    }

    /// The same with another `scale`.
    #[must_use]
    pub fn scale(self, scale: f64) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// The same with another `pattern`.
    #[must_use]
    pub fn pattern(self, pattern: Pattern<'static>) -> Self {
        Self { pattern, ..self }
    }

    /// The same with another `mask`.
    #[must_use]
    pub fn mask(self, mask: Tensor) -> Self {
        Self { mask: Some(mask), ..self }
    }

    /// The same with another `dropout`.
    #[must_use]
    pub fn dropout(self, dropout: Dropout) -> Self {
        Self { dropout: Some(dropout), ..self }
    }

    /// Attends: `q [batch, heads, queries, dim]`, `k [batch, heads, keys, dim]`, `v [batch, heads, keys, value_dim]`; the result
    /// is `[batch, heads, queries, value_dim]`. A query that sees no key has zeros.
    ///
    /// The operands may be views: heads of a packed projection (`reshape` to `[batch, steps, heads, dim]` and `transpose(1,
    /// 2)`), or keys that several heads share (`expand`). They are read without a copy if the numbers of a head's step are
    /// adjacent. The result has the memory order of the queries: with heads inside the steps, `transpose(1, 2)` and `reshape`
    /// back to `[batch, steps, heads * value_dim]` copy nothing.
    ///
    /// # Errors
    /// If an operand or the mask is not F32 on the CPU, the shapes do not fit, the mask is tracked, or a setting is none.
    pub fn apply(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        let sizes = self.sizes(q, k, v)?;
        let scale = self.scale.unwrap_or(1.0 / (sizes.dim.max(1) as f64).sqrt());
        if !(scale as f32).is_finite() {
            return refuse("scale", "finite as an f32", scale);
        }
        if let Some(Dropout { rate, .. }) =
            self.dropout.filter(|dropout| !(0.0..=1.0).contains(&dropout.rate))
        {
            return refuse("dropout's rate", "from 0 to 1", rate);
        }
        match self.pattern {
            Pattern::Strided { stride: 0, .. } => return refuse("the pattern's stride", "at least 1", 0),
            Pattern::Blocks { size: 0, .. } => return refuse("the pattern's block size", "at least 1", 0),
            Pattern::Blocks { pairs, .. } if !pairs.is_sorted_by(|a, b| a < b) => {
                return refuse("the pattern's pairs", "in ascending order, each once", "others");
            }
            _ => {}
        }
        let order = Order::of(q);
        let op = Op {
            sizes,
            scale: scale as f32,
            pattern: self.pattern,
            mask: self.mask.as_ref().map(|mask| broadcast(mask, &sizes)).transpose()?,
            dropout: self.dropout,
            order,
            stats: OnceLock::new(),
        };
        let [q, k, v] = [q, k, v].map(with_whole_rows);
        let out = q?.apply_op3(&k?, &v?, op)?;
        Ok(order.heads_first(out)?)
    }

    fn sizes(&self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Sizes> {
        for (name, tensor) in [("q", q), ("k", k), ("v", v)] {
            check(OP, name, tensor)?;
        }
        let &[batch, heads, queries, dim] = q.dims() else {
            return misshapen(OP, "q", q, "[batch, heads, queries, dim]");
        };
        let keys = match *k.dims() {
            [b, h, keys, d] if [b, h, d] == [batch, heads, dim] => keys,
            _ => return misshapen(OP, "k", k, format!("[{batch}, {heads}, keys, {dim}], as q has")),
        };
        let value_dim = match *v.dims() {
            [b, h, t, value_dim] if [b, h, t] == [batch, heads, keys] => value_dim,
            _ => return misshapen(OP, "v", v, format!("[{batch}, {heads}, {keys}, value_dim], as k has")),
        };
        Ok(Sizes { batch, heads, queries, keys, dim, value_dim })
    }
}

fn refuse<T>(setting: &'static str, expected: &'static str, found: impl ToString) -> Result<T> {
    Err(OpError::Setting { op: OP, setting, expected, found: found.to_string() })
}

/// The mask as a view of shape `[batch, heads, queries, keys]` whose rows are contiguous.
fn broadcast(mask: &Tensor, sizes: &Sizes) -> Result<Tensor> {
    check(OP, "the mask", mask)?;
    if mask.track_op() {
        return refuse("the mask", "a constant: no gradient goes to it (detach())", "a tracked tensor");
    }
    let &Sizes { batch, heads, queries, keys, .. } = sizes;
    let fits = |tensor: &Tensor| tensor.broadcast_as((batch, heads, queries, keys));
    let Ok(whole) = fits(mask) else {
        let expected = format!("one that broadcasts to [{batch}, {heads}, {queries}, {keys}]");
        return misshapen(OP, "the mask", mask, expected);
    };
    if whole.stride()[3] == 1 || keys <= 1 {
        return Ok(whole);
    }
    // Only the rows are written out; what repeats them still does.
    let rows = match mask.dims().split_last() {
        Some((_, outer)) => mask.broadcast_as([outer, &[keys]].concat())?,
        None => mask.broadcast_as(keys)?,
    };
    Ok(fits(&rows.contiguous()?)?)
}

/// The order of a tensor's heads and steps in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// `[batch, heads, steps, dim]`.
    HeadsFirst,
    /// `[batch, steps, heads, dim]`: as a linear layer leaves its outputs.
    StepsFirst,
}

impl Order {
    /// The order of a tensor `[batch, heads, steps, dim]`.
    fn of(tensor: &Tensor) -> Self {
        let (dims, stride) = (tensor.dims(), tensor.stride());
        match dims[1] > 1 && dims[2] > 1 && stride[1] < stride[2] {
            true => Self::StepsFirst,
            false => Self::HeadsFirst,
        }
    }

    /// The dimensions of dense memory, outermost first.
    fn dims(self, batch: usize, heads: usize, steps: usize, dim: usize) -> [usize; 4] {
        match self {
            Self::HeadsFirst => [batch, heads, steps, dim],
            Self::StepsFirst => [batch, steps, heads, dim],
        }
    }

    /// The strides of dense memory.
    fn dense(self, heads: usize, steps: usize, dim: usize) -> Strides {
        match self {
            Self::HeadsFirst => Strides::heads_first(heads, steps, dim),
            Self::StepsFirst => Strides::packed(steps, heads, dim),
        }
    }

    /// The strides of a tensor whose dimensions are in this order.
    fn strides(self, layout: &Layout) -> Strides {
        let stride = layout.stride();
        match self {
            Self::HeadsFirst => Strides { batch: stride[0], head: stride[1], step: stride[2] },
            Self::StepsFirst => Strides { batch: stride[0], head: stride[2], step: stride[1] },
        }
    }

    /// A tensor of this order as `[batch, heads, steps, dim]`.
    fn heads_first(self, tensor: Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::HeadsFirst => Ok(tensor),
            Self::StepsFirst => tensor.transpose(1, 2),
        }
    }
}

/// The operation on operands whose rows are contiguous. Its result has the dimensions of `order`.
struct Op {
    sizes: Sizes,
    scale: f32,
    pattern: Pattern<'static>,
    mask: Option<Tensor>,
    dropout: Option<Dropout>,
    order: Order,
    /// The statistics from which the backward pass recomputes the scores: one number a query.
    stats: OnceLock<Vec<f32>>,
}

type Stored<'a> = (&'a CpuStorage, &'a Layout);

/// An operand `[batch, heads, steps, dim]` in its storage.
fn operand<'a>((storage, layout): Stored<'a>, order: Order) -> candle_core::Result<Operand<'a>> {
    Ok(Operand { data: from_first(storage, layout)?, strides: order.strides(layout) })
}

impl Op {
    /// Lets `work` have the attention with its mask.
    fn with_attention<R>(&self, work: impl FnOnce(&Attention<'_>) -> R) -> candle_core::Result<R> {
        let attention =
            Attention::new(self.sizes).scale(self.scale).pattern(self.pattern).dropout(self.dropout);
        let Some(mask) = &self.mask else { return Ok(on_all_threads(|| work(&attention))) };
        read([mask], |[(storage, layout)]| {
            let stride = layout.stride();
            let data = from_first(storage, layout)?;
            let mask = Mask { data, batch: stride[0], head: stride[1], query: stride[2] };
            Ok(on_all_threads(|| work(&attention.mask(mask))))
        })
    }

    /// A dense gradient in the memory order of its tensor.
    fn gradient(&self, operand: &Tensor) -> (Vec<f32>, Strides, Order) {
        let (order, dims) = (Order::of(operand), operand.dims());
        (vec![0.0; operand.elem_count()], order.dense(dims[1], dims[2], dims[3]), order)
    }
}

impl CustomOp3 for Op {
    fn name(&self) -> &'static str {
        OP
    }

    fn cpu_fwd(
        &self,
        q: &CpuStorage,
        q_layout: &Layout,
        k: &CpuStorage,
        k_layout: &Layout,
        v: &CpuStorage,
        v_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let Sizes { batch, heads, queries, value_dim, .. } = self.sizes;
        let first = Order::HeadsFirst;
        let q = operand((q, q_layout), first)?;
        let (k, v) = (operand((k, k_layout), first)?, operand((v, v_layout), first)?);
        let (mut out, mut stats) = (vec![0.0; self.sizes.rows() * value_dim], vec![0.0; self.sizes.rows()]);
        let strides = self.order.dense(heads, queries, value_dim);
        self.with_attention(|attention| {
            attention.forward([q, k, v], OperandMut { data: &mut out, strides }, &mut stats, None);
        })?;
        // An operation is applied once.
        let _ = self.stats.set(stats);
        Ok((CpuStorage::F32(out), self.order.dims(batch, heads, queries, value_dim).to_vec().into()))
    }

    fn bwd(
        &self,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        res: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let stats = self.stats.get().expect("the forward pass comes first");
        let grad = with_whole_rows(grad)?;
        let [mut dq, mut dk, mut dv] = [q, k, v].map(|operand| self.gradient(operand));
        read([q, k, v, res, &grad], |[q, k, v, out, grad]| {
            let first = Order::HeadsFirst;
            let (q, k, v) = (operand(q, first)?, operand(k, first)?, operand(v, first)?);
            let (out, grad) = (operand(out, self.order)?, operand(grad, self.order)?);
            self.with_attention(|attention| {
                let [q_out, k_out, v_out] = [&mut dq, &mut dk, &mut dv]
                    .map(|(data, strides, _)| OperandMut { data, strides: *strides });
                let saved = SavedForBackward { q, k, v, out, stats };
                let gradients = AttentionGradients { q: q_out, k: k_out, v: v_out, scores: None };
                attention.backward(saved, grad, None, gradients);
            })
        })?;
        let tracked = |(data, _, order): (Vec<f32>, Strides, Order), operand: &Tensor| {
            let &[batch, heads, steps, dim] = operand.dims() else {
                unreachable!("checked when it was applied")
            };
            let gradient = || order.heads_first(tensor(data, order.dims(batch, heads, steps, dim).to_vec())?);
            operand.track_op().then(gradient).transpose()
        };
        Ok((tracked(dq, q)?, tracked(dk, k)?, tracked(dv, v)?))
    }
}
