//! Ctrl-C or SIGTERM while models are trained: the first stops after the step, the second at once,
//! leaving nothing half-written behind.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::{io, thread};

use anyhow::Context as _;
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

/// From now on the first Ctrl-C only asks.
pub(crate) fn catch(log: Log) -> anyhow::Result<()> {
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
    listen(pressed).context("cannot listen to Ctrl-C")
}

/// Has `pressed` called at every Ctrl-C and SIGTERM. SIGHUP is left as it is: `nohup` has it ignored.
#[cfg(unix)]
fn listen(mut pressed: impl FnMut() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::Builder::new().spawn(move || signals.forever().for_each(|_| pressed())).map(drop)
}

/// Has `pressed` called at every Ctrl-C.
#[cfg(not(unix))]
fn listen(pressed: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(pressed)
}
