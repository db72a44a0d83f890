//! Local scalers: each column of each series by its own statistics, before windows are cut.
//!
//! The statistics are those of coreforecast, which neuralforecast calls for `local_scaler_type`: a
//! scale of zero counts as one, and nothing is added to it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::column::{Column, ColumnKind};
use super::covariates::Future;
use super::level::SeriesLevel;
use super::panel::Panel;
use super::series_parts::series_parts;
use crate::error::DataError;
use foretell_messages::nearest;
use foretell_tables::{CellError, Place, SettingError};
use foretell_threads::Workers;

/// Largest power that Box-Cox transforms are looked for; the smallest is 0, the logarithm.
const UPPER: f64 = 2.0;

/// How each series is scaled (`local_scaler_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LocalScaler {
    /// Mean and biased standard deviation.
    Standard,
    /// Median and median absolute deviation.
    Robust,
    /// Median and the range from the first to the third quartile.
    RobustIqr,
    /// Minimum and range.
    MinMax,
    /// The power transform that makes the values most likely to be normal (Box and Cox 1964), of
    /// values above zero.
    BoxCox,
}

/// Statistics of one column of one series: offset and scale; for Box-Cox the power, and 0.
pub type LocalStats = [f32; 2];

impl LocalScaler {
    /// All scalers.
    pub const ALL: [Self; 5] = [Self::Standard, Self::Robust, Self::RobustIqr, Self::MinMax, Self::BoxCox];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Robust => "robust",
            Self::RobustIqr => "robust-iqr",
            Self::MinMax => "minmax",
            Self::BoxCox => "boxcox",
        }
    }

    /// Statistics of values, which for Box-Cox are above zero; of none they change nothing.
    pub fn fit(self, values: &[f32]) -> LocalStats {
        if values.is_empty() {
            return if self == Self::BoxCox { [1.0, 0.0] } else { [0.0, 1.0] };
        }
        match self {
            Self::Standard => {
                let n = values.len() as f64;
                let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
                let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
                [mean as f32, variance.sqrt() as f32]
            }
            Self::Robust | Self::RobustIqr => {
                let mut sorted = values.to_vec();
                sorted.sort_unstable_by(f32::total_cmp);
                let median = quantile(&sorted, 0.5);
                if self == Self::RobustIqr {
                    return [median, quantile(&sorted, 0.75) - quantile(&sorted, 0.25)];
                }
                sorted.iter_mut().for_each(|value| *value = (*value - median).abs());
                sorted.sort_unstable_by(f32::total_cmp);
                [median, quantile(&sorted, 0.5)]
            }
            Self::MinMax => {
                let min = foretell_simd::min(values);
                [min, foretell_simd::max(values) - min]
            }
            Self::BoxCox => [power(values) as f32, 0.0],
        }
    }

    /// Scales values in place.
    pub fn transform(self, [loc, scale]: LocalStats, values: &mut [f32]) {
        let unit = if scale == 0.0 { 1.0 } else { scale };
        values.iter_mut().for_each(|value| {
            *value = match self {
                // What is unknown and was set to zero has no power or logarithm.
                Self::BoxCox if *value <= 0.0 => 0.0,
                Self::BoxCox if loc == 0.0 => value.ln(),
                // Near the logarithm, a power is too close to one for 32 bits.
                Self::BoxCox => {
                    let power = f64::from(loc);
                    ((power * f64::from(*value).ln()).exp_m1() / power) as f32
                }
                _ => (*value - loc) / unit,
            }
        });
    }

    /// Undoes [`transform`](Self::transform).
    pub fn inverse(self, [loc, scale]: LocalStats, values: &mut [f32]) {
        let unit = if scale == 0.0 { 1.0 } else { scale };
        values.iter_mut().for_each(|value| {
            *value = match self {
                Self::BoxCox if loc == 0.0 => value.exp(),
                Self::BoxCox => {
                    let (power, change) = (f64::from(loc), f64::from(*value) * f64::from(loc));
                    match change > -1.0 {
                        true => (change.ln_1p() / power).exp() as f32,
                        // Below all that the transform can give, the curve continues mirrored.
                        false => -((-1.0 - change).ln() / power).exp() as f32,
                    }
                }
                _ => *value * unit + loc,
            }
        });
    }
}

impl fmt::Display for LocalScaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for LocalScaler {
    type Err = SettingError;

