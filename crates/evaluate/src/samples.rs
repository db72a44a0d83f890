//! How rows come together to scores: which rows are a sample, and which samples a group.

use rustc_hash::FxHashMap;

use crate::metric::RowAggregate;
use crate::rows::ScoredRows;
use crate::score_table::{ScoreBy, ScoreGroup, Uncounted};

/// The windows of rows, and their samples and groups.
pub(crate) struct Samples {
    /// Series and cutoff of each window, in the order in which they appear.
    pub(crate) windows: Vec<(u32, i64)>,
    /// What the rows of each group share.
    pub(crate) groups: Vec<ScoreGroup>,
    /// The window of each row.
    window_of_row: Vec<u32>,
    /// The group of each row.
    group_of_row: Vec<u32>,
    kind: SampleKind,
}

/// The rows whose scores become one before groups average them.
#[derive(Clone, Copy, PartialEq)]
enum SampleKind {
    Window,
    Row,
    Group,
}

/// Sums over the rows of a sample.
#[derive(Clone, Copy, Default)]
struct RowSums {
    score: f64,
    rows: f64,
    truth: f64,
}

impl RowSums {
    fn add(&mut self, score: f64, y: f64, weight: f64) {
        if !score.is_nan() {
            self.score += weight * score;
            self.rows += weight;
            self.truth += weight * y.abs();
        }
    }

    /// NaN where there is no row.
    fn total(self, aggregate: RowAggregate) -> f64 {
        match aggregate {
            _ if self.rows == 0.0 => f64::NAN,
            RowAggregate::Mean => self.score / self.rows,
            RowAggregate::RootMean => (self.score / self.rows).sqrt(),
            RowAggregate::Sum => self.score,
            RowAggregate::PerTruth if self.truth == 0.0 => f64::NAN,
            RowAggregate::PerTruth => self.score / self.truth,
        }
    }
}

impl Samples {
    pub(crate) fn of(rows: &ScoredRows<'_>, by: ScoreBy<'_>) -> Self {
        let (windows, window_of_row) = numbered(rows.series.iter().copied().zip(rows.cutoff.iter().copied()));
        let none = ScoreGroup::default();
        let group = |row: usize| {
            let (series, cutoff) = (Some(rows.series[row]), Some(rows.cutoff[row]));
            match by {
                ScoreBy::Window => ScoreGroup { series, cutoff, ..none },
                ScoreBy::Series => ScoreGroup { series, ..none },
                ScoreBy::Cutoff => ScoreGroup { cutoff, ..none },
                ScoreBy::Labels(labels) => {
                    ScoreGroup { label: labels.get(rows.series[row] as usize).copied(), ..none }
                }
                ScoreBy::Step => ScoreGroup { step: Some(rows.step[row]), ..none },
                ScoreBy::All | ScoreBy::Rows => none,
            }
        };
        let (groups, group_of_row) = numbered((0..rows.len()).map(group));
        let kind = match by {
            ScoreBy::Step => SampleKind::Row,
            ScoreBy::Rows => SampleKind::Group,
            _ => SampleKind::Window,
        };
        Self { windows, groups, window_of_row, group_of_row, kind }
    }

    /// Of each group the rows that `is_counted` says.
    pub(crate) fn counts(&self, is_counted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut counts = vec![0; self.groups.len()];
        for (row, &group) in self.group_of_row.iter().enumerate() {
            counts[group as usize] += usize::from(is_counted(row));
        }
        counts
    }

    /// The score of each window, of the rows that count.
    pub(crate) fn window_scores(
        &self,
        y: &[f64],
        counts: &[bool],
        score: impl Fn(usize) -> f64,
        aggregate: RowAggregate,
    ) -> Vec<f64> {
        let mut sums = vec![RowSums::default(); self.windows.len()];
        for row in (0..y.len()).filter(|row| counts[*row]) {
            sums[self.window_of_row[row] as usize].add(score(row), y[row], 1.0);
        }
        sums.into_iter().map(|sums| sums.total(aggregate)).collect()
    }

    /// The score of each group, of the rows that count, each divided by the scale of its window, with the weight of its window.
    pub(crate) fn scores(
        &self,
        y: &[f64],
        counts: &[bool],
        scales: &[f64],
        score: impl Fn(usize) -> f64,
        aggregate: RowAggregate,
        weight: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let window = |row: usize| self.window_of_row[row] as usize;
        let scaled = |row: usize| score(row) / scales[window(row)];
        let mut sums = vec![RowSums::default(); self.groups.len()];
        let mut add = |row: usize, score: f64, y: f64| {
            sums[self.group_of_row[row] as usize].add(score, y, weight(window(row)));
        };
        let counted = || (0..y.len()).filter(|row| counts[*row]);
        match self.kind {
            SampleKind::Group => {
                counted().for_each(|row| add(row, scaled(row), y[row]));
                return sums.into_iter().map(|sums| sums.total(aggregate)).collect();
            }
            SampleKind::Row => {
                for row in counted() {
                    let mut sample = RowSums::default();
                    sample.add(scaled(row), y[row], 1.0);
                    add(row, sample.total(aggregate), 1.0);
                }
            }
            SampleKind::Window => {
                let mut first = vec![None; self.windows.len()];
                for row in 0..y.len() {
                    first[window(row)].get_or_insert(row);
                }
                let scores = self.window_scores(y, counts, scaled, aggregate);
                for (row, score) in first.into_iter().zip(scores) {
                    row.into_iter().for_each(|row| add(row, score, 1.0));
                }
            }
        }
        sums.into_iter().map(|sums| sums.total(RowAggregate::Mean)).collect()
    }

    /// Of each group the rows and windows that all models have (`common`) and that do not count.
    pub(crate) fn uncounted(
        &self,
        y: &[f64],
        common: &[bool],
        counts: &[bool],
        scales: &[f64],
        per_truth: bool,
    ) -> Vec<Uncounted> {
        let mut uncounted = vec![Uncounted::default(); self.groups.len()];
        // Of each pair of group and window, whether a row of it counts.
        let mut windows: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        let mut is_whole = true;
        for row in (0..y.len()).filter(|row| common[*row]) {
            let (group, window) = (self.group_of_row[row], self.window_of_row[row]);
            uncounted[group as usize].rows += usize::from(!counts[row]);
            let counted = counts[row] && !scales[window as usize].is_nan() && !(per_truth && y[row] == 0.0);
            is_whole &= counted;
            *windows.entry((group, window)).or_default() |= counted;
        }
        if !is_whole {
            for ((group, _), counted) in windows {
                uncounted[group as usize].windows += usize::from(!counted);
            }
        }
        uncounted
    }
}

/// The different keys in the order in which they appear, and the number of each.
fn numbered<K: Copy + Eq + std::hash::Hash>(keys: impl Iterator<Item = K>) -> (Vec<K>, Vec<u32>) {
    let (mut known, mut places) = (Vec::new(), FxHashMap::default());
    let numbers = keys.map(|key| {
        *places.entry(key).or_insert_with(|| {
            known.push(key);
            known.len() as u32 - 1
        })
    });
    let numbers = numbers.collect();
    (known, numbers)
}
