//! Errors of forecasts of series that are too short for forecasts of their end: those of the other series.

use foretell_data::{DataError, Panel};
use foretell_estimator::{quantile, upper_median};
use foretell_tables::Frame;

use crate::conformal::PredictionIntervals;
use crate::error::Error;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// Warns of the series of a panel that are not among the `long` ones, which have `needed` rows.
pub(crate) fn warn_of_pooled(warnings: &WarningListener, [panel, long]: [&Panel; 2], needed: usize) {
    let is_short = |series: &usize| long.find(panel.id(*series)).is_none();
    let series: Vec<_> = (0..panel.n_series())
        .filter(is_short)
        .map(|series| (panel.id(series).to_string(), panel.len(series)))
        .collect();
    if !series.is_empty() {
        warnings.warn(&Warning::PooledErrors { series, needed });
    }
}

/// The table of such forecasts of `h` steps of the `long` series of a panel, their truth first, with rows for the others: of each step
/// the errors that lie evenly among those of the long series, above and below by turns, in proportion to the mean size of the changes
/// of a series from row to row. A truth that is not known is the mean of the series.
pub(crate) fn with_pooled(
    [panel, long]: [&Panel; 2],
    frame: Frame,
    windows: PredictionIntervals,
    h: usize,
) -> Result<Frame, Error> {
    if panel.n_series() == long.n_series() {
        return Ok(frame);
    }
    let each = windows.n_windows * h;
    let scales: Vec<f64> = (0..long.n_series()).map(|series| scale(long, series)).collect();
    let (_, truth) = &frame.columns[0];
    let typical = typical_change(long);
    let pool = |(_, forecasts): &(String, Vec<f32>)| -> Vec<Vec<f64>> {
        let of_step = |step: usize| {
            let rows = (step..truth.len()).step_by(h);
            let error = |row: usize| f64::from(forecasts[row] - truth[row]).abs() / scales[row / each];
            let mut errors: Vec<f64> = rows.map(error).filter(|error| error.is_finite()).collect();
            errors.sort_unstable_by(f64::total_cmp);
            errors
        };
        (0..h).map(of_step).collect()
    };
    let pools: Vec<Vec<Vec<f64>>> = frame.columns[1..].iter().map(pool).collect();
    let mut whole = Frame {
        ids: Vec::new(),
        times: Vec::new(),
        cutoffs: Some(Vec::new()),
        columns: frame.columns.iter().map(|(name, _)| (name.clone(), Vec::new())).collect(),
        wide: std::collections::BTreeMap::new(),
        ..frame.clone()
    };
    let cutoffs = frame.cutoffs.as_deref().unwrap_or_default();
    for series in 0..panel.n_series() {
        let id = panel.id(series);
        whole.ids.extend(std::iter::repeat_n(id.clone(), each));
        let all_cutoffs = whole.cutoffs.get_or_insert_default();
        if let Some(place) = long.find(id) {
            let rows = place * each..(place + 1) * each;
            whole.times.extend_from_slice(&frame.times[rows.clone()]);
            all_cutoffs.extend_from_slice(&cutoffs[rows.clone()]);
            for ((_, column), (_, own)) in whole.columns.iter_mut().zip(&frame.columns) {
                column.extend_from_slice(&own[rows.clone()]);
            }
            continue;
        }
        let len = panel.len(series);
        let known = panel.known_y(series, 0..len);
        let own_scale = change(panel, series).unwrap_or_else(|| typical * scale(panel, series));
        let mean = mean(known.iter().copied());
        let end = panel.time(series, len - 1);
        let time = |row: i64| {
            let time = panel.freq().next_in(panel.zone(), end, row - (len as i64 - 1));
            time.ok_or_else(|| DataError::time_range(id))
        };
        for window in 0..windows.n_windows {
            let before = len as i64 - windows.test_size(h) as i64 + (window * windows.step_size) as i64;
            let sign = if window % 2 == 0 { 1.0 } else { -1.0 };
            let part = (window as f64 + 0.5) / windows.n_windows as f64;
            for step in 0..h {
                let row = before + step as i64;
                whole.times.push(time(row)?);
                all_cutoffs.push(time(before - 1)?);
                let known = usize::try_from(row).ok().and_then(|row| known.get(row)).copied();
                let truth = known.filter(|y| !y.is_nan()).map_or(mean, f64::from);
                let errors = pools.iter().map(|pool| sign * own_scale * quantile(&pool[step], part));
                let values = std::iter::once(truth).chain(errors.map(|error| truth + error));
                whole
                    .columns
                    .iter_mut()
                    .zip(values)
                    .for_each(|((_, column), value)| column.push(value as f32));
            }
        }
    }
    Ok(whole)
}

