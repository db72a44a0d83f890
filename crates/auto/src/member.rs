//! One model among others: fitted, and asked for quantiles.

use foretell::own_estimator::{Asked, Cutoff, Estimator, HeldOut, LevelsSeen, Output, Run, Span, Trained};
use foretell::{
    EstimatorError, ModelSpec, Panel, Progress, SeriesLevel, StepSettings, Verdict, Vocabulary, Workers,
};

use crate::candidates::{Kind, is_of_demand};
use crate::grid::{QUANTILES, WIDTH, sort_steps};

/// What all members have in common while they are fitted.
pub(crate) struct Context<'a> {
    pub(crate) workers: &'a Workers,
    pub(crate) vocabulary: &'a Vocabulary,
    /// Steps that they forecast.
    pub(crate) h: usize,
    /// How the steps of networks are computed.
    pub(crate) step: StepSettings,
    /// Whether the work is to end with what there is.
    pub(crate) is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// A model among others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) spec: ModelSpec,
    pub(crate) kind: Kind,
    /// Most steps of a series that it is shown.
    pub(crate) rows: usize,
}

/// The quantiles `[h, WIDTH]` that a model forecasts from some cutoffs.
pub(crate) struct Grids {
    pub(crate) cutoffs: Vec<Cutoff>,
    pub(crate) values: Vec<Vec<f32>>,
    /// Whether all quantiles are one number, as the model has none.
    pub(crate) is_point: bool,
    /// The mean demand `[h]` from each cutoff, of a model of rare demand.
    pub(crate) means: Option<Vec<Vec<f32>>>,
}

/// What members forecast of the windows of a span.
pub(crate) struct ByMembers {
    pub(crate) cutoffs: Vec<Cutoff>,
    /// `[member][window]`: quantiles `[h, WIDTH]`, nothing where it cannot forecast one.
    pub(crate) values: Vec<Vec<Option<Vec<f32>>>>,
    /// The same of means `[h]`, of members that forecast the mean of rare demand.
    pub(crate) means: Vec<Vec<Option<Vec<f32>>>>,
}

impl ByMembers {
    /// The quantiles of a window, by member.
    pub(crate) fn of_window(&self, window: usize) -> Vec<Option<&[f32]>> {
        self.values.iter().map(|own| own[window].as_deref()).collect()
    }

    /// The means of a window, by member.
    pub(crate) fn means_of(&self, window: usize) -> Vec<Option<&[f32]>> {
        self.means.iter().map(|own| own[window].as_deref()).collect()
    }
}

impl Member {
    /// A model with hyper-parameters of its own, which is shown all rows.
    pub(crate) fn whole(spec: ModelSpec) -> Self {
        Self { kind: Kind::of(&spec), spec, rows: usize::MAX }
    }

    /// The part of the panel that this model is given: the last rows.
    pub(crate) fn shown(&self, panel: &Panel) -> Panel {
        if self.rows < panel.max_len() { panel.last(self.rows) } else { panel.clone() }
    }

    /// Steps that a series needs.
    pub(crate) fn rows_needed(&self) -> usize {
        self.spec.as_ref().needs().rows_needed
    }

    /// The model fitted to the series that are long enough; nothing if there are none, or a network was stopped.
    pub(crate) fn fit(
        &self,
        panel: &Panel,
        context: &Context<'_>,
    ) -> Result<Option<Box<dyn Trained>>, EstimatorError> {
        let shown = self.shown(panel).without_shorter_than(self.rows_needed());
        let shown = at_own_level(self.spec.as_ref(), &shown).unwrap_or(shown);
        if shown.n_series() == 0 {
            return Ok(None);
        }
        let mut stopped = false;
        let mut listen = |_: &Progress| match (context.is_stopped)() {
            true => {
                stopped = true;
                Verdict::Interrupt
            }
            false => Verdict::Continue,
        };
        let run = Run::alone(context.workers, context.vocabulary, &mut listen).steps_as(context.step);
        let trained = self.spec.as_ref().fit(&shown, HeldOut::default(), run)?;
        Ok((!stopped).then_some(trained))
    }
}

