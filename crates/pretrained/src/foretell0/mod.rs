//! Foretell0, a network of our own that is part of the program, trained on synthetic series alone.
//!
//! An encoder over patches of 16 steps reads what simple methods say of each step beside the values, and mixes their forecasts; every patch of
//! the future is computed in one pass. `docs/pretrained.md` has how it was trained, and where it fails. The parts are public for the
//! program that trains it. Its training on, on the data of a panel, takes the same steps.

pub(crate) mod explain;
pub mod forecast;
pub mod lesson;
pub mod network;
pub mod periods;
pub mod scale;
pub(crate) mod tuning;
pub mod weights;
pub mod window;

use std::sync::{Arc, OnceLock};

use forecast::Foretell0Network;

/// The weights that are part of the program.
pub const WEIGHTS: &[u8] = include_bytes!("../../weights/foretell0.bin");

/// The network with the program's own weights, read once.
///
/// # Panics
/// If the program was built with the weights of another network, which a test excludes.
pub fn bundled() -> Arc<Foretell0Network> {
    static BUNDLED: OnceLock<Arc<Foretell0Network>> = OnceLock::new();
    let read = || Foretell0Network::read(WEIGHTS).expect("the program's own weights");
    BUNDLED.get_or_init(|| Arc::new(read())).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_weights_are_those_of_the_network_and_beat_the_last_value_on_a_season() {
        let network = bundled();
        assert!(WEIGHTS.len() < 1_000_000 && Arc::ptr_eq(&network, &bundled()));
        let value =
            |t: usize| 100.0 + 0.5 * t as f32 + 20.0 * (std::f32::consts::TAU * t as f32 / 12.0).sin();
        let history: Vec<f32> = (0..120).map(value).collect();
        let forecast = network.quantiles_of(&history, &[12.0], 12).unwrap();
        let (mut error, mut naive) = (0.0, 0.0);
        for (t, step) in forecast.iter().enumerate() {
            error += (step[4] - value(120 + t)).abs();
            naive += (history[119] - value(120 + t)).abs();
        }
        assert!(error < 0.5 * naive, "{error}, and {naive} of the last value");
    }
}
