//! The matrix as tables.

use serde_json::Value;

use super::cells::{BOUND, BOUND_BF16, Cell, FEATURES, Figures, Link, Row, parse};
use crate::figures::{digits, geometric_mean, median, spread, table, time};
use crate::system::machine;

/// The speed-up from the baseline to everything that at least one training workload should reach.
const TARGET: f64 = 71.0;

/// Differences smaller than this are those of two runs of the same program.
const NOISE: f64 = 0.02;

/// The whole text, and the workloads that are slower than before.
pub(super) fn markdown(cells: &[Cell], rows: &[Row], before: Option<&Value>) -> (String, Vec<String>) {
    let mut text = format!(
        "<!-- `cargo xtask bench-matrix` writes this file. -->\n# What each optimisation is worth\n\nThe same workloads in builds \
         that differ in Cargo features. {}.\n\nA time is the median of runs of processes that took turns, with half the distance of the \
         quartiles in percent. Kernels, products of matrices, threads, buffers, attention in tiles and mixed precision are switched \
         on one after the other ({}), then each is left out of everything; without `amp` is the cell before everything. Without \
         `faer`, products are those of `simd` where it has a kernel, else plain loops; `flash` is no part of models without \
         attention; `amp` alone changes nothing, but lets a program compute in bfloat16 when it is asked to, which is a cell of \
         its own: training rounds its products, forecasts hold their weights so. Cells are built as a program of a user's is, \
         without link-time optimisation{}. With an input of 1024 steps batches are small, since the baseline takes seconds a \
         window. All outputs agree to {BOUND:.0e} of the largest, in bfloat16 to {BOUND_BF16:.0e}.\n\n\
         ![speed-ups](bench-matrix.svg)\n",
        machine(),
        FEATURES.map(|feature| format!("`{feature}`")).join(", "),
        if cells.iter().any(|cell| cell.link != Link::Plain) { ", but for the last two" } else { "" },
    );
    let names = |rows: &str| -> Vec<String> {
        [rows.to_owned()].into_iter().chain(cells.iter().map(|cell| cell.name.clone())).collect()
    };
    let mut section = |title: &str, head: &str, cell: &dyn Fn(&Row, usize) -> String| {
        let line = |row: &Row| {
            [row.workload.clone()]
                .into_iter()
                .chain((0..cells.len()).map(|i| cell(row, i)))
                .collect::<Vec<_>>()
        };
        let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
        text += &format!("\n## {title}\n\n{}", table(&names(head), &lines));
    };
    section("Speed-up against the baseline", "workload", &|row, i| format!("{:.2}", speed_up(row, i)));
    section("Time", "workload", &|row, i| {
        let seconds = &row.cells[i].seconds;
        format!("{} ±{:.0} %", time(median(seconds)), 100.0 * spread(seconds))
    });
    section("Calls to the system allocator, in a run", "workload", &|row, i| {
        format!("{:.0}", row.cells[i].allocations)
    });
    section("Peak memory of the process, MB", "workload", &|row, i| digits(row.cells[i].peak_mb));
    text += &format!("\n## From the baseline to everything\n\n{}", verdict(cells, rows));
    let Some(before) = before else { return (text, Vec::new()) };
    let regressions = regressions(cells, rows, before);
    text += "\n## Slower than before\n\n";
    match regressions.is_empty() {
        true => text += "Nothing, beyond the spread.\n",
        false => regressions.iter().for_each(|line| text += &format!("- {line}\n")),
    }
    (text, regressions)
}

/// The baseline's time by that of a cell.
pub(super) fn speed_up(row: &Row, cell: usize) -> f64 {
    median(&row.cells[0].seconds) / median(&row.cells[cell].seconds)
}

/// The target, as measured.
fn verdict(cells: &[Cell], rows: &[Row]) -> String {
    let training: Vec<&Row> = rows.iter().filter(|row| row.workload.starts_with("step ")).collect();
    if training.is_empty() {
        return "No training workload was measured.\n".to_owned();
    }
    let mut text = "Of the training workloads, measured, not multiplied:\n\n".to_owned();
    for (i, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.features.len() == FEATURES.len()) {
        let mut ratios: Vec<(f64, &str)> =
            training.iter().map(|row| (speed_up(row, i), row.workload.as_str())).collect();
        ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (best, workload) = ratios[0];
        let mean = geometric_mean(&ratios.iter().map(|(ratio, _)| *ratio).collect::<Vec<_>>());
        text += &format!(
            "- {}: {mean:.1} times as fast as in the baseline, in the geometric mean of all {}; the aim of {TARGET:.0} is {}. \
             `{workload}` gains most, {best:.1} times.\n",
            cell.name,
            ratios.len(),
            if mean >= TARGET { "met" } else { "not met" },
        );
    }
    text
}

