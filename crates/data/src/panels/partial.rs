//! Periods that rows are gathered in and that are not complete: at the beginning or the end of a series.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::fill::Fill;
use super::holes::UsualSteps;
use super::periods::{Periods, civil};
use super::rows::{SeriesRun, TableRows};
use crate::error::DataError;
use crate::error::misread::MisreadTable;
use foretell_calendar::Zone;
use foretell_tables::ReadNote;

/// The fewest steps between rows that tell how far apart they usually are, where few periods do.
const LEAST_STEPS: usize = 2;

/// Steps within a period from which their usual length says whether one is missing, and the tolerance of margins: months are of 28 to 31
/// days.
const STEPS: i64 = 5;
const TOLERANCE: [i64; 2] = [9, 8];

/// The share of periods with several rows up to which the others' one row is all that they have.
const SEVERAL: f64 = 0.05;

/// The part of a period that misses rows of a series, though others have theirs, from which on its value is no longer near that of the whole.
const GOOD_PART: f64 = 0.2;

/// The share of periods whose rows begin or end at the same place that makes this usual.
const ALIKE: f64 = 0.75;

/// The rows of a period: the first and the last time, and how many there are.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: i64,
    last: i64,
    rows: usize,
}

/// The periods of some rows by their names.
type Spans = BTreeMap<i64, Span>;

/// Whether the first or the last period of some rows lacks any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lack {
    Nothing,
    /// Its rows begin or end otherwise than those of other periods, and nothing says that there are more.
    Possible,
    /// Rows are missing that stand in usual steps.
    Firm,
}

/// The first and the last period of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartialEdges {
    /// Those that are not complete,
    firm: [Option<i64>; 2],
    /// and whether they may be so.
    possible: [bool; 2],
}

impl TableRows {
    /// Of each run of an arranged table, the first and the last period with known values, where they miss rows that the periods between
    /// have: of the rows of all series together, if these follow each other in usual steps and the run begins or ends in the same period
    /// as they do, or of its own rows, if a good part of the period is missing. An absent row alone costs no series its period.
    pub(super) fn partial_periods(&self, periods: &Periods, zone: Option<&Zone>) -> Vec<PartialEdges> {
        let (mut names, mut times) = (Vec::new(), Vec::new());
        let mut of_all = Spans::new();
        let mut own = Vec::with_capacity(self.runs.len());
        let (mut several, mut count) = (0, 0);
        for run in &self.runs {
            self.known_within(run, zone, &mut names, &mut times);
            let spans = spans(&names, &times);
            for (name, span) in &spans {
                several += usize::from(span.rows > 1);
                let all = of_all.entry(*name).or_insert(Span { rows: 0, ..*span });
                (all.first, all.last) = (all.first.min(span.first), all.last.max(span.last));
                all.rows += span.rows;
            }
            count += spans.len();
            // When there are no more rows of a few sales, or absent ones are 0, it is the others that say whether the period is over.
            let steps = match self.fill {
                Some(Fill::Zero) => None,
                _ => UsualSteps::of(&mut times, LEAST_STEPS),
            };
            let lacks = match steps {
                Some(_) => lacks(&spans, periods, zone, GOOD_PART, || steps),
                None => [Lack::Nothing; 2],
            };
            own.push((edges(&spans), lacks));
        }
        // No one can count the rows of periods that have one each.
        if several as f64 <= SEVERAL * count as f64 {
            return vec![PartialEdges::default(); own.len()];
        }
        let together = lacks(&of_all, periods, zone, 0.0, || self.steps_of_all(zone));
        let ends = edges(&of_all);
        let partial = |(of_run, own): ([Option<i64>; 2], [Lack; 2])| {
            let lacks = [0, 1].map(|edge| match of_run[edge] == ends[edge] {
                true => own[edge].max(together[edge]),
                false => own[edge],
            });
            PartialEdges {
                firm: [0, 1].map(|edge| of_run[edge].filter(|_| lacks[edge] == Lack::Firm)),
                possible: lacks.map(|lack| lack == Lack::Possible),
            }
        };
        own.into_iter().map(partial).collect()
    }

