//! A network of one's own, trained in f16: `cargo run -p foretell-amp --example own_network`.
//!
//! Two layers learn a sine. Weights, activations and what goes backwards are rounded to `f16`; products are summed in `f32`; the
//! weights are changed in `f32`. The scale starts far too large on purpose, so that the first gradients are infinite in `f16`: those
//! steps are skipped and the scale halved until gradients fit.

use foretell_amp::{Autocast, GradScaler, GradScalerConfig, MasterWeights, OperationKind, Precision, f16};
use foretell_optim::{Optimizer, Rule};

const HIDDEN: usize = 24;
const SAMPLES: usize = 64;
/// The ranges of the parts in the flat array of weights: first layer, its bias, second layer, its bias.
const W1: usize = 0;
const B1: usize = HIDDEN;
const W2: usize = 2 * HIDDEN;
const B2: usize = 3 * HIDDEN;
const WEIGHTS: usize = 3 * HIDDEN + 1;

/// The operand of a product: the number, rounded to the policy's precision.
fn rounded(policy: Autocast, x: f32) -> f32 {
    match policy.of(OperationKind::Product) {
        Precision::F16 => f16::from_f32(x).to_f32(),
        _ => x,
    }
}

/// The mean squared error, and its gradient times `scale`.
fn forward_backward(policy: Autocast, weights: &[f16], scale: f32, gradient: &mut [f32]) -> f32 {
    let w = |i: usize| weights[i].to_f32();
    gradient.fill(0.0);
    let mut loss = 0.0;
    for sample in 0..SAMPLES {
        let x = rounded(policy, sample as f32 / SAMPLES as f32 * 6.0 - 3.0);
        let hidden: [f32; HIDDEN] =
            std::array::from_fn(|i| rounded(policy, (w(W1 + i) * x + w(B1 + i)).tanh()));
        let y: f32 = (0..HIDDEN).map(|i| w(W2 + i) * hidden[i]).sum::<f32>() + w(B2);
        // The loss is f32; its derivative is what enters the backward pass, scaled.
        let error = y - x.sin();
        loss += error * error / SAMPLES as f32;
        let dy = rounded(policy, scale * 2.0 * error / SAMPLES as f32);
        gradient[B2] += dy;
        for i in 0..HIDDEN {
            gradient[W2 + i] += dy * hidden[i];
            let dh = rounded(policy, dy * w(W2 + i) * (1.0 - hidden[i] * hidden[i]));
            gradient[W1 + i] += dh * x;
            gradient[B1 + i] += dh;
        }
    }
    loss
}

struct Trained {
    losses: Vec<f32>,
    scaler: GradScaler,
}

fn train(initial_scale: f32, steps: usize) -> Trained {
    let policy = Autocast::to(Precision::F16);
    let start = (0..WEIGHTS).map(|i| ((i * 37 + 11) % 100) as f32 / 50.0 - 1.0);
    let mut weights = MasterWeights::<f16>::new(start.collect());
    let mut adam = Optimizer::new(WEIGHTS, Rule::default(), None);
    let mut scaler = GradScaler::new(GradScalerConfig::default().initial_scale(initial_scale));
    let mut gradient = vec![0.0; WEIGHTS];
    let mut losses = Vec::new();
    for _ in 0..steps {
        losses.push(forward_backward(policy, weights.copies(), scaler.scale(), &mut gradient));
        let finite = scaler.unscale(&mut gradient);
        if scaler.update(!finite) {
            weights.update(|masters| adam.step(masters, &[&gradient], 0.01));
        }
    }
    Trained { losses, scaler }
}

fn main() {
    let Trained { losses, scaler } = train(2f32.powi(40), 1500);
    for (step, loss) in losses.iter().enumerate().step_by(100) {
        println!("step {step:>4}: mean squared error {loss:.6}");
    }
    println!("{} steps skipped; the scale is now {}", scaler.skipped(), scaler.scale());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_that_overflows_recovers_and_converges() {
        let Trained { losses, scaler } = train(2f32.powi(40), 1500);
        assert!(scaler.skipped() >= 20, "{} steps skipped", scaler.skipped());
        // Nothing was learnt from the gradients that were infinite, and nothing was spoilt.
        assert_eq!(losses[1], losses[0]);
        assert!(losses.iter().all(|loss| loss.is_finite()));
        let last = losses.last().unwrap();
        assert!(*last < 2e-3 && *last < losses[0] / 100.0, "from {} to {last}", losses[0]);
    }

    #[test]
    fn without_a_scale_small_gradients_are_lost() {
        // The smallest number of f16 is 6e-8: with the loss scaled by so little, every gradient is zero.
        let Trained { losses, scaler } = train(2f32.powi(-30), 50);
        assert_eq!(scaler.skipped(), 0);
        assert_eq!(losses.first(), losses.last());
    }
}
