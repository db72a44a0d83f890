//! Limits of memory: what foreseeably takes more is refused before it is taken, and what is foreseen is about what
//! is taken.

use bytesize::ByteSize;
use foretell::{
    CsvWriter, Error, Forecaster, Freq, LocalScaler, MODELS, Map, MemoryLimit, ModelEntry, ModelSpec, Panel,
    Precision, PredictOptions, StepSettings, TooMuchMemory, UsageError, ValidationOptions, Value, bench,
};

/// Held by a test while it runs.
struct Alone {
    measure: foretell_fuzz::Alone,
}

fn alone() -> Alone {
    Alone { measure: foretell_fuzz::Alone::new() }
}

impl Drop for Alone {
    /// What the pool keeps of this test's would be given back when its thread ends, while the next one measures.
    fn drop(&mut self) {
        foretell_pool::trim();
    }
}

const FIVE_GB: u64 = 5_000_000_000;

/// The memory that a refusal may take: the weights by which NHITS interpolates a million steps are the most.
const LITTLE: usize = 200 << 20;

fn panel(rows: usize) -> Panel {
    let y: Vec<f32> = (0..rows).map(|row| (row as f32 * 0.3).sin()).collect();
    Panel::from_series(Freq::parse("1").expect("a frequency"), [("a", 0, y)]).expect("a panel")
}

fn spec(model: &str, h: usize, input_size: usize) -> ModelSpec {
    ModelSpec::new(model, h, input_size).expect("a model").set("max_steps", 2).expect("steps")
}

/// A model of the zoo; with the small language model of the tests if it reads one.
fn spec_of(entry: &ModelEntry, h: usize, input_size: usize) -> ModelSpec {
    let small =
        if entry.own_defaults().contains_key("llm") { entry.small().swap_remove(0) } else { Map::new() };
    let set = |spec: ModelSpec, (name, value): (String, Value)| spec.set(&name, value).expect("a setting");
    small.into_iter().fold(spec(entry.name, h, input_size), set)
}

/// The memory that the work needs according to an error.
fn needed(error: &Error) -> u64 {
    match error {
        Error::Usage(UsageError::Memory(TooMuchMemory { needed, .. })) => {
            needed.parse::<ByteSize>().expect("a size").as_u64()
        }
        other => panic!("another error: {other}"),
    }
}

#[test]
fn horizons_that_do_not_fit_are_refused_before_anything_is_taken() {
    let alone = alone();
    let panel = panel(300);
    for entry in MODELS {
        // A model that forecasts step by step trains on the first steps of its horizon alone, after all of its history.
        let (h, input_size) = match entry.kind.contains("step by step") {
            true => (96, 1_000_000),
            false => (1_000_000, 96),
        };
        let spec = || spec_of(entry, h, input_size).set("windows_batch_size", 1024).expect("windows");
        // NBEATS would have more parameters than a model may have.
        let Ok(forecaster) = Forecaster::new([spec()]) else { continue };
        let (fitted, taken) = alone.measure.peak_memory(|| forecaster.max_memory(FIVE_GB).fit(&panel));
        let error = fitted.expect_err("more than 5 GB");
        assert!(needed(&error) > FIVE_GB, "{error}");
        assert!(taken < LITTLE, "{}: {taken} bytes were taken", entry.name);
        let message = error.to_string();
        for part in
            [&format!("training {} needs about ", entry.name), "the limit is 5.0 GB, as set; ", "lower h"]
        {
            assert!(message.contains(part), "{message}");
        }
        let limit = MemoryLimit::of_bytes(FIVE_GB);
        let (found, taken) =
            alone.measure.peak_memory(|| bench(&spec(), 1024, 1, StepSettings::default(), &limit));
        assert!(
            matches!(found, Err(Error::Usage(UsageError::Memory(_)))) && taken < LITTLE,
            "{}: {taken}",
            entry.name
        );
    }
}

