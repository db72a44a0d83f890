//! Work shared out to threads, at the level of the caller.

use foretell_simd::at_this_level;

/// Calls `one` with each index below `count`, once, on the threads that [`foretell_threads::share`] allows, `group` indices in a
/// row. All of them run at the caller's level: what was packed for it can be read at no other.
pub(crate) fn for_each(count: usize, group: usize, one: impl Fn(usize) + Sync) {
    foretell_threads::for_each(count, group, at_this_level(one));
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, Mutex};

    use foretell_simd::{Level, level, with_level};
    use foretell_threads::{Workers, count, share};

    use super::*;

    #[test]
    fn threads_that_help_take_the_level_of_the_caller() {
        let workers = Workers::new(2).unwrap();
        for asked in Level::available() {
            let found = Mutex::new(Vec::new());
            workers.enter(|| {
                share(2, || {
                    // Neither thread takes both indices.
                    let both = Barrier::new(count());
                    with_level(asked, || {
                        for_each(2, 1, |_| {
                            both.wait();
                            found.lock().unwrap().push(level());
                        });
                    });
                });
            });
            assert_eq!(found.into_inner().unwrap(), [asked; 2]);
        }
    }
}
