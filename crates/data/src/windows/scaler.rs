//! Window scalers: shift and scale by statistics of a window's known insample values.
//!
//! The statistics are those of neuralforecast's `TemporalNorm`: over insample steps whose mask is
//! 1, in `f32`, with lower medians and `eps = 1e-6`.

use std::fmt;

/// Added to every scale, after a scale of zero became one.
const EPS: f32 = 1e-6;

/// Median absolute deviation of a normal distribution with deviation 1.
const NORMAL_MAD: f32 = 0.674_489_75;

/// How each window is scaled (`scaler_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WindowScaler {
    /// Leaves values unchanged.
    #[default]
    Identity,
    /// Mean and biased standard deviation.
    Standard,
    /// Median and median absolute deviation; where that is zero, 0.6745 standard deviations.
    Robust,
    /// Minimum and range: insample values become 0 to 1.
    MinMax,
    /// Minimum and range: insample values become -1 to 1.
    MinMax1,
    /// As [`Robust`](Self::Robust), then the inverse hyperbolic sine, which tames outliers.
    Invariant,
    /// As [`Standard`](Self::Standard); a model that learned an affine correction of the scale (Kim
    /// et al. 2022, as neuralforecast decouples it) applies it to its forecasts.
    Revin,
}

/// Shift and scale of one column in one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// The value that scaled values are relative to.
    pub loc: f32,
    /// The unit of scaled values; above zero.
    pub scale: f32,
}

impl Stats {
    /// With the bias and the weight that [`WindowScaler::Revin`] learns for a column: the shift moves by
    /// the bias, the unit is multiplied by the positive part of the weight and 1e-6.
    pub fn corrected(self, [bias, weight]: [f32; 2]) -> Self {
        Self { loc: self.loc + bias, scale: self.scale * (weight.max(0.0) + EPS) }
    }
}

impl WindowScaler {
    /// All scalers.
    pub const ALL: [Self; 7] = [
        Self::Identity,
        Self::Standard,
        Self::Robust,
        Self::MinMax,
        Self::MinMax1,
        Self::Invariant,
        Self::Revin,
    ];

    /// Its name in hyper-parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Standard => "standard",
            Self::Robust => "robust",
            Self::MinMax => "minmax",
            Self::MinMax1 => "minmax1",
            Self::Invariant => "invariant",
            Self::Revin => "revin",
        }
    }

    /// The scaler of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scaler| scaler.name() == name)
    }

    /// Statistics of the known values of a window, in any order; `scratch` is overwritten.
    ///
    /// Without a known value they are 0 and 1 + 1e-6. (Of such a window neuralforecast's minmax
    /// has an infinite scale, and the forecast is NaN.) A window of equal values has scale 1 + 1e-6 even
    /// where rounding leaves their mean beside them.
    pub fn stats(self, known: &[f32], scratch: &mut Vec<i32>) -> Stats {
        if self == Self::Identity {
            return Stats { loc: 0.0, scale: 1.0 };
        }
        if known.is_empty() {
            return Stats { loc: 0.0, scale: 1.0 + EPS };
        }
        let (loc, spread) = match self {
            Self::Identity | Self::Standard | Self::Revin => mean_deviation(known),
            Self::Robust | Self::Invariant => {
                let median = lower_median(known.iter().copied(), scratch);
                match lower_median(known.iter().map(|value| (value - median).abs()), scratch) {
                    0.0 => (median, mean_deviation(known).1 * NORMAL_MAD),
                    mad => (median, mad),
                }
            }
            Self::MinMax | Self::MinMax1 => {
                let min = foretell_simd::min(known);
                (min, foretell_simd::max(known) - min)
            }
        };
        Stats { loc, scale: if spread == 0.0 { 1.0 } else { spread } + EPS }
    }

    /// Scales values in place.
    pub fn transform(self, stats: Stats, values: &mut [f32]) {
        if self != Self::Identity {
            values.iter_mut().for_each(|value| *value = self.forward(stats, *value));
        }
    }

    /// Undoes [`transform`](Self::transform).
    pub fn inverse(self, stats: Stats, values: &mut [f32]) {
        let Stats { loc, scale } = stats;
        values.iter_mut().for_each(|value| {
            *value = match self {
                Self::Identity => *value,
                Self::Standard | Self::Robust | Self::MinMax | Self::Revin => *value * scale + loc,
                Self::MinMax1 => (*value + 1.0) / 2.0 * scale + loc,
                Self::Invariant => value.sinh() * scale + loc,
            }
        });
    }

    /// The shift `loc` and the factor `scale` that undo the scaling, `value * scale + loc`; `None` of a curve.
    pub fn line_back(self, stats: Stats) -> Option<Stats> {
        let Stats { loc, scale } = stats;
        match self {
            Self::Identity => Some(Stats { loc: 0.0, scale: 1.0 }),
            Self::Standard | Self::Robust | Self::MinMax | Self::Revin => Some(stats),
            Self::MinMax1 => Some(Stats { loc: loc + scale / 2.0, scale: scale / 2.0 }),
            Self::Invariant => None,
        }
    }

    /// Scales one value.
    pub fn forward(self, stats: Stats, value: f32) -> f32 {
        match self {
            Self::Identity => value,
            Self::Standard | Self::Robust | Self::MinMax | Self::Revin => (value - stats.loc) / stats.scale,
            Self::MinMax1 => (value - stats.loc) / stats.scale * 2.0 - 1.0,
            Self::Invariant => asinh((value - stats.loc) / stats.scale),
        }
    }
}

