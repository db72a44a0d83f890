//! Arguments of the commands that train models.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{
    ColumnNames, Ensemble, FileOptions, Fitted, Forecaster, Freq, Intervals, KeptSettings, LocalScaler,
    ModelSpec, Panel, ReadOptions, is_of_id,
};
use foretell_auto::Temporal;
use serde_json::json;

use crate::args::{KeptArgs, MemoryArgs, thread_count};
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::failure::Usage;
use crate::feature_args::FeatureArgs;
use crate::frequency::freq_without;
use crate::hierarchy_args::{HierarchyArgs, KeptMethodArgs};
use crate::model_args::ModelArgs;
use crate::precision::StepArgs;
use crate::progress::Reporter;

/// A hierarchy by which forecasts are to add up, and the method if one is named.
pub(crate) type AskedHierarchy = (Hierarchy, Option<Reconciliation>);

/// Training, as in `fit` and `cross-validate`.
#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    features: FeatureArgs,
    /// Parameters of networks that training leaves unchanged: whole names, or the beginnings of names up to a point, as
    /// blocks.0,blocks.1; of one among several models behind its name, as NHITS.blocks.0
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    freeze: Vec<String>,
    /// Frequency of the data, as in pandas: h, D, B, W-SUN, MS, 15min, BME, SMS, bh, 1, ... or polars: 1mo, 15m, ...
    /// [default: inferred]
    #[arg(long, value_name = "F", value_parser = Freq::parse, conflicts_with = "from")]
    pub(crate) freq: Option<Freq>,
    /// File with the days on which business days or hours have no row, one a line. They are saved with the models
    /// [default for --freq: B]
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) holidays: Option<PathBuf>,
    /// Leave out series that are too short, with fewer rows than input_size and those held out after it, and list
    /// them
    #[arg(long)]
    pub(crate) drop_short: bool,
    /// Last steps of each series that are held out to watch the loss on: 0, or at least h
    #[arg(long, value_name = "N", default_value_t = 0)]
    val_size: usize,
    /// Scale each series by its own statistics, before windows are cut and scaled: standard, robust, robust-iqr,
    /// minmax or boxcox
    #[arg(long, value_name = "SCALER", value_parser = str::parse::<LocalScaler>)]
    local_scaler: Option<LocalScaler>,
    /// Scale each static column over the series, by one of the same
    #[arg(long, value_name = "SCALER", value_parser = str::parse::<LocalScaler>)]
    local_static_scaler: Option<LocalScaler>,
    /// Calibrate prediction intervals of models that forecast a single number, on the errors of N forecasts of the
    /// end of each series, STEP steps apart. METHOD is conformal_distribution or conformal_error. The models are
    /// trained twice for that, first without that end; those that are saved are trained on all rows [default STEP: 1]. Or
    /// dropout[:N]: quantiles of N forecasts of each network with dropout (100 by default); or spread: that of the members of an
    /// --ensemble. Both say how unsure models are, not how noisy the values are, and need no second training
    #[arg(long, value_name = "N[:METHOD[:STEP]]|dropout[:N]|spread", value_parser = str::parse::<Intervals>)]
    pub(crate) intervals: Option<Intervals>,
    /// Further columns that combine the forecasts of all models, and the intervals that all of them have: EnsembleMean,
    /// EnsembleMedian, or EnsembleWeighted with the weights of least squared error on the last N horizons of each series. For the
    /// weights the models are trained twice, as for --intervals, on whose forecasts they are learnt if there are some
    #[arg(
        long = "ensemble", value_name = "mean|median|weighted[:N]", value_delimiter = ',',
        value_parser = str::parse::<Ensemble>
    )]
    pub(crate) ensembles: Vec<Ensemble>,
    /// Threads; 0 for as many as the machine has. They change nothing in the result
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = thread_count())]
    pub(crate) threads: usize,
    /// Seed of initial weights, draws and dropout [default: each model's random_seed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    hierarchy: HierarchyArgs,
    #[command(flatten)]
    method: KeptMethodArgs,
    #[command(flatten)]
    kept: KeptArgs,
    #[command(flatten)]
    steps: StepArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
}

impl TrainArgs {
    /// The models of --from, if it is given.
    pub(crate) fn trained(&self) -> anyhow::Result<Option<Fitted>> {
        self.models.trained(self.memory.limit())
    }

