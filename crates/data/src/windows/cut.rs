//! Windows written, scaled, into slices that the caller owns.

use std::ops::Range;

use super::cutter::Cutter;
use super::scaler::{Stats, WindowScaler};
use super::spec::WindowRef;

/// Where [`Cutter::cut`] writes `n` windows: row-major, window first, then time, then column.
///
/// L is `input_size`, h the horizon; X, F and S are the numbers of hist, futr and stat columns. A
/// slice that is left empty is not written.
#[derive(Debug, Default)]
pub struct WindowSlices<'a> {
    /// `[n, L]`: scaled target. Padding is scaled like a zero.
    pub insample_y: &'a mut [f32],
    /// `[n, L]`: the target as it is in the panel, padding being 0.
    pub raw_insample_y: &'a mut [f32],
    /// `[n, L]`: 1 where the target is known, 0 elsewhere.
    pub insample_mask: &'a mut [f32],
    /// `[n, h]`: scaled target over the horizon.
    pub outsample_y: &'a mut [f32],
    /// `[n, h]`: 1 where the target is known, 0 elsewhere; in training times the mean sample
    /// weight over the `h` rows, of which those past the end count as 0.
    pub outsample_mask: &'a mut [f32],
    /// `[n, h]`: the target as it is in the panel, 0 where it has no row.
    pub raw_outsample_y: &'a mut [f32],
    /// `[n, L, X]`: scaled columns.
    pub hist: &'a mut [f32],
    /// `[n, L + h, F]`: scaled columns.
    pub futr: &'a mut [f32],
    /// `[n, S]`: static columns.
    pub stat: &'a mut [f32],
    /// `[n]`: shift of the target's scaling.
    pub loc: &'a mut [f32],
    /// `[n]`: unit of the target's scaling.
    pub scale: &'a mut [f32],
}

/// The part of a stretch of rows that a series has.
struct Overlap {
    /// Rows of the stretch before the first that the series has.
    pad: usize,
    rows: Range<usize>,
}

impl Overlap {
    /// Rows `from .. from + len` of a series of which `visible` rows are seen.
    fn new(from: i64, len: usize, visible: i64) -> Self {
        let end = (from + len as i64).clamp(0, visible.max(0));
        let start = from.clamp(0, end);
        let pad = (start - from).clamp(0, len as i64) as usize;
        Self { pad, rows: start as usize..end as usize }
    }

    /// The rows as positions in the panel's columns.
    fn at(&self, series_start: usize) -> Range<usize> {
        series_start + self.rows.start..series_start + self.rows.end
    }
}

#[derive(Default)]
struct Scratch {
    known: Vec<f32>,
    order: Vec<i32>,
}

