//! Models that a cross-validation fits anew for several windows at a time: what comes of it, and what is told of it, is that of one
//! after the other.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use foretell::own_estimator::{
    Asked, Estimator, EstimatorEntry, ForecastValues, HeldOut, Learned, Run, Trained, cutoffs,
};
use foretell::{
    CrossValidation, Error, EstimatorError, Forecaster, Freq, ModelSpec, Panel, PredictionIntervals,
    ValidationOptions, Value, Verdict, Workers, register_estimator,
};
use serde_json::{Map, json};

const H: usize = 4;
const STEPS: u64 = 5;
const WINDOWS: usize = 5;

fn panel(series: usize) -> Panel {
    let series = (0..series).map(|s| {
        let y = (0..70).map(|t| ((t + s) as f32 * 0.9).sin() + 0.02 * (t * s % 7) as f32);
        (format!("series {s}"), 0, y.collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("D").expect("days"), series).expect("a panel")
}

/// A network whose batch is one shard.
fn network() -> ModelSpec {
    let spec = ModelSpec::new("MLP", H, 8).expect("a model").set("max_steps", STEPS).expect("steps");
    spec.set("windows_batch_size", 8).expect("windows").set("hidden_size", 8).expect("a size")
}

fn without_steps() -> Vec<ModelSpec> {
    ["AutoETS", "Prophet", "Naive"].map(|name| ModelSpec::new(name, H, 8).expect("a model")).into()
}

/// What was told: a model, its step and its loss, or a warning.
type Told = Arc<Mutex<Vec<String>>>;

/// A forecaster that keeps what it tells, and whose listener answers by the number of the report, from 1.
fn forecaster(
    specs: Vec<ModelSpec>,
    threads: usize,
    answer: impl Fn(usize) -> Verdict + Send + 'static,
) -> (Forecaster, Told) {
    let told = Told::default();
    let (steps, warnings) = (told.clone(), told.clone());
    let mut reports = 0;
    let forecaster = Forecaster::new(specs).expect("models").threads(threads);
    let forecaster = forecaster.on_progress(move |model, progress| {
        let text = format!("{model} {} {:x}", progress.step, progress.train_loss.to_bits());
        steps.lock().expect("no panic").push(text);
        reports += 1;
        answer(reports)
    });
    let forecaster =
        forecaster.on_warning(move |warning| warnings.lock().expect("no panic").push(warning.to_string()));
    (forecaster, told)
}

fn options<'a>() -> ValidationOptions<'a> {
    ValidationOptions::new(WINDOWS, 3).refit(1)
}

/// All forecasts and weights, as bits.
fn bits(validation: &CrossValidation) -> Vec<u32> {
    let frame = validation.frame.columns.iter().flat_map(|(_, values)| values);
    let models = validation.fitted.models().iter();
    frame.chain(models.flat_map(|model| model.parameters_in_order())).map(|value| value.to_bits()).collect()
}

#[test]
fn bits_and_reports_are_those_of_one_after_the_other() {
    let both = vec![ModelSpec::new("AutoETS", H, 8).expect("a model"), network()];
    for (specs, series) in [(without_steps(), 1), (both, 3)] {
        let validate = |threads: usize| {
            let (forecaster, told) = forecaster(specs.clone(), threads, |_| Verdict::Continue);
            // Few windows for the level: a warning before all, and each calibration is a training of its own.
            let intervals = PredictionIntervals { n_windows: 2, ..PredictionIntervals::default() };
            let validation = forecaster.intervals(intervals).cross_validate(&panel(series), &options());
            let told = told.lock().expect("no panic").clone();
            (bits(&validation.expect("forecasts")), told)
        };
        let one = validate(1);
        let trainings = specs.iter().filter(|spec| spec.name() == "MLP").count() * 2 * WINDOWS;
        assert_eq!(one.1.iter().filter(|text| text.starts_with("MLP ")).count(), trainings * STEPS as usize);
        for threads in [2, 5] {
            assert_eq!(validate(threads), one, "{threads} threads, {series} series");
        }
    }
}

#[test]
fn models_that_are_trained_once_stay_the_same_beside_others() {
    let validate = |threads: usize| {
        let specs = [without_steps(), vec![network()]].concat();
        let (forecaster, told) = forecaster(specs, threads, |_| Verdict::Continue);
        let validation = forecaster.cross_validate(&panel(1), &options().refit(0)).expect("forecasts");
        let told = told.lock().expect("no panic").iter().filter(|text| text.starts_with("MLP ")).count();
        assert_eq!(told, STEPS as usize, "the network is trained once");
        bits(&validation)
    };
    let one = validate(1);
    assert!([2, 5].into_iter().all(|threads| validate(threads) == one));
}

#[test]
fn answers_count_as_if_each_training_had_waited_for_them() {
    // In the third training: it stops before its last step, and the others go on.
    let stopped = 2 * STEPS as usize + 2;
    for answer in [Verdict::Stop, Verdict::Interrupt] {
        let validate = |threads: usize| {
            let answer = move |report| if report == stopped { answer } else { Verdict::Continue };
            let (forecaster, told) = forecaster(vec![network()], threads, answer);
            let validation = forecaster.cross_validate(&panel(1), &options()).expect("forecasts");
            let told = told.lock().expect("no panic").clone();
            let interruption = validation.fitted.interruption().map(ToString::to_string);
            (bits(&validation), told, interruption)
        };
        let one = validate(1);
        let reports = match answer {
            Verdict::Interrupt => stopped,
            _ => WINDOWS * STEPS as usize - 3,
        };
        assert_eq!(one.1.len(), reports);
        let interrupted = (answer == Verdict::Interrupt).then(|| format!("step 2 of {STEPS} of MLP"));
        assert_eq!(one.2, interrupted);
        for threads in [2, 5] {
            assert_eq!(validate(threads), one, "{answer:?}, {threads} threads");
        }
    }
}

#[test]
fn an_interruption_of_the_first_training_is_an_error() {
    for threads in [1, 2, 5] {
        let (forecaster, told) = forecaster(vec![network()], threads, |_| Verdict::Interrupt);
        let error = forecaster.cross_validate(&panel(1), &options()).expect_err("nothing is forecast");
        assert!(matches!(error, Error::NothingForecast { .. }), "{error}");
        assert_eq!(told.lock().expect("no panic").len(), 1, "{threads} threads");
    }
}

#[test]
fn fits_that_nobody_waits_for_are_given_up() {
    for threads in [1, 2, 5] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let (forecaster, _) = forecaster(without_steps(), threads, |_| Verdict::Continue);
        let forecaster = forecaster.while_wanted(move || count.fetch_add(1, SeqCst) < 10);
        let error = forecaster.cross_validate(&panel(1), &options()).expect_err("it is given up");
        assert!(matches!(error, Error::NotWanted | Error::NothingTrained), "{error}");
    }
}

/// Fits that have begun, and that have failed.
static BEGUN: AtomicUsize = AtomicUsize::new(0);
static FAILED: AtomicUsize = AtomicUsize::new(0);

/// An estimator whose fits wait for each other; those of `fails_from` rows or more fail, the shortest of them last.
#[derive(Clone, Debug)]
struct Waiting {
    h: usize,
    fails_from: usize,
}

/// Waits until `count` is reached, however busy the machine is: for ever if windows are fitted one after the other.
fn wait_for(counter: &AtomicUsize, count: usize) {
    while counter.load(SeqCst) < count {
        std::thread::yield_now();
    }
}

impl Estimator for Waiting {
    fn name(&self) -> &'static str {
        "Waiting"
    }

    fn alias(&self) -> &str {
        "Waiting"
    }

    fn horizon(&self) -> usize {
        self.h
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), EstimatorError> {
        let value = value.as_u64().unwrap_or(0) as usize;
        match name {
            "h" => self.h = value,
            _ => self.fails_from = value,
        }
        Ok(())
    }

    fn hyper_parameters(&self) -> Map<String, Value> {
        Map::from_iter([("h".to_owned(), json!(self.h)), ("fails_from".to_owned(), json!(self.fails_from))])
    }

    fn meaning(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn fit(&self, panel: &Panel, held_out: HeldOut, _: Run<'_>) -> Result<Box<dyn Trained>, EstimatorError> {
        BEGUN.fetch_add(1, SeqCst);
        let rows = panel.len(0) - held_out.rows();
        wait_for(&BEGUN, 2);
        if rows < self.fails_from {
            return Ok(Box::new(self.clone()));
        }
        if rows == self.fails_from {
            wait_for(&FAILED, 1);
        }
        FAILED.fetch_add(1, SeqCst);
        Err(EstimatorError::Usage(format!("it fails on {rows} rows").into()))
    }

    fn boxed(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

impl Trained for Waiting {
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
        let values = vec![0.0; cutoffs.len() * asked.h];
        Ok(ForecastValues { cutoffs, values })
    }

    fn learned(&self) -> Learned {
        Learned::default()
    }
}

const WAITING: EstimatorEntry = EstimatorEntry {
    name: "Waiting",
    paper: "a test",
    new: |h| Box::new(Waiting { h, fails_from: usize::MAX }),
    restore: |_, _| Err("it is never saved".to_owned()),
};

#[test]
fn windows_are_fitted_at_once_and_the_error_is_that_of_the_earliest() {
    register_estimator(WAITING);
    let validate = |fails_from: usize| {
        let spec = ModelSpec::new("Waiting", H, 8).expect("a model");
        let spec = spec.set("fails_from", fails_from).expect("a number");
        Forecaster::new([spec]).expect("a model").threads(2).cross_validate(&panel(1), &options())
    };
    let whole = validate(1000).expect("two are fitted at a time");
    assert_eq!(whole.frame.n_rows(), WINDOWS * H);
    // Windows begin 3 rows apart: the second one fails behind the third.
    let earliest = 70 - H - (WINDOWS - 2) * 3;
    let error = validate(earliest).expect_err("it fails").to_string();
    assert!(error.contains(&format!("it fails on {earliest} rows")), "{error}");
    assert!(FAILED.load(SeqCst) >= 2);
}
