//! `foretell man`: the help of all commands as manual pages.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use clap_mangen::Man;

use crate::args::directory;
use crate::context::Context;
use crate::help::arranged;
use crate::output::write_file;

/// Write the help of all commands as manual pages
///
/// A page for the program, foretell.1, and one for each command, as foretell-fit.1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell man --out ~/.local/share/man/man1
  foretell man --out pages && man -l pages/foretell-fit.1")]
pub(crate) struct WriteMan {
    /// Directory to write to; other files in it stay
    #[arg(long, value_name = "DIR", value_parser = directory())]
    out: PathBuf,
}

impl WriteMan {
    /// Writes the pages of this command line.
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let mut cli = arranged((context.command_line)()).disable_help_subcommand(true);
        // The names of pages are those of commands with that of the program before it.
        cli.build();
        fs::create_dir_all(&self.out).with_context(|| format!("cannot make {}", self.out.display()))?;
        let commands: Vec<&clap::Command> = std::iter::once(&cli).chain(cli.get_subcommands()).collect();
        for command in &commands {
            let mut page = Vec::new();
            let man = Man::new((*command).clone());
            man.render(&mut page)?;
            write_file(context, &self.out.join(man.get_filename()), &page)?;
        }
        context.wrote(&self.out, &format!("{} pages", commands.len()));
        Ok(())
    }
}
