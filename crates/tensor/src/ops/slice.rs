//! Ranges of a dimension with a step, and addition into such a range.

use std::ops::Range;

use foretell_simd as simd;
use foretell_threads as threads;

use crate::shape::Shape;
use crate::tensor::Tensor;

impl Tensor {
    /// The elements of `range` along `axis`, every `step`-th of them from the first on, without a copy.
    ///
    /// # Panics
    /// If the range reaches beyond the dimension, or `step` is 0.
    #[track_caller]
    pub fn slice(&self, axis: usize, range: Range<usize>, step: usize) -> Self {
        assert!(step > 0, "a slice of shape {:?} with a step of 0", self.shape());
        assert!(
            range.start <= range.end,
            "slice {range:?} along axis {axis} of shape {:?} ends before it begins",
            self.shape()
        );
        self.narrow(axis, range.start, range.len()).every(axis, step)
    }

    /// Adds these values to the elements `start`, `start + step` and so on along `axis` of `whole`, row-major of `shape`: the
    /// transpose of [`Tensor::slice`]. Elements outside the range are not written.
    ///
    /// # Panics
    /// If the slice does not lie within `shape`, or `whole` is not of that size.
    #[track_caller]
    pub fn add_to_slice(
        &self,
        whole: &mut [f32],
        shape: impl Into<Shape>,
        axis: usize,
        start: usize,
        step: usize,
    ) {
        let shape = shape.into();
        assert_eq!(whole.len(), shape.numel(), "{} values are not of shape {shape:?}", whole.len());
        let len = self.shape()[axis];
        let mut rest = self.shape();
        rest[axis] = shape[axis];
        let inside = len == 0 || start + (len - 1).saturating_mul(step) < shape[axis];
        assert!(
            rest == shape && inside && step > 0,
            "shape {:?} is no slice from {start} with a step of {step} along axis {axis} of shape {shape:?}",
            self.shape()
        );
        if self.numel() == 0 {
            return;
        }
        let source = self.contiguous();
        let inner: usize = shape[axis + 1..].iter().product();
        let (size, part_size) = (shape[axis] * inner, len * inner);
        threads::rows(whole.len() / size, part_size, [whole], |range, [whole]| {
            for (i, block) in range.zip(whole.chunks_exact_mut(size)) {
                let (block, part) =
                    (&mut block[start * inner..], &source.values()[i * part_size..][..part_size]);
                if step == 1 {
                    simd::add_assign(&mut block[..part_size], part);
                } else if inner == 1 {
                    block.iter_mut().step_by(step).zip(part).for_each(|(sum, value)| *sum += value);
                } else {
                    let rows = block.chunks_mut(step.saturating_mul(inner));
                    rows.zip(part.chunks_exact(inner)).for_each(|(row, part)| {
                        simd::add_assign(&mut row[..inner], part);
                    });
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::{Shape, Tensor};

    fn counting(shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        Tensor::from_slice(&(0..shape.numel()).map(|i| i as f32).collect::<Vec<_>>(), shape)
    }

    #[test]
    fn takes_every_other_element() {
        let x = counting([2, 5]);
        assert_eq!(x.slice(1, 0..5, 2).to_vec(), [0.0, 2.0, 4.0, 5.0, 7.0, 9.0]);
        assert_eq!(x.slice(1, 1..4, 2).to_vec(), [1.0, 3.0, 6.0, 8.0]);
        assert_eq!(x.slice(1, 4..5, 3).to_vec(), [4.0, 9.0]);
        assert_eq!(x.slice(0, 1..1, 2).to_vec(), []);
        assert_eq!(x.slice(1, 0..5, 9).to_vec(), [0.0, 5.0]);
    }

    #[test]
    fn adding_is_the_transpose_of_taking() {
        // The sum of a * slice(b) is that of b * add(a) for any a and b: each step, axis and width.
        let shape = Shape::from([2, 7, 3]);
        let whole = counting(shape);
        for axis in 0..3 {
            for step in 1..4 {
                for start in 0..shape[axis] {
                    for end in start..=shape[axis] {
                        let part = whole.slice(axis, start..end, step);
                        let weights = counting(part.shape());
                        let mut sums = vec![0.0; shape.numel()];
                        weights.add_to_slice(&mut sums, shape, axis, start, step);
                        let sums = Tensor::from_slice(&sums, shape);
                        assert_eq!(
                            part.mul(&weights).sum_all(),
                            whole.mul(&sums).sum_all(),
                            "axis {axis}, {start}..{end} by {step}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_lies_outside_the_slice_is_left_alone() {
        let mut whole = [f32::NAN; 6];
        whole[1] = 1.0;
        whole[4] = 2.0;
        counting([2, 1]).add_to_slice(&mut whole, [2, 3], 1, 1, 1);
        assert_eq!([whole[1], whole[4]], [1.0, 3.0]);
        assert_eq!(whole.iter().filter(|x| x.is_nan()).count(), 4);
    }

    #[test]
    #[should_panic(
        expected = "shape [2, 3] is no slice from 1 with a step of 2 along axis 1 of shape [2, 5]"
    )]
    fn a_slice_that_reaches_out_panics() {
        counting([2, 3]).add_to_slice(&mut [0.0; 10], [2, 5], 1, 1, 2);
    }
}
