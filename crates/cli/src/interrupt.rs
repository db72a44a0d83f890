//! Ctrl-C or SIGTERM while models are trained: the first stops after the step, the second at once,
//! leaving nothing half-written behind.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::{io, sync::mpsc, thread};

use foretell_files::abandon_all;
use serde_json::json;
#[cfg(unix)]
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::progress::Log;

/// What shells know a process by that Ctrl-C ended.
pub(crate) const EXIT_CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether training is to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// From now on the first Ctrl-C only asks. Where the machine has no thread to listen with, it ends the command as it does
/// others, and a warning says so.
pub(crate) fn catch(log: Log) {
    let pressed = move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            abandon_all();
            process::exit(EXIT_CODE.into());
        }
        log.report(
            "stopping after this step, to save what is trained; Ctrl-C again stops at once",
            &json!({ "event": "interrupt" }),
        );
    };
    if let Err(error) = listen(pressed) {
        log.warning(&format!(
            "cannot listen to Ctrl-C, which will end training at once without saving ({error})"
        ));
    }
}

/// Has `pressed` called at every Ctrl-C and SIGTERM. SIGHUP is left as it is: `nohup` has it ignored.
#[cfg(unix)]
fn listen(mut pressed: impl FnMut() + Send + 'static) -> io::Result<()> {
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
fn listen(pressed: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(pressed)
}
