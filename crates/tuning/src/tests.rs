//! Searches for hyper-parameters.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use foretell::{Forecaster, Freq, ModelSpec, Panel, ValidationOptions, model_names};
use foretell_search::{Halving, Sampler};
use serde_json::{Value, json};

use crate::{Search, SearchSpace, SearchTrial, Tuned, TuningError};

/// Three weekly waves with a drift, of 120 days.
fn panel() -> Panel {
    let series = |phase: f32| (0..120).map(move |day| (day as f32 * 0.9 + phase).sin() + day as f32 * 0.01);
    let series = ["a", "b", "c"]
        .into_iter()
        .zip(0_u8..)
        .map(|(id, phase)| (id, 0, series(phase.into()).collect::<Vec<_>>()));
    Panel::from_series(Freq::parse("D").unwrap(), series).unwrap()
}

fn space(model: &str, ranges: &[(&str, &str)]) -> SearchSpace {
    let spec = ModelSpec::new(model, 5, 15).unwrap().set("max_steps", 9).unwrap();
    ranges.iter().fold(SearchSpace::new(spec).fix_all(), |space, (name, range)| {
        space.search(name, range.parse().unwrap()).unwrap()
    })
}

const RATES: (&str, &str) = ("learning_rate", "loguniform:1e-4:1e-1");
const INPUTS: (&str, &str) = ("input_size", "[\"1h\",\"2h\",\"4h\"]");

fn search<'a>() -> Search<'a> {
    let spaces = [
        space("NLinear", &[RATES, INPUTS]),
        space("MLP", &[RATES, ("hidden_size", "[4,8]"), ("num_layers", "int:1:2")]),
    ];
    Search::new(spaces).trials(14).n_windows(2, 5)
}

/// The trials, without the time that they took.
fn outcome(found: &Tuned) -> Vec<SearchTrial> {
    found.trials.iter().map(|trial| SearchTrial { seconds: 0.0, ..trial.clone() }).collect()
}

#[test]
fn default_spaces_are_those_of_neuralforecast() {
    const H: usize = 7;
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/spaces.json")).unwrap();
    let reference: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for (model, ranges) in &reference {
        let spec = ModelSpec::new(model, H, 3 * H).expect(model);
        let space = SearchSpace::new(spec.clone());
        let ours: Vec<&str> = space.ranges().iter().map(|(name, _)| name.as_str()).collect();
        let theirs: Vec<&str> = ranges.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(ours, theirs, "{model}");
        for (name, range) in space.ranges() {
            let theirs = match &ranges[name] {
                Value::String(text) => text.parse().unwrap(),
                values => crate::SearchRange::from_json(values.clone()).unwrap(),
            };
            let resolved = match range {
                crate::SearchRange::OneOf(values) => {
                    let number = |value: &Value| match value.as_str().and_then(|text| text.strip_suffix('h'))
                    {
                        Some("") => json!(H),
                        Some(times) => times.parse::<usize>().map_or(value.clone(), |times| json!(times * H)),
                        None => value.clone(),
                    };
                    crate::SearchRange::OneOf(values.iter().map(number).collect())
                }
                other => other.clone(),
            };
            assert_eq!(resolved, theirs, "{model}.{name}");
            compared += 1;
        }
    }
    assert!(compared > 250, "{compared}");
}

/// Spaces of models of our own have hyper-parameters and values that these have.
#[test]
fn every_value_of_a_default_space_can_be_set() {
    let mut searched = 0;
    for model in model_names() {
        let space = SearchSpace::new(ModelSpec::new(model, 7, 21).unwrap());
        searched += usize::from(!space.ranges().is_empty());
        for (name, range) in space.ranges() {
            let set = space.clone().search(name, range.clone());
            assert!(set.is_ok(), "{model}.{name}: {}", set.unwrap_err());
        }
    }
    assert!(searched >= 46, "{searched} models have a space");
}

#[test]
fn what_is_found_does_not_depend_on_threads() {
    let panel = panel();
    let found = search().threads(1).run(&panel).unwrap();
    assert_eq!(found.trials.len(), 14);
    assert!(found.trials.iter().any(|trial| trial.model == "MLP"));
    let best = found.best().unwrap();
    let least = found.trials.iter().filter_map(SearchTrial::score).fold(f64::INFINITY, f64::min);
    assert_eq!(best.score(), Some(least));
    for threads in [2, 5] {
        let other = search().threads(threads).run(&panel).unwrap();
        assert_eq!(outcome(&other), outcome(&found), "{threads} threads");
        assert_eq!(other.best_spec(), found.best_spec());
    }
    let again = Forecaster::new([found.best_spec().unwrap().clone()]).unwrap();
    let options = foretell::ValidationOptions::new(2, 5);
    let score = again.cross_validate(&panel, &options).unwrap().metrics(&panel, 7)[0].mae;
    assert!((score - least).abs() < 1e-9 * least, "the score is that of a cross-validation: {score} {least}");
}

