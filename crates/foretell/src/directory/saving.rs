//! Model directories in neuralforecast's format: foretell predicts from those that neuralforecast wrote, and neuralforecast
//! from those of foretell.

use std::path::Path;
use std::sync::Arc;

use foretell_calendar::Freq;
use foretell_checkpoint::{Checkpoint, Configuration, Frequency, ModelDirectory, ModelFile, PlainModel};
use foretell_data::{Categories, LocalScaler, Panel};
use foretell_estimator::{Estimator, EstimatorError, Learned, MemoryLimit, Trained, Workers};
use foretell_neural::{model_file, read_model};
use foretell_pretrained::load_folder;

use crate::columns::{ColumnNames, categorical};
use crate::conformal::Conformal;
use crate::directory::dataset;
use crate::directory::kept::Kept;
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::inputs::categories::{self, check_categorical};
use crate::inputs::local_scalers::LocalScalers;
use crate::inputs::series_levels::SeriesLevels;
use crate::memory::check_load;
use crate::registry::{HAS_NETWORKS, find_estimator, find_network};
use crate::trained_models::TrainedModels;
use crate::training::interruption::Interruption;
use crate::warning_listener::WarningListener;

/// Writes models to a directory, which appears whole or not at all.
pub(crate) fn save(
    trained: &TrainedModels,
    interruption: Option<&Interruption>,
    directory: &ModelDirectory,
) -> Result<(), Error> {
    put(trained, &checkpoint(trained, interruption), directory)
}

/// Writes a directory, which is read back before it is put in its place.
fn put(trained: &TrainedModels, checkpoint: &Checkpoint, directory: &ModelDirectory) -> Result<(), Error> {
    // What the program does not know by its name cannot be read by anyone yet.
    let is_known = |model: &FittedModel| match model.network() {
        Some(network) => find_network(network.spec().name()).is_some(),
        None => find_estimator(model.spec().name()).is_some(),
    };
    if !trained.models.iter().all(is_known) {
        return Ok(checkpoint.save_at(directory)?);
    }
    checkpoint.save_checked(directory, |written| {
        let unlimited = MemoryLimit::of_bytes(u64::MAX);
        let read = match checkpoint.dataset {
            Some(_) => load_with_panel(written, unlimited).map(drop),
            None => load(written, unlimited).map(drop),
        };
        let path = directory.path().to_owned();
        read.map_err(|source| Error::NotReadBack { path, source: source.into() })
    })
}

/// Writes models to a directory with the panel that they were trained on.
pub(crate) fn save_with_panel(
    trained: &TrainedModels,
    interruption: Option<&Interruption>,
    panel: &Panel,
    directory: &ModelDirectory,
) -> Result<(), Error> {
    // What the panel holds is kept beside its levels.
    let panel = &trained.held(panel);
    let trained = &TrainedModels { levels: SeriesLevels::of(panel).with(&trained.levels), ..trained.clone() };
    let mut checkpoint = checkpoint(trained, interruption);
    checkpoint.dataset = Some(dataset::store(trained, panel, &mut checkpoint.configuration)?);
    put(trained, &checkpoint, directory)
}

/// The models that [`load`] reads, and the panel of the directory if it has one.
pub(crate) fn load_with_panel(
    dir: &Path,
    limit: MemoryLimit,
) -> Result<(TrainedModels, Option<Interruption>, Option<Panel>), Error> {
    check_load(dir, &limit)?;
    if let Some(pretrained) = pretrained(dir, &limit)? {
        return Ok((pretrained, None, None));
    }
    let mut checkpoint = Checkpoint::load(dir)?;
    let configuration = &mut checkpoint.configuration;
    let stored = (checkpoint.dataset.take(), configuration.uids.take(), configuration.ds.take());
    let (trained, interruption) = restore_all(dir, checkpoint, limit)?;
    let panel = match stored {
        (Some(dataset), Some(uids), Some(ds)) => {
            let panel = dataset::restore(&trained, &dataset, [&uids, &ds]);
            Some(panel.map_err(|reason| Error::StoredPanel { path: dir.to_owned(), reason })?)
        }
        _ => None,
    };
    Ok((trained, interruption, panel))
}

/// Reads a directory.
pub(crate) fn load(dir: &Path, limit: MemoryLimit) -> Result<(TrainedModels, Option<Interruption>), Error> {
    check_load(dir, &limit)?;
    match pretrained(dir, &limit)? {
        Some(pretrained) => Ok((pretrained, None)),
        None => restore_all(dir, Checkpoint::load(dir)?, limit),
    }
}

