//! Columns of categories as numbers, which are means of the series that is forecast.

use std::collections::HashMap;

use foretell_estimator::KnownColumn;

/// Puts in place of each category the mean of the known values of `y` beside it, drawn towards the mean of all as by one more value:
/// `column.past` is beside `y`. A category that is not met there is the mean of all, which is 0 where none is known.
pub(crate) fn encode(column: &mut KnownColumn, y: &[f64]) {
    let known = || column.past.iter().zip(y).filter(|(_, y)| y.is_finite());
    let mean = known().map(|(_, y)| y).sum::<f64>() / known().count().max(1) as f64;
    let mut sums: HashMap<u64, (f64, f64)> = HashMap::new();
    for (category, y) in known() {
        let (sum, count) = sums.entry(category.to_bits()).or_default();
        (*sum, *count) = (*sum + y, *count + 1.0);
    }
    let KnownColumn { past, ahead } = column;
    for category in past.iter_mut().chain(ahead) {
        let (sum, count) = sums.get(&category.to_bits()).copied().unwrap_or_default();
        *category = (mean + sum) / (1.0 + count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_the_mean_beside_it() {
        let y = [1.0, f64::NAN, 3.0, 8.0];
        let mut column = KnownColumn { past: vec![1.0, 1.0, 1.0, 2.0], ahead: vec![2.0, 5.0] };
        encode(&mut column, &y);
        // The mean of all is 4.
        let [first, second] = [(4.0 + 4.0) / 3.0, (4.0 + 8.0) / 2.0];
        assert_eq!(column, KnownColumn { past: vec![first, first, first, second], ahead: vec![second, 4.0] });
        let mut column = KnownColumn { past: vec![1.0], ahead: vec![2.0] };
        encode(&mut column, &[f64::NAN]);
        assert_eq!(column, KnownColumn { past: vec![0.0], ahead: vec![0.0] });
    }
}
