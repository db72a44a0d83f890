//! A folder in Hugging Face's layout: which network it is of, and its weights. Nothing in it is executed, and nothing else is read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crc32fast::Hasher;
use foretell_checkpoint::CheckpointError;
use foretell_files::read_regular;
use serde_json::Value;

use crate::bolt::{Bolt, BoltConfig};
use crate::chronos2::{Chronos2, Chronos2Config};
use crate::config::Checks;
use crate::error::PretrainedError;
use crate::fracast::{Fracast, FracastConfig};
use crate::network::PretrainedNetwork;
use crate::timesfm::{TimesFm, TimesFmConfig};
use crate::tirex::{TiRex, TiRexConfig};
use crate::weights::Weights;

const CONFIG: &str = "config.json";

/// Files of weights, of which the first that is there is read.
const WEIGHTS: [&str; 2] = ["model.safetensors", "model.int8.safetensors"];

/// What weights in several parts have in place of their file.
const INDEX: &str = "model.safetensors.index.json";

/// A longer config.json is no network's.
const LONGEST_CONFIG: u64 = 1 << 22;

/// A network that was read from its folder.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) network: Arc<dyn PretrainedNetwork>,
    /// Numbers of its weights.
    pub(crate) parameters: usize,
    /// The CRC-32 of its files.
    pub(crate) checksum: u32,
}

/// Whether a folder may be one of a pretrained network: it has a config.json, and no model directory of foretell's or
/// neuralforecast's.
pub fn is_pretrained_folder(folder: &Path) -> bool {
    let has = |file: &str| folder.join(file).is_file();
    has(CONFIG) && !has("configuration.json") && !has("configuration.pkl")
}

/// Sizes and times of the files, by which it is told whether they are still those that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    folder: PathBuf,
    files: [Option<(u64, SystemTime)>; 3],
}

impl Read {
    fn of(folder: &Path) -> Self {
        let files = [CONFIG, WEIGHTS[0], WEIGHTS[1]].map(|file| {
            let metadata = folder.join(file).metadata().ok()?;
            Some((metadata.len(), metadata.modified().ok()?))
        });
        Self { folder: folder.to_owned(), files }
    }
}

/// The network that was opened last: a model is built several times, for windows of cross-validation and for copies on fewer threads.
static LAST: Mutex<Option<(Read, Opened)>> = Mutex::new(None);

/// The network in a folder.
pub(crate) fn open(folder: &Path) -> Result<Opened, PretrainedError> {
    let read = Read::of(folder);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, opened)) = last.as_ref().filter(|(known, _)| *known == read) {
        return Ok(opened.clone());
    }
    let opened = read_folder(folder)?;
    *last = Some((read, opened.clone()));
    Ok(opened)
}

/// What a config.json is of.
enum Network {
    Fracast(FracastConfig),
    Bolt(BoltConfig),
    Chronos2(Chronos2Config),
    TimesFm(TimesFmConfig),
    TiRex(TiRexConfig),
}

impl Network {
    fn of(text: &[u8], path: &Path) -> Result<Self, PretrainedError> {
        let checks = Checks(path);
        let document: Value = checks.parse(text)?;
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let family = word(&document["model"]["family"]);
        let named = word(&document["architectures"][0]).or_else(|| word(&document["model_type"]));
        match (family.as_deref(), named.as_deref()) {
            (Some("fracast"), _) => Ok(Self::Fracast(FracastConfig::parse(text, &checks)?)),
            (_, Some("ChronosBoltModelForForecasting")) => {
                Ok(Self::Bolt(checks.checked(text, BoltConfig::check)?))
            }
            (_, Some("Chronos2Model")) => Ok(Self::Chronos2(checks.checked(text, Chronos2Config::check)?)),
            (_, Some("TimesFm2_5ModelForPrediction")) => {
                Ok(Self::TimesFm(checks.checked(text, TimesFmConfig::check)?))
            }
            (_, Some("TiRexZero")) => Ok(Self::TiRex(checks.checked(text, TiRexConfig::check)?)),
            (family, named) => Err(PretrainedError::UnknownNetwork {
                path: path.to_owned(),
                found: family.or(named).unwrap_or("nothing that it names").chars().take(80).collect(),
                known: "Fracast-0 (model.family fracast), Chronos-Bolt (architectures ChronosBoltModelForForecasting), Chronos-2 \
                        (architectures Chronos2Model), TimesFM 2.5 (architectures TimesFm2_5ModelForPrediction) and TiRex (architectures TiRexZero)",
            }),
        }
    }

    fn with(self, weights: &mut Weights) -> Result<Arc<dyn PretrainedNetwork>, PretrainedError> {
        Ok(match self {
            Self::Fracast(config) => Arc::new(Fracast::new(config, weights)?),
            Self::Bolt(config) => Arc::new(Bolt::new(config, weights)?),
            Self::Chronos2(config) => Arc::new(Chronos2::new(config, weights)?),
            Self::TimesFm(config) => Arc::new(TimesFm::new(config, weights)?),
            Self::TiRex(config) => Arc::new(TiRex::new(config, weights)?),
        })
    }
}

/// The content of the `config.json` in a folder, and its path.
fn read_config(folder: &Path) -> Result<(Vec<u8>, PathBuf), PretrainedError> {
    let config_path = folder.join(CONFIG);
    if config_path.metadata().is_ok_and(|metadata| metadata.len() > LONGEST_CONFIG) {
        let reason = format!("it has more than {LONGEST_CONFIG} bytes");
        return Err(PretrainedError::Config { path: config_path, reason });
    }
    Ok((read_regular(&config_path)?, config_path))
}

/// Whether the network in a folder reads columns beside the target, by its `config.json`; nothing if that cannot be read.
pub(crate) fn reads_columns(folder: &Path) -> Option<bool> {
    let network = read_config(folder).and_then(|(config, path)| Network::of(&config, &path));
    network.ok().map(|network| matches!(network, Network::Chronos2(_)))
}

/// The file of weights in a folder, if there is one.
pub(crate) fn weights_file(folder: &Path) -> Option<PathBuf> {
    WEIGHTS.iter().map(|file| folder.join(file)).find(|path| path.exists())
}

fn read_folder(folder: &Path) -> Result<Opened, PretrainedError> {
    let (config, config_path) = read_config(folder)?;
    let network = Network::of(&config, &config_path)?;
    let Some(path) = weights_file(folder) else {
        let path = folder.join(WEIGHTS[0]);
        // Which other files an index names is not followed.
        let hint = match folder.join(INDEX).exists() {
            true => {
                "weights in several parts are not read; put them together in this file, as save_file of safetensors does"
            }
            false => {
                "weights are read from a file in the layout of safetensors alone; pickles (pytorch_model.bin, model.ckpt) are not opened"
            }
        };
        return Err(CheckpointError::Missing { path, hint }.into());
    };
    let mut weights = Weights::open(&path)?;
    let parameters = weights.count();
    let network = network.with(&mut weights)?;
    let file = weights.file();
    let mut hasher = Hasher::new();
    hasher.update(&(config.len() as u64).to_le_bytes());
    hasher.update(&config);
    hasher.update(&file.file_size().to_le_bytes());
    file.each_piece(|piece| hasher.update(piece))?;
    // The network is of one reading, the checksum of another.
    file.check_unchanged()?;
    Ok(Opened { network, parameters, checksum: hasher.finalize() })
}