    fn from_str(word: &str) -> Result<Self, SettingError> {
        Self::ALL.into_iter().find(|scaler| scaler.name() == word).ok_or_else(|| {
            SettingError::UnknownLocalScaler {
                word: word.to_owned(),
                nearest: nearest(word, Self::ALL.map(Self::name)),
            }
        })
    }
}

/// A quantile of sorted values, on the line between the two around it.
fn quantile(sorted: &[f32], q: f64) -> f32 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    (f64::from(low) + (f64::from(high) - f64::from(low)) * at.fract()) as f32
}

/// The power in [0, 2] that maximises the profile likelihood of positive values, to 1e-6: the
/// likelihood is searched by golden sections, after a coarse grid has found the best stretch.
fn power(values: &[f32]) -> f64 {
    const STEPS: usize = 20;
    let logs: Vec<f64> = values.iter().map(|&value| f64::from(value).ln()).collect();
    let sum: f64 = logs.iter().sum();
    let n = logs.len() as f64;
    let likelihood = |power: f64| {
        // exp(power * log - largest) so that no power overflows; the shift is undone in the logarithm.
        let shift = logs.iter().map(|log| power * log).fold(f64::NEG_INFINITY, f64::max);
        let at = |log: f64| if power == 0.0 { log } else { (power * log - shift).exp() / power };
        let mean = logs.iter().map(|&log| at(log)).sum::<f64>() / n;
        let variance = logs.iter().map(|&log| (at(log) - mean).powi(2)).sum::<f64>() / n;
        let unshifted = if power == 0.0 { 0.0 } else { shift };
        (power - 1.0) * sum - n * (0.5 * variance.ln() + unshifted)
    };
    let grid = (0..=STEPS).map(|i| UPPER * i as f64 / STEPS as f64);
    let best = grid.max_by(|a, b| likelihood(*a).total_cmp(&likelihood(*b))).unwrap_or(1.0);
    // Equal values are as likely under any power.
    if !likelihood(best).is_finite() {
        return 1.0;
    }
    let step = UPPER / STEPS as f64;
    let (mut low, mut high) = ((best - step).max(0.0), (best + step).min(UPPER));
    let ratio = (5_f64.sqrt() - 1.0) / 2.0;
    while high - low > 1e-6 {
        let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
        if likelihood(a) >= likelihood(b) { high = b } else { low = a }
    }
    // At an end of the range the sections only come near it.
    [0.0, UPPER, (low + high) / 2.0]
        .into_iter()
        .max_by(|a, b| likelihood(*a).total_cmp(&likelihood(*b)))
        .unwrap_or(best)
}

/// The statistics that a panel was scaled by.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalScales {
    scaler: LocalScaler,
    target: Vec<LocalStats>,
    columns: BTreeMap<String, Vec<LocalStats>>,
}

impl LocalScales {
    /// The scaler.
    pub fn scaler(&self) -> LocalScaler {
        self.scaler
    }

    /// Statistics of the target, one per series.
    pub fn target(&self) -> &[LocalStats] {
        &self.target
    }

    /// Statistics of the further columns by name, one per series.
    pub fn columns(&self) -> &BTreeMap<String, Vec<LocalStats>> {
        &self.columns
    }

    /// Brings forecasts of a series back to the scale of the data.
    pub fn inverse(&self, series: usize, values: &mut [f32]) {
        self.scaler.inverse(self.target[series], values);
    }

    /// The future values of the panel's columns on the panel's new scale.
    ///
    /// # Errors
    /// For Box-Cox, a value that is not above zero.
    pub fn future(&self, future: &Future) -> Result<Future, DataError> {
        let mut scaled = future.clone();
        let h = future.h();
        for column in scaled.columns_mut() {
            let (Some(stats), Ok(values)) = (self.columns.get(&column.name), &mut column.values) else {
                continue;
            };
            let faulty = (self.scaler == LocalScaler::BoxCox).then(|| values.iter().position(|&x| x <= 0.0));
            if let Some(row) = faulty.flatten() {
                return Err(not_positive("future table", column.name.clone(), Place::row(row), values[row]));
            }
            for (values, stats) in values.chunks_mut(h).zip(stats) {
                self.scaler.transform(*stats, values);
            }
        }
        Ok(scaled)
    }
}

fn not_positive(table: &str, column: String, at: Place, value: f32) -> DataError {
    CellError::NotPositive { table: table.to_owned(), at, column, value }.into()
}

