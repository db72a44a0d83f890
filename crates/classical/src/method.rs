//! The part that all classical forecasters share: an estimator around a method.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use foretell_calendar::Freq;
use foretell_data::{Future, Panel, Span};
use foretell_estimator::{
    Asked, ColumnKind, ColumnsRead, Described, Estimator, EstimatorEntry, EstimatorError, EstimatorNeeds,
    Fallback, ForecastPart, ForecastValues, HeldOut, Learned, LevelsSeen, NamedNumbers, Output, Run,
    SeriesNumbers, Trained, Workers,
};
use serde_json::{Map, Value};

use crate::hyper::{self, HyperParameter, RefusedHyperParameter};

/// The name of the numbers that are learned of each series.
pub(crate) const NUMBERS: &str = "numbers";
/// What is known of a history before a method sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryFacts {
    /// Its rows,
    pub rows: usize,
    /// and those whose values are known.
    pub known: usize,
    /// The least known value.
    pub least: f64,
    /// Whether all known values are the same.
    pub is_constant: bool,
}

impl HistoryFacts {
    /// Those of some values, NaN where they are unknown.
    pub fn of(values: &[f64]) -> Self {
        let mut known = values.iter().copied().filter(|y| !y.is_nan()).peekable();
        let first = known.peek().copied();
        let start = Self { rows: values.len(), known: 0, least: f64::INFINITY, is_constant: true };
        known.fold(start, |facts, y| Self {
            known: facts.known + 1,
            least: facts.least.min(y),
            is_constant: facts.is_constant && Some(y) == first,
            ..facts
        })
    }
}

/// A method: the part in which one classical forecaster differs from another.
pub trait Method: Clone + Default + fmt::Debug + Send + Sync + 'static {
    /// The estimator's name.
    const NAME: &'static str;

    /// Where it is described.
    const PAPER: &'static str;

    /// Its hyper-parameters beside `h` and `alias`.
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>];

    /// Whether it forecasts any quantile; if not, intervals are calibrated like those of any forecast of a single number.
    const HAS_QUANTILES: bool = true;

    /// Whether it learns of each series, which takes all threads.
    const LEARNS: bool = false;

    /// Whether it can read columns known in advance.
    const READS_COLUMNS: bool = false;

    /// Whether it forecasts demand, which is never negative.
    const IS_DEMAND: bool = false;

    /// The columns known in advance that it reads.
    fn columns(&self) -> &[String] {
        &[]
    }

    /// What a unit of each of its columns adds to a series, in what it learned of this one.
    fn slopes(&self, learned: &[f64]) -> Option<Vec<f64>> {
        _ = learned;
        None
    }

    /// How it forecasts a series of this frequency that it cannot forecast as its hyper-parameters say.
    fn fallback(&self, freq: Freq, history: &HistoryFacts) -> Option<Fallback> {
        _ = (freq, history);
        None
    }

    /// What forecasts of data of this frequency will lack, with what to do about it.
    fn caveat(&self, freq: Freq) -> Option<String> {
        _ = freq;
        None
    }

    /// The method with the numbers that it learns of the panel as a whole; those of each series go to `learned`.
    #[must_use]
    fn fitted(&self, panel: &Panel, learned: &mut SeriesNumbers, workers: &Workers) -> Self;

    /// The forecasts of all windows: a point forecast, then the quantiles that are asked for. The panel may hold other series
    /// than those that were `learned` from.
    ///
    /// # Errors
    /// If a window cannot be forecast.
    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        learned: &SeriesNumbers,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError>;

    /// The form that it chose for a series, and the numbers of it, in what it learned of this one; `None` of a series that it forecasts by
    /// its last value, and of a method that chooses nothing.
    fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
        _ = learned;
        None
    }

    /// What it passed over where it chose the form of a series, in what it learned of this one.
    fn passed_over(&self, learned: &[f64]) -> Option<Fallback> {
        _ = learned;
        None
    }

    /// The parts that its forecasts add up of, as [`Trained::parts`] has them.
    fn parts(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        learned: &SeriesNumbers,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        _ = (panel, asked, learned, workers);
        None
    }
}

/// A classical forecaster before training, which does not forecast; [`TrainedClassical`] is it afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Classical<M> {
    /// Steps to forecast.
    pub h: usize,
    /// The name of its column; `None` for the method's.
    pub alias: Option<String>,
    /// How it forecasts.
    pub method: M,
}

/// A classical forecaster that was trained. Its hyper-parameters are settled, such as the season by the frequency of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedClassical<M> {
    estimator: Classical<M>,
    learned: Arc<SeriesNumbers>,
}

impl<M: Method> Classical<M> {
    /// One that forecasts this many steps, with default hyper-parameters.
    pub fn new(h: usize) -> Self {
        Self { h, alias: None, method: M::default() }
    }

    /// The entry by which it is found.
    pub const fn entry() -> EstimatorEntry {
        EstimatorEntry {
            name: M::NAME,
            paper: M::PAPER,
            new: |h| Box::new(Self::new(h)),
            restore: |estimator, learned| {
                let estimator: Box<dyn Any> = estimator;
                let own = estimator.downcast::<Self>().map_err(|_| format!("it is no {}", M::NAME))?;
                let learned = Arc::new(SeriesNumbers::restored(learned)?);
                Ok(Box::new(TrainedClassical { estimator: *own, learned }))
            },
        }
    }

