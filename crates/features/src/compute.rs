//! The columns of a panel's features.

use std::ops::Range;

use foretell_calendar::TimeKind;
use foretell_data::{DataError, Future, Panel};
use foretell_threads::Workers;

use crate::error::FeatureError;
use crate::rows::{RowBlock, RowNeeds};
use crate::spec::{FeatureSpec, Features};
use crate::table::Recipe;

/// Columns by name.
type Columns = Vec<(String, Vec<f32>)>;

/// Rows that are worked on together: their times and targets stay in the cache of a core.
const BLOCK: usize = 1 << 14;

/// Numbers below which threads would take longer to be told of their work than to do it.
const FEW: usize = 1 << 15;

/// Blocks that are worked on at a time.
const WAVE: usize = 16;

impl Features {
    /// The panel with the columns of all features. In each row those of the target are computed from the rows before it alone:
    /// where the target of a row is not known ([`Panel::available_mask`]), it counts as the last known one, and where there are
    /// not yet enough rows, the last known value stands, for differences and deviations zero; zero in the first row too.
    ///
    /// # Errors
    /// If the panel has a column of such a name, its times are integers and a feature needs dates, or a difference is larger
    /// than a 32-bit number.
    pub fn add_to(&self, panel: &Panel, workers: &Workers) -> Result<Panel, FeatureError> {
        if self.is_empty() {
            return Ok(panel.clone());
        }
        Ok(panel.with_computed(self.columns_of(panel, workers)?)?)
    }

    /// The columns that [`Features::add_to`] adds, by name: the rows of one series after the other.
    ///
    /// # Errors
    /// If its times are integers and a feature needs dates.
    pub fn columns_of(
        &self,
        panel: &Panel,
        workers: &Workers,
    ) -> Result<Vec<(String, Vec<f32>)>, FeatureError> {
        self.columns_where_known(panel, false, workers)
    }

    /// The same for tables that are no input of a model: NaN where there are not yet enough rows, so that nothing is invented.
    ///
    /// # Errors
    /// Those of [`Features::columns_of`].
    pub fn known_columns_of(
        &self,
        panel: &Panel,
        workers: &Workers,
    ) -> Result<Vec<(String, Vec<f32>)>, FeatureError> {
        self.columns_where_known(panel, true, workers)
    }

    fn columns_where_known(
        &self,
        panel: &Panel,
        leaves_open: bool,
        workers: &Workers,
    ) -> Result<Vec<(String, Vec<f32>)>, FeatureError> {
        let specs: Vec<&FeatureSpec> = self.specs.iter().collect();
        let lens: Vec<usize> = (0..panel.n_series()).map(|series| panel.len(series)).collect();
        let needs = needs(&specs);
        let push = |block: &mut RowBlock, series| block.push(panel, series, needs);
        compute(&specs, (panel, leaves_open), &lens, push, workers)
    }

    /// The columns that are known ahead, in the `h` rows that follow each series.
    ///
    /// # Errors
    /// If the times to come leave the calendar, or times are integers and a feature needs dates.
    pub fn ahead(&self, panel: &Panel, h: usize, workers: &Workers) -> Result<Future, FeatureError> {
        self.add_to_future(Future::new(panel, h, &[])?, panel, workers)
    }

    /// `future` with the columns that are known ahead.
    ///
    /// # Errors
    /// If `future` has a column of such a name, the times to come leave the calendar, or times are integers and a feature
    /// needs dates.
    pub fn add_to_future(
        &self,
        future: Future,
        panel: &Panel,
        workers: &Workers,
    ) -> Result<Future, FeatureError> {
        let (specs, h) = (self.known_ahead(), future.h());
        if specs.is_empty() {
            return Ok(future);
        }
        let needs = needs(&specs);
        let push = |block: &mut RowBlock, series| block.push_ahead(panel, series, h, needs);
        Ok(future.with_computed(compute(
            &specs,
            (panel, false),
            &vec![h; panel.n_series()],
            push,
            workers,
        )?)?)
    }
}

