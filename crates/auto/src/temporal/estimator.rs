//! A model whose forecasts of steps are reconciled with those of their sums, before it is fitted.

use std::any::Any;

use foretell::hierarchy::Reconciliation;
use foretell::own_estimator::{
    Asked, ColumnsRead, Estimator, EstimatorEntry, EstimatorNeeds, Fallback, HeldOut, MemoryEstimate, Output,
    Run, Span, Trained, TrainingSize,
};
use foretell::{EstimatorError, Freq, Map, ModelSpec, Panel, Progress, Value, Verdict, calendar_seasons};
use serde_json::json;

use super::error::TemporalError;
use super::period::Period;
use super::sums::sums;
use super::trained::{LevelOfSums, SeriesErrors, TrainedTemporal, restored};

/// The name by which it is found.
const NAME: &str = "Temporal";

/// Horizons at the end of each series whose errors weigh steps and sums.
const WINDOWS: usize = 3;

/// A model whose forecasts of steps are reconciled with forecasts of their sums by models of its kind (temporal hierarchies,
/// Athanasopoulos, Hyndman, Kourentzes and Petropoulos 2017): hours with days, days with weeks. What it forecasts are the steps.
///
/// A period is counted back from where a forecast begins. A season of the sums is that of the model divided by the period, or what
/// is usual for their frequency where nothing is left of it.
///
/// ```
/// use foretell::{Forecaster, Freq, ModelSpec, Panel};
/// use foretell_auto::Temporal;
///
/// let hour = |t: usize| 100.0 + (t % 24) as f32 + 10.0 * (t / 24 % 7) as f32;
/// let panel = Panel::from_series(Freq::parse("h")?, [("a", 0, (0..1200).map(hour).collect::<Vec<_>>())])?;
/// let model = ModelSpec::new("SeasonalNaive", 48, 1)?.set("season_length", 24)?;
/// let fitted = Forecaster::new([Temporal::new(model, &["24h"])?.into()])?.fit(&panel)?;
/// let forecast = fitted.predict(&panel, None)?;
/// // The day of the week, which a season of 24 hours does not know, comes from the days.
/// let day = |forecast: &[f32]| forecast[..24].iter().sum::<f32>();
/// let expected: f32 = (1200..1224).map(hour).sum();
/// assert!((day(forecast.column("SeasonalNaive").unwrap()) - expected).abs() < 0.01 * expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Temporal {
    model: ModelSpec,
    periods: Vec<Period>,
    method: Reconciliation,
}

/// The names and meanings of its own hyper-parameters; the others are those of the model.
const MEANINGS: [(&str, &str); 3] = [
    ("model", "The model of the steps, with its hyper-parameters; those of the sums are alike."),
    ("temporal", "The periods that steps add up to: numbers of steps, or frequencies."),
    ("temporal_method", "How they are made to add up: BottomUp, MinTraceOLS, MinTraceWLS or MinTraceVar."),
];

/// What a period may be, in words.
const PERIODS: &str = "a list of periods, each at least 2 steps or a frequency, as [\"24h\", \"168\"]";

impl Temporal {
    /// The entry by which it is found.
    pub const ENTRY: EstimatorEntry = EstimatorEntry {
        name: NAME,
        paper: "Athanasopoulos, Hyndman, Kourentzes and Petropoulos 2017, Forecasting with temporal hierarchies",
        new: |h| {
            let naive = ModelSpec::new("SeasonalNaive", h.max(1), 1).expect("a model of foretell's");
            Box::new(Self { model: naive, periods: Vec::new(), method: Reconciliation::MinTraceVar })
        },
        restore: |estimator, learned| {
            let any: Box<dyn Any> = estimator;
            let temporal = any.downcast::<Self>().map_err(|_| format!("it is no {NAME}"))?;
            let method = temporal.method;
            restored(temporal, method, &learned)
        },
    };

    /// The methods by which steps and sums are made to add up.
    pub const METHODS: [Reconciliation; 4] = [
        Reconciliation::BottomUp,
        Reconciliation::MinTraceOls,
        Reconciliation::MinTraceWls,
        Reconciliation::MinTraceVar,
    ];

    /// The model with sums over these periods, each a number of steps or a frequency. Their weights are those of the errors of the last
    /// three horizons ([`Reconciliation::MinTraceVar`]); series that are too short for these are weighed by numbers of steps.
    ///
    /// # Errors
    /// What is no period, or a model that is trained in steps or forecasts all series together.
    pub fn new(model: ModelSpec, periods: &[impl AsRef<str>]) -> Result<Self, EstimatorError> {
        let periods = periods.iter().map(|period| {
            let text = period.as_ref();
            let refused =
                || TemporalError::Value { name: "temporal", expected: PERIODS, found: text.to_owned() };
            Period::parse(text).ok_or_else(refused)
        });
        let periods = periods.collect::<Result<_, _>>()?;
        let temporal = Self { model, periods, method: Reconciliation::MinTraceVar };
        temporal.check()?;
        Ok(temporal)
    }

