//! The windows of a panel with their cases: what was known before, and what came.

use foretell::{Future, Panel};

use crate::history::History;
use crate::loss::Case;
use crate::settings::Settings;

/// A window of all series that are scored.
pub(crate) struct Stage {
    /// Steps from its cutoff to the end of each series.
    pub(crate) ahead: usize,
    /// What was known before.
    pub(crate) known: Panel,
    /// The columns of what came.
    pub(crate) future: Option<Future>,
    /// A case for each series of what was known that has rows enough, and the place of the series there.
    pub(crate) cases: Vec<(usize, Case)>,
}

/// The least number of steps before a window for a series to be scored in it.
const FEWEST: usize = 4;

impl Stage {
    /// The window that begins `ahead` steps before the end of each series.
    pub(crate) fn new(panel: &Panel, ahead: usize, h: usize, season: usize, settings: &Settings) -> Self {
        let known = panel.without_last(ahead);
        // Of a window that is shorter than the horizon, steps behind its end are forecast and not scored.
        let of_window = || Future::within(panel, &known, ahead.min(h)).of_steps(h);
        let future = settings.has_columns().then(of_window);
        let case = |place: usize| {
            let rows = known.len(place);
            let series = panel.find(known.id(place))?;
            let y = panel.known_y(series, rows..(rows + h).min(panel.len(series))).into_owned();
            let history = History::of_series(&known, place, rows, season).below_zero(settings.below_zero);
            let is_told = rows >= FEWEST && y.iter().any(|y| !y.is_nan());
            is_told.then_some((place, Case { series, y, history }))
        };
        let cases = (0..known.n_series()).filter_map(case).collect();
        Self { ahead, known, future, cases }
    }
}
