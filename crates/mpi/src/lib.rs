//! One training by several processes, on one machine or many, over MPI.
//!
//! MPI starts the processes (`mpirun -n 4 PROGRAM`, Slurm's `srun`, Kubernetes' MPI operator) and carries what they exchange.
//! [`World::join`] makes this process one of them, and the [`World`] is their [`Reduction`](foretell_estimator::Reduction). The MPI
//! library is the system's, Open MPI or MPICH.
//!
//! # Features
//!
//! * `mpi`, off by default: the MPI library of the system, with its headers, and libclang, are needed to build it. Without it
//!   [`World::join`] tells a process that `mpirun` started that it was built without.
//!
//! These are on by default, unless they say otherwise, and passed down to the crates below.
//!
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `tzdb`: the database of time zones is built in. Without it zones are looked up in the system's, if it has
//!   one; UTC and offsets such as `+02:00` need none.
#![forbid(unsafe_code)]

#[cfg(not(feature = "mpi"))]
mod apart;
mod join_error;
#[cfg(feature = "mpi")]
mod joined;
mod launched;
mod world;

pub use join_error::JoinError;
pub use world::World;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
