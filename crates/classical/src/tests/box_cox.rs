//! ARIMA of transformed values.

use foretell_calendar::Freq;
use foretell_data::{Panel, Span, Vocabulary};
use foretell_estimator::{Asked, HeldOut, Run, Trained, Verdict, Workers};
use serde_json::{Value, json};

use crate::ESTIMATORS;

const H: usize = 6;

fn fitted(y: Vec<f32>, blambda: Value) -> (Box<dyn Trained>, Panel, Workers) {
    let panel = Panel::from_series(Freq::parse("D").expect("days"), [("a", 0, y)]).expect("a panel");
    let entry = ESTIMATORS.iter().find(|entry| entry.name == "AutoARIMA").expect("an estimator");
    let mut estimator = (entry.new)(H);
    estimator.set("blambda", blambda).expect("a power");
    let workers = Workers::new(1).expect("a thread");
    let (vocabulary, listen) = (Vocabulary::new(), &mut |_: &_| Verdict::Continue);
    let run = Run::alone(&workers, &vocabulary, listen);
    let trained = estimator.fit(&panel, HeldOut::default(), run).expect("a fit");
    (trained, panel, workers)
}

/// Steps of a mean and the quantiles 0.1 and 0.9.
fn forecast((trained, panel, workers): &(Box<dyn Trained>, Panel, Workers)) -> Vec<[f64; 3]> {
    let asked = Asked { span: Span::Predict { future: None }, h: H, quantiles: Some(&[0.1, 0.9]) };
    let values = trained.forecast(panel, &asked, workers).expect("a forecast").values;
    values.chunks_exact(3).map(|step| [step[0], step[1], step[2]].map(f64::from)).collect()
}

/// Logarithms with a trend and what looks like noise, as single precision holds the values.
fn grown() -> Vec<f32> {
    (0..60).map(|t| (0.05 * t as f32 + (t * 7919 % 101) as f32 / 500.0).exp()).collect()
}

#[test]
fn a_model_of_logarithms_is_that_of_values_that_are_logarithms() {
    let logarithms = grown().iter().map(|y| y.ln()).collect();
    let by = forecast(&fitted(grown(), json!(0)));
    let of = forecast(&fitted(logarithms, Value::Null));
    for (by, of) in by.iter().zip(&of) {
        for (by, of) in by.iter().zip(of) {
            assert!((by.ln() - of).abs() < 1e-3, "{by} {of}");
        }
    }
    // Above the mean there is more than below it.
    let [mean, low, high] = by[H - 1];
    assert!(high - mean > 1.02 * (mean - low) && low > 0.0, "{by:?}");
}

#[test]
fn what_doubles_goes_on_to_double() {
    let doubled = (0..40).map(|t| 2.0_f32.powi(t)).collect();
    for (step, values) in forecast(&fitted(doubled, json!(0))).iter().enumerate() {
        let next = 2.0_f64.powi(40 + step as i32);
        assert!((values[0] / next - 1.0).abs() < 1e-3, "{step}: {values:?}");
    }
}

#[test]
fn a_history_with_a_zero_is_modelled_as_it_is_and_told() {
    let with_zero: Vec<f32> = [&[0.0], &grown()[..]].concat();
    let by = fitted(with_zero.clone(), json!(0));
    let told = by.0.passed_over();
    assert!(told.len() == 1 && told[0].0 == "a" && told[0].1.reason.contains("not above zero"), "{told:?}");
    let of = fitted(with_zero, Value::Null);
    assert_eq!(forecast(&by), forecast(&of));
    assert!(of.0.passed_over().is_empty() && fitted(grown(), json!(0)).0.passed_over().is_empty());
}

#[test]
fn a_zero_after_the_fit_is_modelled_as_one_before_it() {
    let (trained, ..) = fitted(grown(), json!(0));
    let then_zero: Vec<f32> = [&grown()[..], &[0.0, 20.0, 21.0]].concat();
    let (of, panel, workers) = fitted(then_zero, Value::Null);
    let later = forecast(&(trained, panel.clone(), Workers::new(1).expect("a thread")));
    assert_eq!(later, forecast(&(of, panel, workers)));
}

#[test]
fn quantiles_rise_where_the_mean_has_fallen_to_zero() {
    let falling: Vec<f32> = (0..40).map(|t| 40.5 - t as f32 + (t * 7919 % 11) as f32 / 20.0).collect();
    for [mean, low, high] in forecast(&fitted(falling, json!(0.5))) {
        assert!(low <= mean && mean <= high && high < 5.0, "{low} {mean} {high}");
    }
}

#[test]
fn the_transformation_is_told_and_kept() {
    let fitted = fitted(grown(), json!(0.5));
    let (trained, ..) = &fitted;
    let form = trained.described(0).expect("a form").form;
    assert!(form.ends_with(" of values to the power 0.5"), "{form}");
    let entry = ESTIMATORS.iter().find(|entry| entry.name == "AutoARIMA").expect("an estimator");
    let again = (entry.restore)(trained.estimator().boxed(), trained.learned()).expect("a model");
    assert_eq!(forecast(&(again, fitted.1.clone(), Workers::new(1).expect("a thread"))), forecast(&fitted));
}
