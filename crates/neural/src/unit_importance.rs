//! The hidden units of a network that can be removed one by one, and the parameters that are left then.

use foretell_nn::{ParamEntry, Params, Table};

/// The rows and columns of a parameter that are left, in order; `None` for all.
pub(crate) type Kept = [Option<Vec<usize>>; 2];

/// The places of a parameter's dimensions of outputs and of inputs.
const OUTPUTS: usize = 0;
const INPUTS: usize = 1;

/// Sets `narrow`, the parameters of a network with fewer hidden units, to those of `wide` without the units whose weights are the
/// smallest: the importance of a unit is the norm of its incoming weights times that of its outgoing ones. Whether the layers are such
/// that units can be removed: each that loses some is followed by the one that reads them.
pub(crate) fn keep_important_units(wide: &Params, narrow: &mut Params) -> bool {
    let Some(kept) = kept_units(wide, narrow.table()) else { return false };
    for (index, kept) in kept.iter().enumerate() {
        let entry = &wide.table().entries()[index];
        match wide.counter(entry) {
            Some(count) => narrow.set_counter(index, count),
            None => narrow.set(index, &gather(wide.values(entry), entry, kept)),
        }
    }
    true
}

/// What is left of each parameter; `None` if the layers are no chain.
pub(crate) fn kept_units(wide: &Params, narrow: &Table) -> Option<Vec<Kept>> {
    let (entries, fewer) = (wide.table().entries(), narrow.entries());
    let are_alike = |(one, other): (&ParamEntry, &ParamEntry)| {
        let is_of_same_kernel = one.shape.iter().skip(2).eq(other.shape.iter().skip(2));
        one.name == other.name && one.shape.len() == other.shape.len() && is_of_same_kernel
    };
    if entries.len() != fewer.len() || !entries.iter().zip(fewer).all(are_alike) {
        return None;
    }
    let loses = |index: usize, dim: usize| entries[index].shape[dim] != fewer[index].shape[dim];
    let of_layers = (0..entries.len()).filter(|&index| entries[index].shape.len() > 1);
    let layers: Vec<usize> =
        of_layers.filter(|&index| loses(index, OUTPUTS) || loses(index, INPUTS)).collect();
    let mut kept: Vec<Kept> = vec![[None, None]; entries.len()];
    if layers.first().is_some_and(|&first| loses(first, INPUTS))
        || layers.last().is_some_and(|&last| loses(last, OUTPUTS))
    {
        return None;
    }
    for pair in layers.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        if loses(from, OUTPUTS) != loses(to, INPUTS) {
            return None;
        }
        if !loses(from, OUTPUTS) {
            continue;
        }
        let (units, left) = (entries[from].shape[OUTPUTS], fewer[from].shape[OUTPUTS]);
        if entries[to].shape[INPUTS] != units || fewer[to].shape[INPUTS] != left {
            return None;
        }
        let incoming = norms(wide.values(&entries[from]), &entries[from], OUTPUTS);
        let outgoing = norms(wide.values(&entries[to]), &entries[to], INPUTS);
        let important = most_important(&incoming, &outgoing, left);
        kept[from][OUTPUTS] = Some(important.clone());
        kept[to][INPUTS] = Some(important);
    }
    // A bias goes with the weight of its layer.
    for index in (0..entries.len()).filter(|&index| entries[index].shape.len() == 1 && loses(index, OUTPUTS))
    {
        let weight = format!("{}.weight", entries[index].name.strip_suffix(".bias")?);
        let layer = layers.iter().find(|&&layer| entries[layer].name == weight)?;
        kept[index][OUTPUTS] = kept[*layer][OUTPUTS].clone();
        kept[index][OUTPUTS].as_ref().filter(|units| units.len() == fewer[index].shape[OUTPUTS])?;
    }
    Some(kept)
}