#[test]
fn what_is_foreseen_is_about_what_is_taken() {
    let alone = alone();
    let panel = panel(3_000);
    let workers = foretell_threads::Workers::new(2).expect("two threads");
    for entry in MODELS {
        let spec = || spec_of(entry, 48, 128).set("windows_batch_size", 48).expect("windows");
        let forecaster = || Forecaster::new([spec()]).expect("a model").threads(2);
        let error = forecaster().max_memory(1).fit(&panel).expect_err("more than a byte");
        let training = || {
            // What the pool kept of the model before would not be taken anew. The threads give back theirs on their own.
            workers.each(&mut [(); 2], true, |_, ()| foretell_pool::trim());
            foretell_pool::trim();
            alone.measure.peak_memory(|| forecaster().fit(&panel).expect("a training"))
        };
        let foreseen = needed(&error) as usize;
        let (mut fitted, mut taken) = training();
        // Threads of another test that end meanwhile give back what they kept, which seems to be taken from the training's. They end once.
        for _ in 0..4 {
            if 2 * taken > foreseen {
                break;
            }
            drop(fitted);
            (fitted, taken) = training();
        }
        println!("{}: {taken} bytes were taken, {foreseen} foreseen", entry.name);
        // Threads and products of matrices have buffers of a fixed size beside.
        let fixed = 16 << 20;
        assert!(taken < 2 * foreseen + fixed, "{}: {taken} bytes were taken: {error}", entry.name);
        assert!(2 * taken > foreseen, "{}: {taken} bytes were taken: {error}", entry.name);

        // Forecasts of many steps after the only series.
        let options = PredictOptions::new().h(100_000);
        let few = PredictOptions::new();
        assert!(fitted.predict_with(&panel, &few).is_ok());
        let refused = fitted.max_memory(1_000_000).predict_with(&panel, &options);
        let error = refused.expect_err("more than a megabyte");
        assert!(error.to_string().starts_with("forecasting needs about "), "{error}");
    }
}

#[test]
fn forecasts_that_are_held_count() {
    let _alone = alone();
    let panel = panel(5_000);
    let forecaster = || Forecaster::new([spec("NLinear", 24, 96)]).expect("a model").max_memory(2_000_000);
    let fitted = forecaster().fit(&panel).expect("a training within 2 MB");
    let error =
        forecaster().cross_validate(&panel, &ValidationOptions::new(4_000, 1)).expect_err("96,000 rows");
    assert!(error.to_string().contains("cross-validation needs about"), "{error}");
    let many = foretell::PredictionIntervals { n_windows: 4_000, ..Default::default() };
    let error = fitted.calibrate(&panel, many).expect_err("96,000 errors");
    assert!(error.to_string().contains("calibrating intervals needs about"), "{error}");
}

#[cfg(feature = "amp")]
#[test]
fn weights_in_fewer_bits_count_beside_those_in_f32() {
    use foretell::WeightPrecision;

    let _alone = alone();
    let panel = panel(300);
    let fitted = Forecaster::new([spec("MLP", 24, 96)]).expect("a model").fit(&panel).expect("a training");
    let needs = |precision: WeightPrecision| {
        let fitted = fitted.clone().weight_precision(precision).expect("a precision").max_memory(1);
        needed(&fitted.predict(&panel, None).expect_err("more than a byte"))
    };
    let [wide, bf16, int8] = WeightPrecision::ALL.map(needs);
    // 96, 1024, 1024 and 24 units: 1.17 million weights, of 2 bytes and of 1.
    assert!((1_000_000..1_300_000).contains(&(bf16 - int8)), "{bf16} bytes in bf16, {int8} in int8");
    // In f32 they are packed too, of 4 bytes, where vectors have 512 bits, and as three numbers of 2 bytes for the tiles of AMX;
    // else there are no copies.
    let apart = bf16.abs_diff(wide);
    let in_three = foretell::Acceleration::current().level.to_string() == "amx";
    let expected = if in_three { 4_400_000..5_000_000 } else { 2_200_000..2_500_000 };
    assert!(expected.contains(&apart), "{wide} bytes in f32, {bf16} in bf16");
    // Training in bf16 packs them twice, for the products of both directions.
    let trains = |precision: Precision| {
        let forecaster = Forecaster::new([spec("MLP", 24, 96)]).expect("a model").precision(precision);
        needed(&forecaster.max_memory(1).fit(&panel).expect_err("more than a byte"))
    };
    let more = trains(Precision::Bf16) - trains(Precision::F32);
    assert!((4_400_000..5_000_000).contains(&more), "{more} bytes");
}

