//! Elements replaced by a number where a mask covers them.

use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// `value` where `mask`, broadcast to this shape by NumPy's rule, is not zero, else the element itself. No
    /// gradient flows to covered elements.
    ///
    /// # Panics
    /// If the mask does not broadcast to this shape.
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: f32) -> Self {
        let (edge, shape) = (self.edge(), self.shape());
        let mask = mask.broadcast_to(shape);
        let filled = fill(self.value(), &mask, value);
        trace::record(|| {
            Record::new("masked_fill").input(self.value()).input(&mask).output(&filled).number("value", value)
        });
        Self::operation(filled, &[self], move |grad, gradients| {
            gradients.add_gradient(&edge, fill(&grad, &mask, 0.0));
        })
    }
}

fn fill(x: &Tensor, mask: &Tensor, value: f32) -> Tensor {
    let one = move |x: f32, mask: f32| if mask != 0.0 { value } else { x };
    let rows = move |x: &[f32], mask: &[f32], out: &mut [f32]| {
        out.iter_mut().zip(x).zip(mask).for_each(|((out, &x), &mask)| *out = one(x, mask));
    };
    x.zip(mask, rows, one)
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_stop_at_the_mask() {
        let whole = Tensor::from_slice(&[1.0, 0.0, 0.0, 1.0, 0.0, 2.0], [2, 3]);
        let row = Tensor::from_slice(&[0.0, 1.0, 0.0], [3]);
        for mask in [whole, row] {
            gradients(&[random([2, 3], 1)], |v| v[0].masked_fill(&mask, -7.5));
            gradients(&[random([3, 2], 1)], |v| v[0].permute(&[1, 0]).masked_fill(&mask, 0.0));
        }
    }

    #[test]
    fn what_is_masked_is_not_seen() {
        let x = Var::input(Tensor::from_slice(&[f32::NAN, 2.0], [2]));
        let y = x.masked_fill(&Tensor::from_slice(&[1.0, 0.0], [2]), 0.0).sum(0);
        assert_eq!(y.value().item(), 2.0);
        y.backward(&mut []);
        assert_eq!(x.grad().unwrap().to_vec(), [0.0, 1.0]);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("masked_fill", |x, a| {
            x[0].masked_fill(&a.tensor("mask"), a.real("value"))
        });
    }

    #[test]
    #[should_panic(expected = "shape [2] does not broadcast to [3]")]
    fn a_mask_of_another_shape_panics() {
        Var::constant(random([3], 1)).masked_fill(&Tensor::zeros([2]), 0.0);
    }
}
