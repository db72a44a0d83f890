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
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
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
