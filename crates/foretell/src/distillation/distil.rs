//! The training of a network on another model's forecasts.

use std::sync::Arc;

use foretell_data::{Excerpt, Panel};
use foretell_estimator::MemoryEstimate;

use crate::distillation::lessons::Taught;
use crate::distillation::mixtures::mixtures;
use crate::distillation::options::{DistillationOptions, Distilled};
use crate::error::Error;
use crate::fitted::Fitted;
use crate::fitted_model::FittedModel;
use crate::forecaster::Forecaster;
use crate::inputs::series_levels::SeriesLevels;
use crate::smaller_error::SmallerError;
use crate::training::data_doubts::warn_of_data;
use crate::training::plan::TrainingPlan;
use crate::training::students::SAMPLING;
use crate::training_record::TrainingRecord;

/// The quantiles that a student learns which forecasts some: the middles of ten equal parts, each a path beside the same history. The
/// quantiles that fit them best are those of the teacher.
const QUANTILES: [f64; 10] = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95];

/// Distillation.
impl Forecaster {
    /// Trains the network of this forecaster, the student, on what `teacher` forecasts: windows whose histories are those of the panel, and
    /// whose horizons are the teacher's forecasts, of its ensemble if it has one, else the mean of its models. The teacher may be of any kind
    /// and number of models; the student is a model like any other, smaller and quicker than what taught it. A student of quantiles or of a
    /// distribution learns the teacher's quantiles.
    ///
    /// The student's horizon is the teacher's. Its lessons are from all cutoffs of the panel before which there are as many rows as
    /// it reads, or some of them ([`DistillationOptions::lessons`]).
    ///
    /// ```
    /// # use foretell::{DistillationOptions, Forecaster, Freq, ModelSpec, Panel};
    /// # let wave: Vec<f32> = (0..120).map(|day| (day as f32 * 0.9).sin()).collect();
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, wave)])?;
    /// let teacher = Forecaster::new([ModelSpec::new("AutoETS", 7, 1)?])?.fit(&panel)?;
    /// let student = ModelSpec::new("MLP", 7, 28)?.set("max_steps", 50)?;
    /// let distilled = Forecaster::new([student])?.distil(&teacher, &panel, &DistillationOptions::new())?;
    /// assert_eq!(distilled.lessons, 120 - 28 - 7 + 1);
    /// assert_eq!(distilled.fitted.predict(&panel, None)?.n_rows(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the student is no network, or one that sees all series at once or forecasts step by step; if it is set what lessons do not have
    /// (validation, scalers of series, features, intervals, ensembles, a hierarchy); if no series has as many rows as it reads and
    /// the teacher forecasts; or those of [`Fitted::predict_insample`] and [`Forecaster::fit`].
    pub fn distil(
        self,
        teacher: &Fitted,
        panel: &Panel,
        options: &DistillationOptions,
    ) -> Result<Distilled, Error> {
        let mut plan = self.plan;
        check_student(&plan, teacher)?;
        let panel = plan.held(panel);
        let student = plan.models()[0];
        let input_size = student.needs().rows_read;
        // Its own, as of MQLoss, or any, as of a distribution.
        let has_own = student.outputs().iter().any(|output| output.quantile.is_some());
        let has_quantiles = has_own || student.outputs_at(&QUANTILES).is_some();
        let quantiles: &[f64] = if has_quantiles { &QUANTILES } else { &[] };
        let reached = input_size.saturating_add(teacher.h());
        let check = |numbers: usize, what: &str, remedy: &'static str| {
            MemoryEstimate::default().and_numbers(what, numbers).check(&plan.memory, "distillation", remedy)
        };
        // Once as excerpts, once as a panel.
        let in_mixtures = options.mixtures.saturating_mul(2).saturating_mul(panel.n_rows());
        check(in_mixtures, "mixtures", "mix fewer series")?;
        let mixed = mixtures(&panel, options.mixtures, reached, options.seed);
        let series = (0..panel.n_series()).map(|series| panel.len(series));
        let rows: Vec<usize> = series.chain(mixed.iter().map(|mixture| mixture.rows.len())).collect();
        let step_size = step_size(&rows, reached, options.lessons);
        let taught = Taught { teacher, input_size, step_size, quantiles };
        let cutoffs: usize = rows.iter().map(|rows| windows(*rows, reached, step_size)).sum();
        let numbers = cutoffs.saturating_mul(quantiles.len().max(1)).saturating_mul(reached);
        let in_lessons = numbers.saturating_mul(3 + panel.column_names().count());
        check(in_lessons, "lessons", "take fewer of them, or lower h or input_size")?;
        let (mut lessons, mut cutoffs) = taught.lessons(&panel)?;
        if !mixed.is_empty() {
            let (of_mixtures, count) = taught.lessons(&panel.excerpts(&mixed))?;
            lessons.extend(of_mixtures.into_iter().map(|lesson| within(&mixed[lesson.series], lesson)));
            cutoffs += count;
        }
        if lessons.is_empty() {
            return Err(Error::ShortForLessons { rows: panel.max_len(), needed: reached });
        }
        warn_of_data(&plan, &panel);
        let own = plan.draw_whole_series(reached, lessons.len())?;
        let (mut trained, interruption) = plan.fit_before(&panel.excerpts(&lessons), 0)?;
        trained.levels = SeriesLevels::of(&panel);
        trained.record = TrainingRecord::of(&panel, 0);
        for model in &mut trained.models {
            if let Some((network, own)) = model.network().zip(own.network()) {
                let network = network.clone().with_training_of(own, &SAMPLING)?;
                *model = FittedModel::new(Arc::new(network));
            }
        }
        Ok(Distilled { fitted: Fitted::of(trained, interruption), lessons: cutoffs, step_size })
    }
}

