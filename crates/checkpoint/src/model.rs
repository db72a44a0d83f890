//! One model file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foretell_files::{read_regular, write_whole};
use serde_json::{Map, Value};

use crate::error::{CheckpointError, Result};
use crate::file::{self, TensorFile};
use crate::loss::LossSpec;
use crate::optimizer_state::OptimizerState;
use crate::tagged::{Misfit, PREFIX, Sidecar, plain, tag};
use crate::tensor::{TensorData, TensorValues};

pub(crate) const FORMAT: &str = "2";

/// The contents of `{alias}_{k}.safetensors`; the [crate docs](crate) say what Python needs of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelFile {
    /// The name its forecasts carry; the file's name before the last `_`.
    pub alias: String,
    /// The Python class: "NHITS", "DLinear", ...
    pub class: String,
    /// The constructor's arguments as tagged JSON, exactly as stored.
    pub hyper_parameters: Map<String, Value>,
    /// The arrays among the hyper-parameters, by full name (`__hparams__.` and the path).
    pub hyper_tensors: BTreeMap<String, TensorData>,
    /// The state dict by PyTorch's names, but for the names in `shared`.
    pub tensors: BTreeMap<String, TensorData>,
    /// Names that stand for a stored tensor too: stored name to further names.
    pub shared: BTreeMap<String, Vec<String>>,
    /// The optimiser of its training, if it was kept: it stands in another file of the directory.
    pub optimizer: Option<OptimizerState>,
}

impl ModelFile {
    /// A model without hyper-parameters and tensors.
    pub fn new(alias: impl Into<String>, class: impl Into<String>) -> Self {
        Self { alias: alias.into(), class: class.into(), ..Self::default() }
    }

