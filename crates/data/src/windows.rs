//! Which windows a panel has: neuralforecast's rules in closed form, nothing materialised.
//!
//! There, all series are left-padded with zeros to the longest one of the panel, so that windows
//! stand on one grid counted from the end of every series; held-out rows are cut off, `h` zeros
//! follow, and (with start padding) `input_size - 1` zeros precede. Here a window is its series and
//! the row at which it starts. Windows of a series are counted by arithmetic; only a panel with an
//! `available_mask` needs a bit per candidate.

use std::ops::Range;

use foretell_simd::Stream;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::covariates::Future;
use crate::error::DataError;
use crate::long::Kind;
use crate::panel::Panel;
use crate::ranks::Ranks;
use crate::scaler::WindowScaler;

/// What a window is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowSpec {
    /// Insample rows, `input_size` or L.
    pub input_size: usize,
    /// Outsample rows, `h`.
    pub horizon: usize,
    /// Rows between the starts of neighbouring windows in training and validation.
    pub step_size: usize,
    /// Also train on windows that begin up to `input_size - 1` rows before the longest series
    /// (`start_padding_enabled`).
    pub start_padding: bool,
    /// Least fraction of known insample and outsample rows of a training window
    /// (`training_data_availability_threshold`); one row each is always needed.
    pub availability_threshold: [f64; 2],
    /// Columns given for the insample rows.
    pub hist: Vec<String>,
    /// Columns given for the insample and outsample rows.
    pub futr: Vec<String>,
    /// Static columns.
    pub stat: Vec<String>,
    /// How each window is scaled.
    pub scaler: WindowScaler,
}

impl WindowSpec {
    /// Windows of the target alone, with neuralforecast's defaults.
    pub fn new(input_size: usize, horizon: usize) -> Self {
        Self {
            input_size,
            horizon,
            step_size: 1,
            start_padding: false,
            availability_threshold: [0.0; 2],
            hist: Vec::new(),
            futr: Vec::new(),
            stat: Vec::new(),
            scaler: WindowScaler::Identity,
        }
    }

    fn check(&self) -> Result<(), DataError> {
        const MOST: usize = i32::MAX as usize;
        for (name, value) in
            [("input_size", self.input_size), ("h", self.horizon), ("step_size", self.step_size)]
        {
            if !(1..=MOST).contains(&value) {
                return Err(DataError::setting(name, value, format!("1 to {MOST}")));
            }
        }
        match self.availability_threshold.iter().find(|t| !(0.0..=1.0).contains(*t)) {
            Some(threshold) => {
                let name = "training_data_availability_threshold";
                Err(DataError::setting(name, threshold, "0.0 to 1.0"))
            }
            None => Ok(()),
        }
    }
}

/// Which rows of the panel windows are cut from.
#[derive(Clone, Copy, Debug)]
pub enum Span<'p> {
    /// All rows but the last `val_size + test_size` of each series.
    Train {
        /// Rows kept for validation.
        val_size: usize,
        /// Rows kept for testing, after those for validation.
        test_size: usize,
    },
    /// The `val_size` rows before the last `test_size`, each horizon with its insample rows.
    Validation {
        /// Rows to validate on; at least the horizon.
        val_size: usize,
        /// Rows kept for testing.
        test_size: usize,
    },
    /// Rolling windows whose horizons cover the last `test_size` rows (cross-validation).
    Test {
        /// Rows to test on: the horizon plus a multiple of `step_size`.
        test_size: usize,
        /// Rows between neighbouring cutoffs.
        step_size: usize,
    },
    /// Rolling windows whose horizons cover each series from its end back to its start, as far as whole steps
    /// go; before the first of them nothing is known.
    Insample {
        /// Rows between neighbouring cutoffs.
        step_size: usize,
    },
    /// The horizon after the end of each series.
    Predict {
        /// Values of the future columns over the horizon, if the windows have any.
        future: Option<&'p Future>,
    },
}

/// A window: its insample part starts at row `start` of its series, its cutoff (last insample row)
/// is row `start + input_size - 1`. Rows before 0 are left padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowRef {
    /// Index of the series in the panel.
    pub series: u32,
    /// First insample row relative to the first row of the series.
    pub start: i64,
}

