//! Prophet as an estimator: before training, and after it.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use foretell_data::{Future, Panel};
use foretell_estimator::{
    Asked, ColumnKind, ColumnsRead, Cutoff, Described, Estimator, EstimatorEntry, EstimatorError,
    EstimatorNeeds, Fallback, ForecastPart, ForecastValues, HeldOut, Learned, LevelsSeen, MemoryEstimate,
    Output, Run, SeriesNumbers, Trained, TrainingSize, Workers, cutoffs_beside, each_window,
};
use serde_json::{Map, Value};

use crate::decompose::ForecastParts;
use crate::error::ProphetError;
use crate::fit::{LEAST_VALUES, Model, SeriesFit};
use crate::hyper_parameters;
use crate::rows::Rows;
use crate::settings::{Growth, Mode, ProphetSettings};
use crate::{holiday_years, short_history, unlearned};

const NAME: &str = "Prophet";

/// The entry by which Prophet is found.
pub(crate) const ENTRY: EstimatorEntry = EstimatorEntry {
    name: NAME,
    paper: "Taylor and Letham 2018, Forecasting at Scale",
    new: |h| Box::new(Prophet::new(ProphetSettings { h, ..ProphetSettings::default() })),
    restore: |estimator, learned| {
        let estimator: Box<dyn Any> = estimator;
        let own = estimator.downcast::<Prophet>().map_err(|_| format!("it is no {NAME}"))?;
        let learned = Arc::new(SeriesNumbers::restored(learned)?);
        own.model.check(&learned)?;
        Ok(Box::new(TrainedProphet { prophet: *own, learned }))
    },
};

/// Prophet before training: its hyper-parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Prophet {
    model: Arc<Model>,
}

impl Prophet {
    /// One with these hyper-parameters.
    pub fn new(settings: ProphetSettings) -> Self {
        Self { model: Arc::new(Model::new(settings)) }
    }

    /// Its hyper-parameters.
    pub fn settings(&self) -> &ProphetSettings {
        &self.model.settings
    }
}

