//! `cargo xtask pgo`: a build that knows which way the branches go, and its gain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::Args;

use crate::figures::{digits, geometric_mean, median, table};
use crate::system::{Tool, cargo, empty, in_path, machine, output, run as run_command, target, write};

/// Arguments of `cargo xtask pgo`.
#[derive(Args)]
pub(crate) struct Options {
    /// Where to put the optimised binary [default: target/pgo/foretell].
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// The profile that both builds have.
    #[arg(long, value_name = "NAME", default_value = "dist")]
    profile: String,
    /// The turns of the comparison.
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Leave out BOLT even if it is installed.
    #[arg(long)]
    without_bolt: bool,
}

/// The models that are trained, forecast and cross-validated for the profile, and measured before and after: products of every
/// shape, recurrent sequences, convolutions, attention.
const MODELS: &[&str] = &["MLP", "NHITS", "LSTM", "TCN", "PatchTST"];

/// The figures of `foretell bench` that are laid side by side.
const FIGURES: &[(&str, &str)] = &[
    ("step_ms", "step, ms"),
    ("forward_batch_ms", "batch forecast, ms"),
    ("forward_one_us", "one forecast, us"),
];

const BOLT: Tool = Tool { names: &["llvm-bolt", "llvm-bolt-22", "llvm-bolt-21"], package: "bolt-22" };
const MERGE_FDATA: Tool =
    Tool { names: &["merge-fdata", "merge-fdata-22", "merge-fdata-21"], package: "bolt-22" };

/// A package to build, and with what.
pub(crate) struct Build<'a> {
    pub(crate) package: &'a str,
    pub(crate) binary: &'a str,
    pub(crate) profile: &'a str,
    /// The features that are on, all others being off; the default ones where there is nothing.
    pub(crate) features: Option<&'a str>,
    /// Below the workspace's target directory. Each set of flags has its own, so that none throws away what another built.
    pub(crate) folder: &'a str,
    pub(crate) flags: String,
}

impl Build<'_> {
    /// Builds it; where the binary is.
    pub(crate) fn run(&self) -> anyhow::Result<PathBuf> {
        let (folder, host) = (target()?.join(self.folder), host()?);
        let mut command = cargo();
        command.args([
            "build", "--quiet", "--package", self.package, "--bin", self.binary, "--profile", self.profile,
        ]);
        // With a target, flags are for the program alone, not for build scripts and macros.
        command.args(["--target", &host]).arg("--target-dir").arg(&folder);
        if let Some(features) = self.features {
            command.args(["--no-default-features", "--features", features]);
        }
        command.env("RUSTFLAGS", &self.flags);
        run_command(&mut command)?;
        // Cargo's own name of the folder.
        let profile = if self.profile == "dev" { "debug" } else { self.profile };
        Ok(folder.join(host).join(profile).join(self.binary))
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let profdata = profdata()?;
    let folder = target()?.join("pgo");
    let mut bolt = match (options.without_bolt, BOLT.find(), MERGE_FDATA.find()) {
        (true, ..) => Err("it was left out".to_owned()),
        (_, Ok(bolt), Ok(_)) => Ok(bolt),
        (_, Err(missing), _) | (_, _, Err(missing)) => Err(missing.to_string()),
    };
    let build = |folder, flags| Build {
        package: "foretell-cli",
        binary: "foretell",
        profile: &options.profile,
        features: None,
        folder,
        flags,
    };
    println!("=== before");
    let before = build("pgo/before", String::new()).run()?;
    println!("=== instrumented");
    let raw = folder.join("raw");
    let instrumented = build("pgo/instrumented", generate(&raw)).run()?;
    println!("=== workload: fit, predict and cross-validate {}", MODELS.join(", "));
    let data = folder.join("workload.csv");
    write(&data, panel())?;
    // Profiles of another build cannot be merged with new ones.
    empty(&raw)?;
    work(&instrumented, &folder, &data, &raw)?;
    let merged = merge(&profdata, &raw, &folder.join("merged.profdata"))?;
    println!("=== after");
    let mut flags = used(&merged);
    if bolt.is_ok() {
        // BOLT moves code, and must know where its addresses are; symbols are stripped after it.
        flags += " -Clink-arg=-Wl,--emit-relocs -Cstrip=none";
    }
    let mut after = build("pgo/after", flags).run()?;
    if let Ok(program) = &bolt {
        println!("=== BOLT");
        let moved = bolted(program, &after, &folder, &data)?;
        // Some programs of BOLT fault.
        match work(&moved, &folder, &data, &raw) {
            Ok(()) => after = moved,
            Err(error) => {
                bolt = Err(format!("its program does not run ({})", error.to_string().trim()));
                after = stripped(&after, &folder)?;
            }
        }
    }
    let out = options.out.clone().unwrap_or_else(|| folder.join("foretell"));
    write(&out, "")?;
    fs::copy(&after, &out).with_context(|| format!("cannot write {}", out.display()))?;
    println!("=== before and after, in turns");
    let report = report(&before, &out, options, bolt.as_ref().err().map(String::as_str))?;
    print!("{report}");
    write(&folder.join("report.md"), &report)?;
    println!("\nThe optimised binary is {}.", out.display());
    Ok(())
}

