//! Foretell0 is trained on, on the windows of a panel: from its weights, to the same bits on any threads, saved with its weights.

use foretell_calendar::Freq;
use foretell_data::{Panel, Span, Vocabulary};
use foretell_estimator::{
    Asked, Estimator, ForecastValues, HeldOut, MemoryLimit, Precision, Progress, Run, Start, StateFile,
    StepSettings, Trained, TrainingSize, Verdict, Workers,
};
use serde_json::{Value, json};

use crate::ESTIMATORS;

const H: usize = 4;

/// Values that are twice the value before, less 1.9 where that is above 0.95: a rule that no synthetic series follows.
fn panel() -> Panel {
    let series = (0..3).map(|i| {
        let mut y = 0.1 + 0.17 * i as f32;
        let values = (0..40).map(|_| {
            y = if y > 0.95 { 2.0 * y - 1.9 } else { 2.0 * y };
            y
        });
        (format!("s{i}"), 0, values.collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
}

fn spec(settings: &[(&str, Value)]) -> Box<dyn Estimator> {
    let mut spec = (ESTIMATORS[0].new)(H);
    for (name, value) in settings {
        spec.set(name, value.clone()).expect(name);
    }
    spec
}

/// A training with this much held out on these threads, told of by `listen`.
fn fit(
    spec: &dyn Estimator,
    validation: usize,
    threads: usize,
    start: Start<'_>,
    listen: &mut (dyn FnMut(&Progress) -> Verdict + Send),
) -> Box<dyn Trained> {
    let workers = Workers::new(threads).expect("threads");
    let vocabulary = Vocabulary::default();
    let run = Run { start, ..Run::alone(&workers, &vocabulary, listen) };
    spec.fit(&panel(), HeldOut { validation, test: 0 }, run).expect("a training")
}

/// Steps in the least memory.
const LOW: StepSettings = StepSettings { precision: Precision::F32, low_memory: true };

#[test]
fn it_is_fine_tuned_as_the_run_says() {
    let spec = spec(&[("max_steps", json!(2)), ("learning_rate", json!(1e-3))]);
    let vocabulary = Vocabulary::default();
    let learned = |step, threads| {
        let (workers, listen) =
            (Workers::new(threads).expect("threads"), &mut |_: &Progress| Verdict::Continue);
        let run = Run::alone(&workers, &vocabulary, listen).steps_as(step);
        spec.fit(&panel(), HeldOut::default(), run).expect("a training").learned()
    };
    let low = learned(LOW, 1);
    assert!(low == learned(LOW, 2), "other bits");
    assert!(low != learned(StepSettings::default(), 1), "it was not told");
}

fn plainly(spec: &dyn Estimator, threads: usize) -> Box<dyn Trained> {
    fit(spec, 0, threads, Start::default(), &mut |_| Verdict::Continue)
}

fn forecast(trained: &dyn Trained) -> ForecastValues {
    let workers = Workers::new(1).expect("a thread");
    let asked = Asked { span: Span::Predict { future: None }, h: H, quantiles: Some(&[0.1, 0.9]) };
    trained.forecast(&panel(), &asked, &workers).expect("forecasts")
}

#[test]
fn without_steps_it_forecasts_as_before_and_needs_no_training() {
    let spec = spec(&[]);
    assert_eq!((spec.needs().max_steps, spec.needs().takes_all_threads), (None, false));
    let trained = plainly(&*spec, 1);
    assert!(trained.outcome().is_none() && !trained.learned().numbers.contains_key("weights"));
    assert_eq!(forecast(&*trained), forecast(&*plainly(&*spec, 1)));
}

#[test]
fn steps_lessen_the_loss_on_values_that_were_held_out() {
    let spec = spec(&[
        ("max_steps", json!(12)),
        ("learning_rate", json!(1e-3)),
        ("val_check_steps", json!(1)),
        ("early_stop_patience_steps", json!(12)),
    ]);
    assert_eq!((spec.needs().max_steps, spec.needs().takes_all_threads), (Some(12), true));
    let mut losses = Vec::new();
    let trained = fit(&*spec, 2 * H, 1, Start::default(), &mut |progress| {
        losses.push(progress.valid_loss.expect("a check"));
        Verdict::Continue
    });
    assert_eq!(losses.len(), 12);
    assert!(losses[11] < 0.97 * losses[0], "{losses:?}");
    assert_eq!(trained.outcome().expect("a training").valid_loss, losses.last().copied());
    assert!(forecast(&*trained).values.iter().all(|value| value.is_finite()));
}

#[test]
fn no_bit_depends_on_threads_and_weights_are_saved() {
    let spec = spec(&[("max_steps", json!(2))]);
    let [one, two] = [1, 2].map(|threads| plainly(&*spec, threads));
    assert!(one.learned() == two.learned(), "other bits on two threads");
    let plain = plainly(&*self::spec(&[]), 1);
    let before = forecast(&*plain);
    assert_ne!(forecast(&*one), before);
    let restored = (ESTIMATORS[0].restore)(spec, one.learned()).expect("it is restored");
    assert_eq!(forecast(&*restored), forecast(&*one));
    // One that was saved without weights has the program's.
    let restored = (ESTIMATORS[0].restore)(self::spec(&[]), plain.learned()).expect("it is restored");
    assert_eq!(forecast(&*restored), before);
    let mut short = one.learned();
    short.numbers.get_mut("weights").expect("weights").pop();
    let told = (ESTIMATORS[0].restore)(self::spec(&[]), short).expect_err("a weight is missing");
    assert!(told.contains("its weights must be 834470 finite numbers, found 834469"), "{told}");
}

#[test]
fn an_interrupted_training_leaves_its_weights_and_another_goes_on_from_them() {
    let two = spec(&[("max_steps", json!(2)), ("learning_rate", json!(1e-3))]);
    let interrupted = fit(&*two, 0, 1, Start::default(), &mut |_| Verdict::Interrupt);
    let outcome = interrupted.outcome().expect("a training");
    assert_eq!((outcome.steps, outcome.interrupted), (1, true));
    let weights = |trained: &dyn Trained| trained.learned().numbers["weights"].clone();
    let from = Start { from: Some(&*interrupted), ..Start::default() };
    // A step that changes no weight beyond its rounding shows where the training starts.
    let still = spec(&[("max_steps", json!(1)), ("learning_rate", json!(1e-12))]);
    let same = fit(&*still, 0, 1, from.clone(), &mut |_| Verdict::Continue);
    let moved = weights(&*interrupted).iter().zip(weights(&*same)).any(|(was, is)| (was - is).abs() > 1e-9);
    assert!(!moved, "it did not begin where the other ended");
    assert_ne!(weights(&*plainly(&*still, 1)), weights(&*same));
    // Without a step the weights stay.
    let kept = fit(&*spec(&[]), 0, 1, from, &mut |_| Verdict::Continue);
    assert!(weights(&*kept) == weights(&*interrupted));
}

#[test]
fn a_training_that_was_stopped_resumes_to_the_same_bits() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("state.safetensors");
    let watched = [
        ("val_check_steps", json!(1)),
        ("early_stop_patience_steps", json!(9)),
        ("learning_rate", json!(1e-3)),
    ];
    let four = spec(&[&[("max_steps", json!(4))], &watched[..]].concat());
    let workers = Workers::new(1).expect("a thread");
    let vocabulary = Vocabulary::default();
    let fit = |training: Value, stop_at: u64, steps: &mut Vec<u64>| {
        let state = StateFile { path: path.clone(), every: 2, training };
        let listen = &mut |progress: &Progress| {
            steps.push(progress.step);
            if progress.step == stop_at { Verdict::Interrupt } else { Verdict::Continue }
        };
        let run = Run { state: Some(&state), ..Run::alone(&workers, &vocabulary, listen) };
        four.fit(&panel(), HeldOut { validation: H, test: 0 }, run)
    };
    let own = || json!({"models": {"Foretell0": {"max_steps": 4}}});
    let mut steps = Vec::new();
    let stopped = fit(own(), 3, &mut steps).expect("a training");
    assert!(stopped.outcome().expect("a training").interrupted);
    let resumed = fit(own(), u64::MAX, &mut steps).expect("a training");
    assert_eq!(steps, [1, 2, 3, 4]);
    let whole = self::fit(&*four, H, 1, Start::default(), &mut |_| Verdict::Continue);
    assert!(resumed.learned() == whole.learned(), "other bits");
    assert_eq!(resumed.outcome(), whole.outcome());
    // One that is done comes back without a step.
    let again = fit(own(), u64::MAX, &mut steps).expect("a training");
    assert!(again.learned() == whole.learned() && steps.len() == 4, "{steps:?}");
    let other = json!({"models": {"Foretell0": {"max_steps": 5}}});
    let told = fit(other, u64::MAX, &mut steps).map(drop).expect_err("another training").to_string();
    assert!(told.contains("the state of another training: Foretell0.max_steps was 4 and is 5"), "{told}");
    let bytes = std::fs::read(&path).expect("a state");
    std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("a damaged state");
    fit(own(), u64::MAX, &mut steps).map(drop).expect_err("a damaged state");
}

#[test]
fn what_cannot_be_is_told() {
    let told = |spec: &dyn Estimator, start: Start<'_>| {
        let workers = Workers::new(1).expect("a thread");
        let (vocabulary, mut listen) = (Vocabulary::default(), |_: &Progress| Verdict::Continue);
        let run = Run { start, ..Run::alone(&workers, &vocabulary, &mut listen) };
        spec.fit(&panel(), HeldOut::default(), run).expect_err("refused").to_string()
    };
    let watching = spec(&[("max_steps", json!(2)), ("early_stop_patience_steps", json!(1))]);
    assert_eq!(
        told(&*watching, Start::default()),
        "Foretell0: early_stop_patience_steps needs validation windows: set val_size to at least h = 4"
    );
    let steps = spec(&[("max_steps", json!(2))]);
    let frozen = Start { frozen: vec!["layers.0"], ..Start::default() };
    assert!(told(&*steps, frozen).contains("all of its parameters are fine-tuned"));
    let other = Start { from: Some(&7_usize), ..Start::default() };
    assert_eq!(told(&*steps, other), "Foretell0 cannot start so: it can continue only from a Foretell0");
}

#[test]
fn memory_is_counted_by_windows_and_shards() {
    let panel = panel();
    let (vocabulary, limit) = (Vocabulary::default(), MemoryLimit::of_bytes(1 << 40));
    let size = TrainingSize {
        panel: &panel,
        held_out: HeldOut::default(),
        vocabulary: &vocabulary,
        threads: 2,
        is_kept: false,
        is_pruned: false,
        step: StepSettings::default(),
        limit: &limit,
    };
    let needs = |settings: &[(&str, Value)]| {
        let (parameters, needs) = spec(settings).training_memory(&size).expect("an estimate");
        (parameters, needs.total())
    };
    assert_eq!(needs(&[]), (0, 0));
    let steps = ("max_steps", json!(2));
    let (parameters, usual) = needs(std::slice::from_ref(&steps));
    assert_eq!(parameters, 834_470);
    // Weights, the gradients of four shards and two moments.
    let weights = 4 * 834_470;
    assert!(usual > 7 * weights && usual < 20 * weights, "{usual} bytes");
    let (_, more) = needs(&[steps, ("windows_batch_size", json!(4096))]);
    assert!(more > 4 * usual, "{more} bytes, and {usual}");
    let low = TrainingSize { step: LOW, ..size };
    let less = spec(&[("max_steps", json!(2))]).training_memory(&low).expect("an estimate").1.total();
    assert!(less < usual, "{less} bytes, and {usual}");
}