impl fmt::Display for WindowScaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The inverse of the hyperbolic sine, rounded to nearest. Not [`f32::asinh`], whose largest values are wrong.
pub fn asinh(value: f32) -> f32 {
    if value.is_infinite() {
        return value;
    }
    let size = f64::from(value).abs();
    let asinh = (size + size * size / (1.0 + (size * size + 1.0).sqrt())).ln_1p();
    asinh.copysign(value.into()) as f32
}

/// Mean and biased standard deviation, the latter exactly 0 for equal values.
fn mean_deviation(values: &[f32]) -> (f32, f32) {
    let (mut mean, variance) = foretell_simd::mean_variance(values);
    let mut deviation = variance.sqrt();
    if !deviation.is_finite() {
        // Beyond 1e19, squares are beyond 32 bits.
        let wide: Vec<f64> = values.iter().map(|&value| value.into()).collect();
        let (wide_mean, variance) = foretell_simd::mean_variance(&wide);
        (mean, deviation) = (wide_mean as f32, variance.sqrt() as f32);
    }
    let within_rounding = deviation <= 1e-5 * mean.abs();
    if within_rounding && values.iter().all(|value| *value == values[0]) {
        return (values[0], 0.0);
    }
    (mean, deviation)
}

/// The middle value, the lower one of two, of at least one.
fn lower_median(values: impl Iterator<Item = f32>, scratch: &mut Vec<i32>) -> f32 {
    scratch.clear();
    scratch.extend(values.map(ordered));
    let middle = (scratch.len() - 1) / 2;
    let (_, median, _) = scratch.select_nth_unstable(middle);
    f32::from_bits(ordered(f32::from_bits(*median as u32)) as u32)
}