/// The places where windows may start, the same for every series when counted from its end.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// First start minus length of the series.
    offset: i64,
    step: i64,
    count: i64,
    /// Rows at the end of each series that windows do not see.
    cut: i64,
    keep: Keep,
}

#[derive(Clone, Copy, Debug)]
enum Keep {
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
    fn new(panel: &Panel, spec: &WindowSpec, span: Span<'_>) -> Result<Self, DataError> {
        let (l, h) = (spec.input_size as i64, spec.horizon as i64);
        let (step, longest) = (spec.step_size as i64, panel.max_len() as i64);
        let rows = |name: &'static str, value: usize, least: i64| {
            let most = i64::from(i32::MAX);
            match i64::try_from(value) {
                Ok(value) if (least..=most).contains(&value) => Ok(value),
                _ => Err(DataError::setting(name, value, format!("{least} to {most}"))),
            }
        };
        Ok(match span {
            Span::Train { val_size, test_size } => {
                let cut = rows("val_size", val_size, 0)? + rows("test_size", test_size, 0)?;
                let padding = if spec.start_padding { l - 1 } else { 0 };
                let [insample, outsample] = spec.availability_threshold;
                let known = |rows: i64, fraction: f64| ((rows as f64 * fraction) as i64).max(1);
                let keep = Keep::Known { insample: known(l, insample), outsample: known(h, outsample) };
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
                Self { offset: first - longest, step, count, cut: test, keep: Keep::All }
            }
            Span::Test { test_size, step_size } => {
                let test = rows("test_size", test_size, h)?;
                let step = rows("step_size", step_size, 1)?;
                if (test - h) % step != 0 {
                    let expected = format!("h = {h} plus a multiple of step_size = {step}");
                    return Err(DataError::setting("test_size", test, expected));
                }
                let count = (test - h) / step + 1;
                Self { offset: -test - l, step, count, cut: 0, keep: Keep::Cutoff }
            }
            Span::Insample { step_size } => {
                let step = rows("step_size", step_size, 1)?;
                let count = if longest < h { 0 } else { (longest - h) / step + 1 };
                let offset = -l - h - (count - 1).max(0) * step;
                Self { offset, step, count, cut: 0, keep: Keep::Horizon }
            }
            Span::Predict { .. } => Self { offset: -l, step: 1, count: 1, cut: 0, keep: Keep::All },
        })
    }

    /// Numbers of the windows of a series of `len` wholly known rows: those whose start makes both
    /// parts overlap the rows enough, which is an interval.
    fn candidates(&self, len: i64, l: i64, h: i64) -> Range<i64> {
        let (low, high) = match self.keep {
            Keep::All => return 0..self.count,
            Keep::Cutoff => (1 - l, len),
            Keep::Horizon => (-l, len),
            Keep::Known { insample, outsample } => {
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

/// A column of which windows see a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowColumn<'p> {
    pub(crate) past: &'p [f32],
    /// Values after the end of each series, `[series, h]`, where windows see the horizon and no row has it.
    pub(crate) future: Option<&'p [f32]>,
    /// How windows of it are scaled: not at all, if it holds categories.
    pub(crate) scaler: WindowScaler,
}

/// Counts, draws and cuts the windows of one span of a panel.
#[derive(Debug)]
pub struct Cutter<'p> {
    pub(crate) panel: &'p Panel,
    pub(crate) l: usize,
    pub(crate) h: usize,
    pub(crate) scaler: WindowScaler,
    pub(crate) hist: Vec<WindowColumn<'p>>,
    pub(crate) futr: Vec<WindowColumn<'p>>,
    pub(crate) stat: Vec<&'p [f32]>,
    /// Weights of rows in the loss; training only.
    pub(crate) weight: Option<&'p [f32]>,
    grid: Grid,
    /// Which candidates are windows, where `available_mask` decides.
    ranks: Option<Ranks>,
}

impl<'p> Cutter<'p> {
    /// Settles the windows of `span` and finds the columns of `spec`.
    ///
    /// # Errors
    /// A setting out of range; a column that is missing or not numeric; future values that are
    /// needed and missing; for [`Span::Train`], no window at all or, as `NeuralForecast.fit` has
    /// it, with `test_size = 0` a series with fewer than `input_size` rows (1 with start padding).
    pub fn new(panel: &'p Panel, spec: &WindowSpec, span: Span<'p>) -> Result<Self, DataError> {
        spec.check()?;
        let grid = Grid::new(panel, spec, span)?;
        let column = |name: &String| -> Result<WindowColumn<'p>, DataError> {
            let column = panel.find_column(name)?;
            let scaler = match column.kind {
                Kind::Categories => WindowScaler::Identity,
                Kind::Numbers | Kind::Labels(_) => spec.scaler,
            };
            Ok(WindowColumn { past: column.usable()?, future: None, scaler })
        };
        let ahead = match span {
            Span::Predict { future } => future_columns(panel, spec, future)?,
            _ => Vec::new(),
        };
        let mut futr: Vec<_> = spec.futr.iter().map(column).collect::<Result<_, _>>()?;
        futr.iter_mut().zip(ahead).for_each(|(column, ahead)| column.future = Some(ahead));
        let stat = spec.stat.iter().map(|name| panel.static_column(name));
        let train = matches!(span, Span::Train { .. });
        let mut cutter = Self {
            panel,
            l: spec.input_size,
            h: spec.horizon,
            scaler: spec.scaler,
            hist: spec.hist.iter().map(column).collect::<Result<_, _>>()?,
            futr,
            stat: stat.collect::<Result<_, _>>()?,
            weight: panel.data.weight.as_deref().filter(|_| train),
            grid,
            ranks: None,
        };
        if let (Keep::Known { insample, outsample }, Some(mask)) = (grid.keep, &panel.data.mask) {
            cutter.ranks = Some(cutter.rank(mask, [insample, outsample]));
        }
        if let Span::Train { val_size, test_size } = span {
            cutter.check_lengths(spec, val_size, test_size)?;
        }
        Ok(cutter)
    }

    fn check_lengths(&self, spec: &WindowSpec, val_size: usize, test_size: usize) -> Result<(), DataError> {
        let held_out = val_size + test_size;
        let input_size = self.l;
        let shortest = self.panel.series.iter().min_by_key(|series| series.len);
        if let Some(series) = shortest.filter(|_| test_size == 0) {
            let needed = if spec.start_padding { 1 } else { input_size };
            let rows = series.len.saturating_sub(held_out);
            if rows < needed {
                let id = series.id.to_string();
                return Err(DataError::TooShort { id, rows, held_out, input_size, needed });
            }
        }
        let none = (0..self.panel.n_series()).all(|series| self.windows_of(series) == 0);
        if none {
            let rows = self.panel.max_len().saturating_sub(held_out);
            return Err(DataError::NoWindows { rows, input_size });
        }
        Ok(())
    }

    /// Marks the candidates with enough known rows.
    fn rank(&self, mask: &[f32], least: [i64; 2]) -> Ranks {
        let mut ranks = Ranks::default();
        let mut known = Vec::new();
        for series in 0..self.panel.n_series() {
            let rows = self.panel.series[series].rows();
            let end = self.visible(series).max(0);
            known.clear();
            known.push(0_i64);
            for value in &mask[rows] {
                known.push(known[known.len() - 1] + i64::from(*value == 1.0));
            }
            let within = |from: i64, len: usize| {
                let (from, to) = (from.clamp(0, end), (from + len as i64).clamp(0, end));
                known[to as usize] - known[from as usize]
            };
            ranks.push(self.candidates(series).map(|number| {
                let start = self.start(series, number);
                let insample = within(start, self.l);
                insample >= least[0] && within(start + self.l as i64, self.h) >= least[1]
            }));
        }
        ranks
    }

    fn candidates(&self, series: usize) -> Range<i64> {
        let len = self.panel.len(series) as i64;
        self.grid.candidates(len, self.l as i64, self.h as i64)
    }

    fn start(&self, series: usize, number: i64) -> i64 {
        self.panel.len(series) as i64 + self.grid.offset + number * self.grid.step
    }

    /// How the windows are scaled.
    pub fn scaler(&self) -> WindowScaler {
        self.scaler
    }

    /// The panel that windows are cut from.
    pub fn panel(&self) -> &'p Panel {
        self.panel
    }

    /// Number of windows of a series.
    pub fn windows_of(&self, series: usize) -> usize {
        match &self.ranks {
            Some(ranks) => ranks.count(series),
            None => self.candidates(series).count(),
        }
    }

    /// Number of windows of all series.
    pub fn n_windows(&self) -> usize {
        (0..self.panel.n_series()).map(|series| self.windows_of(series)).sum()
    }

    /// The series that have a window.
    pub fn series_with_windows(&self) -> Vec<u32> {
        let all = 0..self.panel.n_series() as u32;
        all.filter(|series| self.windows_of(*series as usize) > 0).collect()
    }

    /// The windows of a series, in order of time.
    pub fn all(&self, series: usize) -> impl ExactSizeIterator<Item = WindowRef> {
        let first = self.candidates(series).start;
        (0..self.windows_of(series)).map(move |index| self.window(series, first, index))
    }

    /// The `index`-th window of a series whose first candidate is number `first`.
    fn window(&self, series: usize, first: i64, index: usize) -> WindowRef {
        let index = self.ranks.as_ref().map_or(index, |ranks| ranks.select(series, index));
        WindowRef { series: series as u32, start: self.start(series, first + index as i64) }
    }

    /// Draws the windows of one training step from a batch of series into `out`.
    ///
    /// As in neuralforecast: `n` distinct windows if there are that many, else `n` with
    /// repetition; without `n`, all of them in order. Nothing is drawn from series that have no
    /// window at all.
    pub fn draw(&self, series: &[u32], n: Option<usize>, stream: &mut Stream, out: &mut Vec<WindowRef>) {
        out.clear();
        let mut total = 0_u64;
        // For each series, the windows up to its end and its first candidate.
        let ends: Vec<(u64, i64)> = (series.iter())
            .map(|series| {
                total += self.windows_of(*series as usize) as u64;
                (total, self.candidates(*series as usize).start)
            })
            .collect();
        let window = |index: u64| {
            let at = ends.partition_point(|(end, _)| *end <= index);
            let before = at.checked_sub(1).map_or(0, |at| ends[at].0);
            self.window(series[at] as usize, ends[at].1, (index - before) as usize)
        };
        match n {
            _ if total == 0 => {}
            None => out.extend(series.iter().flat_map(|series| self.all(*series as usize))),
            Some(n) if total < n as u64 => out.extend((0..n).map(|_| window(stream.below(total)))),
            Some(n) => {
                // The first n steps of a Fisher-Yates shuffle of 0..total; only cells that were
                // swapped are held.
                let mut moved = FxHashMap::with_capacity_and_hasher(n, FxBuildHasher);
                for i in 0..n as u64 {
                    let j = i + stream.below(total - i);
                    let at_i = moved.get(&i).copied().unwrap_or(i);
                    out.push(window(moved.insert(j, at_i).unwrap_or(j)));
                }
            }
        }
    }

    /// Rows of a series that windows of this span see.
    pub(crate) fn visible(&self, series: usize) -> i64 {
        self.panel.len(series) as i64 - self.grid.cut
    }
}

fn future_columns<'p>(
    panel: &'p Panel,
    spec: &WindowSpec,
    future: Option<&'p Future>,
) -> Result<Vec<&'p [f32]>, DataError> {
    if spec.futr.is_empty() {
        return Ok(Vec::new());
    }
    let Some(table) = future else {
        let by_flag = !panel.is_of_slices();
        return Err(DataError::FutureNeeded { columns: spec.futr.clone(), by_flag });
    };
    let expected = panel.n_series() * spec.horizon;
    let mut columns = Vec::new();
    for name in &spec.futr {
        let future = table.column(name)?;
        if table.h() != spec.horizon || future.len() != expected {
            return Err(DataError::FutureShape { expected, found: future.len() });
        }
        columns.push(future);
    }
    Ok(columns)
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
