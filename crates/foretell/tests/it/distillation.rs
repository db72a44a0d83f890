//! Networks that learn what other models forecast.

use foretell::{
    DistillationOptions, Ensemble, Fitted, Forecaster, Freq, LocalScaler, ModelSpec, Panel, PredictOptions,
    Value, json,
};

const H: usize = 4;

/// Two seasonal series with some noise, and a column that is known ahead.
fn panel() -> Panel {
    let value = |t: usize, level: f32| {
        let noise = ((t * 7919 + 104_729) % 97) as f32 / 97.0 - 0.5;
        level + 5.0 * [0.0, 1.0, 3.0, 2.0][t % 4] + noise
    };
    let series = [("a", 20.0), ("b", 40.0)]
        .map(|(id, level)| (id, 0, (0..90).map(|t| value(t, level)).collect::<Vec<f32>>()));
    Panel::from_series(Freq::parse("1").expect("integers"), series).expect("a panel")
}

fn teacher(names: &[&str]) -> Forecaster {
    let spec = |name: &&str| {
        let spec = ModelSpec::new(name, H, 1).expect("a model");
        if spec.hyper_parameters().contains_key("season_length") {
            spec.set("season_length", 4).expect("a season")
        } else {
            spec
        }
    };
    Forecaster::new(names.iter().map(spec)).expect("models")
}

fn student(settings: &[(&str, Value)]) -> ModelSpec {
    let all = [
        ("hidden_size", json!(32)),
        ("max_steps", json!(200)),
        ("windows_batch_size", json!(64)),
        ("learning_rate", json!(0.01)),
        ("scaler_type", json!("standard")),
    ];
    let spec = ModelSpec::new("MLP", H, 12).expect("a model");
    let set =
        |spec: ModelSpec, (name, value): &(&str, Value)| spec.set(name, value.clone()).expect("a setting");
    all.iter().chain(settings).fold(spec, set)
}

fn taught(teacher: &Fitted, spec: ModelSpec, threads: usize) -> Fitted {
    let forecaster = Forecaster::new([spec]).expect("a student").threads(threads);
    forecaster.distil(teacher, &panel(), &DistillationOptions::new()).expect("lessons").fitted
}

fn column(fitted: &Fitted, name: &str, quantiles: &[f64]) -> Vec<f32> {
    let options = PredictOptions::new().quantiles(quantiles);
    let forecast = fitted.predict_with(&panel(), &options).expect("a forecast");
    forecast.column(name).unwrap_or_else(|| panic!("{name}")).to_vec()
}

fn far(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum::<f32>() / one.len() as f32
}

#[test]
fn a_student_forecasts_what_its_teacher_does_and_is_a_model_like_any_other() {
    let teacher =
        teacher(&["Naive", "SeasonalNaive"]).ensemble(Ensemble::Mean).fit(&panel()).expect("fitted");
    let student = taught(&teacher, student(&[]), 1);
    // Not what comes: the mean of the last value and that of a season ago is off by some units.
    let (expected, found) = (column(&teacher, "EnsembleMean", &[]), column(&student, "MLP", &[]));
    let away = far(&expected, &column(&teacher, "SeasonalNaive", &[]));
    assert!(far(&expected, &found) < 0.25 * away, "{} of {away}", far(&expected, &found));

    let spec = student.models()[0].spec().hyper_parameters();
    assert_eq!(
        (&spec["step_size"], &spec["batch_size"], &spec["windows_batch_size"]),
        (&json!(1), &json!(32), &json!(64))
    );
    let again = Fitted::from_bytes(&student.to_bytes().expect("bytes")).expect("a model");
    assert_eq!(column(&again, "MLP", &[]), found);
    let further = student.fit_more(&panel()).expect("a training on the data");
    assert!(far(&column(&further, "MLP", &[]), &expected) > far(&expected, &found));
}

