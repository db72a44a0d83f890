//! Sets of threads.

use std::thread;
#[cfg(feature = "parallel")]
use std::{
    io, process,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    thread::JoinHandle,
};

#[cfg(feature = "parallel")]
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

#[cfg(feature = "parallel")]
use crate::rows::Rows;
use crate::wanted::is_wanted;
#[cfg(feature = "parallel")]
use crate::wanted::{question, within};

/// The most threads that may be asked for: more than any machine can use.
const MOST: usize = 1024;

/// A fixed set of threads. Work is dealt to them by its number, not by who is free, so that each thread
/// meets the same shapes again and again and its buffers serve it for ever.
///
/// The threads start with the first work, and all `Workers` of one number share them as long as any of these is left:
/// models loaded in one process have one set of threads together. Where the system refuses to start this many, those that
/// it did start do the work; the result does not depend on their number. In a process that was forked, which has none of
/// the threads of the other one, new ones start.
#[derive(Clone, Debug)]
pub struct Workers {
    asked: usize,
    #[cfg(feature = "parallel")]
    started: Arc<OnceLock<Started>>,
}

/// The threads of a process; nothing where the calling thread does the work alone.
#[cfg(feature = "parallel")]
#[derive(Debug)]
struct Started {
    process: u32,
    pool: Option<Arc<ThreadPool>>,
}

/// More threads than anyone can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("threads must be between 0 (as many as the machine has) and {most}, found {found}")]
#[non_exhaustive]
pub struct TooManyThreads {
    /// The number that was asked for.
    pub found: usize,
    /// The most that may be.
    pub most: usize,
}

impl Workers {
    /// `threads` threads, or as many as the machine has where it is 0. None starts yet.
    ///
    /// # Errors
    /// If there are more than 1024.
    pub fn new(threads: usize) -> Result<Self, TooManyThreads> {
        if threads > MOST {
            return Err(TooManyThreads { found: threads, most: MOST });
        }
        let asked = match threads {
            0 => thread::available_parallelism().map_or(1, usize::from).min(MOST),
            threads => threads,
        };
        Ok(Self {
            asked,
            #[cfg(feature = "parallel")]
            started: Arc::default(),
        })
    }

    /// The threads of a pool that is there already.
    #[cfg(feature = "parallel")]
    pub fn of_pool(pool: Arc<ThreadPool>) -> Self {
        let (asked, process) = (pool.current_num_threads(), process::id());
        Self { asked, started: Arc::new(OnceLock::from(Started { process, pool: Some(pool) })) }
    }

    /// `threads` threads that no other `Workers` share, or the calling thread alone: for works that run side by side, each of which is
    /// to have its own.
    pub fn apart(threads: usize) -> Self {
        #[cfg(feature = "parallel")]
        if let Some(pool) = start(threads, |worker| thread::Builder::new().spawn(|| worker.run())) {
            return Self::of_pool(Arc::new(pool));
        }
        let _ = threads;
        Self {
            asked: 1,
            #[cfg(feature = "parallel")]
            started: Arc::default(),
        }
    }

    /// The number of threads that was asked for.
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// The number of threads, which are started if they were not yet.
    pub fn threads(&self) -> usize {
        #[cfg(feature = "parallel")]
        return self.pool().map_or(1, |pool| pool.current_num_threads());
        #[cfg(not(feature = "parallel"))]
        1
    }

    /// How many threads there are, where the system refused to start as many as were asked for; nothing where it
    /// did not, or was not asked yet.
    pub fn fewer(&self) -> Option<usize> {
        #[cfg(feature = "parallel")]
        let started = self
            .started
            .get()
            .map(|started| started.pool.as_ref().map_or(1, |pool| pool.current_num_threads()));
        #[cfg(not(feature = "parallel"))]
        let started = None;
        started.filter(|&started| started < self.asked)
    }

    /// The threads; nothing where the calling thread does the work alone.
    #[cfg(feature = "parallel")]
    fn pool(&self) -> Option<Arc<ThreadPool>> {
        let process = process::id();
        let pool = || if self.asked > 1 { shared(self.asked, process) } else { None };
        let started = self.started.get_or_init(|| Started { process, pool: pool() });
        if started.process == process { started.pool.clone() } else { pool() }
    }

    /// Runs `work` on one of the threads, where it can use the others without leaving the pool.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        #[cfg(feature = "parallel")]
        if let Some(pool) = self.pool() {
            let asked = question();
            return pool.install(|| within(asked, work));
        }
        work()
    }

    /// Runs `work(i, &mut items[i])` for every item. Item i is done by thread i modulo the number of
    /// threads, in order; without `spread` by the calling thread alone. Items that no one waits for any more
    /// ([`while_wanted`](crate::while_wanted)) are left unchanged.
    pub fn each<T: Send>(&self, items: &mut [T], spread: bool, work: impl Fn(usize, &mut T) + Sync) {
        #[cfg(feature = "parallel")]
        if spread
            && items.len() > 1
            && let Some(pool) = self.pool()
        {
            let (count, items, asked) = (items.len(), Rows::of(items, 1), question());
            pool.broadcast(|thread| {
                within(asked.clone(), || {
                    for i in (thread.index()..count).step_by(thread.num_threads()) {
                        if !is_wanted() {
                            break;
                        }
                        // SAFETY: each item is given to one thread.
                        let item = unsafe { items.part(i..i + 1) };
                        work(i, &mut item[0]);
                    }
                });
            });
            return;
        }
        let _ = spread;
        items.iter_mut().enumerate().take_while(|_| is_wanted()).for_each(|(i, item)| work(i, item));
    }
}

