//! What commands write: never over what they read, never in part, and told beforehand where it cannot be.

mod test_directory;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;

use test_directory::{LONG, SMALL, TestDirectory, rows, stderr};

/// A model, and a file of future columns that its training data have.
fn trained() -> TestDirectory {
    let desk = TestDirectory::new();
    desk.ok(&format!("fit {LONG} --model NLinear {SMALL} --log none --out model"));
    desk
}

fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn overwriting_replaces_models_and_nothing_else() {
    let desk = trained();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log none --overwrite --out");
    desk.put("model/thesis.txt", "years of work");
    let message = desk.fails(1, &format!("{fit} model"));
    assert!(message.contains("thesis.txt") && message.contains("would delete"), "{message}");
    assert_eq!(desk.read("model/thesis.txt"), "years of work");
    fs::remove_file(desk.path("model/thesis.txt")).unwrap();
    desk.ok(&format!("{fit} model"));

    // A folder of another program, with the training data in it.
    fs::create_dir(desk.path("project")).unwrap();
    fs::copy(desk.path("long.csv"), desk.path("project/long.csv")).unwrap();
    desk.put("project/configuration.json", r#"{"theme": "dark"}"#);
    let message = desk.fails(1, &format!("{fit} project"));
    assert!(message.contains("configuration.json and long.csv") || message.contains("long.csv"), "{message}");
    let message = desk.fails(2, &format!("{} project", fit.replace("long.csv", "project/long.csv")));
    assert!(message.contains("--out project holds --data project/long.csv"), "{message}");
    assert_eq!(names(&desk.path("project")), ["configuration.json", "long.csv"]);
    fs::remove_file(desk.path("project/long.csv")).unwrap();
    let message = desk.fails(1, &format!("{fit} project"));
    assert!(message.contains("configuration.json"), "{message}");

    let subfolder = desk.path("model/more");
    fs::create_dir(&subfolder).unwrap();
    assert!(desk.fails(1, &format!("{fit} model")).contains("holds more"));
}

#[test]
fn outputs_are_no_inputs_by_any_name() {
    let desk = trained();
    desk.put("run.toml", "data = \"long.csv\"\nmodel = \"model\"\n");
    desk.ok("predict --config run.toml --out forecast.csv");
    let link = |from: &str, to: &str| {
        #[cfg(unix)]
        std::os::unix::fs::symlink(from, desk.path(to)).unwrap();
        #[cfg(not(unix))]
        fs::hard_link(desk.path(from), desk.path(to)).unwrap();
    };
    link("long.csv", "link.csv");
    fs::hard_link(desk.path("long.csv"), desk.path("hard.csv")).unwrap();
    fs::hard_link(desk.path("run.toml"), desk.path("hard.txt")).unwrap();
    let config = desk.read("model/configuration.json");
    let columns = "--id-col shop --time-col day --target-col sales";
    for (line, input) in [
        ("predict --model model --data long.csv --out ./long.csv", "--data long.csv"),
        ("predict --model model --data long.csv --out link.csv", "--data long.csv"),
        ("predict --model model --data link.csv --out hard.csv", "--data link.csv"),
        ("predict --model model --data wide.csv --futr long.csv --out long.csv", "--futr long.csv"),
        ("predict --model model --data wide.csv --static long.csv --out hard.csv", "--static long.csv"),
        ("predict --config run.toml --out hard.txt", "--config run.toml"),
        ("predict --model model --data long.csv --out model/configuration.json", "--model model"),
        ("predict --model model --data long.csv --out model/forecast.csv", "--model model"),
        (&format!("plot --data long.csv {columns} --forecast forecast.csv --out forecast.csv"), "--forecast"),
        (&format!("plot --data long.csv {columns} --forecast forecast.csv --out hard.csv"), "--data"),
        (&format!("cross-validate {LONG} --model NLinear {SMALL} --out hard.csv"), "--data long.csv"),
        (&format!("fit {LONG} --model NLinear {SMALL} --out . --overwrite"), "--data long.csv"),
        (&format!("fit {LONG} --model NLinear {SMALL} --out new --checkpoint new/state"), "--out new"),
    ] {
        let message = desk.fails(2, line);
        assert!(message.contains(input), "{line}: {message}");
    }
    assert_eq!(desk.read("long.csv"), test_directory::long_csv());
    assert_eq!(desk.read("model/configuration.json"), config);
    assert!(desk.read("run.toml").starts_with("data") && !desk.path("model/forecast.csv").exists());
}

#[test]
fn the_demo_replaces_only_what_it_wrote() {
    let desk = trained();
    let message = desk.fails(2, "demo --out .");
    assert!(message.contains("model/") && message.contains("--out"), "{message}");
    desk.ok("predict --model model --data long.csv");
    fs::create_dir(desk.path("there")).unwrap();
    desk.put("there/forecast.csv", "mine");
    assert!(desk.fails(2, "demo --out there").contains("forecast.csv is there already"));
    assert_eq!(
        (desk.read("there/forecast.csv").as_str(), names(&desk.path("there"))),
        ("mine", vec!["forecast.csv".into()])
    );
}

#[test]
fn endings_tell_the_format_and_others_are_refused() {
    let desk = trained();
    let predict = "predict --model model --data long.csv --out";
    for name in ["f.xlsx", "f.json", "f.parquet.gz"] {
        let message = desk.fails(2, &format!("{predict} {name}"));
        assert!(message.contains(".csv.gz") && message.contains(".parquet"), "{message}");
        let validate = format!("cross-validate {LONG} --model NLinear {SMALL} --out {name}");
        assert!(desk.fails(2, &validate).contains(name));
    }
    desk.ok(&format!("{predict} f.csv"));
    desk.ok(&format!("{predict} f.csv.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&desk.bytes("f.csv.gz")[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, desk.read("f.csv"));
    assert_eq!(
        names(desk.path("f.csv").parent().unwrap()),
        ["f.csv", "f.csv.gz", "long.csv", "model", "wide.csv"]
    );
}

#[cfg(unix)]
#[test]
fn links_pipes_and_devices_are_written_to() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let desk = trained();
    let predict = "predict --model model --data long.csv --out";
    let forecast = desk.ok(&format!("{predict} -"));
    desk.put("real.csv", "old");
    fs::set_permissions(desk.path("real.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real.csv", desk.path("link.csv")).unwrap();
    symlink("fresh.csv", desk.path("dangling.csv")).unwrap();
    desk.ok(&format!("{predict} link.csv"));
    desk.ok(&format!("{predict} dangling.csv"));
    assert_eq!((desk.read("real.csv"), desk.read("fresh.csv")), (forecast.clone(), forecast.clone()));
    assert!(desk.path("link.csv").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::metadata(desk.path("real.csv")).unwrap().permissions().mode() & 0o777, 0o600);

    assert_eq!(desk.ok(&format!("{predict} /dev/stdout")), forecast);
    // What others write to the same open file stays.
    let appended = fs::File::create(desk.path("all.csv")).unwrap();
    std::io::Write::write_all(&mut &appended, b"before\n").unwrap();
    let status =
        desk.command(&format!("{predict} /dev/stdout --log none")).stdout(appended).status().unwrap();
    assert!(status.success());
    assert_eq!(desk.read("all.csv"), format!("before\n{forecast}"));
    desk.ok(&format!("{predict} /dev/null"));

    let made = std::process::Command::new("mkfifo").arg(desk.path("pipe")).status().unwrap();
    assert!(made.success());
    let mut child = desk.command(&format!("{predict} pipe")).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(desk.read("pipe"), forecast);
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn places_that_cannot_be_written_are_told_before_training() {
    use std::os::unix::fs::symlink;
    let desk = TestDirectory::new();
    symlink("nowhere/model", desk.path("dangling")).unwrap();
    let long = "x".repeat(300);
    for out in ["/proc/model", "/proc", "dangling", "long.csv/model", &long] {
        let told = desk.run(&format!("fit {LONG} --model NLinear {SMALL} --out {out}"));
        let message = stderr(&told);
        assert!(
            !told.status.success() && !message.contains("trained") && message.contains(out),
            "{out}: {message}"
        );
        let told = desk.run(&format!("cross-validate {LONG} --model NLinear {SMALL} --log json --out {out}"));
        let message = stderr(&told);
        assert!(!told.status.success() && !message.contains("\"step\""), "{out}: {message}");
    }
    let checkpoint = format!("fit {LONG} --model NLinear {SMALL} --log json --out model --checkpoint");
    for state in ["/proc/state", "long.csv", "dangling", &long] {
        let told = desk.run(&format!("{checkpoint} {state}"));
        let message = stderr(&told);
        assert!(!told.status.success() && !message.contains("\"step\""), "{state}: {message}");
    }
    assert_eq!(names(desk.path("long.csv").parent().unwrap()), ["dangling", "long.csv", "wide.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_leaves_the_old_file() {
    let desk = trained();
    assert!(desk.fails(1, "predict --model model --data long.csv --out /dev/full").contains("/dev/full"));
    let limited = |line: &str| {
        // Whoever ignores the signal is told that the file is too large.
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_foretell")]).args(line.split_whitespace());
        command.current_dir(desk.path("")).output().unwrap()
    };
    for out in ["f.csv", "f.csv.gz", "f.parquet"] {
        let predict = format!("predict --model model --data long.csv --h 3000 --out {out}");
        desk.put(out, "old");
        let told = limited(&predict);
        assert_eq!(told.status.code(), Some(1), "{}", stderr(&told));
        assert!(stderr(&told).contains(out), "{}", stderr(&told));
        assert_eq!(desk.read(out), "old");
        desk.ok(&predict);
    }
    let before = names(&desk.path(""));
    let model = desk.bytes("model/NLinear_0.safetensors");
    let fit = format!("fit {LONG} --model NLinear {SMALL} --seed 2 --log none --overwrite --out model");
    let told = limited(&fit);
    assert!(told.status.code() == Some(1) && stderr(&told).contains("cannot write"), "{}", stderr(&told));
    assert_eq!((desk.bytes("model/NLinear_0.safetensors"), names(&desk.path(""))), (model, before));
    desk.ok("predict --model model --data long.csv");
}

/// A disk of its own, where the tests may mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_model_and_keeps_the_new_one_elsewhere() {
    struct Mounted(std::path::PathBuf);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(&self.0).status();
        }
    }
    let desk = TestDirectory::new();
    let disk = desk.path("disk");
    fs::create_dir(&disk).unwrap();
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=100k", "tmpfs"]).arg(&disk).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no disk can be mounted here");
        return;
    }
    let _mounted = Mounted(disk.clone());
    let fit = format!("fit {LONG} --model MLP {SMALL} --set hidden_size=16 --log none --overwrite --out");
    let message = desk.fails(1, &format!("{fit} disk"));
    assert!(message.contains("mount point") && message.contains("disk/model"), "{message}");
    desk.ok(&format!("{fit} disk/model"));
    desk.ok("predict --model disk/model --data long.csv --out disk/f.csv");
    let before = (desk.read("disk/f.csv"), desk.bytes("disk/model/MLP_0.safetensors"));
    // Leaves room for the lock, and no more.
    let _ = fs::write(disk.join("large"), vec![0; 200_000]);
    let room = fs::metadata(disk.join("large")).unwrap().len() - 4096;
    fs::File::options().write(true).open(disk.join("large")).unwrap().set_len(room).unwrap();
    fs::create_dir(desk.path("tmp")).unwrap();
    let told = desk.command(&format!("{fit} disk/model")).env("TMPDIR", desk.path("tmp")).output().unwrap();
    let message = stderr(&told);
    assert!(told.status.code() == Some(1) && message.contains("the models are kept in"), "{message}");
    let kept = message.split("kept in ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    desk.ok(&format!("predict --model {kept} --data long.csv"));
    let message = desk.fails(1, "predict --model disk/model --data long.csv --h 3000 --out disk/f.csv");
    assert!(message.contains("disk/f.csv"), "{message}");
    assert_eq!((desk.read("disk/f.csv"), desk.bytes("disk/model/MLP_0.safetensors")), before);
    assert_eq!(names(&disk), ["f.csv", "large", "model"]);
}

#[test]
fn models_that_cannot_be_saved_after_training_are_kept_elsewhere() {
    let desk = TestDirectory::new();
    fs::create_dir_all(desk.path("tmp")).unwrap();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --set max_steps=3000 --log json --out deep/model");
    let fit = fit.replace("--set max_steps=3 ", "");
    let mut child =
        desk.command(&fit).env("TMPDIR", desk.path("tmp")).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"step\"") {
        line.clear();
        std::io::BufRead::read_line(&mut told, &mut line).unwrap();
    }
    fs::remove_dir_all(desk.path("deep")).unwrap();
    desk.put("deep", "a file");
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    let kept = rest.split("the models are kept in ").nth(1).unwrap_or_else(|| panic!("{rest}"));
    let kept = kept.split(':').next().unwrap();
    assert_eq!(rows(&desk.ok(&format!("predict --model {kept} --data long.csv"))).len(), 15);
}
