//! The values of `--precision` where forecasts are made.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use foretell::WeightPrecision;

/// Reads the format of weights.
pub(crate) fn weight_precision() -> impl TypedValueParser<Value = WeightPrecision> {
    PossibleValuesParser::new(WeightPrecision::ALL.map(WeightPrecision::name))
        .map(|name| name.parse().expect("one of the possible values"))
}