/// The columns and times that the features are computed from.
fn needs(specs: &[&FeatureSpec]) -> RowNeeds {
    let mut needs = RowNeeds::default();
    for spec in specs {
        needs.times |= spec.feature.needs_dates();
        match spec.entry.recipe {
            Recipe::Target(_) => needs.target = true,
            Recipe::Time(_) => needs.times = true,
            Recipe::Date(_) | Recipe::Days => (needs.times, needs.dates) = (true, true),
        }
    }
    needs
}

/// The columns of features of series with this many rows each, one series after the other. Blocks of series and features are shared
/// out to the threads; where they are cut depends on the rows alone.
fn compute(
    specs: &[&FeatureSpec],
    (panel, leaves_open): (&Panel, bool),
    lens: &[usize],
    push: impl Fn(&mut RowBlock, usize) -> Result<(), DataError> + Sync,
    workers: &Workers,
) -> Result<Columns, FeatureError> {
    let dated = panel.freq().kind() == TimeKind::Timestamp;
    if let Some(spec) =
        specs.iter().find(|spec| (spec.entry.needs_dates() || spec.feature.needs_dates()) && !dated)
    {
        return Err(FeatureError::NoDates { feature: spec.word.clone() });
    }
    let rows: usize = lens.iter().sum();
    let names = specs.iter().flat_map(|spec| spec.columns.iter().cloned());
    let mut columns: Columns = names.map(|name| (name, vec![0.0; rows])).collect();
    let spread = rows * columns.len() > FEW;
    let mut left: Vec<&mut [f32]> = columns.iter_mut().map(|(_, values)| values.as_mut_slice()).collect();
    for wave in blocks(lens).chunks(WAVE) {
        let mut prepared: Vec<_> =
            wave.iter().map(|_| Ok(RowBlock::new(panel.freq(), leaves_open))).collect();
        workers.each(&mut prepared, spread, |i, block: &mut Result<RowBlock, DataError>| {
            let mut all = RowBlock::new(panel.freq(), leaves_open);
            let pushed = wave[i].clone().try_for_each(|series| push(&mut all, series));
            *block = pushed.map(|()| all);
        });
        let prepared: Vec<RowBlock> = prepared.into_iter().collect::<Result<_, _>>()?;
        let mut tasks: Vec<(&RowBlock, &FeatureSpec, Vec<&mut [f32]>)> = Vec::new();
        for (block, series) in prepared.iter().zip(wave) {
            let rows: usize = lens[series.clone()].iter().sum();
            let mut first = 0;
            for &spec in specs {
                let own = left[first..first + spec.columns.len()].iter_mut();
                tasks.push((block, spec, own.map(|column| split_front(column, rows)).collect()));
                first += spec.columns.len();
            }
        }
        workers.each(&mut tasks, spread, |_, (block, spec, out)| {
            for (series, len) in block.each() {
                let mut own: Vec<&mut [f32]> =
                    out.iter_mut().map(|column| split_front(column, len)).collect();
                spec.feature.compute(&series, &mut own);
            }
        });
    }
    Ok(columns)
}

/// Takes rows off the front of a column.
fn split_front<'a>(column: &mut &'a mut [f32], rows: usize) -> &'a mut [f32] {
    let (front, rest) = std::mem::take(column).split_at_mut(rows);
    *column = rest;
    front
}

/// Series that are worked on together.
fn blocks(lens: &[usize]) -> Vec<Range<usize>> {
    let (mut blocks, mut start, mut rows) = (Vec::new(), 0, 0);
    for (series, len) in lens.iter().enumerate() {
        rows += len;
        if rows >= BLOCK || series + 1 == lens.len() {
            blocks.push(start..series + 1);
            (start, rows) = (series + 1, 0);
        }
    }
    blocks
}
