//! Training that continues from trained models: with their weights, some of them frozen, on other data.

use foretell::{
    Error, Fitted, Forecaster, Freq, ModelSpec, Panel, ReadOptions, ValidationOptions, Value, Verdict, json,
};

const H: usize = 3;

fn panel(phase: f32) -> Panel {
    let series = ["a", "b"].map(|id| {
        let shift = id.len() as f32 * phase;
        (id, 0, (0..80).map(|t| (t as f32 * 0.7 + shift).sin() * 3.0 + phase).collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("D").expect("a frequency"), series).expect("a panel")
}

fn spec(model: &str, settings: &[(&str, Value)]) -> ModelSpec {
    let all = [("max_steps", json!(5)), ("windows_batch_size", json!(32)), ("learning_rate", json!(0.01))];
    let spec = ModelSpec::new(model, H, 8).expect("a model");
    all.iter()
        .chain(settings)
        .fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a setting"))
}

fn nhits(settings: &[(&str, Value)]) -> ModelSpec {
    spec("NHITS", &[&[("mlp_units", json!([[8, 8], [8, 8], [8, 8]]))], settings].concat())
}

fn fit(forecaster: Forecaster, phase: f32, threads: usize) -> Fitted {
    forecaster.threads(threads).fit(&panel(phase)).expect("a training")
}

fn weights(fitted: &Fitted) -> Vec<f32> {
    fitted.models()[0].parameters_in_order().copied().collect()
}

fn message(forecaster: Forecaster) -> String {
    forecaster.fit(&panel(1.0)).expect_err("refused").to_string()
}

#[test]
fn a_training_goes_on_from_the_weights_that_there_are() {
    let first = fit(Forecaster::new([nhits(&[])]).unwrap(), 0.0, 1);
    // A step that changes no weight beyond its rounding shows where the training starts.
    let still = nhits(&[("max_steps", json!(1)), ("learning_rate", json!(1e-12)), ("random_seed", json!(9))]);
    let same = fit(Forecaster::new([still.clone()]).unwrap().start_from(&first), 1.0, 1);
    for (was, is) in weights(&first).iter().zip(weights(&same)) {
        assert!((was - is).abs() <= 1e-11, "{was} became {is}");
    }
    let anew = fit(Forecaster::new([still]).unwrap(), 1.0, 1);
    assert_ne!(weights(&anew), weights(&same));

    let further = |threads| fit(Forecaster::from_fitted(&first).unwrap(), 1.0, threads);
    assert_ne!(weights(&further(1)), weights(&first));
    assert_eq!(weights(&further(1)), weights(&further(2)), "threads change no bit");
    assert_eq!(weights(&first.fit_more(&panel(1.0)).unwrap()), weights(&further(1)));
}

#[test]
fn running_statistics_go_on_too() {
    let tsmixer = |steps: u64| {
        spec(
            "TSMixer",
            &[
                ("max_steps", json!(steps)),
                ("n_series", json!(2)),
                ("ff_dim", json!(4)),
                ("revin", json!(true)),
            ],
        )
    };
    let first = fit(Forecaster::new([tsmixer(20)]).unwrap(), 0.0, 1);
    let statistics = |fitted: &Fitted| {
        let bytes = fitted.to_bytes().unwrap();
        Fitted::from_bytes(&bytes).unwrap().models()[0].parameters_in_order().copied().collect::<Vec<f32>>()
    };
    let still = tsmixer(1).set("learning_rate", 1e-12).unwrap();
    let same = fit(Forecaster::new([still]).unwrap().start_from(&first), 0.0, 1);
    let (was, is) = (statistics(&first), statistics(&same));
    let moved = was.iter().zip(&is).filter(|(was, is)| (*was - *is).abs() > 0.3 * was.abs().max(0.1)).count();
    assert_eq!(moved, 0, "means and variances of batches move by a tenth a step, from where they were");
}

#[test]
fn frozen_parameters_stay_to_the_last_bit() {
    let first = fit(Forecaster::new([nhits(&[])]).unwrap(), 0.0, 1);
    let decay = [("optimizer", json!("AdamW")), ("optimizer_kwargs", json!({"weight_decay": 0.5}))];
    let forecaster =
        Forecaster::new([nhits(&decay)]).unwrap().start_from(&first).freeze(["blocks.0", "blocks.2"]);
    let further = fit(forecaster, 1.0, 2);
    let [was, is] = [&first, &further].map(|fitted| &fitted.models()[0]);
    for (block, stays) in [(0, true), (1, false), (2, true)] {
        let name = format!("blocks.{block}.layers.0.weight");
        let weights = [was, is].map(|model| model.parameter(&name).expect("a first layer"));
        assert_eq!(weights[0] == weights[1], stays, "{name}");
    }
}

#[test]
fn parameters_of_one_among_several_models_are_frozen_by_its_column() {
    let mlp =
        || spec("MLP", &[("max_steps", json!(3)), ("hidden_size", json!(4)), ("alias", json!("dense"))]);
    let first = fit(Forecaster::new([nhits(&[]), mlp()]).unwrap(), 0.0, 1);
    let further = || Forecaster::new([nhits(&[]), mlp()]).unwrap().start_from(&first);
    let second = fit(further().freeze(["NHITS.blocks.0", "dense.out"]), 1.0, 2);
    let names = [
        (0, "blocks.0.layers.0.weight"),
        (0, "blocks.1.layers.0.weight"),
        (1, "out.weight"),
        (1, "mlp.0.weight"),
    ];
    for ((place, name), stays) in names.into_iter().zip([true, false, true, false]) {
        let [was, is] =
            [&first, &second].map(|fitted| fitted.models()[place].parameter(name).expect("a weight"));
        assert_eq!(was == is, stays, "{name}");
    }
    let found = message(further().freeze(["blocks.0"]));
    assert!(found.contains("dense") && found.contains("is called blocks.0"), "{found}");
}

#[test]
fn what_cannot_go_on_is_told() {
    let first = fit(Forecaster::new([nhits(&[])]).unwrap(), 0.0, 1);
    let start = |spec: ModelSpec| Forecaster::new([spec]).unwrap().start_from(&first);
    let wider = nhits(&[("mlp_units", json!([[16, 16], [16, 16], [16, 16]]))]);
    let found = message(start(wider));
    assert!(found.contains("the trained model has blocks.0.") && found.contains("must stay"), "{found}");
    let found = message(start(nhits(&[])).freeze(["block.0"]));
    assert!(found.contains("did you mean blocks.0"), "{found}");
    let found = message(start(nhits(&[])).freeze(["blocks"]));
    assert!(found.contains("nothing is left to train"), "{found}");
    let found = message(start(spec("MLP", &[])));
    assert!(found.contains("MLP") && found.contains("the trained models are NHITS"), "{found}");
    let found = message(start(spec("MLP", &[("alias", json!("NHITS"))])));
    assert!(found.contains("of its own kind"), "{found}");
}

#[test]
fn trained_models_are_scored_as_they_are_beside_others() {
    let first = fit(Forecaster::new([nhits(&[])]).unwrap(), 0.0, 1);
    let options = ValidationOptions::new(2, 3);
    let as_is = first.validate(&panel(1.0), 2, 3).unwrap();
    let specs = [nhits(&[]), ModelSpec::new("Naive", H, 1).unwrap()];
    let forecaster = Forecaster::new(specs).unwrap().start_from(&first).untrained();
    let beside = forecaster.cross_validate(&panel(1.0), &options).unwrap();
    let names: Vec<&str> = beside.frame.columns.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["y", "NHITS", "Naive"]);
    assert_eq!(beside.frame.columns[..2], as_is.frame.columns[..2]);
    assert_eq!(weights(&beside.fitted), weights(&first));
}

#[test]
fn a_model_of_neuralforecasts_is_trained_further() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/checkpoints/nlinear-daily/model");
    let first = Fitted::load(dir).expect("a directory");
    let spec = first.models()[0].spec().clone().set("max_steps", 3).unwrap();
    let spec = spec.set("early_stop_patience_steps", -1).unwrap();
    let series: Vec<f32> = (0..200).map(|day| (day as f32 * 0.9).sin() + 5.0).collect();
    let panel = Panel::from_series(first.freq(), [("new", 0, series)]).unwrap();
    let forecaster = Forecaster::new([spec]).unwrap().start_from(&first);
    let further = forecaster.fit(&panel).expect("a training");
    let (was, is) = (weights(&first), weights(&further));
    let far = was.iter().zip(&is).map(|(was, is)| (was - is).abs()).fold(0.0, f32::max);
    assert!(far > 0.0 && far < 0.1, "three steps moved a weight by {far}");
}

