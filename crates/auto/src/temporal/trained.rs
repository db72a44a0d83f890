//! A model whose forecasts of steps are reconciled with those of their sums, after it is fitted.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use foretell::hierarchy::{Hierarchy, HierarchyError, Reconciliation};
use foretell::own_estimator::{
    Asked, Cutoff, Described, Estimator, Fallback, ForecastValues, Learned, MemoryEstimate, Span, Trained,
    point_column,
};
use foretell::{ColumnPart, EstimatorError, Freq, Panel, Workers, pack_model, unpack_model};
use serde::{Deserialize, Serialize};

use super::coherent::{Sum, hierarchy, reconciled, whole_periods};
use super::sums::sums;
use crate::packed::{to_bytes, to_numbers};

/// The fitted model of the sums over a period.
#[derive(Clone, Debug)]
pub(super) struct LevelOfSums {
    pub(super) freq: Freq,
    pub(super) steps: usize,
    pub(super) trained: Arc<dyn Trained>,
}

/// The errors of the last horizons of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SeriesErrors {
    id: String,
    /// The mean squares of errors, of each period and then of steps.
    variances: Vec<f64>,
    /// The mean absolute errors of steps, as the model forecasts them and reconciled.
    mae: [f64; 2],
}

/// What is kept in one piece, next to the models.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The frequency and steps of each period.
    periods: Vec<(Freq, usize)>,
    errors: Vec<SeriesErrors>,
}

/// A model and those of its sums.
#[derive(Clone, Debug)]
pub(super) struct TrainedTemporal {
    estimator: Box<dyn Estimator>,
    method: Reconciliation,
    steps: Arc<dyn Trained>,
    levels: Vec<LevelOfSums>,
    errors: Vec<SeriesErrors>,
}

/// The name under which what is kept next to the models is learned, and that of the model of steps.
const KEPT: &str = "kept";
const STEPS: &str = "steps";

/// The name under which the model of a period is learned.
fn name_of(place: usize) -> String {
    format!("sums_{place}")
}

/// The trained one that has learned this.
pub(super) fn restored(
    estimator: Box<dyn Estimator>,
    method: Reconciliation,
    learned: &Learned,
) -> Result<Box<dyn Trained>, String> {
    let bytes = |name: &str| {
        let numbers = learned.numbers.get(name);
        numbers.and_then(|numbers| to_bytes(numbers)).ok_or_else(|| format!("it has not its {name}"))
    };
    let kept: Kept = serde_json::from_slice(&bytes(KEPT)?).map_err(|error| error.to_string())?;
    let h = estimator.horizon();
    let level = |(place, (freq, steps)): (usize, (Freq, usize))| {
        let trained = unpack_model(&bytes(&name_of(place))?)?;
        match steps.checked_mul(trained.estimator().horizon()) == Some(h) {
            true => Ok(LevelOfSums { freq, steps, trained }),
            false => Err(format!("its {} are of another horizon", name_of(place))),
        }
    };
    let width = kept.periods.len() + 1;
    if kept.errors.iter().any(|errors| errors.variances.len() != width) {
        return Err("its errors are of other periods".to_owned());
    }
    let levels = kept.periods.into_iter().enumerate().map(level).collect::<Result<_, String>>()?;
    let steps = unpack_model(&bytes(STEPS)?)?;
    Ok(Box::new(TrainedTemporal { estimator, method, steps, levels, errors: kept.errors }))
}

/// The forecasts of a window by themselves.
struct Window {
    steps: Vec<f64>,
    /// Of each period; nothing where the history is too short for its sums.
    sums: Vec<Option<Vec<f64>>>,
}

/// The point forecasts among values `[steps, columns]`.
fn points(trained: &dyn Trained, values: &[f32]) -> Vec<f64> {
    let outputs = trained.estimator().outputs();
    let point = point_column(&outputs);
    values.chunks_exact(outputs.len()).map(|step| f64::from(step[point])).collect()
}

/// Hierarchies, with their sums, by the periods that have sums.
type Hierarchies = HashMap<Vec<usize>, (Vec<Sum>, Hierarchy)>;

impl TrainedTemporal {
    pub(super) fn new(
        estimator: Box<dyn Estimator>,
        method: Reconciliation,
        steps: Arc<dyn Trained>,
        levels: Vec<LevelOfSums>,
    ) -> Self {
        Self { estimator, method, steps, levels, errors: Vec::new() }
    }

    /// Weighed by these errors.
    pub(super) fn with_errors(self, errors: Vec<SeriesErrors>) -> Self {
        Self { errors, ..self }
    }

