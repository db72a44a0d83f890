//! `look`: how a table is read, and its last rows, before anything is forecast.

use foretell_auto::{Understood, last_rows};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kept::Most;
use crate::refusal::Refusal;
use crate::series::{Read, Tables};
use crate::table::table;

/// The tables that are looked at.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Asked {
    tables: Tables,
}

/// The answer: what was understood, the last rows of each series, and what was done in the caller's stead.
pub(crate) fn look(asked: Asked, most: Most, bytes: &[u8]) -> Result<Value, Refusal> {
    let series = asked.tables.read(Read::new(most, bytes))?;
    let understood = Understood::of(&series.data, &series.panel, &series.options);
    let rows = last_rows(&series.panel, &series.options);
    Ok(
        json!({ "understood": understood, "table": table(&rows, &series.names().target), "told": series.told }),
    )
}
