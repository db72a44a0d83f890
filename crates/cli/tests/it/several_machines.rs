//! One training by several processes, as mpirun starts them.

#[cfg(feature = "mpi")]
mod with_mpi {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{Command, Output, Stdio};

    use crate::test_directory::{TestDirectory, stderr};

    /// Models of independent and coupled windows, of products of weights, with dropout and running statistics.
    const MODELS: &str = "--model NHITS,LSTM,TCN,PatchTST,MLP --set LSTM.encoder_hidden_size=16 --set TCN.encoder_hidden_size=16 \
        --set PatchTST.hidden_size=16 --set PatchTST.n_heads=4 --set PatchTST.patch_len=4 --set MLP.hidden_size=64";

    /// A panel of six series, three with gaps, in two files of which no series is whole in one.
    fn data() -> TestDirectory {
        let dir = TestDirectory::new();
        let mut halves = ["unique_id,ds,y\n".to_owned(), "unique_id,ds,y\n".to_owned()];
        for series in 0..6 {
            for row in 0..90_usize {
                let y = 5.0 + ((row * (series + 3)) as f64 * 0.31).sin() * 3.0 + series as f64;
                let y = if series % 2 == 0 && row % 17 == 5 { String::new() } else { format!("{y:.4}") };
                halves[row / 50] += &format!("s{series},{row},{y}\n");
            }
        }
        dir.put("part-0.csv", &halves[0]);
        dir.put("part-1.csv", &halves[1]);
        dir
    }

    fn fit(out: &str, further: &str) -> String {
        format!(
            "fit --data part-0.csv --data part-1.csv --freq 1 --fill forward --h 4 --input-size 16 --val-size 8 --threads 1 \
             --set max_steps=12 --set windows_batch_size=150 --set valid_batch_size=2 --set val_check_steps=3 \
             --local-scaler standard --out {out} {further}"
        )
    }

    /// The command line, run by this many processes.
    fn together(dir: &TestDirectory, processes: usize, line: &str) -> Command {
        let mut command = Command::new("mpirun");
        command.args(["--allow-run-as-root", "--oversubscribe", "-n", &processes.to_string()]);
        command.arg(env!("CARGO_BIN_EXE_foretell")).args(line.split_whitespace());
        command.current_dir(dir.path("")).stdin(Stdio::null());
        command
    }

    fn run(dir: &TestDirectory, processes: usize, line: &str) -> Output {
        together(dir, processes, line).output().unwrap()
    }

    fn files(dir: &TestDirectory, name: &str) -> BTreeMap<String, Vec<u8>> {
        let read =
            |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
        fs::read_dir(dir.path(name)).unwrap().map(|entry| read(entry.unwrap())).collect()
    }

    /// Trains by one process alone and by one to four together, and compares all bytes of the models; what the first one reports.
    fn same_for_all(further: &str) -> String {
        let dir = data();
        let alone = dir.run(&fit("alone", further));
        assert!(alone.status.success(), "{}", stderr(&alone));
        for processes in 1..=4 {
            let out = format!("by-{processes}");
            let output = run(&dir, processes, &fit(&out, further));
            assert!(output.status.success(), "{processes} processes: {}", stderr(&output));
            assert!(files(&dir, "alone") == files(&dir, &out), "{processes} processes: {further}");
        }
        stderr(&alone)
    }

    #[test]
    fn any_number_of_processes_trains_the_same_models() {
        same_for_all(MODELS);
    }

    #[test]
    fn in_bfloat16_too() {
        same_for_all(&format!("{MODELS} --precision bf16"));
    }

    #[test]
    fn early_stopping_and_intervals_too() {
        let report = same_for_all(
            "--model LSTM,NHITS --set LSTM.encoder_hidden_size=16 --set LSTM.learning_rate=0.05 --set NHITS.learning_rate=0.005 \
             --set early_stop_patience_steps=1 --set max_steps=60 --intervals 2",
        );
        assert!(!report.contains(" 60 steps"), "{report}");
    }

    /// Six series in a file for each quarter, and a series in one of its own; some rows are not known.
    fn quarters() -> TestDirectory {
        let dir = TestDirectory::new();
        fs::create_dir(dir.path("parts")).unwrap();
        for quarter in 0..4 {
            let mut csv = "unique_id,ds,y,promo,kind,available_mask\n".to_owned();
            let series = if quarter == 3 { 0..7 } else { 0..6 };
            for (series, row) in
                series.flat_map(|series| (0..30).map(move |row| (series, 30 * quarter + row)))
            {
                let y = 5.0 + ((row * (series + 3)) as f64 * 0.31).sin() * 3.0 + series as f64;
                let (kind, known) = (["new", "old", "used"][(row + quarter) % 3], i32::from(row % 13 != 4));
                csv += &format!("s{series},{row},{y:.4},{},{kind},{known}\n", row % 5);
            }
            fs::create_dir(dir.path(&format!("parts/quarter={quarter}"))).unwrap();
            dir.put(&format!("parts/quarter={quarter}/rows.csv"), &csv);
        }
        dir
    }