/// The workloads and cells whose median is above that before by more than the spreads of both runs.
fn regressions(cells: &[Cell], rows: &[Row], before: &Value) -> Vec<String> {
    let mut regressions = Vec::new();
    for row in rows {
        for (cell, now) in cells.iter().zip(&row.cells) {
            let earlier = before["cells"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|earlier| earlier["cell"] == *cell.name);
            let Some(Ok(then)) = earlier.map(|earlier| parse(&earlier["workloads"][&row.workload])) else {
                continue;
            };
            if let Some(ratio) = slower(now, &then) {
                let by = 100.0 * (ratio - 1.0);
                regressions.push(format!("{}: `{}` takes {by:.0} % more", row.workload, cell.name));
            }
        }
    }
    if before["machine"].as_str().is_some_and(|then| place(then) != place(&machine()))
        && !regressions.is_empty()
    {
        regressions.push(format!("(the other run was on another machine: {})", before["machine"]));
    }
    regressions
}

/// The processor of a machine's description.
fn place(machine: &str) -> &str {
    machine.split(',').next().unwrap_or_default()
}

/// The ratio of the medians, where it is beyond the spreads.
fn slower(now: &Figures, then: &Figures) -> Option<f64> {
    let ratio = median(&now.seconds) / median(&then.seconds);
    let limit = 1.0 + NOISE + 2.0 * (spread(&now.seconds) + spread(&then.seconds));
    (ratio > limit).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn figures(seconds: &[f64]) -> Figures {
        Figures { seconds: seconds.to_vec(), allocations: 5.0, peak_mb: 12.3, outputs: vec![1.0] }
    }

    fn matrix(baseline: f64) -> (Vec<Cell>, Vec<Row>) {
        let cells = vec![Cell::plain("baseline", &[]), Cell::plain("everything", &FEATURES)];
        let row = |workload: &str, everything: f64| Row {
            workload: workload.to_owned(),
            cells: vec![figures(&[baseline; 5]), figures(&[everything; 5])],
        };
        (cells, vec![row("load NHITS", 0.001), row("step NHITS", 0.02), row("step TCN", 0.04)])
    }

    #[test]
    fn every_cell_of_every_table_is_filled() {
        let (cells, rows) = matrix(2.0);
        let (text, regressions) = markdown(&cells, &rows, None);
        assert!(regressions.is_empty());
        for part in [
            "| step NHITS | 1.00 | 100.00 |",
            "| step NHITS | 2.00 s ±0 % | 20.0 ms ±0 % |",
            "| step TCN | 5 | 5 |",
            "| step TCN | 12.3 | 12.3 |",
            "- everything: 70.7 times as fast as in the baseline, in the geometric mean of all 2; the aim of 71 is not met. \
             `step NHITS` gains most, 100.0 times.",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let (cells, rows) = matrix(4.0);
        assert!(markdown(&cells, &rows, None).0.contains("the aim of 71 is met"));
    }

    #[test]
    fn what_is_slower_beyond_the_spread_is_told() {
        let steady = |median: f64| figures(&[median; 5]);
        assert_eq!(slower(&steady(1.01), &steady(1.0)), None);
        assert_eq!(slower(&steady(1.1), &steady(1.0)), Some(1.1));
        // A spread of 10 % on either side hides 10 %.
        let shaky = figures(&[0.9, 0.9, 1.0, 1.1, 1.1]);
        assert_eq!(slower(&steady(1.1), &shaky), None);

        let (cells, rows) = matrix(2.0);
        let before = json!({ "machine": "Abacus, 1 threads", "cells": [{
            "cell": "everything",
            "workloads": { "step TCN": { "seconds": [0.02, 0.02, 0.02], "allocations": 1, "peak_mb": 1, "outputs": [1] } },
        }] });
        let (text, regressions) = markdown(&cells, &rows, Some(&before));
        assert_eq!(regressions[0], "step TCN: `everything` takes 100 % more");
        assert!(regressions[1].contains("another machine") && text.contains("- step TCN"), "{text}");
        let same = json!({ "machine": machine(), "cells": [] });
        assert!(markdown(&cells, &rows, Some(&same)).0.contains("Nothing, beyond the spread"));
    }
}
