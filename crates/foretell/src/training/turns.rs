//! Trainings that run side by side and are heard as if one had followed the other.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use foretell_estimator::{Progress, StillWanted, Verdict};

use crate::training::all_models::ModelListener;
use crate::warning::Warning;
use crate::warning_listener::WarningListener;

/// Several trainings of a plan, numbered in the order in which they would follow one another. The first that has not ended has its
/// turn: what it reports is passed on at once. What those behind it report is held back until their turn comes, so listeners hear
/// everything in the order of the trainings, however many run at a time.
///
/// An answer to a report that was held back may come too late for the training. It then counts for nothing: it is to be run again
/// behind the others, and is given the answers that there are ([`Turns::rest`]).
pub(crate) struct Turns {
    state: Mutex<State>,
    /// The last training whose result counts: those behind it are told to stop. An error or an interruption is the last one.
    last: AtomicUsize,
}

struct State {
    listener: Box<ModelListener>,
    warnings: WarningListener,
    /// Whose turn it is.
    turn: usize,
    trainings: Vec<Reports>,
    /// What a training that is to be run again was answered, and told of.
    again: Option<Answered>,
}

/// The reports of a training that were held back.
#[derive(Default)]
struct Reports {
    held: Vec<Report>,
    has_ended: bool,
}

enum Report {
    Step(String, Progress),
    Warning(Warning),
}

/// What was passed on of a training's reports.
#[derive(Default)]
struct Answered {
    /// The answers, by the columns of the models.
    verdicts: BTreeMap<String, VecDeque<Verdict>>,
    warnings: Vec<Warning>,
}

impl Turns {
    /// Turns of `count` trainings before these listeners.
    pub(crate) fn new(count: usize, listener: Box<ModelListener>, warnings: WarningListener) -> Self {
        let trainings = (0..count).map(|_| Reports::default()).collect();
        let state = State { listener, warnings, turn: 0, trainings, again: None };
        Self { state: Mutex::new(state), last: AtomicUsize::new(usize::MAX) }
    }

    /// The last training whose result counts, if not all do.
    pub(crate) fn last(&self) -> Option<usize> {
        Some(self.last.load(Relaxed)).filter(|last| *last < usize::MAX)
    }

    /// The listener of the training of this number.
    pub(crate) fn listener(self: &Arc<Self>, number: usize) -> Box<ModelListener> {
        let turns = Arc::clone(self);
        Box::new(move |model, progress| turns.step(number, model, progress))
    }

    /// Who is told of its warnings.
    pub(crate) fn warnings(self: &Arc<Self>, number: usize) -> WarningListener {
        let turns = Arc::clone(self);
        WarningListener::new(move |warning| turns.warn(number, warning))
    }

    /// The question whether it is wanted: as long as this one is answered by yes, and the training counts.
    pub(crate) fn question(self: &Arc<Self>, number: usize, asked: Option<StillWanted>) -> StillWanted {
        let turns = Arc::clone(self);
        Arc::new(move || turns.counts(number) && asked.as_ref().is_none_or(|question| question()))
    }

    /// Runs a training, whose error or interruption ends those behind it.
    pub(crate) fn run<T, E>(
        &self,
        number: usize,
        training: impl FnOnce() -> Result<T, E>,
        is_last: impl FnOnce(&T) -> bool,
    ) -> Result<T, E> {
        let end = EndOnPanic(self, number);
        let result = training();
        mem::forget(end);
        self.end(number, result.as_ref().map_or(true, is_last));
        result
    }

    /// The listeners for what follows the trainings that count: the first hears no report twice.
    pub(crate) fn rest(&self) -> (Box<ModelListener>, WarningListener) {
        let mut state = self.state();
        let mut listener = mem::replace(&mut state.listener, Box::new(|_, _| Verdict::Interrupt));
        let warnings = state.warnings.clone();
        let Some(Answered { mut verdicts, warnings: told }) = state.again.take() else {
            return (listener, warnings);
        };
        let answers = move |model: &str, progress: &Progress| {
            let known = verdicts.get_mut(model).and_then(VecDeque::pop_front);
            known.unwrap_or_else(|| listener(model, progress))
        };
        (Box::new(answers), warnings.without(told))
    }

