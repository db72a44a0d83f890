//! Why a process cannot join the others.

/// Why a process cannot join the others that were started with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// A program that was built without MPI, and started by it.
    #[error(
        "this is one of {processes} processes that mpirun started, and this program was built without the feature mpi, so each \
         would do all of the work; build it with that feature, or start one process without mpirun"
    )]
    WithoutMpi {
        /// How many were started.
        processes: usize,
    },
    /// An MPI library that may only be called by the thread that started it.
    #[error(
        "the MPI library may be called by one thread alone, and training calls it from the threads that train; take one with \
         MPI_THREAD_SERIALIZED, as Open MPI and MPICH have it by default"
    )]
    Threads,
    /// A second call.
    #[error("this process has joined the others already; join once, and clone the World")]
    Twice,
}
