//! Any metric of a cross-validation, by series, cutoff and step.

use foretell::evaluate::{EvaluationError, Metric, ScoreBy, ScoreTable};
use foretell::{Forecaster, Freq, ModelSpec, Panel, ValidationOptions, ValidationScores};

/// Two series of 60 days: a week of seven values, and the same with a level that rises by 1 a day.
fn panel() -> Panel {
    let week = |day: usize| [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0][day % 7];
    let series = |rise: f32| (0..60).map(|day| week(day) + rise * day as f32).collect::<Vec<f32>>();
    let freq = Freq::parse("D").expect("days");
    Panel::from_series(freq, [("flat", 0, series(0.0)), ("rising", 0, series(1.0))]).expect("a panel")
}

/// The seasonal naive forecast is right in one series, and 7 too low in the other.
fn scores(by: ScoreBy<'_>, metrics: &[&str], weights: Option<&[f64]>) -> Result<ScoreTable, EvaluationError> {
    let panel = panel();
    let specs = ["SeasonalNaive", "Naive"].map(|name| ModelSpec::new(name, 2, 1).expect("a model"));
    let forecaster = Forecaster::new(specs).expect("models");
    let validation = forecaster.cross_validate(&panel, &ValidationOptions::new(3, 1)).expect("a validation");
    let metrics: Result<Vec<Metric>, _> = metrics.iter().map(|metric| Metric::parse(metric)).collect();
    let options = ValidationScores::new(7).baseline("Naive");
    let options = weights.map_or(options, |weights| options.weights(weights));
    validation.scores(&panel, &metrics?, by, &options)
}

fn first(table: &ScoreTable, metric: usize) -> Vec<f64> {
    table.metrics[metric].values.iter().map(|models| models[0]).collect()
}

#[test]
fn scores_are_of_series_cutoffs_and_steps() {
    let names = ["mae", "bias", "mase", "rmae"];
    let series = scores(ScoreBy::Series, &names, None).expect("scores");
    assert_eq!(series.models, ["SeasonalNaive", "Naive"]);
    assert_eq!(first(&series, 0), [0.0, 7.0]);
    assert_eq!(first(&series, 1), [0.0, -7.0]);
    // The history of the first does not change from week to week, so nothing can be divided by its change.
    let mase = first(&series, 2);
    assert!(mase[0].is_nan() && (mase[1] - 1.0).abs() < 1e-6, "{mase:?}");
    assert_eq!(series.metrics[3].values[1][1], 1.0);

    let cutoffs = scores(ScoreBy::Cutoff, &names, None).expect("scores");
    let shown: Vec<Option<i64>> = cutoffs.groups.iter().map(|group| group.cutoff).collect();
    let day = 86_400_000_000;
    assert_eq!(shown, [Some(55 * day), Some(56 * day), Some(57 * day)]);
    assert_eq!(first(&cutoffs, 0), [3.5; 3]);

    let steps = scores(ScoreBy::Step, &names, None).expect("scores");
    assert_eq!(steps.groups.len(), 2);
    assert_eq!(first(&steps, 0), [3.5; 2]);
    let all = scores(ScoreBy::All, &names, Some(&[1.0, 3.0])).expect("scores");
    assert_eq!(first(&all, 0), [5.25]);
}

#[test]
fn what_cannot_be_scored_is_said() {
    let unknown = scores(ScoreBy::All, &["mea"], None).expect_err("no such metric").to_string();
    assert!(unknown.contains("`mea`") && unknown.contains("mae, mse"), "{unknown}");
    assert!(scores(ScoreBy::All, &["mae"], Some(&[1.0])).is_err());
}
