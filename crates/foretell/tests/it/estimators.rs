//! Estimators that are no networks, alone and beside networks: fitted, scored, given intervals, saved and loaded.

use std::any::Any;
use std::collections::BTreeMap;

use foretell::own_estimator::{
    Asked, Estimator, EstimatorEntry, ForecastValues, HeldOut, Learned, Run, Trained, cutoffs,
};
use foretell::{
    Error, EstimatorError, Fitted, Forecaster, Freq, MemoryLimit, ModelSpec, Panel, PredictOptions,
    PredictionIntervals, StepSettings, UsageError, ValidationOptions, Value, Workers, bench,
    register_estimator,
};
use foretell_classical::{Classical, HyperParameter, Method, SeriesNumbers};
use serde_json::{Map, json};

/// Two series of 60 days: a week of seven values, and a level that rises by 1 a day.
fn panel() -> Panel {
    let week = |day: usize| [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0][day % 7];
    let series = |rise: f32| (0..60).map(|day| week(day) + rise * day as f32).collect::<Vec<f32>>();
    let freq = Freq::parse("D").expect("days");
    Panel::from_series(freq, [("flat", 0, series(0.0)), ("rising", 0, series(1.0))]).expect("a panel")
}

fn spec(name: &str) -> ModelSpec {
    ModelSpec::new(name, 7, 14).expect("a model")
}

#[test]
fn the_naive_forecasts_stand_beside_networks_and_alone() {
    let panel = panel();
    let network = spec("NLinear").set("max_steps", 3).expect("steps");
    let together = Forecaster::new([spec("Naive"), network, spec("SeasonalNaive")]).expect("models");
    let fitted = together.fit(&panel).expect("a fit");
    assert_eq!(fitted.column_names(), ["Naive", "NLinear", "SeasonalNaive"]);
    let forecast = fitted.predict(&panel, None).expect("a forecast");
    let y = panel.y(1);
    assert_eq!(forecast.column("Naive").expect("a column")[7..], [y[59]; 7]);
    assert_eq!(forecast.column("SeasonalNaive").expect("a column")[7..], y[53..]);

    let alone = Forecaster::new([spec("SeasonalNaive")]).expect("a model").fit(&panel).expect("a fit");
    let further = PredictOptions::new().h(9);
    let further = alone.predict_with(&panel, &further).expect("a forecast");
    let column = further.column("SeasonalNaive").expect("a column");
    assert_eq!(column[9..], [&y[53..], &y[53..55]].concat());
}

#[test]
fn they_are_saved_and_loaded_with_what_they_found() {
    let (panel, home) = (panel(), tempfile::tempdir().expect("a directory"));
    let network = spec("NLinear").set("max_steps", 3).expect("steps");
    for (name, models) in [
        ("alone", vec![spec("SeasonalNaive")]),
        ("beside", vec![spec("Naive"), network, spec("SeasonalNaive")]),
    ] {
        let fitted = Forecaster::new(models).expect("models").fit(&panel).expect("a fit");
        let dir = home.path().join(name);
        fitted.save(&dir, false).expect("it is saved");
        let loaded = Fitted::load(&dir).expect("it is loaded");
        assert_eq!(loaded.column_names(), fitted.column_names());
        let [before, after] =
            [&fitted, &loaded].map(|fitted| fitted.predict(&panel, None).expect("a forecast"));
        assert_eq!(before.columns, after.columns);
        // The season of days is a week.
        let seasonal = loaded.models().last().expect("a model");
        assert_eq!(seasonal.spec().hyper_parameters()["season_length"], 7);
        let contents = foretell::Contents::of(&dir).expect("its contents");
        let classes: Vec<&str> = contents.models.iter().map(|model| model.class.as_str()).collect();
        assert_eq!(classes, fitted.models().iter().map(|model| model.spec().name()).collect::<Vec<_>>());
        assert!(contents.models.iter().all(|model| model.unsupported.is_none()));
    }
}

