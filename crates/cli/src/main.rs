//! The foretell command line: the commands, and the exit code.
//!
//! Each command is a file in `commands`. Data go to standard output, everything else to standard error.
//! The exit code is 0 for success, 1 for a failure (data, files, training), 2 for a mistake in the
//! command line itself, 3 for a score beyond a bound that was named, 130 for a training that Ctrl-C stopped.
#![deny(unsafe_code)]

mod args;
mod bars;
mod closed_stdout;
mod commands;
mod complaint;
mod config;
mod data_args;
mod demo_files;
mod failure;
mod fallback_args;
mod feature_args;
mod figure;
mod file_args;
mod file_limit;
mod help;
mod hierarchy_args;
mod importances;
mod inputs;
mod interrupt;
mod json_table;
mod layout_args;
mod lettering;
mod markdown;
mod model_args;
mod model_facts;
mod model_uses;
mod out_of_memory;
mod output;
mod picture;
mod png;
mod precision;
mod printable;
mod progress;
mod ranking;
mod report;
mod row_args;
mod saved_run;
mod saving;
mod score_rows;
mod setting;
mod setting_words;
mod several;
mod shell_word;
mod table;
mod threshold;
mod ticks;
mod train_args;
mod truth_args;
mod tuned_models;
mod value_axis;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use foretell::{ErrorFacts, SpecError};
use foretell_auto::Auto;

#[cfg(feature = "pickle")]
use crate::commands::import;
#[cfg(feature = "serve")]
use crate::commands::serve;
use crate::commands::{
    aggregate, anomalies, bench, completions, cross_validate, decompose, demo, evaluate, explain, export,
    features, fit, forecast, future, inspect, man, models, plot, predict, quantise, reading, reconcile,
    report as report_command, simulate, tune,
};
use crate::complaint::ErrorForm;
use crate::config::{CONFIGURABLE, Mistake, Origins};
use crate::failure::{Interrupted, ThresholdCrossed, Usage, is_broken_pipe};
use crate::progress::Log;

/// Memory that the system refuses is an error of the command, wherever it is asked for.
// Unit tests have the allocator of foretell-fuzz, which counts.
#[cfg(not(test))]
#[global_allocator]
static MEMORY: foretell::pool::ProgramMemory = foretell::pool::ProgramMemory;

/// Neural time-series forecasting: train, evaluate and predict from CSV and Parquet files.
#[derive(Debug, Parser)]
#[command(
    name = "foretell",
    version,
    after_help = "\
Start here, with a CSV file of the columns unique_id, ds, y:
  foretell forecast --data sales.csv --h 14               # models that suit it
  foretell forecast --data sales.csv --h 14 --budget 2m   # networks, too
  foretell models --for sales.csv --h 14                  # which, and why

One model, step by step; AutoETS needs no setting:
  foretell cross-validate --data sales.csv --model AutoETS,AutoARIMA --h 14 \\
    --n-windows 3
  foretell fit --data sales.csv --model AutoETS --h 14 --out model
  foretell predict --model model --data sales.csv --level 80 --out forecast.csv
  foretell plot --data sales.csv --forecast forecast.csv

A network is told how much of the past it sees, and how windows are scaled:
  foretell fit --data sales.csv --model NHITS --h 14 --input-size 56 \\
    --set scaler_type=standard --out model

