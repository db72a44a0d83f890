//! A question to saved models about the steps after each series, as several commands ask one: models, series and future rows are
//! read, and a table with a row for each series and step is written.

use std::path::{Path, PathBuf};

use clap::Args;
use foretell::{Fitted, Frame, Future, Panel, ReadOptions};

use crate::args::{JsonArgs, MemoryArgs, OutArgs, ThreadArgs};
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::model_args::load_models;
use crate::output::Sink;
use crate::picture::is_stdout;

/// Saved models, the series that they are asked about, and where the answer goes.
#[derive(Debug, Args)]
pub(crate) struct SavedRunArgs {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// File with the future rows of each series: ids, times, and the columns known in advance; several files, folders and
    /// patterns are one table, as of --data
    #[arg(long, value_name = "FILE")]
    futr: Vec<PathBuf>,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    json: JsonArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// Models, series and future rows that were read, and the place to write to.
pub(crate) struct SavedRun {
    pub(crate) fitted: Fitted,
    pub(crate) panel: Panel,
    pub(crate) future: Option<Future>,
    /// Steps that are asked about.
    pub(crate) h: usize,
    sink: Sink,
}

/// Loads the models of the directory that a flag names, sets what is asked of them, and reads the series for them; and how these are read,
/// for files beside them.
pub(crate) fn read_saved(
    context: &'static Context,
    (flag, dir): (&str, &Path),
    data: &DataArgs,
    memory: &MemoryArgs,
    threads: usize,
    set: impl FnOnce(Fitted) -> anyhow::Result<Fitted>,
) -> anyhow::Result<(Fitted, Panel, ReadOptions)> {
    let fitted = load_models(flag, dir, memory.limit())?.threads(threads)?;
    let fitted = set(fitted.on_warning(move |warning| context.warned(warning)))?;
    let (panel, options) = data.read_for(&fitted, memory.limit().bytes(), threads, context)?;
    Ok((fitted, panel, options))
}

impl SavedRunArgs {
    /// Whether the answer goes to standard output.
    pub(crate) fn is_to_stdout(&self) -> bool {
        is_stdout(&self.out.path)
    }

    /// Reads models, series and future rows, once the place to write to is known to be writable; `h` are the steps that are asked
    /// about, where they are not the models' own.
    pub(crate) fn read(&self, context: &'static Context, h: Option<usize>) -> anyhow::Result<SavedRun> {
        self.data.check_names(&self.futr)?;
        let sink = Sink::open_as(context, &self.out.path, self.json)?;
        let models = ("--model", &*self.model);
        let (fitted, panel, options) =
            read_saved(context, models, &self.data, &self.memory, self.threads.count, Ok)?;
        let sink = sink.decimal(options.numbers.decimal());
        let h = h.unwrap_or(fitted.h());
        let steps = fitted.steps_read(h);
        let future = self.data.read_future(&self.futr, &options, (&panel, steps), context)?;
        Ok(SavedRun { fitted, panel, future, h, sink })
    }

    /// Writes the answer, and tells of the file if it is one: of `each` of the run's series, with its steps.
    pub(crate) fn write(
        &self,
        context: &'static Context,
        run: SavedRun,
        frame: &Frame,
        each: &str,
    ) -> anyhow::Result<()> {
        let SavedRun { panel, h, sink, .. } = run;
        let to_file = !sink.is_stdout();
        sink.write_or_keep(frame)?;
        if to_file {
            let what = format!("{each}{} series, {h} steps each", panel.n_series());
            context.wrote(&self.out.path, &what);
        }
        Ok(())
    }
}