/// Flags of a build that writes a profile to a folder.
pub(crate) fn generate(raw: &Path) -> String {
    format!("-Cprofile-generate={}", raw.display())
}

/// Flags of a build by a profile.
pub(crate) fn used(merged: &Path) -> String {
    format!("-Cprofile-use={}", merged.display())
}

/// Merges the raw profiles of a folder.
pub(crate) fn merge(profdata: &Path, raw: &Path, merged: &Path) -> anyhow::Result<PathBuf> {
    let count = fs::read_dir(raw).map_or(0, Iterator::count);
    ensure!(count > 0, "the workload wrote no profile to {}", raw.display());
    run_command(Command::new(profdata).args(["merge", "-o"]).arg(merged).arg(raw))?;
    Ok(merged.to_owned())
}

/// The `llvm-profdata` that reads what this compiler's profiles are: rustup's component, or one of the same version.
pub(crate) fn profdata() -> anyhow::Result<PathBuf> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let component = Path::new(sysroot.trim()).join("lib/rustlib").join(host()?).join("bin/llvm-profdata");
    if component.is_file() {
        return Ok(component);
    }
    let version =
        version_of_llvm(&output(Command::new("rustc").arg("-vV"))?).context("rustc names no LLVM")?;
    if let Some(found) = in_path(&format!("llvm-profdata-{version}")) {
        return Ok(found);
    }
    if let Some(found) = in_path("llvm-profdata") {
        let says = output(Command::new(&found).arg("--version"))?;
        if says.contains(&format!("version {version}.")) {
            return Ok(found);
        }
    }
    bail!(
        "there is no llvm-profdata of LLVM {version}, which rustc is built with: run `rustup component add llvm-tools`, or \
         install the package llvm-{version}"
    )
}

/// `LLVM version: 22.1.2` of `rustc -vV`, the first number.
fn version_of_llvm(text: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix("LLVM version: "))?.split('.').next()?.parse().ok()
}

/// The machine's target triple.
fn host() -> anyhow::Result<String> {
    let text = output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// The series of [`panel`].
pub(crate) const SERIES: usize = 20;

/// Twenty series of 400 hours, in the form of text that users have: ids, times, values, a column known in advance.
pub(crate) fn panel() -> String {
    let mut text = String::from("unique_id,ds,y\n");
    for series in 0..SERIES {
        for hour in 0..400 {
            let (t, phase) = (f64::from(hour), series as f64);
            let y = 10.0 + (t * 0.2618 + phase).sin() + 0.3 * (t * 12.9898 + phase * 78.233).sin();
            text += &format!("s{series:02},2024-01-{:02} {:02}:00:00,{y:.4}\n", 1 + hour / 24, hour % 24);
        }
    }
    text
}

/// The work of a user: fit, predict, score.
fn work(program: &Path, folder: &Path, data: &Path, raw: &Path) -> anyhow::Result<()> {
    let (models, model) = (MODELS.join(","), folder.join("model"));
    let common = ["--model", &models, "--h", "24", "--input-size", "96", "--set", "max_steps=15"];
    let sizes = ["--set", "windows_batch_size=128", "--set", "scaler_type=standard", "--log", "none"];
    let command = |name: &str| {
        let mut command = Command::new(program);
        command.arg(name).arg("--data").arg(data);
        command.env("LLVM_PROFILE_FILE", raw.join("%m-%p.profraw"));
        command
    };
    output(command("fit").args(common).args(sizes).arg("--out").arg(&model).arg("--overwrite"))?;
    let forecast = folder.join("forecast.csv");
    output(command("predict").arg("--model").arg(&model).arg("--out").arg(forecast).args(["--log", "none"]))?;
    output(command("cross-validate").args(common).args(sizes).args(["--n-windows", "2"]))?;
    Ok(())
}

/// Reorders the blocks and functions of a linked program by where it was seen to go.
fn bolted(bolt: &Path, program: &Path, folder: &Path, data: &Path) -> anyhow::Result<PathBuf> {
    let [instrumented, profile, out] =
        ["bolt-instrumented", "bolt.fdata", "bolted"].map(|name| folder.join(name));
    let file = format!("--instrumentation-file={}", profile.display());
    let count = ["--instrument", &file, "--instrumentation-file-append-pid"];
    run_command(Command::new(bolt).arg(program).args(count).arg("-o").arg(&instrumented))?;
    work(&instrumented, folder, data, &folder.join("raw"))?;
    let parts: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("bolt.fdata.")))
        .collect();
    let merged = output(Command::new(MERGE_FDATA.find().expect("found before")).args(&parts))?;
    parts.iter().try_for_each(fs::remove_file)?;
    write(&profile, merged)?;
    let ways = [
        "-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions", "-split-all-cold",
        "-icf=1",
    ];
    run_command(
        Command::new(bolt)
            .arg(program)
            .arg(format!("-data={}", profile.display()))
            .args(ways)
            .arg("-o")
            .arg(&out),
    )?;
    stripped(&out, folder)
}

