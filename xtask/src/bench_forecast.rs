//! How good `foretell forecast` is beside single models, on panels whose last windows are kept apart.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, bail};
use clap::Args;

use crate::bench_panels::{BenchPanel, panels};
use crate::figures::{digits, geometric_mean, table};
use crate::measured::{Cost, measured};
use crate::system::{foretell, write};

/// The quantiles that are scored.
const QUANTILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// The model that all are divided by.
const BASELINE: &str = "SeasonalNaive";

#[derive(Args)]
pub(crate) struct Options {
    /// Folder with panels: CSV files with the columns unique_id, ds and y, called NAME-hH-sSEASON.csv; other columns are known ahead. ETTh1 and
    /// M4 Hourly of the folder FORETELL_DATA are added
    folder: Option<PathBuf>,
    /// Budgets of `foretell forecast`
    #[arg(long, value_delimiter = ',', default_value = "0,30s")]
    budgets: Vec<String>,
    /// Single models beside it; one called AutoARIMA+x reads the columns that are known ahead
    #[arg(long, value_delimiter = ',', default_value = "AutoARIMA,AutoETS,AutoTheta,MSTL")]
    models: Vec<String>,
    /// Programs of others beside it: COMMAND=MODEL,MODEL. The command gets DATA H SEASON OUT, and the file of what is known ahead if a panel
    /// has such columns, and writes MODEL_ql0.1 to MODEL_ql0.9 as
    /// compare/forecast_panels.py does
    #[arg(long, value_name = "COMMAND=MODELS")]
    beside: Vec<String>,
    /// Leaves columns that are known ahead out of `foretell forecast` and of what others are given
    #[arg(long)]
    without_columns: bool,
    /// Threads of the program
    #[arg(long)]
    threads: Option<usize>,
    /// Last windows of each series that are forecast, each from all that comes before
    #[arg(long, default_value_t = 1)]
    windows: usize,
    /// The program, in place of a release build of this tree
    #[arg(long)]
    foretell: Option<PathBuf>,
    /// File to write the table to, in Markdown
    #[arg(long)]
    out: Option<PathBuf>,
}

/// MASE and scaled quantile loss.
type Scores = [f64; 2];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let program = foretell(options.foretell.as_deref())?;
    let scratch = env::temp_dir().join(format!("foretell-bench-forecast-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let mut panels =
        panels(options.folder.as_deref(), env::var_os("FORETELL_DATA").map(PathBuf::from).as_deref())?;
    if panels.is_empty() {
        bail!("there are no panels; name a folder with files NAME-h12-s12.csv, or set FORETELL_DATA");
    }
    if options.without_columns {
        panels.iter_mut().for_each(BenchPanel::forget_columns);
    }
    let ways = ways(options)?;
    let names: Vec<String> = ways.iter().flat_map(Way::names).collect();
    let mut rows = Vec::new();
    let mut ratios: Vec<[Vec<f64>; 2]> = vec![<[Vec<f64>; 2]>::default(); names.len()];
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); names.len()];
    for panel in &panels {
        let mut all = Vec::new();
        for way in &ways {
            let tried = Tried { program: &program, scratch: &scratch, panel, threads: options.threads };
            let windows: Vec<(Vec<Scores>, Cost)> = (0..options.windows)
                .map(|window| tried.scores(way, window))
                .collect::<anyhow::Result<_>>()
                .with_context(|| format!("{} on {}", way.names().join(", "), panel.name))?;
            let cost = mean_cost(windows.iter().map(|(_, cost)| cost));
            all.extend((0..way.columns().len()).map(|column| {
                let mean = |which: usize| {
                    windows.iter().map(|(scores, _)| scores[column][which]).sum::<f64>()
                        / windows.len() as f64
                };
                ([mean(0), mean(1)], cost)
            }));
        }
        let mut row = vec![panel.name.clone()];
        let [mase, loss] = all[0].0;
        for (way, (scores, cost)) in all.iter().enumerate().skip(1) {
            let [a, b] = [scores[0] / mase, scores[1] / loss];
            row.push(cell([a, b], *cost));
            [a, b].iter().zip(&mut ratios[way]).for_each(|(value, all)| all.push(*value));
            costs[way].push(*cost);
        }
        eprintln!("{}", row.join(" | "));
        rows.push(row);
    }
    let mean = |([mase, loss], costs): (&[Vec<f64>; 2], &Vec<Cost>)| {
        cell([geometric_mean(mase), geometric_mean(loss)], mean_cost(costs))
    };
    let means = ratios[1..].iter().zip(&costs[1..]).map(mean);
    rows.push(std::iter::once("geometric mean".to_owned()).chain(means).collect());
    let head: Vec<String> = std::iter::once("panel".to_owned()).chain(names[1..].iter().cloned()).collect();
    let text = table(&head, &rows);
    println!(
        "MASE and scaled quantile loss, divided by those of {BASELINE}; seconds, those of processors in brackets, and the largest memory\n\n{text}"
    );
    if let Some(out) = &options.out {
        write(out, &text)?;
    }
    fs::remove_dir_all(&scratch)?;
    Ok(())
}

