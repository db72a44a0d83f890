//! Outputs of commands: never over their inputs, never in part, and refused beforehand where they cannot be written.

use std::fs;
#[cfg(unix)]
use std::io::Read as _;
use std::path::Path;
#[cfg(unix)]
use std::process::Stdio;

use crate::test_directory::{LONG, SMALL, TestDirectory, long_csv, rows, stderr};

/// A model, and a file of future columns that its training data have.
fn trained() -> TestDirectory {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --log none --out model"));
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn overwriting_replaces_models_and_nothing_else() {
    let dir = trained();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log none --overwrite --out");
    dir.put("model/thesis.txt", "years of work");
    let message = dir.fails(1, &format!("{fit} model"));
    assert!(message.contains("thesis.txt") && message.contains("would delete"), "{message}");
    assert_eq!(dir.read("model/thesis.txt"), "years of work");
    fs::remove_file(dir.path("model/thesis.txt")).unwrap();
    dir.ok(&format!("{fit} model"));

    // A folder of another program, with the training data in it.
    fs::create_dir(dir.path("project")).unwrap();
    fs::copy(dir.path("long.csv"), dir.path("project/long.csv")).unwrap();
    dir.put("project/configuration.json", r#"{"theme": "dark"}"#);
    let message = dir.fails(1, &format!("{fit} project"));
    assert!(message.contains("configuration.json and long.csv") || message.contains("long.csv"), "{message}");
    let message = dir.fails(2, &format!("{} project", fit.replace("long.csv", "project/long.csv")));
    assert!(message.contains("--out project holds --data project/long.csv"), "{message}");
    assert_eq!(names(&dir.path("project")), ["configuration.json", "long.csv"]);
    fs::remove_file(dir.path("project/long.csv")).unwrap();
    let message = dir.fails(1, &format!("{fit} project"));
    assert!(message.contains("configuration.json"), "{message}");

    let subfolder = dir.path("model/more");
    fs::create_dir(&subfolder).unwrap();
    assert!(dir.fails(1, &format!("{fit} model")).contains("holds more"));
}

/// Paths from the root (on Windows from a drive) of more than the 260 characters that Windows once allowed, and a table whose lines end as
/// they do there.
#[test]
fn whole_paths_may_be_long_and_lines_may_end_as_on_windows() {
    let dir = trained();
    dir.ok("predict --model model --data long.csv --out forecast.csv");
    let deep = dir.path(&["a", "b", "c"].map(|name| name.repeat(90)).join("/"));
    fs::create_dir_all(&deep).unwrap();
    let at = |name: &str| deep.join(name).into_os_string().into_string().unwrap();
    fs::write(deep.join("long.csv"), long_csv().replace('\n', "\r\n")).unwrap();
    let run = |line: &str, paths: &[(&str, &str)]| {
        let mut command = dir.command(line);
        paths.iter().for_each(|(flag, name)| _ = command.args([*flag, &at(name)]));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {}", stderr(&output));
    };
    let columns = LONG.replace("--data long.csv", "");
    for _ in 0..2 {
        let fit = format!("fit {columns} --model NLinear {SMALL} --log none --overwrite");
        run(&fit, &[("--data", "long.csv"), ("--out", "model")]);
    }
    run("predict", &[("--model", "model"), ("--data", "long.csv"), ("--out", "forecast.csv")]);
    assert_eq!(fs::read_to_string(deep.join("forecast.csv")).unwrap(), dir.read("forecast.csv"));
    assert_eq!(names(&deep), ["forecast.csv", "long.csv", "model"]);
}

#[test]
fn outputs_are_no_inputs_by_any_name() {
    let dir = trained();
    dir.put("run.toml", "data = \"long.csv\"\nmodel = \"model\"\n");
    dir.ok("predict --config run.toml --out forecast.csv");
    let link = |from: &str, to: &str| {
        #[cfg(unix)]
        std::os::unix::fs::symlink(from, dir.path(to)).unwrap();
        #[cfg(not(unix))]
        fs::hard_link(dir.path(from), dir.path(to)).unwrap();
    };
    link("long.csv", "link.csv");
    fs::hard_link(dir.path("long.csv"), dir.path("hard.csv")).unwrap();
    fs::hard_link(dir.path("run.toml"), dir.path("hard.txt")).unwrap();
    let config = dir.read("model/configuration.json");
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
        ("import --from model --out model --overwrite", "would overwrite the data of --from model"),
    ] {
        let message = dir.fails(2, line);
        assert!(message.contains(input), "{line}: {message}");
    }
    assert_eq!(dir.read("long.csv"), long_csv());
    assert_eq!(dir.read("model/configuration.json"), config);
    assert!(dir.read("run.toml").starts_with("data") && !dir.path("model/forecast.csv").exists());
}

#[test]
fn the_demo_replaces_only_what_it_wrote() {
    let dir = trained();
    let message = dir.fails(2, "demo --out .");
    assert!(message.contains("model/") && message.contains("--out"), "{message}");
    dir.ok("predict --model model --data long.csv");
    fs::create_dir(dir.path("there")).unwrap();
    dir.put("there/forecast.csv", "mine");
    assert!(dir.fails(2, "demo --out there").contains("forecast.csv is there already"));
    assert_eq!(
        (dir.read("there/forecast.csv").as_str(), names(&dir.path("there"))),
        ("mine", vec!["forecast.csv".into()])
    );
}

#[test]
fn endings_tell_the_format_and_others_are_refused() {
    let dir = trained();
    let predict = "predict --model model --data long.csv --out";
    for name in ["f.xlsx", "f.json", "f.parquet.gz"] {
        let message = dir.fails(2, &format!("{predict} {name}"));
        assert!(message.contains(".csv.gz") && message.contains(".parquet"), "{message}");
        let validate = format!("cross-validate {LONG} --model NLinear {SMALL} --out {name}");
        assert!(dir.fails(2, &validate).contains(name));
    }
    dir.ok(&format!("{predict} f.csv"));
    dir.ok(&format!("{predict} f.csv.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&dir.bytes("f.csv.gz")[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, dir.read("f.csv"));
    assert_eq!(
        names(dir.path("f.csv").parent().unwrap()),
        ["f.csv", "f.csv.gz", "long.csv", "model", "wide.csv"]
    );
}

#[cfg(unix)]
#[test]
fn links_pipes_and_devices_are_written_to() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = trained();
    let predict = "predict --model model --data long.csv --out";
    let forecast = dir.ok(&format!("{predict} -"));
    dir.put("real.csv", "old");
    fs::set_permissions(dir.path("real.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real.csv", dir.path("link.csv")).unwrap();
    symlink("fresh.csv", dir.path("dangling.csv")).unwrap();
    dir.ok(&format!("{predict} link.csv"));
    dir.ok(&format!("{predict} dangling.csv"));
    assert_eq!((dir.read("real.csv"), dir.read("fresh.csv")), (forecast.clone(), forecast.clone()));
    assert!(dir.path("link.csv").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::metadata(dir.path("real.csv")).unwrap().permissions().mode() & 0o777, 0o600);

    assert_eq!(dir.ok(&format!("{predict} /dev/stdout")), forecast);
    // What others write to the same open file stays.
    let appended = fs::File::create(dir.path("all.csv")).unwrap();
    std::io::Write::write_all(&mut &appended, b"before\n").unwrap();
    let status = dir.command(&format!("{predict} /dev/stdout --log none")).stdout(appended).status().unwrap();
    assert!(status.success());
    assert_eq!(dir.read("all.csv"), format!("before\n{forecast}"));
    dir.ok(&format!("{predict} /dev/null"));

    let made = std::process::Command::new("mkfifo").arg(dir.path("pipe")).status().unwrap();
    assert!(made.success());
    let mut child = dir.command(&format!("{predict} pipe")).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(dir.read("pipe"), forecast);
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn places_that_cannot_be_written_are_told_before_training() {
    use std::os::unix::fs::symlink;
    let dir = TestDirectory::new();
    symlink("nowhere/model", dir.path("dangling")).unwrap();
    let long = "x".repeat(300);
    for out in ["/proc/model", "/proc", "dangling", "long.csv/model", &long] {
        let output = dir.run(&format!("fit {LONG} --model NLinear {SMALL} --out {out}"));
        let message = stderr(&output);
        assert!(
            !output.status.success() && !message.contains("trained") && message.contains(out),
            "{out}: {message}"
        );
        let output =
            dir.run(&format!("cross-validate {LONG} --model NLinear {SMALL} --log json --out {out}"));
        let message = stderr(&output);
        assert!(!output.status.success() && !message.contains("\"step\""), "{out}: {message}");
    }
    let checkpoint = format!("fit {LONG} --model NLinear {SMALL} --log json --out model --checkpoint");
    for state in ["/proc/state", "long.csv", "dangling", &long] {
        let output = dir.run(&format!("{checkpoint} {state}"));
        let message = stderr(&output);
        assert!(!output.status.success() && !message.contains("\"step\""), "{state}: {message}");
    }
    assert_eq!(names(dir.path("long.csv").parent().unwrap()), ["dangling", "long.csv", "wide.csv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_leaves_the_old_file() {
    let dir = trained();
    assert!(dir.fails(1, "predict --model model --data long.csv --out /dev/full").contains("/dev/full"));
    let limited = |line: &str| {
        // A process that ignores the signal gets an error of the system: the file is too large.
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_foretell")]).args(line.split_whitespace());
        command.current_dir(dir.path("")).output().unwrap()
    };
    for out in ["f.csv", "f.csv.gz", "f.parquet"] {
        let predict = format!("predict --model model --data long.csv --h 3000 --out {out}");
        dir.put(out, "old");
        let output = limited(&predict);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(out), "{}", stderr(&output));
        assert_eq!(dir.read(out), "old");
        dir.ok(&predict);
    }
    let before = names(&dir.path(""));
    let model = dir.bytes("model/NLinear_0.safetensors");
    let fit = format!("fit {LONG} --model NLinear {SMALL} --seed 2 --log none --overwrite --out model");
    let output = limited(&fit);
    assert!(
        output.status.code() == Some(1) && stderr(&output).contains("cannot write"),
        "{}",
        stderr(&output)
    );
    assert_eq!((dir.bytes("model/NLinear_0.safetensors"), names(&dir.path(""))), (model, before));
    dir.ok("predict --model model --data long.csv");
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
    let dir = TestDirectory::new();
    let disk = dir.path("disk");
    fs::create_dir(&disk).unwrap();
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=100k", "tmpfs"]).arg(&disk).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no disk can be mounted here");
        return;
    }
    let _mounted = Mounted(disk.clone());
    let fit = format!(
        "fit {LONG} --model MLP {SMALL} --set hidden_size=16 --set scaler_type=standard --log none --overwrite --out"
    );
    let message = dir.fails(1, &format!("{fit} disk"));
    assert!(message.contains("mount point") && message.contains("disk/model"), "{message}");
    dir.ok(&format!("{fit} disk/model"));
    dir.ok("predict --model disk/model --data long.csv --out disk/f.csv");
    let before = (dir.read("disk/f.csv"), dir.bytes("disk/model/MLP_0.safetensors"));
    // Leaves room for the lock, and no more.
    let _ = fs::write(disk.join("large"), vec![0; 200_000]);
    let room = fs::metadata(disk.join("large")).unwrap().len() - 4096;
    fs::File::options().write(true).open(disk.join("large")).unwrap().set_len(room).unwrap();
    fs::create_dir(dir.path("tmp")).unwrap();
    let output = dir.command(&format!("{fit} disk/model")).env("TMPDIR", dir.path("tmp")).output().unwrap();
    let message = stderr(&output);
    assert!(output.status.code() == Some(1) && message.contains("the models are kept in"), "{message}");
    let kept = message.split("kept in ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    dir.ok(&format!("predict --model {kept} --data long.csv"));
    let message = dir.fails(1, "predict --model disk/model --data long.csv --h 3000 --out disk/f.csv");
    assert!(message.contains("disk/f.csv"), "{message}");
    assert_eq!((dir.read("disk/f.csv"), dir.bytes("disk/model/MLP_0.safetensors")), before);
    assert_eq!(names(&disk), ["f.csv", "large", "model"]);
}

/// Windows removes no directory in which a lock is held.
#[cfg(unix)]
#[test]
fn models_that_cannot_be_saved_after_training_are_kept_elsewhere() {
    let dir = TestDirectory::new();
    fs::create_dir_all(dir.path("tmp")).unwrap();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --set max_steps=3000 --log json --out deep/model");
    let fit = fit.replace("--set max_steps=3 ", "");
    let mut child = dir.command(&fit).env("TMPDIR", dir.path("tmp")).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"step\"") {
        line.clear();
        std::io::BufRead::read_line(&mut log, &mut line).unwrap();
    }
    fs::remove_dir_all(dir.path("deep")).unwrap();
    dir.put("deep", "a file");
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    let kept = rest.split("the models are kept in ").nth(1).unwrap_or_else(|| panic!("{rest}"));
    let kept = kept.split(':').next().unwrap();
    assert_eq!(rows(&dir.ok(&format!("predict --model {kept} --data long.csv"))).len(), 15);
}

#[test]
fn a_file_of_its_own_is_validated_on() {
    let dir = trained();
    let csv = dir.read("long.csv");
    dir.put("later.csv", &csv);
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log json --set val_check_steps=1 --out watched");
    let output = dir.run(&format!("{fit} --val-data later.csv"));
    assert!(output.status.success() && stderr(&output).contains("valid_loss"), "{}", stderr(&output));
    let fit = fit.replace("--log json", "--log text");
    let message = dir.fails(2, &format!("{fit} --overwrite --val-data later.csv --val-size 10"));
    assert!(message.contains("--val-size"), "{message}");
}

#[test]
fn paths_are_written_as_a_long_table() {
    let dir = TestDirectory::new();
    let loss = r#"loss={"DistributionLoss":{"distribution":"Normal"}}"#;
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --log none --out model --set {loss}"));
    let simulate = "simulate --data long.csv --model model --n-paths 3";
    let csv = dir.ok(simulate);
    let paths = rows(&csv);
    assert_eq!(paths[0], ["shop", "day", "sample_id", "NLinear"]);
    assert_eq!(paths.len() % 6, 1);
    assert_eq!((paths[1][2], paths[paths.len() - 1][2]), ("0", "2"));
    assert_eq!(csv, dir.ok(&format!("{simulate} --seed 1 --method gaussian_copula")));
    assert_ne!(csv, dir.ok(&format!("{simulate} --seed 2")));
    assert!(dir.fails(2, &format!("{simulate} --method guess")).contains("schaake_shuffle, ancestral"));
    assert!(
        dir.fails(2, &format!("{simulate} --method ancestral")).contains("NLinear draws no paths of its own")
    );
    // Several paths are no forecast to draw; one is, and its number is no model.
    dir.ok(&format!("{simulate} --out paths.csv --log none"));
    dir.ok("simulate --data long.csv --model model --n-paths 1 --out path.csv --log none");
    for command in ["plot", "report"] {
        let command = |file: &str| format!("{command} {LONG} --forecast {file} --out -");
        let message = dir.fails(1, &command("paths.csv"));
        let told =
            ["paths.csv holds sample paths, which its column `sample_id` numbers", "`foretell predict`"];
        assert!(told.iter().all(|part| message.contains(part)), "{message}");
        let drawn = dir.ok(&command("path.csv"));
        assert!(drawn.contains("NLinear") && !drawn.contains("sample_id"), "{drawn}");
    }
}

#[test]
fn contributions_and_parts_add_up_to_the_forecast() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model DLinear {SMALL} --log none --out model"));
    let forecast = dir.ok("predict --data long.csv --model model");
    let forecast = rows(&forecast);
    for (command, first) in [
        ("explain", "DLinear:baseline"),
        ("explain --method input-x-gradient", "DLinear:baseline"),
        ("explain --method shapley-sampling --samples 3 --only DLinear", "DLinear:baseline"),
        ("decompose", "DLinear:trend"),
    ] {
        let table = dir.ok(&format!("{command} --data long.csv --model model"));
        let table = rows(&table);
        assert_eq!(table[0][..3], ["shop", "day", first]);
        assert_eq!(table.len(), forecast.len());
        for (row, forecast) in table.iter().zip(&forecast).skip(1) {
            assert_eq!(row[..2], forecast[..2]);
            let sum: f32 = row[2..].iter().map(|value| value.parse::<f32>().unwrap()).sum();
            let forecast: f32 = forecast[2].parse().unwrap();
            assert!((sum - forecast).abs() < 1e-3 * forecast.abs().max(1.0), "{command}: {sum}, {forecast}");
        }
    }
    let [far, ahead] = ["explain", "predict"]
        .map(|command| dir.ok(&format!("{command} --data long.csv --model model --h 9")));
    let (far, forecast) = (rows(&far), rows(&ahead));
    assert_eq!(far.len(), forecast.len());
    for (row, forecast) in far.iter().zip(&forecast).skip(1) {
        let sum: f32 = row[2..].iter().map(|value| value.parse::<f32>().unwrap()).sum();
        let forecast: f32 = forecast[2].parse().unwrap();
        assert!((sum - forecast).abs() < 1e-3 * forecast.abs().max(1.0), "{sum}, {forecast}");
    }
    dir.ok("explain --data long.csv --model model --out parts.csv --plot parts.svg");
    // The picture has a bar for the column, with the mean size of the sum over its steps.
    let (table, picture) = (dir.read("parts.csv"), dir.read("parts.svg"));
    let table = rows(&table);
    let of_column = |name: &&str| name.starts_with("DLinear:sales@");
    let places: Vec<usize> = (0..table[0].len()).filter(|&place| of_column(&table[0][place])).collect();
    let sum = |row: &Vec<&str>| places.iter().map(|&place| row[place].parse::<f64>().unwrap()).sum::<f64>();
    let size = table[1..].iter().map(|row| sum(row).abs()).sum::<f64>() / (table.len() - 1) as f64;
    let texts: Vec<&str> = picture.lines().map(str::trim).collect();
    assert!(texts.contains(&"DLinear") && texts.contains(&"sales"), "{picture}");
    let is_size = |text: &&str| text.parse::<f64>().is_ok_and(|shown| (shown / size - 1.0).abs() < 1e-3);
    assert!(texts.iter().any(is_size), "no {size} in {picture}");
    // A picture of before is replaced, and what is read is not.
    dir.put("parts.svg", "an old picture");
    dir.put("future.png", "shop,day,price\n");
    let explain = "explain --data long.csv --model model --out parts.csv";
    dir.ok(&format!("{explain} --plot parts.svg"));
    assert!(dir.read("parts.svg").contains("DLinear"));
    for (flags, part) in [
        ("--futr future.png --plot future.png", "would overwrite the data of --futr future.png"),
        ("--plot model/parts.svg", "--plot model/parts.svg is in --model model"),
    ] {
        let message = dir.fails(2, &format!("{explain} {flags}"));
        assert!(message.contains(part), "{flags}: {message}");
    }
    let picture = dir.ok(&format!("{explain} --plot -"));
    assert!(
        picture.starts_with("<svg") && picture.contains("DLinear") && !dir.path("-").exists(),
        "{picture}"
    );
    let both = dir.fails(2, "explain --data long.csv --model model --plot -");
    assert!(both.contains("--plot -: the table goes to standard output, too"), "{both}");
    let wrong = dir.fails(2, "explain --data long.csv --model model --plot parts.pdf");
    assert!(wrong.contains("--plot parts.pdf: figures are written as SVG or PNG"), "{wrong}");
    let other = dir.fails(2, "explain --data long.csv --model model --only NHITS");
    assert!(other.contains("those here are: DLinear"), "{other}");
    let output = dir.fails(2, "explain --data long.csv --model model --output 7");
    assert!(output.contains("no output 7"), "{output}");
}

/// The columns of contributions bear the name of the network, so that it is said which of its outputs they are of.
#[test]
fn the_explained_output_is_named() {
    let dir = TestDirectory::new();
    let loss = r#"--set NLinear.loss={"MQLoss":{"level":[80]}}"#;
    dir.ok(&format!("fit {LONG} --model NLinear,DLinear {SMALL} {loss} --log none --out model"));
    let forecast = dir.ok("predict --model model --data long.csv");
    let columns: Vec<&str> =
        rows(&forecast)[0].iter().copied().filter(|name| name.starts_with("NLinear")).collect();
    assert_eq!(columns.len(), 3, "{columns:?}");
    for (output, column) in columns.into_iter().enumerate() {
        let explain = format!(
            "explain --data long.csv --model model --only NLinear --output {output} --method input-x-gradient"
        );
        let run = dir.run(&explain);
        let said = stderr(&run);
        assert!(run.status.success(), "{said}");
        assert!(said.contains(&format!("explained: {column} (--output chooses another)\n")), "{said}");
    }
    // There is nothing to choose where a network has one output.
    let said =
        stderr(&dir.run("explain --data long.csv --model model --only DLinear --method input-x-gradient"));
    assert!(!said.contains("explained"), "{said}");
}
