//! The processes that MPI started together, over the system's MPI library.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foretell_estimator::{Peers, Reduction, add_in_order};
use mpi::datatype::PartitionMut;
use mpi::environment::{Universe, initialize_with_threading, processor_name};
use mpi::request::{Request, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{
    Communicator as _, CommunicatorCollectives as _, Destination as _, Root as _, Source as _,
};
use mpi::{Count, Rank, Threading};

use crate::join_error::JoinError;
use crate::launched::launched;

/// Gradients that are passed on at a time, 256 KB of them: few enough that the next process starts soon, enough that starting
/// costs little of the transfer.
const BLOCK: usize = 1 << 16;

/// Numbers that a single exchange gathers from each process; more take a second one. The losses of all shards that a process may
/// have, two numbers each, are below it.
const AT_ONCE: usize = 32;

/// What a single exchange carries at most: a count of MPI is an i32.
const AT_MOST: usize = 1 << 30;

/// The processes that train together. The MPI library is called by one thread at a time.
#[derive(Clone)]
pub(crate) struct Processes(Arc<Shared>);

struct Shared {
    /// Until the others are left.
    universe: Mutex<Option<Universe>>,
    rank: usize,
    /// The machine that each process is on.
    machines: Vec<String>,
}

impl Processes {
    /// Joins the others that `mpirun` started with this process; nothing, if it was started by itself.
    pub(crate) fn join() -> Result<Option<Self>, JoinError> {
        if launched().is_none() {
            return Ok(None);
        }
        let (universe, threading) =
            initialize_with_threading(Threading::Serialized).ok_or(JoinError::Twice)?;
        if threading < Threading::Serialized {
            return Err(JoinError::Threads);
        }
        let comm = universe.world();
        let own = processor_name().unwrap_or_default();
        let own: Vec<f64> = own.bytes().map(f64::from).collect();
        let machines = gather(&comm, &own);
        let machine = |bytes: &Vec<f64>| bytes.iter().map(|&byte| char::from(byte as u8)).collect::<String>();
        let machines = machines.iter().map(machine).collect();
        let rank = comm.rank() as usize;
        Ok(Some(Self(Arc::new(Shared { universe: Mutex::new(Some(universe)), rank, machines }))))
    }

    /// Leaves the others, whose work is done as well: it waits for them.
    pub(crate) fn leave(self) {
        self.universe().take();
    }

    /// Ends all processes at once; the launcher's exit code is this one.
    pub(crate) fn abort(&self, code: u8) -> ! {
        SimpleCommunicator::world().abort(code.into())
    }

    fn universe(&self) -> MutexGuard<'_, Option<Universe>> {
        self.0.universe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls MPI, while no other thread does.
    fn call<T>(&self, call: impl FnOnce(&SimpleCommunicator) -> T) -> T {
        let universe = self.universe();
        call(&universe.as_ref().expect("the other processes are not left while a training continues").world())
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processes").field("rank", &self.0.rank).field("machines", &self.0.machines).finish()
    }
}

impl Reduction for Processes {
    fn rank(&self) -> usize {
        self.0.rank
    }

    fn processes(&self) -> usize {
        self.0.machines.len()
    }

    fn name(&self, rank: usize) -> String {
        format!("process {rank} on {}", self.0.machines[rank])
    }

    fn gather(&self, own: Vec<f64>) -> Vec<f64> {
        self.call(|comm| gather(comm, &own)).concat()
    }

    fn sum(&self, own: &[&[f32]], sum: &mut [f32]) -> bool {
        self.call(|comm| sum_in_order(comm, own, sum))
    }
}

impl Peers for Processes {
    fn rank(&self) -> usize {
        self.0.rank
    }

    fn count(&self) -> usize {
        self.0.machines.len()
    }

    fn broadcast(&self, from: usize, bytes: &mut Vec<u8>) {
        self.call(|comm| {
            let from = comm.process_at_rank(from as Rank);
            let mut len = [bytes.len() as u64];
            from.broadcast_into(&mut len[..]);
            bytes.resize(len[0] as usize, 0);
            bytes.chunks_mut(AT_MOST).for_each(|bytes| from.broadcast_into(bytes));
        });
    }
}

/// The numbers of each process.
fn gather(comm: &SimpleCommunicator, own: &[f64]) -> Vec<Vec<f64>> {
    let processes = comm.size() as usize;
    // How many there are, and the first of them.
    let mut head = [0.0; 1 + AT_ONCE];
    head[0] = own.len() as f64;
    let first = own.len().min(AT_ONCE);
    head[1..=first].copy_from_slice(&own[..first]);
    let mut heads = vec![0.0; processes * head.len()];
    comm.all_gather_into(&head[..], &mut heads[..]);
    let heads: Vec<&[f64]> = heads.chunks_exact(head.len()).collect();
    let counts: Vec<Count> = heads.iter().map(|head| head[0] as Count).collect();
    if counts.iter().all(|&count| count as usize <= AT_ONCE) {
        return heads.iter().map(|head| head[1..=head[0] as usize].to_vec()).collect();
    }
    let displs: Vec<Count> = counts
        .iter()
        .scan(0, |end, count| {
            let start = *end;
            *end += count;
            Some(start)
        })
        .collect();
    let mut all = vec![0.0; counts.iter().sum::<Count>() as usize];
    comm.all_gather_varcount_into(own, &mut PartitionMut::new(&mut all[..], &counts[..], &displs[..]));
    displs
        .iter()
        .zip(&counts)
        .map(|(&start, &count)| all[start as usize..(start + count) as usize].to_vec())
        .collect()
}

/// Passes the sum of the gradients of all processes before on to the next, block by block, so that all are at work. What the last one
/// has summed goes to all while it sums the blocks behind.
fn sum_in_order(comm: &SimpleCommunicator, own: &[&[f32]], sum: &mut [f32]) -> bool {
    let (rank, last) = (comm.rank(), comm.size() - 1);
    let neighbour = |rank: Rank| comm.process_at_rank(rank);
    let mut has_own = vec![false; comm.size() as usize];
    comm.all_gather_into(&[!own.is_empty()][..], &mut has_own[..]);
    let [before, so_far] = [0, 1].map(|more| has_own[..rank as usize + more].contains(&true));
    if !has_own.contains(&true) {
        return false;
    }
    let blocks = sum.chunks_mut(BLOCK);
    scope(|scope| {
        let mut summed = Vec::with_capacity(blocks.len());
        for (block, sum) in blocks.enumerate() {
            if before {
                neighbour(rank - 1).receive_into(sum);
            }
            if so_far {
                let start = block * BLOCK;
                let end = start + sum.len();
                let parts: Vec<&[f32]> = own.iter().map(|shard| &shard[start..end]).collect();
                add_in_order(&parts, before, sum);
                if rank < last {
                    neighbour(rank + 1).send(&*sum);
                }
            }
            summed.push(neighbour(last).immediate_broadcast_into(scope, sum));
        }
        summed.into_iter().for_each(Request::wait_without_status);
    });
    true
}
