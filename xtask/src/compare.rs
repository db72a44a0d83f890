//! `cargo xtask compare`: foretell beside PyTorch, ONNX Runtime and neuralforecast, in turns, by ratio.

mod candle;

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::figures::{digits, geometric_mean, median, table};
use crate::sizes::Sizes;
use crate::system::{Tool, cores, foretell, is_multivariate, machine, output, write};

/// Arguments of `cargo xtask compare`.
#[derive(Args)]
pub(crate) struct Options {
    /// Models of the zoo (comma-separated).
    #[arg(long, value_name = "MODEL", value_delimiter = ',', required = true)]
    models: Vec<String>,
    /// The programs to measure beside foretell (comma-separated).
    #[arg(long, value_name = "SIDE", value_delimiter = ',', value_enum, default_values = ["torch", "onnx", "neuralforecast"])]
    beside: Vec<Side>,
    /// Measure the operations that candle has as well, by the suite of foretell-candle, which takes minutes to build.
    #[arg(long)]
    candle: bool,
    /// The Python that has neuralforecast, and onnx with onnxruntime [default: that of FORETELL_PYTHON, or python3].
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// ETTh1.csv, for fits and their accuracy; without it these are left out.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The turns of steps and forecasts; fits and accuracy have one for each seed.
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// The seeds of fits (comma-separated).
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1])]
    seeds: Vec<u64>,
    /// Steps of a fit.
    #[arg(long, value_name = "N", default_value_t = 300)]
    steps: usize,
    #[command(flatten)]
    sizes: Sizes,
    /// Threads of both sides [default: as many as the machine has].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// f32 or bf16, of steps and forecasts. In bf16, PyTorch is measured in f32 and in its own bf16 autocast.
    #[arg(long, value_name = "PRECISION", value_parser = ["f32", "bf16"], default_value = "f32")]
    precision: String,
    /// The program to compare [default: built for release].
    #[arg(long, value_name = "PATH")]
    foretell: Option<PathBuf>,
    /// Write the table to a Markdown file as well.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write all figures of all turns as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A program that foretell is compared with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
enum Side {
    /// neuralforecast's models in a bare loop of PyTorch: steps, forecasts, memory.
    Torch,
    /// The same in bfloat16, as PyTorch's autocast does it; with `--precision bf16` it stands beside PyTorch in f32.
    TorchAutocast,
    /// The models exported: forecasts.
    Onnx,
    /// `NeuralForecast.fit` and `cross_validation` on ETTh1: fit, memory, accuracy.
    Neuralforecast,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Torch => "PyTorch",
            Self::TorchAutocast => "PyTorch, bf16",
            Self::Onnx => "ONNX Runtime",
            Self::Neuralforecast => "neuralforecast",
        }
    }

    /// The side of compare/measure.py that measures it.
    fn argument(self) -> &'static str {
        match self {
            Self::Torch | Self::TorchAutocast => "torch",
            Self::Onnx => "onnx",
            Self::Neuralforecast => "neuralforecast",
        }
    }
}

/// A figure of both sides: its key in the JSON of either, its name in the table.
struct Figure {
    key: &'static str,
    name: &'static str,
}

const FIGURES: &[Figure] = &[
    Figure { key: "step_ms", name: "step, ms" },
    Figure { key: "step_peak_mb", name: "memory of a step, MB" },
    Figure { key: "forward_batch_ms", name: "forecast of the batch, ms" },
    Figure { key: "forward_one_us", name: "forecast of one window, us" },
    Figure { key: "fit_s", name: "fit, s" },
    Figure { key: "fit_peak_mb", name: "memory of a fit, MB" },
    Figure { key: "mae", name: "MAE" },
];

/// Rows of ETTh1 that are used, and the windows at their end that the accuracy is measured on, as compare/measure.py has them.
const ROWS: usize = 8640;
const TEST_WINDOWS: usize = 10;

const GNU_TIME: Tool = Tool { names: &["time"], package: "the package time" };

/// Figures of one side for one model, each turn's.
type Turns = BTreeMap<&'static str, Vec<f64>>;

