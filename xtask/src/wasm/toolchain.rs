//! What the compiler is told for WebAssembly.

use anyhow::Context;

use crate::sysroot;

pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Vectors of 128 bits, which all browsers have since 2023.
const VECTORS: &str = "-C target-feature=+simd128";

/// The flags of the compiler for the target, or why there is no standard library for it.
pub(super) fn flags() -> anyhow::Result<Result<String, String>> {
    let found = match sysroot::flags(TARGET, VECTORS)? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    // A stack that recursive parsers fit.
    let mut flags = format!("{VECTORS} -C link-arg=-zstack-size=2097152");
    if !found.is_empty() {
        // The linker is looked for beside the standard library.
        let version = sysroot::rustc(&["-vV"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc names no host")?;
        let linker = sysroot::toolchain()?.join("lib/rustlib").join(host).join("bin/rust-lld");
        flags += &format!(" {found} -C linker={}", linker.display());
    }
    Ok(Ok(flags))
}
