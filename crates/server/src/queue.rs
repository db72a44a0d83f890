//! Requests that wait for a thread, up to a limit.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Work that waits for threads that take it, in the order in which it came.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    most: usize,
}

struct State<T> {
    waiting: VecDeque<T>,
    /// Threads that work on something that they took.
    working: usize,
    closed: bool,
}

/// Why something cannot wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Full,
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(most: usize) -> Self {
        let state = State { waiting: VecDeque::new(), working: 0, closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), most }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `work` wait.
    pub(crate) fn push(&self, work: T) -> Result<(), Refusal> {
        let mut state = self.state();
        match () {
            _ if state.closed => return Err(Refusal::Closed),
            _ if state.waiting.len() >= self.most => return Err(Refusal::Full),
            _ => state.waiting.push_back(work),
        }
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Lets what was taken wait again, behind all others, whatever the limit.
    pub(crate) fn push_back(&self, work: T) {
        self.state().waiting.push_back(work);
        self.changed.notify_one();
    }

    /// Takes of what waits that for which `is_wanted` holds, `most` at most, for the one who works on something already.
    pub(crate) fn take_also(&self, most: usize, mut is_wanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut state = self.state();
        let (mut taken, mut left) = (Vec::new(), VecDeque::with_capacity(state.waiting.len()));
        for work in state.waiting.drain(..) {
            if taken.len() < most && is_wanted(&work) { taken.push(work) } else { left.push_back(work) }
        }
        state.waiting = left;
        taken
    }

    /// The next work, as soon as there is some; nothing once the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                state.working += 1;
                return Some(work);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that what was taken is done.
    pub(crate) fn done(&self) {
        self.state().working -= 1;
    }

    /// Work that waits.
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Whether nothing waits, and no more than one thread works.
    pub(crate) fn is_quiet(&self) -> bool {
        let state = self.state();
        state.waiting.is_empty() && state.working <= 1
    }

    /// Takes nothing more; what waits is done.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_comes_out_in_its_order_up_to_the_limit_and_until_it_is_closed() {
        let queue = Queue::new(2);
        assert_eq!([1, 2, 3].map(|work| queue.push(work)), [Ok(()), Ok(()), Err(Refusal::Full)]);
        assert_eq!((queue.take(), queue.waiting(), queue.is_quiet()), (Some(1), 1, false));
        queue.push_back(5);
        queue.push_back(6);
        assert_eq!(queue.take_also(1, |work| *work > 2), [5]);
        assert_eq!((queue.take_also(9, |work| *work > 2), queue.waiting()), (vec![6], 1));
        queue.close();
        assert_eq!(queue.push(4), Err(Refusal::Closed));
        assert_eq!((queue.take(), queue.take()), (Some(2), None));
        assert!(!queue.is_quiet());
        queue.done();
        assert!(queue.is_quiet());
    }
}