`foretell help COMMAND` explains a command, `foretell help reading` the flags
that say how data are read."
)]
struct Cli {
    /// The form of the error that a command ends with; docs/errors.md lists the codes
    #[arg(long, global = true, value_enum, default_value_t = ErrorForm::Text, value_name = "FORM", hide_possible_values = true)]
    format: ErrorForm,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Forecast(forecast::Forecast),
    Demo(demo::Demo),
    Fit(fit::Fit),
    Predict(predict::Predict),
    Simulate(simulate::Simulate),
    Explain(explain::Explain),
    Decompose(decompose::Decompose),
    CrossValidate(cross_validate::CrossValidate),
    Tune(tune::Tune),
    Evaluate(evaluate::Evaluate),
    Anomalies(anomalies::FindAnomalies),
    Aggregate(aggregate::Aggregate),
    Reconcile(reconcile::Reconcile),
    Plot(plot::Plot),
    Report(report_command::WriteReport),
    Features(features::WriteFeatures),
    Future(future::WriteFuture),
    #[cfg(feature = "pickle")]
    Import(import::Import),
    Export(export::Export),
    Quantise(quantise::Quantise),
    Inspect(inspect::Inspect),
    Models(models::Models),
    Bench(bench::Bench),
    Completions(completions::Completions),
    #[command(hide = true)]
    Reading(reading::Reading),
    Man(man::WriteMan),
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
}

/// The command line as clap knows it, with help that fits a screen.
fn command() -> clap::Command {
    help::arranged(command_with_whole_texts())
}

/// The same whose short help is the whole of it, which shells show beside what they complete.
fn command_with_whole_texts() -> clap::Command {
    CONFIGURABLE
        .into_iter()
        .fold(Cli::command(), |cli, name| cli.mut_subcommand(name, |command| command.arg(config::flag())))
}

fn main() -> ExitCode {
    file_limit::make_an_error();
    let args: Vec<OsString> = env::args_os().collect();
    Auto::register();
    foretell::word_settings(setting_words::FLAGS);
    let log = if asks_for_json(&args, "--log") { Log::Json } else { Log::Text };
    if asks_for_json(&args, "--format") {
        ErrorForm::Json.ask();
    }
    let parsed = config::parse(&command(), args).and_then(|(matches, origins)| {
        let cli = Cli::from_arg_matches(&matches).map_err(Mistake::Arguments)?;
        cli.format.ask();
        Ok((cli, origins, inputs::check(&command(), &matches)))
    });
    match parsed {
        Ok((cli, origins, Ok(()))) => match foretell::check_simd_level() {
            Ok(()) => run(&cli.command, &origins),
            Err(error) => refuse(log, &ErrorFacts::told("simd_level", error.to_string())),
        },
        Ok((_, origins, Err(collision))) => {
            refuse(log, &origins.locate(complaint::of_command_line(collision.to_string())))
        }
        Err(Mistake::Arguments(error)) if is_help(&error) => help(log, &error),
        Err(Mistake::Arguments(error)) => {
            let for_programs = log == Log::Json || ErrorForm::asked() == ErrorForm::Json;
            match complaint::valueless(&error) {
                None if !for_programs => error.exit(),
                _ => refuse(log, &complaint::of_arguments(&error)),
            }
        }
        Err(Mistake::File(facts)) => refuse(log, &facts),
    }
}

