//! `foretell help reading`: the flags that say how the data are read, in full.

use clap::Args;

use crate::context::Context;
use crate::data_args::DataArgs;
use crate::failure::Usage;

/// How the data are read: the flags that all commands with --data take
///
/// This is no command but a page of help.
#[derive(Debug, Args)]
#[command(
    hide = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  foretell help reading
  foretell forecast --data sales.csv --h 14 --time-col day --target-col sales
  foretell forecast --data export.xlsx --sheet 2024 --skip-rows 3 --h 14"
)]
pub(crate) struct Reading {
    #[command(flatten)]
    data: DataArgs,
}

impl Reading {
    pub(crate) fn run(&self, _: &'static Context) -> anyhow::Result<()> {
        let data = self.data.shown();
        let message =
            format!("reading is a page of help and reads nothing: give --data {data} to another command");
        Err(Usage(message).into())
    }
}