impl Estimator for Prophet {
    fn name(&self) -> &'static str {
        NAME
    }

    fn alias(&self) -> &str {
        self.settings().alias.as_deref().unwrap_or(NAME)
    }

    fn horizon(&self) -> usize {
        self.settings().h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        *self = Self::new(hyper_parameters::with(self.settings(), name, &value)?);
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        hyper_parameters::values(self.settings())
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        hyper_parameters::meaning(name)
    }

    fn check(&self) -> Result<(), EstimatorError> {
        match self.settings().contradiction() {
            Some(contradiction) => Err(ProphetError::Contradiction(contradiction).into()),
            None => Ok(()),
        }
    }

    fn needs(&self) -> EstimatorNeeds {
        let settings = self.settings();
        EstimatorNeeds {
            can_read: vec![ColumnKind::Futr],
            unscaled_columns: settings.unscaled_columns(),
            // A capacity is a value, and a share is one of the trend.
            levels_seen: match settings.growth == Growth::Logistic || settings.has_shares() {
                true => LevelsSeen::None,
                false => LevelsSeen::OfTraining,
            },
            learns_without_steps: true,
            learns_of_single_series: true,
            takes_all_threads: true,
            ..EstimatorNeeds::default()
        }
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        ColumnsRead { futr: &self.model.design.reads, ..ColumnsRead::default() }
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        Some(Output::point_and_quantiles(quantiles))
    }

    fn caveats(&self, panel: &Panel) -> Vec<String> {
        let mut caveats = short_history::caveats(&self.model.design, panel);
        caveats.extend(holiday_years::caveat(self.settings(), panel));
        caveats.extend(unlearned::caveats(self.settings(), &self.model.design, panel));
        caveats
    }

    fn fallbacks(&self, panel: &Panel) -> Vec<(usize, Fallback)> {
        let known = |series: usize| {
            panel.known_y(series, 0..panel.len(series)).iter().filter(|y| !y.is_nan()).count()
        };
        // Of nothing every model knows nothing.
        let is_short = |&series: &usize| (1..LEAST_VALUES).contains(&known(series));
        let short = (0..panel.n_series()).filter(is_short);
        short.map(|series| (series, Fallback::too_few(LEAST_VALUES))).collect()
    }

    fn training_memory(
        &self,
        training: &TrainingSize<'_>,
    ) -> Result<(usize, MemoryEstimate), EstimatorError> {
        let (changes, width) = (self.model.most_changepoints(), self.model.design.width());
        let numbers =
            training.panel.n_series() * (8 + 2 * changes + width + 2 * self.model.design.reads.len());
        // Two matrices of 8 bytes a number, of all columns and of those of the series.
        let rows = training.panel.max_len() * training.threads.min(training.panel.n_series());
        let estimate = MemoryEstimate::default().and("seasons and holidays", (16 * rows * width) as u64);
        Ok((numbers, estimate))
    }

    fn fit(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<Box<dyn Trained>, EstimatorError> {
        self.check()?;
        let known = panel.without_last(held_out.rows());
        let mut fits: Vec<Result<SeriesFit, EstimatorError>> = Vec::new();
        // What no one waits for any more is left.
        let left =
            || Err(EstimatorError::Failed("the training was given up, since no one waits for it".into()));
        fits.resize_with(known.n_series(), left);
        run.workers.each(&mut fits, true, |series, fit| *fit = fit_series(&self.model, &known, series, None));
        let fits = fits.into_iter().collect::<Result<Vec<_>, _>>()?;
        let learned = Arc::new(self.model.numbers(&known, &fits));
        Ok(Box::new(TrainedProphet { prophet: self.clone(), learned }))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// Fits the first `rows` of a series, or all.
fn fit_series(
    model: &Model,
    panel: &Panel,
    series: usize,
    rows: Option<usize>,
) -> Result<SeriesFit, EstimatorError> {
    let history = 0..rows.unwrap_or(panel.len(series));
    let rows = Rows::new(panel, series, history.clone(), &model.design.reads, None)?;
    Ok(model.fit(panel.id(series), rows, &panel.known_y(series, history))?)
}

/// Prophet after training: the parameters of each series.
#[derive(Clone, Debug)]
pub struct TrainedProphet {
    prophet: Prophet,
    learned: Arc<SeriesNumbers>,
}

impl TrainedProphet {
    /// The trend and the components of rows of a series, which may lie behind its end. A series that was not trained on is
    /// fitted to its rows in the panel.
    ///
    /// # Errors
    /// If the panel, or behind its end `future`, lacks a column that the model reads, or a series that was not trained on
    /// cannot be fitted.
    pub fn decompose(
        &self,
        panel: &Panel,
        series: usize,
        rows: Range<usize>,
        future: Option<&Future>,
    ) -> Result<ForecastParts, EstimatorError> {
        let (id, model) = (panel.id(series), &self.prophet.model);
        let rows = Rows::new(panel, series, rows, &model.design.reads, future)?;
        let fit = self.fit_of(panel, (series, panel.len(series)))?;
        Ok(model.decompose(id, &fit, &rows, &model.scaled(id, &fit, &rows)?)?)
    }

    /// The logarithm of the posterior at the parameters of a series, without constants, as Stan has it (`lp__`); nothing of a
    /// series that was not trained on, NaN of one that is constant or has fewer than two values.
    pub fn log_posterior(&self, id: &str) -> Option<f64> {
        self.prophet.model.fit_of(&self.learned, id).map(|fit| fit.log_posterior)
    }

    /// The fit of a series; of one that was not trained on, to what is before the cutoff.
    fn fit_of(&self, panel: &Panel, (series, before): Cutoff) -> Result<SeriesFit, EstimatorError> {
        match self.prophet.model.fit_of(&self.learned, panel.id(series)) {
            Some(fit) => Ok(fit),
            None => fit_series(&self.prophet.model, panel, series, Some(before)),
        }
    }

    /// A window: the forecast, then its quantiles, `[steps, 1 + quantiles]`.
    fn window(
        &self,
        panel: &Panel,
        cutoff: Cutoff,
        asked: &Asked<'_>,
        out: &mut [f32],
    ) -> Result<(), EstimatorError> {
        let ((series, before), model) = (cutoff, &self.prophet.model);
        let (id, reads) = (panel.id(series), &model.design.reads);
        let rows = Rows::new(panel, series, before..before + asked.h, reads, asked.future())?;
        let fit = self.fit_of(panel, cutoff)?;
        let scaled = model.scaled(id, &fit, &rows)?;
        let parts = model.decompose(id, &fit, &rows, &scaled)?;
        let asked_for = asked.quantiles.unwrap_or_default();
        let quantiles = match asked_for {
            [] => Vec::new(),
            asked_for => model.quantiles(id, &fit, &scaled, &parts, asked_for),
        };
        for (step, (row, point)) in
            out.chunks_exact_mut(1 + asked_for.len()).zip(parts.forecast()).enumerate()
        {
            row[0] = point as f32;
            let quantiles = &quantiles[step * asked_for.len()..];
            row[1..].iter_mut().zip(quantiles).for_each(|(cell, &value)| *cell = value as f32);
        }
        Ok(())
    }
}

impl Trained for TrainedProphet {
    fn estimator(&self) -> &dyn Estimator {
        &self.prophet
    }

    fn reaches_any_horizon(&self) -> bool {
        true
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let cutoffs = cutoffs_beside(panel, asked.span, asked.h, &self.prophet.model.design.reads)?;
        let columns = 1 + asked.quantiles.map_or(0, <[f64]>::len);
        let window = |cutoff, out: &mut [f32]| self.window(panel, cutoff, asked, out);
        let values = each_window(&cutoffs, asked.h * columns, workers, window)?;
        Ok(ForecastValues { cutoffs, values })
    }

    fn described(&self, place: usize) -> Option<Described> {
        let series = self.learned.learned().series.get(place)?.clone();
        let fit = self.prophet.model.fit_of(&self.learned, &series)?;
        let (form, numbers) = self.prophet.model.describe(&fit);
        Some(Described { series, form, numbers })
    }

    /// The trend, and what each component adds to it; a component that a series lacks adds nothing.
    fn parts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        _: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        let mut parts = vec![ForecastPart { name: "trend".to_owned(), values: Vec::new() }];
        for series in 0..panel.n_series() {
            let before = panel.len(series);
            let own = match self.decompose(panel, series, before..before + h, future) {
                Ok(own) => own,
                Err(error) => return Some(Err(error)),
            };
            parts[0].values.extend(own.trend.iter().map(|&value| value as f32));
            for component in &own.components {
                let place = parts.iter().position(|part| part.name == component.name).unwrap_or_else(|| {
                    parts.push(ForecastPart { name: component.name.clone(), values: Vec::new() });
                    parts.len() - 1
                });
                let values = &mut parts[place].values;
                values.resize(series * h, 0.0);
                let added =
                    component.values.iter().zip(&own.trend).map(|(value, trend)| match component.mode {
                        Mode::Additive => *value,
                        Mode::Multiplicative => value * trend,
                    });
                values.extend(added.map(|value| value as f32));
            }
        }
        parts.iter_mut().for_each(|part| part.values.resize(panel.n_series() * h, 0.0));
        Some(Ok(parts))
    }

    fn held_bytes(&self) -> [u64; 2] {
        [self.learned.bytes(), 0]
    }

    fn memory(&self, _: &Panel, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        let at_once = windows.min(threads) as u64;
        let samples = self.prophet.settings().uncertainty_samples as u64;
        let numbers = h as u64 * (samples + self.prophet.model.design.width() as u64);
        MemoryEstimate::default().and("simulated futures", 8 * at_once * numbers)
    }

    fn learned(&self) -> Learned {
        self.learned.learned().clone()
    }
}
