//! The standard library for WebAssembly: that of the toolchain, or one that is built.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Vectors of 128 bits, which all browsers have since 2023, and a stack that recursive parsers fit.
const FLAGS: &str = "-C target-feature=+simd128 -C link-arg=-zstack-size=2097152";

/// The flags of the compiler for the target, or why there is no standard library for it.
pub(super) fn flags(root: &Path, target: &Path) -> anyhow::Result<Result<String, String>> {
    let sysroot = PathBuf::from(rustc(&["--print", "sysroot"])?);
    if has_target(&sysroot) {
        return Ok(Ok(FLAGS.to_owned()));
    }
    let own = target.join("wasm-std");
    if !has_target(&own) {
        println!("building the standard library for {TARGET}");
        let script = root.join("xtask/src/wasm/std.sh");
        let built = Command::new("bash").arg(script).arg(&own).status();
        if !built.is_ok_and(|status| status.success()) {
            let why = "is not installed, and its standard library could not be built from Debian's source";
            return Ok(Err(format!("{TARGET} {why}; `rustup target add {TARGET}`")));
        }
    }
    // The linker is looked for beside the standard library.
    let version = rustc(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let linker = sysroot.join("lib/rustlib").join(host).join("bin/rust-lld");
    Ok(Ok(format!("{FLAGS} --sysroot {} -C linker={}", own.display(), linker.display())))
}

fn has_target(sysroot: &Path) -> bool {
    sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir()
}

fn rustc(arguments: &[&str]) -> anyhow::Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output().context("cannot start rustc")?;
    ensure!(output.status.success(), "rustc failed ({})", output.status);
    Ok(String::from_utf8(output.stdout).context("rustc's answer is not UTF-8")?.trim().to_owned())
}
