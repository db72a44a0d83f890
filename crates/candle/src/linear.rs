//! The linear layer with its bias and activation in one operation.

use std::sync::OnceLock;

use candle_core::{CpuStorage, Shape, Tensor};
use foretell_gemm::{Activation, Bias, MatMut, MatRef, Options, matmul};
use foretell_simd::{self as simd, Saved};
use foretell_threads as threads;

use crate::error::Result;
use crate::operand::{check, contiguous, from_first, misshapen, on_all_threads, read, rows_and_cols, tensor};
use crate::optional_operand::{StridedStorage, TwoOrThree, apply};

/// The work of an activation of a number, in numbers of a plain pass over memory.
const COST: usize = 8;

/// `activation(x wᵀ + b)` of `x [..., k]`, `weight [n, k]` as `candle_nn::Linear` has it, and `bias [n]`, if there is one;
/// the result is `[..., n]`.
///
/// The weight is read without a copy, so that the transpose of a `[k, n]` matrix costs none.
///
/// # Errors
/// If an operand is not F32 on the CPU, or the shapes do not fit.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, activation: Activation) -> Result<Tensor> {
    const OP: &str = Linear::NAME;
    check(OP, "x", x)?;
    check(OP, "weight", weight)?;
    let &[n, k] = weight.dims() else { return misshapen(OP, "weight", weight, "[outputs, inputs]") };
    if x.dims().last() != Some(&k) {
        return misshapen(OP, "x", x, format!("[..., {k}], as many inputs as the weight has"));
    }
    let weight = if is_matrix(weight) { weight.clone() } else { weight.contiguous()? };
    let (x, op) = (x.contiguous()?, Linear { activation, before: OnceLock::new() });
    let bias = match bias {
        None => None,
        Some(bias) => {
            check(OP, "bias", bias)?;
            if bias.dims() != [n] {
                return misshapen(OP, "bias", bias, format!("[{n}], as many as the weight has outputs"));
            }
            Some(bias.contiguous()?)
        }
    };
    Ok(apply(op, [&x, &weight], bias.as_ref())?)
}

/// Whether rows or columns are contiguous, at distances that do not overlap.
fn is_matrix(weight: &Tensor) -> bool {
    let (dims, stride) = (weight.dims(), weight.stride());
    (stride[1] == 1 && stride[0] >= dims[1]) || (stride[0] == 1 && stride[1] >= dims[0])
}

struct Linear {
    activation: Activation,
    /// The product and the bias, where the activation's slope follows from these alone.
    before: OnceLock<Vec<f32>>,
}

/// A weight in its storage.
fn matrix((storage, layout): StridedStorage<'_>) -> candle_core::Result<MatRef<'_, f32>> {
    let (dims, stride) = (layout.dims(), layout.stride());
    Ok(MatRef::new(from_first(storage, layout)?, dims[0], dims[1], stride[0], stride[1]))
}

impl TwoOrThree for Linear {
    const NAME: &'static str = "linear";

    fn forward(
        &self,
        [(x, x_layout), weight]: [StridedStorage<'_>; 2],
        bias: Option<StridedStorage<'_>>,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let bias = bias.map(|(bias, layout)| contiguous(bias, layout)).transpose()?;
        let (rows, k) = rows_and_cols(x_layout.dims());
        let (x, weight) = (MatRef::row_major(contiguous(x, x_layout)?, rows, k), matrix(weight)?);
        let n = weight.nrows();
        let product = |activation| {
            let mut out = vec![0.0; rows * n];
            let options = Options::default().bias(bias.map(Bias::PerColumn)).activation(activation);
            matmul(MatMut::row_major(&mut out, rows, n), x, weight.t(), options);
            out
        };
        let out = on_all_threads(|| match self.activation.saves() {
            Saved::Output => product(self.activation),
            Saved::Input => {
                let before = product(Activation::Identity);
                let mut out = vec![0.0; before.len()];
                threads::rows(rows, COST * n, [&mut out[..]], |range, [out]| {
                    self.activation.forward(&before[range.start * n..range.end * n], out);
                });
                // An operation is applied once.
                let _ = self.before.set(before);
                out
            }
        });
        let mut dims = x_layout.dims().to_vec();
        *dims.last_mut().expect("checked when it was applied") = n;
        Ok((CpuStorage::F32(out), dims.into()))
    }

    /// With g the gradient before the activation: dx = g w, dw = gᵀ x, db = the column sums of g.
    fn backward(
        &self,
        [x, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        res: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 3]> {
        let (rows, k) = rows_and_cols(x.dims());
        let n = weight.dims()[0];
        let grad = grad.contiguous()?;
        let wanted = [x, weight].map(Tensor::track_op);
        let [dx, dw, db] = read([x, weight, res, &grad], |[x, weight, res, grad]| {
            let (x, out) = (contiguous(x.0, x.1)?, contiguous(res.0, res.1)?);
            let (weight, mut changed) = (matrix(weight)?, Vec::new());
            let grad = contiguous(grad.0, grad.1)?;
            on_all_threads(|| {
                let grad = match self.activation {
                    Activation::Identity => grad,
                    activation => {
                        let saved = self.before.get().map_or(out, Vec::as_slice);
                        changed.extend_from_slice(grad);
                        threads::rows(rows, COST * n, [&mut changed[..]], |range, [grad]| {
                            activation.backward(&saved[range.start * n..range.end * n], grad);
                        });
                        &changed
                    }
                };
                let (g, x) = (MatRef::row_major(grad, rows, n), MatRef::row_major(x, rows, k));
                let product = |rows, cols, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>| {
                    let mut out = vec![0.0; rows * cols];
                    matmul(MatMut::row_major(&mut out, rows, cols), lhs, rhs, Options::default());
                    out
                };
                let db = bias.filter(|bias| bias.track_op()).map(|_| {
                    let mut db = vec![0.0; n];
                    threads::sums(rows, n, &mut db, |range, db| {
                        let rows = grad[range.start * n..range.end * n].chunks_exact(n.max(1));
                        rows.for_each(|row| simd::add_assign(db, row));
                    });
                    db
                });
                let dx = wanted[0].then(|| product(rows, k, g, weight));
                let dw = wanted[1].then(|| product(n, k, g.t(), x));
                Ok([dx, dw, db])
            })
        })?;
        Ok([
            dx.map(|dx| tensor(dx, x.shape())).transpose()?,
            dw.map(|dw| tensor(dw, (n, k))).transpose()?,
            db.map(|db| tensor(db, n)).transpose()?,
        ])
    }
}
