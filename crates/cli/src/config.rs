//! `--config run.toml`: flags from a file.
//!
//! The file is turned into arguments, which stand between the command's name and the arguments of the command
//! line, and all of them are parsed together. So the file can say what the flags can, by construction. Flags
//! that the command line gives are left out of the file; of `--set`, the hyper-parameters that it sets.

mod file;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::config::file::entries;
use crate::setting::{Key, listed_name};

/// The flag, for the commands that have it.
pub(crate) fn flag() -> Arg {
    Arg::new("config").long("config").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
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
    pub(crate) fn locate(&self, message: String) -> String {
        let found = message.split("; ").next().unwrap_or_default();
        let place = |flag: &str| {
            found.match_indices(flag).map(|(at, _)| at).find(|at| {
                let next = found[at + flag.len()..].chars().next();
                !next.is_some_and(|next| next.is_alphanumeric() || "-_".contains(next))
            })
        };
        // Of `--set` and `--set key` the latter says more.
        let named =
            self.lines.iter().filter_map(|(flag, line)| Some((place(flag)?, Reverse(flag.len()), *line)));
        match named.min_by_key(|&(at, length, line)| (at, length, line.is_none())) {
            Some((.., Some(line))) => format!("{}, line {line}: {message}", self.file),
            _ => message,
        }
    }

    /// The message of flags that exclude each other, led by file and line where one of them is of the file.
    fn locate_conflict(&self, message: String) -> String {
        let of_file = self.lines.iter().filter(|(_, line)| line.is_some()).cloned();
        Self { file: self.file.clone(), lines: of_file.collect() }.locate(message)
    }
}

/// Why a command line cannot be understood.
#[derive(Debug)]
pub(crate) enum Mistake {
    /// clap says it, or it is no mistake at all but a cry for help.
    Arguments(clap::Error),
    /// Something is wrong with the file.
    File(String),
}

/// Parses a command line, and the file that it may name.
pub(crate) fn parse(command: &Command, args: Vec<OsString>) -> Result<(ArgMatches, Origins), Mistake> {
    let strict = |args: Vec<OsString>| command.clone().try_get_matches_from(args).map_err(Mistake::Arguments);
    // What is missing here may stand in the file, so mistakes are not looked for yet.
    let lenient = command.clone().ignore_errors(true);
    let given = lenient.try_get_matches_from(&args).ok();
    let found = given.as_ref().and_then(|given| given.subcommand()).and_then(|(name, given)| {
        let path = given.try_get_one::<PathBuf>("config").ok()??;
        Some((
            command.find_subcommand(name)?,
            given,
            path,
            args.iter().skip(1).position(|arg| arg == name)? + 2,
        ))
    });
    let Some((sub, given, path, place)) = found else { return Ok((strict(args)?, Origins::default())) };
    let text = fs::read_to_string(path)
        .map_err(|error| Mistake::File(format!("cannot read --config {}: {error}", path.display())))?;
    let mut kept = entries(&text, path, command, sub.get_name()).map_err(Mistake::File)?;
    let overridden = Overridden::by_command_line(sub, given, &args);
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
            let message = first_paragraph(&error);
            let locate = match error.kind() {
                ErrorKind::ArgumentConflict => Origins::locate_conflict,
                _ => Origins::locate,
            };
            match locate(&origins, message.clone()) {
                located if located == message => Err(Mistake::Arguments(error)),
                located => Err(Mistake::File(located)),
            }
        }
        Err(mistake) => Err(mistake),
    }
}

/// What clap says before it repeats the usage, on one line.
pub(crate) fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
    lines.collect::<Vec<_>>().join(" ")
}

/// An argument of the file.
#[derive(Debug, PartialEq)]
struct ConfigEntry {
    line: usize,
    what: Subject,
    argument: OsString,
}

/// What an argument is about.
#[derive(Debug, PartialEq)]
enum Subject {
    /// The flag of this name.
    Flag(String),
    /// A hyper-parameter.
    Setting(Key),
}

