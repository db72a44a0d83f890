//! The models that are kept from one request to the next, and what is heard while they are trained.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use foretell::{Fitted, Progress, Verdict, Warning};
use serde_json::json;

use crate::host::Host;
use crate::refusal::Refusal;

/// The models that are kept from one request to the next, by their numbers.
pub(crate) struct Kept {
    host: Host,
    most: Most,
    models: BTreeMap<u32, Fitted>,
    next: u32,
}

/// The most memory and threads of a work.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) memory: u64,
    /// 0 for as many as the machine has.
    pub(crate) threads: usize,
}

impl Kept {
    pub(crate) fn new(host: Host) -> Self {
        let most = Most { memory: host.most_memory, threads: host.most_threads };
        Self { host, most, models: BTreeMap::new(), next: 1 }
    }

    /// The most memory and threads of the works that come.
    pub(crate) fn most(&self) -> Most {
        self.most
    }

    /// Uses this many threads from now on, no more than the host allows; without a number, as many as it allows.
    pub(crate) fn use_threads(&mut self, threads: Option<usize>) {
        let allowed = self.host.most_threads;
        self.most.threads = match threads {
            Some(threads) if allowed == 0 => threads,
            Some(threads) if threads > 0 => threads.min(allowed),
            _ => allowed,
        };
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.models.len()
    }

    /// Frees a model; whether there was one.
    pub(crate) fn free(&mut self, number: u32) -> bool {
        self.models.remove(&number).is_some()
    }

    /// Keeps a model, and gives its number.
    pub(crate) fn keep(&mut self, fitted: Fitted) -> u32 {
        let number = self.next;
        self.next += 1;
        self.models.insert(number, fitted);
        number
    }

    pub(crate) fn model(&self, number: u32) -> Result<&Fitted, Refusal> {
        self.models.get(&number).ok_or_else(Refusal::no_model)
    }

    /// Tells the host of each step, which may end the training there.
    pub(crate) fn listener(&self) -> impl FnMut(&str, &Progress) -> Verdict + Send + use<> {
        let heard = self.host.heard.clone();
        move |model, progress| {
            let told = json!({
                "model": model, "step": progress.step, "maxSteps": progress.max_steps, "trainLoss": progress.train_loss,
                "validLoss": progress.valid_loss,
            });
            if heard(&told.to_string()) { Verdict::Interrupt } else { Verdict::Continue }
        }
    }
}

/// Warnings as texts, each once.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A listener to warnings, and what it heard.
pub(crate) fn warnings() -> (impl Fn(&Warning) + Send + Sync + 'static, Heard) {
    let heard = Heard::default();
    let kept = heard.clone();
    let listener = move |warning: &Warning| {
        let mut all = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = warning.to_string();
        if !all.contains(&text) {
            all.push(text);
        }
    };
    (listener, heard)
}
