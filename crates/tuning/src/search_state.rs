//! The results of a search on disk, so that one that was killed continues to the same result.
//!
//! A proposal is a function of the results before it, so they are all that is needed: the search takes its way again, and finds
//! the results that are kept in place of training anew.

use std::path::Path;

use foretell::{CheckpointError, Error, StateDirectory};
use foretell_files::write_whole;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::TuningError;

/// The score of a trial at a rung.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RungResult {
    pub(crate) trial: usize,
    pub(crate) rung: usize,
    /// The point, by which a result of another search is told.
    pub(crate) point: Vec<f64>,
    pub(crate) score: Option<f64>,
    pub(crate) seconds: f64,
    pub(crate) failure: Option<String>,
}

/// The results so far, and the file that holds them, if there is one.
#[derive(Debug)]
pub(crate) struct SearchState {
    results: Vec<RungResult>,
    file: Option<(StateDirectory, Value)>,
}

impl SearchState {
    /// Takes up the search of this identity in a directory, or begins one.
    pub(crate) fn open(dir: Option<&Path>, search: Value) -> Result<Self, TuningError> {
        let Some(dir) = dir else { return Ok(Self { results: Vec::new(), file: None }) };
        let dir = StateDirectory::take(dir)?;
        let path = dir.search_file();
        let results =
            dir.search()?.map(|bytes| read(&path, &bytes, &search)).transpose()?.unwrap_or_default();
        Ok(Self { results, file: Some((dir, search)) })
    }

    /// The result of a trial at a rung, if it is known.
    pub(crate) fn find(&self, trial: usize, rung: usize, point: &[f64]) -> Option<&RungResult> {
        let mut found = self.results.iter().filter(|result| (result.trial, result.rung) == (trial, rung));
        found.find(|result| result.point == point)
    }

    /// Keeps a result.
    pub(crate) fn push(&mut self, result: RungResult) -> Result<(), TuningError> {
        self.results.push(result);
        let Some((dir, search)) = &self.file else { return Ok(()) };
        let content = json!({ "search": search, "results": self.results });
        let text = json!({ "checksum": StateDirectory::digest(&content.to_string()), "content": content })
            .to_string();
        write_whole(&dir.search_file(), text.as_bytes())
            .map_err(|error| Error::from(CheckpointError::from(error)).into())
    }
}

fn read(path: &Path, bytes: &[u8], search: &Value) -> Result<Vec<RungResult>, TuningError> {
    let damaged = |reason: String| TuningError::SearchState { path: path.to_owned(), reason };
    let document: Value = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    let content = &document["content"];
    if document["checksum"] != StateDirectory::digest(&content.to_string()) {
        return Err(damaged("its checksum is not that of its content".to_owned()));
    }
    if content["search"] != *search {
        return Err(TuningError::OtherSearch { path: path.to_owned() });
    }
    serde_json::from_value(content["results"].clone()).map_err(|error| damaged(error.to_string()))
}
