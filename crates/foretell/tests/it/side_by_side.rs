//! Models whose batches are one shard are trained side by side: all are stopped together, and a failure is that of
//! the first that failed.

use std::time::Duration;

use foretell::{Error, Fitted, Forecaster, Freq, ModelSpec, NetworkError, Panel, Verdict};

const STEPS: usize = 40;

fn panel(scale: f32) -> Panel {
    let y: Vec<f32> = (0..90).map(|t| scale * (t as f32 * 0.7).sin()).collect();
    Panel::from_series(Freq::parse("1").expect("a frequency"), [("a", 0, y)]).expect("a panel")
}

fn spec(alias: &str) -> ModelSpec {
    let spec = ModelSpec::new("MLP", 3, 6).expect("a model").set("alias", alias).expect("a name");
    let spec = spec.set("max_steps", STEPS).expect("steps").set("hidden_size", 16).expect("a size");
    spec.set("windows_batch_size", 16).expect("windows")
}

#[test]
fn an_interruption_stops_all_and_no_further_one_starts() {
    for (threads, stopped) in [(1, 1..=1), (2, 1..=2), (3, 1..=3)] {
        // Beside others none ends before it learns of the interruption, however busy the machine is. One thread has no others.
        let steps = if threads == 1 { STEPS } else { 1_000_000 };
        let specs = ["one", "two", "three", "four", "five"]
            .map(|name| spec(name).set("max_steps", steps).expect("steps"));
        let forecaster = Forecaster::new(specs).expect("models").threads(threads);
        let forecaster = forecaster.on_progress(move |name, _| {
            if name == "two" {
                return Verdict::Interrupt;
            }
            // The listener is called by one training at a time: the others come to their turn.
            std::thread::sleep(Duration::from_millis(2));
            Verdict::Continue
        });
        let fitted: Fitted = forecaster.fit(&panel(1.0)).expect("what there is");
        assert!(fitted.interrupted());
        let names = fitted.column_names();
        assert_eq!(names, ["one", "two", "three", "four", "five"][..names.len()], "{threads} threads");
        assert!((2..=1 + threads).contains(&names.len()), "{threads} threads: {names:?}");
        let outcomes: Vec<_> = fitted.models().iter().filter_map(|model| model.outcome()).collect();
        let cut_short = outcomes.iter().filter(|outcome| outcome.interrupted).count();
        assert!(stopped.contains(&cut_short), "{threads} threads: {cut_short}");
        assert!(outcomes.iter().all(|outcome| outcome.interrupted || outcome.steps == steps as u64));
        assert!(outcomes[1].interrupted && outcomes[1].steps == 1);
    }
}

#[test]
fn interrupted_trainings_resume_to_the_last_bit() {
    let forecaster =
        |threads| Forecaster::new(["one", "two", "three"].map(spec)).expect("models").threads(threads);
    let weights = |fitted: &Fitted| -> Vec<u32> {
        fitted
            .models()
            .iter()
            .flat_map(|model| model.parameters_in_order())
            .map(|value| value.to_bits())
            .collect()
    };
    let whole = forecaster(1).fit(&panel(1.0)).expect("a fit");
    let home = tempfile::tempdir().expect("a folder");
    for stop in [7, 25] {
        let part = forecaster(2).checkpoint_to(home.path(), 4).on_progress(move |name, progress| {
            match name == "two" && progress.step == stop {
                true => Verdict::Interrupt,
                false => Verdict::Continue,
            }
        });
        assert!(part.fit(&panel(1.0)).expect("a part").interrupted());
    }
    let rest = forecaster(2).checkpoint_to(home.path(), 4).fit(&panel(1.0)).expect("the rest");
    assert!(!rest.interrupted() && weights(&rest) == weights(&whole));
}

#[test]
fn the_first_failure_is_told() {
    for threads in [1, 2] {
        let specs = [spec("good"), spec("bad"), spec("worse")];
        let specs = specs.map(|spec| match spec.alias() {
            "good" => spec,
            _ => spec.set("loss", "MSE").expect("a loss"),
        });
        // Squares of these are beyond 32 bits.
        let result = Forecaster::new(specs).expect("models").threads(threads).fit(&panel(1e30));
        match result {
            Err(Error::Network(NetworkError::Train { model, .. })) => {
                assert_eq!(model, "bad", "{threads} threads")
            }
            other => panic!("{threads} threads: {other:?}"),
        }
    }
}
