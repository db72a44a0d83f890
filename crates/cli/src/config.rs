//! `--config run.toml`: flags from a file.
//!
//! The file is turned into arguments, which stand between the command's name and the arguments of the command
//! line, and all of them are parsed together. So the file can say what the flags can, by construction. Flags
//! that the command line gives are left out of the file; of `--set`, the hyper-parameters that it sets.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use foretell::nearest;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The flag, for the commands that have it.
pub(crate) fn flag() -> Arg {
    Arg::new("config").long("config").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
        "TOML file with flags of this command by their names; those of the command line win over it, and its paths \
         are relative to it",
    )
}

/// Where the arguments of a file stand in it.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    file: String,
    /// The flag as messages call it, and its line.
    lines: Vec<(String, usize)>,
}

impl Origins {
    /// The message, led by file and line where it is about a flag of the file.
    pub(crate) fn locate(&self, message: String) -> String {
        let names = |flag: &str| {
            message.match_indices(flag).any(|(at, _)| {
                let next = message[at + flag.len()..].chars().next();
                !next.is_some_and(|next| next.is_alphanumeric() || "-_".contains(next))
            })
        };
        match self.lines.iter().find(|(flag, _)| names(flag)) {
            Some((_, line)) => format!("{}, line {line}: {message}", self.file),
            None => message,
        }
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
    let entries = entries(&text, path, sub).map_err(Mistake::File)?;
    let overridden = Overridden::new(sub, given, &args);
    let (mut all, mut lines) = (args.clone(), Vec::new());
    let kept: Vec<Entry> = entries.into_iter().filter(|entry| !overridden.contains(entry)).collect();
    // Hyper-parameters first: what is wrong with one may mention a flag.
    for entry in kept.iter().filter(|entry| entry.setting).chain(kept.iter().filter(|entry| !entry.setting)) {
        lines.extend(entry.called().into_iter().map(|called| (called, entry.line)));
    }
    all.splice(place..place, kept.into_iter().map(|entry| entry.argument));
    let origins = Origins { file: path.display().to_string(), lines };
    match strict(all) {
        Ok(matches) => Ok((matches, origins)),
        Err(Mistake::Arguments(error)) if error.use_stderr() => {
            let message = first_paragraph(&error);
            match origins.locate(message.clone()) {
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
struct Entry {
    line: usize,
    /// The flag's name, or that of the hyper-parameter.
    key: String,
    /// Whether it is a hyper-parameter, and for which model.
    setting: bool,
    model: Option<String>,
    argument: OsString,
}

impl Entry {
    /// The flag as messages call it.
    fn called(&self) -> Vec<String> {
        let key = &self.key;
        match &self.model {
            // clap quotes the value.
            Some(model) => vec![format!("--set {model}.{key}"), format!("'{model}.{key}")],
            None if self.setting => vec![format!("--set {key}"), format!("'{key}")],
            None if key == "model" => {
                let argument = self.argument.to_string_lossy();
                vec![argument.replace("--model=", "is called "), "--model".to_owned()]
            }
            None if key.contains('-') => vec![format!("--{key}"), key.replace('-', "_")],
            None => vec![format!("--{key}")],
        }
    }
}

/// What the command line says itself.
struct Overridden {
    flags: HashSet<String>,
    models: Option<Vec<String>>,
    /// Hyper-parameters, `NAME.key` or `key`.
    settings: HashSet<String>,
}

impl Overridden {
    fn new(command: &Command, given: &ArgMatches, args: &[OsString]) -> Self {
        let told = |arg: &&Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let flags = command.get_arguments().filter(told).filter_map(|arg| arg.get_long());
        let mut settings = HashSet::new();
        for (i, arg) in args.iter().enumerate() {
            let arg = arg.to_string_lossy();
            let next = args.get(i + 1).map(|next| next.to_string_lossy());
            let setting = arg.strip_prefix("--set=").map(str::to_owned);
            let setting = setting.or_else(|| next.filter(|_| arg == "--set").map(|next| next.into_owned()));
            settings.extend(setting.and_then(|text| text.split('=').next().map(str::to_owned)));
        }
        let flags: HashSet<String> = flags.filter(|flag| *flag != "set").map(str::to_owned).collect();
        let models = flags.contains("model").then(|| given.try_get_many::<String>("models").ok()).flatten();
        let models = models.map(|models| models.into_iter().flatten().cloned().collect());
        Self { flags, models, settings }
    }

    /// Whether the command line says otherwise.
    fn contains(&self, entry: &Entry) -> bool {
        match &entry.model {
            _ if !entry.setting => self.flags.contains(&entry.key),
            None => self.settings.contains(&entry.key),
            Some(model) => {
                let unused = self.models.as_ref().is_some_and(|models| !models.contains(model));
                let named = self.settings.contains(&format!("{model}.{}", entry.key));
                unused || named || self.settings.contains(&entry.key)
            }
        }
    }
}

/// What is wrong with a line of the file.
struct Fault(usize, String);

/// The arguments that a file stands for, in its order.
fn entries(text: &str, path: &Path, command: &Command) -> Result<Vec<Entry>, String> {
    let line =
        |at: usize| 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
    let located = |Fault(at, what): Fault| format!("{}, line {}: {what}", path.display(), line(at));
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        located(Fault(at, format!("no valid TOML: {}", error.message())))
    })?;
    let mut entries = Vec::new();
    for (key, value) in table.get_ref() {
        flag_entries(key, value, path, command, &mut entries).map_err(located)?;
    }
    entries.sort_by_key(|entry| entry.line);
    entries.iter_mut().for_each(|entry| entry.line = line(entry.line));
    Ok(entries)
}

/// Reads one key of the file. Lines are positions until all are read.
fn flag_entries(
    key: &Spanned<impl AsRef<str>>,
    value: &Spanned<DeValue<'_>>,
    path: &Path,
    command: &Command,
    entries: &mut Vec<Entry>,
) -> Result<(), Fault> {
    let (name, at) = (key.get_ref().as_ref(), key.span().start);
    let usable = |arg: &&Arg| !["help", "version", "config"].contains(&arg.get_id().as_str());
    let known = |name: &str| {
        let called = |arg: &&Arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        };
        command.get_arguments().filter(usable).find(called)
    };
    let Some(arg) = known(name) else {
        let names = command.get_arguments().filter(usable).filter_map(Arg::get_long);
        let hint = nearest(name, names).map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
        let place = match known("set") {
            Some(_) => "; hyper-parameters stand in [set], for all models, or in [model.NAME]",
            None => "",
        };
        let what = format!("`{name}` is no flag of foretell {}{hint}{place}", command.get_name());
        return Err(Fault(at, what));
    };
    // An alias is overridden like the flag itself.
    let name = arg.get_long().unwrap_or(name);
    let fault = |expected: &str| {
        let found = value.get_ref().type_str();
        Fault(value.span().start, format!("`{name}` must be {expected}, found a TOML {found}"))
    };
    let mut push = |line, argument| {
        entries.push(Entry { line, key: name.to_owned(), setting: false, model: None, argument });
    };
    let many = matches!(arg.get_action(), ArgAction::Append);
    match value.get_ref() {
        DeValue::Boolean(on) if !arg.get_action().takes_values() => {
            if *on {
                push(at, format!("--{name}").into());
            }
            Ok(())
        }
        _ if !arg.get_action().takes_values() => Err(fault("true or false")),
        DeValue::Table(table) if name == "set" => settings(table, None, entries),
        DeValue::Table(models) if name == "model" && many => {
            let mut own = Vec::new();
            for (model, table) in models {
                let DeValue::Table(table) = table.get_ref() else {
                    let model = model.get_ref();
                    let what =
                        format!("`model.{model}` must be a table of hyper-parameters: [model.{model}]");
                    return Err(Fault(table.span().start, what));
                };
                push(model.span().start, format!("--model={}", model.get_ref()).into());
                settings(table, Some(model.get_ref()), &mut own)?;
            }
            entries.append(&mut own);
            Ok(())
        }
        DeValue::Array(values) if many => {
            for value in values.iter() {
                let text = text(value.get_ref()).ok_or_else(|| fault("a list of values"))?;
                push(value.span().start, argument(arg, name, &text, path));
            }
            Ok(())
        }
        value => match text(value) {
            Some(text) => {
                push(at, argument(arg, name, &text, path));
                Ok(())
            }
            None if many => Err(fault("a value or a list of values")),
            None => Err(fault("one value")),
        },
    }
}

/// Hyper-parameters: texts as `--set` takes them, all else as JSON.
fn settings(table: &DeTable<'_>, model: Option<&str>, entries: &mut Vec<Entry>) -> Result<(), Fault> {
    for (key, value) in table {
        let name = key.get_ref();
        let value = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            other => json(other).map(|value| value.to_string()).ok_or_else(|| {
                Fault(
                    value.span().start,
                    format!("`{name}` holds a number that JSON cannot: write a finite one"),
                )
            })?,
        };
        let full = model.map_or(name.to_string(), |model| format!("{model}.{name}"));
        entries.push(Entry {
            line: key.span().start,
            key: name.to_string(),
            setting: true,
            model: model.map(str::to_owned),
            argument: format!("--set={full}={value}").into(),
        });
    }
    Ok(())
}

/// The argument in one piece, so that a value may begin with a dash. Paths are relative to the file.
fn argument(arg: &Arg, name: &str, text: &str, file: &Path) -> OsString {
    let is_path = arg.get_value_hint() == ValueHint::AnyPath && text != "-";
    let mut argument = OsString::from(format!("--{name}="));
    match file.parent().filter(|_| is_path) {
        Some(home) => argument.push(home.join(text)),
        None => argument.push(text),
    }
    argument
}

/// A value as one would write it behind a flag; nothing for lists and tables.
fn text(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.to_string(),
        // What is beyond 64 bits is the flag's to refuse.
        DeValue::Integer(number) => {
            json(value).map_or(number.as_str().to_owned(), |number| number.to_string())
        }
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) | DeValue::Table(_) => return None,
    })
}

/// The value as JSON; nothing for numbers that it has not.
fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::from(&**text),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok()?.into(),
        DeValue::Float(number) => Value::Number(Number::from_f64(number.as_str().parse().ok()?)?),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(values) => values.iter().map(|value| json(value.get_ref())).collect::<Option<_>>()?,
        DeValue::Table(table) => {
            let mut pairs: Vec<_> = table.iter().collect();
            pairs.sort_by_key(|(key, _)| key.span().start);
            let pairs = pairs
                .into_iter()
                .map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)));
            Value::Object(pairs.collect::<Option<Map<_, _>>>()?)
        }
    })
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
