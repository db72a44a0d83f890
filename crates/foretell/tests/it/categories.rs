//! Categorical columns: models learn what categories mean, keep them, and say what is wrong with them.

use foretell::{
    Fill, Fitted, Forecaster, Future, ModelSpec, Panel, ReadOptions, ValidationOptions, Value, json,
};

const H: usize = 3;

/// Two series: the level of each is that of its static color, and on days of a sale 10 is added.
fn panel(rows: usize) -> Panel {
    let mut csv = String::from("unique_id,ds,y,promo\n");
    for (id, level) in [("a", 5.0), ("b", -5.0)] {
        for day in 0..rows {
            let promo = promo(day);
            let y = level + if promo == "sale" { 10.0 } else { 0.0 };
            csv += &format!("{id},{day},{y},{promo}\n");
        }
    }
    let options = ReadOptions::new().categories(["promo"]);
    let panel = Panel::read_csv(csv.as_bytes(), "sales.csv", &options).expect("a panel");
    panel.with_static_categories("color", &[("a", "red"), ("b", "blue")]).expect("colors")
}

/// Without order, so that every sequence of a few days is seen.
fn promo(day: usize) -> &'static str {
    if (day as u32).wrapping_mul(2_654_435_761) >> 13 & 1 == 1 { "sale" } else { "none" }
}

fn spec(more: &[(&str, Value)]) -> ModelSpec {
    let all = [
        ("futr_exog_list", json!(["promo"])),
        ("stat_exog_list", json!(["color"])),
        ("cat_exog_list", json!(["promo", "color"])),
        ("hidden_size", json!(32)),
        ("max_steps", json!(1500)),
        ("windows_batch_size", json!(64)),
        ("learning_rate", json!(0.003)),
    ];
    let spec = ModelSpec::new("MLP", H, 4).expect("a model");
    all.iter().chain(more).fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a setting"))
}

fn fit(spec: ModelSpec) -> Result<Fitted, foretell::Error> {
    Forecaster::new([spec])?.threads(1).fit(&panel(120))
}

fn forecasts(fitted: &Fitted, labels: [&str; 2 * H]) -> Vec<f32> {
    let panel = panel(120);
    let future = Future::new(&panel, H, &[]).expect("a future").with_categories("promo", &labels);
    let frame = fitted.predict(&panel, Some(&future.expect("labels"))).expect("a forecast");
    frame.columns[0].1.clone()
}

#[test]
fn what_categories_mean_is_learnt_and_kept() {
    let fitted = fit(spec(&[])).expect("a model");
    assert_eq!(fitted.categories(), ["color", "promo"]);
    let cardinalities = &fitted.models()[0].spec().hyper_parameters()["categorical_cardinalities"];
    assert_eq!(*cardinalities, json!({"color": 2, "promo": 2}));

    // In an order that training did not see, and in the other order of appearance.
    let found = forecasts(&fitted, ["sale", "none", "sale", "none", "none", "sale"]);
    for (found, expected) in found.iter().zip([15.0, 5.0, 15.0, -5.0, -5.0, 5.0]) {
        assert!((found - expected).abs() < 1.0, "{found}, expected about {expected}");
    }
    // What was never seen is between what was.
    let unseen = forecasts(&fitted, ["strike"; 2 * H]);
    for (unseen, around) in
        unseen.iter().zip([5.0..15.0, 5.0..15.0, 5.0..15.0, -5.0..5.0, -5.0..5.0, -5.0..5.0])
    {
        assert!(around.contains(unseen), "{unseen}, expected within {around:?}");
    }

    let folder = std::env::temp_dir().join(format!("foretell-categories-{}", std::process::id()));
    fitted.save(&folder, true).expect("a directory");
    let loaded = Fitted::load(&folder).expect("the directory");
    std::fs::remove_dir_all(&folder).expect("the directory is there");
    assert_eq!(loaded.categories(), ["color", "promo"]);
    let labels = ["none", "sale", "strike", "sale", "none", "none"];
    assert_eq!(forecasts(&loaded, labels), forecasts(&fitted, labels));
}

