//! Checks of the `config.json` of any network.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::PretrainedError;

/// Patches of a context, at most: the scores of a head are their square.
pub(crate) const MOST_PATCHES: usize = 1 << 11;

/// The file whose values are checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks<'a>(pub(crate) &'a Path);

impl Checks<'_> {
    /// The sizes in its text.
    pub(crate) fn parse<T: DeserializeOwned>(&self, text: &[u8]) -> Result<T, PretrainedError> {
        let damaged = |error: serde_json::Error| PretrainedError::Config {
            path: self.0.to_owned(),
            reason: error.to_string(),
        };
        serde_json::from_slice(text).map_err(damaged)
    }

    /// The sizes in its text, if this check passes them.
    pub(crate) fn checked<T: DeserializeOwned>(
        &self,
        text: &[u8],
        check: impl FnOnce(&T, &Self) -> Result<(), PretrainedError>,
    ) -> Result<T, PretrainedError> {
        let config = self.parse(text)?;
        check(&config, self)?;
        Ok(config)
    }

    /// An error unless it holds.
    pub(crate) fn require(
        &self,
        holds: bool,
        name: &str,
        expected: &str,
        found: &dyn Display,
    ) -> Result<(), PretrainedError> {
        match holds {
            true => Ok(()),
            false => Err(PretrainedError::Setting {
                path: self.0.to_owned(),
                name: name.to_owned(),
                expected: expected.to_owned(),
                found: found.to_string(),
            }),
        }
    }

    /// An error unless a size is within bounds.
    pub(crate) fn within(
        &self,
        name: &str,
        size: usize,
        bounds: RangeInclusive<usize>,
    ) -> Result<(), PretrainedError> {
        let expected = format!("a whole number between {} and {}", bounds.start(), bounds.end());
        self.require(bounds.contains(&size), name, &expected, &size)
    }

    /// An error unless the patches of a context are few enough.
    pub(crate) fn patches(&self, name: &str, length: usize, size: usize) -> Result<(), PretrainedError> {
        let expected = format!("at most {MOST_PATCHES} patches");
        self.require(length.div_ceil(size) <= MOST_PATCHES, name, &expected, &length)
    }

    /// An error unless it may be added to the mean square of a norm.
    pub(crate) fn epsilon(&self, name: &str, epsilon: f32) -> Result<(), PretrainedError> {
        self.require((0.0..1.0).contains(&epsilon), name, "a number from 0 to 1", &epsilon)
    }

    /// An error unless rotary positions can have this base.
    pub(crate) fn theta(&self, name: &str, theta: f32) -> Result<(), PretrainedError> {
        self.require((1.0..=1e9).contains(&theta), name, "a number from 1 to 1e9", &theta)
    }

    /// An error unless the activation of a T5's layers is the one that is computed.
    pub(crate) fn is_relu(&self, kind: &str) -> Result<(), PretrainedError> {
        self.require(kind == "relu", "feed_forward_proj", "relu", &kind)
    }

    /// An error unless they are probabilities of quantiles that ascend, the median among them.
    pub(crate) fn levels(&self, name: &str, levels: &[f64]) -> Result<(), PretrainedError> {
        let ascend = levels.windows(2).all(|pair| pair[0] < pair[1]) && levels.len() <= 999;
        let inside = levels.iter().all(|level| *level > 0.0 && *level < 1.0) && levels.contains(&0.5);
        let around = levels.first() < Some(&0.5) && levels.last() > Some(&0.5);
        let expected = "3 to 999 ascending probabilities above 0 and below 1, 0.5 among them, some below it and some above";
        self.require(ascend && inside && around, name, expected, &format!("{levels:?}"))
    }
}

// What a `config.json` that leaves a setting out has, for serde.

pub(crate) fn size<const N: usize>() -> usize {
    N
}

pub(crate) fn epsilon() -> f32 {
    1e-6
}

pub(crate) fn relu() -> String {
    "relu".to_owned()
}
