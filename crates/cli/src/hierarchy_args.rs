//! Which series sum up which.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{
    FileOptions, LabelFiles, ModelSpec, Panel, SeriesLabels, levels_of, read_hierarchy, read_levels,
};
use foretell_auto::Temporal;

use crate::failure::Usage;

/// Which series sum up which: a summing matrix, or labels of the series.
#[derive(Debug, Args)]
pub(crate) struct HierarchyArgs {
    /// File with the summing matrix, as hierarchicalforecast's S: a row per series (sums and series), its id, and a column per
    /// series at the bottom, 1 where the row sums up the column. With --levels a file of labels
    #[arg(long, value_name = "FILE")]
    hierarchy: Option<PathBuf>,
    /// Columns of labels of the series, the widest first, as country,state,city, in the file --hierarchy, or else --static. A sum
    /// is called as its labels (Australia/Victoria); the sum of all, if there are several countries, Total
    #[arg(long = "levels", value_name = "C,C", value_delimiter = ',')]
    labels: Vec<String>,
}

/// How forecasts are made to add up.
#[derive(Debug, Args)]
pub(crate) struct MethodArgs {
    /// How forecasts are made to add up [default: MinTraceVar with --residuals, else MinTraceWLS]
    #[arg(
        long, visible_alias = "reconciliation", value_name = "METHOD", value_parser = method(&Reconciliation::ALL), ignore_case = true
    )]
    pub(crate) method: Option<Reconciliation>,
}

/// How the forecasts of models that keep a hierarchy are made to add up.
#[derive(Debug, Args)]
pub(crate) struct KeptMethodArgs {
    /// How forecasts are made to add up, by the hierarchy that is given or that the models of --from keep. MinTraceVar and
    /// MinTraceShrink weigh series by errors of forecasts, for which the models are trained once more [default: MinTraceVar where that
    /// costs little (models without steps of training, or --intervals), else MinTraceWLS; with the
    /// hierarchy of --from, as saved there]
    #[arg(
        long, visible_alias = "reconciliation", value_name = "METHOD", value_parser = method(&OF_MODELS), ignore_case = true
    )]
    method: Option<Reconciliation>,
    /// Periods that the steps of each series add up to, as 24h or 24 of hours: sums over these are forecast by models alike, and
    /// the forecasts of steps are changed until both agree. Of models that need no training in steps; h is a whole number of each period
    #[arg(long, value_name = "P[,P]", value_delimiter = ',')]
    temporal: Vec<String>,
    /// How steps and their sums over --temporal are made to agree
    #[arg(
        long, value_name = "METHOD", value_parser = method(&Temporal::METHODS), ignore_case = true, default_value = "MinTraceVar",
        requires = "temporal"
    )]
    temporal_method: Reconciliation,
}

/// The methods that models can keep. TopDown and MiddleOut divide by shares of the past, which no model has.
const OF_MODELS: [Reconciliation; 5] = [
    Reconciliation::BottomUp,
    Reconciliation::MinTraceOls,
    Reconciliation::MinTraceWls,
    Reconciliation::MinTraceVar,
    Reconciliation::MinTraceShrink,
];

/// Reads the name of a method. Only these are offered; the one who asks for another is told more than that it is none.
pub(crate) fn method(offered: &[Reconciliation]) -> impl TypedValueParser<Value = Reconciliation> + use<> {
    let value = |method: Reconciliation| PossibleValue::new(method.name()).hide(!offered.contains(&method));
    PossibleValuesParser::new(Reconciliation::ALL.map(value)).try_map(|name| name.parse::<Reconciliation>())
}

impl KeptMethodArgs {
    /// The method, if one is named, which the models can keep.
    pub(crate) fn named(&self) -> Result<Option<Reconciliation>, Usage> {
        match self.method {
            Some(method) if !OF_MODELS.contains(&method) => Err(Usage(format!(
                "--method {method}: it divides sums by the shares of the series in their history, which models do not keep; \
                 name one of {}, or reconcile what they forecast by `foretell reconcile --method {method} --history FILE`",
                OF_MODELS.map(Reconciliation::name).join(", ")
            ))),
            method => Ok(method),
        }
    }

    /// Whether periods are named.
    pub(crate) fn is_over_time(&self) -> bool {
        !self.temporal.is_empty()
    }

    /// These models, whose forecasts of steps are reconciled with their sums where periods are named.
    pub(crate) fn over_time(
        &self,
        specs: Vec<ModelSpec>,
        are_trained: bool,
        are_searched: bool,
    ) -> anyhow::Result<Vec<ModelSpec>> {
        if self.temporal.is_empty() {
            return Ok(specs);
        }
        let refused = match (are_trained, are_searched) {
            (true, _) => "the models of --from keep the periods that they were fitted with",
            (_, true) => "hyper-parameters are searched of models of steps alone; name the periods in `fit`",
            _ => {
                let over_time = |spec: ModelSpec| {
                    let temporal = Temporal::new(spec, &self.temporal)?.method(self.temporal_method)?;
                    Ok(ModelSpec::from(temporal))
                };
                return specs.into_iter().map(over_time).collect();
            }
        };
        Err(Usage(format!("--temporal: {refused}; leave it out")).into())
    }
}

impl HierarchyArgs {
    /// The columns of labels.
    pub(crate) fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Reads the hierarchy, if there is one, whose labels stand in the first of these files that has them, of which --hierarchy is another;
    /// `ids` says the series where the labels are of parts of ids.
    pub(crate) fn given(
        &self,
        files: &[LabelFiles<'_>],
        id_col: &str,
        ids: impl FnOnce(&[SeriesLabels]) -> anyhow::Result<Vec<Arc<str>>>,
    ) -> anyhow::Result<Option<Hierarchy>> {
        match (&self.hierarchy, &self.labels[..]) {
            (None, []) => Ok(None),
            (Some(matrix), []) => Ok(Some(read_hierarchy(matrix, id_col)?)),
            (own, levels) => {
                let (options, own) = (FileOptions::default(), own.as_ref().map(std::slice::from_ref));
                let own = own.map(|paths| LabelFiles { paths, options: &options, id_col });
                let files: Vec<LabelFiles<'_>> =
                    own.iter().chain(files).filter(|files| !files.paths.is_empty()).copied().collect();
                let hierarchy = read_levels(&files, id_col, levels, ids)?;
                let message = "--levels: name the file with these columns by --hierarchy or --static";
                Ok(Some(hierarchy.ok_or_else(|| Usage(message.to_owned()))?))
            }
        }
    }

    /// The hierarchy of a panel whose static columns are its levels, if these are such.
    pub(crate) fn of_static_columns(
        &self,
        static_cols: &[String],
        panel: &Panel,
    ) -> anyhow::Result<Option<Hierarchy>> {
        let levels = &self.labels[..];
        let are_static = !levels.is_empty() && levels.iter().all(|level| static_cols.contains(level));
        Ok((are_static && self.hierarchy.is_none()).then(|| levels_of(panel, levels)).transpose()?)
    }
}