/// The network of a folder in Hugging Face's layout, as models that were trained on no data: of any frequency, and of columns with the usual
/// names. Nothing if it is no such folder.
pub(crate) fn pretrained(dir: &Path, limit: &MemoryLimit) -> Result<Option<TrainedModels>, Error> {
    let Some(trained) = load_folder(dir).map_err(EstimatorError::from)? else { return Ok(None) };
    // The frequency stands for any ([`TrainedModels::freq_of_data`]).
    let configuration = Configuration::new(trained.estimator().horizon(), Frequency::Step(1));
    let models = vec![FittedModel::new(Arc::from(trained))];
    assemble(dir, configuration, models, limit.clone()).map(Some)
}

/// Reads the files of a directory.
pub(crate) fn from_files<'f>(
    files: impl IntoIterator<Item = (String, &'f [u8])>,
    limit: MemoryLimit,
) -> Result<(TrainedModels, Option<Interruption>), Error> {
    restore_all(Path::new("the files"), Checkpoint::from_files(files)?, limit)
}

/// Reads the bytes of a [`checkpoint`].
pub(crate) fn from_bytes(
    bytes: &[u8],
    limit: MemoryLimit,
) -> Result<(TrainedModels, Option<Interruption>), Error> {
    restore_all(Path::new("the bytes"), Checkpoint::from_bytes(bytes)?, limit)
}

fn restore_all(
    dir: &Path,
    checkpoint: Checkpoint,
    limit: MemoryLimit,
) -> Result<(TrainedModels, Option<Interruption>), Error> {
    let Checkpoint { configuration, models, plain_models, .. } = checkpoint;
    let fault =
        |alias: &str, reason: String| Error::Model { path: dir.to_owned(), alias: alias.to_owned(), reason };
    if !configuration.fitted {
        let first = models.first().map_or("", |model| &model.alias);
        return Err(fault(first, "it was saved before it was trained".to_owned()));
    }
    let networks = models.iter().map(|file| network(file).map_err(|reason| fault(&file.alias, reason)));
    let mut models: Vec<FittedModel> = networks.collect::<Result<_, _>>()?;
    for plain in plain_models {
        let (alias, place) = (plain.alias.clone(), plain.place);
        let model = restore(plain).map_err(|reason| fault(&alias, reason))?;
        models.insert(place.min(models.len()), model);
    }
    let interruption = Kept::as_far_as_readable(&configuration, models.len()).interruption;
    Ok((assemble(dir, configuration, models, limit)?, interruption))
}

/// The network of a file, or why there is none.
pub(crate) fn network(file: &ModelFile) -> Result<FittedModel, String> {
    if !HAS_NETWORKS {
        return Err(format!(
            "{} is a network, and this program was built without the feature `networks`",
            file.class
        ));
    }
    Ok(FittedModel::new(Arc::new(read_model(file)?)))
}

/// The model that is no network, or why there is none.
pub(crate) fn restore(plain: PlainModel) -> Result<FittedModel, String> {
    let entry = find_estimator(&plain.class).ok_or_else(|| {
        format!(
            "no model is called {}; a program's own model is registered by register_estimator before it is loaded",
            plain.class
        )
    })?;
    let mut estimator = (entry.new)(1);
    for (name, value) in plain.hyper_parameters {
        estimator.set(&name, value).map_err(|error| error.to_string())?;
    }
    let trained = (entry.restore)(estimator, Learned { series: plain.series, numbers: plain.learned })?;
    Ok(FittedModel::new(Arc::from(trained)))
}

/// The contents of a model directory.
pub(crate) fn checkpoint(trained: &TrainedModels, interruption: Option<&Interruption>) -> Checkpoint {
    let freq = match trained.freq.to_string() {
        step if step.parse::<i64>().is_ok() => Frequency::Step(step.parse().expect("just tried")),
        word => Frequency::Alias(word),
    };
    let mut configuration = Configuration::new(trained.h(), freq);
    let ColumnNames { id, time, target } = trained.pipeline.columns.clone();
    (configuration.id_col, configuration.time_col, configuration.target_col) = (id, time, target);
    let name = |scaler: Option<LocalScaler>| scaler.map(|scaler| scaler.name().to_owned());
    configuration.local_scaler_type = name(trained.pipeline.local_scalers.series);
    configuration.local_static_scaler_type = name(trained.pipeline.local_scalers.statics);
    [configuration.scalers, configuration.static_scalers] = trained.scalers.clone();
    configuration.categorical_vocab = categories::stored(&trained.vocabulary);
    if let Some((intervals, scores)) = trained.conformal.as_ref().map(Conformal::stored) {
        configuration.prediction_intervals = Some(intervals);
        configuration.conformity_scores = Some(scores);
    }
    let kept = Kept {
        pipeline: trained.pipeline.clone(),
        levels: trained.levels.clone(),
        training: trained.record.clone(),
        ensembles: trained.ensembles.clone(),
        interruption: interruption.cloned(),
    };
    kept.store(&mut configuration);
    let (mut models, mut plain_models) = (Vec::new(), Vec::new());
    for (place, model) in trained.models.iter().enumerate() {
        match model.network() {
            Some(network) => models.push(model_file(network)),
            None => plain_models.push(plain_model(place, model.trained())),
        }
    }
    Checkpoint { configuration, models, plain_models, dataset: None }
}

