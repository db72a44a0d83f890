//! The automatic forecast before it is fitted.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use foretell::own_estimator::hyper::RefusedHyperParameter;
use foretell::own_estimator::{
    ColumnKind, ColumnsRead, Estimator, EstimatorEntry, EstimatorNeeds, HeldOut, Learned, Moment, Output,
    Run, Trained,
};
use foretell::{EstimatorError, Map, ModelSpec, Panel, Progress, Value, Verdict, register_estimator};

use crate::board::{AUTO, Board};
use crate::budget::Budget;
use crate::candidates::model_of;
use crate::choose::{choose, fit_again};
use crate::chosen::Chosen;
use crate::error::AutoError;
use crate::member::Context;
use crate::settings::Settings;
use crate::temporal::Temporal;
use crate::trained::TrainedAuto;
use crate::wanted::Wanted;

/// The hyper-parameter that holds what was chosen.
const CHOSEN: &str = "chosen";

/// The automatic forecast: models that suit the panel, combined by what they would have forecast.
///
/// It is an estimator as any other, under the name `Auto`, once it is [registered](Auto::register): fitted, scored, saved and served
/// like the others. Its fit is the whole search; what it chose is a hyper-parameter afterwards, so that fitting it again, to newer
/// data, chooses nothing anew.
///
/// ```
/// use foretell::{Forecaster, Freq, Panel, PredictOptions};
/// use foretell_auto::{Auto, TrainedAuto};
///
/// let month = |t: usize| 100.0 + t as f32 + [5.0, -3.0, 8.0][t % 3] * (t % 4) as f32;
/// let panel = Panel::from_series(Freq::parse("MS")?, [("a", 0, (0..60).map(month).collect::<Vec<_>>())])?;
/// let fitted = Forecaster::new([Auto::new(6).into()])?.fit(&panel)?;
/// let options = PredictOptions::new().quantiles(&[0.1, 0.5, 0.9]);
/// assert_eq!(fitted.predict_with(&panel, &options)?.n_rows(), 6);
/// let board = TrainedAuto::of(&fitted).expect("the only model").board();
/// assert!(board.is_honest && board.row("SeasonalNaive").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Auto {
    pub(crate) settings: Settings,
    pub(crate) chosen: Option<Box<Chosen>>,
    is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Auto {
    /// The entry by which it is found.
    pub const ENTRY: EstimatorEntry = EstimatorEntry {
        name: AUTO,
        paper: "Caruana, Niculescu-Mizil, Crew and Ksikes 2004, Ensemble Selection from Libraries of Models",
        new: |h| Box::new(Self::new(h)),
        restore: |estimator, learned| restored(estimator, learned),
    };

    /// One of this horizon, whose seasons and models are chosen by the data.
    pub fn new(h: usize) -> Self {
        Self { settings: Settings::new(h), chosen: None, is_stopped: Arc::new(|| false) }
    }

    /// Makes it and [`Temporal`] known by their names, to [`ModelSpec::new`] and to directories that are loaded.
    pub fn register() {
        register_estimator(Self::ENTRY);
        register_estimator(Temporal::ENTRY);
    }

    /// The board among the [hyper-parameters](Estimator::hyper_parameters) of one that was fitted; nothing of one that was not.
    pub fn board_of(hyper_parameters: &Map<String, Value>) -> Option<Board> {
        let chosen: Chosen = serde_json::from_value(hyper_parameters.get(CHOSEN)?.clone()).ok()?;
        Some(chosen.board)
    }

    /// With so much work.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = budget;
        self
    }

    /// Has it asked, between models and between the steps of networks, whether to end with what there is. The fit is whole then, of the
    /// models that were tried until then.
    #[must_use]
    pub fn stop_if(mut self, is_stopped: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.is_stopped = Arc::new(is_stopped);
        self
    }

    /// Tries these models with their hyper-parameters, in place of those that suit the data, and reads the columns that they read. Each
    /// needs an alias of its own, under which it stands on the board.
    #[must_use]
    pub fn models(mut self, models: impl IntoIterator<Item = ModelSpec>) -> Self {
        let models: Vec<ModelSpec> = models.into_iter().collect();
        for spec in &models {
            let ColumnsRead { hist, futr, stat, cat } = spec.as_ref().columns_read();
            let settings = &mut self.settings;
            let lists = [&mut settings.hist, &mut settings.futr, &mut settings.stat, &mut settings.cat];
            for (all, own) in lists.into_iter().zip([hist, futr, stat, cat]) {
                let new: Vec<String> = own.iter().filter(|name| !all.contains(name)).cloned().collect();
                all.extend(new);
            }
        }
        self.settings.models = Some(models.into_iter().map(Wanted::Given).collect());
        self
    }

    /// Sets a hyper-parameter, in code.
    ///
    /// # Errors
    /// If it has none of that name, or it cannot have that value.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Result<Self, AutoError> {
        self.settings.set(name, &value.into())?;
        Ok(self)
    }
}

impl From<Auto> for ModelSpec {
    fn from(auto: Auto) -> Self {
        let boxed: Box<dyn Estimator> = Box::new(auto);
        boxed.into()
    }
}

