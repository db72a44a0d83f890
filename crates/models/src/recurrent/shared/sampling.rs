//! How models that forecast step by step forecast a distribution: hyper-parameters of our own.

use foretell_nn::{Dims, Feedback, HyperParameterError};
use serde_json::json;

use crate::hyper::hyper_parameters;
use crate::rules;

/// The most sample paths of a forecast; more is taken for a typing error.
const MAX_PATHS: usize = 1_000_000;

const MEAN: &str = "mean";
const ANCESTRAL: &str = "ancestral";

hyper_parameters! {
    Sampling {
        /// The target that a step-by-step forecast of a distribution reads of the step before: "mean", as in neuralforecast,
        /// its mean, so that an interval knows the uncertainty of its own step alone; "ancestral", samples of it, so that
        /// intervals widen with the horizon.
        sampling: String = MEAN.to_owned() => |how| {
            rules::require([MEAN, ANCESTRAL].contains(&how.as_str()), "\"mean\" or \"ancestral\"")
        },
        /// Paths that "ancestral" draws for each forecast, whose quantiles are the forecast's.
        trajectory_samples: usize = 100 => |paths| rules::within(paths, 1..=MAX_PATHS),
    }
}

/// Their names. neuralforecast's models do not have them, except for DeepAR's `trajectory_samples`, whose default is
/// the same.
pub const HYPER_PARAMETERS: [&str; 2] = ["sampling", "trajectory_samples"];

impl Sampling {
    /// The target that the model reads of its own forecasts.
    pub(crate) fn feedback(&self) -> Feedback {
        match self.sampling == ANCESTRAL {
            true => Feedback::Samples { paths: self.trajectory_samples },
            false => Feedback::Mean,
        }
    }

    /// Checks that a model of these sizes, which forecasts step by step or at once, can forecast so.
    ///
    /// # Errors
    /// If there is nothing to sample, or no step to feed a sample to.
    pub(crate) fn check(&self, dims: &Dims, step_by_step: bool) -> Result<(), HyperParameterError> {
        let expected = match self.sampling.as_str() {
            ANCESTRAL if !step_by_step => {
                "\"mean\" for a model that forecasts all steps at once (recurrent=false)"
            }
            ANCESTRAL if !dims.distribution => {
                "\"mean\" for a loss other than DistributionLoss, of which there is nothing to draw"
            }
            _ => return Ok(()),
        };
        Err(HyperParameterError::new("sampling", expected, json!(self.sampling)))
    }
}
