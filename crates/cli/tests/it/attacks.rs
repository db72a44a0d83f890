//! Harmful things in places where a file of ours is expected: links, pipes, devices, files without an end.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crate::test_directory::{LONG, SMALL, TestDirectory, stderr};

/// Seconds of the processor and of the clock: a command that waits for a pipe or reads a device to its end takes for ever.
const SECONDS: u64 = 20;

/// Bytes of addresses: more ends the process.
const ADDRESSES: u64 = 2_000_000_000;

/// Runs a command that has to end by itself, within little memory.
fn run(dir: &TestDirectory, line: &str) -> Output {
    let mut command = Command::new("timeout");
    let limit = format!("--as={ADDRESSES}");
    let seconds = (10 * SECONDS).to_string();
    let cpu = format!("--cpu={SECONDS}");
    command.args(["-s", "KILL", &seconds, "prlimit", &limit, &cpu, env!("CARGO_BIN_EXE_foretell")]);
    command.args(line.split_whitespace()).current_dir(dir.path(".")).stdin(Stdio::null()).output().unwrap()
}

/// Runs what must fail with a message; the message.
fn fails(dir: &TestDirectory, line: &str) -> String {
    let output = run(dir, line);
    let message = stderr(&output);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{line}: {:?} {message}", output.status);
    assert!(message.contains("error: ") && !message.contains("panicked"), "{line}: {message}");
    message
}

fn fifo(dir: &TestDirectory, name: &str) {
    assert!(Command::new("mkfifo").arg(dir.path(name)).status().unwrap().success());
}

fn sparse(dir: &TestDirectory, name: &str) {
    File::create(dir.path(name)).unwrap().set_len(1 << 40).unwrap();
}

fn trained() -> TestDirectory {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --out model --log none"));
    dir
}

#[test]
fn a_lock_that_is_no_lock_is_neither_followed_nor_deleted() {
    let dir = trained();
    let predict = format!("predict --model model {LONG} --threads 1 --out f.csv");
    let fit = format!("fit {LONG} --model NLinear {SMALL} --out new --overwrite");
    for (lock, line) in [(".f.csv.lock", predict), (".new.lock", fit)] {
        dir.put("precious", "years of work");
        for put in [
            |dir: &TestDirectory, lock: &str| symlink(dir.path("precious"), dir.path(lock)).unwrap(),
            |dir: &TestDirectory, lock: &str| fs::hard_link(dir.path("precious"), dir.path(lock)).unwrap(),
            |dir: &TestDirectory, lock: &str| dir.put(lock, "a list of locks"),
            |dir: &TestDirectory, lock: &str| fifo(dir, lock),
        ] {
            put(&dir, lock);
            let message = fails(&dir, &line);
            assert!(message.contains(lock) && message.contains("no lock of foretell"), "{message}");
            assert_eq!(dir.read("precious"), "years of work");
            assert!(dir.path(lock).symlink_metadata().is_ok(), "it was deleted");
            fs::remove_file(dir.path(lock)).unwrap();
        }
        assert!(run(&dir, &line).status.success());
    }
}

/// Between the look at the paths and the rename. `ATTACKS=1000` tries longer.
#[test]
fn an_output_that_becomes_a_link_to_an_input_never_replaces_it() {
    let dir = trained();
    let data = dir.read("long.csv");
    let attacks = std::env::var("ATTACKS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_usize).max(1);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                symlink("long.csv", dir.path("switch")).unwrap();
                fs::rename(dir.path("switch"), dir.path("f.csv")).unwrap();
                dir.put("switch", "an output of before");
                fs::rename(dir.path("switch"), dir.path("f.csv")).unwrap();
            }
        });
        for attack in 0..attacks {
            let output = dir.run(&format!("predict --model model {LONG} --threads 1 --out f.csv"));
            let message = stderr(&output);
            // A panic here would leave the other thread at work.
            let held = dir.read("long.csv") == data && matches!(output.status.code(), Some(0..=2));
            done.store(!held || attack + 1 == attacks, Relaxed);
            assert!(held, "{message}");
        }
    });
}

