//! What a release is made of.

use std::path::PathBuf;

use crate::outcome::Outcome;

/// What the steps know of the release.
pub(super) struct Release<'a> {
    pub(super) version: String,
    /// The commit that it is made of.
    pub(super) commit: String,
    pub(super) profile: String,
    pub(super) root: PathBuf,
    /// The target directory.
    pub(super) target: PathBuf,
    /// Where what is handed out goes.
    pub(super) out: PathBuf,
    /// Does what `cargo xtask` would of these arguments.
    pub(super) chore: &'a dyn Fn(&str) -> anyhow::Result<Outcome>,
}