impl Subject {
    /// The subject as messages call it.
    fn called(&self) -> Vec<String> {
        match self {
            // clap quotes the value.
            Self::Setting(key) => vec![format!("--set {key}"), format!("'{key}")],
            Self::Flag(flag) if flag.contains('-') => vec![format!("--{flag}"), flag.replace('-', "_")],
            Self::Flag(flag) => vec![format!("--{flag}")],
        }
    }
}

impl ConfigEntry {
    /// The subject as messages call it.
    fn called(&self) -> Vec<String> {
        let mut called = self.what.called();
        let argument = self.argument.to_string_lossy();
        called.extend(argument.strip_prefix("--model=").map(|model| format!("is called {model}")));
        called
    }
}

/// What the command line, or a table of the file, says itself.
#[derive(Debug, Default)]
struct Overridden {
    flags: HashSet<String>,
    /// How many models of each name there are, if any are named.
    models: Option<HashMap<String, usize>>,
    settings: HashSet<Key>,
}

impl Overridden {
    fn by_command_line(command: &Command, given: &ArgMatches, args: &[OsString]) -> Self {
        let on_command_line =
            |arg: &&Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let flags = command.get_arguments().filter(on_command_line).filter_map(|arg| arg.get_long());
        let mut settings = HashSet::new();
        for (i, arg) in args.iter().enumerate() {
            let arg = arg.to_string_lossy();
            let next = args.get(i + 1).map(|next| next.to_string_lossy());
            let setting = arg.strip_prefix("--set=").map(str::to_owned);
            let setting = setting.or_else(|| next.filter(|_| arg == "--set").map(|next| next.into_owned()));
            settings.extend(setting.and_then(|text| text.split('=').next().map(Key::parse)));
        }
        let flags: HashSet<String> = flags.filter(|flag| *flag != "set").map(str::to_owned).collect();
        let models = flags.contains("model").then(|| given.try_get_many::<String>("models").ok()).flatten();
        let models = models.map(|models| counts(models.into_iter().flatten().map(String::as_str)));
        Self { flags, models, settings }
    }

    fn by_entries(entries: &[ConfigEntry]) -> Self {
        let mut found = Self::default();
        let mut models = Vec::new();
        for entry in entries {
            match &entry.what {
                Subject::Setting(key) => _ = found.settings.insert(key.clone()),
                Subject::Flag(flag) if flag == "set" => {}
                Subject::Flag(flag) => {
                    found.flags.insert(flag.clone());
                    let argument = entry.argument.to_string_lossy();
                    let names = argument.strip_prefix("--model=").unwrap_or_default().split(',');
                    models.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
                }
            }
        }
        found.models = found.flags.contains("model").then(|| counts(models.iter().map(String::as_str)));
        found
    }

    /// Its flags and hyper-parameters as messages call them.
    fn called(&self) -> impl Iterator<Item = String> {
        let flags = self.flags.iter().cloned().map(Subject::Flag);
        flags.chain(self.settings.iter().cloned().map(Subject::Setting)).flat_map(|subject| subject.called())
    }

    /// Whether it says otherwise.
    fn contains(&self, entry: &ConfigEntry) -> bool {
        let key = match &entry.what {
            Subject::Flag(flag) => return self.flags.contains(flag),
            Subject::Setting(key) => key,
        };
        let unused = |models: &HashMap<String, usize>| {
            let model = key.model.as_ref();
            model.is_some_and(|model| models.get(model).copied().unwrap_or(0) <= key.number.unwrap_or(0))
        };
        self.models.as_ref().is_some_and(unused) || key.is_covered_by(&self.settings)
    }
}

/// How many models of each name there are.
fn counts<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<String, usize> {
    names.fold(HashMap::new(), |mut counts, name| {
        *counts.entry(listed_name(name)).or_default() += 1;
        counts
    })
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
