//! `cargo xtask profile`: where the time and the memory of a model's training go.
//!
//! Each model has a report of its own; all have a line in a summary.

mod baseline;
mod bench;
mod memory;
mod stacks;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::Args;

use self::bench::Bench;
use crate::figures::{digits, table};
use crate::pgo::{Build, SERIES};
use crate::sizes::Sizes;
use crate::system::{Tool, cores, machine, models, output, target, write};

/// Arguments of `cargo xtask profile`.
#[derive(Args)]
pub(crate) struct Options {
    /// The models whose trainings are profiled [default: all of the zoo].
    models: Vec<String>,
    /// A quarter of the windows where a window holds all series.
    #[command(flatten)]
    sizes: Sizes,
    /// The most threads of the scaling [default: as many as the machine has].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// How long the training is sampled, in seconds.
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    seconds: f64,
    /// The Cargo profile to build by; it keeps the names of functions.
    #[arg(long, value_name = "NAME", default_value = "profiling")]
    profile: String,
    /// Leave out what valgrind counts: instructions, caches, allocations. It takes most of the time.
    #[arg(long)]
    without_valgrind: bool,
    /// Compare the ratios with those of benches/baseline.json; fails where one is worse beyond its bound.
    #[arg(long)]
    check: bool,
    /// Write the ratios to benches/baseline.json.
    #[arg(long, conflicts_with = "check")]
    save: bool,
}

const PERF: Tool = Tool { names: &["perf"], package: "linux-perf" };
const VALGRIND: Tool = Tool { names: &["valgrind"], package: "valgrind" };

/// Functions that a table has.
const TOP: usize = 20;

/// Samples in a second: no divisor of what else happens regularly.
const FREQUENCY: &str = "997";

/// Windows of a step under valgrind, where a step takes a hundred times as long and more: four of 32 windows of an LSTM take minutes.
const SLOW_BATCH: usize = 8;

