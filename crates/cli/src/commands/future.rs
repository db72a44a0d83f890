//! `foretell future`: the table of future rows that models need.

use std::path::PathBuf;

use clap::Args;

use crate::args::{JsonArgs, MemoryArgs, OutArgs, steps};
use crate::commands::features::empty_frame;
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::output::Sink;
use crate::saved_run::read_saved;

/// Write the future rows that models need, to be filled in
///
/// Writes a row for each series and step of the horizon, with its time, and an empty column for each that the models know in
/// advance. Filled in, it is the file of `foretell predict --futr`. Columns that --features of `foretell fit` compute are not among
/// them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell future --model model --data sales.csv --out future.csv
  foretell future --model model --data sales.csv --h 48 --out future.csv")]
pub(crate) struct WriteFuture {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// Steps to forecast, at least the models' own [default: the models' own]
    #[arg(long, value_name = "N", value_parser = steps())]
    h: Option<usize>,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    json: JsonArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl WriteFuture {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        self.data.check_names(&[])?;
        let sink = Sink::open_as(context, &self.out.path, self.json)?;
        let models = ("--model", &*self.model);
        let (fitted, panel, options) = read_saved(context, models, &self.data, &self.memory, 0, Ok)?;
        let h = self.h.unwrap_or(fitted.h());
        let mut frame = empty_frame(&panel, &self.data.columns(fitted.columns().clone()));
        for series in 0..panel.n_series() {
            frame.ids.extend(std::iter::repeat_n(panel.id(series), h).cloned());
            frame.times.extend(panel.future_times(series, h)?);
        }
        let columns = fitted.future_columns();
        if columns.is_empty() {
            context.warning("the models need no future values: predict without --futr");
        }
        let blank = vec![f32::NAN; frame.n_rows()];
        frame.columns = columns.iter().map(|name| (name.clone(), blank.clone())).collect();
        let to_file = !sink.is_stdout();
        sink.decimal(options.numbers.decimal()).write(&frame)?;
        if to_file {
            let what = match &columns[..] {
                [] => String::new(),
                columns => format!(" to be filled in, columns {}", columns.join(", ")),
            };
            context.wrote(&self.out.path, &format!("{} rows{what}", frame.n_rows()));
        }
        Ok(())
    }
}
