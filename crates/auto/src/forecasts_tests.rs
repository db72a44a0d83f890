//! The whole way from a panel to a forecast, on small panels.

use foretell::hierarchy::Reconciliation;
use foretell::{
    Fitted, Forecaster, Frame, Freq, KeptSettings, ModelSpec, Panel, Precision, PredictOptions, StepSettings,
    ValidationOptions,
};

use crate::{Auto, Budget, QUANTILES, Temporal, TrainedAuto, stopped_at_zero};

/// A number between -1 and 1 that looks like chance.
fn noise(id: usize, t: usize) -> f64 {
    let mixed = ((id * 7919 + t + 1) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// Months of some series: a level, a trend, a season, and noise.
pub(crate) fn months(series: usize, rows: usize) -> Panel {
    let value = |id: usize, t: usize| {
        let season = (t as f64 / 12.0 * std::f64::consts::TAU + id as f64).sin();
        (100.0 + 0.8 * t as f64 + 12.0 * season + 4.0 * noise(id, t)) as f32
    };
    let all =
        (0..series).map(|id| (format!("s{id}"), 0, (0..rows).map(|t| value(id, t)).collect::<Vec<_>>()));
    Panel::from_series(Freq::parse("MS").expect("months"), all).expect("a panel")
}

pub(crate) fn fit(auto: Auto, panel: &Panel, threads: usize) -> Fitted {
    Forecaster::new([auto.into()]).expect("a model").threads(threads).fit(panel).expect("a fit")
}

pub(crate) fn predict(fitted: &Fitted, panel: &Panel) -> Frame {
    fitted.predict_with(panel, &PredictOptions::new().quantiles(&QUANTILES)).expect("a forecast")
}

/// Models that fit in a moment.
pub(crate) fn quick(h: usize) -> Auto {
    Auto::new(h).with("models", vec!["MSTL", "DynamicOptimizedTheta", "HistoricAverage"]).expect("models")
}

#[test]
fn the_forecast_is_better_than_the_seasonal_naive_and_says_so() {
    let (whole, h) = (months(6, 84), 12);
    let known = whole.without_last(h);
    let fitted = fit(quick(h), &known, 1);
    let forecast = predict(&fitted, &known);
    assert_eq!(forecast.n_rows(), 6 * h);
    let names: Vec<&str> = forecast.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names[0], names[1], names[9]), ("Auto", "Auto_ql0.1", "Auto_ql0.9"));
    let (mut own, mut naive, mut inside) = (0.0, 0.0, 0.0);
    for series in 0..6 {
        let y = whole.y(series);
        for step in 0..h {
            let row = series * h + step;
            let (truth, at) = (y[72 + step], |name: &str| forecast.column(name).expect("a column")[row]);
            own += f64::from((truth - at("Auto")).abs());
            naive += f64::from((truth - y[60 + step]).abs());
            inside += f64::from(u8::from(at("Auto_ql0.1") <= truth && truth <= at("Auto_ql0.9")))
                / (6.0 * h as f64);
        }
    }
    assert!(own < 0.6 * naive, "{own} beside {naive}");
    assert!((0.6..=0.97).contains(&inside), "{inside}");
    let board = TrainedAuto::of(&fitted).expect("the only model").board();
    assert!(board.is_honest && board.windows >= 2 && board.seasons == [12], "{board:?}");
    let [auto, naive] = ["Auto", "SeasonalNaive"].map(|name| board.row(name).expect("a row").mase);
    assert!(
        auto < naive && board.sentence().contains("better than the seasonal naive"),
        "{}",
        board.sentence()
    );
    let weights: f64 = board.rows[1..].iter().map(|row| row.weight).sum();
    assert!((weights - 1.0).abs() < 1e-9, "{board:?}");
}

