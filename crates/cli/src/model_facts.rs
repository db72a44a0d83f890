//! Facts about models, in words.

use foretell::own_estimator::EstimatorEntry;
use foretell::pretrained::FOLDERS;
use foretell::{Exogenous, Loss, MODELS, ModelEntry, ModelSpec, estimators};

/// The facts of a model.
pub(crate) struct ListedModel {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) paper: &'static str,
    pub(crate) exogenous: Exogenous,
    /// The losses that a network trains with.
    pub(crate) losses: Vec<&'static str>,
    /// From neuralforecast's, of a network.
    pub(crate) differences: &'static [&'static str],
}

impl ListedModel {
    /// The networks, then the others.
    pub(crate) fn all() -> Vec<Self> {
        let networks = MODELS.iter().map(|entry| Self {
            name: entry.name,
            kind: entry.kind,
            paper: entry.paper,
            exogenous: entry.exogenous,
            losses: losses(entry),
            differences: entry.differences,
        });
        let others = plain_models().map(|entry| Self {
            name: entry.name,
            kind: "classical",
            paper: entry.paper,
            exogenous: columns_of(entry),
            losses: Vec::new(),
            differences: &[],
        });
        networks.chain(others).collect()
    }
}

/// What is no network of the zoo: the estimators, and behind them what folders of weights are.
pub(crate) fn plain_models() -> impl Iterator<Item = &'static EstimatorEntry> {
    estimators().chain([&FOLDERS])
}

/// The kinds of columns that an estimator reads; of folders, those that any network in one does.
pub(crate) fn columns_of(entry: &EstimatorEntry) -> Exogenous {
    let own = ModelSpec::from((entry.new)(1)).exogenous();
    match entry.name == FOLDERS.name {
        true => Exogenous { futr: true, hist: true, stat: true, cat: true },
        false => own,
    }
}

/// The kinds of columns that a model reads.
pub(crate) fn exogenous(reads: Exogenous) -> String {
    let kinds = [
        (reads.futr, "future"),
        (reads.hist, "historic"),
        (reads.stat, "static"),
        (reads.cat, "categorical"),
    ];
    let kinds: Vec<&str> = kinds.into_iter().filter(|(reads, _)| *reads).map(|(_, kind)| kind).collect();
    if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") }
}

/// The losses that it trains with. One that has no defaults has one output.
pub(crate) fn losses(model: &ModelEntry) -> Vec<&'static str> {
    let fits = |name: &&str| {
        Loss::parse(&(*name).into())
            .map_or(true, |loss| loss.trains() && model.check_outputs(loss.outputs()).is_ok())
    };
    Loss::NAMES.into_iter().filter(fits).collect()
}