/// The bits of a float as an integer that sorts as the float does; its own inverse on bits.
/// Integers are selected about twice as fast as floats.
fn ordered(value: f32) -> i32 {
    let bits = value.to_bits() as i32;
    bits ^ ((bits >> 31) & i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a program of tests may ask for any C library")]
    fn the_inverse_of_the_hyperbolic_sine_is_right_to_the_last_bit() {
        for value in [0.0_f32, 1e-40, 1e-9, 0.3, 1.0, 7.5, 1e4, 1e19, f32::MAX, f32::INFINITY] {
            for value in [value, -value] {
                let expected = f64::from(value).asinh() as f32;
                assert_eq!(asinh(value).to_bits(), expected.to_bits(), "{value}");
            }
        }
        assert!(asinh(f32::NAN).is_nan());
    }

    /// Printed by neuralforecast 3.3's `TemporalNorm` for x = 1.5, -2, 4, 4, 10.25, 0.5 with the
    /// mask in front: shift and scale for standard, robust, minmax.
    #[test]
    fn statistics_are_those_of_temporal_norm() {
        let x = [1.5, -2.0, 4.0, 4.0, 10.25, 0.5_f32];
        for (mask, expected) in [
            ([1, 1, 1, 1, 1, 1], [(3.0416667, 3.8308423), (1.5, 2.500001), (-2.0, 12.250001)]),
            ([0, 1, 1, 1, 1, 0], [(4.0625, 4.331481), (4.0, 2.9215398), (-2.0, 12.250001)]),
            ([0, 0, 1, 1, 1, 0], [(6.0833335, 2.9462793), (4.0, 1.9872354), (4.0, 6.250001)]),
            ([0, 0, 1, 1, 0, 0], [(4.0, 1.000001), (4.0, 1.000001), (4.0, 1.000001)]),
            ([1, 0, 0, 0, 0, 0], [(1.5, 1.000001), (1.5, 1.000001), (1.5, 1.000001)]),
            ([1, 0, 0, 0, 1, 1], [(4.0833335, 4.379562), (1.5, 1.000001), (0.5, 9.750001)]),
        ] {
            let known: Vec<f32> = (x.iter().zip(mask)).filter(|(_, m)| *m == 1).map(|(x, _)| *x).collect();
            for (scaler, (loc, scale)) in WindowScaler::ALL[1..4].iter().zip(expected) {
                let stats = scaler.stats(&known, &mut Vec::new());
                let close = |a: f32, b: f32| (a - b).abs() <= 2e-7 * b.abs().max(1.0);
                assert!(close(stats.loc, loc) && close(stats.scale, scale), "{scaler} {mask:?}: {stats:?}");
            }
        }
    }

    fn numbers(value: &serde_json::Value) -> Vec<f32> {
        value["data"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
    }

    /// Written by `compare/ops.py` from `TemporalNorm`: every scaler, with masks, ties and constants.
    #[test]
    fn windows_are_scaled_as_temporal_norm_does() {
        let fixture: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/fixtures/scalers.json")).unwrap();
        let mut cases = 0;
        for scaler in WindowScaler::ALL {
            for case in fixture[scaler.name()].as_array().unwrap() {
                let shape: Vec<usize> = case["x"]["shape"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|n| n.as_u64().unwrap() as usize)
                    .collect();
                let [batch, steps, columns] = shape[..] else { panic!("{shape:?}") };
                let [x, mask, loc, scale, normalised, inverse] =
                    ["x", "mask", "loc", "scale", "normalised", "inverse"].map(|key| numbers(&case[key]));
                let affine = case.get("bias").map(|bias| (numbers(bias), numbers(&case["weight"])));
                for (window, column) in (0..batch).flat_map(|w| (0..columns).map(move |c| (w, c))) {
                    let at = |step: usize| (window * steps + step) * columns + column;
                    let known = (0..steps).filter(|step| mask[window * steps + step] == 1.0);
                    let known: Vec<f32> = known.map(|step| x[at(step)]).collect();
                    let stats = scaler.stats(&known, &mut Vec::new());
                    let corrected = match &affine {
                        None => stats,
                        Some((bias, weight)) => stats.corrected([bias[column], weight[column]]),
                    };
                    let close = |actual: f32, expected: f32, what: &str| {
                        let size = expected.abs().max(loc[window * columns + column].abs()).max(1.0);
                        assert!(
                            (actual - expected).abs() < 3e-6 * size,
                            "{}, {what}: {actual} for {expected}",
                            case["args"]
                        );
                    };
                    close(corrected.loc, loc[window * columns + column], "loc");
                    close(corrected.scale, scale[window * columns + column], "scale");
                    for step in 0..steps {
                        let mut value = [x[at(step)]];
                        scaler.transform(stats, &mut value);
                        close(value[0], normalised[at(step)], "normalised");
                        scaler.inverse(corrected, &mut value);
                        close(value[0], inverse[at(step)], "inverse");
                    }
                }
                cases += 1;
            }
        }
        assert!(cases >= 54, "{cases}");
    }

    #[test]
    fn scaling_is_undone() {
        let x = [1.5, -2.0, 4.0, 4.0, 10.25, 0.5_f32];
        for scaler in WindowScaler::ALL {
            let stats = scaler.stats(&x, &mut Vec::new());
            let mut z = x;
            scaler.transform(stats, &mut z);
            assert_eq!(z[1], scaler.forward(stats, x[1]));
            assert_eq!(z == x, scaler == WindowScaler::Identity);
            let line = scaler.line_back(stats);
            assert_eq!(line.is_none(), scaler == WindowScaler::Invariant);
            if let Some(Stats { loc, scale }) = line {
                assert!(
                    x.iter().zip(z).all(|(x, z)| (x - (z * scale + loc)).abs() < 1e-5),
                    "{scaler}: {z:?}"
                );
            }
            scaler.inverse(stats, &mut z);
            assert!(x.iter().zip(z).all(|(x, z)| (x - z).abs() < 1e-5), "{scaler}: {z:?}");
        }
    }

    #[test]
    fn equal_values_and_none_have_a_scale_near_one() {
        for scaler in &WindowScaler::ALL[1..] {
            for value in [0.1, 1234.567, 3e-20, 0.0] {
                let stats = scaler.stats(&[value; 97], &mut Vec::new());
                assert_eq!(stats, Stats { loc: value, scale: 1.0 + EPS }, "{scaler}");
            }
            assert_eq!(scaler.stats(&[], &mut Vec::new()), Stats { loc: 0.0, scale: 1.0 + EPS });
        }
    }

    #[test]
    fn names_are_read() {
        for scaler in WindowScaler::ALL {
            assert_eq!(WindowScaler::named(scaler.name()), Some(scaler));
        }
        assert_eq!(WindowScaler::named("standart"), None);
    }
}
