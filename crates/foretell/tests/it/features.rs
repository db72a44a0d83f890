//! Columns that are computed from the data, for models that are trained, saved, and score themselves on the past.

use foretell::jiff::civil::date;
use foretell::{
    CrossValidation, Features, Fitted, Forecaster, Future, ModelSpec, Panel, PredictOptions,
    ValidationOptions, json,
};

const H: usize = 5;
const WORDS: &str = "lag:1,7,diff:1,roll_mean:4,roll_std:4,roll_min:3,roll_max:3,roll_quantile:6:0.2,0.8,ewm:0.4,weekday,week,\
                     is_month_end,fourier:weekly:2,holidays:DE:1:1,trend";

fn words() -> Features {
    WORDS.parse().expect("features")
}

fn value(series: usize, day: usize) -> f32 {
    20.0 + (day as f32 * 0.9 + series as f32).sin() * 4.0 + ((day * day + series) % 5) as f32
}

/// Three series of this many days, with a column that is known ahead; from the day `changed` on all values are others.
fn panel(rows: usize, changed: usize) -> Panel {
    let mut csv = String::from("unique_id,ds,y,price\n");
    for series in 0..3 {
        for day in 0..rows {
            let other = if day < changed { 0.0 } else { 500.0 - 3.0 * day as f32 };
            let y = value(series, day) + other;
            let time = date(2024, 9, 1).saturating_add(foretell::jiff::ToSpan::days(day as i64));
            csv += &format!("s{series},{time},{y},{}\n", day % 3);
        }
    }
    Panel::read_csv(csv.as_bytes(), "sales.csv", &foretell::ReadOptions::default()).expect("a panel")
}

/// Of several families; all read columns of the past and of the future.
fn models() -> Vec<ModelSpec> {
    let small = [
        ("MLP", json!({"hidden_size": 8})),
        ("NHITS", json!({"mlp_units": [[8, 8], [8, 8], [8, 8]]})),
        ("LSTM", json!({"encoder_hidden_size": 6, "decoder_hidden_size": 6})),
        ("TFT", json!({"hidden_size": 8})),
    ];
    let common = json!({"max_steps": 3, "windows_batch_size": 16, "scaler_type": "standard"});
    let set = |spec: ModelSpec, settings: &foretell::Value| {
        let settings = settings.as_object().expect("an object").clone().into_iter();
        settings.fold(spec, |spec, (name, value)| spec.set(&name, value).expect("a setting"))
    };
    let model = |(name, own): &(&str, foretell::Value)| {
        set(set(ModelSpec::new(name, H, 14).expect("a model"), &common), own)
    };
    small.iter().map(model).collect()
}

fn forecaster(models: Vec<ModelSpec>) -> Forecaster {
    Forecaster::new(models).expect("models").features(words()).expect("models that read columns")
}

fn prices(panel: &Panel, steps: usize) -> Future {
    let price: Vec<f32> = (0..panel.n_series())
        .flat_map(|series| (0..steps).map(move |step| ((panel.len(series) + step) % 3) as f32))
        .collect();
    Future::new(panel, steps, &[("price", &price)]).expect("a future")
}

#[test]
fn models_read_them_without_any_further_file() {
    let fitted = forecaster(models()).fit(&panel(80, usize::MAX)).expect("a training");
    assert!(fitted.columns_read().is_empty() && fitted.future_columns().is_empty());
    for model in fitted.models() {
        let network = model.spec().network().expect("a network");
        assert_eq!(network.hist_exog_list(), words().hist_columns());
        assert_eq!(network.futr_exog_list(), words().futr_columns());
    }
    let data = panel(90, usize::MAX);
    let forecast = fitted.predict(&data, None).expect("a forecast");
    assert_eq!(forecast.n_rows(), 3 * H);
    // They are saved, and forecasts of saved models are the same, also series by series.
    let again = Fitted::from_bytes(&fitted.to_bytes().expect("bytes")).expect("the models");
    assert_eq!(*again.features(), words());
    assert_eq!(again.predict(&data, None).expect("a forecast").columns, forecast.columns);
    let one = again.predict(&data.of_series(1..2), None).expect("a forecast");
    for ((name, all), (_, one)) in forecast.columns.iter().zip(&one.columns) {
        let near = all[H..2 * H].iter().zip(one).all(|(all, one)| (all - one).abs() < 1e-3);
        assert!(near, "{name}: {:?}, {one:?}", &all[H..2 * H]);
    }
}