    /// The models of the directory that --model names in place of models: to be used unchanged, without any training.
    pub(crate) fn in_directory(&self) -> anyhow::Result<Option<Fitted>> {
        let fitted = self.models.in_directory(self.memory.limit())?;
        let given = [("--freq", self.freq.is_some()), ("--holidays", self.holidays.is_some())];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) if fitted.is_some() => {
                let message =
                    format!("{flag}: the models of --model are used as they were trained; leave it out");
                Err(Usage(message).into())
            }
            _ => Ok(fitted),
        }
    }

    /// Refuses flags that concern the training of models, where trained ones are used unchanged: they would change nothing, or
    /// show the models other data than they were trained on. `which` says whose models these are.
    pub(crate) fn refuse_training(&self, which: &str) -> Result<(), Usage> {
        let given = [
            ("--freeze", !self.freeze.is_empty()),
            ("--seed", self.seed.is_some()),
            ("--temporal", self.method.is_over_time()),
            ("--val-size", self.val_size > 0),
            ("--features", self.features.is_given()),
            ("--local-scaler", self.local_scaler.is_some()),
            ("--local-static-scaler", self.local_static_scaler.is_some()),
        ];
        let own = given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag.to_owned());
        match own.or_else(|| self.steps.given()).or_else(|| self.models.changed()) {
            Some(flag) => Err(Usage(format!(
                "{flag}: {which} are used as they were trained; leave it out, or train them further first, by `foretell fit --from DIR`"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses ensembles of trained models, which have those that they were trained with.
    pub(crate) fn refuse_ensembles(&self, which: &str) -> Result<(), Usage> {
        match self.ensembles.is_empty() {
            true => Ok(()),
            false => Err(Usage(format!(
                "--ensemble: {which} have the ensembles that they were trained with; leave it out, or train them with it first, by \
                 `foretell fit --ensemble`"
            ))),
        }
    }

    /// Trained models that are asked about a panel unchanged, with what concerns their forecasts as the flags say.
    pub(crate) fn as_trained(
        &self,
        context: &'static Context,
        fitted: &Fitted,
        panel: &Panel,
    ) -> anyhow::Result<Fitted> {
        let fitted = self.kept.of(fitted.clone()).threads(self.threads)?;
        let mut fitted = fitted.on_warning(move |warning| context.warned(warning));
        let asked = self.hierarchy(Some(&fitted))?;
        let asked =
            asked.map(|(hierarchy, method)| (hierarchy, method.unwrap_or(Reconciliation::usual(false))));
        if let Some((hierarchy, method)) = asked
            && fitted.hierarchy() != Some((&hierarchy, method))
        {
            fitted = fitted.with_hierarchy(Some((hierarchy, method)))?;
        }
        match self.intervals {
            Some(intervals) => Ok(fitted.calibrate(panel, intervals)?),
            None => Ok(fitted),
        }
    }

    /// The models, ready to be trained, `from` these if there are trained ones; `beside` are further ones for the horizon, of
    /// which those are left out that are named already.
    pub(crate) fn forecaster(
        &self,
        context: &'static Context,
        from: Option<&Fitted>,
        beside: impl FnOnce(usize) -> anyhow::Result<Vec<ModelSpec>>,
    ) -> anyhow::Result<Forecaster> {
        let mut specs = self.specs(context, from, false)?;
        let named = specs.len();
        for spec in beside(specs[0].h())? {
            // A model that is reconciled over time has the column of the model itself.
            let is_same = |named: &ModelSpec| {
                named.name() == spec.name()
                    || named.name() == Temporal::ENTRY.name && named.alias() == spec.alias()
            };
            if !specs.iter().any(is_same) {
                specs.push(spec);
            }
        }
        let baselines = specs.len() - named;
        Ok(self.forecaster_of(context, specs, from)?.baselines(baselines))
    }

    /// These models, ready to be trained: the training is reported.
    pub(crate) fn forecaster_of(
        &self,
        context: &'static Context,
        specs: Vec<ModelSpec>,
        from: Option<&Fitted>,
    ) -> anyhow::Result<Forecaster> {
        let hierarchy = self.hierarchy(from)?;
        let forecaster = self.configured(Forecaster::new(specs)?, from, hierarchy.as_ref())?;
        forecaster.check()?;
        context.bounded(forecaster.kept_settings());
        let mut reporter = Reporter::new(context);
        let forecaster = forecaster.on_warning(move |warning| context.warned(warning));
        Ok(forecaster.on_progress(move |model, progress| reporter.step(model, progress)))
    }

    /// The models with their hyper-parameters; where a search finds these, the input size may be missing. They read no static
    /// columns that are labels of a hierarchy.
    pub(crate) fn specs(
        &self,
        context: &'static Context,
        from: Option<&Fitted>,
        searched: bool,
    ) -> anyhow::Result<Vec<ModelSpec>> {
        self.data.check_names(&[])?;
        self.check_freeze(from)?;
        let mut statics = self.static_columns(from)?;
        // A table of labels may have further columns.
        let has_labels = self.hierarchy.labels().iter().any(|label| !self.data.static_cols.contains(label));
        if has_labels && !self.data.statics.is_empty() && !self.models.read_statics(from, searched)? {
            let (own, unread): (Vec<_>, Vec<_>) =
                statics.into_iter().partition(|name| self.data.static_cols.contains(name));
            if !unread.is_empty() {
                let text = format!("columns of --static that no model reads: {}", unread.join(", "));
                context.report(&text, &json!({ "event": "note", "message": text, "columns": unread }));
            }
            statics = own;
        }
        let specs = self.models.specs(self.seed, &statics, from, searched, context)?;
        let specs = if from.is_some() { specs } else { refuse_twins(specs)? };
        self.method.over_time(specs, from.is_some(), searched)
    }

    pub(crate) fn names_models(&self) -> bool {
        self.models.are_named()
    }

    /// A model of the horizon that is asked for that reads all columns which models are to read, for where the data choose the models.
    pub(crate) fn reader(&self, reader: impl FnOnce(usize) -> ModelSpec) -> anyhow::Result<ModelSpec> {
        self.data.check_names(&[])?;
        self.check_freeze(None)?;
        self.models.reading_all(reader(self.models.h()?), &self.static_columns(None)?)
    }

    /// These models in place of named ones, with what the flags set of them.
    pub(crate) fn settle(
        &self,
        context: &'static Context,
        specs: Vec<ModelSpec>,
    ) -> anyhow::Result<Vec<ModelSpec>> {
        let specs = self.models.set(specs, self.seed, &self.static_columns(None)?, None, context)?;
        self.method.over_time(refuse_twins(specs)?, false, true)
    }

    /// The static columns that models read: all that there are.
    fn static_columns(&self, from: Option<&Fitted>) -> anyhow::Result<Vec<String>> {
        let statics = match self.data.statics.first() {
            Some(path) => {
                let mut names =
                    foretell::column_names(path, &self.data.file.options(&FileOptions::default()))?;
                let end = self.reading(from)?.end_col;
                let id = self.columns(from).id;
                let further = |name: &String| !is_of_id(&id, name) && Some(name) != end.as_ref();
                names.retain(|name| further(name) && !self.hierarchy.labels().contains(name));
                names
            }
            None => Vec::new(),
        };
        if let Some(twice) = self.data.static_cols.iter().find(|name| statics.contains(name)) {
            return Err(Usage(format!(
                "--static-cols {twice}: this column is in the file of --static, all of whose columns are read; leave it out of --static-cols"
            ))
            .into());
        }
        Ok([statics, self.data.static_cols.clone()].concat())
    }

    /// Checks that --freeze is of trained networks: other models have no parameters that training could leave, and refuse none.
    fn check_freeze(&self, from: Option<&Fitted>) -> Result<(), Usage> {
        if self.freeze.is_empty() {
            return Ok(());
        }
        let Some(from) = from else {
            let message =
                "--freeze: new weights are to be trained; name the models that have some by --from DIR";
            return Err(Usage(message.to_owned()));
        };
        let names = from.column_names();
        let others = from.models().iter().zip(&names).filter(|(model, _)| model.parameters() == 0);
        let others: Vec<&str> = others.map(|(_, name)| name.as_str()).collect();
        // A name behind that of a model is for this model alone.
        let is_of = |parameter: &str, model: &str| {
            parameter.strip_prefix(model).is_some_and(|rest| rest.starts_with('.'))
        };
        let in_vain = |parameter: &&String| {
            others.len() == names.len() || others.iter().any(|model| is_of(parameter, model))
        };
        match self.freeze.iter().find(in_vain) {
            Some(parameter) => Err(Usage(format!(
                "--freeze {parameter}: only networks have parameters that training can leave unchanged, and of the models of --from \
                 these are none: {}; leave it out",
                others.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// The names of the hyper-parameters that the command line sets for the model with this number among those of its name.
    pub(crate) fn set_by_user(&self, model: &str, number: usize) -> Vec<String> {
        let seed = self.seed.map(|_| "random_seed".to_owned());
        seed.into_iter().chain(self.models.set_by_user(model, number)).collect()
    }

    /// The hierarchy that forecasts are to add up by, and how, if it is said: that which is given, else that of the models to continue
    /// from.
    pub(crate) fn hierarchy(&self, from: Option<&Fitted>) -> anyhow::Result<Option<AskedHierarchy>> {
        let named = self.method.named()?;
        let (id_col, options) = (self.columns(from).id, self.reading(from)?.file);
        if let Some(given) = self.data.hierarchy(&self.hierarchy, (&id_col, &options))? {
            return Ok(Some((given, named)));
        }
        match (from.and_then(Fitted::hierarchy), named) {
            (Some((hierarchy, saved)), named) => Ok(Some((hierarchy.clone(), named.or(Some(saved))))),
            (None, None) => Ok(None),
            (None, Some(method)) => {
                let keep = if from.is_some() { ", and the models of --from keep none" } else { "" };
                Err(Usage(format!(
                    "--method {method}: no hierarchy is given by which forecasts add up{keep}; name a file with a summing matrix by \
                     --hierarchy, or columns of labels by --levels"
                ))
                .into())
            }
        }
    }

    /// The forecaster with the settings of the command line, `from` trained models and with a hierarchy if there are some.
    pub(crate) fn configured(
        &self,
        mut forecaster: Forecaster,
        from: Option<&Fitted>,
        hierarchy: Option<&AskedHierarchy>,
    ) -> anyhow::Result<Forecaster> {
        if let Some(features) = self.features.features()? {
            forecaster = forecaster.features(features).context("--features")?;
        }
        if let Some(from) = from {
            forecaster = forecaster.start_from(from).freeze(&self.freeze);
        }
        let asked = KeptSettings { end: self.data.end(), ..self.kept.settings() };
        let kept = forecaster.kept_settings();
        forecaster = forecaster
            .keep(asked.or(kept))
            .reading(&self.reading(from)?)
            .val_size(self.val_size)
            .threads(self.threads)
            .steps_as(self.steps.settings())
            .columns(self.columns(from));
        if let Some(bytes) = self.memory.bytes() {
            forecaster = forecaster.max_memory(bytes);
        }
        if let Some(scaler) = self.local_scaler {
            forecaster = forecaster.local_scaler(scaler);
        }
        if let Some(scaler) = self.local_static_scaler {
            forecaster = forecaster.local_static_scaler(scaler);
        }
        if let Some(intervals) = self.intervals {
            forecaster = forecaster.intervals(intervals);
        }
        for ensemble in &self.ensembles {
            forecaster = forecaster.ensemble(*ensemble);
        }
        match hierarchy.cloned() {
            Some((hierarchy, Some(method))) => Ok(forecaster.hierarchy(hierarchy, method)?),
            Some((hierarchy, None)) => Ok(forecaster.hierarchy_by_default(hierarchy)?),
            None => Ok(forecaster),
        }
    }

    /// The mark before decimals, of what is read and written.
    pub(crate) fn decimal(&self, from: Option<&Fitted>) -> anyhow::Result<char> {
        Ok(self.reading(from)?.numbers.decimal())
    }

    /// How data are read, whatever the models read of them.
    fn reading(&self, from: Option<&Fitted>) -> anyhow::Result<ReadOptions> {
        let saved = from.map_or_else(ReadOptions::default, |fitted| fitted.reading().clone());
        let freq = match from {
            Some(fitted) => fitted.freq_of_data(),
            None => freq_without(self.freq, self.holidays.as_deref())?,
        };
        self.data.options(&self.columns(from), Vec::new(), Vec::new(), freq, &saved)
    }

    pub(crate) fn columns(&self, from: Option<&Fitted>) -> ColumnNames {
        self.data.columns(from.map_or_else(ColumnNames::default, |fitted| fitted.columns().clone()))
    }
}

/// Two models with the same hyper-parameters would forecast the same: somebody meant to change one of them.
fn refuse_twins(specs: Vec<ModelSpec>) -> anyhow::Result<Vec<ModelSpec>> {
    match (1..specs.len()).find(|&second| specs[..second].contains(&specs[second])) {
        None => Ok(specs),
        Some(second) => Err(Usage(format!(
            "two models {} have the same hyper-parameters, so their forecasts would be the same; leave one out, or give the \
             second another hyper-parameter (random_seed, ...)",
            specs[second].name()
        ))
        .into()),
    }
}