/// What a way of forecasting gave, and what it took.
fn cell([mase, loss]: Scores, cost: Cost) -> String {
    let Cost { seconds, processor_seconds, bytes } = cost;
    let [seconds, processor_seconds] = [seconds, processor_seconds].map(digits);
    format!("{} {}; {seconds} s ({processor_seconds}), {} MB", digits(mase), digits(loss), bytes >> 20)
}

/// The mean of times, and the largest memory.
fn mean_cost<'a>(costs: impl IntoIterator<Item = &'a Cost>) -> Cost {
    let (sum, n) = costs.into_iter().fold((Cost::default(), 0.0), |(sum, n), cost| (sum.and(*cost), n + 1.0));
    Cost { seconds: sum.seconds / n, processor_seconds: sum.processor_seconds / n, ..sum }
}

/// A model's name, and whether it is to read what is known ahead.
fn reading(name: &str) -> (&str, bool) {
    name.strip_suffix("+x").map_or((name, false), |name| (name, true))
}

/// How panels are forecast.
enum Way {
    /// `foretell forecast` with a budget.
    Forecast(String),
    /// `foretell fit` and `predict` of a model.
    Model(String),
    /// A command of others, and the columns that it writes.
    Beside(Vec<String>, Vec<String>),
}

/// The baseline first, then what is asked for.
fn ways(options: &Options) -> anyhow::Result<Vec<Way>> {
    let beside = |text: &String| {
        let (command, models) = text.rsplit_once('=').with_context(|| format!("{text}: no =MODELS"))?;
        let words = command.split_whitespace().map(str::to_owned).collect();
        Ok(Way::Beside(words, models.split(',').map(str::to_owned).collect()))
    };
    let own = [Way::Model(BASELINE.to_owned())]
        .into_iter()
        .chain(options.budgets.iter().cloned().map(Way::Forecast))
        .chain(options.models.iter().cloned().map(Way::Model));
    own.map(Ok).chain(options.beside.iter().map(beside)).collect()
}

impl Way {
    /// The columns of its forecasts, without the quantile.
    fn columns(&self) -> Vec<&str> {
        match self {
            Self::Forecast(_) => vec!["Auto"],
            Self::Model(name) => vec![reading(name).0],
            Self::Beside(_, columns) => columns.iter().map(String::as_str).collect(),
        }
    }

    /// What the table calls each column.
    fn names(&self) -> Vec<String> {
        match self {
            Self::Forecast(budget) => vec![format!("forecast {budget}")],
            Self::Model(name) => vec![name.clone()],
            Self::Beside(words, columns) => {
                let by = words.last().map(String::as_str).unwrap_or_default();
                columns.iter().map(|column| format!("{column}, {by}")).collect()
            }
        }
    }
}

/// A panel that is forecast, and by what.
struct Tried<'a> {
    program: &'a Path,
    scratch: &'a Path,
    panel: &'a BenchPanel,
    threads: Option<usize>,
}

impl Tried<'_> {
    /// The scores of each column in the window that ends `window` windows before the end, and what they took.
    fn scores(&self, way: &Way, window: usize) -> anyhow::Result<(Vec<Scores>, Cost)> {
        let h = self.panel.h;
        let (data, forecast, model) =
            (self.scratch.join("data.csv"), self.scratch.join("forecast.csv"), self.scratch.join("model"));
        fs::write(&data, self.panel.text_without_last(h * (window + 1)))?;
        let (ahead, messages) = (self.scratch.join("ahead.csv"), self.scratch.join("messages"));
        let columns = self.panel.columns.join(",");
        let has_columns = !columns.is_empty();
        if has_columns {
            fs::write(&ahead, self.panel.text_ahead(h * (window + 1)))?;
        }
        let command = |name: &str| {
            let mut command = Command::new(self.program);
            command.arg(name).arg("--data").arg(&data).arg("--quiet");
            if let Some(threads) = self.threads {
                command.args(["--threads", &threads.to_string()]);
            }
            command
        };
        let steps = h.to_string();
        let cost = match way {
            Way::Forecast(budget) => {
                let mut forecasting = command("forecast");
                if has_columns {
                    forecasting.args(["--futr-exog", &columns, "--futr"]).arg(&ahead);
                }
                forecasting.args(["--h", &steps, "--budget", budget, "--out"]).arg(&forecast);
                measured(&mut forecasting, &messages)?
            }
            Way::Model(name) => {
                let (name, reads) = reading(name);
                let mut fitting = command("fit");
                fitting.args(["--model", name, "--h", &steps, "--overwrite", "--out"]).arg(&model);
                let quantiles = QUANTILES.map(|q| q.to_string()).join(",");
                let mut predicting = command("predict");
                predicting.arg("--model").arg(&model).args(["--quantiles", &quantiles, "--out"]);
                predicting.arg(&forecast);
                if reads && has_columns {
                    fitting.args(["--futr-exog", &columns]);
                    predicting.arg("--futr").arg(&ahead);
                }
                measured(&mut fitting, &messages)?.and(measured(&mut predicting, &messages)?)
            }
            Way::Beside(words, _) => {
                let (program, arguments) = words.split_first().context("a command has a name")?;
                let mut other = Command::new(program);
                other.args(arguments).arg(&data).args([&steps, &self.panel.season.to_string()]);
                other.arg(&forecast);
                if has_columns {
                    other.arg(&ahead);
                }
                measured(&mut other, &messages)?
            }
        };
        let text = fs::read_to_string(&forecast)?;
        let score = |column: &&str| scored(self.panel, &text, column, window);
        Ok((way.columns().iter().map(score).collect::<anyhow::Result<_>>()?, cost))
    }
}