/// The divisor of the batch for models whose window holds all series.
const SHARE_OF_ALL_SERIES: usize = 4;

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let build = Build {
        package: "foretell-cli",
        binary: "foretell",
        profile: &options.profile,
        features: None,
        folder: "profile",
        // Stacks are read from frame to frame.
        flags: "-Cforce-frame-pointers=yes".to_owned(),
    };
    let program = build.run()?;
    let folder = target()?.join("profile");
    let data = folder.join("panel.csv");
    write(&data, crate::pgo::panel())?;
    let zoo = models(&program)?;
    let named = |name: &String| options.models.is_empty() || options.models.contains(name);
    if let Some(unknown) = options.models.iter().find(|name| !zoo.iter().any(|(known, _)| known == *name)) {
        bail!("there is no model {unknown}; `foretell models` lists them");
    }
    let (mut summary, mut failures) = (Vec::new(), Vec::new());
    for (model, kind) in zoo.iter().filter(|(name, _)| named(name)) {
        eprintln!("{model}");
        let share = if kind.starts_with("multivariate") { SHARE_OF_ALL_SERIES } else { 1 };
        let subject = Subject {
            options,
            program: &program,
            data: &data,
            folder: folder.join(model),
            model,
            batch: options.sizes.batch.div_ceil(share),
            slow_batch: options.sizes.batch.min(SLOW_BATCH).div_ceil(share),
        };
        // What one model cannot be profiled for is no reason to know nothing of the others.
        match subject.profile() {
            Ok(profiled) => {
                if options.save {
                    baseline::save(model, &profiled.ratios)?;
                }
                if options.check {
                    failures.extend(baseline::check(model, &profiled.ratios).err());
                }
                summary.push(profiled.line(model));
            }
            Err(error) => failures.push(error.context(format!("{model} was not profiled"))),
        }
    }
    let text =
        format!("# Training steps\n\n{}.\n\n{}", machine(), table(&SUMMARY.map(|(head, _)| head), &summary));
    write(&folder.join("summary.md"), &text)?;
    println!("\n{text}\nwritten to {}", folder.join("summary.md").display());
    let failures: Vec<String> = failures.iter().map(|error| format!("{error:#}")).collect();
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// The measurements of a model.
struct Profiled {
    step_ms: [f64; 2],
    /// The shares of a step's time, as [`stacks::PARTS`]; `None` where nobody samples.
    parts: Option<[f64; 5]>,
    ratios: Vec<(&'static str, f64)>,
}

/// A column of the summary: its head, and its cell for a model.
type Column = (&'static str, fn(&Profiled) -> String);

const SUMMARY: [Column; 9] = [
    ("model", |_| String::new()),
    ("step on one thread, ms", |profiled| digits(profiled.step_ms[0])),
    ("on all, ms", |profiled| digits(profiled.step_ms[1])),
    ("of gemm's rate", |profiled| profiled.percent("share_of_gemm_rate")),
    ("data", |profiled| profiled.part(stacks::Part::Data)),
    ("forward", |profiled| profiled.part(stacks::Part::Forward)),
    ("backward", |profiled| profiled.part(stacks::Part::Backward)),
    ("optimiser", |profiled| profiled.part(stacks::Part::Optimiser)),
    ("other", |profiled| profiled.part(stacks::Part::Other)),
];

impl Profiled {
    fn percent(&self, name: &str) -> String {
        let ratio = self.ratios.iter().find(|(key, _)| *key == name);
        ratio.map_or("-".to_owned(), |(_, value)| format!("{:.0} %", 100.0 * value))
    }

    fn part(&self, part: stacks::Part) -> String {
        let place = stacks::PARTS.iter().position(|(other, _)| *other == part).expect("a part of a loop");
        self.parts.map_or("-".to_owned(), |shares| format!("{:.0} %", 100.0 * shares[place]))
    }

    fn line(&self, model: &str) -> Vec<String> {
        let cells = SUMMARY[1..].iter().map(|(_, cell)| cell(self));
        [model.to_owned()].into_iter().chain(cells).collect()
    }
}

/// A model to profile, with its settings and files.
struct Subject<'a> {
    options: &'a Options,
    program: &'a Path,
    data: &'a Path,
    folder: PathBuf,
    model: &'a str,
    batch: usize,
    /// Windows of a step under valgrind.
    slow_batch: usize,
}

impl Subject<'_> {
    /// Writes the model's report.
    fn profile(&self) -> anyhow::Result<Profiled> {
        let Sizes { input_size, h, .. } = self.options.sizes;
        std::fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        let benches = self.scaling()?;
        let alone = &benches[0];
        let mut report = format!(
            "# {}: a training step\n\n{}, {}; {} windows of {input_size} steps, {h} ahead.\n",
            self.model,
            machine(),
            alone.text("acceleration"),
            self.batch,
        );
        report += &throughput(&benches, self.batch);
        let (text, stacks) = match PERF.find() {
            Ok(perf) => {
                let stacks = self.sampled(&perf, alone.number("step_ms"))?;
                (stacks::report(&stacks, alone.number("step_ms"), TOP), Some(stacks))
            }
            Err(missing) => (format!("\n## Where the time goes\n\nNot known: {missing}.\n"), None),
        };
        report += &text;
        let valgrind = match self.options.without_valgrind {
            true => Err("valgrind was left out".to_owned()),
            false => VALGRIND.find().map_err(|missing| missing.to_string()),
        };
        let (text, counts) = match valgrind {
            Ok(valgrind) => {
                let (counts, sites) = (self.counted(&valgrind)?, self.allocations(&valgrind)?);
                let text = memory::report(&counts, &sites, alone, (self.slow_batch, self.batch));
                (text, Some((counts, sites)))
            }
            Err(reason) => {
                (format!("\n## Instructions, caches and allocations\n\nNot known: {reason}.\n"), None)
            }
        };
        report += &text;
        let ratios = baseline::ratios(&benches, stacks.as_ref(), counts.as_ref(), self.slow_batch);
        report += &baseline::report(&ratios);
        let path = self.folder.join("report.md");
        write(&path, &report)?;
        println!("{report}\nwritten to {}", path.display());
        let step_ms = [alone, &benches[benches.len() - 1]].map(|bench| bench.number("step_ms"));
        Ok(Profiled { step_ms, parts: stacks.map(|stacks| stacks.parts()), ratios })
    }

