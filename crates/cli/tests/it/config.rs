//! Flags from a file, beside those of the command line.

use crate::test_directory::{TestDirectory, rows, stderr};

const RUN: &str = r#"
data = "long.csv"
id-col = "shop"
time-col = "day"
target-col = "sales"
h = 7
input-size = 14
threads = 1
log = "none"

[set]
max_steps = 3
windows_batch_size = 16

[model.MLP]
hidden_size = 8
loss = { MQLoss = { level = [80] } }

[model.NLinear]
max_steps = 2
"#;

fn with_file(text: &str) -> TestDirectory {
    let dir = TestDirectory::new();
    std::fs::create_dir(dir.path("sub")).unwrap();
    dir.put("sub/run.toml", text);
    std::fs::copy(dir.path("long.csv"), dir.path("sub/long.csv")).unwrap();
    dir
}

#[test]
fn a_file_says_what_flags_say() {
    let dir = with_file(&format!("out = \"model\"\n{RUN}"));
    dir.ok("fit --config sub/run.toml");
    dir.put("sub/predict.toml", "model = 'model'\ndata = 'long.csv'\n");
    let forecast = dir.ok("predict --config sub/predict.toml");
    let flags = "fit --data long.csv --id-col shop --time-col day --target-col sales --h 7 --input-size 14 --log none \
                 --model MLP,NLinear --set max_steps=3 --set windows_batch_size=16 --set MLP.hidden_size=8 \
                 --set MLP.loss={\"MQLoss\":{\"level\":[80]}} --set NLinear.max_steps=2 --out by-flags";
    dir.ok(flags);
    assert_eq!(dir.ok("predict --model by-flags --data long.csv"), forecast);
    assert_eq!(rows(&forecast)[0], ["shop", "day", "MLP-median", "MLP-lo-80", "MLP-hi-80", "NLinear"]);
}

/// The files are beside the configuration, and not where the program works.
#[test]
fn paths_within_values_are_relative_to_the_file() {
    let (head, _) = RUN.split_once("[set]").unwrap();
    let models = "[model.Prophet]\nholidays = \"special.csv\"\n[model.NLinear]\nmax_steps = 2\n";
    let dir = with_file(&format!(
        "out = \"model\"\nfeatures = [\"weekday\", \"holidays:days.txt:1\"]\n{head}\n{models}"
    ));
    dir.put("sub/special.csv", "holiday,ds\nfair,2024-02-03\nfair,2024-03-03\n");
    dir.put("sub/days.txt", "2024-02-03\n2024-03-03\n");
    dir.ok("fit --config sub/run.toml");
    assert!(dir.path("sub/model").is_dir());
    dir.put("sub/score.toml", "model = \"model\"\ndata = \"long.csv\"\nn-windows = 1\n");
    let scores = dir.ok("cross-validate --config sub/score.toml");
    assert!(scores.contains("Prophet") && scores.contains("NLinear"), "{scores}");
    // A path of the command line is as the shell has it.
    let message = dir.fails(2, "fit --config sub/run.toml --set Prophet.holidays=special.csv --overwrite");
    assert!(message.contains("special.csv") && !message.contains("sub/special.csv"), "{message}");
    dir.put("sub/run.toml", &format!("{head}\n[model.TimeLLM]\nllm = \"gpt2\"\n"));
    let message = dir.fails(2, "fit --config sub/run.toml --out other");
    assert!(message.contains("sub/gpt2") || message.contains("`timellm`"), "{message}");
}

#[test]
fn the_command_line_wins() {
    let dir = with_file(RUN);
    let run = "fit --config sub/run.toml --log json --overwrite --out model";
    let steps = |line: &str, model: &str| {
        let output = dir.run(line);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = stderr(&output);
        let step =
            |line: &&str| line.contains("\"event\":\"step\"") && line.contains(&format!("\"{model}\""));
        text.lines().filter(step).count()
    };
    assert_eq!((steps(run, "MLP"), steps(run, "NLinear")), (3, 2));
    // A hyper-parameter for all models wins over that of one in the file.
    let all = format!("{run} --set max_steps=4");
    assert_eq!((steps(&all, "MLP"), steps(&all, "NLinear")), (4, 4));
    let one = format!("{run} --set=MLP.max_steps=1");
    assert_eq!((steps(&one, "MLP"), steps(&one, "NLinear")), (1, 2));
    // Tables of models that are not asked for are passed over.
    let other = format!("{run} --model NLinear");
    assert_eq!((steps(&other, "MLP"), steps(&other, "NLinear")), (0, 2));
    let table = dir.ok("cross-validate --config sub/run.toml --n-windows 2 --h 5");
    assert!(table.starts_with("model"), "{table}");
}

