//! The standard library for a target: that of the toolchain, or one that is built.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::system::{output, target};

/// The compiler's flags that find the standard library for a target, none where the toolchain has it; or why there is none. What is built
/// here, once, with these flags as well, stands in `target/std`.
pub(crate) fn flags(triple: &str, with: &str) -> anyhow::Result<Result<String, String>> {
    let own = target()?.join("std");
    if has_target(&toolchain()?, triple) {
        return Ok(Ok(String::new()));
    }
    if !has_target(&own, triple) {
        println!("building the standard library for {triple}");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sysroot/std.sh");
        let built =
            Command::new("bash").arg(script).arg(&own).arg(triple).args(with.split_whitespace()).status();
        if !built.is_ok_and(|status| status.success()) {
            let why = "is not installed, and its standard library could not be built from Debian's source";
            return Ok(Err(format!("{triple} {why}; `rustup target add {triple}`")));
        }
    }
    // The objects with which programs of musl begin are the linker's, which a toolchain of rustup brings along.
    let linked = if triple.contains("musl") { " -C link-self-contained=no" } else { "" };
    Ok(Ok(format!("--sysroot {}{linked}", own.display())))
}

/// The sysroot of the toolchain.
pub(crate) fn toolchain() -> anyhow::Result<PathBuf> {
    Ok(rustc(&["--print", "sysroot"])?.into())
}

/// What the compiler prints.
pub(crate) fn rustc(arguments: &[&str]) -> anyhow::Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Ok(output(Command::new(rustc).args(arguments))?.trim().to_owned())
}

fn has_target(sysroot: &Path, triple: &str) -> bool {
    sysroot.join("lib/rustlib").join(triple).join("lib").is_dir()
}
