//! Estimates of the memory that work will take, computed before the work begins.

use std::borrow::Cow;

use foretell_messages::Setting;

use crate::memory_limit::{MemoryLimit, shown_bytes};

/// The bytes of a 32-bit number.
const NUMBER: u64 = 4;

/// Work that would take more memory than it may.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{work} needs about {needed} of memory ({parts}), and the limit is {limit}; {remedy}, or raise the limit ({})",
    Setting::MaxMemory
)]
#[non_exhaustive]
pub struct TooMuchMemory {
    /// The work.
    pub work: String,
    /// The memory that it needs.
    pub needed: String,
    /// The same in bytes.
    pub needed_bytes: u64,
    /// The parts of the work that need most of it.
    pub parts: Box<str>,
    /// The limit of memory.
    pub limit: Box<MemoryLimit>,
    /// A remedy that would need less.
    pub remedy: Cow<'static, str>,
}

/// The memory that a piece of work will take, part by part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryEstimate {
    parts: Vec<(String, u64)>,
}

impl MemoryEstimate {
    /// The same and `bytes` for `what`.
    pub fn and(mut self, what: impl Into<String>, bytes: u64) -> Self {
        self.parts.push((what.into(), bytes));
        self
    }

    /// The same and `count` numbers for `what`.
    pub fn and_numbers(self, what: impl Into<String>, count: usize) -> Self {
        self.and(what, (count as u64).saturating_mul(NUMBER))
    }

    /// The same and what other work needs meanwhile.
    pub fn and_all(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// The sum of all parts.
    pub fn total(&self) -> u64 {
        self.parts.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// Whether `work` may take so much; `remedy` is what would make it less.
    ///
    /// # Errors
    /// If it is more than the limit.
    pub fn check(
        self,
        limit: &MemoryLimit,
        work: &str,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Result<(), TooMuchMemory> {
        let total = self.total();
        if total <= limit.bytes() {
            return Ok(());
        }
        let mut parts = self.parts;
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        // What is a small share does not help to find what to change.
        parts.retain(|(_, bytes)| *bytes >= total / 50);
        let parts: Vec<String> =
            parts.iter().map(|(what, bytes)| format!("{what} {}", shown_bytes(*bytes))).collect();
        Err(TooMuchMemory {
            work: work.to_owned(),
            needed: shown_bytes(total),
            needed_bytes: total,
            parts: parts.join(", ").into(),
            limit: Box::new(limit.clone()),
            remedy: remedy.into(),
        })
    }
}
