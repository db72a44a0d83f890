//! The commands: a file and a line of the table each.

mod aggregate;
mod anomalies;
mod bench;
mod completions;
mod cross_validate;
mod decompose;
mod demo;
mod distill;
mod evaluate;
mod explain;
mod export;
mod features;
mod fit;
mod forecast;
mod future;
mod import;
mod inspect;
mod man;
mod models;
mod plot;
mod predict;
mod prune;
mod quantise;
mod reading;
mod reconcile;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod simulate;
mod tune;

use clap::{ArgMatches, Args, Command};

use crate::config;
use crate::context::{Context, LogArgs};
use crate::help::READING;

/// What a command does when its arguments are known.
pub(crate) type Work = Box<dyn FnOnce(&'static Context) -> anyhow::Result<()>>;

/// How the arguments of a command become its work.
type ToWork = Box<dyn Fn(&ArgMatches) -> Result<Work, clap::Error>>;

/// A command of the command line.
pub(crate) struct CommandEntry {
    pub(crate) name: &'static str,
    augment: fn(Command) -> Command,
    /// The work that these arguments ask for.
    pub(crate) work: ToWork,
    /// Whether `--config` names a file of its flags.
    takes_config: bool,
    /// Whether processes that are started together do its work together.
    pub(crate) joins_others: bool,
}

/// All commands, in the order of the help.
pub(crate) fn all() -> Vec<CommandEntry> {
    vec![
        command("forecast", forecast::Forecast::run).with_config(),
        command("demo", demo::Demo::run),
        command("fit", fit::Fit::run).with_config().joining_others(),
        command("predict", predict::Predict::run).with_config(),
        command("simulate", simulate::Simulate::run),
        command("explain", explain::Explain::run),
        command("decompose", decompose::Decompose::run),
        command("cross-validate", cross_validate::CrossValidate::run).with_config(),
        command("tune", tune::Tune::run).with_config(),
        command("distill", distill::Distill::run),
        command("evaluate", evaluate::Evaluate::run),
        command("anomalies", anomalies::FindAnomalies::run),
        command("aggregate", aggregate::Aggregate::run),
        command("reconcile", reconcile::Reconcile::run),
        command("plot", plot::Plot::run),
        command("report", report::WriteReport::run),
        command("features", features::WriteFeatures::run),
        command("future", future::WriteFuture::run),
        command("import", import::Import::run),
        command("export", export::Export::run),
        command("quantise", quantise::Quantise::run),
        command("prune", prune::Prune::run),
        command("inspect", inspect::Inspect::run),
        command("models", models::Models::run),
        command("bench", bench::Bench::run),
        command("completions", completions::Completions::run),
        command(READING, reading::Reading::run),
        command("man", man::WriteMan::run),
        #[cfg(feature = "serve")]
        command("serve", serve::Serve::run),
    ]
}

/// A command with these arguments, and what it does.
fn command<A: Args + 'static>(
    name: &'static str,
    run: fn(&A, &'static Context) -> anyhow::Result<()>,
) -> CommandEntry {
    let work = move |matches: &ArgMatches| -> Result<Work, clap::Error> {
        let args = A::from_arg_matches(matches)?;
        Ok(Box::new(move |context| run(&args, context)))
    };
    CommandEntry {
        name,
        augment: A::augment_args,
        work: Box::new(work),
        takes_config: false,
        joins_others: false,
    }
}

impl CommandEntry {
    fn with_config(self) -> Self {
        Self { takes_config: true, ..self }
    }

    fn joining_others(self) -> Self {
        Self { joins_others: true, ..self }
    }

    /// The command as clap knows it.
    pub(crate) fn parsed(&self) -> Command {
        let command = (self.augment)(Command::new(self.name));
        // The page of help on reading has the flags of reading alone.
        let command = if self.name == READING { command } else { LogArgs::augment_args(command) };
        if self.takes_config { command.arg(config::flag()) } else { command }
    }
}