pub(crate) fn plain_model(place: usize, trained: &dyn Trained) -> PlainModel {
    let (estimator, Learned { series, numbers }) = (trained.estimator(), trained.learned());
    PlainModel {
        alias: estimator.alias().to_owned(),
        class: estimator.name().to_owned(),
        place,
        hyper_parameters: estimator.hyper_parameters(),
        series,
        learned: numbers,
    }
}

/// Models, and the settings in the configuration of the directory at `dir`.
pub(crate) fn assemble(
    dir: &Path,
    configuration: Configuration,
    models: Vec<FittedModel>,
    limit: MemoryLimit,
) -> Result<TrainedModels, Error> {
    let fault =
        |alias: &str, reason: String| Error::Model { path: dir.to_owned(), alias: alias.to_owned(), reason };
    let first = models[0].spec().alias().to_owned();
    let freq = match &configuration.freq {
        Frequency::Alias(word) => Freq::parse(word),
        Frequency::Step(step) => Freq::parse(&step.to_string()),
    };
    let freq = freq.map_err(|error| fault(&first, format!("freq: {error}")))?;
    let vocabulary =
        categories::read(&configuration.categorical_vocab).map_err(|reason| fault(&first, reason))?;
    let estimators: Vec<&dyn Estimator> = models.iter().map(|model| model.trained().estimator()).collect();
    check_categorical(&estimators)?;
    let categorical = categorical(estimators.iter().copied());
    if let Some(column) = categorical.iter().find(|column| !vocabulary.contains_key(*column)) {
        return Err(fault(&first, format!("categorical_vocab_ has no categories of column {column}")));
    }
    for model in estimators {
        let room = |(column, categories): &(&String, &Categories)| {
            model.columns_read().cat.contains(column)
                && model.most_categories(column).is_some_and(|most| most < categories.len())
        };
        if let Some((column, _)) = vocabulary.iter().find(room) {
            let reason = format!("categorical_vocab_ has more categories of column {column} than it embeds");
            return Err(fault(model.alias(), reason));
        }
    }
    let kept = Kept::read(&configuration, models.len()).map_err(|reason| fault(&first, reason))?;
    let Kept { mut pipeline, levels, training: record, ensembles, .. } = kept;
    let scaler = |setting: &str, name: &Option<String>| {
        let scaler = name.as_deref().map(str::parse::<LocalScaler>).transpose();
        scaler.map_err(|error| fault(&first, format!("{setting}: {error}")))
    };
    let models = match pipeline.settings.dropout {
        None => models,
        Some(samples) => models.iter().map(|model| model.with_dropout_samples(samples)).collect(),
    };
    pipeline.local_scalers = LocalScalers {
        series: scaler("local_scaler_type", &configuration.local_scaler_type)?,
        statics: scaler("local_static_scaler_type", &configuration.local_static_scaler_type)?,
    };
    let conformal = match (&configuration.prediction_intervals, configuration.conformity_scores) {
        (Some(intervals), Some(scores)) => {
            let conformal = Conformal::new(intervals, models[0].spec().h(), &configuration.id_col, scores);
            Some(conformal.map_err(|reason| fault(&first, reason))?)
        }
        _ => None,
    };
    pipeline.columns = ColumnNames {
        id: configuration.id_col,
        time: configuration.time_col,
        target: configuration.target_col,
    };
    Ok(TrainedModels {
        models,
        freq,
        pipeline,
        levels,
        vocabulary,
        scalers: [configuration.scalers, configuration.static_scalers],
        workers: Workers::new(0)?,
        raw_quantiles: false,
        conformal,
        ensembles,
        record,
        memory: limit,
        warnings: WarningListener::default(),
    })
}
