//! The contents of a model directory, whether foretell or neuralforecast wrote it, and whether or not foretell has its models.

use std::any::Any;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use foretell_calendar::{jiff::Timestamp, jiff::Unit};
use foretell_checkpoint::{Checkpoint, ConformalSettings, Frequency, ModelFile, PlainModel};
use foretell_estimator::{MemoryLimit, Trained};
use foretell_hierarchy::Reconciliation;
use foretell_neural::{NetworkSpec, UNSUPPORTED, loss_value, plain_optimizer, read_model};
use foretell_pretrained::TrainedPretrained;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::coherence::Coherence;
use crate::directory::kept::Kept;
use crate::directory::saving::{checkpoint, pretrained, restore};
use crate::error::Error;
use crate::memory::check_load;
use crate::registry::find_estimator;
use crate::training::interruption::Interruption;
use crate::training_record::TrainingRecord;

/// A model directory.
#[derive(Clone, Debug, Serialize)]
pub struct Contents {
    /// Steps that its models forecast.
    pub h: usize,
    /// The frequency of the data, as in pandas; `any` of a folder of others' weights, which suits data of all.
    pub freq: String,
    /// Whether the models are trained.
    pub fitted: bool,
    /// The column of the series' ids.
    pub id_col: String,
    /// The column of the times.
    pub time_col: String,
    /// The column of the values.
    pub target_col: String,
    /// The scaler of each series.
    pub local_scaler: Option<String>,
    /// The scaler of static columns.
    pub local_static_scaler: Option<String>,
    /// The columns that are computed, as they were written.
    pub features: Option<String>,
    /// How conformal intervals were calibrated, if they were: method, windows.
    pub prediction_intervals: Option<String>,
    /// The columns of ensembles, with the weight of each model where there are some.
    pub ensembles: Vec<String>,
    /// The hierarchy by which forecasts add up, if the models keep one.
    pub hierarchy: Option<HierarchyContents>,
    /// The data that the models were trained on, if foretell trained them.
    pub training: Option<TrainingRecord>,
    /// When the directory was written, by its files.
    pub saved: Option<String>,
    /// How far training came, if it was interrupted.
    pub interruption: Option<Interruption>,
    /// Series and rows of the data that are stored beside the models.
    pub dataset: Option<[usize; 2]>,
    /// Bytes of its files.
    pub bytes: u64,
    /// The models.
    pub models: Vec<ModelContents>,
}

/// The hierarchy of a directory, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HierarchyContents {
    /// Series at the bottom, which sum up none.
    pub series: usize,
    /// Sums of these.
    pub sums: usize,
    /// How forecasts are made to add up.
    pub method: Reconciliation,
}

/// One model of a directory.
#[derive(Clone, Debug, Serialize)]
pub struct ModelContents {
    /// The name of its column in forecasts.
    pub alias: String,
    /// The name of its kind: NHITS, LSTM, ...
    pub class: String,
    /// Why foretell cannot forecast with it; nothing if it can.
    pub unsupported: Option<String>,
    /// Steps of history that a network sees, -1 for 3 * h; null of other models, as are the next two.
    pub input_size: Value,
    /// The loss that it was trained to minimise: `{name: {argument: value}}`.
    pub loss: Value,
    /// How windows are scaled.
    pub scaler_type: Value,
    /// The seed of first weights, draws of windows and dropout.
    pub random_seed: Value,
    /// Other hyper-parameters that differ from their defaults; all of them where those are unknown here.
    pub hyper_parameters: Map<String, Value>,
    /// Trained parameters.
    pub parameters: usize,
    /// Bytes of its tensors.
    pub bytes: usize,
    /// Its tensors, by name.
    pub tensors: Vec<TensorInfo>,
    /// What a model that is no network chose for each series; null of one that chooses nothing.
    pub chosen: Option<Chosen>,
}

/// What a model chose for the series that it was trained on.
#[derive(Clone, Debug, Serialize)]
pub struct Chosen {
    /// The forms, with the number of series that have each, the most frequent first.
    pub forms: Vec<(String, usize)>,
    /// The first series, in their order.
    pub series: Vec<ChosenOfSeries>,
}

/// What a model chose for one series.
#[derive(Clone, Debug, Serialize)]
pub struct ChosenOfSeries {
    /// The id of the series.
    pub series: String,
    /// The form, in the field's notation.
    pub form: String,
    /// What was estimated, by name.
    pub numbers: Map<String, Value>,
}

impl Chosen {
    /// What a trained model chose, with at most `most` series listed one by one.
    fn of(model: &dyn Trained, most: usize) -> Option<Self> {
        let (mut forms, mut series): (HashMap<String, usize>, Vec<ChosenOfSeries>) = Default::default();
        for (place, described) in (0..).map_while(|place| model.described(place)).enumerate() {
            *forms.entry(described.form.clone()).or_default() += 1;
            if place < most {
                let numbers = described.numbers.into_iter();
                let numbers = numbers.map(|(name, value)| (name.into_owned(), value.into())).collect();
                series.push(ChosenOfSeries { series: described.series, form: described.form, numbers });
            }
        }
        let mut forms: Vec<(String, usize)> = forms.into_iter().collect();
        forms.sort_by(|(name, count), (other, others)| others.cmp(count).then(name.cmp(other)));
        (!forms.is_empty()).then_some(Self { forms, series })
    }
}

