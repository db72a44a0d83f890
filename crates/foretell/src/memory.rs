//! Whether work fits into memory, before it begins: what models say of theirs, beside panels and tables of forecasts, which
//! are counted exactly.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_data::Panel;
use foretell_estimator::{Estimator, MemoryEstimate, MemoryLimit, TrainingSize};
use foretell_messages::Setting;
use foretell_pretrained::numbers_in;

use crate::columns::column_names;
use crate::conformal::PredictionIntervals;
use crate::error::Error;

/// The bytes of a 32-bit number.
const NUMBER: u64 = 4;

/// Bytes of a row of a table of forecasts beside its columns: a reference to its id, and its time.
const ROW: u64 = 16 + 8;

/// The rows of a table of forecasts with this many columns.
pub(crate) fn forecasts(rows: usize, columns: usize) -> MemoryEstimate {
    let row = ROW + NUMBER * columns as u64;
    MemoryEstimate::default().and("forecasts", (rows as u64).saturating_mul(row))
}

/// A panel, and how often its columns are copied.
pub(crate) fn panels(panel: &Panel, copies: u64) -> MemoryEstimate {
    MemoryEstimate::default().and(
        "the panel",
        (panel.bytes() as u64).saturating_add((panel.copied_bytes() as u64).saturating_mul(copies)),
    )
}

/// A training of several models, and what else it takes memory for.
pub(crate) struct TrainingWork<'a> {
    pub(crate) models: &'a [&'a dyn Estimator],
    /// That of each of them.
    pub(crate) size: TrainingSize<'a>,
    /// Whether series are scaled as wholes, for which the panel is copied.
    pub(crate) scales_series: bool,
}

impl TrainingWork<'_> {
    /// The remedies that make it smaller.
    fn remedy(&self) -> String {
        let smaller = "choose smaller layers, or lower h, input_size or windows_batch_size";
        // Only what is trained in steps takes the switch.
        match self.size.step.low_memory || self.models.iter().all(|model| model.needs().max_steps.is_none()) {
            true => smaller.to_owned(),
            false => format!("train in less memory ({}), {smaller}", Setting::LowMemory),
        }
    }
}

/// Whether a training of the model on the panel keeps this many threads at work: what takes no steps has a job for each series.
pub(crate) fn fills_threads(model: &dyn Estimator, panel: &Panel, threads: usize) -> bool {
    let needs = model.needs();
    let is_one = needs.max_steps.is_some() || needs.is_joint;
    needs.takes_all_threads && (is_one || panel.n_series() >= threads)
}

/// Whether the models can be trained on the panel.
pub(crate) fn check_training(work: &TrainingWork<'_>) -> Result<(), Error> {
    for (needs, names) in needs_of_training(work)? {
        needs.check(work.size.limit, &format!("training {names}"), work.remedy())?;
    }
    Ok(())
}

/// The most bytes that the training takes at any time.
pub(crate) fn bytes_of_training(work: &TrainingWork<'_>) -> Result<u64, Error> {
    let needs = needs_of_training(work)?;
    Ok(needs.iter().map(|(needs, _)| needs.total()).max().unwrap_or(0))
}

/// What is needed at a time, and by the trainings of which models: those that are trained together, one after the other.
fn needs_of_training(work: &TrainingWork<'_>) -> Result<Vec<(MemoryEstimate, String)>, Error> {
    let &TrainingWork { models, size, scales_series } = work;
    let TrainingSize { panel, threads, .. } = size;
    let copies = u64::from(scales_series) + u64::from(!size.vocabulary.is_empty());
    let mut all = 0_usize;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for (model, name) in models.iter().zip(column_names(models.iter().copied())) {
        let (parameters, needs) = model.training_memory(&size)?;
        all = all.saturating_add(parameters);
        let is_alone = fills_threads(*model, panel, threads);
        let jobs = if is_alone { &mut alone } else { &mut beside };
        jobs.push((name, needs, parameters));
    }
    // Those that leave threads idle are trained as many at a time as there are threads.
    beside.sort_by_key(|(_, needs, _)| std::cmp::Reverse(needs.total()));
    beside.truncate(threads);
    let together = alone.into_iter().map(|job| vec![job]).chain([beside]);
    let needs = together.map(|jobs| {
        let (mut needs, mut others, mut names) = (panels(panel, copies), all, Vec::new());
        for (name, own, parameters) in jobs {
            needs = needs.and_all(own);
            others -= parameters.min(others);
            names.push(name);
        }
        (needs.and_numbers("parameters of the other models", others), names.join(" and "))
    });
    Ok(needs.collect())
}

