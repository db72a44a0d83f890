//! Which models make a forecaster, and what is an error of the one who asked.

use foretell::{Error, Forecaster, MODELS, ModelSpec, PlanError, UsageError, Value, json};

#[test]
fn models_are_found_in_any_case_of_letters() {
    for entry in MODELS {
        for name in [entry.name.to_lowercase(), entry.name.to_uppercase()] {
            assert_eq!(ModelSpec::new(&name, 1, 2).map(|spec| spec.name()).ok(), Some(entry.name), "{name}");
        }
    }
    let error = ModelSpec::new("nhit", 1, 2).expect_err("no such model").to_string();
    assert!(error.contains("did you mean NHITS?"), "{error}");
}

#[test]
fn models_of_a_name_are_numbered() -> Result<(), Error> {
    let spec = || ModelSpec::new("NLinear", 1, 2);
    let forecaster = Forecaster::new([spec()?, spec()?.set("random_seed", 2)?, spec()?])?;
    assert_eq!(forecaster.column_names(), ["NLinear", "NLinear1", "NLinear2"]);
    Forecaster::new([spec()?, ModelSpec::new("DLinear", 1, 2)?]).map(drop)
}

#[test]
fn mistakes_of_the_question_are_told_from_those_of_the_data() {
    let slip = Error::from(ModelSpec::new("NHITZ", 1, 2).expect_err("no such model"));
    assert!(matches!(slip, Error::Usage(UsageError::Spec(_))));
    let none = Forecaster::new([]).expect_err("no models");
    assert!(matches!(none, Error::Usage(UsageError::Plan(PlanError::NoModels))));
    let data =
        foretell::column_names("nowhere.csv", &foretell::FileOptions::default()).expect_err("no such file");
    assert!(!matches!(Error::from(data), Error::Usage(_)));
}

/// The settings that neuralforecast's DeepNPTS refuses, and those that it takes.
#[test]
fn a_model_of_weighted_history_refuses_other_outputs_and_no_history() {
    let spec = || ModelSpec::new("DeepNPTS", 2, 6).expect("a model");
    let refused = |name: &str, value: Value, expected: &str| {
        let error = spec().set(name, value).and_then(|spec| spec.check()).expect_err(name).to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}");
    };
    refused("loss", "MQLoss".into(), "a loss of one output for each step, such as MAE");
    refused("loss", json!({ "DistributionLoss": { "distribution": "StudentT" } }), "found one of 3");
    refused("exclude_insample_y", true.into(), "must be false: the model makes its forecasts of");
    let poisson = json!({ "DistributionLoss": { "distribution": "Poisson" } });
    for loss in [json!({ "QuantileLoss": { "q": 0.3 } }), poisson.clone()] {
        let spec = spec().set("loss", loss).expect("a loss");
        spec.check().unwrap_or_else(|error| panic!("{error}"));
    }
    let validated = spec().set("loss", poisson.clone()).and_then(|spec| spec.set("valid_loss", poisson));
    let error = validated.and_then(|spec| spec.check()).expect_err("a distribution").to_string();
    assert!(error.contains("valid_loss") && error.contains("a loss of points, such as MAE"), "{error}");
}
