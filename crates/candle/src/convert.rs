//! Conversions between foretell's tensors and candle's.

use candle_core::{Layout, Tensor};
use foretell_tensor::{MAX_RANK, Shape, Tensor as OurTensor};

use crate::error::Result;
use crate::operand::{check, from_first, misshapen, read, tensor};

/// candle's tensor as one of foretell's, with the same shape. The numbers are copied once, in order, whatever the strides: those
/// of foretell's tensors are in buffers of its pool.
///
/// # Errors
/// If it is not F32 on the CPU, or has more than [`MAX_RANK`] dimensions.
///
/// ```
/// use candle_core::{Device, Tensor};
///
/// let x = Tensor::new(&[[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu)?;
/// assert_eq!(foretell_candle::from_candle(&x.t()?)?.to_vec(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn from_candle(x: &Tensor) -> Result<OurTensor> {
    const OP: &str = "from_candle";
    check(OP, "the tensor", x)?;
    if x.rank() > MAX_RANK {
        return misshapen(OP, "the tensor", x, format!("at most {MAX_RANK} dimensions"));
    }
    let ours = read([x], |[(storage, layout)]| {
        let values = from_first(storage, layout)?;
        Ok(OurTensor::build(Shape::new(layout.dims()), |out| match layout.is_contiguous() {
            true => out.copy_from_slice(&values[..out.len()]),
            false => copy_in_order(values, layout, out),
        }))
    })?;
    Ok(ours)
}

/// Writes the numbers of a strided layout, row-major, to `out`.
fn copy_in_order(values: &[f32], layout: &Layout, out: &mut [f32]) {
    let (dims, stride) = (layout.dims(), layout.stride());
    let (mut index, mut place) = (vec![0; dims.len()], 0);
    for value in out {
        *value = values[place];
        for axis in (0..dims.len()).rev() {
            (index[axis], place) = (index[axis] + 1, place + stride[axis]);
            if index[axis] < dims[axis] {
                break;
            }
            (index[axis], place) = (0, place - dims[axis] * stride[axis]);
        }
    }
}

/// foretell's tensor as one of candle's: F32, on the CPU, contiguous, with the same shape. The numbers are copied once.
///
/// # Errors
/// candle's own errors; it has none for numbers in memory.
///
/// ```
/// let x = foretell_tensor::Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).transpose(0, 1);
/// let theirs = foretell_candle::to_candle(&x)?;
/// assert_eq!(theirs.to_vec2::<f32>()?, [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn to_candle(x: &OurTensor) -> Result<Tensor> {
    Ok(tensor(x.to_vec(), &*x.shape())?)
}
