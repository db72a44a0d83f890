//! Tests of trained models that are used again: further training, scores without it, ensembles.

use crate::test_directory::{LONG, SMALL, TestDirectory, rows, stderr};

#[test]
fn a_saved_model_is_trained_further_as_it_was_saved() {
    let dir = TestDirectory::new();
    dir.ok(&format!(
        "fit {LONG} --model NLinear {SMALL} --set scaler_type=standard --non-negative --out first"
    ));
    // Names of columns, frequency and bounds come from the directory; the horizon and sizes are those of the model.
    let further =
        "fit --from first --data long.csv --set max_steps=3 --set learning_rate=0.0001 --out second";
    let output = dir.run(further);
    let log = stderr(&output);
    assert!(output.status.success() && log.contains("below 0"), "{log}");
    let [first, second] =
        ["first", "second"].map(|model| dir.ok(&format!("predict --model {model} --data long.csv")));
    let (first, second) = (rows(&first), rows(&second));
    assert_eq!(second[0], ["shop", "day", "NLinear"]);
    assert_eq!(second.len(), first.len());
    assert_ne!(second, first, "it was trained");
    for (was, is) in first[1..].iter().zip(&second[1..]) {
        let [was, is] = [was, is].map(|row| row[2].parse::<f32>().unwrap());
        assert!((was - is).abs() < 0.1 * was.abs().max(1.0), "three small steps made {is} of {was}");
    }
    dir.ok("cross-validate --from first --data long.csv --n-windows 2 --log none");
    let table = dir.ok("cross-validate --from first --as-is --data long.csv --n-windows 2 --level 80 --intervals 4 --log none");
    assert!(table.contains("cover-80") && table.contains("SeasonalNaive"), "{table}");
    // A directory in place of names says the same in fewer words.
    let by_name = dir
        .ok("cross-validate --model first --data long.csv --n-windows 2 --level 80 --intervals 4 --log none");
    assert_eq!(by_name, table);
    dir.ok("bench --from first --batch 4 --log none");
}

#[test]
fn what_does_not_go_together_is_told() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --out first"));
    for (flags, says) in [
        ("--from first --model MLP", "cannot be used with"),
        ("--from first --freeze liner", "it has linear; did you mean linear?"),
        ("--from first --freeze linear", "nothing is left to train"),
        ("--from first --set input_size=9", "must stay as they were trained"),
        ("--from first --set MLP.max_steps=3", "there is no MLP among the models of --from first, NLinear"),
        ("--freeze linear --model NLinear --h 2 --input-size 4", "--from"),
    ] {
        let message = dir.fails(2, &format!("fit {flags} --data long.csv --out second"));
        assert!(message.contains(says), "{flags}: {message}");
    }
    for (line, says) in [
        ("fit --model first --out second", "--from first takes the trained models in it"),
        ("bench --model first", "--from first takes the trained models in it"),
        ("cross-validate --model first --h 2", "--h: the models of first were trained with theirs"),
        (
            "cross-validate --model first --freq D",
            "--freq: the models of --model are used as they were trained",
        ),
        ("cross-validate --model first --refit", "--refit: a directory's models are scored unchanged"),
        ("cross-validate --model MLP", "--h is missing"),
    ] {
        let data = if line.starts_with("bench") { "" } else { "--data long.csv" };
        let message = dir.fails(2, &format!("{line} {data}"));
        assert!(message.contains(says), "{line}: {message}");
    }
    assert!(dir.fails(1, "fit --from nowhere --data long.csv --out second").contains("nowhere"));
}

#[test]
fn ensembles_are_columns_of_forecasts_and_scores() {
    let dir = TestDirectory::new();
    let models = format!("{LONG} --model NLinear,Naive {SMALL} --ensemble mean,weighted:2");
    dir.ok(&format!("fit {models} --out model"));
    let forecast = dir.ok("predict --model model --data long.csv");
    assert_eq!(rows(&forecast)[0], ["shop", "day", "NLinear", "Naive", "EnsembleMean", "EnsembleWeighted"]);
    let contents = dir.ok("inspect model");
    assert!(contents.contains("EnsembleMean, EnsembleWeighted ("), "{contents}");
    let scores = dir.ok(&format!("cross-validate {models} --n-windows 2 --log none"));
    assert!(scores.contains("EnsembleWeighted") && scores.contains("SeasonalNaive"), "{scores}");
    // What cross-validation adds for comparison is no member.
    dir.ok(&format!("cross-validate {models} --n-windows 2 --log none --out validation.csv"));
    let validation = dir.read("validation.csv");
    let table = rows(&validation);
    assert_eq!(table[0][4..], ["NLinear", "Naive", "SeasonalNaive", "EnsembleMean", "EnsembleWeighted"]);
    for row in &table[1..] {
        let [network, naive, mean] = [4, 5, 7].map(|column| row[column].parse::<f32>().unwrap());
        assert!((mean - (network + naive) / 2.0).abs() < 1e-4, "{row:?}");
    }
    assert!(
        dir.fails(2, &format!("fit {LONG} --model Naive {SMALL} --ensemble best --out other"))
            .contains("mean, median")
    );
}

