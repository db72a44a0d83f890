//! The cells of the matrix, and what was measured in them.

use anyhow::Context;
use serde_json::Value;

/// The optimisations, in the order in which they are added.
pub(super) const FEATURES: [&str; 6] = ["simd", "faer", "parallel", "pool", "flash", "amp"];

/// How a cell is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// As a program of a user's is by default.
    Plain,
    /// As what is handed out: link-time optimisation over all crates.
    Whole,
    /// That, by a profile of the workloads.
    Profiled,
}

/// One column of the matrix.
pub(super) struct Cell {
    pub(super) name: String,
    pub(super) features: Vec<&'static str>,
    pub(super) link: Link,
    /// `f32`, or what products are computed in.
    pub(super) precision: &'static str,
}

impl Cell {
    pub(super) fn plain(name: impl Into<String>, features: &[&'static str]) -> Self {
        Self { name: name.into(), features: features.to_vec(), link: Link::Plain, precision: "f32" }
    }

    /// Whether both are the same program, which takes the precision as an argument.
    pub(super) fn is_built_as(&self, other: &Self) -> bool {
        (&self.features, self.link) == (&other.features, other.link)
    }
}

/// What a workload gave in a cell, over all turns.
#[derive(Default, Clone, Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) seconds: Vec<f64>,
    pub(super) allocations: f64,
    pub(super) peak_mb: f64,
    pub(super) outputs: Vec<f64>,
}

/// All cells of one workload, in their order.
pub(super) struct Row {
    pub(super) workload: String,
    pub(super) cells: Vec<Figures>,
}

/// What outputs may differ by between cells, in units of the largest: rounding in another order; and of products in bfloat16,
/// which has 8 bits.
pub(super) const BOUND: f64 = 1e-4;
pub(super) const BOUND_BF16: f64 = 3e-2;

/// Figures as a workload prints them, and as they are saved.
pub(super) fn parse(found: &Value) -> anyhow::Result<Figures> {
    let numbers = |key: &str| -> anyhow::Result<Vec<f64>> {
        let values = found[key].as_array().with_context(|| format!("no {key}"))?;
        Ok(values.iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect())
    };
    Ok(Figures {
        seconds: numbers("seconds")?,
        allocations: found["allocations"].as_f64().context("no allocations")?,
        peak_mb: found["peak_mb"].as_f64().unwrap_or(f64::NAN),
        outputs: numbers("outputs")?,
    })
}
