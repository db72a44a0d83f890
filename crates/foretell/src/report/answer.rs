//! The answer of a forecast in words: how much, beside what, in which range, and how far off it may be.

use std::collections::HashSet;
use std::sync::Arc;

use foretell_calendar::TimeKind;
use foretell_calendar::jiff::civil::DateTime;
use foretell_calendar::jiff::{Span, Timestamp, tz::TimeZone};
use foretell_data::Panel;
use foretell_hierarchy::Hierarchy;
use foretell_report::{Answer, ScoreSheet, ScoredBy, amount, grouped, metric_words, percent};
use foretell_tables::{Frame, ModelInTable};

use super::columns::drawn_models;
use super::latest::{Latest, known, latest};
use super::sum_series::sum_series;
use super::total::total;
use super::windows::civil;

/// The forecast that is asked about, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct AnswerInputs<'a> {
    /// The data.
    pub panel: &'a Panel,
    /// The forecasts, whose latest of each series is told.
    pub frame: &'a Frame,
    /// The column of values.
    pub target: &'a str,
    /// The unit of the values, if it was told.
    pub unit: Option<&'a str>,
    /// The scores that are shown.
    pub scores: &'a [ScoreSheet],
    /// The model that errors are told relative to.
    pub baseline: Option<&'a str>,
    /// The hierarchy of the series, if they have one: sums are not added to the series that they sum up.
    pub hierarchy: Option<&'a Hierarchy>,
}

/// What the latest forecasts say: in words, and as the sum over the series. Nothing where no model forecasts a number.
pub fn answer(asked: &AnswerInputs<'_>) -> Option<Answer> {
    let models = drawn_models(asked.frame, asked.target);
    let mut latest = latest(asked.panel, asked.frame);
    if let Some(hierarchy) = asked.hierarchy {
        let sums: HashSet<&Arc<str>> = hierarchy.ids().take(hierarchy.n_aggregates()).collect();
        latest.retain(|of_series| !sums.contains(asked.panel.id(of_series.series)));
    }
    // A total among its parts is the sum over the series itself.
    let whole = sum_series(asked.panel, &latest);
    if let Some(place) = whole {
        latest = vec![latest.swap_remove(place)];
    }
    let model = best(&models, asked.scores)?;
    let told = Told::of(asked, model, &latest)?;
    let mut sentences = vec![told.total()];
    sentences.extend(told.missing());
    if whole.is_some() {
        let id = asked.panel.id(latest[0].series);
        sentences.push(format!("{id} is the sum of the other series, which are not added to it."));
    }
    sentences.extend(told.beside_before());
    sentences.extend(told.range(model));
    sentences.extend(told.came_true());
    sentences.extend(told.error(model));
    if models.len() > 1 {
        let others = models.iter().map(|model| &*model.model).filter(|name| **name != *model.model);
        let why = if scored_place(model, asked.scores).is_some() { "the best scored" } else { "the first" };
        sentences.push(format!(
            "These are the figures of {}, {why} of {} models; the others are {}.",
            model.model,
            models.len(),
            others.collect::<Vec<_>>().join(", ")
        ));
    }
    let steps = latest.iter().map(|of_series| of_series.rows.len()).max().unwrap_or(0);
    let total = total(asked.panel, asked.frame, &models, &latest, (10 * steps).max(200));
    Some(Answer { sentences, total })
}

/// The model with the best score of those that forecast a number, else the first.
fn best<'a>(models: &'a [ModelInTable], scores: &[ScoreSheet]) -> Option<&'a ModelInTable> {
    let points = || models.iter().filter(|model| model.point().is_some());
    let score = |model: &&ModelInTable| {
        let (sheet, place) = scored_place(model, scores)?;
        Some(sheet.value(0, sheet.first_error()?, place)).filter(|score| score.is_finite())
    };
    let scored = points().filter_map(|model| Some((score(&model)?, model)));
    scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, model)| model).or_else(|| points().next())
}

/// The sheet over all rows that has scores of a model, and its place there.
fn scored_place<'a>(model: &ModelInTable, scores: &'a [ScoreSheet]) -> Option<(&'a ScoreSheet, usize)> {
    let sheet = scores.iter().find(|sheet| sheet.by == ScoredBy::All)?;
    Some((sheet, sheet.models.iter().position(|name| *name == *model.model)?))
}

/// The numbers of the answer.
struct Told<'a> {
    asked: &'a AnswerInputs<'a>,
    latest: &'a [Latest],
    name: String,
    sum: f64,
    /// Rows, and those of them that it forecasts.
    rows: usize,
    known: usize,
    /// Of the longest forecast, and of the shortest.
    steps: usize,
    fewest: usize,
    /// Of all, and whether each series has both.
    first: i64,
    last: i64,
    are_together: bool,
}