    /// The bench with 1, 2, ... threads.
    fn scaling(&self) -> anyhow::Result<Vec<Bench>> {
        let most = self.options.threads.unwrap_or_else(cores).max(1);
        let one = |threads: usize| {
            let mut command = Command::new(self.program);
            command.args(["bench", "--json", "--log", "none", "--model", self.model]);
            command.args(self.sizes(self.batch).arguments()).args(["--threads", &threads.to_string()]);
            // As many as the trainings have: models whose windows hold all series do more work for more of them.
            command.args(["--n-series", &SERIES.to_string()]);
            let line = output(&mut command)?;
            Ok(Bench(serde_json::from_str(&line).context("the bench printed no JSON")?))
        };
        (1..=most).map(one).collect()
    }

    /// The sizes with so many windows.
    fn sizes(&self, batch: usize) -> Sizes {
        let Sizes { input_size, h, .. } = self.options.sizes;
        Sizes { batch, input_size, h }
    }

    /// A training by `foretell fit`, on one thread, so that every function is called by the part of the step that it works for.
    fn training(&self, command: &mut Command, batch: usize, steps: usize) {
        let Sizes { input_size, h, .. } = self.options.sizes;
        command.arg(self.program).args(["fit", "--model", self.model, "--threads", "1"]);
        command.args(["--log", "none", "--overwrite"]);
        command.arg("--data").arg(self.data).arg("--out").arg(self.folder.join("model"));
        command.args(["--h", &h.to_string(), "--input-size", &input_size.to_string()]);
        command.arg(format!("--set=max_steps={steps}")).arg(format!("--set=windows_batch_size={batch}"));
        command.args(["--set", "scaler_type=standard"]);
    }

    /// Stacks of a training of some seconds; draws the flame graph.
    fn sampled(&self, perf: &Path, step_ms: f64) -> anyhow::Result<stacks::Stacks> {
        let steps = (1e3 * self.options.seconds / step_ms).clamp(20.0, 20_000.0) as usize;
        let samples = self.folder.join("perf.data");
        let mut command = Command::new(perf);
        // Virtual machines have no counters of cycles; the clock serves everywhere.
        command.args(["record", "--quiet", "-e", "cpu-clock", "-F", FREQUENCY, "--call-graph", "fp", "-o"]);
        command.arg(&samples).arg("--");
        self.training(&mut command, self.batch, steps);
        output(&mut command)?;
        let mut command = Command::new(perf);
        command.args(["script", "--no-inline", "-F", "ip,sym", "-i"]).arg(&samples);
        let stacks = stacks::Stacks::parse(&output(&mut command)?);
        ensure!(stacks.samples() > 0, "perf sampled nothing");
        let folded = stacks.folded();
        write(&self.folder.join("stacks.folded"), folded.join("\n"))?;
        let path = self.folder.join("flame.svg");
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        let mut style = inferno::flamegraph::Options::default();
        style.title = format!("{}: a training on one thread", self.model);
        inferno::flamegraph::from_lines(&mut style, folded.iter().map(String::as_str), BufWriter::new(file))
            .context("the flame graph cannot be drawn")?;
        Ok(stacks)
    }

    /// The counts of cachegrind for a step: the difference of trainings of four steps and of two.
    fn counted(&self, valgrind: &Path) -> anyhow::Result<memory::Counts> {
        let run = |steps: usize| {
            let file = self.folder.join(format!("cachegrind.{steps}"));
            let mut command = Command::new(valgrind);
            command.args(["--quiet", "--tool=cachegrind", "--cache-sim=yes"]);
            command.arg(format!("--cachegrind-out-file={}", file.display()));
            self.training(&mut command, self.slow_batch, steps);
            output(&mut command)?;
            memory::Counts::parse(&read(&file)?)
        };
        let (four, two) = (run(4)?, run(2)?);
        Ok(four.less(&two).by(2.0))
    }

