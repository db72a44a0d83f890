//! The memory that all requests have together, and the room that each takes of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::EngineError;

/// The memory that requests may take together beside what each thread has for small ones.
#[derive(Debug)]
pub(crate) struct MemoryAccount {
    capacity: u64,
    /// How long a thread waits for room, while other answers are read.
    patience: Duration,
    taken: Mutex<u64>,
    freed: Condvar,
}

/// The room of one request in its account, which has it back with the end of this.
#[derive(Debug)]
pub(crate) struct Room {
    account: Arc<MemoryAccount>,
    bytes: AtomicU64,
}

impl MemoryAccount {
    pub(crate) fn new(capacity: u64, patience: Duration) -> Arc<Self> {
        Arc::new(Self { capacity, patience, taken: Mutex::new(0), freed: Condvar::new() })
    }

    fn taken(&self) -> MutexGuard<'_, u64> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room of nothing yet.
    pub(crate) fn room(self: &Arc<Self>) -> Room {
        Room { account: self.clone(), bytes: AtomicU64::new(0) }
    }

    /// The bytes that are taken.
    #[cfg(test)]
    pub(crate) fn bytes_taken(&self) -> u64 {
        *self.taken()
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

    /// Takes as much as makes it this large, once there is room for it, or at least soon.
    ///
    /// # Errors
    /// [`EngineError::NoRoom`] if other requests have taken it, and [`EngineError::TooMany`] if there could never be so much.
    pub(crate) fn at_least(&self, bytes: u64) -> Result<(), EngineError> {
        if self.is_beyond_all(bytes) {
            let [most, found] =
                [self.account.capacity, bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            let (what, remedy) =
                ("bytes of memory for the request", "send fewer series at a time or ask for fewer steps");
            return Err(EngineError::TooMany { what, most, found, remedy });
        }
        let own = self.bytes();
        let more = bytes.saturating_sub(own);
        if more == 0 {
            return Ok(());
        }
        let until = Instant::now() + self.account.patience;
        let mut taken = self.account.taken();
        while taken.saturating_add(more) > self.account.capacity {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(EngineError::NoRoom { needed: bytes });
            }
            taken = self.account.freed.wait_timeout(taken, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken += more;
        self.bytes.store(own + more, Ordering::Relaxed);
        Ok(())
    }

    /// Takes as much of these bytes as there is room for, and returns how much it has.
    pub(crate) fn up_to(&self, bytes: u64) -> u64 {
        let own = self.bytes();
        let mut taken = self.account.taken();
        let more = bytes.saturating_sub(own).min(self.account.capacity.saturating_sub(*taken));
        *taken += more;
        self.bytes.store(own + more, Ordering::Relaxed);
        own + more
    }

    /// Gives back what is more than this.
    pub(crate) fn at_most(&self, bytes: u64) {
        let own = self.bytes();
        if own > bytes {
            self.bytes.store(bytes, Ordering::Relaxed);
            *self.account.taken() -= own - bytes;
            self.account.freed.notify_all();
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
    fn room_that_others_give_back_is_waited_for() {
        let account = MemoryAccount::new(100, Duration::from_secs(600));
        let (one, two) = (account.room(), account.room());
        one.at_least(80).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| two.at_least(50).is_ok());
            drop(one);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(account.bytes_taken(), 50);
    }
}