/// MASE of the median and scaled quantile loss, means over the series.
fn scored(panel: &BenchPanel, forecast: &str, column: &str, window: usize) -> anyhow::Result<[f64; 2]> {
    let mut lines = forecast.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let places = QUANTILES.map(|q| head.iter().position(|name| *name == format!("{column}_ql{q}")));
    let places: Vec<usize> =
        places.into_iter().collect::<Option<_>>().with_context(|| format!("no quantiles of {column}"))?;
    let mut by_series: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let values = places.iter().map(|&place| cells[place].parse().unwrap_or(f64::NAN)).collect();
        by_series.entry(cells[0]).or_default().push(values);
    }
    let (mut sums, mut n) = ([0.0; 2], 0.0);
    for (id, steps) in by_series {
        let Some(series) = panel.series.iter().find(|series| series.id == id) else { continue };
        let known = series.y.len() - panel.h * (window + 1);
        let (history, truth) = series.y.split_at(known);
        let lag = if known > panel.season { panel.season } else { 1 };
        let changes: Vec<f64> =
            history.iter().zip(history.get(lag..).unwrap_or_default()).map(|(a, b)| (b - a).abs()).collect();
        let scale = changes.iter().sum::<f64>() / changes.len().max(1) as f64;
        if scale > 0.0 {
            let each = steps.len() as f64;
            for (values, y) in steps.iter().zip(truth) {
                let loss = |(q, value): (&f64, &f64)| 2.0 * (q * (y - value)).max((q - 1.0) * (y - value));
                let losses = QUANTILES.iter().zip(values).map(loss).sum::<f64>() / QUANTILES.len() as f64;
                sums[0] += (y - values[QUANTILES.len() / 2]).abs() / scale / each;
                sums[1] += losses / scale / each;
            }
            n += 1.0;
        }
    }
    Ok(sums.map(|sum| sum / n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_panels::BenchSeries;

    #[test]
    fn forecasts_are_scored_by_the_change_over_a_season() {
        let y = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let times = vec![String::new(); 6];
        let series = vec![BenchSeries { id: "a".to_owned(), times, y, beside: Vec::new() }];
        let panel = BenchPanel { name: "test".to_owned(), h: 1, season: 1, columns: Vec::new(), series };
        let head = QUANTILES.map(|q| format!("M_ql{q}")).join(",");
        let forecast = format!("unique_id,ds,{head}\na,6{}\n", ",4".repeat(9));
        let [mase, loss] = scored(&panel, &forecast, "M", 0).unwrap();
        assert!((mase - 2.0).abs() < 1e-9 && (loss - 2.0).abs() < 1e-9);
        let [mase, _] = scored(&panel, &forecast, "M", 1).unwrap();
        assert!((mase - 1.0).abs() < 1e-9, "the window before");
        assert!(scored(&panel, &forecast, "N", 0).is_err());
    }

    #[test]
    fn costs_of_panels_are_told_in_a_cell() {
        let cost = |seconds, bytes| Cost { seconds, processor_seconds: 2.0 * seconds, bytes };
        let mean = mean_cost(&[cost(1.0, 5 << 20), cost(3.0, 4 << 20)]);
        assert_eq!(cell([0.5, 1.25], mean), "0.500 1.25; 2.00 s (4.00), 5 MB");
        assert_eq!((reading("AutoARIMA+x"), reading("MSTL")), (("AutoARIMA", true), ("MSTL", false)));
    }
}
