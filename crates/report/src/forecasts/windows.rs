//! Tables of forecasts beside their series, as pictures show them.

use foretell::{Frame, Panel, Zone};

/// Times and values of a series; masked ones are missing.
pub fn known_values(panel: &Panel, series: usize) -> Vec<(i64, f32)> {
    let values = panel.known_values(series, 0..panel.len(series));
    panel.times(series).zip(values.into_iter().map(|value| value as f32)).collect()
}

/// Of the rows of a series those of each forecast: of one cutoff, or a run of rising times.
pub fn windows(frame: &Frame, rows: &[usize]) -> Vec<Vec<usize>> {
    let cutoff = |row: usize| frame.cutoffs.as_ref().map(|cutoffs| cutoffs[row]);
    let joined = |a: &usize, b: &usize| cutoff(*a) == cutoff(*b) && frame.times[*a] < frame.times[*b];
    rows.chunk_by(joined).map(<[usize]>::to_vec).collect()
}

/// The time on civil clocks, which label axes.
pub fn civil(zone: Option<&Zone>, time: i64) -> i64 {
    zone.and_then(|zone| zone.civil(time)).unwrap_or(time)
}
