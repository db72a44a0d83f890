//! Help that fits a screen: `-h` shows what a command is about, by groups of flags, and `--help` all of it.

use clap::{Arg, Command};

/// Columns of help.
const COLUMNS: usize = 80;

/// Above this number of flags `-h` shows the common ones alone.
const MOST_SHOWN: usize = 22;

/// Lines of examples and explanations beyond which `-h` shows the first example only.
const MOST_EXAMPLES: usize = 12;

/// The page of help on flags that say how data are read.
pub(crate) const READING: &str = "reading";

/// The headings of groups, and the flags in them. What says how data are read is a group of its own; all others are options.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Models",
        &[
            "model", "from", "h", "input-size", "set", "hist-exog", "futr-exog", "stat-exog", "cat-exog",
            "features",
        ],
    ),
    (
        "Training and scores",
        &[
            "freq", "holidays", "val-size", "val-data", "drop-short", "local-scaler", "local-static-scaler",
            "intervals", "ensemble", "seed", "freeze", "precision", "low-memory", "strict", "keep-optimizer",
            "checkpoint", "checkpoint-every", "n-windows", "step-size", "refit", "ahead", "metric",
            "metrics", "budget", "non-negative", "integer",
        ],
    ),
    ("Hierarchies", &["hierarchy", "levels", "method", "reconciliation"]),
    (
        OUTPUT_GROUP,
        &[
            "out", "overwrite", "save", "json", "report", "trials-out", "fallbacks", "threads", "max-memory",
            "log", "quiet", "format", "config",
        ],
    ),
];

const OUTPUT_GROUP: &str = "Output and machine";

const READING_GROUP: &str = "Reading the data (more: foretell help reading)";

/// What `-h` shows of a command with many flags.
const COMMON: [&str; 50] = [
    "data", "id-col", "time-col", "target-col", "fill", "model", "h", "input-size", "set", "hist-exog",
    "futr-exog", "features", "freq", "val-size", "seed", "out", "overwrite", "config", "futr", "level",
    "quantiles", "n-windows", "budget", "metric", "trials", "space", "save", "report", "json", "help",
    "forecast", "actual", "history", "metrics", "by", "compare", "fail-if", "append", "ids", "models",
    "last", "scores", "importances", "unit", "n-paths", "only", "plot", "insample", "add", "list",
];

/// The commands with help of 80 columns, their flags in groups, and short help where only that is asked for.
pub(crate) fn arranged(cli: Command) -> Command {
    let reading = cli.find_subcommand(READING).map(names).unwrap_or_default();
    let commands: Vec<String> = cli.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let arranged = commands.iter().fold(cli, |cli, name| {
        cli.mut_subcommand(
            name,
            |command| if name == READING { command } else { of_command(command, &reading) },
        )
    });
    arranged.term_width(COLUMNS).mut_arg("format", |format| format.hide_short_help(true))
}

fn names(command: &Command) -> Vec<String> {
    command.get_arguments().filter_map(Arg::get_long).map(str::to_owned).collect()
}

fn of_command(command: Command, reading: &[String]) -> Command {
    let count = command.get_arguments().count();
    let has_many = count > MOST_SHOWN;
    let reads = command.get_arguments().any(|arg| arg.get_long() == Some("data"));
    let examples = command.get_after_help().map(ToString::to_string);
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| {
        let Some(long) = arg.get_long().map(str::to_owned) else { return arg };
        let heading = group(&long, reading).filter(|heading| has_many && (reads || *heading == OUTPUT_GROUP));
        let arg = match heading {
            Some(heading) => arg.help_heading(heading),
            None => arg,
        };
        let full = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
        let arg = match full {
            Some(full) => arg.help(first_clause(&full)).long_help(full),
            None => arg,
        };
        let is_shown = arg.is_required_set() || COMMON.contains(&&*long);
        let is_hidden = arg.is_hide_short_help_set();
        arg.hide_short_help(is_hidden || has_many && !is_shown)
    });
    match examples {
        Some(examples) if has_many || examples.lines().count() > MOST_EXAMPLES => {
            let first: String = first_example(&examples);
            let more = format!("{first}\n`foretell {name} --help` has all flags and more examples.");
            command.after_help(more).after_long_help(examples)
        }
        _ => command,
    }
}