impl<'a> Told<'a> {
    fn of(asked: &'a AnswerInputs<'a>, model: &ModelInTable, latest: &'a [Latest]) -> Option<Self> {
        let values = &asked.frame.columns[model.point()?].1;
        let rows = || latest.iter().flat_map(|of_series| of_series.rows.iter().copied());
        let time = |row: usize| civil(asked.panel.zone(), asked.frame.times[row]);
        let times = || rows().map(time);
        let (first, last) = (times().min()?, times().max()?);
        let is_all = |of_series: &Latest| {
            let ends = [of_series.rows.first(), of_series.rows.last()].map(|row| row.map(|&row| time(row)));
            ends == [Some(first), Some(last)]
        };
        let steps = || latest.iter().map(|of_series| of_series.rows.len());
        let known = || rows().map(|row| f64::from(values[row])).filter(|value| value.is_finite());
        // Of nothing but missing values there is no sum.
        known().next()?;
        Some(Self {
            asked,
            latest,
            name: model.model.to_string(),
            sum: known().sum(),
            rows: rows().count(),
            known: known().count(),
            steps: steps().max()?,
            fewest: steps().min()?,
            first,
            last,
            are_together: latest.iter().all(is_all),
        })
    }

    fn shown(&self, time: i64) -> String {
        self.asked.panel.freq().kind().display(time)
    }

    fn with_unit(&self, value: f64) -> String {
        match self.asked.unit {
            Some(unit) => format!("{} {unit}", amount(value)),
            None => amount(value),
        }
    }

    fn steps_in_words(&self, count: usize) -> String {
        let freq = self.asked.panel.freq().to_string();
        let noun = step_noun(&freq);
        match (noun, count) {
            (Some(noun), 1) => format!("1 {noun}"),
            (Some(noun), count) => format!("{} {noun}s", grouped(count)),
            (None, 1) => "1 step".to_owned(),
            (None, count) => format!("{} steps of {freq}", grouped(count)),
        }
    }

    fn total(&self) -> String {
        let series = match self.latest.len() {
            1 => format!("of {}", self.asked.panel.id(self.latest[0].series)),
            count => format!("over all {} series", grouped(count)),
        };
        let of = if self.asked.target.is_empty() { "values" } else { self.asked.target };
        if self.rows == 1 {
            let sum = self.with_unit(self.sum);
            return format!("{}, {} forecasts {sum} for {of} {series}.", self.when(), self.name);
        }
        let mean = self.sum / self.known as f64;
        format!(
            "{}, {} forecasts a total of {} for {of} {series}: {} a step and series in the mean.",
            self.when(),
            self.name,
            self.with_unit(self.sum),
            self.with_unit(mean),
        )
    }

    /// That rows without a forecast are not in the total.
    fn missing(&self) -> Option<String> {
        let (missing, rows) = (self.rows - self.known, self.rows);
        (missing > 0).then(|| {
            format!(
                "{} of {} rows have no forecast of {} and are not in it.",
                grouped(missing),
                grouped(rows),
                self.name
            )
        })
    }

    /// Whether the rows of a forecast follow each other in the steps of the data.
    fn is_whole(&self, of_series: &Latest) -> bool {
        let (panel, times) = (self.asked.panel, &self.asked.frame.times);
        let next = |row: usize| panel.freq().next_in(panel.zone(), times[row], 1);
        of_series.rows.windows(2).all(|pair| next(pair[0]) == Some(times[pair[1]]))
    }

    /// The time that is forecast: of series that end at different times each has its own.
    fn when(&self) -> String {
        let [first, last] = [self.first, self.last].map(|time| self.shown(time));
        let steps = self.steps_in_words(self.steps);
        match (self.are_together, self.fewest == self.steps) {
            (true, true) if first == last => format!("For {first} ({steps})"),
            (true, true) => format!("From {first} to {last} ({steps})"),
            (true, false) => format!("From {first} to {last} ({steps} at most of a series)"),
            (false, true) => format!("Over each series' own {steps} (from {first} to {last} in all)"),
            (false, false) => {
                format!("Over each series' own time, {steps} at most (from {first} to {last} in all)")
            }
        }
    }