/// The trained one that has learned this.
fn restored(estimator: Box<dyn Estimator>, learned: Learned) -> Result<Box<dyn Trained>, String> {
    let estimator: Box<dyn Any> = estimator;
    let auto = estimator.downcast::<Auto>().map_err(|_| format!("it is no {AUTO}"))?;
    let chosen = auto.chosen.clone().ok_or_else(|| "it has not what was chosen".to_owned())?;
    Ok(Box::new(TrainedAuto::restored(auto, *chosen, &learned)?))
}

impl Auto {
    /// Checks the columns that are to be read: without this the models that read them would be left out one by one, and the others forecast
    /// as if there were no such columns.
    fn check_columns(&self, panel: &Panel) -> Result<(), EstimatorError> {
        let Settings { hist, futr, stat, cat, .. } = &self.settings;
        let is_number = |name: &&String| !cat.contains(name);
        for name in hist.iter().chain(futr).filter(is_number) {
            panel.column(name, 0)?;
        }
        for name in stat.iter().filter(is_number) {
            panel.static_value(name, 0)?;
        }
        Ok(())
    }
}

impl Estimator for Auto {
    fn name(&self) -> &'static str {
        AUTO
    }

    fn alias(&self) -> &str {
        self.settings.alias.as_deref().unwrap_or(AUTO)
    }

    fn horizon(&self) -> usize {
        self.settings.h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        if name == CHOSEN {
            self.chosen = match value {
                Value::Null => None,
                value => {
                    let chosen =
                        serde_json::from_value(value).map_err(|error| RefusedHyperParameter::Value {
                            model: AUTO,
                            name: CHOSEN.to_owned(),
                            expected: "what a fit chose, or null",
                            found: "something else".to_owned(),
                            reason: format!(" ({error})"),
                        })?;
                    Some(Box::new(chosen))
                }
            };
            return Ok(());
        }
        Ok(self.settings.set(name, &value)?)
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        let mut all = self.settings.to_map();
        if let Some(chosen) = &self.chosen {
            let value = serde_json::to_value(chosen).unwrap_or(Value::Null);
            all.insert(CHOSEN.to_owned(), value);
        }
        all
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        match name {
            CHOSEN => Some("What a fit chose; further fits take it over. null to choose anew."),
            _ => Settings::meaning(name),
        }
    }

    fn check(&self) -> Result<(), EstimatorError> {
        // The models that were named, before any work is done.
        for model in self.settings.models.iter().flatten() {
            let refused = |reason| AutoError::Member { name: model.name().to_owned(), reason };
            let spec = match model {
                Wanted::Named(name) => ModelSpec::new(model_of(name), 1, 1),
                Wanted::Given(spec) => spec.check().map(|()| spec.clone()),
            };
            let spec = spec.map_err(|error| refused(error.to_string()))?;
            if spec.name() == AUTO {
                return Err(refused("it would be its own member".to_owned()).into());
            }
            if let Wanted::Given(spec) = model
                && spec.h() != self.settings.h
            {
                let reason =
                    format!("it forecasts {} steps, and {} are to be forecast", spec.h(), self.settings.h);
                return Err(refused(reason).into());
            }
        }
        Ok(())
    }

    fn needs(&self) -> EstimatorNeeds {
        let can_read = vec![ColumnKind::Hist, ColumnKind::Futr, ColumnKind::Stat, ColumnKind::Cat];
        EstimatorNeeds { can_read, takes_all_threads: true, ..EstimatorNeeds::default() }
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        let Settings { hist, futr, stat, cat, .. } = &self.settings;
        ColumnsRead { hist, futr, stat, cat }
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        let quantile = |&q: &f64| Output { suffix: format!("-q{q}"), quantile: Some(q as f32) };
        Some(std::iter::once(Output::point()).chain(quantiles.iter().map(quantile)).collect())
    }

    fn fit(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<Box<dyn Trained>, EstimatorError> {
        self.check_columns(panel)?;
        let panel = panel.without_last(held_out.rows());
        // The listener to the training may stop it, too.
        let Run { workers, vocabulary, step, .. } = run;
        let heard = Mutex::new((0_u64, run.listen));
        let begun = Moment::now();
        let is_stopped = || {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            let (step, listen) = &mut *heard;
            *step += 1;
            let progress = Progress {
                step: *step,
                max_steps: *step,
                train_loss: 0.0,
                valid_loss: None,
                learning_rate: 0.0,
                skipped_steps: 0,
                elapsed: begun.elapsed(),
            };
            (self.is_stopped)() || listen(&progress) != Verdict::Continue
        };
        let context = Context { workers, vocabulary, h: self.settings.h, step, is_stopped: &is_stopped };
        let (chosen, members) = match &self.chosen {
            Some(chosen) => fit_again(chosen, &panel, &context)?,
            None => choose(&self.settings, &panel, &context)?,
        };
        let auto = Self { chosen: Some(Box::new(chosen.clone())), ..self.clone() };
        Ok(Box::new(TrainedAuto::new(Box::new(auto), chosen, members)))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

impl fmt::Debug for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.chosen.as_ref().map(|chosen| chosen.members.len());
        f.debug_struct(AUTO).field("settings", &self.settings).field("members", &members).finish()
    }
}