/// The level of all series shifts where the kept window begins: the windows before it choose the mean of the history, and the kept one tells
/// how bad that is there; the forecast goes by the last value, too.
#[test]
fn the_kept_window_changes_no_score_but_weights_of_the_forecast() {
    let (h, rows) = (4, 44);
    let value = |id: usize, t: usize| match t {
        t if t + 1 < rows - h => 100.0 + 4.0 * noise(id, t) as f32,
        _ => 130.0,
    };
    let series = (0..20).map(|id| (format!("s{id}"), 0, (0..rows).map(|t| value(id, t)).collect::<Vec<_>>()));
    let panel = Panel::from_series(Freq::parse("YS").expect("years"), series).expect("a panel");
    let auto = Auto::new(h).with("models", vec!["HistoricAverage"]).expect("models");
    let fitted = fit(auto, &panel, 1);
    let board = TrainedAuto::of(&fitted).expect("it").board();
    let [auto, mean, naive] =
        ["Auto", "HistoricAverage", "SeasonalNaive"].map(|name| board.row(name).expect("a row").clone());
    assert!(board.is_honest && auto.mase > 0.8 * mean.mase && naive.mase < 0.1 * auto.mase, "{board:?}");
    assert!(naive.weight > 0.9, "{board:?}");
    assert!((predict(&fitted, &panel).column("Auto").expect("a column")[0] - 130.0).abs() < 4.0);
}

/// Models learn no season from so little, and only what follows the first year shows which forecast is good.
#[test]
fn less_than_two_seasons_are_forecast_by_the_last_one() {
    let (h, rows, season) = (4, 6, [100.0, 300.0, 180.0, 20.0]);
    let value = |id: usize, t: usize| (season[t % 4] + 5.0 * noise(id, t)) as f32;
    let series = (0..20).map(|id| (format!("s{id}"), 0, (0..rows).map(|t| value(id, t)).collect::<Vec<_>>()));
    let panel = Panel::from_series(Freq::parse("QS").expect("quarters"), series).expect("a panel");
    let auto = Auto::new(h).with("models", vec!["HistoricAverage", "DynamicOptimizedTheta"]).expect("models");
    let fitted = fit(auto, &panel, 1);
    let board = TrainedAuto::of(&fitted).expect("it").board();
    assert!(
        board.seasons == [4] && !board.is_honest && board.row("SeasonalNaive").expect("it").weight > 0.9,
        "{board:?}"
    );
    let forecast = predict(&fitted, &panel);
    for (step, value) in forecast.column("Auto").expect("a column")[..h].iter().enumerate() {
        assert!((f64::from(*value) - season[(rows + step) % 4]).abs() < 25.0, "{step}: {value}");
    }
}

/// The only window behind the first season is shorter than the horizon, and its columns end with it.
#[test]
fn columns_that_are_known_ahead_may_end_within_a_window() {
    let (h, season, rows) = (6, 13, 18);
    let value = |t: usize| (20.0 + 8.0 * (t % season) as f64 + noise(0, t)) as f32;
    let panel = Panel::from_series(
        Freq::parse("D").expect("days"),
        [("a", 0, (0..rows).map(value).collect::<Vec<_>>())],
    );
    let price = (0..rows).map(|t| (t % 3) as f32).collect();
    let panel = panel.expect("a panel").with_computed(vec![("price".to_owned(), price)]).expect("a column");
    let auto = quick(h).with("season_length", season).expect("a season");
    let auto = auto.with("futr_exog_list", vec!["price"]).expect("columns");
    let board = TrainedAuto::of(&fit(auto, &panel, 1)).expect("it").board().clone();
    assert!(board.seasons == [season] && board.windows == 1 && !board.is_honest, "{board:?}");
}

#[test]
fn threads_and_directories_change_no_bit() {
    Auto::register();
    let panel = months(4, 60);
    let alone = fit(quick(6), &panel, 1);
    let forecast = predict(&alone, &panel);
    assert_eq!(predict(&fit(quick(6), &panel, 2), &panel).columns, forecast.columns);
    // Of fewer series than threads several members are fitted at a time.
    let one = months(1, 60);
    let [first, others @ ..] = [1, 2, 5].map(|threads| {
        let fitted = fit(quick(6), &one, threads);
        let trained = TrainedAuto::of(&fitted).expect("it");
        let scores: Vec<_> = trained.board().rows.iter().map(|row| (row.model.clone(), row.mase)).collect();
        // As text, since scores that are no numbers do not equal themselves.
        format!("{:?}", (predict(&fitted, &one).columns, scores, trained.board().left_out.clone()))
    });
    assert!(first.contains("DynamicOptimizedTheta"), "{first}");
    others.iter().for_each(|other| assert_eq!(*other, first));
    let again = Fitted::from_bytes(&alone.to_bytes().expect("bytes")).expect("the same");
    assert_eq!(predict(&again, &panel).columns, forecast.columns);
    let board = |fitted: &Fitted| TrainedAuto::of(fitted).expect("it").board().rows[0].mase;
    assert_eq!(board(&again), board(&alone));
    // Further data are fitted by what was chosen.
    let more = again.fit_more(&months(4, 66)).expect("a fit");
    assert_eq!(TrainedAuto::of(&more).expect("it").weights(), TrainedAuto::of(&alone).expect("it").weights());
    assert_eq!(ModelSpec::new("auto", 3, 1).expect("it is known").name(), "Auto");
}

