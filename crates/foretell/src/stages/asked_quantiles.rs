//! The quantiles that a forecast is asked for, by levels of central intervals or by themselves.

use foretell_estimator::Output;
use foretell_tables::ColumnPart;

use crate::error::Error;
use crate::interval_error::IntervalError;

/// The quantiles of a forecast; none for the models' own columns. Each comes once.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskedQuantiles {
    /// Central intervals in percent, upwards.
    level: Vec<f64>,
    /// Quantiles, upwards. There are no levels then.
    quantiles: Vec<f64>,
}

/// Whether there are such levels, in percent, or such quantiles, before the work that a forecast of them takes.
///
/// # Errors
/// One that is out of its range, or both at once.
pub fn check_quantiles(levels: &[f64], quantiles: &[f64]) -> Result<(), Error> {
    AskedQuantiles::new(levels, quantiles).map(drop)
}

impl AskedQuantiles {
    pub(crate) fn new(level: &[f64], quantiles: &[f64]) -> Result<Self, Error> {
        if !level.is_empty() && !quantiles.is_empty() {
            return Err(IntervalError::LevelAndQuantiles.into());
        }
        // A share where a percentage is meant: no one asks for an interval of 0.8 %.
        if let Some(&found) = level.iter().find(|level| !(1.0..100.0).contains(*level)) {
            return Err(IntervalError::Level { found }.into());
        }
        if let Some(&found) = quantiles.iter().find(|&&q| !(q > 0.0 && q < 1.0)) {
            return Err(IntervalError::Quantile { found }.into());
        }
        let upwards = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        };
        Ok(Self { level: upwards(level), quantiles: upwards(quantiles) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.level.is_empty() && self.quantiles.is_empty()
    }

    /// How many columns they are.
    pub(crate) fn len(&self) -> usize {
        2 * self.level.len() + self.quantiles.len()
    }

    /// The columns upwards, with the quantile each. neuralforecast names single quantiles `_ql0.1`, those of conformal
    /// prediction `-ql0.1`.
    pub(crate) fn columns(&self, conformal: bool) -> Vec<(Output, f64)> {
        let end = |part: ColumnPart| (Output::of(part), part.probability().unwrap_or_default());
        let low = self.level.iter().rev().map(|&level| end(ColumnPart::Lower(level)));
        let high = self.level.iter().map(|&level| end(ColumnPart::Upper(level)));
        let quantile = |&q: &f64| match conformal {
            true => (Output::calibrated_quantile(q), q),
            false => end(ColumnPart::Quantile(q)),
        };
        low.chain(high).chain(self.quantiles.iter().map(quantile)).collect()
    }

    /// The levels of central intervals that the quantiles are ends of, in percent.
    pub(crate) fn levels(&self) -> Vec<f64> {
        // 0.9 is an end of 80 %, which the product misses by a little.
        let level = |q: &f64| ((1.0 - 2.0 * q).abs() * 1e8).round() / 1e6;
        let mut levels: Vec<f64> = self.quantiles.iter().map(level).filter(|level| *level > 0.0).collect();
        levels.extend(&self.level);
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_upwards() {
        let names = |asked: &AskedQuantiles, conformal: bool| -> Vec<(String, f64)> {
            asked.columns(conformal).into_iter().map(|(output, q)| (output.suffix, q)).collect()
        };
        let asked = AskedQuantiles::new(&[90.0, 50.0, 90.0], &[]).expect("levels");
        let expected = [("-lo-90", 0.05), ("-lo-50", 0.25), ("-hi-50", 0.75), ("-hi-90", 0.95)];
        let found = names(&asked, true);
        assert_eq!(found.len(), asked.len());
        for ((name, q), (expected, at)) in found.iter().zip(expected) {
            assert!(name == expected && (q - at).abs() < 1e-9, "{name} {q}");
        }
        let asked = AskedQuantiles::new(&[], &[0.9, 0.5, 0.05]).expect("quantiles");
        let expected = [("_ql0.05".to_owned(), 0.05), ("_ql0.5".to_owned(), 0.5), ("_ql0.9".to_owned(), 0.9)];
        assert_eq!(names(&asked, false), expected);
        assert_eq!(names(&asked, true)[2].0, "-ql0.9");
        assert_eq!(asked.levels(), [80.0, 90.0]);
    }

    #[test]
    fn what_is_no_quantile_is_refused() {
        for (level, quantiles) in [(&[0.0][..], &[][..]), (&[100.0], &[]), (&[], &[1.0]), (&[], &[f64::NAN])]
        {
            assert!(AskedQuantiles::new(level, quantiles).is_err(), "{level:?} {quantiles:?}");
        }
        let both = AskedQuantiles::new(&[80.0], &[0.1]).expect_err("either").to_string();
        assert!(both.contains("either"), "{both}");
        assert!(AskedQuantiles::default().is_empty());
    }
}