/// Whether this many forecasts of each series can be held in memory: by all models, beside the truth.
pub(crate) fn check_validation(
    models: &[&dyn Estimator],
    panel: &Panel,
    (n_windows, h): (usize, usize),
    quantiles: usize,
    limit: &MemoryLimit,
) -> Result<(), Error> {
    let columns: usize = models.iter().map(|model| model.outputs().len()).sum();
    let columns = columns + models.len() * quantiles;
    let rows = held_rows(panel, n_windows, h);
    // As the models return them, as columns, and in the table with their truth and cutoffs.
    let needs = panels(panel, 0).and_all(forecasts(rows, 2 * columns + 3));
    Ok(needs.check(limit, "cross-validation", "lower h or n_windows, or leave series out")?)
}

/// Whether the values of these rows can be marked beside forecasts by this many models.
pub(crate) fn check_marks(
    panel: &Panel,
    rows: usize,
    models: usize,
    limit: &MemoryLimit,
) -> Result<(), Error> {
    /// The truth, the forecast, an interval and its ends, and the marks, of the model that is at hand.
    const AT_HAND: u64 = 9 * 8;
    // A model has a forecast and the ends of an interval; the marks are a table of their own with them and five columns.
    let marks = (rows as u64).saturating_mul(ROW + 8 + NUMBER * (1 + 6 * models as u64) + AT_HAND);
    let needs = panels(panel, 0).and_all(forecasts(rows, 2 * 3 * models + 3)).and("marks", marks);
    Ok(needs.check(limit, "marking values", "lower h or n_windows, or leave series out")?)
}

/// Whether the errors of forecasts by this many models that intervals are calibrated by can be held in memory.
pub(crate) fn check_calibration_memory(
    limit: &MemoryLimit,
    panel: &Panel,
    intervals: PredictionIntervals,
    (models, h): (usize, usize),
) -> Result<(), Error> {
    /// An id as a text, times, a cutoff, the truth.
    const OWN_ROW: u64 = 24 + 16 + 3 * 8;
    let rows = held_rows(panel, intervals.n_windows, h);
    let errors = (rows as u64).saturating_mul(OWN_ROW + 8 * models as u64);
    let needs = panels(panel, 0).and("errors of forecasts", errors).and_all(forecasts(rows, 2 * models));
    Ok(needs.check(limit, "calibrating intervals", "lower h or the windows of the intervals")?)
}

/// Rows of this many forecasts of each series that has them.
pub(crate) fn held_rows(panel: &Panel, n_windows: usize, h: usize) -> usize {
    panel.n_series().saturating_mul(n_windows.min(panel.max_len())).saturating_mul(h)
}

/// Whether a model directory can be loaded: its tensors are read, taken apart, and put into their arenas; its documents become
/// values. Of a folder of pretrained weights each tensor is read by itself, and nothing of the files beside them.
pub(crate) fn check_load(dir: &Path, limit: &MemoryLimit) -> Result<(), Error> {
    /// The bytes of a value beside those of its text.
    const VALUES: u64 = 16;
    const SMALLER: &str = "load a smaller model";
    let what = format!("loading {}", dir.display());
    if let Some([weights, largest]) = numbers_in(dir) {
        let needs = MemoryEstimate::default()
            .and("weights", weights.saturating_mul(4))
            .and("the largest tensor", largest.saturating_mul(2 * 4));
        return Ok(needs.check(limit, &what, SMALLER)?);
    }
    let size = |endings: &[&str]| {
        // Files that cannot be read are an error of the one who reads them.
        let paths = fs::read_dir(dir).into_iter().flatten().flatten().map(|file| file.path());
        total_size(
            paths.filter(|path| path.extension().is_some_and(|ending| endings.iter().any(|e| ending == *e))),
        )
    };
    let (tensors, documents) = (size(&["safetensors", "bin"]), size(&["json"]));
    let needs = MemoryEstimate::default()
        .and("its files", tensors)
        .and("their tensors", tensors)
        .and("parameters", tensors)
        .and("documents", documents.saturating_mul(VALUES));
    Ok(needs.check(limit, &what, SMALLER)?)
}

/// Whether files of PyTorch's may be read; `paths` are those of the models.
pub(crate) fn check_import(from: &Path, paths: &[PathBuf], limit: &MemoryLimit) -> Result<(), Error> {
    let bytes = total_size(paths.iter().cloned());
    let largest = paths.iter().map(|path| total_size([path.clone()].into_iter())).max().unwrap_or(0);
    let needs = MemoryEstimate::default()
        .and("parameters", bytes)
        .and("the largest file, its storages and its tensors", largest.saturating_mul(3));
    Ok(needs.check(limit, &format!("importing {}", from.display()), "import a smaller model")?)
}

fn total_size(paths: impl Iterator<Item = PathBuf>) -> u64 {
    paths.filter_map(|path| Some(fs::metadata(path).ok()?.len())).fold(0, u64::saturating_add)
}