#[test]
fn a_bad_series_stops_nothing() {
    let rows = 48;
    let wave = |t: usize| 50.0 + 5.0 * (t as f32 / 12.0 * std::f32::consts::TAU).sin();
    let series = [
        ("constant", vec![7.0; rows]),
        ("one", vec![3.0]),
        ("regular", (0..rows).map(wave).collect()),
        ("spike", (0..rows).map(|t| if t == rows - 2 { 1e9 } else { wave(t) }).collect()),
        ("two", vec![1.0, 2.0]),
        ("zeros", vec![0.0; rows]),
    ];
    let panel = Panel::from_series(Freq::parse("MS").expect("months"), series.map(|(id, y)| (id, 0, y)))
        .expect("a panel");
    let forecast = predict(&fit(quick(4), &panel, 1), &panel);
    assert_eq!(forecast.n_rows(), 6 * 4);
    for (name, values) in &forecast.columns {
        assert!(values.iter().all(|value| value.is_finite()), "{name}: {values:?}");
        assert!((values[0] - 7.0).abs() < 3.0 && (values[2 * 4] - 50.0).abs() < 25.0, "{name}: {values:?}");
    }
}

#[test]
fn what_is_too_short_to_be_scored_says_so() {
    let few = months(3, 9);
    let fitted = fit(quick(4), &few, 1);
    let board = TrainedAuto::of(&fitted).expect("it").board();
    assert!(!board.is_honest && board.sentence().contains("too few data"), "{}", board.sentence());
    let fitted = fit(quick(4), &months(2, 4), 1);
    let board = TrainedAuto::of(&fitted).expect("it").board();
    assert!(board.sentence().contains("too short to score"), "{}", board.sentence());
    assert_eq!(predict(&fitted, &months(2, 4)).n_rows(), 8);
}

#[test]
fn networks_take_the_steps_of_the_budget() {
    let panel = months(5, 72);
    let auto = || Auto::new(4).budget(Budget::Steps(10)).with("models", vec!["NLinear"]).expect("models");
    let fitted = fit(auto(), &panel, 1);
    let trained = TrainedAuto::of(&fitted).expect("it");
    let row = trained.board().row("NLinear").expect("a row").clone();
    assert!(row.mase.is_finite());
    if row.weight > 0.0 {
        assert_eq!(trained.board().steps, [("NLinear".to_owned(), 10)]);
    }
    let again = fit(auto(), &panel, 2);
    assert_eq!(predict(&again, &panel).columns, predict(&fitted, &panel).columns);
    Auto::register();
    let loaded = Fitted::from_bytes(&fitted.to_bytes().expect("bytes")).expect("the same");
    assert_eq!(predict(&loaded, &panel).columns, predict(&fitted, &panel).columns);
}

#[test]
fn the_network_of_the_program_is_trained_on_under_a_name_of_its_own() {
    let panel = months(2, 60);
    let auto = Auto::new(4).budget(Budget::Steps(1)).with("models", vec!["Foretell0-tuned"]);
    let fitted = fit(auto.expect("models").with("ensemble", false).expect("a flag"), &panel, 2);
    let trained = TrainedAuto::of(&fitted).expect("it");
    assert!(trained.board().row("Foretell0-tuned").expect("a row").mase.is_finite());
    assert_eq!(trained.weights()[0], ("Foretell0-tuned", 1.0), "the seasonal naive is far behind on these");
    assert_eq!(trained.board().steps, [("Foretell0-tuned".to_owned(), 1)]);
    Auto::register();
    let loaded = Fitted::from_bytes(&fitted.to_bytes().expect("bytes")).expect("the same");
    assert_eq!(predict(&loaded, &panel).columns, predict(&fitted, &panel).columns);
}

