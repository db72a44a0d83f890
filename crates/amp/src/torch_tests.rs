//! The gradient scaler against PyTorch's: `fixtures/grad_scaler.json`, which `compare/amp.py` writes.

use crate::{GradScaler, GradScalerConfig};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    arguments: Arguments,
    /// Scale of the step, whether its gradient overflows, whether PyTorch took it, and the scale afterwards.
    steps: Vec<(f32, bool, bool, f32)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    init_scale: Option<f32>,
    growth_factor: Option<f64>,
    backoff_factor: Option<f64>,
    growth_interval: Option<u32>,
}

#[test]
fn every_step_is_scaled_taken_or_skipped_as_in_torch() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../tests/fixtures/grad_scaler.json")).unwrap();
    assert!(cases.len() >= 6);
    let (mut taken_steps, mut skipped_steps) = (0, 0);
    for (number, Case { arguments, steps }) in cases.iter().enumerate() {
        let defaults = GradScalerConfig::default();
        let mut scaler = GradScaler::new(GradScalerConfig {
            initial_scale: arguments.init_scale.unwrap_or(defaults.initial_scale),
            growth_factor: arguments.growth_factor.unwrap_or(defaults.growth_factor),
            backoff_factor: arguments.backoff_factor.unwrap_or(defaults.backoff_factor),
            growth_interval: arguments.growth_interval.unwrap_or(defaults.growth_interval),
        });
        for (step, &(scale, overflows, taken, next)) in steps.iter().enumerate() {
            let place = format!("case {number}, step {step}");
            assert_eq!(scaler.scale(), scale, "{place}");
            let mut gradients = [scale, if overflows { f32::INFINITY } else { scale }, scale];
            let finite = scaler.unscale(&mut gradients);
            assert_eq!(finite, !overflows, "{place}");
            assert!((gradients[0] - 1.0).abs() <= f32::EPSILON, "{place}: {gradients:?}");
            assert_eq!(scaler.update(!finite), taken, "{place}");
            assert_eq!(scaler.scale(), next, "{place}");
            if taken { taken_steps += 1 } else { skipped_steps += 1 }
        }
        assert_eq!(scaler.skipped(), steps.iter().filter(|step| !step.2).count() as u64);
    }
    assert!(taken_steps > 50 && skipped_steps > 20, "{taken_steps} taken, {skipped_steps} skipped");
}