/// One tensor of a model's state dictionary.
#[derive(Clone, Debug, Serialize)]
pub struct TensorInfo {
    /// The name, as in PyTorch.
    pub name: String,
    /// The size of each dimension.
    pub shape: Vec<usize>,
    /// The type of its numbers, as safetensors spells it.
    pub dtype: String,
}

impl Contents {
    /// Reads a directory that [`Fitted::save`](crate::Fitted::save) or `NeuralForecast.save` wrote, or a folder of pretrained weights.
    ///
    /// # Errors
    /// If it is none, or a file of it is missing, damaged, larger than memory or contradicts another.
    pub fn of(dir: impl AsRef<Path>) -> Result<Self, Error> {
        Self::with_series(dir, usize::MAX)
    }

    /// As [`Contents::of`], where the first `most_series` series are listed with what models chose for them; all are counted.
    ///
    /// # Errors
    /// As [`Contents::of`].
    pub fn with_series(dir: impl AsRef<Path>, most_series: usize) -> Result<Self, Error> {
        let limit = MemoryLimit::of_machine();
        check_load(dir.as_ref(), &limit)?;
        if let Some(folder) = pretrained(dir.as_ref(), &limit)? {
            let bytes = fs::read_dir(dir.as_ref()).into_iter().flatten().flatten();
            let bytes = bytes.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
            let contents = Self::of_checkpoint(checkpoint(&folder, None), bytes, most_series)?;
            return Ok(Self { freq: "any".to_owned(), ..contents });
        }
        let written = fs::metadata(dir.as_ref().join("configuration.json")).and_then(|file| file.modified());
        let saved = written.ok().and_then(|time| Timestamp::try_from(time).ok());
        // A file's time is no more exact than that to the one who reads it.
        let saved = saved.and_then(|time| time.round(Unit::Second).ok()).map(|time| time.to_string());
        let (checkpoint, bytes) = Checkpoint::load_and_measure(dir)?;
        Ok(Self { saved, ..Self::of_checkpoint(checkpoint, bytes, most_series)? })
    }

    /// What these tensors and settings hold, of files of this many bytes.
    pub(crate) fn of_checkpoint(
        checkpoint: Checkpoint,
        bytes: u64,
        most_series: usize,
    ) -> Result<Self, Error> {
        let Checkpoint { configuration, models, plain_models, dataset } = checkpoint;
        let calibrated = |intervals: &ConformalSettings| {
            let ConformalSettings { n_windows, method, step_size } = intervals;
            format!("{method}, {n_windows} windows, {step_size} steps apart")
        };
        let mut contents: Vec<ModelContents> =
            models.iter().map(ModelContents::of).collect::<Result<_, _>>()?;
        for plain in plain_models {
            contents.insert(plain.place.min(contents.len()), ModelContents::of_plain(plain, most_series));
        }
        let kept = Kept::as_far_as_readable(&configuration, contents.len());
        let features = Some(kept.pipeline.features).filter(|features| !features.is_empty());
        Ok(Self {
            hierarchy: kept.pipeline.coherence.as_deref().map(HierarchyContents::of),
            ensembles: kept.ensembles.iter().map(ToString::to_string).collect(),
            features: features.map(|features| features.to_string()),
            interruption: kept.interruption,
            training: kept.training,
            saved: None,
            h: configuration.h,
            freq: match configuration.freq {
                Frequency::Alias(word) => word,
                Frequency::Step(step) => step.to_string(),
            },
            fitted: configuration.fitted,
            id_col: configuration.id_col,
            time_col: configuration.time_col,
            target_col: configuration.target_col,
            local_scaler: configuration.local_scaler_type,
            local_static_scaler: configuration.local_static_scaler_type,
            prediction_intervals: configuration.prediction_intervals.as_ref().map(calibrated),
            dataset: dataset.map(|dataset| [dataset.series(), dataset.rows()]),
            bytes,
            models: contents,
        })
    }
}

impl HierarchyContents {
    fn of(Coherence { hierarchy, method, .. }: &Coherence) -> Self {
        Self { series: hierarchy.n_bottom(), sums: hierarchy.n_aggregates(), method: *method }
    }
}

