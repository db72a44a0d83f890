//! The sizes of a Fracast network.

use serde::Deserialize;

use crate::config::{Checks, size};
use crate::error::PretrainedError;

/// The content of `config.json`.
#[derive(Clone, Debug, Deserialize)]
struct Document {
    model: FracastConfig,
    #[serde(default)]
    pyramid: Pyramid,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Pyramid {
    #[serde(default)]
    ratios: Vec<f64>,
}

/// Its entry `model`; what is left out has the package's default.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FracastConfig {
    #[serde(rename = "W")]
    pub(crate) window: usize,
    pub(crate) d_model: usize,
    pub(crate) quantiles: Vec<f64>,
    pub(crate) horizon: usize,
    future_queries: usize,
    future_patch: usize,
    pub(crate) head_d_ff: usize,
    #[serde(default = "size::<10>")]
    pub(crate) n_stages: usize,
    #[serde(default = "size::<2>")]
    pub(crate) dilation_base: usize,
    #[serde(default = "size::<3>")]
    pub(crate) kernel_size: usize,
    #[serde(default = "one_and_a_half")]
    ffn_mult: f64,
    #[serde(default = "size::<8>")]
    pub(crate) scale_cond_dim: usize,
    #[serde(default = "size::<4>")]
    pub(crate) periodic_topk: usize,
    #[serde(default = "size::<1>")]
    pub(crate) periodic_harmonics: usize,
    #[serde(default = "size::<2>")]
    pub(crate) periodic_min_period: usize,
    #[serde(default = "five_per_cent")]
    pub(crate) periodic_alpha: f64,
    #[serde(default = "size::<1>")]
    pub(crate) head_layers: usize,
    #[serde(default = "size::<2>")]
    pub(crate) head_fc_layers: usize,
    #[serde(default = "size::<3>")]
    pub(crate) head_fc_kernel: usize,
    #[serde(default = "size::<6>")]
    pub(crate) head_future_conv_layers: usize,
    #[serde(default = "size::<128>")]
    pub(crate) head_future_conv_seed: usize,
    #[serde(default = "size::<16>")]
    pub(crate) head_phase_bins: usize,
    #[serde(default = "direct")]
    head_output_mode: String,
    #[serde(default = "phase_mean")]
    head_seasonal_fill_mode: String,
    #[serde(default = "gather")]
    head_kind: String,
    #[serde(default = "film")]
    scale_cond: String,
    #[serde(default = "yes")]
    share_stages: bool,
    #[serde(default = "yes")]
    recency_encoding: bool,
    #[serde(default = "yes")]
    periodic_phase: bool,
    #[serde(default = "yes")]
    causal: bool,
    #[serde(default = "yes")]
    separable_conv: bool,
    #[serde(default)]
    head_future_conv: bool,
}

fn one_and_a_half() -> f64 {
    1.5
}
fn five_per_cent() -> f64 {
    0.05
}
fn direct() -> String {
    "direct".to_owned()
}
fn phase_mean() -> String {
    "phase_mean".to_owned()
}
fn gather() -> String {
    "gather".to_owned()
}
fn film() -> String {
    "film".to_owned()
}
fn yes() -> bool {
    true
}

impl FracastConfig {
    /// The sizes that a `config.json` gives.
    pub(crate) fn parse(text: &[u8], checks: &Checks<'_>) -> Result<Self, PretrainedError> {
        let Document { model, pyramid } = checks.parse(text)?;
        model.check(checks)?;
        checks.require(
            pyramid.ratios.is_empty(),
            "pyramid.ratios",
            "empty",
            &format!("{:?}", pyramid.ratios),
        )?;
        Ok(model)
    }

    fn check(&self, checks: &Checks<'_>) -> Result<(), PretrainedError> {
        // What no tensor's shape holds decides on memory and time alone, and is bounded here.
        for (name, size, [least, most]) in [
            ("W", self.window, [8, 1 << 16]),
            ("d_model", self.d_model, [1, 1 << 12]),
            ("horizon", self.horizon, [1, 1 << 12]),
            ("n_stages", self.n_stages, [1, 32]),
            ("dilation_base", self.dilation_base, [1, 16]),
            ("kernel_size", self.kernel_size, [1, 16]),
            ("scale_cond_dim", self.scale_cond_dim, [2, 64]),
            ("periodic_topk", self.periodic_topk, [1, 64]),
            ("periodic_harmonics", self.periodic_harmonics, [1, 16]),
            ("periodic_min_period", self.periodic_min_period, [1, 1 << 16]),
            ("head_d_ff", self.head_d_ff, [1, 1 << 16]),
            ("head_layers", self.head_layers, [0, 64]),
            ("head_fc_layers", self.head_fc_layers, [0, 16]),
            ("head_fc_kernel", self.head_fc_kernel, [1, 16]),
            ("head_future_conv_layers", self.head_future_conv_layers, [1, 16]),
            ("head_future_conv_seed", self.head_future_conv_seed, [1, 1 << 16]),
            ("head_phase_bins", self.head_phase_bins, [1, 1 << 12]),
        ] {
            checks.within(name, size, least..=most)?;
        }
        let of_step = 2 * self.d_model + 2 * self.periodic_topk * self.periodic_harmonics;
        let fits = self.window * of_step <= 1 << 25;
        checks.require(fits, "W", "so small that a window has at most 33554432 numbers", &self.window)?;
        let whole = self.future_queries.checked_mul(self.future_patch) == Some(self.horizon);
        checks.require(whole, "horizon", "future_queries times future_patch", &self.horizon)?;
        checks.levels("quantiles", &self.quantiles)?;
        let mult = self.ffn_mult;
        checks.require(
            (0.0..=64.0).contains(&mult) && self.hidden() > 0,
            "ffn_mult",
            "a factor up to 64",
            &mult,
        )?;
        let alpha = self.periodic_alpha;
        checks.require(alpha > 0.0 && alpha <= 1.0, "periodic_alpha", "above 0 and at most 1", &alpha)?;
        for (name, found, expected) in [
            ("head_kind", &self.head_kind, "gather"),
            ("scale_cond", &self.scale_cond, "film"),
            ("head_output_mode", &self.head_output_mode, "direct"),
            ("head_seasonal_fill_mode", &self.head_seasonal_fill_mode, "phase_mean"),
        ] {
            checks.require(found == expected, name, expected, found)?;
        }
        for (name, found) in [
            ("share_stages", self.share_stages),
            ("recency_encoding", self.recency_encoding),
            ("periodic_phase", self.periodic_phase),
            ("causal", self.causal),
            ("separable_conv", self.separable_conv),
            ("head_future_conv", self.head_future_conv),
        ] {
            checks.require(found, name, "true", &found)?;
        }
        Ok(())
    }

    /// The inner width of a block's SwiGLU.
    pub(crate) fn hidden(&self) -> usize {
        (self.d_model as f64 * self.ffn_mult) as usize
    }

    /// Periods that a window may have.
    pub(crate) fn periods(&self) -> usize {
        self.periodic_topk.min(self.window.next_power_of_two() / 2)
    }

    /// The dilation of a stage; none at which all taps but the last lie before the window.
    pub(crate) fn dilation(&self, stage: usize) -> usize {
        let power = u32::try_from(stage).ok().and_then(|stage| self.dilation_base.checked_pow(stage));
        power.unwrap_or(usize::MAX / 64)
    }
}
