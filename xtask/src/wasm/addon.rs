//! The npm package of the addon for Node on one system.

use std::{fs, path::Path};

use anyhow::Context;

use crate::system::write;

/// The system whose addon is built here, as Node calls it.
pub(crate) const PACKAGE: &str = "foretell-linux-x64-gnu";

/// Puts the package together: the library as `foretell.node`, and for whom it is.
pub(crate) fn assemble(root: &Path, library: &Path, folder: &Path) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let about = format!(
        r#"{{
  "name": "{PACKAGE}",
  "version": "{version}",
  "description": "The engine of the package foretell as an addon for Node on Linux, x86-64 with glibc",
  "license": "MIT OR Apache-2.0",
  "repository": {{ "type": "git", "url": "https://github.com/foretell/foretell", "directory": "crates/node" }},
  "main": "foretell.node",
  "files": ["foretell.node", "LICENSE-MIT", "LICENSE-APACHE"],
  "engines": {{ "node": ">=18" }},
  "os": ["linux"],
  "cpu": ["x64"],
  "libc": ["glibc"]
}}
"#
    );
    write(&folder.join("package.json"), about)?;
    fs::copy(library, folder.join("foretell.node")).context("cannot copy the addon")?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root.join(licence), folder.join(licence)).context("cannot copy a licence")?;
    }
    Ok(())
}
