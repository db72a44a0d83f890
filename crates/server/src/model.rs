//! A model as it is served.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foretell::{Error, Fitted};
use serde::Serialize;

use crate::forecast::note_warning;
use crate::joint_sizes::JointSizes;
use crate::settings::EngineSettings;

/// A model as it is served.
pub(crate) struct ServedModel {
    pub(crate) facts: ModelFacts,
    /// It on all threads, and on one: the same numbers and the same forecasts.
    pub(crate) on_all_threads: Fitted,
    pub(crate) on_one_thread: Fitted,
    /// How many series it forecasts together without changing a bit.
    pub(crate) joint: JointSizes,
    stamp: Option<Stamp>,
}

/// The facts of a model that a request depends on.
#[derive(Clone, Debug, Serialize)]
pub struct ModelFacts {
    /// The name by which requests call it.
    pub name: String,
    /// The columns of its forecasts, without the suffixes of intervals.
    pub columns: Vec<String>,
    /// Steps that it forecasts by itself.
    pub h: usize,
    /// The frequency of its series.
    pub freq: String,
    /// Names of the columns of ids, times and targets.
    pub id_col: String,
    /// The column of the times.
    pub time_col: String,
    /// The column of the values.
    pub target_col: String,
    /// Further columns that it reads.
    pub columns_read: Vec<String>,
    /// Those of them whose future rows a forecast needs.
    pub future_columns: Vec<String>,
    /// The format in which its weights are held.
    pub precision: String,
    /// How its intervals were calibrated, if they were.
    pub intervals: Option<String>,
}

impl ServedModel {
    pub(crate) fn load(name: &str, dir: &Path, settings: &EngineSettings) -> Result<Self, Error> {
        // Taken before the files are read: a change in between is seen at the next look.
        let stamp = Stamp::of(dir);
        let fitted = Fitted::load_within(dir, settings.memory.clone())?
            .weight_precision(settings.precision)?
            .on_warning(note_warning);
        let facts = ModelFacts::of(name, &fitted, settings);
        // What it holds itself is there already, and no part of what a request takes.
        let held = fitted.models().iter().map(|model| model.held_bytes()).sum();
        let fitted = fitted.max_memory(settings.own_memory().saturating_add(held));
        let on_all_threads = fitted.clone().threads(settings.threads)?;
        let on_one_thread = fitted.threads(1)?;
        Ok(Self { facts, on_all_threads, on_one_thread, joint: JointSizes::default(), stamp })
    }

    /// Whether its directory has changed since.
    pub(crate) fn is_changed(&self, dir: &Path) -> bool {
        // A directory that is gone has no successor yet.
        Stamp::of(dir).is_some_and(|stamp| Some(stamp) != self.stamp)
    }
}

impl ModelFacts {
    fn of(name: &str, fitted: &Fitted, settings: &EngineSettings) -> Self {
        let names = fitted.columns();
        let ensembles = fitted.ensembles().map(|(name, _)| name.to_owned());
        Self {
            name: name.to_owned(),
            columns: fitted.column_names().into_iter().chain(ensembles).collect(),
            h: fitted.h(),
            freq: fitted.freq().to_string(),
            id_col: names.id.clone(),
            time_col: names.time.clone(),
            target_col: names.target.clone(),
            columns_read: fitted.columns_read(),
            future_columns: fitted.future_columns(),
            precision: settings.precision.name().to_owned(),
            intervals: fitted.prediction_intervals().map(|intervals| intervals.to_string()),
        }
    }
}

/// Sizes and times by which one state of a model's directory differs from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp([(u64, u64, Option<SystemTime>); 2]);

impl Stamp {
    fn of(dir: &Path) -> Option<Self> {
        let of = |path: PathBuf| {
            let metadata = fs::metadata(path).ok()?;
            Some((identity(&metadata), metadata.len(), metadata.modified().ok()))
        };
        Some(Self([of(dir.to_owned())?, of(dir.join("configuration.json"))?]))
    }
}

/// The number of a file or directory on its disk: one that was put in its place has another.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> u64 {
    0
}
