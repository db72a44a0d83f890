//! Tables of forecasts beside their series, as pictures show them.

use foretell_calendar::Zone;
use foretell_data::Panel;
use foretell_tables::Frame;

/// Times and values of a series; masked ones are missing.
pub fn known_values(panel: &Panel, series: usize) -> Vec<(i64, f32)> {
    let values = panel.known_values(series, 0..panel.len(series));
    panel.times(series).zip(values.into_iter().map(|value| value as f32)).collect()
}

/// Of the rows of a series, in any order, those of each forecast in the order of time: of one cutoff; where times come again without
/// cutoffs, a run of rising times.
pub fn windows(frame: &Frame, rows: &[usize]) -> Vec<Vec<usize>> {
    let cutoff = |row: usize| frame.cutoffs.as_ref().map(|cutoffs| cutoffs[row]);
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|&row| (cutoff(row), frame.times[row]));
    let is_twice =
        |pair: &[usize]| cutoff(pair[0]) == cutoff(pair[1]) && frame.times[pair[0]] == frame.times[pair[1]];
    let rows = if sorted.windows(2).any(is_twice) { rows } else { &sorted };
    let joined = |a: &usize, b: &usize| cutoff(*a) == cutoff(*b) && frame.times[*a] < frame.times[*b];
    rows.chunk_by(joined).map(<[usize]>::to_vec).collect()
}

/// The time on civil clocks, which label axes.
pub fn civil(zone: Option<&Zone>, time: i64) -> i64 {
    zone.and_then(|zone| zone.civil(time)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    #[test]
    fn rows_in_any_order_are_the_forecasts_of_their_cutoffs() {
        let frame = |times: &[i64], cutoffs: Option<&[i64]>| Frame {
            ids: vec!["a".into(); times.len()],
            times: times.to_vec(),
            cutoffs: cutoffs.map(<[i64]>::to_vec),
            ..Frame::new(Freq::parse("1").unwrap())
        };
        assert_eq!(windows(&frame(&[3, 1, 2], None), &[0, 1, 2]), [[1, 2, 0]]);
        assert_eq!(windows(&frame(&[3, 2, 2, 3], Some(&[1, 0, 1, 0])), &[0, 1, 2, 3]), [[1, 3], [2, 0]]);
        assert_eq!(windows(&frame(&[1, 2, 1, 2], None), &[0, 1, 2, 3]), [[0, 1], [2, 3]]);
    }
}
