//! Sums whose names differ in nothing but blanks and the case of letters: more often one label that is written in two ways than two.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foretell_data::PlainId;
use foretell_hierarchy::Hierarchy;

use crate::warning::Warning;

/// The warning of such sums, if there are some.
pub(super) fn alike_sums(hierarchy: &Hierarchy) -> Option<Warning> {
    let mut known: HashMap<Vec<PlainId<'_>>, &str> = HashMap::new();
    let mut alike = Vec::new();
    for id in hierarchy.ids().take(hierarchy.n_aggregates()) {
        // The name of a sum is made of labels.
        match known.entry(id.split('/').map(PlainId).collect()) {
            Entry::Occupied(other) => alike.push((*other.get(), &**id)),
            Entry::Vacant(place) => {
                place.insert(id);
            }
        }
    }
    let (first, second) = alike.first()?;
    let more = alike.len() - 1;
    Some(Warning::AlikeSums { first: (*first).to_owned(), second: (*second).to_owned(), more })
}
