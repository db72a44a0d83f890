//! The project's chores: `cargo xtask --help` lists them.
#![forbid(unsafe_code)]

mod asan;
mod bench_forecast;
mod bench_matrix;
mod bench_panels;
mod ci;
mod compare;
mod figures;
mod models;
mod mpi;
mod neon;
mod package;
mod pgo;
mod profile;
mod python;
mod sizes;
mod standalone;
mod system;
mod tidy;
mod wasm;

use std::process::ExitCode;

use clap::Parser;

/// The chores of the foretell workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Check the rules of the house that the compiler does not: edges, unsafe, lengths, manifests.
    Tidy,
    /// Run every check that a change must pass, cheapest first, and stop at the first failure.
    Ci(ci::Options),
    /// Build and test training by several processes over MPI, where it is installed.
    Mpi,
    /// Write docs/models.md from what the models say of themselves.
    Models,
    /// Build a program outside the workspace on each crate alone; check that it has all features.
    Standalone,
    /// Package every crate that users may depend on, and build each from its package.
    Package,
    /// Check that the facade without Parquet and threads is fit for WebAssembly.
    Wasm,
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
    /// Tell where the time and the memory of models' trainings go, and what threads bring.
    Profile(profile::Options),
    /// Build the Python wheel, install it into a virtual environment, and run its tests there.
    Python(python::Options),
    /// Cross-build the tests of simd, pool, gemm and flash for aarch64 and run them under qemu.
    TestNeon(neon::Options),
}

fn main() -> ExitCode {
    let outcome = match Chore::parse() {
        Chore::Tidy => tidy::run(),
        Chore::Ci(options) => ci::run(&options),
        Chore::Models => models::run(),
        Chore::Mpi => mpi::run(),
        Chore::Standalone => standalone::run(),
        Chore::Package => package::run(),
        Chore::Wasm => wasm::run(),
        Chore::Asan(options) => asan::run(&options),
        Chore::BenchMatrix(options) => bench_matrix::run(&options),
        Chore::BenchForecast(options) => bench_forecast::run(&options),
        Chore::Compare(options) => compare::run(&options),
        Chore::Pgo(options) => pgo::run(&options),
        Chore::Profile(options) => profile::run(&options),
        Chore::Python(options) => python::run(&options),
        Chore::TestNeon(options) => neon::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
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
}
