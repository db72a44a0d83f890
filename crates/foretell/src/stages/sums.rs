//! Forecasts within the history that add up, at each cutoff and time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foretell_estimator::Output;
use foretell_tables::Frame;

use crate::error::Error;
use crate::trained_models::TrainedModels;
use crate::warning::Warning;

/// The columns of forecasts that are to add up: parameters of distributions, which are none of a sum, are left out.
pub(crate) fn outputs_of_sums(trained: &TrainedModels, mut outputs: Vec<Vec<Output>>) -> Vec<Vec<Output>> {
    if trained.pipeline.coherence.is_some() {
        outputs.iter_mut().for_each(|outputs| outputs.retain(|output| output.part().is_value()));
    }
    outputs
}

/// Forecasts of windows in the columns `outputs`, behind the first `others` columns, so that they add up; rows stay in their order.
/// At a cutoff and time at which a series has no forecast nothing adds up: these rows are left unchanged, with a warning.
pub(crate) fn add_up_windows(
    trained: &TrainedModels,
    mut frame: Frame,
    others: usize,
    outputs: &[Vec<Output>],
) -> Result<Frame, Error> {
    let Some(coherence) = &trained.pipeline.coherence else { return Ok(frame) };
    let first = std::iter::repeat_n(true, others);
    let mut is_kept = first.chain(outputs.iter().flatten().map(|output| output.part().is_value()));
    frame.columns.retain(|_| is_kept.next().unwrap_or(true));
    let cutoff = |frame: &Frame, row: usize| frame.cutoffs.as_ref().map_or(i64::MIN, |all| all[row]);
    let key = |frame: &Frame, row: usize| (cutoff(frame, row), frame.times[row]);
    let is_known = |row: usize| frame.columns[others..].iter().all(|(_, values)| values[row].is_finite());
    let mut known: HashMap<_, HashSet<&str>> = HashMap::new();
    for row in (0..frame.n_rows()).filter(|&row| is_known(row)) {
        known.entry(key(&frame, row)).or_default().insert(&frame.ids[row]);
    }
    let needed = coherence.series_needed(&frame);
    let is_whole = |row: usize| {
        known.get(&key(&frame, row)).is_some_and(|known| needed.iter().all(|id| known.contains(id.as_ref())))
    };
    let (rows, lacking): (Vec<usize>, Vec<usize>) = (0..frame.n_rows()).partition(|&row| is_whole(row));
    if let Some(&row) = lacking.first() {
        let here = known.get(&key(&frame, row));
        let lacks = |id: &&Arc<str>| here.is_none_or(|known| !known.contains(id.as_ref()));
        let series = needed.iter().copied().find(lacks).map(ToString::to_string);
        let (series, of) = (series.unwrap_or_default(), frame.n_rows());
        trained.warnings.warn(&Warning::SumsLackSeries { rows: lacking.len(), of, series });
    }
    if rows.is_empty() {
        return Ok(frame);
    }
    let mut forecasts = frame.at(&rows);
    for (name, _) in forecasts.columns.drain(..others) {
        forecasts.wide.remove(&name);
    }
    let coherent = coherence.reconciled(forecasts, &trained.pipeline.columns, trained.pipeline.settings)?;
    let places: HashMap<_, usize> =
        (0..coherent.n_rows()).map(|row| ((&coherent.ids[row], key(&coherent, row)), row)).collect();
    let places: Vec<usize> = rows.iter().map(|&row| places[&(&frame.ids[row], key(&frame, row))]).collect();
    for (name, values) in &mut frame.columns[others..] {
        let Some(found) = coherent.wide_column(name) else { continue };
        rows.iter().zip(&places).for_each(|(&row, &place)| values[row] = found[place] as f32);
        if let Some(wide) = frame.wide.get_mut(name) {
            rows.iter().zip(&places).for_each(|(&row, &place)| wide[row] = found[place]);
        }
    }
    Ok(frame)
}
