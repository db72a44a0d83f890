//! The models of a table of forecasts that can be drawn.

use foretell_tables::{Frame, ModelInTable};

/// The models that a table forecasts a line or a band of, in the order of their columns. `target` is the truth beside them.
pub fn drawn_models(frame: &Frame, target: &str) -> Vec<ModelInTable> {
    let mut models = frame.models(target);
    models.retain(|model| model.point().is_some() || !model.intervals().is_empty());
    models
}
