//! Implausible forecast values: infinite ones, those that are no number, and those far beyond the history.

use foretell_data::Panel;
use foretell_estimator::{Output, is_hardly_known};
use foretell_tables::{ColumnPart, Frame};

use crate::hierarchies::borrowed_widths::is_end;
use crate::trained_models::TrainedModels;
use crate::warning::Warning;

/// Forecasts that are this many times as large as anything in the history of their series are far beyond it.
const FAR: f64 = 1e3;

/// Known values of a series from which one that was never below 0 is expected to stay there.
const LEAST: usize = 10;

/// Ids that are kept for the warning.
const KEPT: usize = 6;

/// How many values of each column are to be warned of.
#[derive(Default)]
pub(crate) struct FarValues {
    not_finite: Vec<(String, usize)>,
    /// Series of which too little is known for an interval, the first few, and how many there are.
    few_known: (Vec<String>, usize),
    far: Vec<(String, usize)>,
    /// Series with values far beyond their history, the first few.
    series: Vec<String>,
    /// Series that were never below 0 and whose forecasts are, the first few, and how many there are.
    below_zero: (Vec<String>, usize),
    /// Values of each column.
    rows: usize,
}

impl FarValues {
    /// Counts the values of the columns of `frame` after the first `others`, forecasts of series of `panel` that are these
    /// outputs.
    pub(crate) fn count(&mut self, panel: &Panel, frame: &Frame, others: usize, outputs: &[Vec<Output>]) {
        let outputs = || outputs.iter().flatten();
        // A parameter of a distribution may be of any size.
        let is_value: Vec<bool> = outputs().map(|output| output.part().is_value()).collect();
        // Ends of symmetric intervals are below 0 where forecasts are not.
        let is_middle: Vec<bool> =
            outputs().map(|output| matches!(output.part(), ColumnPart::Point | ColumnPart::Median)).collect();
        let is_end: Vec<bool> =
            outputs().map(|output| output.quantile.is_some_and(|q| is_end(q.into()))).collect();
        let columns = &frame.columns[others..];
        if self.far.is_empty() {
            self.far = columns.iter().map(|(name, _)| (name.clone(), 0)).collect();
            self.not_finite = self.far.clone();
        }
        self.rows += frame.n_rows();
        let mut start = 0;
        for rows in frame.ids.chunk_by(|one, other| one == other) {
            let range = start..start + rows.len();
            start = range.end;
            let reach = panel.find(&rows[0]).map_or(f64::INFINITY, |series| reach(panel, series));
            let least = panel.find(&rows[0]).and_then(|series| least(panel, series));
            let is_few = panel.find(&rows[0]).is_some_and(|series| {
                let history = panel.known_y(series, 0..panel.len(series));
                is_hardly_known(history.iter().filter(|y| !y.is_nan()))
            });
            let (mut is_far, mut is_below, mut is_left_out) = (false, false, false);
            for (i, (_, values)) in columns.iter().enumerate() {
                for &value in &values[range.clone()] {
                    // Intervals of such series are left out on purpose.
                    match is_few && is_end[i] && value.is_nan() {
                        true => is_left_out = true,
                        false => self.not_finite[i].1 += usize::from(!value.is_finite()),
                    }
                    is_below |= is_middle[i] && least.is_some_and(|least| value < least);
                    if value.is_finite() && is_value[i] && f64::from(value).abs() > reach {
                        (self.far[i].1, is_far) = (self.far[i].1 + 1, true);
                    }
                }
            }
            if is_far && self.series.len() < KEPT && self.series.last().is_none_or(|last| **last != *rows[0])
            {
                self.series.push(rows[0].to_string());
            }
            for (is_so, (series, count)) in
                [(is_below, &mut self.below_zero), (is_left_out, &mut self.few_known)]
            {
                if is_so {
                    *count += 1;
                    if series.len() < KEPT {
                        series.push(rows[0].to_string());
                    }
                }
            }
        }
    }

    /// Warns of the counted values.
    pub(crate) fn warn(self, trained: &TrainedModels) {
        let warnings = &trained.warnings;
        let some = |columns: Vec<(String, usize)>| -> Vec<_> {
            columns.into_iter().filter(|(_, count)| *count > 0).collect()
        };
        let (not_finite, far, of) = (some(self.not_finite), some(self.far), self.rows);
        if !not_finite.is_empty() {
            warnings.warn(&Warning::NotFinite { columns: not_finite, of });
        }
        let (series, count) = self.few_known;
        if count > 0 {
            warnings.warn(&Warning::FewKnownValues { series, count });
        }
        let is_far = !far.is_empty();
        if is_far {
            let mut named = trained.named().filter(|(model, _)| model.needs().max_steps.is_some());
            let networks = named.any(|(_, name)| far.iter().any(|(column, _)| column.starts_with(&name)));
            warnings.warn(&Warning::FarBeyond { columns: far, of, series: self.series, networks });
        }
        // What is wrong altogether is told once.
        let (series, count) = self.below_zero;
        if count > 0 && !is_far {
            warnings.warn(&Warning::BelowZero { series, count });
        }
    }
}

/// The size beyond which forecasts of a series are far beyond its history; infinite where that is 0 or not known.
fn reach(panel: &Panel, series: usize) -> f64 {
    let history = panel.known_y(series, 0..panel.len(series));
    match history.iter().filter(|y| !y.is_nan()).map(|y| y.abs()).fold(0.0, f32::max) {
        0.0 => f64::INFINITY,
        largest => FAR * f64::from(largest),
    }
}

/// What stands for 0 in a series of some values none of which is below it.
fn least(panel: &Panel, series: usize) -> Option<f32> {
    let history = panel.known_y(series, 0..panel.len(series));
    let zero = panel.level(series).hold(0.0);
    let known = || history.iter().filter(|y| !y.is_nan());
    (known().count() >= LEAST && known().all(|y| *y >= zero)).then_some(zero)
}
