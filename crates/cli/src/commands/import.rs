//! `foretell import`: from files of PyTorch's to a model directory.

use std::path::PathBuf;

use clap::Args;
use foretell::{Fitted, Freq, ImportOptions, Imported};

use crate::args::{MemoryArgs, directory};
use crate::context::Context;
use crate::failure::Usage;
use crate::saving::take;
use crate::setting::{Setting, any_setting};

/// Convert models of PyTorch, and of neuralforecast up to 3.2
///
/// Reads a checkpoint of PyTorch Lightning's (.ckpt), a state dictionary (.pt, .pth), or a directory that neuralforecast's
/// `NeuralForecast.save` wrote in version 3.2 or older. Nothing in them is executed: objects of Python's are passed over where
/// forecasts do not depend on them, and are an error elsewhere. The directory that it writes can be read by `foretell predict`,
/// and by neuralforecast 3.3's `NeuralForecast.load`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell import --from old-models --out model   # saved by neuralforecast 3.2
  foretell import --from NHITS_0.ckpt --freq D --out model
  foretell import --from epoch=9.ckpt --class LSTM --freq h --out model
  foretell import --from weights.pt --class MLP --set h=12 --set input_size=24 \\
    --set hidden_size=256 --freq MS --out model

A checkpoint holds the hyper-parameters; of a state dictionary all that differ
from their defaults are given by --set, h and input_size among them. Names and
shapes of tensors that are missing, or that the model does not have, are told.")]
pub(crate) struct Import {
    /// The file, or the directory of neuralforecast 3.2 or older
    #[arg(long, value_name = "FILE|DIR")]
    from: PathBuf,
    /// Class of the models, where neither the file's name nor its directory says it: NHITS, LSTM, ...
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Hyper-parameter as key=JSON, instead of the file's own; h and input_size too
    #[arg(long = "set", value_name = "KEY=JSON", value_parser = any_setting)]
    set: Vec<Setting>,
    /// Frequency of the data that the models were trained on, as in pandas: h, D, MS, 15min, 1, ... [default: the
    /// directory's]
    #[arg(long, value_name = "F", value_parser = Freq::parse)]
    freq: Option<Freq>,
    /// Directory to save the models in
    #[arg(long, value_name = "DIR", value_parser = directory())]
    out: PathBuf,
    /// Replace the model directory at --out
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Import {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        if let Some(Setting { key, .. }) = self.set.iter().find(|setting| setting.key.model.is_some()) {
            return Err(Usage(format!(
                "--set {key}: name the hyper-parameter alone, it is set for all models"
            ))
            .into());
        }
        let directory = take(&self.out, self.overwrite)?;
        let settings = self.set.iter().map(|setting| (setting.key.name.clone(), setting.value.clone()));
        let mut options = ImportOptions::new().settings(settings.collect()).max_memory(self.memory.limit());
        options.class = self.class.clone();
        options.freq = self.freq;
        let Imported { fitted, left_out } = Fitted::import(&self.from, &options)?;
        for what in left_out {
            context.warning(&format!("left out: {what}"));
        }
        fitted.save_at(&directory)?;
        context.wrote(directory.path(), &format!("the models {}", fitted.column_names().join(", ")));
        Ok(())
    }
}
