//! The check that no command writes over its inputs.

use std::path::{Path, PathBuf, absolute};

use clap::{Arg, ArgMatches, Command, ValueHint};
use foretell_files::{Identity, resolve};

use crate::failure::Usage;

/// The flags that name places to write to. All other paths of a command line are read.
const OUTPUTS: [&str; 7] = ["out", "plot", "trials-out", "checkpoint", "save", "report", "onnx"];

/// Those of them whose directory is replaced as a whole.
const REPLACED: [&str; 2] = ["out", "save"];

/// The flag of a directory for files without names: nothing in it is read or replaced.
const SCRATCH: &str = "scratch";

/// A path of the command line.
struct PathArgument {
    /// The flag and the path, as they were written.
    said: String,
    path: PathBuf,
    /// The path without links, as far as it is there.
    place: PathBuf,
    is_directory: bool,
    /// Whether it is a directory that is replaced as a whole.
    is_replaced: bool,
}

/// Checks the paths of a command line, those of `--config` included, by what is at them: two names of one file are one
/// file. Gives what is read, as far as it exists: a path may lead elsewhere by the time that it is written.
///
/// # Errors
/// If an output is an input, is in a directory that is one, or is a directory that holds one.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> Result<Vec<Identity>, Usage> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Vec::new()) };
    let Some(command) = command.find_subcommand(name) else { return Ok(Vec::new()) };
    let path_arguments = |arg: &Arg| {
        let paths =
            matches.try_get_many::<PathBuf>(arg.get_id().as_str()).ok().flatten().into_iter().flatten();
        let flag = arg.get_long().map(|flag| format!("--{flag} ")).unwrap_or_default();
        let is_directory = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DIR"));
        let is_replaced = is_directory && arg.get_long().is_some_and(|flag| REPLACED.contains(&flag));
        let arguments = paths.filter(|path| **path != Path::new("-")).map(|path| PathArgument {
            said: format!("{flag}{}", path.display()),
            path: path.clone(),
            place: place(path),
            is_directory,
            is_replaced,
        });
        arguments.collect::<Vec<_>>()
    };
    let paths = command.get_arguments().filter(|arg| arg.get_value_hint() == ValueHint::AnyPath);
    let paths = paths.filter(|arg| arg.get_long() != Some(SCRATCH));
    let (outputs, inputs): (Vec<&Arg>, Vec<&Arg>) =
        paths.partition(|arg| arg.get_long().is_some_and(|flag| OUTPUTS.contains(&flag)));
    let all = |args: Vec<&Arg>| args.into_iter().flat_map(path_arguments).collect::<Vec<PathArgument>>();
    let (outputs, inputs) =
        (all(outputs), all(inputs).into_iter().flat_map(PathArgument::with_files).collect::<Vec<_>>());
    for output in &outputs {
        inputs.iter().try_for_each(|input| output.check_against(input))?;
    }
    let directory =
        |replaced| outputs.iter().find(move |output| output.is_directory && output.is_replaced == replaced);
    let [out, state] = [directory(true), directory(false)];
    match (out, state) {
        (Some(out), Some(state)) if state.is_within(out) || state.is(out) => Err(Usage(format!(
            "{}: the state of training needs another directory than {}",
            state.said, out.said
        ))),
        _ => Ok(inputs.iter().filter_map(|input| Identity::of(&input.path).ok()).collect()),
    }
}

impl PathArgument {
    /// The path, and the files that it names if it is a pattern or a folder of them. What is wrong with it is told when it is read.
    fn with_files(self) -> Vec<Self> {
        let files = if self.is_directory {
            Vec::new()
        } else {
            foretell::table_files(&self.path).unwrap_or_default()
        };
        let files = files.into_iter().filter(|file| *file != self.path);
        let file = |path: PathBuf| Self {
            said: self.said.clone(),
            place: place(&path),
            path,
            is_directory: false,
            is_replaced: false,
        };
        let mut all: Vec<Self> = files.map(file).collect();
        all.push(self);
        all
    }

    fn check_against(&self, input: &Self) -> Result<(), Usage> {
        let (output, read) = (&self.said, &input.said);
        if self.is(input) && self.is_replaced && !self.path.is_dir() {
            return Err(Usage(format!("{output} is a file, that of {read}; name a directory")));
        }
        if self.is(input) {
            return Err(Usage(format!("{output} would overwrite the data of {read}; name another place")));
        }
        if input.is_directory && self.is_within(input) {
            return Err(Usage(format!("{output} is in {read}, which is read; name another place")));
        }
        if self.is_replaced && input.is_within(self) {
            return Err(Usage(format!(
                "{output} holds {read}, so it cannot be replaced; name another place"
            )));
        }
        Ok(())
    }

    fn is(&self, other: &Self) -> bool {
        same(&self.path, &other.path) || self.place == other.place
    }

    fn is_within(&self, directory: &Self) -> bool {
        self.place
            .ancestors()
            .skip(1)
            .any(|parent| parent == directory.place || same(parent, &directory.path))
    }
}

fn place(path: &Path) -> PathBuf {
    resolve(path).or_else(|_| absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((Identity::of(one), Identity::of(other)), (Ok(one), Ok(other)) if one == other)
}
