//! Whether forecasts fit into memory, checked before they are computed.

use foretell_data::Panel;
use foretell_estimator::MemoryEstimate;

use crate::error::Error;
use crate::memory::{forecasts, panels};
use crate::stages::asked_quantiles::AskedQuantiles;
use crate::stages::intervals::recipe;
use crate::trained_models::TrainedModels;

/// The part of the memory that copies of the weights take, at most.
const COPIES: &str = "weights as forecasts hold them";

/// Whether `rows` rows of forecasts of steps like these can be held in memory beside what forecasting takes.
pub(crate) fn check_forecast(
    trained: &TrainedModels,
    panel: &Panel,
    (windows, h): (usize, usize),
    rows: usize,
    asked: &AskedQuantiles,
    remedy: &'static str,
) -> Result<(), Error> {
    let (mut parameters, mut copies, mut columns) = (0_u64, 0_u64, 0);
    let mut largest = MemoryEstimate::default();
    for (model, name) in trained.named() {
        let needs = model.trained().memory(panel, windows, h, trained.workers.threads());
        if needs.total() > largest.total() {
            largest = needs;
        }
        let [learned, held] = model.trained().held_bytes();
        parameters = parameters.saturating_add(learned);
        copies = copies.saturating_add(held);
        columns += recipe(trained, model, &name, asked)?.outputs.len();
    }
    columns += trained.ensembles.len() * (1 + asked.len());
    // Values are told for a model, and then stand in columns.
    let needs = panels(panel, 0).and("parameters", parameters).and(COPIES, copies).and_all(largest);
    Ok(needs.and_all(forecasts(rows, 2 * columns)).check(&trained.memory, "forecasting", remedy)?)
}
