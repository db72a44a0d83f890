//! A dimension lengthened at its ends.

use foretell_simd as simd;
use foretell_tensor::{Padding, Tensor};

use crate::Var;

impl Var {
    /// The elements along `axis` with `before` elements of padding in front of them and `after` behind.
    ///
    /// # Panics
    /// If there is no such axis, or an empty one is to be padded by replication.
    #[track_caller]
    pub fn pad(&self, axis: usize, before: usize, after: usize, padding: Padding) -> Self {
        let value = self.value().pad(axis, before, after, padding);
        let (edge, len) = (self.edge(), self.shape()[axis]);
        Self::operation(value, &[self], move |grad, gradients| {
            let middle = grad.narrow(axis, before, len);
            gradients.add_gradient(
                &edge,
                match padding {
                    Padding::Zeros => middle,
                    Padding::Replicate => with_edges(middle, &grad, axis, before, after),
                },
            );
        })
    }
}

/// Adds the gradients of the repeated ends to those of the ends themselves.
fn with_edges(middle: Tensor, grad: &Tensor, axis: usize, before: usize, after: usize) -> Tensor {
    let mut total = middle.contiguous();
    let (len, inner) = (total.shape()[axis], total.shape()[axis + 1..].iter().product::<usize>());
    let front = grad.narrow(axis, 0, before).sum(axis);
    let back = grad.narrow(axis, before + len, after).sum(axis);
    if total.numel() > 0 {
        let edges = front.values().chunks_exact(inner).zip(back.values().chunks_exact(inner));
        for (block, (front, back)) in total.values_mut().chunks_exact_mut(len * inner).zip(edges) {
            simd::add_assign(&mut block[..inner], front);
            simd::add_assign(&mut block[(len - 1) * inner..], back);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use crate::Padding;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_both_kinds() {
        for padding in [Padding::Zeros, Padding::Replicate] {
            gradients(&[random([2, 3], 1)], |v| v[0].pad(1, 2, 1, padding));
            gradients(&[random([2, 3, 2], 1)], |v| v[0].pad(1, 0, 3, padding));
            gradients(&[random([2, 1], 1)], |v| v[0].pad(1, 1, 1, padding));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("pad", |x, a| {
            let padding = if a.text("mode") == "zeros" { Padding::Zeros } else { Padding::Replicate };
            x[0].pad(a.axis(&x[0]), a.number("before"), a.number("after"), padding)
        });
    }
}
