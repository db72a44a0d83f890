//! Mistakes in the command line, the data, the outputs and the models: exit codes, and what the messages say.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::test_directory::{LONG, SMALL, TestDirectory, date, long_csv, rows, stderr};

#[test]
fn mistakes_in_the_command_line_exit_with_2() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} {SMALL} --out model");
    let one = format!("{fit} --model MLP");
    let wide = format!("fit --data wide.csv --wide --model MLP {SMALL} --out model");
    for (line, part) in [
        ("fit --data long.csv", "--out"),
        ("predict --data long.csv", "--model"),
        ("forecasts", "subcommand"),
        (&format!("{one} --h 7"), "cannot be used multiple times"),
        (&format!("{one} --seed -1"), "-1"),
        (&format!("{one} --fill fowrard"), "did you mean `forward`?"),
        (&format!("{fit} --model NLinear --hist-exog price"), "reads no historic columns"),
        (&format!("{fit} --model NLinear --futr-exog price"), "--futr-exog"),
        (&format!("{one} --freq fortnight"), "fortnight"),
        (&format!("{one} --set max_steps"), "key=JSON"),
        (&format!("fit {LONG} {SMALL} --model MLP --out -"), "'--out <DIR>'"),
        ("demo --out -", "which standard output cannot take"),
        (&format!("{one} --checkpoint -"), "'--checkpoint <DIR>'"),
        (&format!("{one} --set h=3"), "--h"),
        (&format!("{one} --set mlp_units=[[1,2]"), "no valid JSON"),
        (&format!("{one} --set max_step=3"), "did you mean max_steps?"),
        (&format!("{one} --set max_steps=many"), "max_steps"),
        (&format!("{one} --set lr=0.1"), "did you mean learning_rate?"),
        (&format!("{one} --set steps=10"), "did you mean max_steps?"),
        (&format!("{one} --set batch=10"), "did you mean batch_size (series) or windows_batch_size"),
        (&format!("{one} --set callbacks=early"), "an argument of PyTorch Lightning's trainer"),
        (&format!("{one} --set precision=16-mixed"), "`--precision`"),
        (&format!("{one} --set NHITS.n_blocks=[1]"), "no NHITS among --model MLP"),
        (&format!("{one} --set scaler_type=standart"), "standard"),
        (
            &format!("{one} --set training_data_availability_threshold=high"),
            "like its default, 0.0 (one number, or a list of two), found \"high\"",
        ),
        (&format!("{one} --val-size 3"), "at least h = 7"),
        (&format!("{one} --set hidden_size=1000000000000"), "between 1 and"),
        (&format!("{fit} --model MLP,NLinear --set hidden_size=8"), "--set NAME.hidden_size"),
        (&format!("{one} --set alias=sales"), "called sales"),
        (&format!("{fit} --model NHIT"), "did you mean NHITS?"),
        ("models Transformer", "did you mean VanillaTransformer? `foretell models` lists all"),
        ("models AutoNHITS", "did you mean a tuning of NHITS?"),
        ("models HINT", "did you mean models with a hierarchy"),
        ("cross-validate --data long.csv --model MLP --h 0 --input-size 7", "--h"),
        ("cross-validate --data long.csv --model MLP --h 7 --input-size 0", "--input-size"),
        ("bench --model MLP,NLinera --h 7 --input-size 7", "did you mean NLinear?"),
        ("predict --model model --data long.csv --threads many", "--threads"),
        (&format!("{wide} --target-col a"), "--target-col a: with --wide every column"),
        (&format!("{wide} --id-col shop"), "--id-col shop: with --wide the ids are the names"),
        (
            &format!("{wide} --hist-exog a"),
            "the models read a, and every column of a wide table (`--wide`) is a series",
        ),
        ("predict --model model --data wide.csv --wide --id-col shop", "--id-col shop"),
        (&format!("{one} --time-format YYYYMMDD"), "it has no year (%Y or %y); write `integer`, `excel`"),
    ] {
        let message = dir.fails(2, line);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert!(!dir.path("model").exists());
    assert!(dir.run("").status.code() == Some(2));
}

