//! Models by name: networks, which `foretell-neural` has, and estimators that are none.

use std::sync::{PoisonError, RwLock};

use foretell_estimator::EstimatorEntry;
use foretell_neural::{MODELS as NETWORKS, ModelEntry, SpecError};

/// Whether there are networks: all that is of networks alone is asked for behind it, so that a program without them is small.
pub(crate) const HAS_NETWORKS: bool = cfg!(feature = "networks");

/// The networks, in the order in which they are listed to users.
pub static MODELS: &[ModelEntry] = if HAS_NETWORKS { NETWORKS } else { &[] };

/// The names of the networks by themselves, which are there where the networks are not.
static NAMES: [&str; 64] = {
    let mut names = [""; 64];
    let mut place = 0;
    while place < NETWORKS.len() {
        names[place] = NETWORKS[place].name;
        place += 1;
    }
    names
};

/// The network of this name, in any case of letters.
pub(crate) fn find_network(name: &str) -> Option<&'static ModelEntry> {
    if HAS_NETWORKS { foretell_neural::find(name) } else { None }
}

/// The error of a network of this name where there are none.
pub(crate) fn without_networks(name: &str) -> Option<SpecError> {
    let mut names = NAMES.iter().filter(|known| !HAS_NETWORKS && !known.is_empty());
    let model = names.find(|known| known.eq_ignore_ascii_case(name))?;
    Some(SpecError::WithoutFeature { model, feature: "networks" })
}

/// Estimators of programs that use the library.
static REGISTERED: RwLock<Vec<EstimatorEntry>> = RwLock::new(Vec::new());

/// The estimators of foretell's that are no networks.
pub fn estimators() -> impl Iterator<Item = &'static EstimatorEntry> {
    foretell_classical::ESTIMATORS
        .iter()
        .chain(foretell_prophet::ESTIMATORS)
        .chain(foretell_flair::ESTIMATORS)
        .chain(foretell_pretrained::ESTIMATORS)
}

/// Makes an estimator of your own known by its name, so that [`ModelSpec::new`](crate::ModelSpec::new) finds it and
/// [`Fitted::load`](crate::Fitted::load) loads models of it that were saved.
///
/// # Panics
/// If another model has that name.
pub fn register_estimator(entry: EstimatorEntry) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let taken = |other: &&EstimatorEntry| other.name.eq_ignore_ascii_case(entry.name);
    if let Some(same) = registered.iter().find(taken) {
        assert!(std::ptr::fn_addr_eq(same.new, entry.new), "another estimator is called {}", entry.name);
        return;
    }
    let known = estimators().chain([&foretell_pretrained::FOLDERS]).any(|other| taken(&other))
        || find_network(entry.name).is_some();
    assert!(!known, "a model of foretell's is called {}", entry.name);
    registered.push(entry);
}

/// The estimator of this name, in any case of letters, if it is no network.
pub(crate) fn find_estimator(name: &str) -> Option<EstimatorEntry> {
    let is = |entry: &EstimatorEntry| entry.name.eq_ignore_ascii_case(name);
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    // Networks in folders are no model of a name, but are saved under one.
    estimators().copied().chain([foretell_pretrained::FOLDERS]).chain(registered.iter().copied()).find(is)
}

/// The names of all models: of the networks first.
pub fn model_names() -> Vec<&'static str> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    let others = estimators().map(|entry| entry.name).chain(registered.iter().map(|entry| entry.name));
    MODELS.iter().map(|entry| entry.name).chain(others).collect()
}
