//! The program for a system, as an archive with what belongs beside it, and the Debian package.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use super::{
    basis::Release,
    licences::OTHERS,
    place::{demo, demo_alone},
};
use crate::{
    outcome::Outcome,
    python::{environment_of, finds_programs_of},
    sysroot,
    system::{cargo, empty, in_path, output, run, write},
};

/// A system that the program is made for.
pub(super) struct System {
    pub(super) triple: &'static str,
    /// The processor, as Debian calls it.
    debian: &'static str,
    /// The linker, where it is not zig.
    linker: Option<&'static str>,
    /// What starts it, where this machine cannot.
    emulator: Option<(&'static str, &'static str)>,
}

pub(super) const LINUX: System =
    System { triple: "x86_64-unknown-linux-musl", debian: "amd64", linker: None, emulator: None };
pub(super) const LINUX_ARM: System = System {
    triple: "aarch64-unknown-linux-musl",
    debian: "arm64",
    linker: None,
    emulator: Some(("qemu-aarch64", "qemu-user")),
};
pub(super) const WINDOWS: System = System {
    triple: "x86_64-pc-windows-gnu",
    debian: "",
    linker: Some("x86_64-w64-mingw32-gcc"),
    emulator: Some(("wine", "wine")),
};

impl System {
    fn is_windows(&self) -> bool {
        self.triple.contains("windows")
    }

    /// Builds the program, or says why it cannot be.
    fn build(&self, release: &Release<'_>) -> anyhow::Result<Result<PathBuf, String>> {
        let package = "foretell-cli";
        let built = match self.linker {
            None => by_zig(release, package, self.triple, "")?,
            Some(linker) if in_path(linker).is_none() => {
                Err(format!("`{linker}` is not installed; it is in gcc-mingw-w64-x86-64"))
            }
            Some(linker) => by(release, package, self.triple, linker)?,
        };
        Ok(built.map(|folder| folder.join(if self.is_windows() { "foretell.exe" } else { "foretell" })))
    }

    /// A command that starts a program of it on this machine, or which package is missing.
    fn starts(&self, program: &Path) -> Result<Box<dyn Fn() -> Command>, String> {
        let program = program.to_owned();
        match self.emulator {
            None => Ok(Box::new(move || Command::new(&program))),
            Some((emulator, package)) => {
                let found = in_path(emulator).ok_or_else(|| {
                    format!("made, not tried: `{emulator}` is not installed; it is in {package}")
                })?;
                Ok(Box::new(move || {
                    let mut command = Command::new(&found);
                    command.arg(&program).env("WINEDEBUG", "-all");
                    command
                }))
            }
        }
    }
}

/// Builds a package for a system, with zig as compiler and linker of C: it has musl, and glibc from a version on (`.2.28`). The folder of what
/// was built, or why it cannot be.
pub(super) fn by_zig(
    release: &Release<'_>,
    package: &str,
    triple: &str,
    glibc: &str,
) -> anyhow::Result<Result<PathBuf, String>> {
    let mut build = match zig(release, "zigbuild")? {
        Ok(build) => build,
        Err(why) => return Ok(Err(why)),
    };
    build.args(["--target", &format!("{triple}{glibc}")]);
    built(release, package, triple, "", build)
}

/// Cargo with zig as compiler and linker of C, or why there is none.
fn zig(release: &Release<'_>, command: &str) -> anyhow::Result<Result<Command, String>> {
    let Some(python) = environment_of(&release.target, "zig", &["cargo-zigbuild>=0.24", "ziglang"])? else {
        return Ok(Err("cargo-zigbuild and ziglang could not be installed from PyPI".to_owned()));
    };
    let mut cargo = Command::new(python.with_file_name("cargo-zigbuild"));
    cargo.arg(command);
    finds_programs_of(&mut cargo, &python)?;
    Ok(Ok(cargo))
}