#[test]
fn networks_are_trained_as_the_forecaster_says() {
    let panel = months(3, 60);
    let learned = |step: StepSettings, threads| {
        let spec = ModelSpec::new("MLP", 4, 8).and_then(|spec| spec.set("max_steps", 5)).expect("a model");
        let auto =
            Auto::new(4).budget(Budget::Steps(5)).models([spec]).with("ensemble", false).expect("a flag");
        let forecaster = Forecaster::new([auto.into()]).expect("a model").threads(threads).steps_as(step);
        let fitted = forecaster.fit(&panel).expect("a fit");
        let row = TrainedAuto::of(&fitted).expect("it").board().row("MLP").expect("it was tried").clone();
        (row.mase.to_bits(), row.scaled_crps.to_bits())
    };
    let usual = learned(StepSettings::default(), 1);
    let low = StepSettings { low_memory: true, ..StepSettings::default() };
    let rounded = StepSettings { precision: Precision::Bf16, ..StepSettings::default() };
    assert_eq!(learned(low, 1), learned(low, 2));
    // Without the feature `amp` nothing is rounded, and no other precision is to be had.
    if foretell::check_amp("bf16").is_ok() {
        assert_ne!(learned(low, 1), usual);
        assert_ne!(learned(rounded, 1), usual);
    }
}

#[test]
fn who_stops_it_gets_what_there_is() {
    let panel = months(3, 60);
    for threads in [1, 5] {
        let fitted = fit(quick(6).stop_if(|| true), &panel, threads);
        assert!(!fitted.interrupted());
        assert_eq!(TrainedAuto::of(&fitted).expect("it").weights(), [("SeasonalNaive", 1.0)]);
        assert_eq!(predict(&fitted, &panel).n_rows(), 18);
    }
}

#[test]
fn the_best_alone_is_one_model() {
    let fitted = fit(quick(6).with("ensemble", false).expect("a flag"), &months(4, 72), 1);
    assert_eq!(TrainedAuto::of(&fitted).expect("it").weights(), [("MSTL", 1.0)]);
}

#[test]
fn models_that_there_are_not_are_refused_before_any_work() {
    let auto = Auto::new(6).with("models", vec!["AutoEST"]).expect("a list");
    let error = Forecaster::new([auto.into()]).expect_err("no such model").to_string();
    assert!(error.contains("AutoEST") && error.contains("AutoETS"), "{error}");
    let auto = Auto::new(6).with("models", vec!["iTransformer"]).expect("a list");
    let error =
        Forecaster::new([auto.into()]).expect("a model").fit(&months(2, 60)).expect_err("joint").to_string();
    assert!(error.contains("all series together"), "{error}");
}

/// Hours whose days depend on the weekday.
fn hours(rows: usize) -> Panel {
    let value = |t: usize| (200.0 + (t % 24) as f64 + 20.0 * (t / 24 % 7) as f64 + 3.0 * noise(1, t)) as f32;
    let all = [("a", 0, (0..rows).map(value).collect::<Vec<_>>())];
    Panel::from_series(Freq::parse("h").expect("hours"), all).expect("a panel")
}

fn temporal(h: usize, period: &str) -> ModelSpec {
    let model = ModelSpec::new("SeasonalNaive", h, 1).expect("a model").set("season_length", 24);
    Temporal::new(model.expect("a season"), &[period]).expect("a period").into()
}

