//! The processes that were started together, as the reduction of a training.

use foretell_estimator::{Peers, Reduction};

#[cfg(not(feature = "mpi"))]
use crate::apart::Processes;
use crate::join_error::JoinError;
#[cfg(feature = "mpi")]
use crate::joined::Processes;

/// The processes that train together, over MPI. Clones are the same processes.
#[derive(Clone, Debug)]
pub struct World(Processes);

impl World {
    /// Joins the others that `mpirun` started with this process; nothing, if it was started by itself.
    ///
    /// # Errors
    /// If this program was built without the feature `mpi` and is one of several that `mpirun` started; if the MPI library cannot be
    /// called from several threads, one at a time; if this process joined the others already.
    pub fn join() -> Result<Option<Self>, JoinError> {
        Ok(Processes::join()?.map(Self))
    }

    /// Leaves the others, whose work is done as well: it waits for them.
    pub fn leave(self) {
        self.0.leave();
    }

    /// Ends all processes at once; the launcher's exit code is this one.
    pub fn abort(&self, code: u8) -> ! {
        self.0.abort(code)
    }
}

impl Reduction for World {
    fn rank(&self) -> usize {
        Reduction::rank(&self.0)
    }

    fn processes(&self) -> usize {
        self.0.processes()
    }

    fn name(&self, rank: usize) -> String {
        self.0.name(rank)
    }

    fn gather(&self, own: Vec<f64>) -> Vec<f64> {
        self.0.gather(own)
    }

    fn sum(&self, own: &[&[f32]], sum: &mut [f32]) -> bool {
        self.0.sum(own, sum)
    }
}

impl Peers for World {
    fn rank(&self) -> usize {
        Peers::rank(&self.0)
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn broadcast(&self, from: usize, bytes: &mut Vec<u8>) {
        self.0.broadcast(from, bytes);
    }
}
