//! A model from outside the zoo, that of the example, does what the zoo's models do.

#[allow(dead_code)]
#[path = "../../examples/own_model.rs"]
mod example;

use self::example::SparseTsf;
use foretell::own_model::{
    Architecture, Dims, Exogenous, HyperParameterError, Model, Scope, hyper_parameters, register,
};
use foretell::{
    Error, Fitted, Forecaster, Freq, MemoryLimit, ModelSpec, Panel, SpecError, StepSettings,
    ValidationOptions, bench, json,
};

const PERIOD: usize = 4;

fn spec() -> ModelSpec {
    let spec = ModelSpec::of::<SparseTsf>(6, 12).expect("sizes").set("period", PERIOD).expect("a period");
    spec.set("max_steps", 150).expect("steps").set("learning_rate", 1e-2).expect("a rate")
}

/// A season of four steps, and a level of each series.
fn panel() -> Panel {
    let season = [1.0, -2.0, 0.5, 3.0];
    let series = |level: f32| (0..80).map(|t| level + season[t % PERIOD]).collect::<Vec<_>>();
    let freq = Freq::parse("1").expect("a frequency");
    Panel::from_series(freq, [("a", 0, series(0.0)), ("b", 0, series(50.0))]).expect("a panel")
}

#[test]
fn it_is_trained_saved_and_loaded_by_its_name() {
    let panel = panel();
    let fitted = Forecaster::new([spec()]).expect("a model").fit(&panel).expect("it trains");
    let forecast = fitted.predict(&panel, None).expect("a forecast");
    // The level is the history's mean, 0.625 above that of the series.
    for (found, expected) in
        forecast.column("SparseTSF").expect("its column").iter().zip([1.0, -2.0, 0.5, 3.0])
    {
        assert!((found - expected).abs() < 0.05, "{found} where {expected} follows");
    }

    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("model");
    fitted.save(&dir, false).expect("it is saved");
    let loaded = Fitted::load(&dir).expect("it is found by its name");
    assert_eq!(loaded.models()[0].spec().hyper_parameters()["period"], PERIOD);
    let again = loaded.predict(&panel, None).expect("a forecast");
    assert_eq!(again.column("SparseTSF"), forecast.column("SparseTSF"));
}

#[test]
fn it_is_cross_validated_and_measured_with_any_loss() {
    let panel = panel();
    let quantiles = spec().set("loss", json!({ "MQLoss": { "level": [80] } })).expect("a loss");
    let normal = json!({ "DistributionLoss": { "distribution": "Normal", "level": [80] } });
    let normal = spec().set("loss", normal).expect("a loss").set("alias", "Normal").expect("a name");
    let forecaster = Forecaster::new([quantiles, normal]).expect("models");
    let validation =
        forecaster.cross_validate(&panel, &ValidationOptions::new(2, 6)).expect("it is validated");
    for metrics in &validation.metrics(&panel, PERIOD)[..2] {
        assert!(metrics.mae < 0.5, "{}: {}", metrics.model, metrics.mae);
        assert_eq!(metrics.coverage[0].level, 80.0);
    }
    let measured =
        bench(&spec(), 8, 1, StepSettings::default(), &MemoryLimit::default()).expect("it is measured");
    assert_eq!((measured.model.as_str(), measured.parameters), ("SparseTSF", 3 * 2));
}

#[test]
fn its_hyper_parameters_are_checked_like_those_of_the_zoo() {
    let slip = spec().set("perod", 3).expect_err("no such name");
    assert_eq!(slip.to_string(), "SparseTSF has no hyper-parameter perod; did you mean period?");
    let text = spec().set("period", "a day").expect_err("no number");
    assert!(matches!(text, SpecError::HyperParameter(HyperParameterError { name, .. }) if name == "period"));
    let long = spec().set("period", 13).expect("a number");
    let long = Forecaster::new([long]).expect_err("a season longer than the history").to_string();
    assert_eq!(long, "SparseTSF: hyper-parameter period must be between 1 and input_size = 12, found 13");
    let columns = spec().set("futr_exog_list", json!(["x"])).expect_err("it reads no columns");
    assert!(columns.to_string().contains("reads no future columns"), "{columns}");
    assert_eq!(spec().meaning("period"), Some("Steps of a season."));
}

#[test]
fn it_is_read_and_written_like_those_of_the_zoo() {
    register::<SparseTsf>();
    let text = serde_json::to_string(&spec()).expect("it is written");
    assert_eq!(serde_json::from_str::<ModelSpec>(&text).expect("it is read"), spec());
    assert_eq!(ModelSpec::new("sparsetsf", 6, 12).expect("any case of letters").name(), "SparseTSF");
}

hyper_parameters! {
    /// The one who takes a name of the zoo.
    pub struct Unheard {}
}

impl Architecture for Unheard {
    const NAME: &'static str = "LSTM";
    const PAPER: &'static str = "";
    const EXOGENOUS: Exogenous = Exogenous::NONE;

    fn build(self, _: &Dims, _: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        unreachable!("its name is taken")
    }
}

#[test]
#[should_panic = "two models are called LSTM"]
fn a_name_of_the_zoo_is_taken() {
    register::<Unheard>();
}

#[test]
fn a_directory_of_a_model_that_was_not_registered_says_what_to_do() {
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("model");
    let panel = panel();
    Forecaster::new([spec()])
        .expect("a model")
        .fit(&panel)
        .expect("it trains")
        .save(&dir, false)
        .expect("it is saved");
    for file in std::fs::read_dir(&dir).expect("a directory") {
        let path = file.expect("a file").path();
        let bytes = std::fs::read(&path).expect("it is read");
        // A name of as many letters, which no model has.
        let bytes = String::from_utf8_lossy(&bytes)
            .contains("SparseTSF")
            .then(|| replace(bytes, b"SparseTSF", b"SparseXYZ"))
            // The one who changes a file by hand takes out its checksum.
            .map(|bytes| replace(bytes, b"foretell_crc32", b"forgotten_crc3"));
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).expect("it is written");
        }
    }
    let error = Fitted::load(&dir).expect_err("no one knows that model");
    assert!(matches!(error, Error::Model { .. }), "{error:?}");
    assert!(error.to_string().contains("own_model::register"), "{error}");
}

fn replace(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    for i in 0..bytes.len().saturating_sub(from.len()) {
        if bytes[i..].starts_with(from) {
            bytes[i..i + from.len()].copy_from_slice(to);
        }
    }
    bytes
}
