//! Members on the windows: what each would have forecast.

use std::sync::{Mutex, PoisonError};

use foretell::own_estimator::{Moment, Span, Trained};
use foretell::{EstimatorError, Future, Panel};

use crate::beside::each_member;
use crate::budget::Clock;
use crate::candidates::Kind;
use crate::member::{Context, Grids, Member, grids};
use crate::stage::Stage;

/// A member with what it would have forecast.
pub(crate) struct Tried {
    pub(crate) member: Member,
    /// Of each window, in their order, of each case, the quantiles `[h, WIDTH]`; nothing of windows that were not reached.
    pub(crate) forecasts: Vec<Option<Vec<Option<Vec<f32>>>>>,
    /// Whether it has no quantiles itself.
    pub(crate) is_point: bool,
    pub(crate) seconds: f64,
    /// Seconds of the last fit and forecast of a window.
    pub(crate) last: f64,
    /// Why it is tried no longer.
    pub(crate) dropped: Option<String>,
}

impl Tried {
    pub(crate) fn new(member: Member, windows: usize) -> Self {
        let forecasts = (0..windows).map(|_| None).collect();
        Self { member, forecasts, is_point: false, seconds: 0.0, last: 0.0, dropped: None }
    }

    /// Takes its forecasts of a window from a model that was fitted before it.
    fn take(
        &mut self,
        place: usize,
        stage: &Stage,
        trained: &dyn Trained,
        context: &Context<'_>,
    ) -> Result<(), EstimatorError> {
        let Grids { cutoffs, values, is_point, .. } =
            ahead(trained, &self.member, &stage.known, stage.future.as_ref(), context)?;
        self.is_point = is_point;
        let mut by_series: Vec<Option<Vec<f32>>> = vec![None; stage.known.n_series()];
        let needed = self.member.rows_needed();
        for ((series, _), values) in cutoffs.into_iter().zip(values) {
            if stage.known.len(series) >= needed {
                by_series[series] = Some(values);
            }
        }
        self.forecasts[place] =
            Some(stage.cases.iter().map(|(series, _)| by_series[*series].take()).collect());
        Ok(())
    }

    /// Fits it before a window, and takes its forecasts. What fails drops it.
    pub(crate) fn run(&mut self, place: usize, stage: &Stage, context: &Context<'_>) {
        let begun = Moment::now();
        let done = self.member.fit(&stage.known, context).and_then(|trained| match trained {
            Some(trained) => self.take(place, stage, &*trained, context).map(|()| true),
            None => Ok(false),
        });
        self.end(begun, done, context);
    }

    /// Fits it once before the oldest of the windows, on all series, and takes its forecasts of each.
    pub(crate) fn run_once(&mut self, stages: &[Stage], panel: &Panel, context: &Context<'_>) {
        let begun = Moment::now();
        let Some(oldest) = stages.iter().map(|stage| stage.ahead).max() else { return };
        let done = self.member.fit(&panel.without_last(oldest), context).and_then(|trained| match trained {
            Some(trained) => {
                let mut takes = stages.iter().enumerate();
                takes
                    .try_for_each(|(place, stage)| self.take(place, stage, &*trained, context))
                    .map(|()| true)
            }
            None => Ok(false),
        });
        self.end(begun, done, context);
    }

    /// Counts the time of a fit, and drops what gave no forecasts.
    fn end(&mut self, begun: Moment, done: Result<bool, EstimatorError>, context: &Context<'_>) {
        self.last = begun.elapsed().as_secs_f64();
        self.seconds += self.last;
        self.dropped = match done {
            Ok(true) => return,
            Ok(false) if (context.is_stopped)() => Some("stopped".to_owned()),
            Ok(false) => Some("all series are too short for it".to_owned()),
            Err(error) => Some(error.to_string()),
        };
    }
}

/// A model's quantiles of the steps after a panel.
pub(crate) fn ahead(
    trained: &dyn Trained,
    member: &Member,
    panel: &Panel,
    future: Option<&Future>,
    context: &Context<'_>,
) -> Result<Grids, EstimatorError> {
    grids(trained, &member.shown(panel), (Span::Predict { future }, context.h), context.workers)
}

/// Series by which the time of a member is foreseen.
const PROBED: usize = 4;

