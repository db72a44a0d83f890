//! The file itself: TOML that becomes arguments, each with its line.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, ArgAction, Command, ValueHint};
use foretell::{ErrorFacts, nearest};
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::entry::{ConfigEntry, FLAG, Overridden, Subject};
use super::paths;
use super::syntax::SyntaxFault;
use crate::lettering::shortened;
use crate::setting::{Key, listed_name};

/// The arguments of a command that a file stands for, in its order. The command's own table wins over what stands outside
/// of tables; what is a flag of other commands only is passed over.
pub(super) fn entries(
    text: &str,
    path: &Path,
    cli: &Command,
    command: &str,
) -> Result<Vec<ConfigEntry>, Box<ErrorFacts>> {
    let lines = Lines::of(text);
    let told = |at: usize, place: &str, what: &str| {
        let (file, row) = (path.display().to_string(), lines.number(at));
        let facts = ErrorFacts::told("config_file", format!("{file}, line {row}{place}: {what}"));
        // A message begins with the key.
        let key = what.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(key, _)| key.to_owned());
        Box::new(ErrorFacts { setting: key, file: Some(file), row: Some(row as u64), ..facts })
    };
    let located = |Fault(at, what): Fault| told(at, "", &what);
    let table = DeTable::parse(text).map_err(|error| {
        let error = first_of(text, &error).unwrap_or(error);
        let SyntaxFault { at, column, line, words } = SyntaxFault::of(&error, text);
        told(
            at,
            &format!(", column {column}"),
            &format!("no valid TOML in `{}`: {words}", shortened(line, 80)),
        )
    })?;
    let takes_file = |command: &&Command| command.get_arguments().any(|arg| arg.get_id() == FLAG);
    let commands: Vec<&Command> = cli.get_subcommands().filter(takes_file).collect();
    let reader = |command| Reader { command, path, lines: &lines };
    let own = |name: &str| commands.iter().copied().find(|command| command.get_name() == name);
    let this = own(command).expect("the command takes a file");

    let (mut shared, mut particular) = (Vec::new(), Vec::new());
    for (key, value) in table.get_ref() {
        let name = &**key.get_ref();
        match (own(name), value.get_ref()) {
            (Some(other), DeValue::Table(flags)) => {
                for (key, value) in flags {
                    let entries = reader(other).flag(key, value).map_err(located)?;
                    particular.extend(entries.into_iter().filter(|_| name == command));
                }
            }
            (Some(_), _) => {
                let what = format!("`{name}` must be a table of the flags of foretell {name}: [{name}]");
                return Err(located(Fault(key.span().start, what)));
            }
            (None, _) => {
                let others = commands.iter().copied().filter(|other| other.get_name() != command);
                let mut known =
                    std::iter::once(this).chain(others).filter(|command| find(command, name).is_some());
                let Some(first) = known.next() else {
                    return Err(located(unknown(key, &commands)));
                };
                // A flag that this command cannot take may be meant for another.
                match reader(first).flag(key, value) {
                    Ok(found) => shared.extend(found.into_iter().filter(|_| first.get_name() == command)),
                    Err(_) if known.any(|other| reader(other).flag(key, value).is_ok()) => {}
                    Err(fault) => return Err(located(fault)),
                }
            }
        }
    }
    let overridden = Overridden::by_entries(&particular);
    shared.retain(|entry| !overridden.contains(entry));
    shared.append(&mut particular);
    shared.sort_by_key(|entry| entry.line);
    Ok(shared)
}

/// The first fault of a text up to one that was found: the parser tells those of its structure before those of its values.
fn first_of(text: &str, found: &Error) -> Option<Error> {
    let at = found.span()?.start;
    let end =
        text.as_bytes().get(at..)?.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| at + end);
    let (_, faults) = DeTable::parse_recoverable(&text[..end]);
    faults.into_iter().min_by_key(|error| error.span().map_or(0, |span| span.start))
}

/// Where lines end.
struct Lines {
    ends: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        Self { ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// The number of the line that holds this byte.
    fn number(&self, at: usize) -> usize {
        1 + self.ends.partition_point(|end| *end < at)
    }
}

/// A fault of the file, and the byte at which it is.
struct Fault(usize, String);

/// The flag of this name, or of this alias.
fn find<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let called = |arg: &&Arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    };
    flags(command).find(called)
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !["help", "version", "config"].contains(&arg.get_id().as_str()))
}