/// The mean size of the changes of a series from row to row, if it changes.
fn change(panel: &Panel, series: usize) -> Option<f64> {
    let known = panel.known_y(series, 0..panel.len(series));
    let changes = mean(known.windows(2).map(|pair| (pair[1] - pair[0]).abs()));
    (changes > 0.0).then_some(changes)
}

/// The mean size of the values of a series, if they are not all 0.
fn size(panel: &Panel, series: usize) -> Option<f64> {
    let known = panel.known_y(series, 0..panel.len(series));
    let sizes = mean(known.iter().map(|y| y.abs()));
    (sizes > 0.0).then_some(sizes)
}

/// The mean size of the changes of a series from row to row; of one that never changes that of its values, and 1 of zeros.
fn scale(panel: &Panel, series: usize) -> f64 {
    change(panel, series).or_else(|| size(panel, series)).unwrap_or(1.0)
}

/// The share of its size by which the middle one of these series changes from row to row; 1 where none changes.
fn typical_change(panel: &Panel) -> f64 {
    let shares =
        (0..panel.n_series()).filter_map(|series| Some(change(panel, series)? / size(panel, series)?));
    let mut shares: Vec<f64> = shares.collect();
    upper_median(&mut shares).unwrap_or(1.0)
}

/// The mean of the values that are known; 0 without any.
fn mean(values: impl Iterator<Item = f32>) -> f64 {
    let known = values.filter(|value| !value.is_nan());
    let (sum, count) = known.fold((0.0, 0.0), |(sum, count), value| (sum + f64::from(value), count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    /// A product of one row is no less certain than others of its size.
    #[test]
    fn a_series_that_never_changed_is_taken_to_change_as_others_of_its_size() {
        let freq = Freq::parse("1").unwrap();
        let long = |at: f32| vec![at, at * 1.1, at, at * 1.1];
        let series = [("a", 0, long(10.0)), ("b", 0, long(100.0)), ("s", 3, vec![50.0])];
        let panel = Panel::from_series(freq, series).unwrap();
        let long = panel.without_shorter_than(4);
        let windows = PredictionIntervals { n_windows: 1, ..PredictionIntervals::default() };
        let frame = Frame {
            ids: ["a", "b"].map(Into::into).to_vec(),
            times: vec![3, 3],
            cutoffs: Some(vec![2, 2]),
            // Errors of a change each.
            columns: vec![("y".to_owned(), vec![11.0, 110.0]), ("M".to_owned(), vec![10.0, 100.0])],
            ..Frame::new(freq)
        };
        let whole = with_pooled([&panel, &long], frame, windows, 1).unwrap();
        let error = whole.columns[1].1[2] - whole.columns[0].1[2];
        // A change of 1 of values around 10.5.
        assert!((error - 50.0 / 10.5).abs() < 1e-4, "{error}");
    }

    #[test]
    fn short_series_have_the_errors_of_others_in_proportion() {
        let freq = Freq::parse("1").unwrap();
        // Changes of 1 and of 10; the short one's of 2.
        let series = [
            ("a", 0, vec![1.0, 2.0, 1.0, 2.0]),
            ("b", 0, vec![10.0, 20.0, 10.0, 20.0]),
            ("s", 3, vec![4.0, 6.0]),
        ];
        let panel = Panel::from_series(freq, series).unwrap();
        let long = panel.without_shorter_than(4);
        let windows = PredictionIntervals { n_windows: 2, ..PredictionIntervals::default() };
        let frame = Frame {
            ids: ["a", "a", "b", "b"].map(Into::into).to_vec(),
            times: vec![2, 3, 2, 3],
            cutoffs: Some(vec![1, 2, 1, 2]),
            // Errors of 1 and 3 changes of a, of 2 and 2 of b.
            columns: vec![
                ("y".to_owned(), vec![1.0, 2.0, 10.0, 20.0]),
                ("M".to_owned(), vec![2.0, 5.0, 30.0, 40.0]),
            ],
            ..Frame::new(freq)
        };
        let whole = with_pooled([&panel, &long], frame, windows, 1).unwrap();
        assert_eq!(whole.ids[4..], ["s".into(), "s".into()]);
        assert_eq!((&whole.times[4..], &whole.cutoffs.unwrap()[4..]), (&[3, 4][..], &[2, 3][..]));
        assert_eq!(whole.columns[0].1[4..], [4.0, 6.0]);
        // Of 1, 2, 2, 3 a quarter of the way is at 1.75, three quarters at 2.25.
        assert_eq!(whole.columns[1].1[4..], [4.0 + 2.0 * 1.75, 6.0 - 2.0 * 2.25]);
    }
}
