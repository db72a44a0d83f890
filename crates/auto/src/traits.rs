//! What of a panel decides which models suit it.

use foretell::Panel;

use crate::history::{History, SeriesGroup};
use crate::season::{seasons, typical_len};

/// Most series that are looked at.
const SERIES: usize = 500;

/// The least factor of growth, or of decline, by which logarithms are worth a try.
const MULTIPLIED: f64 = 1.5;

/// What of a panel decides which models suit it.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelTraits {
    /// Series.
    pub series: usize,
    /// Steps that half of the series have.
    pub typical_len: usize,
    /// Steps of the longest series.
    pub longest: usize,
    /// The seasons that models are told, the main one first; 1 for none.
    pub seasons: Vec<usize>,
    /// The share of the series with many zeros and nothing below.
    pub intermittent: f64,
    /// The series that are 0 at more than half of their steps, of all.
    pub rare: usize,
    /// The share of the series of few steps.
    pub short: f64,
    /// The share of the series whose values are all above zero, and have grown by half or shrunk by a third from their first third to their
    /// last: those that may go on by a share.
    pub multiplied: f64,
    /// Steps to forecast.
    pub h: usize,
    /// Columns that are known ahead.
    pub futr: usize,
}

impl PanelTraits {
    /// Those of a panel for a horizon of `h` steps, with these seasons or, where none are named, those that are found.
    pub fn of(panel: &Panel, h: usize, named: &[usize], futr: usize) -> Self {
        let seasons = if named.is_empty() { seasons(panel) } else { named.to_vec() };
        let every = panel.n_series().div_ceil(SERIES).max(1);
        let looked_at: Vec<(SeriesGroup, bool)> = (0..panel.n_series())
            .step_by(every)
            .map(|series| {
                let history = History::of_series(panel, series, panel.len(series), seasons[0]);
                (history.group, history.grown.max(history.grown.recip()) >= MULTIPLIED)
            })
            .collect();
        let share_of = |is: &dyn Fn(&(SeriesGroup, bool)) -> bool| {
            looked_at.iter().filter(|series| is(series)).count() as f64 / looked_at.len().max(1) as f64
        };
        let share = |group| share_of(&|series| series.0 == group);
        Self {
            series: panel.n_series(),
            typical_len: typical_len(panel),
            longest: panel.max_len(),
            intermittent: share(SeriesGroup::Intermittent),
            rare: rare_series(panel, seasons[0]),
            short: share(SeriesGroup::Short),
            multiplied: share_of(&|series| series.1),
            seasons,
            h,
            futr,
        }
    }

    /// The main season.
    pub fn season(&self) -> usize {
        self.seasons[0]
    }

    /// The steps that a method is given of all series together, to which its time is proportional.
    pub(crate) fn steps(&self, most: usize) -> f64 {
        (self.series * self.typical_len.min(most)) as f64
    }
}

/// How many series are [rare](History::is_rare).
fn rare_series(panel: &Panel, season: usize) -> usize {
    let history = |series: usize| History::of_series(panel, series, panel.len(series), season);
    (0..panel.n_series()).filter(|&series| history(series).is_rare).count()
}
