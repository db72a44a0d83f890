//! Arguments of a file, their subjects, and which of them the command line overrides.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::setting::{Key, listed_name};

/// The flag that names the file.
pub(crate) const FLAG: &str = "config";

/// An argument of the file.
#[derive(Debug, PartialEq)]
pub(super) struct ConfigEntry {
    pub(super) line: usize,
    pub(super) what: Subject,
    pub(super) argument: OsString,
}

/// The subject of an argument.
#[derive(Debug, PartialEq)]
pub(super) enum Subject {
    /// The flag of this name.
    Flag(String),
    /// A hyper-parameter.
    Setting(Key),
}

impl Subject {
    /// The subject as messages call it.
    pub(super) fn called(&self) -> Vec<String> {
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
    pub(super) fn called(&self) -> Vec<String> {
        let mut called = self.what.called();
        let argument = self.argument.to_string_lossy();
        called.extend(argument.strip_prefix("--model=").map(|model| format!("is called {model}")));
        called
    }
}

/// The flags and settings of the command line, or of a table of the file, that others do not override.
#[derive(Debug, Default)]
pub(super) struct Overridden {
    pub(super) flags: HashSet<String>,
    /// How many models of each name there are, if any are named.
    pub(super) models: Option<HashMap<String, usize>>,
    pub(super) settings: HashSet<Key>,
}

impl Overridden {
    pub(super) fn by_command_line(command: &Command, matches: &ArgMatches, args: &[OsString]) -> Self {
        let on_command_line =
            |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
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
        let models = flags.contains("model").then(|| matches.try_get_many::<String>("models").ok()).flatten();
        let models = models.map(|models| counts(models.into_iter().flatten().map(String::as_str)));
        Self { flags, models, settings }
    }

    pub(super) fn by_entries(entries: &[ConfigEntry]) -> Self {
        let mut overridden = Self::default();
        let mut models = Vec::new();
        for entry in entries {
            match &entry.what {
                Subject::Setting(key) => _ = overridden.settings.insert(key.clone()),
                Subject::Flag(flag) if flag == "set" => {}
                Subject::Flag(flag) => {
                    overridden.flags.insert(flag.clone());
                    let argument = entry.argument.to_string_lossy();
                    let names = argument.strip_prefix("--model=").unwrap_or_default().split(',');
                    models.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
                }
            }
        }
        overridden.models =
            overridden.flags.contains("model").then(|| counts(models.iter().map(String::as_str)));
        overridden
    }

    /// Its flags and hyper-parameters as messages call them.
    pub(super) fn called(&self) -> impl Iterator<Item = String> {
        let flags = self.flags.iter().cloned().map(Subject::Flag);
        flags.chain(self.settings.iter().cloned().map(Subject::Setting)).flat_map(|subject| subject.called())
    }

    /// Whether it says otherwise.
    pub(super) fn contains(&self, entry: &ConfigEntry) -> bool {
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
