//! `--config run.toml`: flags from a file.
//!
//! The file is turned into arguments, which stand between the command's name and the arguments of the command
//! line, and all of them are parsed together. So the file can say what the flags can, by construction. Flags
//! that the command line gives are left out of the file; of `--set`, the hyper-parameters that it sets.

mod entry;
mod file;
mod paths;
mod syntax;

use std::cmp::Reverse;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, value_parser};
use foretell::ErrorFacts;

use crate::complaint::{of_arguments, rule};
use crate::config::entry::{FLAG, Overridden};
use crate::config::file::entries;

/// The flag, for the commands that have it.
pub(crate) fn flag() -> Arg {
    Arg::new(FLAG).long(FLAG).value_name("FILE").value_parser(value_parser!(PathBuf)).help(
        "TOML file with flags by their names, those of one command in its table, as [predict]; the command line wins \
         over the file, and the file's paths are relative to it",
    )
}

/// Where arguments come from.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    file: String,
    /// The flag as messages call it, and its line in the file, if it is not of the command line.
    lines: Vec<(String, Option<usize>)>,
}

impl Origins {
    /// The message, led by file and line where it is about a flag of the file: where that is the first one that it names,
    /// before it says what to do.
    pub(crate) fn locate(&self, facts: ErrorFacts) -> ErrorFacts {
        match self.line(&facts.message) {
            Some(line) => {
                let message = format!("{}, line {line}: {}", self.file, facts.message);
                let place = (facts.file.clone(), facts.row);
                let (file, row) = match place {
                    (None, None) => (Some(self.file.clone()), Some(line as u64)),
                    of_data => of_data,
                };
                ErrorFacts { file, row, ..facts.saying(message) }
            }
            None => facts,
        }
    }

    /// The line of the file that a message is about.
    fn line(&self, message: &str) -> Option<usize> {
        let complaint = message.split("; ").next().unwrap_or_default();
        let place = |flag: &str| {
            complaint.match_indices(flag).map(|(at, _)| at).find(|at| {
                let next = complaint[at + flag.len()..].chars().next();
                !next.is_some_and(|next| next.is_alphanumeric() || "-_".contains(next))
            })
        };
        // Of `--set` and `--set key` the latter says more.
        let named =
            self.lines.iter().filter_map(|(flag, line)| Some((place(flag)?, Reverse(flag.len()), *line)));
        named.min_by_key(|&(at, length, line)| (at, length, line.is_none())).and_then(|(.., line)| line)
    }

    /// The message of flags that exclude each other, led by file and line where one of them is of the file.
    fn locate_conflict(&self, facts: ErrorFacts) -> ErrorFacts {
        let of_file = self.lines.iter().filter(|(_, line)| line.is_some()).cloned();
        Self { file: self.file.clone(), lines: of_file.collect() }.locate(facts)
    }
}

/// Why a command line cannot be understood.
#[derive(Debug)]
pub(crate) enum Mistake {
    /// clap says it, or it is no mistake at all but a cry for help.
    Arguments(clap::Error),
    /// Something is wrong with the file.
    File(Box<ErrorFacts>),
}

/// Parses a command line, and the file that it may name.
pub(crate) fn parse(command: &Command, args: Vec<OsString>) -> Result<(ArgMatches, Origins), Mistake> {
    let strict = |args: Vec<OsString>| command.clone().try_get_matches_from(args).map_err(Mistake::Arguments);
    // Flags that are missing here may be in the file, so mistakes are not looked for yet.
    let lenient = command.clone().ignore_errors(true);
    let matches = lenient.try_get_matches_from(&args).ok();
    let named = matches.as_ref().and_then(|matches| matches.subcommand()).and_then(|(name, matches)| {
        let path = matches.try_get_one::<PathBuf>(FLAG).ok()??;
        Some((
            command.find_subcommand(name)?,
            matches,
            path,
            args.iter().skip(1).position(|arg| arg == name)? + 2,
        ))
    });
    let Some((sub, matches, path, place)) = named else { return Ok((strict(args)?, Origins::default())) };
    let text = read_to_string(path).map_err(|error| Mistake::File(Box::new(unread(path, &error))))?;
    let mut kept = entries(&text, path, command, sub.get_name()).map_err(Mistake::File)?;
    let overridden = Overridden::by_command_line(sub, matches, &args);
    kept.retain(|entry| !overridden.contains(entry));
    let (mut all, mut lines) = (args.clone(), Vec::new());
    for entry in &kept {
        lines.extend(entry.called().into_iter().map(|called| (called, Some(entry.line))));
    }
    lines.extend(overridden.called().map(|called| (called, None)));
    all.splice(place..place, kept.into_iter().map(|entry| entry.argument));
    let origins = Origins { file: path.display().to_string(), lines };
    match strict(all) {
        Ok(matches) => Ok((matches, origins)),
        Err(Mistake::Arguments(error)) if error.use_stderr() => {
            let facts = of_arguments(&error);
            let locate = match error.kind() {
                ErrorKind::ArgumentConflict => Origins::locate_conflict,
                _ => Origins::locate,
            };
            match locate(&origins, facts.clone()) {
                located if located == facts => Err(Mistake::Arguments(error)),
                located => Err(Mistake::File(Box::new(as_written(located, rule(&error), &text)))),
            }
        }
        Err(mistake) => Err(mistake),
    }
}

/// The text of a file, which may be a pipe but not one without an end.
fn read_to_string(path: &Path) -> io::Result<String> {
    const LONGEST: u64 = 1 << 24;
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LONGEST {
        true => Err(io::Error::other("it is longer than 16 MB, which no command line is")),
        false => Ok(text),
    }
}

fn unread(path: &Path, error: &io::Error) -> ErrorFacts {
    let message = format!("cannot read --config {}: {error}", path.display());
    let (setting, file) = (Some("--config".to_owned()), Some(path.display().to_string()));
    ErrorFacts { setting, file, ..ErrorFacts::told("config_file", message) }
}

/// The facts of a value that breaks a rule of numbers, in the words of the file: its line and the rule.
fn as_written(facts: ErrorFacts, rule: Option<String>, text: &str) -> ErrorFacts {
    let line = facts.row.and_then(|row| text.lines().nth(row as usize - 1)).map(str::trim);
    match (rule, line.filter(|line| line.contains('=') && !line.contains('#')), &facts.file, facts.row) {
        (Some(rule), Some(line), Some(file), Some(row)) => {
            let message = format!("{file}, line {row}: {line}: {rule}");
            facts.saying(message)
        }
        _ => facts,
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
