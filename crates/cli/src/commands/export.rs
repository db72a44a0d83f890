//! `foretell export`: a trained network as a file that other programs run.

use std::path::PathBuf;

use clap::Args;
use foretell::Fitted;

use crate::args::MemoryArgs;
use crate::context::Context;
use crate::output::write_file;

/// Write a trained network as an ONNX file
///
/// The file forecasts as `foretell predict` does, in ONNX Runtime and whatever else reads ONNX: window scaling, exogenous columns and
/// quantiles are inside, and the batch may be of any size. Its inputs are insample_y and insample_mask, hist_exog, futr_exog and
/// stat_exog where the model reads any; its output is forecast. Names of columns and sizes are in its metadata.
///
/// It is the network alone: conformal intervals, ensembles, bounds and sums of a hierarchy are not part of it, nor are columns that
/// --features computes and the scaling of whole series (--local-scaler). What ONNX has no operation for is an error that names it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell export model --onnx nhits.onnx
  foretell export model --network LSTM --onnx lstm.onnx

docs/onnx.md has the shapes of inputs and output, a program that runs the file,
and which models can be exported.")]
pub(crate) struct Export {
    /// Directory that `foretell fit` or neuralforecast's `NeuralForecast.save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// File to write, .onnx
    #[arg(long, value_name = "FILE")]
    onnx: PathBuf,
    /// The network, where the directory holds several: the name of its column in forecasts
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Export {
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let fitted = Fitted::load_within(&self.model, self.memory.limit())?;
        let bytes = fitted.onnx(self.network.as_deref())?;
        write_file(context, &self.onnx, &bytes)?;
        if fitted.local_scalers()[0].is_some() {
            context.warning(
                "the model scales series as wholes, and the graph does not: give it scaled values, and scale its forecasts back",
            );
        }
        context.wrote(&self.onnx, &format!("a graph of {} bytes", bytes.len()));
        Ok(())
    }
}