/// The pool of this many threads, which is started where this process has none.
#[cfg(feature = "parallel")]
fn shared(threads: usize, process: u32) -> Option<Arc<ThreadPool>> {
    static POOLS: Mutex<Vec<(usize, Weak<ThreadPool>)>> = Mutex::new(Vec::new());
    // Those that a forked process uses in place of the ones that it did not inherit: no one else holds them.
    static FORKED: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());
    static FIRST: OnceLock<u32> = OnceLock::new();
    let started = || start(threads, |worker| thread::Builder::new().spawn(|| worker.run())).map(Arc::new);
    if *FIRST.get_or_init(|| process) != process {
        let mut pools = lock(&FORKED);
        let known = pools.iter().find(|(owner, known, _)| (*owner, *known) == (process, threads));
        let known = known.map(|(.., pool)| pool.clone());
        return known.or_else(|| {
            let pool = started()?;
            pools.push((process, threads, pool.clone()));
            Some(pool)
        });
    }
    let mut pools = lock(&POOLS);
    pools.retain(|(_, pool)| pool.strong_count() > 0);
    let known = pools.iter().find(|(known, _)| *known == threads).and_then(|(_, pool)| pool.upgrade());
    known.or_else(|| {
        let pool = started()?;
        pools.push((threads, Arc::downgrade(&pool)));
        Some(pool)
    })
}

/// A pool of `threads` threads, or of as many as `spawn` does not refuse; nothing where it refuses a second.
#[cfg(feature = "parallel")]
fn start(
    mut threads: usize,
    mut spawn: impl FnMut(ThreadBuilder) -> io::Result<JoinHandle<()>>,
) -> Option<ThreadPool> {
    while threads > 1 {
        let mut running = Vec::new();
        let pool = ThreadPoolBuilder::new().num_threads(threads).spawn_handler(|worker| {
            running.push(spawn(worker)?);
            Ok(())
        });
        if let Ok(pool) = pool.build() {
            return Some(pool);
        }
        // They were told to end; when they have, there is room for as many again.
        threads = running.len();
        running.into_iter().for_each(|thread| _ = thread.join());
    }
    None
}

#[cfg(feature = "parallel")]
fn lock<T>(item: &Mutex<T>) -> MutexGuard<'_, T> {
    item.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        for threads in [1, 2, 3] {
            let workers = Workers::new(threads).unwrap();
            let mut items: Vec<usize> = (0..7).collect();
            for spread in [true, false] {
                workers.each(&mut items, spread, |i, item| {
                    assert_eq!(*item % 10, i);
                    *item += 10;
                });
            }
            workers.enter(|| workers.each(&mut items, true, |_, item| *item += 10));
            assert_eq!(items, [30, 31, 32, 33, 34, 35, 36]);
        }
    }

    #[test]
    fn more_threads_than_anybody_can_use_are_an_error() {
        let error = Workers::new(100_000).unwrap_err();
        assert_eq!(
            error.to_string(),
            "threads must be between 0 (as many as the machine has) and 1024, found 100000"
        );
        assert_eq!(Workers::new(MOST).unwrap().asked(), MOST);
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn threads_are_shared_and_start_with_the_first_work() {
        let [one, two] = [5, 5].map(|threads| Workers::new(threads).unwrap());
        assert!(one.started.get().is_none());
        assert_eq!((one.threads(), two.threads()), (5, 5));
        assert!(Arc::ptr_eq(&one.pool().unwrap(), &two.pool().unwrap()));
        let own = Workers::of_pool(Arc::new(ThreadPoolBuilder::new().num_threads(5).build().unwrap()));
        assert!(!Arc::ptr_eq(&one.pool().unwrap(), &own.pool().unwrap()));
        assert_eq!(own.enter(rayon::current_num_threads), 5);
        let [apart, other] = [5, 5].map(Workers::apart);
        assert!(!Arc::ptr_eq(&apart.pool().unwrap(), &other.pool().unwrap()));
        assert_eq!((apart.threads(), Workers::apart(1).threads()), (5, 1));
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn where_threads_are_refused_the_others_do_the_work() {
        for allowed in 0..6 {
            // How many run at a time is what systems limit.
            let running = Arc::new(Mutex::new(0));
            let spawn = |worker: ThreadBuilder| {
                let mut count = lock(&running);
                if *count == allowed {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                *count += 1;
                let running = Arc::clone(&running);
                thread::Builder::new().spawn(move || {
                    worker.run();
                    *lock(&running) -= 1;
                })
            };
            let pool = start(4, spawn);
            let expected = (allowed > 1).then_some(allowed.min(4));
            assert_eq!(pool.as_ref().map(ThreadPool::current_num_threads), expected, "{allowed} allowed");
            if let Some(pool) = pool {
                assert_eq!(pool.broadcast(|thread| thread.index()), Vec::from_iter(0..allowed.min(4)));
            }
        }
    }
}