/// The quantiles that a model forecasts of the windows of a span.
pub(crate) fn grids(
    trained: &dyn Trained,
    panel: &Panel,
    (span, h): (Span<'_>, usize),
    workers: &Workers,
) -> Result<Grids, EstimatorError> {
    let estimator = trained.estimator();
    let at = estimator.outputs_at(&QUANTILES);
    let asked = Asked { span, h, quantiles: at.is_some().then_some(&QUANTILES[..]) };
    let outputs = at.unwrap_or_else(|| estimator.outputs());
    let unleveled = at_own_level(estimator, panel);
    let mut forecast = trained.forecast(unleveled.as_ref().unwrap_or(panel), &asked, workers)?;
    if unleveled.is_some() {
        let each = (h * outputs.len()).max(1);
        for ((series, _), values) in forecast.cutoffs.iter().zip(forecast.values.chunks_exact_mut(each)) {
            let level = panel.level(*series);
            values.iter_mut().for_each(|value| *value = level.hold(f64::from(*value)));
        }
    }
    let columns = columns_of(&outputs);
    let each = h * outputs.len();
    let of_window = |values: &[f32]| -> Vec<f32> {
        let steps = values.chunks_exact(outputs.len());
        let mut grid: Vec<f32> =
            steps.flat_map(|step| columns.iter().map(|column| column.of(step))).collect();
        sort_steps(&mut grid);
        grid
    };
    let windows = || forecast.values.chunks_exact(each.max(1));
    let point = outputs.iter().position(|output| output.quantile.is_none());
    let mean =
        |point: usize, values: &[f32]| values.chunks_exact(outputs.len()).map(|step| step[point]).collect();
    let means = point
        .filter(|_| is_of_demand(estimator.name()))
        .map(|point| windows().map(|values| mean(point, values)).collect());
    let values = windows().map(of_window).collect();
    let is_point = outputs.iter().filter(|output| output.quantile.is_some()).count() < 2;
    Ok(Grids { cutoffs: forecast.cutoffs, values, is_point, means })
}

/// The panel without levels, for a model whose forecasts depend on where zero is; nothing where it is as it should be.
fn at_own_level(estimator: &dyn Estimator, panel: &Panel) -> Option<Panel> {
    let has_to_change = panel.has_levels() && estimator.needs().levels_seen == LevelsSeen::None;
    has_to_change.then(|| panel.with_levels(|_| SeriesLevel::default()))
}

/// Where a quantile of the grid stands among a model's columns: on the line between two.
struct Place {
    low: usize,
    high: usize,
    share: f32,
}

impl Place {
    fn of(&self, step: &[f32]) -> f32 {
        let (low, high) = (step[self.low], step[self.high]);
        if self.share == 0.0 { low } else { low + self.share * (high - low) }
    }
}

/// Where the quantiles of the grid stand among these columns.
fn columns_of(outputs: &[Output]) -> Vec<Place> {
    let mut known: Vec<(f64, usize)> = outputs
        .iter()
        .enumerate()
        .filter_map(|(place, output)| output.quantile.map(|q| (f64::from(q), place)))
        .collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    if known.len() < 2 {
        let point = outputs.iter().position(|output| output.quantile.is_none()).unwrap_or(0);
        return (0..WIDTH).map(|_| Place { low: point, high: point, share: 0.0 }).collect();
    }
    let place = |&q: &f64| {
        let above = known.partition_point(|(own, _)| *own < q - 1e-6).clamp(1, known.len() - 1);
        let ((from, low), (to, high)) = (known[above - 1], known[above]);
        Place { low, high, share: ((q - from) / (to - from)) as f32 }
    };
    QUANTILES.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(quantile: Option<f32>) -> Output {
        Output { suffix: String::new(), quantile }
    }

    #[test]
    fn what_is_trained_in_steps_is_trained_once_before_all_windows() {
        let tuned = |steps: u64| ModelSpec::new("Foretell0", 4, 1).unwrap().set("max_steps", steps).unwrap();
        assert_eq!(Member::whole(tuned(0)).kind, Kind::Local);
        assert_eq!(Member::whole(tuned(20)).kind, Kind::Network);
        assert_eq!(Member::whole(ModelSpec::new("NHITS", 4, 8).unwrap()).kind, Kind::Network);
        assert_eq!(Member::whole(ModelSpec::new("AutoETS", 4, 1).unwrap()).kind, Kind::Local);
    }

    #[test]
    fn quantiles_are_found_among_a_models_columns() {
        let own: Vec<Output> = QUANTILES.iter().map(|&q| output(Some(q as f32))).collect();
        let step: Vec<f32> = (1..=9).map(|value| value as f32).collect();
        let read = |outputs: &[Output], step: &[f32]| -> Vec<f32> {
            columns_of(outputs).iter().map(|place| place.of(step)).collect()
        };
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(close(&read(&own, &step), &step));
        // A mean in front is passed over, few quantiles are joined by lines.
        let few = [output(None), output(Some(0.9)), output(Some(0.1))];
        assert!(close(&read(&few, &[99.0, 9.0, 1.0]), &step));
        assert_eq!(read(&[output(None)], &[7.0]), [7.0; WIDTH]);
    }
}
