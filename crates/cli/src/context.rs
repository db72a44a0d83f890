//! The facts of a process that its command works by: how it reports, what it reads, who works with it, what asked it to stop.

use std::sync::atomic::AtomicBool;

use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};
use foretell_files::Identity;

use crate::complaint::ErrorForm;
use crate::interrupt::Interrupts;
use crate::several::Processes;

/// The form of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    /// A progress bar on a terminal, else a line every few seconds
    Text,
    /// A JSON object per line, its `event` one of: read (path, series, rows, freq, freq_inferred,
    /// filled_rows, filled_values; of further files path and role: static, futr with ignored_rows, forecast), note (message: what was taken for granted in a file),
    /// dropped (rows_needed, and series: unique_id, rows), ended (end, last, added_rows, series), bounded (non_negative, integer), step (model, step, max_steps, train_loss,
    /// learning_rate, elapsed_s), valid (model, step, valid_loss, elapsed_s), resumed (model, step), interrupt, stopped_at_zero (series),
    /// warning (message; of series that a model falls back on something for also model, reason, instead, series), trial (one of tune --json, and best: the trial that is best so far), fitted (model, parameters, steps,
    /// train_loss, valid_loss), scored (what --json prints of a model), measured (as bench --json), serves (address), wrote (path),
    /// error (code, setting, file, row, column, series, advice, message; the last one), done (command, elapsed_s;
    /// the last one)
    Json,
    /// Nothing but warnings and errors
    None,
    /// Nothing but errors: --quiet
    #[value(skip)]
    Quiet,
}

// How a command reports. As a comment of documentation this would be what help says of each command.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LogArgs {
    /// The form of reports on standard error
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// Write nothing but errors to standard error, no warnings either
    #[arg(long, conflicts_with = "log")]
    quiet: bool,
}

impl LogArgs {
    /// What the arguments of a command ask for; text where it has no such flags.
    pub(crate) fn log_of(matches: &ArgMatches) -> Log {
        let has_flags = matches.try_contains_id("quiet").is_ok();
        match has_flags.then(|| Self::from_arg_matches(matches)) {
            Some(Ok(Self { quiet: true, .. })) => Log::Quiet,
            Some(Ok(Self { log, .. })) => log,
            Some(Err(_)) | None => Log::Text,
        }
    }
}

/// What the command, its reports and the thread that listens for signals share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) log: Log,
    pub(crate) error_form: ErrorForm,
    /// The files and directories that the command reads, as far as they exist.
    pub(crate) inputs: Vec<Identity>,
    pub(crate) processes: Processes,
    pub(crate) interrupts: Interrupts,
    /// Whether people know of series that end before others: they were told, or said that it is meant so.
    pub(crate) ends_are_known: AtomicBool,
    /// The command line, each short help of which is the whole of it.
    pub(crate) command_line: fn() -> clap::Command,
}

impl Context {
    /// That of a process that works alone.
    pub(crate) fn new(log: Log, error_form: ErrorForm, command_line: fn() -> clap::Command) -> Self {
        Self {
            log,
            error_form,
            inputs: Vec::new(),
            processes: Processes::default(),
            interrupts: Interrupts::default(),
            ends_are_known: AtomicBool::new(false),
            command_line,
        }
    }

    /// One for tests.
    #[cfg(test)]
    pub(crate) fn alone() -> &'static Self {
        Box::leak(Box::new(Self::new(Log::Quiet, ErrorForm::Text, crate::command)))
    }
}