    /// The same trained.
    pub(crate) fn trained(&self, panel: &Panel, held_out: HeldOut, run: &Run<'_>) -> TrainedClassical<M> {
        let mut learned = SeriesNumbers::default();
        let method = self.method.fitted(&panel.without_last(held_out.rows()), &mut learned, run.workers);
        TrainedClassical { estimator: Self { method, ..self.clone() }, learned: Arc::new(learned) }
    }
}

impl<M: Method> TrainedClassical<M> {
    /// What a unit of each column that it reads (`futr_exog_list`) adds to the values of the series with this id, of a model with a power
    /// (`blambda`) to the transformed ones, in their order; `None` of a
    /// series that it did not learn of, or of a method without such numbers.
    pub fn slopes(&self, id: &str) -> Option<Vec<f64>> {
        self.estimator.method.slopes(self.learned.of(id, NUMBERS)?)
    }
}

impl<M: Method> Estimator for Classical<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn alias(&self) -> &str {
        self.alias.as_deref().unwrap_or(M::NAME)
    }

    fn horizon(&self) -> usize {
        self.h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        let refuse = |expected| RefusedHyperParameter::value(M::NAME, name, expected, &value);
        match name {
            "h" => self.h = hyper::steps(&value).ok_or_else(|| refuse(hyper::STEPS))?,
            "alias" => self.alias = hyper::alias(&value).ok_or_else(|| refuse(hyper::ALIAS))?,
            _ => hyper::set(&mut self.method, M::NAME, M::HYPER_PARAMETERS, name, &value)?,
        }
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        let own = HyperParameter::values(M::HYPER_PARAMETERS, &self.method);
        let h = ("h".to_owned(), Value::from(self.h));
        std::iter::once(h).chain(own).chain([("alias".to_owned(), self.alias.clone().into())]).collect()
    }

    fn meaning(&self, name: &str) -> Option<&'static str> {
        match name {
            "h" => Some("Steps to forecast."),
            "alias" => Some("The name of the model's column in forecasts; null for the model's own."),
            _ => HyperParameter::find(M::HYPER_PARAMETERS, name).map(|known| known.meaning),
        }
    }

    fn needs(&self) -> EstimatorNeeds {
        EstimatorNeeds {
            can_read: if M::READS_COLUMNS { vec![ColumnKind::Futr] } else { Vec::new() },
            is_never_negative: M::IS_DEMAND,
            levels_seen: LevelsSeen::Any,
            learns_without_steps: M::LEARNS,
            learns_of_single_series: true,
            takes_all_threads: M::LEARNS,
            ..EstimatorNeeds::default()
        }
    }

    fn columns_read(&self) -> ColumnsRead<'_> {
        ColumnsRead { futr: self.method.columns(), ..ColumnsRead::default() }
    }

    fn caveats(&self, panel: &Panel) -> Vec<String> {
        self.method.caveat(panel.freq()).into_iter().collect()
    }

    fn fallbacks(&self, panel: &Panel) -> Vec<(usize, Fallback)> {
        let of_series = |series: usize| {
            let facts = HistoryFacts::of(&panel.known_values(series, 0..panel.len(series)));
            // Of nothing every model knows nothing.
            let fallback = (facts.known > 0).then(|| self.method.fallback(panel.freq(), &facts))??;
            Some((series, fallback))
        };
        (0..panel.n_series()).filter_map(of_series).collect()
    }

    fn outputs_at(&self, quantiles: &[f64]) -> Option<Vec<Output>> {
        M::HAS_QUANTILES.then(|| Output::point_and_quantiles(quantiles))
    }

    fn fit(
        &self,
        panel: &Panel,
        held_out: HeldOut,
        run: Run<'_>,
    ) -> Result<Box<dyn Trained>, EstimatorError> {
        for name in self.method.columns() {
            (0..panel.n_series()).try_for_each(|series| panel.column(name, series).map(|_| ()))?;
        }
        Ok(Box::new(self.trained(panel, held_out, &run)))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

impl<M: Method> Trained for TrainedClassical<M> {
    fn estimator(&self) -> &dyn Estimator {
        &self.estimator
    }

    fn reaches_any_horizon(&self) -> bool {
        true
    }

    fn is_mean_far_from_median(&self) -> bool {
        M::IS_DEMAND
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        self.estimator.method.forecast(panel, asked, &self.learned, workers)
    }

    fn described(&self, place: usize) -> Option<Described> {
        if !M::LEARNS {
            return None;
        }
        let series = self.learned.learned().series.get(place)?.clone();
        let described = self.estimator.method.describe(self.learned.of(&series, NUMBERS)?);
        let (form, numbers) = described.unwrap_or_else(|| ("last value".to_owned(), Vec::new()));
        Some(Described { series, form, numbers })
    }

    fn passed_over(&self) -> Vec<(String, Fallback)> {
        let of_series = |id: &String| {
            let learned = self.learned.of(id, NUMBERS)?;
            Some((id.clone(), self.estimator.method.passed_over(learned)?))
        };
        self.learned.learned().series.iter().filter_map(of_series).collect()
    }

    fn parts(
        &self,
        panel: &Panel,
        future: Option<&Future>,
        h: usize,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        let asked = Asked { span: Span::Predict { future }, h, quantiles: None };
        self.estimator.method.parts(panel, &asked, &self.learned, workers)
    }

    fn held_bytes(&self) -> [u64; 2] {
        [self.learned.bytes(), 0]
    }

    fn learned(&self) -> Learned {
        self.learned.learned().clone()
    }
}
