//! Actual values outside the intervals of a model's forecasts.

use std::ops::Range;

use foretell_data::Panel;
use foretell_estimator::{Output, point_column};
use foretell_evaluate::{Anomaly, anomalies, error_spread};
use foretell_tables::{AnomalyMark, ColumnPart, ForecastColumn, Frame};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::forecaster::Forecaster;
use crate::insample_options::InsampleOptions;
use crate::memory::{check_marks, held_rows};
use crate::scores::cross_validation::{CrossValidation, ValidationOptions};
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::ensembles::outputs;
use crate::stages::intervals::{are_of_few_windows, has_any_intervals, warn_of_few_windows};
use crate::stages::sums::outputs_of_sums;

/// Rows of history that a forecast which judges values is made from at least: of fewer no model sees how far values spread.
const FEWEST: usize = 4;

impl Fitted {
    /// Marks the values of a panel that are outside the central intervals of `level` percent of the forecasts of it, one horizon
    /// after the other: see [`CrossValidation::anomalies`]. Forecasts from less history than a model reads, or than four rows, are left out,
    /// NaN in their place. Models that can have such intervals, calibrated ones too, have those that [`Fitted::predict_insample`] gives, and ensembles
    /// of such models alone; the others, and all where intervals are calibrated on too few windows for that level, have those of
    /// [`CrossValidation::anomalies`] without one. The rows may be those that the models
    /// were trained on; [`Forecaster::anomalies`] judges rows that they have not seen.
    ///
    /// ```
    /// # use foretell::{Forecaster, Freq, ModelSpec, Panel};
    /// let mut sales: Vec<f32> = (0..140).map(|day| (day % 7 + day % 3) as f32).collect();
    /// sales[100] = 30.0;
    /// let panel = Panel::from_series(Freq::parse("D")?, [("shop", 0, sales)])?;
    /// let fitted = Forecaster::new([ModelSpec::new("SeasonalNaive", 7, 1)?])?.fit(&panel)?;
    /// let marked = fitted.anomalies(&panel, 99.0)?;
    /// let is_outside = marked.column("SeasonalNaive-anomaly").unwrap();
    /// let day = 24 * 3600 * 1_000_000;
    /// let days = marked.times.iter().zip(is_outside).filter(|row| *row.1 == 1.0).map(|row| *row.0 / day);
    /// assert_eq!(days.collect::<Vec<_>>(), [100, 107], "the day, and that of which it was the forecast");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Fitted::predict_insample`], and a level that is no percentage.
    pub fn anomalies(&self, panel: &Panel, level: f64) -> Result<Frame, Error> {
        let (trained, levels) = (&self.trained, [level]);
        let (mut asked, mut options) = (AskedQuantiles::new(&levels, &[])?, InsampleOptions::new(self.h()));
        // Intervals of too few errors are narrower than they say, and most of what is outside is as usual.
        let are_too_narrow = are_of_few_windows(trained, level);
        if are_too_narrow {
            warn_of_few_windows(trained, &asked);
        }
        match has_any_intervals(trained, &asked) && !are_too_narrow {
            true => options = options.level(&levels),
            false => asked = AskedQuantiles::default(),
        }
        check_marks(panel, panel.n_rows(), trained.models.len(), &trained.memory)?;
        let mut frame = self.predict_insample_with(panel, &options)?;
        let outputs = outputs_of_sums(trained, outputs(trained, &asked)?);
        let expected = trained.models.iter().map(|model| model.needs().rows_expected.unwrap_or(0));
        let mut rows: Vec<usize> = expected.map(|rows| rows.max(FEWEST)).collect();
        // An ensemble needs what each of its members does.
        let most = rows.iter().take(trained.n_members()).copied().max().unwrap_or(0);
        rows.resize(outputs.len(), most);
        let ensembles = self.ensembles().map(|(name, _)| name.to_owned());
        let names = trained.column_names().into_iter().chain(ensembles);
        let models: Vec<(String, Vec<Output>)> = names.zip(outputs).collect();
        for ((name, outputs), rows) in models.iter().zip(rows) {
            let names: Vec<String> = outputs.iter().map(|output| output.name(name)).collect();
            forget_padded(&mut frame, panel, self.h(), &names, rows);
        }
        Ok(marked(&frame, &models, level))
    }
}

impl Forecaster {
    /// Marks the values at the end of each series that are outside the central intervals of `level` percent of forecasts from before
    /// them: [`CrossValidation::anomalies`] of [`Forecaster::cross_validate`]. Models that can have such intervals have them; the
    /// others have those of their own errors.
    ///
    /// # Errors
    /// Those of [`Forecaster::cross_validate`].
    pub fn anomalies(
        self,
        panel: &Panel,
        options: &ValidationOptions<'_>,
        level: f64,
    ) -> Result<(Frame, Fitted), Error> {
        let levels = [level];
        let options = match self.plan.check_quantiles(&AskedQuantiles::new(&levels, &[])?) {
            Ok(()) => options.level(&levels),
            Err(_) => options.level(&[]),
        };
        let rows = held_rows(panel, options.n_windows, options.h.unwrap_or(self.plan.h()));
        check_marks(panel, rows, self.plan.models().len(), &self.plan.memory)?;
        let validation = self.cross_validate(panel, &options)?;
        Ok((validation.anomalies(level)?, validation.fitted))
    }
}

