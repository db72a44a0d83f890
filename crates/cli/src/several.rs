//! One training by several processes, which `mpirun` started: what the others see of this one.
//!
//! Process 0 reports and writes; the others are silent. A process that fails ends all, since the others wait for it.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use foretell::own_estimator::Reduction as _;
use foretell_mpi::{JoinError, World};

use crate::failure::Usage;

/// How long a process that failed waits for process 0 to report the same, as it does where all meet a mistake in data or
/// arguments.
const PATIENCE: Duration = Duration::from_secs(2);

/// The states that this process keeps.
#[derive(Debug)]
struct KeptState {
    dir: PathBuf,
    every: u64,
    /// The model in training, and the step after which its last state was kept, 0 before the first.
    last: Option<(String, u64)>,
}

/// The processes of a training, and the state that this one keeps of it.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    /// Those that were started together, if this one was not started by itself.
    world: Option<World>,
    state: Mutex<Option<KeptState>>,
}

impl Processes {
    /// Joins the others that were started with this process, if it was not started by itself.
    pub(crate) fn join() -> Result<Self, JoinError> {
        Ok(Self { world: World::join()?, state: Mutex::default() })
    }

    /// The others, if there are some.
    pub(crate) fn world(&self) -> Option<&World> {
        self.world.as_ref()
    }

    /// The processes that read together, if there are several and each would (`together`).
    ///
    /// # Errors
    /// If some would read together, and others by themselves.
    pub(crate) fn readers(&self, together: bool) -> Result<Option<&World>, Usage> {
        let Some(world) = self.world().filter(|world| world.processes() > 1) else { return Ok(None) };
        let of_all = world.gather(vec![f64::from(together)]);
        match of_all.iter().position(|of| *of != of_all[0]) {
            None => Ok(Some(world).filter(|_| together)),
            Some(rank) => {
                let [one, other] = [rank, 0].map(|rank| world.name(rank));
                Err(Usage(format!(
                    "{one} would read the data in another way than {other} (--scratch, --freq, --fill, --resample); start all with the \
                     same arguments"
                )))
            }
        }
    }

    /// Whether others were started with this process.
    pub(crate) fn is_among_others(&self) -> bool {
        self.world().is_some_and(|world| world.processes() > 1)
    }

    /// Whether another process reports and writes.
    pub(crate) fn is_follower(&self) -> bool {
        self.world().is_some_and(|world| world.rank() > 0)
    }

    /// Leaves the others, whose work is done as well.
    pub(crate) fn leave(&self) {
        self.world.clone().into_iter().for_each(World::leave);
    }

    /// Tells of an error, which process 0 does alone if all `agree` on it or meet it as well; unless they agree, it ends all processes
    /// with this exit code.
    pub(crate) fn fail(&self, tell: impl Fn(&str), message: &str, code: u8, agree: bool) {
        let Some(world) = self.world() else { return tell(message) };
        match world.rank() {
            0 => tell(message),
            _ if agree => {}
            rank => {
                thread::sleep(PATIENCE);
                tell(&format!("{}: {message}", world.name(rank)));
            }
        }
        if !agree {
            world.abort(code);
        }
        self.leave();
    }

    /// Notes where the states of the training are kept, and after how many steps each.
    pub(crate) fn keeps_states(&self, dir: PathBuf, every: u64) {
        *self.lock() = Some(KeptState { dir, every, last: None });
    }

    /// Notes that a model took this step; its state is kept after it, if it is to be kept.
    pub(crate) fn took_step(&self, model: &str, step: u64) {
        if let Some(state) = &mut *self.lock() {
            state.took_step(model, step);
        }
    }

    /// The state from which a training that ends now can be resumed, in words; `None` where it has no other processes.
    pub(crate) fn last_state(&self) -> Option<String> {
        self.world()?;
        let text = match &*self.lock() {
            None => "no state of the training was kept, which --checkpoint DIR does".to_owned(),
            Some(state) => state.to_string(),
        };
        Some(text)
    }

    fn lock(&self) -> MutexGuard<'_, Option<KeptState>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptState {
    fn took_step(&mut self, model: &str, step: u64) {
        let done = step - 1;
        match &mut self.last {
            Some((known, kept)) if known == model && step > 1 => {
                if done.is_multiple_of(self.every) {
                    *kept = done;
                }
            }
            // A training that continues starts after the step whose state it found.
            last => *last = Some((model.to_owned(), done)),
        }
    }

    /// Whether the directory has files beside those that are being written, whose names begin with a dot.
    fn is_there(&self) -> bool {
        let is_whole = |entry: fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
        fs::read_dir(&self.dir).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_whole)))
    }
}

impl std::fmt::Display for KeptState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dir = self.dir.display();
        match &self.last {
            Some((model, step @ 1..)) => write!(
                f,
                "{dir} holds the state after step {step} of {model}: the same command resumes there, with any number of \
                 processes"
            ),
            // One of an earlier run, or of the step that this process has not yet begun.
            _ if self.is_there() => {
                write!(f, "{dir} holds a state: the same command resumes there, with any number of processes")
            }
            Some((model, 0)) => write!(f, "{dir} holds no state of {model} yet"),
            None => write!(f, "{dir} holds no state of this run yet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_an_earlier_run_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let state = KeptState { dir: dir.path().to_owned(), every: 10, last: None };
        fs::write(dir.path().join(".training.new"), "").unwrap();
        assert!(state.to_string().contains("holds no state"), "{state}");
        fs::write(dir.path().join("training-0-model-0.safetensors"), "").unwrap();
        assert!(state.to_string().contains("the same command resumes there"), "{state}");
    }

    #[test]
    fn the_last_state_is_that_of_the_steps_before() {
        let mut state = KeptState { dir: "state".into(), every: 10, last: None };
        assert_eq!(state.to_string(), "state holds no state of this run yet");
        let mut after = |model: &str, steps: std::ops::RangeInclusive<u64>| {
            steps.for_each(|step| state.took_step(model, step));
            state.to_string()
        };
        assert_eq!(after("MLP", 1..=10), "state holds no state of MLP yet", "the tenth is not yet kept");
        assert!(after("MLP", 11..=25).contains("after step 20 of MLP"));
        assert_eq!(after("NHITS", 1..=3), "state holds no state of NHITS yet");
        // The second training of the same model, that of a run which continues.
        assert!(after("MLP", 18..=19).contains("after step 17 of MLP"));
        assert!(after("MLP", 20..=21).contains("after step 20 of MLP"));
    }
}
