//! Which windows a panel has: neuralforecast's rules in closed form, nothing materialised.
//!
//! In neuralforecast all series are left-padded with zeros to the longest one of the panel, so that windows
//! stand on one grid counted from the end of every series; held-out rows are cut off, `h` zeros
//! follow, and (with start padding) `input_size - 1` zeros precede. In foretell a window is its series and
//! the row at which it starts. Windows of a series are counted by arithmetic; only a panel with an
//! `available_mask` needs a bit per candidate.
//!
//! A window of all series ([`WindowSpec::all_series`]) is one [`WindowRef`] per series, next to each other, all of
//! them as far from the ends of their series: a number of the grid stands for all of them.

use std::fmt;
use std::ops::Range;

use foretell_simd::Stream;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::grid::{Grid, Known, WindowFilter};
use super::ranks::Ranks;
use super::scaler::WindowScaler;
use super::spec::{Span, WindowRef, WindowSpec};
use crate::error::DataError;
use crate::error::future::FutureError;
use crate::error::windows::{UntaughtSteps, WindowError};
use crate::panels::column::ColumnKind;
use crate::panels::covariates::Future;
use crate::panels::panel::Panel;

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
    all_series: bool,
    /// Which candidates are windows: of each series, where `available_mask` decides; of all series together,
    /// where they have to know enough rows.
    ranks: Option<Ranks>,
}

