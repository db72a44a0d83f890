//! Files and directories that appear whole or not at all.
//!
//! [`WholeFile`] is written beside the file that it becomes, [`DirectoryPlace`] fills a directory beside the one that
//! it replaces and exchanges the two. Both hold a [`Lock`], so two processes never write to one place, and both remove
//! what a killed process left beside it. [`DirectoryFiles`] opens the files of a directory so that all of them are of
//! one moment, no matter who replaces it meanwhile.
//!
//! While `dir/name` is written, there are files beside it under hidden names:
//!
//! | name | what it is |
//! |---|---|
//! | `dir/.name.lock` | the lock; the number of the process that holds it is in it |
//! | `dir/.name.new-` and six random letters | the new file or directory, or the old directory while it is deleted |
//! | `previous` in `dir/.name.old-` and six random letters | the old directory, where the system cannot exchange two names |
#![forbid(unsafe_code)]

mod directory;
mod error;
mod file;
mod identity;
mod lock;
mod place;
mod regular;
mod rename;
mod snapshot;
#[cfg(test)]
mod testing;
mod unfinished;

pub use directory::DirectoryPlace;
pub use error::{FileError, Result};
pub use file::{WholeFile, write_whole};
pub use identity::Identity;
pub use lock::Lock;
pub use place::{is_leftover, remove_leftovers, resolve};
pub use regular::{open_fitting, open_regular, read_regular};
pub use snapshot::DirectoryFiles;
pub use unfinished::abandon_all;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
