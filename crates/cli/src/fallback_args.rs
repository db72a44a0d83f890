//! Series that models forecast in another way than their hyper-parameters say: as a table.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::{CellTable, Cells, SeriesFallback, id_name};

use crate::context::Context;
use crate::output::Sink;

/// The table of such series.
#[derive(Clone, Debug, Args)]
pub(crate) struct FallbackArgs {
    /// Write the series that models forecast in another way than their hyper-parameters say, as by their last value, to a table: id,
    /// model, reason, instead
    #[arg(long = "fallbacks", value_name = "FILE")]
    path: Option<PathBuf>,
}

impl FallbackArgs {
    /// The table before it is written, if it is asked for.
    pub(crate) fn open(&self, context: &'static Context) -> anyhow::Result<Option<Fallbacks<'_>>> {
        let open = |path| Ok(Fallbacks { sink: Sink::open(context, path)?, path, context });
        self.path.as_deref().map(open).transpose()
    }
}

/// A table of such series before it is written.
pub(crate) struct Fallbacks<'a> {
    sink: Sink,
    path: &'a Path,
    context: &'static Context,
}

impl Fallbacks<'_> {
    /// Writes the table; the ids stand in a column of this name.
    pub(crate) fn write(self, id_col: &str, found: &[SeriesFallback]) -> anyhow::Result<()> {
        let Self { sink, path, context } = self;
        let texts = |text: fn(&SeriesFallback) -> &str| {
            Cells::Texts(found.iter().map(|fallback| Some(text(fallback).to_owned())).collect())
        };
        let columns = vec![
            (id_name(id_col).to_owned(), texts(|fallback| &fallback.series)),
            ("model".to_owned(), texts(|fallback| &fallback.model)),
            ("reason".to_owned(), texts(|fallback| &fallback.reason)),
            ("instead".to_owned(), texts(|fallback| fallback.instead)),
        ];
        let to_file = !sink.is_stdout();
        sink.write_cells(&CellTable { columns })?;
        if to_file {
            context.wrote(path, &format!("{} fallbacks", found.len()));
        }
        Ok(())
    }
}
