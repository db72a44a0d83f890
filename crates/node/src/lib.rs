//! The engine in Node: an addon around the requests and answers of `foretell-requests`.
//!
//! A request runs on a thread of Node's pool and on the engine's own, so the event loop is not blocked. They run one at a time: the package
//! queues them.
#![deny(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use foretell::MemoryLimit;
use foretell_requests::{Host, Session};
use napi::bindgen_prelude::{AsyncTask, Buffer, Uint8Array};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Error, Status, Task};
use napi_derive::napi;

/// The program's listener to steps: whether to end there.
type Listener = ThreadsafeFunction<String, bool, String, Status, false>;

/// What the work at hand is told by the program.
#[derive(Default)]
struct Told {
    listener: Mutex<Option<Listener>>,
    stopped: AtomicBool,
}

impl Told {
    /// Whether to end: the program said so before, or its listener does now.
    fn ends_at(&self, step: &str) -> bool {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let (send, answer) = sync_channel(1);
        if let Some(listener) = &*listener {
            let mode = ThreadsafeFunctionCallMode::Blocking;
            let status = listener.call_with_return_value(step.to_owned(), mode, move |ends, _| {
                // The work waits for it, unless its thread has ended.
                let _ = send.send(ends.unwrap_or(true));
                Ok(())
            });
            // A program that ends asks nothing more.
            if status != Status::Ok || answer.recv().unwrap_or(true) {
                return true;
            }
        }
        self.stopped.load(Ordering::Relaxed)
    }
}

fn session(told: &Arc<Told>) -> Session {
    let told = Arc::clone(told);
    let heard = Arc::new(move |step: &str| told.ends_at(step));
    let most_memory = MemoryLimit::of_machine().bytes();
    Session::new(Host { heard, most_threads: 0, most_memory })
}

/// The engine: models, and the answers to requests about them.
#[napi]
pub struct Addon {
    session: Arc<Mutex<Session>>,
    told: Arc<Told>,
}

#[napi]
impl Addon {
    /// One without models.
    #[napi(constructor)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let told = Arc::default();
        Self { session: Arc::new(Mutex::new(session(&told))), told }
    }

    /// The answer to a message, as a promise; `heard` hears of each step, and says whether to end there.
    #[napi(ts_return_type = "Promise<Buffer>")]
    pub fn answer(&self, message: Uint8Array, heard: Option<Listener>) -> AsyncTask<Work> {
        *self.told.listener.lock().unwrap_or_else(PoisonError::into_inner) = heard;
        self.told.stopped.store(false, Ordering::Relaxed);
        AsyncTask::new(Work {
            session: Arc::clone(&self.session),
            told: Arc::clone(&self.told),
            message: message.to_vec(),
        })
    }

    /// Ends the work at hand with its next step.
    #[napi]
    pub fn stop(&self) {
        self.told.stopped.store(true, Ordering::Relaxed);
    }

    /// How many threads it computes on, where nothing else is said.
    #[napi]
    pub fn threads(&self) -> u32 {
        std::thread::available_parallelism()
            .map_or(1, |threads| u32::try_from(threads.get()).unwrap_or(u32::MAX))
    }
}

/// The work of a message.
pub struct Work {
    session: Arc<Mutex<Session>>,
    told: Arc<Told>,
    message: Vec<u8>,
}

impl Task for Work {
    type Output = Vec<u8>;
    type JsValue = Buffer;

    fn compute(&mut self) -> napi::Result<Vec<u8>> {
        let mut own = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = catch_unwind(AssertUnwindSafe(|| own.answer(&self.message)));
        // A listener that stays would keep the program from ending.
        self.told.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.map_err(|panic| {
            *own = session(&self.told);
            let why = panic.downcast_ref::<String>().map(String::as_str);
            let why = why.or_else(|| panic.downcast_ref::<&str>().copied());
            Error::from_reason(why.unwrap_or("without a word"))
        })
    }

    fn resolve(&mut self, _: Env, answer: Vec<u8>) -> napi::Result<Buffer> {
        Ok(answer.into())
    }
}
