//! A model as it is served.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use foretell::{Error, Fitted};
use serde::Serialize;

use crate::forecast::note_warning;
use crate::joint_sizes::{JointSizes, MOST};
use crate::settings::EngineSettings;

/// A model as it is served.
pub(crate) struct ServedModel {
    pub(crate) facts: ModelFacts,
    /// It on all threads, and on one: the same numbers and the same forecasts.
    pub(crate) on_all_threads: Fitted,
    pub(crate) on_one_thread: Fitted,
    /// How many series it forecasts together without changing a bit.
    pub(crate) joint: JointSizes,
    stamp: Option<Stamp>,
}

/// The facts of a model that a request depends on.
#[derive(Clone, Debug, Serialize)]
pub struct ModelFacts {
    /// The name by which requests call it.
    pub name: String,
    /// The columns of its forecasts, without the suffixes of intervals.
    pub columns: Vec<String>,
    /// Steps that it forecasts by itself.
    pub h: usize,
    /// The frequency of its series; nothing of pretrained networks in a folder, which forecast data of any.
    pub freq: Option<String>,
    /// Names of the columns of ids, times and targets.
    pub id_col: String,
    /// The column of the times.
    pub time_col: String,
    /// The column of the values.
    pub target_col: String,
    /// Further columns that it reads.
    pub columns_read: Vec<String>,
    /// Those of them whose future rows a forecast needs.
    pub future_columns: Vec<String>,
    /// The format in which its weights are held.
    pub precision: String,
    /// How its intervals were calibrated, if they were.
    pub intervals: Option<String>,
}

impl ServedModel {
    pub(crate) fn load(name: &str, dir: &Path, settings: &EngineSettings) -> Result<Self, Error> {
        // Taken before the files are read: a change in between is seen at the next look.
        let stamp = Stamp::of(dir);
        let fitted = Fitted::load_within(dir, settings.memory.clone())?
            .weight_precision(settings.precision)?
            .on_warning(note_warning);
        let facts = ModelFacts::of(name, &fitted, settings);
        // What it holds itself is there already, and no part of what a request takes.
        let held = fitted.models().iter().map(|model| model.held_bytes()).sum();
        let fitted = fitted.max_memory(settings.own_memory().saturating_add(held));
        let on_all_threads = fitted.clone().threads(settings.threads)?;
        let on_one_thread = fitted.threads(1)?;
        warm_up([&on_all_threads, &on_one_thread]);
        Ok(Self { facts, on_all_threads, on_one_thread, joint: JointSizes::default(), stamp })
    }

    /// Whether its directory has changed since.
    pub(crate) fn is_changed(&self, dir: &Path) -> bool {
        // A directory that is gone has no successor yet.
        Stamp::of(dir).is_some_and(|stamp| Some(stamp) != self.stamp)
    }
}

/// Makes what the first requests would make, before there is one. A model that cannot forecast made-up values is served all the same, as
/// its first request will tell what is wrong.
fn warm_up(models: [&Fitted; 2]) {
    let forecasts = || {
        for (fitted, n_series) in models.into_iter().flat_map(|fitted| [(fitted, 1), (fitted, MOST)]) {
            let _ = fitted.warm_up(n_series);
        }
    };
    // A thread that ends leaves the buffers that it used to all others, and its panic to itself.
    thread::scope(|scope| {
        if let Ok(warming) = thread::Builder::new().name("warm-up".to_owned()).spawn_scoped(scope, forecasts)
        {
            let _ = warming.join();
        }
    });
}

impl ModelFacts {
    fn of(name: &str, fitted: &Fitted, settings: &EngineSettings) -> Self {
        let names = fitted.columns();
        let ensembles = fitted.ensembles().map(|(name, _)| name.to_owned());
        Self {
            name: name.to_owned(),
            columns: fitted.column_names().into_iter().chain(ensembles).collect(),
            h: fitted.h(),
            freq: fitted.freq_of_data().map(|freq| freq.to_string()),
            id_col: names.id.clone(),
            time_col: names.time.clone(),
            target_col: names.target.clone(),
            columns_read: fitted.columns_read(),
            future_columns: fitted.future_columns(),
            precision: settings.precision.name().to_owned(),
            intervals: fitted.prediction_intervals().map(|intervals| intervals.to_string()),
        }
    }
}

/// Sizes and times by which one state of a model's directory differs from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp([(u64, u64, Option<SystemTime>); 2]);

impl Stamp {
    fn of(dir: &Path) -> Option<Self> {
        let of = |path: PathBuf| {
            let metadata = fs::metadata(path).ok()?;
            Some((identity(&metadata), metadata.len(), metadata.modified().ok()))
        };
        Some(Self([of(dir.to_owned())?, of(dir.join("configuration.json"))?]))
    }
}

/// The number of a file or directory on its disk: one that was put in its place has another.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use foretell::{Forecaster, Freq, ModelSpec, Panel};

    use super::*;

    fn panel(n_series: usize) -> Panel {
        let wave = |phase: usize| (0..60).map(move |t| (t as f32 * 0.9 + phase as f32).sin() + 3.0).collect();
        let series = (0..n_series).map(|number| (format!("s{number:02}"), 0, wave(number)));
        Panel::from_series::<_, _, Vec<f32>>(Freq::parse("D").unwrap(), series).unwrap()
    }

    #[test]
    fn the_first_requests_find_all_copies_of_weights() {
        let spec = |name| ModelSpec::new(name, 4, 8).unwrap().set("max_steps", 2).unwrap();
        let small = [("encoder_hidden_size", 20), ("decoder_hidden_size", 20)];
        let lstm = small.into_iter().fold(spec("LSTM"), |spec, (name, size)| spec.set(name, size).unwrap());
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("model");
        Forecaster::new([spec("NHITS"), lstm]).unwrap().fit(&panel(2)).unwrap().save(&dir, false).unwrap();
        let settings = EngineSettings::default();
        let served = ServedModel::load("m", &dir, &settings).unwrap();
        let cold = Fitted::load(&dir).unwrap();
        let bytes = |fitted: &Fitted| fitted.models().iter().map(|model| model.weight_bytes()).sum::<usize>();
        let warm = bytes(&served.on_one_thread);
        assert_ne!(warm, bytes(&cold), "layers of NHITS are multiplied at its first forecast");
        for n_series in [1, 2, MOST] {
            for fitted in [&served.on_all_threads, &served.on_one_thread] {
                let [found, expected] =
                    [fitted, &cold].map(|fitted| fitted.predict(&panel(n_series), None).unwrap().columns);
                assert_eq!(found, expected, "{n_series} series");
                assert_eq!(bytes(fitted), warm, "{n_series} series");
            }
        }
        assert_eq!(bytes(&cold), warm);
    }
}
