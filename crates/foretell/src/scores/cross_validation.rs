//! Rolling forecasts over the end of each series, against the truth.

use std::fmt;

use foretell_data::Panel;
use foretell_estimator::Output;
use foretell_evaluate::{EvaluationError, Metric, ScoreBy, ScoreOptions, ScoreTable, evaluate};
use foretell_tables::Frame;

use crate::error::Error;
use crate::fitted::Fitted;
use crate::forecaster::Forecaster;
use crate::forecasts::far_values::FarValues;
use crate::forecasts::memory::check_forecast;
use crate::forecasts::rolling::{SeriesRows, table};
use crate::forecasts::windows::{column_levels, forecast_end};
use crate::memory::check_validation;
use crate::scores::forecast_rows::ForecastRows;
use crate::scores::metrics::Metrics;
use crate::scores::validate_anew::{Refits, check_forecasts_begun, is_complete};
use crate::setters::setters;
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::intervals::warn_of_no_intervals;
use crate::stages::sums::{add_up_windows, outputs_of_sums};
use crate::stages::window_forecasts::WindowForecasts;
use crate::trained_models::TrainedModels;
use crate::training::data_doubts::warn_of_data;
use crate::training::plan::TrainingPlan;
use crate::usage_error::UsageError;
use crate::warning::Warning;

/// The options of [`Forecaster::cross_validate`], with the names and defaults of neuralforecast's `cross_validation`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValidationOptions<'a> {
    /// Forecasts of each series; 1 by default.
    pub n_windows: usize,
    /// Steps from one forecast to the next; 1 by default.
    pub step_size: usize,
    /// Trains the models anew every this many windows, each time from the start, on all that comes before the window; 0,
    /// the default, trains those once that are trained in steps.
    pub refit: usize,
    /// Whether models that learn from the whole history without steps of training, as AutoETS and AutoARIMA, are fitted anew for each
    /// window where [`refit`](Self::refit) is 0, as statsforecast does; true by default.
    pub refit_without_steps: bool,
    /// Central intervals to forecast, in percent, as [`PredictOptions::level`](crate::PredictOptions::level) says; none by default.
    pub level: &'a [f64],
    /// Quantiles to forecast in place of levels, as [`PredictOptions::quantiles`](crate::PredictOptions::quantiles) says; none by default.
    pub quantiles: &'a [f64],
    /// Steps of each forecast, as [`PredictOptions::h`](crate::PredictOptions::h) says; the models' own horizon by default.
    pub h: Option<usize>,
    /// Whether quantiles stay as the models gave them ([`Fitted::raw_quantiles`]); sorted by default.
    pub raw_quantiles: bool,
}

impl<'a> ValidationOptions<'a> {
    /// `n_windows` forecasts of each series, `step_size` steps apart, of models that are trained once.
    pub fn new(n_windows: usize, step_size: usize) -> Self {
        Self { n_windows, step_size, ..Self::default() }
    }

    setters! {
        /// Trains the models anew every this many windows.
        refit(usize);
        /// Whether models without steps of training are fitted anew for each window.
        refit_without_steps(bool);
        /// Central intervals to forecast, in percent.
        level(&'a [f64]);
        /// Quantiles to forecast, in place of levels.
        quantiles(&'a [f64]);
        /// Steps of each forecast.
        h(usize) = Some(h);
        /// Whether quantiles stay as the models gave them.
        raw_quantiles(bool);
    }
}

impl Default for ValidationOptions<'_> {
    fn default() -> Self {
        Self {
            n_windows: 1,
            step_size: 1,
            refit: 0,
            refit_without_steps: true,
            level: &[],
            quantiles: &[],
            h: None,
            raw_quantiles: false,
        }
    }
}

/// The baseline that the scores of [`CrossValidation::scores`] are relative to, and the weights of series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValidationScores<'a> {
    /// Steps of a season, for scaled metrics.
    pub season: usize,
    /// The model that `rmae` divides by.
    pub baseline: Option<&'a str>,
    /// A weight for each series of the panel; the same for all by default.
    pub weights: Option<&'a [f64]>,
}

impl<'a> ValidationScores<'a> {
    /// Scores relative to a season of this many steps, all series weighted alike.
    pub fn new(season: usize) -> Self {
        Self { season, ..Self::default() }
    }

