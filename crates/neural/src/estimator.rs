//! A network's specification as an estimator.

use foretell_data::{ColumnPart, Panel};
use foretell_estimator::{
    ColumnKind, ColumnsRead, Estimator, EstimatorError, HeldOut, LevelsSeen, MemoryEstimate, Output, Run,
    Trained, TrainingSize,
};
use foretell_nn::{Loss, check_amp};
use foretell_train::shard_count;
use serde_json::{Map, Value};

use crate::error::NetworkError;
use crate::memory::training_memory;
use crate::spec::NetworkSpec;
use crate::training::train;
use crate::windows::{Purpose, least_rows, window_dims};

impl Estimator for NetworkSpec {
    fn name(&self) -> &'static str {
        self.entry.name
    }

    fn alias(&self) -> &str {
        self.alias()
    }

    fn horizon(&self) -> usize {
        self.h()
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        *self = self.clone().set(name, value)?;
        Ok(())
    }

    fn passed_over(&self) -> &[String] {
        self.passed_over()
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        self.hyper_parameters()
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        self.meaning(name)
    }

    fn check(&self) -> Result<(), EstimatorError> {
        Ok(self.check()?)
    }

    fn can_read(&self, kind: ColumnKind) -> bool {
        let reads = self.exogenous();
        match kind {
            ColumnKind::Hist => reads.hist,
            ColumnKind::Futr => reads.futr,
            ColumnKind::Stat => reads.stat,
            ColumnKind::Cat => reads.cat,
        }
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        ColumnsRead {
            hist: self.hist_exog_list(),
            futr: self.futr_exog_list(),
            stat: self.stat_exog_list(),
            cat: self.cat_exog_list(),
        }
    }

    fn most_categories(&self, column: &str) -> Option<usize> {
        self.cardinality(column)
    }

    fn outputs(&self) -> Vec<Output> {
        outputs(self.loss())
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        let by_dropout = || {
            let of_quantile = |&q: &f64| Output::of(ColumnPart::Quantile(q));
            std::iter::once(Output::point()).chain(quantiles.iter().map(of_quantile)).collect()
        };
        match self.loss().with_quantiles(quantiles) {
            Some(loss) => Some(outputs(&loss)),
            None => self.samples_by_dropout().map(|_| by_dropout()),
        }
    }

    fn is_joint(&self) -> bool {
        self.is_multivariate()
    }

    fn check_n_series(&self, n_series: usize) -> Result<(), EstimatorError> {
        self.fits_n_series(n_series)
    }

    fn rows_needed(&self) -> usize {
        least_rows(self)
    }

    fn rows_read(&self) -> usize {
        window_dims(self, self.needs(), Purpose::Forecast).input_size
    }

    fn rows_expected(&self) -> Option<usize> {
        // A network that was trained on padding knows it.
        (!self.common().start_padding_enabled).then(|| self.input_size())
    }

    fn caveats(&self, _: &Panel) -> Vec<String> {
        self.entry.unread(&self.own).unwrap_or_default()
    }

    fn forecasts_counts(&self) -> bool {
        self.loss().is_of_counts()
    }

    fn levels_seen(&self) -> LevelsSeen {
        match self.loss().is_relative_to_zero() || self.valid_loss().is_relative_to_zero() {
            true => LevelsSeen::None,
            false => LevelsSeen::OfTraining,
        }
    }

    fn max_steps(&self) -> Option<u64> {
        Some(self.common().max_steps)
    }

    fn goes_on_exactly(&self) -> bool {
        let is_unwatched = self.common().early_stop_patience_steps <= 0;
        let steps = self.common().max_steps;
        is_unwatched
            && self.optimizer_settings().is_ok_and(|settings| settings.schedule.is_constant_for(steps))
    }

    fn takes_all_threads(&self) -> bool {
        // Batches that are dealt out to the threads in shards keep them all busy.
        let windows = self.common().windows_batch_size.unwrap_or(usize::MAX);
        shard_count(windows, self.needs()) > 1
    }

    fn training_memory(&self, size: &TrainingSize<'_>) -> Result<(usize, MemoryEstimate), EstimatorError> {
        check_amp(self.precision.name()).map_err(NetworkError::from)?;
        let spec = self.clone().with_cardinalities(size.vocabulary).with_n_series(size.panel.n_series());
        Ok(training_memory(&spec, size)?)
    }

    fn fit(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<Box<dyn Trained>, EstimatorError> {
        let spec = self.clone().with_cardinalities(run.vocabulary).with_n_series(panel.n_series());
        Ok(Box::new(train(&spec, panel, held_out, run)?))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// The columns of a network of this loss.
fn outputs(loss: &Loss) -> Vec<Output> {
    let columns = loss.suffixes().into_iter().zip(loss.column_quantiles());
    columns.map(|(suffix, quantile)| Output { suffix, quantile }).collect()
}
