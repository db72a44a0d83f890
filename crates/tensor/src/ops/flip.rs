//! Reversing a dimension.

use crate::tensor::Tensor;
use crate::trace::{self, Record};

impl Tensor {
    /// The elements along `axis` in reverse order.
    #[track_caller]
    pub fn flip(&self, axis: usize) -> Self {
        assert!(axis < self.rank(), "flip along axis {axis} of shape {:?}", self.shape());
        let source = self.contiguous();
        let (len, inner) = (self.shape()[axis], self.shape()[axis + 1..].iter().product::<usize>());
        let value = Self::build(self.shape(), |out| {
            if out.is_empty() {
                return;
            }
            for (target, block) in
                out.chunks_exact_mut(len * inner).zip(source.values().chunks_exact(len * inner))
            {
                if inner == 1 {
                    target.iter_mut().zip(block.iter().rev()).for_each(|(value, source)| *value = *source);
                } else {
                    target
                        .chunks_exact_mut(inner)
                        .zip(block.chunks_exact(inner).rev())
                        .for_each(|(row, source)| row.copy_from_slice(source));
                }
            }
        });
        trace::record(|| Record::new("flip").input(&source).output(&value).size("axis", axis));
        value
    }
}

#[cfg(test)]
mod tests {
    use crate::Tensor;

    #[test]
    fn reverses_one_axis() {
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
        assert_eq!(x.flip(1).to_vec(), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
        assert_eq!(x.flip(0).to_vec(), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
        assert_eq!(x.flip(0).flip(0).to_vec(), x.to_vec());
    }
}
