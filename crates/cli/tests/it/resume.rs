//! Training that is killed or interrupted resumes where it was, and ends with the same weights.

#[cfg(unix)]
use std::io::Read as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::{collections::BTreeMap, fs};

use tempfile::TempDir;

const STEPS: usize = 1000;

/// A folder with a panel of two series.
fn data_dir() -> TempDir {
    let dir = TempDir::new().unwrap();
    let mut csv = "unique_id,ds,y\n".to_owned();
    for (id, phase) in [("a", 0.0), ("b", 1.0)] {
        for t in 0..150 {
            csv += &format!("{id},{t},{:.4}\n", (f64::from(t) * 0.9 + phase).sin());
        }
    }
    fs::write(dir.path().join("data.csv"), csv).unwrap();
    dir
}

fn fit(dir: &Path, out: &str, further: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    let line = format!(
        "fit --data data.csv --freq 1 --h 4 --input-size 8 --val-size 8 --threads 1 --model NLinear,MLP \
         --set max_steps={STEPS} --set windows_batch_size=8 --set MLP.hidden_size=8 --set val_check_steps=40 \
         --set optimizer=RMSprop --set optimizer_kwargs={{\"momentum\":0.5}} --set lr_scheduler=ReduceLROnPlateau \
         --log json --out {out} {further}"
    );
    command.current_dir(dir).args(line.split_whitespace()).stdin(Stdio::null());
    command
}

fn run(mut command: Command) -> Output {
    command.output().unwrap()
}

/// Starts training, and waits until it has logged this many steps. It cannot get far ahead of its reader.
fn start(mut command: Command, steps: usize) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let (mut line, mut seen) = (String::new(), 0);
    while seen < steps {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "it ended before step {steps}");
        seen += usize::from(line.contains("\"event\":\"step\""));
    }
    (child, log)
}

/// Sends a signal to a training whose log no one reads meanwhile, and gives it time to hear: it waits for its reader before it can end.
#[cfg(unix)]
fn signal(name: &str, child: &Child) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
    std::thread::sleep(std::time::Duration::from_secs(1));
}

/// The bytes of all files of a directory.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let read =
        |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    fs::read_dir(dir).unwrap().map(|entry| read(entry.unwrap())).collect()
}

#[test]
fn a_training_that_is_killed_ends_with_the_same_weights() {
    let dir = data_dir();
    let whole = run(fit(dir.path(), "whole", ""));
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));

    let with_state = || fit(dir.path(), "parts", "--checkpoint state --checkpoint-every 7");
    for steps in [3, 60, 200] {
        let (mut child, _) = start(with_state(), steps);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!dir.path().join("parts").exists());
    }
    let rest = run(with_state());
    let messages = String::from_utf8_lossy(&rest.stderr);
    assert!(rest.status.success() && messages.contains("\"event\":\"resumed\""), "{messages}");
    assert!(files(&dir.path().join("whole")) == files(&dir.path().join("parts")));
    assert!(!dir.path().join("state").exists(), "no one needs it any more");
}