    /// The forecast beside the same period a year before, else beside as many steps right before it.
    fn beside_before(&self) -> Option<String> {
        if self.asked.panel.freq().kind() == TimeKind::Timestamp
            && let Some((before, now, count, of)) = self.sums_beside(|told, of_series, known| {
                let time = a_year_before(told.time(of_series.rows[0]))?;
                told.is_whole(of_series)
                    .then(|| nearest_run(known, time, of_series.rows.len()))
                    .flatten()
                    .map(sum)
            })
        {
            let [first, last] = [self.first, self.last].map(|time| a_year_before(time).unwrap_or(time));
            let [first, last] = [first, last].map(|time| self.shown(time));
            let when = match self.are_together {
                true if first == last => format!("in the same period a year before ({first})"),
                true => format!("in the same period a year before ({first} to {last})"),
                false => format!("in the same period of each a year before (from {first} to {last} in all)"),
            };
            return Some(self.compared(before, now, &when, count, of));
        }
        let (before, now, count, of) = self.sums_beside(|told, of_series, known| {
            let first = told.time(of_series.rows[0]);
            let end = known.partition_point(|(time, _)| *time < first);
            let run = known.get(end.checked_sub(of_series.rows.len())?..end);
            run.filter(|_| told.is_whole(of_series)).map(sum)
        })?;
        let steps = self.steps_in_words(self.steps);
        let steps = steps.strip_prefix("1 ").unwrap_or(&steps);
        let when = match (self.are_together, self.fewest == self.steps) {
            (true, true) => format!("in the {steps} right before"),
            (false, true) => format!("in the {steps} right before those of each"),
            (_, false) => "in as many steps right before those of each".to_owned(),
        };
        Some(self.compared(before, now, &when, count, of))
    }

    fn compared(&self, before: f64, now: f64, when: &str, count: usize, of: usize) -> String {
        let which = if count == of {
            String::new()
        } else {
            format!(" (of the {} of {} series that have values there)", grouped(count), grouped(of))
        };
        let before_it = format!("{} {when}{which}", self.with_unit(before));
        let change = (now - before) / before.abs();
        if now == before || change.abs() < 0.0005 {
            format!("That is the same as the {before_it}.")
        } else if change.is_finite() {
            let word = if change > 0.0 { "more" } else { "less" };
            format!("That is {} {word} than the {before_it}.", percent(change.abs()))
        } else {
            // Of nothing there is no share.
            format!("It was {before_it}.")
        }
    }

    /// The sums that `sum_beside` finds of the known values of a series, and those of its forecasts, over the series that have both.
    fn sums_beside(
        &self,
        sum_beside: impl Fn(&Self, &Latest, &[(i64, f64)]) -> Option<f64>,
    ) -> Option<(f64, f64, usize, usize)> {
        let values = self.values();
        let (mut before, mut now, mut count) = (0.0, 0.0, 0);
        for of_series in self.latest {
            let known = known(self.asked.panel, of_series.series);
            let Some(sum) = sum_beside(self, of_series, &known) else { continue };
            let own: f64 = of_series.rows.iter().map(|&row| f64::from(values[row])).sum();
            if sum.is_finite() && own.is_finite() {
                (before, now, count) = (before + sum, now + own, count + 1);
            }
        }
        (count > 0).then_some((before, now, count, self.latest.len()))
    }

    fn values(&self) -> &[f32] {
        let column =
            self.asked.frame.models(self.asked.target).into_iter().find(|model| *model.model == *self.name);
        column.and_then(|model| model.point()).map_or(&[][..], |place| &self.asked.frame.columns[place].1)
    }

    fn time(&self, row: usize) -> i64 {
        civil(self.asked.panel.zone(), self.asked.frame.times[row])
    }

    /// The widest interval, added up.
    fn range(&self, model: &ModelInTable) -> Option<String> {
        let intervals = model.intervals();
        let (level, low, high) = intervals.iter().find(|(level, ..)| *level == 80.0).or(intervals.first())?;
        let value = |place: usize, row: usize| f64::from(self.asked.frame.columns[place].1[row]);
        let point = model.point();
        let sum = |place: usize| {
            let rows = self.latest.iter().flat_map(|of_series| &of_series.rows);
            let or_point = |&row: &usize| match (value(place, row), point) {
                (end, Some(point)) if end.is_nan() => value(point, row),
                (end, _) => end,
            };
            rows.map(or_point).sum::<f64>()
        };
        // A series of one row stops no sum, nor is it certain.
        let lacks = |row: &&usize| value(*low, **row).is_nan() || value(*high, **row).is_nan();
        let lacking =
            self.latest.iter().filter(|of_series| of_series.rows.iter().any(|row| lacks(&row))).count();
        if lacking == self.latest.len() {
            return None;
        }
        let [low, high] = [sum(*low), sum(*high)];
        let one = self.latest.len() == 1 && self.steps == 1;
        let text = match (low.is_finite() && high.is_finite(), one) {
            (false, _) => return None,
            (true, true) => {
                format!("It is between {} and {} with {level} %.", self.with_unit(low), self.with_unit(high))
            }
            (true, false) => format!(
                "The {level} % intervals of the single values add up to {} to {}: as errors cancel in part, the total is in this range \
                 more often than {level} % of the time, unless all go the same way.",
                self.with_unit(low),
                self.with_unit(high)
            ),
        };
        let without = match lacking {
            0 => String::new(),
            1 => " 1 series has no interval, and is in both by its forecast alone.".to_owned(),
            more => format!(" {more} series have no interval, and are in both by their forecasts alone."),
        };
        Some(text + &without)
    }

