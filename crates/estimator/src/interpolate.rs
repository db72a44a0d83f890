//! Unknown values of a history, for methods that need one without gaps.

/// Puts in place of each unknown value (NaN) the one on the line between its known neighbours; before the first and behind the last
/// known one these are repeated. False, and nothing is changed, if none is known.
///
/// ```
/// let mut y = [f64::NAN, 1.0, f64::NAN, 2.0];
/// assert!(foretell_estimator::interpolate(&mut y));
/// assert_eq!(y, [1.0, 1.0, 1.5, 2.0]);
/// ```
pub fn interpolate(y: &mut [f64]) -> bool {
    let known: Vec<usize> = (0..y.len()).filter(|&t| !y[t].is_nan()).collect();
    let (Some(&first), Some(&last)) = (known.first(), known.last()) else { return false };
    let (head, tail) = (y[first], y[last]);
    y[..first].fill(head);
    y[last..].fill(tail);
    for pair in known.windows(2) {
        let (from, to) = (y[pair[0]], y[pair[1]]);
        let steps = (pair[1] - pair[0]) as f64;
        for (i, t) in (pair[0] + 1..pair[1]).enumerate() {
            y[t] = from + (to - from) * (i + 1) as f64 / steps;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_lie_between_their_neighbours() {
        let nan = f64::NAN;
        let mut y = [nan, 1.0, nan, nan, 4.0, 2.0, nan];
        assert!(interpolate(&mut y));
        assert_eq!(y, [1.0, 1.0, 2.0, 3.0, 4.0, 2.0, 2.0]);
        assert!(!interpolate(&mut [nan; 3]) && !interpolate(&mut []));
    }
}