impl Cutter<'_> {
    /// Writes windows into slices, in their order. Any part of a batch may be cut on its own,
    /// on any thread: a window does not depend on the others.
    ///
    /// # Panics
    /// If a slice is neither empty nor of the length that [`WindowSlices`] states.
    #[track_caller]
    pub fn cut(&self, windows: &[WindowRef], into: &mut WindowSlices<'_>) {
        self.check(windows.len(), into);
        let mut scratch = Scratch::default();
        for (at, window) in windows.iter().enumerate() {
            self.cut_target(at, *window, into, &mut scratch);
            self.cut_columns(at, *window, into, &mut scratch);
        }
    }

    /// Adds to `sums` (`[h]`) the outsample masks of the windows: with weights of the horizon, the
    /// normaliser of a loss over them.
    ///
    /// # Panics
    /// If `sums` does not have one value per row of the horizon.
    #[track_caller]
    pub fn add_mask_sums(&self, windows: &[WindowRef], sums: &mut [f64]) {
        assert_eq!(sums.len(), self.h, "sums of {} rows for a horizon of {}", sums.len(), self.h);
        let mut mask = vec![0.0; self.h];
        for window in windows {
            self.outsample_mask(*window, &mut mask);
            sums.iter_mut().zip(&mask).for_each(|(sum, mask)| *sum += f64::from(*mask));
        }
    }

    fn check(&self, n: usize, into: &WindowSlices<'_>) {
        let (l, h) = (self.l, self.h);
        for (name, found, each) in [
            ("insample_y", into.insample_y.len(), l),
            ("raw_insample_y", into.raw_insample_y.len(), l),
            ("insample_mask", into.insample_mask.len(), l),
            ("outsample_y", into.outsample_y.len(), h),
            ("outsample_mask", into.outsample_mask.len(), h),
            ("raw_outsample_y", into.raw_outsample_y.len(), h),
            ("hist", into.hist.len(), l * self.hist.len()),
            ("futr", into.futr.len(), (l + h) * self.futr.len()),
            ("stat", into.stat.len(), self.stat.len()),
            ("loc", into.loc.len(), 1),
            ("scale", into.scale.len(), 1),
        ] {
            assert!(found == 0 || found == n * each, "{name}: {found} values for {n} windows of {each}");
        }
    }

    /// 1 where the target is known over the horizon of a window, times its weight, and 0 elsewhere.
    pub(crate) fn outsample_mask(&self, window: WindowRef, out: &mut [f32]) {
        let series = &self.panel.series[window.series as usize];
        let visible = self.visible(window.series as usize);
        let rows = Overlap::new(window.start + self.l as i64, self.h, visible);
        let weight = self
            .weight
            .map_or(1.0, |weight| weight[rows.at(series.start)].iter().sum::<f32>() / self.h as f32);
        match &self.panel.data.mask {
            Some(mask) => {
                write_padded(out, rows.pad, &mask[rows.at(series.start)], 0.0, |known| known * weight)
            }
            None => {
                out.fill(0.0);
                out[rows.pad..][..rows.rows.len()].fill(weight);
            }
        }
    }

    fn cut_target(&self, at: usize, window: WindowRef, into: &mut WindowSlices<'_>, scratch: &mut Scratch) {
        let (l, h) = (self.l, self.h);
        let start = self.panel.series[window.series as usize].start;
        let visible = self.visible(window.series as usize);
        let inside = Overlap::new(window.start, l, visible);
        let outside = Overlap::new(window.start + l as i64, h, visible);
        let data = &*self.panel.data;
        if let Some(out) = part(into.insample_mask, at, l) {
            match &data.mask {
                Some(mask) => write_padded(out, inside.pad, &mask[inside.at(start)], 0.0, |known| known),
                None => {
                    out.fill(0.0);
                    out[inside.pad..][..inside.rows.len()].fill(1.0);
                }
            }
        }
        if let Some(out) = part(into.outsample_mask, at, h) {
            self.outsample_mask(window, out);
        }
        if let Some(out) = part(into.raw_insample_y, at, l) {
            write_padded(out, inside.pad, &data.y[inside.at(start)], 0.0, |y| y);
        }
        if let Some(out) = part(into.raw_outsample_y, at, h) {
            write_padded(out, outside.pad, &data.y[outside.at(start)], 0.0, |y| y);
        }
        let scaled = [&into.insample_y, &into.outsample_y, &into.loc, &into.scale];
        if scaled.iter().all(|slice| slice.is_empty()) {
            return;
        }
        let stats = self.stats(self.scaler, &data.y, inside.at(start), scratch);
        let forward = |value| self.scaler.forward(stats, value);
        let pad = forward(0.0);
        if let Some(out) = part(into.insample_y, at, l) {
            write_padded(out, inside.pad, &data.y[inside.at(start)], pad, forward);
        }
        if let Some(out) = part(into.outsample_y, at, h) {
            write_padded(out, outside.pad, &data.y[outside.at(start)], pad, forward);
        }
        if let Some(out) = part(into.loc, at, 1) {
            out[0] = stats.loc;
        }
        if let Some(out) = part(into.scale, at, 1) {
            out[0] = stats.scale;
        }
    }

    fn cut_columns(&self, at: usize, window: WindowRef, into: &mut WindowSlices<'_>, scratch: &mut Scratch) {
        let (l, h) = (self.l, self.h);
        let series = &self.panel.series[window.series as usize];
        let visible = self.visible(window.series as usize);
        let inside = Overlap::new(window.start, l, visible);
        let whole = Overlap::new(window.start, l + h, visible);
        if let Some(out) = part(into.hist, at, l * self.hist.len()) {
            for (i, column) in self.hist.iter().enumerate() {
                let stats = self.stats(column.scaler, column.past, inside.at(series.start), scratch);
                let cells = column_of(out, i, self.hist.len());
                let rows = &column.past[inside.at(series.start)];
                write_strided(cells, inside.pad, rows, &[], |value| column.scaler.forward(stats, value));
            }
        }
        if let Some(out) = part(into.futr, at, (l + h) * self.futr.len()) {
            for (i, column) in self.futr.iter().enumerate() {
                let stats = self.stats(column.scaler, column.past, inside.at(series.start), scratch);
                let cells = column_of(out, i, self.futr.len());
                let rows = &column.past[whole.at(series.start)];
                let series = window.series as usize;
                let future = column.future.map_or(&[][..], |future| &future[series * h..][..h]);
                write_strided(cells, whole.pad, rows, future, |value| column.scaler.forward(stats, value));
            }
        }
        if let Some(out) = part(into.stat, at, self.stat.len()) {
            out.iter_mut().zip(&self.stat).for_each(|(out, values)| *out = values[series.place]);
        }
    }

    /// Statistics of a column over the known ones of the insample rows.
    fn stats(
        &self,
        scaler: WindowScaler,
        column: &[f32],
        rows: Range<usize>,
        scratch: &mut Scratch,
    ) -> Stats {
        if scaler == WindowScaler::Identity {
            return Stats { loc: 0.0, scale: 1.0 };
        }
        let Scratch { known, order } = scratch;
        match &self.panel.data.mask {
            None => scaler.stats(&column[rows], order),
            Some(mask) => {
                known.clear();
                let rows = column[rows.clone()].iter().zip(&mask[rows]);
                known.extend(rows.filter(|(_, mask)| **mask == 1.0).map(|(value, _)| *value));
                scaler.stats(known, order)
            }
        }
    }
}

