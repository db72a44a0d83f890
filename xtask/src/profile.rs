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

use self::baseline::Kind;
use self::bench::Bench;
use crate::figures::{digits, table};
use crate::outcome::Outcome;
use crate::pgo::{Build, SERIES};
use crate::programs;
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
    /// Only what is counted and needs no idle machine, of the program that the tests run: its ratios, no reports.
    #[arg(long, conflicts_with = "without_valgrind")]
    counted: bool,
    /// Write the reports of the models to docs/profile.md as well.
    #[arg(long, conflicts_with = "counted")]
    docs: bool,
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

/// The sizes of [`Options::counted`]: small, so that NHITS takes about a minute.
const COUNTED: Sizes = Sizes { batch: SLOW_BATCH, input_size: 24, h: 12 };

/// The divisor of the batch for models whose window holds all series.
const SHARE_OF_ALL_SERIES: usize = 4;

pub(crate) fn run(options: &Options) -> anyhow::Result<Outcome> {
    if options.counted
        && let Err(missing) = VALGRIND.find()
    {
        return Ok(Outcome::PassedOver(format!("nothing is counted: {missing}")));
    }
    let program = program(options)?;
    let folder = target()?.join("profile");
    let data = folder.join("panel.csv");
    write(&data, crate::pgo::panel())?;
    let zoo = models(&program)?;
    let named = |name: &String| options.models.is_empty() || options.models.contains(name);
    if let Some(unknown) = options.models.iter().find(|name| !zoo.iter().any(|(known, _)| known == *name)) {
        bail!("there is no model {unknown}; `foretell models` lists them");
    }
    let (kind_of_ratios, sizes) = match options.counted {
        true => (Kind::Counted, COUNTED),
        false => (Kind::All, options.sizes),
    };
    let (mut summary, mut reports, mut failures) = (Vec::new(), String::new(), Vec::new());
    for (model, kind) in zoo.iter().filter(|(name, _)| named(name)) {
        eprintln!("{model}");
        let share = if kind.starts_with("multivariate") { SHARE_OF_ALL_SERIES } else { 1 };
        let subject = Subject {
            options,
            program: &program,
            data: &data,
            folder: folder.join(model),
            model,
            sizes,
            batch: sizes.batch.div_ceil(share),
            slow_batch: sizes.batch.min(SLOW_BATCH).div_ceil(share),
        };
        // What one model cannot be profiled for is no reason to know nothing of the others.
        let profiled = if options.counted { subject.count() } else { subject.profile() };
        match profiled {
            Ok(profiled) => {
                if options.save {
                    baseline::save(model, kind_of_ratios, &profiled.ratios)?;
                }
                if options.check {
                    failures.extend(baseline::check(model, kind_of_ratios, &profiled.ratios).err());
                }
                summary.push(profiled.line(model));
                reports += &profiled.report;
            }
            Err(error) => failures.push(error.context(format!("{model} was not profiled"))),
        }
    }
    if !options.counted {
        let summary = table(&SUMMARY.map(|(head, _)| head), &summary);
        let text = format!("# Training steps\n\n{}.\n\n{summary}", machine());
        let path = folder.join("summary.md");
        write(&path, &text)?;
        println!("\n{text}\nwritten to {}", path.display());
        if options.docs {
            write(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/profile.md"), docs(&text, &reports))?;
        }
    }
    let failures: Vec<String> = failures.iter().map(|error| format!("{error:#}")).collect();
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(Outcome::Done)
}

/// The program whose trainings are profiled.
fn program(options: &Options) -> anyhow::Result<PathBuf> {
    if options.counted {
        return built_by_tests();
    }
    let build = Build {
        package: "foretell-cli",
        binary: "foretell",
        profile: &options.profile,
        features: None,
        folder: "profile",
        // Stacks are read from frame to frame.
        flags: "-Cforce-frame-pointers=yes".to_owned(),
    };
    build.run()
}

/// The program that the workspace's tests run.
fn built_by_tests() -> anyhow::Result<PathBuf> {
    let mut built = programs::build()?.programs;
    built.remove("foretell").context("the tests of the workspace build no program `foretell`")
}

/// The page of the docs: the summary, then each model's report, a level lower.
fn docs(summary: &str, reports: &str) -> String {
    let lower = |line: &str| if line.starts_with('#') { format!("#{line}\n") } else { format!("{line}\n") };
    let reports: String = reports.lines().map(lower).collect();
    format!("<!-- `cargo xtask profile --docs` writes this file. -->\n{summary}\n{reports}")
}

/// The measurements of a model.
struct Profiled {
    report: String,
    step_ms: [f64; 2],
    /// The shares of a step's time, as [`stacks::PARTS`]; `None` where no one samples.
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
    sizes: Sizes,
    batch: usize,
    /// Windows of a step under valgrind.
    slow_batch: usize,
}

impl Subject<'_> {
    /// Writes the model's report.
    fn profile(&self) -> anyhow::Result<Profiled> {
        let Sizes { input_size, h, .. } = self.sizes;
        std::fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        let benches = self.scaling(self.options.threads.unwrap_or_else(cores))?;
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
                let counted = self.counted(&valgrind)?;
                (memory::report(&counted, alone, (self.slow_batch, self.batch)), Some(counted))
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
        Ok(Profiled { report, step_ms, parts: stacks.map(|stacks| stacks.parts()), ratios })
    }

    /// Only what is counted.
    fn count(&self) -> anyhow::Result<Profiled> {
        std::fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        let benches = self.scaling(1)?;
        let counted = self.counted(&VALGRIND.find()?)?;
        let ratios = baseline::ratios(&benches, None, Some(&counted), self.slow_batch);
        let ratios = baseline::counted(ratios);
        let report = baseline::report(&ratios);
        println!("{report}");
        Ok(Profiled { report, step_ms: [benches[0].number("step_ms"); 2], parts: None, ratios })
    }

    /// The bench with 1, 2, ... threads.
    fn scaling(&self, most: usize) -> anyhow::Result<Vec<Bench>> {
        let one = |threads: usize| {
            let mut command = Command::new(self.program);
            command.args(["bench", "--json", "--log", "none", "--model", self.model]);
            command.args(self.sizes(self.batch).arguments()).args(["--threads", &threads.to_string()]);
            // As many as the trainings have: models whose windows hold all series do more work for more of them.
            command.args(["--n-series", &SERIES.to_string()]);
            let line = output(&mut command)?;
            Ok(Bench(serde_json::from_str(&line).context("the bench printed no JSON")?))
        };
        (1..=most.max(1)).map(one).collect()
    }

    /// The sizes with this many windows.
    fn sizes(&self, batch: usize) -> Sizes {
        Sizes { batch, ..self.sizes }
    }

    /// A training by `foretell fit`, on one thread, so that every function is called by the part of the step that it works for.
    fn training(&self, command: &mut Command, batch: usize, steps: usize) {
        let Sizes { input_size, h, .. } = self.sizes;
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

    /// What valgrind counts of a step: the differences of trainings of four steps and of two.
    fn counted(&self, valgrind: &Path) -> anyhow::Result<memory::Counted> {
        let run = |tool: &str, output_flag: &str, steps: usize| {
            let file = self.folder.join(format!("{tool}.{steps}"));
            let mut command = Command::new(valgrind);
            command.args(["--quiet", &format!("--tool={tool}")]);
            command.arg(format!("{output_flag}={}", file.display()));
            if tool == "cachegrind" && !self.options.counted {
                command.arg("--cache-sim=yes");
            }
            self.training(&mut command, self.slow_batch, steps);
            output(&mut command)?;
            read(&file)
        };
        let counts = |steps| memory::Counts::parse(&run("cachegrind", "--cachegrind-out-file", steps)?);
        let sites = |steps| memory::Sites::parse(&run("dhat", "--dhat-out-file", steps)?);
        let step = counts(4)?.less(&counts(2)?).by(2.0);
        let (sites, fewer) = (sites(4)?, sites(2)?);
        Ok(memory::Counted { step, allocations: (sites.blocks() - fewer.blocks()) / 2.0, sites })
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
        "threads", "step, ms", "windows a second", "GFLOP/s", "of gemm's rate", "speed-up", "serial fraction",
    ];
    let bench = &benches[benches.len() - 1];
    format!(
        "\n## Throughput and threads\n\n{}\nA step has {} GFLOP in products, keeps {} MB for its backward pass, and asks the system \
         for {} buffers. The serial fraction is what cannot be shared, if the rest is shared evenly (Karp and Flatt 1990); a dash where threads do better than that.\n",
        table(&head, &rows),
        digits(bench.number("gflop_per_step")),
        digits(bench.number("held_bytes") / 1e6),
        digits(bench.number("pool_misses_per_step")),
    )
}

/// `(1/s - 1/p) / (1 - 1/p)` of a speed-up s on p threads; none where p threads do more than p times the work, as they may with
/// twice the cache, or beside other programs: the measure assumes that they cannot.
fn serial_fraction(speed_up: f64, threads: usize) -> Option<f64> {
    let share = 1.0 / threads as f64;
    let fraction = (1.0 / speed_up - share) / (1.0 - share);
    (threads > 1 && fraction >= 0.0).then_some(fraction)
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
        assert_eq!(serial_fraction(2.25, 2), None);
    }

    #[test]
    fn a_line_of_the_summary_has_a_cell_for_each_column_and_says_what_is_not_known() {
        let parts = Some([0.01, 0.3, 0.5, 0.1, 0.09]);
        let report = String::new();
        let profiled =
            Profiled { report, step_ms: [10.0, 6.0], parts, ratios: vec![("share_of_gemm_rate", 0.42)] };
        let line = profiled.line("MLP");
        assert_eq!(line, ["MLP", "10.0", "6.00", "42 %", "1 %", "30 %", "50 %", "10 %", "9 %"]);
        let profiled = Profiled { parts: None, ratios: Vec::new(), ..profiled };
        assert_eq!(profiled.line("MLP")[3..], ["-"; 6]);
    }

    #[test]
    fn the_page_of_the_docs_has_one_title() {
        let text = docs("# Training steps\n\ntable\n", "# MLP: a training step\n\n## Ratios\n");
        let titles: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(titles, ["# Training steps", "## MLP: a training step", "### Ratios"]);
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