    /// What came true of it, where all of it did.
    fn came_true(&self) -> Option<String> {
        let (truth, now, count, of) = self.sums_beside(|told, of_series, known| {
            let value = |&row: &usize| {
                let place = known.binary_search_by_key(&told.time(row), |(time, _)| *time).ok()?;
                Some(known[place].1)
            };
            of_series.rows.iter().map(value).sum::<Option<f64>>()
        })?;
        (count == of).then(|| {
            format!(
                "It has come true: {}, from which the forecast is off by {}.",
                self.with_unit(truth),
                self.with_unit((now - truth).abs())
            )
        })
    }

    /// What errors are to be expected by the scores.
    fn error(&self, model: &ModelInTable) -> Option<String> {
        let (sheet, place) = scored_place(model, self.asked.scores)?;
        let metric = sheet.first_error()?;
        let score = sheet.value(0, metric, place);
        let name = &sheet.metrics[metric];
        let size =
            if matches!(name.as_str(), "mae" | "rmse") { self.with_unit(score) } else { amount(score) };
        let mut text = format!("Of the past, its {} is {size}", metric_words(name));
        if name == "mae" {
            text = format!("In the past its forecasts were off by {size} a step and series in the mean");
        }
        let baseline = self.asked.baseline.filter(|name| **name != *self.name);
        let base = baseline.and_then(|name| sheet.models.iter().position(|model| model == name));
        if let (Some(base), Some(baseline)) = (base, baseline) {
            let change = score / sheet.value(0, metric, base) - 1.0;
            if change.is_finite() {
                let word = if change <= 0.0 { "less" } else { "more" };
                text += &format!(", {} {word} than those of {baseline}", percent(change.abs()));
            }
        }
        let coverage = sheet.metrics.iter().position(|name| name == "coverage_level80");
        let coverage = coverage.map(|metric| sheet.value(0, metric, place)).filter(|share| share.is_finite());
        if let Some(share) = coverage {
            text += &format!("; {} of the true values were within its 80 % intervals", percent(share));
        }
        Some(text + ".")
    }
}

/// The word for a step of a frequency, where there is one.
fn step_noun(freq: &str) -> Option<&'static str> {
    let base = freq.split('-').next().unwrap_or(freq);
    Some(match base {
        "s" => "second",
        "min" => "minute",
        "h" => "hour",
        "bh" => "business hour",
        "D" => "day",
        "B" | "C" => "business day",
        "W" => "week",
        "MS" | "ME" | "BMS" | "BME" => "month",
        "QS" | "QE" | "BQS" | "BQE" => "quarter",
        "YS" | "YE" | "BYS" | "BYE" => "year",
        "1" => "step",
        _ => return None,
    })
}

/// The same time a year before, of microseconds on a civil clock.
fn a_year_before(time: i64) -> Option<i64> {
    let civil: DateTime = Timestamp::from_microsecond(time).ok()?.to_zoned(TimeZone::UTC).datetime();
    let before = civil.checked_sub(Span::new().years(1)).ok()?;
    Some(before.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

fn sum(run: &[(i64, f64)]) -> f64 {
    run.iter().map(|(_, value)| value).sum()
}

/// The `count` values from the one that is nearest to a time, to half a step of them; nothing if they are not all there.
fn nearest_run(known: &[(i64, f64)], time: i64, count: usize) -> Option<&[(i64, f64)]> {
    let after = known.partition_point(|(known, _)| *known < time);
    let distance = |place: usize| known.get(place).map(|(known, _)| (known - time).abs());
    let start =
        match (after.checked_sub(1).and_then(|before| Some((before, distance(before)?))), distance(after)) {
            (Some((before, one)), Some(other)) if one < other => before,
            (Some((before, one)), None) => (one == 0).then_some(before)?,
            (None, Some(other)) if other != 0 => {
                // The data may begin within half a step of it.
                let step = known.get(1)?.0 - known[0].0;
                (2 * other <= step).then_some(0)?
            }
            (_, Some(_)) => after,
            (None, None) => return None,
        };
    known.get(start..start + count)
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
