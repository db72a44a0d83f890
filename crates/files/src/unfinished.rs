//! Files and directories that exist beside a place only while a process writes it, for a process that ends before it is done.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Removes the files and directories beside a place.
type Clean = Box<dyn Fn() + Send>;

/// By numbers that rise, so that the last place taken is cleaned first.
static UNFINISHED: Mutex<BTreeMap<u64, Clean>> = Mutex::new(BTreeMap::new());

fn unfinished() -> MutexGuard<'static, BTreeMap<u64, Clean>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something beside a place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Unfinished(u64);

impl Unfinished {
    /// Registers the files and directories that `clean` removes.
    pub(crate) fn new(clean: impl Fn() + Send + 'static) -> Self {
        let mut all = unfinished();
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, Box::new(clean));
        Self(number)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

/// Removes the locks and half-written files and directories of this process, for one that ends at once without dropping
/// its values. Nothing can be taken or finished afterwards: threads that try wait for the end.
pub fn abandon_all() {
    let all = unfinished();
    all.values().rev().for_each(|clean| clean());
    mem::forget(all);
}