/// The measurements of a model.
#[derive(Default)]
struct Compared {
    ours: Turns,
    theirs: BTreeMap<Side, Turns>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let threads = options.threads.unwrap_or_else(cores).to_string();
    let setting = Setting {
        options,
        threads,
        python: options
            .python
            .clone()
            .or_else(|| env::var_os("FORETELL_PYTHON").map(PathBuf::from))
            .unwrap_or_else(|| "python3".into()),
        foretell: foretell(options.foretell.as_deref())?,
        script: Path::new(env!("CARGO_MANIFEST_DIR")).join("../compare/measure.py"),
        folder: crate::system::target()?.join("compare"),
    };
    let mut notes = Vec::new();
    let mut compared_models: Vec<(&str, Compared)> = Vec::new();
    for model in &options.models {
        eprintln!("{model}");
        let compared =
            setting.compare(model, &mut notes).with_context(|| format!("{model} was not compared"))?;
        compared_models.push((model, compared));
    }
    notes.dedup();
    let mut report = setting.report(&compared_models, &notes);
    let operations = options.candle.then(|| candle::measure(&setting.threads)).transpose()?;
    if let Some(operations) = &operations {
        report += &candle::report(operations);
    }
    print!("{report}");
    if let Some(path) = &options.out {
        write(path, &report)?;
    }
    if let Some(path) = &options.json {
        let mut all = setting.as_json(&compared_models, &notes);
        all["candle"] = json!(operations);
        write(path, serde_json::to_string_pretty(&all)?)?;
    }
    Ok(())
}

struct Setting<'a> {
    options: &'a Options,
    threads: String,
    foretell: PathBuf,
    python: PathBuf,
    script: PathBuf,
    folder: PathBuf,
}

