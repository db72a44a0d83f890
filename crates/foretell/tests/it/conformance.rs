//! The requirements on every model of the zoo when it is trained, saved and served, whatever it computes: with each of its
//! small configurations, with all columns that it reads and with none.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use foretell::{
    Fitted, Forecaster, Future, MODELS, Map, ModelEntry, ModelSpec, Panel, ReadOptions, Value, Verdict, json,
};

const H: usize = 4;
const INPUT_SIZE: usize = 12;
const STEPS: u64 = 3;

/// Parameters times windows of a batch from which shards are surely spread over the threads.
const SPREAD: usize = 9 << 18;

/// Three series with a column of each kind, two of them of categories.
fn panel() -> Panel {
    let mut csv = String::from("unique_id,ds,y,known,past,day\n");
    for (s, id) in ["a", "b", "c"].into_iter().enumerate() {
        for t in 0..150 + 20 * s {
            let phase = t as f32 * 0.4 + s as f32;
            let (y, known, past) = (phase.sin() * (1.0 + s as f32) + 5.0, phase.cos(), (2.0 * phase).sin());
            csv += &format!("{id},{},{y},{known},{past},{}\n", 100 - 20 * s + t, DAYS[t % DAYS.len()]);
        }
    }
    let options = ReadOptions::new().categories(["day"]);
    let panel = Panel::read_csv(csv.as_bytes(), "panel.csv", &options).expect("a panel");
    let panel = panel.with_static("size", &[("a", 1.0), ("b", 2.5), ("c", -1.0)]).expect("sizes");
    panel.with_static_categories("color", &[("a", "red"), ("b", "blue"), ("c", "red")]).expect("colors")
}

const DAYS: [&str; 3] = ["work", "rest", "feast"];

/// The columns known in advance, for the horizon of each series.
fn future(panel: &Panel) -> Future {
    let known: Vec<f32> = (0..panel.n_series() * H).map(|row| (row as f32 * 0.4).cos()).collect();
    let days: Vec<&str> = (0..panel.n_series() * H).map(|row| DAYS[row % DAYS.len()]).collect();
    let future = Future::new(panel, H, &[("known", &known)]).expect("a future");
    future.with_categories("day", &days).expect("days")
}

fn set(spec: ModelSpec, settings: impl IntoIterator<Item = (String, Value)>) -> ModelSpec {
    settings.into_iter().fold(spec, |spec, (name, value)| spec.set(&name, value).expect("a setting"))
}

/// The columns that a model reads, as its hyper-parameters.
fn columns(entry: &ModelEntry) -> Map<String, Value> {
    let reads = entry.exogenous;
    // Numbers and categories of each kind.
    let kinds: [(_, _, _, &[&str]); 3] = [
        (reads.futr, "futr_exog_list", "known", &["day"]),
        (reads.hist, "hist_exog_list", "past", &[]),
        (reads.stat, "stat_exog_list", "size", &["color"]),
    ];
    let mut lists = Map::new();
    let mut categorical = Vec::new();
    for (_, list, number, categories) in kinds.into_iter().filter(|kind| kind.0) {
        let categories = if reads.cat { categories } else { &[] };
        lists.insert(list.to_owned(), json!([&[number], categories].concat()));
        categorical.extend_from_slice(categories);
    }
    if reads.cat {
        lists.insert("cat_exog_list".to_owned(), json!(categorical));
    }
    lists
}

/// Each way in which a model works: alone with its own loss, and with all columns and, if it can, quantiles.
fn specs(entry: &'static ModelEntry) -> Vec<ModelSpec> {
    let common = json!({
        "max_steps": STEPS, "val_check_steps": 1, "learning_rate": 0.01, "scaler_type": "standard",
        "random_seed": 3, "start_padding_enabled": true,
    });
    let spec = || {
        let spec = ModelSpec::new(entry.name, H, INPUT_SIZE).expect("a model");
        set(spec, common.as_object().expect("an object").clone())
    };
    let ways = entry.small().into_iter().flat_map(|small| {
        let loss = if entry.one_output { "HuberLoss" } else { "MQLoss" };
        let losses = [("loss".to_owned(), json!(loss)), ("valid_loss".to_owned(), Value::Null)];
        let with_columns = set(set(spec(), losses), columns(entry));
        [spec(), with_columns].map(|spec| set(spec, small.clone()))
    });
    ways.collect()
}

fn forecaster(spec: &ModelSpec, threads: usize) -> Forecaster {
    Forecaster::new([spec.clone()]).expect("a model").threads(threads).val_size(2 * H)
}

