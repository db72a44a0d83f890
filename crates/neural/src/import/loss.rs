//! The losses of checkpoints: objects of Python's, whose arguments are told from their attributes.

use foretell_checkpoint::{PickleValue, PickledObject};
use serde_json::{Map, Number, Value};

use super::json::json;

/// Arguments of losses that are attributes of the same name; quantiles aside.
const ARGUMENTS: [&str; 14] = [
    "alpha", "batch_correlation", "c", "delta", "distribution", "horizon_correlation", "horizon_weight",
    "n_components", "normalize", "num_samples", "q", "return_params", "seasonality", "weighted",
];

/// The loss as `NetworkSpec::set` takes it: its class and its arguments.
pub(super) fn read(stored: &PickledObject) -> Result<Value, String> {
    let class = stored.class_name();
    let mut arguments = Map::new();
    for name in ARGUMENTS {
        match stored.attribute(name).map(json) {
            Some(Some(Value::Null)) | None => {}
            Some(Some(value)) => _ = arguments.insert(name.to_owned(), value),
            Some(None) => {
                return Err(format!("argument {name} of the loss {class} cannot be read without Python"));
            }
        }
    }
    if let Some(quantiles) = stored.attribute("quantiles").and_then(json) {
        match level(stored.attribute("output_names")) {
            Some(level) => arguments.insert("level".to_owned(), level.into()),
            None => arguments.insert("quantiles".to_owned(), quantiles),
        };
    }
    // The arguments of the distribution itself.
    if let Some(Value::Object(more)) = stored.attribute("distribution_kwargs").and_then(json) {
        arguments.extend(more);
    }
    Ok(Value::Object(Map::from_iter([(class.to_owned(), Value::Object(arguments))])))
}

/// The levels of intervals, if the names of the outputs are those of neuralforecast's levels: the median, then the lower ends,
/// the widest first, then the upper ones.
fn level(names: Option<&PickleValue>) -> Option<Vec<Value>> {
    let Some(PickleValue::List(names)) = names else { return None };
    let names = names.iter().map(PickleValue::as_text).collect::<Option<Vec<_>>>()?;
    // A distribution has its mean first, and perhaps its parameters last.
    let names = names.strip_prefix(&[""]).unwrap_or(&names);
    let ["-median", names @ ..] = names else { return None };
    let ends = |prefix: &'static str| names.iter().filter_map(move |name| name.strip_prefix(prefix));
    let (mut low, high): (Vec<&str>, Vec<&str>) = (ends("-lo-").collect(), ends("-hi-").collect());
    low.reverse();
    let number = |text: &&str| text.parse::<Number>().ok().map(Value::Number);
    match low == high && !low.is_empty() {
        true => low.iter().map(number).collect(),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(text: &str) -> PickleValue {
        PickleValue::Text(text.to_owned())
    }

    #[test]
    fn levels_are_told_from_quantiles_by_the_names_of_outputs() {
        let level_of =
            |names: &[&str]| level(Some(&PickleValue::List(names.iter().map(|name| text(name)).collect())));
        let levels = level_of(&["-median", "-lo-90", "-lo-80.5", "-hi-80.5", "-hi-90"]);
        assert_eq!(levels, Some(vec![json!(80.5), json!(90)]));
        assert_eq!(level_of(&["", "-median", "-lo-80", "-hi-80", "-loc", "-scale"]), Some(vec![json!(80)]));
        assert_eq!(level_of(&["-lo-80.0", "-median", "-hi-80.0"]), None);
        assert_eq!(level_of(&["-median"]), None);
        assert_eq!(level_of(&[""]), None);
    }

    #[test]
    fn arguments_are_attributes() {
        let attribute = |name: &str, value: PickleValue| (name.to_owned(), value);
        let loss = PickledObject {
            class: "neuralforecast.losses.pytorch.HuberQLoss".to_owned(),
            attributes: vec![
                attribute("training", PickleValue::Bool(true)),
                attribute("q", PickleValue::Float(0.3)),
                attribute("delta", PickleValue::Int(2)),
                attribute("horizon_weight", PickleValue::None),
            ],
            entries: Vec::new(),
        };
        assert_eq!(read(&loss), Ok(json!({ "HuberQLoss": { "delta": 2, "q": 0.3 } })));
    }
}
