//! What every network is that forecasts without being trained: from histories to quantiles.

use std::fmt;

use foretell_estimator::KnownColumn;

/// What a network sees of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesContext<'a> {
    /// The last values of the history, at most [`PretrainedNetwork::context_length`] of them, the oldest first; NaN where a value is
    /// unknown. There are no infinite ones.
    pub values: &'a [f64],
    /// Steps of the seasons that the calendar has at the series' frequency, such as 24 and 168 of hours; often none.
    pub seasons: &'a [usize],
    /// Columns beside the history, for networks that [read](PretrainedNetwork::reads_columns) them: as many values of the past as the
    /// history has or more, of which the last ones count, and those of the steps ahead that are known, NaN where one is not.
    pub columns: &'a [KnownColumn],
    /// Contexts behind each other of the same group are forecast together by networks that read columns; others forecast each by itself.
    pub group: usize,
}

/// A network whose weights are there already. It keeps no state between forecasts, and is shared by threads.
pub trait PretrainedNetwork: fmt::Debug + Send + Sync {
    /// The probabilities of the quantiles that it forecasts, ascending, each above 0 and below 1; 0.5 is among them.
    fn levels(&self) -> &[f64];

    /// Steps that it forecasts in one pass. [`PretrainedNetwork::forecast`] takes any number.
    fn horizon(&self) -> usize;

    /// The last values of a history that it reads, at most.
    fn context_length(&self) -> usize;

    /// The most steps that it can forecast; nothing where there is no such limit.
    fn most_steps(&self) -> Option<usize> {
        None
    }

    /// Known values among those that it needs: of fewer, a series is forecast by its last one, without the network.
    fn least_known(&self) -> usize {
        1
    }

    /// Whether it reads columns beside the target.
    fn reads_columns(&self) -> bool {
        false
    }

    /// Series that it likes to forecast in one call, so that its products are large enough. It must not depend on the threads.
    fn together(&self) -> usize {
        1
    }

    /// The quantiles of the `horizon` steps after each context, `[contexts, horizon, levels]`, in the unit of the contexts, into
    /// `out`, every number of which it writes, finite. Quantiles of a step may cross; they are sorted later. It runs on one thread,
    /// others forecast other series meanwhile; the numbers of a context may depend on the others of the call by rounding alone.
    ///
    /// # Panics
    /// If `out` has another length.
    fn forecast(&self, contexts: &[SeriesContext<'_>], horizon: usize, out: &mut [f64]);

    /// Bytes that it holds, its weights and what it made of them.
    fn held_bytes(&self) -> u64;

    /// Bytes that a call with as many contexts as [`PretrainedNetwork::together`], each with this many columns, takes meanwhile; or with
    /// a group of more contexts.
    fn working_bytes(&self, horizon: usize, columns: usize, group: usize) -> u64;
}