    /// Reads a file; its name gives the alias.
    ///
    /// # Errors
    /// The file is unreadable, corrupt, of another format, or its parts contradict each other.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(&read_regular(path)?, path)
    }

    /// Parses the bytes of a file; its name gives the alias.
    pub(crate) fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let alias = alias_of(path)
            .ok_or_else(|| Misfit::new("file name", "{alias}_{number}.safetensors", "another name"))
            .map_err(|m| m.at(path.display()))?;
        Self::decode(alias, TensorFile::from_bytes(bytes, path)?, path)
    }

    /// Writes a file, whole or not at all; the name should be `{alias}_{number}.safetensors`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_whole(path.as_ref(), &self.to_bytes())?)
    }

    fn decode(alias: String, file: TensorFile, path: &Path) -> Result<Self> {
        check_format(file.metadata.get("nf_format").cloned(), path)?;
        let entry = |key: &str| {
            let text = file.metadata.get(key);
            text.ok_or_else(|| Misfit::new(key, "an entry of the metadata", "none").at(path.display()))
        };
        let (hyper_tensors, tensors) =
            file.tensors.into_iter().partition(|(name, _)| name.starts_with(PREFIX));
        let model = Self {
            alias,
            class: entry("model_class")?.clone(),
            hyper_parameters: parse(entry("hyper_parameters")?, "hyper_parameters", path)?,
            hyper_tensors,
            tensors,
            shared: match file.metadata.get("shared") {
                Some(text) => parse(text, "shared", path)?,
                None => BTreeMap::new(),
            },
            optimizer: None,
        };
        model.check_shared().map_err(|m| m.at(path.display()))?;
        Ok(model)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let json = |value: serde_json::Result<String>| value.expect("maps of text and JSON are JSON");
        let metadata = [
            ("hyper_parameters", json(serde_json::to_string(&self.hyper_parameters))),
            ("model_class", self.class.clone()),
            ("nf_format", FORMAT.to_owned()),
            ("shared", json(serde_json::to_string(&self.shared))),
        ];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value)).into();
        file::to_bytes(&metadata, self.tensors.iter().chain(&self.hyper_tensors))
    }

    /// Every further name must be new and every stored one there.
    pub(crate) fn check_shared(&self) -> Result<(), Misfit> {
        let mut seen = BTreeSet::new();
        for (kept, others) in &self.shared {
            if !self.tensors.contains_key(kept) {
                return Err(Misfit::new(
                    format!("shared.{kept}"),
                    "the name of a stored tensor",
                    "no such tensor",
                ));
            }
            for other in others {
                if self.tensors.contains_key(other) || !seen.insert(other) {
                    return Err(Misfit::new(format!("shared.{kept}"), "names stored nowhere else", other));
                }
            }
        }
        Ok(())
    }

    /// The constructor's arguments with arrays as plain lists; losses and torch classes stay tagged.
    ///
    /// # Errors
    /// An array is missing, pointed at twice or not of numbers.
    pub fn arguments(&self) -> Result<Map<String, Value>> {
        let mut sidecar = Sidecar(self.hyper_tensors.clone());
        let arguments = self.hyper_parameters.iter().map(|(key, value)| {
            let value = plain(key, value, &mut sidecar)?;
            Ok((key.clone(), value))
        });
        arguments.collect::<Result<_, Misfit>>().map_err(|m| m.at(self.place()))
    }

    /// The training loss.
    ///
    /// # Errors
    /// The hyper-parameter `loss` is not a tagged loss.
    pub fn loss(&self) -> Result<LossSpec> {
        self.loss_in("loss", self.hyper_parameters.get("loss").unwrap_or(&Value::Null))
    }

    /// The validation loss; None if it is the training loss.
    ///
    /// # Errors
    /// The hyper-parameter `valid_loss` is neither null nor a tagged loss.
    pub fn valid_loss(&self) -> Result<Option<LossSpec>> {
        match self.hyper_parameters.get("valid_loss") {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.loss_in("valid_loss", value).map(Some),
        }
    }

    fn loss_in(&self, slot: &str, value: &Value) -> Result<LossSpec> {
        let mut sidecar = Sidecar(self.hyper_tensors.clone());
        LossSpec::decode(slot, value, &mut sidecar).map_err(|m| m.at(self.place()))
    }

    /// Sets the losses with all that goes with them: the hyper-parameters `loss` and `valid_loss`,
    /// the arrays these point at, and the state dict's `loss.quantiles` and `valid_loss.quantiles`.
    /// When `valid_loss` is None, the training loss validates too: its tensors, those of its layers among
    /// them, are `shared` ones. A validation loss with layers has copies of the training loss's, since
    /// Python builds them and uses none.
    pub fn set_losses(&mut self, loss: &LossSpec, valid_loss: Option<&LossSpec>) {
        self.remove_loss_tensors();
        let mut sidecar = Sidecar::default();
        for (slot, spec) in [("loss", Some(loss)), ("valid_loss", valid_loss)] {
            let value = spec.map_or(Value::Null, |spec| spec.encode(slot, &mut sidecar));
            self.hyper_parameters.insert(slot.into(), value);
            let Some(spec) = spec else { continue };
            for (name, quantiles) in
                [("quantiles", &spec.quantiles), ("mql.quantiles", &spec.inner_quantiles)]
            {
                if let Some(quantiles) = quantiles {
                    let tensor = TensorData::f32([quantiles.len()], quantiles.clone());
                    self.tensors.insert(format!("{slot}.{name}"), tensor);
                }
            }
            if let Some(count) = spec.cosines {
                let numbers = TensorValues::I64((0..count as i64).collect());
                self.tensors.insert(format!("{slot}.{INTEGERS}"), TensorData::new([count], numbers));
            }
        }
        let of_training = |name: &&String| name.starts_with(TRAINING);
        let of_training: Vec<String> = self.tensors.keys().filter(of_training).cloned().collect();
        for name in of_training {
            let other = format!("valid_{name}");
            if valid_loss.is_none() {
                self.shared.insert(name, vec![other]);
            } else if !follows_from_arguments(&name) {
                self.tensors.insert(other, self.tensors[&name].clone());
            }
        }
        self.hyper_tensors.append(&mut sidecar.0);
    }

    fn remove_loss_tensors(&mut self) {
        self.tensors.retain(|name, _| !follows_from_arguments(name));
        self.shared.retain(|name, _| !belongs_to_loss(name));
        let kept = |name: &String| !belongs_to_loss(name.trim_start_matches(PREFIX));
        self.hyper_tensors.retain(|name, _| kept(name));
    }

    /// The model's own state dict: further names resolved, entries of the losses left out but for the layers of
    /// the training loss.
    /// The names are those of the Python module, so [`check_names`](crate::check_names) applies.
    pub fn weights(&self) -> BTreeMap<&str, &TensorData> {
        let further = self.shared.iter().flat_map(|(kept, others)| {
            let tensor = self.tensors.get(kept);
            others.iter().filter_map(move |name| Some((name, tensor?)))
        });
        let all = self.tensors.iter().chain(further);
        all.filter(|(name, _)| !follows_from_arguments(name))
            .map(|(name, tensor)| (name.as_str(), tensor))
            .collect()
    }

    /// How messages call this model.
    pub(crate) fn place(&self) -> String {
        format!("model `{}`", self.alias)
    }

    /// The horizon among the hyper-parameters, if it is there.
    pub(crate) fn horizon(&self) -> Option<&Value> {
        self.hyper_parameters.get("h").filter(|h| tag(h).is_none())
    }
}

/// The prefix of the names of the training loss's tensors.
const TRAINING: &str = "loss.";

/// The numbers of a loss's cosines.
const INTEGERS: &str = "quantile_layer.integers";

fn belongs_to_loss(name: &str) -> bool {
    name.starts_with(TRAINING) || name.starts_with("valid_loss.")
}

/// Whether the entry of a state dict follows from the arguments of a loss, or is of the validation loss, whose layers
/// Python does not use.
fn follows_from_arguments(name: &str) -> bool {
    let derived = name.ends_with("quantiles") || name.ends_with(INTEGERS);
    belongs_to_loss(name) && (derived || !name.starts_with(TRAINING))
}

