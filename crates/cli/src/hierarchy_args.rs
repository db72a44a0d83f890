//! Which series sum up which.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{read_hierarchy, read_levels};

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
    #[arg(long, value_name = "C,C", value_delimiter = ',')]
    levels: Vec<String>,
}

/// How forecasts are made to add up.
#[derive(Debug, Args)]
pub(crate) struct MethodArgs {
    /// How forecasts are made to add up
    #[arg(
        long, visible_alias = "reconciliation", value_name = "METHOD", default_value_t = Reconciliation::MinTraceWls,
        value_parser = PossibleValuesParser::new(Reconciliation::ALL.map(Reconciliation::name)).try_map(|name| name.parse::<Reconciliation>()),
        ignore_case = true
    )]
    pub(crate) method: Reconciliation,
}

impl HierarchyArgs {
    /// The columns of labels.
    pub(crate) fn labels(&self) -> &[String] {
        &self.levels
    }

    /// Reads the hierarchy, if there is one; `statics` are the files of --static.
    pub(crate) fn given(&self, statics: &[PathBuf], id_col: &str) -> anyhow::Result<Option<Hierarchy>> {
        match (&self.hierarchy, &self.levels[..]) {
            (None, []) => Ok(None),
            (Some(matrix), []) => Ok(Some(read_hierarchy(matrix, id_col)?)),
            (labels, levels) => {
                let labels = labels.as_ref().map_or(statics, std::slice::from_ref);
                if labels.is_empty() {
                    let message = "--levels: name the file with these columns by --hierarchy or --static";
                    return Err(Usage(message.to_owned()).into());
                }
                Ok(Some(read_levels(labels, id_col, levels)?))
            }
        }
    }

    /// Reads the hierarchy.
    pub(crate) fn read(&self, statics: &[PathBuf], id_col: &str) -> anyhow::Result<Hierarchy> {
        let message = "name a file with a summing matrix by --hierarchy, or columns of labels by --levels";
        self.given(statics, id_col)?.ok_or_else(|| Usage(message.to_owned()).into())
    }
}
