//! `cargo xtask bench-matrix`: the same workloads in builds with and without each optimisation.

mod cells;
mod chart;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::{Value, json};

use self::cells::{BOUND, BOUND_BF16, Cell, FEATURES, Figures, Link, Row, parse};
use crate::figures::median;
use crate::system::{cargo, empty, machine, output, read_json, run as run_command, target, write};
use crate::{pgo, programs};

/// Arguments of `cargo xtask bench-matrix`.
#[derive(Args)]
pub(crate) struct Options {
    /// Nothing and everything, by the programs of tests; small sizes, one turn: whether all compute the same. Writes below target.
    #[arg(long)]
    quick: bool,
    /// Add cells with link-time optimisation, and with that and a profile, which take several minutes each to build.
    #[arg(long)]
    dist: bool,
    /// Only workloads whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Turns: in each, the cells are measured one after the other. One that takes more than 2 s in a cell has one there.
    #[arg(long, value_name = "N", default_value_t = 2)]
    rounds: usize,
    /// How long a workload is repeated in a turn, in seconds.
    #[arg(long, value_name = "S", default_value_t = 0.2)]
    seconds: f64,
    /// Write all figures to this file, for --compare.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Mark what is slower than in this file beyond the spread of both; fails if anything is.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

/// A run that took longer is not repeated in further turns.
const LONG_RUN: f64 = 2.0;

/// The columns: nothing, one optimisation after the other, each left out alone, and all of them otherwise: computing in bfloat16,
/// and linked as a whole.
fn cells(options: &Options) -> Vec<Cell> {
    let all = Cell::plain("everything", &FEATURES);
    let bf16 = Cell { precision: "bf16", ..Cell::plain("everything, bf16", &FEATURES) };
    if options.quick {
        return vec![Cell::plain("baseline", &[]), all, bf16];
    }
    let mut cells = vec![Cell::plain("baseline", &[])];
    for count in 1..FEATURES.len() {
        cells.push(Cell::plain(format!("+ {}", FEATURES[count - 1]), &FEATURES[..count]));
    }
    cells.push(all);
    // Without the last one is the cell before everything.
    for left_out in &FEATURES[..FEATURES.len() - 1] {
        let rest: Vec<_> = FEATURES.into_iter().filter(|feature| feature != left_out).collect();
        cells.push(Cell::plain(format!("without {left_out}"), &rest));
    }
    cells.push(bf16);
    if options.dist {
        for (name, link) in [("everything, LTO", Link::Whole), ("everything, LTO and PGO", Link::Profiled)] {
            cells.push(Cell { link, ..Cell::plain(name, &FEATURES) });
        }
    }
    cells
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    ensure!(options.rounds > 0, "--rounds is at least 1");
    let folder = target()?.join("matrix");
    let cells = cells(options);
    let mut programs: Vec<PathBuf> = Vec::new();
    for (i, cell) in cells.iter().enumerate() {
        let program = match cells[..i].iter().position(|other| other.is_built_as(cell)) {
            Some(same) => programs[same].clone(),
            None => {
                let built = match options.quick {
                    true => built_by_tests(cell, &folder),
                    false => build(cell, &folder),
                };
                built.with_context(|| format!("the cell `{}` was not built", cell.name))?
            }
        };
        programs.push(program);
    }
    let start = Instant::now();
    let rows = measure(options, &cells, &programs)?;
    eprintln!("measured in {:.0} s", start.elapsed().as_secs_f64());
    let disagreements = disagreements(&cells, &rows);
    let json = serde_json::to_string(&as_json(options, &cells, &rows))?;
    write(&folder.join("bench-matrix.json"), &json)?;
    if !disagreements.is_empty() {
        bail!("cells disagree:\n{}", disagreements.join("\n"));
    }
    let before = options.compare.as_deref().map(read_json).transpose()?;
    let (text, regressions) = report::markdown(&cells, &rows, before.as_ref());
    let docs = match options.quick || options.filter.is_some() {
        true => folder.clone(),
        false => Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs"),
    };
    write(&docs.join("bench-matrix.md"), &text)?;
    write(&docs.join("bench-matrix.svg"), chart::svg(&cells, &rows))?;
    if let Some(path) = &options.save {
        write(path, &json)?;
    }
    println!("{text}\nwritten to {}", docs.join("bench-matrix.md").display());
    ensure!(regressions.is_empty(), "slower than before:\n{}", regressions.join("\n"));
    Ok(())
}

/// What its workloads are: the one feature that all cells have.
const NETWORKS: &str = "networks";

/// Builds a cell; where its program is.
fn build(cell: &Cell, folder: &Path) -> anyhow::Result<PathBuf> {
    let features = cell.features.iter().chain([&NETWORKS]);
    let features: Vec<String> = features.map(|feature| format!("foretell/{feature}")).collect();
    let features = features.join(",");
    eprintln!("building `{}`", cell.name);
    let start = Instant::now();
    let (package, binary) = ("foretell-matrix", "foretell-matrix");
    let program = match cell.link {
        Link::Profiled => {
            let (profdata, raw) = (pgo::profdata()?, folder.join("raw"));
            let build = |folder, flags| pgo::Build {
                package,
                binary,
                profile: "dist",
                features: Some(&features),
                folder,
                flags,
            };
            let instrumented = build("matrix/instrumented", pgo::generate(&raw)).run()?;
            empty(&raw)?;
            for workload in workloads(&instrumented)? {
                let mut command = Command::new(&instrumented);
                command.env("LLVM_PROFILE_FILE", raw.join("%m-%p.profraw"));
                output(command.args(["run", &workload, "0.1"]))?;
            }
            let merged = pgo::merge(&profdata, &raw, &folder.join("merged.profdata"))?;
            build("matrix/profiled", pgo::used(&merged)).run()?
        }
        link => {
            let profile = if link == Link::Plain { "release" } else { "dist" };
            let mut command = cargo();
            command.args(["build", "--quiet", "--package", package, "--profile", profile]);
            command.args(["--no-default-features", "--features", &features]);
            // Its own directory: features of the workspace's other builds stay what they are.
            run_command(command.arg("--target-dir").arg(folder))?;
            folder.join(profile).join(binary)
        }
    };
    eprintln!("  {:.0} s", start.elapsed().as_secs_f64());
    kept(cell, &program, folder)
}

/// A cell with nothing, or with everything, as tests are built: the one among the tests of plain crates, the other among all tests.
fn built_by_tests(cell: &Cell, folder: &Path) -> anyhow::Result<PathBuf> {
    let program = match cell.features.is_empty() {
        true => {
            let package = ["build", "--quiet", "--package", "foretell-matrix", "--no-default-features"];
            run_command(cargo().args(package).args(["--features", &format!("foretell/{NETWORKS}")]))?;
            target()?.join("debug/foretell-matrix")
        }
        false => {
            let program = programs::build()?.programs.remove("foretell-matrix");
            program.context("the tests of the workspace build no program `foretell-matrix`")?
        }
    };
    kept(cell, &program, folder)
}

/// A copy of a cell's program: the next cell's has the same path.
fn kept(cell: &Cell, program: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let place = folder.join("cells").join(cell.name.replace([' ', ',', '+'], "-"));
    write(&place, "")?;
    fs::copy(program, &place).with_context(|| format!("cannot copy {}", program.display()))?;
    Ok(place)
}

fn workloads(program: &Path) -> anyhow::Result<Vec<String>> {
    Ok(output(Command::new(program).arg("list"))?.lines().map(str::to_owned).collect())
}

/// All workloads in all cells, which take turns.
fn measure(options: &Options, cells: &[Cell], programs: &[PathBuf]) -> anyhow::Result<Vec<Row>> {
    let mut names = workloads(&programs[0])?;
    names.retain(|name| options.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str())));
    ensure!(
        !names.is_empty(),
        "no workload has {:?} in its name",
        options.filter.as_deref().unwrap_or_default()
    );
    let rounds = if options.quick { 1 } else { options.rounds };
    let mut rows = Vec::new();
    for workload in names {
        eprintln!("{workload}");
        let mut figures = vec![Figures::default(); cells.len()];
        let mut long = vec![false; cells.len()];
        for _ in 0..rounds {
            for (i, (cell, program)) in
                cells.iter().zip(programs).enumerate().filter(|(i, _)| !long[*i]).collect::<Vec<_>>()
            {
                let start = Instant::now();
                run_one(options, cell, program, &workload, &mut figures[i])
                    .with_context(|| format!("`{workload}` in the cell `{}`", cell.name))?;
                long[i] = start.elapsed().as_secs_f64() > LONG_RUN;
            }
        }
        rows.push(Row { workload, cells: figures });
    }
    Ok(rows)
}