    /// The forecasts of each window by the models of the sums.
    fn sums_of(
        &self,
        panel: &Panel,
        cutoffs: &[Cutoff],
        workers: &Workers,
    ) -> Result<Vec<Vec<Option<Vec<f64>>>>, EstimatorError> {
        let mut all = vec![vec![None; self.levels.len()]; cutoffs.len()];
        // A panel of sums ends where a window begins: each round has one of each series.
        let mut rounds: Vec<Vec<Option<usize>>> = Vec::new();
        let mut counts = vec![0; panel.n_series()];
        for (window, &(series, _)) in cutoffs.iter().enumerate() {
            if rounds.len() == counts[series] {
                rounds.push(vec![None; panel.n_series()]);
            }
            rounds[counts[series]][series] = Some(window);
            counts[series] += 1;
        }
        for round in &rounds {
            let ends: Vec<usize> =
                round.iter().map(|window| window.map_or(0, |window| cutoffs[window].1)).collect();
            for (place, level) in self.levels.iter().enumerate() {
                let needed = level.trained.estimator().needs().rows_needed;
                let Some(sums) = sums(panel, (level.freq, level.steps), &ends, needed)? else { continue };
                let h = level.trained.estimator().horizon();
                let asked = Asked { span: Span::Predict { future: None }, h, quantiles: None };
                let found = level.trained.forecast(&sums, &asked, workers)?;
                let each = found.values.len() / found.cutoffs.len().max(1);
                for ((series, _), values) in found.cutoffs.iter().zip(found.values.chunks(each.max(1))) {
                    let window = panel.find(sums.id(*series)).and_then(|series| round[series]);
                    if let Some(window) = window {
                        all[window][place] = Some(points(&*level.trained, values));
                    }
                }
            }
        }
        Ok(all)
    }

    /// The forecasts of the steps of a window, reconciled with those of its sums.
    fn reconciled(
        &self,
        window: &Window,
        errors: Option<&SeriesErrors>,
        hierarchies: &mut Hierarchies,
    ) -> Result<Vec<f64>, HierarchyError> {
        let known: Vec<usize> = (0..self.levels.len())
            .filter(|&place| window.sums[place].iter().flatten().any(|sum| sum.is_finite()))
            .collect();
        if known.is_empty() || window.steps.iter().any(|step| !step.is_finite()) {
            return Ok(window.steps.clone());
        }
        let periods: Vec<usize> = known.iter().map(|&place| self.levels[place].steps).collect();
        if !hierarchies.contains_key(&periods) {
            let of = whole_periods(window.steps.len(), &periods);
            let hierarchy = hierarchy(window.steps.len(), &of)?;
            hierarchies.insert(periods.clone(), (of, hierarchy));
        }
        let sums: Vec<f64> =
            known.iter().flat_map(|&place| window.sums[place].iter().flatten().copied()).collect();
        let variances = errors.filter(|_| self.method == Reconciliation::MinTraceVar);
        let variances = variances.map(|errors| {
            let of_sums = known.iter().map(|&place| errors.variances[place]);
            of_sums.chain(errors.variances.last().copied()).collect::<Vec<f64>>()
        });
        // Errors that are all 0 weigh nothing.
        let variances = variances.filter(|all| all.iter().sum::<f64>() > 0.0);
        let given = (&sums[..], &window.steps[..]);
        let (of, hierarchy) = &hierarchies[&periods];
        reconciled(hierarchy, of, self.method, variances.as_deref(), given)
    }

    /// The errors of forecasts of these windows, whose values the panel has.
    pub(super) fn errors(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<Vec<SeriesErrors>, EstimatorError> {
        let ForecastValues { cutoffs, values } = self.steps.forecast(panel, asked, workers)?;
        let each = values.len() / cutoffs.len().max(1);
        let all = self.sums_of(panel, &cutoffs, workers)?;
        let windows = values.chunks(each.max(1)).zip(all);
        let windows: Vec<Window> =
            windows.map(|(values, sums)| Window { steps: points(&*self.steps, values), sums }).collect();
        let mut hierarchies = Hierarchies::new();
        let mut found = Vec::new();
        for series in 0..panel.n_series() {
            let own = || cutoffs.iter().zip(&windows).filter(move |((other, _), _)| *other == series);
            let truth = |rows: usize| panel.known_y(series, rows..rows + asked.h);
            let mut squares = vec![(0.0, 0_usize); self.levels.len() + 1];
            for (&(_, rows), window) in own() {
                let y: Vec<f64> = truth(rows).iter().map(|y| f64::from(*y)).collect();
                let periods = self.levels.iter().map(|level| level.steps).chain([1]);
                let forecasts = window.sums.iter().map(Option::as_ref).chain([Some(&window.steps)]);
                for ((square, period), forecast) in squares.iter_mut().zip(periods).zip(forecasts) {
                    let sums = y.chunks_exact(period).map(|values| values.iter().sum::<f64>());
                    for error in
                        forecast.into_iter().flatten().zip(sums).map(|(forecast, sum)| sum - forecast)
                    {
                        if error.is_finite() {
                            *square = (square.0 + error * error, square.1 + 1);
                        }
                    }
                }
            }
            if squares.iter().any(|(_, count)| *count == 0) {
                continue;
            }
            let variances = squares.iter().map(|(sum, count)| sum / *count as f64).collect();
            let mut errors = SeriesErrors { id: panel.id(series).to_string(), variances, mae: [0.0; 2] };
            let (mut sums, mut count) = ([0.0; 2], 0_usize);
            for (&(_, rows), window) in own() {
                let changed = self.reconciled(window, Some(&errors), &mut hierarchies).map_err(failed)?;
                for ((y, before), after) in truth(rows).iter().zip(&window.steps).zip(&changed) {
                    let y = f64::from(*y);
                    if y.is_finite() {
                        sums = [sums[0] + (y - before).abs(), sums[1] + (y - after).abs()];
                        count += 1;
                    }
                }
            }
            errors.mae = sums.map(|sum| sum / count.max(1) as f64);
            found.push(errors);
        }
        Ok(found)
    }
}

fn failed(error: HierarchyError) -> EstimatorError {
    EstimatorError::Failed(Box::new(error))
}

impl Trained for TrainedTemporal {
    fn estimator(&self) -> &dyn Estimator {
        &*self.estimator
    }