#[test]
fn categories_stay_those_of_the_first_training() {
    let read = |colors: [&str; 2]| {
        let rows: String =
            (0..60).map(|day| format!("a,{day},{},{}\n", day % 7, colors[day * day % 3 % 2])).collect();
        let options = ReadOptions::new().categories(["color"]);
        Panel::read_csv(format!("unique_id,ds,y,color\n{rows}").as_bytes(), "colors.csv", &options)
            .expect("a panel")
    };
    let columns = [("hist_exog_list", json!(["color"])), ("cat_exog_list", json!(["color"]))];
    let spec = spec("MLP", &[&[("hidden_size", json!(8))], &columns[..]].concat());
    let first = Forecaster::new([spec]).unwrap().fit(&read(["red", "blue"])).expect("a training");
    // A color that was never seen is none of those that are known, and changes no shape.
    let further = Forecaster::from_fitted(&first).unwrap().fit(&read(["green", "blue"])).expect("a training");
    let cardinalities =
        |fitted: &Fitted| fitted.models()[0].spec().hyper_parameters()["categorical_cardinalities"].clone();
    assert_eq!(cardinalities(&further), json!({"color": 2}));
    assert_eq!(cardinalities(&further), cardinalities(&first));
}

#[test]
fn the_state_of_a_training_knows_where_it_started() {
    let dir = tempfile::tempdir().expect("a directory");
    let [first, other] = [0.0, 2.0].map(|phase| fit(Forecaster::new([nhits(&[])]).unwrap(), phase, 1));
    let train = |from: &Fitted| {
        let forecaster = Forecaster::from_fitted(from).unwrap().checkpoint_to(dir.path(), 2);
        forecaster.fit(&panel(1.0))
    };
    let done = train(&first).expect("a training");
    assert_eq!(weights(&train(&first).expect("the same, found")), weights(&done));
    let refused = train(&other).expect_err("another start");
    assert!(matches!(&refused, Error::Usage(_)) && refused.to_string().contains("start.from"), "{refused}");
}

