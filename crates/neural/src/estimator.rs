//! A network's specification as an estimator.

use foretell_data::Panel;
use foretell_estimator::{
    ColumnKind, ColumnsRead, Estimator, EstimatorError, EstimatorNeeds, HeldOut, LevelsSeen, MemoryEstimate,
    Output, Run, Trained, TrainingSize,
};
use foretell_infer::MAX_BLOCK;
use foretell_models::Exogenous;
use foretell_nn::{Loss, SeriesPerWindow, check_amp};
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

    fn needs(&self) -> EstimatorNeeds {
        let (needs, common) = (self.network_needs(), self.common());
        let Exogenous { futr, hist, stat, cat } = self.exogenous();
        let kinds = [
            (hist, ColumnKind::Hist),
            (futr, ColumnKind::Futr),
            (stat, ColumnKind::Stat),
            (cat, ColumnKind::Cat),
        ];
        let is_relative = self.loss().is_relative_to_zero() || self.valid_loss().is_relative_to_zero();
        let is_unwatched = common.early_stop_patience_steps <= 0;
        let steps = common.max_steps;
        EstimatorNeeds {
            can_read: kinds.into_iter().filter_map(|(reads, kind)| reads.then_some(kind)).collect(),
            is_joint: needs.series == SeriesPerWindow::All,
            n_series: common.n_series,
            series_at_a_time: if needs.forecasts_alone { 1 } else { MAX_BLOCK },
            input_size: Some(self.input_size()),
            takes_dropout_samples: self.takes_dropout_samples(),
            rows_needed: least_rows(self),
            rows_read: window_dims(self, needs, Purpose::Forecast).input_size,
            // A network that was trained on padding knows it.
            rows_expected: (!common.start_padding_enabled).then(|| self.input_size()),
            forecasts_counts: self.loss().is_of_counts(),
            levels_seen: if is_relative { LevelsSeen::None } else { LevelsSeen::OfTraining },
            max_steps: Some(steps),
            goes_on_exactly: is_unwatched
                && self.optimizer_settings().is_ok_and(|settings| settings.schedule.is_constant_for(steps)),
            // Batches that are dealt out to the threads in shards keep them all busy.
            takes_all_threads: shard_count(common.windows_batch_size.unwrap_or(usize::MAX), needs, false) > 1,
            ..EstimatorNeeds::default()
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
        match self.loss().with_quantiles(quantiles) {
            Some(loss) => Some(outputs(&loss)),
            None => self.samples_by_dropout().map(|_| Output::point_and_quantiles(quantiles)),
        }
    }

    fn caveats(&self, _: &Panel) -> Vec<String> {
        self.entry.unread(&self.own).unwrap_or_default()
    }

    fn training_memory(&self, size: &TrainingSize<'_>) -> Result<(usize, MemoryEstimate), EstimatorError> {
        check_amp(size.step.precision.name()).map_err(NetworkError::from)?;
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
