//! `foretell features`: the columns that features compute, as a table.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{ArgGroup, Args, Command, Id};
use foretell::features::{FEATURES, FeatureEntry};
use foretell::{
    CellError, ColumnError, ColumnNames, DataError, Features, Fitted, Flaw, Frame, Freq, Panel, ReadOptions,
    TableError, Value, Warning, Workers, json,
};

use crate::args::{MemoryArgs, OutArgs, ThreadArgs};
use crate::context::Context;
use crate::data_args::DataArgs;
use crate::failure::Usage;
use crate::feature_args::features;
use crate::output::{Sink, print};
use crate::table::AlignedTable;

/// Write the data with columns that are computed from them
///
/// Features of the target (lags, moving windows, ...) see in each row the rows before it alone; where there are not yet enough rows
/// the cells are empty (with --model as the models read them: the last value, for differences and deviations zero). Features of the times (calendar, Fourier terms, holidays, ...) are
/// known ahead. `foretell fit --features` computes the same columns for its models, and needs no such file.
#[derive(Debug, Args)]
#[command(
    mut_arg("data", |data| data.required(false)), mut_group("DataArgs", of_data),
    after_help = "\
Examples:
  foretell features --list
  foretell features --list --json
  foretell features --data sales.csv --features lag:1,7,roll_mean:28,weekday \\
    --out wide.parquet
  foretell features --data sales.csv --features fourier:yearly:3,holidays:DE:1:2
  # those of models
  foretell features --data sales.csv --model model --out wide.csv"
)]
pub(crate) struct WriteFeatures {
    #[command(flatten)]
    data: Option<DataArgs>,
    /// Features to compute, as for fit
    #[arg(long = "features", value_name = "WORD[,WORD]", value_delimiter = ',', requires = "data")]
    words: Vec<String>,
    /// Compute the features of the models in this directory, on data that are read as theirs were
    #[arg(long, value_name = "DIR", requires = "data", conflicts_with_all = ["words", "freq"])]
    model: Option<PathBuf>,
    /// Frequency of the data, as in pandas [default: inferred]
    #[arg(long, value_name = "F", value_parser = Freq::parse, requires = "data")]
    freq: Option<Freq>,
    /// Print all features, with an example and the meaning of each
    #[arg(long, conflicts_with = "data", required_unless_present = "data")]
    list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    json: bool,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl WriteFeatures {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let Some(data) = self.data.as_ref().filter(|_| !self.list) else {
            return print(if self.json { listed_as_json() } else { listed() });
        };
        data.check_names(&[])?;
        let sink = Sink::open(context, &self.out.path)?;
        let max_memory = self.memory.limit().bytes();
        let (panel, names, features, decimal) = match &self.model {
            Some(dir) => {
                let fitted = Fitted::load_within(dir, self.memory.limit())?;
                let (panel, options) = data.read_for(&fitted, max_memory, self.threads.count, context)?;
                let features = fitted.features().clone();
                if features.is_empty() {
                    return Err(
                        Usage(format!("--model {}: its models have no features", dir.display())).into()
                    );
                }
                (panel, data.columns(fitted.columns().clone()), features, options.numbers.decimal())
            }
            None => {
                let features = features(&self.words)?
                    .ok_or_else(|| Usage("--features or --model is missing".to_owned()))?;
                let names = data.columns(ColumnNames::default());
                let mut options =
                    data.options(&names, Vec::new(), Vec::new(), self.freq, &ReadOptions::default())?;
                // All columns of the data are written.
                options.columns = None;
                options = options.max_memory(max_memory).threads(self.threads.count);
                (data.read(&options, context)?, names, features, options.numbers.decimal())
            }
        };
        if self.model.is_none() {
            let told = features.caveats(&panel).into_iter();
            told.for_each(|(feature, told)| context.warned(&Warning::Feature { feature, told }));
        }
        let workers = Workers::new(self.threads.count)?;
        // Columns that are there already, and what is no finite number, are refused.
        let wide = features.add_to(&panel, &workers).context("--features")?;
        let to_file = !sink.is_stdout();
        let mut frame = self.frame(context, &wide, &features, &names);
        if self.model.is_none() {
            for (name, known) in features.known_columns_of(&panel, &workers)? {
                let column = frame.columns.iter_mut().find(|(column, _)| *column == name);
                column.expect("all features are added").1 = known;
            }
        }
        sink.decimal(decimal).write(&frame)?;
        if to_file {
            let what = format!("{} rows, {} features", frame.n_rows(), features.columns().len());
            context.wrote(&self.out.path, &what);
        }
        Ok(())
    }

    /// The table of a panel: ids, times, the target, its numeric columns and those of the features.
    fn frame(
        &self,
        context: &'static Context,
        panel: &Panel,
        features: &Features,
        names: &ColumnNames,
    ) -> Frame {
        let mut frame = empty_frame(panel, names);
        for series in 0..panel.n_series() {
            frame.ids.extend(std::iter::repeat_n(panel.id(series), panel.len(series)).cloned());
            frame.times.extend(panel.times(series));
        }
        let whole = |of: &dyn Fn(usize) -> Vec<f32>| (0..panel.n_series()).flat_map(of).collect::<Vec<f32>>();
        let target =
            (0..panel.n_series()).flat_map(|series| panel.known_values(series, 0..panel.len(series)));
        frame.push_wide(&names.target, target.collect(), panel.has_levels());
        let computed = features.columns();
        for name in panel.column_names() {
            // A text is no number that could be written, and no feature is computed from it; nor is a column with values that are missing.
            if !computed.iter().any(|column| column == name)
                && let Err(error) = panel.column(name, 0)
            {
                let reason = match error {
                    DataError::Table(TableError::Column(ColumnError::Labels { .. }))
                    | DataError::Table(TableError::Cell(CellError::Value { flaw: Flaw::Labelled, .. })) => {
                        "it holds text".to_owned()
                    }
                    other => other.to_string(),
                };
                context.warning(&format!("column {name} is left out: {reason}"));
                continue;
            }
            let column = whole(&|series| panel.column(name, series).unwrap_or_default().to_vec());
            frame.columns.push((name.to_owned(), column));
        }
        frame
    }
}

/// A table without rows, of times like the panel's.
pub(super) fn empty_frame(panel: &Panel, names: &ColumnNames) -> Frame {
    Frame {
        id_col: names.id.clone(),
        time_col: names.time.clone(),
        zone: panel.zone().cloned(),
        integer_ids: panel.has_integer_ids(),
        ..Frame::new(panel.freq())
    }
}

/// All features.
fn listed() -> String {
    let known = FEATURES.iter().map(|entry| if entry.is_known_ahead() { "ahead" } else { "past" });
    AlignedTable::new()
        .text("feature", FEATURES.iter().map(|entry| entry.example))
        .text("known", known)
        .text("meaning", FEATURES.iter().map(|entry| entry.meaning))
        .render()
}

/// The same as JSON.
fn listed_as_json() -> String {
    let feature = |entry: &FeatureEntry| {
        json!({
            "name": entry.name, "example": entry.example, "meaning": entry.meaning,
            "known_ahead": entry.is_known_ahead(),
        })
    };
    format!("{}\n", FEATURES.iter().map(feature).collect::<Value>())
}

/// The flags that say how data are read, none of which means anything without data. Clap leaves groups empty that hold groups.
pub(super) fn of_data(group: ArgGroup) -> ArgGroup {
    let all = DataArgs::augment_args(Command::new(""));
    let flags: Vec<Id> = all.get_arguments().map(|flag| flag.get_id().clone()).collect();
    group.args(flags).requires("data")
}
