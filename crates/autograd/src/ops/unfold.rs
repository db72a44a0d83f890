//! Rows cut into patches.

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use crate::Var;

impl Var {
    /// The patches of rows, `len` steps each, one every `stride` steps as far as whole ones fit: `self [rows, time]` to
    /// `[rows, patches, len]`. The gradient of a step is the sum of those of the patches that it is in.
    ///
    /// # Panics
    /// If `self` is no matrix, `len` or `stride` is 0, or a patch is longer than a row.
    #[track_caller]
    pub fn unfold(&self, len: usize, stride: usize) -> Self {
        let shape = self.shape();
        let &[rows, time] = &*shape else { panic!("patches of shape {shape:?}, not of rows") };
        assert!(
            (1..=time).contains(&len) && stride > 0,
            "patches of {len} steps, one every {stride}, of {time} steps"
        );
        let patches = (time - len) / stride + 1;
        let size = patches * len;
        let x = self.value().contiguous();
        let value = Tensor::build([rows, patches, len], |out| {
            threads::rows(rows, size, [out], |range, [out]| {
                let from = x.values()[range.start * time..range.end * time].chunks_exact(time);
                for (from, out) in from.zip(out.chunks_exact_mut(size)) {
                    for (i, patch) in out.chunks_exact_mut(len).enumerate() {
                        patch.copy_from_slice(&from[i * stride..][..len]);
                    }
                }
            });
        });
        trace::record(|| {
            Record::new("unfold").input(&x).output(&value).size("len", len).size("stride", stride)
        });
        let edge = self.edge();
        Self::operation(value, &[self], move |grad, gradients| {
            gradients.accumulate(&edge, shape, |sum| {
                threads::rows(rows, size, [sum], |range, [sum]| {
                    let grads = grad.values()[range.start * size..range.end * size].chunks_exact(size);
                    for (grad, sum) in grads.zip(sum.chunks_exact_mut(time)) {
                        for (i, patch) in grad.chunks_exact(len).enumerate() {
                            simd::add_assign(&mut sum[i * stride..][..len], patch);
                        }
                    }
                });
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_of_patches_that_overlap_or_leave_steps_out() {
        for (len, stride) in [(3, 2), (2, 3), (4, 1), (7, 1), (1, 1)] {
            gradients(&[random([2, 7], 1)], |v| v[0].unfold(len, stride));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("unfold", |x, a| x[0].unfold(a.number("len"), a.number("stride")));
    }

    #[test]
    #[should_panic(expected = "patches of 8 steps, one every 2, of 7 steps")]
    fn a_patch_is_no_longer_than_a_row() {
        Var::constant(Tensor::zeros([2, 7])).unfold(8, 2);
    }
}
