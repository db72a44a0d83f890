//! The stand-in for other processes in a program that was built without MPI.

use foretell_estimator::{Peers, Reduction};

use crate::join_error::JoinError;
use crate::launched::launched;

/// The processes that train together. This program was built without the feature `mpi`, so there are none.
#[derive(Clone, Debug)]
pub(crate) enum Processes {}

impl Processes {
    /// Nothing, for a process that was started by itself.
    pub(crate) fn join() -> Result<Option<Self>, JoinError> {
        match launched() {
            Some(processes) if processes > 1 => Err(JoinError::WithoutMpi { processes }),
            _ => Ok(None),
        }
    }

    /// Leaves the others, whose work is done as well.
    pub(crate) fn leave(self) {
        match self {}
    }

    /// Ends all processes at once; the launcher's exit code is this one.
    pub(crate) fn abort(&self, _: u8) -> ! {
        match *self {}
    }
}

impl Reduction for Processes {
    fn rank(&self) -> usize {
        match *self {}
    }

    fn processes(&self) -> usize {
        match *self {}
    }

    fn name(&self, _: usize) -> String {
        match *self {}
    }

    fn gather(&self, _: Vec<f64>) -> Vec<f64> {
        match *self {}
    }

    fn sum(&self, _: &[&[f32]], _: &mut [f32]) -> bool {
        match *self {}
    }
}

impl Peers for Processes {
    fn rank(&self) -> usize {
        match *self {}
    }

    fn count(&self) -> usize {
        match *self {}
    }

    fn broadcast(&self, _: usize, _: &mut Vec<u8>) {
        match *self {}
    }
}
