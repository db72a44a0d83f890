//! The memory that all requests have together, and the room that each takes of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, Notify};

use crate::error::EngineError;

/// The memory that requests may take together beside what each thread has for small ones.
#[derive(Debug)]
pub(crate) struct MemoryAccount {
    capacity: u64,
    /// How long a thread waits for room, while other answers are read.
    patience: Duration,
    state: Mutex<State>,
    freed: Condvar,
    /// The same for those who wait without a thread,
    freed_also: Notify,
    /// in the order in which they came.
    turn: AsyncMutex<()>,
}

/// What is taken, and who lacks it.
#[derive(Debug, Default)]
struct State {
    taken: u64,
    /// Those who wait for room.
    waiting: usize,
    /// When the last one ended that found none.
    refused: Option<Instant>,
    /// Whether a request timed out waiting for memory, and none was released since.
    is_stuck: bool,
    /// Whether no one waits any longer.
    is_closed: bool,
}

/// One of those who wait for room, until this is dropped.
struct WaitsFor<'a>(&'a MemoryAccount);

impl Drop for WaitsFor<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

/// The room of one request in its account, which has it back with the end of this.
#[derive(Debug)]
pub(crate) struct Room {
    account: Arc<MemoryAccount>,
    bytes: AtomicU64,
}

impl MemoryAccount {
    pub(crate) fn new(capacity: u64, patience: Duration) -> Arc<Self> {
        let state = Mutex::default();
        let (freed, freed_also, turn) = (Condvar::new(), Notify::new(), AsyncMutex::new(()));
        Arc::new(Self { capacity, patience, state, freed, freed_also, turn })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request lacks the room that others have, or did a moment ago.
    pub(crate) fn is_short(&self) -> bool {
        let state = self.state();
        state.waiting > 0 || state.refused.is_some_and(|at| at.elapsed() < self.patience)
    }

    /// Lets those who wait without a thread wait no longer.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.freed_also.notify_waiters();
    }

    /// Room of nothing yet.
    pub(crate) fn room(self: &Arc<Self>) -> Room {
        Room { account: self.clone(), bytes: AtomicU64::new(0) }
    }

    /// The bytes that are taken.
    #[cfg(test)]
    pub(crate) fn bytes_taken(&self) -> u64 {
        self.state().taken
    }
}

impl Room {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether no one could ever have so much room.
    pub(crate) fn is_beyond_all(&self, bytes: u64) -> bool {
        bytes > self.account.capacity
    }

    /// Takes as much as makes it this large.
    ///
    /// # Errors
    /// [`EngineError::NoRoom`] if other requests have taken it, and [`EngineError::TooMany`] if there could never be so much.
    pub(crate) fn at_least(&self, bytes: u64) -> Result<(), EngineError> {
        self.at_least_within(bytes, Duration::ZERO)
    }

    /// [`Self::at_least`] where a thread waits a while for what others give back.
    ///
    /// # Errors
    /// Those of [`Self::at_least`].
    pub(crate) fn at_least_soon(&self, bytes: u64) -> Result<(), EngineError> {
        self.at_least_within(bytes, self.account.patience)
    }

    fn at_least_within(&self, bytes: u64, patience: Duration) -> Result<(), EngineError> {
        self.check(bytes)?;
        let until = Instant::now() + patience;
        let mut state = self.account.state();
        let is_patient = !patience.is_zero();
        state.waiting += usize::from(is_patient);
        let mut taken = self.take(&mut state, bytes);
        // If the last request timed out and no memory was released since, waiting would only block another thread.
        while !taken && !state.is_stuck {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.account.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            taken = self.take(&mut state, bytes);
        }
        state.waiting -= usize::from(is_patient);
        if !taken {
            (state.is_stuck, state.refused) = (state.is_stuck || is_patient, Some(Instant::now()));
            return Err(EngineError::NoRoom { needed: bytes });
        }
        Ok(())
    }

    /// [`Self::at_least`] once others have given it back, without a thread that waits for it.
    ///
    /// # Errors
    /// [`EngineError::TooMany`] if there could never be so much, and [`EngineError::Stopping`].
    pub(crate) async fn wait_for(&self, bytes: u64) -> Result<(), EngineError> {
        self.check(bytes)?;
        let account = &self.account;
        account.state().waiting += 1;
        let _waits = WaitsFor(account);
        let _turn = account.turn.lock().await;
        loop {
            let mut freed = std::pin::pin!(account.freed_also.notified());
            // From here on it is told of what happens.
            freed.as_mut().enable();
            {
                let mut state = account.state();
                if state.is_closed {
                    return Err(EngineError::Stopping);
                }
                if self.take(&mut state, bytes) {
                    return Ok(());
                }
            }
            freed.await;
        }
    }