impl CrossValidation {
    /// Marks the values that are outside the central intervals of `level` percent. Beside `unique_id, ds, cutoff, y` the table has of
    /// each model, NHITS say, the columns `NHITS`, `NHITS-lo`, `NHITS-hi` (the interval), `NHITS-anomaly` (1 outside, 0 inside),
    /// `NHITS-score` (how far outside, in widths of the interval) and `NHITS-rank` (the share of the series' values that are as far
    /// from the middle of their intervals or farther: small is rare); NaN where the value is not known.
    ///
    /// Where a model has no interval of that level, it is as wide as a normal distribution with the deviation of the model's errors in
    /// that series, taken from the median of their sizes, so that anomalies do not widen it.
    ///
    /// # Errors
    /// A level that is no percentage.
    pub fn anomalies(&self, level: f64) -> Result<Frame, Error> {
        AskedQuantiles::new(&[level], &[])?;
        Ok(marked(&self.frame, &self.models, level))
    }
}

/// The rows of each series of a table.
fn rows_of_series(frame: &Frame) -> Vec<Range<usize>> {
    let mut end = 0;
    let rows = frame.ids.chunk_by(|a, b| a == b).map(|ids| {
        end += ids.len();
        end - ids.len()..end
    });
    rows.collect()
}

/// Takes the forecasts in these columns out of a table, NaN in their place, that were made from fewer rows than `expected`: a model
/// that sees padding is far off, whatever the values are. The last forecast of each series ends with it, and they are `h` steps apart.
fn forget_padded(frame: &mut Frame, panel: &Panel, h: usize, names: &[String], expected: usize) {
    for rows in rows_of_series(frame) {
        let len = panel.find(&frame.ids[rows.start]).map_or(0, |series| panel.len(series));
        let windows = expected.saturating_sub(len.saturating_sub(rows.len())).div_ceil(h);
        let padded = rows.start..rows.end.min(rows.start + windows * h);
        for (_, column) in frame.columns.iter_mut().filter(|(name, _)| names.contains(name)) {
            column[padded.clone()].fill(f32::NAN);
        }
        for (_, column) in frame.wide.iter_mut().filter(|(name, _)| names.contains(name)) {
            column[padded.clone()].fill(f64::NAN);
        }
    }
}

/// The table of forecasts beside the truth, its first column, with the marks of models with these columns.
fn marked(frame: &Frame, models: &[(String, Vec<Output>)], level: f64) -> Frame {
    let (target, _) = &frame.columns[0];
    let wide = frame.wide.get_key_value(target).map(|(name, values)| (name.clone(), values.clone()));
    let mut table = Frame {
        id_col: frame.id_col.clone(),
        time_col: frame.time_col.clone(),
        freq: frame.freq,
        zone: frame.zone.clone(),
        integer_ids: frame.integer_ids,
        ids: frame.ids.clone(),
        times: frame.times.clone(),
        cutoffs: frame.cutoffs.clone(),
        columns: vec![frame.columns[0].clone()],
        wide: wide.into_iter().collect(),
        integers: frame.integers.clone(),
        labels: frame.labels.clone(),
        known: frame.known.clone(),
    };
    let y = frame.wide_column(target).unwrap_or_default();
    let series = rows_of_series(frame);
    for (name, outputs) in models {
        let column = |output: &Output| frame.wide_column(&output.name(name));
        let Some(point) = column(&outputs[point_column(outputs)]) else { continue };
        let end = |quantile: f64| {
            let near =
                |output: &&Output| output.quantile.is_some_and(|q| (f64::from(q) - quantile).abs() < 1e-6);
            outputs.iter().find(near).and_then(column)
        };
        let ends = end(0.5 - level / 200.0).zip(end(0.5 + level / 200.0));
        let forecasts =
            ModelRows { y: &y, point: &point, ends: ends.as_ref().map(|(low, high)| (&**low, &**high)) };
        let mut columns: [Vec<f64>; 5] = Default::default();
        for row in series.iter().flat_map(|rows| forecasts.marks(rows.clone(), level)) {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        let narrow = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        table.push_forecast(ForecastColumn::new(&**name, ColumnPart::Point), narrow(&point));
        let marks = AnomalyMark::ALL.map(|mark| ForecastColumn::new(&**name, ColumnPart::Mark(mark)));
        let names = marks.clone().map(|mark| mark.name());
        table.push_forecasts(marks.into_iter().zip(columns.iter().map(|column| narrow(column))));
        if !frame.wide.is_empty() {
            let ends = names.into_iter().zip(columns).take(2);
            table.wide.extend([(name.clone(), point.into_owned())].into_iter().chain(ends));
        }
    }
    table
}

/// The truth, the forecasts of a model, and the ends of its interval if it has one.
struct ModelRows<'f> {
    y: &'f [f64],
    point: &'f [f64],
    ends: Option<(&'f [f64], &'f [f64])>,
}

impl<'f> ModelRows<'f> {
    /// Interval, mark, score and rank of each of these rows, which are those of a series.
    fn marks(&self, rows: Range<usize>, level: f64) -> Vec<[f64; 5]> {
        let own = |values: &'f [f64]| &values[rows.clone()];
        let (y, point) = (own(self.y), own(self.point));
        let intervals: Vec<[f64; 2]> = match self.ends {
            Some((low, high)) => own(low).iter().zip(own(high)).map(|(&low, &high)| [low, high]).collect(),
            None => {
                let half = error_spread(y.iter().zip(point).map(|(y, point)| y - point), level);
                point.iter().map(|point| [point - half, point + half]).collect()
            }
        };
        let marks = anomalies(y, &intervals).into_iter().zip(&intervals);
        let row = |(found, [low, high]): (Anomaly, &[f64; 2])| {
            let mark = if found.score.is_nan() { f64::NAN } else { f64::from(u8::from(found.is_outside)) };
            [*low, *high, mark, found.score, found.rank]
        };
        marks.map(row).collect()
    }
}
