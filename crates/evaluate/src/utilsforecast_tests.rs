//! Every metric gives the figures of utilsforecast on the same frame; `compare/scores.py` wrote them.

use crate::{METRICS, Metric, ModelForecasts, ScoreBy, ScoreHistory, ScoreOptions, ScoredRows, evaluate};
use serde_json::Value;

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().expect("a column").iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
}

struct Known(Vec<Vec<f64>>);

impl ScoreHistory for Known {
    fn until(&self, series: u32, cutoff: i64) -> &[f64] {
        &self.0[series as usize][..=cutoff as usize]
    }
}

#[test]
fn scores_are_those_of_utilsforecast() {
    let fixture: Value = serde_json::from_str(include_str!("../tests/fixtures/scores.json")).unwrap();
    let column = |name: &str| numbers(&fixture["rows"][name]);
    let series: Vec<u32> = column("unique_id").iter().map(|id| *id as u32).collect();
    let cutoffs: Vec<i64> = column("cutoff").iter().map(|cutoff| *cutoff as i64).collect();
    let steps: Vec<u32> =
        column("ds").iter().zip(&cutoffs).map(|(ds, cutoff)| (*ds as i64 - cutoff) as u32).collect();
    let quantiles = [(0.1, "lo-80"), (0.9, "hi-80"), (0.025, "lo-95"), (0.975, "hi-95")];
    let points = ["A", "B"].map(column);
    let ends = ["A", "B"].map(|model| quantiles.map(|(q, end)| (q, column(&format!("{model}-{end}")))));
    let y = column("y");
    let model = |i: usize| {
        let quantiles = ends[i].iter().map(|(q, values)| (*q, &values[..]));
        ModelForecasts::of_points(["A", "B"][i], &points[i]).with_quantiles(quantiles)
    };
    let models = (0..2).map(model).collect();
    let rows = ScoredRows::new(&y, &series, &cutoffs, &steps, models).unwrap();
    let history = fixture["history"].as_object().unwrap().values().map(numbers).collect();
    let history = Known(history);
    let season = fixture["season"].as_u64().unwrap() as usize;
    let options = ScoreOptions { season, history: Some(&history), baseline: Some("A"), weights: None };
    let table = evaluate(&rows, METRICS, ScoreBy::Window, &options).unwrap();

    let expected = &fixture["scores"];
    let names = expected["metric"].as_array().unwrap();
    let (ids, at) = (numbers(&expected["unique_id"]), numbers(&expected["cutoff"]));
    let mut compared = 0;
    for (m, name) in ["A", "B"].iter().enumerate() {
        for (i, theirs) in numbers(&expected[*name]).into_iter().enumerate() {
            let metric = names[i].as_str().unwrap();
            let metric_scores = table.metrics.iter().find(|scores| scores.name == metric);
            let scores = metric_scores.unwrap_or_else(|| panic!("no {metric}"));
            let group = table
                .groups
                .iter()
                .position(|group| group.series == Some(ids[i] as u32) && group.cutoff == Some(at[i] as i64));
            let ours = scores.values[group.expect("a window")][m];
            assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1e-3), "{metric}: {ours} for {theirs}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2 * 432);
    let single: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    assert!(single.iter().all(|name| names.iter().any(|scored| scored.as_str().unwrap().starts_with(name))));
    assert!(Metric::parse("mae").is_ok());
}
