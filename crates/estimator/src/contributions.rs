//! The contributions of the inputs to forecasts, and how they are computed.

/// How contributions are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Gradients along the way from zeros to the inputs, at this many points, times the inputs: contributions add up to what the forecast
    /// differs by from that of zeros, but for the error of the points.
    IntegratedGradients {
        /// Points on the way, as nodes of Gauss and Legendre.
        points: usize,
    },
    /// The gradient at the inputs times the inputs.
    InputXGradient,
    /// The change by an input when it takes its value after others did, on average over this many drawn orders: contributions add
    /// up to the difference. It takes forecasts alone.
    ShapleySampling {
        /// Drawn orders.
        permutations: usize,
        /// The seed of the orders.
        seed: u64,
    },
}

/// The contributions of the inputs of one window, of `n` series, to its forecasts, in units of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions {
    /// `[n, horizon, inputs]`: the inputs are those of all series, one series after the other.
    pub values: Vec<f32>,
    /// The forecast from zeros, `[n, horizon]`.
    pub baseline: Vec<f32>,
}
