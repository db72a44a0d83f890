//! Scratch memory of a network, reused from forecast to forecast.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Scratch memory that no forecast uses: as many pieces as there were forecasts at once.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool<T>(Mutex<Vec<T>>);

impl<T: Default> ScratchPool<T> {
    /// A piece for one forecast, new if all are in use.
    pub(crate) fn take(&self) -> T {
        self.all().pop().unwrap_or_default()
    }

    /// Keeps a piece for the next forecast.
    pub(crate) fn put_back(&self, scratch: T) {
        self.all().push(scratch);
    }

    fn all(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