/// Systems whose programs this machine does not start: all is compiled for them, but for the addon, whose build script wants a library of Node.
const ELSEWHERE: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Compiles everything for other systems, tests too, without linking. Zig has the headers that the C of dependencies needs.
pub(super) fn check(release: &Release<'_>) -> anyhow::Result<Outcome> {
    for triple in ELSEWHERE {
        let flags = match sysroot::flags(triple, "")? {
            Ok(flags) => flags,
            Err(why) => return Ok(Outcome::PassedOver(why)),
        };
        let mut check = match zig(release, "check")? {
            Ok(check) => check,
            Err(why) => return Ok(Outcome::PassedOver(why)),
        };
        check
            .args([
                "--locked", "--workspace", "--exclude", "foretell-node", "--all-targets", "--target", triple,
            ])
            .env("CARGO_TARGET_DIR", release.target.join("release-built"))
            .env(variable(triple, "RUSTFLAGS"), flags);
        run(&mut check)?;
        println!("it compiles for {triple}");
    }
    Ok(Outcome::Done)
}

/// Builds a package for a system with a linker of it, alone: without libraries that come with the compiler.
fn by(
    release: &Release<'_>,
    package: &str,
    triple: &str,
    linker: &str,
) -> anyhow::Result<Result<PathBuf, String>> {
    let mut build = cargo();
    build.args(["build", "--target", triple]).env(variable(triple, "LINKER"), linker);
    built(release, package, triple, "-C target-feature=+crt-static", build)
}

/// Cargo's variable for a target.
fn variable(triple: &str, name: &str) -> String {
    format!("CARGO_TARGET_{}_{name}", triple.replace('-', "_").to_uppercase())
}

/// The folder of what a command of cargo builds of a package, or why there is no standard library for its target.
fn built(
    release: &Release<'_>,
    package: &str,
    triple: &str,
    flags: &str,
    mut build: Command,
) -> anyhow::Result<Result<PathBuf, String>> {
    let found = match sysroot::flags(triple, "")? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    let target = release.target.join("release-built");
    build
        .args(["--locked", "--package", package, "--profile", &release.profile])
        .env("CARGO_TARGET_DIR", &target)
        .env("FORETELL_COMMIT", &release.commit)
        .env(variable(triple, "RUSTFLAGS"), format!("{found} {flags}").trim());
    run(&mut build)?;
    // The folder of the profile `dev` has another name.
    let profile = if release.profile == "dev" { "debug" } else { &release.profile };
    Ok(Ok(target.join(triple).join(profile)))
}

/// Makes an archive of the program for a system, and tries it.
pub(super) fn archive(release: &Release<'_>, system: &System) -> anyhow::Result<Outcome> {
    // Before half an hour of compiling.
    let others = release.out.join(OTHERS);
    ensure!(others.is_file(), "{} is missing; run the step licences first", others.display());
    let program = match system.build(release)? {
        Ok(program) => program,
        Err(why) => return Ok(Outcome::PassedOver(why)),
    };
    let name = format!("foretell-{}-{}", release.version, system.triple);
    let home = empty(release.target.join("release-tried").join(system.triple))?;
    let folder = empty(home.join(&name))?;
    let starts = system.starts(&program);
    let file = program.file_name().context("a program has a name")?;
    fs::copy(&program, folder.join(file)).context("cannot copy the program")?;
    for beside in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(release.root.join(beside), folder.join(beside))
            .with_context(|| format!("cannot copy {beside}"))?;
    }
    let starts = starts.and_then(|starts| match starts().arg("-V").status() {
        // What wine says of a library that it lacks: `bcryptprimitives.dll`, which Rust's programs need, before Wine 9.
        Ok(status) if status.code() == Some(53) => {
            Err("made, not tried: this wine lacks a library of Windows; Wine 9 has all that are needed"
                .to_owned())
        }
        _ => Ok(starts),
    });
    if let Ok(starts) = &starts {
        beside(starts, &folder)?;
    }
    fs::copy(&others, folder.join(OTHERS)).context("cannot copy the licences of others")?;
    let archive = release.out.join(format!("{name}.tar.gz"));
    output(Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(&home).arg(&name))?;
    let megabytes = fs::metadata(&program)?.len() as f64 / 1e6;
    println!("{}: the program has {megabytes:.1} MB", archive.display());
    let starts = match starts {
        Ok(starts) => starts,
        Err(why) => return Ok(Outcome::PassedOver(why)),
    };
    // As it is unpacked by those who get it.
    let unpacked = empty(home.join("unpacked"))?;
    output(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&unpacked))?;
    let told = match system.emulator {
        None => demo_alone(&unpacked, &format!("/{name}/foretell"))?,
        Some(_) => None,
    };
    let told = match told {
        Some(told) => told,
        None => demo(starts, &unpacked)?,
    };
    println!("{told}");
    ensure!(told.contains(&release.commit), "the program names another commit than {}", release.commit);
    Ok(Outcome::Done)
}

