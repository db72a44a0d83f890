//! The scale of the loss, which keeps the gradients of `f16` within its range.

use std::sync::atomic::{AtomicBool, Ordering};

use foretell_simd as simd;
use serde::{Deserialize, Serialize};

/// How the scale changes; by default as in `torch.amp.GradScaler`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GradScalerConfig {
    /// The scale of the first step.
    pub initial_scale: f32,
    /// The factor of the scale after `growth_interval` steps in a row without a gradient that is not finite.
    pub growth_factor: f64,
    /// The factor of the scale after a step with a gradient that is not finite.
    pub backoff_factor: f64,
    /// After how many finite steps in a row the scale grows.
    pub growth_interval: u32,
}

impl Default for GradScalerConfig {
    fn default() -> Self {
        Self { initial_scale: 65536.0, growth_factor: 2.0, backoff_factor: 0.5, growth_interval: 2000 }
    }
}

/// Settings, or a saved state, that no [`GradScaler`] can have.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidGradScaler {
    field: &'static str,
    found: f64,
    expected: &'static str,
}

impl std::fmt::Display for InvalidGradScaler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { field, found, expected } = self;
        write!(f, "`{field}` of a gradient scaler must be {expected}, found {found}")
    }
}

impl std::error::Error for InvalidGradScaler {}

impl GradScalerConfig {
    /// The same with another scale of the first step.
    #[must_use]
    pub fn initial_scale(self, initial_scale: f32) -> Self {
        Self { initial_scale, ..self }
    }

    /// The same with another factor of growth.
    #[must_use]
    pub fn growth_factor(self, growth_factor: f64) -> Self {
        Self { growth_factor, ..self }
    }

    /// The same with another factor after gradients that are not finite.
    #[must_use]
    pub fn backoff_factor(self, backoff_factor: f64) -> Self {
        Self { backoff_factor, ..self }
    }

    /// The same with another number of finite steps before the scale grows.
    #[must_use]
    pub fn growth_interval(self, growth_interval: u32) -> Self {
        Self { growth_interval, ..self }
    }

    fn check(&self) -> Result<(), InvalidGradScaler> {
        let require = |holds: bool, field, found, expected| match holds {
            true => Ok(()),
            false => Err(InvalidGradScaler { field, found, expected }),
        };
        let &Self { initial_scale, growth_factor, backoff_factor, growth_interval } = self;
        let is_scale = initial_scale.is_normal() && initial_scale > 0.0;
        require(is_scale, "initial_scale", initial_scale.into(), "a normal number above 0")?;
        let grows = growth_factor.is_finite() && growth_factor > 1.0;
        require(grows, "growth_factor", growth_factor, "a finite number above 1")?;
        let backs_off = backoff_factor > 0.0 && backoff_factor < 1.0;
        require(backs_off, "backoff_factor", backoff_factor, "between 0 and 1")?;
        require(growth_interval > 0, "growth_interval", growth_interval.into(), "at least 1")
    }
}

/// The scale of the loss: as large as the gradients allow, found by trial.
///
/// A step whose gradients are not all finite is skipped and makes the scale smaller; many finite steps in a row make it
/// larger. The numbers are those of `torch.amp.GradScaler`, with one difference: the scale does not fall below the
/// smallest normal `f32`, where PyTorch's reaches zero and stays there.
///
/// Its serde form is its state: training resumed from it continues as if it had not been interrupted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct GradScaler {
    config: GradScalerConfig,
    scale: f32,
    /// Finite steps in a row.
    finite_steps: u32,
    skipped: u64,
}

/// The saved state of a scaler.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    config: GradScalerConfig,
    scale: f32,
    finite_steps: u32,
    skipped: u64,
}

impl From<GradScaler> for State {
    fn from(GradScaler { config, scale, finite_steps, skipped }: GradScaler) -> Self {
        Self { config, scale, finite_steps, skipped }
    }
}

impl TryFrom<State> for GradScaler {
    type Error = InvalidGradScaler;

    fn try_from(State { config, scale, finite_steps, skipped }: State) -> Result<Self, InvalidGradScaler> {
        config.check()?;
        if !(scale.is_normal() && scale > 0.0) {
            return Err(InvalidGradScaler {
                field: "scale",
                found: scale.into(),
                expected: "a normal number above 0",
            });
        }
        if finite_steps >= config.growth_interval {
            return Err(InvalidGradScaler {
                field: "finite_steps",
                found: finite_steps.into(),
                expected: "a number below growth_interval",
            });
        }
        Ok(Self { config, scale, finite_steps, skipped })
    }
}

impl GradScaler {
    /// A scaler that has seen no step.
    ///
    /// # Panics
    /// If the initial scale is not above 0, the growth factor not above 1, the back-off factor not between 0 and 1, or the
    /// growth interval 0.
    #[track_caller]
    pub fn new(config: GradScalerConfig) -> Self {
        Self::try_new(config).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`GradScaler::new`] with settings that someone else has chosen.
    ///
    /// # Errors
    /// The first setting that no scaler can have.
    pub fn try_new(config: GradScalerConfig) -> Result<Self, InvalidGradScaler> {
        config.check()?;
        Ok(Self { config, scale: config.initial_scale, finite_steps: 0, skipped: 0 })
    }

