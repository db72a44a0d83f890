//! A series, fitted: its scales, its change points, and the parameters of largest posterior probability.

use foretell_calendar::jiff::civil::DateTime;
use foretell_estimator::mean;

use crate::design::{Design, Standards, place};
use crate::error::ProphetError;
use crate::errors_by_row::ErrorsByRow;
use crate::lbfgs::minimise;
use crate::moments::Moments;
use crate::posterior::{Places, value_and_gradient};
use crate::rows::Rows;
use crate::settings::{Growth, ProphetSettings, Scaling};
use crate::trend::{Changes, Segment};

/// The fewest known values of a series that a trend is fitted to.
pub(crate) const LEAST_VALUES: usize = 2;

/// The fit of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SeriesFit {
    /// The time of the first row and from there to the last, in microseconds on clocks; 0 of a series that is forecast by its last value.
    pub(crate) start: f64,
    pub(crate) t_scale: f64,
    /// The shift of `y` where no column has a floor, and the divisor of the shifted `y`.
    pub(crate) y_min: f64,
    pub(crate) y_scale: f64,
    /// Rate and offset at the beginning, deviation of the noise, all scaled; the offset of a series that is forecast by its last value is
    /// that value.
    pub(crate) rate: f64,
    pub(crate) offset: f64,
    pub(crate) sigma: f64,
    /// The logarithm of the posterior, without constants; NaN of a constant series and of one of fewer than two values, which are
    /// not fitted.
    pub(crate) log_posterior: f64,
    /// Scaled times of change points, in order, and the changes of the rate there.
    pub(crate) changepoints: Vec<f64>,
    pub(crate) delta: Vec<f64>,
    /// Coefficients of the columns of the design.
    pub(crate) beta: Vec<f64>,
    pub(crate) standards: Standards,
}

/// The common parts of the fits of all series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) settings: ProphetSettings,
    pub(crate) design: Design,
}

impl Model {
    pub(crate) fn new(settings: ProphetSettings) -> Self {
        let design = Design::new(&settings);
        Self { settings, design }
    }

    /// The most change points that a series has. Without any there is one at its beginning, as in the package, where it is a part
    /// of the first rate.
    pub(crate) fn most_changepoints(&self) -> usize {
        self.settings.changepoints.as_ref().map_or(self.settings.n_changepoints, Vec::len).max(1)
    }

    /// Fits the model to rows of a series, of which some `y` may be unknown (NaN). No trend leads through fewer than two known ones:
    /// such a series is forecast by its last value, or else as 0.
    ///
    /// # Errors
    /// If change points lie outside, a capacity is not above the floor, or a condition is neither 0 nor 1.
    pub(crate) fn fit(&self, series: &str, mut rows: Rows, y: &[f32]) -> Result<SeriesFit, ProphetError> {
        let known: Vec<bool> = y.iter().map(|y| !y.is_nan()).collect();
        rows.retain(&known);
        let y: Vec<f64> = y.iter().filter(|y| !y.is_nan()).map(|&y| f64::from(y)).collect();
        if y.len() < LEAST_VALUES {
            return Ok(self.last_value(y.last().copied().unwrap_or(0.0)));
        }
        let mut fit = self.scales(&rows, &y);
        fit.standards = self.design.standards(&rows);
        let t = fit.scaled_times(&rows);
        let (cap, floor) = self.bounds(series, &fit, &rows)?;
        let scaled: Vec<f64> = y.iter().zip(&floor).map(|(y, floor)| (y - floor) / fit.y_scale).collect();
        fit.changepoints = self.changepoints(series, &fit, &rows, &t)?;
        let first = first_segment(self.settings.growth, &t, &scaled, &cap);
        (fit.rate, fit.offset) = (first.rate, first.offset);
        fit.delta = vec![0.0; fit.changepoints.len()];
        fit.beta = vec![0.0; self.design.width()];
        let constant = y.iter().all(|value| *value == y[0]);
        if constant && self.settings.growth != Growth::Logistic {
            // Nothing is left to explain.
            (fit.sigma, fit.log_posterior) = (1e-9, f64::NAN);
            return Ok(fit);
        }
        self.maximise(&mut fit, series, &rows, [&scaled, &t, &cap])?;
        Ok(fit)
    }

