//! Operations of two operands and a third one that may be left out, which candle knows as two kinds.

use candle_core::{CpuStorage, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor};

/// The storage and the layout of an operand.
pub(crate) type StridedStorage<'a> = (&'a CpuStorage, &'a Layout);

/// An operation of two or three operands, forward and backward.
pub(crate) trait TwoOrThree: Send + Sync + 'static {
    const NAME: &'static str;

    fn forward(
        &self,
        operands: [StridedStorage<'_>; 2],
        third: Option<StridedStorage<'_>>,
    ) -> Result<(CpuStorage, Shape)>;

    /// The gradients of the operands, as far as candle tracks them, by that of the result `res`.
    fn backward(
        &self,
        operands: [&Tensor; 2],
        third: Option<&Tensor>,
        res: &Tensor,
        grad: &Tensor,
    ) -> Result<[Option<Tensor>; 3]>;
}

/// Applies an operation to its operands.
pub(crate) fn apply(op: impl TwoOrThree, [x, y]: [&Tensor; 2], third: Option<&Tensor>) -> Result<Tensor> {
    match third {
        Some(third) => x.apply_op3(y, third, Op(op)),
        None => x.apply_op2(y, Op(op)),
    }
}

struct Op<T>(T);

impl<T: TwoOrThree> CustomOp2 for Op<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        y: &CpuStorage,
        y_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.0.forward([(x, x_layout), (y, y_layout)], None)
    }

    fn bwd(
        &self,
        x: &Tensor,
        y: &Tensor,
        res: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let [x, y, _] = self.0.backward([x, y], None, res, grad)?;
        Ok((x, y))
    }
}

impl<T: TwoOrThree> CustomOp3 for Op<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        y: &CpuStorage,
        y_layout: &Layout,
        third: &CpuStorage,
        third_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.0.forward([(x, x_layout), (y, y_layout)], Some((third, third_layout)))
    }

    fn bwd(
        &self,
        x: &Tensor,
        y: &Tensor,
        third: &Tensor,
        res: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        Ok(self.0.backward([x, y], Some(third), res, grad)?.into())
    }
}
