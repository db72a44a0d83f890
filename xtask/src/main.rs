//! The project's chores: `cargo xtask --help` lists them.
#![forbid(unsafe_code)]

mod asan;
mod bench_forecast;
mod bench_matrix;
mod bench_panels;
mod ci;
mod compare;
mod figures;
mod measured;
mod models;
mod mpi;
mod neon;
mod outcome;
mod package;
mod pgo;
mod pretrain;
mod profile;
mod programs;
mod proofs;
mod python;
mod release;
mod sizes;
mod slow_tests;
mod standalone;
mod sysroot;
mod system;
mod test_times;
mod tidy;
mod wasm;

use std::process::ExitCode;

use clap::Parser;

use outcome::Outcome;

/// The chores of the foretell workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Check the rules of the house that the compiler does not: edges, unsafe, lengths, manifests.
    Tidy,
    /// Run every check that a change must pass, cheapest first, and stop at the first failure.
    Ci(ci::Options),
    /// Run the workspace's test programs, often or beside other work, and tell how long each test takes.
    Tests(test_times::Options),
    /// Build and test training by several processes over MPI, where it is installed.
    Mpi,
    /// Write docs/models.md from what the models say of themselves.
    Models,
    /// Build a program outside the workspace on each crate alone; check that it has all features.
    Standalone,
    /// Package every crate that users may depend on, and build each from its package.
    Package,
    /// Build the module for browsers and Node and the npm package around it, and run its tests in Node.
    Wasm(wasm::Options),
    /// Run the suites of the libraries that may have `unsafe` code under AddressSanitizer.
    Asan(asan::Options),
    /// Measure the same workloads with and without each optimisation; write docs/bench-matrix.md.
    BenchMatrix(bench_matrix::Options),
    /// Lay `foretell forecast` beside single models, on panels whose last windows are kept apart.
    BenchForecast(bench_forecast::Options),
    /// Lay foretell beside PyTorch, ONNX Runtime and neuralforecast: steps, forecasts, fits, memory, accuracy.
    Compare(compare::Options),
    /// Build foretell by a profile of what it does, with BOLT where it is installed; before and after.
    Pgo(pgo::Options),
    /// Train Foretell0 on synthetic series, or go on with its training: `cargo xtask pretrain --resume --minutes 90`.
    Pretrain(pretrain::Options),
    /// Tell where the time and the memory of models' trainings go, and what threads bring.
    Profile(profile::Options),
    /// Test the Python package in a virtual environment, with the library that the tests build or as a wheel.
    Python(python::Options),
    /// Make what is handed out (programs, packages, wheel, crates), and try each of it in an empty place.
    Release(release::Options),
    /// Cross-build the tests of simd, pool, gemm and flash for aarch64 and run them under qemu.
    TestNeon(neon::Options),
}

impl Chore {
    /// The chore of these arguments.
    fn read(arguments: &str) -> anyhow::Result<Self> {
        Ok(Self::try_parse_from(["xtask"].into_iter().chain(arguments.split_whitespace()))?)
    }

    fn run(&self) -> anyhow::Result<Outcome> {
        match self {
            Self::Tidy => tidy::run().map(|()| Outcome::Done),
            Self::Ci(options) => ci::run(options, &|words| Self::read(words)?.run()),
            Self::Tests(options) => test_times::run(options).map(|()| Outcome::Done),
            Self::Models => models::run().map(|()| Outcome::Done),
            Self::Mpi => mpi::run(),
            Self::Standalone => standalone::run().map(|()| Outcome::Done),
            Self::Package => package::run().map(|()| Outcome::Done),
            Self::Wasm(options) => wasm::run(options),
            Self::Asan(options) => asan::run(options).map(|()| Outcome::Done),
            Self::BenchMatrix(options) => bench_matrix::run(options).map(|()| Outcome::Done),
            Self::BenchForecast(options) => bench_forecast::run(options).map(|()| Outcome::Done),
            Self::Compare(options) => compare::run(options).map(|()| Outcome::Done),
            Self::Pgo(options) => pgo::run(options).map(|()| Outcome::Done),
            Self::Pretrain(options) => pretrain::run(options).map(|()| Outcome::Done),
            Self::Profile(options) => profile::run(options),
            Self::Python(options) => python::run(options),
            Self::Release(options) => release::run(options, &|words| Self::read(words)?.run()),
            Self::TestNeon(options) => neon::run(options).map(|()| Outcome::Done),
        }
    }
}

fn main() -> ExitCode {
    match Chore::parse().run() {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::PassedOver(why)) => {
            println!("passed over: {why}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Chore::command().debug_assert();
    }

    #[test]
    fn the_steps_of_ci_are_chores() {
        for arguments in super::ci::chores() {
            assert!(super::Chore::read(arguments).is_ok(), "{arguments}");
        }
    }
}