/// `{alias}_{anything}.safetensors`, split as Python does.
fn alias_of(path: &Path) -> Option<String> {
    let (alias, _) = path.file_name()?.to_str()?.strip_suffix(".safetensors")?.rsplit_once('_')?;
    (!alias.is_empty()).then(|| alias.to_owned())
}

pub(crate) fn check_format(found: impl Into<Value>, path: &Path) -> Result<()> {
    let found = match found.into() {
        Value::String(version) if version == FORMAT => return Ok(()),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    };
    Err(CheckpointError::Format { path: path.to_path_buf(), found })
}

fn parse<T: serde::de::DeserializeOwned>(text: &str, entry: &str, path: &Path) -> Result<T> {
    serde_json::from_str(text).map_err(|source| CheckpointError::Json {
        place: format!("{}, entry `{entry}`", path.display()),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantile_loss() -> LossSpec {
        LossSpec { quantiles: Some(vec![0.1, 0.9]), ..LossSpec::point("MQLoss") }
    }

    fn multi_quantile() -> ModelFile {
        let mut model = ModelFile::new("m", "MLP");
        model.tensors.insert("out.bias".into(), TensorData::f32([1], vec![2.0]));
        model.set_losses(&quantile_loss(), None);
        model
    }

    #[test]
    fn losses_bring_their_tensors_and_take_them_away() {
        let mut model = multi_quantile();
        assert_eq!(model.tensors.keys().collect::<Vec<_>>(), ["loss.quantiles", "out.bias"]);
        assert_eq!(model.shared["loss.quantiles"], ["valid_loss.quantiles"]);
        let hyper: Vec<_> = model.hyper_tensors.keys().collect();
        assert_eq!(hyper, ["__hparams__.loss.state.quantiles"]);
        assert_eq!(model.weights().into_keys().collect::<Vec<_>>(), ["out.bias"]);
        assert_eq!(model.loss().unwrap().quantiles.unwrap(), [0.1, 0.9]);
        assert_eq!(model.valid_loss().unwrap(), None);

        let (loss, valid) = (LossSpec::point("MAE"), quantile_loss());
        model.set_losses(&loss, Some(&valid));
        assert_eq!(model.tensors.keys().collect::<Vec<_>>(), ["out.bias", "valid_loss.quantiles"]);
        assert!(model.shared.is_empty());
        assert_eq!(model.loss().unwrap(), loss);
        assert_eq!(model.valid_loss().unwrap(), Some(valid));

        let score = LossSpec {
            output_names: vec![],
            inner_quantiles: Some(vec![0.1, 0.9]),
            ..LossSpec::point("sCRPS")
        };
        model.set_losses(&loss, Some(&score));
        assert_eq!(model.tensors.keys().collect::<Vec<_>>(), ["out.bias", "valid_loss.mql.quantiles"]);
        assert!(model.hyper_tensors.is_empty());
        assert_eq!(model.valid_loss().unwrap(), Some(LossSpec { inner_quantiles: None, ..score }));
        model.check_shared().unwrap();
    }

    #[test]
    fn the_parts_of_a_file_must_agree() {
        let path = Path::new("m_0.safetensors");
        let decode = |file: TensorFile| ModelFile::decode("m".into(), file, path);
        let whole = TensorFile::from_bytes(&multi_quantile().to_bytes(), path).unwrap();
        assert_eq!(decode(whole.clone()).unwrap(), multi_quantile());

        let with = |key: &str, value: &str| {
            let mut file = whole.clone();
            file.metadata.insert(key.into(), value.into());
            decode(file).unwrap_err()
        };
        assert!(matches!(with("nf_format", "3"), CheckpointError::Format { .. }));
        assert!(matches!(with("hyper_parameters", "{"), CheckpointError::Json { .. }));
        assert!(matches!(with("hyper_parameters", "{\"a\": NaN}"), CheckpointError::Json { .. }));
        assert!(matches!(with("shared", r#"{"loss.quantiles": "x"}"#), CheckpointError::Json { .. }));
        for contradiction in [
            r#"{"absent": ["a"]}"#,
            r#"{"loss.quantiles": ["out.bias"]}"#,
            r#"{"loss.quantiles": ["a", "a"]}"#,
        ] {
            assert!(matches!(with("shared", contradiction), CheckpointError::Field { .. }));
        }
        for key in ["nf_format", "model_class", "hyper_parameters"] {
            let mut file = whole.clone();
            file.metadata.remove(key);
            assert!(decode(file).is_err());
        }
    }

    #[test]
    fn file_names_give_aliases() {
        let alias = |name: &str| alias_of(Path::new(name));
        assert_eq!(alias("dir/my_model_12.safetensors"), Some("my_model".into()));
        for wrong in ["model.safetensors", "_0.safetensors", "model_0.ckpt"] {
            assert_eq!(alias(wrong), None);
        }
    }
}
