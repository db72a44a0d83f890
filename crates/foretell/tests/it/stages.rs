//! Whatever is done to forecasts is done to those of every source, together with everything else, or refused by the stage's sentence.

use std::sync::{Arc, Mutex};

use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{
    DecomposeOptions, Ensemble, Fitted, ForecastTable, Forecaster, Frame, Freq, InsampleOptions,
    KeptSettings, ModelSpec, Panel, PredictOptions, PredictionIntervals, SimulateOptions, Source, Stage,
    ValidationOptions, sum_series,
};

const H: usize = 3;
const PATHS: usize = 4;
const LEVEL: &[f64] = &[80.0];

fn hierarchy() -> Hierarchy {
    Hierarchy::from_levels(&[("a", ["x"]), ("b", ["x"]), ("c", ["y"])]).expect("levels")
}

fn panel() -> Panel {
    let wave = |size: f32| (0..60).map(move |t| size * (2.5 + (t as f32 * 0.7 + size).sin()) + 0.3);
    let series =
        [("a", 1.0), ("b", 5.0), ("c", 20.0)].map(|(id, size)| (id, 0, wave(size).collect::<Vec<_>>()));
    let bottom = Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel");
    sum_series(&bottom, &hierarchy()).expect("sums")
}

/// Models whose forecasts do not add up by themselves, with these stages.
fn forecaster(stages: &[Stage]) -> Forecaster {
    let models = ["Theta", "Holt"];
    let models = models.map(|name| ModelSpec::new(name, H, 1).expect("a model"));
    let mut forecaster = Forecaster::new(models).expect("models");
    for stage in stages {
        forecaster = match stage {
            Stage::Intervals => {
                forecaster.intervals(PredictionIntervals { n_windows: 4, ..PredictionIntervals::default() })
            }
            Stage::Ensembles => forecaster.ensemble(Ensemble::Mean),
            Stage::Bounds => forecaster.keep(KeptSettings { integer: true, ..KeptSettings::default() }),
            Stage::Sums => forecaster.hierarchy(hierarchy(), Reconciliation::MinTraceOls).expect("a method"),
        };
    }
    forecaster
}

/// The forecasts of this source, and what was told.
fn forecast(source: Source, stages: &[Stage], panel: &Panel) -> (Frame, Vec<String>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let into = heard.clone();
    let hear = move |warning: &foretell::Warning| into.lock().expect("no panic").push(warning.to_string());
    let level = if stages.contains(&Stage::Intervals) { LEVEL } else { &[] };
    let fit = || -> Fitted { forecaster(stages).fit(panel).expect("a training").on_warning(hear.clone()) };
    let frame = match source {
        Source::Ahead => fit().predict_with(panel, &PredictOptions::new().level(level)),
        Source::History => fit().predict_insample_with(panel, &InsampleOptions::new(H).level(level)),
        Source::Cutoffs => {
            let options = ValidationOptions::new(3, 2).level(level);
            forecaster(stages).on_warning(hear.clone()).cross_validate(panel, &options).map(|all| all.frame)
        }
        Source::Paths => fit().simulate(panel, &SimulateOptions::new(PATHS)),
        Source::Parts => fit().decompose(panel, &DecomposeOptions::new()),
    };
    let told = std::mem::take(&mut *heard.lock().expect("no panic"));
    (frame.unwrap_or_else(|error| panic!("{source} with {stages:?}: {error}")), told)
}

/// By how much the sums of a column are off, where forecasts are of the same cutoff, path and time.
fn incoherence(frame: &Frame, column: &str) -> f64 {
    let table = ForecastTable::of_frame(frame.clone());
    let values = table.column(column).expect("a column");
    let path = table.column("sample_id").ok();
    let key = |row: usize| {
        let cutoff = table.cutoffs.as_ref().map_or(0, |cutoffs| cutoffs[row]);
        (cutoff, path.map_or(0, |numbers| numbers[row] as i64), table.times[row])
    };
    let value = |id: &str, at: (i64, i64, i64)| {
        let row = (0..table.ids.len()).find(|&row| &*table.ids[row] == id && key(row) == at);
        values[row.expect("a row of each series")]
    };
    let totals = (0..table.ids.len()).filter(|&row| &*table.ids[row] == "Total");
    totals.map(key).map(|at| (value("Total", at) - value("x", at) - value("c", at)).abs()).fold(0.0, f64::max)
}