    /// The rows of a run whose value is known: the names of their periods, and their times as clocks show them, so that a day on which
    /// they are changed is no longer than others.
    pub(super) fn known_within(
        &self,
        run: &SeriesRun,
        zone: Option<&Zone>,
        names: &mut Vec<i64>,
        times: &mut Vec<i64>,
    ) {
        self.times.copy(run.start, run.len, names);
        self.within.copy(run.start, run.len, times);
        let mut known = 0;
        for i in 0..run.len {
            if self.is_known(run.start + i) {
                (names[known], times[known]) = (names[i], civil(zone, times[i]));
                known += 1;
            }
        }
        names.truncate(known);
        times.truncate(known);
    }

    /// Whether a row has a value: a missing one is known where it was said to be 0.
    fn is_known(&self, row: usize) -> bool {
        let has_value = !self.y[row].is_nan() || self.fill == Some(Fill::Zero);
        has_value && self.mask.as_ref().is_none_or(|mask| mask[row] != 0.0)
    }

    /// The steps between the times of all series.
    fn steps_of_all(&self, zone: Option<&Zone>) -> Option<UsualSteps> {
        let (mut names, mut times) = (Vec::new(), Vec::new());
        // Series have mostly the same times, so that few are kept.
        let mut all: FxHashSet<i64> = FxHashSet::default();
        for run in &self.runs {
            self.known_within(run, zone, &mut names, &mut times);
            all.extend(&times);
        }
        UsualSteps::of(&mut all.into_iter().collect(), LEAST_STEPS)
    }

    /// Leaves these periods out, and what stands before the first and behind the last ones, or keeps them; and says so. Those that may be
    /// complete are told alone.
    ///
    /// # Errors
    /// If no period is left.
    pub(super) fn take_partial(&mut self, partial: &[PartialEdges], kept: bool) -> Result<(), DataError> {
        let count = |edge: usize| partial.iter().filter(|run| run.firm[edge].is_some()).count();
        let [first, last] = [count(0), count(1)];
        if first + last > 0 {
            let series = if kept { Vec::new() } else { self.leave_out(partial)? };
            let table = self.origin.table();
            self.note(vec![ReadNote::PartialPeriods { table, first, last, kept, series }]);
        }
        let count = |edge: usize| partial.iter().filter(|run| run.possible[edge]).count();
        let [first, last] = [count(0), count(1)];
        if first + last > 0 {
            let table = self.origin.table();
            self.note(vec![ReadNote::PossiblyPartial { table, first, last }]);
        }
        Ok(())
    }

    /// Leaves out the periods that are not complete; the ids of the series that have no other.
    ///
    /// # Errors
    /// If no period is left.
    fn leave_out(&mut self, partial: &[PartialEdges]) -> Result<Vec<String>, DataError> {
        let mut times = Vec::new();
        for (run, PartialEdges { firm: [first, last], .. }) in self.runs.iter_mut().zip(partial) {
            self.times.copy(run.start, run.len, &mut times);
            let start = first.map_or(0, |name| times.partition_point(|time| *time <= name));
            let end = last.map_or(run.len, |name| times.partition_point(|time| *time < name));
            (run.start, run.len) = (run.start + start, end.saturating_sub(start));
        }
        let empty = self.runs.iter().filter(|run| run.len == 0);
        let mut series: Vec<String> = empty.map(|run| self.id(run).to_string()).collect();
        self.runs.retain(|run| run.len > 0);
        if self.runs.is_empty() {
            return Err(MisreadTable::NoWholePeriod { table: self.origin.table() }.into());
        }
        series.sort_unstable();
        Ok(series)
    }
}

/// The names of the first and the last period.
fn edges(spans: &Spans) -> [Option<i64>; 2] {
    [spans.keys().next().copied(), spans.keys().next_back().copied()]
}

/// The periods of rows that stand in the order of their names.
fn spans(names: &[i64], times: &[i64]) -> Spans {
    let mut spans = Spans::new();
    for (name, &time) in names.iter().zip(times) {
        let span = spans.entry(*name).or_insert(Span { first: time, last: time, rows: 0 });
        (span.first, span.last) = (span.first.min(time), span.last.max(time));
        span.rows += 1;
    }
    spans
}

