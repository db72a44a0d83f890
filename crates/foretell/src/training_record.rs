//! The record of the data that models were trained on, which is kept with them.

use foretell_data::Panel;
use serde::{Deserialize, Serialize};

/// By what and on what models were trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// The version of foretell.
    pub version: String,
    /// Series that there were.
    pub series: usize,
    /// Their rows, those of validation included.
    pub rows: usize,
    /// The first time of any series.
    pub first: String,
    /// The last one.
    pub last: String,
    /// The mean sizes of the values of the smallest and of the largest series; nothing where all are 0, or an older version trained.
    #[serde(default)]
    pub sizes: Option<[f64; 2]>,
}

/// How many times as small or large as all series of the training those of another panel are, where that is no matter of the panel.
const OTHER: f64 = 30.0;

/// The mean sizes of the values of the smallest and of the largest series.
fn sizes(panel: &Panel) -> Option<[f64; 2]> {
    let size = |series: usize| {
        let (y, level) = (panel.known_y(series, 0..panel.len(series)), panel.level(series));
        let known = || y.iter().filter(|y| !y.is_nan()).map(|y| level.value(*y).abs());
        known().sum::<f64>() / known().count().max(1) as f64
    };
    let sizes = (0..panel.n_series()).map(size).filter(|size| *size > 0.0);
    sizes.map(|size| [size; 2]).reduce(|[low, high], [size, _]| [low.min(size), high.max(size)])
}

impl TrainingRecord {
    /// That of a training on this panel without the last `test_size` rows of each series; nothing without rows.
    pub(crate) fn of(panel: &Panel, test_size: usize) -> Option<Self> {
        let rows = |series: usize| panel.len(series).saturating_sub(test_size);
        let known = || (0..panel.n_series()).filter(|&series| rows(series) > 0);
        let first = known().map(|series| panel.time(series, 0)).min()?;
        let last = known().map(|series| panel.time(series, rows(series) - 1)).max()?;
        let told = |time: i64| {
            let civil = panel.zone().and_then(|zone| zone.civil(time)).unwrap_or(time);
            panel.freq().kind().display(civil).to_string()
        };
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            series: known().count(),
            rows: known().map(rows).sum(),
            first: told(first),
            last: told(last),
            sizes: sizes(panel),
        })
    }

    /// That of a training on two parts of a panel.
    pub(crate) fn joined(one: Self, other: Self) -> Self {
        // Times that are no dates are integers, which have no order as texts.
        let is_before = |a: &str, b: &str| match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) => a <= b,
            _ => a <= b,
        };
        let sizes = match (one.sizes, other.sizes) {
            (Some([low, high]), Some([least, most])) => Some([low.min(least), high.max(most)]),
            (one, other) => one.or(other),
        };
        Self {
            version: one.version,
            series: one.series + other.series,
            rows: one.rows + other.rows,
            first: if is_before(&one.first, &other.first) { one.first } else { other.first },
            last: if is_before(&one.last, &other.last) { other.last } else { one.last },
            sizes,
        }
    }

    /// How many times as large the series of a panel are as those of the training, if all are of another size than each of those.
    pub(crate) fn other_size(&self, panel: &Panel) -> Option<f64> {
        let ([low, high], [own_low, own_high]) = (self.sizes?, sizes(panel)?);
        let is_other = own_low > OTHER * high || low > OTHER * own_high;
        is_other.then(|| ((own_low * own_high) / (low * high)).sqrt())
    }
}