#[test]
fn cross_validation_scores_them_like_any_model() {
    let panel = panel();
    let models = [spec("Naive"), spec("SeasonalNaive").set("season_length", 14).expect("a season")];
    for refit in [0, 1] {
        let options = ValidationOptions::new(3, 7).refit(refit).level(&[80.0]);
        let validation = Forecaster::new(models.clone())
            .expect("models")
            .cross_validate(&panel, &options)
            .expect("scores");
        let names: Vec<&str> = validation.frame.columns.iter().map(|(name, _)| name.as_str()).collect();
        let columns = [
            "Naive", "Naive-lo-80", "Naive-hi-80", "SeasonalNaive", "SeasonalNaive-lo-80",
            "SeasonalNaive-hi-80",
        ];
        assert_eq!(names, [&["y"][..], &columns].concat());
        let metrics = validation.metrics(&panel, 7);
        // The flat series repeats, the other one is 14 higher two weeks later.
        assert_eq!((metrics[1].model.as_str(), metrics[1].mae), ("SeasonalNaive", 7.0));
        assert!(metrics.iter().all(|metrics| metrics.coverage.len() == 1 && metrics.mqloss.is_some()));
    }
}

#[test]
fn their_intervals_widen_with_the_root_of_the_steps() {
    let (panel, level) = (panel(), [80.0]);
    let fitted =
        Forecaster::new([spec("Naive"), spec("SeasonalNaive")]).expect("models").fit(&panel).expect("a fit");
    let options = PredictOptions::new().level(&level).h(14);
    let forecast = fitted.predict_with(&panel, &options).expect("a forecast");
    let width = |model: &str, row: usize| {
        let end = |side: &str| forecast.column(&format!("{model}-{side}-80")).expect("an interval")[row];
        end("hi") - end("lo")
    };
    let naive = width("Naive", 0);
    assert!(naive > 0.0 && (width("Naive", 8) / naive - 3.0).abs() < 1e-5, "{naive}");
    // The flat series has no error, the other one 7 a week.
    assert_eq!((width("SeasonalNaive", 0), width("SeasonalNaive", 13)), (0.0, 0.0));
    let (first, second) = (width("SeasonalNaive", 14), width("SeasonalNaive", 21));
    assert!((first - 2.0 * 1.281_551_6 * 7.0).abs() < 1e-4, "{first}");
    assert!((second / first - f32::sqrt(2.0)).abs() < 1e-6, "{second} after {first}");
}

#[test]
fn a_forecaster_goes_through_bytes() {
    let panel = panel();
    let network = spec("NLinear").set("max_steps", 3).expect("steps");
    let models = [network, spec("SeasonalNaive")];
    let fitted = Forecaster::new(models).expect("models").fit(&panel).expect("a fit");
    let bytes = fitted.to_bytes().expect("bytes");
    let again = Fitted::from_bytes(&bytes).expect("a forecaster");
    let [before, after] = [&fitted, &again].map(|fitted| fitted.predict(&panel, None).expect("a forecast"));
    assert_eq!(before.columns, after.columns);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    for bytes in [&flipped[..], &bytes[..100], b"", b"anything else"] {
        let refused = Fitted::from_bytes(bytes).expect_err("no models").to_string();
        assert!(refused.starts_with("the bytes hold no models"), "{refused}");
    }
}

#[test]
fn what_they_do_not_have_is_said() {
    let slip = spec("SeasonalNaive").set("season_lenght", 7).expect_err("a slip").to_string();
    assert_eq!(slip, "SeasonalNaive has no hyper-parameter season_lenght; did you mean season_length?");
    let zero = spec("SeasonalNaive").set("season_length", 0).expect_err("no season").to_string();
    assert!(zero.contains("season_length must be a whole number between 1"), "{zero}");
    let columns =
        |list: &str| spec("AutoETS").set(list, json!(["price"])).expect_err("it reads none").to_string();
    let (futr, hist) = (columns("futr_exog_list"), columns("hist_exog_list"));
    assert_eq!(
        futr,
        "AutoETS reads no columns known in advance (futr_exog_list); AutoARIMA, ARIMA, FLAIR, Prophet, and networks such as NHITS \
         and LSTM do"
    );
    let reads = |model: &str| ModelSpec::new(model, 1, 1).expect("a model").exogenous();
    assert!(
        ["AutoARIMA", "ARIMA", "FLAIR", "Prophet", "NHITS", "LSTM"].iter().all(|model| reads(model).futr)
    );
    assert!(hist.ends_with("(hist_exog_list); networks such as NHITS and LSTM do"), "{hist}");
    assert!(["NHITS", "LSTM"].iter().all(|model| reads(model).hist && reads(model).stat && reads(model).cat));
    let unknown = ModelSpec::new("SesonalNaive", 1, 1).expect_err("a slip").to_string();
    assert!(unknown.contains("did you mean SeasonalNaive?"), "{unknown}");
    let refused = bench(&spec("Naive"), 1, 1, StepSettings::default(), &MemoryLimit::of_machine());
    assert!(matches!(refused, Err(Error::Usage(UsageError::NoNetwork { model: "Naive", .. }))));
    let fitted = Forecaster::new([spec("Naive")]).expect("a model").fit(&panel()).expect("a fit");
    let weights = fitted.feature_importances(&panel(), None).expect_err("no weights").to_string();
    assert!(weights.contains("found Naive"), "{weights}");
}