fn group(long: &str, reading: &[String]) -> Option<&'static str> {
    let listed = GROUPS.iter().find(|(_, flags)| flags.contains(&long)).map(|(heading, _)| *heading);
    listed.or_else(|| reading.iter().any(|name| name == long).then_some(READING_GROUP))
}

/// The heading of examples and the first of them.
fn first_example(examples: &str) -> String {
    let mut lines = examples.lines();
    let mut kept: Vec<&str> = lines.by_ref().take(1).collect();
    for line in lines {
        kept.push(line);
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    kept.join("\n") + "\n"
}

/// The beginning of a help text, up to the first mark that ends a clause, or, of a long one, to where one could end.
fn first_clause(text: &str) -> String {
    const LONGEST: usize = 52;
    const SHORTEST: usize = 14;
    let line = text.lines().next().unwrap_or_default();
    let ends = |text: &str, marks: &[&str]| -> Vec<usize> {
        marks.iter().filter_map(|mark| text.find(mark)).filter(|end| *end >= SHORTEST).collect()
    };
    let cut = |end: usize| line[..end].trim_end_matches(['.', ',']).to_owned();
    let clause = ends(line, &["; ", ". ", ": ", " [default", " (", ", as ", ", in place "]);
    let end = clause.into_iter().min().unwrap_or(line.len());
    if line[..end].chars().count() <= LONGEST {
        return cut(end);
    }
    // As much as fits, so that no meaning is lost that has room.
    let within = ends(&line[..end], &[" that the ", " that are ", " from one ", ", "]);
    let fits = within.iter().copied().filter(|end| line[..*end].chars().count() <= LONGEST).max();
    cut(fits.or(within.into_iter().min()).unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_80_columns_and_short_help_a_screen() {
        let mut cli = crate::command();
        cli.build();
        let all = cli.render_help().to_string();
        assert!(all.lines().count() <= 44, "{} lines\n{all}", all.lines().count());
        assert!(all.lines().all(|line| line.chars().count() <= COLUMNS), "{all}");
        let names: Vec<String> = cli.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        for name in names.iter().filter(|name| *name != "help") {
            let command = cli.find_subcommand_mut(name).unwrap();
            let [short, long] =
                [command.render_help(), command.render_long_help()].map(|help| help.to_string());
            for line in short.lines().chain(long.lines()) {
                assert!(line.chars().count() <= COLUMNS, "{name}: {line}");
            }
            if name != READING {
                assert!(short.lines().count() <= 44, "{name}: {} lines\n{short}", short.lines().count());
            }
        }
    }

    #[test]
    fn what_short_help_leaves_out_is_in_the_long_one() {
        let mut cli = crate::command();
        cli.build();
        let fit = cli.find_subcommand_mut("fit").unwrap();
        let [short, long] = [fit.render_help(), fit.render_long_help()].map(|help| help.to_string());
        for heading in ["Models:", "Training and scores:", "Reading the data", "Output and machine:"] {
            assert!(short.contains(heading) && long.contains(heading), "{heading}: {short}");
        }
        assert!(short.contains("--input-size") && !short.contains("--encoding"), "{short}");
        for arg in fit.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long) {
            assert!(long.contains(&format!("--{arg}")), "{arg}");
        }
        let reading = cli.find_subcommand_mut(READING).unwrap().render_long_help().to_string();
        for flag in ["--encoding", "--hours-across", "--snap", "--end "] {
            assert!(reading.contains(flag), "{flag}");
        }
    }

    #[test]
    fn clauses_end_at_marks() {
        assert_eq!(first_clause("Steps to forecast; those beyond"), "Steps to forecast");
        assert_eq!(first_clause("Column of the times [default: ds]"), "Column of the times");
        let long = "Fill rows and values that are missing between others, by what is known, or by zeros";
        assert_eq!(first_clause(long), "Fill rows and values that are missing between others");
    }
}