/// With rates that ruin every forecast the models as they are win.
#[test]
fn what_is_found_is_no_worse_than_the_models_as_they_are() {
    let given = ["NLinear", "MLP"].map(|model| space(model, &[]).spec().clone());
    let spaces = given.clone().map(|spec| {
        SearchSpace::new(spec).fix_all().search("learning_rate", "uniform:0.5:0.9".parse().unwrap()).unwrap()
    });
    let found = Search::new(spaces).trials(12).n_windows(2, 5).run(&panel()).unwrap();
    for (trial, spec) in found.trials.iter().zip(&given) {
        assert_eq!(trial.hyper_parameters["learning_rate"], spec.hyper_parameters()["learning_rate"]);
    }
    let best = found.best().unwrap();
    assert!(best.trial < 2, "{best:?}");
    assert_eq!(found.best_spec(), Some(&given[best.trial]));
}

#[test]
fn a_search_that_is_broken_off_goes_on_to_the_same_result() {
    let (panel, home) = (panel(), tempfile::tempdir().unwrap());
    let halving = Halving::new(2);
    let whole = search().halving(halving).run(&panel).unwrap();
    let dir = home.path().join("state");
    // The first time it is stopped in the middle of the sixth training, then in that of the eleventh.
    let trained = Arc::new(AtomicUsize::new(0));
    for stop_after in [5, 10] {
        let (counted, asked) = (Arc::clone(&trained), Arc::clone(&trained));
        trained.store(0, Relaxed);
        let part = search()
            .halving(halving)
            .threads(1)
            .checkpoint_to(&dir)
            .on_trial(move |_| _ = counted.fetch_add(1, Relaxed))
            .interrupt_if(move || asked.load(Relaxed) >= stop_after)
            .run(&panel)
            .unwrap();
        assert!(part.interrupted && part.trials.len() <= stop_after);
        assert!(part.best().is_some());
    }
    let resumed = search().halving(halving).checkpoint_to(&dir).run(&panel).unwrap();
    assert_eq!(outcome(&resumed), outcome(&whole));
    // What is known is not trained anew: a search that may not train ends with the same.
    let told = Mutex::new(0);
    let known = search()
        .halving(halving)
        .checkpoint_to(&dir)
        .on_trial(|_| *told.lock().unwrap() += 1)
        .run(&panel)
        .unwrap();
    assert_eq!(known.trials, resumed.trials, "with the seconds of the first time");
    assert!(*told.lock().unwrap() >= 14);

    let other = search().halving(halving).seed(9).checkpoint_to(&dir).run(&panel).unwrap_err();
    assert!(matches!(other, TuningError::OtherSearch { .. }), "{other}");
    let path = dir.join("search.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"trial\":1", "\"trial\":2", 1)).unwrap();
    let damaged = search().halving(halving).checkpoint_to(&dir).run(&panel).unwrap_err();
    assert!(matches!(damaged, TuningError::SearchState { .. }), "{damaged}");
    foretell::remove_training_state(&dir).unwrap();
    assert!(!dir.exists());
}

#[test]
fn halving_trains_few_for_all_steps() {
    let found = search().halving(Halving::new(3)).run(&panel()).unwrap();
    let reached = |rungs: usize| found.trials.iter().filter(|trial| trial.scores.len() >= rungs).count();
    assert_eq!(reached(1), 14);
    assert!(reached(3) >= 1 && reached(3) < 7, "{} at the top", reached(3));
    assert_eq!(found.best().unwrap().scores.len(), 3);
}

/// The last horizon chooses nothing: the search is that of a panel without it, and its score is that of a cross-validation.
#[test]
fn a_window_that_is_kept_chooses_nothing() {
    let kept = search().trials(4).keep_window(true).run(&panel()).unwrap();
    let without = search().trials(4).run(&panel().without_last(5)).unwrap();
    assert_eq!(outcome(&kept), outcome(&without));
    let best = Forecaster::new([kept.best_spec().unwrap().clone()]).unwrap();
    let validation = best.cross_validate(&panel(), &ValidationOptions::new(1, 5)).unwrap();
    let expected = validation.metrics(&panel(), 7)[0].mae;
    let found = kept.kept.unwrap();
    assert!((found.score - expected).abs() < 1e-9 && found.baseline.is_some(), "{found:?}, {expected}");
    // 25 rows hold an input, a horizon to learn from and a window, and no second one.
    let short = panel().last(25);
    let all = Search::new([space("NLinear", &[RATES])]).trials(1).keep_window(true).run(&short).unwrap();
    assert_eq!(all.kept, None);
}

