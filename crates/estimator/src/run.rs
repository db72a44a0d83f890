//! The arguments of a training beside its data.

use std::any::Any;
use std::path::PathBuf;

use foretell_data::{Panel, Vocabulary};
use foretell_threads::Workers;
use serde_json::Value;

use crate::memory_limit::MemoryLimit;
use crate::progress::Listener;
use crate::reduction::{OneProcess, Reduction};
use crate::sparsity::Sparsity;
use crate::step_settings::StepSettings;

/// The last rows of each series that are not trained on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldOut {
    /// Rows to watch the training by, before those to test on.
    pub validation: usize,
    /// Rows that the training does not see at all.
    pub test: usize,
}

impl HeldOut {
    /// All rows that are held out.
    pub fn rows(self) -> usize {
        self.validation.saturating_add(self.test)
    }
}

/// The arguments of a training beside its data.
pub struct Run<'a> {
    /// The threads to use.
    pub workers: &'a Workers,
    /// The categories of the columns that hold some.
    pub vocabulary: &'a Vocabulary,
    /// Told of every step; it may stop the training.
    pub listen: Listener<'a>,
    /// Where the state of the training is kept, if it is to be kept.
    pub state: Option<&'a StateFile>,
    /// The processes that train together: [`OneProcess`](crate::OneProcess), or several that make the same calls with the same
    /// settings and data. Process 0 keeps the state. An estimator that fits in a moment may fit whole on each of them.
    pub reduction: &'a dyn Reduction,
    /// Where it starts.
    pub start: Start<'a>,
    /// How its steps are computed, if it takes some.
    pub step: StepSettings,
}

impl<'a> Run<'a> {
    /// A training of one process that begins anew and keeps no state.
    pub fn alone(workers: &'a Workers, vocabulary: &'a Vocabulary, listen: Listener<'a>) -> Self {
        Self {
            workers,
            vocabulary,
            listen,
            state: None,
            reduction: &OneProcess,
            start: Start::default(),
            step: StepSettings::default(),
        }
    }

    /// The same, with steps that are computed so: an estimator that is made of others gives them those of its own run.
    #[must_use]
    pub fn steps_as(self, step: StepSettings) -> Self {
        Self { step, ..self }
    }
}

/// Where a training starts. An estimator that fits in a moment may fit anew.
#[derive(Clone, Debug, Default)]
pub struct Start<'a> {
    /// A [`Trained`](crate::Trained) of the same kind, from which the training continues; `None` to begin anew.
    pub from: Option<&'a dyn Any>,
    /// The parameters that stay unchanged: whole names, or the beginnings of names up to a point, as `blocks.0`.
    pub frozen: Vec<&'a str>,
    /// How many weights become zero on the way, if some are to.
    pub sparsity: Option<Sparsity>,
}

/// Where the state of one training is kept, so that a run that was killed resumes from there. An estimator that is trained
/// in a moment need not keep any.
#[derive(Clone, Debug)]
pub struct StateFile {
    /// The file.
    pub path: PathBuf,
    /// Steps from one state to the next.
    pub every: u64,
    /// The identity of the training: models, settings and data.
    pub training: Value,
}

impl StateFile {
    /// The entry of [`StateFile::training`] that holds the settings of each model, by its column.
    pub const MODELS: &'static str = "models";

    /// In what this training differs from one that was identified by `was`: the first few differences, by path.
    pub fn differences(&self, was: &Value) -> Vec<String> {
        let worded = |Difference { path, one, other }: Difference<'_>| match (one, other) {
            (Some(was), Some(is)) => format!("{path} was {was} and is {is}"),
            (was, _) => format!("{path} was {}there", if was.is_some() { "" } else { "not " }),
        };
        differences(was, &self.training).into_iter().map(worded).collect()
    }
}

/// In what the identities of two trainings differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference<'v> {
    /// The setting, by path.
    pub path: String,
    /// Its value in the one, if it is there.
    pub one: Option<&'v Value>,
    /// Its value in the other.
    pub other: Option<&'v Value>,
}

/// In what the identities of two trainings differ ([`StateFile::training`]): the first few differences, by path.
pub fn differences<'v>(one: &'v Value, other: &'v Value) -> Vec<Difference<'v>> {
    let mut differences = Vec::new();
    differ("", Some(one), Some(other), &mut differences);
    differences
}

fn differ<'v>(
    path: &str,
    one: Option<&'v Value>,
    other: Option<&'v Value>,
    differences: &mut Vec<Difference<'v>>,
) {
    const SHOWN: usize = 4;
    if one == other || differences.len() >= SHOWN {
        return;
    }
    let (Some(old), Some(new)) = (one.and_then(Value::as_object), other.and_then(Value::as_object)) else {
        differences.push(Difference { path: path.to_owned(), one, other });
        return;
    };
    let added = new.keys().filter(|key| !old.contains_key(*key));
    for key in old.keys().chain(added) {
        let path = match path {
            "" | StateFile::MODELS => key.clone(),
            _ => format!("{path}.{key}"),
        };
        differ(&path, old.get(key), new.get(key), differences);
    }
}

/// A training whose memory is to be estimated.
#[derive(Clone, Copy, Debug)]
pub struct TrainingSize<'a> {
    /// The data.
    pub panel: &'a Panel,
    /// Rows that are not trained on.
    pub held_out: HeldOut,
    /// The categories of the columns that hold some.
    pub vocabulary: &'a Vocabulary,
    /// Threads that work at the same time.
    pub threads: usize,
    /// Whether the state of the training is kept on disk.
    pub is_kept: bool,
    /// Whether weights become zero while it is trained.
    pub is_pruned: bool,
    /// How its steps are computed.
    pub step: StepSettings,
    /// The limit of the training; finding out how much it needs keeps to it as well.
    pub limit: &'a MemoryLimit,
}
