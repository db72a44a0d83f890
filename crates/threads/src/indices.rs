//! Work by index.

use crate::scope::count;

/// Calls `one` with each index below `indices`, once, `group` of them in a row, on the threads that
/// [`share`](crate::share) allows. All of them run at the SIMD level of the caller: what was packed for it can be read at no other,
/// and bits depend on it.
///
/// # Panics
/// If a call panics, with what it panicked with.
pub fn for_each(indices: usize, group: usize, one: impl Fn(usize) + Sync) {
    let threads = if indices > group { count() } else { 1 };
    #[cfg(feature = "parallel")]
    if threads > 1 {
        return crate::helpers::for_each(indices, group, threads, &foretell_simd::at_this_level(one));
    }
    debug_assert_eq!(threads, 1, "there are others only by the feature `parallel`");
    (0..indices).for_each(one);
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Barrier, Mutex};
    use std::thread::{ThreadId, current};

    use foretell_simd::{Level, level, with_level};

    use super::*;
    use crate::{Workers, pipeline, rows, sequence, share, sums};

    /// The levels that two threads saw, both of which have been at work; on one thread that of the caller.
    #[derive(Default)]
    struct Seen(Mutex<HashMap<ThreadId, Level>>);

    impl Seen {
        /// Waits for the other thread, when this one comes for the first time.
        fn look(&self, both: &Barrier) {
            if self.0.lock().unwrap().insert(current().id(), level()).is_none() {
                both.wait();
            }
        }

        fn levels(self) -> Vec<Level> {
            self.0.into_inner().unwrap().into_values().collect()
        }
    }

    #[test]
    fn threads_that_help_run_at_the_level_of_the_caller() {
        type Work = fn(&(dyn Fn() + Sync));
        const MANY: usize = 1 << 20;
        let works: [(&str, Work); 5] = [
            ("for_each", |look| for_each(2, 1, |_| look())),
            ("rows", |look| rows(2, MANY, [&mut [0.0; 2][..]], |_, _| look())),
            ("sums", |look| sums(2, MANY, &mut [0.0], |_, _| look())),
            ("pipeline", |look| {
                let (mut below, mut above) = ([0.0; 65], [0.0; 65]);
                let mut stages = [(0, &mut below[..]), (1, &mut above[..])];
                // While the first chunk is computed there is nothing for another thread.
                pipeline(&[0.0; 64], [64, 1], MANY, &mut stages, |chunks, _, _, _| {
                    if *chunks > 0 {
                        look();
                    }
                    *chunks += 1;
                });
            }),
            ("sequence", |look| {
                let mut blocks = [(0..1, ()), (1..2, ())];
                sequence(&mut [0.0; 130], 2, MANY, &mut blocks, |_, _, _, _| look());
            }),
        ];
        let workers = Workers::new(2).unwrap();
        for asked in Level::available() {
            for (name, work) in works {
                let seen = Seen::default();
                let threads = workers.enter(|| {
                    share(2, || {
                        let both = Barrier::new(count());
                        with_level(asked, || work(&|| seen.look(&both)));
                        count()
                    })
                });
                assert_eq!(seen.levels(), vec![asked; threads], "{name}");
            }
        }
    }
}
