//! The kinds of pretrained networks, as entries by which programs find them.

use std::path::Path;

use foretell_checkpoint::OpenTensors;
use foretell_estimator::{Estimator, EstimatorEntry, Trained};

use crate::error::PretrainedError;
use crate::estimator::{Kind, Pretrained, downcast};
use crate::folder::{Opened, is_pretrained_folder, open, reads_columns, weights_file};
use crate::foretell0;
use crate::settings::PretrainedSettings;

/// A network in a folder of the user's.
static FOLDER: Kind = Kind {
    name: "Pretrained",
    has_folder: true,
    reads_columns: |settings| settings.folder.as_deref().and_then(reads_columns),
    open: |settings| open(settings.folder.as_deref().ok_or(PretrainedError::NoFolder)?),
};

/// The entry of networks from folders: a model of them is found by its folder ([`of_folder`]), and saved under this name.
pub const FOLDERS: EstimatorEntry = EstimatorEntry {
    name: "Pretrained",
    paper: "networks that others trained, from folders of their weights: Chronos-2, which reads columns, Chronos-Bolt, Fracast-0, TimesFM 2.5 and TiRex",
    new: |h| Box::new(Pretrained::of(&FOLDER, PretrainedSettings { h, ..PretrainedSettings::default() })),
    restore: |estimator, learned| {
        let restored = downcast(estimator)?.restored(&learned).map_err(|error| error.to_string())?;
        Ok(Box::new(restored))
    },
};

/// Our own network, whose weights are part of the program.
static FORETELL0: Kind = Kind {
    name: "Foretell0",
    has_folder: false,
    reads_columns: |_| Some(false),
    open: |_| {
        let network = foretell0::bundled();
        let parameters = network.params().table().numel();
        Ok(Opened { network, parameters, checksum: crc32fast::hash(foretell0::WEIGHTS) })
    },
};

/// The networks that need no folder.
pub const ESTIMATORS: &[EstimatorEntry] = &[EstimatorEntry {
    name: "Foretell0",
    paper: "a patch transformer of our own, trained on synthetic series; on yours as well where max_steps is set",
    new: |h| Box::new(Pretrained::of(&FORETELL0, PretrainedSettings { h, ..PretrainedSettings::default() })),
    restore: |estimator, learned| Ok(Box::new(downcast(estimator)?.restored_own(&learned)?)),
}];

/// An estimator of the network in a folder, to forecast `h` steps; nothing if the path is not of a folder with a `config.json`. The
/// weights are read when it is fitted.
pub fn of_folder(folder: &Path, h: usize) -> Option<Box<dyn Estimator>> {
    is_pretrained_folder(folder).then(|| {
        // A directory may be loaded in another place than it was saved in.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let settings = PretrainedSettings { h, folder: Some(folder), ..PretrainedSettings::default() };
        Box::new(Pretrained::of(&FOLDER, settings)) as Box<dyn Estimator>
    })
}

/// The network in a folder, ready to forecast as many steps as it does in one pass, or the program's own, by its name where no folder is
/// called so; nothing if the path is of neither.
///
/// # Errors
/// If a file is missing or damaged, or of a network that is not read.
pub fn load_folder(folder: &Path) -> Result<Option<Box<dyn Trained>>, PretrainedError> {
    let (kind, folder) = match is_pretrained_folder(folder) {
        true => (&FOLDER, Some(std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))),
        false if folder == Path::new(FORETELL0.name) && !folder.exists() => (&FORETELL0, None),
        false => return Ok(None),
    };
    let settings = PretrainedSettings { folder, ..PretrainedSettings::default() };
    let h = (kind.open)(&settings)?.network.horizon();
    Ok(Some(Box::new(Pretrained::of(kind, PretrainedSettings { h, ..settings }).trained()?)))
}

/// Numbers of the weights in a folder, and of the largest of their tensors, by the header of their file; nothing if the path is of no such
/// folder, or the file cannot be read.
pub fn numbers_in(folder: &Path) -> Option<[u64; 2]> {
    let path = weights_file(folder).filter(|_| is_pretrained_folder(folder))?;
    let tensors = OpenTensors::open(&path).ok()?;
    let sizes = || tensors.sizes().map(|(_, numbers)| numbers as u64);
    Some([sizes().sum(), sizes().max().unwrap_or(0)])
}