impl Panel {
    /// The panel with its target and numeric columns scaled, each series by the statistics of its
    /// known rows before the last `held_out`. The columns are copied; series are shared out to the threads.
    ///
    /// # Errors
    /// For Box-Cox, a known value that is not above zero.
    pub fn scaled(
        &self,
        scaler: LocalScaler,
        held_out: usize,
        workers: &Workers,
    ) -> Result<(Self, LocalScales), DataError> {
        // What is scaled is relative to the scaler's statistics, and these to the levels.
        let mut panel = self.clone().held_at(|_| SeriesLevel::default());
        let target = self.scale((scaler, held_out), "y", &self.data.y, workers)?;
        let mut columns = BTreeMap::new();
        let mut scaled = Vec::with_capacity(self.data.columns.len());
        for column in &self.data.columns {
            let (values, stats) = match &column.values {
                Ok(values) if matches!(column.kind, ColumnKind::Numbers) => {
                    let (values, stats) = self.scale((scaler, held_out), &column.name, values, workers)?;
                    (Ok(values.into()), Some(stats))
                }
                // Categories, or a mistake only if it is used.
                values => (values.clone(), None),
            };
            columns.extend(stats.map(|stats| (column.name.clone(), stats)));
            scaled.push(Column { name: column.name.clone(), values, kind: column.kind.clone() });
        }
        panel.data = Arc::new(self.data.with_values(target.0.into(), scaled));
        Ok((panel, LocalScales { scaler, target: target.1, columns }))
    }

    fn scale(
        &self,
        (scaler, held_out): (LocalScaler, usize),
        name: &str,
        values: &[f32],
        workers: &Workers,
    ) -> Result<(Vec<f32>, Vec<LocalStats>), DataError> {
        /// Rows from which on threads gain more than they cost.
        const MANY: usize = 1 << 16;
        let fit = |index: usize, rows: &mut [f32]| {
            let mask = self.available_mask(index);
            let is_known = |row: usize| mask.is_none_or(|mask| mask[row] == 1.0);
            if scaler == LocalScaler::BoxCox
                && let Some(row) = (0..rows.len()).find(|&row| is_known(row) && rows[row] <= 0.0)
            {
                let table = format!("series `{}`", self.series[index].id);
                return Err(not_positive(&table, name.to_owned(), Place::row(row), rows[row]));
            }
            let training = 0..rows.len().saturating_sub(held_out);
            let known: Vec<f32> = training.filter(|&row| is_known(row)).map(|row| rows[row]).collect();
            let stats = scaler.fit(&known);
            scaler.transform(stats, rows);
            Ok(stats)
        };
        let mut values = values.to_vec();
        let rows = self.series.iter().map(|series| series.rows());
        let parts = series_parts(&mut values, rows).into_iter();
        let mut parts: Vec<_> = parts.map(|rows| (rows, Ok(LocalStats::default()))).collect();
        workers.each(&mut parts, self.n_rows() >= MANY, |index, (rows, stats)| *stats = fit(index, rows));
        // The first error in the order of the series.
        let stats = parts.into_iter().map(|(_, stats)| stats).collect::<Result<_, _>>()?;
        Ok((values, stats))
    }

    /// The panel with each numeric static column scaled by its statistics over the series
    /// (`local_static_scaler_type`), and those statistics by column.
    ///
    /// # Errors
    /// For Box-Cox, a value that is not above zero.
    pub fn with_scaled_statics(
        mut self,
        scaler: LocalScaler,
    ) -> Result<(Self, BTreeMap<String, LocalStats>), DataError> {
        let mut fitted = BTreeMap::new();
        let mut statics = Vec::clone(&self.statics);
        for column in &mut statics {
            let (Ok(values), ColumnKind::Numbers) = (&mut column.values, &column.kind) else { continue };
            // Places of series that were cut off do not count.
            let known: Vec<f32> = self.series.iter().map(|series| values[series.place]).collect();
            if scaler == LocalScaler::BoxCox
                && let Some(row) = known.iter().position(|&value| value <= 0.0)
            {
                let table = format!("static table, series `{}`", self.series[row].id);
                return Err(not_positive(&table, column.name.clone(), Place::row(row), known[row]));
            }
            let stats = scaler.fit(&known);
            scaler.transform(stats, values);
            fitted.insert(column.name.clone(), stats);
        }
        self.statics = Arc::new(statics);
        Ok((self, fitted))
    }
}

#[cfg(test)]
#[path = "local_scaler_tests.rs"]
mod tests;