/// The beginning or the end of some rows.
struct Edge {
    /// What the first or the last period leaves free there, and its length.
    free: Range<i64>,
    period: i64,
    /// How much the periods between leave free there, upwards.
    between: Vec<i64>,
}

impl Edge {
    /// Both edges of rows; nothing where the calendar ends.
    fn both(spans: &Spans, periods: &Periods, zone: Option<&Zone>) -> Option<[Self; 2]> {
        let margins = spans.iter().map(|(name, span)| {
            let bounds = periods.bounds(zone, *name)?;
            let [start, end] = [bounds.start, bounds.end].map(|time| civil(zone, time));
            Some(([start..span.first, span.last..end], end - start))
        });
        let margins = margins.collect::<Option<Vec<_>>>()?;
        let [first, last] = [margins.first()?, margins.last()?];
        let between = margins.get(1..margins.len() - 1).unwrap_or_default();
        let edge = |at: usize, (free, period): &([Range<i64>; 2], i64)| {
            let mut between: Vec<i64> = between.iter().map(|(free, _)| length(&free[at])).collect();
            between.sort_unstable();
            Self { free: free[at].clone(), period: *period, between }
        };
        Some([edge(0, first), edge(1, last)])
    }

    /// The most that a period between leaves free.
    fn most(&self) -> Option<i64> {
        self.between.last().copied()
    }

    /// Whether more is free than in any period between.
    fn is_odd(&self) -> bool {
        self.most().is_none_or(|most| TOLERANCE[1] * length(&self.free) > TOLERANCE[0] * most)
    }

    /// Whether most periods between leave the same free.
    fn is_alike_between(&self) -> bool {
        let most =
            self.between.chunk_by(|one, other| one == other).map(<[i64]>::len).max().unwrap_or_default();
        most as f64 >= ALIKE * self.between.len() as f64
    }

    /// What is missing, where this edge is odd: firm from this part of the period on. `lacks_steps` is whether a usual step of the rows
    /// has room in what is free.
    fn lack(&self, steps: Option<(UsualSteps, bool)>, least: f64) -> Lack {
        let Some((steps, lacks_steps)) = steps else {
            // Without others, and without usual steps, nothing says what a period has.
            return if self.between.is_empty() { Lack::Nothing } else { Lack::Possible };
        };
        let is_told_by_steps = self.between.is_empty() || steps.are_several_in(self.period / STEPS);
        if is_told_by_steps && !lacks_steps {
            return Lack::Nothing;
        }
        let missing = length(&self.free) - self.most().unwrap_or_else(|| steps.usual());
        let is_good_part = least == 0.0 || missing as f64 >= least * self.period as f64;
        match is_good_part && (is_told_by_steps || self.is_alike_between()) {
            true => Lack::Firm,
            false => Lack::Possible,
        }
    }
}

/// Whether the rows of the first period begin later than those of any period between, and those of the last end earlier, and by more than
/// a usual step, where there are several in a period; where there is none between, than a usual step from its beginning or its end. That is
/// firm from this part of a period on, if rows have usual steps, or those of the periods between mostly begin or end at the same place.
fn lacks(
    spans: &Spans,
    periods: &Periods,
    zone: Option<&Zone>,
    least: f64,
    steps: impl FnOnce() -> Option<UsualSteps>,
) -> [Lack; 2] {
    let Some(edges) = Edge::both(spans, periods, zone) else { return [Lack::Nothing; 2] };
    if !edges.iter().any(Edge::is_odd) {
        return [Lack::Nothing; 2];
    }
    let steps = steps().map(|steps| (steps, steps.are_missing(edges[0].free.clone(), edges[1].free.clone())));
    [0, 1].map(|at| match edges[at].is_odd() {
        true => edges[at].lack(steps.map(|(steps, missing)| (steps, missing[at])), least),
        false => Lack::Nothing,
    })
}

fn length(range: &Range<i64>) -> i64 {
    range.end - range.start
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
