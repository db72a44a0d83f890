//! Looking at what is there: model directories, forecasts, and the log as JSON.

use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use crate::test_directory::{LONG, SMALL, TestDirectory, date, stderr};

fn fitted(options: &str) -> TestDirectory {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} {SMALL} --log none --out model {options}"));
    dir
}

#[test]
fn a_model_directory_is_told() {
    let dir = fitted(
        "--model NLinear,MLP --set MLP.hidden_size=8 --set MLP.alias=net --local-scaler robust --set \
         scaler_type=standard",
    );
    let text = dir.ok("inspect model");
    for part in
        ["h", "7", "shop (id), day (time), sales (target)", "robust", "net (MLP)", "NLinear", "hidden_size"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("learning_rate") && !text.contains("not runnable"), "{text}");
    let version = env!("CARGO_PKG_VERSION");
    let trained = format!("2 series, 240 rows from 2024-01-01 to 2024-04-29, by foretell {version}");
    assert!(text.contains(&trained), "{trained}: {text}");
    assert!(text.contains("random_seed") && text.lines().any(|line| line.starts_with("saved")), "{text}");
    let tensors = dir.ok("inspect model --tensors");
    assert!(tensors.contains("linear.weight") && tensors.contains("[7, 14]"), "{tensors}");

    let found: Value = serde_json::from_str(&dir.ok("inspect model --json")).unwrap();
    assert_eq!(
        (&found["h"], &found["freq"], &found["local_scaler"]),
        (&7.into(), &"D".into(), &"robust".into())
    );
    let linear = &found["models"][0];
    assert_eq!((&linear["class"], &linear["parameters"]), (&"NLinear".into(), &(7 * 14 + 7).into()));
    assert_eq!(linear["loss"], serde_json::json!({ "MAE": {} }));
    let set: Vec<&String> = found["models"][1]["hyper_parameters"].as_object().unwrap().keys().collect();
    assert_eq!(set, ["max_steps", "windows_batch_size", "hidden_size"]);
}

#[test]
fn what_counted_for_forecasts_is_told() {
    let dir = fitted("--model TFT,NLinear --set TFT.hidden_size=4 --set TFT.n_head=2 --set TFT.alias=fusion");
    let text = dir.ok("inspect model --data long.csv");
    for part in ["fusion: mean weights over", "observed_target", "repeated_target", "most attended step"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("NLinear"), "{text}");
    let found: Value = serde_json::from_str(&dir.ok("inspect model --data long.csv --json")).unwrap();
    let past = &found[0]["past"];
    assert_eq!((&found[0]["model"], &past["steps"][13]), (&"fusion".into(), &0.into()));
    let of = |name: &str| past["columns"][name][3].as_f64().unwrap();
    assert!((of("observed_target") + of("repeated_target") - 1.0).abs() < 1e-5, "{past}");
    assert_eq!(found[0]["attention"]["columns"].as_object().map(serde_json::Map::len), Some(14 + 7));

    let dir = fitted("--model NLinear");
    let error = dir.fails(2, "inspect model --data long.csv");
    assert!(error.contains("NLinear") && error.contains("TFT"), "{error}");
    assert!(dir.fails(2, "inspect model --wide").contains("data"));
    assert!(dir.fails(2, "inspect model --futr long.csv").contains("--data"));
}