#[test]
fn they_stand_beside_columns_of_the_data() {
    let spec = models().swap_remove(0).set("futr_exog_list", ["price"].as_slice()).expect("a column");
    let data = panel(80, usize::MAX);
    let fitted = forecaster(vec![spec]).fit(&data).expect("a training");
    assert_eq!(
        (fitted.columns_read(), fitted.future_columns()),
        (vec!["price".to_owned()], vec!["price".to_owned()])
    );
    let error = fitted.predict(&data, None).expect_err("no prices").to_string();
    assert!(error.contains("the future columns `price` need"), "{error}");
    let future = prices(&data, H);
    assert_eq!(fitted.predict(&data, Some(&future)).expect("a forecast").n_rows(), 3 * H);
}

#[test]
fn those_of_the_calendar_reach_beyond_the_horizon() {
    let spec = models().swap_remove(0);
    let features: Features = "weekday,trend".parse().expect("features");
    let forecaster = Forecaster::new([spec]).expect("a model").features(features).expect("columns");
    let data = panel(80, usize::MAX);
    let fitted = forecaster.fit(&data).expect("a training");
    let further = fitted.predict_with(&data, &PredictOptions::new().h(3 * H)).expect("a forecast");
    assert_eq!(further.n_rows(), 3 * 3 * H);
    let own = fitted.predict(&data, None).expect("a forecast");
    let (_, further) = &further.columns[0];
    assert_eq!(own.columns[0].1[..H], further[..H]);
}

/// The forecasts of the first `count` cutoffs of each series.
fn first_forecasts(validation: &CrossValidation, count: usize) -> Vec<(String, Vec<f32>)> {
    let frame = &validation.frame;
    let mut cutoffs = frame.cutoffs.clone().expect("cutoffs");
    cutoffs.sort_unstable();
    cutoffs.dedup();
    let last = cutoffs[count - 1];
    let early = |values: &[f32]| {
        let rows = values.iter().zip(frame.cutoffs.as_deref().expect("cutoffs"));
        rows.filter(|(_, cutoff)| **cutoff <= last).map(|(value, _)| *value).collect()
    };
    frame
        .columns
        .iter()
        .filter(|(name, _)| name != "y")
        .map(|(name, values)| (name.clone(), early(values)))
        .collect()
}

#[test]
fn what_lies_after_a_cutoff_changes_no_forecast_before_it() {
    let rows = 80;
    // Four forecasts, of which the third begins where the values of the second panel become others.
    let cutoffs = [rows - 4 * H, rows - 3 * H, rows - 2 * H, rows - H];
    for refit in [0, 1, 2] {
        let validate = |panel: &Panel| {
            let options = ValidationOptions::new(4, H).refit(refit);
            forecaster(models()).cross_validate(panel, &options).expect("forecasts")
        };
        let one = validate(&panel(rows, usize::MAX));
        let other = validate(&panel(rows, cutoffs[2]));
        assert_eq!(first_forecasts(&one, 3), first_forecasts(&other, 3), "refit {refit}");
        assert_ne!(first_forecasts(&one, 4), first_forecasts(&other, 4), "refit {refit}");
    }
    // Forecasts of the history are those of the data that end at their cutoff.
    let fitted = forecaster(models()).fit(&panel(60, usize::MAX)).expect("a training");
    let history = |changed: usize| fitted.predict_insample(&panel(60, changed), H).expect("forecasts");
    let [one, other] = [history(usize::MAX), history(45)];
    for ((name, one_values), (_, other_values)) in one.columns.iter().zip(&other.columns) {
        let cutoffs = one.cutoffs.as_deref().expect("cutoffs");
        let first = cutoffs[0];
        let before = |row: &usize| (cutoffs[*row] - first) / 86_400_000_000 < 45 - 5;
        for row in (0..one.n_rows()).filter(before).filter(|_| name != "y") {
            assert_eq!(one_values[row], other_values[row], "{name}, row {row}");
        }
    }
}

#[test]
fn features_that_no_model_reads_are_refused() {
    let plain = ModelSpec::new("NLinear", H, 14).expect("a model");
    let forecaster = |models: Vec<ModelSpec>| Forecaster::new(models).expect("models").features(words());
    let error = forecaster(vec![plain.clone()]).expect_err("it reads none").to_string();
    assert!(
        error.contains("no model reads columns known for the past alone") && error.contains("NLinear"),
        "{error}"
    );
    // Beside one that does, it does without.
    let both = forecaster(vec![plain, models().swap_remove(0)]).expect("one reads them");
    let fitted = both.fit(&panel(60, usize::MAX)).expect("a training");
    assert_eq!(fitted.predict(&panel(60, usize::MAX), None).expect("a forecast").columns.len(), 2);
}