/// Writes completions and manual pages, as the program has them.
fn beside(starts: &dyn Fn() -> Command, folder: &Path) -> anyhow::Result<()> {
    for (shell, file) in [
        ("bash", "foretell"),
        ("zsh", "_foretell"),
        ("fish", "foretell.fish"),
        ("powershell", "foretell.ps1"),
    ] {
        let text = output(starts().args(["completions", shell]))?;
        write(&folder.join("completions").join(shell).join(file), text)?;
    }
    output(starts().args(["man", "--out", "man1"]).current_dir(folder))?;
    Ok(())
}

/// Makes a Debian package of the static program's archive, installs it into an empty root, and tries it there.
pub(super) fn debian(release: &Release<'_>, system: &System) -> anyhow::Result<Outcome> {
    let name = format!("foretell-{}-{}", release.version, system.triple);
    let made = release.target.join("release-tried").join(system.triple).join("unpacked").join(name);
    if !made.is_dir() {
        return Ok(Outcome::PassedOver("the static program was not made".to_owned()));
    }
    let Some(dpkg) = in_path("dpkg-deb") else {
        return Ok(Outcome::PassedOver("`dpkg-deb` is not installed; it is in dpkg".to_owned()));
    };
    let home = empty(release.target.join("release-tried/deb"))?;
    let tree = home.join("tree");
    let files = [
        ("foretell", "usr/bin/foretell"),
        ("completions/bash/foretell", "usr/share/bash-completion/completions/foretell"),
        ("completions/zsh/_foretell", "usr/share/zsh/vendor-completions/_foretell"),
        ("completions/fish/foretell.fish", "usr/share/fish/vendor_completions.d/foretell.fish"),
        ("README.md", "usr/share/doc/foretell/README.md"),
        (OTHERS, "usr/share/doc/foretell/THIRD-PARTY.txt"),
    ];
    for (from, to) in files {
        place(&made.join(from), &tree.join(to))?;
    }
    for page in fs::read_dir(made.join("man1")).context("there are no manual pages")? {
        let page = page?;
        let to = tree.join("usr/share/man/man1").join(page.file_name());
        place(&page.path(), &to)?;
        output(Command::new("gzip").args(["-9", "-n"]).arg(to))?;
    }
    let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(|file| fs::read_to_string(made.join(file)));
    let [mit, apache] = licences;
    write(&tree.join("usr/share/doc/foretell/copyright"), format!("{}\n\n{}", mit?, apache?))?;
    let kilobytes: u64 = fs::metadata(tree.join("usr/bin/foretell"))?.len() / 1024;
    let control = format!(
        "Package: foretell\nVersion: {}\nArchitecture: {}\nMaintainer: The foretell developers <foretell@localhost>\n\
         Installed-Size: {kilobytes}\nSection: science\nPriority: optional\nHomepage: https://github.com/foretell/foretell\n\
         Description: time-series forecasting on the command line\n Trains and serves classical models, Prophet and the networks \
         of\n neuralforecast from files of CSV, Parquet and workbooks. One static program.\n",
        release.version, system.debian
    );
    write(&tree.join("DEBIAN/control"), control)?;
    let package = release.out.join(format!("foretell_{}_{}.deb", release.version, system.debian));
    output(Command::new(dpkg).args(["--root-owner-group", "--build"]).arg(&tree).arg(&package))?;
    let root = empty(home.join("root"))?;
    fs::create_dir_all(root.join("var/lib/dpkg/updates")).context("cannot make an empty root")?;
    for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        write(&root.join(file), "")?;
    }
    let mut install = Command::new("dpkg");
    install
        .arg(format!("--root={}", root.display()))
        .args(["--force-not-root", "--force-bad-path", "--log=/dev/null"]);
    output(install.arg("--install").arg(&package))?;
    match demo_alone(&root, "/usr/bin/foretell")? {
        Some(told) => {
            ensure!(
                told.contains(&release.commit),
                "the program is of another commit than {}",
                release.commit
            );
            println!("{}: {}", package.display(), told.lines().next().unwrap_or_default());
        }
        None => return Ok(Outcome::PassedOver("made, not tried: `unshare` lets none be alone".to_owned())),
    }
    Ok(Outcome::Done)
}

fn place(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}
