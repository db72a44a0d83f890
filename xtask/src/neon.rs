//! `cargo xtask test-neon`: the suites of simd, pool, gemm and flash on an emulated aarch64 machine.
//!
//! A compiler that has the aarch64 standard library builds them, a cross linker links them, qemu runs
//! them. The build has a target directory of its own, since its compiler may not be the pinned one.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;
use clap::Args;

const TARGET: &str = "aarch64-unknown-linux-gnu";
const PACKAGES: [&str; 4] = ["foretell-simd", "foretell-pool", "foretell-gemm", "foretell-flash"];
const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";
/// The root of the emulated machine: its C library.
const SYSROOT: &str = "/usr/aarch64-linux-gnu";
/// The pinned compiler, then the distribution's.
const COMPILERS: [&str; 2] = ["rustc", "/usr/bin/rustc"];
const MINIMUM_RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Arguments of `cargo xtask test-neon`.
#[derive(Args)]
pub(crate) struct Options {
    /// Arguments for `cargo test`, such as `-- --nocapture`.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let machine = Machine::this();
    let compiler = machine.ready().map_err(|missing| {
        anyhow::anyhow!("test-neon needs tools that are not installed:\n{}", missing.join("\n"))
    })?;
    let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata failed")?;
    let variables = [
        ("RUSTC", compiler.to_owned()),
        ("RUSTDOC", compiler.replace("rustc", "rustdoc")),
        ("CARGO_TARGET_DIR", metadata.target_directory.join("neon").into_string()),
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER.to_owned()),
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner()),
    ];
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["test", "--no-fail-fast", "--target", TARGET])
        .args(PACKAGES.iter().flat_map(|package| ["--package", package]))
        .args(&options.arguments)
        .envs(variables);
    println!("{cargo:?}");
    let status = cargo.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("the suites fail on aarch64 ({status})");
    }
    Ok(())
}

/// The library path keeps the loader and the C library of one kind: where the distribution's own
/// aarch64 C library is beside the cross one, the cross loader would take it, and hang in the first
/// thread that a program starts.
fn runner() -> String {
    format!("{EMULATOR} -L {SYSROOT} -E LD_LIBRARY_PATH={SYSROOT}/lib")
}

/// The tools that a machine has.
struct Machine {
    /// The compiler to use, or why each of them will not do.
    compiler: Result<&'static str, Vec<String>>,
    linker: bool,
    c_library: bool,
    emulator: bool,
}

impl Machine {
    fn this() -> Self {
        let mut unfit = Vec::new();
        let compiler = COMPILERS.into_iter().find(|rustc| match fitness(rustc) {
            Ok(()) => true,
            Err(reason) => {
                unfit.push(format!("{rustc}: {reason}"));
                false
            }
        });
        Self {
            compiler: compiler.ok_or(unfit),
            linker: on_path(LINKER),
            c_library: Path::new(SYSROOT).join("lib/libc.so.6").exists(),
            emulator: on_path(EMULATOR),
        }
    }

    /// The compiler, or a line for each thing that is missing and how to get it.
    fn ready(&self) -> Result<&'static str, Vec<String>> {
        let mut missing = Vec::new();
        if let Err(unfit) = &self.compiler {
            missing.push(format!(
                "- a Rust compiler >= {MINIMUM_RUST} with the standard library of {TARGET} ({}).\n  \
                 rustup: `rustup target add {TARGET}`\n  \
                 Debian: `dpkg --add-architecture arm64 && apt-get update && \
                 apt-get install rustc-web libstd-rust-web-dev:arm64`",
                unfit.join("; ")
            ));
        }
        let mut package = |present: bool, what: &str, name: &str| {
            if !present {
                missing.push(format!("- {what}.\n  Debian: `apt-get install {name}`"));
            }
        };
        package(self.linker, &format!("the linker {LINKER}"), "gcc-aarch64-linux-gnu");
        package(self.c_library, &format!("the C library in {SYSROOT}"), "libc6-dev-arm64-cross");
        package(self.emulator, &format!("the emulator {EMULATOR}"), "qemu-user");
        if missing.is_empty() { self.compiler.clone() } else { Err(missing) }
    }
}

/// Whether `rustc` can build our crates for the target; if not, why.
fn fitness(rustc: &str) -> Result<(), String> {
    let version = output(rustc, &["--version"])?;
    if !new_enough(&version) {
        return Err(format!("too old, {}", version.trim()));
    }
    let sysroot = PathBuf::from(output(rustc, &["--print", "sysroot"])?.trim());
    let libraries = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    let is_std = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
    let mut entries = fs::read_dir(&libraries).into_iter().flatten().flatten();
    if entries.any(|entry| entry.file_name().to_str().is_some_and(is_std)) {
        Ok(())
    } else {
        Err(format!("no standard library in {}", libraries.display()))
    }
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the answer of `rustc --version` meets the workspace's `rust-version`.
fn new_enough(version: &str) -> bool {
    let parts = |text: &str| -> Option<(u32, u32)> {
        let (major, rest) = text.split_once('.')?;
        let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let installed = version.split_whitespace().nth(1).and_then(parts);
    installed.is_some() && installed >= parts(MINIMUM_RUST)
}

fn on_path(program: &str) -> bool {
    env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> Machine {
        Machine { compiler: Ok("rustc"), linker: true, c_library: true, emulator: true }
    }

    #[test]
    fn a_complete_machine_is_ready() {
        assert_eq!(complete().ready(), Ok("rustc"));
    }

    #[test]
    fn each_missing_tool_is_named_with_its_package() {
        let cases = [
            (Machine { compiler: Err(vec!["rustc: too old".to_owned()]), ..complete() }, "rustup target add"),
            (Machine { linker: false, ..complete() }, "apt-get install gcc-aarch64-linux-gnu"),
            (Machine { c_library: false, ..complete() }, "apt-get install libc6-dev-arm64-cross"),
            (Machine { emulator: false, ..complete() }, "apt-get install qemu-user"),
        ];
        for (machine, remedy) in cases {
            let missing = machine.ready().unwrap_err();
            assert_eq!(missing.len(), 1, "{missing:?}");
            assert!(missing[0].contains(remedy), "{}", missing[0]);
        }
        let nothing = Machine { compiler: Err(vec![]), linker: false, c_library: false, emulator: false };
        assert_eq!(nothing.ready().unwrap_err().len(), 4);
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert!(new_enough(&format!("rustc {MINIMUM_RUST}.0 (59807616e 2026-04-14)")));
        assert!(new_enough("rustc 1.100.0-nightly (0 2027-01-01)"));
        assert!(!new_enough("rustc 1.85.0 (4d91de4e4 2025-02-17)"));
        assert!(!new_enough("no compiler"));
        assert!(!new_enough(""));
    }

    #[test]
    fn programs_are_looked_up_on_the_path() {
        assert!(on_path("cargo"));
        assert!(!on_path("no-such-program-anywhere"));
    }
}