/// Flags of a training say nothing about models that are used unchanged.
#[test]
fn flags_of_a_training_are_refused_for_models_that_are_not_trained() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --out first"));
    for (flags, says) in [
        ("--set max_steps=3", "--set max_steps: "),
        ("--seed 7", "--seed: "),
        ("--val-size 20", "--val-size: "),
        ("--local-scaler standard", "--local-scaler: "),
        ("--hist-exog price", "--hist-exog: "),
    ] {
        for (models, whose) in [
            ("cross-validate --model first", "the models of --model are used as they were trained"),
            (
                "cross-validate --from first --as-is",
                "with --as-is the models of --from are used as they were trained",
            ),
            ("anomalies --from first", "the models of --from are used as they were trained"),
        ] {
            let message = dir.fails(2, &format!("{models} --data long.csv {flags}"));
            assert!(message.contains(&format!("{says}{whose}; leave it out")), "{models} {flags}: {message}");
        }
    }
    let message = dir.fails(2, "cross-validate --model first --data long.csv --freeze linear");
    assert!(message.contains("--freeze: the models of --model are used as they were trained"), "{message}");
}

/// What only networks have is not asked of other models in silence.
#[test]
fn flags_of_networks_are_not_passed_over_where_there_is_none() {
    let dir = TestDirectory::new();
    let fit = "fit --model SeasonalNaive --h 7 --log none";
    dir.ok(&format!("{fit} {LONG} --out naive"));
    let message = dir.fails(2, "fit --from naive --data long.csv --freeze nonsense.name --out further");
    assert!(message.contains("--freeze nonsense.name: only networks have parameters"), "{message}");
    assert!(message.contains("of the models of --from these are none: SeasonalNaive;"), "{message}");
    let output = dir.run(&format!("{fit} {LONG} --val-data long.csv --out watched"));
    let said = stderr(&output);
    assert!(
        output.status.success() && said.contains("warning: --val-data long.csv: only the training"),
        "{said}"
    );
    // No warning where a network watches its loss.
    let output =
        dir.run(&format!("fit {LONG} --val-data long.csv --model SeasonalNaive,NLinear {SMALL} --out both"));
    let said = stderr(&output);
    assert!(output.status.success() && !said.contains("--val-data"), "{said}");
    let freeze = "fit --from both --data long.csv --log none --freeze";
    let message = dir.fails(2, &format!("{freeze} NLinear.linear.bias,SeasonalNaive.linear --out no"));
    assert!(message.contains("--freeze SeasonalNaive.linear: "), "{message}");
    dir.ok(&format!("{freeze} NLinear.linear.bias --out frozen"));

    let none = "and drop something, and none of the models is one";
    for line in [
        "predict --model naive --data long.csv --intervals dropout:20 --level 80",
        "simulate --model naive --data long.csv --intervals dropout:20",
        &format!("{fit} {LONG} --intervals dropout:20 --out no"),
    ] {
        let message = dir.fails(2, line);
        assert!(message.contains(&format!("{none}: SeasonalNaive; leave them out")), "{line}: {message}");
    }
    let loss = r#"--set NLinear.loss={"MQLoss":{"level":[80]}}"#;
    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} {loss} --out quantiles"));
    let message = dir.fails(2, "predict --model quantiles --data long.csv --intervals dropout:20 --level 80");
    assert!(message.contains(&format!("{none}: NLinear")), "{message}");
}

#[test]
fn a_network_leaves_as_onnx_or_the_message_says_what_stands_in_the_way() {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} --model NLinear,TimesNet,Naive {SMALL} --out model"));
    let message = dir.fails(2, "export model --onnx out.onnx");
    assert!(message.contains("the networks are NLinear, TimesNet; name one of them"), "{message}");
    let message = dir.fails(2, "export model --network Naive --onnx out.onnx");
    assert!(message.contains("Naive is to be exported, and the networks are NLinear, TimesNet"), "{message}");
    let message = dir.fails(1, "export model --network TimesNet --onnx out.onnx");
    assert!(message.contains("TimesNet cannot be exported: ") && message.contains("periods"), "{message}");
    assert!(!dir.path("out.onnx").exists(), "nothing is written of what cannot be");

    let output = dir.run("export model --network NLinear --onnx out.onnx");
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    let file = std::fs::read(dir.path("out.onnx")).unwrap();
    let has = |text: &str| file.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(["insample_y", "forecast", "scaler_type", "NLinear"].into_iter().all(has));

    dir.ok(&format!("fit {LONG} --model NLinear {SMALL} --local-scaler standard --out scaled"));
    let output = dir.run("export scaled --onnx scaled.onnx");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("scales series as wholes"), "{}", stderr(&output));
}
