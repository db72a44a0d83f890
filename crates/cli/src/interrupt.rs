//! Ctrl-C or SIGTERM while models are trained: the first stops after the step, the second at once,
//! leaving nothing half-written behind.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::{io, sync::mpsc, thread};

use foretell_files::abandon_all;
#[cfg(unix)]
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

/// The exit code by which shells know a process that Ctrl-C ended.
pub(crate) const EXIT_CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether training is to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// From now on the first Ctrl-C only asks, and `first` tells of it.
///
/// # Errors
/// Where the machine has no thread to listen with: Ctrl-C ends the command as it does others.
pub(crate) fn catch(first: impl Fn() + Send + 'static) -> Result<(), ListenError> {
    listen(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            abandon_all();
            process::exit(EXIT_CODE.into());
        }
        first();
    })
}

#[cfg(unix)]
type ListenError = io::Error;
#[cfg(not(unix))]
type ListenError = ctrlc::Error;

/// Has `pressed` called at every Ctrl-C and SIGTERM. SIGHUP is left as it is: `nohup` has it ignored.
#[cfg(unix)]
fn listen(mut pressed: impl FnMut() + Send + 'static) -> Result<(), ListenError> {
    // The thread comes first: signals that are caught without one to hear them would be lost.
    let (hand_over, signals) = mpsc::channel::<Signals>();
    thread::Builder::new().spawn(move || {
        if let Ok(mut signals) = signals.recv() {
            signals.forever().for_each(|_| pressed());
        }
    })?;
    _ = hand_over.send(Signals::new([SIGINT, SIGTERM])?);
    Ok(())
}

/// Has `pressed` called at every Ctrl-C.
#[cfg(not(unix))]
fn listen(pressed: impl FnMut() + Send + 'static) -> Result<(), ListenError> {
    ctrlc::set_handler(pressed)
}