/// A key that is no flag of these commands.
fn unknown(key: &Spanned<impl AsRef<str>>, commands: &[&Command]) -> Fault {
    let name = key.get_ref().as_ref();
    let names = commands.iter().flat_map(|command| flags(command).filter_map(Arg::get_long));
    let hint = nearest(name, names).map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
    let place = match commands.iter().any(|command| find(command, "set").is_some()) {
        true => "; hyper-parameters stand in [set], for all models, or in [model.NAME]",
        false => "",
    };
    let names: Vec<&str> = commands.iter().map(|command| command.get_name()).collect();
    let (last, rest) = names.split_last().expect("there are commands");
    let names = if rest.is_empty() { (*last).to_owned() } else { format!("{} or {last}", rest.join(", ")) };
    Fault(key.span().start, format!("`{name}` is no flag of foretell {names}{hint}{place}"))
}

/// Reads keys as flags of a command.
struct Reader<'a> {
    command: &'a Command,
    path: &'a Path,
    lines: &'a Lines,
}

impl Reader<'_> {
    fn entry(&self, at: usize, what: Subject, argument: OsString) -> ConfigEntry {
        ConfigEntry { line: self.lines.number(at), what, argument }
    }

    /// The arguments that one key stands for.
    fn flag(
        &self,
        key: &Spanned<impl AsRef<str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<ConfigEntry>, Fault> {
        let at = key.span().start;
        let arg = find(self.command, key.get_ref().as_ref()).ok_or_else(|| unknown(key, &[self.command]))?;
        // An alias is overridden like the flag itself.
        let name = arg.get_long().unwrap_or(key.get_ref().as_ref());
        let fault = |expected: &str| {
            let found = match value.get_ref() {
                DeValue::Array(_) => "a list".to_owned(),
                DeValue::Table(_) => "a table".to_owned(),
                other => text(other).map_or_else(String::new, |text| format!("`{text}`")),
            };
            Fault(value.span().start, format!("`{name}` must be {expected}, found {found}"))
        };
        let one = |at, argument| self.entry(at, Subject::Flag(name.to_owned()), argument);
        let many = matches!(arg.get_action(), ArgAction::Append);
        match value.get_ref() {
            DeValue::Boolean(on) if !arg.get_action().takes_values() => {
                Ok(on.then(|| one(at, format!("--{name}").into())).into_iter().collect())
            }
            _ if !arg.get_action().takes_values() => Err(fault("true or false")),
            DeValue::Table(table) if name == "set" => self.settings(table, None, false),
            DeValue::Table(table) if name == "space" => self.spaces(table),
            DeValue::Table(models) if name == "model" && many => {
                let named = models.iter().map(|(model, table)| match table.get_ref() {
                    DeValue::Table(table) => Ok((model.span().start, &**model.get_ref(), table)),
                    _ => {
                        let model = model.get_ref();
                        let what =
                            format!("`model.{model}` must be a table of hyper-parameters: [model.{model}]");
                        Err(Fault(table.span().start, what))
                    }
                });
                self.models(named.collect::<Result<_, _>>()?, false)
            }
            DeValue::Array(tables) if name == "model" && many && tables.iter().any(is_table) => {
                let named = tables.iter().map(|table| {
                    let at = table.span().start;
                    let DeValue::Table(table) = table.get_ref() else {
                        return Err(fault("a list of values"));
                    };
                    match table.get("name").map(|name| name.get_ref()) {
                        Some(DeValue::String(name)) => Ok((at, &**name, table)),
                        _ => Err(Fault(at, "a [[model]] needs a name, as name = \"NHITS\"".to_owned())),
                    }
                });
                self.models(named.collect::<Result<_, _>>()?, true)
            }
            DeValue::Array(values) if many => {
                let entry = |value: &Spanned<DeValue<'_>>| {
                    let text = text(value.get_ref()).ok_or_else(|| fault("a list of values"))?;
                    Ok(one(value.span().start, self.argument(arg, name, &text, value)?))
                };
                values.iter().map(entry).collect()
            }
            single => match text(single) {
                Some(text) => Ok(vec![one(at, self.argument(arg, name, &text, value)?)]),
                None if many => Err(fault("a value or a list of values")),
                None => Err(fault("one value")),
            },
        }
    }

    /// Values to search of the hyper-parameters of all models, and in tables of those of a name.
    fn spaces(&self, table: &DeTable<'_>) -> Result<Vec<ConfigEntry>, Fault> {
        let mut entries = Vec::new();
        for (key, value) in table {
            let named = key.get_ref();
            let own = match value.get_ref() {
                DeValue::Table(own) => own
                    .iter()
                    .map(|(key, value)| (format!("{named}.{}", key.get_ref()), key, value))
                    .collect(),
                _ => vec![(named.to_string(), key, value)],
            };
            for (name, key, value) in own {
                let text = text_or_json(&name, value)?;
                let text = self.within("space", &format!("{name}={text}"), value)?;
                let argument = format!("--space={text}").into();
                entries.push(self.entry(key.span().start, Subject::Flag("space".to_owned()), argument));
            }
        }
        Ok(entries)
    }

    /// Models and their hyper-parameters, in the order of the file.
    fn models(
        &self,
        mut models: Vec<(usize, &str, &DeTable<'_>)>,
        named: bool,
    ) -> Result<Vec<ConfigEntry>, Fault> {
        models.sort_by_key(|(at, ..)| *at);
        let mut of_name = HashMap::<String, usize>::new();
        models.iter().for_each(|(_, name, _)| *of_name.entry(listed_name(name)).or_default() += 1);
        let (mut entries, mut numbers) = (Vec::new(), HashMap::<String, usize>::new());
        for (at, name, table) in models {
            let model = listed_name(name);
            let number = numbers.entry(model.clone()).or_default();
            entries.push(self.entry(at, Subject::Flag("model".to_owned()), format!("--model={name}").into()));
            let of_model = (model.as_str(), (of_name[&model] > 1).then_some(*number));
            entries.extend(self.settings(table, Some(of_model), named)?);
            *number += 1;
        }
        Ok(entries)
    }

    /// Hyper-parameters of all models, or of those of a name: texts as `--set` takes them, all else as JSON. Where the table
    /// is `named`, the name among them is that of the model.
    fn settings(
        &self,
        table: &DeTable<'_>,
        model: Option<(&str, Option<usize>)>,
        named: bool,
    ) -> Result<Vec<ConfigEntry>, Fault> {
        let own = table.iter().filter(|(key, _)| !named || key.get_ref() != "name");
        own.map(|(key, value)| {
            let name = key.get_ref();
            let text = text_or_json(name, value)?;
            let (model, number) =
                model.map_or((None, None), |(model, number)| (Some(model.to_owned()), number));
            let key_of = Key { model, number, name: name.to_string() };
            let text = self.within("set", &format!("{key_of}={text}"), value)?;
            let argument = format!("--set={text}").into();
            Ok(self.entry(key.span().start, Subject::Setting(key_of), argument))
        })
        .collect()
    }

    /// The argument in one piece, so that a value may begin with a dash. Paths are relative to the file.
    fn argument(
        &self,
        arg: &Arg,
        name: &str,
        text: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<OsString, Fault> {
        let is_path = arg.get_value_hint() == ValueHint::AnyPath && text != "-";
        let mut argument = OsString::from(format!("--{name}="));
        match self.path.parent().filter(|_| is_path) {
            Some(home) => argument.push(home.join(text)),
            None => argument.push(self.within(name, text, value)?),
        }
        Ok(argument)
    }

    /// The value of a flag, whose paths are relative to the file.
    fn within(&self, flag: &str, text: &str, value: &Spanned<DeValue<'_>>) -> Result<String, Fault> {
        let home = self.path.parent().unwrap_or(Path::new(""));
        paths::within(home, flag, text).map_err(|what| Fault(value.span().start, format!("`{flag}` {what}")))
    }
}

fn is_table(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Table(_))
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

/// The value of a hyper-parameter as `--set` takes it: a text without quotes, all else as JSON.
fn text_or_json(name: &str, value: &Spanned<DeValue<'_>>) -> Result<String, Fault> {
    if let DeValue::String(text) = value.get_ref() {
        return Ok(text.to_string());
    }
    let told = || format!("`{name}` holds a number that JSON cannot: write a finite one");
    let value_as_json = json(value.get_ref()).ok_or_else(|| Fault(value.span().start, told()))?;
    Ok(value_as_json.to_string())
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
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_once() {
        let text = "a\n\nbc\r\n\n";
        let lines = Lines::of(text);
        assert_eq!(lines.ends, [1, 2, 6, 7]);
        for at in 0..=text.len() {
            let counted = 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(lines.number(at), counted, "byte {at}");
        }
    }
}