    fn counts(&self, number: usize) -> bool {
        number <= self.last.load(Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(&self, number: usize, model: &str, progress: &Progress) -> Verdict {
        let mut state = self.state();
        if !self.counts(number) {
            return Verdict::Interrupt;
        }
        if state.turn != number {
            state.trainings[number].held.push(Report::Step(model.to_owned(), *progress));
            return Verdict::Continue;
        }
        let verdict = (state.listener)(model, progress);
        if verdict == Verdict::Interrupt {
            self.last.fetch_min(number, Relaxed);
        }
        verdict
    }

    fn warn(&self, number: usize, warning: &Warning) {
        let mut state = self.state();
        match state.turn == number {
            _ if !self.counts(number) => {}
            true => state.warnings.warn(warning),
            false => state.trainings[number].held.push(Report::Warning(warning.clone())),
        }
    }

    /// A training has ended: those behind it have their turn until one that runs.
    fn end(&self, number: usize, is_last: bool) {
        let mut state = self.state();
        if is_last {
            self.last.fetch_min(number, Relaxed);
        }
        state.trainings[number].has_ended = true;
        while state.trainings.get(state.turn).is_some_and(|training| training.has_ended)
            && self.counts(state.turn + 1)
        {
            state.turn += 1;
            if !state.pass_on() {
                self.last.fetch_min(state.turn - 1, Relaxed);
            }
        }
    }
}

impl State {
    /// Passes on what the training whose turn has come had to report. Whether it has all answers that it went by.
    fn pass_on(&mut self) -> bool {
        let Some(training) = self.trainings.get_mut(self.turn) else { return true };
        let mut answered = Answered::default();
        for report in mem::take(&mut training.held) {
            match report {
                Report::Warning(warning) => {
                    self.warnings.warn(&warning);
                    answered.warnings.push(warning);
                }
                Report::Step(model, progress) => {
                    let verdict = (self.listener)(&model, &progress);
                    answered.verdicts.entry(model).or_default().push_back(verdict);
                    if verdict != Verdict::Continue {
                        self.again = Some(answered);
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// Ends the trainings behind one that panics.
struct EndOnPanic<'a>(&'a Turns, usize);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        debug_assert!(thread::panicking());
        self.0.last.fetch_min(self.1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use foretell_estimator::Workers;

    use super::*;

    fn progress(step: u64) -> Progress {
        Progress {
            step,
            max_steps: 3,
            train_loss: 0.0,
            valid_loss: None,
            learning_rate: 0.1,
            skipped_steps: 0,
            elapsed: Duration::ZERO,
        }
    }

    /// What is heard of trainings of three steps each, the first of which waits for all others; one answer is another one.
    fn heard(answered: (&'static str, u64, Verdict)) -> (Vec<String>, Option<usize>, Vec<Verdict>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let (steps, warnings) = (told.clone(), told.clone());
        let listener = move |model: &str, progress: &Progress| {
            steps.lock().unwrap().push(format!("{model} {}", progress.step));
            if (model, progress.step) == (answered.0, answered.1) { answered.2 } else { Verdict::Continue }
        };
        let warnings = WarningListener::new(move |_| warnings.lock().unwrap().push("warned".to_owned()));
        let turns = Arc::new(Turns::new(4, Box::new(listener), warnings));
        let ended = AtomicUsize::new(0);
        Workers::side_by_side(4, 4, &AtomicBool::new(false), |number| {
            while number == 0 && ended.load(Relaxed) < 3 {
                thread::yield_now();
            }
            let mut listener = turns.listener(number);
            let result: Result<bool, ()> = turns.run(
                number,
                || {
                    turns.warnings(number).warn(&Warning::NotLearnt { what: "a test" });
                    let step = |step| listener(&format!("m{number}"), &progress(step)) == Verdict::Interrupt;
                    Ok((1..4).any(step))
                },
                |interrupted| *interrupted,
            );
            ended.fetch_add(1, Relaxed);
            result
        });
        let (mut listener, warnings) = turns.rest();
        warnings.warn(&Warning::NotLearnt { what: "a test" });
        let model = turns.last().map_or("m9".to_owned(), |last| format!("m{}", last + 1));
        let again = (1..4).map(|step| listener(&model, &progress(step))).collect();
        let told = told.lock().unwrap().clone();
        (told, turns.last(), again)
    }

    #[test]
    fn reports_come_in_the_order_of_the_trainings() {
        let (told, last, _) = heard(("none", 1, Verdict::Continue));
        let of =
            |number| ["warned".to_owned()].into_iter().chain((1..4).map(move |i| format!("m{number} {i}")));
        let expected: Vec<String> = (0..4).flat_map(of).chain(["warned".to_owned()]).collect();
        assert_eq!((&told[..17], last), (&expected[..], None));
    }

    #[test]
    fn a_late_answer_is_kept_for_the_training_that_runs_again() {
        for verdict in [Verdict::Stop, Verdict::Interrupt] {
            let (told, last, again) = heard(("m2", 2, verdict));
            assert_eq!(last, Some(1), "the second one is the last that counts");
            assert_eq!(again, [Verdict::Continue, verdict, Verdict::Continue]);
            // Of the third, its warning and two steps; then what is new alone.
            assert_eq!(told[8..], ["warned", "m2 1", "m2 2", "m2 3"]);
        }
    }

    #[test]
    fn an_interruption_ends_those_behind_it() {
        let (told, last, _) = heard(("m0", 2, Verdict::Interrupt));
        assert_eq!((last, &told[..3]), (Some(0), &["warned", "m0 1", "m0 2"].map(str::to_owned)[..]));
        assert!(!told.iter().any(|text| text.starts_with("m2")));
    }
}