    #[test]
    fn each_process_reads_some_of_the_files() {
        let dir = quarters();
        let fit = "fit --data parts --freq 1 --h 4 --input-size 12 --val-size 8 --threads 1 --model NHITS,LSTM,TSMixerx \
            --futr-exog promo,kind --cat-exog kind --set max_steps=6 --set windows_batch_size=150 --set val_check_steps=3 \
            --set LSTM.encoder_hidden_size=16 --set TSMixerx.n_series=7 --set TSMixerx.ff_dim=16 --local-scaler standard";
        dir.ok(&format!("{fit} --out alone"));
        for processes in 1..=4 {
            for (place, scratch) in [("disk", "--scratch ."), ("memory", "")] {
                let out = format!("by-{processes}-{place}");
                let output = run(&dir, processes, &format!("{fit} {scratch} --out {out}"));
                assert!(output.status.success(), "{processes} processes: {}", stderr(&output));
                assert!(
                    files(&dir, "alone") == files(&dir, &out),
                    "{processes} processes, numbers on {place}"
                );
            }
        }
        let mut left: Vec<String> = fs::read_dir(dir.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected: Vec<String> = ["alone", "long.csv", "parts", "wide.csv"].map(String::from).into();
        expected.extend((1..=4).flat_map(|n| ["disk", "memory"].map(|place| format!("by-{n}-{place}"))));
        expected.sort();
        assert_eq!(left, expected, "no file of numbers is left");

        let mut command = together(&dir, 1, &format!("{fit} --out model"));
        command.args([":", "-n", "1", env!("CARGO_BIN_EXE_foretell")]);
        let inferred = fit.replace("--freq 1 ", "");
        let output = command.args(format!("{inferred} --out model").split_whitespace()).output().unwrap();
        let message = stderr(&output);
        assert!(
            !output.status.success()
                && message.contains("process 1 on ")
                && message.contains(" would read the data in another way than process 0 on "),
            "{message}"
        );
        dir.put("parts/quarter=2/rows.csv", "unique_id,ds,y,promo,kind,available_mask\ns1,60,high,1,new,1\n");
        let output = run(&dir, 3, &format!("{fit} --scratch . --out model"));
        let message = stderr(&output);
        assert!(message.matches("column `y`").count() == 1 && message.contains("quarter=2"), "{message}");
    }

    #[test]
    fn process_0_alone_reports() {
        let dir = data();
        let output = run(&dir, 3, &fit("model", "--model MLP --log json"));
        let count = |event: &str| stderr(&output).matches(&format!("\"event\":\"{event}\"")).count();
        assert_eq!((count("step"), count("fitted"), count("wrote"), count("done")), (12, 1, 1, 1));
        let mistaken = run(&dir, 3, &fit("model", "--model MLP"));
        let message = stderr(&mistaken);
        assert_eq!(
            (mistaken.status.code(), message.matches("--out model exists").count()),
            (Some(2), 1),
            "{message}"
        );
        let piped = run(&dir, 2, "fit --data - --freq 1 --h 4 --input-size 16 --model MLP --out piped");
        let message = stderr(&piped);
        assert_eq!(
            (piped.status.code(), message.matches("standard input").count()),
            (Some(2), 1),
            "{message}"
        );
    }

    #[test]
    fn processes_that_would_train_something_else_are_named() {
        let dir = data();
        let mut command = together(&dir, 1, &fit("model", "--model MLP"));
        command.args([":", "-n", "1", env!("CARGO_BIN_EXE_foretell")]);
        let output = command.args(fit("model", "--model MLP --seed 7").split_whitespace()).output().unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(
            message.contains("process 1 on ") && message.contains("MLP.random_seed is 7, not 1"),
            "{message}"
        );

        let mut command = together(&dir, 1, &fit("model", "--model MLP"));
        command.args([":", "-n", "1", "-x", "FORETELL_SIMD=scalar", env!("CARGO_BIN_EXE_foretell")]);
        let output = command.args(fit("model", "--model MLP").split_whitespace()).output().unwrap();
        let message = stderr(&output);
        assert!(message.contains("SIMD level and features is \"scalar, "), "{message}");
        assert!(!dir.path("model").exists());
    }

    /// The last of the processes that `mpirun` started.
    #[cfg(target_os = "linux")]
    fn last_child(of: u32) -> String {
        let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
        children.split_whitespace().next_back().expect("processes at work").to_owned()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_is_killed_ends_the_job_which_any_number_resumes() {
        let dir = data();
        let steps = "--model NHITS,LSTM --set max_steps=40 --set LSTM.encoder_hidden_size=16";
        dir.ok(&fit("alone", steps));
        let with_state = fit("parts", &format!("{steps} --checkpoint state --checkpoint-every 3 --log json"));
        let mut job = together(&dir, 3, &with_state).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(job.stderr.take().unwrap());
        let (mut line, mut seen) = (String::new(), 0);
        while seen < 50 {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "it ended before step 50");
            seen += usize::from(line.contains("\"event\":\"step\""));
        }
        assert!(Command::new("kill").args(["-9", &last_child(job.id())]).status().unwrap().success());
        let mut rest = String::new();
        log.read_to_string(&mut rest).unwrap();
        assert!(!job.wait().unwrap().success());
        assert!(
            rest.contains("process rank 2") && rest.contains("state holds the state after step "),
            "{rest}"
        );
        assert!(!dir.path("parts").exists());

        let output = run(&dir, 2, &with_state);
        let messages = stderr(&output);
        assert!(output.status.success() && messages.contains("\"event\":\"resumed\""), "{messages}");
        assert!(files(&dir, "alone") == files(&dir, "parts"));
        assert!(!dir.path("state").exists(), "no one needs it any more");
    }
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_program_without_mpi_says_so_where_mpirun_started_it() {
    use crate::test_directory::{LONG, SMALL, TestDirectory};

    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model MLP {SMALL} --out model");
    let output = dir.command(&fit).env("OMPI_COMM_WORLD_SIZE", "4").output().unwrap();
    let message = crate::test_directory::stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("one of 4 processes") && message.contains("without the feature mpi"),
        "{message}"
    );
    let alone = dir.command(&fit).env("OMPI_COMM_WORLD_SIZE", "1").output().unwrap();
    assert!(alone.status.success(), "one process needs no others");
}