#[test]
fn a_directory_with_more_categories_than_its_models_embed_is_refused() {
    let fitted = fit(spec(&[("max_steps", json!(1))])).expect("a model");
    let folder = std::env::temp_dir().join(format!("foretell-more-categories-{}", std::process::id()));
    fitted.save(&folder, true).expect("a directory");
    let file = folder.join("configuration.json");
    let text = std::fs::read_to_string(&file).expect("a configuration");
    let more = text
        .replace(r#""sale": 2"#, r#""sale": 2, "strike": 3"#)
        .replace(r#""sale":2"#, r#""sale":2,"strike":3"#);
    assert_ne!(text, more);
    // The one who changes a file by hand takes out its checksum.
    let mut more: Value = serde_json::from_str(&more).expect("a configuration");
    more.as_object_mut().and_then(|more| more.remove("foretell_crc32")).expect("a checksum");
    std::fs::write(&file, more.to_string()).expect("a file");
    let error = Fitted::load(&folder).expect_err("a third category").to_string();
    std::fs::remove_dir_all(&folder).expect("the directory is there");
    assert!(error.contains("more categories of column promo than it embeds"), "{error}");
}

#[test]
fn models_of_categories_are_measured() {
    let spec = spec(&[("categorical_cardinalities", json!({"promo": 3}))]);
    assert!(
        foretell::bench(&spec, 2, 1, foretell::StepSettings::default(), &foretell::MemoryLimit::default())
            .expect("a measurement")
            .step_ms
            > 0.0
    );
}

#[test]
fn mistakes_with_categories_are_errors() {
    let says = |spec: ModelSpec, expected: &str| {
        let error = fit(spec).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    };
    says(spec(&[("categorical_cardinalities", json!({"promo": 1}))]), "column promo has 2 categories");
    let slip = spec(&[("categorical_cardinalities", json!({"promo": 2, "colour": 3}))]);
    says(slip, "found colour, which is not in cat_exog_list = [\"promo\",\"color\"]; did you mean color?");
    says(spec(&[("cat_exog_list", json!(["weather"]))]), "columns that stand in hist_exog_list");
    says(spec(&[("cat_exog_list", json!(["promo", "promo"]))]), "promo twice");
    says(spec(&[("cat_exog_list", json!(["color"]))]), "cat_exog_list");
    says(spec(&[("futr_exog_list", json!(["promo", "promo"]))]), "promo twice");
    says(spec(&[("hist_exog_list", json!(["color"]))]), "in the data and in the static table");

    let csv = "unique_id,ds,y,promo\na,1,1,\na,2,2,\na,3,1,\na,4,2,\na,5,1,\na,6,2,\na,7,1,\na,8,2,sale\n";
    let options = ReadOptions::new().categories(["promo"]).fill(Fill::Zero);
    let panel = Panel::read_csv(csv.as_bytes(), "late.csv", &options).expect("a panel");
    let late =
        spec(&[("stat_exog_list", json!([])), ("cat_exog_list", json!(["promo"])), ("max_steps", json!(2))]);
    let error = Forecaster::new([late])
        .expect("a model")
        .cross_validate(&panel, &ValidationOptions::new(1, H))
        .expect_err("no category");
    assert!(error.to_string().contains("promo of cat_exog_list holds no category"), "{error}");

    let plain = ModelSpec::new("MLP", H, 4).and_then(|spec| spec.set("futr_exog_list", json!(["promo"])));
    let error = Forecaster::new([spec(&[]), plain.expect("a model")]).expect_err("two meanings").to_string();
    assert!(error.contains("column promo is in cat_exog_list of another model"), "{error}");

    let error = ModelSpec::new("NLinear", H, 4).and_then(|spec| spec.set("cat_exog_list", json!(["promo"])));
    let error = error.expect_err("NLinear reads no columns").to_string();
    assert!(error.contains("the model reads no categorical columns"), "{error}");
    for (name, value) in [
        ("cat_emb_dim", json!("cube")),
        ("cat_emb_dim", json!(0)),
        ("categorical_cardinalities", json!({"a": 0})),
    ] {
        let error = ModelSpec::new("MLP", H, 4).and_then(|spec| spec.set(name, value)).expect_err(name);
        assert!(error.to_string().contains(name), "{error}");
    }
}