#[test]
fn directories_of_neuralforecast_are_told_and_damaged_ones_refused() -> io::Result<()> {
    let dir = TestDirectory::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkpoint/tests/fixtures");
    let found: Value =
        serde_json::from_str(&dir.ok(&format!("inspect {} --json", fixtures.join("exogenous").display())))?;
    assert_eq!(found["models"].as_array().map(Vec::len), Some(2));
    assert!(found["dataset"][1].as_u64() > Some(0));

    // A model that foretell does not have is shown all the same.
    fs::create_dir(dir.path("other"))?;
    let mut unknown = fs::read(fixtures.join("single/TCN_0.safetensors"))?;
    for at in 0..unknown.len() - 3 {
        if unknown[at..].starts_with(b"TCN") {
            unknown[at..at + 3].copy_from_slice(b"XYZ");
        }
    }
    fs::write(dir.path("other/XYZ_0.safetensors"), unknown)?;
    let found: Value = serde_json::from_slice(&fs::read(fixtures.join("integers/configuration.json"))?)?;
    let mut configuration = found;
    let tensors = dir.bytes("other/XYZ_0.safetensors");
    let header = String::from_utf8_lossy(&tensors[..tensors.len().min(20_000)]).into_owned();
    let h = header.split("\\\"h\\\": ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or("1");
    configuration["configuration"]["h"] = h.trim().parse::<u64>().unwrap().into();
    dir.put("other/configuration.json", &configuration.to_string());
    let text = dir.ok("inspect other");
    assert!(
        text.contains("XYZ") && text.contains("not runnable") && text.contains("no model is called XYZ"),
        "{text}"
    );

    assert!(dir.fails(1, "inspect nowhere").contains("nowhere"));
    assert!(dir.fails(1, "inspect .").contains("not a model directory"));
    dir.put("other/configuration.json", "{\"nf_format\": ");
    assert!(dir.fails(1, "inspect other").contains("configuration.json is not valid JSON"));
    Ok(())
}

#[test]
fn forecasts_are_drawn_with_their_intervals() {
    let quantiles = r#"--model NLinear,MLP --set MLP.hidden_size=8 --set loss={"MQLoss":{"level":[80,95]}}"#;
    let dir = fitted(quantiles);
    let columns = LONG.strip_prefix("--data long.csv ").unwrap();
    let extensions = if cfg!(feature = "parquet") { vec!["csv", "parquet"] } else { vec!["csv"] };
    for extension in &extensions {
        dir.ok(&format!("predict --model model --data long.csv --out f.{extension}"));
        let output = dir
            .run(&format!("plot --data long.csv {columns} --forecast f.{extension} --out {extension}.svg"));
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(
            stderr(&output).contains(&format!("wrote {extension}.svg: 2 series, NLinear, MLP")),
            "{}",
            stderr(&output)
        );
    }
    let svg = dir.read("csv.svg");
    for extension in &extensions[1..] {
        let other = dir.read(&format!("{extension}.svg"));
        assert_eq!(svg, other.replace(&format!("f.{extension}"), "f.csv"));
    }
    for part in ["north", "south", "NLinear", "MLP", "95 % interval", "80 % interval", "2024-03-23", "05-04"]
    {
        assert!(svg.contains(part), "{part} is missing");
    }
    // Two series, two models, two intervals.
    assert_eq!(svg.matches("<polygon").count(), 8);

    let plot = format!("plot --data long.csv {columns} --forecast");
    let one = dir.ok(&format!("{plot} f.csv --ids south --last 20 --out -"));
    assert!(one.contains("south") && !one.contains("north") && one.contains("the last 20 steps"), "{one}");
    dir.ok(&format!("{plot} f.csv"));
    assert!(dir.path("f.svg").exists());
    let message = dir.fails(2, &format!("{plot} f.csv --ids sooth"));
    assert!(message.contains("long.csv has no such series; did you mean `south`?"), "{message}");
    assert!(dir.fails(1, &format!("{plot} nowhere.csv")).contains("nowhere.csv"));
    let message = dir.fails(1, &format!("{plot} wide.csv"));
    assert!(message.contains("wide.csv has no column `shop`"), "{message}");
    dir.put("truth.csv", "shop,day,sales\nnorth,2024-04-30,1\n");
    let message = dir.fails(2, &format!("{plot} truth.csv"));
    assert!(message.contains("truth.csv has no column of forecasts beside sales"), "{message}");
}

#[test]
fn ids_with_commas_and_some_of_the_models_are_drawn() {
    let dir = TestDirectory::new();
    let (mut data, mut forecast) = ("unique_id,ds,y\n".to_owned(), "unique_id,ds,A,B\n".to_owned());
    for id in ["Smith, John", "north", "a \"b\""] {
        let id = format!("\"{}\"", id.replace('"', "\"\""));
        (0..40).for_each(|day| data += &format!("{id},{},{}\n", date(day), day % 7));
        (40..47).for_each(|day| forecast += &format!("{id},{},1,2\n", date(day)));
    }
    dir.put("data.csv", &data);
    dir.put("f.csv", &forecast);
    let plot = |further: &[&str]| {
        let line = "plot --data data.csv --forecast f.csv --out - --freq D --log none";
        let output = dir.command(line).args(further).output().unwrap();
        assert!(output.status.success(), "{further:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let one = plot(&["--ids", "Smith, John"]);
    assert!(one.contains("Smith, John") && !one.contains("north"), "{one}");
    for ids in [&["--ids", "Smith, John", "--ids", "north"][..], &["--ids", "\"Smith, John\",north"]] {
        let two = plot(ids);
        assert!(
            two.contains("Smith, John") && two.contains("north") && two.contains("2 of 3 series"),
            "{two}"
        );
    }
    assert!(plot(&["--ids", "a \"b\""]).contains("a &quot;b&quot;"));
    let (both, second) = (plot(&[]), plot(&["--models", "B"]));
    assert!(both.lines().any(|line| line.trim() == "A") && !second.lines().any(|line| line.trim() == "A"));
    assert!(second.lines().any(|line| line.trim() == "B"), "{second}");
    let message = dir.fails(2, "plot --data data.csv --forecast f.csv --models A,b2");
    assert!(message.contains("--models b2: f.csv has the models A, B"), "{message}");
    let message = dir.fails(2, "plot --data data.csv --forecast f.csv --out p.jpg");
    assert!(message.contains("--out p.jpg") && message.contains(".svg or .png"), "{message}");
    dir.ok("plot --data data.csv --forecast f.csv --out p.png --freq D --log none");
    assert!(dir.bytes("p.png").starts_with(b"\x89PNG"));

    let output = dir.run("plot --data data.csv --forecast f.csv --out f.svg");
    assert!(output.status.success() && !stderr(&output).contains("warning"), "{}", stderr(&output));
    dir.put("late.csv", &forecast.replace("2024-02-1", "2024-12-1"));
    let output = dir.run("plot --data data.csv --forecast late.csv --out f.svg --freq D --ids north");
    let messages = stderr(&output);
    let expected = "warning: the forecasts do not follow the data: series `north` has data of 2024-01-01 to 2024-02-09, \
                    and forecasts of 2024-12-10 to 2024-12-16; is late.csv of data.csv?";
    assert!(output.status.success() && messages.contains(expected), "{messages}");
}

#[test]
fn rolling_and_short_forecasts_are_drawn_too() {
    let dir = TestDirectory::new();
    let train = format!("{LONG} --model NLinear --input-size 14 --set max_steps=2 --log none");
    let cv = if cfg!(feature = "parquet") { "cv.parquet" } else { "cv.csv" };
    dir.ok(&format!("cross-validate {train} --h 7 --n-windows 5 --step-size 3 --out {cv}"));
    let columns = LONG.strip_prefix("--data long.csv ").unwrap();
    let svg = dir.ok(&format!("plot --data long.csv {columns} --forecast {cv} --out - --ids north"));
    assert!(svg.contains("5 forecasts") && svg.contains("</svg>"), "{svg}");
    dir.ok(&format!("fit {train} --h 1 --out one"));
    dir.ok("predict --model one --data long.csv --out one.csv");
    dir.ok(&format!("plot --data long.csv {columns} --forecast one.csv"));
    // Times that are numbers.
    let mut numbers = "unique_id,ds,y\n".to_owned();
    (0..60).for_each(|i| numbers += &format!("a,{},{}\n", 10 * i, (i * i) % 7));
    dir.put("numbers.csv", &numbers);
    dir.ok(&format!("fit --data numbers.csv --model NLinear {SMALL} --log none --out numbers"));
    dir.ok("predict --model numbers --data numbers.csv --out nf.csv");
    let svg = dir.ok("plot --data numbers.csv --forecast nf.csv --out -");
    assert!(svg.lines().any(|line| line.trim() == "600"), "{svg}");
}

#[test]
fn every_command_logs_json_to_its_end() {
    let dir = fitted("--model NLinear");
    dir.ok("predict --model model --data long.csv --out f.csv");
    dir.put("future.csv", &format!("shop,day,price\nnorth,{},1\n", date(120)));
    let columns = LONG.strip_prefix("--data long.csv ").unwrap();
    let small = format!("{LONG} --model NLinear {SMALL}");
    for (line, expected) in [
        (
            format!("fit {small} --val-size 7 --set val_check_steps=2 --out again"),
            "read unread step step valid step fitted wrote",
        ),
        ("predict --model model --data long.csv --out g.csv".to_owned(), "read wrote"),
        ("predict --model model --data long.csv".to_owned(), "read"),
        (
            format!("cross-validate {small} --out cv.csv"),
            "read unread step step step fitted scored scored scored wrote",
        ),
        (format!("plot --data long.csv {columns} --forecast f.csv"), "read read wrote"),
        ("inspect model".to_owned(), ""),
        ("models".to_owned(), ""),
        ("bench --model NLinear --h 2 --input-size 4 --batch 2 --threads 1".to_owned(), "measured"),
    ] {
        let output = dir.run(&format!("{line} --log json"));
        let events: Vec<Value> = stderr(&output)
            .lines()
            .map(|line| serde_json::from_str(line).expect("an object a line"))
            .collect();
        let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        let expected: Vec<&str> = expected.split_whitespace().chain(["done"]).collect();
        assert_eq!(names, expected, "{line}");
        let done = &events[events.len() - 1];
        assert!(
            line.starts_with(done["command"].as_str().unwrap()) && done["elapsed_s"].as_f64() > Some(0.0)
        );
    }
    for line in
        ["fit", "predict --model nowhere --data long.csv", "inspect nowhere", "models NHITZ", "models --freq"]
    {
        let output = dir.run(&format!("{line} --log json"));
        let events = stderr(&output);
        let event: Value = serde_json::from_str(&events).unwrap_or_else(|_| panic!("{line}: {events}"));
        assert!(event["event"] == "error" && event["message"].is_string(), "{line}: {event}");
    }
}

#[test]
fn shells_complete_every_command_and_each_has_a_manual_page() {
    let dir = TestDirectory::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = dir.ok(&format!("completions {shell}"));
        for word in ["cross-validate", "report", "forecast", "NHITS"] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
    dir.ok("man --out pages/man1 --log none");
    let page = dir.read("pages/man1/foretell-cross-validate.1");
    for part in [".TH foretell-cross-validate 1", "\\-\\-n\\-windows", "MASE"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(dir.read("pages/man1/foretell.1").contains("foretell\\-fit(1)"));
}

#[test]
fn features_are_listed_as_json() {
    let dir = TestDirectory::new();
    let found: Value = serde_json::from_str(&dir.ok("features --list --json")).unwrap();
    let lag = found.as_array().unwrap().iter().find(|entry| entry["name"] == "lag").unwrap();
    assert!(lag["known_ahead"] == false && lag["meaning"].is_string(), "{lag}");
    assert!(dir.fails(2, "features --json").contains("--list"));
}

#[test]
fn a_plot_reads_the_data_as_its_models_did() {
    let dir = fitted("--model NLinear");
    dir.ok("predict --model model --data long.csv --out f.csv");
    let columns = LONG.strip_prefix("--data long.csv ").unwrap();
    let told = dir.ok(&format!("plot --data long.csv {columns} --forecast f.csv --out -"));
    assert_eq!(dir.ok("plot --model model --data long.csv --forecast f.csv --out -"), told);
}

#[test]
fn parts_of_forecasts_are_drawn_below_them() {
    let dir = fitted("--model DLinear,MLP --set MLP.hidden_size=8");
    dir.ok("decompose --model model --data long.csv --out parts.csv");
    let plot = "plot --model model --data long.csv --forecast parts.csv --out -";
    let one = dir.ok(&format!("{plot} --ids south --last 20"));
    for words in [
        "south",
        "DLinear: trend",
        "DLinear: seasonality",
        "the last 20 steps",
        "parts of forecasts of parts.csv",
    ] {
        assert!(one.contains(words), "{words} is missing");
    }
    assert!(
        dir.ok(plot).contains("north") && !dir.ok(plot).contains("south"),
        "one series where no one names any"
    );
    let both = dir.ok(&format!("{plot} --ids north,south"));
    assert!(both.contains("north, DLinear: trend") && both.contains("south, DLinear: trend"), "{both}");
    let message = dir.fails(2, &format!("{plot} --models MLP"));
    assert!(message.contains("has the models DLinear"), "{message}");
}
