//! Errors on their way out: to people as a line, to programs as an object of facts.

use std::num::{ParseFloatError, ParseIntError};

use clap::ValueEnum;
use clap::error::{ContextKind, ErrorKind};
use foretell::ErrorFacts;
use foretell_tuning::TuningError;

use crate::failure::{Interrupted, ThresholdCrossed, Usage};

/// The form of the error that a command ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorForm {
    /// A line that begins with `error: `
    Text,
    /// A JSON object in a line: code, setting, file, row, column, series, advice and message
    Json,
}

/// The facts of the error that a command ends with.
pub(crate) fn of_work(error: &anyhow::Error) -> ErrorFacts {
    let text = message(error);
    if error.is::<Interrupted>() {
        return ErrorFacts::told("interrupted", text);
    }
    if error.is::<ThresholdCrossed>() {
        return ErrorFacts::told("threshold_crossed", text);
    }
    if error.chain().any(|cause| cause.is::<Usage>()) {
        return of_command_line(text);
    }
    let mut all = error.chain().map(|cause| match cause.downcast_ref::<TuningError>() {
        Some(error) => error.facts(),
        None => ErrorFacts::of(cause),
    });
    let first = all.next().unwrap_or_default();
    let code = first.code.clone();
    // What a context leads does not name the settings that its cause does.
    let with_setting = |facts: &ErrorFacts| facts.code == code && facts.setting.is_some();
    let facts = if first.setting.is_some() { first } else { all.find(with_setting).unwrap_or(first) };
    // Where the flag of a setting leads the message, it is what the setting is called here.
    let called = |setting: String| match text.starts_with(&format!("--{setting}: ")) {
        true => format!("--{setting}"),
        false => setting,
    };
    ErrorFacts { setting: facts.setting.map(called), ..facts }.saying(text)
}

/// The error and its causes in one line; a cause that its effect quotes is not said twice.
pub(crate) fn message(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |message, cause| match cause.to_string() {
        cause if message.contains(&cause) => message,
        cause => format!("{message}: {cause}"),
    })
}

/// A mistake in the command line, about the first flag that it names.
pub(crate) fn of_command_line(text: String) -> ErrorFacts {
    let words = text.split([' ', ',', ':', ';', '`', '(', ')']);
    let flag = words.into_iter().find(|word| word.len() > 2 && word.starts_with("--"));
    ErrorFacts { setting: flag.map(str::to_owned), ..ErrorFacts::told("command_line", text.clone()) }
}

/// A mistake that clap sees.
pub(crate) fn of_arguments(error: &clap::Error) -> ErrorFacts {
    let code = match error.kind() {
        ErrorKind::UnknownArgument => "unknown_flag",
        ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand => "unknown_command",
        ErrorKind::MissingRequiredArgument => "missing_flag",
        ErrorKind::ArgumentConflict => "flags_conflict",
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::InvalidUtf8 => "flag_value",
        _ => "command_line",
    };
    let argument = [ContextKind::InvalidArg].into_iter().find_map(|kind| error.get(kind));
    let argument = argument.map(ToString::to_string);
    let flag = argument
        .as_deref()
        .and_then(|argument| argument.split([' ', ',', '\n']).find(|word| !word.is_empty()));
    let text = valueless(error).unwrap_or_else(|| first_paragraph(error));
    ErrorFacts { setting: flag.map(str::to_owned), ..ErrorFacts::told(code, text) }
}

/// What is wrong with a value that is no number, without the words of Rust's parsers.
pub(crate) fn valueless(error: &clap::Error) -> Option<String> {
    let rule = rule(error)?;
    let [argument, value] = [ContextKind::InvalidArg, ContextKind::InvalidValue]
        .map(|kind| error.get(kind).map(ToString::to_string));
    Some(format!("invalid value '{}' for '{}': {rule}", value?, argument?))
}

/// The rule that a value breaks, where a parser of numbers says so.
pub(crate) fn rule(error: &clap::Error) -> Option<String> {
    let cause = std::error::Error::source(error).filter(|_| error.kind() == ErrorKind::ValueValidation)?;
    if cause.is::<ParseIntError>() {
        return Some("a whole number is expected".to_owned());
    }
    if cause.is::<ParseFloatError>() {
        return Some("a number is expected".to_owned());
    }
    // A range as Rust writes it.
    let text = cause.to_string();
    let (_, range) = text.split_once(" is not in ")?;
    let (from, to) = range.split_once("..")?;
    Some(match to.strip_prefix('=') {
        Some(to) => format!("a whole number from {from} to {to} is expected"),
        None => format!("a whole number of at least {from} is expected"),
    })
}

/// The first paragraph of clap's message, before it repeats the usage, on one line.
pub(crate) fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn causes_are_told_once() {
        let inner = io::Error::other("the disk is full");
        let error = anyhow::Error::new(inner).context("cannot save").context("cannot save: the disk is full");
        assert_eq!(message(&error), "cannot save: the disk is full");
        let error = anyhow::Error::new(Usage("no such flag".into())).context("model MLP");
        assert_eq!(message(&error), "model MLP: no such flag");
    }

    #[test]
    fn facts_are_of_the_cause_and_the_message_is_whole() {
        let error = foretell::ModelSpec::new("MLP", 1, 2).unwrap().set("max_steps", "x").unwrap_err();
        let facts = of_work(&anyhow::Error::new(error).context("--set max_steps"));
        assert_eq!((&*facts.code, facts.setting.as_deref()), ("hyper_parameter_value", Some("max_steps")));
        assert!(facts.message.starts_with("--set max_steps: MLP: "), "{}", facts.message);
        let error = "wekday".parse::<foretell::Features>().unwrap_err();
        let facts = of_work(&anyhow::Error::new(foretell::Error::from(error)).context("--features"));
        assert_eq!((&*facts.code, facts.setting.as_deref()), ("unknown_feature", Some("--features")));
        let facts = of_work(&Usage("--ids x: no such series; name another".into()).into());
        let parts = (&*facts.code, facts.setting.as_deref(), facts.advice.as_deref());
        assert_eq!(parts, ("command_line", Some("--ids"), Some("name another")));
    }

    #[test]
    fn numbers_are_refused_in_plain_words() {
        let command = crate::command();
        let refused = |line: &str| {
            let error = command.clone().try_get_matches_from(line.split(' ')).unwrap_err();
            of_arguments(&error)
        };
        let facts = refused("foretell fit --data a --out m --model MLP --h x");
        assert_eq!(facts.message, "invalid value 'x' for '--h <N>': a whole number is expected");
        assert_eq!((&*facts.code, facts.setting.as_deref()), ("flag_value", Some("--h")));
        assert_eq!(
            refused("foretell predict --data a --model m --level x").message.split(": ").last(),
            Some("a number is expected")
        );
        let message = refused("foretell fit --data a --out m --model MLP --h 0").message;
        assert!(message.ends_with(": a whole number from 1 to 1000000 is expected"), "{message}");
        let facts = refused("foretell fit --daat a");
        assert_eq!((&*facts.code, facts.setting.as_deref()), ("unknown_flag", Some("--daat")));
    }
}
