//! Where windows may start, in closed form, and which rows are known.

use std::ops::Range;

use super::spec::{Span, WindowSpec};
use crate::error::DataError;
use crate::panels::panel::Panel;
use foretell_tables::TableError;

/// The places where windows may start, the same for every series when counted from its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// First start minus length of the series.
    pub(crate) offset: i64,
    pub(crate) step: i64,
    pub(crate) count: i64,
    /// Rows at the end of each series that windows do not see.
    pub(crate) cut: i64,
    pub(crate) keep: WindowFilter,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum WindowFilter {
    All,
    /// Windows with that many known insample and outsample rows.
    Known {
        insample: i64,
        outsample: i64,
    },
    /// Windows whose cutoff is a row of the series.
    Cutoff,
    /// Windows whose horizon is rows of the series.
    Horizon,
}

impl Grid {
    pub(crate) fn new(panel: &Panel, spec: &WindowSpec, span: Span<'_>) -> Result<Self, DataError> {
        let (l, h) = (spec.input_size as i64, spec.horizon as i64);
        let (step, longest) = (spec.step_size as i64, panel.max_len() as i64);
        let rows = |name: &'static str, value: usize, least: i64| {
            let most = i64::from(i32::MAX);
            match i64::try_from(value) {
                Ok(value) if (least..=most).contains(&value) => Ok(value),
                _ => Err(TableError::setting(name, value, format!("{least} to {most}"))),
            }
        };
        Ok(match span {
            Span::Train { val_size, test_size } => {
                let cut = rows("val_size", val_size, 0)? + rows("test_size", test_size, 0)?;
                let padding = if spec.start_padding { l - 1 } else { 0 };
                let [insample, outsample] = spec.availability_threshold;
                let known = |rows: i64, fraction: f64| ((rows as f64 * fraction) as i64).max(1);
                let keep =
                    WindowFilter::Known { insample: known(l, insample), outsample: known(h, outsample) };
                // Padding, rows and h zeros, less one window, in steps.
                let room = padding + longest - cut - l;
                let count = if room < 0 { 0 } else { room / step + 1 };
                Self { offset: -longest - padding, step, count, cut, keep }
            }
            Span::Validation { val_size, test_size } => {
                let val = rows("val_size", val_size, h)?;
                let test = rows("test_size", test_size, 0)?;
                // The frame is the last l + val rows before the test rows. A longest series that
                // does not fill it is padded only if not even one window fits.
                let width = (longest.min(l + val + test) - test).max(0);
                let padding = if width < l + h { l + val - width } else { 0 };
                let first = (longest - (l + val + test)).max(0) - padding;
                let count = (width + padding - l - h) / step + 1;
                Self { offset: first - longest, step, count, cut: test, keep: WindowFilter::All }
            }
            Span::Test { test_size, step_size } => {
                let test = rows("test_size", test_size, h)?;
                let step = rows("step_size", step_size, 1)?;
                if (test - h) % step != 0 {
                    let expected = format!("h = {h} plus a multiple of step_size = {step}");
                    return Err(TableError::setting("test_size", test, expected).into());
                }
                let count = (test - h) / step + 1;
                Self { offset: -test - l, step, count, cut: 0, keep: WindowFilter::Cutoff }
            }
            Span::Insample { step_size, from_padding } => {
                let step = rows("step_size", step_size, 1)?;
                let count = if longest < h { 0 } else { (longest - h) / step + 1 };
                let offset = -l - h - (count - 1).max(0) * step;
                let keep = if from_padding { WindowFilter::Horizon } else { WindowFilter::Cutoff };
                Self { offset, step, count, cut: 0, keep }
            }
            Span::Predict { .. } => Self { offset: -l, step: 1, count: 1, cut: 0, keep: WindowFilter::All },
        })
    }

    /// Numbers of the windows of a series of `len` wholly known rows: those whose start makes both
    /// parts overlap the rows enough, which is an interval.
    pub(crate) fn candidates(&self, len: i64, l: i64, h: i64) -> Range<i64> {
        let (low, high) = match self.keep {
            WindowFilter::All => return 0..self.count,
            WindowFilter::Cutoff => (1 - l, len),
            WindowFilter::Horizon => (-l, len),
            WindowFilter::Known { insample, outsample } => {
                let rows = len - self.cut;
                if rows < insample.max(outsample) {
                    return 0..0;
                }
                let low = (insample - l).max(outsample - l - h);
                (low, (rows - insample).min(rows - outsample - l))
            }
        };
        let first = len + self.offset;
        // Smallest number with first + step * number >= low, and largest with <= high.
        let from = -(first - low).div_euclid(self.step);
        let to = (high - first).div_euclid(self.step) + 1;
        from.clamp(0, self.count)..to.clamp(from.clamp(0, self.count), self.count)
    }
}

/// Counts the known rows of a series.
pub(crate) struct Known {
    /// How many rows before each are known; empty where all are.
    before: Vec<i64>,
    /// Rows that windows see.
    visible: i64,
}

impl Known {
    pub(crate) fn new(mask: Option<&[f32]>, visible: i64) -> Self {
        let mut before = Vec::new();
        if let Some(mask) = mask {
            before.push(0);
            for value in mask {
                before.push(before[before.len() - 1] + i64::from(*value == 1.0));
            }
        }
        Self { before, visible: visible.max(0) }
    }

    /// Known ones among the `len` rows from `from` on.
    pub(crate) fn within(&self, from: i64, len: usize) -> i64 {
        let (from, to) = (from.clamp(0, self.visible), (from + len as i64).clamp(0, self.visible));
        match self.before.is_empty() {
            true => to - from,
            false => self.before[to as usize] - self.before[from as usize],
        }
    }
}
