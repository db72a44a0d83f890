//! The sums of steps as a panel of their own.

use foretell::{Freq, Panel, SeriesLevel};

use foretell::DataError;

/// The sums of `steps` steps each, of the first `ends` rows of each series, counted back from there: what is left at the beginning
/// makes none. A sum of which a value is unknown is unknown. Series of fewer than `needed` sums are left out; nothing if all are.
///
/// Sums are of the values as the panel holds them, and so are forecasts of them: a level is the same in each step.
pub(super) fn sums(
    panel: &Panel,
    (freq, steps): (Freq, usize),
    ends: &[usize],
    needed: usize,
) -> Result<Option<Panel>, DataError> {
    let mut builder = Panel::builder(freq.kind()).freq(freq);
    // As many hours are a day of clocks only where these are not changed.
    if let Some(zone) = panel.zone().filter(|_| panel.freq().is_daily_or_coarser()) {
        builder = builder.zone(zone.clone());
    }
    let (mut mask, mut any) = (Vec::new(), false);
    for (series, &end) in ends.iter().enumerate() {
        let (start, count) = (end % steps, end / steps);
        if count < needed.max(1) {
            continue;
        }
        let y = panel.known_y(series, start..end);
        let y: Vec<f64> =
            y.chunks_exact(steps).map(|values| values.iter().map(|value| f64::from(*value)).sum()).collect();
        let times: Vec<i64> = (0..count).map(|place| panel.time(series, start + place * steps)).collect();
        mask.extend(y.iter().map(|sum| if sum.is_nan() { 0.0 } else { 1.0 }));
        builder = builder.wide_series(panel.id(series), &times, &y);
        any = true;
    }
    if !any {
        return Ok(None);
    }
    if mask.contains(&0.0) {
        builder = builder.available_mask(&mask);
    }
    Ok(Some(builder.build()?.with_levels(|_| SeriesLevel::default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_counted_back_from_the_end() {
        let day = Freq::parse("D").unwrap();
        let y: Vec<f32> = (1..=8).map(|value| value as f32).collect();
        let panel = Panel::from_series(day, [("a", 0, y), ("b", 0, vec![1.0; 2])]).unwrap();
        let found = sums(&panel, (Freq::parse("3D").unwrap(), 3), &[8, 2], 1).unwrap().unwrap();
        assert_eq!((found.n_series(), found.y(0)), (1, &[12.0, 21.0][..]));
        assert_eq!(found.time(0, 0), panel.time(0, 2));
        assert!(sums(&panel, (day, 3), &[8, 2], 3).unwrap().is_none());
    }

    #[test]
    fn hours_are_counted_where_clocks_are_changed() {
        let hour = Freq::parse("h").unwrap();
        let start = hour.kind().parse("2023-10-27 22:00").unwrap();
        let times: Vec<i64> = (0..72).map(|at| start + at * 3_600_000_000).collect();
        let builder =
            Panel::builder(hour.kind()).zone(foretell::Zone::parse("Europe/Berlin").unwrap()).freq(hour);
        let panel = builder.series("a", &times, &[1.0; 72]).build().unwrap();
        let found = sums(&panel, (Freq::parse("24h").unwrap(), 24), &[72], 1).unwrap().unwrap();
        assert_eq!(found.y(0), [24.0; 3]);
    }

    #[test]
    fn an_unknown_value_makes_an_unknown_sum() {
        let panel = Panel::builder(Freq::parse("1").unwrap().kind())
            .series("a", &[1_i64, 2, 3, 4], &[1.0, f32::NAN, 3.0, 4.0])
            .available_mask(&[1.0, 0.0, 1.0, 1.0])
            .freq(Freq::parse("1").unwrap())
            .build()
            .unwrap();
        let found = sums(&panel, (Freq::parse("2").unwrap(), 2), &[4], 1).unwrap().unwrap();
        let known = found.known_y(0, 0..2);
        assert!(known[0].is_nan() && known[1] == 7.0, "{known:?}");
    }
}
