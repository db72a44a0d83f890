//! Tensors that are kept for later, in 16 bits or unchanged.

use std::sync::Arc;

use foretell_gemm::Rounding;
use half::bf16;

use crate::half_values::HalfValues;
use crate::shape::Shape;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// A tensor that is kept for later: rounded to 16 bits it takes half the bytes, and the numbers before rounding are freed when
/// no one else has them.
///
/// Views of one storage that are kept share its numbers in 16 bits, as they share those in 32.
#[derive(Clone, Debug)]
pub struct KeptTensor {
    values: Kept,
    /// Where the view begins.
    offset: usize,
    shape: Shape,
    strides: Shape,
}

#[derive(Clone, Debug)]
enum Kept {
    Whole(Storage),
    Half(Arc<HalfValues>),
}

impl Tensor {
    /// The tensor, kept for later in the type that `rounding` rounds to; unchanged where nothing is rounded.
    pub fn keep(&self, rounding: Rounding) -> KeptTensor {
        KeptTensor::of(self, rounding)
    }
}

impl KeptTensor {
    fn of(tensor: &Tensor, rounding: Rounding) -> Self {
        let (storage, offset) = tensor.storage();
        let values = match rounding {
            Rounding::None => Kept::Whole(storage.clone()),
            _ => Kept::Half(storage.in_half(rounding)),
        };
        Self { values, offset, shape: tensor.shape(), strides: tensor.strides() }
    }

    /// The shape of the tensor.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The numbers in bfloat16, row by row, of a tensor that was rounded to it and has no gaps.
    pub fn as_bf16(&self) -> Option<&[bf16]> {
        match &self.values {
            Kept::Half(values) if self.strides == self.shape.row_major_strides() => {
                values.as_bf16()?.get(self.offset..self.offset + self.shape.numel())
            }
            _ => None,
        }
    }

    /// The tensor, its numbers as they were rounded; a copy where they were.
    pub fn into_tensor(self) -> Tensor {
        let Self { values, offset, shape, strides } = self;
        match values {
            Kept::Whole(storage) => Tensor::view(storage, offset, shape, strides),
            Kept::Half(values) => {
                let reach =
                    shape.iter().zip(strides.iter()).map(|(size, stride)| size.saturating_sub(1) * stride);
                let len = if shape.numel() == 0 { 0 } else { reach.sum::<usize>() + 1 };
                let offset = if len == 0 { 0 } else { offset };
                let storage = Storage::build(len, |out| values.widen(offset, out));
                Tensor::view(storage, 0, shape, strides)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Tensor {
        let values: Vec<f32> = (0..24).map(|i| i as f32 * 1.013 - 7.7).collect();
        Tensor::from_slice(&values, [2, 3, 4])
    }

    #[test]
    fn views_come_back_rounded_and_as_they_lay() {
        let x = numbers();
        let views =
            [x.clone(), x.narrow(1, 1, 2), x.permute(&[2, 0, 1]), x.narrow(0, 1, 1), x.narrow(0, 2, 0)];
        for view in views {
            assert_eq!(view.keep(Rounding::None).into_tensor(), view);
            for (rounding, bound) in [(Rounding::Bf16, 1.0 / 256.0), (Rounding::F16, 1.0 / 2048.0)] {
                let back = view.keep(rounding).into_tensor();
                assert_eq!((back.shape(), back.strides()), (view.shape(), view.strides()));
                for (back, x) in back.to_vec().iter().zip(view.to_vec()) {
                    assert!((back - x).abs() <= bound * x.abs(), "{rounding:?}: {x} came back as {back}");
                }
            }
        }
    }

    #[test]
    fn numbers_in_bf16_are_read_without_a_copy() {
        let x = numbers();
        for (view, dense) in [(x.clone(), true), (x.narrow(0, 1, 1), true), (x.narrow(1, 1, 2), false)] {
            let kept = view.keep(Rounding::Bf16);
            let expected: Vec<f32> = kept.clone().into_tensor().to_vec();
            let read = kept.as_bf16().map(|values| values.iter().map(|x| x.to_f32()).collect::<Vec<_>>());
            assert_eq!(read, dense.then_some(expected));
            assert!(
                view.keep(Rounding::F16).as_bf16().is_none() && view.keep(Rounding::None).as_bf16().is_none()
            );
        }
    }

    #[test]
    fn views_of_one_storage_share_what_is_kept() {
        let x = numbers();
        let (one, other) = (x.keep(Rounding::Bf16), x.narrow(0, 1, 1).keep(Rounding::Bf16));
        let (Kept::Half(one), Kept::Half(other)) = (&one.values, &other.values) else {
            panic!("not rounded")
        };
        assert!(Arc::ptr_eq(one, other));
    }

    #[test]
    fn a_tensor_that_is_changed_is_kept_anew() {
        let mut x = numbers();
        let before = x.keep(Rounding::Bf16);
        x.values_mut()[0] = 64.0;
        assert_eq!(x.keep(Rounding::Bf16).into_tensor().values()[0], 64.0);
        assert!((before.into_tensor().values()[0] + 7.7).abs() < 0.05);
    }
}
