//! Networks with fewer hidden units.

use foretell_models::MODELS;
use foretell_nn::Table;
use serde_json::Value;

use crate::error::NetworkError;
use crate::spec::NetworkSpec;
use crate::trained_network::TrainedNetwork;
use crate::unit_importance::keep_important_units;

/// Hidden units are left in multiples of this: the numbers of a vector of 256 bits, which kernels work on at once.
const LANES: usize = 8;

impl TrainedNetwork {
    /// The network without the least important of its hidden units: of each layer this share of them goes, and what is left is rounded up to
    /// a multiple of 8. The importance of a unit is the norm of its incoming weights times that of its outgoing ones (Li, Kadav,
    /// Durdanovic, Samet, Graf 2017, arXiv 1608.08710, rank filters by the first of the two). It is a network like any other, with smaller
    /// hyper-parameters, and without the optimiser of its training.
    ///
    /// # Errors
    /// If it has no layers between two linear ones whose units are a hyper-parameter, or the share is not at least 0 and below 1.
    pub fn without_units(&self, share: f64) -> Result<Self, NetworkError> {
        let refuse = |reason: String| NetworkError::Prune { model: self.spec.alias().to_owned(), reason };
        if !(0.0..1.0).contains(&share) {
            return Err(refuse(format!("the share of units is at least 0 and below 1, found {share}")));
        }
        let spec = with_fewer_units(&self.spec, share)?.ok_or_else(|| refuse(no_units(&self.spec)))?;
        let mut table = Table::default();
        let network = spec.build(&mut table)?;
        let mut params = table.initialise(spec.common().random_seed);
        match keep_important_units(&self.params, &mut params) {
            true => Ok(Self::new(spec, network, params, self.outcome)),
            false => Err(refuse(no_units(&self.spec))),
        }
    }

    /// The network with these hyper-parameters as those of its training, which change no forecast.
    ///
    /// # Errors
    /// If it refuses one of them.
    pub fn with_training_of(mut self, spec: &NetworkSpec, names: &[&str]) -> Result<Self, NetworkError> {
        let values = spec.hyper_parameters();
        for (name, value) in names.iter().filter_map(|name| Some((name, values.get(*name)?))) {
            self.spec = self.spec.set(name, value.clone())?;
        }
        Ok(self)
    }
}

/// The specification with this share fewer hidden units; `None` if it has none that could be removed.
fn with_fewer_units(spec: &NetworkSpec, share: f64) -> Result<Option<NetworkSpec>, NetworkError> {
    let names = spec.entry.hidden_units;
    let mut fewer = spec.clone();
    for name in names {
        let units = match &spec.own[*name] {
            Value::Number(number) if number.as_u64() == Some(0) => {
                let width = spec.own.get("hidden_size").and_then(Value::as_u64).unwrap_or_default();
                Value::from(width.saturating_mul(4))
            }
            units => units.clone(),
        };
        fewer = fewer.set(name, left(&units, share))?;
    }
    Ok((!names.is_empty()).then_some(fewer))
}

/// Each of the numbers with this share of it taken away.
fn left(units: &Value, share: f64) -> Value {
    match units {
        Value::Array(all) => all.iter().map(|units| left(units, share)).collect(),
        units => {
            let units = units.as_u64().unwrap_or_default() as usize;
            // Rounding errors of the product make no unit of their own.
            let kept = ((1.0 - share) * units as f64 - 1e-6).ceil().max(1.0) as usize;
            kept.next_multiple_of(LANES).min(units).into()
        }
    }
}

