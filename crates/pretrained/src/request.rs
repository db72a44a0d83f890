//! A request for forecasts: histories and columns of series to a network, and quantiles back.

use foretell_data::{Future, Panel};
use foretell_estimator::{ClockGrid, ColumnsRead, Cutoff, EstimatorError, KnownColumn};

use crate::categories::encode;
use crate::network::{PretrainedNetwork, SeriesContext};
use crate::quantiles::Quantiles;

/// Series that are forecast in one call, in groups of these sizes, and their part of the values.
pub(crate) struct Block<'a> {
    pub(crate) cutoffs: &'a [Cutoff],
    pub(crate) sizes: &'a [usize],
    pub(crate) out: &'a mut [f32],
    pub(crate) result: Result<(), EstimatorError>,
}

/// A request for forecasts.
pub(crate) struct Request<'a> {
    pub(crate) network: &'a dyn PretrainedNetwork,
    pub(crate) panel: &'a Panel,
    pub(crate) future: Option<&'a Future>,
    pub(crate) read: ColumnsRead<'a>,
    pub(crate) seasons: &'a [usize],
    pub(crate) h: usize,
    pub(crate) quantiles: &'a Quantiles,
    /// Columns of the answer.
    pub(crate) columns: usize,
}

impl Request<'_> {
    /// Forecasts the series of a block.
    pub(crate) fn answer(&self, Block { cutoffs, sizes, out, result }: &mut Block<'_>) {
        *result = self.try_answer(cutoffs, sizes, out);
    }

    /// The columns beside the history and the forecast of a series.
    fn columns(&self, (series, before): Cutoff) -> Result<Vec<KnownColumn>, EstimatorError> {
        let past = |name: &String| -> Result<KnownColumn, EstimatorError> {
            let values = &self.panel.column(name, series)?[..before];
            Ok(KnownColumn { past: values.iter().map(|&x| f64::from(x)).collect(), ahead: Vec::new() })
        };
        let rows = before..before + self.h;
        let ahead = |name: &String| -> Result<KnownColumn, EstimatorError> {
            Ok(KnownColumn::of(self.panel, series, name, rows.clone(), self.future)?)
        };
        let names = self.read.of_rows();
        let columns = self.read.hist.iter().map(past).chain(self.read.futr.iter().map(ahead));
        let mut columns = columns.collect::<Result<Vec<KnownColumn>, EstimatorError>>()?;
        let of_categories = names.zip(&mut columns).filter(|(name, _)| self.read.cat.contains(name));
        of_categories.for_each(|(_, column)| encode(column, &self.panel.known_values(series, 0..before)));
        Ok(columns)
    }

    fn try_answer(&self, cutoffs: &[Cutoff], sizes: &[usize], out: &mut [f32]) -> Result<(), EstimatorError> {
        let levels = self.network.levels().len();
        let read = self.network.context_length();
        let clocks: Vec<Option<ClockGrid>> = cutoffs.iter().map(|&cutoff| self.clock(cutoff)).collect();
        let history = |(&(series, before), clock): (&Cutoff, &Option<ClockGrid>)| match clock {
            None => self.panel.known_values(series, before.saturating_sub(read)..before),
            Some(clock) => {
                let mut all = clock.spread(&self.panel.known_values(series, 0..before));
                all.split_off(all.len().saturating_sub(read))
            }
        };
        let histories: Vec<Vec<f64>> = cutoffs.iter().zip(&clocks).map(history).collect();
        let h = clocks.iter().flatten().map(ClockGrid::steps).fold(self.h, usize::max);
        let suffices = |history: &Vec<f64>| {
            let known = history.iter().filter(|y| y.is_finite());
            known.take(self.network.least_known()).count() == self.network.least_known()
        };
        let columns =
            cutoffs.iter().map(|&cutoff| self.columns(cutoff)).collect::<Result<Vec<_>, EstimatorError>>()?;
        let groups = sizes.iter().enumerate().flat_map(|(group, &size)| std::iter::repeat_n(group, size));
        let contexts: Vec<SeriesContext<'_>> = histories
            .iter()
            .zip(&columns)
            .zip(groups)
            .filter(|((history, _), _)| suffices(history))
            .map(|((values, columns), group)| SeriesContext { values, seasons: self.seasons, columns, group })
            .collect();
        let mut forecast = vec![0.0; contexts.len() * h * levels];
        self.network.forecast(&contexts, h, &mut forecast);
        let mut of_network = forecast.chunks_exact_mut(h * levels);
        for (((&cutoff, history), clock), out) in
            cutoffs.iter().zip(&histories).zip(&clocks).zip(out.chunks_exact_mut(self.h * self.columns))
        {
            let own = if suffices(history) { of_network.next() } else { None };
            let Some(own) = own else {
                out.fill(self.held(cutoff, self.last_value(cutoff)));
                continue;
            };
            let places: Vec<usize> = match clock {
                Some(clock) => clock.places().collect(),
                None => (0..self.h).collect(),
            };
            for (row, place) in out.chunks_exact_mut(self.columns).zip(places) {
                let step = &mut own[place * levels..][..levels];
                step.sort_unstable_by(f64::total_cmp);
                row.iter_mut()
                    .zip(self.quantiles.of(step))
                    .for_each(|(cell, value)| *cell = self.held(cutoff, value));
            }
        }
        Ok(())
    }

    /// The clock of a series where it is changed; none beside columns, which stand at the rows, and beyond what the network forecasts.
    fn clock(&self, (series, before): Cutoff) -> Option<ClockGrid> {
        let has_columns = self.read.of_rows().next().is_some();
        let clock = ClockGrid::new(self.panel, series, before, self.h).filter(|_| !has_columns)?;
        let is_short = self.network.most_steps().is_none_or(|most| clock.steps() <= most);
        is_short.then_some(clock)
    }

    /// The last known value before a cutoff, or 0 where none is.
    fn last_value(&self, (series, before): Cutoff) -> f64 {
        let history = self.panel.known_values(series, 0..before);
        history.iter().rev().copied().find(|y| y.is_finite()).unwrap_or(0.0)
    }

    /// A value as the panel holds those of the series, which has no infinite ones.
    fn held(&self, (series, _): Cutoff, value: f64) -> f32 {
        self.panel.level(series).hold(value).clamp(f32::MIN, f32::MAX)
    }
}
