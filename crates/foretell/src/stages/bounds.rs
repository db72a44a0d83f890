//! Forecasts that are rounded, or not below 0.

use foretell_data::Panel;
use foretell_estimator::Cutoff;

use crate::kept_settings::KeptSettings;
use crate::stages::window_forecasts::WindowForecasts;
use crate::trained_models::TrainedModels;

/// Bounds all columns that hold values: a parameter of a distribution is no forecast.
pub(crate) fn bound_forecasts(trained: &TrainedModels, panel: &Panel, forecasts: &mut WindowForecasts) {
    let outputs = forecasts.models.iter().flatten();
    for (output, (_, values)) in outputs.zip(&mut forecasts.columns) {
        if output.part().is_value() {
            bound(trained.pipeline.settings, panel, &forecasts.windows, values);
        }
    }
}

/// Rounds and bounds a column of these windows, as the settings say.
pub(crate) fn bound(settings: KeptSettings, panel: &Panel, windows: &[Cutoff], values: &mut [f32]) {
    let each = values.len() / windows.len().max(1);
    for ((series, _), values) in windows.iter().zip(values.chunks_mut(each.max(1))) {
        settings.bound(panel.level(*series), values);
    }
}
