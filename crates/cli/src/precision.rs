//! How training steps are computed, and in which format forecasts hold their weights.

use std::fmt::Display;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use foretell::{Precision, StepSettings, WeightPrecision, check_amp};

/// How the steps of a training are computed, as every command has it that trains networks.
#[derive(Debug, Args)]
pub(crate) struct StepArgs {
    /// The type that the products of training round to: f32 (not at all), bf16 (faster where the machine multiplies it) or f16
    /// (the loss is scaled). Weights stay f32
    #[arg(long, value_name = "P", default_value_t = Precision::F32, value_parser = training_precision)]
    precision: Precision,
    /// Train networks in the least memory in place of the least time: fewer gradients at once, activations computed again and
    /// kept in bf16
    #[arg(long)]
    low_memory: bool,
}

impl StepArgs {
    pub(crate) fn settings(&self) -> StepSettings {
        let &Self { precision, low_memory } = self;
        StepSettings { precision, low_memory }
    }

    /// The first flag that asks for other steps than usual.
    pub(crate) fn given(&self) -> Option<String> {
        let name = self.settings().changed().into_iter().next()?.0;
        Some(format!("--{}", name.replace('_', "-")))
    }
}

/// Reads the precision of training.
fn training_precision(word: &str) -> Result<Precision, String> {
    built(word, Precision::name)
}

/// Reads the format of weights.
pub(crate) fn weight_precision() -> impl TypedValueParser<Value = WeightPrecision> {
    PossibleValuesParser::new(WeightPrecision::ALL.map(WeightPrecision::name))
        .try_map(|name| built(&name, WeightPrecision::name))
}

/// A precision that this program was built with.
fn built<P: FromStr<Err: Display> + Copy>(word: &str, name: fn(P) -> &'static str) -> Result<P, String> {
    let precision = word.parse::<P>().map_err(|error| error.to_string())?;
    check_amp(name(precision)).map_err(|error| error.to_string()).map(|()| precision)
}