    /// What forecasts this value at all times.
    fn last_value(&self, value: f64) -> SeriesFit {
        SeriesFit {
            y_scale: 1.0,
            offset: value,
            sigma: f64::NAN,
            log_posterior: f64::NAN,
            beta: vec![0.0; self.design.width()],
            standards: vec![[0.0, 1.0]; self.design.reads.len()],
            ..SeriesFit::default()
        }
    }

    /// The scales of times and values.
    fn scales(&self, rows: &Rows, y: &[f64]) -> SeriesFit {
        let start = rows.times[0];
        let last = rows.times[rows.len() - 1];
        let column = |name: &String| rows.columns[place(&self.design.reads, name)].as_slice();
        let bound = |name: &Option<String>| name.as_ref().map(column);
        let logistic = self.settings.growth == Growth::Logistic;
        let floor = self.settings.floor.as_ref().filter(|_| logistic).map(column);
        let smallest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (y_min, y_scale) = match (self.settings.scaling, floor) {
            (Scaling::Absmax, _) => {
                let above =
                    y.iter().enumerate().map(|(i, y)| (y - floor.map_or(0.0, |floor| floor[i])).abs());
                (0.0, above.fold(0.0, f64::max))
            }
            (Scaling::Minmax, Some(floor)) => {
                let low = smallest(floor);
                (low, largest(bound(&self.settings.cap).unwrap_or(y)) - low)
            }
            (Scaling::Minmax, None) => (smallest(y), largest(y) - smallest(y)),
        };
        SeriesFit {
            start: start as f64,
            t_scale: (last - start) as f64,
            y_min,
            y_scale: if y_scale == 0.0 { 1.0 } else { y_scale },
            ..SeriesFit::default()
        }
    }

    /// Of each row the scaled capacity, and the floor on the scale of the data.
    ///
    /// # Errors
    /// If growth is logistic and a capacity is not above the floor.
    pub(crate) fn bounds(
        &self,
        series: &str,
        fit: &SeriesFit,
        rows: &Rows,
    ) -> Result<(Vec<f64>, Vec<f64>), ProphetError> {
        let (settings, reads) = (&self.settings, &self.design.reads);
        let column = |name: &String| rows.columns[place(reads, name)].clone();
        if settings.growth != Growth::Logistic {
            return Ok((vec![0.0; rows.len()], vec![fit.y_min; rows.len()]));
        }
        let floor = settings.floor.as_ref().map_or_else(|| vec![fit.y_min; rows.len()], column);
        let mut cap = settings.cap.as_ref().map_or_else(Vec::new, column);
        for (i, (cap, floor)) in cap.iter_mut().zip(&floor).enumerate() {
            if *cap <= *floor {
                return Err(ProphetError::CapBelowFloor {
                    series: series.to_owned(),
                    row: rows.places[i] + 1,
                    cap: cap.to_string(),
                    floor: floor.to_string(),
                });
            }
            *cap = (*cap - floor) / fit.y_scale;
        }
        Ok((cap, floor))
    }

    /// The scaled times of change points: those that are given, or evenly over the rows.
    fn changepoints(
        &self,
        series: &str,
        fit: &SeriesFit,
        rows: &Rows,
        t: &[f64],
    ) -> Result<Vec<f64>, ProphetError> {
        let mut times: Vec<f64> = Vec::new();
        if let Some(given) = &self.settings.changepoints {
            for date in given {
                let time = microseconds(*date);
                if !(rows.times[0]..=rows.times[rows.len() - 1]).contains(&time) {
                    let (series, found) = (series.to_owned(), date.to_string());
                    return Err(ProphetError::ChangepointOutside { series, found });
                }
                times.push((time as f64 - fit.start) / fit.t_scale);
            }
            times.sort_by(f64::total_cmp);
        } else {
            let candidates = (t.len() as f64 * self.settings.changepoint_range).floor() as usize;
            let count = self.settings.n_changepoints.min(candidates.saturating_sub(1));
            // Rounded half to even, as numpy does.
            let row =
                |i: usize| ((candidates - 1) as f64 * i as f64 / count as f64).round_ties_even() as usize;
            times.extend((1..=count).map(|i| t[row(i)]));
        }
        if times.is_empty() {
            times.push(0.0);
        }
        Ok(times)
    }