impl Setting<'_> {
    /// All turns of a model.
    fn compare(&self, model: &str, notes: &mut Vec<String>) -> anyhow::Result<Compared> {
        let mut compared = Compared::default();
        let mut beside = self.beside();
        let of_data = |side: &Side| *side == Side::Neuralforecast;
        for _ in 0..self.options.rounds {
            if beside.iter().all(of_data) {
                break;
            }
            add(&mut compared.ours, &self.bench(model)?);
            let mut left = Vec::new();
            for side in beside {
                if of_data(&side) || self.ask(side, (model, 0), &mut compared, notes)? {
                    left.push(side);
                }
            }
            beside = left;
        }
        if !self.options.beside.iter().any(of_data) {
            return Ok(compared);
        }
        let Some(data) = &self.options.data else {
            notes.push("Fits and accuracy are left out: they need --data ETTh1.csv.".to_owned());
            return Ok(compared);
        };
        for &seed in &self.options.seeds {
            let (figures, note) = self.fit(model, data, seed)?;
            notes.extend(note);
            add(&mut compared.ours, &figures);
            if !self.ask(Side::Neuralforecast, (model, seed), &mut compared, notes)? {
                break;
            }
        }
        Ok(compared)
    }

    /// The sides to measure: PyTorch in f32 and by its autocast where foretell computes in bfloat16.
    fn beside(&self) -> Vec<Side> {
        let mut beside = self.options.beside.clone();
        if self.options.precision == "bf16" && beside.contains(&Side::Torch) {
            beside.push(Side::TorchAutocast);
        }
        beside.sort_unstable();
        beside.dedup();
        beside
    }

    /// Adds a turn of a side; notes what is missing and returns false where it has no figures.
    fn ask(
        &self,
        side: Side,
        (model, seed): (&str, u64),
        compared: &mut Compared,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<bool> {
        let figures = self.theirs(side, model, seed)?;
        if let Some(reason) = figures.get("missing").and_then(Value::as_str) {
            notes.push(format!("{}: nothing of {model}, missing is {reason}.", side.name()));
            return Ok(false);
        }
        add(compared.theirs.entry(side).or_default(), &figures);
        Ok(true)
    }

    /// The figures of `foretell bench` for a model.
    fn bench(&self, model: &str) -> anyhow::Result<Map<String, Value>> {
        let Options { sizes, precision, .. } = self.options;
        let mut command = Command::new(&self.foretell);
        command.args(["bench", "--model", model, "--json", "--log", "none", "--threads", &self.threads]);
        command.args(sizes.arguments());
        if precision != "f32" {
            command.args(["--precision", precision]);
        }
        object(&output(&mut command)?)
    }

    /// `foretell fit` as a whole command, from CSV to the written directory, and `foretell cross-validate`.
    fn fit(
        &self,
        model: &str,
        data: &Path,
        seed: u64,
    ) -> anyhow::Result<(Map<String, Value>, Option<String>)> {
        let text =
            std::fs::read_to_string(data).with_context(|| format!("cannot read {}", data.display()))?;
        let lines: Vec<&str> = text.lines().take(ROWS + 1).collect();
        ensure!(lines.len() == ROWS + 1, "{} has less than {ROWS} rows: is it ETTh1?", data.display());
        let [whole, before] = ["whole.csv", "before.csv"].map(|name| self.folder.join(name));
        write(&whole, lines.join("\n") + "\n")?;
        let Sizes { batch, input_size, h } = self.options.sizes;
        ensure!(ROWS > TEST_WINDOWS * h, "{TEST_WINDOWS} windows of {h} steps are more than the {ROWS} rows");
        write(&before, lines[..=ROWS - TEST_WINDOWS * h].join("\n") + "\n")?;
        let series = lines[0].split(',').count() - 1;
        let windows = if is_multivariate(&self.foretell, model)? { batch.min(32) } else { batch };
        let common = |command: &mut Command, data: &Path| {
            command.arg("--data").arg(data).args(["--wide", "--model", model]);
            command.args(["--h", &h.to_string(), "--input-size", &input_size.to_string()]);
            command.args(["--set", "learning_rate=0.001", "--set", "scaler_type=standard"]);
            command.arg(format!("--set=max_steps={}", self.options.steps));
            command.arg(format!("--set=windows_batch_size={windows}"));
            command.args(["--seed", &seed.to_string(), "--threads", &self.threads, "--log", "none"]);
        };
        let (timer, note) = match GNU_TIME.find() {
            Ok(time) => (Some(time), None),
            Err(missing) => (None, Some(format!("The memory of foretell's fits is left out: {missing}."))),
        };
        let (report, out) = (self.folder.join("time"), self.folder.join("model"));
        let mut command = match timer {
            Some(time) => {
                let mut command = Command::new(time);
                command.args(["-f", "%e %M", "-o"]).arg(&report).arg(&self.foretell);
                command
            }
            None => Command::new(&self.foretell),
        };
        command.arg("fit");
        common(&mut command, &before);
        command.arg("--out").arg(&out).arg("--overwrite");
        let start = std::time::Instant::now();
        output(&mut command)?;
        let mut figures = Map::new();
        figures.insert("fit_s".to_owned(), json!(start.elapsed().as_secs_f64()));
        if note.is_none() {
            let text = std::fs::read_to_string(&report).context("time wrote nothing")?;
            let kb = text.split_whitespace().last().and_then(|kb| kb.parse::<f64>().ok());
            figures.insert("fit_peak_mb".to_owned(), json!(kb.context("time wrote no memory")? / 1024.0));
        }
        let mut command = Command::new(&self.foretell);
        command.arg("cross-validate");
        common(&mut command, &whole);
        command.args(["--n-windows", &TEST_WINDOWS.to_string(), "--step-size", &h.to_string()]);
        command.args(["--season", "24", "--json"]);
        let report = object(&output(&mut command)?)?;
        let scores = report["metrics"].as_array().context("no metrics")?;
        let scores =
            scores.iter().find(|scores| scores["model"] == model).context("no metrics of the model")?;
        ensure!(report["n_series"] == json!(series), "{} series of {series} were read", report["n_series"]);
        figures.extend(["mae", "rmse", "smape", "mase"].map(|key| (key.to_owned(), scores[key].clone())));
        Ok((figures, note))
    }

    /// The figures of compare/measure.py for a model on a side.
    fn theirs(&self, side: Side, model: &str, seed: u64) -> anyhow::Result<Map<String, Value>> {
        let Options { sizes, steps, data, .. } = self.options;
        let mut command = Command::new(&self.python);
        command.arg(&self.script).args([side.argument(), model, "--threads", &self.threads]);
        command.env("OMP_NUM_THREADS", &self.threads);
        match side {
            Side::Neuralforecast => {
                command.args(sizes.arguments());
                command.args(["--steps", &steps.to_string(), "--seed", &seed.to_string()]);
                data.iter().for_each(|data| _ = command.arg("--data").arg(data));
            }
            Side::Torch | Side::TorchAutocast | Side::Onnx => {
                let precision = if side == Side::TorchAutocast { "bf16" } else { "f32" };
                command.args(sizes.arguments()).args(["--precision", precision]);
            }
        }
        let text = output(&mut command);
        let text = text.with_context(|| {
            format!(
                "{} cannot measure {}; --python names the interpreter",
                self.python.display(),
                side.name()
            )
        })?;
        object(text.lines().last().unwrap_or_default())
    }

    /// The heading, a table of medians and ratios, their geometric means, and what is missing.
    fn report(&self, compared_models: &[(&str, Compared)], notes: &[String]) -> String {
        let Options { sizes: Sizes { batch, input_size, h }, precision, rounds, .. } = self.options;
        let mut text = format!(
            "{}.\n{} threads, batch {batch}, h {h}, input_size {input_size}, {precision}; medians of {rounds} turns, fits \
             of {} seeds. The ratio is theirs by ours.\n\n",
            machine(),
            self.threads,
            self.options.seeds.len()
        );
        let rows =
            compared_models.iter().flat_map(|(model, compared)| rows(model, compared)).collect::<Vec<_>>();
        text += &table(&["model", "figure", "foretell", "beside", "theirs", "ratio"], &rows);
        let means: Vec<Vec<String>> = ratios(compared_models)
            .into_iter()
            .map(|((figure, side), ratios)| {
                let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                let cells = [digits(geometric_mean(&ratios)), digits(least), ratios.len().to_string()];
                [FIGURES[figure].name.to_owned(), side.name().to_owned()].into_iter().chain(cells).collect()
            })
            .collect();
        text += "\nOver the models:\n\n";
        text += &table(&["figure", "beside", "geometric mean", "least", "models"], &means);
        if !notes.is_empty() {
            text += "\n";
            notes.iter().for_each(|note| text += &format!("- {note}\n"));
        }
        text
    }

    fn as_json(&self, compared_models: &[(&str, Compared)], notes: &[String]) -> Value {
        let models = compared_models.iter().map(|(model, Compared { ours, theirs })| {
            let ratios: Map<String, Value> = theirs
                .iter()
                .map(|(side, theirs)| {
                    let ratio = |figure: &Figure| {
                        let [theirs, ours] = [theirs.get(figure.key)?, ours.get(figure.key)?];
                        Some((figure.key.to_owned(), json!(median(theirs) / median(ours))))
                    };
                    (side.name().to_owned(), FIGURES.iter().filter_map(ratio).collect())
                })
                .collect();
            let theirs: Map<String, Value> =
                theirs.iter().map(|(side, turns)| (side.name().to_owned(), json!(turns))).collect();
            json!({ "model": model, "foretell": ours, "beside": theirs, "ratios": ratios })
        });
        let Options { sizes: Sizes { batch, input_size, h }, precision, .. } = self.options;
        json!({
            "machine": machine(), "threads": self.threads, "batch": batch, "h": h, "input_size": input_size,
            "precision": precision, "models": models.collect::<Vec<_>>(), "notes": notes,
        })
    }
}