/// With its optimiser a network continues as if it had never stopped: the same draws, the same moments, whichever optimiser.
#[test]
fn two_trainings_with_one_optimiser_are_one() {
    let home = tempfile::tempdir().expect("a folder");
    for (place, settings) in [
        json!({"dropout_prob_theta": 0.2, "accumulate_grad_batches": 2}),
        json!({"optimizer": "SGD", "optimizer_kwargs": {"momentum": 0.9}}),
        json!({"optimizer": "NAdam", "gradient_clip_val": 0.1}),
    ]
    .iter()
    .enumerate()
    {
        let of = |steps: u64| {
            let settings = settings.as_object().expect("an object").clone();
            let settings: Vec<(String, Value)> = settings.into_iter().collect();
            let spec = nhits(&[("max_steps", json!(steps)), ("num_lr_decays", json!(-1))]);
            let spec = settings.into_iter().fold(spec, |spec, (name, value)| spec.set(&name, value).unwrap());
            Forecaster::new([spec]).unwrap().keep_optimizer(true)
        };
        let whole = fit(of(8), 0.0, 2);
        let half = fit(of(4), 0.0, 1);
        let dir = home.path().join(place.to_string());
        half.save(&dir, false).expect("a new directory");
        let loaded = Fitted::load(&dir).expect("what was just written");
        for first in [&half, &loaded] {
            let both = fit(of(4).start_from(first), 0.0, 1);
            assert!(weights(&both) == weights(&whole), "{settings}: other weights than of one training");
        }
        let anew = fit(of(4).start_from(&fit(of(4).keep_optimizer(false), 0.0, 1)), 0.0, 1);
        assert!(weights(&anew) != weights(&whole), "{settings}: the weights of a new optimiser");
    }
}

#[test]
fn another_optimiser_than_the_kept_one_is_refused() {
    let first = fit(Forecaster::new([nhits(&[])]).unwrap().keep_optimizer(true), 0.0, 1);
    let other = nhits(&[("optimizer", json!("RMSprop"))]);
    let message = message(Forecaster::new([other]).unwrap().start_from(&first));
    assert!(message.contains("was kept, which is Adam, and this training has RMSprop"), "{message}");
}

/// A training that continues from a kept optimiser is itself interrupted and resumed, and its optimiser is kept when it was done.
#[test]
fn a_training_with_a_kept_optimiser_resumes() {
    let home = tempfile::tempdir().expect("a folder");
    let of = |steps: u64| {
        let spec = nhits(&[("max_steps", json!(steps)), ("num_lr_decays", json!(-1))]);
        Forecaster::new([spec]).unwrap().keep_optimizer(true)
    };
    let whole = fit(of(15), 0.0, 1);
    let first = fit(of(5), 0.0, 1);
    let second = |stop_at: u64| {
        let forecaster = of(5).start_from(&first).checkpoint_to(home.path(), 2);
        let forecaster = forecaster.on_progress(move |_, progress| match progress.step == stop_at {
            true => Verdict::Interrupt,
            false => Verdict::Continue,
        });
        fit(forecaster, 0.0, 1)
    };
    assert!(second(3).interrupted());
    let resumed = second(0);
    // The state of the training that is done has the optimiser, too.
    for done in [&resumed, &second(0)] {
        assert!(weights(&fit(of(5).start_from(done), 0.0, 1)) == weights(&whole), "other weights");
    }
}
