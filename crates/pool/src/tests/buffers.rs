//! The guarantees to users.

use std::cell::RefCell;

use super::alone;
use crate::{Buffer, OutOfMemory, PoolMetrics, metrics, trim};
#[cfg(feature = "pool")]
use crate::{Limits, set_limits};

/// Elements of a large buffer; Miri is slow.
const LARGE: usize = if cfg!(miri) { 3_000 } else { 100_000 };

/// Runs on another thread, to its very end.
fn elsewhere<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::spawn(work).join().unwrap()
}

fn since(before: PoolMetrics) -> (u64, u64, u64, u64) {
    let now = metrics();
    (
        now.hits - before.hits,
        now.misses - before.misses,
        now.returned - before.returned,
        now.dropped - before.dropped,
    )
}

#[test]
fn contents_are_what_was_asked_for_whoever_owned_the_memory() {
    alone(|| {
        for len in [0, 1, 15, 16, 17, 1000, LARGE] {
            for _ in 0..3 {
                drop(Buffer::filled(len, f32::NAN));
                let zeros = Buffer::<f32>::zeroed(len);
                assert!(zeros.len() == len && zeros.iter().all(|x| x.to_bits() == 0));
                drop(zeros);
                assert!(Buffer::filled(len, 2.5f32).iter().all(|x| *x == 2.5));
                let source: Vec<f32> = (0..len).map(|i| i as f32).collect();
                assert_eq!(*Buffer::copied(&source), *source);
                assert_eq!(*Buffer::copied(&source).clone(), *source);
            }
        }
    });
}

#[test]
fn every_buffer_is_aligned_to_64_bytes() {
    fn check<T: crate::Pod>() {
        for len in [0, 1, 7, 63, 64, 65, 4099, LARGE] {
            let buffer = Buffer::<T>::zeroed(len);
            assert_eq!(buffer.as_ptr() as usize % 64, 0);
            assert_eq!(buffer.len(), len);
        }
    }
    alone(|| {
        check::<f32>();
        check::<f64>();
        check::<u8>();
        check::<i8>();
        check::<u16>();
        check::<i32>();
        check::<u32>();
        check::<i64>();
        check::<u64>();
    });
}

#[test]
#[cfg(feature = "pool")]
fn a_released_buffer_serves_the_next_request_of_its_class() {
    alone(|| {
        let before = metrics();
        let first = Buffer::<f32>::zeroed(1000);
        let start = first.as_ptr() as usize;
        drop(first);
        // 1000 and 1024 floats share a class; so do 1000 floats and 500 doubles.
        assert_eq!(Buffer::<f32>::zeroed(1024).as_ptr() as usize, start);
        assert_eq!(Buffer::<f64>::zeroed(500).as_ptr() as usize, start);
        assert_eq!(since(before), (2, 1, 3, 0));
        let other = Buffer::<f32>::zeroed(1025);
        assert_ne!(other.as_ptr() as usize, start);
        assert_eq!(since(before), (2, 2, 3, 0));
    });
}

#[test]
#[cfg(feature = "pool")]
fn a_warmed_up_loop_never_calls_the_system() {
    alone(|| {
        let step = || {
            let held: Vec<Buffer<f32>> = (0..200).map(|i| Buffer::zeroed(i * LARGE / 100)).collect();
            let large = Buffer::<f64>::zeroed(30 * LARGE);
            held.len() + large.len()
        };
        step();
        let before = metrics();
        for _ in 0..20 {
            step();
        }
        let (hits, misses, returned, dropped) = since(before);
        assert_eq!((hits, misses, returned, dropped), (20 * 200, 0, 20 * 200, 0));
    });
}

#[test]
#[cfg(not(feature = "pool"))]
fn without_the_feature_each_buffer_is_an_allocation() {
    alone(|| {
        let before = metrics();
        for _ in 0..10 {
            assert!(Buffer::<f32>::zeroed(1000).iter().all(|x| *x == 0.0));
        }
        assert_eq!(since(before), (0, 10, 0, 10));
        assert_eq!(metrics().idle_bytes, before.idle_bytes);
    });
}

#[test]
fn live_and_peak_bytes_follow_the_buffers() {
    alone(|| {
        const HUGE: usize = if cfg!(miri) { 1 << 22 } else { 1 << 28 };
        let before = metrics();
        let a = Buffer::<u8>::zeroed(HUGE);
        assert_eq!(metrics().live_bytes - before.live_bytes, HUGE);
        let b = a.clone();
        drop(a);
        assert_eq!(metrics().live_bytes - before.live_bytes, HUGE);
        let b = elsewhere(move || b);
        elsewhere(move || drop(b));
        let after = metrics();
        assert_eq!(after.live_bytes, before.live_bytes);
        assert!(after.peak_bytes >= 2 * HUGE && after.peak_bytes < 2 * HUGE + (1 << 20), "{after:?}");
    });
}

#[test]
#[cfg(feature = "pool")]
fn a_buffer_freed_elsewhere_comes_back_through_the_shelf() {
    alone(|| {
        let before = metrics();
        let buffer = Buffer::<f32>::filled(5000, 1.0);
        let start = buffer.as_ptr() as usize;
        elsewhere(move || drop(buffer));
        assert_eq!(Buffer::<f32>::zeroed(5000).as_ptr() as usize, start);
        assert_eq!(since(before), (1, 1, 2, 0));
    });
}