/// One turn of a workload in a cell.
fn run_one(
    options: &Options,
    cell: &Cell,
    program: &Path,
    workload: &str,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    let seconds = if options.quick { 0.02 } else { options.seconds };
    command.args(["run", workload, &seconds.to_string()]);
    if options.quick {
        command.arg("quick");
    }
    if cell.precision != "f32" {
        command.arg(cell.precision);
    }
    let line: Value = serde_json::from_str(&output(&mut command)?).context("the workload printed no JSON")?;
    let built = line["acceleration"].as_str().context("no acceleration")?;
    let on = |feature: &&str| match *feature {
        "simd" => !built.starts_with("scalar"),
        feature => built.split(", ").any(|part| part == feature),
    };
    let wrong: Vec<&str> =
        FEATURES.into_iter().filter(|feature| on(feature) != cell.features.contains(feature)).collect();
    ensure!(wrong.is_empty(), "it was built with {built}; {} should be otherwise", wrong.join(", "));
    let read = parse(&line)?;
    figures.seconds.extend(read.seconds);
    *figures = Figures { seconds: std::mem::take(&mut figures.seconds), ..read };
    Ok(())
}

/// Outputs that differ from those of the first cell by more than rounding.
fn disagreements(cells: &[Cell], rows: &[Row]) -> Vec<String> {
    let mut disagreements = Vec::new();
    for Row { workload, cells: figures } in rows {
        let reference = &figures[0].outputs;
        let scale = reference.iter().fold(f64::MIN_POSITIVE, |scale, value| scale.max(value.abs()));
        for (cell, figures) in cells.iter().zip(figures) {
            let bound = if cell.precision == "f32" { BOUND } else { BOUND_BF16 };
            let gap = match figures.outputs.len() == reference.len() && !reference.is_empty() {
                false => f64::NAN,
                true => {
                    let gaps = figures.outputs.iter().zip(reference).map(|(a, b)| (a - b).abs() / scale);
                    gaps.fold(0.0, |most: f64, gap| if gap > most || gap.is_nan() { gap } else { most })
                }
            };
            // Not a number is no agreement.
            if gap.is_nan() || gap > bound {
                disagreements.push(format!(
                    "{workload}: `{}` differs from `{}` by {gap:.1e} of the largest output, bound {bound:.0e}",
                    cell.name, cells[0].name
                ));
            }
        }
    }
    disagreements
}

