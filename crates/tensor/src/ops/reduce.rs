//! Sums over dimensions.

use foretell_simd as simd;
use foretell_threads as threads;

use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::trace::{self, Record};

impl Tensor {
    /// The sum of all elements.
    pub fn sum_all(&self) -> f32 {
        let source = self.contiguous();
        let (x, mut sum) = (source.values(), [0.0]);
        threads::sums(x.len(), 1, &mut sum, |range, sum| sum[0] += simd::sum(&x[range]));
        sum[0]
    }

    /// The sum along `axis`, which disappears from the shape.
    #[track_caller]
    pub fn sum(&self, axis: usize) -> Self {
        assert!(axis < self.rank(), "sum along axis {axis} of shape {:?}", self.shape());
        let source = self.contiguous();
        let x = source.values();
        let (len, inner) = (self.shape()[axis], self.shape()[axis + 1..].iter().product::<usize>());
        let value = Self::build(self.shape().without(axis), |out| {
            if inner == 1 {
                return threads::rows(out.len(), len, [out], |range, [out]| {
                    for (i, value) in range.zip(out) {
                        *value = simd::sum(&x[i * len..(i + 1) * len]);
                    }
                });
            }
            out.fill(0.0);
            if out.len() == inner {
                return threads::sums(len, inner, out, |range, total| {
                    let rows = x[range.start * inner..range.end * inner].chunks_exact(inner.max(1));
                    rows.for_each(|row| simd::add_assign(total, row));
                });
            }
            let size = len * inner;
            threads::rows(out.len() / inner.max(1), size, [out], |range, [out]| {
                for (block, total) in range.zip(out.chunks_exact_mut(inner.max(1))) {
                    let block = &x[block * size..(block + 1) * size];
                    block.chunks_exact(inner).for_each(|row| simd::add_assign(total, row));
                }
            });
        });
        trace::record(|| Record::new("sum").input(&source).output(&value).size("axis", axis));
        value
    }

    /// Sums out the dimensions along which `shape` was stretched to this tensor's shape: the transpose of
    /// [`Tensor::broadcast_to`].
    #[track_caller]
    pub fn sum_to(&self, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        let mut reduced = self.clone();
        while reduced.rank() > shape.len() {
            reduced = reduced.sum(0);
        }
        for axis in 0..shape.len() {
            if shape[axis] == 1 && reduced.shape()[axis] != 1 {
                reduced = reduced.sum(axis).unsqueeze(axis);
            }
        }
        assert_eq!(reduced.shape(), shape, "{:?} is no stretch of {shape:?}", self.shape());
        reduced
    }
}

#[cfg(test)]
mod tests {
    use crate::Tensor;

    #[test]
    fn sums_along_each_axis() {
        let x = Tensor::from_slice(&(0..12).map(|i| i as f32).collect::<Vec<_>>(), [2, 3, 2]);
        assert_eq!(x.sum(0).to_vec(), [6.0, 8.0, 10.0, 12.0, 14.0, 16.0]);
        assert_eq!(x.sum(1).to_vec(), [6.0, 9.0, 24.0, 27.0]);
        assert_eq!(x.sum(2).to_vec(), [1.0, 5.0, 9.0, 13.0, 17.0, 21.0]);
        assert_eq!(x.sum_all(), 66.0);
        assert_eq!(Tensor::zeros([0, 2]).sum(0).to_vec(), [0.0, 0.0]);
        assert_eq!(Tensor::zeros([2, 0]).sum(1).to_vec(), [0.0, 0.0]);
    }

    #[test]
    fn summing_back_undoes_a_stretch() {
        let x = Tensor::full([4, 2, 3], 1.0);
        assert_eq!(x.sum_to([3]).to_vec(), [8.0, 8.0, 8.0]);
        assert_eq!(x.sum_to([2, 1]).to_vec(), [12.0, 12.0]);
        assert_eq!(x.sum_to([]).to_vec(), [24.0]);
    }
}
