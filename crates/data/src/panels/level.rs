//! The level of a series: what its values are held relative to, where single precision would lose their steps.

use super::precision::{DOUBLE, SINGLE, loses_steps, unit_f32};

/// An offset and a scale: a value of a series is `offset + scale * y` of the `y` that its panel holds.
///
/// By default they are 0 and 1, and change nothing. Others are chosen when a table is read, from its values in `f64`, for series
/// whose steps single precision would lose: 20000000 and 20000001 are held as -0.5 and 0.5 about 20000000.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesLevel {
    offset: f64,
    scale: f64,
}

impl Default for SeriesLevel {
    fn default() -> Self {
        Self { offset: 0.0, scale: 1.0 }
    }
}

impl From<[f64; 2]> for SeriesLevel {
    fn from([offset, scale]: [f64; 2]) -> Self {
        Self { offset, scale }
    }
}

impl From<SeriesLevel> for [f64; 2] {
    fn from(level: SeriesLevel) -> Self {
        [level.offset, level.scale]
    }
}

impl SeriesLevel {
    /// Whether it changes nothing.
    pub fn is_default(self) -> bool {
        self == Self::default()
    }

    /// The level of a series with these values, NaN among them unknown.
    pub(crate) fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        // Where f64 has lost the steps, too, nothing brings them back.
        if !loses_steps(values.clone(), &SINGLE) || loses_steps(values.clone(), &DOUBLE) {
            return Self::default();
        }
        let known = values.filter(|value| !value.is_nan());
        let (low, high) = known
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let largest = low.abs().max(high.abs());
        if largest < SINGLE.small {
            return Self { offset: 0.0, scale: largest.log2().floor().exp2() };
        }
        let extent = high - low;
        // A multiple of a power of two near the extent: what is left of a value has no digits that the value has not.
        let grid = if extent == 0.0 { 0.0 } else { extent.log2().ceil().exp2() / 2.0 };
        let middle = low + extent / 2.0;
        let offset = if grid == 0.0 { middle } else { (middle / grid).round() * grid };
        Self { offset, scale: 1.0 }
    }

    /// A value relative to this level, as a panel holds it.
    pub fn hold(self, value: f64) -> f32 {
        ((value - self.offset) / self.scale) as f32
    }

    /// The difference of two values, of what a panel holds as one.
    pub fn difference(self, y: f32) -> f64 {
        self.scale * f64::from(y)
    }

    /// The value of what a panel holds, without digits that come from rounding it.
    pub fn value(self, y: f32) -> f64 {
        if self.is_default() {
            return y.into();
        }
        let from_offset = self.scale * f64::from(y);
        // A zero keeps its sign.
        let value = if self.offset == 0.0 { from_offset } else { self.offset + from_offset };
        // A number of few digits that is held as this, if there is one within the rounding.
        let unit = self.scale * unit_f32(f64::from(y.abs()));
        let digits = value.abs().log10().floor() - unit.log10().ceil();
        let short = (0.0..17.0).contains(&digits).then(|| format!("{value:.0$e}", digits as usize));
        match short.and_then(|short| short.parse::<f64>().ok()) {
            Some(short) if self.hold(short) == y => short,
            _ => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values as they are held about their level, and as they come back.
    fn held(value: impl Fn(f64) -> f64) -> (SeriesLevel, Vec<f32>, Vec<f64>) {
        let values: Vec<f64> = (0..100).map(|t| value(f64::from(t))).collect();
        let level = SeriesLevel::of(values.iter().copied());
        let y: Vec<f32> = values.iter().map(|value| level.hold(*value)).collect();
        let back = y.iter().map(|y| level.value(*y)).collect();
        (level, y, back)
    }

    #[test]
    fn steps_are_held_and_values_come_back() {
        for value in [
            |t: f64| 20_000_000.0 + t % 2.0,
            |t: f64| 1e9 + 3.0 * t,
            |t: f64| -1e5 + (t + 1.0) / 100.0,
            |t: f64| 1e12 + (t * 0.7).sin().mul_add(1e3, 0.0).round(),
            |_: f64| 20_000_001.0,
        ] {
            let (level, y, back) = held(value);
            assert!(!level.is_default() && y.iter().all(|y| y.abs() <= 2e3), "{y:?}");
            let expected: Vec<f64> = (0..100).map(|t| value(f64::from(t))).collect();
            assert_eq!(back, expected);
        }
        let (_, y, back) = held(|t| 1e-30 * t);
        assert!(y[99] >= 1.0 && y[99] < 2.0);
        assert!(
            back.iter().enumerate().all(|(t, back)| *back == format!("{t}e-30").parse::<f64>().unwrap()),
            "{back:?}"
        );
        // What single precision holds is held unchanged.
        let (level, y, _) = held(|t| f64::from(1.7e-33_f32 * t as f32));
        assert!(y.iter().enumerate().all(|(t, y)| level.value(*y) as f32 == 1.7e-33_f32 * t as f32));
    }

    #[test]
    fn ordinary_values_stay_as_they_are() {
        for value in [
            |t: f64| 100.0 + t % 7.0,
            |t: f64| 1e9 + 1e5 * (t % 7.0),
            |_: f64| 0.1,
            |_: f64| f64::NAN,
            // What f64 has lost is not brought back.
            |t: f64| 1e17 + t,
        ] {
            assert!(held(value).0.is_default());
        }
        assert!(SeriesLevel::of(std::iter::empty()).is_default());
    }
}
