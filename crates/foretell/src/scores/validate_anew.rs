//! Forecasts from several cutoffs, of models that are trained anew on the way.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use foretell_data::{ColumnLevel, Future, Panel};
use foretell_estimator::{Output, Verdict, Workers, question, while_wanted};
use foretell_tables::Frame;

use crate::error::Error;
use crate::fitted::Fitted;
use crate::fitted_model::FittedModel;
use crate::forecasts::blocks::blocks_ahead;
use crate::forecasts::windows::column_levels;
use crate::predict_options::PredictOptions;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::ensembles::outputs;
use crate::stages::sums::{add_up_windows, outputs_of_sums};
use crate::stages::window_forecasts::WindowForecasts;
use crate::trained_models::TrainedModels;
use crate::training::interruption::Interruption;
use crate::training::plan::TrainingPlan;
use crate::training::turns::Turns;

/// Each forecast of `h` steps comes as if the panel ended there, with `ahead[window]` steps still to come, from models trained on that every
/// this many windows.
pub(super) struct Refits<'a> {
    pub(super) panel: &'a Panel,
    pub(super) h: usize,
    pub(super) ahead: &'a [usize],
    pub(super) every: usize,
    pub(super) asked: &'a AskedQuantiles,
    pub(super) raw: bool,
}

/// Models, and what they forecast until others are trained.
struct Refit {
    trained: TrainedModels,
    interruption: Option<Interruption>,
    outputs: Vec<Vec<Output>>,
    /// The forecasts of each window, and the panel before it; none of a later training that was interrupted.
    windows: Vec<(Frame, Panel)>,
}