    /// The factor of the loss of this step, or of the derivative that its backward pass starts from.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The same scaler at the start of another training, which has skipped no step.
    #[must_use]
    pub fn of_next_training(&self) -> Self {
        Self { skipped: 0, ..self.clone() }
    }

    /// Divides gradients by the scale and says whether all are finite. Gradients in several slices take one call
    /// each. Within [`foretell_threads::share`] the pass is split over several threads.
    #[must_use = "a step with gradients that are not finite must not be taken"]
    pub fn unscale(&self, gradients: &mut [f32]) -> bool {
        // As in PyTorch, the reciprocal is rounded once.
        let inverse = (1.0 / f64::from(self.scale)) as f32;
        let finite = AtomicBool::new(true);
        foretell_threads::rows(gradients.len(), 1, [gradients], |_, [block]| {
            if !simd::scale_finite(block, inverse) {
                finite.store(false, Ordering::Relaxed);
            }
        });
        finite.into_inner()
    }

    /// Ends a step: changes the scale for the next one and says whether this step is to be taken. `found_non_finite`
    /// says whether any gradient was not finite.
    pub fn update(&mut self, found_non_finite: bool) -> bool {
        if found_non_finite {
            self.scale = self.times(self.config.backoff_factor).max(f32::MIN_POSITIVE);
            self.finite_steps = 0;
            self.skipped += 1;
            return false;
        }
        self.finite_steps += 1;
        if self.finite_steps >= self.config.growth_interval {
            let grown = self.times(self.config.growth_factor);
            if grown.is_finite() {
                self.scale = grown;
            }
            self.finite_steps = 0;
        }
        true
    }

    /// The scale times a factor, rounded once.
    fn times(&self, factor: f64) -> f32 {
        (f64::from(self.scale) * factor) as f32
    }

    /// The steps that were not taken so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// How the scale changes.
    pub fn config(&self) -> &GradScalerConfig {
        &self.config
    }
}

impl Default for GradScaler {
    fn default() -> Self {
        Self::new(GradScalerConfig::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gradient_that_is_not_finite_is_found_anywhere_on_any_number_of_threads() {
        let scaler = GradScaler::default();
        let large: Vec<f32> = (0..100_003).map(|i| i as f32 - 50_000.0).collect();
        for threads in [1, 2, 5] {
            foretell_threads::share(threads, || {
                let mut finite = large.clone();
                assert!(scaler.unscale(&mut finite));
                assert!(finite.iter().zip(&large).all(|(unscaled, scaled)| *unscaled == scaled / 65536.0));
                for at in [0, 50_000, 100_002] {
                    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                        let mut gradients = large.clone();
                        gradients[at] = bad;
                        assert!(!scaler.unscale(&mut gradients), "{bad} at {at}, {threads} threads");
                    }
                }
            });
        }
        assert!(scaler.unscale(&mut []));
    }

    #[test]
    fn the_scale_never_reaches_zero_or_infinity() {
        let config = GradScalerConfig { growth_interval: 1, ..GradScalerConfig::default() };
        let mut scaler = GradScaler::new(config);
        for _ in 0..200 {
            assert!(!scaler.update(true));
        }
        assert_eq!((scaler.scale(), scaler.skipped()), (f32::MIN_POSITIVE, 200));
        for _ in 0..400 {
            assert!(scaler.update(false));
        }
        assert_eq!(scaler.scale(), 2f32.powi(127));
    }

    #[test]
    fn a_state_is_continued_from_and_a_damaged_one_refused() {
        let config = GradScalerConfig { growth_interval: 3, ..GradScalerConfig::default() };
        let mut whole = GradScaler::new(config);
        let pattern = |step: usize| step % 7 == 2;
        for step in 0..10 {
            whole.update(pattern(step));
        }
        let json = serde_json::to_string(&whole).unwrap();
        let mut resumed: GradScaler = serde_json::from_str(&json).unwrap();
        assert_eq!(resumed, whole);
        for step in 10..40 {
            assert_eq!(resumed.update(pattern(step)), whole.update(pattern(step)));
            assert_eq!((resumed.scale(), resumed.skipped()), (whole.scale(), whole.skipped()));
        }
        let damaged = json.replace("\"growth_factor\":2.0", "\"growth_factor\":0.5");
        let error = serde_json::from_str::<GradScaler>(&damaged).unwrap_err().to_string();
        assert!(
            error.contains("`growth_factor` of a gradient scaler must be a finite number above 1, found 0.5"),
            "{error}"
        );
        let damaged = json.replace("\"finite_steps\":0", "\"finite_steps\":4294967295");
        let error = serde_json::from_str::<GradScaler>(&damaged).unwrap_err().to_string();
        assert!(error.contains("`finite_steps` of a gradient scaler must be"), "{error}");
    }

    #[test]
    fn settings_of_others_that_cannot_work_are_an_error() {
        let config = GradScalerConfig::default().growth_interval(0);
        let error = GradScaler::try_new(config).unwrap_err().to_string();
        assert!(
            error.contains("`growth_interval` of a gradient scaler must be at least 1, found 0"),
            "{error}"
        );
    }

    #[test]
    #[should_panic(expected = "`backoff_factor` of a gradient scaler must be between 0 and 1, found 1")]
    fn settings_that_cannot_work_are_refused() {
        GradScaler::new(GradScalerConfig { backoff_factor: 1.0, ..GradScalerConfig::default() });
    }
}
