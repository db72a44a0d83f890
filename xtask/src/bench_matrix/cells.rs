//! The cells of the matrix, and the figures measured in them.

use anyhow::Context;
use serde_json::Value;

/// The optimisations, in the order in which they are added.
pub(super) const FEATURES: [&str; 6] = ["simd", "faer", "parallel", "pool", "flash", "amp"];

/// How a cell is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// As a program of a user's is by default.
    Plain,
    /// As the released program: link-time optimisation over all crates.
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

/// The figures of a workload in a cell, over all turns.
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

/// Bounds of the difference of outputs between cells, in units of the largest: rounding in another order; and of products in
/// bfloat16, which has 8 bits.
pub(super) const BOUND: f64 = 1e-4;
pub(super) const BOUND_BF16: f64 = 3e-2;

/// Figures as a workload prints them, and as they are saved.
pub(super) fn parse(figures: &Value) -> anyhow::Result<Figures> {
    let numbers = |key: &str| -> anyhow::Result<Vec<f64>> {
        let values = figures[key].as_array().with_context(|| format!("no {key}"))?;
        Ok(values.iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect())
    };
    Ok(Figures {
        seconds: numbers("seconds")?,
        allocations: figures["allocations"].as_f64().context("no allocations")?,
        peak_mb: figures["peak_mb"].as_f64().unwrap_or(f64::NAN),
        outputs: numbers("outputs")?,
    })
}