#[test]
fn mistakes_in_the_data_exit_with_1_and_say_where() {
    let dir = TestDirectory::new();
    let lines = long_csv();
    let with_line = |number: usize, text: &str| {
        let mut lines: Vec<&str> = lines.lines().collect();
        lines[number - 1] = text;
        lines.join("\n")
    };
    dir.put("empty.csv", "");
    dir.put("header.csv", "shop,day,sales\n");
    dir.put("text.csv", &with_line(5, "north,2024-01-04,many,0"));
    dir.put("huge.csv", &with_line(5, "north,2024-01-04,1e39,0"));
    dir.put("gap.csv", &with_line(5, "north,2024-01-04 12:00,1,0"));
    dir.put("ragged.csv", &with_line(9, "north,2024-01-08"));
    dir.put("short.csv", &lines.lines().take(6).collect::<Vec<_>>().join("\n"));
    for (file, parts) in [
        ("missing.csv", ["missing.csv", "No such file"]),
        ("empty.csv", ["empty.csv", "empty"]),
        ("header.csv", ["header.csv", "no rows"]),
        ("text.csv", ["text.csv, line 5, column `sales`", "\"many\""]),
        ("huge.csv", ["line 5", "32-bit"]),
        ("gap.csv", ["line 5", "2024-01-04 comes next"]),
        ("ragged.csv", ["line 9", "2 fields"]),
        ("short.csv", ["series `north` has 5 rows", "input_size = 14"]),
        // A folder is read as its files.
        (".", ["empty.csv", "empty"]),
    ] {
        let data = LONG.replace("long.csv", file);
        let message = dir.fails(1, &format!("fit {data} --model NLinear {SMALL} --out model"));
        for part in parts {
            assert!(message.contains(part), "{file}: {message}");
        }
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert!(!dir.path("model").exists());

    dir.put("numbers.csv", "a,b,c\n1,2,3\n2,3,4\n");
    let message = dir.fails(1, &format!("fit --data numbers.csv --model NLinear {SMALL} --out model"));
    assert!(message.contains("no column `unique_id`"), "{message}");
    let message =
        dir.fails(1, &format!("cross-validate {LONG} --model NLinear {SMALL} --n-windows 18 --out cv.csv"));
    for part in [
        "needs 14 rows of input and 1 after them",
        "has 0 to train on (126 held out)",
        "n_windows and step_size",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!dir.path("cv.csv").exists());
    let message = dir.fails(1, "predict --model nowhere --data long.csv");
    assert!(message.contains("nowhere"), "{message}");
}

/// `predict` has no flag for the frequency: it is that of the models.
#[test]
fn data_of_another_frequency_than_the_models_are_told_so() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --log none --out model"));
    let weeks: String = (0..20).map(|week| format!("a,{},{week}\n", date(7 * week))).collect();
    let steps: String = (0..20).map(|step| format!("a,{step},{step}\n")).collect();
    for (rows, expected) in [
        (
            &weeks,
            "but by the models' frequency `D` 2024-01-02 comes next; its times follow `W-MON`: give data of the models'",
        ),
        (
            &steps,
            "holds integers, but the models' frequency is `D`; give data of that frequency, or train models on these",
        ),
        (&format!("{}a,2024-12-01,1\n", &weeks), "or train models on data of this frequency"),
    ] {
        dir.put("other.csv", &format!("shop,day,sales\n{rows}"));
        let message = dir.fails(1, "predict --model model --data other.csv");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn outputs_are_checked_before_the_work_and_nothing_is_overwritten_unasked() {
    let dir = TestDirectory::new();
    let fit = format!("fit {LONG} --model NLinear {SMALL} --log none --out");
    dir.ok(&format!("{fit} deep/er/model"));
    let message = dir.fails(2, &format!("{fit} deep/er/model"));
    assert!(message.contains("--overwrite"), "{message}");
    dir.ok(&format!("{fit} deep/er/model --overwrite"));
    assert!(dir.fails(2, &format!("{fit} long.csv")).contains("is a file"));
    let message = dir.fails(1, &format!("{} deep --overwrite", fit.replace("--log none", "")));
    assert!(message.contains("not a model directory") && !message.contains("trained"), "{message}");

    let predict = "predict --model deep/er/model --data long.csv --out";
    assert!(dir.fails(2, &format!("{predict} ./long.csv")).contains("overwrite the data"));
    assert_eq!(dir.read("long.csv"), long_csv());
    assert!(dir.fails(1, &format!("{predict} nowhere/forecast.csv")).contains("nowhere/forecast.csv"));
    assert!(dir.fails(1, &format!("{predict} deep")).contains("deep"));
    dir.put("old.csv", &"x".repeat(100_000));
    dir.ok(&format!("{predict} old.csv"));
    assert_eq!(rows(&dir.read("old.csv")).len(), 15, "the old content is gone");
}

/// A model directory that is not one must be refused, not crashed on.
#[test]
fn damaged_model_directories_are_refused() -> io::Result<()> {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --log none --out model"));
    let files: Vec<PathBuf> = fs::read_dir(dir.path("model"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    for file in files {
        let whole = fs::read(&file)?;
        fs::write(&file, &whole[..whole.len() / 2])?;
        let message = dir.fails(1, "predict --model model --data long.csv");
        assert!(message.contains(name(&file)), "{message}");
        fs::write(&file, whole)?;
    }
    dir.ok("predict --model model --data long.csv");
    let file = dir.path("model/configuration.json");
    // Its checksum is that of other values; a file without one is read all the same.
    let text = fs::read_to_string(&file)?.replace(": ", ":").replace("foretell_crc32", "none");
    for (old, new, part) in [
        ("\"freq\":\"D\"", "\"freq\":\"fortnight\"", "model: model NLinear: freq: "),
        (
            "\"local_scaler_type\":null",
            "\"local_scaler_type\":\"best\"",
            "model: model NLinear: local_scaler_type: unknown local scaler `best`",
        ),
    ] {
        assert!(text.contains(old), "{old}: {text}");
        fs::write(&file, text.replacen(old, new, 1))?;
        let message = dir.fails(1, "predict --model model --data long.csv");
        assert!(message.contains(part), "{message}");
    }
    Ok(())
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// What is neither a model nor a directory is said before anything else is found missing.
#[test]
fn names_of_no_model_and_no_directory_are_told() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --log none --out model"));
    let there_is_none = "there is no such directory of trained models; no model is called";
    for (line, parts) in [
        (
            "cross-validate --model nodir/",
            ["--model nodir/: there is no such directory", "there are NLinear"],
        ),
        ("cross-validate --model NHTS", [there_is_none, "NHTS; did you mean NHITS?"]),
        ("cross-validate --model long.csv", ["--model long.csv: it is a file; name models", "directory"]),
        ("cross-validate --model model,NHITS", ["--model model: ", "name it alone"]),
        ("fit --out new --model NHTS", ["no model is called NHTS", "did you mean NHITS?"]),
    ] {
        let message = dir.fails(2, &format!("{line} --data long.csv"));
        assert!(parts.iter().all(|part| message.contains(part)), "{line}: {message}");
        assert!(!message.contains("--h"), "{line}: {message}");
    }
    let message = dir.fails(2, "cross-validate --model NHITS --data long.csv");
    assert!(message.contains("--h is missing"), "{message}");
}

#[test]
fn standard_input_is_the_data_alone() {
    let dir = TestDirectory::new();
    let fit = "fit --model SeasonalNaive --h 7 --out model";
    for (line, flag) in [
        (format!("{fit} --data - --val-data -"), "--val-data"),
        (format!("{fit} --data long.csv --val-data -"), "--val-data"),
        (format!("{fit} --data - --static -"), "--static"),
        ("predict --model model --data - --futr -".to_owned(), "--futr"),
    ] {
        let message = dir.fails(2, &line);
        let says = format!("{flag} -: standard input can be read once, and only as --data; name a file");
        assert!(message.contains(&says), "{line}: {message}");
    }
}

/// The error of a command as programs read it.
fn told(dir: &TestDirectory, line: &str) -> serde_json::Value {
    let output = dir.run(&format!("{line} --format json"));
    assert!(!output.status.success(), "{line}");
    let text = stderr(&output);
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn programs_read_the_facts_of_an_error() {
    let dir = TestDirectory::new();
    dir.put("gap.csv", "unique_id,ds,y\na,2024-01-01,1\na,2024-01-02,2\na,2024-01-03,2\na,2024-01-07,2\n");
    dir.put("run.toml", "model = \"MLP\"\nh = \"x\"\n");
    let keys = ["code", "setting", "file", "row", "column", "series", "advice", "message"];
    for (line, code, setting, file, row) in [
        ("fit --data gap.csv --model Naive --h 2 --out model", "gap", "--fill", "gap.csv", 5),
        ("fit --data long.csv --model Naive --h x --out model", "flag_value", "--h", "", 0),
        ("fit --data long.csv --config run.toml --out model", "flag_value", "--h", "run.toml", 2),
        (
            &format!("fit {LONG} {SMALL} --model MLP --set max_steps=x --out m"),
            "hyper_parameter_value",
            "max_steps",
            "",
            0,
        ),
        ("forecast --data long.csv --h 2 --features wekday", "unknown_feature", "--features", "", 0),
        ("predict --model nowhere --data long.csv", "missing_path", "", "nowhere", 0),
        ("fit --daat long.csv", "unknown_flag", "--daat", "", 0),
        ("plot --data long.csv --forecast long.csv --out p.jpg", "command_line", "--out", "", 0),
    ] {
        let facts = told(&dir, line);
        assert_eq!(facts.as_object().unwrap().keys().collect::<Vec<_>>(), keys, "{line}");
        let text = |key: &str| facts[key].as_str().unwrap_or_default().to_owned();
        assert_eq!(
            (text("code"), text("setting"), text("file")),
            (code.into(), setting.into(), file.into()),
            "{facts}"
        );
        assert_eq!(facts["row"].as_u64().unwrap_or(0), row, "{facts}");
    }
    let facts = told(&dir, "fit --data long.csv --config run.toml --out model");
    assert_eq!(facts["message"], "run.toml, line 2: h = \"x\": a whole number is expected");
    let facts = told(&dir, "fit --data gap.csv --model Naive --h 2 --out model --log json");
    assert_eq!((&facts["event"], &facts["code"]), (&"error".into(), &"gap".into()));
    assert!(facts["message"].as_str().unwrap().ends_with(facts["advice"].as_str().unwrap()), "{facts}");
}

#[test]
fn tables_are_json_where_that_is_asked_for() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model SeasonalNaive --h 3 --log none --out model"));
    let rows: serde_json::Value =
        serde_json::from_str(&dir.ok("predict --model model --data long.csv --json")).unwrap();
    let csv = dir.ok("predict --model model --data long.csv");
    assert_eq!(rows.as_array().unwrap().len(), csv.lines().count() - 1);
    let first: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((&rows[0]["shop"], &rows[0]["day"]), (&first[0].into(), &first[1].into()));
    assert_eq!(rows[0]["SeasonalNaive"].as_f64(), first[2].parse().ok());
    dir.ok("predict --model model --data long.csv --json --out f.json --log none");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&dir.read("f.json")).unwrap(), rows);
    assert!(dir.fails(2, "predict --model model --data long.csv --json --out f.csv").contains("f.json"));
}
