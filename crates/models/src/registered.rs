//! Models from outside the zoo, and how any model is found by its name.

use std::sync::{PoisonError, RwLock};

use crate::architecture::{Architecture, ModelEntry};
use crate::registry::MODELS;

/// The models from outside, in the order in which they were registered.
static REGISTERED: RwLock<Vec<&'static ModelEntry>> = RwLock::new(Vec::new());

/// Makes a model from outside the zoo known to this process, so that it is found by its name where a model directory
/// is loaded or a spec is read. Registering it again changes nothing.
///
/// # Panics
/// If another model has that name, ignoring case.
pub fn register<A: Architecture>() -> &'static ModelEntry {
    let entry = const { &ModelEntry::of::<A>() };
    let mut own = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    match named(A::NAME, &own) {
        Some(known) => assert!(known == entry, "two models are called {}", A::NAME),
        None => own.push(entry),
    }
    entry
}

/// The model of this name, ignoring case: one of [`MODELS`], or one that was [registered](register).
pub fn find(name: &str) -> Option<&'static ModelEntry> {
    named(name, &REGISTERED.read().unwrap_or_else(PoisonError::into_inner))
}

fn named(name: &str, own: &[&'static ModelEntry]) -> Option<&'static ModelEntry> {
    MODELS.iter().chain(own.iter().copied()).find(|entry| entry.name.eq_ignore_ascii_case(name))
}