fn as_json(options: &Options, cells: &[Cell], rows: &[Row]) -> Value {
    let cells_json = cells.iter().enumerate().map(|(i, cell)| {
        let of_cell = |row: &Row| {
            let Figures { seconds, allocations, peak_mb, outputs } = &row.cells[i];
            let figures = json!({
                "seconds": seconds, "allocations": allocations, "peak_mb": peak_mb, "outputs": outputs,
                "median_s": median(seconds),
            });
            (row.workload.clone(), figures)
        };
        json!({
            "cell": cell.name, "features": cell.features, "precision": cell.precision,
            "link": format!("{:?}", cell.link).to_lowercase(),
            "workloads": rows.iter().map(of_cell).collect::<serde_json::Map<_, _>>(),
        })
    });
    json!({ "machine": machine(), "quick": options.quick, "cells": cells_json.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(quick: bool, dist: bool) -> Options {
        Options { quick, dist, filter: None, rounds: 1, seconds: 0.1, save: None, compare: None }
    }

    #[test]
    fn the_columns_go_from_nothing_to_everything_and_leave_each_out() {
        let cells = cells(&options(false, true));
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names[..6], ["baseline", "+ simd", "+ faer", "+ parallel", "+ pool", "+ flash"]);
        assert_eq!(names[6..9], ["everything", "without simd", "without faer"]);
        assert_eq!(names[9..12], ["without parallel", "without pool", "without flash"]);
        assert_eq!(names[12..], ["everything, bf16", "everything, LTO", "everything, LTO and PGO"]);
        assert_eq!(cells[0].features, Vec::<&str>::new());
        assert_eq!(cells[2].features, ["simd", "faer"]);
        assert_eq!(cells[6].features, FEATURES);
        assert_eq!(cells[8].features, ["simd", "parallel", "pool", "flash", "amp"]);
        assert!(cells[12].is_built_as(&cells[6]) && cells[12].precision == "bf16");
        // No two cells are the same program in the same precision.
        for (i, cell) in cells.iter().enumerate() {
            let alike = |other: &Cell| other.is_built_as(cell) && other.precision == cell.precision;
            assert!(!cells[..i].iter().any(alike), "{}", cell.name);
        }
        assert_eq!(super::cells(&options(true, true)).len(), 3);
    }

    #[test]
    fn the_features_are_those_of_the_facade() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/foretell/Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        assert!(FEATURES.iter().all(|feature| manifest.contains(&format!("\n{feature} = ["))));
    }

    fn figures(outputs: &[f64]) -> Figures {
        Figures { seconds: vec![1.0], allocations: 2.0, peak_mb: 3.0, outputs: outputs.to_vec() }
    }

    #[test]
    fn outputs_beyond_the_bound_are_told() {
        let cells = cells(&options(true, false));
        let row = |outputs: &[f64]| Row {
            workload: "step".to_owned(),
            cells: vec![figures(&[1.0, 10.0]), figures(outputs), figures(&[1.2, 10.0])],
        };
        assert!(disagreements(&cells, &[row(&[1.0009, 10.0])]).is_empty());
        for outputs in [&[1.002, 10.0][..], &[f64::NAN, 10.0], &[1.0], &[]] {
            let told = disagreements(&cells, &[row(outputs)]);
            assert!(
                told.len() == 1 && told[0].starts_with("step: `everything` differs from `baseline`"),
                "{told:?}"
            );
        }
        // In bfloat16 they may be further off, but not at will.
        let mut row = row(&[1.0, 10.0]);
        row.cells[2].outputs[0] = 1.4;
        let told = disagreements(&cells, &[row]);
        assert!(told.len() == 1 && told[0].contains("bf16` differs") && told[0].contains("3e-2"), "{told:?}");
    }

    #[test]
    fn what_is_saved_is_what_is_read() {
        let cells = cells(&options(true, false));
        let figures = [&[1.0][..], &[1.0, 2.0], &[3.0]].map(figures);
        let rows = [Row { workload: "load".to_owned(), cells: figures.to_vec() }];
        let saved = as_json(&options(true, false), &cells, &rows);
        assert_eq!(parse(&saved["cells"][1]["workloads"]["load"]).unwrap(), rows[0].cells[1]);
        assert!(parse(&json!({ "seconds": [1.0] })).is_err());
    }
}
