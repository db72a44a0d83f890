//! Columns known in advance whose future is far from anything in their past, as prices in cents after prices in dollars are: models go on
//! along what they have learned, to any distance.

use foretell_data::{Future, Panel};

use crate::trained_models::TrainedModels;
use crate::warning::{FarColumn, Warning};

/// How many ranges of its past beyond them a value is far away. Trends reach that only at a horizon of ten times the history.
const RANGES: f32 = 10.0;

/// Warns of columns known in advance with values that are far from the past of their series.
pub(crate) fn warn_of_far_regressors(
    trained: &TrainedModels,
    panel: &Panel,
    future: Option<&Future>,
    names: &[String],
) {
    let Some(future) = future else { return };
    let columns: Vec<FarColumn> = names.iter().filter_map(|name| far_column(panel, future, name)).collect();
    if !columns.is_empty() {
        trained.warnings.warn(&Warning::FarRegressors { columns });
    }
    let columns: Vec<String> =
        names.iter().filter(|name| changes_first(panel, future, name)).cloned().collect();
    if !columns.is_empty() {
        trained.warnings.warn(&Warning::NewRegressors { columns });
    }
}

/// Whether a column of numbers is the same in the whole past of each series, and has another value in the future of one.
fn changes_first(panel: &Panel, future: &Future, name: &str) -> bool {
    let Ok(values) = future.column(name) else { return false };
    let mut is_new = false;
    for (series, ahead) in values.chunks_exact(future.h()).enumerate() {
        let Ok(past) = panel.column(name, series) else { return false };
        let mut known = past.iter().filter(|value| value.is_finite());
        let Some(first) = known.next() else { continue };
        if known.any(|value| value != first) {
            return false;
        }
        is_new |= ahead.iter().any(|value| value != first);
    }
    is_new
}

/// The values of a column of numbers that are far from the past, if there are any.
fn far_column(panel: &Panel, future: &Future, name: &str) -> Option<FarColumn> {
    let values = future.column(name).ok()?;
    let mut far: Option<FarColumn> = None;
    for (series, ahead) in values.chunks_exact(future.h()).enumerate() {
        let past = panel.column(name, series).ok()?;
        let known = past.iter().copied().filter(|value| value.is_finite());
        let (low, high) = known
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        // What never changed is told by itself.
        let range = high - low;
        if range <= 0.0 {
            continue;
        }
        let is_far = |value: &&f32| **value > high + RANGES * range || **value < low - RANGES * range;
        let Some(example) = ahead.iter().find(is_far) else { continue };
        let count = ahead.iter().filter(is_far).count();
        far.get_or_insert_with(|| FarColumn {
            column: name.to_owned(),
            series: panel.id(series).to_string(),
            value: *example,
            range: [low, high],
            count: 0,
            of: values.len(),
        })
        .count += count;
    }
    far
}