impl fmt::Debug for Cutter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cutter")
            .field("panel", &self.panel)
            .field("input_size", &self.l)
            .field("horizon", &self.h)
            .field("scaler", &self.scaler)
            .finish()
    }
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
                ColumnKind::Categories => WindowScaler::Identity,
                ColumnKind::Numbers | ColumnKind::Labels(_) => spec.scaler,
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
            all_series: spec.all_series,
            ranks: None,
        };
        match (grid.keep, &panel.data.mask) {
            (WindowFilter::Known { .. }, _) if spec.all_series => {
                cutter.ranks = Some(cutter.rank_together(spec.availability_threshold));
            }
            (WindowFilter::Known { insample, outsample }, Some(mask)) => {
                cutter.ranks = Some(cutter.rank(mask, [insample, outsample]));
            }
            _ => {}
        }
        if let Span::Train { val_size, test_size } = span {
            cutter.check_lengths(spec, val_size, test_size)?;
            cutter.check_weights()?;
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
                return Err(WindowError::TooShort { id, rows, held_out, input_size, needed }.into());
            }
        }
        let none = (0..self.panel.n_series()).all(|series| self.windows_of(series) == 0);
        if none {
            let rows = self.panel.max_len().saturating_sub(held_out);
            let (padded, WindowFilter::Known { insample, outsample }) = (spec.start_padding, self.grid.keep)
            else {
                unreachable!("windows to train on are those of which enough is known");
            };
            let insample = if padded { insample as usize } else { input_size };
            let outsample = outsample as usize;
            return Err(WindowError::NoWindows { rows, held_out, insample, outsample, padded }.into());
        }
        Ok(())
    }

    /// Without a weight above 0 every loss would be 0, and nothing would be learned.
    fn check_weights(&self) -> Result<(), DataError> {
        let mut sums = vec![0.0; self.h];
        let mut has_weight = |window: WindowRef| {
            self.add_mask_sums(&[window], &mut sums);
            sums.iter().any(|sum| *sum > 0.0)
        };
        let mut series = 0..self.panel.n_series();
        match self.weight.is_none() || series.any(|series| self.all(series).any(&mut has_weight)) {
            true => Ok(()),
            false => Err(WindowError::NoWeight.into()),
        }
    }

    /// Marks the candidates with enough known rows.
    fn rank(&self, mask: &[f32], least: [i64; 2]) -> Ranks {
        let mut ranks = Ranks::default();
        for series in 0..self.panel.n_series() {
            let known = Known::new(Some(&mask[self.panel.series[series].rows()]), self.visible(series));
            ranks.push(self.candidates(series).map(|number| {
                let start = self.start(series, number);
                let insample = known.within(start, self.l);
                insample >= least[0] && known.within(start + self.l as i64, self.h) >= least[1]
            }));
        }
        ranks
    }

    /// Marks the windows of all series that have enough known rows, counted over the series: these fractions of
    /// their cells, and one cell of each part.
    fn rank_together(&self, fractions: [f64; 2]) -> Ranks {
        let n = self.panel.n_series();
        let mut sums = vec![[0_i64; 2]; self.grid.count as usize];
        for series in 0..n {
            let mask = self.panel.data.mask.as_ref().map(|mask| &mask[self.panel.series[series].rows()]);
            let known = Known::new(mask, self.visible(series));
            for (number, sums) in (0..).zip(&mut sums) {
                let start = self.start(series, number);
                sums[0] += known.within(start, self.l);
                sums[1] += known.within(start + self.l as i64, self.h);
            }
        }
        let least = |rows: usize, fraction: f64| ((rows as f64 * fraction * n as f64) as i64).max(1);
        let least = [least(self.l, fractions[0]), least(self.h, fractions[1])];
        let mut ranks = Ranks::default();
        ranks.push(sums.iter().map(|sums| sums[0] >= least[0] && sums[1] >= least[1]));
        ranks
    }

    /// Numbers of the grid among which the windows of a series are. What a series lacks of a window of all series
    /// is padding.
    fn candidates(&self, series: usize) -> Range<i64> {
        if self.all_series {
            return 0..self.grid.count;
        }
        self.series_candidates(series)
    }

    fn series_candidates(&self, series: usize) -> Range<i64> {
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

    /// Rows of a batch that a window takes: one, or one for each series of the panel.
    pub fn rows_per_window(&self) -> usize {
        if self.all_series { self.panel.n_series() } else { 1 }
    }

    /// Whether the span has such a window of this series for its own sake, not only to complete one of all series.
    pub fn is_of_series(&self, window: WindowRef) -> bool {
        let series = window.series as usize;
        let number = (window.start - self.start(series, 0)) / self.grid.step;
        self.series_candidates(series).contains(&number)
    }

    /// The time of the last row that a window knows. Where that is before the first row of its series, the first
    /// row's time less the rows in between: a number that no other window of the series has.
    pub fn cutoff(&self, window: WindowRef) -> i64 {
        let (series, row) = (window.series as usize, window.start + self.l as i64 - 1);
        match usize::try_from(row) {
            Ok(row) => self.panel.time(series, row),
            Err(_) => self.panel.time(series, 0).saturating_add(row),
        }
    }

    /// Number of windows of a series; if windows hold all series, of all of them together.
    pub fn windows_of(&self, series: usize) -> usize {
        match &self.ranks {
            Some(ranks) => ranks.count(self.sequence(series)),
            None => self.candidates(series).count(),
        }
    }

    /// Where the ranks of a series are.
    fn sequence(&self, series: usize) -> usize {
        if self.all_series { 0 } else { series }
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

    /// All windows, a row of the batch each: series after series in order of time; windows of all series in order of
    /// time, each with its series in their order.
    pub fn rows(&self) -> Vec<WindowRef> {
        let n = self.panel.n_series();
        if !self.all_series {
            return (0..n).flat_map(|series| self.all(series)).collect();
        }
        (0..self.windows_of(0))
            .flat_map(|index| (0..n).map(move |series| self.window(series, 0, index)))
            .collect()
    }

    /// The windows of a series, in order of time.
    pub fn all(&self, series: usize) -> impl ExactSizeIterator<Item = WindowRef> {
        let first = self.candidates(series).start;
        (0..self.windows_of(series)).map(move |index| self.window(series, first, index))
    }

    /// The `index`-th window of a series whose first candidate is number `first`.
    fn window(&self, series: usize, first: i64, index: usize) -> WindowRef {
        let index = self.ranks.as_ref().map_or(index, |ranks| ranks.select(self.sequence(series), index));
        WindowRef { series: series as u32, start: self.start(series, first + index as i64) }
    }

    /// Draws the windows of one training step from a batch of series into `out`.
    ///
    /// As in neuralforecast: `n` distinct windows if there are that many, else `n` with
    /// repetition; without `n`, all of them in order. Nothing is drawn from series that have no
    /// window at all. If windows hold all series, `n` is their number, whatever `series` says, and each comes with
    /// its series in their order.
    pub fn draw(&self, series: &[u32], n: Option<usize>, stream: &mut Stream, out: &mut Vec<WindowRef>) {
        out.clear();
        if self.all_series {
            let all = 0..self.panel.n_series();
            let window = |index| all.clone().map(move |series| self.window(series, 0, index as usize));
            let total = self.windows_of(0) as u64;
            return draw_indices(total, n, stream, |index| out.extend(window(index)));
        }
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
        draw_indices(total, n, stream, |index| out.push(window(index)));
    }

    /// Whether the windows teach every step of the horizon: one that none of them shows the truth of would be forecast by
    /// weights that nothing trained.
    ///
    /// # Errors
    /// [`WindowError::UntaughtSteps`], with the longest horizon that they teach.
    pub fn check_horizon(&self) -> Result<(), DataError> {
        let mut mask = vec![0.0; self.h];
        let mut untaught: Vec<usize> = (0..self.h).collect();
        for window in (0..self.panel.n_series()).flat_map(|series| self.all(series)) {
            self.outsample_mask(window, &mut mask);
            untaught.retain(|step| mask[*step] == 0.0);
            if untaught.is_empty() {
                return Ok(());
            }
        }
        let (longest, held_out) = (self.panel.max_len() as i64, self.grid.cut);
        let untaught = UntaughtSteps {
            h: self.h,
            count: untaught.len(),
            longest: untaught[0],
            rows: (longest - held_out).max(0) as usize,
            held_out: held_out as usize,
            input_size: self.l,
            padded: self.grid.offset < -longest,
        };
        Err(WindowError::UntaughtSteps(untaught.into()).into())
    }

    /// Rows of a series that windows of this span see.
    pub(crate) fn visible(&self, series: usize) -> i64 {
        self.panel.len(series) as i64 - self.grid.cut
    }
}

/// `n` distinct numbers below `total` if there are that many, else `n` with repetition; without `n`, all of them
/// in order.
fn draw_indices(total: u64, n: Option<usize>, stream: &mut Stream, mut take: impl FnMut(u64)) {
    match n {
        _ if total == 0 => {}
        None => (0..total).for_each(take),
        Some(n) if total < n as u64 => (0..n).for_each(|_| take(stream.below(total))),
        Some(n) => {
            // The first n steps of a Fisher-Yates shuffle of 0..total; only cells that were swapped are held.
            let mut moved = FxHashMap::with_capacity_and_hasher(n, FxBuildHasher);
            for i in 0..n as u64 {
                let j = i + stream.below(total - i);
                let at_i = moved.get(&i).copied().unwrap_or(i);
                take(moved.insert(j, at_i).unwrap_or(j));
            }
        }
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
        return Err(FutureError::Needed { columns: spec.futr.clone() }.into());
    };
    let expected = panel.n_series() * spec.horizon;
    let mut columns = Vec::new();
    for name in &spec.futr {
        let future = table.column(name)?;
        if table.h() != spec.horizon || future.len() != expected {
            return Err(FutureError::Shape { expected, found: future.len() }.into());
        }
        columns.push(future);
    }
    Ok(columns)
}

#[cfg(test)]
#[path = "cutter_tests.rs"]
mod tests;