    /// By another method.
    ///
    /// # Errors
    /// If it is none of [`Temporal::METHODS`].
    pub fn method(mut self, method: Reconciliation) -> Result<Self, EstimatorError> {
        self.set("temporal_method", method.name().into())?;
        Ok(self)
    }

    /// The steps and the frequency of each period, of data of this frequency.
    fn levels(&self, freq: Freq) -> Result<Vec<(Freq, usize)>, TemporalError> {
        let h = self.model.h();
        let level = |period: &Period| {
            let steps = period.steps(freq)?;
            if !h.is_multiple_of(steps) {
                let (period, nearest) = (period.to_string(), h.div_ceil(steps) * steps);
                return Err(TemporalError::Horizon { period, h, steps, nearest });
            }
            let reason = || format!("there is no frequency of {steps} steps of {freq}");
            let of_sums = freq.several(steps);
            let of_sums = of_sums
                .ok_or_else(|| TemporalError::Period { period: period.to_string(), reason: reason() })?;
            Ok((of_sums, steps))
        };
        let levels: Vec<(Freq, usize)> = self.periods.iter().map(level).collect::<Result<_, _>>()?;
        for (place, (_, steps)) in levels.iter().enumerate() {
            if let Some(earlier) = levels[..place].iter().position(|(_, earlier)| earlier == steps) {
                let [earlier, later] = [earlier, place].map(|place| self.periods[place].to_string());
                return Err(TemporalError::Twice { earlier, later });
            }
        }
        Ok(levels)
    }

    /// The model of sums over this many steps, of this frequency.
    fn model_of_sums(&self, (freq, steps): (Freq, usize)) -> Result<ModelSpec, EstimatorError> {
        let all = self.model.hyper_parameters();
        let mut model = self.model.clone();
        let mut set = |name: &str, value: Value| -> Result<(), EstimatorError> {
            let changed = model.clone().set(name, value).map_err(|error| TemporalError::Model {
                model: self.model.alias().to_owned(),
                reason: error.to_string(),
            })?;
            model = changed;
            Ok(())
        };
        set("h", json!(self.model.h() / steps))?;
        for columns in ["hist_exog_list", "futr_exog_list", "stat_exog_list", "cat_exog_list"] {
            if all.contains_key(columns) {
                set(columns, json!([]))?;
            }
        }
        let divided = |season: &Value| {
            let season = season.as_u64().and_then(|season| usize::try_from(season).ok())?;
            (season.is_multiple_of(steps) && season > steps).then_some(season / steps)
        };
        let usual = || calendar_seasons(freq).first().copied();
        match all.get("season_length") {
            None => {}
            Some(Value::Array(seasons)) => {
                let left: Vec<usize> = seasons.iter().filter_map(divided).collect();
                let left = if left.is_empty() { usual().into_iter().collect() } else { left };
                set("season_length", if left.is_empty() { Value::Null } else { json!(left) })?;
            }
            Some(season) => set("season_length", json!(divided(season).or_else(usual)))?,
        }
        Ok(model)
    }