#[test]
fn models_side_by_side_count_together() {
    let _alone = alone();
    let panel = panel(300);
    let two = || {
        [spec("NLinear", 24, 96), spec("DLinear", 24, 96)]
            .map(|s| s.set("windows_batch_size", 32).expect("windows"))
    };
    let needed_by = |specs: Vec<ModelSpec>| {
        let forecaster = Forecaster::new(specs).expect("models").threads(2).max_memory(1);
        let error = forecaster.fit(&panel).expect_err("more than a byte");
        (needed(&error), error.to_string())
    };
    let [linear, other] = two();
    let alone = needed_by(vec![linear]).0.max(needed_by(vec![other]).0);
    let (together, message) = needed_by(two().to_vec());
    assert!(together > alone, "{together} bytes together, {alone} alone");
    assert!(message.contains("DLinear and NLinear") || message.contains("NLinear and DLinear"), "{message}");
}

#[test]
fn a_model_larger_than_the_limit_is_not_loaded() {
    let _alone = alone();
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("model");
    let spec = spec("MLP", 2, 4).set("max_steps", 1).expect("a number");
    Forecaster::new([spec])
        .expect("a model")
        .fit(&panel(50))
        .expect("it trains")
        .save(&dir, false)
        .expect("it is saved");
    let bytes = |limit| foretell::Fitted::load_within(&dir, MemoryLimit::of_bytes(limit));
    bytes(1 << 30).expect("it fits");
    let error = bytes(1 << 10).expect_err("it does not fit");
    // Some 1,000 x 1,000 weights of 4 bytes, three times.
    assert!((12_000_000..14_000_000).contains(&needed(&error)), "{error}");
    // Its length is enough to know.
    let mut files =
        std::fs::read_dir(&dir).expect("a directory").filter_map(Result::ok).map(|file| file.path());
    let tensors = files.find(|path| path.extension().is_some_and(|ending| ending == "safetensors"));
    std::fs::File::options()
        .write(true)
        .open(tensors.expect("a file"))
        .expect("it opens")
        .set_len(1 << 40)
        .expect("a sparse file");
    assert!(matches!(foretell::Fitted::load(&dir), Err(Error::Usage(UsageError::Memory(_)))));
}

#[test]
fn blocks_of_a_forecast_take_as_much_whatever_the_number_of_series() {
    const H: usize = 20;
    let alone = alone();
    let panel = |n_series: usize| {
        let wave = |s: usize| (0..48).map(|t| 5.0 + (t as f32 * 0.7 + s as f32).sin()).collect::<Vec<_>>();
        let series = (0..n_series).map(|s| (format!("{s:06}"), 0, wave(s)));
        Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
    };
    let forecaster =
        Forecaster::new([spec("NLinear", 2, 8)]).expect("a model").local_scaler(LocalScaler::Robust);
    let fitted = forecaster.threads(2).fit(&panel(40)).expect("a training");
    let options = PredictOptions::new().h(H);
    let taken = |n_series: usize| {
        let panel = panel(n_series);
        let forecast = || {
            let blocks = fitted.predict_blocks(&panel, &options).expect("blocks");
            let mut writer = CsvWriter::new(std::io::sink(), blocks.time_style().expect("a style"));
            let mut rows = 0;
            for block in blocks {
                let block = block.expect("a block");
                rows += block.n_rows();
                writer.write(&block).expect("a text");
            }
            rows
        };
        let (rows, in_blocks) = alone.measure.peak_memory(forecast);
        assert_eq!(rows, n_series * H);
        let (_, whole) =
            alone.measure.peak_memory(|| fitted.predict_with(&panel, &options).expect("a forecast"));
        println!("{n_series} series: {in_blocks} bytes in blocks, {whole} whole");
        (in_blocks, whole)
    };
    let [(few, _), (block, _), (many, whole)] = [1_000, 20_000, 100_000].map(taken);
    // Beside the blocks, each series takes the 72 bytes that say where its rows are.
    assert!(few < block);
    assert!(many < block + block / 4, "{many} bytes for 100,000 series, {block} for 20,000");
    assert!(many < whole / 2, "{many} bytes in blocks, {whole} whole");
}

/// The buffers of a training are returned when it is done, so that a program that fits now and then stays small.
#[test]
fn a_fit_gives_back_what_it_took() {
    let _alone = alone();
    let panel = panel(3_000);
    let fit = || {
        let spec =
            ModelSpec::new("PatchTST", 96, 512).and_then(|spec| spec.set("max_steps", 2)).expect("a model");
        let spec = spec.set("windows_batch_size", 64).expect("windows");
        Forecaster::new([spec]).expect("a model").threads(2).fit(&panel).expect("a training")
    };
    let fitted = fit();
    let idle = foretell::pool::metrics().idle_bytes;
    drop(fitted);
    assert!(idle < 1 << 20, "{idle} bytes are kept");
}
