//! AutoARIMA chooses for intermittent series what statsforecast chooses; `compare/intermittent.py` wrote that.

use serde_json::Value;

use super::statsforecast::{CRITERION, MEAN, learn_and_forecast, numbers};

/// Series with another model than in statsforecast: in the first the conditional squares have two minima of the same orders, of which the
/// searches end at different ones; of the second statsforecast does not mirror a moving average that cannot be inverted, so that it
/// refuses the models over which the search comes to a likelier one.
const OTHERS: [usize; 2] = [2, 26];

#[test]
fn counts_that_are_mostly_zero_have_the_models_of_statsforecast() {
    let fixture = include_str!("../../tests/fixtures/intermittent.json");
    let cases: Vec<Value> = serde_json::from_str(fixture).expect("JSON");
    let mut others = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let y = numbers(&case["y"]);
        let (theirs, mean) = (numbers(&case["chosen"]), numbers(&case["mean"]));
        let (ours, found) = learn_and_forecast(case, &y, mean.len());
        let size = y.iter().sum::<f64>() / y.len() as f64;
        let far = found.iter().zip(&mean).map(|(ours, theirs)| (f64::from(*ours) - theirs).abs() / size);
        let is_near = far.fold(0.0, f64::max) < 2e-3 && ours[..MEAN] == theirs[..MEAN];
        let is_as_likely = ours[CRITERION] < theirs[CRITERION] + 2.0;
        assert!(is_as_likely, "series {i}: {ours:?}, in statsforecast {theirs:?}");
        others.extend((!is_near).then_some(i));
    }
    assert_eq!(others, OTHERS);
}
