//! Models that are fitted to parts of a panel and joined.

use foretell::{End, Ensemble, Fitted, Forecaster, Freq, KeptSettings, ModelSpec, Panel, ReadOptions};

/// Days of these series, of different lengths; one of them is constant.
fn panel(ids: std::ops::Range<usize>) -> Panel {
    let value = |id: usize, day: usize| match id {
        2 => 5.0,
        _ => 50.0 + (3 + id) as f32 * (day as f32 * 0.9).sin() + (day * (id + 1) % 5) as f32,
    };
    let series = |id: usize| (format!("s{id}"), 0, (0..30 + 7 * id).map(|day| value(id, day)).collect());
    Panel::from_series(Freq::parse("D").expect("days"), ids.map(series).collect::<Vec<(_, i64, Vec<f32>)>>())
        .expect("a panel")
}

fn forecaster(models: &[&str]) -> Forecaster {
    let spec = |name: &&str| {
        ModelSpec::new(name, 4, 8).and_then(|spec| match spec.network().is_some() {
            true => spec.set("max_steps", 1),
            false => Ok(spec),
        })
    };
    let specs = models.iter().map(spec).collect::<Result<Vec<_>, _>>().expect("models");
    Forecaster::new(specs).expect("a forecaster").threads(1)
}

fn fit(forecaster: Forecaster, ids: std::ops::Range<usize>) -> Fitted {
    forecaster.fit(&panel(ids)).expect("a fit")
}

#[test]
fn models_of_parts_are_joined_to_those_of_the_whole() {
    let own = || {
        forecaster(&["SeasonalNaive", "AutoTheta", "AutoETS", "Prophet", "FLAIR"]).ensemble(Ensemble::Mean)
    };
    assert!(own().fits_by_parts());
    let whole = fit(own(), 0..5);
    let parts = [0..2, 2..3, 3..5].map(|ids| fit(own(), ids));
    let joined = Fitted::joined(parts).expect("models of one kind");
    assert!(joined.to_bytes().expect("bytes") == whole.to_bytes().expect("bytes"), "other bytes");
    let forecast = |fitted: &Fitted| fitted.predict(&panel(0..5), None).expect("a forecast").columns;
    assert_eq!(forecast(&joined), forecast(&whole));
}

#[test]
fn what_is_learned_of_all_series_is_not_joined() {
    assert!(!forecaster(&["NLinear", "Naive"]).fits_by_parts());
    let weighted = forecaster(&["Naive", "SeasonalNaive"]).ensemble(Ensemble::Weighted { n_windows: 1 });
    assert!(!weighted.fits_by_parts());
    let refused = |parts: Vec<Fitted>| Fitted::joined(parts).expect_err("no model of the whole").to_string();
    let network = || fit(forecaster(&["NLinear"]), 0..2);
    assert_eq!(
        refused(vec![network(), network()]),
        "models of parts of the series cannot be joined: NLinear learns of all series together; fit them to all series at once"
    );
    let two = vec![fit(forecaster(&["Naive"]), 0..1), fit(forecaster(&["AutoETS"]), 1..2)];
    assert!(refused(two).contains("they differ in their hyper-parameters"));
    assert!(
        refused(vec![fit(forecaster(&["AutoETS"]), 0..2), fit(forecaster(&["AutoETS"]), 1..2)])
            .contains("different")
    );
    assert!(refused(Vec::new()).contains("there are none"));
}

#[test]
fn parts_of_other_settings_are_not_joined() {
    let plain = || forecaster(&["Prophet"]);
    let mut by_day = ReadOptions::default();
    by_day.wide = true;
    let other = |forecaster: Forecaster| fit(forecaster, 1..2);
    let features = "weekday".parse().expect("a feature");
    let cases = [
        (
            other(plain().keep(KeptSettings { non_negative: true, ..KeptSettings::default() })),
            "settings of forecasts",
        ),
        (other(plain()).raw_quantiles(true), "order of quantiles"),
        // Regressors of the model.
        (other(plain().features(features).expect("Prophet reads it")), "hyper-parameters"),
        (other(plain().reading(&by_day)), "ways of reading"),
    ];
    for (other, what) in cases {
        let parts = [fit(plain(), 0..1), other];
        let refused = Fitted::joined(parts).expect_err("parts of other settings").to_string();
        assert!(refused.contains(&format!("they differ in their {what}")), "{refused}");
    }
}

#[test]
fn fits_with_an_end_or_from_trained_models_are_not_by_parts() {
    let plain = || forecaster(&["AutoETS"]);
    assert!(plain().fits_by_parts());
    assert!(
        !plain().keep(KeptSettings { end: Some(End::Common), ..KeptSettings::default() }).fits_by_parts()
    );
    assert!(!plain().start_from(&fit(plain(), 0..1)).fits_by_parts());
}
