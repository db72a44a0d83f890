//! Fourier terms: sines and cosines of a period and of its halves, thirds and so on.

use std::f64::consts::TAU;

use crate::arguments::{Arguments, numbers};
use crate::clock::DAY;
use crate::feature::Feature;
use crate::rows::FeatureRows;

/// Periods that have names, in days.
const NAMED: [(&str, f64); 6] = [
    ("yearly", 365.25),
    ("quarterly", 91.312_5),
    ("monthly", 30.437_5),
    ("weekly", 7.0),
    ("daily", 1.0),
    ("hourly", 1.0 / 24.0),
];

/// The most terms: a year of days has no more.
const MOST: usize = 183;

/// `sin(2 pi k t / period)` and the cosine, for k from 1 to `terms`; t counts days from 1970-01-01, or is the integer that a time
/// is.
#[derive(Debug)]
struct Fourier {
    /// As it was written.
    name: String,
    period: f64,
    terms: usize,
}

/// `fourier:PERIOD:TERMS`.
pub(crate) fn fourier(arguments: &Arguments<'_>) -> Result<Box<dyn Feature>, String> {
    let [period, terms] = arguments.parts()?;
    let &[name] = period.as_slice() else { return Err("it takes one period".to_owned()) };
    let named = NAMED.iter().find(|(known, _)| *known == name).map(|(_, days)| *days);
    let what = format!(
        "a period in days (in steps where times are integers), nor {}",
        NAMED.map(|(name, _)| name).join(", ")
    );
    let is_period = |period: &f64| *period > 0.0 && period.is_finite();
    let period = named.map_or_else(|| numbers(period, &what, is_period).map(|periods| periods[0]), Ok)?;
    let what = format!("a number of terms from 1 to {MOST}");
    let &[terms] = numbers(terms, &what, |terms| (1..=MOST).contains(terms))?.as_slice() else {
        return Err("it takes one number of terms".to_owned());
    };
    Ok(Box::new(Fourier { name: name.to_owned(), period, terms }))
}

impl Feature for Fourier {
    fn columns(&self) -> Vec<String> {
        let pair = |term| ["sin", "cos"].map(|of| format!("fourier_{}_{of}_{term}", self.name));
        (1..=self.terms).flat_map(pair).collect()
    }

    fn compute(&self, rows: &FeatureRows<'_>, out: &mut [&mut [f32]]) {
        let unit = if rows.are_dated() { DAY as f64 } else { 1.0 };
        let per_unit = 1.0 / (unit * self.period);
        for (term, pair) in (1_u32..).zip(out.chunks_exact_mut(2)) {
            let [sine, cosine] = pair else { unreachable!("pairs") };
            for ((sine, cosine), &time) in sine.iter_mut().zip(cosine.iter_mut()).zip(rows.times) {
                // The periods that have passed do not count; what is left keeps its digits as it is multiplied.
                let turn = time as f64 * per_unit;
                (*sine, *cosine) = sine_cosine(f64::from(term) * (turn - nearest_whole(turn)));
            }
        }
    }
}

/// The nearest integer, ties to even, of numbers below 2^51: in the sum there is no room for decimals. Without a call, so that
/// loops over it become vectors.
fn nearest_whole(x: f64) -> f64 {
    const ROOM: f64 = 1.5 * (1u64 << 52) as f64;
    (x + ROOM) - ROOM
}

/// Sine and cosine of an angle in turns, within 1e-10 before they are rounded. By Taylor's series for the eighth of a turn around
/// the nearest quarter.
fn sine_cosine(turns: f64) -> (f32, f32) {
    let quarters = nearest_whole(4.0 * turns);
    let x = (turns - 0.25 * quarters) * TAU;
    let z = x * x;
    let sine = x
        * (1.0
            + z * (-1.0 / 6.0
                + z * (1.0 / 120.0
                    + z * (-1.0 / 5_040.0 + z * (1.0 / 362_880.0 + z * (-1.0 / 39_916_800.0))))));
    let cosine = 1.0
        + z * (-0.5
            + z * (1.0 / 24.0
                + z * (-1.0 / 720.0
                    + z * (1.0 / 40_320.0 + z * (-1.0 / 3_628_800.0 + z * (1.0 / 479_001_600.0))))));
    // Of four quarters the odd ones exchange both; of each pair one is negative.
    let quarter = quarters - 4.0 * nearest_whole(0.25 * quarters);
    let (a, b) = if quarter.abs() == 1.0 { (cosine, sine) } else { (sine, cosine) };
    let sign_of_sine = if quarter == -1.0 || quarter.abs() == 2.0 { -1.0 } else { 1.0 };
    let sign_of_cosine = if quarter == 1.0 || quarter.abs() == 2.0 { -1.0 } else { 1.0 };
    ((sign_of_sine * a) as f32, (sign_of_cosine * b) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_are_those_of_the_standard_library() {
        for i in -40_000..40_000 {
            let turns = f64::from(i) / 997.0;
            let (sine, cosine) = sine_cosine(turns);
            let (exact_sine, exact_cosine) = (turns * TAU).sin_cos();
            assert!((f64::from(sine) - exact_sine).abs() < 6.1e-8, "sine of {turns} turns");
            assert!((f64::from(cosine) - exact_cosine).abs() < 6.1e-8, "cosine of {turns} turns");
        }
        for (turns, expected) in
            [(0.25, (1.0, 0.0)), (-0.25, (-1.0, 0.0)), (0.5, (0.0, -1.0)), (1.0, (0.0, 1.0))]
        {
            assert_eq!(sine_cosine(turns), expected, "{turns}");
        }
    }
}