#[test]
fn calibrated_intervals_take_the_place_of_a_models_own() {
    let intervals = PredictionIntervals { n_windows: 6, ..PredictionIntervals::default() };
    let forecaster = || Forecaster::new([spec("Naive")]).expect("a model");
    let width = |fitted: Fitted| {
        let frame = fitted.predict_with(&panel(), &PredictOptions::new().level(&[80.0])).expect("intervals");
        let [low, high] = ["Naive-lo-80", "Naive-hi-80"].map(|name| frame.column(name).expect("an end")[0]);
        assert!(high > low, "{low} to {high}");
        high - low
    };
    let own = width(forecaster().fit(&panel()).expect("a fit"));
    let calibrated = width(forecaster().intervals(intervals).fit(&panel()).expect("a fit"));
    assert!((own - calibrated).abs() > 1e-3, "{own}");
}

/// An estimator from outside: the mean of each series in training.
#[derive(Clone, Debug)]
struct Means {
    h: usize,
    means: BTreeMap<String, f64>,
}

impl Estimator for Means {
    fn name(&self) -> &'static str {
        "Means"
    }

    fn alias(&self) -> &str {
        "Means"
    }

    fn horizon(&self) -> usize {
        self.h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        match value.as_u64().filter(|_| name == "h") {
            Some(h) => self.h = h as usize,
            None => return Err(EstimatorError::Usage(format!("Means has no {name}").into())),
        }
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        Map::from_iter([("h".to_owned(), json!(self.h))])
    }

    fn meaning(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn fit(&self, panel: &Panel, held_out: HeldOut, _: Run<'_>) -> Result<Box<dyn Trained>, EstimatorError> {
        let mean = |series: usize| {
            let known = &panel.y(series)[..panel.len(series) - held_out.rows()];
            (
                panel.id(series).to_string(),
                known.iter().map(|&y| f64::from(y)).sum::<f64>() / known.len() as f64,
            )
        };
        Ok(Box::new(Self { means: (0..panel.n_series()).map(mean).collect(), ..self.clone() }))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

impl Trained for Means {
    fn estimator(&self) -> &dyn Estimator {
        self
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        _: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let cutoffs = cutoffs(panel, asked.span, asked.h)?;
        let mean = |series: usize| self.means.get(&**panel.id(series)).map_or(f32::NAN, |&mean| mean as f32);
        let values =
            cutoffs.iter().flat_map(|&(series, _)| std::iter::repeat_n(mean(series), asked.h)).collect();
        Ok(ForecastValues { cutoffs, values })
    }

    fn learned(&self) -> Learned {
        let numbers = [("mean".to_owned(), self.means.values().copied().collect())].into();
        Learned { series: self.means.keys().cloned().collect(), numbers }
    }
}

const MEANS: EstimatorEntry = EstimatorEntry {
    name: "Means",
    paper: "a test",
    new: |h| Box::new(Means { h, means: BTreeMap::new() }),
    restore: |estimator, learned| {
        let estimator: Box<dyn Any> = estimator;
        let means = *estimator.downcast::<Means>().map_err(|_| "no Means".to_owned())?;
        let values = learned.numbers.get("mean").filter(|means| means.len() == learned.series.len());
        let values = values.ok_or("a series without its mean")?.clone();
        Ok(Box::new(Means { means: learned.series.into_iter().zip(values).collect(), ..means }))
    },
};

#[test]
fn an_estimator_from_outside_gets_everything() {
    register_estimator(MEANS);
    let panel = panel();
    let quantiles = PredictionIntervals { n_windows: 5, ..PredictionIntervals::default() };
    let forecaster = Forecaster::new([spec("Means"), spec("Naive")]).expect("models").intervals(quantiles);
    let fitted = forecaster.fit(&panel).expect("a fit");
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("it is saved");
    let loaded = Fitted::load(home.path().join("model")).expect("it is loaded");
    let level = [60.0];
    // Three horizons ahead: what was forecast is fed back.
    let further = PredictOptions::new().h(20);
    let forecast = loaded.predict_with(&panel, &further).expect("a forecast");
    let mean = panel.y(0).iter().sum::<f32>() / 60.0;
    assert!(forecast.column("Means").expect("a column")[..20].iter().all(|y| (y - mean).abs() < 1e-5));
    let options = PredictOptions::new().level(&level);
    let forecast = loaded.predict_with(&panel, &options).expect("intervals");
    let [low, high] = ["Means-lo-60", "Means-hi-60"].map(|name| forecast.column(name).expect("an end")[0]);
    assert!(low < mean && mean < high, "{low} {high}");
    let options = ValidationOptions::new(2, 7);
    let validation = Forecaster::new([spec("Means")]).expect("a model").cross_validate(&panel, &options);
    assert!(validation.expect("scores").metrics(&panel, 7)[0].mae > 0.0);
}

/// A method that learns: the mean of each series, and how many values it is of.
#[derive(Clone, Debug, Default)]
struct LearnedAverage;

impl Method for LearnedAverage {
    const NAME: &'static str = "LearnedAverage";
    const PAPER: &'static str = "a test";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[];

    fn fitted(&self, panel: &Panel, learned: &mut SeriesNumbers, _: &Workers) -> Self {
        let mean = |series: usize| {
            let y = panel.y(series);
            let sum: f64 = y.iter().map(|&y| f64::from(y)).sum();
            [sum / y.len() as f64, y.len() as f64]
        };
        learned.set(panel, "mean", (0..panel.n_series()).flat_map(mean).collect());
        Self
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        learned: &SeriesNumbers,
        _: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let cutoffs = cutoffs(panel, asked.span, asked.h)?;
        let mean =
            |series: usize| learned.of(panel.id(series), "mean").map_or(f32::NAN, |mean| mean[0] as f32);
        let values =
            cutoffs.iter().flat_map(|&(series, _)| std::iter::repeat_n(mean(series), asked.h)).collect();
        Ok(ForecastValues { cutoffs, values })
    }
}

#[test]
fn what_a_method_learned_of_each_series_is_kept_in_a_binary_file() {
    register_estimator(Classical::<LearnedAverage>::entry());
    let count = 500;
    let freq = Freq::parse("D").expect("days");
    let of = |i: usize| (0..20).map(|t| (i * t) as f32 / 7.0).collect::<Vec<f32>>();
    let ids: Vec<String> = (0..count).map(|i| format!("shop-{i:03}")).collect();
    let panel = Panel::from_series(freq, ids.iter().enumerate().map(|(i, id)| (id.as_str(), 0, of(i))));
    let panel = panel.expect("a panel");
    // An input of 13 rows leaves 7 to forecast.
    let network = ModelSpec::new("NLinear", 7, 13).expect("a model").set("max_steps", 1).expect("steps");
    let models = [spec("Naive"), spec("LearnedAverage"), network];
    let fitted = Forecaster::new(models).expect("models").fit(&panel).expect("a fit");
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("model");
    fitted.save(&dir, false).expect("it is saved");
    // Another one takes its place: the file is one of the directory's.
    fitted.save(&dir, true).expect("it is saved again");
    let file = std::fs::metadata(dir.join("foretell_models.bin")).expect("the numbers").len();
    assert!(file < count as u64 * (16 + 8 + 8) + 400, "{file} bytes");
    let configuration = std::fs::read_to_string(dir.join("configuration.json")).expect("text");
    assert!(!configuration.contains("shop-001"), "{configuration}");

    let before = fitted.predict(&panel, None).expect("a forecast");
    let bytes = fitted.to_bytes().expect("bytes");
    for loaded in [Fitted::load(&dir).expect("loaded"), Fitted::from_bytes(&bytes).expect("unpacked")] {
        assert_eq!(loaded.predict(&panel, None).expect("a forecast").columns, before.columns);
        // Some of the series alone have the same means.
        let some =
            Panel::from_series(Freq::parse("D").expect("days"), [("shop-123", 0, of(123))]).expect("a panel");
        let alone = loaded.predict(&some, None).expect("a forecast");
        let mean = of(123).iter().sum::<f32>() / 20.0;
        let found = alone.column("LearnedAverage").expect("a column")[0];
        assert!((found - mean).abs() < 1e-4 * mean, "{found}, {mean} by hand");
    }
    let contents = foretell::Contents::of(&dir).expect("its contents");
    assert_eq!(contents.models[1].parameters, 2 * count);

    std::fs::remove_file(dir.join("foretell_models.bin")).expect("it is there");
    let missing = Fitted::load(&dir).expect_err("no numbers").to_string();
    assert!(missing.contains("foretell_models.bin is missing"), "{missing}");
}
