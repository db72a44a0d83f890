//! The foretell command line: the commands, and the exit code.
//!
//! Each command is a file in `commands`. Data go to standard output, everything else to standard error.
//! The exit code is 0 for success, 1 for a failure (data, files, training), 2 for a mistake in the
//! command line itself, 3 for a score beyond a bound that was named, 130 for a training that Ctrl-C stopped.
#![deny(unsafe_code)]

mod args;
mod bars;
mod bounded_scores;
mod closed_stdout;
mod commands;
mod complaint;
mod config;
mod context;
mod curve_figure;
mod data_args;
mod demo_files;
mod drawn_forecasts;
mod failure;
mod fallback_args;
mod feature_args;
mod figure;
mod file_args;
mod file_limit;
mod frequency;
mod help;
mod hierarchy_args;
mod importances;
mod inputs;
mod interrupt;
mod json_table;
mod layout_args;
mod lettering;
mod looked_at;
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
mod short_series;
mod standard_input;
mod sums_with_others;
mod table;
mod temporal_args;
mod threshold;
mod ticks;
mod train_args;
mod train_reading;
mod truth_args;
mod tuned_models;
mod uninterrupted;
mod value_axis;
mod version;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser};
use foretell::{ErrorFacts, SpecError};
use foretell_auto::Auto;

use crate::commands::CommandEntry;
use crate::complaint::ErrorForm;
use crate::config::{Mistake, Origins};
use crate::context::{Context, Log, LogArgs};
use crate::failure::{Interrupted, ThresholdCrossed, Usage, is_broken_pipe};
use crate::several::Processes;

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
  foretell forecast --data sales.csv --h 14
`foretell --help` has more examples, `foretell help COMMAND` the flags of one.",
    after_long_help = "\
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
}

/// The command line as clap knows it, with help that fits a screen.
fn command() -> clap::Command {
    help::arranged(command_with_whole_texts())
}

/// The same whose short help is the whole of it, which shells show beside what they complete.
fn command_with_whole_texts() -> clap::Command {
    let cli =
        Cli::command().long_version(version::long()).subcommand_required(true).arg_required_else_help(true);
    cli.subcommands(commands::all().iter().map(CommandEntry::parsed))
}

fn main() -> ExitCode {
    file_limit::make_an_error();
    let args: Vec<OsString> = env::args_os().collect();
    Auto::register();
    foretell::word_settings(setting_words::FLAGS);
    foretell::keep_beginnings_of_pipes();
    let log = if asks_for_json(&args, "--log") { Log::Json } else { Log::Text };
    let form = if asks_for_json(&args, "--format") { ErrorForm::Json } else { ErrorForm::Text };
    // What is wrong with the command line is told before its command is known.
    let context = Context::new(log, form, command_with_whole_texts);
    let cli = command();
    match config::parse(&cli, args) {
        Ok((matches, origins)) => match Cli::from_arg_matches(&matches) {
            Ok(Cli { format }) => work(Context { error_form: format, ..context }, &cli, &matches, &origins),
            Err(error) => refuse(&context, &complaint::of_arguments(&error)),
        },
        Err(Mistake::Arguments(error)) if is_help(&error) => help(&context, &error),
        Err(Mistake::Arguments(error)) => {
            let for_programs = log == Log::Json || form == ErrorForm::Json;
            match complaint::valueless(&error) {
                None if !for_programs => error.exit(),
                _ => refuse(&context, &complaint::of_arguments(&error)),
            }
        }
        Err(Mistake::File(facts)) => refuse(&context, &facts),
    }
}

/// Does what the command line says.
fn work(mut context: Context, cli: &clap::Command, matches: &ArgMatches, origins: &Origins) -> ExitCode {
    let start = Instant::now();
    let (name, own) = matches.subcommand().expect("clap requires one");
    let command = commands::all().into_iter().find(|command| command.name == name).expect("it is parsed");
    let work = match (command.work)(own) {
        Ok(work) => work,
        Err(error) => return refuse(&context, &complaint::of_arguments(&error)),
    };
    match inputs::check(cli, matches) {
        Ok(inputs) => context.inputs = inputs,
        Err(collision) => {
            return refuse(&context, &origins.locate(complaint::of_command_line(collision.to_string())));
        }
    }
    if let Err(error) = foretell::check_simd_level() {
        return refuse(&context, &ErrorFacts::told("simd_level", error.to_string()));
    }
    context.log = LogArgs::log_of(own);
    let joined = if command.joins_others { Processes::join() } else { Ok(Processes::default()) };
    let joined = joined.map(|processes| {
        if processes.is_follower() {
            context.log = Log::Quiet;
        }
        context.processes = processes;
    });
    // Threads that listen to signals and report steps have it, too.
    let context: &'static Context = Box::leak(Box::new(context));
    match joined.map_err(Into::into).and_then(|()| out_of_memory::caught(|| work(context))) {
        Ok(()) => {
            if !context.processes.is_follower() {
                context.done(name, start.elapsed());
            }
            context.processes.leave();
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
            let tell = |text: &str| context.error(&facts.clone().saying(text));
            context.processes.fail(tell, &facts.message, code, interrupted);
            ExitCode::from(code)
        }
    }
}

/// Prints help or the version, which may fail as other output does.
fn help(context: &Context, asked: &clap::Error) -> ExitCode {
    let to_stdout = !asked.use_stderr();
    let check = || if to_stdout { closed_stdout::check() } else { Ok(()) };
    match check().and_then(|()| asked.print()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            context.error(&ErrorFacts::told("io", format!("cannot write to standard output: {error}")));
            ExitCode::FAILURE
        }
        _ => ExitCode::from(asked.exit_code() as u8),
    }
}

/// A mistake in the command line.
fn refuse(context: &Context, facts: &ErrorFacts) -> ExitCode {
    context.error(facts);
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
            || cause.downcast_ref::<foretell_tuning::TuningError>().is_some_and(|error| error.is_usage())
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