impl Refits<'_> {
    /// The models that were trained last, and the forecasts of all windows, or of those before the training that was interrupted.
    pub(super) fn validate(&self, plan: &mut TrainingPlan) -> Result<(Fitted, WindowForecasts), Error> {
        let mut refits = self.all(plan)?;
        let interruption = refits.last_mut().and_then(|last| last.interruption.take());
        // Models of an interrupted training forecast nothing, but for the first: those before them have forecast all windows until here.
        let last = refits.iter().rposition(|refit| !refit.windows.is_empty()).unwrap_or(0);
        refits.truncate(last + 1);
        let windows: Vec<(Frame, Panel)> =
            refits.iter_mut().flat_map(|refit| std::mem::take(&mut refit.windows)).collect();
        let Refit { trained, outputs, .. } = refits.swap_remove(last);
        let models = outputs_of_sums(&trained, outputs);
        let mut forecasts = WindowForecasts { models, add_up: true, ..WindowForecasts::default() };
        let columns = windows[0].0.forecast_columns(&plan.pipeline.columns.target).into_iter().flatten();
        forecasts.columns = columns.map(|column| (column, Vec::new())).collect();
        let (panel, h) = (self.panel, self.h);
        let levels = column_levels(0, &forecasts.models);
        for series in 0..panel.n_series() {
            for (frame, known) in &windows {
                // Of a short series nothing is known before the first cutoffs.
                let Some(place) = known.find(panel.id(series)) else { continue };
                forecasts.windows.push((series, known.len(place)));
                let level = panel.level(series);
                for (((_, all), (name, part)), of) in
                    forecasts.columns.iter_mut().zip(&frame.columns).zip(&levels)
                {
                    let rows = place * h..(place + 1) * h;
                    match (frame.wide.get(name), of) {
                        (Some(wide), ColumnLevel::Value) => {
                            all.extend(wide[rows].iter().map(|&value| level.hold(value)));
                        }
                        _ => all.extend(
                            part[rows].iter().map(|&y| (f64::from(y) / level.difference(1.0)) as f32),
                        ),
                    }
                }
            }
        }
        Ok((Fitted::of(trained, interruption), forecasts))
    }

    /// All trainings, in order, until one that was interrupted.
    fn all(&self, plan: &mut TrainingPlan) -> Result<Vec<Refit>, Error> {
        let count = self.ahead.len().div_ceil(self.every);
        let mut refits: Vec<Refit> = Vec::with_capacity(count);
        // Models that are trained once come before those that are trained anew beside them.
        if !plan.start.kept_columns.is_empty() {
            refits.push(self.one(plan, 0)?);
            plan.start.keep(&refits[0].trained);
        }
        if refits.iter().all(|refit| refit.interruption.is_none()) {
            let largest = self.known_to((count - 1) * self.every);
            let at_a_time = plan.trainings_at_a_time(&largest, count - refits.len());
            if at_a_time > 1 {
                self.at_a_time(plan, at_a_time, (count, &mut refits))?;
            }
        }
        while refits.len() < count && refits.iter().all(|refit| refit.interruption.is_none()) {
            refits.push(self.one(plan, refits.len())?);
        }
        Ok(refits)
    }

    /// Those that are left of `count`, `at_a_time` of them at a time, as far as their results count.
    fn at_a_time(
        &self,
        plan: &mut TrainingPlan,
        at_a_time: usize,
        (count, refits): (usize, &mut Vec<Refit>),
    ) -> Result<(), Error> {
        let first = refits.len();
        let workers = plan.workers.clone()?;
        let listener = std::mem::replace(&mut plan.listener, Box::new(|_, _| Verdict::Continue));
        let turns = Arc::new(Turns::new(count - first, listener, plan.warnings.clone()));
        let plans: Vec<_> =
            (0..count - first).map(|number| Mutex::new(plan.in_turn(&turns, number))).collect();
        let (stop, warnings) = (AtomicBool::new(false), &plan.warnings);
        let results = Workers::side_by_side(plans.len(), at_a_time, &stop, |number| {
            let work = || -> Result<Refit, Error> {
                let mut own = plans[number].lock().unwrap_or_else(PoisonError::into_inner);
                own.workers = Ok(Workers::apart(workers.threads() / at_a_time));
                let refit = self.one(&mut own, first + number)?;
                own.warnings.warn_of_fewer_threads(&workers);
                let (warnings, workers) = (warnings.clone(), workers.clone());
                Ok(Refit { trained: TrainedModels { warnings, workers, ..refit.trained }, ..refit })
            };
            let work = || while_wanted(turns.question(number, question()), work);
            let result = turns.run(number, work, |refit: &Refit| refit.interruption.is_some());
            stop.fetch_or(turns.last().is_some(), Relaxed);
            result
        });
        (plan.listener, plan.warnings) = turns.rest();
        let that_count = turns.last().map_or(count, |last| last + 1);
        refits.extend(results.into_iter().take(that_count).collect::<Result<Vec<_>, Error>>()?);
        Ok(())
    }

    /// The panel before a window.
    fn known_to(&self, window: usize) -> Panel {
        self.panel.without_last(self.ahead[window])
    }

    /// Trains the models anew, and forecasts the windows until the next training.
    fn one(&self, plan: &mut TrainingPlan, number: usize) -> Result<Refit, Error> {
        let mut left = number * self.every..self.ahead.len().min((number + 1) * self.every);
        let (mut trained, interruption) = plan.fit_before(&self.known_to(left.start), 0)?;
        if number == 0 {
            check_forecasts_begun(plan, &trained, interruption.as_ref())?;
        } else if interruption.is_some() {
            left = 0..0;
        }
        trained.raw_quantiles = self.raw;
        let outputs = match left.is_empty() {
            true => Vec::new(),
            false => outputs(&trained, self.asked)?,
        };
        let mut windows = Vec::with_capacity(left.len());
        for window in left {
            let known = self.known_to(window);
            // Of fewer steps than the horizon nothing is read of the future.
            let future = (self.h >= plan.h()).then(|| Future::within(self.panel, &known, self.h));
            let options = PredictOptions::new().future(future.as_ref()).h(self.h);
            let alone = trained.without_sums();
            let forecast = || blocks_ahead(&alone, &known, &options, self.asked.clone())?.whole();
            let frame = if interruption.is_some() { forecast() } else { plan.while_wanted(forecast) }?;
            windows.push((add_up_windows(&trained, frame, 0, &outputs)?, known));
        }
        Ok(Refit { trained, interruption, outputs, windows })
    }
}

/// Whether any model can forecast after a training that was interrupted: one that was trained to its end, calibrated if
/// intervals are asked for.
pub(super) fn check_forecasts_begun(
    plan: &TrainingPlan,
    trained: &TrainedModels,
    interruption: Option<&Interruption>,
) -> Result<(), Error> {
    let calibrated = plan.intervals.is_none() || trained.conformal.is_some();
    match interruption {
        Some(interruption) if !calibrated || !trained.models.iter().any(is_complete) => {
            Err(Error::NothingForecast { after: interruption.to_string() })
        }
        _ => Ok(()),
    }
}

/// Whether the training of a model came to its end.
pub(super) fn is_complete(model: &FittedModel) -> bool {
    model.outcome().is_none_or(|outcome| !outcome.interrupted)
}