fn run(command: &Command, origins: &Origins) -> ExitCode {
    let start = Instant::now();
    let (name, work, log): (_, &dyn Fn() -> anyhow::Result<()>, _) = match command {
        Command::Forecast(command) => ("forecast", &|| command.run(), command.log()),
        Command::Demo(command) => ("demo", &|| command.run(), command.log()),
        Command::Fit(command) => ("fit", &|| command.run(), command.log()),
        Command::Predict(command) => ("predict", &|| command.run(), command.log()),
        Command::Decompose(command) => ("decompose", &|| command.run(), command.log()),
        Command::Explain(command) => ("explain", &|| command.run(), command.log()),
        Command::Simulate(command) => ("simulate", &|| command.run(), command.log()),
        Command::CrossValidate(command) => ("cross-validate", &|| command.run(), command.log()),
        Command::Tune(command) => ("tune", &|| command.run(), command.log()),
        Command::Evaluate(command) => ("evaluate", &|| command.run(), command.log()),
        Command::Anomalies(command) => ("anomalies", &|| command.run(), command.log()),
        Command::Aggregate(command) => ("aggregate", &|| command.run(), command.log()),
        Command::Reconcile(command) => ("reconcile", &|| command.run(), command.log()),
        Command::Plot(command) => ("plot", &|| command.run(), command.log()),
        Command::Report(command) => ("report", &|| command.run(), command.log()),
        Command::Features(command) => ("features", &|| command.run(), command.log()),
        Command::Future(command) => ("future", &|| command.run(), command.log()),
        #[cfg(feature = "pickle")]
        Command::Import(command) => ("import", &|| command.run(), command.log()),
        Command::Export(command) => ("export", &|| command.run(), command.log()),
        Command::Quantise(command) => ("quantise", &|| command.run(), command.log()),
        Command::Inspect(command) => ("inspect", &|| command.run(), command.log()),
        Command::Models(command) => ("models", &|| command.run(), command.log()),
        Command::Bench(command) => ("bench", &|| command.run(), command.log()),
        Command::Reading(page) => ("reading", &|| page.run(), page.log()),
        Command::Completions(asked) => {
            ("completions", &|| asked.run(command_with_whole_texts()), asked.log())
        }
        Command::Man(asked) => ("man", &|| asked.run(self::command()), asked.log()),
        #[cfg(feature = "serve")]
        Command::Serve(command) => ("serve", &|| command.run(), command.log()),
    };
    match out_of_memory::caught(work) {
        Ok(()) => {
            if !several::is_follower() {
                log.done(name, start.elapsed());
            }
            several::leave();
            ExitCode::SUCCESS
        }
        // The one who read standard output has seen enough, as in `foretell models | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let interrupted = error.is::<Interrupted>();
            let code = match is_usage(&error) {
                _ if interrupted => interrupt::EXIT_CODE,
                _ if error.is::<ThresholdCrossed>() => ThresholdCrossed::EXIT_CODE,
                true => 2,
                false => 1,
            };
            let facts = origins.locate(complaint::of_work(&error));
            several::fail(|text| log.error(&facts.clone().saying(text)), &facts.message, code, interrupted);
            ExitCode::from(code)
        }
    }
}

/// Prints help or the version, which may fail as other output does.
fn help(log: Log, asked: &clap::Error) -> ExitCode {
    let to_stdout = !asked.use_stderr();
    let check = || if to_stdout { closed_stdout::check() } else { Ok(()) };
    match check().and_then(|()| asked.print()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            log.error(&ErrorFacts::told("io", format!("cannot write to standard output: {error}")));
            ExitCode::FAILURE
        }
        _ => ExitCode::from(asked.exit_code() as u8),
    }
}

/// A mistake in the command line.
fn refuse(log: Log, facts: &ErrorFacts) -> ExitCode {
    log.error(facts);
    ExitCode::from(2)
}

fn is_help(error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    [DisplayHelp, DisplayVersion, DisplayHelpOnMissingArgumentOrSubcommand].contains(&error.kind())
}

/// Whether the command line asks for JSON by a flag, be it well formed or not.
fn asks_for_json(args: &[OsString], flag: &str) -> bool {
    args.contains(&format!("{flag}=json").into())
        || args.windows(2).any(|pair| pair[0] == *flag && pair[1] == "json")
}

/// Whether another command line would mend it.
fn is_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<Usage>()
            || cause.is::<foretell_mpi::JoinError>()
            || cause.is::<SpecError>()
            || matches!(cause.downcast_ref(), Some(foretell::Error::Usage(_)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        let mut cli = command();
        cli.clone().debug_assert();
        cli.build();
        for command in
            cli.get_subcommands().filter(|command| !["help", help::READING].contains(&command.get_name()))
        {
            let name = command.get_name();
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("foretell {name}")), "no example in the help of {name}");
        }
    }

    #[test]
    fn a_closed_pipe_is_found_beneath_other_errors() {
        let error = anyhow::Error::new(io::Error::from(io::ErrorKind::BrokenPipe)).context("cannot write");
        assert!(is_broken_pipe(&error) && !is_usage(&error));
    }
}
