//! Scratch memory of a network between its forecasts.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What forecasts take memory for, from one to the next: as many as there were at once.
#[derive(Debug, Default)]
pub(crate) struct Idle<T>(Mutex<Vec<T>>);

impl<T: Default> Idle<T> {
    /// One that no forecast has.
    pub(crate) fn take(&self) -> T {
        self.all().pop().unwrap_or_default()
    }

    /// Keeps one for the next forecast.
    pub(crate) fn put_back(&self, scratch: T) {
        self.all().push(scratch);
    }

    fn all(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
