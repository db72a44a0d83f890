//! The models that are served, each replaced as a whole when its directory changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use foretell::jiff::Timestamp;
use serde_json::json;

use crate::anew::NAME;
use crate::error::{EngineError, EngineStartError};
use crate::model::{ModelFacts, ServedModel};
use crate::settings::EngineSettings;

/// The models that are served, by name.
pub(crate) struct Models {
    served: BTreeMap<String, Place>,
}

/// A model and where it came from.
struct Place {
    dir: PathBuf,
    model: RwLock<Arc<ServedModel>>,
}

/// A look at the directories found a change.
#[derive(Debug)]
pub enum Reload {
    /// The model of this name was replaced.
    Replaced(String),
    /// The model of this name stays unchanged, since what is in its directory cannot be loaded.
    Failed(String, foretell::Error),
}

impl Reload {
    /// A line of JSON for a log.
    pub fn line(&self) -> String {
        let (name, error) = match self {
            Self::Replaced(name) => (name, None),
            Self::Failed(name, error) => (name, Some(error.to_string())),
        };
        let time = Timestamp::now().to_string();
        json!({ "time": time, "event": "reload", "model": name, "error": error }).to_string()
    }
}

impl Models {
    pub(crate) fn load(
        models: impl IntoIterator<Item = (impl Into<String>, impl Into<PathBuf>)>,
        settings: &EngineSettings,
    ) -> Result<Self, EngineStartError> {
        let mut served = BTreeMap::new();
        for (name, dir) in models {
            let (name, dir): (String, PathBuf) = (name.into(), dir.into());
            if name.is_empty() || name.len() > 100 {
                return Err(EngineStartError::Name(name));
            }
            if served.contains_key(&name) {
                return Err(EngineStartError::TwoModels(name));
            }
            let model = match ServedModel::load(&name, &dir, settings) {
                Ok(model) => RwLock::new(Arc::new(model)),
                Err(source) => return Err(EngineStartError::Load { name, path: dir, source: source.into() }),
            };
            served.insert(name, Place { dir, model });
        }
        Ok(Self { served })
    }

    /// Whether a request that names this model, or none, is for the models that suit its series: where no model is served, or where
    /// it asks for that and no model is called so.
    pub(crate) fn is_anew(&self, name: Option<&str>) -> bool {
        match name {
            None => self.served.is_empty(),
            Some(name) => name == NAME && !self.served.contains_key(name),
        }
    }

    /// The model of that name, or the only one. The one who has it keeps it while another takes its place.
    pub(crate) fn find(&self, name: Option<&str>) -> Result<Arc<ServedModel>, EngineError> {
        let place = match name {
            Some(name) => self.served.get(name),
            None => self.served.values().next().filter(|_| self.served.len() == 1),
        };
        let unknown = || EngineError::UnknownModel {
            asked: name.map(str::to_owned),
            known: self.served.keys().cloned().collect(),
        };
        place.map(Place::current).ok_or_else(unknown)
    }

    pub(crate) fn facts(&self) -> Vec<ModelFacts> {
        self.served.values().map(|place| place.current().facts.clone()).collect()
    }

    /// Looks at the directories, and replaces models whose directories have changed.
    pub(crate) fn reload(&self, settings: &EngineSettings, mut tell: impl FnMut(Reload)) {
        for (name, place) in &self.served {
            if !place.current().is_changed(&place.dir) {
                continue;
            }
            match ServedModel::load(name, &place.dir, settings) {
                Ok(model) => {
                    *place.model.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(model);
                    tell(Reload::Replaced(name.clone()));
                }
                Err(error) => tell(Reload::Failed(name.clone(), error)),
            }
        }
    }
}

impl Place {
    fn current(&self) -> Arc<ServedModel> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
