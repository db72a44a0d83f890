//! The module's border: four functions that the package calls, and two that it gives.
//!
//! A request is written to `allocate(length)`, and `answer(place, length)` takes it and gives the place of the answer, which begins with its
//! length. `release` takes back an answer. A panic ends the instance (`panic = "abort"`): the package reads why from
//! `failure`, and starts the module again.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::panic;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foretell::own_estimator::Moment;

use foretell_requests::{Host, Session};

// SAFETY: the package gives both, of these types.
#[link(wasm_import_module = "foretell")]
unsafe extern "C" {
    /// Milliseconds since some beginning.
    safe fn now() -> f64;
    /// Hears of a step; not 0 to end there.
    fn heard(text: *const u8, length: usize) -> i32;
}

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Why the last panic was, kept for `failure`.
static FAILURE: Mutex<String> = Mutex::new(String::new());

fn session() -> Session {
    Moment::set_host_clock(|| Duration::from_secs_f64(now().max(0.0) / 1e3));
    panic::set_hook(Box::new(|panic| {
        if let Ok(mut failure) = FAILURE.lock() {
            *failure = panic.to_string();
        }
    }));
    // SAFETY: the host reads as many bytes as the text has, before it returns.
    let heard = Arc::new(|text: &str| unsafe { heard(text.as_ptr(), text.len()) } != 0);
    Session::new(Host { heard, ..Host::default() })
}

/// A place for this many bytes.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Takes the message of `length` bytes at `message`, a place that [`allocate`] gave for as many; gives a place where the length of the
/// answer stands (`u32`, little-endian), and behind it the answer.
///
/// # Safety
/// The place is one that [`allocate`] gave for this length, and is not used afterwards.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn answer(message: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    let message = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(message, length)) };
    let answer = SESSION.with_borrow_mut(|own| own.get_or_insert_with(session).answer(&message));
    drop(message);
    handed(&answer)
}

/// Why the module failed: a text, as an answer is handed out.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
extern "C" fn failure() -> *mut u8 {
    handed(FAILURE.lock().map(|failure| failure.clone()).unwrap_or_default().as_bytes())
}

/// Bytes for the host, behind their length.
fn handed(bytes: &[u8]) -> *mut u8 {
    let mut all = Vec::with_capacity(4 + bytes.len());
    all.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    all.extend_from_slice(bytes);
    Box::into_raw(all.into_boxed_slice()).cast()
}

/// Takes back what [`answer`] or [`failure`] gave.
///
/// # Safety
/// The place is one that they gave, and is not used afterwards.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn release(place: *mut u8) {
    // SAFETY: the caller's contract: the length is in the first 4 bytes.
    unsafe {
        let length = 4 + u32::from_le_bytes(place.cast::<[u8; 4]>().read()) as usize;
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(place, length)));
    }
}
