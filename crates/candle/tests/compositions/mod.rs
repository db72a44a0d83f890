//! The same computations by candle's own operations: as candle-nn composes them where gradients are wanted, since its fused
//! softmax and norms record none. The test of agreement, the bench and the example compare with these.
#![allow(dead_code, reason = "each of the three uses some of them")]

use candle_core::{D, Device, Result, Tensor};
use foretell_candle::Activation;

pub(crate) fn softmax(x: &Tensor, dim: usize) -> Result<Tensor> {
    let e = x.broadcast_sub(&x.max_keepdim(dim)?.detach())?.exp()?;
    e.broadcast_div(&e.sum_keepdim(dim)?)
}

pub(crate) fn layer_norm(x: &Tensor, gamma: &Tensor, beta: Option<&Tensor>, eps: f64) -> Result<Tensor> {
    let centred = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let deviation = (centred.sqr()?.mean_keepdim(D::Minus1)? + eps)?.sqrt()?;
    let scaled = centred.broadcast_div(&deviation)?.broadcast_mul(gamma)?;
    beta.map_or(Ok(scaled.clone()), |beta| scaled.broadcast_add(beta))
}

pub(crate) fn rms_norm(x: &Tensor, gamma: &Tensor, eps: f64) -> Result<Tensor> {
    let root = (x.sqr()?.mean_keepdim(D::Minus1)? + eps)?.sqrt()?;
    x.broadcast_div(&root)?.broadcast_mul(gamma)
}

pub(crate) fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    activation: Activation,
) -> Result<Tensor> {
    let inputs = x.dim(D::Minus1)?;
    let mut dims = x.dims().to_vec();
    *dims.last_mut().expect("a last dimension") = weight.dim(0)?;
    let rows = x.elem_count() / inputs.max(1);
    let y = x.contiguous()?.reshape((rows, inputs))?.matmul(&weight.t()?)?.reshape(dims)?;
    let y = bias.map_or(Ok(y.clone()), |bias| y.broadcast_add(bias))?;
    match activation {
        Activation::Identity => Ok(y),
        Activation::Relu => y.relu(),
        Activation::Gelu => y.gelu_erf(),
        Activation::Silu => y.silu(),
        Activation::Tanh => y.tanh(),
        other => candle_core::bail!("no composition for {other:?}"),
    }
}

pub(crate) fn attention(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    scale: f64,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let scores = (q.contiguous()?.matmul(&k.t()?.contiguous()?)? * scale)?;
    let scores = mask.map_or(Ok(scores.clone()), |mask| scores.broadcast_add(mask))?;
    softmax(&scores, 3)?.matmul(&v.contiguous()?)
}

/// Minus infinities where key j comes after query i.
pub(crate) fn causal_mask(queries: usize, keys: usize) -> Tensor {
    let hidden = |i: usize, j: usize| if j > i { f32::NEG_INFINITY } else { 0.0 };
    let values = (0..queries).flat_map(|i| (0..keys).map(move |j| hidden(i, j))).collect();
    Tensor::from_vec(values, (queries, keys), &Device::Cpu).expect("as many values as places")
}