    /// The models of steps and sums, fitted to the rows of a panel.
    fn fit_levels(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<TrainedTemporal, EstimatorError> {
        let levels = self.levels(panel.freq())?;
        let Run { workers, vocabulary, step, .. } = run;
        let base = self.model.as_ref().fit(panel, held_out, run)?;
        let known = panel.without_last(held_out.rows());
        let ends: Vec<usize> = (0..known.n_series()).map(|series| known.len(series)).collect();
        let mut of_sums = Vec::with_capacity(levels.len());
        for (place, level) in levels.into_iter().enumerate() {
            let model = self.model_of_sums(level)?;
            let needed = model.as_ref().needs().rows_needed;
            let Some(sums) = sums(&known, level, &ends, needed)? else {
                let (period, found) = (self.periods[place].to_string(), known.max_len());
                return Err(TemporalError::Short { period, needed: needed * level.1, found }.into());
            };
            let mut listen = |_: &Progress| Verdict::Continue;
            let run = Run::alone(workers, vocabulary, &mut listen).steps_as(step);
            let trained = model.as_ref().fit(&sums, HeldOut::default(), run)?;
            of_sums.push(LevelOfSums { freq: level.0, steps: level.1, trained: trained.into() });
        }
        Ok(TrainedTemporal::new(self.boxed(), self.method, base.into(), of_sums))
    }

    /// The errors of the last horizons of each series that is long enough, by models that have not seen these.
    fn errors(&self, panel: &Panel, run: Run<'_>) -> Result<Vec<SeriesErrors>, EstimatorError> {
        let h = self.model.h();
        let tested = WINDOWS * h;
        let most = self.levels(panel.freq())?.into_iter().map(|(_, steps)| steps).max().unwrap_or(1);
        let needed = self.model.as_ref().needs().rows_needed.max(2 * most);
        let long = panel.without_shorter_than(tested + needed);
        if long.n_series() == 0 {
            return Ok(Vec::new());
        }
        let workers = run.workers;
        let earlier = match self.fit_levels(&long, HeldOut { validation: 0, test: tested }, run) {
            Ok(earlier) => earlier,
            // Too few sums to learn weights of.
            Err(EstimatorError::Usage(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let asked = Asked { span: Span::Test { test_size: tested, step_size: h }, h, quantiles: None };
        earlier.errors(&long, &asked, workers)
    }
}

impl From<Temporal> for ModelSpec {
    fn from(temporal: Temporal) -> Self {
        let boxed: Box<dyn Estimator> = Box::new(temporal);
        boxed.into()
    }
}

impl Estimator for Temporal {
    fn name(&self) -> &'static str {
        NAME
    }

    fn alias(&self) -> &str {
        self.model.alias()
    }

    fn horizon(&self) -> usize {
        self.model.h()
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        let refused = |name, expected| TemporalError::Value { name, expected, found: value.to_string() };
        match name {
            "model" => {
                let model = serde_json::from_value(value.clone());
                self.model = model.map_err(|_| refused("model", "a model with all hyper-parameters"))?;
            }
            "temporal" => {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let all = match &value {
                    Value::Array(all) => all.iter().map(text).collect(),
                    one => vec![text(one)],
                };
                let periods = all.iter().map(|text| Period::parse(text)).collect::<Option<_>>();
                self.periods = periods.ok_or_else(|| refused("temporal", PERIODS))?;
            }
            "temporal_method" => {
                let method = value.as_str().and_then(|name| name.parse().ok());
                let method = method.filter(|method| Self::METHODS.contains(method));
                self.method = method.ok_or_else(|| {
                    refused("temporal_method", "BottomUp, MinTraceOLS, MinTraceWLS or MinTraceVar")
                })?;
            }
            _ => {
                let model = self
                    .model
                    .clone()
                    .set(name, value)
                    .map_err(|error| EstimatorError::Usage(Box::new(error)))?;
                self.model = model;
            }
        }
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        let periods: Vec<String> = self.periods.iter().map(ToString::to_string).collect();
        let values = [json!(self.model), json!(periods), json!(self.method.name())];
        MEANINGS.iter().map(|(name, _)| (*name).to_owned()).zip(values).collect()
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        let own = MEANINGS.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning);
        own.or_else(|| self.model.meaning(name))
    }

    fn check(&self) -> Result<(), EstimatorError> {
        self.model.check().map_err(|error| EstimatorError::Usage(Box::new(error)))?;
        let needs = self.model.as_ref().needs();
        let reason = match () {
            () if needs.max_steps.is_some() => "it is trained in steps",
            () if needs.is_joint => "it forecasts all series together",
            () if self.model.name() == NAME => "it is reconciled already",
            () => return Ok(()),
        };
        let model = self.model.alias().to_owned();
        Err(TemporalError::Model { model, reason: reason.to_owned() }.into())
    }

    fn needs(&self) -> EstimatorNeeds {
        self.model.as_ref().needs()
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        self.model.as_ref().columns_read()
    }

    fn most_categories(&self, column: &str) -> Option<usize> {
        self.model.as_ref().most_categories(column)
    }

    fn outputs(&self) -> Vec<Output> {
        self.model.as_ref().outputs()
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        self.model.as_ref().outputs_at(quantiles)
    }

    fn caveats(&self, panel: &Panel) -> Vec<String> {
        self.model.as_ref().caveats(panel)
    }

    fn fallbacks(&self, panel: &Panel) -> Vec<(usize, Fallback)> {
        self.model.as_ref().fallbacks(panel)
    }

    fn training_memory(
        &self,
        training: &TrainingSize<'_>,
    ) -> Result<(usize, MemoryEstimate), EstimatorError> {
        self.model.as_ref().training_memory(training)
    }

    fn fit(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<Box<dyn Trained>, EstimatorError> {
        self.levels(panel.freq())?;
        let errors = match self.method {
            Reconciliation::BottomUp => Vec::new(),
            _ => {
                let mut listen = |_: &Progress| Verdict::Continue;
                let earlier = Run::alone(run.workers, run.vocabulary, &mut listen).steps_as(run.step);
                self.errors(&panel.without_last(held_out.rows()), earlier)?
            }
        };
        Ok(Box::new(self.fit_levels(panel, held_out, run)?.with_errors(errors)))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}