    setters! {
        /// The model that `rmae` divides by.
        baseline(&'a str) = Some(baseline);
        /// A weight for each series of the panel.
        weights(&'a [f64]) = Some(weights);
    }
}

/// Forecasts from several cutoffs, and the models behind them.
pub struct CrossValidation {
    /// `unique_id, ds, cutoff, y` and a column per output of each model; ordered by series, cutoff, time.
    /// An unknown `y` is NaN.
    pub frame: Frame,
    /// The models, trained on the rows before the first cutoff, or with [`ValidationOptions::refit`] those that were trained
    /// last. If the listener interrupted training, [`Fitted::interruption`] says where, and the frame has the forecasts until
    /// then: the columns of the models that were trained to their end, and with `refit` the windows before the training that
    /// was interrupted.
    pub fitted: Fitted,
    /// The forecast models: their names and their columns.
    pub(super) models: Vec<(String, Vec<Output>)>,
    windows: Vec<SeriesRows>,
    h: usize,
}

impl Forecaster {
    /// Trains on all but the last `h + (n_windows - 1) * step_size` steps of each series, then
    /// forecasts `n_windows` times, `step_size` steps apart, the last forecast ending with the series. A
    /// series that is too short for the earliest forecasts has fewer, as in neuralforecast. With
    /// [`ValidationOptions::refit`] the models are trained anew on the way. If the listener interrupts training, the result is
    /// the forecasts until then.
    ///
    /// # Errors
    /// [`Error::NothingForecast`] if training was interrupted before any model could forecast; if `n_windows` or `step_size` is 0, if a model has none of the intervals asked for, and those of
    /// [`Forecaster::fit`].
    pub fn cross_validate(
        mut self,
        panel: &Panel,
        options: &ValidationOptions<'_>,
    ) -> Result<CrossValidation, Error> {
        let asked = AskedQuantiles::new(options.level, options.quantiles)?;
        let ValidationOptions { n_windows, step_size, refit, raw_quantiles: raw, .. } = *options;
        if n_windows == 0 || step_size == 0 {
            return Err(UsageError::NoWindows { n_windows, step_size }.into());
        }
        let plan = &mut self.plan;
        let h = options.h.unwrap_or(plan.h());
        if plan.validation.is_some() {
            return Err(UsageError::ValidationOfParts.into());
        }
        let panel = &plan.held(panel);
        plan.check_steps(h)?;
        plan.check_quantiles(&asked)?;
        plan.check()?;
        check_validation(&plan.models(), panel, (n_windows, h), asked.len(), &plan.memory)?;
        warn_of_data(plan, panel);
        let (rows, asked_rows) =
            (panel.max_len(), h.saturating_add((n_windows - 1).saturating_mul(step_size)));
        if rows <= h {
            return Err(Error::ShortForValidation { rows, h, needed: h + 1 });
        }
        // Windows that no series reaches are left out, but for networks, which have nothing to train on before them.
        let trains = plan.models().iter().any(|model| model.needs().max_steps.is_some());
        let cutoffs: Vec<usize> = (0..n_windows)
            .rev()
            .map(|window| h.saturating_add(window.saturating_mul(step_size)))
            .filter(|ahead| trains || *ahead < rows)
            .collect();
        if let Some(intervals) = plan.intervals {
            plan.warnings.warn_of_few_windows(intervals.n_windows, &asked.levels());
        }
        let refitted = plan.refitted(options);
        let anew = |plan: &mut TrainingPlan, every: usize| {
            Refits { panel, h, ahead: &cutoffs, every, asked: &asked, raw }.validate(plan)
        };
        let (fitted, forecasts) = match refit {
            0 if refitted.iter().all(|refitted| *refitted) => anew(plan, 1)?,
            0 if refitted.contains(&true) => {
                plan.start.kept_columns = (plan.column_names().into_iter().zip(&refitted))
                    .filter_map(|(name, refitted)| (!refitted).then_some(name))
                    .collect();
                anew(plan, 1)?
            }
            0 if h == plan.h() => validate_once(plan, panel, (cutoffs[0], step_size), &asked, raw)?,
            // Windows of another length are forecast as if the panel ended before each.
            0 => anew(plan, n_windows)?,
            every => anew(plan, every)?,
        };
        if !fitted.interrupted() {
            warn_of_fewer_windows(&fitted.trained, panel, asked_rows, &forecasts, n_windows);
        }
        CrossValidation::of(fitted, panel, h, forecasts)
    }

    /// The rows that each series needs for all windows of a cross-validation, and for the training before.
    pub fn rows_needed_to_validate(&self, options: &ValidationOptions<'_>) -> usize {
        let last = options.n_windows.saturating_sub(1).saturating_mul(options.step_size);
        self.plan.rows_needed_before(last.saturating_add(options.h.unwrap_or(self.h())))
    }
}

fn validate_once(
    plan: &mut TrainingPlan,
    panel: &Panel,
    (test_size, step_size): (usize, usize),
    asked: &AskedQuantiles,
    raw: bool,
) -> Result<(Fitted, WindowForecasts), Error> {
    let (mut trained, interruption) = plan.fit_before(panel, test_size)?;
    check_forecasts_begun(plan, &trained, interruption.as_ref())?;
    trained.raw_quantiles = raw;
    let forecast = || forecast_end(&trained, panel, plan.val_size + test_size, (test_size, step_size), asked);
    // What an interrupted training has left is forecast.
    let forecasts = if interruption.is_some() { forecast() } else { plan.while_wanted(forecast) }?;
    Ok((Fitted::of(trained, interruption), forecasts))
}

/// Warns if series have fewer than `n_windows` windows, the first of which begins `test_size` rows before the end.
fn warn_of_fewer_windows(
    trained: &TrainedModels,
    panel: &Panel,
    test_size: usize,
    forecasts: &WindowForecasts,
    n_windows: usize,
) {
    let (windows, asked) = (forecasts.windows.len(), n_windows * panel.n_series());
    if windows < asked {
        let short = (0..panel.n_series()).filter(|&series| panel.len(series) <= test_size);
        let series = short.map(|series| (panel.id(series).to_string(), panel.len(series))).collect();
        trained.warnings.warn(&Warning::FewerWindows { windows, asked, n_windows, kept: 0, series });
    }
}

impl Fitted {
    /// [`Forecaster::cross_validate`] of the models unchanged, without training: `n_windows` forecasts of each series,
    /// `step_size` steps apart, the last of which ends with the series. Errors on rows that a model was trained on say little
    /// about it.
    ///
    /// # Errors
    /// If `n_windows` or `step_size` is 0, the panel has another frequency or lacks a column that a model reads, no series
    /// has more than `h` rows, or the forecasts do not fit into memory.
    pub fn validate(
        &self,
        panel: &Panel,
        n_windows: usize,
        step_size: usize,
    ) -> Result<CrossValidation, Error> {
        self.validate_with(panel, &ValidationOptions::new(n_windows, step_size))
    }

    /// [`Fitted::validate`] with levels or quantiles, sorted or as the models gave them.
    ///
    /// # Errors
    /// Those of [`Fitted::validate`]; a level or quantile out of range, or one that a model cannot forecast; options of a training:
    /// `refit`, or another horizon than the models' own.
    pub fn validate_with(
        &self,
        panel: &Panel,
        options: &ValidationOptions<'_>,
    ) -> Result<CrossValidation, Error> {
        let asked = AskedQuantiles::new(options.level, options.quantiles)?;
        let ValidationOptions { n_windows, step_size, refit, raw_quantiles, .. } = *options;
        let (own, h) = (self.h(), options.h.unwrap_or(self.h()));
        if n_windows == 0 || step_size == 0 {
            return Err(UsageError::NoWindows { n_windows, step_size }.into());
        }
        if refit > 0 || h != own {
            return Err(UsageError::ValidationOfTrained { refit, h, own }.into());
        }
        let fitted = self.clone().raw_quantiles(raw_quantiles || self.trained.raw_quantiles);
        let trained = &fitted.trained;
        let panel = &trained.held(panel);
        trained.check_frequency(panel)?;
        let (rows, needed, windows) = (panel.max_len(), h + 1, n_windows.saturating_mul(panel.n_series()));
        if rows < needed {
            return Err(Error::ShortForValidation { rows, h, needed });
        }
        let remedy = "lower n_windows, or leave series out";
        check_forecast(trained, panel, (windows, h), windows.saturating_mul(h), &asked, remedy)?;
        warn_of_no_intervals(trained, &asked)?;
        let test_size = h + (n_windows - 1) * step_size;
        let forecasts = forecast_end(trained, panel, test_size, (test_size, step_size), &asked)?;
        warn_of_fewer_windows(trained, panel, test_size, &forecasts, n_windows);
        CrossValidation::of(fitted, panel, h, forecasts)
    }
}

/// Takes the models and ensembles out of their forecasts, with their names and outputs; the columns of those whose training was
/// interrupted are dropped.
fn complete_models(trained: &TrainedModels, forecasts: &mut WindowForecasts) -> Vec<(String, Vec<Output>)> {
    let all_complete = trained.models.iter().all(is_complete);
    let named = trained.named().map(|(model, name)| (is_complete(model), name));
    let ensembles = trained.ensembles.iter().map(|ensemble| (all_complete, ensemble.column().to_owned()));
    let mut columns = std::mem::take(&mut forecasts.columns).into_iter();
    let mut models = Vec::new();
    for ((complete, name), outputs) in named.chain(ensembles).zip(std::mem::take(&mut forecasts.models)) {
        let own: Vec<_> = columns.by_ref().take(outputs.len()).collect();
        if complete {
            forecasts.columns.extend(own);
            models.push((name, outputs));
        }
    }
    models
}

impl CrossValidation {
    fn of(fitted: Fitted, panel: &Panel, h: usize, mut forecasts: WindowForecasts) -> Result<Self, Error> {
        let (mut models, add_up) = (complete_models(&fitted.trained, &mut forecasts), forecasts.add_up);
        let (mut frame, windows) = table(&fitted.trained, panel, h, forecasts)?;
        let mut far_values = FarValues::default();
        let outputs: Vec<Vec<Output>> = models.iter().map(|(_, outputs)| outputs.clone()).collect();
        far_values.count(panel, &frame, 1, &outputs);
        far_values.warn(&fitted.trained);
        frame = panel.without_levels_in(frame, column_levels(1, &outputs));
        if !add_up {
            frame = add_up_windows(&fitted.trained, frame, 1, &outputs)?;
            let of_sums = outputs_of_sums(&fitted.trained, outputs);
            models.iter_mut().zip(of_sums).for_each(|((_, outputs), of_sums)| *outputs = of_sums);
        }
        Ok(Self { frame, fitted, models, windows, h })
    }

    /// The errors of each model's point forecast (of a distribution its mean, else of quantiles the nearest to
    /// the median), where the truth is known, with pinball loss and coverage where it forecasts quantiles. `season` is in
    /// steps, for [`Metrics::mase`].
    ///
    /// # Panics
    /// If `season` is 0 or `panel` is not the one that was forecast.
    pub fn metrics(&self, panel: &Panel, season: usize) -> Vec<Metrics> {
        assert!(season > 0, "a season of 0 steps");
        Metrics::of(&self.rows(panel), season).expect("one value per row, and a history")
    }

    /// Any metrics of the models' forecasts, over all or by series, cutoff, step or label; series and their weights are in the
    /// order of the panel. Scaled metrics divide by the values before each cutoff, with a season in steps.
    ///
    /// # Errors
    /// A baseline or weights that are none.
    ///
    /// # Panics
    /// If `panel` is not the one that was forecast.
    pub fn scores(
        &self,
        panel: &Panel,
        metrics: &[Metric],
        by: ScoreBy<'_>,
        options: &ValidationScores<'_>,
    ) -> Result<ScoreTable, EvaluationError> {
        let ValidationScores { season, baseline, weights } = *options;
        let rows = self.rows(panel);
        let options = ScoreOptions::default().season(season).history(Some(&rows));
        evaluate(&rows.scored()?, metrics, by, &options.baseline(baseline).weights(weights))
    }

    fn rows(&self, panel: &Panel) -> ForecastRows {
        let models = self.models.iter().cloned();
        ForecastRows::of(panel, &self.frame, &self.windows, self.h, models)
    }
}

impl fmt::Debug for CrossValidation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CrossValidation({:?}, {} rows)", self.fitted, self.frame.n_rows())
    }
}