/// Of variances 1 of an hour and 24 of a day, each of 24 hours moves by 1 / (24 + 24) of the gap between the day and their sum.
#[test]
fn hours_are_reconciled_with_days() {
    let (panel, h) = (hours(24 * 21), 48);
    let known = panel.without_last(h);
    let of = |method: Reconciliation| -> Vec<f64> {
        let model = ModelSpec::new("SeasonalNaive", h, 1).unwrap().set("season_length", 24).unwrap();
        let model = Temporal::new(model, &["24h"]).unwrap().method(method).unwrap();
        let fitted = Forecaster::new([model.into()]).unwrap().fit(&known).unwrap();
        let forecast = fitted.predict(&known, None).unwrap();
        forecast.column("SeasonalNaive").unwrap().iter().map(|value| f64::from(*value)).collect()
    };
    let n = known.len(0);
    let value = |row: usize| f64::from(known.y(0)[row]);
    let steps: Vec<f64> = (0..h).map(|step| value(n - 24 + step % 24)).collect();
    assert_eq!(of(Reconciliation::BottomUp), steps);
    // The days of a week before.
    let day = |day: usize| (0..24).map(|hour| value(n - 168 + 24 * day + hour)).sum::<f64>();
    let found = of(Reconciliation::MinTraceWls);
    for (step, found) in found.iter().enumerate() {
        let gap = day(step / 24) - steps[step / 24 * 24..][..24].iter().sum::<f64>();
        let expected = steps[step] + gap / 48.0;
        assert!((found - expected).abs() < 1e-3, "{step}: {found} and {expected}");
    }
    // By variances days, which know the weekday, weigh more.
    let error = |found: &[f64]| {
        (0..h).map(|step| (found[step] - f64::from(panel.y(0)[n + step])).abs()).sum::<f64>() / h as f64
    };
    let [alone, structural, variances] =
        [&steps, &found, &of(Reconciliation::MinTraceVar)].map(|found| error(found));
    assert!(
        variances < 0.4 * alone && variances < structural && structural < alone,
        "{alone} {structural} {variances}"
    );
}

#[test]
fn models_with_days_are_saved_scored_and_described() {
    Auto::register();
    let panel = hours(24 * 30);
    let fitted = Forecaster::new([temporal(24, "D")]).unwrap().fit(&panel).unwrap();
    let forecast = fitted.predict(&panel, None).unwrap();
    let again = Fitted::from_bytes(&fitted.to_bytes().unwrap()).unwrap();
    assert_eq!(again.predict(&panel, None).unwrap().columns, forecast.columns);
    let described = fitted.models()[0].trained().described(0).expect("a series");
    assert_eq!((&*described.series, &*described.form), ("a", "with sums of 24 steps"));
    let mae: Vec<f64> = described.numbers.iter().map(|(_, value)| *value).collect();
    assert!(mae[1] < 0.5 * mae[0], "{mae:?}");
    let options = ValidationOptions::new(3, 24);
    let scored = Forecaster::new([temporal(24, "D"), ModelSpec::new("Naive", 24, 1).unwrap()]).unwrap();
    let frame = scored.cross_validate(&panel, &options).unwrap().frame;
    let [y, found, naive] = ["y", "SeasonalNaive", "Naive"].map(|name| frame.column(name).unwrap());
    let mae = |found: &[f32]| {
        let errors = y.iter().zip(found).map(|(y, found)| f64::from((y - found).abs()));
        errors.sum::<f64>() / y.len() as f64
    };
    assert_eq!((y.len(), mae(found) < 0.5 * mae(naive)), (72, true), "{} {}", mae(found), mae(naive));
}

#[test]
fn what_cannot_be_reconciled_over_time_says_why() {
    let panel = hours(24 * 10);
    let fit = |model: ModelSpec| Forecaster::new([model]).unwrap().fit(&panel).unwrap_err().to_string();
    assert!(fit(temporal(36, "D")).contains("36 steps are no whole number of periods of 24; forecast 48"));
    assert!(fit(temporal(24, "MS")).contains("it has 672 to 744 steps of h"), "{}", fit(temporal(24, "MS")));
    let twice = Temporal::new(ModelSpec::new("Naive", 24, 1).unwrap(), &["24h", "D"]).unwrap();
    assert!(fit(twice.into()).contains("the periods 24h and D have the same steps"));
    let network = Temporal::new(ModelSpec::new("NHITS", 24, 48).unwrap(), &["24"]).unwrap_err().to_string();
    assert!(network.contains("NHITS cannot be reconciled over time: it is trained in steps"), "{network}");
}

