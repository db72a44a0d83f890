//! `foretell completions`: scripts by which shells complete the command line.

use clap::Args;
use clap_complete::Shell;

use crate::context::Context;
use crate::output::print;

/// Print the script by which a shell completes commands and flags
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  foretell completions bash \\
    > ~/.local/share/bash-completion/completions/foretell
  foretell completions zsh > ~/.zfunc/_foretell
  foretell completions fish > ~/.config/fish/completions/foretell.fish
  foretell completions powershell >> $PROFILE

Of zsh the folder has to be among those of $fpath, before compinit is called.")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints the script for this command line.
    pub(crate) fn run(&self, context: &'static Context) -> anyhow::Result<()> {
        let mut cli = (context.command_line)();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut cli, "foretell", &mut script);
        print(script)
    }
}