    /// Moves the parameters to where the posterior is largest.
    fn maximise(
        &self,
        fit: &mut SeriesFit,
        series: &str,
        rows: &Rows,
        [y, t, cap]: [&[f64]; 3],
    ) -> Result<(), ProphetError> {
        let all = self.design.matrix(series, rows, &fit.standards)?;
        let active = self.design.active(rows);
        let width = active.len();
        let columns: Vec<usize> = (0..width).filter(|&column| active[column]).collect();
        let x: Vec<f64> =
            all.chunks(width.max(1)).flat_map(|row| columns.iter().map(|&column| row[column])).collect();
        let prior_scales: Vec<f64> = columns.iter().map(|&column| self.design.prior_scales[column]).collect();
        let additive = columns.partition_point(|&column| column < self.design.additive);
        let changes = Changes { growth: self.settings.growth, times: &fit.changepoints };
        let places = Places { changes: changes.times.len(), coefficients: columns.len() };
        // sigma begins at 1.
        let mut parameters = vec![0.0; places.count()];
        (parameters[Places::RATE], parameters[Places::OFFSET]) = (fit.rate, fit.offset);
        let mut weights = vec![0.0; places.count()];
        weights[places.delta()].fill(1.0 / self.settings.changepoint_prior_scale);
        let count = rows.len();
        let (value, _) = if additive == columns.len() && changes.growth != Growth::Logistic {
            let moments = Moments::new(changes, places, [y, t], &x);
            minimise(&mut parameters, &weights, |at, gradient| {
                value_and_gradient(at, gradient, count, &prior_scales, |at, half| moments.squares(at, half))
            })
        } else {
            let mut errors = ErrorsByRow::new(changes, places, [y, t, cap], &x, additive);
            minimise(&mut parameters, &weights, |at, gradient| {
                value_and_gradient(at, gradient, count, &prior_scales, |at, half| errors.squares(at, half))
            })
        };
        fit.log_posterior = -value;
        (fit.rate, fit.offset) = (parameters[Places::RATE], parameters[Places::OFFSET]);
        fit.sigma = parameters[Places::LOG_SIGMA].exp();
        fit.delta.copy_from_slice(&parameters[places.delta()]);
        let found = &parameters[places.beta()];
        columns.iter().zip(found).for_each(|(&column, &found)| fit.beta[column] = found);
        if fit.changepoints == [0.0] {
            fit.rate += std::mem::take(&mut fit.delta[0]);
        }
        Ok(())
    }
}

impl SeriesFit {
    /// Whether the series is forecast by its last value.
    pub(crate) fn is_last_value(&self) -> bool {
        self.t_scale == 0.0
    }

    /// Times from 0, at the first row of the history, to 1, at its last, and beyond.
    pub(crate) fn scaled_times(&self, rows: &Rows) -> Vec<f64> {
        rows.times.iter().map(|&time| (time as f64 - self.start) / self.t_scale).collect()
    }

    pub(crate) fn first_segment(&self) -> Segment {
        Segment { rate: self.rate, offset: self.offset }
    }
}

/// Microseconds since 1970-01-01 00:00.
fn microseconds(date: DateTime) -> i64 {
    (date.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_micros()) as i64
}

/// The curve through the first and the last value; flat, the mean.
fn first_segment(growth: Growth, t: &[f64], y: &[f64], cap: &[f64]) -> Segment {
    let last = t.len() - 1;
    match growth {
        Growth::Linear => {
            let rate = (y[last] - y[0]) / (t[last] - t[0]);
            Segment { rate, offset: y[0] - rate * t[0] }
        }
        Growth::Logistic => {
            let ratio = |i: usize| cap[i] / y[i].clamp(0.01 * cap[i], 0.99 * cap[i]);
            let [mut first, end] = [0, last].map(ratio);
            if (first - end).abs() <= 0.01 {
                first *= 1.05;
            }
            let [first, end] = [first, end].map(|ratio| (ratio - 1.0).ln());
            let duration = t[last] - t[0];
            Segment { rate: (first - end) / duration, offset: first * duration / (first - end) }
        }
        Growth::Flat => Segment { rate: 0.0, offset: mean(y) },
    }
}