#[test]
fn what_was_never_below_zero_stops_there_and_what_sells_rarely_is_told() {
    let falling: Vec<f32> = (0..60).map(|t| 122.0 - 2.0 * t as f32).collect();
    let panel =
        |y: Vec<f32>| Panel::from_series(Freq::parse("MS").expect("months"), [("a", 0, y)]).expect("a panel");
    let known = panel(falling);
    let forecast = predict(&fit(quick(6), &known, 1), &known);
    assert!(forecast.columns.iter().all(|(_, values)| values.iter().all(|value| *value >= 0.0)));
    assert_eq!(stopped_at_zero(&known, &forecast), ["a"]);
    let free = quick(6).with("below_zero", true).expect("a setting");
    let forecast = predict(&fit(free, &known, 1), &known);
    assert!(forecast.column("Auto").expect("a column")[5] < -2.0, "{forecast:?}");
    assert!(stopped_at_zero(&known, &forecast).is_empty());
    let sold = |t: usize| if (t * 7919 + t * t * 31) % 101 < 20 { 3.0 + (t % 2) as f32 } else { 0.0 };
    let rare = panel((0..120).map(sold).collect());
    let fitted = fit(quick(6), &rare, 1);
    let told = &TrainedAuto::of(&fitted).expect("the only model").board().told;
    assert!(told.iter().any(|told| told.starts_with("1 of 1 series is 0 at more than half")), "{told:?}");
}

#[test]
fn intervals_that_hold_too_little_are_told() {
    // It grows as never before in the window that is scored.
    let y: Vec<f32> =
        (0..84).map(|t| 50.0 + (t % 12) as f32 + if t < 60 { 0.0 } else { 9.0 * (t - 60) as f32 }).collect();
    let panel = Panel::from_series(Freq::parse("MS").expect("months"), [("a", 0, y)]).expect("a panel");
    let fitted = fit(quick(24), &panel, 1);
    let board = TrainedAuto::of(&fitted).expect("the only model").board();
    assert!(board.rows[0].coverage < 0.6, "{board:?}");
    assert!(board.told.iter().any(|told| told.contains("The intervals are too narrow")), "{:?}", board.told);
}

/// A planner orders by the mean: the median of what is sold in one week of six is 0.
#[test]
fn the_forecast_of_rare_demand_is_its_mean() {
    let value = |id: usize, t: usize| match (noise(id, t), noise(id + 50, t)) {
        (sold, size) if sold > 0.67 => 6.0 + (4.0 * size).round() as f32,
        _ => 0.0,
    };
    let often = |t: usize| 40.0 + 5.0 * noise(99, t) as f32;
    let rare = (0..8).map(|id| (format!("s{id}"), 0, (0..120).map(|t| value(id, t)).collect::<Vec<_>>()));
    let series = rare.chain([("t".to_owned(), 0, (0..120).map(often).collect())]);
    let panel = Panel::from_series(Freq::parse("W-MON").expect("weeks"), series).expect("a panel");
    let auto = |models: &[&str]| Auto::new(4).with("models", models.to_vec()).expect("models");
    let fitted = fit(auto(&["HistoricAverage", "CrostonSBA", "ADIDA"]), &panel, 1);
    let forecast = predict(&fitted, &panel);
    let [point, median] = ["Auto", "Auto_ql0.5"].map(|name| forecast.column(name).expect("a column"));
    let demand = (0..8).flat_map(|series| panel.y(series)).sum::<f32>() / (8.0 * 120.0);
    let mean = point[..32].iter().sum::<f32>() / 32.0;
    assert!((mean - demand).abs() < 0.25 * demand, "{mean} beside {demand}");
    assert!(median[..32].iter().all(|median| *median < 0.5 * demand), "{median:?}");
    assert_eq!(point[32..], median[32..], "the series that is sold every week");
    let told = &TrainedAuto::of(&fitted).expect("it").board().told;
    assert!(
        told.iter()
            .any(|told| told.contains("8 of 9 series are 0") && told.contains("mean demand of a step (")),
        "{told:?}"
    );
    // Rounding is told where it is set.
    let is_told = |fitted: &Fitted| {
        let board = TrainedAuto::board_of(fitted).expect("it");
        board.told.iter().any(|told| told.contains("a mean demand of less than 0.5 a step is 0"))
    };
    assert!(!is_told(&fitted));
    let whole = Forecaster::new([auto(&["CrostonSBA"]).into()])
        .expect("a model")
        .keep(KeptSettings { integer: true, ..KeptSettings::default() });
    assert!(is_told(&whole.fit(&panel).expect("a fit")));
    // Without a model of rare demand it is told that there is none.
    let fitted = fit(auto(&["HistoricAverage"]), &panel, 1);
    let told = &TrainedAuto::of(&fitted).expect("it").board().told;
    assert!(told.iter().any(|told| told.contains("the forecast is the median")), "{told:?}");
}