    /// Allocations of a training of three steps, by site.
    fn allocations(&self, valgrind: &Path) -> anyhow::Result<memory::Sites> {
        let file = self.folder.join("dhat.json");
        let mut command = Command::new(valgrind);
        command.args(["--quiet", "--tool=dhat", &format!("--dhat-out-file={}", file.display())]);
        self.training(&mut command, self.slow_batch, 3);
        output(&mut command)?;
        memory::Sites::parse(&read(&file)?)
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Steps, operations, memory, and what more threads bring.
fn throughput(benches: &[Bench], batch: usize) -> String {
    let first = benches[0].number("step_ms");
    let rows: Vec<Vec<String>> = benches
        .iter()
        .enumerate()
        .map(|(i, bench)| {
            let (threads, step) = (i + 1, bench.number("step_ms"));
            let speed_up = first / step;
            vec![
                threads.to_string(),
                digits(step),
                format!("{:.0}", 1e3 * batch as f64 / step),
                digits(bench.number("gflop_per_step") / step * 1e3),
                format!("{:.0} %", 100.0 * bench.number("share_of_gemm_rate")),
                format!("{speed_up:.2}"),
                serial_fraction(speed_up, threads)
                    .map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share)),
            ]
        })
        .collect();
    let head = [
        "threads",
        "step, ms",
        "windows a second",
        "GFLOP/s",
        "of gemm's rate",
        "speed-up",
        "serial fraction",
    ];
    let bench = &benches[benches.len() - 1];
    format!(
        "\n## Throughput and threads\n\n{}\nA step has {} GFLOP in products, keeps {} MB for its backward pass, and asks the system \
         for {} buffers. The serial fraction is what cannot be shared, if the rest is shared evenly (Karp and Flatt 1990).\n",
        table(&head, &rows),
        digits(bench.number("gflop_per_step")),
        digits(bench.number("held_bytes") / 1e6),
        digits(bench.number("pool_misses_per_step")),
    )
}

/// `(1/s - 1/p) / (1 - 1/p)` of a speed-up s on p threads.
fn serial_fraction(speed_up: f64, threads: usize) -> Option<f64> {
    let share = 1.0 / threads as f64;
    (threads > 1).then(|| (1.0 / speed_up - share) / (1.0 - share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_fraction_is_that_of_amdahl() {
        // A tenth that is not shared, on 4 threads: 1 / (0.1 + 0.9 / 4).
        let share = serial_fraction(1.0 / (0.1 + 0.9 / 4.0), 4).unwrap();
        assert!((share - 0.1).abs() < 1e-12);
        assert_eq!(serial_fraction(1.0, 1), None);
    }

    #[test]
    fn a_line_of_the_summary_has_a_cell_for_each_column_and_says_what_is_not_known() {
        let parts = Some([0.01, 0.3, 0.5, 0.1, 0.09]);
        let profiled = Profiled { step_ms: [10.0, 6.0], parts, ratios: vec![("share_of_gemm_rate", 0.42)] };
        let line = profiled.line("MLP");
        assert_eq!(line, ["MLP", "10.0", "6.00", "42 %", "1 %", "30 %", "50 %", "10 %", "9 %"]);
        let profiled = Profiled { parts: None, ratios: Vec::new(), ..profiled };
        assert_eq!(profiled.line("MLP")[3..], ["-"; 6]);
    }

    #[test]
    fn throughput_is_told_for_each_number_of_threads() {
        let bench = |step: f64| {
            Bench(serde_json::json!({
                "step_ms": step, "gflop_per_step": 0.5, "share_of_gemm_rate": 0.25, "held_bytes": 2e6,
                "pool_misses_per_step": 0.0,
            }))
        };
        let text = throughput(&[bench(10.0), bench(6.0)], 128);
        assert!(text.contains("| 1 | 10.0 | 12800 | 50.0 | 25 % | 1.00 | - |"), "{text}");
        assert!(text.contains("| 2 | 6.00 | 21333 | 83.3 | 25 % | 1.67 | 20.0 % |"), "{text}");
        assert!(text.contains("keeps 2.00 MB") && text.contains("for 0 buffers"), "{text}");
    }
}