/// Why no units of a network can be removed, and of which others they can.
fn no_units(spec: &NetworkSpec) -> String {
    let known: Vec<&str> =
        MODELS.iter().filter(|entry| !entry.hidden_units.is_empty()).map(|entry| entry.name).collect();
    format!(
        "{} has no hidden layers between two linear ones whose units could be removed, as these have: {}; set single weights of \
         it to zero, or leave it out",
        spec.name(),
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;
    use foretell_data::{Panel, Span};
    use foretell_estimator::{Asked, Sparsity, SparsityScope, Trained, Workers};
    use foretell_models::ModelEntry;
    use serde_json::json;

    use super::*;
    use crate::start::pruning;
    use crate::unit_importance::kept_units;

    fn panel() -> Panel {
        let wave = |phase: f32| (0..60).map(|t| (t as f32 * 0.5 + phase).sin() + 2.0).collect::<Vec<f32>>();
        let series = [("a", 0, wave(0.0)), ("b", 0, wave(1.0))];
        Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
    }

    fn forecast(network: &TrainedNetwork) -> Vec<f32> {
        let asked = Asked { span: Span::Predict { future: None }, h: network.spec().h(), quantiles: None };
        let workers = Workers::new(1).expect("a thread");
        network.forecast(&panel(), &asked, &workers).expect("a forecast").values
    }

    /// A network of a model with these hyper-parameters, untrained.
    fn network(entry: &ModelEntry, settings: impl IntoIterator<Item = (String, Value)>) -> TrainedNetwork {
        let mut spec = NetworkSpec::new(entry.name, 4, 24).expect("a model");
        let n_series = spec.is_multivariate().then(|| ("n_series".to_owned(), json!(2)));
        for (name, value) in settings.into_iter().chain(n_series) {
            spec = spec.set(&name, value).expect("a setting");
        }
        let mut table = Table::default();
        let network = spec.build(&mut table).expect("a network");
        TrainedNetwork::new(spec, network, table.initialise(5), None)
    }

    /// Each model with units that can be removed, in each of its small configurations, with numbers that are no multiples of each
    /// other.
    fn networks() -> impl Iterator<Item = TrainedNetwork> {
        let all = MODELS.iter().filter(|entry| !entry.hidden_units.is_empty());
        all.flat_map(|entry| entry.small().into_iter().map(move |small| (entry, small))).map(
            |(entry, small)| {
                let own = entry.own_defaults();
                let units = entry.hidden_units.iter().map(|name| match own[*name] {
                    Value::Array(_) => ((*name).to_owned(), json!([[16, 40], [40, 24]])),
                    _ => ((*name).to_owned(), json!(24)),
                });
                network(entry, small.into_iter().chain(units).collect::<Vec<_>>())
            },
        )
    }

    #[test]
    fn without_nearly_all_weights_forecasts_are_numbers() {
        for entry in
            MODELS.iter().filter(|entry| entry.missing_feature().is_none() && entry.name != "TimeLLM")
        {
            for small in entry.small() {
                let mut network = network(entry, small);
                let sparsity = Sparsity { share: 0.99, scope: SparsityScope::Layer };
                pruning(network.params.table(), sparsity).apply(&mut network.params);
                assert!(network.nonzero_parameters() < network.parameters(), "{}", entry.name);
                assert!(forecast(&network).iter().all(|value| value.is_finite()), "{}", entry.name);
            }
        }
    }

    #[test]
    fn without_units_that_are_zero_forecasts_are_the_same() {
        for mut wide in networks() {
            let name = wide.spec.name();
            let narrow = wide.without_units(0.5).expect("units");
            assert!(narrow.parameters() < wide.parameters(), "{name}");
            let moved =
                forecast(&narrow).iter().zip(forecast(&wide)).any(|(is, was)| (is - was).abs() > 1e-5);
            assert!(moved, "{name}: units that are not zero count");
            let kept = kept_units(&wide.params, narrow.params.table()).expect("a chain");
            let entries = wide.params.table().entries().to_vec();
            for (index, kept) in kept.iter().enumerate() {
                for (dim, kept) in
                    kept.iter().enumerate().filter_map(|(dim, kept)| Some((dim, kept.as_ref()?)))
                {
                    let mut values = wide.params.values(&entries[index]).to_vec();
                    let behind: usize = entries[index].shape[dim + 1..].iter().product();
                    let size = entries[index].shape[dim];
                    let removed = |place: usize| !kept.contains(&(place / behind % size));
                    values
                        .iter_mut()
                        .enumerate()
                        .filter(|(place, _)| removed(*place))
                        .for_each(|(_, value)| *value = 0.0);
                    wide.params.set(index, &values);
                }
            }
            let narrow = wide.without_units(0.5).expect("units");
            for (is, was) in forecast(&narrow).iter().zip(forecast(&wide)) {
                assert!((is - was).abs() < 1e-5, "{name}: {is}, with units of zeros {was}");
            }
        }
    }

    #[test]
    fn units_that_are_given_by_the_width_are_written_out() {
        let spec = NetworkSpec::new("iTransformer", 4, 24).expect("a model");
        let settings = [("d_ff", json!(0)), ("hidden_size", json!(16)), ("n_series", json!(2))];
        let spec =
            settings.into_iter().fold(spec, |spec, (name, value)| spec.set(name, value).expect("a setting"));
        let fewer = with_fewer_units(&spec, 0.5).expect("a share").expect("units");
        assert_eq!(fewer.own["d_ff"], 32);
    }

    #[test]
    fn units_are_left_in_multiples_of_eight() {
        for (units, share, expected) in [
            (json!(1024), 0.5, json!(512)),
            (json!(512), 0.8, json!(104)),
            (json!(1024), 0.999, json!(8)),
            (json!(1024), 0.0, json!(1024)),
            (json!(6), 0.5, json!(6)),
            (json!(30), 0.1, json!(30)),
            (json!(1000), 0.9, json!(104)),
            (json!([[512, 256], [256, 64]]), 0.75, json!([[128, 64], [64, 16]])),
        ] {
            assert_eq!(left(&units, share), expected, "{units} without {share}");
        }
    }

    #[test]
    fn models_name_hyper_parameters_that_they_have() {
        for entry in MODELS {
            let own = entry.own_defaults();
            assert!(entry.hidden_units.iter().all(|name| own.contains_key(*name)), "{}", entry.name);
        }
    }
}