impl ModelContents {
    /// A model that is no network.
    fn of_plain(plain: PlainModel, most_series: usize) -> Self {
        let defaults = find_estimator(&plain.class).map(|entry| (entry.new)(1).hyper_parameters());
        let mut own = plain.hyper_parameters.clone();
        own.retain(|name, value| {
            let default = defaults.as_ref().and_then(|defaults| defaults.get(name));
            !["h", "alias"].contains(&name.as_str()) && default != Some(value)
        });
        let learned: usize = plain.learned.values().map(Vec::len).sum();
        let [alias, class] = [&plain.alias, &plain.class].map(String::clone);
        let restored = restore(plain);
        // Weights that are not in the directory.
        let network = restored
            .as_ref()
            .ok()
            .and_then(|model| (model.trained() as &dyn Any).downcast_ref::<TrainedPretrained>());
        let (parameters, bytes) = match network {
            Some(trained) => (trained.parameters(), trained.network().held_bytes() as usize),
            None => (learned, learned * size_of::<f64>()),
        };
        Self {
            alias,
            class,
            chosen: restored.as_ref().ok().and_then(|model| Chosen::of(model.trained(), most_series)),
            unsupported: restored.err(),
            input_size: Value::Null,
            loss: Value::Null,
            scaler_type: Value::Null,
            random_seed: Value::Null,
            hyper_parameters: own,
            parameters,
            bytes,
            tensors: Vec::new(),
        }
    }

    fn of(file: &ModelFile) -> Result<Self, Error> {
        let mut own = file.arguments()?;
        plain_optimizer(&mut own);
        let loss = loss_value(file.loss()?);
        match file.valid_loss()? {
            Some(valid) => own.insert("valid_loss".to_owned(), loss_value(valid)),
            None => own.shift_remove("valid_loss"),
        };
        let mut take = |name: &str| own.shift_remove(name).unwrap_or_default();
        let [input_size, scaler_type, random_seed] =
            ["input_size", "scaler_type", "random_seed"].map(&mut take);
        for name in ["h", "loss", "alias"] {
            take(name);
        }
        if let Ok(spec) = NetworkSpec::new(&file.class, 1, 1) {
            let defaults = spec.hyper_parameters();
            let unsupported = |name: &str| {
                let (_, default) = UNSUPPORTED.iter().find(|(known, _)| *known == name)?;
                serde_json::from_str(default).ok()
            };
            own.retain(|name, value| {
                let default = defaults.get(name).cloned().or_else(|| unsupported(name));
                default.is_none_or(|default| !same(&default, value))
            });
        }
        // Two names of one tensor are two entries of the state dictionary, and parameters once.
        let tensors = file.weights();
        let stored = file.tensors.iter().filter(|(name, _)| tensors.contains_key(name.as_str()));
        let (parameters, bytes) = stored.fold((0, 0), |(count, bytes), (_, tensor)| {
            (count + tensor.values().len(), bytes + tensor.values().size())
        });
        let info = |(name, tensor): (&&str, &&foretell_checkpoint::TensorData)| TensorInfo {
            name: (*name).to_owned(),
            shape: tensor.shape().to_vec(),
            dtype: tensor.dtype(),
        };
        Ok(Self {
            alias: file.alias.clone(),
            class: file.class.clone(),
            unsupported: read_model(file).err(),
            input_size,
            loss,
            scaler_type,
            random_seed,
            hyper_parameters: own,
            parameters,
            bytes,
            tensors: tensors.iter().map(info).collect(),
            chosen: None,
        })
    }
}

/// Whether two values are equal; Python writes 0 for 0.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => match (a.as_array(), b.as_array()) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            // No columns are an empty list there, and null here.
            (None, Some(list)) => a.is_null() && list.is_empty(),
            _ => a == b,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fixture(name: &str) -> Contents {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints").join(name).join("model");
        Contents::of(path).unwrap()
    }

    #[test]
    fn directories_of_neuralforecast_are_described() {
        let contents = fixture("several");
        let classes: Vec<(&str, &str)> =
            contents.models.iter().map(|model| (model.alias.as_str(), model.class.as_str())).collect();
        assert_eq!(classes.len(), 5);
        assert!(classes.contains(&("MLP", "MLP")) && classes.contains(&("NHITS", "NHITS")));
        assert!(contents.bytes > 10_000 && contents.fitted);
        for model in &contents.models {
            assert_eq!(model.unsupported, None);
            let counted: usize =
                model.tensors.iter().map(|tensor| tensor.shape.iter().product::<usize>()).sum();
            assert!(model.parameters <= counted && model.parameters > 0);
            assert!(
                !model.hyper_parameters.contains_key("alias")
                    && model.hyper_parameters.contains_key("max_steps")
            );
            assert!(!model.hyper_parameters.contains_key("optimizer"), "{:?}", model.hyper_parameters);
        }
        let local = fixture("local-exog");
        assert!(local.local_scaler.is_some());
        assert_eq!(fixture("nlinear-daily").dataset.map(|[series, _]| series > 0), Some(true));
    }

    #[test]
    fn defaults_are_told_from_what_was_set() {
        assert!(same(&json!(0), &json!(0.0)) && same(&json!([1, 2]), &json!([1.0, 2])));
        assert!(same(&Value::Null, &json!([])) && !same(&Value::Null, &json!(["a"])));
        assert!(!same(&json!([1]), &json!([1, 2])) && !same(&json!("a"), &json!("b")));
    }
}