#[test]
fn mistakes_name_the_file_and_its_line() {
    for (old, new, line, part) in [
        ("input-size", "input_size", 7, "did you mean `input-size`?"),
        ("h = 7", "h = 0", 6, "h = 0: a whole number from 1 to 1000000 is expected"),
        ("hidden_size = 8", "hiden_size = 8", 16, "did you mean hidden_size?"),
        ("hidden_size = 8", "hidden_size = 'many'", 16, "hidden_size must be"),
        ("max_steps = 3", "h = 3", 12, "the horizon is set by --h"),
        ("[model.NLinear]", "[model.NLinaer]", 19, "did you mean NLinear?"),
        ("max_steps = 2", "max_steps = ", 20, "no valid TOML in `max_steps =`: behind = a value is expected"),
        ("threads = 1", "val-size = 3", 8, "at least h = 7"),
    ] {
        let dir = with_file(&RUN.replacen(old, new, 1));
        let message = dir.fails(2, "fit --config sub/run.toml --out model");
        let place = format!("error: sub/run.toml, line {line}");
        let begins = [": ", ", column 12: "].iter().any(|end| message.starts_with(&(place.clone() + end)));
        assert!(begins, "{new}: {message}");
        assert!(message.contains(part) && message.trim_end().lines().count() == 1, "{new}: {message}");
    }
    let dir = with_file(RUN);
    // What the command line says wrong is no mistake of the file, even if a flag of the file would mend it.
    for (flags, part) in [
        ("--set h=3", "the horizon is set by --h"),
        ("--val-size 3", "error: val_size must be 0 or at least h = 7"),
        ("--set MLP.hiden_size=3", "did you mean hidden_size?"),
        ("--threads many", "error: invalid value 'many' for '--threads <N>'"),
    ] {
        let message = dir.fails(2, &format!("fit --config sub/run.toml --out model {flags}"));
        assert!(message.contains(part) && !message.contains("run.toml"), "{flags}: {message}");
    }
    assert!(dir.fails(2, "fit --config sub/run.toml").contains("--out"));
    assert!(dir.fails(2, "fit --config nowhere.toml --out model").contains("nowhere.toml"));
    assert!(dir.fails(2, "fit --config sub/run.toml --h 7 --h 8 --out model").contains("multiple times"));
    let output = dir.run("fit --config sub/run.toml --h many --out model --log json");
    let event: serde_json::Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert!(event["event"] == "error" && event["message"].as_str().unwrap().contains("--h"), "{event}");
}

#[test]
fn a_flag_may_need_one_of_the_file_or_go_by_another_name() {
    let dir = with_file(&format!("resume = \"state\"\n{RUN}"));
    dir.ok("fit --config sub/run.toml --checkpoint-every 1 --out model");
    dir.ok("fit --config sub/run.toml --checkpoint elsewhere --out other");
    let message = dir.fails(2, "fit --config nowhere.toml --checkpoint-every 1 --out third");
    assert!(message.contains("nowhere.toml"), "{message}");
}

#[test]
fn one_file_serves_fit_predict_and_cross_validate() {
    let shared = RUN.replace("h = 7\n", "h = 7\nfreq = \"D\"\nrefit = 1\n");
    let dir = with_file(&format!(
        "{shared}\n[fit]\nout = \"model\"\nval-size = 7\n[predict]\nmodel = \"model\"\nout = \"-\"\n\
         [cross-validate]\nn-windows = 2\njson = true\nset = {{ max_steps = 1 }}\n"
    ));
    dir.ok("fit --config sub/run.toml");
    let forecast = dir.ok("predict --config sub/run.toml");
    assert_eq!(rows(&forecast).len(), 1 + 2 * 7);
    let report: serde_json::Value =
        serde_json::from_str(&dir.ok("cross-validate --config sub/run.toml")).unwrap();
    assert_eq!(report["n_windows"], 2);
    // What is no flag of any of them is a mistake for all of them.
    dir.put("sub/run.toml", &format!("futrr = \"x\"\n{shared}"));
    for command in ["fit", "predict", "cross-validate"] {
        let message = dir.fails(2, &format!("{command} --config sub/run.toml"));
        assert!(message.contains("sub/run.toml, line 1: `futrr`") && message.contains("`futr`"), "{message}");
    }
}

#[test]
fn tables_of_models_may_share_a_name() {
    let (head, _) = RUN.split_once("[model.MLP]").unwrap();
    let models = "[[model]]\nname = \"nlinear\"\n[[model]]\nname = \"NLinear\"\nrandom_seed = 2\n\
                  [[model]]\nname = \"MLP\"\nalias = \"net\"\nhidden_size = 8\n";
    let dir = with_file(&format!("{head}\n{models}"));
    dir.ok("fit --config sub/run.toml --out model");
    let forecast = dir.ok("predict --model model --data long.csv");
    assert_eq!(rows(&forecast)[0], ["shop", "day", "NLinear", "NLinear1", "net"]);
    let message = dir.fails(2, "fit --config sub/run.toml --set NLinear.1.random_seed=1 --out twins");
    assert!(message.contains("two models NLinear have the same hyper-parameters"), "{message}");
    dir.put("sub/run.toml", &format!("{head}\n{models}").replace("random_seed", "random_sed"));
    let message = dir.fails(2, "fit --config sub/run.toml --out other");
    assert!(message.contains("line 20: --set NLinear.1.random_sed: "), "{message}");
    assert!(message.contains("did you mean random_seed?"), "{message}");
}

/// A key costs what it costs alone: with a pass over the file for each of them, this takes minutes.
#[test]
fn a_file_of_many_keys_is_read_in_one_pass() {
    let (head, _) = RUN.split_once("[model.MLP]").unwrap();
    let mut text = head.to_owned();
    (0..200_000).for_each(|i| text += &format!("key_{i} = {i}\n"));
    let dir = with_file(&format!("model = \"MLP\"\n{text}"));
    let message = dir.fails(2, "fit --config sub/run.toml --out model");
    assert!(message.contains("MLP has no hyper-parameter key_0"), "{message}");
}
