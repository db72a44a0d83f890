//! Every function that takes several slices refuses different lengths, says both, and says where
//! it was called.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use crate::*;

thread_local! {
    /// The file of the thread's last panic: other tests panic at the same time.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Asserts that each call panics here with the lengths 3 and 5 in its message.
macro_rules! refuse {
    ($($call:expr;)*) => { $( {
        let panic = catch_unwind(AssertUnwindSafe(|| { $call; }));
        let panic = panic.expect_err(concat!(stringify!($call), " must panic"));
        let message = panic.downcast::<String>().expect("a message with numbers in it");
        assert!(message.contains('3') && message.contains('5'), "{}: {message}", stringify!($call));
        let place = PLACE.take();
        assert!(place.ends_with("lengths_tests.rs"), "{}: in {place}", stringify!($call));
    } )* };
}

#[test]
fn different_lengths_panic_with_both() {
    let others = take_hook();
    set_hook(Box::new(move |info| {
        PLACE.replace(info.location().unwrap().file().to_owned());
        others(info);
    }));
    let (a, b) = (&[1.0f32; 3][..], &[1.0f32; 5][..]);
    let (c, d) = (&[1.0f64; 3][..], &[1.0f64; 5][..]);
    let (x, y, z) = (&mut [0.0f32; 3][..], &mut [0.0f32; 3][..], &mut [0.0f32; 5][..]);
    let (v, w) = (&mut [0.0f64; 3][..], &mut [0.0f64; 5][..]);
    let at = AdamStep { lr: 0.1, beta1: 0.9, beta2: 0.9, eps: 0.1, weight_decay: 0.0, step: 1 };
    let sgd_at =
        SgdStep { lr: 0.1, momentum: 0.9, dampening: 0.0, nesterov: false, weight_decay: 0.0, step: 1 };
    let rms = RmsPropStep { lr: 0.1, alpha: 0.9, eps: 0.1, weight_decay: 0.0, momentum: 0.5 };
    let (half, brain) = (&mut [f16::ZERO; 5][..], &mut [bf16::ZERO; 5][..]);
    refuse! {
        add(a, b, x); add(a, a, z); add(c, c, w); sub(a, b, x); mul(a, b, x); div(a, b, x);
        mul_add(a, a, b, x); mul_add(a, b, a, x); mul_add(c, c, c, w);
        add_assign(x, b); sub_assign(x, b); mul_assign(x, b); div_assign(v, d);
        axpy(1.0, b, x); axpy(1.0, d, v);
        dot(a, b); dot(c, d);
        normalise(a, 0.0, 1.0, z); denormalise(b, 0.0, 1.0, x);
        min_max_normalise(a, 0.0, 1.0, z); min_max_denormalise(c, 0.0, 1.0, w);
        ema(a, 0.5, z); rolling_mean(a, 2, z); rolling_std(c, 2, 1, w); rolling_std(c, 1, 1, w);
        rolling_min(a, 2, z); rolling_max(c, 2, w);
        exp(a, z); ln(a, z); tanh(a, z); sigmoid(a, z); erf(a, z);
        Activation::Identity.forward(a, z); Activation::Gelu.forward(a, z);
        Activation::Identity.backward(a, z); Activation::Gelu.backward(a, z);
        PointLoss::Mae.value(a, b, None); PointLoss::Mse.value(a, a, Some(b));
        PointLoss::Mae.value_and_grad(a, a, None, 1.0, z);
        PointLoss::Mae.value_and_grad(a, a, Some(b), 1.0, x);
        softmax_rows(a, 3, z); log_softmax_rows(a, 3, z);
        softmax_rows_backward(a, 3, z); log_softmax_rows_backward(a, 3, z);
        softmax_rows(b, 3, z);
        layer_norm_rows(a, None, 1e-5, z, &mut [0.0], &mut [0.0]);
        layer_norm_rows(a, None, 1e-5, x, &mut [0.0; 3], &mut [0.0; 5]);
        layer_norm_rows(a, Some((b, Some(a))), 1e-5, x, &mut [0.0], &mut [0.0]);
        layer_norm_rows(a, Some((a, Some(b))), 1e-5, x, &mut [0.0], &mut [0.0]);
        layer_norm_rows(b, None, 1e-5, z, &mut [0.0; 3], &mut [0.0; 3]);
        layer_norm_rows_backward(a, &[0.0], &[0.0], None, z);
        layer_norm_rows_backward(
            a, &[0.0], &[0.0],
            Some(AffineGrad { gamma: b, gamma_grad: y, beta_grad: Some(&mut [0.0; 3]) }), x
        );
        layer_norm_rows_backward(
            a, &[0.0], &[0.0],
            Some(AffineGrad { gamma: a, gamma_grad: y, beta_grad: Some(&mut [0.0; 5]) }), x
        );
        rms_norm_rows(a, None, 1e-5, z, &mut [0.0]);
        rms_norm_rows(a, Some(b), 1e-5, x, &mut [0.0]);
        rms_norm_rows_backward(a, &[0.0], None, z);
        rms_norm_rows_backward(a, &[0.0], Some((a, &mut [0.0; 5])), x);
        adam(x, b, y, &mut [0.0; 3], &at); adam(x, a, z, y, &at); adamw(x, a, y, z, &at);
        radam(x, b, y, &mut [0.0; 3], &at);
        sgd(x, a, z, &sgd_at); sgd(x, b, y, &sgd_at);
        rmsprop(x, a, y, z, &rms); rmsprop(x, a, z, y, &rms);
        to_f16(a, half); from_f16(half, x); to_bf16(a, brain); from_bf16(brain, x);
        dropout(Key::new(1), 0, 0.5, a, z);
    }
}
