//! The frequency that training reads data by.

use std::path::Path;

use anyhow::Context as _;
use foretell::Freq;
use foretell::features::read_days;

use crate::failure::Usage;

/// The frequency that is given (--freq), without the days of a file (--holidays); business days where it gives none.
pub(crate) fn freq_without(freq: Option<Freq>, holidays: Option<&Path>) -> anyhow::Result<Option<Freq>> {
    let Some(path) = holidays else { return Ok(freq) };
    let freq = freq.map_or_else(|| Freq::parse("B"), Ok)?;
    let without = freq.without_holidays(&read_days(path).context("--holidays")?);
    let message = || format!("--holidays: the frequency {freq} has no business days; give --freq B, C or bh");
    Ok(Some(without.ok_or_else(|| Usage(message()))?))
}
