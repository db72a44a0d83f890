//! The workloads of `cargo xtask bench-matrix`: `list` prints their names, `run NAME` measures one and prints JSON.
//!
//! Each runs in a process of its own, so that its peak of memory is its own. The same work is done in every cell of the
//! matrix; `outputs` are numbers that all cells must agree on.
#![forbid(unsafe_code)]

mod feed_forward;
mod measure;
mod workloads;

use std::alloc::System;
use std::error::Error;
use std::process::ExitCode;

use foretell::Acceleration;
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use workloads::all;

/// Counts calls; two atomic additions each.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The settings of a measurement.
pub(crate) struct Settings {
    /// How long a workload is repeated.
    pub(crate) seconds: f64,
    /// Small sizes, for tests of the matrix itself.
    pub(crate) quick: bool,
    /// Products in bfloat16: of training, and with the weights of forecasts.
    pub(crate) bf16: bool,
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let expected = "expected `list` or `run NAME SECONDS [quick] [bf16]`";
    let (name, settings) = match arguments[..] {
        ["list"] => {
            all().for_each(|workload| println!("{}", workload.name));
            return Ok(());
        }
        ["run", name, seconds, ref switches @ ..] => {
            if switches.iter().any(|switch| !["quick", "bf16"].contains(switch)) {
                return Err(expected.into());
            }
            let [quick, bf16] = ["quick", "bf16"].map(|switch| switches.contains(&switch));
            (name, Settings { seconds: seconds.parse()?, quick, bf16 })
        }
        _ => return Err(expected.into()),
    };
    let workload = all().find(|workload| workload.name == name);
    let workload = workload.ok_or_else(|| format!("there is no workload {name}; `list` prints them"))?;
    let measured = (workload.run)(&settings)?;
    println!(
        "{}",
        json!({
            "workload": name,
            "acceleration": Acceleration::current(),
            "seconds": measured.seconds,
            "allocations": measured.allocations,
            "peak_mb": measure::peak_mb(),
            "outputs": measured.outputs,
        })
    );
    Ok(())
}
