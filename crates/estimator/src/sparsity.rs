//! How many weights of a network become zero.

use std::str::FromStr;

/// The share of a network's weights that become zero while it is trained, the smallest by magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sparsity {
    /// At least 0 and below 1.
    pub share: f64,
    /// The weights that are compared with each other.
    pub scope: SparsityScope,
}

/// Which weights are compared when the smallest are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SparsityScope {
    /// Those of one matrix: each loses the same share.
    #[default]
    Layer,
    /// Those of all matrices, by one threshold: a matrix of small weights loses more than others.
    Network,
}

impl SparsityScope {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Layer, Self::Network];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Layer => "layer",
            Self::Network => "network",
        }
    }
}

/// A word that is none of their names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`by` must be layer or network; found {found:?}")]
pub struct UnknownScope {
    /// The word.
    pub found: String,
}

impl FromStr for SparsityScope {
    type Err = UnknownScope;

    fn from_str(word: &str) -> Result<Self, UnknownScope> {
        let scope = Self::ALL.into_iter().find(|scope| scope.name() == word);
        scope.ok_or_else(|| UnknownScope { found: word.to_owned() })
    }
}
