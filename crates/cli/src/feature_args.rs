//! Columns that are computed from the data.

use std::str::FromStr as _;

use anyhow::Context as _;
use clap::Args;
use foretell::Features;

/// Columns that are computed from the data.
#[derive(Debug, Args)]
pub(crate) struct FeatureArgs {
    /// Columns to compute from the target and the times, which the models read beside those of --hist-exog and --futr-exog:
    /// lag:1,7, roll_mean:28, weekday, fourier:yearly:3, holidays:DE, ...; `foretell features --list` lists them. They are saved
    /// with the models, and predict computes them anew: --futr is for other columns alone. Holidays may be those of a file, as in
    /// holidays:FILE, with a date a line
    #[arg(long = "features", value_name = "WORD[,WORD]", value_delimiter = ',', conflicts_with = "from")]
    words: Vec<String>,
}

impl FeatureArgs {
    /// Whether features are named.
    pub(crate) fn is_given(&self) -> bool {
        !self.words.is_empty()
    }

    /// The features; nothing if there is none.
    pub(crate) fn features(&self) -> anyhow::Result<Option<Features>> {
        features(&self.words)
    }
}

/// The features of words between commas.
pub(crate) fn features(words: &[String]) -> anyhow::Result<Option<Features>> {
    // A number behind a comma belongs to the word before it.
    let read = (!words.is_empty()).then(|| Features::from_str(&words.join(",")));
    // The facade's error is one of usage, with the code that all hosts tell.
    read.transpose().map_err(foretell::Error::from).context("--features")
}
