//! Joining tensors along a dimension.

use foretell_threads as threads;

use crate::tensor::Tensor;
use crate::trace::{self, Record};

impl Tensor {
    /// The tensors one after the other along `axis`; all other sizes must agree.
    #[track_caller]
    pub fn concat(parts: &[&Self], axis: usize) -> Self {
        let first = parts.first().expect("concat needs at least one tensor").shape();
        let mut shape = first;
        shape[axis] = parts.iter().map(|part| part.shape()[axis]).sum();
        for part in parts {
            let mut other = part.shape();
            other[axis] = first[axis];
            assert_eq!(other, first, "concat along axis {axis} of shapes {first:?} and {:?}", part.shape());
        }
        if let [only] = parts {
            return (*only).clone();
        }
        let inner: usize = first[axis + 1..].iter().product();
        let row = shape[axis] * inner;
        let parts: Vec<(Self, usize)> =
            parts.iter().map(|part| (part.contiguous(), part.shape()[axis] * inner)).collect();
        let value = Self::build(shape, |out| {
            threads::rows(out.len().checked_div(row).unwrap_or(0), row, [out], |range, [out]| {
                for (i, target) in range.zip(out.chunks_exact_mut(row.max(1))) {
                    let mut at = 0;
                    for (part, width) in &parts {
                        target[at..at + width].copy_from_slice(&part.values()[i * width..(i + 1) * width]);
                        at += width;
                    }
                }
            });
        });
        trace::record(|| {
            let record = Record::new("concat").output(&value).size("axis", axis);
            parts.iter().fold(record, |record, (part, _)| record.input(part))
        });
        value
    }
}

#[cfg(test)]
mod tests {
    use crate::Tensor;

    #[test]
    fn joins_along_any_axis() {
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0], [2, 2]);
        let y = Tensor::from_slice(&[5.0, 6.0], [2, 1]);
        assert_eq!(Tensor::concat(&[&x, &y], 1).to_vec(), [1.0, 2.0, 5.0, 3.0, 4.0, 6.0]);
        assert_eq!(Tensor::concat(&[&x, &x], 0).to_vec(), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(Tensor::concat(&[&x, &Tensor::zeros([2, 0])], 1).to_vec(), x.to_vec());
    }

    #[test]
    #[should_panic(expected = "concat along axis 1")]
    fn other_sizes_must_agree() {
        Tensor::concat(&[&Tensor::zeros([2, 2]), &Tensor::zeros([3, 2])], 1);
    }
}