    fn is_mean_far_from_median(&self) -> bool {
        self.steps.is_mean_far_from_median()
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let mut found = self.steps.forecast(panel, asked, workers)?;
        let estimator = self.steps.estimator();
        let at = asked.quantiles.and_then(|quantiles| estimator.outputs_at(quantiles));
        let outputs = at.unwrap_or_else(|| estimator.outputs());
        let point = point_column(&outputs);
        // A forecast moves with its quantiles; what is no value stays.
        let moves: Vec<bool> = outputs
            .iter()
            .map(|output| output.part().is_value() || output.part() == ColumnPart::Location)
            .collect();
        let each = (asked.h * outputs.len()).max(1);
        let all = self.sums_of(panel, &found.cutoffs, workers)?;
        let errors: HashMap<&str, &SeriesErrors> =
            self.errors.iter().map(|errors| (errors.id.as_str(), errors)).collect();
        let mut hierarchies = Hierarchies::new();
        for ((&(series, _), values), sums) in
            found.cutoffs.iter().zip(found.values.chunks_exact_mut(each)).zip(all)
        {
            let steps = values.chunks_exact(outputs.len()).map(|step| f64::from(step[point])).collect();
            let window = Window { steps, sums };
            let own = errors.get(&**panel.id(series)).copied();
            let changed = self.reconciled(&window, own, &mut hierarchies).map_err(failed)?;
            let steps = values.chunks_exact_mut(outputs.len()).zip(&window.steps).zip(&changed);
            for ((step, before), after) in steps {
                let moved = step.iter_mut().zip(&moves).filter(|(_, moves)| **moves);
                moved.for_each(|(value, _)| *value = (f64::from(*value) + (after - before)) as f32);
            }
        }
        Ok(found)
    }

    fn described(&self, place: usize) -> Option<Described> {
        let own = self.steps.described(place);
        let periods: Vec<String> = self.levels.iter().map(|level| level.steps.to_string()).collect();
        let with = format!("with sums of {} steps", periods.join(", "));
        let (series, form, mut numbers) = match own {
            Some(Described { series, form, numbers }) => (series, format!("{form} {with}"), numbers),
            None => (self.errors.get(place)?.id.clone(), with, Vec::new()),
        };
        if let Some(errors) = self.errors.iter().find(|errors| errors.id == series) {
            let names = ["mae of steps alone", "mae reconciled"].map(Cow::Borrowed);
            numbers.extend(names.into_iter().zip(errors.mae));
        }
        Some(Described { series, form, numbers })
    }

    fn passed_over(&self) -> Vec<(String, Fallback)> {
        self.steps.passed_over()
    }

    fn held_bytes(&self) -> [u64; 2] {
        let all = self.levels.iter().map(|level| &level.trained).chain([&self.steps]);
        all.fold([0, 0], |[own, copied], model| {
            let [more, more_copied] = model.held_bytes();
            [own + more, copied + more_copied]
        })
    }

    fn memory(&self, panel: &Panel, windows: usize, h: usize, threads: usize) -> MemoryEstimate {
        self.steps.memory(panel, windows, h, threads)
    }

    fn learned(&self) -> Learned {
        let periods = self.levels.iter().map(|level| (level.freq, level.steps)).collect();
        let kept = serde_json::to_vec(&Kept { periods, errors: self.errors.clone() });
        let kept = kept.expect("numbers and texts are JSON");
        let models = self.levels.iter().enumerate().map(|(place, level)| (name_of(place), &level.trained));
        let models = models.chain([(STEPS.to_owned(), &self.steps)]).map(|(name, model)| {
            let bytes = pack_model(&**model).expect("a model that was trained is whole");
            (name, to_numbers(&bytes))
        });
        let numbers = models.chain([(KEPT.to_owned(), to_numbers(&kept))]).collect();
        Learned { series: Vec::new(), numbers }
    }
}