#[test]
fn every_stage_works_with_every_source_and_with_every_other_stage() {
    let panel = panel();
    for source in Source::ALL.into_iter().filter(|source| *source != Source::Parts) {
        for number in 0..1 << Stage::ALL.len() {
            let has = |stage: Stage| {
                number >> Stage::ALL.iter().position(|other| *other == stage).expect("a stage") & 1 == 1
            };
            let stages: Vec<Stage> = Stage::ALL.into_iter().filter(|stage| has(*stage)).collect();
            let (frame, told) = forecast(source, &stages, &panel);
            let case = format!("{source} with {stages:?}");
            assert_eq!(told, [""; 0], "{case}");
            let column = |name: &str| frame.column(name);
            assert_eq!(column("EnsembleMean").is_some(), has(Stage::Ensembles), "{case}");
            if Stage::Intervals.refusal(source).is_none() {
                let models = ["Theta", "EnsembleMean"].into_iter().filter(|model| column(model).is_some());
                for model in models {
                    let is_there = column(&format!("{model}-lo-80")).is_some();
                    assert_eq!(is_there, has(Stage::Intervals), "{case}: {model}");
                }
            }
            let forecasts = frame.columns.iter().filter(|(name, _)| name != "y" && name != "sample_id");
            let whole = |values: &[f32]| values.iter().all(|value| value.fract() == 0.0);
            assert_eq!(forecasts.clone().all(|(_, values)| whole(values)), has(Stage::Bounds), "{case}");
            let points = forecasts.filter(|(name, _)| !name.contains("-lo-") && !name.contains("-hi-"));
            let off = points.map(|(name, _)| incoherence(&frame, name)).fold(0.0, f64::max);
            assert_eq!(off < 1e-3, has(Stage::Sums), "{case}: sums are off by {off}");
        }
    }
}

#[test]
fn what_a_stage_refuses_is_told_in_its_sentence() {
    let panel = panel();
    let flair = ModelSpec::new("FLAIR", H, 1).expect("a model");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let into = heard.clone();
    let forecaster =
        Forecaster::new([flair.clone(), flair.set("alias", "Other").expect("a name")]).expect("models");
    let forecaster =
        forecaster.ensemble(Ensemble::Mean).keep(KeptSettings { integer: true, ..KeptSettings::default() });
    let forecaster = forecaster.hierarchy(hierarchy(), Reconciliation::MinTraceOls).expect("a method");
    let fitted = forecaster.fit(&panel).expect("a training").on_warning(move |warning| {
        into.lock().expect("no panic").push(warning.to_string());
    });
    fitted.decompose(&panel, &DecomposeOptions::new()).expect("parts");
    let told = std::mem::take(&mut *heard.lock().expect("no panic"));
    let stages = [Stage::Ensembles, Stage::Bounds, Stage::Sums];
    let sentence = |stage: Stage| {
        let reason = stage.refusal(Source::Parts).expect("a refusal");
        format!("parts of forecasts are without {stage}: {reason}")
    };
    assert_eq!(told, stages.map(sentence));
}

#[test]
fn cutoffs_before_a_series_begins_stay_as_the_models_forecast_them() {
    let all = panel();
    let late = (0..all.n_series()).map(|series| {
        let (id, first) = (all.id(series).to_string(), if &**all.id(series) == "c" { 54 } else { 0 });
        (id, first as i64, all.y(series)[first..].to_vec())
    });
    let late = Panel::from_series(Freq::parse("1").expect("a frequency"), late).expect("a panel");
    let models = [ModelSpec::new("Theta", H, 1).expect("a model")];
    let heard = Arc::new(Mutex::new(Vec::new()));
    let into = heard.clone();
    let forecaster = Forecaster::new(models).expect("a model").on_warning(move |warning| {
        into.lock().expect("no panic").push(warning.to_string());
    });
    let alone = Forecaster::new([ModelSpec::new("Theta", H, 1).expect("a model")]).expect("a model");
    let summed = forecaster.hierarchy(hierarchy(), Reconciliation::MinTraceOls).expect("a method");
    let options = ValidationOptions::new(3, H);
    let [alone, summed] =
        [alone, summed].map(|models| models.cross_validate(&late, &options).expect("forecasts").frame);
    let told = std::mem::take(&mut *heard.lock().expect("no panic"));
    assert!(told.iter().any(|told| told.contains("series of the hierarchy have none (c)")), "{told:?}");
    assert_eq!(alone.ids, summed.ids);
    let cutoffs = summed.cutoffs.as_ref().expect("cutoffs");
    let (own, coherent) =
        (alone.column("Theta").expect("a column"), summed.column("Theta").expect("a column"));
    for row in 0..summed.n_rows() {
        let is_before = cutoffs[row] < 54;
        assert_eq!(is_before, own[row].to_bits() == coherent[row].to_bits(), "row {row}");
    }
}

/// The table of docs/command-line.md is that of the code.
#[test]
fn the_documented_table_of_stages_is_that_of_the_code() {
    let columns = Source::ALL.map(|source| format!(" {source}: {} |", source.commands())).concat();
    let mut table = format!("| |{columns}\n|---|{}\n", "---|".repeat(Source::ALL.len()));
    for stage in Stage::ALL {
        let cells =
            Source::ALL.map(|source| format!(" {} |", stage.refusal(source).unwrap_or("yes"))).concat();
        table += &format!("| {stage} |{cells}\n");
    }
    let docs = std::fs::read_to_string("../../docs/command-line.md").expect("the page");
    assert!(docs.contains(&table), "docs/command-line.md lacks the table of stages, which is\n{table}");
}