/// Runs the members that learn in a moment on the windows from one on, as far as the share of the time allows: who would take longer
/// than what is left is dropped, and told why. Without the `first` windows there is no score; `series` are all of the panel, which
/// members are fitted to at last. Gives the number of windows that all were run on: one in the middle of which the work was stopped
/// is none, but for the first.
pub(crate) fn rehearse_local(
    tried: &mut [Tried],
    stages: &[Stage],
    (from, first): (usize, usize),
    series: usize,
    (clock, share): (&Clock, f64),
    context: &Context<'_>,
) -> usize {
    let given = clock.left().map(|left| left * share);
    let begun = Moment::now();
    let left = |given: Option<f64>| given.map(|given| given - begun.elapsed().as_secs_f64());
    let mut reached = from;
    for (place, stage) in stages.iter().enumerate().skip(from) {
        let growth = series as f64 / stage.known.n_series().max(1) as f64;
        let all: f64 = tried.iter().filter(|tried| tried.dropped.is_none()).map(|tried| tried.last).sum();
        // What is fitted at last takes its time, too.
        let at_last = all * growth;
        if place >= first && left(given).is_some_and(|left| 1.3 * all + 1.2 * at_last > left) {
            break;
        }
        if given.is_none() {
            if !run_all(tried, place, stage, context) && place > 0 {
                return reached;
            }
            reached = place + 1;
            continue;
        }
        for i in 0..tried.len() {
            if tried[i].dropped.is_some() || tried[i].member.kind != Kind::Local {
                continue;
            }
            if i > 0 && (context.is_stopped)() {
                if place > 0 {
                    return reached;
                }
                tried[i].dropped = Some("stopped".to_owned());
                continue;
            }
            if place == 0
                && let Some(left) = left(given)
            {
                let before: f64 =
                    tried[..i].iter().filter(|tried| tried.dropped.is_none()).map(|tried| tried.last).sum();
                let owed = before * (first as f64 - 1.0 + growth);
                let foreseen = probed(&tried[i], stage, context) * (first as f64 + growth);
                if i > 0 && foreseen > left - owed {
                    tried[i].dropped = Some(match foreseen >= 1.0 {
                        true => format!("it would take about {foreseen:.0} s of the budget"),
                        false => "the budget was spent before it".to_owned(),
                    });
                    continue;
                }
            }
            tried[i].run(place, stage, context);
        }
        reached = place + 1;
    }
    reached
}

/// Runs all members that learn in a moment on a window, without a limit of time. Whether the work was not stopped before all of them: of
/// the first window those that were not reached are dropped.
fn run_all(tried: &mut [Tried], place: usize, stage: &Stage, context: &Context<'_>) -> bool {
    let waiting = |tried: &Tried| tried.dropped.is_none() && tried.member.kind == Kind::Local;
    let waiting: Vec<_> = (tried.iter_mut().enumerate())
        .filter(|(_, tried)| waiting(tried))
        .map(|(i, tried)| (i, Mutex::new(tried)))
        .collect();
    let sizes = (waiting.len(), stage.known.n_series());
    let run = each_member(sizes, context, |member, context| {
        let (i, tried) = &waiting[member];
        let mut tried = tried.lock().unwrap_or_else(PoisonError::into_inner);
        // The baseline is there whatever happens.
        let is_run = *i == 0 || !(context.is_stopped)();
        match is_run {
            true => tried.run(place, stage, context),
            false if place == 0 => tried.dropped = Some("stopped".to_owned()),
            false => {}
        }
        is_run
    });
    run.into_iter().all(|is_run| is_run)
}

/// The seconds that a window of a member will take, from a few of its series.
fn probed(tried: &Tried, stage: &Stage, context: &Context<'_>) -> f64 {
    let series = stage.known.n_series();
    if series <= 2 * PROBED {
        return 0.0;
    }
    let begun = Moment::now();
    let some = stage.known.of_series(series / 2..series / 2 + PROBED);
    let future =
        stage.future.as_ref().and_then(|future| future.of_series(series / 2..series / 2 + PROBED).ok());
    if let Ok(Some(trained)) = tried.member.fit(&some, context) {
        _ = ahead(&*trained, &tried.member, &some, future.as_ref(), context);
    }
    begun.elapsed().as_secs_f64() * series as f64 / PROBED as f64
}
