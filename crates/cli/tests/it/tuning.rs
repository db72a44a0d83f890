//! `foretell tune`.

use std::io::{BufRead as _, BufReader};
#[cfg(unix)]
use std::io::{Read as _, Write as _};
#[cfg(unix)]
use std::os::{fd::OwnedFd, unix::net::UnixStream};
#[cfg(unix)]
use std::process::Child;
use std::process::Stdio;

use serde_json::Value;

use crate::test_directory::{LONG, TestDirectory, rows, stderr};

const TUNE: &str = "tune --h 7 --model NLinear,MLP --trials 8 --set max_steps=3 --set windows_batch_size=16 \
                    --space NLinear.learning_rate=loguniform:1e-4:1e-1 --space hidden_size=[4,8] \
                    --space input_size=[\"h\",\"2h\"] --only-space";

#[test]
fn the_best_of_the_trials_is_trained_on_all_data_and_saved() {
    let dir = TestDirectory::new();
    let json: Value = serde_json::from_str(
        &dir.ok(&format!("{TUNE} {LONG} --threads 2 --json --out best --trials-out trials.csv --quiet")),
    )
    .unwrap();
    let (best, trials) = (&json["best"], json["trials"].as_array().unwrap());
    // NLinear has no hidden_size; of MLP two sizes and two inputs are all there is.
    assert_eq!(trials.len(), 8);
    let least = trials.iter().filter_map(|trial| trial["scores"][0].as_f64()).fold(f64::INFINITY, f64::min);
    assert_eq!(best["scores"][0].as_f64(), Some(least));
    let table = dir.read("trials.csv");
    let table = rows(&table);
    assert_eq!(table[0][..7], ["trial", "model", "score", "rungs", "seconds", "best", "failure"]);
    assert!(
        ["learning_rate", "hidden_size", "input_size"].iter().all(|name| table[0].contains(name)),
        "{:?}",
        table[0]
    );
    assert_eq!(table.len(), 1 + 8);
    let of_best: Vec<_> = table.iter().filter(|row| row[5] == "true").collect();
    assert_eq!((of_best.len(), of_best[0][0]), (1, &*best["trial"].to_string()));

    let model: Value = serde_json::from_str(&dir.ok("inspect best --json")).unwrap();
    let text = model.to_string();
    assert!(text.contains(best["model"].as_str().unwrap()), "{text}");
    assert_eq!(rows(&dir.ok("predict --model best --data long.csv")).len(), 1 + 2 * 7);

    // The same at another number of threads, as a table for people.
    let other: Value =
        serde_json::from_str(&dir.ok(&format!("{TUNE} {LONG} --threads 1 --json --quiet"))).unwrap();
    assert_eq!((&other["best"]["trial"], &other["best"]["scores"]), (&best["trial"], &best["scores"]));
    let told = dir.run(&format!("{TUNE} {LONG} --threads 1"));
    assert!(String::from_utf8_lossy(&told.stdout).contains("hyper-parameters"));
    assert!(stderr(&told).contains("8 done of 8, 0 s left"), "{}", stderr(&told));
}

#[test]
fn a_search_goes_on_from_its_state() {
    let dir = TestDirectory::new();
    // Steps enough that trials are left when it is killed, however late.
    let search = format!("{TUNE} {LONG} --set max_steps=1000");
    let tune = |further: &str| format!("{search} --json --quiet --checkpoint state {further}");
    let whole: Value = serde_json::from_str(&dir.ok(&format!("{search} --json --quiet"))).unwrap();
    // It is killed after the third trial.
    let mut child = dir
        .command(&format!("{search} --threads 1 --log json --checkpoint state --out best"))
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let (mut line, mut trials) = (String::new(), 0);
    while trials < 3 {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "it ended before the third trial");
        trials += usize::from(line.contains("\"event\":\"trial\""));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(dir.path("state/search.json").exists() && !dir.path("best").exists());
    let message = dir.fails(1, &tune("--search-seed 5"));
    assert!(message.contains("another search") && message.contains("--checkpoint"), "{message}");
    let resumed: Value = serde_json::from_str(&dir.ok(&tune("--out best"))).unwrap();
    assert_eq!(resumed["best"]["scores"], whole["best"]["scores"]);
    assert_eq!(resumed["trials"].as_array().unwrap().len(), 8);
    assert!(!dir.path("state").exists(), "no one needs it any more");
}