    fn check(&self, bytes: u64) -> Result<(), EngineError> {
        if !self.is_beyond_all(bytes) {
            return Ok(());
        }
        let [most, found] =
            [self.account.capacity, bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let (what, remedy) =
            ("bytes of memory for the request", "send fewer series at a time or ask for fewer steps");
        Err(EngineError::TooMany { what, most, found, remedy })
    }

    /// Takes as much as makes it this large, if there is room for it.
    fn take(&self, state: &mut State, bytes: u64) -> bool {
        let own = self.bytes();
        let more = bytes.saturating_sub(own);
        if more > 0 && state.taken.saturating_add(more) > self.account.capacity {
            return false;
        }
        state.taken += more;
        self.bytes.store(own + more, Ordering::Relaxed);
        true
    }

    /// Takes as much of these bytes as there is room for, and returns how much it has.
    pub(crate) fn up_to(&self, bytes: u64) -> u64 {
        let own = self.bytes();
        let mut state = self.account.state();
        let (asked, left) = (bytes.saturating_sub(own), self.account.capacity.saturating_sub(state.taken));
        let more = asked.min(left);
        if more < asked {
            state.refused = Some(Instant::now());
        }
        state.taken += more;
        self.bytes.store(own + more, Ordering::Relaxed);
        own + more
    }

    /// Gives back what is more than this.
    pub(crate) fn at_most(&self, bytes: u64) {
        let own = self.bytes();
        if own > bytes {
            self.bytes.store(bytes, Ordering::Relaxed);
            let mut state = self.account.state();
            state.taken -= own - bytes;
            state.is_stuck = false;
            drop(state);
            self.account.freed.notify_all();
            self.account.freed_also.notify_waiters();
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.at_most(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_share_what_there_is_and_give_it_back() {
        let account = MemoryAccount::new(100, Duration::ZERO);
        let [one, two] = [(); 2].map(|()| account.room());
        one.at_least(60).unwrap();
        one.at_least(50).unwrap();
        assert_eq!((one.bytes(), account.bytes_taken()), (60, 60));
        assert_eq!(two.up_to(70), 40);
        assert!(matches!(two.at_least(101), Err(EngineError::TooMany { most: 100, found: 101, .. })));
        assert!(matches!(two.at_least(50), Err(EngineError::NoRoom { needed: 50 })));
        one.at_most(10);
        two.at_least(90).unwrap();
        assert_eq!(account.bytes_taken(), 100);
        drop((one, two));
        assert_eq!(account.bytes_taken(), 0);
    }

    #[test]
    fn who_waits_in_vain_keeps_no_thread_of_the_next_one() {
        let account = MemoryAccount::new(100, Duration::from_millis(20));
        let [one, two] = [(); 2].map(|()| account.room());
        one.at_least(80).unwrap();
        assert!(!account.is_short());
        assert!(two.at_least(50).is_err());
        assert!(!account.state().is_stuck);
        assert!(two.at_least_soon(50).is_err());
        assert!(account.state().is_stuck);
        one.at_most(70);
        assert!(!account.state().is_stuck);
        assert!(account.state().refused.is_some());
        one.at_most(40);
        two.at_least(50).unwrap();
    }

    #[test]
    fn room_that_others_give_back_is_waited_for() {
        let account = MemoryAccount::new(100, Duration::from_secs(600));
        let (one, two) = (account.room(), account.room());
        one.at_least(80).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| two.at_least_soon(50).is_ok());
            drop(one);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(account.bytes_taken(), 50);
    }

    #[test]
    fn those_who_wait_without_a_thread_have_room_in_their_turn() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let account = MemoryAccount::new(100, Duration::ZERO);
        let [one, two, three] = [(); 3].map(|()| account.room());
        one.at_least(80).unwrap();
        runtime.block_on(async {
            let is_short = || account.is_short();
            let (second, third) = (two.wait_for(50), three.wait_for(60));
            let freed = async {
                tokio::task::yield_now().await;
                assert!(is_short());
                one.at_most(50);
            };
            let ((), second) = tokio::join!(freed, second);
            second.unwrap();
            assert!(!is_short());
            assert!(three.wait_for(101).await.is_err());
            let closed = async { account.close() };
            let ((), third) = tokio::join!(closed, third);
            assert!(matches!(third, Err(EngineError::Stopping)));
        });
        assert_eq!(account.bytes_taken(), 100);
    }
}
