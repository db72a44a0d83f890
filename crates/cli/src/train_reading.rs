//! How the commands that train models read their data.

use std::path::Path;

use foretell::{Fitted, Forecaster, Panel, ReadOptions, with_sums};

use crate::context::Context;
use crate::frequency::freq_without;
use crate::short_series::without_short;
use crate::train_args::TrainArgs;

impl TrainArgs {
    /// The series, the sums of the hierarchy that `forecaster` keeps and the columns that it reads included, read as for the models that it starts
    /// `from`, if any; with --drop-short without those of fewer than `rows_needed` rows. Series of the hierarchy that the data have no
    /// rows of are left out of it.
    pub(crate) fn read(
        &self,
        context: &'static Context,
        from: Option<&Fitted>,
        forecaster: &mut Forecaster,
        rows_needed: usize,
    ) -> anyhow::Result<Panel> {
        let panel = self.rows(context, from, forecaster)?;
        if from.is_none() {
            forecaster.leave_out_absent(&panel)?;
        }
        self.long_enough(context, panel, forecaster, rows_needed)
    }

    /// The series that another forecaster read ([`TrainArgs::read_by`]), as [`TrainArgs::read`] gives them.
    pub(crate) fn ready(
        &self,
        context: &'static Context,
        panel: Panel,
        forecaster: &mut Forecaster,
        rows_needed: usize,
    ) -> anyhow::Result<Panel> {
        forecaster.leave_out_absent(&panel)?;
        self.long_enough(context, panel, forecaster, rows_needed)
    }

    /// The series of the data with the columns that `forecaster` reads, without the sums of a hierarchy.
    pub(crate) fn read_by(
        &self,
        context: &'static Context,
        forecaster: &Forecaster,
    ) -> anyhow::Result<Panel> {
        self.rows(context, None, forecaster)
    }

    /// The series of the data.
    fn rows(
        &self,
        context: &'static Context,
        from: Option<&Fitted>,
        forecaster: &Forecaster,
    ) -> anyhow::Result<Panel> {
        let (max_memory, context) = (self.memory.limit().bytes(), context);
        let (read, categories) = (forecaster.columns_read(), forecaster.categories());
        Ok(match from {
            Some(fitted) => {
                self.data.read_as_saved(fitted, (read, categories), max_memory, self.threads, context)?.0
            }
            None => {
                let options = self.data.options(
                    &self.columns(None),
                    read,
                    categories,
                    freq_without(self.freq, self.holidays.as_deref())?,
                    &ReadOptions::default(),
                )?;
                let options = options.max_memory(max_memory).threads(self.threads);
                let panel = self.data.read(&options, context)?;
                self.data.tell_unread(&options, context);
                panel
            }
        })
    }

    /// The panel with the sums of the hierarchy; with --drop-short without series of fewer than `rows_needed` rows.
    fn long_enough(
        &self,
        context: &'static Context,
        panel: Panel,
        forecaster: &Forecaster,
        rows_needed: usize,
    ) -> anyhow::Result<Panel> {
        let panel = match forecaster.kept_hierarchy() {
            Some(hierarchy) => with_sums(panel, hierarchy)?,
            None => panel,
        };
        if !self.drop_short {
            return Ok(panel);
        }
        without_short(context, panel, rows_needed, "lower input_size or the steps that are held out")
    }

    /// The data to validate models on that are trained on `panel`, read as that was.
    pub(crate) fn read_validation(
        &self,
        context: &'static Context,
        path: &Path,
        from: Option<&Fitted>,
        forecaster: &Forecaster,
        panel: &Panel,
    ) -> anyhow::Result<Panel> {
        let saved = from.map_or_else(ReadOptions::default, |fitted| fitted.reading().clone());
        let (read, categories) = (forecaster.columns_read(), forecaster.categories());
        let options = self.data.options(&self.columns(from), read, categories, Some(panel.freq()), &saved)?;
        let mut options = options.max_memory(self.memory.limit().bytes()).threads(self.threads);
        // Static columns are those of the data that are trained on.
        options.static_cols = Vec::new();
        let validation = Panel::from_files(&[path], &options)?;
        context.read_beside(path, "validation");
        context.notes(validation.notes());
        match forecaster.kept_hierarchy() {
            Some(hierarchy) => Ok(with_sums(validation, hierarchy)?),
            None => Ok(validation),
        }
    }
}
