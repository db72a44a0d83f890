//! Ctrl-C while models are trained: the first stops after the step, the second at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use serde_json::json;

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
            process::exit(EXIT_CODE.into());
        }
        log.tell(
            "stopping after this step, to save what is trained; Ctrl-C again stops at once",
            &json!({ "event": "interrupt" }),
        );
    };
    ctrlc::set_handler(pressed).context("cannot listen to Ctrl-C")
}