#[test]
fn a_student_of_quantiles_learns_those_of_its_teacher() {
    let teacher = teacher(&["AutoETS"]).fit(&panel()).expect("fitted");
    let loss = json!({ "MQLoss": { "level": [80] } });
    let student = taught(&teacher, student(&[("loss", loss), ("max_steps", json!(400))]), 2);
    let width = |fitted: &Fitted, low: &str, high: &str, quantiles: &[f64]| -> f32 {
        let (low, high) = (column(fitted, low, quantiles), column(fitted, high, quantiles));
        low.iter().zip(&high).map(|(low, high)| high - low).sum::<f32>() / low.len() as f32
    };
    let expected = width(&teacher, "AutoETS_ql0.1", "AutoETS_ql0.9", &[0.1, 0.9]);
    let found = width(&student, "MLP-lo-80", "MLP-hi-80", &[]);
    assert!((found / expected - 1.0).abs() < 0.25, "{found}, not {expected}");
}

#[test]
fn threads_change_no_bit_and_mixtures_add_lessons() {
    let teacher = teacher(&["SeasonalNaive"]).fit(&panel()).expect("fitted");
    let quick = || student(&[("max_steps", json!(5))]);
    let weights = |threads: usize| -> Vec<f32> {
        taught(&teacher, quick(), threads).models()[0].parameters_in_order().copied().collect()
    };
    assert_eq!(weights(1), weights(2));

    let lessons = |options: DistillationOptions| {
        let forecaster = Forecaster::new([quick()]).expect("a student");
        let distilled = forecaster.distil(&teacher, &panel(), &options).expect("lessons");
        (distilled.lessons, distilled.step_size)
    };
    let all = 2 * (90 - 12 - H + 1);
    assert_eq!(lessons(DistillationOptions::new()), (all, 1));
    let (some, step) = lessons(DistillationOptions::new().lessons(40));
    assert!(some <= 40 && some > 30 && step == 4, "{some}, {step} steps apart");
    let (more, _) = lessons(DistillationOptions::new().mixtures(3));
    assert!(more > 2 * all, "{more}");
}

#[test]
fn columns_that_a_student_reads_are_those_of_its_lessons() {
    let known = panel();
    let futr: Vec<f32> = (0..2 * 90).map(|row| (row % 4) as f32).collect();
    let known = known.with_computed(vec![("phase".to_owned(), futr)]).expect("a column");
    let teacher = teacher(&["SeasonalNaive"]).fit(&known).expect("fitted");
    let spec = student(&[("futr_exog_list", json!(["phase"])), ("max_steps", json!(20))]);
    let forecaster = Forecaster::new([spec]).expect("a student");
    let distilled = forecaster.distil(&teacher, &known, &DistillationOptions::new()).expect("lessons");
    assert_eq!(distilled.fitted.columns_read(), ["phase"]);
    assert!(distilled.fitted.validate(&known, 2, H).is_ok());
}

#[test]
fn what_cannot_learn_says_why() {
    let teacher = teacher(&["Naive"]).fit(&panel()).expect("fitted");
    let refused = |forecaster: Forecaster, expected: &str| {
        let refused = forecaster.distil(&teacher, &panel(), &DistillationOptions::new());
        let message = refused.expect_err("refused").to_string();
        assert!(message.contains(expected), "{message}");
    };
    let of = |name: &str| ModelSpec::new(name, H, 12).expect("a model");
    let one = |spec: ModelSpec| Forecaster::new([spec]).expect("a forecaster");
    refused(one(of("AutoETS")), "it is no network");
    refused(one(of("iTransformer").set("n_series", 2).expect("series")), "sees all series at once");
    refused(one(of("LSTM").set("recurrent", true).expect("recurrent")), "step by step");
    refused(Forecaster::new([of("MLP"), of("NHITS")]).expect("two"), "one model");
    refused(one(of("MLP")).val_size(8), "not validated");
    refused(one(of("MLP")).local_scaler(LocalScaler::Standard), "scaler_type");
    refused(one(ModelSpec::new("MLP", H + 1, 12).expect("a model")), "give it h = 4");
    refused(one(ModelSpec::new("MLP", H, 87).expect("a model")), "the longest series has 90");

    let network = ModelSpec::new("NLinear", H, 12).expect("a model").set("max_steps", 1).expect("steps");
    let teacher = one(network).fit(&panel()).expect("fitted");
    let of_quantiles = one(student(&[("loss", json!({ "MQLoss": { "level": [80] } }))]));
    let message =
        of_quantiles.distil(&teacher, &panel(), &DistillationOptions::new()).expect_err("no quantiles");
    assert!(message.to_string().contains("NLinear has no intervals"), "{message}");
}
