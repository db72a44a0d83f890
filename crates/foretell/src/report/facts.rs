//! The facts of a forecast: its files, models and settings.

use std::collections::HashSet;

use super::windows::civil;
use crate::directory::inspect::{Contents, ModelContents};
use foretell_data::Panel;
use foretell_report::{ModelSettings, grouped};
use foretell_tables::Frame;
use serde_json::Value;

/// The facts of the data and of the forecasts, called as users know them: by their files, for instance.
pub fn facts(data: &str, forecast: &str, panel: &Panel, frame: &Frame) -> Vec<(String, String)> {
    let shown = |time: i64| panel.freq().kind().display(civil(panel.zone(), time));
    let span = |times: &mut dyn Iterator<Item = i64>| {
        let (first, last) =
            times.fold((i64::MAX, i64::MIN), |(first, last), time| (first.min(time), last.max(time)));
        if first > last { "none".to_owned() } else { format!("{} to {}", shown(first), shown(last)) }
    };
    let ends = (0..panel.n_series()).filter(|&series| panel.len(series) > 0);
    let mut ends = ends.flat_map(|series| [panel.time(series, 0), panel.time(series, panel.len(series) - 1)]);
    let ids: HashSet<&str> = frame.ids.iter().map(|id| &**id).collect();
    let mut facts = vec![
        ("data", data.to_owned()),
        ("series", grouped(panel.n_series())),
        ("rows", grouped(panel.n_rows())),
        ("frequency", panel.freq().to_string()),
        ("times of the data", span(&mut ends)),
        ("forecasts", forecast.to_owned()),
        ("series forecast", grouped(ids.len())),
        ("times of the forecasts", span(&mut frame.times.iter().copied())),
    ];
    if let Some(cutoffs) = &frame.cutoffs {
        facts.push(("cutoffs", grouped(cutoffs.iter().collect::<HashSet<_>>().len())));
    }
    facts.push(("foretell", env!("CARGO_PKG_VERSION").to_owned()));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The settings of models.
pub fn settings(contents: &Contents) -> Vec<ModelSettings> {
    contents.models.iter().map(|model| settings_of(contents, model)).collect()
}

fn settings_of(contents: &Contents, model: &ModelContents) -> ModelSettings {
    let mut settings =
        vec![("model".to_owned(), model.class.clone()), ("h".to_owned(), contents.h.to_string())];
    let common =
        [("input_size", &model.input_size), ("loss", &model.loss), ("scaler_type", &model.scaler_type)];
    let common = common.into_iter().filter(|(_, value)| !value.is_null());
    settings.extend(common.map(|(name, value)| (name.to_owned(), plain(value))));
    settings.extend(model.hyper_parameters.iter().map(|(name, value)| (name.clone(), plain(value))));
    let shared = [
        ("local scaler", &contents.local_scaler),
        ("features", &contents.features),
        ("intervals", &contents.prediction_intervals),
    ];
    let shared = shared.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    settings.extend(shared);
    ModelSettings { model: model.alias.clone(), settings }
}

/// A text without its quotation marks.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