/// A kill after the models are in their place and before the state is removed leaves both.
#[test]
fn models_beside_the_state_of_their_training_are_replaced_by_the_same_command() {
    let dir = data_dir();
    let (home, state) = (dir.path(), dir.path().join("state"));
    let with_state = |out: &str| {
        let mut command = fit(home, out, "--checkpoint state --checkpoint-every 7");
        command.env("TMPDIR", home);
        command
    };
    fs::create_dir(home.join("folder")).unwrap();
    let (child, mut log) = start(with_state("folder/model"), 60);
    // Saving fails, so that what is noted before it stays.
    fs::remove_dir_all(home.join("folder")).unwrap();
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    let failed = child.wait_with_output().unwrap();
    assert!(failed.status.code() == Some(1) && rest.contains("the models are kept in"), "{rest}");
    let kept = files(&state);
    fs::create_dir(home.join("folder")).unwrap();
    let whole = run(with_state("folder/model"));
    assert!(whole.status.success() && !state.exists(), "{}", String::from_utf8_lossy(&whole.stderr));
    let models = files(&home.join("folder/model"));

    fs::create_dir(&state).unwrap();
    for (name, bytes) in &kept {
        fs::write(state.join(name), bytes).unwrap();
    }
    let again = run(with_state("folder/model"));
    assert!(again.status.success() && !state.exists(), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(files(&home.join("folder/model")) == models);

    // Another training's models in that place are not replaced.
    fs::create_dir(&state).unwrap();
    for (name, bytes) in &kept {
        fs::write(state.join(name), bytes).unwrap();
    }
    let another = run(fit(home, "folder/model", "--overwrite --set max_steps=3"));
    assert!(another.status.success(), "{}", String::from_utf8_lossy(&another.stderr));
    let theirs = files(&home.join("folder/model"));
    assert_eq!(run(with_state("folder/model")).status.code(), Some(2));
    assert!(files(&home.join("folder/model")) == theirs && files(&state) == kept);
    fs::remove_dir_all(&state).unwrap();

    // Models in another place are none of this training.
    fs::create_dir(&state).unwrap();
    for (name, bytes) in &kept {
        fs::write(state.join(name), bytes).unwrap();
    }
    fs::create_dir(home.join("other")).unwrap();
    for (name, bytes) in &models {
        fs::write(home.join("other").join(name), bytes).unwrap();
    }
    assert_eq!(run(with_state("other")).status.code(), Some(2));
}

#[test]
fn a_cross_validation_that_is_killed_ends_with_the_same_forecasts() {
    let dir = data_dir();
    let validate = |out: &str, further: &str| {
        let line = format!(
            "cross-validate --data data.csv --freq 1 --h 4 --input-size 8 --threads 1 --model NLinear,MLP \
             --set max_steps={STEPS} --set windows_batch_size=8 --set MLP.hidden_size=8 --n-windows 3 --refit 2 \
             --log json --out {out} {further}"
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
        command.current_dir(dir.path()).args(line.split_whitespace()).stdin(Stdio::null());
        command.stdout(Stdio::null());
        command
    };
    let whole = run(validate("whole.csv", ""));
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    // In the first training, in the second model, and in the second training.
    for steps in [20, 60, 110] {
        let (mut child, _) = start(validate("parts.csv", "--checkpoint state --checkpoint-every 7"), steps);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let rest = run(validate("parts.csv", "--checkpoint state"));
    let messages = String::from_utf8_lossy(&rest.stderr);
    assert!(rest.status.success() && messages.contains("\"event\":\"resumed\""), "{messages}");
    let forecasts = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(forecasts("whole.csv"), forecasts("parts.csv"));
    assert!(!dir.path().join("state").exists(), "no one needs it any more");
}

/// TERM keeps the forecasts until then, and says that they are a part; the state resumes from there.
#[cfg(unix)]
#[test]
fn a_cross_validation_that_is_interrupted_keeps_what_it_has_scored() {
    let dir = data_dir();
    let validate = |out: &str, further: &str| {
        let line = format!(
            "cross-validate --data data.csv --freq 1 --h 4 --input-size 8 --threads 1 --model NLinear,MLP \
             --set max_steps={STEPS} --set windows_batch_size=8 --set MLP.hidden_size=8 --n-windows 3 \
             --log json --json --out {out} {further}"
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
        command.current_dir(dir.path()).args(line.split_whitespace()).stdin(Stdio::null());
        command.stdout(Stdio::piped());
        command
    };
    let forecasts = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let report = |output: &[u8]| serde_json::from_slice::<serde_json::Value>(output).unwrap();
    let terminated = |(child, mut log): (Child, BufReader<std::process::ChildStderr>)| {
        signal("-TERM", &child);
        log.read_to_string(&mut String::new()).unwrap();
        child.wait_with_output().unwrap()
    };
    let names = |report: &serde_json::Value| {
        let mut names: Vec<String> =
            report["metrics"].as_array().unwrap().iter().map(|m| m["model"].to_string()).collect();
        names.sort();
        names
    };
    for (number, further) in ["", "--refit"].into_iter().enumerate() {
        let whole = run(validate("whole.csv", further));
        assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
        assert!(report(&whole.stdout)["partial"].is_null());
        let (out, state) = (format!("parts{number}.csv"), format!("state{number}"));
        let with_state = format!("{further} --checkpoint {state} --checkpoint-every 7");
        // In the second model; with several trainings, in the second of these.
        let steps = if number == 0 { STEPS + 100 } else { 2 * STEPS + 100 };
        let part = terminated(start(validate(&out, &with_state), steps));
        assert_eq!(part.status.code(), Some(130));
        let part = report(&part.stdout);
        assert!(
            part["partial"].as_str().unwrap().contains(if number == 0 { "MLP" } else { "NLinear" }),
            "{part}"
        );
        let rows = |name: &str| forecasts(name).lines().map(str::to_owned).collect::<Vec<_>>();
        let (some, all) = (rows(&out), rows("whole.csv"));
        match number {
            0 => {
                assert_eq!((names(&part), some.len()), (vec!["\"NLinear\"".to_owned()], all.len()));
                assert!(all.iter().zip(&some).all(|(all, some)| all.starts_with(&**some)), "{some:?}");
            }
            _ => {
                assert_eq!((names(&part).len(), some.len() - 1), (4, (all.len() - 1) / 3));
                assert!(some.iter().all(|row| all.contains(row)), "{some:?}");
            }
        }
        let rest = run(validate(&out, &with_state));
        assert!(rest.status.success(), "{}", String::from_utf8_lossy(&rest.stderr));
        assert_eq!((forecasts(&out), rest.stdout), (forecasts("whole.csv"), whole.stdout));
        assert!(!dir.path().join(state).exists(), "no one needs it any more");
    }
    // Before anything can be scored.
    let none = terminated(start(validate("none.csv", ""), 20));
    assert_eq!((none.status.code(), none.stdout.is_empty()), (Some(130), true));
    assert!(!dir.path().join("none.csv").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_the_models_as_they_are_and_the_state() {
    let dir = data_dir();
    assert!(run(fit(dir.path(), "whole", "")).status.success());
    let with_state = || fit(dir.path(), "parts", "--resume state");
    let (mut child, mut log) = start(with_state(), 100);
    signal("-INT", &child);
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("\"event\":\"interrupt\""), "{rest}");
    let message = rest.lines().last().unwrap();
    for said in
        ["Ctrl-C stopped training after step", "of 1000 of NLinear, before MLP", "parts holds", "state holds"]
    {
        assert!(message.contains(said), "{message}");
    }
    let predict = "predict --model parts --data data.csv --out forecast.csv";
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    assert!(
        run({
            command.current_dir(dir.path()).args(predict.split(' '));
            command
        })
        .status
        .success()
    );

    // The directory says how far it came, and so does the state.
    let inspected = |model: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
        command.current_dir(dir.path()).args(["inspect", model]);
        String::from_utf8(run(command).stdout).unwrap()
    };
    let steps = message.split("after step ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let text = inspected("parts");
    let expected = format!("interrupted  after step {steps} of 1000 of NLinear, before MLP");
    assert!(text.contains(&expected), "{text}");
    assert!(inspected("state").contains(&format!("NLinear  {steps} of 1000")), "{}", inspected("state"));

    // Another training may not replace it, the same one may, and again when it is interrupted again.
    let other = run(fit(dir.path(), "parts", "--resume elsewhere"));
    assert_eq!(other.status.code(), Some(2), "{}", String::from_utf8_lossy(&other.stderr));
    let (mut child, mut log) = start(with_state(), 20);
    signal("-INT", &child);
    rest.clear();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(!dir.path().join("parts.interrupted").exists());

    let rest = run(with_state());
    assert!(rest.status.success(), "{}", String::from_utf8_lossy(&rest.stderr));
    assert!(files(&dir.path().join("whole")) == files(&dir.path().join("parts")));
    assert!(!inspected("parts").contains("interrupted"));
    let again = run(with_state());
    assert_eq!(again.status.code(), Some(2), "finished models are not replaced");
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing_half_written() {
    let dir = data_dir();
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    // A step, and the state after it, take long enough to press twice.
    let line = "fit --data data.csv --freq 1 --h 4 --input-size 8 --threads 1 --model MLP --set hidden_size=2048 \
                --set windows_batch_size=512 --log json --out model --checkpoint state --checkpoint-every 1";
    command.current_dir(dir.path()).args(line.split_whitespace()).stdin(Stdio::null());
    let (mut child, mut log) = start(command, 1);
    let press =
        |child: &Child| Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(press(&child).success());
    let mut line = String::new();
    while !line.contains("\"event\":\"interrupt\"") {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "it ended without a word");
    }
    assert!(press(&child).success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(!rest.contains("\"event\":\"error\""), "it ended before the second: {rest}");
    for place in [dir.path().to_owned(), dir.path().join("state")] {
        let names =
            fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let hidden: Vec<String> = names.filter(|name| name.starts_with('.')).collect();
        assert!(hidden.is_empty(), "{}: {hidden:?}", place.display());
    }
}

/// The signals that batch systems send before they kill.
#[cfg(unix)]
#[test]
fn sigterm_is_ctrl_c_and_a_hangup_is_left_to_nohup() {
    let dir = data_dir();
    // On a busy machine the thread that hears the signal may wait for longer than the usual steps take.
    let endless = fit(dir.path(), "model", "--set max_steps=1000000");
    let (mut child, mut log) = start(endless, 20);
    let id = child.id().to_string();
    // Twice, as `timeout` does: to the process and to its group.
    assert!(Command::new("kill").args(["-TERM", &id, &id]).status().unwrap().success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    for said in ["\"event\":\"interrupt\"", "SIGTERM stopped training after step"] {
        assert!(rest.contains(said), "{said}: {rest}");
    }
    assert!(dir.path().join("model").exists(), "{rest}");

    let mut command = Command::new("nohup");
    let line = fit(dir.path(), "again", "");
    command.arg(line.get_program()).args(line.get_args()).current_dir(dir.path());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let (mut child, mut log) = start(command, 20);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    log.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
}

/// A bit that was flipped on the disk would end in other weights.
#[test]
fn a_damaged_state_is_refused() {
    let dir = data_dir();
    let with_state = || fit(dir.path(), "parts", "--checkpoint state --checkpoint-every 7");
    let (mut child, _) = start(with_state(), STEPS + 100);
    child.kill().unwrap();
    child.wait().unwrap();
    let path = dir.path().join("state/training-0-model-1.safetensors");
    let sound = fs::read(&path).unwrap();
    for part in 1..20 {
        let mut flipped = sound.clone();
        flipped[sound.len() * part / 20] ^= 1 << (part % 8);
        fs::write(&path, flipped).unwrap();
        let refused = run(with_state());
        let message = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{message}");
        assert!(message.contains("training-0-model-1.safetensors"), "{message}");
    }
    fs::write(&path, sound).unwrap();
    assert!(run(with_state()).status.success());
}

#[test]
fn another_training_does_not_resume_from_the_state() {
    let dir = data_dir();
    let state = "--checkpoint state --checkpoint-every 5";
    let (mut child, _) = start(fit(dir.path(), "parts", state), 20);
    child.kill().unwrap();
    child.wait().unwrap();
    let other = run(fit(dir.path(), "parts", &format!("{state} --seed 2")));
    let message = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(2), "{message}");
    assert!(message.contains("NLinear.random_seed was 1 and is 2"), "{message}");
    let same = run(fit(dir.path(), "state", "--checkpoint state"));
    assert_eq!(same.status.code(), Some(2), "{}", String::from_utf8_lossy(&same.stderr));
}
