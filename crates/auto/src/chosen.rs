//! What was chosen for a panel: all that a forecast needs beside what members have learned.

use foretell::ModelSpec;
use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::member::Member;
use crate::mix::Mix;
use crate::spread::Spread;
use crate::tails::Tails;

/// What was chosen for a panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    pub(crate) members: Vec<ChosenMember>,
    pub(crate) mix: Mix,
    /// How far values lay outside of what is combined; of what was saved before this was kept, nothing.
    #[serde(default)]
    pub(crate) tails: Tails,
    /// The main season.
    pub(crate) season: usize,
    /// Whether forecasts of what was never below zero may be.
    #[serde(default)]
    pub(crate) below_zero: bool,
    pub(crate) board: Board,
}

/// A member with its hyper-parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChosenMember {
    pub(crate) spec: ModelSpec,
    /// Most steps of a series that it is shown; nothing for all.
    pub(crate) rows: Option<usize>,
    /// Its quantiles, if it has none itself.
    pub(crate) spread: Option<Spread>,
}

impl ChosenMember {
    pub(crate) fn member(&self) -> Member {
        let whole = Member::whole(self.spec.clone());
        Member { rows: self.rows.unwrap_or(whole.rows), ..whole }
    }
}
