//! Work by index.

use crate::scope::count;

/// Calls `one` with each index below `indices`, once, `group` of them in a row, on the threads that
/// [`share`](crate::share) allows.
///
/// # Panics
/// If a call panics, with what it panicked with.
pub fn for_each(indices: usize, group: usize, one: impl Fn(usize) + Sync) {
    let threads = if indices > group { count() } else { 1 };
    #[cfg(feature = "parallel")]
    if threads > 1 {
        return crate::helpers::for_each(indices, group, threads, &one);
    }
    debug_assert_eq!(threads, 1, "there are others only by the feature `parallel`");
    (0..indices).for_each(one);
}
