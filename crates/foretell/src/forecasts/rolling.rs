//! Forecasts from several cutoffs as a table beside the truth.

use std::ops::Range;

use foretell_data::Panel;
use foretell_tables::Frame;

use crate::error::Error;
use crate::stages::window_forecasts::WindowForecasts;
use crate::trained_models::TrainedModels;

/// The rows of a table that belong to one series, and how many of the series' own come before each of
/// its forecasts.
pub(crate) struct SeriesRows {
    pub(crate) series: usize,
    pub(crate) rows: Range<usize>,
    pub(crate) known: Vec<usize>,
}

/// The table of the forecasts of windows of `h` steps within the series of a panel: `unique_id, ds, cutoff, y` and the
/// models' columns.
pub(crate) fn table(
    trained: &TrainedModels,
    panel: &Panel,
    h: usize,
    forecasts: WindowForecasts,
) -> Result<(Frame, Vec<SeriesRows>), Error> {
    let mut frame = trained.frame(panel);
    let (mut cutoffs, mut truth, mut rows) = (Vec::new(), Vec::new(), Vec::<SeriesRows>::new());
    for (series, before) in forecasts.windows {
        let start = frame.ids.len();
        frame.ids.extend(std::iter::repeat_n(panel.id(series), h).cloned());
        frame.times.extend((before..before + h).map(|row| panel.time(series, row)));
        let cutoff = match before.checked_sub(1) {
            Some(row) => panel.time(series, row),
            None => panel.time_before(series)?,
        };
        cutoffs.extend(std::iter::repeat_n(cutoff, h));
        truth.extend(&panel.known_y(series, before..before + h)[..]);
        if rows.last().is_none_or(|last| last.series != series) {
            rows.push(SeriesRows { series, rows: start..start, known: Vec::new() });
        }
        if let Some(last) = rows.last_mut() {
            last.rows.end = frame.ids.len();
            last.known.push(before);
        }
    }
    frame.cutoffs = Some(cutoffs);
    frame.columns.push((trained.pipeline.columns.target.clone(), truth));
    frame.push_forecasts(forecasts.columns);
    Ok((frame, rows))
}
