//! All that the public signatures use is named by this crate.

use foretell_autograd::{Accum, Tensor, Var};

/// An operation from outside of the crate: `x²`.
fn square(x: &Var) -> Var {
    let (edge, value) = (x.edge(), x.value().clone());
    Var::operation(value.mul(&value), &[x], move |grad, gradients| {
        gradients.write(&edge, value.shape(), |dx, accum| {
            let slopes = value.values().iter().zip(grad.values()).map(|(x, g)| 2.0 * x * g);
            for (dx, slope) in dx.iter_mut().zip(slopes) {
                *dx = if accum == Accum::Add { *dx + slope } else { slope };
            }
        });
    })
}

#[test]
fn an_operation_can_be_added_from_outside() {
    let x = Var::input(Tensor::from_slice(&[3.0, -1.0], [2]));
    (square(&x) + square(&x)).sum(0).backward(&mut []);
    assert_eq!(x.grad(), Some(Tensor::from_slice(&[12.0, -4.0], [2])));
}