#[test]
fn spaces_stand_in_the_run_file_too() {
    let dir = TestDirectory::new();
    dir.put(
        "run.toml",
        "data = \"long.csv\"\nid-col = \"shop\"\ntime-col = \"day\"\ntarget-col = \"sales\"\nh = 7\n\
         [tune]\nmodel = [\"NLinear\", \"MLP\"]\nsampler = \"grid\"\nonly-space = true\n\
         [tune.set]\nmax_steps = 2\nwindows_batch_size = 16\n\
         [tune.space]\ninput_size = [\"2h\", 21]\nlearning_rate = \"loguniform:1e-3:1e-2\"\n\
         [tune.space.MLP]\nlearning_rate = [1e-3]\nhidden_size = [4, 8]\n",
    );
    let json: Value = serde_json::from_str(&dir.ok("tune --config run.toml --quiet --json")).unwrap();
    let trials = json["trials"].as_array().unwrap();
    let of = |model: &str| trials.iter().filter(|trial| trial["model"] == model).count();
    // Two inputs times three rates; two inputs, one rate, two sizes.
    assert_eq!((of("NLinear"), of("MLP")), (6, 4));
    assert!(
        trials
            .iter()
            .all(|trial| [14, 21].map(Value::from).contains(&trial["hyper_parameters"]["input_size"]))
    );
}

#[test]
fn mistakes_are_told() {
    let dir = TestDirectory::new();
    let message = dir.fails(2, &format!("tune {LONG} --h 7 --model NLinear --space learning_rat=[1]"));
    assert!(message.contains("--space learning_rat: none of the models has"), "{message}");
    let message =
        dir.fails(2, &format!("tune {LONG} --h 7 --model NLinear --space learning_rate=uniform:2:1"));
    assert!(message.contains("loguniform:1e-4:1e-1"), "{message}");
    let message = dir.fails(2, &format!("tune {LONG} --h 7 --model NLinear --space MLP.learning_rate=[1]"));
    assert!(message.contains("there is no MLP"), "{message}");
    let message = dir.fails(2, &format!("tune {LONG} --h 7 --model NLinear --metric coverage"));
    assert!(message.contains("no error that a search could make small"), "{message}");
    let message = dir.fails(2, &format!("tune {LONG} --h 7 --model NLinear --tail 3"));
    assert!(message.contains("h = 7"), "{message}");
}

/// TERM keeps the trials until then, in the table and in the state.
#[cfg(unix)]
#[test]
fn what_was_tried_is_kept_when_a_search_is_stopped() {
    let dir = TestDirectory::new();
    // One of the two is never done.
    let search = format!(
        "tune {LONG} --h 7 --input-size 14 --model NLinear --set windows_batch_size=16 --sampler grid --only-space \
         --space max_steps=[3,100000000] --threads 2 --trials-out trials.csv --checkpoint state --out best"
    );
    let rest = stopped_after_a_trial(&dir, &search);
    assert!(rest.iter().any(|line| line.contains("stopped the search after 1 trials")), "{rest:?}");
    assert_eq!(rows(&dir.read("trials.csv")).len(), 1 + 1);
    assert!(dir.path("state/search.json").exists() && !dir.path("best").exists());
}

#[test]
fn no_setting_is_tried_twice_and_the_seasonal_naive_forecast_stands_beside_them() {
    let dir = TestDirectory::new();
    let rows = (0..48).map(|day| format!("a,{day},{}\n", 50 + day + (day * 7 % 5)));
    dir.put("d.csv", &("unique_id,ds,y\n".to_owned() + &rows.collect::<String>()));
    let tune = "tune --data d.csv --model AutoETS,AutoTheta --h 4 --season 5 --trials 9";
    let output = dir.run(&format!("{tune} --json"));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let trials = json["trials"].as_array().unwrap();
    // AutoETS has nothing to search; AutoTheta two ways of decomposing, of which one is that of a model as it is.
    let models: Vec<&str> = trials.iter().map(|trial| trial["model"].as_str().unwrap()).collect();
    assert_eq!(models.iter().filter(|model| **model == "AutoTheta").count(), 2, "{json}");
    assert_eq!(models.len(), 3, "{json}");
    let log = crate::test_directory::stderr(&output);
    assert!(log.contains("3 done of 3") && !log.contains("of 9"), "{log}");
    assert_eq!(json["baseline"]["model"], "SeasonalNaive");
    let table = dir.ok(&format!("{tune} --quiet"));
    let (trials, kept) = table.split_once("\n\n").unwrap();
    assert!(trials.lines().last().unwrap().starts_with("-      SeasonalNaive"), "{table}");
    assert!(kept.starts_with("kept window:  mae ") && kept.contains(", SeasonalNaive "), "{table}");
    assert!(json["kept"]["score"].is_f64() && json["kept"]["baseline"].is_f64(), "{json}");
    let short = dir.ok("tune --data d.csv --model AutoTheta --h 24 --season 1 --quiet");
    assert!(short.contains("kept window:  none, as most series are too short"), "{short}");
}

