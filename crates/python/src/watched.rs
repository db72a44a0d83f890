//! Long calls that Ctrl-C ends.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use foretell::{Error, Fitted, Progress, Verdict, is_wanted, while_wanted};
use pyo3::prelude::*;

/// How often signals are looked for and progress is told.
const PAUSE: Duration = Duration::from_millis(50);

/// The messages between a training and the thread that waits for it.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<Shared>);

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    latest: Mutex<Option<(String, Progress)>>,
    losses: Mutex<Vec<ModelLosses>>,
}

/// The losses of a model in the course of its training, each with the number of steps taken.
#[derive(Clone, IntoPyObject)]
pub(crate) struct ModelLosses {
    model: String,
    train: Vec<(u64, f64)>,
    valid: Vec<(u64, f64)>,
}

impl ModelLosses {
    /// Adds those of a step; a training that begins anew takes the place of the one before.
    fn add(all: &mut Vec<Self>, model: &str, progress: &Progress) {
        let place = all.iter().position(|known| known.model == model).unwrap_or_else(|| {
            all.push(Self { model: model.to_owned(), train: Vec::new(), valid: Vec::new() });
            all.len() - 1
        });
        let Self { train, valid, .. } = &mut all[place];
        if train.last().is_some_and(|(step, _)| progress.step <= *step) {
            train.clear();
            valid.clear();
        }
        train.push((progress.step, progress.train_loss));
        valid.extend(progress.valid_loss.map(|loss| (progress.step, loss)));
    }
}

impl Watch {
    /// The listener of the training.
    pub(crate) fn listener(&self) -> impl FnMut(&str, &Progress) -> Verdict + Send + 'static {
        let watch = self.clone();
        move |model: &str, progress: &Progress| {
            ModelLosses::add(
                &mut watch.0.losses.lock().unwrap_or_else(PoisonError::into_inner),
                model,
                progress,
            );
            watch.0.latest.lock().unwrap_or_else(PoisonError::into_inner).replace((model.into(), *progress));
            match watch.0.stop.load(Ordering::Relaxed) {
                true => Verdict::Interrupt,
                false => Verdict::Continue,
            }
        }
    }

    /// The losses of each model that was trained so far.
    pub(crate) fn losses(&self) -> Vec<ModelLosses> {
        self.0.losses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn check(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let latest = self.0.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(callback), Some((model, progress))) = (callback, latest) {
            let Progress { step, max_steps, train_loss, valid_loss, .. } = progress;
            callback.call1(py, (model, step, max_steps, train_loss, valid_loss))?;
        }
        Ok(())
    }

    /// The question whether anyone still waits for the training.
    pub(crate) fn question(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let watch = self.clone();
        move || !watch.0.stop.load(Ordering::Relaxed)
    }

    /// Does `work` while `callback` is called with the model, the step, the number of steps, the loss and that of
    /// validation. The exception is that of a signal or of the callback: it interrupts the training, whose result is kept.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        callback: Option<&Py<PyAny>>,
        work: impl FnOnce() -> T + Send,
    ) -> (T, Option<PyErr>) {
        beside(py, &self.0.stop, |py| self.check(py, callback), work)
    }
}

/// Does `work`, which the exception of a signal ends early.
pub(crate) fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let work = || while_wanted(Arc::new(move || !asked.load(Ordering::Relaxed)), work);
    let (result, error) = beside(py, &stop, |py| py.check_signals(), work);
    error.map_or(Ok(result), Err)
}

/// What is to be worked on further, if anyone still waits for it.
pub(crate) fn wanted<T>(value: T) -> Result<T, Error> {
    if is_wanted() { Ok(value) } else { Err(Error::NotWanted) }
}

/// Most series that networks forecast on the thread that asks.
const BRIEF: usize = 64;

/// Whether these forecasts end before anyone presses Ctrl-C: those of networks for few series, over their own horizon. Starting a
/// thread for them, which [`interruptible`] does, would take longer than they take.
pub(crate) fn is_brief(fitted: &Fitted, n_series: usize, h: usize) -> bool {
    n_series <= BRIEF
        && h <= fitted.h()
        && fitted.models().iter().all(|model| model.spec().network().is_some())
}

/// Does `work` on this thread without the interpreter's lock if it is brief, else as [`interruptible`].
pub(crate) fn interruptible_unless<T: Send>(
    py: Python<'_>,
    brief: bool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    match brief {
        true => Ok(py.detach(work)),
        false => interruptible(py, work),
    }
}

/// Does `work` on a thread of its own without the interpreter's lock, while this one looks for signals, which Python
/// tells none but its main thread, by `check`, whose exception it tells the work by `stop`.
fn beside<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    check: impl Fn(Python<'_>) -> PyResult<()> + Sync,
    work: impl FnOnce() -> T + Send,
) -> (T, Option<PyErr>) {
    py.detach(|| {
        thread::scope(|scope| {
            let (done, finished) = channel::<()>();
            let worker = scope.spawn(move || {
                let result = work();
                drop(done);
                result
            });
            let mut error = None;
            while finished.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                if error.is_none() {
                    error = Python::attach(&check).err();
                    stop.store(error.is_some(), Ordering::Relaxed);
                }
            }
            match worker.join() {
                Ok(result) => (result, error),
                Err(panic) => resume_unwind(panic),
            }
        })
    })
}
