//! Ctrl-C or SIGTERM while models are trained: the first stops after the step, the second at once,
//! leaving nothing half-written behind.

use std::process;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
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

/// Ctrl-C, as messages call it.
const CTRL_C: &str = "Ctrl-C";

/// SIGTERM again so soon is the same one: `timeout` and managers of services send it to the process and to its group.
const ONE_TERM: Duration = Duration::from_millis(500);

/// What asked this process to stop.
#[derive(Debug, Default)]
pub(crate) struct Interrupts {
    first: OnceLock<&'static str>,
}

impl Interrupts {
    /// Whether training is to stop.
    pub(crate) fn asked(&self) -> bool {
        self.first.get().is_some()
    }

    /// What stopped the training: Ctrl-C or SIGTERM, here or in a process that trains along.
    pub(crate) fn cause(&self) -> &'static str {
        self.first.get().unwrap_or(&CTRL_C)
    }

    /// From now on the first Ctrl-C only asks, and `tell` tells of what did.
    ///
    /// # Errors
    /// Where the machine has no thread to listen with: Ctrl-C ends the command as it does others.
    pub(crate) fn catch(
        &'static self,
        tell: impl Fn(&'static str) + Send + 'static,
    ) -> Result<(), ListenError> {
        let mut asked_at = None;
        listen(move |cause| {
            if self.first.set(cause).is_ok() {
                asked_at = Some(Instant::now());
                tell(cause);
            } else if cause == CTRL_C || asked_at.is_none_or(|at: Instant| at.elapsed() >= ONE_TERM) {
                abandon_all();
                process::exit(EXIT_CODE.into());
            }
        })
    }
}

#[cfg(unix)]
type ListenError = io::Error;
#[cfg(not(unix))]
type ListenError = ctrlc::Error;

/// Has `told` called with the name of every Ctrl-C and SIGTERM. SIGHUP is left unchanged: `nohup` has it ignored.
#[cfg(unix)]
fn listen(mut told: impl FnMut(&'static str) + Send + 'static) -> Result<(), ListenError> {
    // The thread comes first: signals that are caught without one to hear them would be lost.
    let (hand_over, signals) = mpsc::channel::<Signals>();
    thread::Builder::new().spawn(move || {
        if let Ok(mut signals) = signals.recv() {
            signals.forever().for_each(|signal| told(if signal == SIGTERM { "SIGTERM" } else { CTRL_C }));
        }
    })?;
    _ = hand_over.send(Signals::new([SIGINT, SIGTERM])?);
    Ok(())
}

/// Has `told` called at every Ctrl-C.
#[cfg(not(unix))]
fn listen(mut told: impl FnMut(&'static str) + Send + 'static) -> Result<(), ListenError> {
    ctrlc::set_handler(move || told(CTRL_C))
}
