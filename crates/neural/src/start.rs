//! Where the training of a network starts: with new weights or those of a trained network, and which of them stay unchanged.

use std::ops::Range;

use foretell_estimator::{Sparsity, SparsityScope, Start};
use foretell_messages::nearest;
use foretell_nn::{ParamEntry, Params, Table, WeightPrecision};
use foretell_train::Pruning;

use crate::error::NetworkError;
use crate::spec::NetworkSpec;
use crate::trained_network::TrainedNetwork;

/// The parameters before the first step, and the ranges of their arena that training leaves alone.
pub(crate) fn first_params(
    spec: &NetworkSpec,
    table: Table,
    start: &Start<'_>,
) -> Result<(Params, Vec<Range<usize>>), NetworkError> {
    let refuse = |reason: String| NetworkError::Start { model: spec.alias().to_owned(), reason };
    let frozen = frozen_ranges(&table, &start.frozen).map_err(refuse)?;
    let Some(from) = start.from else { return Ok((table.initialise(spec.common().random_seed), frozen)) };
    let from: &TrainedNetwork = from
        .downcast_ref()
        .filter(|from: &&TrainedNetwork| from.spec.name() == spec.name())
        .ok_or_else(|| refuse("it can continue only from a trained model of its own kind".to_owned()))?;
    if let Some(difference) = difference(from.params.table(), &table) {
        return Err(refuse(difference));
    }
    let mut params = from.params.without_copies();
    params.hold(WeightPrecision::F32);
    Ok((params, frozen))
}

/// The weights of a network that become zero.
pub(crate) fn pruning(table: &Table, sparsity: Sparsity) -> Pruning {
    let weights = table.entries().iter().filter(|entry| entry.is_weight());
    let weights = weights.map(|entry| entry.offset..entry.offset + entry.shape.numel());
    let groups = match sparsity.scope {
        SparsityScope::Layer => weights.map(|range| vec![range]).collect(),
        SparsityScope::Network => vec![weights.collect()],
    };
    Pruning::new(groups, sparsity.share)
}

/// The first parameter that one table has otherwise than the other, and what to do.
fn difference(from: &Table, table: &Table) -> Option<String> {
    let advice = "hyper-parameters that change shapes must stay as they were trained";
    let mut pairs = from.entries().iter().zip(table.entries());
    let unequal = pairs.find(|(from, own)| (&from.name, from.shape) != (&own.name, own.shape));
    if let Some((from, own)) = unequal {
        let shown = |entry: &ParamEntry| format!("{} of shape {:?}", entry.name, &entry.shape[..]);
        return Some(format!("the trained model has {}, this one {}; {advice}", shown(from), shown(own)));
    }
    let counts = [from, table].map(|table| table.entries().len());
    (counts[0] != counts[1])
        .then(|| format!("the trained model has {} parameters, this one {}; {advice}", counts[0], counts[1]))
}

/// Where the parameters of these names, or whose names begin so, stand in the arena.
fn frozen_ranges(table: &Table, frozen: &[&str]) -> Result<Vec<Range<usize>>, String> {
    let is_part = |entry: &&ParamEntry, name: &str| {
        let rest = entry.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut ranges = Vec::new();
    for &name in frozen {
        let before = ranges.len();
        let parts = table.trained().filter(|entry| is_part(entry, name));
        ranges.extend(parts.map(|entry| entry.offset..entry.offset + entry.shape.numel()));
        if ranges.len() == before {
            return Err(unknown(table, name));
        }
    }
    let is_frozen = |entry: &ParamEntry| frozen.iter().any(|name| is_part(&entry, name));
    if !ranges.is_empty() && table.trained().all(is_frozen) {
        return Err("all of its parameters are frozen, so nothing is left to train".to_owned());
    }
    Ok(ranges)
}

/// The message on a name that no trained parameter has or begins with.
fn unknown(table: &Table, name: &str) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = table.trained().map(|entry| entry.name.as_str()).collect();
    // The beginnings that names share: `blocks.0` of `blocks.0.layers.1.weight`.
    let mut layers: Vec<&str> = names.iter().filter_map(|name| Some(name.rsplit_once('.')?.0)).collect();
    layers.dedup();
    let meant = nearest(name, names.iter().chain(&layers).copied());
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
    let more = if layers.len() > SHOWN { ", ..." } else { "" };
    layers.truncate(SHOWN);
    format!(
        "no parameter that it trains is called {name}, or begins so; it has {}{more}{meant}",
        layers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(model: &str) -> Table {
        let mut table = Table::default();
        NetworkSpec::new(model, 2, 4).unwrap().build(&mut table).unwrap();
        table
    }

    #[test]
    fn names_and_beginnings_of_names_are_frozen() {
        let table = table("NHITS");
        let ranges = |names: &[&str]| frozen_ranges(&table, names);
        let len = |names: &[&str]| ranges(names).unwrap().iter().map(Range::len).sum::<usize>();
        let first = table.trained().next().unwrap();
        assert_eq!(len(&[&first.name]), first.shape.numel());
        let of_first = table.trained().filter(|entry| entry.name.starts_with("blocks.0."));
        assert_eq!(len(&["blocks.0"]), of_first.map(|entry| entry.shape.numel()).sum::<usize>());
        assert_eq!(len(&[]), 0);
        assert!(ranges(&["blocks"]).unwrap_err().contains("nothing is left to train"));
        let slip = ranges(&["block.0"]).unwrap_err();
        assert!(slip.contains("did you mean blocks.0") && slip.contains("it has blocks.0"), "{slip}");
    }

    #[test]
    fn other_shapes_are_named() {
        let other = {
            let mut table = Table::default();
            NetworkSpec::new("NHITS", 3, 4).unwrap().build(&mut table).unwrap();
            table
        };
        assert_eq!(difference(&other, &other), None);
        let found = difference(&other, &table("NHITS")).unwrap();
        assert!(found.contains("the trained model has blocks.") && found.contains("must stay"), "{found}");
        assert!(difference(&table("MLP"), &other).is_some());
    }
}