/// The norm of the weights of each unit along a dimension of a parameter.
fn norms(values: &[f32], entry: &ParamEntry, dim: usize) -> Vec<f64> {
    let behind: usize = entry.shape[dim + 1..].iter().product();
    let mut squares = vec![0.0; entry.shape[dim]];
    for (place, &value) in values.iter().enumerate() {
        squares[place / behind % entry.shape[dim]] += f64::from(value).powi(2);
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// The `left` units whose products of norms are the largest, in their order; of equal ones the first.
fn most_important(incoming: &[f64], outgoing: &[f64], left: usize) -> Vec<usize> {
    let importance = |unit: usize| incoming[unit] * outgoing[unit];
    let mut units: Vec<usize> = (0..incoming.len()).collect();
    units.sort_by(|&one, &other| importance(other).total_cmp(&importance(one)));
    units.truncate(left);
    units.sort_unstable();
    units
}

/// The values of a parameter that are left.
fn gather(values: &[f32], entry: &ParamEntry, [rows, columns]: &Kept) -> Vec<f32> {
    if rows.is_none() && columns.is_none() {
        return values.to_vec();
    }
    let width = entry.shape.get(INPUTS).copied().unwrap_or(1);
    let behind: usize = entry.shape.iter().skip(2).product();
    let all = |kept: &Option<Vec<usize>>, size: usize| kept.clone().unwrap_or_else(|| (0..size).collect());
    let columns = all(columns, width);
    let mut left = Vec::new();
    for row in all(rows, entry.shape[OUTPUTS]) {
        for column in &columns {
            let start = (row * width + column) * behind;
            left.extend_from_slice(&values[start..start + behind]);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use foretell_nn::{Init, Tensor};

    use super::*;

    /// Two layers, the first with a kernel of two taps, and what has no units between them.
    fn params(units: usize) -> Params {
        let mut table = Table::default();
        let mut root = table.root();
        root.at("a").param("weight", [units, 1, 2], Init::fan_in(2));
        root.at("a").param("bias", [units], Init::fan_in(2));
        root.at("norm").param("weight", [3], Init::Constant(1.0));
        root.at("b").param("weight", [1, units], Init::fan_in(units));
        root.at("b").param("bias", [1], Init::fan_in(units));
        table.initialise(7)
    }

    #[test]
    fn units_of_small_weights_are_left_out() {
        let (mut wide, mut narrow) = (params(3), params(2));
        let set = |params: &mut Params, name: &str, values: &[f32]| {
            let shape = params.get(name).unwrap().shape();
            params.assign(name, &Tensor::from_slice(values, shape)).unwrap();
        };
        // The products of the norms are 5 * 1, 1 * 4 and 0.1 * 100.
        set(&mut wide, "a.weight", &[3.0, 4.0, 0.0, 1.0, 0.1, 0.0]);
        set(&mut wide, "a.bias", &[10.0, 20.0, 30.0]);
        set(&mut wide, "b.weight", &[1.0, -4.0, 100.0]);
        assert!(keep_important_units(&wide, &mut narrow));
        let values = |name: &str| narrow.get(name).unwrap().to_vec();
        assert_eq!(values("a.weight"), [3.0, 4.0, 0.1, 0.0]);
        assert_eq!((values("a.bias"), values("b.weight")), (vec![10.0, 30.0], vec![1.0, 100.0]));
        assert_eq!(values("b.bias"), wide.get("b.bias").unwrap().to_vec());
    }

    #[test]
    fn layers_that_are_no_chain_are_refused() {
        // A second layer reads the units of the first.
        let fork = |units: usize| {
            let mut table = Table::default();
            let mut root = table.root();
            root.at("a").param("weight", [units, 2], Init::fan_in(2));
            root.at("b").param("weight", [1, units], Init::fan_in(2));
            root.at("c").param("weight", [1, units], Init::fan_in(2));
            table.initialise(7)
        };
        assert!(!keep_important_units(&fork(3), &mut fork(2)));
        // Nothing reads them.
        let end = |units: usize| {
            let mut table = Table::default();
            table.root().param("weight", [units, 2], Init::fan_in(2));
            table.initialise(7)
        };
        assert!(!keep_important_units(&end(3), &mut end(2)));
        assert!(!keep_important_units(&fork(3), &mut params(2)));
    }
}
