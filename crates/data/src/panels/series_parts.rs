//! The values of a column, each series apart.

use std::ops::Range;

/// The values of these rows of each series, in the order of `series`, whose rows have none in common: so threads change series side by
/// side.
pub(crate) fn series_parts<T>(values: &mut [T], series: impl Iterator<Item = Range<usize>>) -> Vec<&mut [T]> {
    let ranges: Vec<Range<usize>> = series.collect();
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|&index| ranges[index].start);
    let mut parts: Vec<&mut [T]> = Vec::new();
    parts.resize_with(ranges.len(), Default::default);
    let (mut rest, mut passed) = (values, 0);
    for index in order {
        let Range { start, end } = ranges[index].clone();
        let (rows, behind) = std::mem::take(&mut rest).split_at_mut(end - passed);
        parts[index] = &mut rows[start - passed..];
        (rest, passed) = (behind, end);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_series_has_its_rows_wherever_they_are() {
        let mut values: Vec<u8> = (0..9).collect();
        let parts = series_parts(&mut values, [6..8, 0..3, 3..3, 4..6].into_iter());
        assert_eq!(parts, [&[6, 7][..], &[0, 1, 2], &[], &[4, 5]]);
    }
}