/// The medians of a model on both sides; a figure that only foretell has stands alone.
fn rows(model: &str, compared: &Compared) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for Figure { key, name } in FIGURES {
        let Some(ours) = compared.ours.get(key).map(|turns| median(turns)) else { continue };
        let theirs: Vec<_> = compared
            .theirs
            .iter()
            .filter_map(|(side, turns)| Some((*side, median(turns.get(key)?))))
            .collect();
        let row = |beside: [String; 3]| {
            [model.to_owned(), (*name).to_owned(), digits(ours)].into_iter().chain(beside).collect::<Vec<_>>()
        };
        match theirs.is_empty() {
            true => rows.push(row(["-", "-", "-"].map(str::to_owned))),
            false => rows.extend(theirs.into_iter().map(|(side, theirs)| {
                row([side.name().to_owned(), digits(theirs), format!("{:.2}", theirs / ours)])
            })),
        }
    }
    rows
}

/// The ratios of all models, by figure and side.
fn ratios(compared_models: &[(&str, Compared)]) -> BTreeMap<(usize, Side), Vec<f64>> {
    let mut ratios: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for (_, compared) in compared_models {
        for (side, turns) in &compared.theirs {
            for (i, Figure { key, .. }) in FIGURES.iter().enumerate() {
                if let (Some(ours), Some(theirs)) = (compared.ours.get(key), turns.get(key)) {
                    ratios.entry((i, *side)).or_default().push(median(theirs) / median(ours));
                }
            }
        }
    }
    ratios
}