#[test]
fn without_models_those_that_suit_the_data_are_searched_and_the_best_combined() {
    let dir = TestDirectory::new();
    let month = |t: usize| 100 + t + [35, 0, 38, 50, 30, 27][t % 6] + t * 7 % 5;
    let rows = (0..60).map(|t| format!("a,{t},{}\n", month(t)));
    dir.put("d.csv", &("unique_id,ds,y\n".to_owned() + &rows.collect::<String>()));
    let tune = "tune --data d.csv --h 4 --season 6 --n-windows 2";
    let output = dir.run(&format!("{tune} --json --out best"));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let log = stderr(&output);
    assert!(log.contains("searching the models that suit the data: SeasonalNaive, FLAIR"), "{log}");
    let trials = json["trials"].as_array().unwrap();
    assert!(trials.iter().any(|trial| trial["model"] == "AutoARIMA"), "{json}");
    let combined: Vec<u64> = json["combined"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert_eq!((combined.len(), Some(combined[0])), (5, json["best"]["trial"].as_u64()), "{json}");
    // The board has the members, and the seasonal naive beside them.
    let best = format!("{}-trial{}", json["best"]["model"].as_str().unwrap(), combined[0]);
    assert!(log.contains(&best) && log.contains("which chose nothing"), "{log}");
    assert!(log.contains("season: 6 steps"), "{log}");
    // The seasons are those that were named, and are not searched.
    let model: Value = serde_json::from_str(&dir.ok("inspect best --json")).unwrap();
    assert!(model.to_string().contains("\"season_length\":6"), "{model}");
    let forecast = dir.ok("predict --model best --data d.csv --level 80");
    assert!(forecast.lines().next().is_some_and(|head| head.contains("Auto-lo-80")), "{forecast}");
    let alone = dir.ok(&format!("{tune} --combine 1 --json --quiet"));
    assert!(serde_json::from_str::<Value>(&alone).unwrap()["combined"].is_null(), "{alone}");
}

#[test]
fn what_is_saved_has_intervals_or_the_log_says_how() {
    let dir = TestDirectory::new();
    let command = format!("tune {LONG} --h 7 --model WindowAverage --trials 2");
    let output = dir.run(&format!("{command} --out plain"));
    let log = stderr(&output);
    assert!(log.contains("WindowAverage forecasts one number") && log.contains("--intervals 20"), "{log}");
    // The advice works.
    let advised = dir.run(&format!("{command} --out advised --intervals 20"));
    assert!(!stderr(&advised).contains("forecasts one number"), "{}", stderr(&advised));
    assert!(dir.ok("predict --model advised --data long.csv --level 80").contains("WindowAverage-lo-80"));
    let combined = dir.run(&format!("{command} --out combined --combine 5"));
    assert!(combined.status.success(), "{}", stderr(&combined));
    assert!(dir.ok("predict --model combined --data long.csv --level 80").contains("Auto-lo-80"));
}

#[test]
fn networks_are_trained_anew_before_windows_where_that_is_asked_for() {
    let dir = TestDirectory::new();
    let tune = format!(
        "tune {LONG} --h 7 --input-size 14 --model NLinear --set max_steps=3 --set windows_batch_size=16 --trials 1 --n-windows 3 --json \
         --quiet"
    );
    let score = |further: &str| -> f64 {
        let json: Value = serde_json::from_str(&dir.ok(&format!("{tune} {further}"))).unwrap();
        json["best"]["scores"][0].as_f64().unwrap()
    };
    assert_ne!(score(""), score("--refit"));
    assert_ne!(score("--refit"), score("--refit 2"));
}

/// A command that runs, and the lines of its log.
#[cfg(unix)]
fn logged(dir: &TestDirectory, command: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut command = dir.command(&format!("{command} --log json"));
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    (child, log)
}

/// Sends SIGTERM.
#[cfg(unix)]
fn terminate(child: &Child) {
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
}

/// The lines that a command printed after its first trial, when SIGTERM stopped it.
#[cfg(unix)]
fn stopped_after_a_trial(dir: &TestDirectory, command: &str) -> Vec<String> {
    let (mut child, mut log) = logged(dir, command);
    assert!(log.any(|line| line.contains("\"event\":\"trial\"")), "it ended before a trial");
    terminate(&child);
    let rest: Vec<String> = log.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    rest
}

/// What TERM leaves of the last training is replaced by the same command, which resumes it.
#[cfg(unix)]
#[test]
fn a_search_that_is_stopped_in_its_last_training_resumes() {
    let dir = TestDirectory::new();
    let command = format!(
        "tune {LONG} --h 7 --input-size 14 --model NLinear --set windows_batch_size=16 --sampler grid --only-space \
         --space learning_rate=[1e-3] --set max_steps=4000 --checkpoint state --checkpoint-every 100 --out best"
    );
    std::fs::create_dir(dir.path("state")).unwrap();
    let (mut child, mut log) = logged(&dir, &command);
    for event in ["trial", "step"] {
        assert!(
            log.any(|line| line.contains(&format!("\"event\":\"{event}\""))),
            "it ended before a {event}"
        );
    }
    terminate(&child);
    assert!(log.any(|line| line.contains("\"event\":\"interrupt\"")), "it ended before it heard");
    let rest: Vec<String> = log.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    let stopped = rest.iter().find(|line| line.contains("stopped the")).expect("a message");
    for part in ["training of the best model", "the same command resumes it"] {
        assert!(stopped.contains(part), "{stopped}");
    }
    assert!(dir.path("best").exists());
    dir.ok(&command);
    assert_eq!(rows(&dir.ok("predict --model best --data long.csv")).len(), 1 + 2 * 7);
    assert!(!dir.ok("inspect best --json").contains("\"interruption\":{"));
    // The directory was there before.
    assert_eq!(std::fs::read_dir(dir.path("state")).unwrap().count(), 0);
}

/// The lines that a search printed after its trials, when SIGTERM came before its last fits: it waits for them until someone reads what it
/// prints of the trials, as the line to its reader is full.
#[cfg(unix)]
fn stopped_before_the_last_fits(dir: &TestDirectory, command: &str) -> Vec<String> {
    let (mut reader, mut writer) = UnixStream::pair().unwrap();
    writer.set_nonblocking(true).unwrap();
    while writer.write(b".").is_ok() {}
    writer.set_nonblocking(false).unwrap();
    let mut command = dir.command(&format!("{command} --trials-out trials.csv --log json"));
    let mut child = command.stderr(Stdio::piped()).stdout(OwnedFd::from(writer)).spawn().unwrap();
    // It has the other end of the line, too.
    drop(command);
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut wait_for = |event: &str| {
        assert!(log.any(|line| line.contains(&format!("\"event\":\"{event}\""))), "it ended before {event}");
    };
    // The table of trials is written when the search is over.
    wait_for("wrote");
    terminate(&child);
    wait_for("interrupt");
    reader.read_to_end(&mut Vec::new()).unwrap();
    let rest: Vec<String> = log.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    rest
}

/// What is fitted until TERM is not saved as what the trials give.
#[cfg(unix)]
#[test]
fn trials_whose_last_fits_are_stopped_are_combined_by_the_same_command() {
    let dir = TestDirectory::new();
    let command = |name: &str| {
        format!(
            "tune {LONG} --h 7 --input-size 14 --model NLinear --set windows_batch_size=16 --sampler grid --only-space \
             --space learning_rate=[1e-3,1e-4] --combine 2 --set max_steps=20 --checkpoint state-{name} --out best-{name}"
        )
    };
    let forecast = |name: &str| dir.ok(&format!("predict --model best-{name} --data long.csv"));
    dir.ok(&command("whole"));
    let rest = stopped_before_the_last_fits(&dir, &command("parts"));
    let stopped = rest.iter().find(|line| line.contains("stopped the last fits")).expect("a message");
    assert!(stopped.contains("the same command resumes it"), "{stopped}");
    assert!(!dir.path("best-parts").exists(), "{rest:?}");
    dir.ok(&command("parts"));
    assert_eq!(forecast("parts"), forecast("whole"));
    assert!(!dir.path("state-parts").exists());
}
