//! The columns of a file, looked at once where their names do not tell which hold ids, times and values.

use std::path::Path;
use std::sync::OnceLock;

use foretell::{ColumnError, ColumnNames, DataError, Error, ReadOptions, Roles, TableError};
use serde_json::json;

use crate::context::Context;
use crate::failure::Usage;
use crate::standard_input::{first_rows, is_stdin};

/// What the columns of a file hold.
#[derive(Debug, Default)]
pub(crate) struct LookedAt(OnceLock<Option<Roles>>);

impl LookedAt {
    /// What the columns of a long file hold that has not all of the names in these options.
    pub(crate) fn roles(&self, path: &Path, options: impl FnOnce() -> Option<ReadOptions>) -> Option<&Roles> {
        let look = || match () {
            () if is_stdin(path) => options()?.roles_in(&first_rows()).ok()?,
            () => options()?.roles(path).ok()?,
        };
        self.0.get_or_init(look).as_ref()
    }

    /// Tells what the columns hold, where their names do not; of several files of which one.
    pub(crate) fn tell(&self, file: Option<&Path>, context: &'static Context) {
        if let Some(roles) = self.found().filter(|roles| roles.are_clear()) {
            let ColumnNames { time, target, .. } = ColumnNames::default().or_found(roles);
            let text = format!(
                "{}, values {target}; --id-col, --time-col and --target-col name others",
                told(file, roles.id.as_ref(), &time)
            );
            let event =
                json!({ "event": "columns", "id_col": roles.id, "time_col": time, "target_col": target });
            context.report(&text, &event);
        }
    }

    /// The same of a file of forecasts, each of whose columns may be those of a model.
    pub(crate) fn tell_forecasts(&self, file: &Path, context: &'static Context) {
        if let Some(roles) = self.found()
            && let Some(time) = &roles.time
            && !roles.repeats
        {
            let text =
                format!("{}; --id-col and --time-col name others", told(Some(file), roles.id.as_ref(), time));
            context.report(&text, &json!({ "event": "columns", "id_col": roles.id, "time_col": time }));
        }
    }

    fn found(&self) -> Option<&Roles> {
        self.0.get().and_then(Option::as_ref)
    }

    /// The error of a file, shown so, whose columns are not called as usual: it asks for the one that could not be told, unless its name
    /// was said (that of ids, that of values).
    pub(crate) fn asking(&self, error: anyhow::Error, shown: &str, [id, target]: [bool; 2]) -> anyhow::Error {
        let of_table = |error: &TableError| matches!(error, TableError::Column(ColumnError::Missing { .. }));
        let of_data = |error: &DataError| matches!(error, DataError::Table(error) if of_table(error));
        let is_of_column = match error.downcast_ref::<Error>() {
            Some(Error::Data(error)) => of_data(error),
            _ => error.downcast_ref().is_some_and(of_data) || error.downcast_ref().is_some_and(of_table),
        };
        let Some(roles) = self.found().filter(|_| is_of_column) else { return error };
        let is_said = (roles.target.is_none() && target) || (roles.id.is_none() && id);
        let question = roles.question(shown).filter(|_| !is_said);
        question.map_or(error, |question| Usage(question.to_string()).into())
    }
}

/// These options with the format of times and the decimal mark that the file has, except for what was given by a flag (`said`: times,
/// numbers).
pub(crate) fn as_written(path: &Path, options: ReadOptions, said: [bool; 2]) -> ReadOptions {
    match () {
        () if is_stdin(path) => options.as_written_in(&first_rows(), said),
        () => options.clone().with_notation_of(path, said).unwrap_or(options),
    }
}

/// The columns of ids and times in words.
fn told(file: Option<&Path>, id: Option<&String>, time: &str) -> String {
    let series = id.map_or_else(|| "one series".to_owned(), |id| format!("series {id}"));
    let of = file.map_or_else(String::new, |file| format!(" of {}", file.display()));
    format!("columns{of}: {series}, times {time}")
}

/// Whether a header has two columns: the one that holds times is told without its name.
pub(crate) fn is_pair(header: &[String]) -> bool {
    header.iter().filter(|name| !name.is_empty()).count() == 2
}
