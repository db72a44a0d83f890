//! The threads that shards run on.

#[cfg(feature = "parallel")]
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A fixed set of threads. Work is dealt to them by its number, not by who is free, so that each thread
/// meets the same shapes again and again and its buffers serve it for ever.
#[derive(Clone, Debug)]
pub struct Workers {
    threads: usize,
    #[cfg(feature = "parallel")]
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Workers {
    /// `threads` threads, or as many as the machine has where it is 0.
    ///
    /// # Panics
    /// If the system refuses to start that many.
    pub fn new(threads: usize) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        #[cfg(feature = "parallel")]
        {
            let start =
                || rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            Self { threads, pool: (threads > 1).then(|| Arc::new(start())) }
        }
        #[cfg(not(feature = "parallel"))]
        Self { threads }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        if crate::PARALLEL { self.threads } else { 1 }
    }

    /// Runs `work` on one of the threads, where it can use the others without leaving the pool.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            return pool.install(work);
        }
        work()
    }

    /// Runs `work(i, &mut items[i])` for every item. Item i is done by thread i modulo the number of
    /// threads, in order; without `spread` by the calling thread alone.
    pub fn each<T: Send>(&self, items: &[Mutex<T>], spread: bool, work: impl Fn(usize, &mut T) + Sync) {
        #[cfg(feature = "parallel")]
        if let Some(pool) = self.pool.as_ref().filter(|_| spread && items.len() > 1) {
            pool.broadcast(|thread| {
                for i in (thread.index()..items.len()).step_by(thread.num_threads()) {
                    work(i, &mut lock(&items[i]));
                }
            });
            return;
        }
        let _ = spread;
        items.iter().enumerate().for_each(|(i, item)| work(i, &mut lock(item)));
    }
}

/// The item; only its own thread ever asks for it, so this does not wait.
pub(crate) fn lock<T>(item: &Mutex<T>) -> MutexGuard<'_, T> {
    item.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        for threads in [1, 2, 3] {
            let workers = Workers::new(threads);
            let items: Vec<Mutex<usize>> = (0..7).map(Mutex::new).collect();
            for spread in [true, false] {
                workers.each(&items, spread, |i, item| {
                    assert_eq!(*item % 10, i);
                    *item += 10;
                });
            }
            workers.enter(|| workers.each(&items, true, |_, item| *item += 10));
            assert_eq!(
                items.iter().map(|item| *lock(item)).collect::<Vec<_>>(),
                [30, 31, 32, 33, 34, 35, 36]
            );
        }
    }
}