/// A copy without symbols.
fn stripped(program: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let out = folder.join("stripped");
    run_command(Command::new("strip").arg("-o").arg(&out).arg(program))?;
    Ok(out)
}

/// Steps and forecasts, size, and the time to start.
fn report(before: &Path, after: &Path, options: &Options, no_bolt: Option<&str>) -> anyhow::Result<String> {
    let mut text = format!(
        "{}.\nProfile `{}`; medians of {} turns; the ratio is before by after.{}\n\n",
        machine(),
        options.profile,
        options.rounds,
        no_bolt.map_or_else(|| " With BOLT.".to_owned(), |reason| format!(" Without BOLT: {reason}."))
    );
    let programs = [before, after];
    let (mut rows, mut steps) = (Vec::new(), Vec::new());
    for model in MODELS {
        let mut lines: [Vec<serde_json::Value>; 2] = Default::default();
        for _ in 0..options.rounds {
            for (program, lines) in programs.iter().zip(&mut lines) {
                let arguments =
                    ["bench", "--model", model, "--h", "24", "--input-size", "96", "--json", "--log", "none"];
                let line = output(Command::new(program).args(arguments))?;
                lines.push(serde_json::from_str(&line).context("the bench printed no JSON")?);
            }
        }
        for (key, name) in FIGURES {
            let [a, b] = lines
                .each_ref()
                .map(|turns| median(&turns.iter().filter_map(|turn| turn[key].as_f64()).collect::<Vec<_>>()));
            if *key == "step_ms" {
                steps.push(a / b);
            }
            rows.push(vec![
                (*model).to_owned(),
                (*name).to_owned(),
                digits(a),
                digits(b),
                format!("{:.3}", a / b),
            ]);
        }
    }
    let mut starts: [Vec<f64>; 2] = Default::default();
    for _ in 0..20 * options.rounds {
        for (program, starts) in programs.iter().zip(&mut starts) {
            let start = std::time::Instant::now();
            output(Command::new(program).arg("--version"))?;
            starts.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [a, b] = starts.map(|starts| median(&starts));
    rows.push(
        ["", "start and end, ms", &digits(a), &digits(b), &format!("{:.3}", a / b)]
            .map(str::to_owned)
            .to_vec(),
    );
    let [a, b] = [fs::metadata(before)?.len() as f64 / 1e6, fs::metadata(after)?.len() as f64 / 1e6];
    rows.push(["", "size, MB", &digits(a), &digits(b), &format!("{:.3}", a / b)].map(str::to_owned).to_vec());
    text += &table(&["model", "figure", "before", "after", "ratio"], &rows);
    text += &format!("\nThe geometric mean of the steps is {:.3}.\n", geometric_mean(&steps));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    #[test]
    fn the_version_of_llvm_is_read_from_what_rustc_says() {
        assert_eq!(version_of_llvm("rustc 1.95.0\nhost: x\nLLVM version: 22.1.2\n"), Some(22));
        assert_eq!(version_of_llvm("rustc 1.95.0"), None);
        let said = output(Command::new("rustc").arg("-vV")).unwrap();
        assert!(version_of_llvm(&said).is_some_and(|version| version > 15));
        assert!(host().unwrap().contains('-'));
    }

    #[test]
    fn the_workload_is_a_panel_of_whole_days_and_no_value_is_missing() {
        let text = panel();
        assert_eq!(text.lines().count(), 1 + SERIES * 400);
        assert!(text.lines().skip(1).all(|line| line.split(',').count() == 3));
        assert!(text.contains("s19,2024-01-17 15:00:00,"));
    }

    #[test]
    fn raw_profiles_of_another_build_are_forgotten() {
        let folder = env::temp_dir().join(format!("foretell-pgo-{}", std::process::id()));
        write(&folder.join("old.profraw"), "x").unwrap();
        empty(&folder).unwrap();
        let error = merge(Path::new("no-such-tool"), &folder, Path::new("merged")).unwrap_err().to_string();
        assert!(error.starts_with("the workload wrote no profile"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
