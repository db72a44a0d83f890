//! How many threads there are. The test has a process of its own, since it counts all of them.

use foretell::{Error, Fitted, Forecaster, Freq, ModelSpec, Panel, UsageError, Workers};
use foretell_fuzz::in_own_process;

/// Threads of this process, where the system tells.
fn running() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

#[test]
fn loaded_models_share_their_threads_and_start_none() {
    if !in_own_process("threads::loaded_models_share_their_threads_and_start_none") {
        return;
    }
    let freq = Freq::parse("D").expect("a frequency");
    let wave = |s: usize| (0..60).map(|t| (t as f32 * 0.9 + s as f32).sin()).collect::<Vec<_>>();
    let panel = Panel::from_series(freq, (0..300).map(|s| (s.to_string(), 0, wave(s)))).expect("a panel");
    let spec = ModelSpec::new("NLinear", 7, 28).and_then(|spec| spec.set("max_steps", 1)).expect("a model");
    let forecaster = || Forecaster::new([spec.clone()]).expect("a model");

    let error = forecaster().threads(100_000).fit(&panel).unwrap_err();
    assert!(matches!(error, Error::Usage(UsageError::Threads(_))), "{error}");
    let fitted = forecaster().threads(1).fit(&panel).expect("a fit");
    let expected = fitted.predict(&panel, None).expect("a forecast");
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("model");
    fitted.save(&dir, false).expect("saved");

    let before = running();
    let loaded: Vec<Fitted> = (0..50).map(|_| Fitted::load(&dir).expect("a model")).collect();
    assert_eq!(running(), before, "loading starts no threads");
    assert!(Fitted::load(&dir).expect("a model").threads(100_000).is_err());
    let loaded: Vec<Fitted> = loaded.into_iter().map(|model| model.threads(3).expect("few")).collect();
    for model in &loaded[..10] {
        assert_eq!(model.predict(&panel, None).expect("a forecast"), expected);
    }
    let more = running().zip(before).map(|(now, before)| now - before);
    assert!(more.is_none_or(|more| more <= 3), "10 models started {more:?} threads");

    let workers = Workers::new(2).expect("few");
    for model in loaded.into_iter().take(2) {
        assert_eq!(model.workers(&workers).predict(&panel, None).expect("a forecast"), expected);
    }
    let more = running().zip(before).map(|(now, before)| now - before);
    assert!(more.is_none_or(|more| more <= 5), "2 models with given threads started {more:?} threads");
}
