//! Distributions as forecasts: the loss is the negative log-likelihood, the model's outputs become the
//! distribution's parameters, and a forecast is its mean and quantiles.
//!
//! A distribution is one file with a [`Family`], a `mod` line and a line in the list below. All are computed in double
//! precision, step by step. [`Isqf`] is not in the list: the quantiles of the loss decide how many parameters it has.

mod bernoulli;
mod counts;
mod family;
pub(super) mod gmm;
mod isqf;
mod mixture;
pub(super) mod nbmm;
mod negative_binomial;
mod normal;
pub(super) mod pmm;
mod poisson;
mod student;
mod tweedie;

use std::sync::Arc;

use foretell_simd::Key;
use serde_json::{Value, json};

use self::family::Family;
use self::isqf::Isqf;
use super::columns::DistributionColumns;
use super::function::{Distribution, Gradient, LossFunction, Outputs};
use super::quantiles::Quantiles;
use super::targets::{NUMBERS, Support, Targets};
use crate::HyperParameterError;
use crate::arguments::Arguments;

/// The list of distributions, `file::Family`.
macro_rules! distributions {
    ($($file:ident::$family:ident,)*) => {
        $(use self::$file::$family;)*

        #[derive(Clone, Debug, PartialEq)]
        enum DistributionKind {
            $($family($family),)*
            Isqf(Isqf),
        }

        impl DistributionKind {
            const NAMES: &[&str] = &[$($family::NAME,)* Isqf::NAME];

            /// The distribution of this name, with its own arguments.
            fn read(
                name: &Value,
                arguments: &mut Arguments,
                num_samples: usize,
                quantiles: &Quantiles,
            ) -> Result<Self, HyperParameterError> {
                match name.as_str() {
                    $(Some($family::NAME) => {
                        $family::read(arguments, num_samples).map(Self::$family)
                    })*
                    Some(Isqf::NAME) => Isqf::read(arguments, quantiles.values()).map(Self::Isqf),
                    _ => {
                        let expected = format!("one of {}", Self::NAMES.join(", "));
                        Err(HyperParameterError::new("distribution", expected, name))
                    }
                }
            }

            fn name(&self) -> &'static str {
                match self { $(Self::$family(_) => $family::NAME,)* Self::Isqf(_) => Isqf::NAME }
            }

            fn arguments(&self) -> Vec<(&'static str, Value)> {
                match self {
                    $(Self::$family(member) => member.arguments(),)*
                    Self::Isqf(isqf) => isqf.arguments(),
                }
            }

            fn outputs(&self) -> usize {
                match self { $(Self::$family(_) => $family::SUFFIXES.len(),)* Self::Isqf(isqf) => isqf.outputs() }
            }

            fn parameter_suffixes(&self) -> &'static [&'static str] {
                match self { $(Self::$family(_) => &$family::SUFFIXES,)* Self::Isqf(_) => &[] }
            }

            fn returns_parameters(&self) -> bool {
                match self { $(Self::$family(_) => $family::RETURNS_PARAMETERS,)* Self::Isqf(_) => false }
            }

            fn support(&self) -> Support {
                match self { $(Self::$family(_) => $family::SUPPORT,)* Self::Isqf(_) => NUMBERS }
            }

            fn is_of_counts(&self) -> bool {
                match self { $(Self::$family(_) => $family::COUNTS,)* Self::Isqf(_) => false }
            }

            fn sum(&self, output: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
                match self {
                    $(Self::$family(member) => family::sum(member, output, truth, gradient),)*
                    Self::Isqf(isqf) => isqf.sum(output, truth, gradient),
                }
            }

            fn forecast(
                &self,
                columns: &DistributionColumns,
                output: &[f32],
                window: [f32; 2],
                into: &mut [f32],
            ) {
                match self {
                    $(Self::$family(member) => family::forecast(member, columns, output, window, into),)*
                    Self::Isqf(isqf) => isqf.forecast(columns, output, window, into),
                }
            }

            fn sample(&self, output: &[f32], window: [f32; 2], key: Key) -> f32 {
                match self {
                    $(Self::$family(member) => family::sample(member, output, window, key),)*
                    Self::Isqf(isqf) => isqf.sample(output, window, key),
                }
            }
        }
    };
}

distributions! {
    normal::Normal,
    student::StudentT,
    poisson::Poisson,
    negative_binomial::NegativeBinomial,
    bernoulli::Bernoulli,
    tweedie::Tweedie,
}

/// `DistributionLoss`.
#[derive(Clone, Debug)]
pub(super) struct DistributionLoss {
    kind: DistributionKind,
    quantiles: Quantiles,
    num_samples: usize,
    return_params: bool,
}

impl LossFunction for DistributionLoss {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        let name = arguments.take("distribution").unwrap_or_default();
        let num_samples = arguments.count("num_samples", 1..=1_000_000)?.unwrap_or(1000) as usize;
        let quantiles = Quantiles::read(arguments)?.sorted();
        let kind = DistributionKind::read(&name, arguments, num_samples, &quantiles)?;
        let return_params = arguments.flag("return_params", false)?;
        if return_params && !kind.returns_parameters() {
            let expected = format!("false for a {} distribution", kind.name());
            return Err(HyperParameterError::new("return_params", expected, true));
        }
        Ok(Self { kind, quantiles, num_samples, return_params })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        let mut pairs = vec![
            ("distribution", json!(self.kind.name())),
            self.quantiles.argument(),
            ("num_samples", json!(self.num_samples)),
            ("return_params", json!(self.return_params)),
        ];
        pairs.extend(self.kind.arguments());
        pairs
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::Distribution(self)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        self.kind.sum(prediction, truth, gradient)
    }
}

impl Distribution for DistributionLoss {
    fn outputs(&self) -> usize {
        self.kind.outputs()
    }

    fn quantiles(&self) -> &Quantiles {
        &self.quantiles
    }

    fn parameter_columns(&self) -> Vec<String> {
        let suffixes = if self.return_params { self.kind.parameter_suffixes() } else { &[] };
        suffixes.iter().map(|&suffix| suffix.to_owned()).collect()
    }

    fn support(&self) -> Support {
        self.kind.support()
    }

    fn is_of_counts(&self) -> bool {
        self.kind.is_of_counts()
    }

    fn is_read_by_parameter(&self) -> bool {
        !matches!(self.kind, DistributionKind::Isqf(_))
    }

    fn with_quantiles(&self, quantiles: Quantiles) -> Arc<dyn LossFunction> {
        Arc::new(Self { quantiles, ..self.clone() })
    }

    fn forecast(&self, columns: &DistributionColumns, output: &[f32], window: [f32; 2], into: &mut [f32]) {
        self.kind.forecast(columns, output, window, into);
    }

    fn sample(&self, output: &[f32], window: [f32; 2], key: Key) -> f32 {
        self.kind.sample(output, window, key)
    }
}

#[cfg(test)]
mod tests;