/// Adds a turn's figures.
fn add(turns: &mut Turns, figures: &Map<String, Value>) {
    let keys = FIGURES
        .iter()
        .map(|figure| figure.key)
        .chain(["gflop_per_step", "share_of_gemm_rate", "rmse", "smape", "mase"]);
    for key in keys {
        if let Some(value) = figures.get(key).and_then(Value::as_f64) {
            turns.entry(key).or_default().push(value);
        }
    }
}

fn object(text: &str) -> anyhow::Result<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        _ => bail!("expected an object of JSON, found {text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(figures: &[(&'static str, &[f64])]) -> Turns {
        figures.iter().map(|(key, values)| (*key, values.to_vec())).collect()
    }

    fn compared() -> Compared {
        let torch = turns(&[("step_ms", &[20.0, 60.0, 40.0]), ("forward_one_us", &[50.0])]);
        let onnx = turns(&[("forward_one_us", &[30.0])]);
        Compared {
            ours: turns(&[("step_ms", &[10.0, 9.0, 11.0]), ("forward_one_us", &[10.0]), ("mae", &[1.5])]),
            theirs: [(Side::Torch, torch), (Side::Onnx, onnx)].into(),
        }
    }

    #[test]
    fn a_row_has_the_medians_of_both_sides_and_their_ratio() {
        let rows = rows("NHITS", &compared());
        assert_eq!(rows[0], ["NHITS", "step, ms", "10.0", "PyTorch", "40.0", "4.00"]);
        assert_eq!(rows[1], ["NHITS", "forecast of one window, us", "10.0", "PyTorch", "50.0", "5.00"]);
        assert_eq!(rows[2][3..], ["ONNX Runtime", "30.0", "3.00"]);
        assert_eq!(rows[3], ["NHITS", "MAE", "1.50", "-", "-", "-"]);
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn ratios_are_gathered_over_the_models() {
        let ratios = ratios(&[("A", compared()), ("B", compared())]);
        assert_eq!(ratios[&(0, Side::Torch)], [4.0, 4.0]);
        assert_eq!(ratios[&(3, Side::Onnx)], [3.0, 3.0]);
        assert_eq!(ratios.len(), 3);
    }

    #[test]
    fn what_a_side_says_is_added_turn_by_turn() {
        let mut turns = Turns::default();
        add(&mut turns, &object(r#"{"step_ms": 2.0, "model": "MLP"}"#).unwrap());
        add(&mut turns, &object(r#"{"step_ms": 3.0, "mase": null}"#).unwrap());
        assert_eq!(turns, self::turns(&[("step_ms", &[2.0, 3.0])]));
        assert!(object("Seed set to 1").is_err());
    }
}
