//! Gradients against finite differences.

use foretell_simd::{Key, Stream};
use foretell_tensor::{Shape, Tensor};

use crate::Var;

/// Values in (-2, 2), none near 0, where kinks sit.
pub(crate) fn random(shape: impl Into<Shape>, seed: u64) -> Tensor {
    let mut stream = Stream::new(Key::new(seed));
    Tensor::build(shape, |out| {
        for value in out {
            let u = stream.uniform_f64() as f32;
            *value = (u * 3.6 - 1.8) + if u < 0.5 { -0.2 } else { 0.2 };
        }
    })
}

/// Checks the gradients of `f` with respect to every input at the point `inputs`.
#[track_caller]
pub(crate) fn gradients(inputs: &[Tensor], f: impl Fn(&[Var]) -> Var) {
    let variables: Vec<Var> = inputs.iter().cloned().map(Var::input).collect();
    let output = f(&variables);
    let seed = random(output.shape(), 99);
    let weights = seed.to_vec();
    output.backward_from(seed, &mut []);

    let objective = |at: &[Tensor]| -> f64 {
        let constants: Vec<Var> = at.iter().cloned().map(Var::constant).collect();
        let values = f(&constants).value().to_vec();
        values.iter().zip(&weights).map(|(&y, &w)| f64::from(y) * f64::from(w)).sum()
    };
    const STEP: f32 = 1e-2;
    for (which, variable) in variables.iter().enumerate() {
        let grad = variable.grad().unwrap_or_else(|| panic!("input {which} got no gradient"));
        assert_eq!(grad.shape(), inputs[which].shape(), "shape of the gradient of input {which}");
        for (i, got) in grad.to_vec().into_iter().enumerate() {
            let moved = |by: f32| {
                let mut at = inputs.to_vec();
                at[which].values_mut()[i] += by;
                objective(&at)
            };
            let expected = (moved(STEP) - moved(-STEP)) / f64::from(2.0 * STEP);
            let error = (f64::from(got) - expected).abs();
            assert!(
                error <= 5e-3 * (1.0 + expected.abs()),
                "input {which}[{i}]: {got}, by differences {expected}"
            );
        }
    }
}