/// A lesson of a mixture as one of the series that the mixture has the times and columns of.
fn within(mixture: &Excerpt, lesson: Excerpt) -> Excerpt {
    let Excerpt { rows, ends, .. } = lesson;
    let mut targets = mixture.ends[rows.start..rows.end - ends.len()].to_vec();
    targets.extend(ends);
    let start = mixture.rows.start;
    Excerpt { series: mixture.series, rows: start + rows.start..start + rows.end, ends: targets }
}

/// Windows of `reached` rows in a series of `rows` rows, `step_size` steps apart.
fn windows(rows: usize, reached: usize, step_size: usize) -> usize {
    rows.checked_sub(reached).map_or(0, |room| room / step_size + 1)
}

/// The fewest steps between cutoffs by which there are no more than `most` in series of these rows.
fn step_size(series: &[usize], reached: usize, most: usize) -> usize {
    let count = |step: usize| series.iter().map(|rows| windows(*rows, reached, step)).sum::<usize>();
    let (mut enough, mut too_few) = (series.iter().copied().max().unwrap_or(1).max(1), 0);
    // Each series has one at least.
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if count(middle) <= most { enough = middle } else { too_few = middle }
    }
    enough
}

/// Whether a student can learn what a teacher forecasts.
fn check_student(plan: &TrainingPlan, teacher: &Fitted) -> Result<(), SmallerError> {
    let models = plan.models();
    let name = || plan.column_names().join(", ");
    let refuse = |reason| Err(SmallerError::NoStudent { model: name(), reason });
    let network = match plan.spec() {
        Some(spec) => spec.network(),
        None => return refuse("a student is one model; name one"),
    };
    let Some(network) = network else { return refuse("it is no network; name one, such as MLP or NHITS") };
    if models[0].needs().is_joint {
        return refuse("it sees all series at once; name a network that forecasts each by itself");
    }
    if network.forecasts_step_by_step() {
        return refuse("it forecasts step by step; set recurrent to false, or name another network");
    }
    if let Some(what) = plan.beside_models() {
        return refuse(what);
    }
    match (models[0].horizon(), teacher.h()) {
        (found, h) if found == h => Ok(()),
        (found, h) => Err(SmallerError::OtherHorizon { h, found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutoffs_are_as_near_as_there_may_be_lessons() {
        assert_eq!(step_size(&[100, 50], 20, 1000), 1);
        assert_eq!(step_size(&[100, 50], 20, 112), 1);
        assert_eq!(step_size(&[100, 50], 20, 111), 2);
        let found = step_size(&[1000, 900, 10], 20, 100);
        let count = |step: usize| windows(1000, 20, step) + windows(900, 20, step);
        assert!(count(found) <= 100 && count(found - 1) > 100, "{found}");
        assert_eq!(step_size(&[10, 10], 20, 5), 1);
        assert_eq!((step_size(&[], 3, 1), windows(5, 5, 9), windows(4, 5, 1)), (1, 1, 0));
    }

    #[test]
    fn a_lesson_of_a_mixture_has_its_targets() {
        let mixture = Excerpt { series: 3, rows: 10..16, ends: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        let lesson = Excerpt { series: 0, rows: 1..5, ends: vec![-4.0, -5.0] };
        let expected = Excerpt { series: 3, rows: 11..15, ends: vec![2.0, 3.0, -4.0, -5.0] };
        assert_eq!(within(&mixture, lesson), expected);
    }
}
