//! The training of Foretell0 by `foretell-pretraining`, built for speed.

use clap::Args;

use crate::system::{cargo, run as call};

#[derive(Args)]
pub(crate) struct Options {
    /// Arguments of the program, which `cargo xtask pretrain -- --help` lists: `--resume`, `--minutes`, `--steps`, `--export`,
    /// `--evaluate FOLDER`
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let program = ["run", "--release", "--package", "foretell-pretraining", "--bin", "pretrain", "--"];
    call(cargo().args(program).args(&options.arguments))
}
