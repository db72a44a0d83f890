//! The results of a search on disk, so that one that was killed continues to the same result.
//!
//! A proposal is a function of the results before it, so they are all that is needed: the search takes its way again, and finds
//! the results that are kept in place of training anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use foretell_checkpoint::CheckpointError;
use foretell_files::{Lock, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;
use crate::training::checkpointing::{SEARCH_FILE, digest, lock, make_directory, unusable};

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
    file: Option<(PathBuf, Value, Lock)>,
}

impl SearchState {
    /// Takes up the search of this identity in a directory, or begins one.
    pub(crate) fn open(dir: Option<&Path>, search: Value) -> Result<Self, Error> {
        let Some(dir) = dir else { return Ok(Self { results: Vec::new(), file: None }) };
        make_directory(dir)?;
        let lock = lock(dir)?;
        let path = dir.join(SEARCH_FILE);
        let results = match fs::read(&path) {
            Ok(bytes) => read(&path, &bytes, &search)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(unusable(dir, source)),
        };
        Ok(Self { results, file: Some((path, search, lock)) })
    }

    /// The result of a trial at a rung, if it is known.
    pub(crate) fn find(&self, trial: usize, rung: usize, point: &[f64]) -> Option<&RungResult> {
        let mut found = self.results.iter().filter(|result| (result.trial, result.rung) == (trial, rung));
        found.find(|result| result.point == point)
    }

    /// Keeps a result.
    pub(crate) fn push(&mut self, result: RungResult) -> Result<(), Error> {
        self.results.push(result);
        let Some((path, search, _)) = &self.file else { return Ok(()) };
        let content = json!({ "search": search, "results": self.results });
        let text = json!({ "checksum": digest(&content.to_string()), "content": content }).to_string();
        write_whole(path, text.as_bytes()).map_err(|error| CheckpointError::from(error).into())
    }
}

fn read(path: &Path, bytes: &[u8], search: &Value) -> Result<Vec<RungResult>, Error> {
    let damaged = |reason: String| Error::SearchState { path: path.to_owned(), reason };
    let document: Value = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    let content = &document["content"];
    if document["checksum"] != digest(&content.to_string()) {
        return Err(damaged("its checksum is not that of its content".to_owned()));
    }
    if content["search"] != *search {
        return Err(Error::OtherSearch { path: path.to_owned() });
    }
    serde_json::from_value(content["results"].clone()).map_err(|error| damaged(error.to_string()))
}
