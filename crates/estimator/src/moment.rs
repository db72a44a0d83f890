//! Moments in time, where the standard library knows a clock and where it does not.

use std::sync::OnceLock;
use std::time::Duration;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::time::Instant;

/// A moment, as [`Instant`](std::time::Instant). In a browser, where the standard library has no clock and its `Instant::now` panics, it
/// is that of the host's clock ([`Moment::set_host_clock`]); without one no time passes.
#[derive(Clone, Copy, Debug)]
pub struct Moment(
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))] Instant,
    #[cfg(all(target_family = "wasm", target_os = "unknown"))] Duration,
);

/// The time since some beginning, by the host's clock.
static HOST_CLOCK: OnceLock<fn() -> Duration> = OnceLock::new();

impl Moment {
    /// Tells a program in a browser what the time is since some beginning, as `performance.now()` does. The first clock that is told
    /// stays; elsewhere it is not asked.
    pub fn set_host_clock(clock: fn() -> Duration) {
        let _ = HOST_CLOCK.set(clock);
    }

    /// This moment.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub fn now() -> Self {
        Self(Instant::now())
    }

    /// This moment.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    pub fn now() -> Self {
        Self(HOST_CLOCK.get().map_or(Duration::ZERO, |clock| clock()))
    }

    /// The time since then.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The time since then.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    pub fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_go_back() {
        let (first, second) = (Moment::now(), Moment::now());
        let since_second = second.elapsed();
        assert!(first.elapsed() >= since_second);
    }
}
