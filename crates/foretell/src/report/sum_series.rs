//! A series that is the sum of the others: a total that stands among its parts.

use std::collections::HashMap;

use foretell_data::Panel;

use super::latest::{Latest, known};

/// Fewest times at which it is compared with the others, and most.
const TIMES: [usize; 2] = [4, 60];

/// Most levels of sums that are told beside each other, as regions between shops and the total.
const MOST_LEVELS: f64 = 4.0;

/// The place of the series that is the sum of all others, or a whole part of it where sums of several levels are among them.
pub(super) fn sum_series(panel: &Panel, latest: &[Latest]) -> Option<usize> {
    if latest.len() < 3 {
        return None;
    }
    let last: Vec<Vec<(i64, f64)>> = latest
        .iter()
        .map(|of_series| {
            let known = known(panel, of_series.series);
            known[known.len().saturating_sub(TIMES[1])..].to_vec()
        })
        .collect();
    let mut sums: HashMap<i64, (f64, usize)> = HashMap::new();
    for (time, value) in last.iter().flatten() {
        let sum = sums.entry(*time).or_default();
        *sum = (sum.0 + value, sum.1 + 1);
    }
    // The largest, if any.
    let size = |values: &[(i64, f64)]| values.iter().map(|(_, value)| value.abs()).sum::<f64>();
    let place = (0..last.len()).max_by(|a, b| size(&last[*a]).total_cmp(&size(&last[*b])))?;
    let ratios: Vec<f64> = last[place]
        .iter()
        .filter(|(time, value)| *value != 0.0 && sums[time].1 == last.len())
        .map(|(time, value)| (sums[time].0 - value) / value)
        .collect();
    let levels = ratios.first()?.round();
    let is_sum = ratios.len() >= TIMES[0]
        && (1.0..=MOST_LEVELS).contains(&levels)
        && ratios.iter().all(|ratio| (ratio - levels).abs() < 1e-3);
    is_sum.then_some(place)
}
