//! The numbers of candle's tensors, checked and read without a copy.

use candle_core::{CpuStorage, DType, Device, Layout, Shape, Storage, Tensor};

use crate::error::{OpError, Result};

/// Refuses tensors that are not F32 on the CPU.
pub(crate) fn check(op: &'static str, operand: &'static str, tensor: &Tensor) -> Result<()> {
    if !tensor.device().is_cpu() {
        return Err(OpError::Device { op, operand, found: tensor.device().location() });
    }
    match tensor.dtype() {
        DType::F32 => Ok(()),
        found => Err(OpError::Dtype { op, operand, found }),
    }
}

/// The error that an operand has another shape than `expected`.
pub(crate) fn misshapen<T>(
    op: &'static str,
    operand: &'static str,
    tensor: &Tensor,
    expected: impl Into<String>,
) -> Result<T> {
    Err(OpError::Shape { op, operand, expected: expected.into(), found: tensor.dims().to_vec() })
}

/// The numbers from a tensor's first one to the end of its storage.
pub(crate) fn from_first<'a>(storage: &'a CpuStorage, layout: &Layout) -> candle_core::Result<&'a [f32]> {
    Ok(&storage.as_slice::<f32>()?[layout.start_offset()..])
}

/// The numbers of a contiguous tensor.
///
/// # Panics
/// If it is not contiguous; operations are applied to contiguous tensors only.
pub(crate) fn contiguous<'a>(storage: &'a CpuStorage, layout: &Layout) -> candle_core::Result<&'a [f32]> {
    assert!(layout.is_contiguous(), "a strided layout {layout:?} reached a kernel for contiguous rows");
    Ok(&from_first(storage, layout)?[..layout.shape().elem_count()])
}

/// Lets `work` read the storages and layouts of tensors.
pub(crate) fn read<const N: usize, R>(
    tensors: [&Tensor; N],
    work: impl FnOnce([(&CpuStorage, &Layout); N]) -> candle_core::Result<R>,
) -> candle_core::Result<R> {
    let locked = tensors.map(Tensor::storage_and_layout);
    if locked.iter().any(|(storage, _)| !matches!(**storage, Storage::Cpu(_))) {
        candle_core::bail!("a tensor of an operation on the CPU is on {:?}", tensors[0].device().location());
    }
    work(locked.each_ref().map(|(storage, layout)| match &**storage {
        Storage::Cpu(storage) => (storage, *layout),
        _ => unreachable!("checked above"),
    }))
}

/// The same tensor if its last dimension is contiguous, else a contiguous copy.
pub(crate) fn with_whole_rows(tensor: &Tensor) -> candle_core::Result<Tensor> {
    let whole = tensor.stride().last().is_none_or(|&stride| stride == 1) || tensor.dims().last() == Some(&1);
    if whole { Ok(tensor.clone()) } else { tensor.contiguous() }
}

/// Takes over numbers as a tensor.
pub(crate) fn tensor(values: Vec<f32>, shape: impl Into<Shape>) -> candle_core::Result<Tensor> {
    Tensor::from_vec(values, shape.into(), &Device::Cpu)
}

/// Rows and their length: all dimensions but the last, and the last.
pub(crate) fn rows_and_cols(dims: &[usize]) -> (usize, usize) {
    dims.split_last().map_or((1, 1), |(&cols, outer)| (outer.iter().product(), cols))
}

/// Runs the work on the threads of rayon's current pool.
pub(crate) fn on_all_threads<R>(work: impl FnOnce() -> R) -> R {
    foretell_threads::share(usize::MAX, work)
}