/// The model with this many windows in a batch that they are cut into shards, and these spread over the threads.
fn with_a_large_batch(spec: ModelSpec, panel: &Panel) -> ModelSpec {
    // A language model is told of each window in words, which takes longer than all the rest, and its batch is one shard.
    if spec.hyper_parameters().contains_key("llm") {
        return spec.set("windows_batch_size", 24).expect("windows");
    }
    // Without threads there is nothing to spread them over: two shards are enough, and their plain loops slow.
    if !cfg!(feature = "parallel") {
        return spec.set("windows_batch_size", 256).expect("windows");
    }
    let short = spec.clone().set("max_steps", 1).expect("a step").set("windows_batch_size", 8);
    let fitted = forecaster(&short.expect("windows"), 1).fit(panel).expect("a step of training");
    let parameters = fitted.models()[0].parameters_in_order().count();
    spec.set("windows_batch_size", (SPREAD / parameters).max(400)).expect("windows")
}

/// The weights, how training ended and the forecast, to the last bit.
#[derive(PartialEq, Eq)]
struct Bits {
    weights: Vec<u32>,
    losses: Option<(u64, Option<u64>)>,
    forecast: Vec<(String, Vec<u32>)>,
}

impl Bits {
    fn of(fitted: &Fitted, panel: &Panel) -> Self {
        let model = &fitted.models()[0];
        let known =
            model.spec().hyper_parameters()["futr_exog_list"].as_array().is_some_and(|list| !list.is_empty());
        let future = known.then(|| future(panel));
        let forecast = fitted.predict(panel, future.as_ref()).expect("a forecast");
        assert_eq!(forecast.n_rows(), panel.n_series() * H, "rows of the forecast");
        let column = |(name, values): &(String, Vec<f32>)| {
            assert!(values.iter().all(|y| y.is_finite()), "{name} is not finite");
            (name.clone(), values.iter().map(|y| y.to_bits()).collect())
        };
        Self {
            weights: model.parameters_in_order().map(|value| value.to_bits()).collect(),
            losses: model
                .outcome()
                .map(|outcome| (outcome.train_loss.to_bits(), outcome.valid_loss.map(f64::to_bits))),
            forecast: forecast.columns.iter().map(column).collect(),
        }
    }

    /// The part of it that a directory keeps: all but how training ended.
    fn kept(self) -> Self {
        Self { losses: None, ..self }
    }

    #[track_caller]
    fn expect(&self, other: &Self, what: &str) {
        assert!(self.weights == other.weights, "{what}: other weights");
        assert!(self.losses == other.losses, "{what}: other losses");
        assert!(self.forecast == other.forecast, "{what}: another forecast");
    }
}

/// The files of a directory.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(dir).expect("a directory").map(|file| file.expect("a file"));
    files
        .map(|file| {
            (file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).expect("a file"))
        })
        .collect()
}

fn check(spec: &ModelSpec, panel: &Panel) {
    let whole = forecaster(spec, 1).fit(panel).expect("a training");
    let bits = Bits::of(&whole, panel);
    Bits::of(&forecaster(spec, 2).fit(panel).expect("a training"), panel).expect(&bits, "2 threads");

    // Stopped where no state would be written otherwise, and resumed, on three threads.
    let home = tempfile::tempdir().expect("a directory");
    let state = home.path().join("state");
    let part = forecaster(spec, 3).checkpoint_to(&state, 3).on_progress(|_, progress| match progress.step {
        2 => Verdict::Interrupt,
        _ => Verdict::Continue,
    });
    assert!(part.fit(panel).expect("a part").interrupted());
    let rest = forecaster(spec, 3).checkpoint_to(&state, 3).fit(panel).expect("the rest");
    Bits::of(&rest, panel).expect(&bits, "interrupted, on 3 threads");

    let [one, other] = [(&whole, "one"), (&rest, "other")].map(|(fitted, name)| {
        let dir = home.path().join(name);
        fitted.save(&dir, true).expect("it is saved");
        dir
    });
    assert!(files(&one) == files(&other), "interrupted: other bytes in its directory");
    let loaded = Fitted::load(&one).expect("it is loaded");
    Bits::of(&loaded, panel).kept().expect(&bits.kept(), "loaded");
}

/// The parts that the models are dealt out to, each a test, so that they run side by side.
const PARTS: usize = 8;

fn check_part(part: usize) {
    let panel = panel();
    let mut faults = Vec::new();
    for entry in MODELS.iter().skip(part).step_by(PARTS) {
        for (way, spec) in specs(entry).into_iter().enumerate() {
            let checked = AssertUnwindSafe(|| check(&with_a_large_batch(spec.clone(), &panel), &panel));
            if let Err(panic) = catch_unwind(checked) {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                faults.push(format!("{}, configuration {way}: {text}", entry.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

macro_rules! parts {
    ($($part:ident $number:literal)*) => {
        mod every_model_trains_resumes_and_loads_alike_on_any_number_of_threads {
            $(#[test]
            fn $part() {
                super::check_part($number);
            })*

            #[test]
            fn no_part_is_left_out() {
                assert_eq!([$($number),*], std::array::from_fn::<usize, { super::PARTS }, _>(|part| part));
            }
        }
    };
}

parts!(part_0 0 part_1 1 part_2 2 part_3 3 part_4 4 part_5 5 part_6 6 part_7 7);