/// The `at`-th run of `each` values; nothing if the slice is not wanted.
fn part(slice: &mut [f32], at: usize, each: usize) -> Option<&mut [f32]> {
    (!slice.is_empty()).then(|| &mut slice[at * each..][..each])
}

/// Writes `values` through `map` after `pad` cells of `fill`, and `fill` after them.
fn write_padded(out: &mut [f32], pad: usize, values: &[f32], fill: f32, map: impl Fn(f32) -> f32) {
    let (before, rest) = out.split_at_mut(pad);
    let (middle, after) = rest.split_at_mut(values.len());
    before.fill(fill);
    after.fill(fill);
    middle.iter_mut().zip(values).for_each(|(out, value)| *out = map(*value));
}

fn column_of(out: &mut [f32], column: usize, columns: usize) -> impl Iterator<Item = &mut f32> {
    out.iter_mut().skip(column).step_by(columns)
}

/// Writes zeros for padding, then `values`, then `future`, then zeros, all through `map`.
fn write_strided<'a>(
    cells: impl Iterator<Item = &'a mut f32>,
    pad: usize,
    values: &[f32],
    future: &[f32],
    map: impl Fn(f32) -> f32,
) {
    let zeros = std::iter::repeat(&0.0);
    let values = zeros.clone().take(pad).chain(values).chain(future).chain(zeros);
    cells.zip(values).for_each(|(cell, value)| *cell = map(*value));
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
