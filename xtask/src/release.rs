//! `cargo xtask release`: makes all that is handed out, from what is committed, and tries each of it in an empty place.
//!
//! What a step makes is put into `target/handed-out`. A step that this machine cannot do says why, at its place and in the summary.

mod basis;
mod licences;
mod place;
mod program;
mod steps;

use std::{fs, path::Path};

use anyhow::{Context, ensure};
use clap::{Args, builder::PossibleValuesParser};

use crate::{
    outcome::Outcome,
    system::{commit, target},
};

use basis::Release;
use steps::{STEPS, Step};

/// Arguments of `cargo xtask release`.
#[derive(Args)]
pub(crate) struct Options {
    /// Make only these (comma-separated).
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names(), conflicts_with = "skip")]
    only: Vec<String>,
    /// Make all but these (comma-separated).
    #[arg(long, value_name = "STEP", value_delimiter = ',', value_parser = step_names())]
    skip: Vec<String>,
    /// Print the steps and what each makes; make nothing.
    #[arg(long)]
    list: bool,
    /// Profile of the programs: `release` takes a third of the time, and is no release.
    #[arg(long, value_name = "NAME", default_value = "dist")]
    profile: String,
    /// Make it of files that no commit has, to try the steps.
    #[arg(long)]
    allow_dirty: bool,
}

fn step_names() -> PossibleValuesParser {
    PossibleValuesParser::new(STEPS.iter().map(|step| step.name))
}

pub(crate) fn run(
    options: &Options,
    chore: &dyn Fn(&str) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    let chosen = |step: &&Step| {
        let named = |list: &[String]| list.iter().any(|name| name == step.name);
        if options.only.is_empty() { !named(&options.skip) } else { named(&options.only) }
    };
    let chosen: Vec<&Step> = STEPS.iter().filter(chosen).collect();
    if options.list {
        chosen.iter().for_each(|step| println!("{:12} {}", step.name, step.makes));
        return Ok(Outcome::Done);
    }
    let commit = commit();
    ensure!(
        options.allow_dirty || !commit.contains(' '),
        "a release is made of a commit, and there are changes that none has; commit them, or try the steps by --allow-dirty"
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let target = target()?;
    let out = target.join("handed-out");
    fs::create_dir_all(&out).context("cannot make the folder of what is handed out")?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let release = Release { version, commit, profile: options.profile.clone(), root, target, out, chore };
    let mut summary = Vec::new();
    for step in chosen {
        println!("\n=== {}: {}", step.name, step.makes);
        let end = match (step.make)(&release) {
            Ok(Outcome::Done) => "made and tried".to_owned(),
            Ok(Outcome::PassedOver(why)) => {
                println!("passed over: {why}");
                format!("passed over: {why}")
            }
            Err(error) => return Err(error.context(format!("the step {} failed", step.name))),
        };
        summary.push((step.name, end));
    }
    println!("\n=== {} of foretell {}, in {}", release.commit, release.version, release.out.display());
    summary.iter().for_each(|(name, end)| println!("{name:12} {end}"));
    Ok(Outcome::Done)
}