#[test]
fn trim_gives_everything_back() {
    alone(|| {
        let (to_worker, orders) = std::sync::mpsc::channel::<()>();
        let (done, from_worker) = std::sync::mpsc::channel::<()>();
        let worker = std::thread::spawn(move || {
            drop(Buffer::<f32>::zeroed(1 << 16));
            done.send(()).unwrap();
            orders.recv().unwrap();
            // The next use after another thread's trim empties this thread's cache first.
            drop(Buffer::<f32>::zeroed(16));
            done.send(()).unwrap();
            orders.recv().unwrap();
        });
        from_worker.recv().unwrap();
        drop(Buffer::<f32>::zeroed(4 * LARGE));
        drop(Buffer::<f32>::zeroed(100 * LARGE));
        trim();
        to_worker.send(()).unwrap();
        from_worker.recv().unwrap();
        assert_eq!(metrics().idle_bytes, if cfg!(feature = "pool") { 64 } else { 0 });
        to_worker.send(()).unwrap();
        worker.join().unwrap();
        trim();
        let now = metrics();
        assert_eq!((now.idle_bytes, now.live_bytes), (0, 0));
        assert_eq!(now.misses, now.dropped);
    });
}

#[test]
#[cfg(feature = "pool")]
fn limits_bound_what_is_kept() {
    alone(|| {
        let kib = 1 << 10;
        let hold = |count: usize, bytes: usize| {
            let all: Vec<Buffer<u8>> = (0..count).map(|_| Buffer::zeroed(bytes)).collect();
            drop(all);
            metrics().idle_bytes
        };
        let bound = |cache_class, cache, shelf_class, shelf| {
            trim();
            set_limits(Limits {
                cache_class_bytes: cache_class * kib,
                cache_bytes: cache * kib,
                shelf_class_bytes: shelf_class * kib,
                shelf_bytes: shelf * kib,
            });
        };
        bound(8, 100, 0, 100);
        assert_eq!(hold(20, kib), 8 * kib, "the cache's limit per class");
        bound(8, 10, 0, 100);
        assert_eq!((hold(20, kib), hold(20, 2 * kib)), (8 * kib, 10 * kib), "the cache's total");
        bound(0, 0, 5, 100);
        assert_eq!(hold(20, kib), 5 * kib, "the shelf's limit per class");
        bound(0, 0, 5, 9);
        assert_eq!((hold(20, kib), hold(20, 2 * kib)), (5 * kib, 9 * kib), "the shelf's total");
        bound(0, 0, 0, 0);
        assert_eq!(hold(20, kib), 0);
        assert_eq!(crate::limits().shelf_bytes, 0);
        let now = metrics();
        assert_eq!(now.misses - now.dropped, 0);
    });
}

#[test]
fn a_stale_buffer_is_poisoned_in_debug_builds() {
    if cfg!(debug_assertions) {
        alone(|| {
            drop(Buffer::filled(100, 7.0f32));
            let buffer = Buffer::<f32>::stale(100);
            assert!(buffer.iter().all(|x| x.is_nan()));
        });
    }
}

/// A property that Miri and AddressSanitizer watch: no byte of a block is read that was never written.
#[test]
fn a_stale_buffer_is_initialised_whoever_had_its_block_before() {
    alone(|| {
        let fresh = Buffer::<u8>::stale(LARGE);
        let poison = if cfg!(debug_assertions) { 0xFF } else { 0 };
        assert!(fresh.iter().all(|byte| *byte == poison), "from the system");
        drop(fresh);
        let mut first = Buffer::<u32>::stale(LARGE / 8);
        first.fill(7);
        drop(first);
        let again = Buffer::<u32>::stale(LARGE / 8);
        let left = if cfg!(debug_assertions) { u32::MAX } else { again[0] };
        assert!(again.iter().all(|value| *value == left), "what one owner left, or poison");
    });
}

#[test]
fn a_buffer_in_a_thread_local_outlives_the_cache_of_its_thread() {
    thread_local! {
        static KEPT: RefCell<Buffer<f32>> = RefCell::default();
    }
    alone(|| {
        let before = metrics();
        // Initialised before the pool's own thread-local, and so destroyed after it.
        elsewhere(|| KEPT.with_borrow_mut(|kept| *kept = Buffer::zeroed(10_000)));
        let now = metrics();
        assert_eq!(now.live_bytes, before.live_bytes);
        assert_eq!(now.returned + now.dropped - before.returned - before.dropped, 1);
        assert_eq!(now.idle_bytes > 0, cfg!(feature = "pool"));
    });
}

#[test]
fn an_empty_buffer_owns_nothing() {
    alone(|| {
        let before = metrics();
        let mut empty = Buffer::<f64>::default();
        empty.fill(1.0);
        assert_eq!(format!("{empty:?} {:?}", Buffer::filled(2, 1u16)), "Buffer[0] [] Buffer[2] [1, 1]");
        assert_eq!(empty, Buffer::copied(&[]));
        assert_eq!(since(before).1, 1);
    });
}

#[test]
#[should_panic(expected = "exceeds the address space")]
fn a_length_beyond_the_address_space_panics() {
    Buffer::<f64>::zeroed(usize::MAX / 4);
}

/// More than an address space holds, so every system refuses it.
#[cfg(not(miri))]
#[test]
fn memory_that_the_system_refuses_is_a_panic_that_says_how_much() {
    alone(|| {
        drop(Buffer::<f32>::zeroed(LARGE));
        let before = metrics();
        let refused = std::panic::catch_unwind(|| Buffer::<u8>::zeroed(1 << 60)).expect_err("no such memory");
        assert_eq!(refused.downcast_ref::<OutOfMemory>().map(|error| error.bytes), Some(1 << 60));
        let now = metrics();
        assert_eq!(now.idle_bytes, 0, "what lay idle went back first");
        assert_eq!((now.live_bytes, now.misses), (before.live_bytes, before.misses), "nothing is counted");
        assert_eq!(Buffer::filled(LARGE, 1.0f32)[LARGE - 1], 1.0, "the thread continues");
    });
}