#[test]
fn pipes_and_devices_in_directories_are_refused() {
    let dir = trained();
    let state = format!("fit {LONG} --model NLinear {SMALL} --out new --checkpoint state");
    let overwrite = format!("fit {LONG} --model NLinear {SMALL} --out bad --overwrite --checkpoint state");
    fs::create_dir(dir.path("bad")).unwrap();
    fs::create_dir(dir.path("state")).unwrap();
    for (name, line) in [
        ("bad/configuration.json", &overwrite[..]),
        ("bad/NLinear_0.safetensors", &overwrite),
        ("bad/configuration.json", "inspect bad"),
        ("bad/configuration.json", "predict --model bad --data long.csv"),
        ("bad/configuration.pkl", "import --from bad --freq D --out new"),
        ("bad/NLinear_0.ckpt", "import --from bad/NLinear_0.ckpt --freq D --out new"),
        ("state/training-0-model-0.safetensors", &state),
        ("state/training-0-model-0.safetensors", "inspect state"),
    ] {
        for kind in ["pipe", "link to a pipe", "device"] {
            match kind {
                "pipe" => fifo(&dir, name),
                "link to a pipe" => {
                    fifo(&dir, "pipe");
                    symlink(dir.path("pipe"), dir.path(name)).unwrap();
                }
                _ => symlink("/dev/zero", dir.path(name)).unwrap(),
            }
            // A model needs a configuration beside it.
            if name.ends_with("0.ckpt") || name.ends_with("NLinear_0.safetensors") {
                dir.put("bad/configuration.json", r#"{"nf_format":"2"}"#);
            }
            let message = fails(&dir, line);
            let refused = ["is no regular file", "overwriting would delete"];
            assert!(refused.iter().any(|said| message.contains(said)), "{line}, {kind}: {message}");
            for left in [name, "pipe", "bad/configuration.json"] {
                let _ = fs::remove_file(dir.path(left));
            }
        }
    }
}

#[test]
fn files_without_an_end_are_refused_before_they_fill_memory() {
    let dir = trained();
    dir.ok(&format!("predict --model model {LONG} --out f.csv"));
    let predict = "predict --model model --id-col shop --time-col day --target-col sales --threads 1";
    for line in [
        format!("{predict} --data /dev/zero"),
        format!("{predict} --data sparse.csv"),
        format!("{predict} --data unclosed.csv"),
        format!("plot {LONG} --forecast /dev/zero --out f.svg"),
        format!("plot {LONG} --forecast sparse.csv --out f.svg"),
        "models --config /dev/zero".to_owned(),
        format!("fit {LONG} --config sparse.toml"),
    ] {
        sparse(&dir, "sparse.csv");
        sparse(&dir, "sparse.toml");
        let lines = "\"north,2024-01-01,1\n".to_owned() + &"south,2024-01-01,2\n".repeat(3_000_000);
        dir.put("unclosed.csv", &("shop,day,sales\n".to_owned() + &lines));
        fails(&dir, &line);
    }
    for name in ["configuration.json", "NLinear_0.safetensors"] {
        let sound = dir.bytes(&format!("model/{name}"));
        sparse(&dir, &format!("model/{name}"));
        for line in ["inspect model", &format!("{predict} --data long.csv")] {
            let message = fails(&dir, line);
            assert!(message.contains("memory"), "{message}");
        }
        fs::write(dir.path(&format!("model/{name}")), sound).unwrap();
    }
    dir.ok("inspect model");
}

/// Each of its bytes is an object: 20 MB of it would be 2 GB.
#[test]
fn a_pickle_takes_no_more_memory_than_it_may() {
    let dir = TestDirectory::new();
    let nones = vec![b'N'; 20_000_000];
    fs::write(dir.path("MLP_0.ckpt"), [b"\x80\x02(", &nones[..], b"l."].concat()).unwrap();
    let message = fails(&dir, "import --from MLP_0.ckpt --freq D --out model --max-memory 100MB");
    assert!(message.contains("take more than 50 MB of memory"), "{message}");
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_as_a_full_disk_is() {
    let dir = TestDirectory::new();
    let limited = |blocks: u64, line: &str| {
        let mut command = Command::new("sh");
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_foretell")]).args(line.split_whitespace());
        command.current_dir(dir.path(".")).stdin(Stdio::null()).output().unwrap()
    };
    let output = limited(1, &format!("fit {LONG} --model MLP {SMALL} --out model --log none"));
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{:?} {message}", output.status);
    assert!(message.contains("File too large") && !dir.path("model").exists(), "{message}");
    // A lock that cannot be signed is no obstacle to the next one.
    let output = limited(0, &format!("fit {LONG} --model MLP {SMALL} --out model --log none"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!dir.path(".model.lock").exists());
}

#[test]
fn help_that_nobody_can_read_is_a_failure() {
    let dir = TestDirectory::new();
    for line in ["--help", "help fit", "fit --help", "--version"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = dir.command(line).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(stderr(&output).contains("cannot write to standard output"), "{line}: {}", stderr(&output));
        assert!(dir.run(line).status.success());
    }
}
