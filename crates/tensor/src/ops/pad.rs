//! Lengthening a dimension at its ends.

use foretell_threads as threads;

use crate::tensor::Tensor;
use crate::trace::{self, Record};

/// The values that fill the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Zeros.
    Zeros,
    /// The nearest element along the padded dimension.
    Replicate,
}

impl Tensor {
    /// `before` elements put in front of, and `after` behind, those along `axis`.
    ///
    /// # Panics
    /// If an empty dimension is to be padded by replication.
    #[track_caller]
    pub fn pad(&self, axis: usize, before: usize, after: usize, padding: Padding) -> Self {
        let mut shape = self.shape();
        let len = shape[axis];
        shape[axis] += before + after;
        assert!(
            len > 0 || padding == Padding::Zeros || before + after == 0,
            "nothing to replicate along axis {axis} of shape {:?}",
            self.shape()
        );
        let source = self.contiguous();
        let inner: usize = shape[axis + 1..].iter().product();
        let row = shape[axis] * inner;
        let value = Self::build(shape, |out| {
            if out.is_empty() {
                return;
            }
            threads::rows(out.len() / row, row, [out], |range, [out]| {
                for (i, target) in range.zip(out.chunks_exact_mut(row)) {
                    let block = &source.values()[i * len * inner..(i + 1) * len * inner];
                    let (front, rest) = target.split_at_mut(before * inner);
                    let (middle, back) = rest.split_at_mut(len * inner);
                    middle.copy_from_slice(block);
                    match padding {
                        Padding::Zeros => {
                            front.fill(0.0);
                            back.fill(0.0);
                        }
                        Padding::Replicate => {
                            front
                                .chunks_exact_mut(inner)
                                .for_each(|edge| edge.copy_from_slice(&block[..inner]));
                            back.chunks_exact_mut(inner)
                                .for_each(|edge| edge.copy_from_slice(&block[(len - 1) * inner..]));
                        }
                    }
                }
            });
        });
        trace::record(|| {
            let beyond = match padding {
                Padding::Zeros => "zeros",
                Padding::Replicate => "replicate",
            };
            let record = Record::new("pad").input(&source).output(&value).size("axis", axis);
            record.size("before", before).size("after", after).word("beyond", beyond)
        });
        value
    }
}

#[cfg(test)]
mod tests {
    use super::Padding;
    use crate::Tensor;

    #[test]
    fn pads_with_zeros_and_with_the_edge() {
        let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0], [2, 2]);
        assert_eq!(
            x.pad(1, 1, 2, Padding::Zeros).to_vec(),
            [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0]
        );
        assert_eq!(
            x.pad(1, 2, 1, Padding::Replicate).to_vec(),
            [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0]
        );
        assert_eq!(x.pad(0, 1, 0, Padding::Replicate).to_vec(), [1.0, 2.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(Tensor::zeros([1, 0]).pad(1, 0, 2, Padding::Zeros).to_vec(), [0.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "nothing to replicate")]
    fn an_empty_row_has_no_edge() {
        Tensor::zeros([1, 0]).pad(1, 1, 0, Padding::Replicate);
    }
}
