//! The hyper-parameters of a checkpoint, as `NetworkSpec::set` takes them.

use foretell_checkpoint::{PickleValue, lr_scheduler_class, optimizer_class};
use foretell_messages::Setting;
use foretell_models::find;
use serde_json::{Map, Value};

use super::json::json;
use super::loss;
use crate::model_file::is_tolerated;
use crate::optimizer_settings;
use crate::spec::NetworkSpec;

/// The hyper-parameters of a model of this class. Those that no forecast depends on are passed over where they are objects of
/// Python's, or of neuralforecast's own versions; `settings` come in addition.
pub(super) fn read(
    class: &str,
    stored: &PickleValue,
    settings: &Map<String, Value>,
    left_out: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    let entries = stored.entries().ok_or_else(|| format!("hyper_parameters are {}", stored.kind()))?;
    let own = find(class).map(|entry| entry.own_defaults()).unwrap_or_default();
    let common = NetworkSpec::common_defaults();
    let known = |name: &str| own.contains_key(name) || common.contains_key(name) || is_tolerated(name);
    let mut arguments = Map::new();
    for (name, stored) in entries {
        let Some(name) = name.as_text().filter(|name| !settings.contains_key(*name)) else { continue };
        if find(class).is_some() && !known(name) {
            left_out
                .push(format!("hyper-parameter {name} of {class}, which neuralforecast 3.3 does not have"));
            continue;
        }
        let value = match (name, stored) {
            ("loss", PickleValue::Object(stored)) => Some(loss::read(stored)?),
            ("valid_loss", PickleValue::Object(stored)) => loss::read(stored).ok(),
            // The class itself is handed over, by its whole name.
            ("optimizer", PickleValue::Class(path)) => Some(optimizer_class(last(path))),
            ("lr_scheduler", PickleValue::Class(path)) => Some(lr_scheduler_class(last(path))),
            _ => json(stored),
        };
        match value {
            Some(value) => _ = arguments.insert(name.to_owned(), value),
            None if is_tolerated(name) => {}
            None => {
                return Err(format!(
                    "hyper-parameter {name} is {}, which cannot be read without Python; give it ({})",
                    stored.kind(),
                    Setting::ImportHyperParameter.to(format_args!("{name}=..."))
                ));
            }
        }
    }
    optimizer_settings::from_file(&mut arguments);
    Ok(arguments)
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}