/// One series of too few rows for a kept window leaves that of the others.
#[test]
fn a_short_series_leaves_the_kept_window_of_the_others() {
    let freq = Freq::parse("D").unwrap();
    let wave =
        |rows: usize, phase: f32| (0..rows).map(|day| (day as f32 * 0.9 + phase).sin()).collect::<Vec<_>>();
    let long = [("a", 0, wave(120, 0.0)), ("b", 0, wave(120, 1.0))];
    for rows in [24, 3] {
        let new = ("new", 120 - rows as i64, wave(rows, 2.0));
        let panel = Panel::from_series(freq, long.iter().cloned().chain([new])).unwrap();
        let search = || Search::new([space("NLinear", &[RATES])]).trials(2).n_windows(2, 5).keep_window(true);
        let found = search().run(&panel).unwrap();
        let best = Forecaster::new([found.best_spec().unwrap().clone()]).unwrap();
        let validation = best.cross_validate(&panel, &ValidationOptions::new(1, 5)).unwrap();
        let kept = found.kept.unwrap();
        assert!((kept.score - validation.metrics(&panel, 7)[0].mae).abs() < 1e-9, "{kept:?}");
        assert!(kept.baseline.is_some(), "{kept:?}");
        assert_eq!(found.fewer_windows, search().fewer_windows(&panel));
        // Without its last 5 rows the series of 24 has 19: a row before two windows of 5, the second 5 steps earlier.
        let told = search().fewer_windows(&panel).map(|warning| warning.to_string()).unwrap_or_default();
        assert_eq!(told.contains("new (3 rows), whose last 5 rows are kept"), rows == 3, "{told}");
        assert_eq!(told.contains("or lower n_windows"), rows == 3, "{told}");
        let one = search().n_windows(1, 5).fewer_windows(&panel).map(|warning| warning.to_string());
        assert!(one.is_none_or(|told| rows == 3 && !told.contains("n_windows")));
    }
}

#[test]
fn hyper_parameters_that_cannot_work_are_drawn_again() {
    // 120 rows hold no input of 40 horizons.
    let found = Search::new([space("NLinear", &[RATES, ("input_size", "[\"1h\",\"40h\"]")])])
        .trials(8)
        .begin_as_given(false)
        .run(&panel())
        .unwrap();
    assert_eq!(found.trials.len(), 8);
    assert!(
        found.trials.iter().all(|trial| trial.hyper_parameters["input_size"] == 5 && trial.failure.is_none())
    );
    let too_long = || Search::new([space("NLinear", &[RATES, ("input_size", "[\"40h\"]")])]);
    assert_eq!(too_long().run(&panel()).unwrap().trials.len(), 1, "the model as it is");
    let none = too_long().begin_as_given(false).run(&panel()).unwrap_err();
    assert!(matches!(none, TuningError::NothingFits { .. }), "{none}");
    assert!(none.to_string().contains("120 rows"), "{none}");
}

#[test]
fn a_grid_is_walked_once_and_models_without_steps_are_searched_too() {
    let thetas = SearchSpace::new(ModelSpec::new("Theta", 5, 1).unwrap());
    let windows = SearchSpace::new(ModelSpec::new("WindowAverage", 5, 1).unwrap());
    let windows = windows.search("window_size", "[1,7,14]".parse().unwrap()).unwrap();
    let grid = Sampler::Grid { points: 3 };
    let found = Search::new([thetas, windows]).trials(usize::MAX).sampler(grid).halving(Halving::new(2));
    let found = found.run(&panel()).unwrap();
    assert_eq!(found.trials.len(), 2 + 3);
    assert!(found.trials.iter().all(|trial| trial.scores.len() == 2 && trial.scores[0] == trial.scores[1]));
}

#[test]
fn trials_that_fail_say_why_and_the_search_goes_on() {
    let diverging = space("NLinear", &[("learning_rate", "[1e-3,1e25]"), ("batch_size", "[1,2,3]")]);
    let found = Search::new([diverging]).trials(6).begin_as_given(false).run(&panel()).unwrap();
    let failed = found.trials.iter().filter(|trial| trial.failure.is_some()).count();
    assert_eq!((found.trials.len(), failed), (6, 3), "{:?}", found.trials);
    assert_eq!(found.best_spec().unwrap().hyper_parameters()["learning_rate"], 1e-3);
    let all = Search::new([space("NLinear", &[("learning_rate", "[1e25]")])]).begin_as_given(false);
    let all = all.run(&panel()).unwrap_err();
    assert!(matches!(all, TuningError::NothingScored { first: Some(_) }), "{all}");
}

#[test]
fn mistakes_are_told_before_anything_is_trained() {
    let spec = ModelSpec::new("NHITS", 5, 15).unwrap();
    let slip = SearchSpace::new(spec.clone()).search("learning_rat", "[1]".parse().unwrap()).unwrap_err();
    assert!(slip.to_string().contains("did you mean learning_rate?"), "{slip}");
    let horizon = SearchSpace::new(spec.clone()).search("h", "[1,2]".parse().unwrap()).unwrap_err();
    assert!(horizon.to_string().contains("given, not searched"), "{horizon}");
    assert!(
        search().metric("coverage").is_err()
            && search().metric("rmae").is_err()
            && search().metric("maee").is_err()
    );
    let quantiles = search().metric("mqloss").unwrap().run(&panel()).unwrap_err();
    assert!(quantiles.to_string().contains("NLinear forecasts none"), "{quantiles}");
    let unread =
        search().each(|forecaster| forecaster.features("weekday".parse()?)).run(&panel()).unwrap_err();
    assert!(unread.to_string().contains("weekday") && unread.to_string().contains("NLinear"), "{unread}");
    assert!(Search::new([]).run(&panel()).is_err());
}
